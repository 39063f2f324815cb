//! CPU time of a process tree, where no control group counts it.

use std::time::Duration;

use crate::process::{Snapshot, ticks};

/// CPU time, user and system, that the tree below `supervisor` has used since its start: what the processes that there
/// are used, each with the children that it waited for, and what the supervisor inherited, so that an ended child is
/// counted once. Each process's figure is rounded down to clock ticks.
pub(super) fn cpu_time(supervisor: u32, processes: &Snapshot) -> Duration {
    let living: u64 = processes
        .tree(supervisor)
        .into_iter()
        .map(|stat| stat.cpu_ticks)
        .sum();
    let inherited = processes
        .find(supervisor)
        .map_or(0, |supervisor| supervisor.children_ticks);
    ticks(living + inherited)
}
