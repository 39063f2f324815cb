//! What a reader must know before any figure.

use deadheat_model::{
    SessionRecord,
    choice::LEAST_PHASE,
    machine::{Finding, Level},
    plan::{MOST_ATTEMPTS, NoiseBound},
    session::{EndReason, TargetState},
};
use deadheat_stats::{Analysis, Group, trial::Flag, verdict::CellVerdict};

use super::{
    chosen, clean, controls, resumed,
    words::{self, some},
};
use crate::figure::{counted, list, percent};

/// What stands first where no end is recorded.
pub const KILLED: &str = "The session was killed: its end is not recorded.";

/// What a reader must know before any figure: failures, limits of the generator, an early end.
pub fn alerts(record: &SessionRecord, analysis: &Analysis) -> Vec<String> {
    let mut alerts = Vec::new();
    match record.end {
        Some(EndReason::Finished | EndReason::Enough) => {}
        Some(EndReason::Budget) => {
            alerts.push("The session ended because its budget was used up.".to_owned())
        }
        Some(EndReason::Interrupted) => alerts.push(
            "The session was interrupted. Whoever ends a session because of what it has found so far finds differences \
             that are none: the levels of error hold for an end that looks at no result."
                .to_owned(),
        ),
        None => alerts.push(KILLED.to_owned()),
    }
    alerts.extend(resumed::sentence(record));
    alerts.extend(too_little(record, analysis));
    alerts.extend(too_short(record));
    alerts.extend(machine(&record.header.findings));
    alerts.extend(left_out(record, analysis));
    alerts.extend(controls::biased(analysis));
    alerts.extend(targets_lost(record));
    alerts.extend(cells_lost(record, analysis));
    alerts.extend(trials_doubted(record, analysis));
    alerts
}

fn too_little(record: &SessionRecord, analysis: &Analysis) -> Option<String> {
    let blocks = &analysis.blocks;
    if blocks.trials_counted == 0 {
        return Some("Nothing was measured.".to_owned());
    }
    if blocks.incomplete {
        let text = "No block is complete: what there is is shown, and nothing is compared.";
        return Some(text.to_owned());
    }
    blocks.indicative.then(|| {
        let needed = analysis.settings.blocks_for_evidence;
        let complete = counted(blocks.complete.len(), "complete block");
        let evidence = chosen::evidence(record).map(|offer| format!(" {offer}"));
        format!(
            "Indicative: {complete} of the {needed} needed for evidence.{}",
            evidence.unwrap_or_default()
        )
    })
}

/// Measurements and warm-ups that mean nothing for their shortness.
fn too_short(record: &SessionRecord) -> Option<String> {
    let plan = &record.header.plan;
    let is_timed =
        |points: &[deadheat_model::LoadPoint]| points.iter().any(|point| point.counted.is_none());
    let mut short: Vec<String> = Vec::new();
    let mut tell = |text: String| {
        if !short.contains(&text) {
            short.push(text);
        }
    };
    for workload in &plan.workloads {
        if is_timed(&workload.points) && workload.measure < LEAST_PHASE {
            tell(chosen::short(
                deadheat_model::LoadPhase::Measurement,
                workload.measure,
            ));
        }
    }
    for phase in plan.choice.iter().flat_map(|choice| &choice.too_short) {
        tell(chosen::short(phase.phase, phase.length));
    }
    (!short.is_empty()).then(|| {
        format!(
            "Too short to mean anything: {}. Less than {} s tells neither whether a server was warm nor whether its throughput \
             stayed the same.",
            list(&short),
            LEAST_PHASE.as_secs_f64()
        )
    })
}

/// What would spoil a measurement on the machine, in short; the provenance says why and what to do.
fn machine(findings: &[Finding]) -> Option<String> {
    let warnings = findings.iter().filter(|one| one.level == Level::Warning);
    let warnings: Vec<String> = warnings
        .map(|one| {
            // Without what follows in parentheses.
            let found = one.found.split(" (").next().unwrap_or_default();
            clean(&format!("{} {found}", one.check.replace('-', " ")))
        })
        .collect();
    (!warnings.is_empty()).then(|| {
        format!(
            "When it began, the machine had what spoils a measurement (deadheat doctor): {}.",
            some(&warnings)
        )
    })
}

fn left_out(record: &SessionRecord, analysis: &Analysis) -> Vec<String> {
    let blocks = &analysis.blocks;
    let mut alerts = Vec::new();
    if blocks.trials_left_out > 0 {
        alerts.push(format!(
            "Left out, because the block is not complete or the trial was repeated: {}.",
            counted(blocks.trials_left_out, "trial")
        ));
    }
    if blocks.trials_void > 0 {
        let bound = record.header.plan.noise_bound;
        let past = bound.map(|bound| format!(" ({})", past(bound)));
        alerts.push(format!(
            "{} of {} void for noise from outside{}: whatever they found counts for nothing. A trial is run up to {} times \
             in its block until one is not void.",
            blocks.trials_void,
            match (record.trials.len(), blocks.trials_void) {
                (1, _) => "1 trial was".to_owned(),
                (all, 1) => format!("{all} trials was"),
                (all, _) => format!("{} were", counted(all, "trial")),
            },
            past.unwrap_or_default(),
            MOST_ATTEMPTS
        ));
    }
    alerts
}

/// What passes a bound for noise, in words.
pub fn past(bound: NoiseBound) -> String {
    format!(
        "other programs used more than {} of the machine's CPU time, or the hypervisor gave more than {} of it to others",
        percent(bound.other_cpu),
        percent(bound.steal)
    )
}

fn targets_lost(record: &SessionRecord) -> Vec<String> {
    let names = |wanted: fn(&TargetState) -> bool| {
        let lost = record
            .header
            .targets
            .iter()
            .filter(|target| wanted(&target.state));
        lost.map(|target| clean(&target.target.to_string()))
            .collect::<Vec<_>>()
    };
    let unavailable = names(|state| matches!(state, TargetState::Unavailable { .. }));
    let failed = names(|state| matches!(state, TargetState::Failed(_)));
    let mut alerts = Vec::new();
    if !unavailable.is_empty() {
        alerts.push(format!(
            "Unavailable here, and so not measured: {}.",
            some(&unavailable)
        ));
    }
    if !failed.is_empty() {
        alerts.push(format!("Failed before any trial: {}.", some(&failed)));
    }
    alerts
}

/// Load points that a sentence spells out.
const MOST_POINTS: usize = 4;

/// Stacks of each load point, where there are any.
type ByPoint = Vec<(String, Vec<String>)>;

/// Cells that are not ranked, by the reason.
#[derive(Default)]
struct Lost {
    failed: ByPoint,
    void: ByPoint,
    limited: ByPoint,
    limited_open: ByPoint,
    /// What limited the generator, each once.
    limits: Vec<&'static str>,
}

fn cells_lost(record: &SessionRecord, analysis: &Analysis) -> Vec<String> {
    let mut lost = Lost::default();
    for group in &analysis.groups {
        lost.add(group);
    }
    let mut before: ByPoint = Vec::new();
    for target in &record.header.targets {
        for workload in &target.failed_workloads {
            put(&mut before, &workload.workload, &target.target.to_string());
        }
    }
    let sentences = [
        ("Failed, and not ranked", lost.failed),
        ("Failed before any trial", before),
        ("Disturbed each time, and without a result", lost.void),
        (
            "Limited by the generator's side, so that the throughput is a lower bound and not ranked",
            lost.limited,
        ),
        (
            "Limited by the generator's side, so that response times contain its own lateness and are not ranked",
            lost.limited_open,
        ),
    ];
    let sentences = sentences
        .into_iter()
        .filter(|(_, points)| !points.is_empty());
    let sentences = sentences.map(|(what, points)| format!("{what}: {}.", by_point(&points)));
    let limits: Vec<String> = lost.limits.iter().map(|one| (*one).to_owned()).collect();
    let limits =
        (!limits.is_empty()).then(|| format!("What limited the generator: {}.", list(&limits)));
    sentences.chain(limits).collect()
}

impl Lost {
    fn add(&mut self, group: &Group) {
        let at = words::at(group);
        for cell in &group.cells {
            let lost = match (&cell.verdict, &group.point.open) {
                (CellVerdict::Failed { .. }, _) => &mut self.failed,
                (CellVerdict::Void { .. }, _) => &mut self.void,
                (CellVerdict::LowerBound { limits, .. }, open) => {
                    for limit in limits.iter().map(words::limit) {
                        if !self.limits.contains(&limit) {
                            self.limits.push(limit);
                        }
                    }
                    match open {
                        None => &mut self.limited,
                        Some(_) => &mut self.limited_open,
                    }
                }
                (CellVerdict::Counts | CellVerdict::NotMeasured, _) => continue,
            };
            put(lost, &at, &cell.target.to_string());
        }
    }
}

fn put(points: &mut ByPoint, at: &str, name: &str) {
    let (at, name) = (clean(at), clean(name));
    match points.iter_mut().find(|(other, _)| *other == at) {
        Some((_, names)) => names.push(name),
        None => points.push((at, vec![name])),
    }
}

/// "json, 50 connections (a and b); users, 100 connections (c)": why, and in how many trials, stands with each result.
fn by_point(points: &[(String, Vec<String>)]) -> String {
    let told = points.iter().take(MOST_POINTS);
    let told: Vec<String> = told
        .map(|(at, names)| format!("{at} ({})", some(names)))
        .collect();
    let rest: usize = points
        .iter()
        .skip(MOST_POINTS)
        .map(|(_, names)| names.len())
        .sum();
    match rest {
        0 => told.join("; "),
        rest => format!(
            "{}; and {} elsewhere",
            told.join("; "),
            counted(rest, "result")
        ),
    }
}

fn trials_doubted(record: &SessionRecord, analysis: &Analysis) -> Vec<String> {
    let cells = analysis.groups.iter().flat_map(|group| &group.cells);
    let flags: Vec<Flag> = cells
        .flat_map(|cell| &cell.trials)
        .flat_map(|trial| trial.flags.clone())
        .collect();
    let count = |wanted: fn(&Flag) -> bool| flags.iter().filter(|flag| wanted(flag)).count();
    let unsteady = count(|flag| matches!(flag, Flag::Unsteady { .. }));
    let unknown = count(|flag| matches!(flag, Flag::SteadinessUnknown { .. }));
    let overloaded = count(|flag| matches!(flag, Flag::Overloaded { .. }));
    let backlog = count(|flag| matches!(flag, Flag::Backlog { .. }));
    let late = count(|flag| matches!(flag, Flag::SendLag { .. }));
    let little = count(|flag| matches!(flag, Flag::Little { .. }));
    let disturbed = count(|flag| matches!(flag, Flag::Disturbed { .. }));
    let settings = &analysis.settings;
    let mut alerts = Vec::new();
    if disturbed > 0 {
        let usual = NoiseBound {
            other_cpu: settings.other_cpu,
            steal: settings.steal,
        };
        alerts.push(format!(
            "{} disturbed: {}. Wide intervals and dead heats may come from that; measure on a quiet machine.",
            match disturbed {
                1 => "1 trial was".to_owned(),
                many => format!("{many} trials were"),
            },
            past(record.header.plan.noise_bound.unwrap_or(usual))
        ));
    }
    if unsteady > 0 {
        alerts.push(format!(
            "{} changed in throughput by more than {} while measured.",
            counted(unsteady, "trial"),
            percent(settings.steady_change)
        ));
    }
    if unknown > 0 {
        alerts.push(format!(
            "Too short to tell whether the throughput stayed the same: {}.",
            counted(unknown, "trial")
        ));
    }
    if overloaded > 0 {
        alerts.push(format!(
            "In {} the server did not keep up with the offered rate: its response times grow with the measurement.",
            counted(overloaded, "trial")
        ));
    }
    if backlog > 0 {
        alerts.push(format!(
            "In {} the server did not keep up with the offered rate in the warm-up, and began with the backlog of that: its \
             response times are those of working it off.",
            counted(backlog, "trial")
        ));
    }
    if late > 0 {
        alerts.push(format!(
            "In {} a part of the response times is the generator's own lateness.",
            counted(late, "trial")
        ));
    }
    if little > 0 {
        alerts.push(format!(
            "In {} the connections were not throughput × mean service time (Little's law) within {}, for reasons of the \
             server.",
            counted(little, "trial"),
            percent(settings.little_deviation)
        ));
    }
    alerts
}
