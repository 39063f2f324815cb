//! Figures that follow from the counts of a load, and what is said of single ones.

use std::time::Duration;

use deadheat_loadtool::{
    analysis::{LatencyKind, LoadFigures, Validity, analyse, judge},
    document::document,
};
use deadheat_model::{
    Failure, Interval, LatencyHistogram, LoadPhase, Schedule,
    failure::FailurePhase,
    load::{Protocol, Think},
    observation::{CountedTime, Waits},
    warning::Level,
};
use serde_json::json;

use crate::{
    load_fixture as cases,
    load_fixture::{Second, Simulation, closed, failed, open},
};

use super::load::{evidence, figure, level, warning};

#[test]
fn figures_follow_from_the_counts() {
    let record = cases::non_ascii();
    let figures = LoadFigures::new(&record);
    let measured = &record.observation.measured;
    assert_eq!(
        figures.throughput_per_second,
        measured.succeeded as f64 / 8.0
    );
    assert_eq!(figures.attempts_per_second, measured.issued as f64 / 8.0);
    let failed = measured.failed.total() as f64 / measured.ended() as f64;
    assert_eq!(figures.failed_share, Some(failed));
    assert_eq!(
        figures.valid_body_bytes_per_second,
        record.observation.valid_body_bytes as f64 / 8.0
    );
    assert!(figures.valid_body_bytes_per_second < figures.body_bytes_per_second);

    let service = figures.latency(LatencyKind::ServiceTime).unwrap();
    assert_eq!(service.samples, measured.succeeded);
    assert!(
        service.shown(99.0).is_none() && service.at(99.0).is_some(),
        "fewer than 10,000"
    );
    assert!(figures.latency(LatencyKind::ResponseTime).is_none());
    let open = LoadFigures::new(&cases::open_freeze());
    assert_eq!(open.main_latency().unwrap().of, LatencyKind::ResponseTime);
}

#[test]
fn every_load_built_by_hand_could_have_been() {
    for (name, record) in cases::all() {
        let observation = &record.observation;
        assert!(
            observation.measured.is_conserved() && observation.total.is_conserved(),
            "{name}"
        );
        let in_histogram = observation.service_time.count();
        assert_eq!(in_histogram, observation.measured.succeeded, "{name}");
    }
    let only_failures = cases::only_failures();
    assert_eq!(judge(&only_failures).validity, Validity::Failed);
    let redirects = json!({"answers": 40, "valid": false});
    assert_eq!(
        evidence(&only_failures, "redirects"),
        Some((Level::Note, redirects))
    );
}

#[test]
fn a_server_that_stands_still_is_told_of_with_the_time() {
    let is_silence = "silence";
    let expected = Some((Level::Note, json!({"from_seconds": 5.0, "seconds": 2.0})));
    let frozen = cases::open_freeze();
    assert_eq!(evidence(&frozen, is_silence), expected);
    assert_eq!(warning(&cases::closed_fine(), is_silence), None);

    let second = Second::new(500, Duration::from_millis(20));
    let nothing = Second::new(0, second.service);
    let load = Simulation::new("http://192.0.2.7/", closed(10, 3));
    let closed = load
        .second(second)
        .second(nothing)
        .second(second)
        .ended(0.1);
    assert_eq!(level(&closed, is_silence), Some(Level::Doubt));

    // The measurement's end cuts an interval off: in 10 ms, five answers were due.
    let load = Simulation::new("http://192.0.2.7/", cases::closed(10, 3));
    let cut = load
        .second(second)
        .second(second)
        .second(nothing)
        .with(|record| {
            if let Some(last) = record.intervals.last_mut() {
                last.until = last.from + Duration::from_millis(10);
            }
        })
        .ended(0.1);
    assert_eq!(warning(&cut, is_silence), None);

    // A load of hours has its intervals joined, and a second of silence is still one.
    let mut joined = frozen;
    let measured = |interval: &Interval| interval.phase == LoadPhase::Measurement;
    let first = joined.intervals.iter().position(measured).unwrap();
    let rest = joined.intervals.split_off(first + 1);
    rest.iter()
        .for_each(|next| joined.intervals[first].append(next));
    assert_eq!(evidence(&joined, is_silence), expected);

    let load = Simulation::new("http://192.0.2.7/", open(3.0, 10, 3));
    let few = Second::new(3, second.service);
    let slow = load.second(few).second(nothing).second(few).ended(0.1);
    assert_eq!(
        warning(&slow, is_silence),
        None,
        "at three per second that is chance"
    );
}

#[test]
fn a_host_has_a_p99_if_it_has_enough_answers_for_one() {
    let mut record = cases::three_hosts();
    let mut few = LatencyHistogram::new();
    (0..9_999).for_each(|_| few.record_ns(20_000_000));
    record.hosts[0].observation.service_time = few;
    let report = document(&record, &analyse(&record)).markdown();
    let has_p99 = |host: &str| {
        let mut lines = report.lines();
        let is_of_host = |line: &&str| line.contains(host) && line.contains("valid answers/s");
        lines.find(is_of_host).map(|line| line.contains("p99"))
    };
    let found = ["load1.example", "load2.example"].map(has_p99);
    assert_eq!(found, [Some(false), Some(true)], "{report}");
}

#[test]
fn each_of_several_requests_has_its_own_figures() {
    let record = cases::several_requests();
    let figures = LoadFigures::new(&record);
    let [first, second] = &figures.exchanges[..] else {
        panic!("two requests: {figures:?}");
    };
    assert_eq!(first.path, "/plaintext");
    assert_eq!(first.succeeded, record.observation.measured.succeeded);
    assert_eq!(
        first.service_time.as_ref(),
        figures.latency(LatencyKind::ServiceTime)
    );
    let per_second = first.succeeded as f64 / figures.window_seconds;
    assert_eq!(first.throughput_per_second, per_second);
    assert_eq!(first.valid_body_bytes_per_second, 13.0 * per_second);
    assert_eq!((second.failed, &second.service_time), (12, &None));
    assert_eq!(second.throughput_per_second, 0.0);
    assert_eq!(figures.events, None);
    let of_first_bytes = figures.latency(LatencyKind::FirstByte);
    assert_eq!(of_first_bytes.map(|one| one.samples), Some(first.succeeded));
}

#[test]
fn streams_have_the_times_of_their_events() {
    let record = cases::streams(cases::closed_fine());
    let figures = analyse(&record).figures;
    let answers = record.observation.measured.succeeded;
    let events = figures.events.unwrap();
    assert_eq!((events.events, events.without), (3 * answers, 0));
    assert_eq!(
        events.events_per_second,
        3.0 * answers as f64 / figures.window_seconds
    );
    // The last one had not ended.
    assert_eq!(events.longest_gap_seconds, Some(0.35));
    let samples = |of| figures.latency(of).map(|one| one.samples);
    assert_eq!(samples(LatencyKind::FirstEvent), Some(answers));
    assert_eq!(samples(LatencyKind::EventGap), Some(2 * answers));
}

#[test]
fn users_who_think_do_not_make_a_generator_slow() {
    let mut record = cases::closed_fine();
    // Ten times as many users as there are requests in flight.
    let Schedule::Closed { connections, .. } = &mut record.spec.schedule else {
        panic!("a closed loop");
    };
    *connections *= 10;
    record.observation.connections_peak *= 10;
    let little = "little";
    assert!(warning(&record, little).is_some());
    record.spec.think = Some(Think::Exponential {
        mean: Duration::from_secs(1),
    });
    assert_eq!(warning(&record, little), None);
    assert_eq!(judge(&record).validity, Validity::Sound);
    let figures = LoadFigures::new(&record);
    assert_eq!(figures.wanted_in_flight, None);
    assert!(figures.mean_in_flight.is_some());
    // A user who thinks for a long time gets fewer answers.
    record.observation.answers_per_connection.record(1);
    let uneven = "uneven";
    assert_eq!(warning(&record, uneven), None);
    record.spec.think = None;
    assert!(warning(&record, uneven).is_some());
}

#[test]
fn waits_by_the_generators_own_rules_are_reported() {
    let mut record = cases::closed_fine();
    let waits = |count, total| Waits { count, total };
    record.observation.own_waits.for_continue = waits(3, Duration::from_secs(3));
    let found = warning(&record, "no-continue").unwrap();
    let figures = ["requests", "seconds"].map(|name| figure(&found, name));
    assert_eq!((found.level, figures), (Level::Doubt, [3.0, 3.0]));
    let is_pause = "reconnect-pauses";
    let connections = record.spec.schedule.most_connections();
    for (share, expected) in [(0.005, Level::Note), (0.02, Level::Doubt)] {
        let all = record.observation.window.mul_f64(f64::from(connections));
        record.observation.own_waits.before_connecting = waits(9, all.mul_f64(share));
        assert_eq!(level(&record, is_pause), Some(expected));
    }
}

#[test]
fn a_count_and_its_rate_are_of_the_same_answers() {
    let mut record = cases::closed_fine();
    let seen = &mut record.observation;
    seen.window = Duration::from_secs(5);
    (seen.measured.succeeded, seen.measured.carried_succeeded) = (45, 10);
    seen.measured.in_flight = 10;
    let figures = LoadFigures::new(&record);
    assert_eq!((figures.answers, figures.answer_seconds), (55, 5.0));
    assert_eq!(figures.throughput_per_second, 11.0);
    // As the count of a load is, so is that of each of its requests.
    let several = cases::several_requests();
    let figures = LoadFigures::new(&several);
    let sum: f64 = figures
        .exchanges
        .iter()
        .map(|one| one.throughput_per_second)
        .sum();
    let all = figures.throughput_per_second;
    assert!((sum - all).abs() < 1e-6 * all, "{sum} {all}");
    // After a count, each rate of its requests is over their own time.
    let mut counted = cases::closed_fine();
    let seen = &mut counted.observation;
    seen.window = Duration::from_secs(5);
    seen.counted = Some(CountedTime::Closed {
        connections: 2,
        in_use: Duration::from_secs(8),
    });
    (seen.measured.issued, seen.measured.succeeded) = (40, 40);
    (seen.measured.carried_succeeded, seen.measured.in_flight) = (2, 0);
    let figures = LoadFigures::new(&counted);
    assert_eq!((figures.window_seconds, figures.answer_seconds), (5.0, 4.0));
    assert_eq!(
        (figures.throughput_per_second, figures.attempts_per_second),
        (10.0, 10.0)
    );
}

#[test]
fn fewer_streams_are_told_of_in_an_open_loop_only_if_requests_waited_for_one() {
    let mut record = cases::open_freeze();
    record.spec.protocol = Protocol::Http2 { streams: 8 };
    record.observation.fewest_streams = Some(2);
    let told = warning(&record, "streams").expect("requests waited for two seconds");
    assert!(told.advice.starts_with("Use more connections"), "{told:?}");
    let open = record.observation.open.as_mut().unwrap();
    open.unsent = 0;
    open.connection_wait = Default::default();
    for _ in 0..20_000 {
        open.connection_wait.record_ns(3_000);
    }
    assert_eq!(warning(&record, "streams"), None);
}

#[test]
fn a_report_has_one_share_of_the_requests_that_were_sent() {
    let mut record = cases::open_freeze();
    let open = record.observation.open.as_mut().unwrap();
    open.offered = 40_000;
    open.unsent = 4_000;
    open.oldest_unsent = Duration::from_secs(9);
    let phases = [
        (Failure::NoConnection, FailurePhase::Waiting, 4_000),
        (Failure::ConnectRefused, FailurePhase::Connect, 8_000),
        (Failure::Reset, FailurePhase::FirstByte, 4_000),
    ];
    for (kind, phase, many) in phases {
        failed(&mut record, kind, phase, "why", many);
    }
    let analysis = analyse(&record);
    assert_eq!(analysis.figures.sent_share, Some(0.6));
    let behind = warning(&record, "behind").unwrap();
    assert_eq!(figure(&behind, "sent_share"), 0.6);
    let said = "60.0 % of 40,000 offered requests were sent: 4,000 still waited for a free connection, the oldest for \
                9.00 s, 4,000 given up, 8,000 could not connect";
    assert!(behind.sentence.starts_with(said), "{behind:?}");
    let report = document(&record, &analysis).markdown();
    let offered = "60.0 % sent, 4,000 unsent at the end, 12,000 failed before they were sent";
    assert!(report.contains(offered), "{report}");
}
