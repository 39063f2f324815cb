//! What others did over a short time. It sleeps in between, so as to be no load itself.

use std::{
    collections::BTreeMap,
    os::unix::process::parent_id,
    thread,
    time::{Duration, Instant},
};

use deadheat_model::machine::Disturbance;

use super::Root;
use crate::{
    process::{Snapshot, descendants, read_stat, ticks},
    sampling::CpuClock,
};

/// What others did while they were watched.
#[derive(Clone, Debug)]
pub struct Watched {
    /// How long that was.
    pub span: Duration,
    /// What others took of the machine.
    pub disturbance: Disturbance,
    /// The processes that used most CPU time, the busiest first.
    pub busiest: Vec<Busy>,
    /// Pages swapped in and out.
    pub swapped_pages: u64,
    /// How often a CPU was slowed down for its heat; `None` where it is not counted.
    pub throttled: Option<u64>,
    /// Names of all other processes, with their ids.
    pub others: Vec<(u32, String)>,
}

/// A process that used CPU time.
#[derive(Clone, Debug, PartialEq)]
pub struct Busy {
    /// Its id.
    pub pid: u32,
    /// Its name, as far as the kernel keeps it.
    pub name: String,
    /// CPUs' worth of time that it used.
    pub cpus: f64,
}

/// Less than this (of a CPU) names nobody.
const LEAST: f64 = 0.01;
/// So many are named.
const NAMED: usize = 3;

impl Watched {
    /// Watches for `span` those `cpus` that may be used.
    pub(super) fn during(span: Duration, root: &Root, cpus: &[usize]) -> Self {
        let before = Reading::take(root);
        thread::sleep(span);
        Reading::take(root).since(&before, cpus)
    }
}

/// The state at a moment.
struct Reading {
    at: Instant,
    clock: CpuClock,
    /// Names and clock ticks of other programs' processes.
    processes: BTreeMap<u32, (String, u64)>,
    swapped_pages: u64,
    throttled: Option<u64>,
}

impl Reading {
    fn take(root: &Root) -> Self {
        let swapped = ["pswpin", "pswpout"].map(|key| root.value("proc/vmstat", key).unwrap_or(0));
        Self {
            at: Instant::now(),
            clock: CpuClock::read(&Snapshot::take()),
            processes: other_processes(root),
            swapped_pages: swapped.iter().sum(),
            throttled: throttled(root),
        }
    }

    fn since(self, earlier: &Self, cpus: &[usize]) -> Watched {
        let span = self.at.duration_since(earlier.at);
        Watched {
            span,
            disturbance: self.clock.disturbance_since(&earlier.clock, cpus, span),
            busiest: busiest(&self.processes, &earlier.processes, span),
            swapped_pages: self.swapped_pages.saturating_sub(earlier.swapped_pages),
            throttled: self
                .throttled
                .zip(earlier.throttled)
                .map(|(now, before)| now.saturating_sub(before)),
            others: self
                .processes
                .into_iter()
                .map(|(pid, (name, _))| (pid, name))
                .collect(),
        }
    }
}

/// Everything but Deadheat and what it started.
fn other_processes(root: &Root) -> BTreeMap<u32, (String, u64)> {
    let (own, parent) = (std::process::id(), parent_id());
    let ours: Vec<u32> = descendants(own).iter().map(|stat| stat.pid).collect();
    let pids = root.names("proc").into_iter();
    let others = pids
        .filter_map(|name| name.parse().ok())
        .filter(|pid| *pid != own && !ours.contains(pid));
    let named = others.filter_map(|pid| {
        let stat = read_stat(pid)?;
        let name = root.text(&format!("proc/{pid}/comm"))?;
        if pid == parent && name == "deadheat" {
            // The agent that has started this one.
            return None;
        }
        // Without what children used that it has just waited for: that may be long ago.
        Some((pid, (name, stat.cpu_ticks - stat.children_ticks)))
    });
    named.collect()
}

fn busiest(
    now: &BTreeMap<u32, (String, u64)>,
    before: &BTreeMap<u32, (String, u64)>,
    span: Duration,
) -> Vec<Busy> {
    let mut all: Vec<Busy> = now
        .iter()
        .map(|(pid, (name, used))| {
            let earlier = before.get(pid).map_or(0, |(_, used)| *used);
            let used = ticks(used.saturating_sub(earlier)).as_secs_f64();
            Busy {
                pid: *pid,
                name: name.clone(),
                cpus: used / span.as_secs_f64().max(0.001),
            }
        })
        .filter(|busy| busy.cpus >= LEAST)
        .collect();
    all.sort_by(|one, other| other.cpus.total_cmp(&one.cpus));
    all.truncate(NAMED);
    all
}

/// How often CPUs were slowed down for their heat since the start (Linux, `thermal_throttle`), all together.
pub(super) fn throttled(root: &Root) -> Option<u64> {
    let count =
        |folder: &String| root.number(&format!("{folder}/thermal_throttle/core_throttle_count"));
    let counts: Vec<u64> = root.cpu_folders().iter().filter_map(count).collect();
    (!counts.is_empty()).then(|| counts.iter().sum())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn processes(list: &[(u32, &str, u64)]) -> BTreeMap<u32, (String, u64)> {
        let named = list.iter();
        named
            .map(|(pid, name, used)| (*pid, ((*name).to_owned(), *used)))
            .collect()
    }

    #[test]
    fn the_busiest_come_first_and_idle_ones_not_at_all() {
        let before = processes(&[(1, "init", 500), (2, "rustc", 100), (3, "java", 0)]);
        let now = processes(&[
            (1, "init", 500),
            (2, "rustc", 150),
            (3, "java", 90),
            (4, "new", 20),
        ]);
        let busy = busiest(&now, &before, ticks(100));
        let names: Vec<&str> = busy.iter().map(|busy| busy.name.as_str()).collect();
        assert_eq!(names, ["java", "rustc", "new"]);
        assert!((busy[0].cpus - 0.9).abs() < 1e-9);
    }

    #[test]
    fn a_child_of_ours_is_not_another_program() {
        let mut child = std::process::Command::new("sleep")
            .arg("30")
            .spawn()
            .unwrap();
        let others = other_processes(&Root::here());
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(!others.contains_key(&child.id()));
        assert!(!others.contains_key(&std::process::id()));
        // Whoever started the test.
        assert!(others.contains_key(&std::os::unix::process::parent_id()));
    }
}
