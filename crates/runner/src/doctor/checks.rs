//! The table of checks.

use std::{path::Path, time::Duration};

use deadheat_model::machine::Machine;
use serde::{Deserialize, Serialize};

use super::{
    World, clock, container, cpus,
    found::{Check, Fact, facts},
    here, kernel, limits, memory, network, others, speed,
};
use crate::session::PinningMode;

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
