//! Checks whether this machine would spoil a measurement, and gives advice. [`MachineState::here`] reads files and
//! probes the machine. [`judge`] evaluates a [`MachineState`] with pure functions, so tests can plant one. No setting
//! is changed.

mod cpus;
mod kernel;
mod limits;
mod network;
mod others;
mod own;
#[cfg(test)]
mod testing;

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    str::FromStr,
    time::Duration,
};

use deadheat_model::{Warning, figure::capital, machine::Machine, plan::Pinning, warning::Level};
use serde::{Deserialize, Serialize};

use crate::session::{PinningMode, describe_machine, share_out};

pub use network::{Clocks, Trips, judge_link, unreached};
pub use own::{BusyProcess, OwnFacts, Watched};

/// The default time that `deadheat doctor` watches other programs.
pub const WATCH: Duration = Duration::from_secs(2);
/// The time that `deadheat run` watches other programs before it begins. It suffices for the bound of 5 % (clock ticks
/// are 10 ms).
pub const WATCH_BEFORE_A_RUN: Duration = Duration::from_secs(1);

/// The number of connections that limits are checked for when no workload specifies it.
pub const CONNECTIONS: u32 = 1000;

/// The state of a machine, which the checks evaluate.
#[derive(Clone, Debug)]
pub struct MachineState {
    /// The folder with `proc` and `sys`.
    pub root: Root,
    /// What sessions record of the machine.
    pub machine: Machine,
    /// How a session would divide the CPUs.
    pub pinning: Pinning,
    /// Facts that only this process can determine.
    pub own: OwnFacts,
    /// The activity of other programs while they were watched.
    pub watched: Watched,
    /// The maximum number of connections of the workloads.
    pub connections: u32,
}

impl MachineState {
    /// Reads this machine's state and watches other programs for `watch`. Sessions are in the folder `results`, with
    /// `pinning` and at most `connections`.
    pub fn here(watch: Duration, results: &Path, pinning: PinningMode, connections: u32) -> Self {
        let root = Root::here();
        let machine = describe_machine();
        Self {
            watched: Watched::during(watch, &root, &machine.cpus),
            pinning: share_out(pinning),
            own: OwnFacts::gather(results),
            root,
            machine,
            connections,
        }
    }

    /// The command as the user must type it: with `sudo` unless this is root.
    fn as_root(&self, command: &str) -> String {
        if self.own.is_root {
            command.to_owned()
        } else {
            format!("sudo {command}")
        }
    }

    /// The command that writes `value` to a kernel file.
    fn set(&self, path: &str, value: &str) -> String {
        format!("echo {value} | {}", self.as_root(&format!("tee {path}")))
    }
}

/// A folder with `proc` and `sys` in it. Paths are relative to it.
#[derive(Clone, Debug)]
pub struct Root(PathBuf);

impl Root {
    /// The root folder of this machine.
    pub fn here() -> Self {
        Self::at("/")
    }

    /// A root in another folder.
    pub fn at(folder: impl Into<PathBuf>) -> Self {
        Self(folder.into())
    }

    /// The folder.
    fn path(&self) -> &Path {
        &self.0
    }

    /// The text of a file without surrounding whitespace; `None` if the file cannot be read.
    fn text(&self, path: &str) -> Option<String> {
        Some(self.whole(path)?.trim().to_owned())
    }

    /// The text of a file; `None` if the file cannot be read.
    fn whole(&self, path: &str) -> Option<String> {
        fs::read_to_string(self.0.join(path)).ok()
    }

    /// The number in a file; `None` if the file cannot be read or contains no number.
    fn number<T: FromStr>(&self, path: &str) -> Option<T> {
        self.text(path)?.parse().ok()
    }

    /// Whether the file exists.
    fn has(&self, path: &str) -> bool {
        self.0.join(path).exists()
    }

    /// The names in a folder, sorted; empty if there is no such folder.
    fn names(&self, folder: &str) -> Vec<String> {
        let entries = fs::read_dir(self.0.join(folder));
        let entries = entries.into_iter().flatten().flatten();
        let mut names: Vec<String> = entries
            .filter_map(|entry| entry.file_name().into_string().ok())
            .collect();
        names.sort();
        names
    }

    /// The folders of the CPUs (`sys/devices/system/cpu/cpu0`, …).
    fn cpu_folders(&self) -> Vec<String> {
        let folder = "sys/devices/system/cpu";
        let is_cpu = |name: &String| {
            let number = name.strip_prefix("cpu");
            number.is_some_and(|number| number.parse::<usize>().is_ok())
        };
        let names = self.names(folder).into_iter().filter(is_cpu);
        names.map(|name| format!("{folder}/{name}")).collect()
    }

    /// The value of `key` in a file of lines `key value` or `key: value`, up to the next blank.
    fn value(&self, path: &str, key: &str) -> Option<u64> {
        let text = self.whole(path)?;
        text.lines().find_map(|line| {
            let mut words = line.split_ascii_whitespace();
            let name = words.next()?.trim_end_matches(':');
            (name == key).then(|| words.next()?.parse().ok())?
        })
    }

    /// The name of the hypervisor or virtual machine; `None` if there is no sign of one.
    fn hypervisor(&self) -> Option<String> {
        let release = self.text("proc/sys/kernel/osrelease").unwrap_or_default();
        if release.to_lowercase().contains("microsoft") {
            return Some("WSL".to_owned());
        }
        if let Some(kind) = self.text("sys/hypervisor/type") {
            return Some(kind);
        }
        let dmi = |name: &str| self.text(&format!("sys/class/dmi/id/{name}"));
        let product = [dmi("sys_vendor"), dmi("product_name")];
        let product: Vec<String> = product.into_iter().flatten().collect();
        let product = product.join(" ");
        let flags = self.whole("proc/cpuinfo").unwrap_or_default();
        let flagged = flags
            .lines()
            .find(|line| line.starts_with("flags"))
            .is_some_and(|line| line.split(' ').any(|flag| flag == "hypervisor"));
        // Processors without the flag (ARM).
        const VIRTUAL: [&str; 8] = [
            "QEMU",
            "KVM",
            "VMware",
            "VirtualBox",
            "Virtual Machine",
            "Google Compute Engine",
            "Parallels",
            "BHYVE",
        ];
        let virtual_product = VIRTUAL.iter().any(|name| product.contains(name));
        match (flagged || virtual_product, product.is_empty()) {
            (false, _) => None,
            (true, true) => Some("of unknown make".to_owned()),
            (true, false) => Some(product),
        }
    }
}

/// All checks of a machine, the most fundamental questions first.
const CHECKS: [Check<MachineState>; 42] = [
    ("build", "build", own::build),
    ("priority", "priority", own::priority),
    ("user", "user", own::root),
    ("disk", "disk", own::disk),
    ("other-load", "other load", others::other_load),
    ("steal", "CPU steal", others::steal),
    ("other-sessions", "other sessions", others::other_sessions),
    ("daemons", "daemons", others::daemons),
    ("pressure", "pressure (PSI)", others::pressure),
    ("governor", "governor", cpus::governor),
    ("frequency-limit", "frequency limit", cpus::frequency_limits),
    ("turbo", "turbo", cpus::turbo),
    ("throttling", "throttling", cpus::throttling),
    ("power", "power", cpus::power),
    ("cpus", "CPUs", cpus::count),
    ("smt", "SMT", cpus::threads_of_cores),
    ("numa", "NUMA", cpus::numa),
    ("isolated-cpus", "isolated CPUs", cpus::isolated),
    ("cpu-accounting", "CPU accounting", limits::accounting),
    ("cpu-quota", "CPU quota", limits::cpu_quota),
    ("memory-limit", "memory limit", limits::memory_limit),
    ("tasks", "threads", limits::tasks),
    ("container", "container", limits::container),
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
    ("memory", "memory", limits::available),
    ("swap", "swap", limits::swap),
    ("huge-pages", "huge pages", limits::huge_pages),
    ("pss", "PSS", limits::pss),
    ("clock-source", "clock source", kernel::clock_source),
    ("clock", "clock", kernel::clock_cost),
    ("virtual-machine", "virtual machine", kernel::hypervisor),
    ("mitigations", "mitigations", kernel::mitigations),
    ("aslr", "ASLR", kernel::layout),
    ("entropy", "entropy", kernel::entropy),
    ("privileges", "privileges", kernel::privileges),
];

/// Checks that only apply when the generator and the server share a machine.
const OF_ONE_MACHINE: [&str; 2] = ["cpus", "smt"];

/// A machine and the facts found on it. `deadheat doctor` has one for each host.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Examination {
    /// The machine as sessions record it.
    pub machine: Machine,
    /// Every check's fact, the worst first.
    pub facts: Vec<Fact>,
    /// The time that other programs were watched, in seconds.
    pub watched_seconds: f64,
    /// The share (0 to 1) of CPU time that other programs used in that time.
    pub other_cpu: f64,
    /// The share (0 to 1) of CPU time that the hypervisor gave to other machines.
    pub steal: f64,
}

impl Examination {
    /// Examines this machine and watches other programs for `watch`. Results are in the folder `results`, with at most
    /// `connections`.
    pub fn here(watch: Duration, results: &Path, connections: u32) -> Self {
        let state = MachineState::here(watch, results, PinningMode::Apart, connections);
        let facts = judge(&state);
        let disturbance = state.watched.disturbance;
        Self {
            machine: state.machine,
            facts,
            watched_seconds: state.watched.span.as_secs_f64(),
            other_cpu: disturbance.other_cpu,
            steal: disturbance.steal,
        }
    }
}

/// Every check's fact, the worst first.
pub fn judge(state: &MachineState) -> Vec<Fact> {
    facts(&CHECKS, state)
}

/// Removes the facts about a server and a generator that share a machine, because another machine generates the load.
#[must_use]
pub fn of_several(mut facts: Vec<Fact>) -> Vec<Fact> {
    facts.retain(|fact| !OF_ONE_MACHINE.contains(&fact.id.as_str()));
    facts
}

/// A check: its permanent id, its subject, and its function.
pub(super) type Check<On> = (&'static str, &'static str, fn(&On) -> CheckResult);

/// The result of a check.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Fact {
    /// The check's id ("congestion-control").
    pub id: String,
    /// The check's subject ("congestion control").
    pub subject: String,
    /// The finding in a few words ("bbr").
    pub found: String,
    /// The effect on a measurement; [`Level::Routine`] if the check cannot be made on this machine. `None` if all is
    /// well.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warning: Option<Warning>,
}

/// Runs the checks. Returns their facts, the worst first.
pub(super) fn facts<On>(checks: &[Check<On>], on: &On) -> Vec<Fact> {
    let facts = checks
        .iter()
        .map(|(id, subject, look)| look(on).into_fact(id, subject));
    let mut facts: Vec<Fact> = facts.collect();
    // The sort is stable, so facts of the same level keep the order of the checks.
    facts.sort_by_key(|fact| fact.warning.as_ref().map_or(u8::MAX, |one| one.level as u8));
    facts
}

/// A check's finding. Its advice has one command or sentence per line. Commands begin with a lowercase letter.
#[derive(Debug)]
pub(super) struct CheckResult {
    pub(super) found: String,
    pub(super) level: Option<Level>,
    pub(super) why: &'static str,
    pub(super) advice: String,
}

impl CheckResult {
    pub(super) fn into_fact(self, id: &str, subject: &str) -> Fact {
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

/// A finding that needs no action.
pub(super) fn fine(found: impl Into<String>) -> CheckResult {
    CheckResult {
        found: found.into(),
        level: None,
        why: "",
        advice: String::new(),
    }
}

/// A check that cannot be made here; `found` says why.
pub(super) fn unknown(found: impl Into<String>, why: &'static str) -> CheckResult {
    CheckResult {
        level: Some(Level::Routine),
        why,
        ..fine(found)
    }
}

/// A finding that matters when reading the figures.
pub(super) fn note(
    found: impl Into<String>,
    why: &'static str,
    advice: impl Into<String>,
) -> CheckResult {
    CheckResult {
        level: Some(Level::Note),
        advice: advice.into(),
        ..unknown(found, why)
    }
}

/// A finding that spoils measurements.
pub(super) fn warning(
    found: impl Into<String>,
    why: &'static str,
    advice: impl Into<String>,
) -> CheckResult {
    CheckResult {
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
    use std::collections::BTreeSet;

    use deadheat_model::warning::Level;

    use super::{testing::Planted, *};
    use crate::session::parse_list;

    fn of_level(facts: &[Fact], level: Level) -> usize {
        let warnings = facts.iter().filter_map(|fact| fact.warning.as_ref());
        warnings.filter(|one| one.level == level).count()
    }

    #[test]
    fn a_good_machine_has_nothing_but_fine_things() {
        for fact in judge(&Planted::good().state()) {
            assert_eq!(fact.warning, None, "{fact:?}");
        }
    }

    #[test]
    fn an_empty_world_is_unknown_and_no_warning_is_made_up() {
        let facts = judge(&Planted::empty().state());
        assert_eq!(of_level(&facts, Level::Doubt), 0, "{facts:?}");
        assert!(of_level(&facts, Level::Routine) > 15, "{facts:?}");
    }

    #[test]
    fn the_worst_comes_first_and_each_id_once() {
        let mut state = Planted::empty().state();
        state.own.debug_build = true;
        let facts = judge(&state);
        assert_eq!(facts[0].id, "build");
        assert_eq!(facts.last().map(|fact| &fact.warning), Some(&None));
        let ids: BTreeSet<&str> = facts.iter().map(|one| one.id.as_str()).collect();
        assert_eq!(ids.len(), facts.len());
        assert_eq!(of_several(facts.clone()).len(), facts.len() - 2);
        let warning = facts[0].warning.as_ref().unwrap();
        assert_eq!(warning.id, "build");
        assert!(
            warning
                .sentence
                .starts_with("Build: not optimised. An unoptimised")
        );
        assert_eq!(warning.advice, "cargo run --release -- run");
    }

    #[test]
    fn this_machine_can_be_looked_at() {
        let watch = Duration::from_millis(20);
        let state = MachineState::here(watch, Path::new("."), PinningMode::Apart, CONNECTIONS);
        assert!(state.watched.span >= watch);
        assert!(state.own.clock_cost < Duration::from_millis(1));
        assert!(judge(&state).len() > 30);
    }

    #[test]
    fn a_virtual_machine_is_recognised_in_three_ways() {
        let of =
            |path: &str, text: &str| Planted::empty().with(path, text).state().root.hypervisor();
        assert_eq!(of("proc/cpuinfo", "flags\t\t: fpu vme\n"), None);
        let flag = of("proc/cpuinfo", "flags\t\t: fpu hypervisor lahf\n");
        assert_eq!(flag.as_deref(), Some("of unknown make"));
        let vendor = of("sys/class/dmi/id/sys_vendor", "QEMU\n");
        assert_eq!(vendor.as_deref(), Some("QEMU"));
        assert_eq!(of("sys/class/dmi/id/sys_vendor", "Dell Inc.\n"), None);
        let wsl = of(
            "proc/sys/kernel/osrelease",
            "5.15.1-microsoft-standard-WSL2\n",
        );
        assert_eq!(wsl.as_deref(), Some("WSL"));
    }

    #[test]
    fn lists_are_the_kernels() {
        for text in ["0", "0-2,5", "1,3,5-6", ""] {
            assert_eq!(listed(&parse_list(text)), text);
        }
        assert!(parse_list("(null)").is_empty());
    }
}
