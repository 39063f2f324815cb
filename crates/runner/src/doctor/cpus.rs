//! Which CPUs there are, and whether server and generator can be kept apart on them.

use std::collections::BTreeSet;

use deadheat_model::{figure::counted, plan::Pinning};

use super::{
    World,
    found::{CheckResult, fine, listed, note, unknown, warning},
};
use crate::session::{cores_below, nodes_below, parse_list};

const MORE: &str = "Use a machine with four cores or more.";

pub(super) fn count(world: &World) -> CheckResult {
    let usable = world.machine.cpus.len();
    let online = world.root.text("sys/devices/system/cpu/online");
    let online = online.map_or(usable, |text| parse_list(&text).len());
    let found = if online > usable {
        format!("{usable} of {online}: taskset or a cpuset leaves no more")
    } else {
        usable.to_string()
    };
    let all = "Start deadheat without taskset, or in a container or unit with more CPUs.";
    let remedy = if online > usable { all } else { MORE };
    match (usable, &world.pinning) {
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
pub(super) fn threads_of_cores(world: &World) -> CheckResult {
    let cpus = &world.machine.cpus;
    let siblings = cpus.iter().all(|cpu| {
        let path = format!("sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list");
        world.root.has(&path)
    });
    if !siblings {
        return unknown(
            "the kernel does not tell which CPUs share a core",
            "Two threads of one core slow each other down, so they must be on the same side.",
        );
    }
    let cores = cores_below(world.root.path(), cpus);
    let shared = cores.iter().any(|core| core.cpus.len() > 1);
    if let Pinning::Apart { server, generator } = &world.pinning {
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
    if world.root.hypervisor().is_some() {
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

pub(super) fn numa(world: &World) -> CheckResult {
    let why = "Memory of another node answers later. Where a process's memory lies is luck, and differs from process \
               to process.";
    let Some(nodes) = nodes_below(world.root.path()) else {
        return unknown("the kernel does not tell the nodes", why);
    };
    let nodes: Vec<Vec<usize>> = nodes
        .into_values()
        .map(|mut cpus| {
            cpus.retain(|cpu| world.machine.cpus.contains(cpu));
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
pub(super) fn isolated(world: &World) -> CheckResult {
    let list = world.root.text("sys/devices/system/cpu/isolated");
    let isolated: BTreeSet<usize> = parse_list(&list.unwrap_or_default()).into_iter().collect();
    let (among, others): (Vec<usize>, Vec<usize>) = world
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

#[cfg(test)]
mod tests {
    use deadheat_model::warning::Level;

    use super::super::testing::{Planted, found, planted};
    use super::*;

    fn of(planted: &Planted, name: &str) -> (Option<Level>, CheckResult) {
        found(&planted.world(), name)
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
}
