use deadheat_model::{
    Exchange, Failure, LoadSpec, Schedule, StopRule,
    failure::FailurePhase,
    load::{Arrivals, Expectation, RequestSpec, Stage, StatusSet, Target},
};

use super::*;
use crate::worker_pool::Message;

const MS: u64 = 1_000_000;
const CLOSED: Schedule = Schedule::Closed {
    connections: 1,
    ramp: Duration::ZERO,
};

fn plan(schedule: Schedule) -> Plan {
    let expect = Expectation {
        status: StatusSet::success(),
        length: None,
        content: None,
    };
    let mut spec = LoadSpec::new(
        Target::plain("127.0.0.1:1".parse().unwrap()),
        vec![Exchange::new(RequestSpec::get("/"), expect)],
        schedule,
        StopRule::Interrupt,
    );
    spec.bin = Duration::from_millis(10);
    Plan::new(&spec).unwrap()
}

fn recorder() -> Recorder {
    let mut recorder = Recorder::new(&plan(CLOSED), None);
    recorder.begin(0, 0, Some(100 * MS));
    recorder
}

fn in_flight(in_flight: u64) -> Gauges {
    Gauges {
        in_flight,
        waiting: 0,
    }
}

fn succeed(recorder: &mut Recorder, started: u64, end: u64) {
    let flight = InFlight {
        intended: started,
        started,
        ..InFlight::default()
    };
    recorder.succeeded(flight, started, end, end, 7);
}

fn fail(recorder: &mut Recorder, kind: Failure, started: u64, end: u64) {
    let fault = Fault {
        kind,
        phase: FailurePhase::Body,
        cause: Cause::Other,
    };
    recorder.failed(fault, started, Some(0), end, String::new);
}

fn health() -> WorkerHealth {
    WorkerHealth {
        cpu: None,
        cpu_time: Duration::ZERO,
        polled: Duration::ZERO,
        run_delay: None,
        wall: Duration::ZERO,
    }
}

#[test]
fn a_request_counts_where_it_began() {
    let mut recorder = recorder();
    for _ in 0..5 {
        recorder.issued();
    }
    succeed(&mut recorder, 0, MS);
    fail(&mut recorder, Failure::Reset, 0, MS);
    assert_eq!(recorder.outstanding(), 3);
    recorder.begin_measurement(10 * MS, in_flight(3));
    for _ in 0..3 {
        recorder.issued();
    }
    succeed(&mut recorder, 5 * MS, 12 * MS);
    succeed(&mut recorder, 10 * MS, 14 * MS);
    fail(&mut recorder, Failure::Timeout, 5 * MS, 35 * MS);
    fail(&mut recorder, Failure::Reset, 12 * MS, 35 * MS);
    recorder.end_measurement(110 * MS, in_flight(2), [5 * MS, 100 * MS].into_iter());
    succeed(&mut recorder, 5 * MS, 120 * MS);
    recorder.drained(100 * MS, 140 * MS);
    let seen = recorder.into_observation(1, health());
    assert!(seen.total.is_conserved() && seen.measured.is_conserved());
    assert_eq!((seen.measured.in_flight, seen.total.in_flight), (2, 1));
    assert_eq!((seen.measured.succeeded, seen.total.succeeded), (1, 4));
    assert_eq!((seen.measured.issued, seen.total.issued), (3, 8));
    let measured = &seen.measured;
    assert_eq!(
        (
            measured.carried_in,
            measured.carried_succeeded,
            measured.carried_failed
        ),
        (3, 1, 1)
    );
    assert_eq!(
        measured.failed.iter().collect::<Vec<_>>(),
        [(Failure::Reset, 1)]
    );
    assert_eq!(measured.answers(), 2, "one was cut at each end");
    assert_eq!(seen.service_time.count(), 1);
    assert!(seen.service_time.max() < Some(Duration::from_millis(5)));
    assert_eq!(seen.cut, Duration::from_millis(2 + 100 + 10));
    assert_eq!(seen.carried, Duration::from_millis(2 + 25 + 100));
    assert_eq!(seen.draining, Duration::from_millis(30));
    assert_eq!(seen.valid_body_bytes, 7, "of the one that began in it");
    assert_eq!(seen.window, Duration::from_millis(100));
    assert_eq!(seen.bins.len(), 10);
    let (first, third) = (seen.bins[0], seen.bins[2]);
    assert_eq!((first.succeeded, first.failed), (2, 0));
    assert_eq!((third.succeeded, third.failed), (0, 2));
}

#[test]
fn times_of_slices_are_of_all_requests_that_began_in_the_measurement() {
    for to_their_end in [false, true] {
        let mut plan = plan(Schedule::Open {
            arrivals: Arrivals::Uniform,
            stages: vec![Stage::constant(1.0)],
            connections: 1,
            most_connections: 1,
        });
        plan.to_their_end = to_their_end;
        let mut recorder = Recorder::new(&plan, None);
        recorder.begin(0, 0, Some(100 * MS));
        for _ in 0..3 {
            recorder.issued();
        }
        recorder.begin_measurement(10 * MS, in_flight(1));
        succeed(&mut recorder, 20 * MS, 21 * MS);
        let under_way = [5 * MS, 100 * MS].into_iter();
        recorder.end_measurement(110 * MS, in_flight(2), under_way);
        succeed(&mut recorder, 5 * MS, 120 * MS);
        succeed(&mut recorder, 100 * MS, 180 * MS);
        let seen = recorder.into_observation(0, health());
        assert_eq!(seen.measured.succeeded, 1);
        let open = seen.open.expect("an open loop");
        for times in [&seen.service_time, &open.response_time] {
            assert_eq!(times.count(), 1 + u64::from(to_their_end));
            let longest = times.max().expect("a time");
            assert_eq!(longest >= Duration::from_millis(80), to_their_end);
            assert!(
                longest < Duration::from_millis(100),
                "of the guard's request"
            );
        }
    }
}

#[test]
fn an_end_in_the_warm_up_measures_nothing() {
    let mut recorder = recorder();
    recorder.issued();
    recorder.issued();
    succeed(&mut recorder, 0, 1);
    let seen = recorder.into_observation(1, health());
    assert!(seen.total.is_conserved());
    assert_eq!(seen.measured, Tally::default());
    assert_eq!((seen.window, seen.bins.len()), (Duration::ZERO, 0));
}

#[test]
fn bins_follow_the_time_even_over_gaps() {
    let mut recorder = recorder();
    recorder.begin_measurement(0, in_flight(0));
    for end in [0, 10 * MS - 1, 10 * MS, 95 * MS] {
        recorder.issued();
        succeed(&mut recorder, end, end);
    }
    let counts = |seen: Observation| {
        seen.bins
            .iter()
            .map(|bin| bin.succeeded)
            .collect::<Vec<_>>()
    };
    recorder.end_measurement(100 * MS, in_flight(0), [].into_iter());
    let seen = recorder.into_observation(0, health());
    assert_eq!(counts(seen), [2, 1, 0, 0, 0, 0, 0, 0, 0, 1]);
}

#[test]
fn a_load_that_ended_before_its_last_interval_began_sends_no_such_interval() {
    let (tell, told) = std::sync::mpsc::sync_channel(8);
    let (intervals, _give_back) = IntervalRecorder::new(0, tell, false);
    let mut recorder = Recorder::new(&plan(CLOSED), Some(intervals));
    recorder.begin(0, 1, None);
    recorder.begin_measurement(0, in_flight(0));
    recorder.issued();
    succeed(&mut recorder, 10 * MS, 98 * MS);
    recorder.roll(100 * MS, in_flight(0));
    // The worker sees only then that its last answer was the last of all.
    recorder.end_measurement(98 * MS, in_flight(0), std::iter::empty());
    drop(recorder);
    let ends = told.iter().map(|message| match message {
        Message::Interval(_, part) => (part.from, part.until, part.succeeded),
        other => panic!("{other:?}"),
    });
    let ends: Vec<_> = ends.filter(|(from, until, _)| from != until).collect();
    assert_eq!(ends, [(Duration::ZERO, Duration::from_millis(100), 1)]);
}

#[test]
fn a_worker_waits_for_nobody_who_takes_its_intervals_and_loses_none() {
    const INTERVALS: u64 = 30;
    let (tell, told) = std::sync::mpsc::sync_channel(2);
    let (intervals, _give_back) = IntervalRecorder::new(0, tell, false);
    let mut recorder = Recorder::new(&plan(CLOSED), Some(intervals));
    recorder.begin(0, 1, None);
    recorder.begin_measurement(0, in_flight(0));
    let (say, ended) = std::sync::mpsc::channel();
    let worker = std::thread::spawn(move || {
        for nth in 0..INTERVALS {
            let from = nth * 100 * MS;
            for _ in 0..=nth {
                recorder.issued();
                succeed(&mut recorder, from, from + nth * MS);
            }
            recorder.roll(from + 100 * MS, in_flight(0));
        }
        say.send(()).unwrap();
        recorder.send_rest();
    });
    // Nobody reads meanwhile.
    let patience = Duration::from_secs(20);
    ended.recv_timeout(patience).expect("the worker waited");
    let parts: Vec<_> = told
        .iter()
        .map(|message| match message {
            Message::Interval(_, part) | Message::Late(_, part) => part,
            other => panic!("{other:?}"),
        })
        .collect();
    worker.join().unwrap();
    // The first one, at 0, is the end of the warm-up.
    let indexes: Vec<u64> = parts.iter().map(|part| part.index).collect();
    assert_eq!(indexes, (0..=INTERVALS).collect::<Vec<u64>>());
    for (nth, part) in (0..INTERVALS).zip(&parts[1..]) {
        assert_eq!((part.issued, part.succeeded), (nth + 1, nth + 1));
        assert_eq!(part.service_time.count(), nth + 1);
        let longest = part.service_time.max().unwrap();
        assert!(longest.as_nanos().abs_diff(u128::from(nth * MS)) <= u128::from(MS / 10));
    }
}
