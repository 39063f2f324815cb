//! Blocks and durations from a budget: a pure function.

use std::time::Duration;

use deadheat_model::{
    Cell, Plan, TargetId,
    plan::{Pinning, PlannedWorkload},
    stack::Runtime,
    workload::Oracle,
};

use super::{SelectedWorkload, SessionOptions};

/// Blocks and measurement, best first; the first pair that fits the budget is taken. More blocks come before longer
/// ones, because runs differ more between processes than inside one (Kalibera & Jones, ISMM 2013).
const LADDER: [(u32, u64); 8] = [
    (7, 5),
    (7, 3),
    (7, 2),
    (5, 3),
    (5, 2),
    (5, 1),
    (3, 2),
    (3, 1),
];

/// Starting, checking and stopping a server, in a trial, beside the time to its first answer.
const OVERHEAD: Duration = Duration::from_millis(400);
/// The time to the first answer, while it is not known.
const USUAL_READY: Duration = Duration::from_millis(300);

/// A target that takes part, and how long it took to its first correct answer when it was prepared.
#[derive(Clone, Debug)]
pub struct Participant {
    /// The stack, under its variant.
    pub target: TargetId,
    /// How its code is executed.
    pub runtime: Runtime,
    /// Workloads that it answers.
    pub workloads: Vec<String>,
    /// To its first correct answer, once that is known.
    pub ready: Option<Duration>,
}

/// The warm-up of a runtime, fixed and declared: a compiler that works while the code runs needs longer.
pub fn warm_up(runtime: Runtime) -> Duration {
    match runtime {
        Runtime::Native | Runtime::Interpreted => Duration::from_secs(1),
        Runtime::Jit => Duration::from_secs(2),
    }
}

/// Plans a session of `participants`.
pub fn plan(options: &SessionOptions, participants: &[Participant], pinning: Pinning) -> Plan {
    let ladder: Vec<(u32, Duration)> = match (options.blocks, options.measure) {
        (Some(blocks), Some(measure)) => vec![(blocks, measure)],
        (Some(blocks), None) => LADDER.map(|(_, seconds)| (blocks, Duration::from_secs(seconds))).to_vec(),
        (None, Some(measure)) => LADDER.map(|(blocks, _)| (blocks, measure)).to_vec(),
        (None, None) => LADDER.map(|(blocks, seconds)| (blocks, Duration::from_secs(seconds))).to_vec(),
    };
    let fits = |rung: &&(u32, Duration)| {
        estimate(options, participants, rung.0, rung.1) <= options.budget
    };
    // The last rung is the least that means anything; when even that is too long, the estimate says so.
    let shortest = ladder.iter().min_by_key(|rung| (rung.0, rung.1));
    let (blocks, measure) = *ladder
        .iter()
        .find(fits)
        .or(shortest)
        .unwrap_or(&(3, Duration::from_secs(1)));
    Plan {
        seed: options.seed,
        blocks,
        targets: participants.iter().map(|one| one.target.clone()).collect(),
        workloads: options
            .workloads
            .iter()
            .map(|workload| PlannedWorkload {
                id: workload.manifest.id.clone(),
                description: workload.manifest.description.clone(),
                points: workload.points.clone(),
                measure: measurement(workload, measure, options.measure),
            })
            .collect(),
        cells: cells(options, participants).map(|(cell, ..)| cell).collect(),
        pinning,
        budget_seconds: Some(options.budget.as_secs_f64()),
        estimate: estimate(options, participants, blocks, measure),
    }
}

/// A workload's measurement: the plan's, or the least that the workload needs, unless the user said otherwise.
fn measurement(workload: &SelectedWorkload, planned: Duration, asked: Option<Duration>) -> Duration {
    asked.unwrap_or_else(|| planned.max(workload.manifest.least_measurement.unwrap_or_default()))
}

fn cells<'a>(
    options: &'a SessionOptions,
    participants: &'a [Participant],
) -> impl Iterator<Item = (Cell, &'a Participant, &'a SelectedWorkload)> {
    participants.iter().flat_map(move |participant| {
        let answered = options
            .workloads
            .iter()
            .filter(|workload| participant.workloads.contains(&workload.manifest.id));
        answered.flat_map(move |workload| {
            workload.points.iter().map(move |point| {
                let cell = Cell {
                    target: participant.target.clone(),
                    workload: workload.manifest.id.clone(),
                    point: point.id.clone(),
                };
                (cell, participant, workload)
            })
        })
    })
}

/// The time that measuring will take.
fn estimate(
    options: &SessionOptions,
    participants: &[Participant],
    blocks: u32,
    measure: Duration,
) -> Duration {
    let block: Duration = cells(options, participants)
        .map(|(_, participant, workload)| {
            let probes = match workload.manifest.oracle {
                // One probe before and one after the load, each as slow as the upstream.
                Oracle::Relayed => 2 * crate::services::upstream::DELAY,
                _ => Duration::ZERO,
            };
            let warm_up = options.warm_up.unwrap_or_else(|| warm_up(participant.runtime));
            participant.ready.unwrap_or(USUAL_READY)
                + OVERHEAD
                + probes
                + warm_up
                + measurement(workload, measure, options.measure)
        })
        .sum();
    block * blocks
}
