//! What a server's process tree uses while it is measured, taken from outside it and outside its CPUs.

mod noise;

use std::{io, time::Duration};

use deadheat_model::machine::CpuSource;
use rustix::io::Errno;

use crate::process::{CpuGroup, Snapshot, Supervised, procfs, ticks};

pub(crate) use self::noise::{CpuClock, interrupt_threads};

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

    /// The tree below `supervisor`, as if there were no control groups.
    #[cfg(test)]
    pub(crate) fn without_group(supervisor: u32) -> Self {
        Self {
            supervisor,
            group: None,
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

/// CPU time, user and system, that the tree below `supervisor` has used since its start: what the processes that there
/// are used, each with the children that it waited for, and what the supervisor inherited, so that an ended child is
/// counted once. Each process's figure is rounded down to clock ticks.
fn cpu_time(supervisor: u32, processes: &Snapshot) -> Duration {
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

/// The proportional set size (PSS) of all `processes`, in bytes. Each page shared by n processes counts 1/n in each of
/// them, so the sum counts it once; RSS would count it once per worker. `None` when none of them is there (any more), or when one of
/// them keeps its size to itself: the sum of the others would be too small.
fn pss_bytes(processes: &[u32]) -> Option<u64> {
    total(processes.iter().map(|pid| read_pss(*pid)))
}

fn total(sizes: impl Iterator<Item = io::Result<u64>>) -> Option<u64> {
    let gone = [Errno::NOENT, Errno::SRCH].map(|errno| Some(errno.raw_os_error()));
    let is_there = |size: &io::Result<u64>| !matches!(size, Err(error) if gone.contains(&error.raw_os_error()));
    let mut sizes = sizes.filter(is_there).map(Result::ok);
    let first = sizes.next()??;
    sizes.try_fold(first, |sum, size| Some(sum + size?))
}

fn read_pss(pid: u32) -> io::Result<u64> {
    let text = procfs::try_read(&format!("/proc/{pid}/smaps_rollup"))?;
    parse_pss(&text).ok_or_else(|| io::ErrorKind::InvalidData.into())
}

/// The `Pss:` line of `smaps_rollup`, in bytes (proc_pid_smaps(5)).
fn parse_pss(text: &str) -> Option<u64> {
    let value = text.lines().find_map(|line| line.strip_prefix("Pss:"))?;
    let kibibytes: u64 = value.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_pss_and_not_its_parts() {
        let text = "55d0-7ffe ---p 00000000 00:00 0 [rollup]\nRss:  2000 kB\nPss:  1234 kB\nPss_Anon:  7 kB\n";
        assert_eq!(parse_pss(text), Some(1234 * 1024));
        assert_eq!(parse_pss("Rss: 1 kB\n"), None);
    }

    #[test]
    fn a_process_that_may_not_be_looked_at_makes_the_sum_unknown_and_one_that_is_gone_does_not() {
        let refused = || Err(Errno::ACCESS.into());
        let gone = || Err(Errno::SRCH.into());
        assert_eq!(total([Ok(3), gone(), Ok(4)].into_iter()), Some(7));
        assert_eq!(total([Ok(3), refused()].into_iter()), None);
        assert_eq!(total([refused(), Ok(3)].into_iter()), None);
        assert_eq!(total([gone()].into_iter()), None);
    }

    #[test]
    fn a_child_has_memory() {
        let mut child = std::process::Command::new("sleep")
            .arg("30")
            .spawn()
            .unwrap();
        let one = pss_bytes(&[child.id()]);
        let two = pss_bytes(&[child.id(), child.id()]);
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(two > one && one > Some(0), "{two:?} {one:?}");
        assert_eq!(pss_bytes(&[child.id()]), None, "it is gone");
    }
}
