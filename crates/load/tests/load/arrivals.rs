//! The open loop's schedule, as a server saw it.
//!
//! The schedule itself is tested exactly beside its code. Here the question is whether requests are sent by it. A
//! machine that stalls makes requests late, and a test that fails for that would tell nothing; so what is judged is
//! Kolmogorov's distance between the arrivals and the law, which is the share of the arrivals that are not where they
//! should be, and the best of a few measurements counts. Every other law misses the bound by far, every time.

use std::{net::SocketAddr, time::Duration};

use deadheat_model::{
    Failure, LoadSpec, Schedule, StopRule,
    load::{Arrivals, Stage},
};
use deadheat_testkit::{
    Action, OracleServer, Turn, answers,
    judge::{distance, gaps, least},
};

use crate::support::{count, run};

/// Kolmogorov's distance that passes: a tenth of the arrivals may be elsewhere. Of 1,000 arrivals by the law itself, 1
/// in 100,000 runs would have a distance of 0.078.
const NEAR: f64 = 0.1;
/// How late the earliest of a hundred requests may be: a stall as long as it takes to send a hundred is none that
/// happens.
const ON_TIME: Duration = Duration::from_millis(10);

/// A uniform open loop with one answer expected, to be given a stop rule.
pub fn open(address: SocketAddr, rate: f64, connections: u32) -> LoadSpec {
    let schedule = Schedule::Open {
        arrivals: Arrivals::Uniform,
        stages: vec![Stage::constant(rate)],
        connections,
        most_connections: connections,
    };
    LoadSpec {
        schedule,
        ..count(address, 1, 0)
    }
}

/// When requests arrived, in seconds since the first.
fn arrivals(kind: Arrivals, stages: &[Stage], requests: u64, seed: u64) -> Vec<f64> {
    let server = OracleServer::start(|_: &Turn<'_>| answers::send(answers::hello())).unwrap();
    let mut spec = open(server.address(), 1.0, 16);
    spec.schedule = Schedule::Open {
        arrivals: kind,
        stages: stages.to_vec(),
        connections: 16,
        most_connections: 16,
    };
    spec.stop = StopRule::Count { requests };
    spec.seed = seed;
    let seen = run(&spec);
    assert_eq!(seen.measured.succeeded, requests, "{:?}", seen.examples);
    let arrivals = server.seen_at_rest().arrivals;
    assert_eq!(arrivals.len() as u64, requests);
    let since_first = arrivals.iter().map(|at| (*at - arrivals[0]).as_secs_f64());
    since_first.collect()
}

#[test]
fn uniform_arrivals_are_on_time_from_the_first_to_the_last() {
    const RATE: f64 = 500.0;
    // In units of what is allowed.
    let far = least(1.0, || {
        let seen = arrivals(Arrivals::Uniform, &[Stage::constant(RATE)], 1_000, 1);
        let late = (0..).zip(&seen).map(|(nth, at)| at - f64::from(nth) / RATE);
        let late: Vec<f64> = late.collect();
        // The first may itself have been late, so its hundred is the reference.
        let earliest = late
            .chunks(100)
            .map(|hundred| hundred.iter().copied().fold(f64::INFINITY, f64::min));
        let earliest: Vec<f64> = earliest.collect();
        let off = earliest.iter().map(|at| (at - earliest[0]).abs());
        let off = off.fold(0.0, f64::max) / ON_TIME.as_secs_f64();
        let length = seen.len() as f64 / RATE;
        off.max(distance(seen, |at| at / length) / NEAR)
    });
    assert!(far <= 1.0, "{far} times as far from uniform as it may be");
}

#[test]
fn poisson_arrivals_have_exponential_gaps_and_come_at_any_time_alike() {
    // Of fewer arrivals the distance is larger; gaps of 10 ms in the mean are long for a scheduler's turns.
    const RATE: f64 = 100.0;
    const NEAR: f64 = 0.15;
    let exponential = |gap: f64| 1.0 - (-gap * RATE).exp();
    let far = least(NEAR, || {
        let seen = arrivals(Arrivals::Poisson, &[Stage::constant(RATE)], 250, 1);
        let length = seen[seen.len() - 1];
        let of_gaps = distance(gaps(&seen), exponential);
        of_gaps.max(distance(seen, |at| at / length))
    });
    assert!(far <= NEAR, "{far} from exponential gaps, or from uniform");
    // What the bound is worth: even gaps miss it by far.
    let even = distance(vec![1.0 / RATE; 250], exponential);
    assert!(even > 4.0 * NEAR, "{even}");
}

#[test]
fn arrivals_follow_from_the_seed() {
    let stages = [Stage::constant(50.0)];
    let differences = |a: &[f64], b: &[f64]| {
        let mut all: Vec<f64> = a.iter().zip(b).map(|(a, b)| (a - b).abs()).collect();
        all.sort_by(f64::total_cmp);
        all[all.len() / 2]
    };
    // The median of what two independent gaps differ by is ln 2 of their mean.
    let far = least(0.3, || {
        let [first, again, other] =
            [7, 7, 8].map(|seed| gaps(&arrivals(Arrivals::Poisson, &stages, 40, seed)));
        differences(&first, &again) / differences(&first, &other)
    });
    assert!(
        far <= 0.3,
        "one seed makes gaps {far} times as different as two do"
    );
}

#[test]
fn a_linear_ramp_is_quadratic() {
    let ramp = Stage {
        length: Duration::from_secs(2),
        from: 100.0,
        to: 900.0,
    };
    // The integral of 100 + 400 t.
    let expected = |at: f64| (100.0 * at + 200.0 * at * at) / 1_000.0;
    for kind in [Arrivals::Uniform, Arrivals::Poisson] {
        let far = least(NEAR, || {
            distance(arrivals(kind, &[ramp], 1_000, 1), |at| {
                expected(at).min(1.0)
            })
        });
        assert!(far <= NEAR, "{kind:?}: {far} from the ramp");
    }
    let evenly = (0..1_000).map(|nth| f64::from(nth) / 500.0).collect();
    let even = distance(evenly, expected);
    assert!(even > 1.9 * NEAR, "a constant rate would be {even} from it");
}

#[test]
fn stages_follow_each_other() {
    let hold = |rate: f64| Stage {
        length: Duration::from_millis(500),
        from: rate,
        to: rate,
    };
    let stages = [hold(200.0), hold(1_000.0), hold(400.0)];
    let expected = |at: f64| match at {
        ..0.5 => 200.0 * at,
        0.5..1.0 => 100.0 + 1_000.0 * (at - 0.5),
        _ => 600.0 + 400.0 * (at - 1.0),
    };
    let far = least(NEAR, || {
        let seen = arrivals(Arrivals::Uniform, &stages, 800, 1);
        distance(seen, |at| expected(at).min(800.0) / 800.0)
    });
    assert!(far <= NEAR, "{far} from the stages");
}

#[test]
fn connections_without_a_request_are_kept_beyond_the_timeouts() {
    let server = OracleServer::start(|_: &Turn<'_>| answers::send(answers::hello())).unwrap();
    let mut spec = open(server.address(), 20.0, 8);
    spec.stop = StopRule::Count { requests: 30 };
    // Each connection has a request every 400 ms.
    spec.timeouts.request = Duration::from_millis(150);
    spec.timeouts.connect = Duration::from_millis(150);
    let seen = run(&spec);
    // A machine that stalls may let a request time out, and its connection with it.
    let failed = seen.total.failed.total();
    assert!(seen.connections_opened <= 8 + failed, "{seen:?}");
    assert_eq!(seen.total.ended(), 30);
    server.seen_at_rest();
}

#[test]
fn what_one_worker_cannot_send_another_sends() {
    // One connection never answers; whichever worker has it, the other's has room for all requests.
    let server = OracleServer::start(|turn: &Turn<'_>| match turn.index {
        0 => vec![Action::Silence],
        _ => answers::send(answers::hello()),
    });
    let server = server.unwrap();
    let mut spec = open(server.address(), 200.0, 2);
    spec.cpus = vec![0, 0];
    spec.stop = StopRule::Count { requests: 40 };
    spec.timeouts.request = Duration::from_millis(2_000);
    let seen = run(&spec);
    assert_eq!(seen.total.succeeded, 39, "{:?}", seen.failures);
    assert_eq!(seen.total.failed[Failure::Timeout], 1);
    assert_eq!(seen.open.unwrap().offered, 40);
    let server = server.seen_at_rest();
    let mut requests: Vec<u64> = server.each.iter().map(|one| one.requests).collect();
    requests.sort_unstable();
    assert_eq!(requests, [1, 39]);
}

#[test]
fn more_workers_than_connections_send_every_request() {
    for most_connections in [1, 2] {
        let server = OracleServer::start(|_: &Turn<'_>| answers::send(answers::hello())).unwrap();
        let mut spec = open(server.address(), 300.0, 1);
        if let Schedule::Open {
            most_connections: most,
            ..
        } = &mut spec.schedule
        {
            *most = most_connections;
        }
        spec.cpus = vec![0, 0, 0];
        spec.stop = StopRule::Count { requests: 30 };
        let seen = run(&spec);
        assert_eq!(seen.measured.succeeded, 30, "{:?}", seen.failures);
        let open = seen.open.unwrap();
        assert_eq!((open.offered, open.unsent), (30, 0));
        assert!(server.seen_at_rest().connections <= u64::from(most_connections));
    }
}

#[test]
fn workers_of_an_overloaded_server_lose_and_invent_nothing() {
    let slow = |turn: &Turn<'_>| {
        let answer = Action::Until(turn.arrived + Duration::from_millis(10));
        [vec![answer], answers::send(answers::hello())].concat()
    };
    for cpus in [1, 2] {
        let server = OracleServer::start(slow).unwrap();
        let mut spec = open(server.address(), 800.0, 3);
        spec.cpus = vec![0; cpus];
        spec.stop = StopRule::Duration {
            length: Duration::from_millis(500),
        };
        spec.timeouts.drain = Duration::from_secs(10);
        let seen = run(&spec);
        let open = seen.open.unwrap();
        assert_eq!(open.offered, 400);
        assert_eq!(open.offered, seen.measured.issued + open.unsent);
        assert_eq!(open.send_lag.count(), open.offered);
        assert_eq!(open.connection_wait.count(), seen.measured.issued);
        assert!(open.unsent > 200, "three connections answer 300/s at most");
        let server = server.seen_at_rest();
        assert_eq!(
            (server.requests, server.connections),
            (seen.total.issued, 3)
        );
    }
}

#[test]
fn what_waits_is_served_by_the_connections_that_there_are() {
    let slow = |_: &Turn<'_>| {
        let mut steps = vec![Action::Pause(Duration::from_millis(4))];
        steps.extend(answers::send(answers::hello()));
        steps
    };
    // Of two workers one has no connection at the start.
    for cpus in [1, 2] {
        let server = OracleServer::start(slow).unwrap();
        // Another connection than the first cannot be made: no machine has the address (TEST-NET-1, RFC 5737).
        let mut spec = open(server.address(), 1_000.0, 1);
        spec.target.sources = ["127.0.0.1", "192.0.2.1"]
            .map(|address| address.parse().unwrap())
            .to_vec();
        spec.schedule = Schedule::Open {
            arrivals: Arrivals::Uniform,
            stages: vec![Stage::constant(1_000.0)],
            connections: 1,
            most_connections: 2,
        };
        spec.cpus = vec![0; cpus];
        spec.stop = StopRule::Count { requests: 50 };
        let seen = run(&spec);
        assert_eq!(seen.total.failed.total(), 0, "{:?}", seen.examples);
        assert_eq!(seen.total.succeeded, 50);
        assert_eq!(server.seen().connections, 1);
    }
}
