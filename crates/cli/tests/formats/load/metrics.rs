//! What monitoring systems read: the grammar of OpenMetrics, OTLP beside it, and the record that both are of.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use deadheat_loadtool::document::{Source, open_metrics, otlp, otlp_request, readings};
use deadheat_model::{Failure, Interval, LoadPhase, LoadRecord};
use serde_json::Value;

use crate::{documentation, load_fixture as cases};

/// The loads of all fixtures, one in which every kind of failure came late, and one of a few microseconds.
fn records() -> Vec<(&'static str, LoadRecord)> {
    let mut late = cases::open_freeze();
    for kind in Failure::ALL {
        late.intervals[3].failed[*kind] = 2;
    }
    // One whose phases are over at once, as with few requests.
    let mut short = cases::open_freeze();
    for interval in &mut short.intervals {
        interval.from /= 1_000_000;
        interval.until /= 1_000_000;
    }
    let more = [("late failures", late), ("short", short)];
    cases::all().into_iter().chain(more).collect()
}

fn as_open_metrics(record: &LoadRecord) -> String {
    open_metrics(&Source::from_record(record), &readings(record))
}

/// A line with a value.
#[derive(Debug)]
struct Line {
    name: String,
    labels: BTreeMap<String, String>,
    value: f64,
    /// In milliseconds.
    at: u64,
}

/// Reads `name{key="value",…} value seconds.milliseconds`.
fn line(text: &str) -> Line {
    let (name, rest) = text.split_once('{').expect(text);
    assert!(
        name.bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte == b'_'),
        "{text}"
    );
    let mut labels = BTreeMap::new();
    let mut rest = rest;
    loop {
        let (key, after) = rest.split_once("=\"").expect(text);
        let mut value = String::new();
        let mut letters = after.char_indices();
        let end = loop {
            match letters.next().expect(text) {
                (_, '\\') => value.push(match letters.next().expect(text).1 {
                    'n' => '\n',
                    escaped => escaped,
                }),
                (end, '"') => break end,
                (_, letter) => value.push(letter),
            }
        };
        assert_eq!(labels.insert(key.to_owned(), value), None, "{text}");
        rest = &after[end + 1..];
        match rest.strip_prefix(',') {
            Some(next) => rest = next,
            None => break,
        }
    }
    let fields: Vec<&str> = rest.strip_prefix("} ").expect(text).split(' ').collect();
    let [value, at] = fields[..] else {
        panic!("{text}")
    };
    let (seconds, milliseconds) = at.split_once('.').expect(text);
    assert_eq!(milliseconds.len(), 3, "{text}");
    Line {
        name: name.to_owned(),
        labels,
        value: value.parse().expect(text),
        at: (seconds.to_owned() + milliseconds).parse().expect(text),
    }
}

/// A metric as it was written.
#[derive(Debug)]
struct Family {
    name: String,
    kind: String,
    lines: Vec<Line>,
}

/// The metrics of a text; panics where it breaks the grammar of OpenMetrics.
fn families(text: &str) -> Vec<Family> {
    let body = text.strip_suffix("# EOF\n").expect("the end is marked");
    let mut families: Vec<Family> = Vec::new();
    for written in body.lines() {
        if let Some(head) = written.strip_prefix("# TYPE ") {
            let (name, kind) = head.split_once(' ').unwrap();
            assert!(
                families.iter().all(|other| other.name != name),
                "{name} twice"
            );
            families.push(Family {
                name: name.to_owned(),
                kind: kind.to_owned(),
                lines: Vec::new(),
            });
            continue;
        }
        let family = families.last_mut().expect("a head before all else");
        if let Some(unit) = written.strip_prefix("# UNIT ") {
            let (name, unit) = unit.split_once(' ').unwrap();
            assert_eq!(name, family.name);
            assert!(name.ends_with(&format!("_{unit}")), "{written}");
        } else if let Some(help) = written.strip_prefix("# HELP ") {
            assert!(help.starts_with(&format!("{} ", family.name)), "{written}");
        } else {
            let line = line(written);
            let suffix = line.name.strip_prefix(&family.name);
            let allowed: &[&str] = match family.kind.as_str() {
                "info" => &["_info"],
                "counter" => &["_total"],
                "gauge" => &[""],
                "histogram" => &["_bucket", "_count", "_sum"],
                other => panic!("{other}"),
            };
            assert!(
                suffix.is_some_and(|suffix| allowed.contains(&suffix)),
                "{written}"
            );
            family.lines.push(line);
        }
    }
    families
}

/// The labels that tell a series from others: those of its buckets go together.
fn of_series(line: &Line) -> BTreeMap<String, String> {
    let mut labels = line.labels.clone();
    labels.remove("le");
    labels
}

#[test]
fn series_stand_together_and_go_forward() {
    for (name, record) in records() {
        for family in families(&as_open_metrics(&record)) {
            let mut seen = BTreeSet::new();
            let mut current: Option<(BTreeMap<String, String>, u64)> = None;
            for line in &family.lines {
                let series = of_series(line);
                match &current {
                    Some((own, at)) if *own == series => {
                        assert!(line.at >= *at, "{name}: {line:?}")
                    }
                    _ => assert!(seen.insert(series.clone()), "{name}: torn apart: {line:?}"),
                }
                current = Some((series, line.at));
            }
            let instants = family
                .lines
                .iter()
                .map(|line| (&line.name, &line.labels, line.at));
            let distinct: BTreeSet<_> = instants.collect();
            assert_eq!(
                distinct.len(),
                family.lines.len(),
                "{name}: {}",
                family.name
            );
        }
    }
}

#[test]
fn what_rises_begins_at_zero_and_never_falls() {
    for (name, record) in records() {
        for family in families(&as_open_metrics(&record)) {
            if !["counter", "histogram"].contains(&family.kind.as_str()) {
                continue;
            }
            let mut last = BTreeMap::new();
            for line in &family.lines {
                let series = (line.name.clone(), line.labels.clone());
                match last.insert(series, line.value) {
                    Some(before) => assert!(before <= line.value, "{name}: {line:?}"),
                    None => assert_eq!(line.value, 0.0, "{name}: {line:?}"),
                }
            }
        }
    }
}

#[test]
fn buckets_are_cumulative_and_the_last_has_all() {
    for (name, record) in records() {
        let families = families(&as_open_metrics(&record));
        for family in families.iter().filter(|family| family.kind == "histogram") {
            let mut points: BTreeMap<_, Vec<&Line>> = BTreeMap::new();
            for line in &family.lines {
                points
                    .entry((of_series(line), line.at))
                    .or_default()
                    .push(line);
            }
            for lines in points.into_values() {
                let [buckets @ .., count, sum] = &lines[..] else {
                    panic!("{name}: {lines:?}")
                };
                assert!(count.name.ends_with("_count") && sum.name.ends_with("_sum"));
                let bounds = buckets
                    .iter()
                    .map(|line| line.labels["le"].parse::<f64>().unwrap());
                assert!(bounds.is_sorted(), "{name}");
                assert!(buckets.is_sorted_by_key(|line| line.value), "{name}");
                let last = buckets.last().unwrap();
                assert_eq!(
                    (last.labels["le"].as_str(), last.value),
                    ("+Inf", count.value)
                );
                assert_eq!(count.value == 0.0, sum.value == 0.0, "{name}");
            }
        }
    }
}

/// The last value of the series of this name that have these values of labels, summed up.
fn last(families: &[Family], name: &str, values: &[&str]) -> f64 {
    let lines = families.iter().flat_map(|family| &family.lines);
    let fits = |line: &&Line| {
        let has = |value: &&str| line.labels.values().any(|other| other == value);
        line.name == name && values.iter().all(has)
    };
    let by_series: BTreeMap<_, f64> = lines
        .filter(fits)
        .map(|line| (&line.labels, line.value))
        .collect();
    by_series.values().sum()
}

#[test]
fn the_end_of_each_phase_is_what_was_recorded() {
    for (name, record) in records() {
        let families = families(&as_open_metrics(&record));
        let sum = |of: fn(&Interval) -> u64| record.intervals.iter().map(of).sum::<u64>() as f64;
        let value = |metric: &str, values: &[&str]| last(&families, metric, values);
        assert_eq!(
            value("deadheat_requests_total", &["valid"]),
            sum(|interval| interval.succeeded),
            "{name}"
        );
        assert_eq!(
            value("deadheat_requests_total", &["failed"]),
            sum(|interval| interval.failed.total()),
            "{name}"
        );
        assert_eq!(
            value("deadheat_requests_total", &["timeout"]),
            sum(|interval| interval.failed[Failure::Timeout]),
            "{name}"
        );
        assert_eq!(
            value("deadheat_sent_bytes_total", &[]),
            sum(|one| one.sent_bytes)
        );
        if record.intervals.is_empty() {
            continue;
        }
        let times = &record.observation.service_time;
        let of_measurement = |suffix: &str, le: &[&str]| {
            let name = format!("deadheat_service_time_seconds_{suffix}");
            value(&name, &[&["measurement"], le].concat())
        };
        assert_eq!(of_measurement("count", &[]), times.count() as f64, "{name}");
        let up_to = times.share_up_to(Duration::from_millis(10)) * times.count() as f64;
        assert_eq!(of_measurement("bucket", &["0.01"]), up_to.round(), "{name}");
        let all = times.mean().map_or(0.0, |mean| mean.as_secs_f64()) * times.count() as f64;
        let sum = of_measurement("sum", &[]);
        assert!(
            (sum - all).abs() <= 0.001 * all,
            "{name}: {sum} is not {all}"
        );
    }
}

/// What OTLP says, in OpenMetrics' terms: metric, attributes, nanoseconds, value (the count, of a distribution).
type Point = (String, BTreeMap<String, String>, u64, u64);

fn number(value: &Value) -> u64 {
    value.as_str().unwrap().parse().unwrap()
}

fn points(line: &str) -> Vec<Point> {
    let request: Value = serde_json::from_str(line).unwrap();
    let metrics = &request["resourceMetrics"][0]["scopeMetrics"][0]["metrics"];
    let mut points = Vec::new();
    for metric in metrics.as_array().unwrap() {
        let (data, field) = match metric.get("histogram") {
            Some(histogram) => (histogram, "count"),
            None => (&metric["sum"], "asInt"),
        };
        assert_eq!(data["aggregationTemporality"], 2);
        for point in data["dataPoints"].as_array().unwrap() {
            if let Some(buckets) = point["bucketCounts"].as_array() {
                let bounds = point["explicitBounds"].as_array().unwrap();
                assert_eq!(buckets.len(), bounds.len() + 1);
                assert_eq!(
                    buckets.iter().map(number).sum::<u64>(),
                    number(&point["count"])
                );
            }
            let (since, at) = (&point["startTimeUnixNano"], &point["timeUnixNano"]);
            assert!(number(since) <= number(at));
            let attributes = point["attributes"].as_array().unwrap().iter();
            let attributes = attributes.filter_map(|attribute| {
                let value = attribute["value"]["stringValue"].as_str()?;
                Some((
                    attribute["key"].as_str().unwrap().to_owned(),
                    value.to_owned(),
                ))
            });
            let name = metric["name"].as_str().unwrap().to_owned();
            points.push((
                name,
                attributes.collect(),
                number(at),
                number(&point[field]),
            ));
        }
    }
    points
}

#[test]
fn otlp_says_the_same_a_line_for_each_interval_and_all_in_one() {
    for (name, record) in records() {
        let text = otlp(&Source::from_record(&record), &readings(&record));
        assert_eq!(text.lines().count(), record.intervals.len(), "{name}");
        let mut apart: Vec<Point> = text.lines().flat_map(points).collect();
        let mut together = points(&otlp_request(
            &Source::from_record(&record),
            &readings(&record),
        ));
        apart.sort();
        together.sort();
        assert_eq!(apart, together, "{name}");

        let families = families(&as_open_metrics(&record));
        let lines = families.iter().flat_map(|family| &family.lines);
        let lines = lines.filter(|line| !line.labels.contains_key("le"));
        let values: BTreeSet<_> = lines
            .map(|line| {
                let phase = line.labels.get("phase").cloned();
                let error = line.labels.get("error_type").cloned();
                (line.name.clone(), phase, error, line.at, line.value as u64)
            })
            .collect();
        // Of instants in the same millisecond, OpenMetrics has the last.
        let by_instant: BTreeMap<_, u64> = apart
            .into_iter()
            .map(|(metric, attributes, at, value)| {
                ((metric, attributes, (at + 500_000) / 1_000_000), value)
            })
            .collect();
        for ((metric, attributes, at), value) in by_instant {
            let (phase, error) = (attributes.get("phase"), attributes.get("error.type"));
            let expected = (
                documented_name(&metric),
                phase.cloned(),
                error.cloned(),
                at,
                value,
            );
            assert!(values.contains(&expected), "{name}: {expected:?}");
        }
    }
}

/// The name in OpenMetrics that docs/metrics.md has beside one in OTLP.
fn documented_name(otlp: &str) -> String {
    let rows = documentation::rows("metrics.md", "## Metrics");
    let mut rows = rows.into_iter().map(|cells| {
        let [open_metrics, otlp] = [0, 1].map(|index| cells[index].trim_matches('`').to_owned());
        (open_metrics, otlp)
    });
    let found = rows.find(|(_, other)| other == otlp);
    let (open_metrics, _) = found.unwrap_or_else(|| panic!("docs/metrics.md has no {otlp}"));
    if open_metrics.ends_with("_seconds") {
        open_metrics + "_count"
    } else {
        open_metrics
    }
}

#[test]
fn every_metric_is_described_and_every_description_has_its_metric() {
    let mut written = BTreeSet::new();
    let mut labels = BTreeSet::new();
    for (_, record) in records() {
        for family in families(&as_open_metrics(&record)) {
            let suffix = match family.kind.as_str() {
                "info" => "_info",
                "counter" => "_total",
                _ => "",
            };
            written.insert(family.name + suffix);
            labels.extend(
                family
                    .lines
                    .into_iter()
                    .flat_map(|line| line.labels.into_keys()),
            );
        }
    }
    let described = |heading| {
        let rows = documentation::rows("metrics.md", heading).into_iter();
        let first = rows.map(|cells| cells[0].trim_matches('`').to_owned());
        first.collect::<BTreeSet<_>>()
    };
    assert_eq!(described("## Metrics"), written);
    assert_eq!(described("## Labels"), labels);
}

#[test]
fn phases_are_apart_and_any_url_can_be_a_label() {
    let mut record = cases::closed_fine();
    record.url = "http://localhost/\"quoted\"\n".to_owned();
    let text = as_open_metrics(&record);
    let families = families(&text);
    let warm_up = |interval: &&Interval| interval.phase == LoadPhase::WarmUp;
    let intervals = record.intervals.iter().filter(warm_up);
    let expected: u64 = intervals.map(|interval| interval.succeeded).sum();
    let found = last(&families, "deadheat_requests_total", &["warm-up", "valid"]);
    assert_eq!(found, expected as f64);
    let urls: BTreeSet<&String> = families
        .iter()
        .flat_map(|family| family.lines.iter().map(|line| &line.labels["url"]))
        .collect();
    assert_eq!(urls, BTreeSet::from([&record.url]));
}
