//! Which processes are looked at when a measurement begins and when it ends.

use std::{collections::HashSet, fs, time::Duration};

use super::pace::{Stopwatch, is_affordable};
use crate::process::{Snapshot, read_stat};

/// What to look at. Both ends of a measurement need the same, or processes would seem to begin or end in between.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Scan {
    /// All processes that can be seen.
    All,
    /// Deadheat with everything that it started, and these threads of the kernel, which serve interrupts. What other
    /// programs do is then known from the CPUs' time alone.
    Ours(Vec<u32>),
}

impl Scan {
    /// All processes if a look at them takes little of a measurement of such a length, ours otherwise. This looks at
    /// all of them, so it must come before the measurement.
    pub(super) fn within(measure: Duration) -> Self {
        let watch = Stopwatch::start();
        let all = Snapshot::take();
        // Once at each end.
        Self::affordable(watch.cpu() * 2, measure, &all)
    }

    fn affordable(cost: Duration, measure: Duration, all: &Snapshot) -> Self {
        if is_affordable(cost, measure) || children(std::process::id()).is_none() {
            return Self::All;
        }
        let threads = all.all().filter(|stat| stat.serves_interrupts);
        Self::Ours(threads.map(|stat| stat.pid).collect())
    }

    /// Looks.
    pub(super) fn take(&self) -> Snapshot {
        match self {
            Scan::All => Snapshot::take(),
            Scan::Ours(threads) => {
                let ours = tree(std::process::id());
                let pids = ours.iter().chain(threads);
                pids.filter_map(|pid| read_stat(*pid)).collect()
            }
        }
    }
}

/// `root` and all of its descendants.
fn tree(root: u32) -> HashSet<u32> {
    let mut found = HashSet::new();
    let mut open = vec![root];
    while let Some(pid) = open.pop() {
        if found.insert(pid) {
            open.extend(children(pid).unwrap_or_default());
        }
    }
    found
}

/// The children of a process, as each of its threads lists its own (proc_tid_children(5)); `None` if the process is
/// gone, or the kernel keeps no such lists.
fn children(pid: u32) -> Option<Vec<u32>> {
    let threads = fs::read_dir(format!("/proc/{pid}/task")).ok()?;
    let lists = threads
        .flatten()
        .map(|thread| thread.path().join("children"));
    let lists = lists.filter_map(|list| fs::read_to_string(list).ok());
    lists.fold(None, |found: Option<Vec<u32>>, list| {
        let pids = list.split_whitespace().filter_map(|pid| pid.parse().ok());
        Some(found.unwrap_or_default().into_iter().chain(pids).collect())
    })
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn a_machine_with_so_many_processes_that_looking_at_all_would_disturb_is_not_scanned() {
        let (all, look) = (Snapshot::take(), Duration::from_millis(50));
        let of = |seconds| Scan::affordable(2 * look, Duration::from_secs(seconds), &all);
        assert_eq!(of(20), Scan::All);
        assert!(matches!(of(4), Scan::Ours(_)));
    }

    #[test]
    fn what_deadheat_started_is_found_without_the_other_processes() {
        let mut child = Command::new("sh")
            .args(["-c", "sleep 30 & echo $!; wait"])
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let out = child.stdout.take().unwrap();
        std::io::BufRead::read_line(&mut std::io::BufReader::new(out), &mut line).unwrap();
        let grandchild: u32 = line.trim().parse().unwrap();
        let own = std::process::id();
        let ours = Scan::Ours(Vec::new()).take();
        let pids: Vec<u32> = ours.tree(own).iter().map(|stat| stat.pid).collect();
        let outside = read_stat(own).unwrap().parent;
        Command::new("kill").arg(line.trim()).status().unwrap();
        child.wait().unwrap();
        assert!(pids.contains(&child.id()) && pids.contains(&grandchild));
        assert!(ours.find(own).is_some());
        assert!(ours.find(outside).is_none(), "of who started Deadheat");
    }
}
