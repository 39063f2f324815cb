//! The plan in words, before anything starts.

mod choice;
mod publication;
mod refusal;
mod words;

use deadheat_model::{
    Plan, RepeatedTable,
    plan::{NoiseBound, Pinning, PlannedWorkload},
    published::RepeatedRow,
};
use deadheat_report::view::load;

pub(crate) use self::{
    choice::is_too_long,
    publication::{objections, of_the_checkout, told},
    refusal::refusal,
    words::{about, counted, entry, glued, length},
};

/// The plan, some lines of at most 80 columns.
pub(crate) fn describe(plan: &Plan) -> String {
    let mut lines = Vec::new();
    let points: usize = plan.workloads.iter().map(|one| one.points.len()).sum();
    lines.push(format!(
        "Plan: {} × {}, {} → {}, about {}",
        counted(plan.targets.len(), "stack"),
        counted(points, "load point"),
        counted(plan.blocks as usize, "block"),
        counted(plan.trials(), "trial"),
        about(plan.estimate),
    ));
    for target in &plan.targets {
        lines.push(format!("  stack     {target}"));
    }
    if let Some(controls) = controls(plan) {
        lines.extend(entry("controls", &controls));
    }
    for workload in &plan.workloads {
        lines.extend(loads(workload));
    }
    lines.extend(choice::lines(plan));
    if let Some(noise) = noise(plan.noise_bound) {
        lines.extend(entry("noise", &noise));
    }
    lines.push(format!("  CPUs      {}", pinning(&plan.pinning)));
    lines.push(format!("  seed      {}", plan.seed));
    lines.join("\n")
}

/// The loads of a workload: those of the plan's length in a line, each of so many requests in another.
fn loads(workload: &PlannedWorkload) -> Vec<String> {
    let mut lines = Vec::new();
    let id = &workload.id;
    let timed: Vec<String> = workload
        .points
        .iter()
        .filter(|point| point.counted.is_none() && point.open.is_none())
        .map(|point| match point.rounds {
            Some(rounds) => format!("{} connections, {rounds} rounds", point.connections),
            None => format!("{} connections", point.connections),
        })
        .collect();
    if !timed.is_empty() {
        let (points, measure) = (timed.join(" | "), length(workload.measure));
        lines.extend(entry(
            "workload",
            &format!("{id}: {points}; {measure} a trial"),
        ));
    }
    let counted = workload
        .points
        .iter()
        .filter(|point| point.counted.is_some());
    lines.extend(counted.map(|point| {
        let line = format!("  workload  {id}: {}", load(point));
        // At most 80 columns.
        if line.chars().count() > 80 {
            return line.replacen(", HTTP", ",\n            HTTP", 1);
        }
        line
    }));
    lines
}

/// The published tables that are repeated, and what is left out of them.
pub(crate) fn published(tables: &[RepeatedTable]) -> String {
    let mut lines = Vec::new();
    for repeated in tables {
        let asked = repeated.rows.iter().filter(|row| row.cell().is_some());
        lines.push(format!(
            "  published {} {}: {} of {}",
            repeated.document,
            repeated.table.id,
            asked.count(),
            counted(repeated.rows.len(), "row")
        ));
        for (plan, row) in repeated.rows.iter().zip(&repeated.table.row) {
            if let RepeatedRow::LeftOut { reason } = plan {
                lines.push(format!("            without {}: {reason}", row.name));
            }
        }
    }
    lines.join("\n")
}

pub(crate) fn pinning(pinning: &Pinning) -> String {
    match pinning {
        Pinning::Apart { server, generator } => format!(
            "server on {}; generator, database and upstream on {}",
            list(server),
            list(generator)
        ),
        Pinning::Off { cpus } => format!("not pinned: server and generator share {}", list(cpus)),
    }
}

fn list(cpus: &[usize]) -> String {
    let numbers: Vec<String> = cpus.iter().map(usize::to_string).collect();
    format!("CPU {}", numbers.join(", "))
}

/// What the session measures to judge itself.
fn controls(plan: &Plan) -> Option<String> {
    let null = plan.controls.null_server.as_ref();
    let null = null.map(|_| "a null server (what the generator reaches at most)".to_owned());
    let twin = plan.controls.twin.as_ref();
    let twin = twin.map(|twin| format!("{} once more (A/A: what chance does)", twin.of));
    let all: Vec<String> = null.into_iter().chain(twin).collect();
    (!all.is_empty()).then(|| all.join(", "))
}

/// The bound for noise, when it is not the usual one.
fn noise(bound: Option<NoiseBound>) -> Option<String> {
    match bound {
        None => Some("disturbed trials are flagged and count".to_owned()),
        Some(bound) if bound == NoiseBound::default() => None,
        Some(bound) => Some(format!(
            "a trial is void past {} % of CPU time for others",
            bound.other_cpu * 100.0
        )),
    }
}
