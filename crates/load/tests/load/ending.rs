//! Phases, the stop flag, and loads that cannot start.

use std::{
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
    thread,
    time::{Duration, Instant},
};

use deadheat_load::{LoadError, LoadEvent};
use deadheat_model::{LoadSpec, Observation, Schedule, SliceEvent, StopRule, Tally};
use deadheat_testkit::{Action, OracleServer, Turn, answers, wait_until};

use crate::support::{count, lasting, run, run_longer, run_until};

fn answering() -> OracleServer {
    OracleServer::start(|_: &Turn<'_>| answers::send(answers::hello())).unwrap()
}

#[test]
fn phases_are_called_in_order_at_their_instants() {
    let server = answering();
    let spec = lasting(server.address(), 2, 50, 100);
    let mut phases = Vec::new();
    let caller = thread::current().id();
    let mut note = |phase| {
        assert_eq!(thread::current().id(), caller);
        phases.push((phase, Instant::now()));
    };
    run_until(&spec, &mut note, &AtomicBool::new(false)).unwrap();
    let names: Vec<LoadEvent> = phases.iter().map(|(phase, _)| phase.clone()).collect();
    let all = [
        LoadEvent::Started,
        LoadEvent::Slice(SliceEvent::CountingStarted),
        LoadEvent::Slice(SliceEvent::CountingEnded),
        LoadEvent::Slice(SliceEvent::Drained),
    ];
    assert_eq!(names, all);
    assert!(
        phases[2].1 - phases[0].1 >= Duration::from_millis(150),
        "never early"
    );
}

#[test]
fn the_time_that_a_listener_takes_at_the_start_is_not_the_loads() {
    let server = answering();
    let warm_up = Duration::from_millis(250);
    let spec = lasting(server.address(), 2, 250, 50);
    let (mut returned, mut counting) = (None, None);
    let mut on_event = |event| match event {
        LoadEvent::Started => {
            // As a terminal that is drawn for the first time.
            thread::sleep(Duration::from_millis(300));
            returned = Some(Instant::now());
        }
        LoadEvent::Slice(SliceEvent::CountingStarted) => counting = Some(Instant::now()),
        _ => {}
    };
    run_until(&spec, &mut on_event, &AtomicBool::new(false)).unwrap();
    // On a busy machine the event comes late, and never early.
    let took = counting.unwrap() - returned.unwrap();
    assert!(took >= warm_up, "the warm-up was cut to {took:?}");
}

#[test]
fn a_stopped_load_has_a_whole_observation_of_what_was_measured() {
    let server = answering();
    for spec in [
        lasting(server.address(), 4, 50, 60_000),
        count(server.address(), 4, u64::MAX),
    ] {
        let stop = AtomicBool::new(false);
        let phases = AtomicUsize::new(0);
        let seen = thread::scope(|scope| {
            scope.spawn(|| {
                wait_until("the second phase", || phases.load(Ordering::Relaxed) == 2);
                let before = server.seen().requests;
                // More than are on their way.
                wait_until("requests", || server.seen().requests >= before + 20);
                stop.store(true, Ordering::Relaxed);
            });
            let mut count = |_| {
                phases.fetch_add(1, Ordering::Relaxed);
            };
            run_until(&spec, &mut count, &stop).unwrap()
        });
        assert_eq!(phases.into_inner(), 4);
        assert!(seen.measured.succeeded > 0);
        assert!(
            seen.window > Duration::ZERO && seen.window < Duration::from_secs(30),
            "{:?}",
            seen.window
        );
        let bins = seen.window.as_nanos().div_ceil(spec.bin.as_nanos());
        assert_eq!(seen.bins.len() as u128, bins);
    }
}

#[test]
fn a_limit_ends_a_count_and_what_is_in_flight_is_waited_for() {
    let slow = |_: &Turn<'_>| {
        let mut steps = vec![Action::Pause(Duration::from_millis(30))];
        steps.extend(answers::send(answers::hello()));
        steps
    };
    let server = OracleServer::start(slow).unwrap();
    let mut spec = count(server.address(), 4, u64::MAX);
    spec.timeouts.drain = Duration::from_secs(20);
    let limited = |limit| {
        let limited = LoadSpec {
            limit: Some(limit),
            ..spec.clone()
        };
        let seen = run(&limited);
        assert_eq!(seen.window, limit);
        seen
    };
    let is_answered = |seen: &Observation| seen.measured.succeeded > 0;
    let seen = run_longer(Duration::from_millis(200), limited, is_answered);
    assert!(seen.measured.succeeded > 0 && seen.measured.in_flight > 0);
    // Nobody is left waiting, and every request was answered.
    assert_eq!((seen.total.in_flight, seen.total.failed.total()), (0, 0));
    assert_eq!(
        seen.total.succeeded,
        seen.measured.succeeded + seen.measured.in_flight
    );
    // A limit that is not reached changes nothing.
    spec.stop = StopRule::Count { requests: 8 };
    spec.limit = Some(Duration::from_secs(60));
    let seen = run(&spec);
    assert_eq!((seen.measured.issued, seen.measured.succeeded), (8, 8));
    assert!(seen.window < Duration::from_secs(30));
}

#[test]
fn what_is_in_flight_at_the_end_is_waited_for_and_not_measured() {
    let slow = |_: &Turn<'_>| {
        let mut steps = vec![Action::Pause(Duration::from_millis(60))];
        steps.extend(answers::send(answers::hello()));
        steps
    };
    let server = OracleServer::start(slow).unwrap();
    let mut spec = lasting(server.address(), 4, 0, 150);
    spec.timeouts.drain = Duration::from_secs(30);
    let seen = run_until(&spec, &mut |_| {}, &AtomicBool::new(false)).unwrap();
    assert!(
        seen.measured.in_flight > 0,
        "the end came in the middle: {:?}",
        seen.measured
    );
    assert_eq!(seen.total.in_flight, 0);
    assert_eq!(
        seen.total.succeeded,
        seen.measured.succeeded + seen.measured.in_flight
    );
    assert_eq!(seen.service_time.count(), seen.measured.succeeded);
    assert_eq!(seen.window, Duration::from_millis(150));
}

#[test]
fn a_load_stopped_in_its_warm_up_measured_nothing() {
    let server = answering();
    let spec = lasting(server.address(), 4, 60_000, 60_000);
    let stop = AtomicBool::new(false);
    let mut phases = Vec::new();
    let seen = thread::scope(|scope| {
        scope.spawn(|| {
            wait_until("requests", || server.seen().requests >= 20);
            stop.store(true, Ordering::Relaxed);
        });
        run_until(&spec, &mut |phase| phases.push(phase), &stop).unwrap()
    });
    let drained = LoadEvent::Slice(SliceEvent::Drained);
    assert_eq!(phases, [LoadEvent::Started, drained]);
    assert_eq!(seen.measured, Tally::default());
    assert!(seen.window.is_zero() && seen.bins.is_empty());
    assert!(seen.total.succeeded > 0);
}

#[test]
fn a_count_that_hangs_ends_by_the_request_timeout() {
    let server = OracleServer::start(|turn: &Turn<'_>| match turn.index {
        0..5 => answers::send(answers::hello()),
        _ => vec![Action::Silence],
    });
    let server = server.unwrap();
    let mut spec = count(server.address(), 3, 12);
    spec.timeouts.request = Duration::from_millis(1_500);
    let seen = run_until(&spec, &mut |_| {}, &AtomicBool::new(false)).unwrap();
    assert_eq!((seen.total.issued, seen.total.succeeded), (12, 5));
    assert_eq!(seen.total.failed[deadheat_model::Failure::Timeout], 7);
}

#[test]
fn a_load_that_cannot_start_says_what_to_do() {
    let server = answering();
    let refusal = |change: &dyn Fn(&mut deadheat_model::LoadSpec)| {
        let mut spec = lasting(server.address(), 1, 0, 10);
        change(&mut spec);
        let mut untouched = |phase| panic!("{phase:?} of a load that cannot start");
        run_until(&spec, &mut untouched, &AtomicBool::new(false)).unwrap_err()
    };
    let too_many = Schedule::Closed {
        connections: u32::MAX,
        ramp: Duration::ZERO,
    };
    let error = refusal(&|spec| spec.schedule = too_many.clone());
    assert!(
        matches!(error, LoadError::TooManyConnections { .. }),
        "{error}"
    );
    let error = refusal(&|spec| spec.cpus = vec![0, 1_000]);
    assert!(
        matches!(
            error,
            LoadError::Pin {
                worker: 1,
                cpu: 1_000,
                ..
            }
        ),
        "{error}"
    );
    let error = refusal(&|spec| spec.exchanges.clear());
    assert!(matches!(error, LoadError::NoExchanges), "{error}");
    assert_eq!(server.seen().connections, 0);
}

#[test]
fn a_measurement_of_no_length_is_no_trap() {
    let server = answering();
    let mut spec = lasting(server.address(), 2, 20, 0);
    spec.stop = StopRule::Duration {
        length: Duration::ZERO,
    };
    let seen = run_until(&spec, &mut |_| {}, &AtomicBool::new(false)).unwrap();
    assert_eq!((seen.measured.issued, seen.throughput()), (0, 0.0));
}
