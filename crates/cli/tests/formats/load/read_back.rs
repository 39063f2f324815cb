//! What is written for other programs is read back as they read it.

use std::time::{Duration, SystemTime};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use deadheat_loadtool::{
    analysis::analyse,
    document::{RESPONSE_TIME_TAG, SERVICE_TIME_TAG, hdr_log, hgrm, hgrm_of, json},
};
use deadheat_model::{Interval, LatencyHistogram, LoadPhase, LoadRecord, Observation};
use hdrhistogram::{
    Histogram,
    serialization::{
        Deserializer,
        interval_log::{IntervalLogIterator, LogEntry},
    },
};

use crate::load_fixture as cases;

/// The sum of a log's histograms under one tag, with their number.
fn sum(log: &str, tag: &str) -> (Histogram<u64>, usize) {
    let mut sum = Histogram::<u64>::new(3).unwrap();
    let mut number = 0;
    for entry in IntervalLogIterator::new(log.as_bytes()) {
        let LogEntry::Interval(interval) = entry.unwrap() else {
            continue;
        };
        if interval.tag().unwrap().as_str() != tag {
            continue;
        }
        let bytes = STANDARD.decode(interval.encoded_histogram()).unwrap();
        let read: Histogram<u64> = Deserializer::new()
            .deserialize(&mut bytes.as_slice())
            .unwrap();
        let most = read.max() as f64 / 1e6;
        assert!(
            (interval.max() - most).abs() < 0.001,
            "{} is not {most} ms",
            interval.max()
        );
        sum.add(read).unwrap();
        number += 1;
    }
    (sum, number)
}

fn same(read: &Histogram<u64>, recorded: &LatencyHistogram, what: &str) {
    assert_eq!(read.len(), recorded.count(), "{what}");
    for quantile in [0.0, 0.5, 0.99, 0.999, 1.0] {
        let expected = recorded
            .quantile(quantile)
            .map(|found| found.as_nanos() as u64);
        let expected = expected.unwrap_or(0);
        let found = read.value_at_quantile(quantile);
        assert!(
            read.equivalent(found, expected),
            "{what} at {quantile}: {found}, not {expected}"
        );
    }
}

#[test]
fn the_log_holds_every_interval_of_the_measurement_and_adds_up_to_the_load() {
    for (name, record) in cases::all() {
        let log = hdr_log(&record).unwrap();
        assert!(
            log.starts_with("#[Histogram log format version 1.3]\n"),
            "{name}"
        );
        let measured = |record: &LoadRecord| {
            let intervals = record.intervals.iter();
            intervals
                .filter(|one| one.phase == LoadPhase::Measurement)
                .count()
        };
        let (service, number) = sum(&log, SERVICE_TIME_TAG);
        assert_eq!(number, measured(&record).max(1), "{name}");
        same(&service, &record.observation.service_time, name);
        let (response, number) = sum(&log, RESPONSE_TIME_TAG);
        match &record.observation.open {
            Some(open) => same(&response, &open.response_time, name),
            None => assert_eq!(number, 0, "{name}"),
        }
    }
}

#[test]
fn the_log_says_when_the_load_started_and_each_interval_after_it() {
    let log = hdr_log(&cases::closed_fine()).unwrap();
    let entries: Vec<_> = IntervalLogIterator::new(log.as_bytes())
        .map(Result::unwrap)
        .collect();
    let started = humantime::parse_rfc3339("2026-03-01T10:00:00Z").unwrap();
    let since_epoch = started.duration_since(SystemTime::UNIX_EPOCH).unwrap();
    assert_eq!(entries[0], LogEntry::StartTime(since_epoch));
    let spans = entries[1..].iter().map(|entry| match entry {
        LogEntry::Interval(interval) => (interval.start_timestamp(), interval.duration()),
        other => panic!("{other:?}"),
    });
    let second = Duration::from_secs(1);
    // The first second was the warm-up.
    let expected: Vec<_> = (1..=10).map(|from| (from * second, second)).collect();
    assert_eq!(spans.collect::<Vec<_>>(), expected);
}

/// The rows of a distribution: value in ms, percentile, count.
fn rows(text: &str) -> Vec<(f64, f64, u64)> {
    let lines = text.lines().skip(2).filter(|line| !line.starts_with('#'));
    let row = |line: &str| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let number = |index: usize| -> f64 { fields[index].parse().unwrap() };
        if number(1) < 1.0 {
            let inverse = 1.0 / (1.0 - number(1));
            assert!((number(3) / inverse - 1.0).abs() < 0.01, "{line}");
        } else {
            assert_eq!(fields.len(), 3, "{line}");
        }
        (number(0), number(1), fields[2].parse().unwrap())
    };
    lines.map(row).collect()
}

#[test]
fn a_distribution_rises_to_the_maximum_and_counts_all() {
    for (name, record) in cases::all() {
        let open = record.observation.open.as_ref();
        let histogram = open.map_or(&record.observation.service_time, |open| &open.response_time);
        let text = hgrm(&record);
        let rows = rows(&text);
        let rising = rows
            .windows(2)
            .all(|pair| pair[0].0 <= pair[1].0 && pair[0].1 <= pair[1].1 && pair[0].2 <= pair[1].2);
        assert!(rising, "{name}: {text}");
        let total = rows.last().map_or(0, |last| last.2);
        assert_eq!(total, histogram.count(), "{name}");
        let most = histogram.max().map_or(0.0, |most| most.as_secs_f64() * 1e3);
        assert!(
            rows.last().is_none_or(|last| (last.0 - most).abs() < 0.001),
            "{name}"
        );
        // Each row says how many took no longer: compared with the histogram itself.
        for (ms, _, count) in &rows {
            let share = histogram.share_up_to(Duration::from_secs_f64(ms / 1e3));
            let expected = share * histogram.count() as f64;
            let slack = 1.0 + 0.01 * histogram.count() as f64;
            assert!(
                (expected - *count as f64).abs() <= slack,
                "{name}: {ms} ms: {count}, not {expected}"
            );
        }
    }
}

#[test]
fn a_distribution_s_footer_says_how_the_histogram_is_made() {
    let mut histogram = LatencyHistogram::new();
    histogram.record_ns(1_000_000);
    histogram.record_ns(3_000_000);
    let text = hgrm_of(&histogram);
    let footer: Vec<&str> = text.lines().filter(|line| line.starts_with('#')).collect();
    // HdrHistogram's own arithmetic: 2,048 sub-buckets of 512 ns, doubled until an hour fits.
    assert_eq!(
        footer,
        [
            "#[Mean    =        2.000, StdDeviation   =        1.000]",
            "#[Max     =        3.000, Total count    =            2]",
            "#[Buckets =           23, SubBuckets     =         2048]",
        ]
    );
}

#[test]
fn the_json_holds_everything_that_was_found() {
    for (name, record) in cases::all() {
        let text = json(&record, &analyse(&record)).unwrap();
        let document: serde_json::Value = serde_json::from_str(&text).unwrap();
        // A histogram that was read back holds its values to three digits: so both are read back.
        let kept = serde_json::to_value(&record).unwrap();
        let read = |from: &serde_json::Value| -> (Observation, Vec<Interval>) {
            (
                serde_json::from_value(from["observation"].clone()).unwrap(),
                serde_json::from_value(from["intervals"].clone()).unwrap(),
            )
        };
        assert!(read(&document) == read(&kept), "{name}");
        let (observation, intervals) = read(&document);
        assert_eq!(observation.measured, record.observation.measured, "{name}");
        assert_eq!(intervals.len(), record.intervals.len(), "{name}");
        let count = |of: &Observation| of.service_time.count();
        assert_eq!(count(&observation), count(&record.observation), "{name}");
    }
}
