//! Facts about the machine, for the record.

use std::{collections::BTreeSet, fs, path::Path};

use deadheat_model::machine::Machine;

use crate::process::usable_cpus;

/// Reads what can be read; what cannot is left empty.
pub fn describe_machine() -> Machine {
    describe_machine_below(Path::new("/"), usable_cpus())
}

/// [`describe_machine`] of the `/proc`, `/sys` and `/etc` below another root, with `cpus` as those that may be used.
pub fn describe_machine_below(root: &Path, cpus: Vec<usize>) -> Machine {
    Machine {
        cpu_model: value_of(&root.join("proc/cpuinfo"), "model name", ':').unwrap_or_default(),
        cpus,
        memory_bytes: value_of(&root.join("proc/meminfo"), "MemTotal", ':')
            .and_then(|text| text.split(' ').next()?.parse::<u64>().ok())
            .map_or(0, |kibibytes| kibibytes * 1024),
        os: value_of(&root.join("etc/os-release"), "PRETTY_NAME", '=')
            .map(|name| name.trim_matches('"').to_owned())
            .unwrap_or_default(),
        kernel: read(&root.join("proc/sys/kernel/osrelease")).unwrap_or_default(),
        mitigations: mitigations(root),
        governor: governors(root),
        congestion_control: read(&root.join("proc/sys/net/ipv4/tcp_congestion_control")),
    }
}

/// What tells one start of the machine from another (random(4)).
pub(super) fn boot() -> Option<String> {
    read(Path::new("/proc/sys/kernel/random/boot_id"))
}

fn read(path: &Path) -> Option<String> {
    Some(fs::read_to_string(path).ok()?.trim().to_owned())
}

fn value_of(path: &Path, key: &str, separator: char) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    text.lines().find_map(|line| {
        let (name, value) = line.split_once(separator)?;
        (name.trim() == key).then(|| value.trim().to_owned())
    })
}

/// The governors of all CPUs, each named once ("performance, powersave").
fn governors(root: &Path) -> Option<String> {
    let folders = fs::read_dir(root.join("sys/devices/system/cpu")).ok()?;
    let governor = |folder: fs::DirEntry| read(&folder.path().join("cpufreq/scaling_governor"));
    let found: BTreeSet<String> = folders.flatten().filter_map(governor).collect();
    (!found.is_empty()).then(|| found.into_iter().collect::<Vec<_>>().join(", "))
}

fn mitigations(root: &Path) -> Vec<String> {
    let folder = root.join("sys/devices/system/cpu/vulnerabilities");
    let mut found: Vec<String> = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            let state = read(&entry.path())?;
            (state != "Not affected").then(|| format!("{name}: {state}"))
        })
        .collect();
    found.sort();
    found
}
