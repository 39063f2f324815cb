//! Which CPUs are threads of one core, of what kind the cores are, and on which NUMA node, as `/sys` says (Linux,
//! Documentation/admin-guide/cputopology.rst and Documentation/ABI/stable/sysfs-devices-node).

use std::{collections::BTreeMap, fs, path::Path};

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

    /// Cores by their CPUs, speed and node, on a machine whose `/sys` has these files.
    fn cores(files: &[(&str, &str)], cpus: &[usize]) -> Vec<(Vec<usize>, u32, usize)> {
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
        assert_eq!(cores(&[], &[3, 1]), [(vec![1], 0, 0), (vec![3], 0, 0)]);
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
        let found = cores(&files, &[0, 1, 4]);
        assert_eq!(found, [(vec![0, 4], 2, 0), (vec![1], 1, 1)]);
        assert_eq!(cores(&files, &[1, 4])[1], (vec![4], 2, 0), "0 is not ours");
    }

    #[test]
    fn arm_tells_the_kinds_by_their_capacity() {
        let files = [
            ("system/cpu/cpu0/cpu_capacity", "446"),
            ("system/cpu/cpu1/cpu_capacity", "1024"),
        ];
        let found = cores(&files, &[0, 1]);
        assert_eq!(found, [(vec![0], 446, 0), (vec![1], 1024, 0)]);
    }
}
