//! What may change a decision, each with what to do about it.

use std::{collections::BTreeSet, mem};

use deadheat_model::{
    TargetId,
    heat::LONGEST_GAP,
    heats::{EndReason, SessionHeader, SessionRecord},
    machine::{Finding, Level},
};
use deadheat_stats::standings::{Doubt, Standings};
use schemars::JsonSchema;
use serde::Serialize;

use super::{
    State,
    names::{name, shorts},
};
use crate::{
    figure::{counted, list},
    standings::words,
    view::clean,
};

/// So many names are spelled out.
const MOST_NAMES: usize = 3;

/// A warning.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct WarningView {
    /// What is wrong and what it does to the figures, in a sentence or two.
    pub text: String,
    /// What to do about it, in a sentence; `None`: nothing.
    pub action: Option<String>,
    /// Whether it may change a decision. Those that may come first.
    pub changes_decision: bool,
}

impl WarningView {
    fn new(text: impl Into<String>, action: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            action: Some(action.into()),
            changes_decision: true,
        }
    }

    /// What is wrong and what to do.
    pub fn in_full(&self) -> String {
        match &self.action {
            Some(action) => format!("{} {action}", self.text),
            None => self.text.clone(),
        }
    }

    fn minor(self) -> Self {
        Self {
            changes_decision: false,
            ..self
        }
    }
}

/// All warnings of a session, those that may change a decision first.
pub(super) fn warnings(
    record: &SessionRecord,
    standings: &Standings,
    state: State,
) -> Vec<WarningView> {
    let header = &record.header;
    let mut found: Vec<WarningView> = Vec::new();
    let heats: u32 = standings.loads.iter().map(|load| load.heats).sum();
    found.extend(early_end(record, state, heats));
    found.extend(lost_hosts(record));
    found.extend(replacing(header));
    found.extend(too_few_heats(standings, state));
    found.extend(doubts(standings));
    let bad = header.findings.iter();
    let bad = bad.filter(|finding| finding.level == Level::Warning);
    found.extend(bad.map(of_finding));
    let (mut first, rest): (Vec<_>, Vec<_>) =
        found.into_iter().partition(|one| one.changes_decision);
    first.extend(rest);
    first
}

fn early_end(record: &SessionRecord, state: State, heats: u32) -> Option<WarningView> {
    let what = match state {
        State::Killed => "The session was killed before its end",
        State::Ended(EndReason::Interrupted) => "The session was interrupted",
        State::Ended(EndReason::Lost) => "A host was lost and could not be reached again",
        State::Ended(EndReason::Nothing) => {
            let text = "Nothing could be measured.";
            return Some(WarningView::new(text, "See why under “Not measured”."));
        }
        State::Running | State::Ended(_) => return None,
    };
    let until = match heats {
        0 => "no heat was complete by then",
        _ => "verdicts cover the heats up to the last checkpoint before that",
    };
    let text = format!("{what}; {until}.");
    Some(WarningView::new(text, resume(&record.header.id)))
}

/// How to continue the session in `folder`.
pub(super) fn resume(folder: &str) -> String {
    format!(
        "Continue it with `deadheat run --resume {}`.",
        clean(folder)
    )
}

/// What became of heats in which a host was lost.
fn lost_hosts(record: &SessionRecord) -> Option<WarningView> {
    let lost: Vec<&str> = record
        .heats
        .iter()
        .filter_map(|one| one.heat.lost.as_deref())
        .collect();
    let last = clean(lost.last()?);
    let heats = counted(lost.len(), "heat");
    let verb = if lost.len() == 1 { "counts" } else { "count" };
    Some(WarningView::new(
        format!("{heats} {verb} for nothing, because a generator was lost: {last}."),
        "The rest was measured with all of them.",
    ))
}

/// Stacks that have the name of one of the project's own, and are another one.
fn replacing(header: &SessionHeader) -> Option<WarningView> {
    let replacing = header.targets.iter().filter_map(|record| {
        let added = record.added.as_ref().filter(|added| added.replaces)?;
        let name = clean(&record.target.stack);
        Some(format!(
            "{name} ({})",
            clean(&added.folder.display().to_string())
        ))
    });
    // Once for all variants of one.
    let names: BTreeSet<String> = replacing.collect();
    let names: Vec<String> = names.into_iter().collect();
    (!names.is_empty()).then(|| WarningView {
        text: format!(
            "Measured in place of a stack of that name: {}.",
            words::some(&names, MOST_NAMES)
        ),
        action: None,
        changes_decision: true,
    })
}

fn too_few_heats(standings: &Standings, state: State) -> Option<WarningView> {
    if state == State::Running {
        return None;
    }
    let loads = standings.loads.iter().zip(shorts(standings));
    let unjudged = |load: &deadheat_stats::standings::LoadStandings| {
        let rows = load.tables.iter().map(|table| table.rows.len());
        load.look.is_none() && rows.max().unwrap_or(0) > 1
    };
    let names: Vec<String> = loads
        .filter(|(load, _)| unjudged(load))
        .map(|(_, short)| short)
        .collect();
    (!names.is_empty()).then(|| {
        let names = words::some(&names, MOST_NAMES);
        WarningView::new(
            format!("Too few heats for a verdict ({names}): the order may change with more data."),
            "Measure for longer with --budget.",
        )
    })
}

fn of_finding(finding: &Finding) -> WarningView {
    let check = clean(&finding.check.replace('-', " "));
    let found = format!("{check}: {}", clean(&finding.found));
    let texts = [found, clean(&finding.why)];
    let texts = texts.iter().filter(|text| !text.is_empty());
    let texts: Vec<String> = texts.map(|text| sentence(text)).collect();
    let remedy = clean(&advice(&finding.remedy));
    WarningView {
        text: texts.join(" "),
        // It may be a command, which is written as it is.
        action: (!remedy.is_empty()).then(|| format!("To fix it: {remedy}")),
        changes_decision: true,
    }
}

/// What to do, in a sentence if the remedy has one, without the commands before it that only look. A sentence that goes
/// on from a command ("Then …") keeps it.
fn advice(remedy: &str) -> String {
    let lines: Vec<&str> = remedy.lines().collect();
    let is_sentence = |line: &&str| line.ends_with('.');
    let sentences: Vec<&str> = lines.iter().copied().filter(is_sentence).collect();
    let goes_on = sentences.iter().any(|line| line.starts_with("Then "));
    match (sentences.is_empty(), goes_on) {
        (true, _) => lines.join("; "),
        (false, false) => sentences.join(" "),
        (false, true) => {
            let all = lines.iter().map(|line| {
                if is_sentence(line) {
                    (*line).to_owned()
                } else {
                    format!("{line}.")
                }
            });
            all.collect::<Vec<_>>().join(" ")
        }
    }
}

/// With a capital letter and a full stop.
fn sentence(text: &str) -> String {
    let mut characters = text.chars();
    let first = characters.next().map(char::to_uppercase);
    let text: String = first.into_iter().flatten().chain(characters).collect();
    if text.ends_with(['.', '!', '?']) {
        text
    } else {
        format!("{text}.")
    }
}

/// The doubts, those of one kind at several loads as one warning.
fn doubts(standings: &Standings) -> Vec<WarningView> {
    let mut warnings = Vec::new();
    let mut done = Vec::new();
    for doubt in &standings.doubts {
        let kind = mem::discriminant(doubt);
        if done.contains(&kind) {
            continue;
        }
        done.push(kind);
        let same = standings.doubts.iter();
        let same: Vec<&Doubt> = same
            .filter(|other| mem::discriminant(*other) == kind)
            .collect();
        warnings.push(of_kind(standings, doubt, &same));
    }
    warnings
}

fn of_kind(standings: &Standings, first: &Doubt, all: &[&Doubt]) -> WarningView {
    match first {
        Doubt::TwinDiffers { load, ratio } => {
            let far = words::percent((ratio - 1.0).abs());
            let more = match all.len() {
                1 => String::new(),
                many => format!(" and {} more", counted(many - 1, "load")),
            };
            WarningView::new(
                format!(
                    "The same stack measured twice differs by {far} ({}{more}).",
                    clean(load)
                ),
                "Distrust differences of that size, or repeat on a quieter machine.",
            )
        }
        Doubt::Steal { share } => WarningView::new(
            format!(
                "The hypervisor took {} of the CPU time.",
                words::percent(*share)
            ),
            "Repeat at a quieter time, or on a dedicated machine.",
        ),
        Doubt::Others { share } => WarningView::new(
            format!(
                "Other programs used {} of the CPU time.",
                words::percent(*share)
            ),
            "Stop them and repeat.",
        ),
        Doubt::Unsteady { .. } => WarningView::new(
            format!("Not steady after the warm-up: {}.", places(standings, all)),
            "Their figures may change when they run for longer.",
        ),
        Doubt::LongGaps { .. } => WarningView::new(
            format!(
                "Often waited for {} or longer for its turn, in which idle connections may be closed: {}.",
                crate::figure::seconds(LONGEST_GAP.as_secs_f64()),
                places(standings, all)
            ),
            "Measure fewer stacks at a time, or none that answers slowly.",
        ),
        Doubt::Uneven { .. } => WarningView::new(
            format!(
                "Their connections waited unevenly, so percentiles hide how long some waited: {}.",
                places(standings, all)
            ),
            "Measure response times at a rate with --latency on.",
        ),
        Doubt::GeneratorLimited { .. } => WarningView::new(
            format!(
                "Lower bounds, because {} was the limit: {}.",
                generators(all),
                places(standings, all)
            ),
            "Compare them by CPU per request.",
        ),
        Doubt::NobodyLimited { .. } => WarningView::new(
            format!(
                "Had CPU time left, so something else was the limit, such as the database: {}.",
                places(standings, all)
            ),
            "Compare them by CPU per request, or run the database on a machine of its own (--postgres).",
        ),
        Doubt::FailedRequests { .. } => WarningView::new(
            format!("Requests failed: {}.", shares(standings, all)),
            "Read their logs before you choose one.",
        ),
        Doubt::FailedHeats { .. } => WarningView::new(
            format!(
                "Failed in a heat, so their figures are of their other heats: {}.",
                places(standings, all)
            ),
            "Read their logs before you choose one.",
        ),
        Doubt::FrozenBySignals { reason } => WarningView::new(
            format!(
                "Waiting servers were stopped by signals, which they can notice: {}.",
                clean(reason.trim_end_matches('.'))
            ),
            "Run as root, or where control groups can be made.",
        )
        .minor(),
        Doubt::GeneratorSlept { loads } => {
            let loads: Vec<String> = loads.iter().map(|load| short_of(standings, load)).collect();
            WarningView::new(
                format!(
                    "The generator shared its CPUs, so each answer also had to wake it ({}). Figures are somewhat low.",
                    words::some(&loads, MOST_NAMES)
                ),
                "Use a machine with more CPUs.",
            )
            .minor()
        }
        Doubt::NotPinned => WarningView::new(
            "Server and load generator shared CPUs and slowed each other.",
            "Measure on a machine with at least 2 CPUs, with --pinning apart.",
        ),
        Doubt::Resumed { times, rebooted } => WarningView {
            text: format!(
                "The session was resumed {}{}.",
                match times {
                    1 => "once".to_owned(),
                    many => counted(*many, "time"),
                },
                if *rebooted { ", after a reboot" } else { "" }
            ),
            action: None,
            changes_decision: false,
        },
    }
}

/// Who was the limit: the generator of this machine, or those of other hosts.
fn generators(doubts: &[&Doubt]) -> String {
    let mut hosts: Vec<String> = Vec::new();
    for doubt in doubts {
        if let Doubt::GeneratorLimited {
            host: Some(host), ..
        } = doubt
            && !hosts.contains(host)
        {
            hosts.push(clean(host));
        }
    }
    match hosts.as_slice() {
        [] => "the load generator".to_owned(),
        hosts => format!("the load generator on {}", list(hosts)),
    }
}

/// Which stacks at which loads: "a and b (json), c (users)".
fn places(standings: &Standings, doubts: &[&Doubt]) -> String {
    let place = |doubt: &&Doubt| match doubt {
        Doubt::Unsteady { load, targets }
        | Doubt::Uneven { load, targets }
        | Doubt::LongGaps { load, targets }
        | Doubt::FailedHeats { load, targets }
        | Doubt::GeneratorLimited { load, targets, .. }
        | Doubt::NobodyLimited { load, targets } => {
            let names: Vec<String> = targets.iter().map(name).collect();
            let names = words::some(&names, MOST_NAMES);
            Some(format!("{names} ({})", short_of(standings, load)))
        }
        _ => None,
    };
    let places: Vec<String> = doubts.iter().filter_map(place).collect();
    words::some_of(&places, MOST_NAMES, "load")
}

/// The same with the share of requests that failed.
fn shares(standings: &Standings, doubts: &[&Doubt]) -> String {
    let one =
        |(target, share): &(TargetId, f64)| format!("{} {}", words::percent(*share), name(target));
    let place = |doubt: &&Doubt| match doubt {
        Doubt::FailedRequests { load, targets } => {
            let names: Vec<String> = targets.iter().map(one).collect();
            let names = words::some(&names, MOST_NAMES);
            Some(format!("{names} ({})", short_of(standings, load)))
        }
        _ => None,
    };
    let places: Vec<String> = doubts.iter().filter_map(place).collect();
    list(&places)
}

/// A load's shortest name, of its whole one.
fn short_of(standings: &Standings, name: &str) -> String {
    let mut loads = standings.loads.iter().zip(shorts(standings));
    let found = loads.find(|(load, _)| load.name() == name);
    found.map_or_else(|| clean(name), |(_, short)| short)
}
