//! The ramp, as the server saw it. Machines stall: only order and generous bounds are tested.

use std::time::Duration;

use deadheat_model::Schedule;
use deadheat_testkit::{OracleServer, Step, Turn};

use crate::support::{lasting, run};

#[test]
fn first_requests_are_spread_over_the_ramp() {
    let server = OracleServer::start(|_: &Turn<'_>| vec![Step::Silence]).unwrap();
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
    let server = OracleServer::start(|_: &Turn<'_>| vec![Step::Silence]).unwrap();
    let seen = run(&lasting(server.address(), 20, 0, 1_000));
    assert_eq!(seen.total.issued, 20);
}
