//! The number of worker threads of a load without pinned CPUs, and how they wait for answers: by polling if that takes
//! no CPU from the server, else asleep.

use std::{
    collections::BTreeSet,
    fs,
    net::{SocketAddr, UdpSocket},
    num::NonZero,
    path::Path,
    thread,
};

use deadheat_model::{
    LoadSpec, Schedule, Wait,
    figure::{self, counted},
    load::Endpoint,
};
use deadheat_runner::process::listening_sockets;
use deadheat_shell::rate;

use crate::options::WaitArg;

/// How workers wait, and why that was chosen; `why` is `None` if the user chose it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WaitChoice {
    pub(crate) wait: Wait,
    pub(crate) why: Option<&'static str>,
}

/// The user's choice, or else a choice that suits `spec`. `other_hosts`: the load comes from other hosts than this one,
/// whose CPUs and processes are unknown here.
pub(crate) fn choose_wait(asked: WaitArg, spec: &LoadSpec, other_hosts: bool) -> WaitChoice {
    let asked_for = |wait| WaitChoice { wait, why: None };
    match asked {
        WaitArg::Sleep => asked_for(Wait::Sleep),
        WaitArg::Poll => asked_for(Wait::Poll),
        WaitArg::Auto if other_hosts => suitable_wait(spec, &|_| Cpus::UnknownThere),
        WaitArg::Auto => suitable_wait(spec, &server_cpus),
    }
}

/// The CPUs that a server at an endpoint may use.
#[derive(Debug, PartialEq, Eq)]
enum Cpus {
    /// The server runs on another machine.
    Elsewhere,
    /// These CPUs of this machine.
    These(BTreeSet<usize>),
    /// The CPUs are unknown.
    Unknown,
    /// The load comes from other hosts, on which the CPUs are unknown.
    UnknownThere,
}

fn suitable_wait(spec: &LoadSpec, server_cpus: &dyn Fn(&Endpoint) -> Cpus) -> WaitChoice {
    let sleep = |why| WaitChoice {
        wait: Wait::Sleep,
        why: Some(why),
    };
    let poll = |why| WaitChoice {
        wait: Wait::Poll,
        why: Some(why),
    };
    if spec.schedule.is_open() {
        return sleep("an open loop wakes shortly before a request is due");
    }
    if spec.think.is_some() {
        return sleep("users think most of the time");
    }
    if spec.cpus.is_empty() {
        return sleep("no CPU is reserved for the worker: see --cpus");
    }
    // Polling must suit each server.
    let mut found = None;
    for (_, endpoint) in spec.routes() {
        let is_free = match server_cpus(&endpoint) {
            Cpus::Elsewhere => poll("the server runs on another machine"),
            Cpus::Unknown => return sleep("which CPUs the server may use is unknown"),
            Cpus::UnknownThere => {
                return sleep("which CPUs the server may use on the hosts is unknown: see --wait");
            }
            Cpus::These(cpus) if spec.cpus.iter().any(|cpu| cpus.contains(cpu)) => {
                return sleep("the server may use the workers' CPUs: see taskset");
            }
            Cpus::These(_) => poll("the server cannot use the workers' CPUs"),
        };
        found.get_or_insert(is_free);
    }
    found.unwrap_or_else(|| sleep("there is no server"))
}

/// Whether the server at an endpoint runs on another machine.
fn is_elsewhere(endpoint: &Endpoint) -> bool {
    match endpoint {
        // Only addresses of this machine can be bound. A UDP socket sends nothing when it is bound.
        Endpoint::Tcp { address } => UdpSocket::bind(SocketAddr::new(address.ip(), 0)).is_err(),
        Endpoint::Unix { .. } => false,
    }
}

/// The CPUs of the server, from `/proc`: those of all threads of the processes that listen on the endpoint.
fn server_cpus(endpoint: &Endpoint) -> Cpus {
    if is_elsewhere(endpoint) {
        return Cpus::Elsewhere;
    }
    let inodes = match endpoint {
        // A listener on another address with the same port counts, because its process may be the server's.
        Endpoint::Tcp { address } => listening_sockets(address.port()),
        Endpoint::Unix { path } => {
            let table = fs::read_to_string("/proc/net/unix").unwrap_or_default();
            unix_listeners(&table, path)
        }
    };
    match cpus_of_holders(&inodes) {
        Some(cpus) if !cpus.is_empty() => Cpus::These(cpus),
        _ => Cpus::Unknown,
    }
}

/// Links to sockets bound to `path`, from a table like `/proc/net/unix`.
fn unix_listeners(table: &str, path: &Path) -> BTreeSet<String> {
    let socket = |line: &str| {
        let fields: Vec<&str> = line.split_ascii_whitespace().collect();
        let bound = Path::new(fields.get(7)?) == path;
        bound.then(|| format!("socket:[{}]", fields[6]))
    };
    table.lines().skip(1).filter_map(socket).collect()
}

/// The CPUs of all threads of the processes that hold one of these sockets; `None` if a holder cannot be inspected.
fn cpus_of_holders(sockets: &BTreeSet<String>) -> Option<BTreeSet<usize>> {
    let mut cpus = BTreeSet::new();
    let mut held = BTreeSet::new();
    for process in fs::read_dir("/proc").ok()?.flatten() {
        // Links such as `self` point to processes that are also listed by number.
        let is_process = process.file_type().is_ok_and(|kind| kind.is_dir());
        // Another user's process cannot be read. If it holds a socket, no holder is found.
        let (true, Ok(files)) = (is_process, fs::read_dir(process.path().join("fd"))) else {
            continue;
        };
        let links = files
            .flatten()
            .filter_map(|file| fs::read_link(file.path()).ok());
        let own: Vec<String> = links
            .filter_map(|link| link.into_os_string().into_string().ok())
            .filter(|link| sockets.contains(link))
            .collect();
        if own.is_empty() {
            continue;
        }
        held.extend(own);
        // A process that has ended meanwhile uses no CPU.
        let threads = fs::read_dir(process.path().join("task"));
        for thread in threads.into_iter().flatten().flatten() {
            if let Ok(status) = fs::read_to_string(thread.path().join("status")) {
                cpus.extend(allowed(&status)?);
            }
        }
    }
    (held == *sockets).then_some(cpus)
}

/// The CPUs that a thread may use, from its `/proc/…/status` (proc_pid_status(5)): "0-3,5".
fn allowed(status: &str) -> Option<Vec<usize>> {
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("Cpus_allowed_list:"))?;
    let mut cpus = Vec::new();
    for part in line.trim().split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        cpus.extend(first.parse::<usize>().ok()?..=last.parse().ok()?);
    }
    Some(cpus)
}

/// The most threads that are started by default: few loads need more.
const MAX: u32 = 8;
/// Number of connections that keep a worker busy.
const CONNECTIONS_EACH: u32 = 16;
/// Requests per second that a worker sends easily.
const RATE_EACH: f64 = 20_000.0;
/// If the server runs on this machine, the load uses one CPU in this many.
const SHARED: usize = 8;

/// The number of worker threads, and why it was chosen; `why` is `None` if the user chose it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Threads {
    pub(crate) count: u32,
    pub(crate) why: Option<String>,
}

/// The user's choice, or else a number that suits `spec` on this machine. `hosts`: the load comes from other hosts.
pub(crate) fn choose_threads(asked: Option<u32>, spec: &LoadSpec, hosts: bool) -> Threads {
    let one = |why| Threads { count: 1, why };
    match asked {
        Some(count) => Threads { count, why: None },
        // The threads are pinned.
        None if !spec.cpus.is_empty() => one(None),
        None if hosts => one(Some(
            "one on each host, unless --threads sets a number".to_owned(),
        )),
        None => suitable_threads(&ThreadFactors {
            // The CPUs that this process may use, within its cgroup's quota.
            cpus: thread::available_parallelism().map_or(1, NonZero::get),
            is_elsewhere: spec.routes().all(|(_, endpoint)| is_elsewhere(&endpoint)),
            connections: spec.schedule.most_connections(),
            rate: highest_rate(spec),
        }),
    }
}

/// The factors that decide the number of threads.
#[derive(Clone, Copy, Debug)]
struct ThreadFactors {
    /// CPUs that this process may use.
    cpus: usize,
    /// Whether the server runs on another machine.
    is_elsewhere: bool,
    connections: u32,
    /// The most requests per second; `None`: unknown beforehand.
    rate: Option<f64>,
}

/// As many threads as there is work and CPUs for.
fn suitable_threads(factors: &ThreadFactors) -> Threads {
    let ThreadFactors {
        cpus,
        is_elsewhere,
        connections,
        rate,
    } = *factors;
    let machine = format!("this process may use {}", counted(cpus as u64, "CPU"));
    let room = if is_elsewhere {
        (cpus / 2, format!("{machine}, and the server is elsewhere"))
    } else if cpus < 2 * SHARED {
        (1, format!("{machine}, and the server needs them, too"))
    } else {
        (
            cpus / SHARED,
            format!("{machine}, and most are left to the server"),
        )
    };
    let rates = rate.map(|rate| {
        let why = format!("{} are little work", figure::rate(rate));
        ((rate / RATE_EACH).ceil() as usize, why)
    });
    let busy = (
        (connections / CONNECTIONS_EACH) as usize,
        format!("{} are little work", counted(connections, "connection")),
    );
    // If several factors give the same number, the first one is named as the reason.
    let all = [Some(room), rates, Some(busy)].into_iter().flatten();
    let least = all.min_by_key(|(count, _)| (*count).max(1));
    let (count, why) = least.unwrap_or_default();
    Threads {
        count: u32::try_from(count).unwrap_or(MAX).clamp(1, MAX),
        why: Some(why),
    }
}

/// The most requests per second that a load sends; `None` if its schedule does not bound them.
fn highest_rate(spec: &LoadSpec) -> Option<f64> {
    match (&spec.schedule, spec.think) {
        (Schedule::Open { stages, .. }, _) => Some(rate::highest(stages)),
        (Schedule::Closed { connections, .. }, Some(think)) => {
            Some(f64::from(*connections) / think.mean().as_secs_f64())
        }
        (Schedule::Closed { .. }, None) => None,
    }
}

#[cfg(test)]
mod tests {
    use std::{net::TcpListener, os::unix::net::UnixListener, time::Duration};

    use deadheat_model::{
        Schedule, StopRule,
        load::{Arrivals, Stage, Target, Think},
    };

    use super::*;

    fn spec(cpus: &[usize]) -> LoadSpec {
        let schedule = Schedule::Closed {
            connections: 4,
            ramp: Duration::ZERO,
        };
        let target = Target::plain("127.0.0.1:80".parse().unwrap());
        let mut spec = LoadSpec::new(target, Vec::new(), schedule, StopRule::Interrupt);
        spec.cpus = cpus.to_vec();
        spec
    }

    #[test]
    fn polling_is_for_workers_whose_cpus_the_server_cannot_use() {
        let on = |cpus: Cpus| {
            move |_: &Endpoint| match &cpus {
                Cpus::These(cpus) => Cpus::These(cpus.clone()),
                Cpus::Elsewhere => Cpus::Elsewhere,
                Cpus::Unknown => Cpus::Unknown,
                Cpus::UnknownThere => Cpus::UnknownThere,
            }
        };
        let these = |cpus: &[usize]| Cpus::These(cpus.iter().copied().collect());
        let cases = [
            (vec![2, 3], these(&[0, 1]), Wait::Poll),
            (vec![2, 3], these(&[0, 1, 3]), Wait::Sleep),
            (vec![2, 3], Cpus::Elsewhere, Wait::Poll),
            (vec![2, 3], Cpus::Unknown, Wait::Sleep),
            (vec![2, 3], Cpus::UnknownThere, Wait::Sleep),
            (vec![], these(&[0]), Wait::Sleep),
            (vec![], Cpus::Elsewhere, Wait::Sleep),
        ];
        for (cpus, server, expected) in cases {
            let told = format!("{cpus:?} {server:?}");
            let chosen = suitable_wait(&spec(&cpus), &on(server));
            assert_eq!(chosen.wait, expected, "{told}: {chosen:?}");
            assert!(chosen.why.is_some());
        }
        let mut open = spec(&[1]);
        open.schedule = Schedule::Open {
            arrivals: Arrivals::Uniform,
            stages: vec![Stage::constant(5.0)],
            connections: 1,
            most_connections: 1,
        };
        assert_eq!(suitable_wait(&open, &on(Cpus::Elsewhere)).wait, Wait::Sleep);
        let asked = |asked, cpus: &[usize]| choose_wait(asked, &spec(cpus), false);
        assert_eq!(asked(WaitArg::Poll, &[]).wait, Wait::Poll);
        assert_eq!(asked(WaitArg::Sleep, &[1]).why, None);
        // What is on this machine says nothing about other hosts: for them, this server is not elsewhere.
        let mut elsewhere = spec(&[1]);
        elsewhere.target = Target::plain("192.0.2.1:80".parse().unwrap());
        let automatic = |hosts| choose_wait(WaitArg::Auto, &elsewhere, hosts);
        assert_eq!(automatic(false).wait, Wait::Poll);
        assert_eq!(automatic(true).wait, Wait::Sleep);
        assert!(automatic(true).why.unwrap().contains("on the hosts"));
        assert_eq!(
            choose_wait(WaitArg::Poll, &elsewhere, true).wait,
            Wait::Poll
        );
    }

    #[test]
    fn a_server_of_this_machine_is_found_with_its_cpus() {
        let own = allowed(&fs::read_to_string("/proc/thread-self/status").unwrap());
        let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("socket");
        let _unix = UnixListener::bind(&path).unwrap();
        let endpoints = [
            Endpoint::Tcp {
                address: tcp.local_addr().unwrap(),
            },
            Endpoint::Unix { path },
        ];
        for endpoint in endpoints {
            let Cpus::These(cpus) = server_cpus(&endpoint) else {
                panic!("{endpoint} is not found");
            };
            let own = own.as_ref().unwrap();
            assert!(own.iter().all(|cpu| cpus.contains(cpu)), "{cpus:?}");
        }
    }

    #[test]
    fn nobody_there_and_another_machine_are_told_apart() {
        let closed = TcpListener::bind("127.0.0.1:0")
            .unwrap()
            .local_addr()
            .unwrap();
        let endpoint = |address| Endpoint::Tcp { address };
        assert_eq!(server_cpus(&endpoint(closed)), Cpus::Unknown);
        // Of TEST-NET-1 (RFC 5737), which no machine has.
        let elsewhere = server_cpus(&endpoint("192.0.2.1:80".parse().unwrap()));
        assert_eq!(elsewhere, Cpus::Elsewhere);
    }

    #[test]
    fn the_cpus_of_a_thread_are_read() {
        assert_eq!(
            allowed("Cpus_allowed_list:\t0-2,5\n"),
            Some(vec![0, 1, 2, 5])
        );
        assert_eq!(allowed("Name:\tx\n"), None);
    }

    fn threads(cpus: usize, is_elsewhere: bool, connections: u32, rate: Option<f64>) -> u32 {
        let threads = suitable_threads(&ThreadFactors {
            cpus,
            is_elsewhere,
            connections,
            rate,
        });
        assert!(threads.why.is_some());
        threads.count
    }

    #[test]
    fn there_are_as_many_as_the_machine_has_room_for() {
        // CPUs, threads with the server elsewhere, and with the server on this machine.
        for (cpus, elsewhere, here) in [
            (1, 1, 1),
            (2, 1, 1),
            (3, 1, 1),
            (4, 2, 1),
            (8, 4, 1),
            (15, 7, 1),
            (16, 8, 2),
            (64, 8, 8),
            (256, 8, 8),
        ] {
            assert_eq!(threads(cpus, true, 10_000, None), elsewhere, "{cpus}");
            assert_eq!(threads(cpus, false, 10_000, None), here, "{cpus}");
        }
    }

    #[test]
    fn there_are_no_more_than_there_is_work_for() {
        for (connections, expected) in [(1, 1), (16, 1), (31, 1), (32, 2), (50, 3), (200, 8)] {
            assert_eq!(
                threads(64, true, connections, None),
                expected,
                "{connections}"
            );
        }
        for (rate, expected) in [(0.5, 1), (20_000.0, 1), (20_001.0, 2), (1e9, 8)] {
            assert_eq!(threads(64, true, 10_000, Some(rate)), expected, "{rate}");
        }
    }

    #[test]
    fn the_reason_is_what_bounds_them() {
        let why = |cpus, is_elsewhere, connections, rate| {
            let threads = suitable_threads(&ThreadFactors {
                cpus,
                is_elsewhere,
                connections,
                rate,
            });
            threads.why.unwrap()
        };
        assert!(why(16, true, 1000, None).contains("16 CPUs, and the server is elsewhere"));
        assert!(why(4, false, 1000, None).contains("the server needs them"));
        assert!(why(32, false, 1000, None).contains("most are left"));
        assert!(why(16, true, 20, None).contains("20 connections are little work"));
        assert!(why(16, true, 1000, Some(500.0)).contains("500/s are little work"));
        assert!(why(1, true, 20, Some(1.0)).contains("1 CPU,"));
    }

    #[test]
    fn what_is_asked_for_comes_first_and_a_rate_follows_from_the_schedule() {
        let schedule = Schedule::Closed {
            connections: 100,
            ramp: Duration::ZERO,
        };
        let target = Target::plain("192.0.2.1:80".parse().unwrap());
        let mut spec = LoadSpec::new(target, Vec::new(), schedule, StopRule::Interrupt);
        let asked = Threads {
            count: 5,
            why: None,
        };
        assert_eq!(choose_threads(Some(5), &spec, false), asked);
        assert!(
            choose_threads(None, &spec, true)
                .why
                .unwrap()
                .contains("each host")
        );
        assert_eq!(highest_rate(&spec), None);
        spec.think = Some(Think::Exponential {
            mean: Duration::from_secs(2),
        });
        assert_eq!(highest_rate(&spec), Some(50.0));
        spec.schedule = Schedule::Open {
            arrivals: deadheat_model::load::Arrivals::Uniform,
            stages: vec![Stage::constant(5.0), Stage::constant(7.0)],
            connections: 1,
            most_connections: 1,
        };
        assert_eq!(highest_rate(&spec), Some(7.0));
        spec.cpus = vec![0];
        let pinned = Threads {
            count: 1,
            why: None,
        };
        assert_eq!(choose_threads(None, &spec, false), pinned);
    }
}
