//! Which CPUs there are, and how they are shared out between server and generator. What the CPUs are, `/sys` says (Linux,
//! Documentation/admin-guide/cputopology.rst and Documentation/ABI/stable/sysfs-devices-node).

use std::{cmp::Reverse, collections::BTreeMap, fs, path::Path};

use deadheat_model::{machine::Hosts, plan::Pinning};

use super::{PinningMode, SelectedTarget, SessionOptions};
use crate::process::usable_cpus;

/// Shares out the CPUs that this process may use. With fewer than two there is nothing to keep apart.
pub fn share_out(mode: PinningMode) -> Pinning {
    let cpus = usable_cpus();
    match mode {
        PinningMode::Apart if cpus.len() >= 2 => split(cores_below(Path::new("/"), &cpus)),
        _ => Pinning::Off { cpus },
    }
}

impl SessionOptions {
    /// Shares out the CPUs of this machine. A budget that is larger than the servers' side gets CPUs of the generator's, which
    /// then uses the same ones.
    pub fn share_out(&self) -> Pinning {
        match self.budget_beyond_its_side() {
            Some(_) => share_out(PinningMode::Off),
            None => self.sides(),
        }
    }

    /// The largest budget, and the CPUs of the servers' side, which are fewer.
    pub fn budget_beyond_its_side(&self) -> Option<(u32, usize)> {
        let most = self.budgets().max()?;
        let there_are = self.sides().server_cpus();
        (most as usize > there_are).then_some((most, there_are))
    }

    /// The CPUs as they are shared out without budgets. Where nothing but the server needs them, it may use all of them.
    fn sides(&self) -> Pinning {
        let loaded_elsewhere = self.hosts.as_ref().is_some_and(Hosts::load_it);
        let mut workloads = self.workloads.iter();
        let is_alone = loaded_elsewhere && !workloads.any(|one| self.needs_service(&one.manifest));
        share_out(if is_alone {
            PinningMode::Off
        } else {
            self.pinning
        })
    }

    /// The fewest CPUs that a stack is given, in a session with several budgets.
    pub(super) fn smallest_budget(&self) -> Option<u32> {
        self.budgets().min()
    }

    fn budgets(&self) -> impl Iterator<Item = u32> {
        self.targets.iter().filter_map(|one| one.target.cpus)
    }
}

/// The CPUs of the generator's side, for everything that must stay off the server's.
pub(super) fn generator_cpus(pinning: &Pinning) -> Option<Vec<usize>> {
    match pinning {
        Pinning::Apart { generator, .. } => Some(generator.clone()),
        Pinning::Off { .. } => None,
    }
}

/// The CPUs that `target` is pinned to, and the number of CPUs that it may use: all of the server's side, or its
/// budget, but no more than its variant is made for. `None` if it is not pinned.
pub(super) fn server_cpus(
    target: &SelectedTarget,
    pinning: &Pinning,
) -> (Option<Vec<usize>>, usize) {
    let SelectedTarget { stack, target } = target;
    let all = pinning.server_cpus();
    let limited = |cpus: Option<u32>| cpus.map_or(all, |cpus| all.min(cpus as usize));
    let given = limited(stack.manifest.cpus(target));
    let first = |cpus: &[usize]| cpus.iter().take(given).copied().collect();
    let pinned = match pinning {
        Pinning::Apart { server, .. } => Some(first(server)),
        // A budget holds wherever the generator is.
        Pinning::Off { cpus } => target.cpus.map(|_| {
            let cores = cores_below(Path::new("/"), cpus);
            first(&one_of_each_first(&cores))
        }),
    };
    let variant = stack.manifest.variant_of(target);
    let made_for = limited(variant.and_then(|variant| variant.cpus));
    (pinned, given.min(made_for))
}

/// Shares out whole cores while there are two: the threads of a core slow each other down, so they stay on one side.
///
/// The server gets half of the cores of the fastest kind of which there are two: on cores of several kinds its figures
/// would depend on where its threads happen to run. They are of as few NUMA nodes as possible, because memory of another
/// node answers later. Everything else is the generator's.
///
/// Each side begins with one thread of each of its cores, so that a server made for fewer CPUs than there are gets cores
/// of its own, not the threads of one.
fn split(mut cores: Vec<Core>) -> Pinning {
    if let [only] = &cores[..] {
        let thread = |cpu: &usize| Core {
            cpus: vec![*cpu],
            ..*only
        };
        cores = only.cpus.iter().map(thread).collect();
    }
    let of_kind = |speed: u32| cores.iter().filter(|core| core.speed == speed).count();
    let speeds = cores.iter().map(|core| core.speed);
    let kind = speeds.filter(|speed| of_kind(*speed) >= 2).max();
    // Where no two are alike, all of them are to be shared out.
    let (mut alike, mut others): (Vec<Core>, Vec<Core>) = cores
        .into_iter()
        .partition(|core| kind.is_none_or(|kind| core.speed == kind));
    let mut on_node: BTreeMap<usize, usize> = BTreeMap::new();
    for core in &alike {
        *on_node.entry(core.node).or_default() += 1;
    }
    let fastest_first = |core: &Core| Reverse(core.speed);
    alike.sort_by_key(|core| (fastest_first(core), Reverse(on_node[&core.node]), core.node));
    others.sort_by_key(fastest_first);
    let half = alike.len() / 2;
    let ends_a_node = |count: &usize| alike[count - 1].node != alike[*count].node;
    let count = (1..=half).rev().find(ends_a_node).unwrap_or(half);
    let (server, generator) = alike.split_at(count);
    Pinning::Apart {
        server: one_of_each_first(server),
        generator: [generator, &others].map(one_of_each_first).concat(),
    }
}

/// The CPUs of `cores`: one of each core, then another one of each, and so on.
fn one_of_each_first(cores: &[Core]) -> Vec<usize> {
    let most = cores.iter().map(|core| core.cpus.len()).max().unwrap_or(0);
    let threads = |thread: usize| cores.iter().filter_map(move |core| core.cpus.get(thread));
    (0..most).flat_map(threads).copied().collect()
}

/// A physical core.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Core {
    /// Those of its CPUs (its threads) that may be used, in ascending order.
    pub cpus: Vec<usize>,
    /// The same for all cores of one kind, and more for a faster kind. Of hybrid processors only: elsewhere it is 0.
    pub speed: u32,
    /// Its NUMA node; 0 if the kernel does not say.
    pub node: usize,
}

/// The cores of `cpus`, ordered by their CPUs, as the `/sys` below `root` says.
pub(crate) fn cores_below(root: &Path, cpus: &[usize]) -> Vec<Core> {
    let mut threads: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for cpu in cpus {
        let path = root.join(format!(
            "sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list"
        ));
        let core = fs::read_to_string(path).unwrap_or_else(|_| cpu.to_string());
        threads.entry(core).or_default().push(*cpu);
    }
    let nodes = nodes_below(root).unwrap_or_default();
    let speed = speeds_below(root);
    let core = |mut cpus: Vec<usize>| {
        cpus.sort_unstable();
        let first = *cpus.first()?;
        let node = nodes.iter().find(|(_, list)| list.contains(&first));
        Some(Core {
            speed: speed(first),
            node: node.map_or(0, |(node, _)| *node),
            cpus,
        })
    };
    let mut cores: Vec<Core> = threads.into_values().filter_map(core).collect();
    cores.sort_by(|a, b| a.cpus.cmp(&b.cpus));
    cores
}

/// The CPUs of each NUMA node that is online; `None` if the kernel does not say.
pub(crate) fn nodes_below(root: &Path) -> Option<BTreeMap<usize, Vec<usize>>> {
    let folder = root.join("sys/devices/system/node");
    let online = fs::read_to_string(folder.join("online")).ok()?;
    let node = |node: usize| {
        let list = fs::read_to_string(folder.join(format!("node{node}/cpulist"))).ok()?;
        Some((node, parse_list(&list)))
    };
    Some(parse_list(&online).into_iter().filter_map(node).collect())
}

/// How fast a CPU's core is, compared with others. On hybrid x86, each kind of core has its own folder of performance
/// counters (`cpu_core`, `cpu_atom`), which tells the kinds apart; `cpu_capacity` does not, because it also differs
/// within a kind. On ARM there is only `cpu_capacity`.
fn speeds_below(root: &Path) -> impl Fn(usize) -> u32 {
    let devices = root.join("sys/devices");
    let cpus_of = |kind: &str| {
        let list = fs::read_to_string(devices.join(kind).join("cpus"));
        list.map(|list| parse_list(&list)).unwrap_or_default()
    };
    let kinds = [cpus_of("cpu_atom"), cpus_of("cpu_core")];
    move |cpu| {
        if kinds.iter().any(|cpus| !cpus.is_empty()) {
            let kind = kinds.iter().position(|cpus| cpus.contains(&cpu));
            return kind.map_or(0, |kind| kind as u32 + 1);
        }
        let path = devices.join(format!("system/cpu/cpu{cpu}/cpu_capacity"));
        let capacity = fs::read_to_string(path).ok();
        capacity
            .and_then(|text| text.trim().parse().ok())
            .unwrap_or(0)
    }
}

/// The CPUs of a list as the kernel writes it: "0-2,5".
pub(crate) fn parse_list(text: &str) -> Vec<usize> {
    let ranges = text.trim().split(',').filter_map(|range| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        Some(first.trim().parse().ok()?..=last.trim().parse().ok()?)
    });
    ranges.flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::fixtures::selected;

    /// Cores with these CPUs.
    fn cores<const N: usize>(cpus: &[[usize; N]], speed: u32, node: usize) -> Vec<Core> {
        let core = |cpus: &[usize; N]| Core {
            cpus: cpus.to_vec(),
            speed,
            node,
        };
        cpus.iter().map(core).collect()
    }

    /// So many cores of one thread from CPU `first` on.
    fn single(first: usize, count: usize, speed: u32, node: usize) -> Vec<Core> {
        let cpus: Vec<[usize; 1]> = (first..first + count).map(|cpu| [cpu]).collect();
        cores(&cpus, speed, node)
    }

    #[test]
    fn the_server_gets_whole_cores_of_one_kind_on_few_nodes() {
        /// The machine, and what server and generator get of it.
        type Case<'a> = (&'a str, Vec<Core>, &'a [usize], &'a [usize]);
        let table: [Case<'_>; 14] = [
            ("two cores", single(0, 2, 0, 0), &[0], &[1]),
            ("an odd core", single(0, 3, 0, 0), &[0], &[1, 2]),
            ("threads of one core", cores(&[[0, 1]], 0, 0), &[0], &[1]),
            (
                "SMT, numbered core by core",
                cores(&[[0, 1], [2, 3]], 0, 0),
                &[0, 1],
                &[2, 3],
            ),
            (
                "SMT, numbered thread by thread",
                cores(&[[0, 4], [1, 5], [2, 6], [3, 7]], 0, 0),
                &[0, 1, 4, 5],
                &[2, 3, 6, 7],
            ),
            (
                "SMT, four cores numbered core by core",
                cores(&[[0, 1], [2, 3], [4, 5], [6, 7]], 0, 0),
                &[0, 2, 1, 3],
                &[4, 6, 5, 7],
            ),
            (
                "a thread of another core beside a whole one",
                [cores(&[[0, 4]], 0, 0), single(1, 1, 0, 0)].concat(),
                &[0, 4],
                &[1],
            ),
            (
                "hybrid: two fast cores with threads, four slow ones",
                [cores(&[[0, 1], [2, 3]], 2, 0), single(4, 4, 1, 0)].concat(),
                &[0, 1],
                &[2, 3, 4, 5, 6, 7],
            ),
            (
                "hybrid, the slow ones first",
                [single(0, 4, 446, 0), single(4, 4, 1024, 0)].concat(),
                &[4, 5],
                &[6, 7, 0, 1, 2, 3],
            ),
            (
                "a single fast core cannot be shared out",
                [
                    single(0, 1, 1024, 0),
                    single(1, 3, 900, 0),
                    single(4, 4, 446, 0),
                ]
                .concat(),
                &[1],
                &[2, 3, 0, 4, 5, 6, 7],
            ),
            (
                "no two cores alike",
                [single(0, 1, 446, 0), single(1, 1, 1024, 0)].concat(),
                &[1],
                &[0],
            ),
            (
                "two nodes, numbered in turns",
                [
                    single(0, 1, 0, 0),
                    single(1, 1, 0, 1),
                    single(2, 1, 0, 0),
                    single(3, 1, 0, 1),
                ]
                .concat(),
                &[0, 2],
                &[1, 3],
            ),
            (
                "three nodes: whole ones, rather than half of the machine",
                [single(0, 2, 0, 0), single(2, 2, 0, 1), single(4, 2, 0, 2)].concat(),
                &[0, 1],
                &[2, 3, 4, 5],
            ),
            (
                "one CPU of a node and seven of another",
                [single(0, 1, 0, 0), single(1, 7, 0, 1)].concat(),
                &[1, 2, 3, 4],
                &[5, 6, 7, 0],
            ),
        ];
        for (name, cores, server, generator) in table {
            let expected = Pinning::Apart {
                server: server.to_vec(),
                generator: generator.to_vec(),
            };
            assert_eq!(split(cores), expected, "{name}");
        }
    }

    #[test]
    fn a_server_with_a_budget_of_two_cpus_gets_two_cores() {
        let pinning = split(cores(&[[0, 1], [2, 3], [4, 5], [6, 7]], 0, 0));
        let on = |cpus| {
            let mut target = selected("a");
            target.target = target.target.on_cpus(cpus);
            server_cpus(&target, &pinning)
        };
        assert_eq!(on(Some(2)), (Some(vec![0, 2]), 2));
        assert_eq!(on(Some(3)), (Some(vec![0, 2, 1]), 3));
        assert_eq!(on(Some(9)), (Some(vec![0, 2, 1, 3]), 4));
        assert_eq!(on(None), (Some(vec![0, 2, 1, 3]), 4));
    }

    #[test]
    fn a_variant_for_one_cpu_is_told_of_no_more_whatever_its_budget_is() {
        let pinning = split(cores(&[[0], [1], [2], [3]], 0, 0));
        let single = r#"{"id": "single", "description": "one process", "cpus": 1}"#;
        let mut target = selected("a");
        target.stack.manifest.variant = vec![serde_json::from_str(single).unwrap()];
        target.target.variant = Some("single".to_owned());
        assert_eq!(server_cpus(&target, &pinning), (Some(vec![0]), 1));
        target.target.cpus = Some(2);
        assert_eq!(server_cpus(&target, &pinning), (Some(vec![0, 1]), 1));
    }

    #[test]
    fn a_budget_is_pinned_where_nothing_else_is() {
        let cpus = usable_cpus();
        let first = cpus[0];
        let pinning = Pinning::Off { cpus: cpus.clone() };
        let mut target = selected("a");
        assert_eq!(server_cpus(&target, &pinning), (None, cpus.len()));
        target.target = target.target.on_cpus(Some(1));
        assert_eq!(server_cpus(&target, &pinning), (Some(vec![first]), 1));
    }

    /// Cores by their CPUs, speed and node, on a machine whose `/sys` has these files.
    fn cores_of_files(files: &[(&str, &str)], cpus: &[usize]) -> Vec<(Vec<usize>, u32, usize)> {
        let root = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = root.path().join("sys/devices").join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, format!("{text}\n")).unwrap();
        }
        let cores = cores_below(root.path(), cpus).into_iter();
        cores
            .map(|core| (core.cpus, core.speed, core.node))
            .collect()
    }

    #[test]
    fn a_kernel_that_says_nothing_has_a_core_for_each_cpu() {
        assert_eq!(
            cores_of_files(&[], &[3, 1]),
            [(vec![1], 0, 0), (vec![3], 0, 0)]
        );
    }

    #[test]
    fn threads_kinds_and_nodes_are_read() {
        let files = [
            ("system/cpu/cpu0/topology/thread_siblings_list", "0,4"),
            ("system/cpu/cpu4/topology/thread_siblings_list", "0,4"),
            ("system/cpu/cpu1/topology/thread_siblings_list", "1"),
            ("cpu_core/cpus", "0,4"),
            ("cpu_atom/cpus", "1"),
            // Favoured cores: of one kind, and with capacities of their own.
            ("system/cpu/cpu0/cpu_capacity", "1024"),
            ("system/node/online", "0-1"),
            ("system/node/node0/cpulist", "0,4"),
            ("system/node/node1/cpulist", "1"),
        ];
        let found = cores_of_files(&files, &[0, 1, 4]);
        assert_eq!(found, [(vec![0, 4], 2, 0), (vec![1], 1, 1)]);
        assert_eq!(
            cores_of_files(&files, &[1, 4])[1],
            (vec![4], 2, 0),
            "0 is not ours"
        );
    }

    #[test]
    fn arm_tells_the_kinds_by_their_capacity() {
        let files = [
            ("system/cpu/cpu0/cpu_capacity", "446"),
            ("system/cpu/cpu1/cpu_capacity", "1024"),
        ];
        let found = cores_of_files(&files, &[0, 1]);
        assert_eq!(found, [(vec![0], 446, 0), (vec![1], 1024, 0)]);
    }
}
