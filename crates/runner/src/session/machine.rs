//! Facts about the machine, for the record.

use std::fs;

use deadheat_model::machine::Machine;

use crate::process::usable_cpus;

/// Reads what can be read; what cannot is left empty.
pub fn describe_machine() -> Machine {
    Machine {
        cpu_model: value_of("/proc/cpuinfo", "model name", ':').unwrap_or_default(),
        cpus: usable_cpus(),
        memory_bytes: value_of("/proc/meminfo", "MemTotal", ':')
            .and_then(|text| text.split(' ').next()?.parse::<u64>().ok())
            .map_or(0, |kibibytes| kibibytes * 1024),
        os: value_of("/etc/os-release", "PRETTY_NAME", '=')
            .map(|name| name.trim_matches('"').to_owned())
            .unwrap_or_default(),
        kernel: read("/proc/sys/kernel/osrelease").unwrap_or_default(),
        mitigations: mitigations(),
        governor: read("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        congestion_control: read("/proc/sys/net/ipv4/tcp_congestion_control"),
    }
}

/// What tells one start of the machine from another (random(4)).
pub(super) fn boot() -> Option<String> {
    read("/proc/sys/kernel/random/boot_id")
}

fn read(path: &str) -> Option<String> {
    Some(fs::read_to_string(path).ok()?.trim().to_owned())
}

fn value_of(path: &str, key: &str, separator: char) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    text.lines().find_map(|line| {
        let (name, value) = line.split_once(separator)?;
        (name.trim() == key).then(|| value.trim().to_owned())
    })
}

fn mitigations() -> Vec<String> {
    let folder = "/sys/devices/system/cpu/vulnerabilities";
    let mut found: Vec<String> = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            let state = read(entry.path().to_str()?)?;
            (state != "Not affected").then(|| format!("{name}: {state}"))
        })
        .collect();
    found.sort();
    found
}
