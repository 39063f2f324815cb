//! Facts about the machine, for the record.

use std::{collections::BTreeSet, fs, path::Path};

use deadheat_model::machine::Machine;

use super::cpus::cores_below;
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

/// The CPU model from the text of `/proc/cpuinfo`: the first name in it or, on ARM, all models, joined by `+`. Empty if
/// there is no name. On ARM the kernel reports numbers (MIDR_EL1), which the table translates as lscpu(1) does.
fn cpu_model(cpuinfo: &str) -> String {
    let fields = || {
        let lines = cpuinfo.lines().filter_map(|line| line.split_once(':'));
        lines.map(|(key, value)| (key.trim(), value.trim()))
    };
    let named = ["model name", "uarch", "cpu"].iter().find_map(|wanted| {
        let mut found = fields().filter(|(key, value)| key == wanted && !value.is_empty());
        found.next().map(|(_, value)| value.to_owned())
    });
    if let Some(name) = named {
        return name;
    }
    let (mut implementer, mut models) = ("", Vec::new());
    for (key, value) in fields() {
        match key {
            "CPU implementer" => implementer = value,
            "CPU part" => {
                let model = arm_model(implementer, value);
                if !models.contains(&model) {
                    models.push(model);
                }
            }
            _ => {}
        }
    }
    models.join(" + ")
}

fn arm_model(implementer: &str, part: &str) -> String {
    let maker = match implementer {
        "0x41" => "ARM",
        "0x42" => "Broadcom",
        "0x43" => "Cavium",
        "0x46" => "Fujitsu",
        "0x48" => "HiSilicon",
        "0x4e" => "NVIDIA",
        "0x51" => "Qualcomm",
        "0x61" => "Apple",
        "0xc0" => "Ampere",
        other => return format!("implementer {other}, part {part}"),
    };
    let model = match (maker, part) {
        ("ARM", "0xd03") => "Cortex-A53",
        ("ARM", "0xd04") => "Cortex-A35",
        ("ARM", "0xd05") => "Cortex-A55",
        ("ARM", "0xd07") => "Cortex-A57",
        ("ARM", "0xd08") => "Cortex-A72",
        ("ARM", "0xd09") => "Cortex-A73",
        ("ARM", "0xd0a") => "Cortex-A75",
        ("ARM", "0xd0b") => "Cortex-A76",
        ("ARM", "0xd0c") => "Neoverse-N1",
        ("ARM", "0xd0d") => "Cortex-A77",
        ("ARM", "0xd40") => "Neoverse-V1",
        ("ARM", "0xd41") => "Cortex-A78",
        ("ARM", "0xd44") => "Cortex-X1",
        ("ARM", "0xd46") => "Cortex-A510",
        ("ARM", "0xd47") => "Cortex-A710",
        ("ARM", "0xd48") => "Cortex-X2",
        ("ARM", "0xd49") => "Neoverse-N2",
        ("ARM", "0xd4d") => "Cortex-A715",
        ("ARM", "0xd4e") => "Cortex-X3",
        ("ARM", "0xd4f") => "Neoverse-V2",
        ("ARM", "0xd80") => "Cortex-A520",
        ("ARM", "0xd81") => "Cortex-A720",
        ("ARM", "0xd82") => "Cortex-X4",
        ("ARM", "0xd84") => "Neoverse-V3",
        ("ARM", "0xd8e") => "Neoverse-N3",
        ("Cavium", "0x0af") => "ThunderX2",
        ("Fujitsu", "0x001") => "A64FX",
        ("HiSilicon", "0xd01") => "TaiShan-v110",
        ("Apple", "0x022") => "M1 Icestorm",
        ("Apple", "0x023") => "M1 Firestorm",
        ("Ampere", "0xac3") => "Ampere-1",
        ("Ampere", "0xac4") => "Ampere-1a",
        _ => return format!("{maker} part {part}"),
    };
    format!("{maker} {model}")
}

#[cfg(test)]
mod tests {
    use super::{cpu_model, *};

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

    #[test]
    fn x86_tells_its_name_and_arm_is_named_by_its_numbers() {
        let arm = |implementer: &str, part: &str| {
            format!(
                "processor\t: 0\nCPU implementer\t: {implementer}\nCPU architecture: 8\nCPU part\t: {part}\n\n"
            )
        };
        let big_little = [
            arm("0x41", "0xd05"),
            arm("0x41", "0xd05"),
            arm("0x41", "0xd0b"),
        ];
        let cases = [
            (
                "processor\t: 0\nmodel name\t: Some CPU @ 2.60GHz\n".to_owned(),
                "Some CPU @ 2.60GHz",
            ),
            (arm("0x41", "0xd0c"), "ARM Neoverse-N1"),
            (big_little.concat(), "ARM Cortex-A55 + ARM Cortex-A76"),
            (arm("0xc0", "0xfff"), "Ampere part 0xfff"),
            (arm("0x99", "0x001"), "implementer 0x99, part 0x001"),
            (
                "processor\t: 0\nhart\t: 1\nuarch\t: sifive,u74-mc\n".to_owned(),
                "sifive,u74-mc",
            ),
            (String::new(), ""),
        ];
        for (cpuinfo, expected) in cases {
            assert_eq!(cpu_model(&cpuinfo), expected, "{cpuinfo}");
        }
    }
}
