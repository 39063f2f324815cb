//! How many worker threads a load has that are not pinned to CPUs.

use std::{num::NonZero, thread};

use deadheat_model::{
    LoadSpec, Schedule,
    figure::{self, counted},
};
use deadheat_shell::rate;

use super::wait;

/// The most that are started on our own account: more are of use to few.
const MOST: u32 = 8;
/// This many connections keep a worker busy.
const CONNECTIONS_EACH: u32 = 16;
/// A worker sends this many requests per second with ease.
const RATE_EACH: f64 = 20_000.0;
/// One CPU in this many, where the server needs the others.
const SHARED: usize = 8;

/// Worker threads, and why there are as many; `None`: because that was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Threads {
    pub(crate) count: u32,
    pub(crate) why: Option<String>,
}

/// What is asked for, or what suits `spec` on this machine. `hosts`: the load comes from others.
pub(crate) fn choose(asked: Option<u32>, spec: &LoadSpec, hosts: bool) -> Threads {
    let one = |why| Threads { count: 1, why };
    match asked {
        Some(count) => Threads { count, why: None },
        // They are pinned.
        None if !spec.cpus.is_empty() => one(None),
        None if hosts => one(Some(
            "one on each host, unless --threads sets a number".to_owned(),
        )),
        None => suitable(&Situation {
            // Those that this process may run on, within its cgroup's quota.
            cpus: thread::available_parallelism().map_or(1, NonZero::get),
            is_elsewhere: spec
                .routes()
                .all(|(_, endpoint)| wait::is_elsewhere(&endpoint)),
            connections: spec.schedule.most_connections(),
            rate: highest_rate(spec),
        }),
    }
}

/// What the number of threads depends on.
#[derive(Clone, Copy, Debug)]
struct Situation {
    /// CPUs that this process may use.
    cpus: usize,
    /// Whether the server runs on another machine.
    is_elsewhere: bool,
    connections: u32,
    /// The most requests per second, if that is known beforehand.
    rate: Option<f64>,
}

/// As many as there is work and room for.
fn suitable(situation: &Situation) -> Threads {
    let Situation {
        cpus,
        is_elsewhere,
        connections,
        rate,
    } = *situation;
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
    // Of equals the first says why.
    let all = [Some(room), rates, Some(busy)].into_iter().flatten();
    let least = all.min_by_key(|(count, _)| (*count).max(1));
    let (count, why) = least.unwrap_or_default();
    Threads {
        count: u32::try_from(count).unwrap_or(MOST).clamp(1, MOST),
        why: Some(why),
    }
}

/// The most requests per second that a load sends, where its schedule bounds them.
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
    use std::time::Duration;

    use deadheat_model::{
        StopRule,
        load::{Stage, Target, Think},
    };

    use super::*;

    fn threads(cpus: usize, is_elsewhere: bool, connections: u32, rate: Option<f64>) -> u32 {
        let threads = suitable(&Situation {
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
            let threads = suitable(&Situation {
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
        assert_eq!(choose(Some(5), &spec, false), asked);
        assert!(choose(None, &spec, true).why.unwrap().contains("each host"));
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
        assert_eq!(choose(None, &spec, false), pinned);
    }
}
