//! The ramp, as the server saw it, and how answers are waited for. Machines stall: only order and generous bounds are tested.

use std::{sync::atomic::AtomicBool, time::Duration};

use deadheat_model::{Schedule, Wait};
use deadheat_testkit::{
    Action, OracleServer, Turn,
    answers::{hello, send},
};

use crate::support::{count, lasting, run, run_until};

#[test]
fn first_requests_are_spread_over_the_ramp() {
    let server = OracleServer::start(|_: &Turn<'_>| vec![Action::Silence]).unwrap();
    let mut spec = lasting(server.address(), 20, 0, 2_000);
    let ramp = Duration::from_millis(400);
    spec.schedule = Schedule::Closed {
        connections: 20,
        ramp,
    };
    spec.cpus = vec![0, 0];
    let seen = run(&spec);
    assert_eq!(seen.total.issued, 20);
    let arrivals = server.seen_at_rest().arrivals;
    assert_eq!(arrivals.len(), 20);
    // Late is possible on a busy machine, early is not: the last one is due 380 ms after the start, which is not
    // before the server's.
    let spread = arrivals[19] - arrivals[0];
    assert!(arrivals[19] >= ramp.mul_f64(0.94), "{arrivals:?}");
    assert!(spread >= ramp / 8, "they came at once: {arrivals:?}");
}

#[test]
fn without_a_ramp_all_start_at_once() {
    let server = OracleServer::start(|_: &Turn<'_>| vec![Action::Silence]).unwrap();
    // A load that is told to stop before it starts sends what is due at its start, and nothing later.
    let sent = |ramp| {
        let mut spec = lasting(server.address(), 20, 0, 60_000);
        spec.schedule = Schedule::Closed {
            connections: 20,
            ramp,
        };
        let seen = run_until(&spec, &mut |_| {}, &AtomicBool::new(true)).unwrap();
        seen.total.issued
    };
    assert_eq!(sent(Duration::ZERO), 20);
    assert!(sent(Duration::from_secs(50)) < 20, "a ramp spreads them");
}

#[test]
fn waiting_awake_is_no_work() {
    let slow = |_: &Turn<'_>| {
        let mut steps = vec![Action::Pause(Duration::from_millis(20))];
        steps.extend(send(hello()));
        steps
    };
    let server = OracleServer::start(slow).unwrap();
    for wait in [Wait::Poll, Wait::Sleep] {
        // A number of requests, and not a time: on a busy machine, the server may have no CPU for longer than any.
        let mut spec = count(server.address(), 2, 20);
        spec.wait = wait;
        let seen = run(&spec);
        assert_eq!(seen.measured.succeeded, 20, "{:?}", seen.examples);
        let health = &seen.workers[0];
        let polled = health.polled > Duration::ZERO;
        assert_eq!(polled, wait == Wait::Poll, "{health:?}");
        // However often it was not let run, it did not work: it waits for 20 ms at a time.
        assert!(health.busy() < 0.5, "{health:?}");
    }
}
