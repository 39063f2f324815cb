//! What a worker decides where no server can make it happen.

use std::{net::TcpListener, time::Duration};

use deadheat_model::{
    Exchange, LoadSpec, Schedule, StopRule,
    load::{Arrivals, Expectation, RequestSpec, Stage, StatusSet, Target},
};

use super::*;
use crate::schedule::Timeline;

/// Somebody who takes connections and answers nothing.
fn silent() -> TcpListener {
    TcpListener::bind("127.0.0.1:0").unwrap()
}

fn plan(server: &TcpListener, schedule: Schedule) -> Plan {
    let expect = Expectation {
        status: StatusSet::success(),
        length: None,
        content: None,
    };
    let mut spec = LoadSpec::new(
        Target::plain(server.local_addr().unwrap()),
        vec![Exchange::new(RequestSpec::get("/"), expect)],
        schedule,
        StopRule::Interrupt,
    );
    spec.timeouts.cool_down = Duration::ZERO;
    Plan::new(&spec).unwrap()
}

fn course(plan: &Plan, length: Duration) -> Course {
    Course {
        timeline: Timeline::new(sys::monotonic_ns(), Duration::ZERO, Some(length)),
        arrivals: plan.arrivals.clone(),
    }
}

#[test]
fn connections_that_are_of_no_use_are_made_again_after_a_while() {
    let server = silent();
    let closed = Schedule::Closed {
        connections: 1,
        ramp: Duration::ZERO,
    };
    let plan = plan(&server, closed);
    let stop = AtomicBool::new(false);
    let mut worker = Worker::new(0, &plan, &stop, None).unwrap();
    worker.poller.is_full = true;
    let course = course(&plan, Duration::from_millis(100));
    worker.run(course, &mut Events::new()).unwrap();
    let seen = worker.into_report().observation;
    assert!(seen.total.is_conserved());
    let failed = seen.total.failed.total();
    // After 10, 20, 40 and 80 ms at the earliest.
    assert!((1..=4).contains(&failed), "{failed}");
}

#[test]
fn a_sleep_is_as_long_as_it_is_until_then_when_it_begins() {
    let server = silent();
    let open = Schedule::Open {
        arrivals: Arrivals::Uniform,
        stages: vec![Stage::constant(0.5)],
        connections: 1,
        most_connections: 1,
    };
    let plan = plan(&server, open);
    let stop = AtomicBool::new(false);
    let mut worker = Worker::new(0, &plan, &stop, None).unwrap();
    let mut events = Events::new();
    worker
        .begin(course(&plan, Duration::from_secs(60)), &mut events)
        .unwrap();
    // As if sending had taken long since the clock was last read.
    let begun = worker.clock.now;
    worker.clock.now -= 5_000_000;
    let until = worker.wait_until();
    assert!(worker.clock.now >= begun, "the clock was not read again");
    assert!(until <= worker.clock.now + NAP, "{until}");
}
