//! Users who think: the server sees no request before its user has thought, and as many as that leaves room for.

use std::{collections::BTreeMap, time::Duration};

use deadheat_load::LoadError;
use deadheat_model::{
    LoadSpec,
    load::{HttpVersion, Protocol, Reuse, Think},
};
use deadheat_testkit::{
    Action, OracleServer, Seen, Turn,
    answers::{hello, send},
    judge::{distance, least},
};

use crate::{
    arrivals::open,
    support::{UNTIL_STOPPED, count, lasting, run, run_until_enough},
};

const MS: Duration = Duration::from_millis(1);

fn hello_server() -> OracleServer {
    OracleServer::start(|_: &Turn<'_>| send(hello())).unwrap()
}

fn uniform(from: Duration, to: Duration) -> Think {
    Think::Uniform { from, to }
}

/// The times between an answer and the next request on the same connection, as the server saw them. The generator's own
/// are within them.
fn pauses(seen: &Seen) -> Vec<Duration> {
    let mut each = BTreeMap::<u64, Vec<_>>::new();
    for served in &seen.served {
        each.entry(served.connection).or_default().push(served);
    }
    let mut pauses = Vec::new();
    for served in each.values_mut() {
        served.sort_by_key(|one| one.nth);
        for pair in served.windows(2) {
            pauses.push(pair[1].arrived - pair[0].answered.unwrap());
        }
    }
    pauses
}

#[test]
fn no_request_comes_before_its_user_has_thought() {
    for (think, least) in [
        (uniform(40 * MS, 40 * MS), 40 * MS),
        (uniform(20 * MS, 60 * MS), 20 * MS),
    ] {
        let server = hello_server();
        let mut spec = lasting(server.address(), 8, 0, UNTIL_STOPPED);
        spec.think = Some(think);
        let seen = run_until_enough(&spec, || {
            let seen = server.seen();
            seen.connections >= 8 && seen.requests >= 24
        });
        assert_eq!(seen.total.failed.total(), 0, "{:?}", seen.examples);
        let pauses = pauses(&server.seen_at_rest());
        // Each connection has been held all the while.
        assert_eq!(seen.connections_opened, 8);
        assert!(pauses.len() >= 16, "{}", pauses.len());
        assert_eq!(pauses.len() as u64, seen.total.issued - 8);
        assert!(pauses.iter().all(|pause| *pause >= least), "{pauses:?}");
        let thoughts = (seen.window.as_nanos() / least.as_nanos()) as u64;
        assert!(seen.total.issued <= 8 * (1 + thoughts), "{seen:?}");
    }
}

#[test]
fn thoughts_are_as_long_as_their_distribution_says() {
    let mean = 20.0;
    let exponential = |pause: f64| 1.0 - (-pause / mean).exp();
    let even = |pause: f64| ((pause - 10.0) / 20.0).clamp(0.0, 1.0);
    let laws: [(Think, &dyn Fn(f64) -> f64); 2] = [
        (Think::Exponential { mean: 20 * MS }, &exponential),
        (uniform(10 * MS, 30 * MS), &even),
    ];
    for (think, law) in laws {
        let mut seed = 0;
        let far = least(0.12, || {
            let server = hello_server();
            let mut spec = count(server.address(), 10, 400);
            (spec.think, spec.seed) = (Some(think), seed);
            seed += 1;
            assert_eq!(run(&spec).measured.succeeded, 400);
            let pauses = pauses(&server.seen_at_rest());
            distance(
                pauses
                    .iter()
                    .map(|pause| pause.as_secs_f64() * 1e3)
                    .collect(),
                law,
            )
        });
        assert!(far <= 0.12, "{think:?}: {far}");
    }
}

#[test]
fn a_connection_for_each_request_is_made_when_its_user_has_thought() {
    let server = hello_server();
    let mut spec = count(server.address(), 2, 6);
    spec.think = Some(uniform(50 * MS, 50 * MS));
    spec.protocol = Protocol::Http1 {
        version: HttpVersion::Http11,
        reuse: Reuse::PerRequest,
        pipeline: 1,
    };
    let seen = run(&spec);
    assert_eq!((seen.connections_opened, seen.total.issued), (6, 6));
    // One of the two users has thought at least twice.
    assert!(seen.window >= 2 * 50 * MS, "{:?}", seen.window);
    // Thinking is no part of connecting.
    let with_connect = seen.service_time_with_connect.unwrap();
    assert!(with_connect.least() < Some(50 * MS), "{with_connect:?}");
}

#[test]
fn who_gets_no_answer_thinks_too() {
    let resets = OracleServer::start(|_: &Turn<'_>| vec![Action::Reset]).unwrap();
    let closes =
        OracleServer::start(|_: &Turn<'_>| vec![Action::Send(hello()), Action::Fin]).unwrap();
    for server in [resets, closes] {
        let mut spec = count(server.address(), 2, 6);
        spec.think = Some(uniform(100 * MS, 100 * MS));
        let seen = run(&spec);
        assert_eq!(seen.total.issued, 6);
        // One of the two users has thought at least twice.
        assert!(seen.window >= 2 * 100 * MS, "{:?}", seen.window);
        assert_eq!(server.seen_at_rest().requests, 6);
    }
    // Nor does it matter that nobody listens.
    let mut spec = count("127.0.0.1:1".parse().unwrap(), 1, 3);
    spec.think = Some(uniform(100 * MS, 100 * MS));
    let seen = run(&spec);
    assert_eq!(seen.total.issued, 3);
    assert!(seen.window >= 2 * 100 * MS, "{:?}", seen.window);
}

#[test]
fn who_does_not_wait_for_answers_cannot_think() {
    let address = "127.0.0.1:1".parse().unwrap();
    let think = Some(uniform(MS, MS));
    let pipelined = LoadSpec {
        think,
        protocol: Protocol::Http1 {
            version: HttpVersion::Http11,
            reuse: Reuse::KeepAlive,
            pipeline: 2,
        },
        ..count(address, 1, 1)
    };
    let scheduled = LoadSpec {
        think,
        ..open(address, 10.0, 1)
    };
    let backwards = LoadSpec {
        think: Some(uniform(2 * MS, MS)),
        ..count(address, 1, 1)
    };
    for spec in [pipelined, scheduled, backwards] {
        let error = deadheat_load::check(&spec).unwrap_err();
        assert!(matches!(error, LoadError::Think { .. }), "{error}");
    }
}
