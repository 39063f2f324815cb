//! Where and how two sessions were measured, and what of it differs.

use std::{collections::BTreeMap, time::Duration};

use deadheat_model::{
    Cell, SessionRecord,
    change::{Aspect, Change, between},
    plan::Pinning,
};

use super::{Side, cells::Session};
use crate::versus::Fact;

/// Differences between two sessions that would be in every ratio: machine, Deadheat, settings, warm-ups and workloads.
/// With one of them a comparison says nothing of the stacks. `before` is A, `after` is B.
pub fn refusals(a: &SessionRecord, b: &SessionRecord) -> Vec<Change> {
    let changes = between(&a.header, &b.header).into_iter();
    let mut refusals: Vec<Change> = changes.filter(|change| !is_compared(change)).collect();
    refusals.extend(definitions(a, b));
    refusals.extend(warm_ups(a, b));
    refusals
}

/// Differences that are what is compared, or that say which stacks and load points only one side has.
pub(super) fn differences(a: &SessionRecord, b: &SessionRecord) -> Vec<Change> {
    let changes = between(&a.header, &b.header).into_iter();
    changes.filter(is_compared).collect()
}

fn is_compared(change: &Change) -> bool {
    match change.aspect {
        Aspect::Machine | Aspect::Deadheat | Aspect::Settings => false,
        Aspect::Commit | Aspect::Version | Aspect::Sources | Aspect::Selection => true,
    }
}

/// A difference that was not to be there, for somebody who compares all the same.
pub(super) fn warning(change: &Change) -> String {
    let side = |value: &Option<String>| value.clone().unwrap_or_else(|| "none".to_owned());
    format!(
        "{} differs: {} in A, {} in B",
        change.what,
        side(&change.before),
        side(&change.after)
    )
}

/// What a header says of a workload beside its load points.
fn definitions(a: &SessionRecord, b: &SessionRecord) -> Vec<Change> {
    let mut changes = Vec::new();
    let mut note = |what: String, before: String, after: String| {
        if before != after {
            changes.push(Change {
                aspect: Aspect::Settings,
                what,
                before: Some(before),
                after: Some(after),
            });
        }
    };
    let workloads = &b.header.plan.workloads;
    for one in &a.header.plan.workloads {
        let Some(other) = workloads.iter().find(|other| other.id == one.id) else {
            continue;
        };
        let delay = |seconds: Option<f64>| seconds.map_or("none".to_owned(), |s| format!("{s} s"));
        note(
            format!("{}: what it exercises", one.id),
            one.description.clone(),
            other.description.clone(),
        );
        note(
            format!("{}: least time of an answer", one.id),
            delay(one.delay_seconds),
            delay(other.delay_seconds),
        );
    }
    changes
}

/// Warm-ups stand in the trials. Cells with the same difference are one reason.
fn warm_ups(a: &SessionRecord, b: &SessionRecord) -> Vec<Change> {
    let of = |record: &SessionRecord| -> BTreeMap<Cell, Duration> {
        let trials = record.trials.iter();
        let controls = &record.header.plan.controls;
        trials
            .filter(|trial| !controls.has(&trial.cell.target))
            .map(|trial| (trial.cell.clone(), trial.warm_up))
            .collect()
    };
    let (of_a, of_b) = (of(a), of(b));
    let mut cells: BTreeMap<(Duration, Duration), Vec<&Cell>> = BTreeMap::new();
    for (cell, one) in &of_a {
        match of_b.get(cell) {
            Some(other) if other != one => cells.entry((*one, *other)).or_default().push(cell),
            _ => {}
        }
    }
    let seconds = |length: Duration| Some(format!("{} s", length.as_secs_f64()));
    let change = |((one, other), cells): ((Duration, Duration), Vec<&Cell>)| Change {
        aspect: Aspect::Settings,
        what: match cells.as_slice() {
            [cell] => format!("warm-up of {cell}"),
            [cell, more @ ..] => format!("warm-up of {cell} and {} more", more.len()),
            [] => "warm-up".to_owned(),
        },
        before: seconds(one),
        after: seconds(other),
    };
    cells.into_iter().map(change).collect()
}

/// A warning for each session with too few blocks for more than an indication.
pub(super) fn few_blocks(sides: &[Session<'_>; 2]) -> Vec<String> {
    let few = |(side, name): (&Session<'_>, &str)| {
        let blocks = side.analysis.blocks.complete.len();
        let needed = side.analysis.settings.blocks_for_evidence;
        let plural = if blocks == 1 { "" } else { "s" };
        (blocks < needed).then(|| {
            format!("{name} has {blocks} complete block{plural}, fewer than {needed}: indicative")
        })
    };
    sides.iter().zip(["A", "B"]).filter_map(few).collect()
}

/// A warning for each session whose A/A pair, one stack under two names, differed by the rule for stacks.
pub(super) fn biased(sides: &[Session<'_>; 2]) -> Vec<String> {
    let of = |(side, name): (&Session<'_>, &str)| biased_in(side, name);
    sides.iter().zip(["A", "B"]).filter_map(of).collect()
}

/// The same of one session, which is called `name`.
pub(in crate::versus) fn biased_in(session: &Session<'_>, name: &str) -> Option<String> {
    let points: Vec<String> = session
        .analysis
        .biased()
        .map(|group| format!("{} {}", group.workload, group.point.id))
        .collect();
    (!points.is_empty()).then(|| {
        format!(
            "in {name} one stack under two names (A/A) differed at {}: its order or its machine is biased, and every \
             difference there is in doubt",
            points.join(", ")
        )
    })
}

/// What is known of one side.
pub(super) fn side(name: &str, session: &Session<'_>) -> Side {
    let (record, blocks) = (session.record, &session.analysis.blocks);
    let header = &record.header;
    let commit = header.commit.clone();
    Side {
        name: name.to_owned(),
        facts: vec![
            Fact::new("session", &header.id),
            Fact::new("started", &header.started),
            Fact::new("commit", commit.unwrap_or_else(|| "unknown".to_owned())),
            Fact::new(
                "complete blocks",
                format!("{} of {}", blocks.complete.len(), blocks.planned),
            ),
            Fact::new("void trials", blocks.trials_void.to_string()),
        ],
        failed: None,
    }
}

/// Where and how both were measured; where that differs, each side's.
pub(super) fn conditions(sides: &[Session<'_>; 2]) -> Vec<Fact> {
    type Of = fn(&SessionRecord) -> String;
    let facts: [(&str, Of); 9] = [
        ("processor", |record| {
            record.header.machine.cpu_model.clone()
        }),
        ("usable CPUs", |record| numbers(&record.header.machine.cpus)),
        ("pinning", |record| pinning(&record.header.plan.pinning)),
        ("system", |record| record.header.machine.os.clone()),
        ("kernel", |record| record.header.machine.kernel.clone()),
        ("mitigations", |record| {
            record.header.machine.mitigations.join("; ")
        }),
        ("frequency governor", |record| {
            let governor = record.header.machine.governor.clone();
            governor.unwrap_or_else(|| "none known".to_owned())
        }),
        ("congestion control", |record| {
            let name = record.header.machine.congestion_control.clone();
            name.unwrap_or_else(|| "none known".to_owned())
        }),
        ("Deadheat", |record| record.header.deadheat.clone()),
    ];
    let fact = |(name, of): (&str, Of)| {
        let [a, b] = sides.each_ref().map(|side| of(side.record));
        let value = if a == b { a } else { format!("A: {a}; B: {b}") };
        Fact::new(name, value)
    };
    facts.into_iter().map(fact).collect()
}

fn pinning(pinning: &Pinning) -> String {
    match pinning {
        Pinning::Apart { server, generator } => format!(
            "server on CPU {}, generator on CPU {}",
            numbers(server),
            numbers(generator)
        ),
        Pinning::Off { .. } => "off".to_owned(),
    }
}

fn numbers(cpus: &[usize]) -> String {
    let cpus: Vec<String> = cpus.iter().map(usize::to_string).collect();
    cpus.join(", ")
}
