//! The plan in words, before anything starts.

use std::time::Duration;

use deadheat_model::{
    Plan, RepeatedTable,
    plan::{Pinning, PlannedWorkload},
    published::RepeatedRow,
};
use deadheat_report::view::load;

/// A duration for a person: seconds below two minutes, else minutes.
pub(crate) fn about(duration: Duration) -> String {
    let seconds = duration.as_secs_f64();
    if seconds < 10.0 {
        format!("{seconds:.1} s")
    } else if seconds < 120.0 {
        format!("{seconds:.0} s")
    } else {
        format!("{:.0} min", seconds / 60.0)
    }
}

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
    for workload in &plan.workloads {
        lines.extend(loads(workload));
    }
    lines.push(format!("  CPUs      {}", pinning(&plan.pinning)));
    lines.push(format!("  seed      {}", plan.seed));
    if let Some(note) = budget_note(plan) {
        lines.push(format!("  note      {note}"));
    }
    lines.join("\n")
}

/// The loads of a workload: those of the plan's length in a line, each of so many requests in another.
fn loads(workload: &PlannedWorkload) -> Vec<String> {
    let mut lines = Vec::new();
    let id = &workload.id;
    let timed: Vec<String> = workload
        .points
        .iter()
        .filter(|point| point.counted.is_none())
        .map(|point| match point.rounds {
            Some(rounds) => format!("{} connections, {rounds} rounds", point.connections),
            None => format!("{} connections", point.connections),
        })
        .collect();
    if !timed.is_empty() {
        let (points, measure) = (timed.join(" | "), about(workload.measure));
        lines.push(format!("  workload  {id}: {points}; {measure} a trial"));
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

/// What the budget did to the plan, when a reader should know.
fn budget_note(plan: &Plan) -> Option<String> {
    let budget = Duration::from_secs_f64(plan.budget_seconds?);
    if plan.estimate > budget {
        return Some(format!(
            "the least that means anything takes longer than the budget of {}",
            about(budget)
        ));
    }
    (plan.blocks < 7).then(|| {
        format!(
            "with {} the results are indicative; a longer --budget buys seven",
            counted(plan.blocks as usize, "block")
        )
    })
}

fn counted(count: usize, noun: &str) -> String {
    if count == 1 {
        format!("1 {noun}")
    } else {
        format!("{count} {noun}s")
    }
}
