//! CPU time and page faults of a process tree, as totals that only grow.

use std::time::Duration;

use super::Tree;
use crate::process::{Snapshot, ticks};

/// Totals over a tree, from its start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counters {
    /// CPU time, user and system.
    pub(super) cpu: Duration,
    /// The same in clock ticks, as the processes' own figures say. Each of them is rounded down: of hundreds that have
    /// used less than a tick of 10 ms they say nothing.
    pub(super) cpu_ticks: u64,
    /// Page faults without input or output.
    pub(super) minor_faults: u64,
    /// Page faults with.
    pub(super) major_faults: u64,
}

impl Counters {
    /// Reads the totals. Faults and, without a control group, CPU time are what the processes that there are used,
    /// each with the children that it waited for, and what the supervisor inherited: so an ended child is counted once.
    pub(super) fn read(tree: &Tree, processes: &Snapshot) -> Self {
        Self::of(tree.supervisor, processes, tree.group_cpu())
    }

    /// The same, with the control group's CPU time, if there is one, as it was read before.
    pub(super) fn of(supervisor: u32, processes: &Snapshot, group_cpu: Option<Duration>) -> Self {
        let mut total = Self::default();
        for stat in processes.tree(supervisor) {
            total.minor_faults += stat.minor_faults;
            total.major_faults += stat.major_faults;
            total.cpu_ticks += stat.cpu_ticks;
        }
        if let Some(supervisor) = processes.find(supervisor) {
            total.minor_faults += supervisor.children.minor_faults;
            total.major_faults += supervisor.children.major_faults;
            total.cpu_ticks += supervisor.children.cpu_ticks;
        }
        total.cpu = group_cpu.unwrap_or_else(|| ticks(total.cpu_ticks));
        total
    }

    /// What was added since `earlier`.
    pub(super) fn since(&self, earlier: &Self) -> Self {
        Self {
            cpu: self.cpu.saturating_sub(earlier.cpu),
            cpu_ticks: self.cpu_ticks.saturating_sub(earlier.cpu_ticks),
            minor_faults: self.minor_faults.saturating_sub(earlier.minor_faults),
            major_faults: self.major_faults.saturating_sub(earlier.major_faults),
        }
    }
}
