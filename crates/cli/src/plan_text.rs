//! The plan in words, before anything starts.

use std::time::Duration;

use deadheat_model::{Plan, plan::Pinning};

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
        let points: Vec<String> = workload
            .points
            .iter()
            .map(|point| match point.rounds {
                Some(rounds) => format!("{} connections, {rounds} rounds", point.connections),
                None => format!("{} connections", point.connections),
            })
            .collect();
        let measure = about(workload.measure);
        lines.push(format!(
            "  workload  {}: {}; {measure} a trial",
            workload.id,
            points.join(" | ")
        ));
    }
    lines.push(format!("  CPUs      {}", pinning(&plan.pinning)));
    lines.push(format!("  seed      {}", plan.seed));
    if let Some(note) = budget_note(plan) {
        lines.push(format!("  note      {note}"));
    }
    lines.join("\n")
}

fn pinning(pinning: &Pinning) -> String {
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
