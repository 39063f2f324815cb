//! What a session will do, from a budget: a pure function.

mod choose;
mod layout;
mod offers;
mod open;
#[cfg(test)]
pub(super) mod tests;
mod time;

use std::time::Duration;

use deadheat_model::{
    Plan, TargetId,
    choice::Purpose,
    heat::WarmUpRule,
    plan::{Pinning, PlannedWorkload},
    stack::Runtime,
    workload::Oracle,
};

use self::{
    choose::{Layouts, chosen},
    layout::Layout,
};
pub(super) use self::{
    open::{derived, is_closed},
    time::{OVERHEAD, USUAL_READY},
};
use super::{SelectedWorkload, SessionOptions};

/// A target that takes part, and how long it took to its first correct answer when it was prepared.
#[derive(Clone, Debug)]
pub struct Participant {
    /// The stack, under its variant.
    pub target: TargetId,
    /// How its code is executed.
    pub runtime: Runtime,
    /// How it is warmed up in a heat.
    pub warm_up: WarmUpRule,
    /// Workloads that it answers.
    pub workloads: Vec<String>,
    /// To its first correct answer, once that is known.
    pub ready: Option<Duration>,
}

/// The warm-up of a runtime, fixed and declared: a compiler that works while the code runs needs longer. On one CPU, which
/// it shares with the server, some need ten seconds; figures that others will quote wait for that.
pub fn warm_up(runtime: Runtime, purpose: Purpose) -> Duration {
    match (runtime, purpose) {
        (Runtime::Native | Runtime::Interpreted, _) => Duration::from_secs(1),
        (Runtime::Jit, Purpose::Publication) => Duration::from_secs(10),
        (Runtime::Jit, _) => Duration::from_secs(2),
    }
}

/// Plans a session of `participants`.
pub fn plan(options: &SessionOptions, participants: &[Participant], pinning: Pinning) -> Plan {
    let layouts = Layouts {
        closed: Layout::of(options, participants, false),
        with_open: Layout::of(options, participants, true),
    };
    let (rung, choice) = chosen(options, &layouts);
    let estimate = layouts.time(options, &rung);
    let layout = if rung.latency {
        layouts.with_open
    } else {
        layouts.closed
    };
    let workloads = layout.workloads.into_iter();
    Plan {
        seed: options.seed,
        blocks: rung.blocks,
        targets: participants.iter().map(|one| one.target.clone()).collect(),
        workloads: workloads
            .map(|(workload, points)| PlannedWorkload {
                id: workload.manifest.id.clone(),
                description: workload.manifest.description.clone(),
                points,
                delay_seconds: (workload.manifest.oracle == Oracle::Relayed)
                    .then(|| crate::services::upstream::DELAY.as_secs_f64()),
                measure: measurement(workload, rung.measure, options.measure),
            })
            .collect(),
        cells: layout.cells.into_iter().map(|one| one.cell).collect(),
        controls: layout.controls,
        noise_bound: options.noise_bound,
        pinning,
        budget_seconds: options.budget.map(|budget| budget.as_secs_f64()),
        estimate,
        choice: Some(choice),
    }
}

/// A workload's measurement: the plan's, or the least that the workload needs, unless the user said otherwise.
fn measurement(
    workload: &SelectedWorkload,
    planned: Duration,
    asked: Option<Duration>,
) -> Duration {
    asked.unwrap_or_else(|| planned.max(workload.manifest.least_measurement.unwrap_or_default()))
}
