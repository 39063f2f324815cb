//! The table of checks, and what they found.

use std::{collections::BTreeSet, path::Path, time::Duration};

use deadheat_model::{Warning, figure::capital, machine::Machine, warning::Level};
use serde::{Deserialize, Serialize};

use super::{World, clock, container, cpus, here, kernel, limits, memory, network, others, speed};
use crate::session::PinningMode;

/// An id that never changes, what is looked at, and the function that looks at it.
pub(super) type Check<On> = (&'static str, &'static str, fn(&On) -> Found);

/// All checks of a machine, in the order in which a reader would ask.
pub(super) const CHECKS: [Check<World>; 42] = [
    ("build", "build", here::build),
    ("priority", "priority", here::priority),
    ("user", "user", here::root),
    ("disk", "disk", here::disk),
    ("other-load", "other load", others::other_load),
    ("steal", "CPU steal", others::steal),
    ("other-sessions", "other sessions", others::other_sessions),
    ("daemons", "daemons", others::daemons),
    ("pressure", "pressure (PSI)", others::pressure),
    ("governor", "governor", speed::governor),
    ("frequency-limit", "frequency limit", speed::limits),
    ("turbo", "turbo", speed::turbo),
    ("throttling", "throttling", speed::throttling),
    ("power", "power", speed::power),
    ("cpus", "CPUs", cpus::count),
    ("smt", "SMT", cpus::threads_of_cores),
    ("numa", "NUMA", cpus::numa),
    ("isolated-cpus", "isolated CPUs", cpus::isolated),
    ("cpu-accounting", "CPU accounting", container::accounting),
    ("cpu-quota", "CPU quota", container::cpu_quota),
    ("memory-limit", "memory limit", container::memory_limit),
    ("tasks", "threads", container::tasks),
    ("container", "container", container::container),
    ("file-descriptors", "file descriptors", limits::descriptors),
    ("address-space", "address space", limits::address_space),
    ("cpu-time", "CPU time", limits::cpu_time),
    (
        "congestion-control",
        "congestion control",
        network::congestion_control,
    ),
    ("ports", "ports", network::ports),
    ("backlog", "backlog", network::backlog),
    ("loopback", "loopback", network::loopback),
    (
        "connection-tracking",
        "connection tracking",
        network::tracking,
    ),
    ("memory", "memory", memory::available),
    ("swap", "swap", memory::swap),
    ("huge-pages", "huge pages", memory::huge_pages),
    ("pss", "PSS", memory::pss),
    ("clock-source", "clock source", clock::source),
    ("clock", "clock", clock::cost),
    ("virtual-machine", "virtual machine", kernel::hypervisor),
    ("mitigations", "mitigations", kernel::mitigations),
    ("aslr", "ASLR", kernel::layout),
    ("entropy", "entropy", kernel::entropy),
    ("privileges", "privileges", kernel::privileges),
];

/// Checks that are about a generator and a server on one machine.
const OF_ONE_MACHINE: [&str; 2] = ["cpus", "smt"];

/// What a check found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Fact {
    /// The check ("congestion-control").
    pub id: String,
    /// What was looked at ("congestion control").
    pub subject: String,
    /// What was found, in a few words ("bbr").
    pub found: String,
    /// What this does to a measurement; [`Level::Routine`] if it cannot be seen on this machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warning: Option<Warning>,
}

/// A machine and what was found on it: what `deadheat doctor` has of each host.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Examination {
    /// What sessions record of it.
    pub machine: Machine,
    /// Every check's fact, the worst first.
    pub facts: Vec<Fact>,
    /// How long others were watched.
    pub watched_seconds: f64,
    /// The share (0 to 1) of CPU time that other programs used meanwhile.
    pub other_cpu: f64,
    /// The share (0 to 1) that the hypervisor gave to others.
    pub steal: f64,
}

impl Examination {
    /// Of this machine, watched for `watch`, for results in the folder `results` and at most `connections`.
    pub fn here(watch: Duration, results: &Path, connections: u32) -> Self {
        let world = World::here(watch, results, PinningMode::Apart, connections);
        let facts = judge(&world);
        let disturbance = world.watched.disturbance;
        Self {
            machine: world.machine,
            facts,
            watched_seconds: world.watched.span.as_secs_f64(),
            other_cpu: disturbance.other_cpu,
            steal: disturbance.steal,
        }
    }
}

/// Every check's fact, the worst first.
pub fn judge(world: &World) -> Vec<Fact> {
    facts(&CHECKS, world)
}

/// Without the facts that ask whether server and generator fit on one machine: the load comes from another one.
#[must_use]
pub fn of_several(mut facts: Vec<Fact>) -> Vec<Fact> {
    facts.retain(|fact| !OF_ONE_MACHINE.contains(&fact.id.as_str()));
    facts
}

/// What these checks find, the worst first.
pub(super) fn facts<On>(checks: &[Check<On>], on: &On) -> Vec<Fact> {
    let facts = checks
        .iter()
        .map(|(id, subject, look)| look(on).of(id, subject));
    let mut facts: Vec<Fact> = facts.collect();
    // Stable.
    facts.sort_by_key(|fact| fact.warning.as_ref().map_or(u8::MAX, |one| one.level as u8));
    facts
}

/// What was found. Advice is one command or sentence a line: a command begins with a small letter.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) found: String,
    pub(super) level: Option<Level>,
    pub(super) why: &'static str,
    pub(super) advice: String,
}

impl Found {
    pub(super) fn of(self, id: &str, subject: &str) -> Fact {
        let Self {
            found,
            level,
            why,
            advice,
        } = self;
        let sentence = format!(
            "{}: {}. {why}",
            capital(subject),
            found.trim_end_matches('.')
        );
        let warning = level.map(|level| {
            let warning = Warning::new(level, id, sentence).with("found", found.as_str());
            warning.advice(advice)
        });
        Fact {
            id: id.to_owned(),
            subject: subject.to_owned(),
            found,
            warning,
        }
    }
}

/// Nothing to do.
pub(super) fn fine(found: impl Into<String>) -> Found {
    Found {
        found: found.into(),
        level: None,
        why: "",
        advice: String::new(),
    }
}

/// It cannot be seen; `found` says why.
pub(super) fn unknown(found: impl Into<String>, why: &'static str) -> Found {
    Found {
        level: Some(Level::Routine),
        why,
        ..fine(found)
    }
}

/// Good to know when figures are read.
pub(super) fn note(
    found: impl Into<String>,
    why: &'static str,
    advice: impl Into<String>,
) -> Found {
    Found {
        level: Some(Level::Note),
        advice: advice.into(),
        ..unknown(found, why)
    }
}

/// It will spoil a measurement.
pub(super) fn warning(
    found: impl Into<String>,
    why: &'static str,
    advice: impl Into<String>,
) -> Found {
    Found {
        level: Some(Level::Doubt),
        ..note(found, why, advice)
    }
}

/// CPUs as the kernel and taskset(1) list them: "0-2,5".
pub(super) fn listed(cpus: &[usize]) -> String {
    let mut ranges: Vec<(usize, usize)> = Vec::new();
    let cpus: BTreeSet<usize> = cpus.iter().copied().collect();
    for cpu in cpus {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == cpu => *last = cpu,
            _ => ranges.push((cpu, cpu)),
        }
    }
    let texts = ranges.iter().map(|(first, last)| {
        if first == last {
            first.to_string()
        } else {
            format!("{first}-{last}")
        }
    });
    texts.collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::parse_list;

    #[test]
    fn lists_are_the_kernels() {
        for text in ["0", "0-2,5", "1,3,5-6", ""] {
            assert_eq!(listed(&parse_list(text)), text);
        }
        assert!(parse_list("(null)").is_empty());
    }
}
