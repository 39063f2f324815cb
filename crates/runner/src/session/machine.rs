//! Facts about the machine, for the record.

use std::{collections::BTreeSet, fs, path::Path};

use deadheat_model::machine::Machine;

use super::{cpu_model::cpu_model, topology::cores_below};
use crate::process::usable_cpus;

/// Reads what can be read; what cannot is left empty.
pub fn describe_machine() -> Machine {
    describe_machine_below(Path::new("/"), usable_cpus())
}

/// [`describe_machine`] of the `/proc`, `/sys` and `/etc` below another root, with `cpus` as those that may be used.
pub fn describe_machine_below(root: &Path, cpus: Vec<usize>) -> Machine {
    Machine {
        cpu_model: read(&root.join("proc/cpuinfo"))
            .map_or_else(String::new, |text| cpu_model(&text)),
        shared_cores: cores_below(root, &cpus)
            .into_iter()
            .map(|core| core.cpus)
            .filter(|cpus| cpus.len() > 1)
            .collect(),
        cpus,
        memory_bytes: memory(root, "MemTotal").unwrap_or(0),
        os: value_of(&root.join("etc/os-release"), "PRETTY_NAME", '=')
            .map(|name| name.trim_matches('"').to_owned())
            .unwrap_or_default(),
        kernel: read(&root.join("proc/sys/kernel/osrelease")).unwrap_or_default(),
        mitigations: mitigations(root),
        governor: governors(root),
        congestion_control: read(&root.join("proc/sys/net/ipv4/tcp_congestion_control")),
    }
}

/// How many bytes of memory new programs can have without making others wait for the disk (proc_meminfo(5)); `None` if
/// the system does not say.
pub(super) fn available_memory() -> Option<u64> {
    memory(Path::new("/"), "MemAvailable")
}

/// A line of `/proc/meminfo`, in bytes.
fn memory(root: &Path, key: &str) -> Option<u64> {
    let text = value_of(&root.join("proc/meminfo"), key, ':')?;
    let kibibytes: u64 = text.split(' ').next()?.parse().ok()?;
    Some(kibibytes * 1024)
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
