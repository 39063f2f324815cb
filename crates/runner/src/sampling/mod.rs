//! What a server's process tree uses while it is measured, taken from outside it and outside its CPUs.

mod cpu_time;
mod memory;
mod noise;

use std::time::Duration;

use deadheat_model::machine::CpuSource;

pub(crate) use self::noise::CpuClock;
use self::{cpu_time::cpu_time, memory::pss_bytes};
use crate::process::{CpuGroup, Snapshot, Supervised};

/// A process tree: the supervisor whose descendants it is, and its control group.
#[derive(Clone, Debug)]
pub(crate) struct Tree {
    supervisor: u32,
    group: Option<CpuGroup>,
}

impl Tree {
    /// The tree of a server.
    pub(crate) fn new(server: &Supervised) -> Self {
        Self {
            supervisor: server.supervisor_pid(),
            group: server.group().cloned(),
        }
    }

    /// How its CPU time is taken.
    pub(crate) fn cpu_source(&self) -> CpuSource {
        let group = self.group.as_ref();
        group.map_or(CpuSource::Proc, CpuGroup::source)
    }

    /// CPU time, user and system, that the tree has used since its start; `None` where its control group does not tell.
    pub(crate) fn cpu(&self) -> Option<Duration> {
        match &self.group {
            Some(_) => self.group_cpu(),
            None => Some(cpu_time(self.supervisor, &self.snapshot())),
        }
    }

    /// Its PSS in bytes; `None` when it cannot be read.
    pub(crate) fn pss_bytes(&self) -> Option<u64> {
        let group = self.group.as_ref();
        let known = group.and_then(|group| group.processes().ok());
        let processes = known.unwrap_or_else(|| {
            let all = self.snapshot().descendants(self.supervisor);
            all.into_iter().map(|stat| stat.pid).collect()
        });
        pss_bytes(&processes)
    }

    /// Its supervisor with its processes. This is read within measured time, on the generator's CPUs, so the processes of
    /// others are read only where the kernel keeps no lists of children.
    fn snapshot(&self) -> Snapshot {
        Snapshot::new(self.supervisor).unwrap_or_else(Snapshot::take)
    }

    /// Its CPU time as its control group counts it, if it has one.
    fn group_cpu(&self) -> Option<Duration> {
        self.group.as_ref()?.read_cpu().ok()
    }
}
