//! Limits of the process (getrlimit(2)), which servers inherit, but for that of open files: each is given the most that there
//! is. And control groups: how CPU time is counted, and what a container, a unit or a batch system takes away. And memory:
//! whether there is enough, and what the kernel does with it meanwhile.

use std::path::PathBuf;

use deadheat_model::{
    figure::{counted, size},
    machine::CpuSource,
};

use super::{CheckResult, MachineState, fine, note, unknown, warning};
use crate::process::{OPEN_FILES, own_groups_below};

/// The number of file descriptors that a server or the generator uses in addition to its connections.
const BESIDE: u64 = 100;

pub(super) fn descriptors(state: &MachineState) -> CheckResult {
    let Some((_, hard)) = limit(state, "Max open files") else {
        return unknown(
            "/proc/self/limits cannot be read",
            "Each connection takes one.",
        );
    };
    // A server of the proxy workload holds two for each request: the client's and the upstream's.
    let needed = u64::from(state.connections) * 2 + BESIDE;
    let given = hard.min(OPEN_FILES);
    let hard = match hard {
        u64::MAX => "none".to_owned(),
        hard => hard.to_string(),
    };
    let found = format!("{given} for each server (hard limit: {hard})");
    if given >= needed {
        return fine(found);
    }
    let same_shell = "Then start deadheat in the same shell.";
    warning(
        format!("{found}, {needed} are needed"),
        "Servers cannot keep that many connections: they refuse some, and the figures show how they refuse.",
        if needed > OPEN_FILES {
            "Load with fewer connections.".to_owned()
        } else if state.own.is_root {
            format!("ulimit -n {needed}\n{same_shell}")
        } else {
            format!(
                "sudo prlimit --pid $$ --nofile={needed}:{needed}\n{same_shell} For good: nofile in \
                 /etc/security/limits.conf, or LimitNOFILE= (systemd)."
            )
        },
    )
}

pub(super) fn address_space(state: &MachineState) -> CheckResult {
    match limit(state, "Max address space") {
        Some((u64::MAX, _)) => fine("unlimited"),
        Some((soft, _)) => warning(
            format!("limited to {} MiB", soft >> 20),
            "Runtimes reserve far more addresses than they use memory, and fail to start.",
            "ulimit -v unlimited\nThen start deadheat in the same shell.",
        ),
        None => unknown(
            "/proc/self/limits cannot be read",
            "Runtimes reserve far more addresses than they use memory.",
        ),
    }
}

pub(super) fn cpu_time(state: &MachineState) -> CheckResult {
    match limit(state, "Max cpu time") {
        Some((u64::MAX, _)) => fine("unlimited"),
        Some((soft, _)) => warning(
            format!("limited to {soft} s"),
            "The kernel ends the generator, or a server, in the middle of a heat.",
            "ulimit -t unlimited\nThen start deadheat in the same shell.",
        ),
        None => unknown(
            "/proc/self/limits cannot be read",
            "The kernel ends a process that used up its limit.",
        ),
    }
}

/// Soft and hard limit, in the unit of the limit; no limit is [`u64::MAX`].
fn limit(state: &MachineState, name: &str) -> Option<(u64, u64)> {
    let text = state.root.whole("proc/self/limits")?;
    let rest = text.lines().find_map(|line| line.strip_prefix(name))?;
    let mut limits = rest.split_ascii_whitespace().map(|limit| match limit {
        "unlimited" => Some(u64::MAX),
        limit => limit.parse().ok(),
    });
    Some((limits.next()??, limits.next()??))
}

/// Less memory than this does not hold a database, an upstream and a server on a virtual machine of its language.
const MIN_MEMORY: u64 = 2 << 30;

pub(super) fn accounting(state: &MachineState) -> CheckResult {
    match state.own.cpu_source {
        CpuSource::CgroupV2 => fine("control group v2"),
        CpuSource::CgroupV1 => fine("control group v1"),
        CpuSource::Proc => note(
            "no control group can be made; CPU time is summed from /proc",
            "A process that ends between two checks, and whose parent does not wait for it, is not counted.",
            if state.own.is_root {
                "Mount the control groups with write access."
            } else {
                "systemd-run --user --scope --property Delegate=yes deadheat run"
            },
        ),
    }
}

pub(super) fn cpu_quota(state: &MachineState) -> CheckResult {
    let v2 = groups(state, None).into_iter().filter_map(|group| {
        let text = state.root.text(group.join("cpu.max").to_str()?)?;
        let (quota, period) = text.split_once(' ')?;
        cpus_of(quota, period)
    });
    let v1 = groups(state, Some("cpu")).into_iter().filter_map(|group| {
        let of = |name| state.root.text(group.join(name).to_str()?);
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

pub(super) fn memory_limit(state: &MachineState) -> CheckResult {
    let of = |controller, name: &str| {
        let groups = groups(state, controller).into_iter();
        let limits =
            groups.filter_map(|group| state.root.number::<u64>(group.join(name).to_str()?));
        limits.min()
    };
    let limits = [
        of(None, "memory.max"),
        of(Some("memory"), "memory.limit_in_bytes"),
    ];
    let machine = state.machine.memory_bytes;
    // v1 says "none" with a number larger than any memory.
    let limit = limits.into_iter().flatten().min();
    let limit = limit.filter(|limit| machine == 0 || *limit < machine);
    let Some(limit) = limit else {
        return fine("none");
    };
    let found = format!("{} of {}", size(limit), size(machine));
    let remedy = "Give the container or unit more: --memory (docker), MemoryMax= (systemd).";
    if limit < MIN_MEMORY {
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

pub(super) fn tasks(state: &MachineState) -> CheckResult {
    let most = |controller| {
        let groups = groups(state, controller).into_iter();
        let limits = groups.filter_map(|group| {
            let limit: u64 = state.root.number(group.join("pids.max").to_str()?)?;
            let now: u64 = state.root.number(group.join("pids.current").to_str()?)?;
            Some(limit.saturating_sub(now))
        });
        limits.min()
    };
    // A thread for each connection, and as many for the rest.
    let needed = u64::from(state.connections) * 2;
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

pub(super) fn container(state: &MachineState) -> CheckResult {
    let files = [
        "/.dockerenv",
        "/run/.containerenv",
        "/run/systemd/container",
    ];
    let own = state.root.whole("proc/self/cgroup").unwrap_or_default();
    let paths = ["docker", "kubepods", "containerd", "libpod", "lxc"];
    let is_one = files.iter().any(|file| state.root.has(&file[1..]))
        || paths.iter().any(|path| own.contains(path));
    match (is_one, state.root.has("proc/self")) {
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
fn groups(state: &MachineState, controller: Option<&str>) -> Vec<PathBuf> {
    own_groups_below(state.root.path(), controller)
}

/// A database, an upstream, and a server on a virtual machine of its language take about half of this.
const MIN_AVAILABLE: u64 = 1 << 30;

/// A line of `/proc/meminfo`, in bytes.
fn bytes(state: &MachineState, key: &str) -> Option<u64> {
    Some(state.root.value("proc/meminfo", key)? * 1024)
}

pub(super) fn available(state: &MachineState) -> CheckResult {
    let why = "When memory runs out, the kernel writes it to disk or ends a process, and files are read again and again.";
    match bytes(state, "MemAvailable") {
        None => unknown("/proc/meminfo does not tell", why),
        Some(free) if free < MIN_AVAILABLE => warning(
            format!("{} available", size(free)),
            why,
            "ps -e -o pid,rss,args --sort -rss | head\nEnd processes that are not needed.",
        ),
        Some(free) => fine(format!("{} available", size(free))),
    }
}

pub(super) fn swap(state: &MachineState) -> CheckResult {
    let swappiness = state.root.text("proc/sys/vm/swappiness");
    let swappiness = swappiness.map_or(String::new(), |value| format!(", swappiness {value}"));
    let (Some(total), Some(free)) = (bytes(state, "SwapTotal"), bytes(state, "SwapFree")) else {
        return unknown(
            "/proc/meminfo does not tell",
            "A process whose memory is on disk waits for it.",
        );
    };
    let used = total.saturating_sub(free);
    let pages = state.watched.swapped_pages;
    if pages > 0 {
        return warning(
            format!("{pages} pages moved while watched{swappiness}"),
            "Processes wait for the disk, in the middle of requests.",
            format!(
                "ps -e -o pid,rss,args --sort -rss | head\n{}",
                state.as_root("swapoff -a")
            ),
        );
    }
    if used > 0 {
        return note(
            format!("{} used, at rest{swappiness}", size(used)),
            "Swapped-out memory is read back when it is needed, perhaps in the middle of a heat.",
            state.as_root("swapoff -a"),
        );
    }
    fine(match total {
        0 => "none".to_owned(),
        _ => format!("unused{swappiness}"),
    })
}

pub(super) fn huge_pages(state: &MachineState) -> CheckResult {
    let path = "sys/kernel/mm/transparent_hugepage/enabled";
    let value = state.root.text(path).and_then(|text| {
        let (_, rest) = text.split_once('[')?;
        Some(rest.split_once(']')?.0.to_owned())
    });
    match value.as_deref() {
        None => unknown(
            "the kernel does not tell",
            "Transparent huge pages make a process faster and larger.",
        ),
        Some("always") => note(
            "always",
            "A process that touches a little of 2 MiB gets all of it, so memory figures are larger than elsewhere; and \
             the kernel joins pages on its own, at times that nobody chose.",
            state.set(&format!("/{path}"), "madvise"),
        ),
        Some(value) => fine(value),
    }
}

pub(super) fn pss(state: &MachineState) -> CheckResult {
    if state.root.has("proc/self/smaps_rollup") {
        fine("counted")
    } else {
        unknown(
            "this kernel has no smaps_rollup (Linux 4.14)",
            "The memory of servers is not known then.",
        )
    }
}

#[cfg(test)]
mod tests {
    use deadheat_model::warning::Level;

    use super::{
        super::testing::{Planted, found, planted},
        *,
    };

    fn with(name: &str, soft: &str, hard: &str, check_name: &str) -> (Option<Level>, CheckResult) {
        let text = format!("Limit  Soft Limit  Hard Limit  Units\n{name}   {soft}   {hard}   x\n");
        planted(check_name, "proc/self/limits", &text)
    }

    #[test]
    fn descriptors_are_counted_for_both_sides_of_a_proxy() {
        let of = |soft: &str, hard: &str| with("Max open files", soft, hard, "file-descriptors");
        assert_eq!(of("64", "900").0, None);
        assert_eq!(of("unlimited", "unlimited").0, None);
        let (level, finding) = of("64", "899");
        assert_eq!(level, Some(Level::Doubt));
        assert!(finding.found.starts_with("899 for each server"));
        assert!(
            finding
                .advice
                .starts_with("sudo prlimit --pid $$ --nofile=900:900\n")
        );
    }

    #[test]
    fn root_may_raise_the_hard_limit_itself() {
        let text = "Max open files 64 64 files\n";
        let mut state = Planted::good().with("proc/self/limits", text).state();
        state.own.is_root = true;
        let (_, finding) = found(&state, "file-descriptors");
        assert!(finding.advice.starts_with("ulimit -n 900\n"), "{finding:?}");
    }

    #[test]
    fn other_limits_are_none_or_a_warning() {
        for (name, of) in [
            ("Max address space", "address-space"),
            ("Max cpu time", "cpu-time"),
        ] {
            assert_eq!(with(name, "unlimited", "unlimited", of).0, None);
            assert_eq!(with(name, "600", "unlimited", of).0, Some(Level::Doubt));
        }
        assert_eq!(
            with("Max other", "1", "1", "cpu-time").0,
            Some(Level::Routine)
        );
    }

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
        let mut state = Planted::good().state();
        state.own.cpu_source = CpuSource::Proc;
        let (level, finding) = found(&state, "cpu-accounting");
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
            let state = v1()
                .with(&format!("{group}/cpu.cfs_quota_us"), quota)
                .with(&format!("{group}/cpu.cfs_period_us"), "100000\n");
            found(&state.state(), "cpu-quota").0
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
            found(&v1().with(path, limit).state(), "memory-limit").0
        };
        assert_eq!(v1("9223372036854771712\n"), None);
        assert_eq!(v1("1073741824\n"), Some(Level::Doubt));
    }

    #[test]
    fn threads_that_are_left_are_counted() {
        let with = |limit: &str| {
            let group = "sys/fs/cgroup/user.slice";
            let state = Planted::good()
                .with(&format!("{group}/pids.max"), limit)
                .with(&format!("{group}/pids.current"), "100\n");
            found(&state.state(), "tasks").0
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

    const MEMINFO: &str = "proc/meminfo";

    #[test]
    fn little_memory_is_a_warning() {
        let of = |text: &str| planted("memory", MEMINFO, text).0;
        assert_eq!(of("MemAvailable:    1048576 kB\n"), None);
        assert_eq!(of("MemAvailable:    1048575 kB\n"), Some(Level::Doubt));
        assert_eq!(of("MemFree: 1 kB\n"), Some(Level::Routine));
    }

    #[test]
    fn swap_in_motion_is_worse_than_swap_at_rest() {
        let of = |free: &str| {
            let text = format!("SwapTotal: 4194304 kB\nSwapFree: {free} kB\n");
            Planted::good().with(MEMINFO, &text).state()
        };
        let (level, finding) = found(&of("4194304"), "swap");
        assert_eq!(
            (level, finding.found.as_str()),
            (None, "unused, swappiness 60")
        );
        let mut used = of("2097152");
        let (level, finding) = found(&used, "swap");
        assert_eq!(level, Some(Level::Note));
        assert_eq!(finding.found, "2.00 GiB used, at rest, swappiness 60");
        used.watched.swapped_pages = 3;
        assert_eq!(found(&used, "swap").0, Some(Level::Doubt));
    }

    #[test]
    fn huge_pages_for_all_are_noted() {
        let path = "sys/kernel/mm/transparent_hugepage/enabled";
        let of = |text: &str| planted("huge-pages", path, text).0;
        assert_eq!(of("[always] madvise never\n"), Some(Level::Note));
        assert_eq!(of("always madvise [never]\n"), None);
    }

    #[test]
    fn an_old_kernel_counts_no_pss() {
        let old = Planted::good().without("proc/self/smaps_rollup").state();
        assert_eq!(found(&old, "pss").0, Some(Level::Routine));
    }
}
