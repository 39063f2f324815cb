//! Facts about the machine, for the record.

use std::{collections::BTreeSet, fs, path::Path};

use deadheat_model::machine::Machine;

use super::{cpu_model::cpu_model, topology::cores_below};
use crate::process::{own_groups_below, usable_cpus};

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

/// How many bytes of memory new programs can have without making others wait for the disk (proc_meminfo(5)), or less
/// where a control group, such as a container's, leaves less; `None` if the system does not say.
pub(super) fn available_memory() -> Option<u64> {
    available_memory_below(Path::new("/"))
}

fn available_memory_below(root: &Path) -> Option<u64> {
    let of = |controller, names: [&str; 3]| {
        let groups = own_groups_below(root, controller).into_iter();
        groups
            .filter_map(|group| left_in(&root.join(group), names))
            .min()
    };
    let v1 = ["memory.limit_in_bytes", "memory.usage_in_bytes", "total_"];
    let left = [
        memory(root, "MemAvailable"),
        of(None, ["memory.max", "memory.current", ""]),
        of(Some("memory"), v1),
    ];
    left.into_iter().flatten().min()
}

/// How many bytes a control group has left; `None` if it has no limit. The names are those of the files with the limit
/// and the use, and the beginning of the keys in `memory.stat`. Cached files count as used in a group. But the kernel
/// takes their memory back when programs need it, so they count as available here, as in `MemAvailable`: otherwise
/// nothing would be left after a build.
fn left_in(group: &Path, [limit, used, prefix]: [&str; 3]) -> Option<u64> {
    let number = |name: &str| read(&group.join(name))?.parse::<u64>().ok();
    let cached = ["active_file", "inactive_file"].iter().filter_map(|key| {
        let bytes = value_of(&group.join("memory.stat"), &format!("{prefix}{key}"), ' ')?;
        bytes.parse::<u64>().ok()
    });
    let used = number(used)?.saturating_sub(cached.sum());
    Some(number(limit)?.saturating_sub(used))
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

#[cfg(test)]
mod tests {
    use super::*;

    const GIB: u64 = 1 << 30;

    /// What is available where these files are planted, on a machine that has 8 GiB available.
    fn available(files: &[(&str, &str)]) -> Option<u64> {
        let folder = tempfile::tempdir().unwrap();
        let machine = (
            "proc/meminfo",
            "MemTotal: 9000000 kB\nMemAvailable: 8388608 kB\n",
        );
        for (path, text) in files.iter().chain([&machine]) {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        available_memory_below(folder.path())
    }

    #[test]
    fn a_limit_of_a_control_group_is_a_limit_of_available_memory() {
        let v2 = |limit: &str| {
            available(&[
                ("proc/self/cgroup", "0::/pod/container\n"),
                (
                    "proc/self/mounts",
                    "cgroup2 /sys/fs/cgroup cgroup2 rw 0 0\n",
                ),
                ("sys/fs/cgroup/pod/container/memory.max", "max\n"),
                ("sys/fs/cgroup/pod/container/memory.current", "1073741824\n"),
                ("sys/fs/cgroup/pod/memory.max", limit),
                ("sys/fs/cgroup/pod/memory.current", "3221225472\n"),
                // Of 3 GiB two are cached files.
                (
                    "sys/fs/cgroup/pod/memory.stat",
                    "anon 1\nactive_file 536870912\ninactive_file 1610612736\n",
                ),
            ])
        };
        assert_eq!(v2("max\n"), Some(8 * GIB));
        assert_eq!(v2("4294967296\n"), Some(3 * GIB));
        assert_eq!(v2("536870912\n"), Some(0));
        assert_eq!(v2("1099511627776\n"), Some(8 * GIB));
        let v1 = |limit: &str| {
            available(&[
                ("proc/self/cgroup", "4:memory:/pod\n"),
                (
                    "proc/self/mounts",
                    "cgroup /sys/fs/cgroup/memory cgroup rw,memory 0 0\n",
                ),
                ("sys/fs/cgroup/memory/pod/memory.limit_in_bytes", limit),
                (
                    "sys/fs/cgroup/memory/pod/memory.usage_in_bytes",
                    "2147483648\n",
                ),
                (
                    "sys/fs/cgroup/memory/pod/memory.stat",
                    "inactive_file 0\ntotal_inactive_file 1073741824\n",
                ),
            ])
        };
        assert_eq!(v1("9223372036854771712\n"), Some(8 * GIB));
        assert_eq!(v1("3221225472\n"), Some(2 * GIB));
    }

    #[test]
    fn without_groups_the_machine_alone_counts() {
        assert_eq!(available(&[]), Some(8 * GIB));
    }
}
