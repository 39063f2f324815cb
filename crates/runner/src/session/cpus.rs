//! Sharing out the CPUs between server and generator.

use std::{collections::BTreeMap, fs, path::Path};

use deadheat_model::plan::Pinning;

use super::{PinningMode, SelectedTarget};
use crate::process::usable_cpus;

/// Shares out the CPUs that this process may use. With fewer than two there is nothing to keep apart.
pub fn share_out(mode: PinningMode) -> Pinning {
    let cpus = usable_cpus();
    match mode {
        PinningMode::Apart if cpus.len() >= 2 => split(cores_below(Path::new("/"), &cpus)),
        _ => Pinning::Off { cpus },
    }
}

/// The CPUs of the generator's side, for everything that must stay off the server's.
pub(super) fn generator_cpus(pinning: &Pinning) -> Option<Vec<usize>> {
    match pinning {
        Pinning::Apart { generator, .. } => Some(generator.clone()),
        Pinning::Off { .. } => None,
    }
}

/// The CPUs that `target` is pinned to, and how many it may use: all of the server's side, or as many as its variant is
/// made for.
pub(super) fn server_cpus(
    target: &SelectedTarget,
    pinning: &Pinning,
) -> (Option<Vec<usize>>, usize) {
    let variant = target.stack.manifest.variant_of(&target.target);
    let wanted = variant
        .and_then(|variant| variant.cpus)
        .map_or(usize::MAX, |cpus| cpus as usize);
    let cpus = wanted.min(pinning.server_cpus());
    match pinning {
        Pinning::Apart { server, .. } => (Some(server[..cpus].to_vec()), cpus),
        Pinning::Off { .. } => (None, cpus),
    }
}

/// Groups CPUs by the physical core that they are threads of, as the `/sys` below `root` says.
pub fn cores_below(root: &Path, cpus: &[usize]) -> Vec<Vec<usize>> {
    let mut cores: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for cpu in cpus {
        let path = format!("sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list");
        let core = fs::read_to_string(root.join(path)).unwrap_or_else(|_| cpu.to_string());
        cores.entry(core).or_default().push(*cpu);
    }
    let mut cores: Vec<Vec<usize>> = cores.into_values().collect();
    cores.sort();
    cores
}

/// Half of the cores for the server, the rest for the generator; the two threads of a core are never split while
/// there are two cores, because they slow each other down.
fn split(cores: Vec<Vec<usize>>) -> Pinning {
    let units = if cores.len() >= 2 {
        cores
    } else {
        cores.concat().into_iter().map(|cpu| vec![cpu]).collect()
    };
    let (server, generator) = units.split_at(units.len() / 2);
    Pinning::Apart {
        server: server.concat(),
        generator: generator.concat(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_of_a_core_stay_together() {
        let cores = vec![vec![0, 2], vec![1, 3]];
        let expected = Pinning::Apart {
            server: vec![0, 2],
            generator: vec![1, 3],
        };
        assert_eq!(split(cores), expected);
    }

    #[test]
    fn one_core_of_two_threads_is_split_all_the_same() {
        let expected = Pinning::Apart {
            server: vec![0],
            generator: vec![1],
        };
        assert_eq!(split(vec![vec![0, 1]]), expected);
    }

    #[test]
    fn an_odd_core_goes_to_the_generator() {
        let expected = Pinning::Apart {
            server: vec![0],
            generator: vec![1, 2],
        };
        assert_eq!(split(vec![vec![0], vec![1], vec![2]]), expected);
    }
}
