use std::time::Duration;

use deadheat_model::{
    Failure, LoadSpec, Schedule, StopRule,
    load::{Arrivals, Exchange, Expectation, RequestSpec, Stage, StatusSet, Target},
    machine::Machine,
    observation::{EventsSeen, OpenLoop},
    record::SCHEMA,
};
use proptest::prelude::*;

use super::*;

fn record(observation: Observation) -> LoadRecord {
    let expect = Expectation {
        status: StatusSet::success(),
        length: None,
        content: None,
    };
    let schedule = Schedule::Closed {
        connections: 1,
        ramp: Duration::ZERO,
    };
    LoadRecord {
        schema: SCHEMA,
        deadheat: String::new(),
        started: String::new(),
        url: String::new(),
        machine: Machine::default(),
        spec: LoadSpec::new(
            Target::plain("127.0.0.1:1".parse().unwrap()),
            vec![Exchange::new(RequestSpec::get("/"), expect)],
            schedule,
            StopRule::Interrupt,
        ),
        interrupted: false,
        observation,
        intervals: Vec::new(),
        hosts: Vec::new(),
    }
}

/// Of 10 s, with one answer after each of these times in milliseconds.
fn answered(times: impl IntoIterator<Item = u64>) -> Observation {
    let mut found = Observation {
        window: Duration::from_secs(10),
        ..Observation::default()
    };
    for time in times {
        found.service_time.record_ns(time * 1_000_000);
        found.measured.issued += 1;
        found.measured.succeeded += 1;
    }
    found
}

/// The same as an open loop, at whose end requests waited.
fn open(times: impl IntoIterator<Item = u64>, unsent: u64, oldest_ms: u64) -> Observation {
    let mut found = answered(times);
    found.open = Some(OpenLoop {
        unsent,
        oldest_unsent: Duration::from_millis(oldest_ms),
        response_time: found.service_time.clone(),
        connection_wait: found.service_time.clone(),
        ..OpenLoop::default()
    });
    found
}

#[track_caller]
fn judged(text: &str, found: &Observation, failed: bool, says: &str) {
    let threshold: Threshold = text.parse().unwrap();
    let outcome = threshold.judge(&record(found.clone()));
    assert_eq!(outcome.failed, failed, "{}", outcome.line);
    assert!(
        outcome.line.contains(says),
        "{says:?} is not in: {}",
        outcome.line
    );
}

#[test]
fn a_closed_loop_whose_server_stands_still_passes_no_gate() {
    let waiting = |milliseconds: u64| {
        let mut found = answered(1..=1000);
        let mut ages = LatencyHistogram::small();
        (0..50).for_each(|_| ages.record_ns(milliseconds * 1_000_000));
        found.measured.in_flight = 50;
        found.in_flight_ages = Some(ages);
        found
    };
    let still = waiting(8_000);
    judged("max>2s", &still, true, "it was 8.0");
    // As if the 50 took forever.
    judged("p90>940ms", &still, true, "it was 94");
    judged("mean>1s", &still, true, "50 requests had no answer");
    // Those that begun a moment ago change nothing.
    let usual = waiting(10);
    judged("max>1001ms", &usual, false, "it was");
    judged("p50>501ms", &usual, false, "it was 500");
    judged("mean>502ms", &usual, false, "it was 500");
}

#[test]
fn what_comes_true_fails() {
    let mut found = answered(1..=1000);
    found.measured.failed[Failure::Reset] = 10;
    judged(
        "p50>100ms",
        &found,
        true,
        "fail-if FAILED p50>100ms: it was 500",
    );
    judged(
        "p50>600ms",
        &found,
        false,
        "fail-if ok     p50>600ms: it was 500",
    );
    judged("p90>1s", &found, false, "it was 90");
    judged("mean>100ms", &found, true, "it was 50");
    judged("min<0.99ms", &found, false, "it was 999.9 µs");
    judged("min<10ms", &found, true, "it was 999.9 µs");
    judged("max>=1s", &found, true, "it was 1");
    judged("max>2s", &found, false, "it was 1");
    judged("errors>0", &found, true, "it was 10");
    judged("errors>10", &found, false, "it was 10");
    judged("errors>=10", &found, true, "it was 10");
    judged("errors>1%", &found, false, "it was 0.9901 %");
    judged("errors>0.5%", &found, true, "it was 0.9901 %");
    judged("throughput<100/s", &found, false, "it was 100/s");
    judged("throughput<=100/s", &found, true, "it was 100/s");
}

#[test]
fn too_few_samples_fail_whatever_they_say() {
    let found = answered([1; 999]);
    judged(
        "p99>50ms",
        &found,
        true,
        "999 samples are too few for p99, which needs 10,000",
    );
    judged(
        "p90>50ms",
        &found,
        true,
        "which needs 1,000; measure longer, or judge p50 and max",
    );
    judged("p89>50ms", &found, false, "it was");
    judged(
        "p50>50ms",
        &answered([1; 99]),
        true,
        "99 samples are too few",
    );
    judged("p99>50ms", &answered([1; 2000]), true, "or judge p95");
    judged("max>50ms", &answered([1]), false, "it was");
    judged(
        "errors>0.1%",
        &found,
        true,
        "999 requests ended, and such a share needs 1,000",
    );
    judged("errors>0.1%", &answered([1; 1000]), false, "it was 0 %");
    judged("errors>0%", &answered([1]), false, "it was 0 %");
    let nothing = answered([]);
    for text in [
        "p50>1h",
        "mean>1s",
        "max>1s",
        "min>1s",
        "errors>0",
        "errors>0%",
        "errors>50%",
    ] {
        let text = text.replace("1h", "60m");
        judged(&text, &nothing, true, "cannot be judged");
    }
    judged("throughput<1/s", &nothing, true, "it was 0/s");
    judged(
        "throughput>1/s",
        &Observation::default(),
        true,
        "before the measurement",
    );
}

#[test]
fn an_open_loop_is_judged_by_response_time_and_what_still_waited() {
    let found = open([5; 10_000], 0, 0);
    judged("p99>50ms", &found, false, "it was 5");
    judged("lag.p50>1ms", &found, true, "0 samples");
    // A stop at the end: the answers that came were quick.
    let stopped = open([5; 10_000], 500, 3_000);
    judged(
        "p99>50ms",
        &stopped,
        true,
        "500 requests had no answer at the end",
    );
    judged("p90>50ms", &stopped, false, "it was 5");
    judged("wait.p99>50ms", &stopped, true, "the oldest for 3 s");
    judged("max>1s", &stopped, true, "it was 3 s");
    judged("mean>1s", &stopped, true, "had no answer");
    judged("service.p99>50ms", &stopped, false, "it was 5");
    // Some are always under way, and have waited no longer than the others.
    judged("p99>50ms", &open([5; 10_000], 500, 4), false, "it was 5");
    // A closed loop has nothing of the kind.
    judged(
        "response.p99>50ms",
        &answered([5; 10_000]),
        true,
        "no such figure",
    );
}

#[test]
fn events_are_judged_where_they_are_recorded() {
    let mut found = answered([5; 100]);
    judged("gap.max>1s", &found, true, "no such figure");
    let mut events = EventsSeen {
        open_gap: Duration::from_secs(2),
        ..EventsSeen::default()
    };
    for _ in 0..10_000 {
        events.first_event.record_ns(30_000_000);
        events.gap.record_ns(200_000_000);
    }
    found.events = Some(events);
    judged("first-event.p99>29ms", &found, true, "it was 3");
    judged("gap.p99>210ms", &found, false, "it was 200");
    // A stream that stood still at the end is no quick one.
    judged("gap.max>1s", &found, true, "it was 2 s");
    // Nothing came any more, not even a first event.
    let mut ages = LatencyHistogram::small();
    (0..50).for_each(|_| ages.record_ns(8_000_000_000));
    found.in_flight_ages = Some(ages);
    found.measured.issued = 10_050;
    judged("first-event.max>1s", &found, true, "it was 8.0");
    judged(
        "first-event.mean>1s",
        &found,
        true,
        "50 requests had no answer",
    );
    // All of these streams had begun.
    found.measured.issued = 10_000;
    judged("first-event.max>1s", &found, false, "it was 3");
    // One that a moment ago was sent had not, and the others are older.
    let mut ages = LatencyHistogram::small();
    (0..49).for_each(|_| ages.record_ns(8_000_000_000));
    ages.record_ns(1_000_000);
    found.in_flight_ages = Some(ages);
    found.measured.issued = 10_001;
    judged("first-event.max>1s", &found, false, "it was 3");
    for text in ["gap.p99>1s", "first-event.mean>1s"] {
        let threshold: Threshold = text.parse().unwrap();
        let spec = record(Observation::default()).spec;
        let refusal = threshold.check(&spec).unwrap_err().to_string();
        assert!(refusal.contains("--stream"), "{refusal}");
    }
}

#[test]
fn a_closed_loop_has_no_response_time_and_first_bytes_are_recorded_on_request() {
    let closed = record(Observation::default()).spec;
    let open = LoadSpec {
        schedule: Schedule::Open {
            connections: 1,
            most_connections: 1,
            arrivals: Arrivals::Uniform,
            stages: vec![Stage::constant(1.0)],
        },
        ..closed.clone()
    };
    for text in ["response.p99>1s", "wait.max>1s", "lag.mean>1s"] {
        let threshold: Threshold = text.parse().unwrap();
        let refusal = threshold.check(&closed).unwrap_err().to_string();
        assert!(refusal.contains("--rate"), "{text}: {refusal}");
        assert!(threshold.check(&open).is_ok());
    }
    for text in ["p99>1s", "service.p99>1s", "errors>1", "goodput<1B/s"] {
        let threshold: Threshold = text.parse().unwrap();
        assert!(threshold.check(&closed).is_ok() && threshold.check(&open).is_ok());
    }
    let threshold: Threshold = "first-byte.p99>1s".parse().unwrap();
    let refusal = threshold.check(&open).unwrap_err().to_string();
    assert!(refusal.contains("--first-byte"), "{refusal}");
    let recording = LoadSpec {
        first_byte: true,
        ..closed
    };
    assert!(threshold.check(&recording).is_ok());
    let mut found = answered([9; 10_000]);
    judged("first-byte.p99>1ms", &found, true, "no such figure");
    found.first_byte = Some(answered([5; 10_000]).service_time);
    judged("first-byte.p99>6ms", &found, false, "it was 5");
    // A server that stops is no quick one.
    let mut ages = LatencyHistogram::small();
    (0..200).for_each(|_| ages.record_ns(8_000_000_000));
    found.in_flight_ages = Some(ages);
    judged("first-byte.max>1s", &found, true, "it was 8.0");
    judged(
        "first-byte.p99>6ms",
        &found,
        true,
        "200 requests had no answer",
    );
    // Where bodies take as long as that, their first bytes may have come.
    found.service_time = answered([9_000; 10_000]).service_time;
    judged("first-byte.max>1s", &found, false, "it was 5");
}

#[test]
fn goodput_is_that_of_valid_answers() {
    let mut found = answered([1; 10]);
    (found.body_bytes, found.valid_body_bytes) = (90_000, 25_000);
    found.measured.failed[Failure::WrongStatus] = 1;
    judged("goodput<2kB/s", &found, false, "it was 2.5 kB/s");
    judged("goodput<3kB/s", &found, true, "it was 2.5 kB/s");
}

proptest! {
    /// Whatever was found: a condition and its opposite never both pass, and both fail only when nothing can be judged.
    #[test]
    fn a_condition_and_its_opposite_are_judged_apart(
        times in prop::collection::vec(1_u64..2_000, 0..300),
        bound in 1_u64..2_000,
        unsent in 0_u64..100,
        oldest in 0_u64..5_000,
        metric in prop::sample::select(vec!["p50", "p90", "mean", "max", "min", "service.p75", "wait.p50"]),
    ) {
        let found = record(open(times, unsent, oldest));
        let judge = |sign: &str| {
            let threshold: Threshold = format!("{metric}{sign}{bound}ms").parse().unwrap();
            threshold.judge(&found)
        };
        let (more, at_most) = (judge(">"), judge("<="));
        let unjudged = more.line.contains("cannot be judged");
        prop_assert_eq!(unjudged, at_most.line.contains("cannot be judged"));
        prop_assert_eq!(more.failed && at_most.failed, unjudged);
        prop_assert!(more.failed || at_most.failed);
    }

    /// No text makes the parser panic, and what it takes it shows as it was typed.
    #[test]
    fn any_text_is_read_or_refused(text in "[a-z0-9.<>=% /]{0,20}") {
        if let Ok(threshold) = text.parse::<Threshold>() {
            prop_assert_eq!(threshold.to_string(), text.trim());
        }
    }
}

fn parsed(text: &str) -> Threshold {
    text.parse().unwrap()
}

#[test]
fn only_upper_bounds_of_what_the_server_does_are_taken() {
    for text in [
        "p99<50ms",
        "service.max<=1s",
        "errors<1%",
        "errors<5",
        "wait.p50<1ms",
    ] {
        assert!(parsed(text).check_find().is_ok(), "{text}");
    }
    for (text, says) in [
        ("p99>50ms", "write it with <"),
        ("errors>=1%", "write it with <"),
        ("throughput<100/s", "sets the rate itself"),
        ("goodput<1MB/s", "sets the rate itself"),
        ("lag.p99<1ms", "delay of the generator"),
    ] {
        let refusal = parsed(text).check_find().unwrap_err().to_string();
        assert!(refusal.contains(says), "{text}: {refusal}");
    }
}

#[test]
fn a_probe_has_ten_answers_beyond_each_percentile() {
    for (text, requests) in [
        ("p99<50ms", 1_000),
        ("p50<50ms", 100),
        ("p99.9<1s", 10_000),
        ("max<1s", 100),
        ("errors<0.1%", 1_000),
    ] {
        assert_eq!(parsed(text).requests_for_probe(), requests, "{text}");
    }
}

#[test]
fn a_condition_is_said_with_its_unit() {
    let said = parsed("p99<=50ms").described();
    assert_eq!(said.condition, "p99 ≤ 50 ms");
    assert_eq!((said.figure.as_str(), said.unit), ("p99", Unit::Seconds));
    assert_eq!(
        parsed("errors<0.5%").described().condition,
        "errors < 0.5 %"
    );
}

/// 1,000 answers of 1 to 1,000 ms, and requests that wait.
fn found(unsent: u64, late_ms: u64) -> Observation {
    let mut open = OpenLoop {
        unsent,
        oldest_unsent: Duration::from_millis(late_ms),
        ..OpenLoop::default()
    };
    for time in 1..=1_000_u64 {
        open.response_time.record_ns(time * 1_000_000);
    }
    Observation {
        open: Some(open),
        ..Observation::default()
    }
}

#[test]
fn requests_without_an_answer_are_as_late_as_the_oldest() {
    let value = |text: &str, found: &Observation| parsed(text).value(found).unwrap();
    for (unsent, late, percent, expected) in [
        (0, 0, "p50", 0.5),
        // All of them beyond what was answered.
        (1_000, 5_000, "p50", 1.0),
        (1_000, 5_000, "p60", 5.0),
        (1_000, 5_000, "p25", 0.5),
        // All of them before that: the median is the answers' first.
        (1_000, 0, "p75", 0.5),
        // In the middle.
        (1_000, 500, "p50", 0.5),
        (200, 900, "p90", 0.9),
    ] {
        let value = value(&format!("{percent}<1s"), &found(unsent, late));
        assert!(
            (value / expected - 1.0).abs() < 0.01,
            "{unsent} {late} {percent}: {value}"
        );
    }
    assert_eq!(value("max<1s", &found(1, 7_000)), 7.0);
    assert!(value("mean<1s", &found(1_000, 5_000)) > 2.7);
}
