//! What a cell of the plan stands for.

use std::time::Duration;

use deadheat_model::{Cell, LoadPoint, Plan, WorkloadManifest};

use super::{SelectedTarget, SessionOptions, remaining::point};

/// What a trial measures.
pub(super) struct Subject<'a> {
    /// The stack that is started, under its variant; `None`: the null server.
    pub(super) target: Option<&'a SelectedTarget>,
    /// The workload.
    pub(super) workload: &'a WorkloadManifest,
    /// The load point.
    pub(super) point: &'a LoadPoint,
    /// The measurement.
    pub(super) measure: Duration,
}

/// What `cell` stands for; `None` when the options do not hold what the plan does.
pub(super) fn find<'a>(
    options: &'a SessionOptions,
    plan: &'a Plan,
    cell: &Cell,
) -> Option<Subject<'a>> {
    let target = if plan.controls.null_server.as_ref() == Some(&cell.target) {
        None
    } else {
        // The twin is its original in everything but its name.
        let twin = plan.controls.twin.as_ref();
        let started = twin
            .filter(|twin| twin.name == cell.target)
            .map_or(&cell.target, |twin| &twin.of);
        let mut targets = options.targets.iter();
        Some(targets.find(|one| one.target == *started)?)
    };
    let mut workloads = options.workloads.iter();
    let workload = workloads.find(|one| one.manifest.id == cell.workload)?;
    let mut planned = plan.workloads.iter();
    let planned = planned.find(|one| one.id == cell.workload)?;
    Some(Subject {
        target,
        workload: &workload.manifest,
        point: point(plan, cell)?,
        measure: planned.measure,
    })
}
