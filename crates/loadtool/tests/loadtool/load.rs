//! The generator's verdict on itself: each warning is there when it should be, and only then.

use std::time::Duration;

use deadheat_loadtool::analysis::{Validity, judge};
use deadheat_model::{
    CountHistogram, Failure, LatencyHistogram, LoadRecord, Schedule, StopRule,
    failure::FailurePhase,
    load::{Endpoint, Expectation, Protocol, Stage, StatusSet, Target},
    observation::ReceiveQueues,
    warning::{Level, Warning},
};
use serde_json::{Value, json};

use crate::{
    load_fixture as cases,
    load_fixture::{Second, Simulation, closed, failed, open},
};

/// The warning of a check.
pub(super) fn warning(record: &LoadRecord, id: &str) -> Option<Warning> {
    let mut warnings = judge(record).warnings.into_iter();
    warnings.find(|warning| warning.id == id)
}

pub(super) fn level(record: &LoadRecord, id: &str) -> Option<Level> {
    warning(record, id).map(|warning| warning.level)
}

/// The level and the figures of a check's warning.
pub(super) fn evidence(record: &LoadRecord, id: &str) -> Option<(Level, Value)> {
    warning(record, id).map(|warning| (warning.level, warning.evidence.into()))
}

/// A figure of a warning.
pub(super) fn figure(warning: &Warning, name: &str) -> f64 {
    warning.evidence[name].as_f64().unwrap()
}

/// An open loop of three seconds whose requests all look like `second`.
fn open_loop(second: Second) -> Simulation {
    let spec = open(second.requests as f64, 50, 3);
    let load = Simulation::new("http://192.0.2.7/", spec).warm_up(second);
    load.second(second).second(second).second(second)
}

fn closed_loop(connections: u32, second: Second) -> Simulation {
    let load = Simulation::new("http://192.0.2.7/", closed(connections, 4)).warm_up(second);
    load.second(second)
        .second(second)
        .second(second)
        .second(second)
}

#[test]
fn a_load_without_a_flaw_is_sound_and_says_what_a_closed_loop_hides() {
    let verdict = judge(&cases::closed_fine());
    assert_eq!(verdict.validity, Validity::Sound);
    let ids: Vec<&str> = verdict.warnings.iter().map(|one| one.id.as_str()).collect();
    assert_eq!(ids, ["closed-loop"]);
}

#[test]
fn a_host_that_is_the_limit_makes_the_load_limited_and_is_named() {
    let verdict = judge(&cases::three_hosts());
    assert_eq!(verdict.validity, Validity::GeneratorLimited);
    let limits = verdict.warnings.iter();
    let limits: Vec<&Warning> = limits.filter(|one| one.level == Level::Limit).collect();
    let [busy] = limits[..] else {
        panic!("{limits:?}");
    };
    assert_eq!(
        (busy.id.as_str(), &busy.evidence["host"]),
        ("busy", &json!("load2"))
    );
    assert!(busy.sentence.starts_with("On load2: Worker 0 "), "{busy:?}");
}

#[test]
fn a_worker_without_rest_is_the_limit_from_the_threshold_on() {
    let second = Second::new(5_000, Duration::from_millis(2));
    for (busy, expected) in [(0.84, None), (0.86, Some(Level::Limit))] {
        let record = closed_loop(10, second).ended(busy);
        let found = level(&record, "busy");
        assert_eq!(found, expected, "{busy}");
    }
    let verdict = judge(&cases::generator_limited());
    assert!(verdict.generator_was_limit());
    let first = &verdict.warnings[0];
    assert_eq!(
        (first.id.as_str(), &first.evidence["cpu"]),
        ("busy", &json!(1))
    );
}

#[test]
fn a_worker_that_waits_for_a_cpu_is_told_and_is_the_limit_when_it_has_no_time_left() {
    let second = Second::new(5_000, Duration::from_millis(2));
    let cases = [
        (0.6, 0.05, None),
        (0.6, 0.15, Some(Level::Doubt)),
        (0.6, 0.3, Some(Level::Limit)),
        (0.1, 0.8, Some(Level::Limit)),
    ];
    for (busy, waited, expected) in cases {
        let mut record = closed_loop(10, second).ended(busy);
        let window = record.observation.window;
        record.observation.workers[0].run_delay = Some(window.mul_f64(waited));
        let found = level(&record, "cpu-wait");
        assert_eq!(found, expected, "{busy} {waited}");
        record.observation.workers[0].run_delay = None;
        let found = level(&record, "cpu-wait");
        assert_eq!(found, None, "the kernel does not tell");
    }
}

#[test]
fn a_worker_that_is_busy_with_beginning_or_failing_is_no_limit() {
    let mut one = cases::one_request();
    one.observation.workers[0].cpu_time = one.observation.window;
    assert!(level(&one, "busy").is_none());
    let mut failing = cases::only_failures();
    failing.observation.workers[0].cpu_time = failing.observation.window;
    assert_eq!(judge(&failing).validity, Validity::Failed);
}

#[test]
fn few_long_answers_are_work_and_waiting_awake_is_none() {
    let is_busy = "busy";
    let mut record = cases::closed_fine();
    record.observation.measured.succeeded = 60;
    let window = record.observation.window;
    record.observation.workers[0].cpu_time = window;
    assert_eq!(level(&record, is_busy), Some(Level::Limit));
    record.observation.workers[0].polled = window / 2;
    assert_eq!(level(&record, is_busy), None);
}

#[test]
fn no_local_port_is_the_generators_limit_even_when_nothing_was_answered() {
    let record = Simulation::new("http://192.0.2.7/", closed(2, 1)).with(|record| {
        failed(
            record,
            Failure::NoLocalPort,
            FailurePhase::Connect,
            "EADDRNOTAVAIL",
            5,
        );
    });
    assert_eq!(
        judge(&record.ended(0.1)).validity,
        Validity::GeneratorLimited
    );
    assert_eq!(judge(&cases::nothing_answered()).validity, Validity::Failed);
}

#[test]
fn requests_that_wait_for_a_connection_are_not_blamed_on_the_generator() {
    let second = Second {
        wait: Duration::from_millis(800),
        ..Second::new(3_000, Duration::from_millis(10))
    };
    let behind = open_loop(second).with(|record| {
        let open = record.observation.open.as_mut().unwrap();
        open.offered += 900;
        open.unsent = 900;
        open.oldest_unsent = Duration::from_millis(300);
    });
    let behind = behind.ended(0.2);
    let found = warning(&behind, "behind").unwrap();
    assert_eq!(
        (found.level, figure(&found, "unsent")),
        (Level::Doubt, 900.0)
    );
    assert!((figure(&found, "sent_share") - (1.0 - 900.0 / 9_900.0)).abs() < 1e-12);
    assert_eq!(judge(&behind).validity, Validity::Doubtful);
}

#[test]
fn a_generator_that_notices_late_is_the_limit() {
    let second = Second {
        lag: Duration::from_millis(40),
        ..Second::new(3_000, Duration::from_millis(1))
    };
    let late = open_loop(second).with(|record| {
        let open = record.observation.open.as_mut().unwrap();
        open.offered += 900;
        open.unsent = 900;
    });
    let late = late.ended(0.6);
    let is_late = "late";
    assert_eq!(level(&late, is_late), Some(Level::Limit));
    assert!(judge(&late).generator_was_limit());
}

#[test]
fn the_send_lag_weighs_as_much_as_its_share_of_the_response_time() {
    let cases = [
        (Duration::from_micros(60), Duration::from_micros(200), None),
        (
            Duration::from_micros(400),
            Duration::from_millis(30),
            Some(Level::Note),
        ),
        (
            Duration::from_millis(2),
            Duration::from_millis(6),
            Some(Level::Doubt),
        ),
        (
            Duration::from_millis(2),
            Duration::from_micros(300),
            Some(Level::Limit),
        ),
    ];
    for (lag, service, expected) in cases {
        let second = Second {
            lag,
            ..Second::new(2_000, service)
        };
        let record = open_loop(second).ended(0.2);
        let found = level(&record, "send-lag");
        assert_eq!(found, expected, "{lag:?} of {service:?}");
    }
}

#[test]
fn a_tail_is_judged_only_where_there_are_samples_for_it() {
    for (requests, expected) in [(30, 50.0), (400, 90.0), (1_500, 95.0), (4_000, 99.0)] {
        let second = Second {
            lag: Duration::from_millis(2),
            ..Second::new(requests, Duration::from_millis(6))
        };
        let record = open_loop(second).ended(0.2);
        let percent = figure(&warning(&record, "send-lag").unwrap(), "percent");
        assert_eq!(percent, expected, "{requests} per second for three seconds");
    }
}

#[test]
fn what_is_still_on_the_way_makes_percentiles_lower_bounds() {
    let second = Second::new(1_000, Duration::from_millis(5));
    let stuck = |requests: u64, age: Duration| {
        let load = open_loop(second).with(|record| {
            for tally in [
                &mut record.observation.total,
                &mut record.observation.measured,
            ] {
                tally.issued += requests;
                tally.in_flight += requests;
            }
            record.observation.open.as_mut().unwrap().oldest_in_flight = age;
        });
        warning(&load.ended(0.1), "unfinished")
    };
    assert_eq!(
        stuck(5, Duration::from_millis(4)),
        None,
        "as old as any other"
    );
    for (requests, level, percentiles) in [(1, Level::Note, false), (200, Level::Doubt, true)] {
        let found = stuck(requests, Duration::from_secs(2)).unwrap();
        assert_eq!(found.level, level);
        assert_eq!(found.evidence["percentiles"], percentiles);
    }
}

#[test]
fn littles_law_counts_the_depth_of_pipelining() {
    let is_little = "little";
    let mut deep = cases::tls_pipelining();
    assert_eq!(warning(&deep, is_little), None);
    let Protocol::Http1 { pipeline, .. } = &mut deep.spec.protocol else {
        panic!("{:?}", deep.spec.protocol);
    };
    *pipeline = 20;
    let found = level(&deep, is_little);
    assert_eq!(found, Some(Level::Note), "batches are not always full");
    // Twice as many connections as ever had a request.
    let idle = closed_loop(20, Second::new(1_000, Duration::from_millis(10))).ended(0.1);
    let found = warning(&idle, is_little).unwrap();
    assert_eq!(
        (found.level, figure(&found, "wanted")),
        (Level::Doubt, 20.0)
    );
    let in_flight = figure(&found, "in_flight");
    assert!((in_flight - 10.0).abs() < 0.5, "{in_flight}");
}

/// A load without a warm-up whose connections had a request in flight for half of the time.
fn half_idle(window: Duration, change: impl Fn(&mut LoadRecord)) -> LoadRecord {
    let mut spec = closed(50, 2);
    spec.warm_up = Duration::ZERO;
    let requests = (25.0 * window.as_secs_f64() / 0.025) as u64;
    let load = Simulation::new("http://192.0.2.7/", spec);
    let load = load.second(Second::new(requests, Duration::from_millis(25)));
    let mut record = load.ended(0.1);
    record.observation.window = window;
    change(&mut record);
    record
}

#[test]
fn a_load_of_which_start_and_end_are_a_large_part_is_too_short_to_judge_and_not_doubtful() {
    let found = |record: &LoadRecord| {
        let verdict = judge(record);
        let mut all = verdict.warnings.into_iter();
        let mut all = all
            .by_ref()
            .filter(|one| ["little", "cpu-wait", "too-short"].contains(&one.id.as_str()));
        let first = all.next().unwrap();
        assert!(all.next().is_none(), "one says enough");
        let needed = first.evidence.get("needed_seconds");
        (verdict.validity, first.id, needed.and_then(Value::as_f64))
    };
    let too_short = |needed| (Validity::Sound, "too-short".to_owned(), Some(needed));
    let (short, long) = (Duration::from_millis(200), Duration::from_secs(2));
    // 200 requests over 50 connections.
    assert_eq!(found(&half_idle(short, |_| {})), too_short(5.0));
    let waits = |record: &mut LoadRecord| {
        let window = record.observation.window;
        record.observation.workers[0].run_delay = Some(window / 5);
    };
    assert_eq!(found(&half_idle(short, waits)), too_short(5.0));
    // TLS handshakes of a second each.
    let handshakes = |record: &mut LoadRecord| {
        let mut times = LatencyHistogram::default();
        for _ in 0..50 {
            times.record_ns(1_000_000_000);
        }
        record.observation.handshake_time = times;
    };
    assert_eq!(found(&half_idle(long, handshakes)), too_short(11.0));
    // The last answer of a count, while 49 connections have nothing to do.
    let last = |record: &mut LoadRecord| {
        record.spec.stop = StopRule::Count { requests: 2_000 };
        record.observation.service_time.record_ns(1_000_000_000);
    };
    let (validity, id, _) = found(&half_idle(long, last));
    assert_eq!((validity, id.as_str()), (Validity::Sound, "too-short"));
    // Nothing of that explains it.
    let (validity, id, _) = found(&half_idle(long, |_| {}));
    assert_eq!((validity, id.as_str()), (Validity::Doubtful, "little"));
    let (_, id, _) = found(&half_idle(long, |record| {
        handshakes(record);
        record.observation.window *= 20;
        record.observation.measured.succeeded *= 20;
    }));
    assert_eq!(id, "little");
}

#[test]
fn connections_that_were_not_had_and_those_that_starve_are_told() {
    let second = Second::new(2_000, Duration::from_millis(5));
    let fewer = closed_loop(10, second).with(|record| record.observation.connections_peak = 7);
    let fewer = fewer.ended(0.1);
    let expected = json!({"wanted": 10, "peak": 7});
    assert_eq!(
        evidence(&fewer, "connections"),
        Some((Level::Doubt, expected))
    );

    let mut streams = closed_loop(5, second).ended(0.1);
    streams.spec.protocol = Protocol::Http2 { streams: 2 };
    assert_eq!(warning(&streams, "streams"), None);
    assert_eq!(warning(&streams, "little"), None, "10 are in flight");
    streams.observation.fewest_streams = Some(1);
    let expected = json!({"wanted": 2, "allowed": 1});
    assert_eq!(
        evidence(&streams, "streams"),
        Some((Level::Doubt, expected))
    );

    // Ten requests on five connections need no second stream.
    let is_needed = |requests| {
        let mut counted = streams.clone();
        counted.spec.stop = StopRule::Count { requests };
        warning(&counted, "streams").is_some()
    };
    assert_eq!([5, 6].map(is_needed), [false, true]);

    let mut starving = closed_loop(10, second).ended(0.1);
    let is_uneven = "uneven";
    assert_eq!(warning(&starving, is_uneven), None);
    let mut answers = CountHistogram::new();
    for count in [3, 900, 1_000, 1_000] {
        answers.record(count);
    }
    starving.observation.answers_per_connection = answers;
    let expected = json!({"because": "starved", "least": 3, "median": 900, "most": 1_000});
    assert_eq!(
        evidence(&starving, is_uneven),
        Some((Level::Doubt, expected))
    );
    // Half of the answers come in a burst, and the others wait for it.
    let mut in_a_row = closed_loop(10, second).ended(0.1);
    let times = &mut in_a_row.observation.service_time;
    for _ in 0..2 * times.count() {
        times.record_ns(20_000);
    }
    let found = warning(&in_a_row, is_uneven).unwrap();
    assert_eq!(
        (found.level, &found.evidence["because"]),
        (Level::Doubt, &json!("in-a-row"))
    );
    assert!(
        (figure(&found, "p50_seconds") / 20e-6 - 1.0).abs() < 0.05,
        "{found:?}"
    );
    // Several exchanges take differently long by themselves.
    in_a_row
        .spec
        .exchanges
        .extend(in_a_row.spec.exchanges.clone());
    assert_eq!(warning(&in_a_row, is_uneven), None);
    // Connections that were made again carry fewer answers without any fault.
    starving.observation.connections_opened = 12;
    assert_eq!(warning(&starving, is_uneven), None);
}

#[test]
fn answers_that_wait_to_be_read_are_told() {
    let second = Second::new(2_000, Duration::from_millis(5));
    for (waiting, connections, busy, expected) in [
        (150, 1_000, 0.7, None),
        (250, 1_000, 0.7, Some(Level::Note)),
        (600, 1_000, 0.7, Some(Level::Doubt)),
        (60, 90, 0.7, None),
        // Whoever sleeps is woken by what has come: that is no delay.
        (900, 1_000, 0.3, None),
    ] {
        let mut record = closed_loop(10, second).ended(busy);
        record.observation.receive_queues = ReceiveQueues {
            looks: 100,
            connections,
            waiting,
            bytes: 130 * waiting,
            most_bytes: 130,
        };
        let found = level(&record, "queued");
        assert_eq!(found, expected, "{waiting} of {connections} at {busy}");
    }
}

#[test]
fn failures_weigh_as_much_as_their_share() {
    let second = Second::new(5_000, Duration::from_millis(2));
    for (many, expected) in [(0, None), (10, Some(Level::Note)), (30, Some(Level::Doubt))] {
        let load = closed_loop(10, second).with(|record| {
            failed(
                record,
                Failure::Reset,
                FailurePhase::Body,
                "ECONNRESET",
                many,
            );
        });
        let record = load.ended(0.1);
        let found = level(&record, "failures");
        assert_eq!(found, expected, "{many} of 20,000");
    }
    let refused = cases::nothing_answered();
    let found = evidence(&refused, "not-connected");
    assert_eq!(found, Some((Level::Doubt, json!({"requests": 152}))));
}

#[test]
fn a_lost_request_is_a_doubt() {
    let mut record = cases::closed_fine();
    record.observation.total.issued += 1;
    assert_eq!(judge(&record).validity, Validity::Doubtful);
    let found = level(&record, "not-conserved");
    assert_eq!(found, Some(Level::Doubt));
}

#[test]
fn a_throughput_that_falls_is_told_unless_the_schedule_asks_for_it() {
    let is_unsteady = "unsteady";
    let falling = cases::non_ascii();
    let change = figure(&warning(&falling, is_unsteady).unwrap(), "change");
    // From 1,400 to 980 per second along a line through eight seconds.
    assert!((-0.45..-0.35).contains(&change), "{change}");

    let spec = open(1_000.0, 20, 8);
    let mut load = Simulation::new("http://192.0.2.7/", spec);
    for requests in [400, 500, 600, 700, 800, 900, 1_000, 1_100] {
        load = load.second(Second::new(requests, Duration::from_millis(2)));
    }
    let mut ramp = load.ended(0.1);
    assert!(warning(&ramp, is_unsteady).is_some());
    let Schedule::Open { stages, .. } = &mut ramp.spec.schedule else {
        unreachable!()
    };
    *stages = vec![Stage {
        length: Duration::from_secs(8),
        from: 400.0,
        to: 1_100.0,
    }];
    assert_eq!(warning(&ramp, is_unsteady), None);
}

#[test]
fn notes_say_what_to_know_of_the_figures() {
    let one = judge(&cases::one_request());
    assert_eq!(one.validity, Validity::Sound);
    let one = cases::one_request();
    assert_eq!(level(&one, "no-warm-up"), Some(Level::Note));
    let expected = |level, evidence| Some((level, evidence));
    assert_eq!(
        evidence(&one, "same-machine"),
        expected(Level::Routine, json!({"cpus": 2}))
    );
    assert_eq!(
        evidence(&one, "few-answers"),
        expected(
            Level::Note,
            json!({"answers": 1, "percent": 90.0, "needed": 1_000})
        )
    );
    assert_eq!(
        level(&cases::interrupted(), "interrupted"),
        Some(Level::Doubt)
    );
    assert_eq!(judge(&cases::interrupted()).validity, Validity::Doubtful);
}

#[test]
fn redirects_are_counted_and_304_is_none() {
    let mut record = cases::closed_fine();
    record.observation.statuses = [(200, 10), (301, 4), (302, 3), (304, 50)].into();
    let is_redirect = "redirects";
    let expected = |valid| Some((Level::Note, json!({"answers": 7, "valid": valid})));
    assert_eq!(evidence(&record, is_redirect), expected(false));
    record.spec.exchanges[0].expect = Expectation {
        status: "2xx,301".parse::<StatusSet>().unwrap(),
        length: None,
        content: None,
    };
    assert_eq!(evidence(&record, is_redirect), expected(true));
}

#[test]
fn a_mapped_loopback_address_and_a_unix_socket_are_this_machine() {
    let is_local = "same-machine";
    let mut record = cases::closed_fine();
    assert_eq!(warning(&record, is_local), None);
    record.spec.target = Target::plain("[::ffff:127.0.0.1]:80".parse().unwrap());
    assert!(warning(&record, is_local).is_some());
    record.spec.target.endpoint = Endpoint::Unix {
        path: "/run/server.sock".into(),
    };
    assert!(warning(&record, is_local).is_some());
}

#[test]
fn a_congestion_control_that_paces_matters_on_this_machine_alone() {
    let is_paced = "paced";
    let mut record = cases::closed_fine();
    record.machine.congestion_control = Some("bbr".to_owned());
    assert_eq!(warning(&record, is_paced), None);
    record.spec.target = Target::plain("127.0.0.1:80".parse().unwrap());
    assert!(warning(&record, is_paced).is_some());
    record.machine.congestion_control = Some("cubic".to_owned());
    assert_eq!(warning(&record, is_paced), None);
}

#[test]
fn answers_that_wait_for_delayed_acknowledgements_are_told_from_slow_ones() {
    let after = |milliseconds: &[(u64, u64)]| {
        let mut record = cases::closed_fine();
        let times = &mut record.observation.service_time;
        times.clear();
        for (each, many) in milliseconds {
            let ns = each * 1_000_000;
            times.record_evenly(ns, ns + 100_000, *many);
        }
        record
    };
    let told = |times: &[(u64, u64)]| evidence(&after(times), "delayed-acks");
    let expected = |share: f64| Some((Level::Note, json!({ "share": share })));
    assert_eq!(told(&[(1, 600), (41, 250), (43, 150)]), expected(0.4));
    assert_eq!(told(&[(44, 900), (70, 100)]), expected(0.9));
    // Too few, longer, or a part of what takes 30 to 60 ms.
    assert_eq!(told(&[(1, 910), (43, 90)]), None);
    assert_eq!(told(&[(1, 500), (50, 500)]), None);
    assert_eq!(
        told(&[(32, 200), (37, 200), (42, 200), (47, 200), (55, 200)]),
        None
    );
}
