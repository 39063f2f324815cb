//! What a worker decides where no server can make it happen.

use std::{io::Write as _, net::TcpListener, time::Duration};

use deadheat_model::{
    Exchange, Failure, LoadSpec, Observation, Schedule, StopRule,
    load::{Arrivals, Expectation, RequestSpec, Stage, StatusSet, Target},
};
use deadheat_testkit::wait_until;

use super::*;
use crate::connection::Task;

/// Somebody who takes connections and answers nothing.
fn silent() -> TcpListener {
    TcpListener::bind("127.0.0.1:0").unwrap()
}

fn plan(server: &TcpListener, schedule: Schedule) -> Plan {
    Plan::new(&spec(server, schedule)).unwrap()
}

fn spec(server: &TcpListener, schedule: Schedule) -> LoadSpec {
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
    spec.timeouts.drain = Duration::ZERO;
    spec
}

/// A closed loop on one connection.
const ONE_CONNECTION: Schedule = Schedule::Closed {
    connections: 1,
    ramp: Duration::ZERO,
};

/// A slice of this length that begins now.
fn timeline(length: Duration) -> Timeline {
    Timeline::new(sys::monotonic_ns(), Duration::ZERO, Some(length))
}

#[test]
fn connections_that_are_of_no_use_are_made_again_after_a_while() {
    let server = silent();
    let plan = plan(&server, ONE_CONNECTION);
    let stop = AtomicBool::new(false);
    let mut worker = Worker::new(0, &plan, &stop, None).unwrap();
    worker.poller.is_full = true;
    let timeline = timeline(Duration::from_millis(100));
    worker.run(timeline, None, &mut Events::new()).unwrap();
    let seen = worker.into_report().observation;
    assert!(seen.total.is_conserved());
    let failed = seen.total.failed.total();
    // After 10, 20, 40 and 80 ms at the earliest.
    assert!((1..=4).contains(&failed), "{failed}");
}

#[test]
fn a_connection_that_ends_before_its_first_request_is_a_failed_connect() {
    let server = silent();
    let plan = plan(&server, ONE_CONNECTION);
    let stop = AtomicBool::new(false);
    let mut worker = Worker::new(0, &plan, &stop, None).unwrap();
    worker.clock.begin(timeline(Duration::from_secs(60)));
    // It ends at once, also after an answer that nobody asked for (408).
    let ends: [(u64, &[u8]); 2] = [(1, b""), (2, b"HTTP/1.1 408 Too Late\r\n\r\n")];
    for (failed, bytes) in ends {
        worker.connect(0);
        while worker.connections[0].state == ConnectionState::Connecting {
            worker.try_to_establish(0);
        }
        assert_eq!(worker.connections[0].need, Task::Begin);
        let (mut peer, _) = server.accept().unwrap();
        peer.write_all(bytes).unwrap();
        drop(peer);
        wait_until("the end of the connection", || {
            worker.receive(0, true);
            worker.connections[0].state == ConnectionState::Absent
        });
        let total = &worker.recorder.seen.total;
        assert_eq!(
            (total.issued, total.failed[Failure::ClosedEarly]),
            (failed, failed)
        );
        // The next attempt waits.
        assert_eq!(worker.connections[0].need, Task::Nothing);
        assert_eq!(u64::from(worker.connections[0].refusals), failed);
    }
    // One that was held since an earlier slice may have ended for other reasons.
    worker.connect(0);
    while worker.connections[0].state == ConnectionState::Connecting {
        worker.try_to_establish(0);
    }
    worker.connections[0].dialled = 0;
    worker.closed_by_peer(0, worker.clock.now);
    assert_eq!(worker.connections[0].need, Task::Connect);
    assert_eq!(worker.recorder.seen.total.issued, 2);
    // A server that ends resets the connections that it has not accepted.
    worker.connect(0);
    while worker.connections[0].state == ConnectionState::Connecting {
        worker.try_to_establish(0);
    }
    drop(server);
    wait_until("the reset", || {
        worker.receive(0, true);
        worker.connections[0].state == ConnectionState::Absent
    });
    let total = &worker.recorder.seen.total;
    assert_eq!((total.issued, total.failed[Failure::Reset]), (3, 1));
}

#[test]
fn a_worker_that_wakes_after_its_slice_sends_nothing_and_says_that_it_was_not_there() {
    let server = silent();
    let plan = plan(&server, ONE_CONNECTION);
    let stop = AtomicBool::new(false);
    let mut worker = Worker::new(0, &plan, &stop, None).unwrap();
    let timeline = Timeline::new(
        sys::monotonic_ns() - 1_000_000_000,
        Duration::from_millis(100),
        Some(Duration::from_millis(100)),
    );
    worker.run(timeline, None, &mut Events::new()).unwrap();
    let seen = worker.into_report().observation;
    assert_eq!((seen.total.issued, seen.connections_opened), (0, 0));
    assert_eq!(seen.workers[0].wall, Duration::ZERO);
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
        .begin(timeline(Duration::from_secs(60)), None, &mut events)
        .unwrap();
    // As if sending had taken long since the clock was last read.
    let begun = worker.clock.now;
    worker.clock.now -= 5_000_000;
    let until = worker.wait_until();
    assert!(worker.clock.now >= begun, "the clock was not read again");
    assert!(until <= worker.clock.now + NAP, "{until}");
}

const RATE: f64 = 500.0;

/// A plan for two workers: the first makes one connection at the start, the second has room for one from `source`.
fn shared(server: &TcpListener, source: &str, rate: f64) -> Plan {
    let open = Schedule::Open {
        arrivals: Arrivals::Uniform,
        stages: vec![Stage::constant(rate)],
        connections: 1,
        most_connections: 2,
    };
    let mut spec = spec(server, open);
    spec.cpus = vec![0, 0];
    spec.target.sources = ["127.0.0.1", source]
        .map(|address| address.parse().unwrap())
        .to_vec();
    Plan::new(&spec).unwrap()
}

/// What the second worker alone makes of it.
fn second_alone(plan: &Plan) -> Observation {
    let stop = AtomicBool::new(false);
    let mut worker = Worker::new(1, plan, &stop, None).unwrap();
    let timeline = timeline(Duration::from_millis(200));
    worker.run(timeline, None, &mut Events::new()).unwrap();
    worker.into_report().observation
}

#[test]
fn a_worker_that_cannot_connect_takes_nothing_that_another_can_send() {
    let server = silent();
    // No machine has the address (TEST-NET-1, RFC 5737).
    let plan = shared(&server, "192.0.2.1", RATE);
    let seen = second_alone(&plan);
    assert_eq!(seen.total.issued, 0, "{:?}", seen.examples);
    assert!(seen.open.unwrap().unsent > 0);

    // Nobody has a connection: each attempt costs a request.
    let plan = shared(&server, "192.0.2.1", RATE);
    plan.taking.note_open(0, 0);
    let seen = second_alone(&plan);
    assert!(seen.total.issued > 0);
    assert_eq!(seen.total.failed.total(), seen.total.issued);
}

#[test]
fn a_worker_that_only_has_room_for_more_connections_makes_one_when_the_others_are_busy() {
    let server = silent();
    let seen = second_alone(&shared(&server, "127.0.0.1", RATE));
    assert_eq!((seen.connections_opened, seen.total.issued), (1, 1));
    assert_eq!(seen.total.failed.total(), 0, "{:?}", seen.examples);

    // The first has a free one.
    let plan = shared(&server, "127.0.0.1", RATE);
    plan.taking.note_free(0, 1);
    assert_eq!(second_alone(&plan).connections_opened, 0);
}

#[test]
fn a_worker_wakes_to_try_another_connection_though_it_has_taken_nothing() {
    let server = silent();
    let plan = shared(&server, "192.0.2.1", 0.5);
    let stop = AtomicBool::new(false);
    let mut worker = Worker::new(1, &plan, &stop, None).unwrap();
    let timeline = timeline(Duration::from_secs(60));
    worker.begin(timeline, None, &mut Events::new()).unwrap();
    worker.attend_backlog();
    let backlog = worker.backlog.as_ref().unwrap();
    let soon = worker.clock.now + connects::back_off(1);
    assert_eq!(backlog.waiting(), 0);
    assert!(backlog.wake() <= soon, "the next arrival is 2 s away");
}
