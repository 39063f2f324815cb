//! Control groups: how CPU time is counted, and what a container, a unit or a batch system takes away.

use std::path::PathBuf;

use deadheat_model::{
    figure::{counted, size},
    machine::CpuSource,
};

use super::{
    World,
    found::{CheckResult, fine, note, unknown, warning},
};
use crate::process::own_groups_below;

/// Less memory than this does not hold a database, an upstream and a server on a virtual machine of its language.
const LEAST_MEMORY: u64 = 2 << 30;

pub(super) fn accounting(world: &World) -> CheckResult {
    match world.own.cpu_source {
        CpuSource::CgroupV2 => fine("control group v2"),
        CpuSource::CgroupV1 => fine("control group v1"),
        CpuSource::Proc => note(
            "no control group can be made; CPU time is summed from /proc",
            "A process that ends between two checks, and whose parent does not wait for it, is not counted.",
            if world.own.is_root {
                "Mount the control groups with write access."
            } else {
                "systemd-run --user --scope --property Delegate=yes deadheat run"
            },
        ),
    }
}

pub(super) fn cpu_quota(world: &World) -> CheckResult {
    let v2 = groups(world, None).into_iter().filter_map(|group| {
        let text = world.root.text(group.join("cpu.max").to_str()?)?;
        let (quota, period) = text.split_once(' ')?;
        cpus_of(quota, period)
    });
    let v1 = groups(world, Some("cpu")).into_iter().filter_map(|group| {
        let of = |name| world.root.text(group.join(name).to_str()?);
        cpus_of(&of("cpu.cfs_quota_us")?, &of("cpu.cfs_period_us")?)
    });
    match v2.chain(v1).min_by(f64::total_cmp) {
        None => fine("none"),
        Some(cpus) => warning(
            format!("{cpus:.1} CPUs' worth of time"),
            "When it is used up, all threads stop until the next period (up to 100 ms): latencies show the quota, and \
             a stack with many threads uses it up sooner.",
            "Give whole CPUs instead: --cpuset-cpus (docker), AllowedCPUs= (systemd), the static CPU manager \
             (Kubernetes).",
        ),
    }
}

/// "max" and -1 are no quota.
fn cpus_of(quota: &str, period: &str) -> Option<f64> {
    let (quota, period) = (quota.parse::<f64>().ok()?, period.parse::<f64>().ok()?);
    (quota > 0.0 && period > 0.0).then(|| quota / period)
}

pub(super) fn memory_limit(world: &World) -> CheckResult {
    let of = |controller, name: &str| {
        let groups = groups(world, controller).into_iter();
        let limits =
            groups.filter_map(|group| world.root.number::<u64>(group.join(name).to_str()?));
        limits.min()
    };
    let limits = [
        of(None, "memory.max"),
        of(Some("memory"), "memory.limit_in_bytes"),
    ];
    let machine = world.machine.memory_bytes;
    // v1 says "none" with a number larger than any memory.
    let limit = limits.into_iter().flatten().min();
    let limit = limit.filter(|limit| machine == 0 || *limit < machine);
    let Some(limit) = limit else {
        return fine("none");
    };
    let found = format!("{} of {}", size(limit), size(machine));
    let remedy = "Give the container or unit more: --memory (docker), MemoryMax= (systemd).";
    if limit < LEAST_MEMORY {
        return warning(
            found,
            "Builds and servers are ended, or wait for memory, when it is reached.",
            remedy,
        );
    }
    note(
        found,
        "Runtimes size their heaps by it, and files that were read count as well.",
        remedy,
    )
}

pub(super) fn tasks(world: &World) -> CheckResult {
    let most = |controller| {
        let groups = groups(world, controller).into_iter();
        let limits = groups.filter_map(|group| {
            let limit: u64 = world.root.number(group.join("pids.max").to_str()?)?;
            let now: u64 = world.root.number(group.join("pids.current").to_str()?)?;
            Some(limit.saturating_sub(now))
        });
        limits.min()
    };
    // A thread for each connection, and as many for the rest.
    let needed = u64::from(world.connections) * 2;
    let left = [most(None), most(Some("pids"))].into_iter().flatten().min();
    match left {
        Some(left) if left < needed => warning(
            format!("{} more may be started", counted(left, "thread")),
            "A stack with a thread for each connection cannot start them all, and fails or refuses requests.",
            "Raise --pids-limit (docker) or TasksMax= (systemd).",
        ),
        Some(left) => fine(format!("{left} more threads may be started")),
        None => fine("not limited"),
    }
}

pub(super) fn container(world: &World) -> CheckResult {
    let files = [
        "/.dockerenv",
        "/run/.containerenv",
        "/run/systemd/container",
    ];
    let own = world.root.whole("proc/self/cgroup").unwrap_or_default();
    let paths = ["docker", "kubepods", "containerd", "libpod", "lxc"];
    let is_one = files.iter().any(|file| world.root.has(&file[1..]))
        || paths.iter().any(|path| own.contains(path));
    match (is_one, world.root.has("proc/self")) {
        (true, _) => note(
            "in a container",
            "Other containers are visible by their CPU time only, not by name. Settings of the kernel are the host's: \
             a command that changes one may have to be run there.",
            "",
        ),
        (false, true) => fine("none"),
        (false, false) => unknown(
            "/proc is not there",
            "Other containers take CPU time that has no name here.",
        ),
    }
}

/// The own group in a hierarchy and those above it, as paths below the root.
fn groups(world: &World, controller: Option<&str>) -> Vec<PathBuf> {
    own_groups_below(world.root.path(), controller)
}

#[cfg(test)]
mod tests {
    use deadheat_model::warning::Level;

    use super::{
        super::testing::{Planted, found, planted},
        *,
    };

    const V1: &str = "cgroup /sys/fs/cgroup/cpu cgroup rw,cpu 0 0\n\
        cgroup /sys/fs/cgroup/memory cgroup rw,memory 0 0\n\
        cgroup /sys/fs/cgroup/pids cgroup rw,pids 0 0\n";

    fn v1() -> Planted {
        Planted::good()
            .with("proc/self/mounts", V1)
            .with("proc/self/cgroup", "3:cpu:/a/b\n2:memory:/a\n1:pids:/a\n")
    }

    #[test]
    fn without_a_group_short_processes_are_missed() {
        let mut world = Planted::good().world();
        world.own.cpu_source = CpuSource::Proc;
        let (level, finding) = found(&world, "cpu-accounting");
        assert_eq!(level, Some(Level::Note));
        assert!(finding.advice.starts_with("systemd-run --user"));
    }

    #[test]
    fn a_quota_of_any_group_above_is_a_warning() {
        let of = |path: &str| planted("cpu-quota", path, "150000 100000\n");
        for path in [
            "cpu.max",
            "user.slice/cpu.max",
            "user.slice/session/cpu.max",
        ] {
            let (level, finding) = of(&format!("sys/fs/cgroup/{path}"));
            assert_eq!(level, Some(Level::Doubt), "{path}");
            assert_eq!(finding.found, "1.5 CPUs' worth of time");
        }
        assert_eq!(of("sys/fs/cgroup/other/cpu.max").0, None);
    }

    #[test]
    fn a_quota_of_v1_is_a_warning() {
        let with = |quota: &str| {
            let group = "sys/fs/cgroup/cpu/a";
            let world = v1()
                .with(&format!("{group}/cpu.cfs_quota_us"), quota)
                .with(&format!("{group}/cpu.cfs_period_us"), "100000\n");
            found(&world.world(), "cpu-quota").0
        };
        assert_eq!(with("-1\n"), None);
        assert_eq!(with("50000\n"), Some(Level::Doubt));
    }

    #[test]
    fn memory_limits_are_judged_by_what_is_left() {
        let v2 = |limit: &str| {
            let path = "sys/fs/cgroup/user.slice/session/memory.max";
            planted("memory-limit", path, limit).0
        };
        assert_eq!(v2("max\n"), None);
        assert_eq!(v2("1073741824\n"), Some(Level::Doubt));
        assert_eq!(v2("4294967296\n"), Some(Level::Note));
        let v1 = |limit: &str| {
            let path = "sys/fs/cgroup/memory/a/memory.limit_in_bytes";
            found(&v1().with(path, limit).world(), "memory-limit").0
        };
        assert_eq!(v1("9223372036854771712\n"), None);
        assert_eq!(v1("1073741824\n"), Some(Level::Doubt));
    }

    #[test]
    fn threads_that_are_left_are_counted() {
        let with = |limit: &str| {
            let group = "sys/fs/cgroup/user.slice";
            let world = Planted::good()
                .with(&format!("{group}/pids.max"), limit)
                .with(&format!("{group}/pids.current"), "100\n");
            found(&world.world(), "tasks").0
        };
        assert_eq!(with("max\n"), None);
        assert_eq!(with("899\n"), Some(Level::Doubt));
        assert_eq!(with("900\n"), None);
    }

    #[test]
    fn a_container_is_recognised() {
        let docker = planted("container", ".dockerenv", "");
        assert_eq!(docker.0, Some(Level::Note));
        let pod = planted("container", "proc/self/cgroup", "0::/kubepods/x\n");
        assert_eq!(pod.0, Some(Level::Note));
    }
}
