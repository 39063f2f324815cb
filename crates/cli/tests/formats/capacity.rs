//! Every output of a search for the highest rate, from searches built by hand.

use std::{collections::BTreeMap, time::Duration};

use deadheat_document::text::Screen;
use deadheat_loadtool::find_rate::document::{csv, document, html, json};
use deadheat_model::capacity::{
    Burst, CapacityRecord, Condition, DeclaredSettings, FORMAT, ProbeOutcome, ProbeRecord, SCHEMA,
    Unit,
};
use deadheat_stats::capacity::analyse;
use serde_json::Value;

use crate::{
    load_fixture as cases,
    schema::{closed, published, rows, satisfies, unwritten},
};

/// A search whose probes are these rates, each with what became of it.
fn search(probes: &[(f64, ProbeOutcome)]) -> CapacityRecord {
    let load = cases::open_freeze();
    let probes = probes.iter().map(|(per_second, outcome)| {
        let value = match outcome {
            ProbeOutcome::Held => 0.012,
            ProbeOutcome::Failed | ProbeOutcome::Discarded => 0.345,
        };
        ProbeRecord {
            per_second: *per_second,
            length: Duration::from_secs(5),
            most_connections: 100,
            outcome: *outcome,
            why: match outcome {
                ProbeOutcome::Held => None,
                ProbeOutcome::Failed => Some("p99 was 345 ms".to_owned()),
                ProbeOutcome::Discarded => {
                    Some("Worker 0 was busy for 98 % of its time.".to_owned())
                }
            },
            values: vec![Some(value), None],
            observation: load.observation.clone(),
        }
    });
    let probes: Vec<ProbeRecord> = probes.collect();
    let condition = |text: &str, figure: &str, unit, bound| Condition {
        condition: text.to_owned(),
        figure: figure.to_owned(),
        unit,
        bound,
    };
    CapacityRecord {
        schema: SCHEMA,
        format: FORMAT.to_owned(),
        deadheat: "0.1.0".to_owned(),
        started: load.started,
        url: "http://localhost:8080/<b>".to_owned(),
        machine: load.machine,
        hosts: vec!["load1".to_owned()],
        conditions: vec![
            condition("p99 < 50 ms", "p99", Unit::Seconds, 0.05),
            condition("errors < 1 %", "errors", Unit::Share, 0.01),
        ],
        declared: DeclaredSettings {
            probes: 20,
            probe_length: Duration::from_secs(5),
            requests: 1_000,
            precision: 0.05,
            most_connections: None,
        },
        spec: load.spec,
        interrupted: false,
        elapsed: Duration::from_secs(92),
        burst: Burst {
            per_second: 5_000.0,
            least_per_second: 60.0,
            most_per_second: 10_000.0,
            observation: load.observation,
        },
        probes,
    }
}

use ProbeOutcome::{Discarded, Failed, Held};

/// One with each outcome.
pub fn all() -> BTreeMap<&'static str, CapacityRecord> {
    let mut steep = Vec::new();
    for _ in 0..5 {
        steep.extend([(4_700.0, Held), (4_900.0, Failed)]);
    }
    BTreeMap::from([
        ("found", search(&steep)),
        ("wide", search(&[(4_000.0, Held), (6_000.0, Failed)])),
        (
            "soft",
            search(&[
                (3_000.0, Failed),
                (3_500.0, Held),
                (4_000.0, Failed),
                (4_500.0, Held),
                (5_000.0, Failed),
                (5_500.0, Held),
                (6_000.0, Failed),
            ]),
        ),
        ("below", search(&[(60.0, Failed); 9])),
        (
            "limited",
            search(&[(4_000.0, Held), (6_000.0, Discarded), (6_000.0, Discarded)]),
        ),
        ("undecided", search(&[(4_000.0, Held)])),
        // What held at a higher rate shows that the generator was not at its limit.
        (
            "disturbed",
            search(&[(1_000.0, Discarded), (1_000.0, Discarded), (4_000.0, Held)]),
        ),
    ])
}

fn shown(record: &CapacityRecord) -> String {
    document(record, &analyse(record)).text(Screen::new(80, false))
}

#[test]
fn the_first_line_is_the_answer_and_a_warning_is_what_changes_a_decision() {
    let all = all();
    for (name, first, warning) in [
        (
            "found",
            "Highest rate with p99 < 50 ms and errors < 1 % in nearly all trials: 4,",
            None,
        ),
        ("wide", "Highest rate with", Some("wider than ± 5 %")),
        (
            "soft",
            "Highest rate with",
            Some("some trials meet the conditions"),
        ),
        (
            "below",
            "No rate found: p99 < 50 ms and errors < 1 % do not hold even at 60.0/s",
            Some("longer trials"),
        ),
        (
            "limited",
            "No rate found: p99 < 50 ms and errors < 1 % hold up to 4,000/s, and the generator was the limit from 6,000/s on",
            Some("more CPUs"),
        ),
        (
            "undecided",
            "No rate found: p99 < 50 ms and errors < 1 % hold at 4,000/s",
            Some("--trials"),
        ),
        (
            "disturbed",
            "No rate found: p99 < 50 ms and errors < 1 % hold at 4,000/s",
            Some("--trials"),
        ),
    ] {
        let shown = shown(&all[name]);
        let flat = shown.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(flat.starts_with(first), "{name}: {shown}");
        match warning {
            Some(warning) => assert!(flat.contains(warning), "{name}: {shown}"),
            None => assert!(!shown.contains("\n! "), "{name}: {shown}"),
        }
        assert!(
            shown.lines().all(|line| line.chars().count() <= 80),
            "{shown}"
        );
    }
    let mut interrupted = all["found"].clone();
    interrupted.interrupted = true;
    assert!(shown(&interrupted).contains("! The search was interrupted"));
}

#[test]
fn streams_of_http2_are_said_with_the_connections() {
    let mut record = search(&[(100.0, ProbeOutcome::Held)]);
    record.spec.protocol = deadheat_model::load::Protocol::Http2 { streams: 50 };
    let text = shown(&record);
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        text.contains("connections × 50 streams of HTTP/2 (h2c); trials"),
        "{text}"
    );
}

#[test]
fn the_probes_stand_in_the_order_of_their_rates() {
    let shown = shown(&all()["soft"]);
    let rates: Vec<&str> = shown
        .lines()
        .filter_map(|line| line.trim().split_once("/s ").map(|(rate, _)| rate))
        .filter(|rate| rate.ends_with("00"))
        .collect();
    assert_eq!(rates[..3], ["3,000", "3,500", "4,000"], "{shown}");
}

#[test]
fn the_document_is_read_back_as_the_same_search() {
    for (name, record) in all() {
        let text = json(&record, &analyse(&record)).unwrap();
        let read: CapacityRecord = serde_json::from_str(&text).unwrap();
        // Not compared as a whole: what is said of a difference would be megabytes.
        assert!(read == record, "{name}");
    }
}

#[test]
fn every_field_is_in_its_schema_and_the_schema_has_no_others() {
    // What loads have, too, is asked of loads.
    let own = |path: &String| match path.strip_prefix("/$defs/") {
        Some(definition) => ["Burst/", "Condition/", "DeclaredSettings/", "ProbeRecord/"]
            .iter()
            .any(|name| definition.starts_with(name)),
        None => true,
    };
    let schema = published("find-rate");
    let closed_schema = closed(schema.clone());
    let mut documents = Vec::new();
    for (name, record) in all() {
        let text = json(&record, &analyse(&record)).unwrap();
        let document: Value = serde_json::from_str(&text).unwrap();
        satisfies(&closed_schema, name, &document);
        documents.push(document);
    }
    let missing: Vec<String> = unwritten(&schema, &documents)
        .into_iter()
        .filter(own)
        .collect();
    let none: [String; 0] = [];
    assert_eq!(missing, none);

    let schema = published("find-rate-csv");
    let closed_schema = closed(schema.clone());
    for record in all().values() {
        for row in rows(&csv(record), &schema) {
            satisfies(&closed_schema, "a row", &row);
        }
    }
}

#[test]
fn the_table_has_a_row_for_each_probe() {
    let table = csv(&all()["limited"]);
    let lines: Vec<&str> = table.lines().collect();
    assert_eq!(lines.len(), 4);
    let documented = "look,per_second,seconds,outcome,offered,succeeded,failed,answers_per_second";
    assert_eq!(lines[0], format!("{documented},p99_seconds,errors_share"));
    assert!(lines[1].starts_with("1,4000,5,held,"), "{table}");
    assert!(lines[3].ends_with(",0.345,"), "{table}");
}

#[test]
fn the_page_has_a_plot_for_each_condition_with_a_value_and_no_markup_of_others() {
    let record = &all()["found"];
    let page = html(record, &analyse(record)).unwrap();
    assert!(page.contains("p99 at each rate"), "{page}");
    assert!(page.contains("95 % interval of the highest rate"));
    assert!(!page.contains("8080/<b>"));
    assert!(
        !page.contains("errors at each rate"),
        "a condition without a value has no plot"
    );
}
