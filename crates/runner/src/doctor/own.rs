//! Deadheat itself: how it was built, how it was started, and where it writes. Facts that it measures itself, and what others
//! did over a short time: it sleeps in between, so as to be no load itself.

use std::{
    collections::BTreeMap,
    net::UdpSocket,
    os::unix::process::parent_id,
    path::Path,
    thread,
    time::{Duration, Instant},
};

use deadheat_model::{
    figure::size,
    machine::{CpuSource, Disturbance},
};

use super::{CheckResult, MachineState, Root, fine, note, unknown, warning};
use crate::{
    process::{CpuGroup, Snapshot, descendants, is_root, read_stat, ticks},
    sampling::CpuClock,
};

/// Facts about this process and machine that have to be measured.
#[derive(Clone, Debug)]
pub struct OwnFacts {
    /// Whether it runs as root.
    pub is_root: bool,
    /// Whether it was compiled without optimisation.
    pub debug_build: bool,
    /// How the CPU time of process trees is counted here.
    pub cpu_source: CpuSource,
    /// What reading the monotonic clock costs.
    pub clock_cost: Duration,
    /// The smallest step that the clock was seen to take; `None`: it never moved.
    pub clock_step: Option<Duration>,
    /// The shortest time of a datagram over loopback, from a socket to itself; `None` if none arrived.
    pub loopback: Option<Duration>,
    /// Bytes free where results are written; `None` where the system does not tell.
    pub free_bytes: Option<u64>,
}

impl OwnFacts {
    /// Tries everything: some milliseconds in all.
    pub(super) fn gather(results: &Path) -> Self {
        Self {
            is_root: is_root(),
            debug_build: cfg!(debug_assertions),
            cpu_source: CpuGroup::probe(),
            clock_cost: clock_cost(),
            clock_step: clock_step(),
            loopback: loopback(),
            free_bytes: free_bytes(results),
        }
    }
}

/// The cost of one reading of the clock, from the fastest of some batches: the one that was disturbed least.
fn clock_cost() -> Duration {
    const READINGS: u32 = 1000;
    let batch = |_| {
        let start = Instant::now();
        for _ in 1..READINGS {
            std::hint::black_box(Instant::now());
        }
        start.elapsed() / READINGS
    };
    (0..10).map(batch).min().unwrap_or_default()
}

fn clock_step() -> Option<Duration> {
    // A clock that ticks every few milliseconds is waited for a few times only.
    let steps = (0..20).filter_map(|_| {
        let start = Instant::now();
        (0..100_000)
            .map(|_| start.elapsed())
            .find(|step| !step.is_zero())
    });
    steps.min()
}

fn loopback() -> Option<Duration> {
    let socket = UdpSocket::bind(("127.0.0.1", 0)).ok()?;
    socket.connect(socket.local_addr().ok()?).ok()?;
    // Artificial delays (tc netem) are some milliseconds, so this is long enough.
    socket
        .set_read_timeout(Some(Duration::from_millis(500)))
        .ok()?;
    let mut best = None;
    for _ in 0..20 {
        let start = Instant::now();
        socket.send(b"?").ok()?;
        socket.recv(&mut [0]).ok()?;
        let took = start.elapsed();
        best = Some(best.map_or(took, |best: Duration| best.min(took)));
    }
    best
}

/// Free bytes where `folder` is, or where its nearest existing parent is.
fn free_bytes(folder: &Path) -> Option<u64> {
    let folder = std::path::absolute(folder).ok()?;
    let found = folder
        .ancestors()
        .find_map(|folder| rustix::fs::statvfs(folder).ok())?;
    Some(found.f_bavail.saturating_mul(found.f_frsize))
}

/// The activity of other programs while they were watched.
#[derive(Clone, Debug)]
pub struct Watched {
    /// The time that they were watched.
    pub span: Duration,
    /// The CPU time that others used.
    pub disturbance: Disturbance,
    /// The processes that used the most CPU time, the busiest first.
    pub busiest: Vec<BusyProcess>,
    /// Pages swapped in and out.
    pub swapped_pages: u64,
    /// The number of thermal throttling events; `None` if they are not counted.
    pub throttled: Option<u64>,
    /// The ids and names of all other processes.
    pub others: Vec<(u32, String)>,
}

/// A process that used CPU time.
#[derive(Clone, Debug, PartialEq)]
pub struct BusyProcess {
    /// Its id.
    pub pid: u32,
    /// Its name, as far as the kernel keeps it.
    pub name: String,
    /// The number of CPUs that it used on average.
    pub cpus: f64,
}

/// The minimum CPU use, in CPUs, of a process that is named.
const MIN: f64 = 0.01;
/// The maximum number of processes that are named.
const NAMED: usize = 3;

impl Watched {
    /// Watches the usable `cpus` for `span`.
    pub(super) fn during(span: Duration, root: &Root, cpus: &[usize]) -> Self {
        let before = ActivitySnapshot::take(root);
        thread::sleep(span);
        ActivitySnapshot::take(root).since(&before, cpus)
    }
}

/// Counters of the machine's activity at one moment.
struct ActivitySnapshot {
    at: Instant,
    clock: CpuClock,
    /// Names and clock ticks of other programs' processes.
    processes: BTreeMap<u32, (String, u64)>,
    swapped_pages: u64,
    throttled: Option<u64>,
}

impl ActivitySnapshot {
    fn take(root: &Root) -> Self {
        let swapped = ["pswpin", "pswpout"].map(|key| root.value("proc/vmstat", key).unwrap_or(0));
        Self {
            at: Instant::now(),
            clock: CpuClock::read(&Snapshot::take()),
            processes: other_processes(root),
            swapped_pages: swapped.iter().sum(),
            throttled: throttled(root),
        }
    }

    fn since(self, earlier: &Self, cpus: &[usize]) -> Watched {
        let span = self.at.duration_since(earlier.at);
        Watched {
            span,
            disturbance: self.clock.disturbance_since(&earlier.clock, cpus, span),
            busiest: busiest(&self.processes, &earlier.processes, span),
            swapped_pages: self.swapped_pages.saturating_sub(earlier.swapped_pages),
            throttled: self
                .throttled
                .zip(earlier.throttled)
                .map(|(now, before)| now.saturating_sub(before)),
            others: self
                .processes
                .into_iter()
                .map(|(pid, (name, _))| (pid, name))
                .collect(),
        }
    }
}

/// Everything but Deadheat and what it started.
fn other_processes(root: &Root) -> BTreeMap<u32, (String, u64)> {
    let (own, parent) = (std::process::id(), parent_id());
    let ours: Vec<u32> = descendants(own).iter().map(|stat| stat.pid).collect();
    let pids = root.names("proc").into_iter();
    let others = pids
        .filter_map(|name| name.parse().ok())
        .filter(|pid| *pid != own && !ours.contains(pid));
    let named = others.filter_map(|pid| {
        let stat = read_stat(pid)?;
        let name = root.text(&format!("proc/{pid}/comm"))?;
        if pid == parent && name == "deadheat" {
            // The agent that has started this one.
            return None;
        }
        // Without what children used that it has just waited for: that may be long ago.
        Some((pid, (name, stat.cpu_ticks - stat.children_ticks)))
    });
    named.collect()
}

fn busiest(
    now: &BTreeMap<u32, (String, u64)>,
    before: &BTreeMap<u32, (String, u64)>,
    span: Duration,
) -> Vec<BusyProcess> {
    let mut all: Vec<BusyProcess> = now
        .iter()
        .map(|(pid, (name, used))| {
            let earlier = before.get(pid).map_or(0, |(_, used)| *used);
            let used = ticks(used.saturating_sub(earlier)).as_secs_f64();
            BusyProcess {
                pid: *pid,
                name: name.clone(),
                cpus: used / span.as_secs_f64().max(0.001),
            }
        })
        .filter(|busy| busy.cpus >= MIN)
        .collect();
    all.sort_by(|one, other| other.cpus.total_cmp(&one.cpus));
    all.truncate(NAMED);
    all
}

/// How often CPUs were slowed down for their heat since the start (Linux, `thermal_throttle`), all together.
pub(super) fn throttled(root: &Root) -> Option<u64> {
    let count =
        |folder: &String| root.number(&format!("{folder}/thermal_throttle/core_throttle_count"));
    let counts: Vec<u64> = root.cpu_folders().iter().filter_map(count).collect();
    (!counts.is_empty()).then(|| counts.iter().sum())
}

/// A session with its logs and stacks built takes some hundred megabytes; builds take more.
const MIN_FREE: u64 = 1 << 30;

pub(super) fn build(state: &MachineState) -> CheckResult {
    if !state.own.debug_build {
        return fine("optimised");
    }
    warning(
        "not optimised",
        "An unoptimised load generator needs several times more CPU time per request, so it becomes the limit.",
        "cargo run --release -- run",
    )
}

pub(super) fn priority(state: &MachineState) -> CheckResult {
    // proc_pid_stat(5): field 19, the 17th after the name in parentheses.
    let stat = state.root.whole("proc/self/stat");
    let nice = stat.and_then(|text| {
        let rest = text.rsplit_once(')')?.1;
        rest.split_ascii_whitespace().nth(16)?.parse::<i32>().ok()
    });
    match nice {
        None => unknown(
            "/proc/self/stat cannot be read",
            "A process that is nice waits for every other program.",
        ),
        Some(nice) if nice > 0 => warning(
            format!("nice {nice}"),
            "Servers and generator inherit it: any other program that wants a CPU is served before them.",
            "Start deadheat without nice(1).",
        ),
        Some(nice) => fine(format!("nice {nice}")),
    }
}

pub(super) fn root(state: &MachineState) -> CheckResult {
    if !state.own.is_root {
        return fine("not root");
    }
    note(
        "root",
        "Servers run as root, too: limits for users do not apply, and some servers run their workers as another user. \
         PostgreSQL is started as a user of its own.",
        "",
    )
}

pub(super) fn disk(state: &MachineState) -> CheckResult {
    let why = "When the disk is full, the latest builds, logs and records of heats are lost.";
    match state.own.free_bytes {
        None => unknown("the system does not report the free space", why),
        Some(free) if free < MIN_FREE => warning(
            format!("{} free for results", size(free)),
            why,
            "df -h .\nFree some space, or use --results with a folder on another disk.",
        ),
        Some(free) => fine(format!("{} free", size(free))),
    }
}

#[cfg(test)]
mod tests {
    use deadheat_model::warning::Level;

    use super::*;
    use crate::doctor::testing::{Planted, found, planted};

    #[test]
    fn a_folder_that_is_not_there_yet_has_room() {
        let found = free_bytes(Path::new("/tmp/not-there/nor-this"));
        assert!(found.is_some_and(|bytes| bytes > 0));
    }

    #[test]
    fn the_clock_moves_and_loopback_answers() {
        assert!(clock_step().is_some_and(|step| step > Duration::ZERO));
        assert!(loopback().is_some_and(|time| time > Duration::ZERO));
    }

    fn processes(list: &[(u32, &str, u64)]) -> BTreeMap<u32, (String, u64)> {
        let named = list.iter();
        named
            .map(|(pid, name, used)| (*pid, ((*name).to_owned(), *used)))
            .collect()
    }

    #[test]
    fn the_busiest_come_first_and_idle_ones_not_at_all() {
        let before = processes(&[(1, "init", 500), (2, "rustc", 100), (3, "java", 0)]);
        let now = processes(&[
            (1, "init", 500),
            (2, "rustc", 150),
            (3, "java", 90),
            (4, "new", 20),
        ]);
        let busy = busiest(&now, &before, ticks(100));
        let names: Vec<&str> = busy.iter().map(|busy| busy.name.as_str()).collect();
        assert_eq!(names, ["java", "rustc", "new"]);
        assert!((busy[0].cpus - 0.9).abs() < 1e-9);
    }

    #[test]
    fn a_child_of_ours_is_not_another_program() {
        let mut child = std::process::Command::new("sleep")
            .arg("30")
            .spawn()
            .unwrap();
        let others = other_processes(&Root::here());
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(!others.contains_key(&child.id()));
        assert!(!others.contains_key(&std::process::id()));
        // Whoever started the test.
        assert!(others.contains_key(&std::os::unix::process::parent_id()));
    }

    #[test]
    fn a_debug_build_is_slow() {
        let mut state = Planted::good().state();
        assert_eq!(found(&state, "build").0, None);
        state.own.debug_build = true;
        assert_eq!(found(&state, "build").0, Some(Level::Doubt));
    }

    #[test]
    fn niceness_is_the_nineteenth_field() {
        let of = |nice: &str| {
            let text = format!("9 (a (b) S 1 9 9 0 -1 0 0 0 0 0 0 0 0 0 20 {nice} 1 0 0\n");
            planted("priority", "proc/self/stat", &text)
        };
        assert_eq!(of("0").0, None);
        assert_eq!(of("-5").0, None);
        let (level, finding) = of("5");
        assert_eq!(
            (level, finding.found.as_str()),
            (Some(Level::Doubt), "nice 5")
        );
        let (level, _) = planted("priority", "proc/self/stat", "");
        assert_eq!(level, Some(Level::Routine));
    }

    #[test]
    fn root_is_told_of() {
        let mut state = Planted::good().state();
        state.own.is_root = true;
        assert_eq!(found(&state, "user").0, Some(Level::Note));
    }

    #[test]
    fn a_full_disk_is_a_warning() {
        let mut state = Planted::good().state();
        assert_eq!(found(&state, "disk").0, None);
        state.own.free_bytes = Some(MIN_FREE - 1);
        assert_eq!(found(&state, "disk").0, Some(Level::Doubt));
        state.own.free_bytes = None;
        assert_eq!(found(&state, "disk").0, Some(Level::Routine));
    }
}
