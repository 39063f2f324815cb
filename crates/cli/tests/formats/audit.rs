//! An audit of a suite's table with a fault of each kind, and names from outside.

use deadheat_compare::audit::{
    analysis::{Assumptions, Audit, audit},
    document::{document, html, json},
};
use deadheat_document::text::Screen;
use deadheat_import::import;

use crate::{
    schema::{closed, published, satisfies},
    standings::cases::HOSTILE,
};

/// Twelve servers at 100 connections, in two tables of different dates.
fn audited() -> Audit {
    let row = |place: u32, rate: u32| {
        let name = match place {
            0 => serde_json::to_string(HOSTILE[1]).expect("a text"),
            _ => format!("\"server-{place}\""),
        };
        let (mean, errors) = match place {
            1 => (400.0, 0),
            2 => (99.0, rate / 2),
            3 => (40.0, 0),
            _ => (99.0, 0),
        };
        let mean = mean * 1e3 / f64::from(rate);
        let (answers, cpus) = (rate * 5, 100 + 500 * place);
        format!(
            r#"{{"framework": {name}, "rps": {rate}, "avg_latency": "{mean:.4}ms", "p99_latency": "{mean:.4}ms",
                "cpu": "{cpus}.0%", "connections": 100, "duration": "5s", "pipeline": 1,
                "status_2xx": {answers}, "status_3xx": 0, "status_4xx": {errors}, "status_5xx": 0}}"#,
        )
    };
    let table = |change: u32| {
        let rate = |place: u32| 10_000 + place * place * 500 + change * (place + 1);
        let rows: Vec<String> = (0..12).map(|place| row(place, rate(place))).collect();
        format!("[{}]", rows.join(",\n")).into_bytes()
    };
    let files = [
        ("old/json-100.json".to_owned(), table(0)),
        ("json-100.json".to_owned(), table(30)),
        ("json-200.json".to_owned(), b"[]".to_vec()),
    ];
    let imported = import(&files, None).expect("whole tables");
    audit(&imported, Assumptions::default())
}

#[test]
fn text_at_80_columns() {
    let text = document(&audited()).text(Screen::new(80, false));
    for line in text.lines() {
        assert!(line.chars().count() <= 80, "{line}");
    }
    insta::assert_snapshot!(text);
}

#[test]
fn json_satisfies_its_schema_and_the_page_has_it() {
    let audit = audited();
    let text = json(&audit).expect("figures are numbers");
    let value: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    satisfies(&closed(published("audit")), "audit", &value);
    assert_eq!(value["format"], "deadheat-audit");
    assert_eq!(
        value["tests"][0]["places"].as_array().map(Vec::len),
        Some(12)
    );
    let page = html(&audit).expect("a page");
    assert!(page.contains("of 12 places are proven"));
}
