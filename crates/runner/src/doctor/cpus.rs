//! Which CPUs there are, whether server and generator can be kept apart on them, how fast they run, and what changes that.

use std::collections::BTreeSet;

use deadheat_model::{figure::counted, plan::Pinning};

use super::{CheckResult, MachineState, fine, listed, note, own::throttled, unknown, warning};
use crate::session::{cores_below, nodes_below, parse_list};

const MORE: &str = "Use a machine with four cores or more.";

pub(super) fn count(state: &MachineState) -> CheckResult {
    let usable = state.machine.cpus.len();
    let online = state.root.text("sys/devices/system/cpu/online");
    let online = online.map_or(usable, |text| parse_list(&text).len());
    let found = if online > usable {
        format!("{usable} of {online}: taskset or a cpuset leaves no more")
    } else {
        usable.to_string()
    };
    let all = "Start deadheat without taskset, or in a container or unit with more CPUs.";
    let remedy = if online > usable { all } else { MORE };
    match (usable, &state.pinning) {
        (..=1, _) => warning(
            found,
            "Server and generator share one CPU: each figure is the speed of both together, and a stack's own speed is \
             not known.",
            remedy,
        ),
        (_, Pinning::Off { .. }) => note(
            format!("{found}, not shared out"),
            "Server and generator take CPUs from each other.",
            "Leave out --pinning off.",
        ),
        (2, _) => note(
            found,
            "The server has one CPU, the generator with database and upstream the other: a one-core server. How a \
             stack uses more cores is not measured.",
            remedy,
        ),
        _ if online > usable => note(
            found,
            "The rest of the CPUs is left to other programs, or lies idle.",
            all,
        ),
        (_, Pinning::Apart { server, generator }) => fine(format!(
            "{found} (server {}, generator {})",
            listed(server),
            listed(generator)
        )),
    }
}

/// SMT: two CPUs of one core slow each other down.
pub(super) fn threads_of_cores(state: &MachineState) -> CheckResult {
    let cpus = &state.machine.cpus;
    let siblings = cpus.iter().all(|cpu| {
        let path = format!("sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list");
        state.root.has(&path)
    });
    if !siblings {
        return unknown(
            "the kernel does not tell which CPUs share a core",
            "Two threads of one core slow each other down, so they must be on the same side.",
        );
    }
    let cores = cores_below(state.root.path(), cpus);
    let shared = cores.iter().any(|core| core.cpus.len() > 1);
    if let Pinning::Apart { server, generator } = &state.pinning {
        let has = |side: &[usize], core: &[usize]| core.iter().any(|cpu| side.contains(cpu));
        let mut cores = cores.iter().map(|core| &core.cpus[..]);
        if cores.any(|core| has(server, core) && has(generator, core)) {
            return warning(
                "server and generator are threads of one core",
                "Each is slower while the other works: a server that makes the generator work more is punished for it.",
                MORE,
            );
        }
    }
    if state.root.hypervisor().is_some() {
        return unknown(
            format!(
                "{}, as the hypervisor shows them",
                counted(cores.len(), "core")
            ),
            "Whether two of these CPUs are threads of one core, and so slow each other down, only the host knows.",
        );
    }
    fine(if shared {
        format!(
            "threads of each of {} stay together",
            counted(cores.len(), "core")
        )
    } else {
        format!("{} of one thread", counted(cores.len(), "core"))
    })
}

pub(super) fn numa(state: &MachineState) -> CheckResult {
    let why = "Memory of another node answers later. Where a process's memory lies is luck, and differs from process \
               to process.";
    let Some(nodes) = nodes_below(state.root.path()) else {
        return unknown("the kernel does not tell the nodes", why);
    };
    let nodes: Vec<Vec<usize>> = nodes
        .into_values()
        .map(|mut cpus| {
            cpus.retain(|cpu| state.machine.cpus.contains(cpu));
            cpus
        })
        .filter(|cpus| !cpus.is_empty())
        .collect();
    if nodes.len() < 2 {
        return fine("one node");
    }
    // The node with most of the CPUs, and of those the first.
    let most = nodes.iter().rev().max_by_key(|cpus| cpus.len());
    let list = most.map(|cpus| listed(cpus)).unwrap_or_default();
    warning(
        counted(nodes.len(), "node"),
        why,
        format!("taskset -c {list} deadheat run"),
    )
}

/// CPUs that the scheduler leaves alone: threads that may use several of them all stay on the first.
pub(super) fn isolated(state: &MachineState) -> CheckResult {
    let list = state.root.text("sys/devices/system/cpu/isolated");
    let isolated: BTreeSet<usize> = parse_list(&list.unwrap_or_default()).into_iter().collect();
    let (among, others): (Vec<usize>, Vec<usize>) = state
        .machine
        .cpus
        .iter()
        .partition(|cpu| isolated.contains(cpu));
    match (among.is_empty(), isolated.is_empty()) {
        (true, true) => fine("none"),
        (true, false) => fine("none of those used"),
        (false, _) => warning(
            format!("{} of those used", listed(&among)),
            "The scheduler does not spread threads over isolated CPUs: all threads of a server stay on the first one.",
            match others.len() {
                0 => "Start the kernel without isolcpus=.".to_owned(),
                _ => format!("taskset -c {} deadheat run", listed(&others)),
            },
        ),
    }
}

const OF_THE_HOST: &str = "the host's; it cannot be seen in a virtual machine";

/// Why a thing about frequencies is not there.
fn not_seen<'a>(state: &MachineState, bare: &'a str) -> &'a str {
    match state.root.hypervisor() {
        Some(_) => OF_THE_HOST,
        None => bare,
    }
}

pub(super) fn governor(state: &MachineState) -> CheckResult {
    let why = "A CPU that is clocked down while it waits is slow when the next request comes, and more so for the stack \
               that waits more.";
    match state.machine.governor.as_deref() {
        Some("performance") => fine("performance"),
        Some(governor) => warning(
            governor,
            why,
            state.set(
                "/sys/devices/system/cpu/cpu*/cpufreq/scaling_governor",
                "performance",
            ),
        ),
        None => unknown(not_seen(state, "no cpufreq driver"), why),
    }
}

/// CPUs whose highest frequencies differ by less are of one kind: of such, some are allowed 100 or 200 MHz more.
const ALIKE: f64 = 0.85;

/// CPUs that may not reach their highest frequency.
pub(super) fn frequency_limits(state: &MachineState) -> CheckResult {
    let read = |folder: &str, name: &str| {
        state
            .root
            .number::<u64>(&format!("{folder}/cpufreq/{name}"))
    };
    let folders = state.root.cpu_folders();
    let known = folders.iter().filter_map(|folder| {
        let number = folder.rsplit_once("cpu")?.1.parse::<usize>().ok()?;
        let used = state.machine.cpus.contains(&number);
        let most = read(folder, "cpuinfo_max_freq").filter(|_| used)?;
        Some((number, read(folder, "scaling_max_freq")?, most))
    });
    let mut known: Vec<(usize, u64, u64)> = known.collect();
    known.sort_unstable();
    let limited: Vec<_> = known.iter().filter(|(_, now, most)| now < most).collect();
    let why = "Where CPUs are held below their speed, the figures are those of a slower machine.";
    if let Some((_, now, most)) = limited.first() {
        let path = "/sys/devices/system/cpu/cpu*/cpufreq/scaling_max_freq";
        return note(
            format!(
                "{} held to {} of {} MHz",
                counted(limited.len(), "CPU"),
                now / 1000,
                most / 1000
            ),
            why,
            state.set(path, &most.to_string()),
        );
    }
    let fastest = known.iter().map(|(_, _, most)| *most).max().unwrap_or(0);
    let is_fast = |cpu: &&(usize, u64, u64)| cpu.2 as f64 >= ALIKE * fastest as f64;
    let fast: Vec<usize> = known.iter().filter(is_fast).map(|cpu| cpu.0).collect();
    if fast.len() < known.len() {
        return note(
            format!("CPUs of different speed ({} are fast)", listed(&fast)),
            "Server and generator get fast and slow cores by their numbers, and a stack with one thread gets one of \
             them.",
            format!("taskset -c {} deadheat run", listed(&fast)),
        );
    }
    if known.is_empty() {
        unknown(not_seen(state, "no cpufreq driver"), why)
    } else {
        fine("none")
    }
}

pub(super) fn turbo(state: &MachineState) -> CheckResult {
    let why = "With turbo a CPU is faster while it is cool and while the other cores wait: figures depend on the load \
               before, and on how many threads a stack has.";
    // intel_pstate says whether it is off, the others whether it is on.
    let switches = [
        ("intel_pstate/no_turbo", "1", "0"),
        ("cpufreq/boost", "0", "1"),
    ];
    for (name, off, on) in switches {
        let path = format!("sys/devices/system/cpu/{name}");
        let Some(value) = state.root.text(&path) else {
            continue;
        };
        if value == off {
            return fine("off");
        }
        if value == on {
            return warning("on", why, state.set(&format!("/{path}"), off));
        }
    }
    unknown(not_seen(state, "this driver does not tell"), why)
}

pub(super) fn throttling(state: &MachineState) -> CheckResult {
    let why = "A CPU that is too hot runs slower, for as long as it takes to cool down.";
    match (state.watched.throttled, throttled(&state.root)) {
        (Some(times), _) if times > 0 => warning(
            format!("{} while watched", counted(times, "time")),
            why,
            "Cool the machine (fans, dust, a place with air), or switch turbo off.",
        ),
        (_, Some(times)) if times > 0 => note(
            format!("{} since the start, none now", counted(times, "time")),
            why,
            "Watch it under load: deadheat doctor --watch 1m",
        ),
        (_, Some(_)) => fine("never since the start"),
        (_, None) => unknown(not_seen(state, "this processor does not count it"), why),
    }
}

/// Mains, or a battery that is being emptied.
pub(super) fn power(state: &MachineState) -> CheckResult {
    let folder = "sys/class/power_supply";
    let of = |name: &str, what: &str| state.root.text(&format!("{folder}/{name}/{what}"));
    let discharging = state.root.names(folder).into_iter().any(|name| {
        // A mouse has a battery, too.
        let of_device = of(&name, "scope").as_deref() == Some("Device");
        !of_device && of(&name, "status").as_deref() == Some("Discharging")
    });
    if discharging {
        return warning(
            "on battery",
            "Firmware and drivers save power then, and more of it as the battery empties.",
            "Plug it in.",
        );
    }
    match state.root.text("sys/firmware/acpi/platform_profile") {
        Some(profile) if ["low-power", "quiet", "cool"].contains(&profile.as_str()) => warning(
            format!("profile {profile}"),
            "The firmware slows the CPUs down.",
            state.set("/sys/firmware/acpi/platform_profile", "performance"),
        ),
        _ => fine("not on battery"),
    }
}

#[cfg(test)]
mod tests {
    use deadheat_model::warning::Level;

    use super::{
        super::testing::{Planted, found, planted},
        *,
    };

    fn of(planted: &Planted, name: &str) -> (Option<Level>, CheckResult) {
        found(&planted.state(), name)
    }

    #[test]
    fn few_cpus_are_told_of() {
        let off = |cpus: &[usize]| Pinning::Off {
            cpus: cpus.to_vec(),
        };
        let none = Planted::good().without("sys/devices/system/cpu/online");
        let one = none.clone().on(&[0], off(&[0]));
        assert_eq!(of(&one, "cpus").0, Some(Level::Doubt));
        let two = none.clone().apart(&[0], &[1]);
        assert_eq!(of(&two, "cpus").0, Some(Level::Note));
        let unpinned = none.on(&[0, 1, 2, 3], off(&[0, 1, 2, 3]));
        assert_eq!(of(&unpinned, "cpus").0, Some(Level::Note));
        assert_eq!(
            of(&Planted::good(), "cpus").1.found,
            "4 (server 0-1, generator 2-3)"
        );
    }

    #[test]
    fn cpus_that_may_not_be_used_are_counted() {
        let few = Planted::good().on(&[2], Pinning::Off { cpus: vec![2] });
        let (level, finding) = of(&few, "cpus");
        assert_eq!(level, Some(Level::Doubt));
        assert!(finding.found.starts_with("1 of 4"), "{finding:?}");
        assert!(finding.advice.contains("taskset"));
        let most = Planted::good().with("sys/devices/system/cpu/online", "0-7");
        assert_eq!(of(&most, "cpus").0, Some(Level::Note));
    }

    #[test]
    fn threads_of_a_core_on_both_sides_are_a_warning() {
        let siblings = |planted: Planted, cpu: usize, list: &str| {
            let path = format!("sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list");
            planted.with(&path, list)
        };
        let mut one_core = Planted::good().apart(&[0], &[1]);
        let mut two_cores = Planted::good().apart(&[0, 2], &[1, 3]);
        for cpu in 0..4 {
            one_core = siblings(one_core, cpu, "0-1");
            two_cores = siblings(two_cores, cpu, ["0,2", "1,3"][cpu % 2]);
        }
        assert_eq!(of(&one_core, "smt").0, Some(Level::Doubt));
        let (level, finding) = of(&two_cores, "smt");
        assert_eq!(level, None);
        assert_eq!(finding.found, "threads of each of 2 cores stay together");
    }

    #[test]
    fn a_guest_cannot_know_its_cores() {
        let guest = Planted::good().with("proc/cpuinfo", "flags : hypervisor\n");
        assert_eq!(of(&guest, "smt").0, Some(Level::Routine));
        assert_eq!(of(&Planted::empty(), "smt").0, Some(Level::Routine));
    }

    #[test]
    fn two_nodes_are_a_warning_unless_one_is_used() {
        let two = Planted::good()
            .with("sys/devices/system/node/online", "0-1")
            .with("sys/devices/system/node/node0/cpulist", "0-1")
            .with("sys/devices/system/node/node1/cpulist", "2-3");
        let (level, finding) = of(&two, "numa");
        assert_eq!(level, Some(Level::Doubt));
        assert_eq!(finding.advice, "taskset -c 0-1 deadheat run");
        let within = two.apart(&[0], &[1]);
        assert_eq!(of(&within, "numa").0, None);
    }

    #[test]
    fn isolated_cpus_hold_all_threads_on_one() {
        let path = "sys/devices/system/cpu/isolated";
        let (level, finding) = planted("isolated-cpus", path, "2-3\n");
        assert_eq!(level, Some(Level::Doubt));
        assert_eq!(finding.advice, "taskset -c 0-1 deadheat run");
        assert_eq!(planted("isolated-cpus", path, "8-9\n").0, None);
    }

    const CPU: &str = "sys/devices/system/cpu";

    #[test]
    fn a_governor_of_one_cpu_is_enough_to_warn() {
        let path = format!("{CPU}/cpu3/cpufreq/scaling_governor");
        let (level, finding) = planted("governor", &path, "powersave\n");
        assert_eq!(level, Some(Level::Doubt));
        assert_eq!(finding.found, "performance, powersave");
        assert!(
            finding
                .advice
                .starts_with("echo performance | sudo tee /sys/")
        );
    }

    #[test]
    fn a_guest_does_not_know_its_hosts_frequencies() {
        let guest = Planted::empty().with("proc/cpuinfo", "flags : hypervisor\n");
        let guest = guest.state();
        for name in ["governor", "frequency-limit", "turbo", "throttling"] {
            let (level, finding) = found(&guest, name);
            assert_eq!(
                (level, finding.found.as_str()),
                (Some(Level::Routine), OF_THE_HOST)
            );
        }
    }

    #[test]
    fn limits_and_unequal_cores_are_noted() {
        let limited = format!("{CPU}/cpu1/cpufreq/scaling_max_freq");
        let (level, finding) = planted("frequency-limit", &limited, "1800000\n");
        assert_eq!(level, Some(Level::Note));
        assert_eq!(finding.found, "1 CPU held to 1800 of 3600 MHz");
        let unequal = Planted::good()
            .with(&format!("{CPU}/cpu1/cpufreq/cpuinfo_max_freq"), "2400000")
            .with(&limited, "2400000");
        let (level, finding) = found(&unequal.state(), "frequency-limit");
        assert_eq!(
            (level, finding.found.as_str()),
            (
                Some(Level::Note),
                "CPUs of different speed (0,2-3 are fast)"
            )
        );
    }

    #[test]
    fn turbo_is_read_from_either_driver() {
        let intel = format!("{CPU}/intel_pstate/no_turbo");
        let (level, finding) = planted("turbo", &intel, "0\n");
        assert_eq!(level, Some(Level::Doubt));
        assert_eq!(finding.advice, format!("echo 1 | sudo tee /{intel}"));
        let others = Planted::good().without(&intel);
        let boost = format!("{CPU}/cpufreq/boost");
        for (value, expected) in [("1", Some(Level::Doubt)), ("0", None)] {
            let state = others.clone().with(&boost, value).state();
            assert_eq!(found(&state, "turbo").0, expected);
        }
        assert_eq!(found(&others.state(), "turbo").0, Some(Level::Routine));
    }

    #[test]
    fn throttling_now_is_worse_than_throttling_once() {
        let path = format!("{CPU}/cpu2/thermal_throttle/core_throttle_count");
        assert_eq!(planted("throttling", &path, "12").0, Some(Level::Note));
        let mut state = Planted::good().with(&path, "12").state();
        state.watched.throttled = Some(2);
        let (level, finding) = found(&state, "throttling");
        assert_eq!(
            (level, finding.found.as_str()),
            (Some(Level::Doubt), "2 times while watched")
        );
    }

    #[test]
    fn a_laptop_on_battery_is_told_from_one_that_is_plugged_in() {
        let battery = "sys/class/power_supply/BAT0/status";
        assert_eq!(
            planted("power", battery, "Discharging\n").0,
            Some(Level::Doubt)
        );
        assert_eq!(planted("power", battery, "Charging\n").0, None);
        let mouse = Planted::good()
            .with(battery, "Discharging")
            .with("sys/class/power_supply/BAT0/scope", "Device");
        assert_eq!(found(&mouse.state(), "power").0, None);
        let profile = "sys/firmware/acpi/platform_profile";
        assert_eq!(
            planted("power", profile, "low-power\n").0,
            Some(Level::Doubt)
        );
        assert_eq!(planted("power", profile, "balanced\n").0, None);
    }
}
