//! The history of sessions, from the ugly cases too.

use deadheat_model::{SessionRecord, session::EndReason};
use deadheat_report::history::{json, text};
use deadheat_stats::history::History;

use crate::cases;

/// One session after the other, of stacks that come and go, on a machine that changes.
fn history() -> History {
    let later = |mut record: SessionRecord, id: &str| {
        record.header.id = id.to_owned();
        record.header.machine.kernel = "6.18.0-newer".to_owned();
        record.header.commit = Some("fedcba9876543210".to_owned());
        record.header.machine.mitigations = vec!["a_long_list: of many mitigations; ".repeat(9)];
        for target in &mut record.header.targets {
            for found in &mut target.versions {
                found.version = "2.0.0".to_owned();
            }
        }
        record.end = Some(EndReason::Interrupted);
        record
    };
    let sessions = [
        cases::plausible(),
        later(cases::plausible(), "20260302-100000-2a"),
        cases::failures_only(),
        cases::lost_block(),
    ];
    let mut history = History::default();
    for record in &sessions {
        history.add(record, |cell| cell.workload == "json");
    }
    history
}

#[test]
fn text_at_80_columns() {
    let text = text(&history(), 80);
    for line in text.lines() {
        assert!(line.chars().count() <= 80, "{line}");
    }
    insta::assert_snapshot!(text);
}

#[test]
fn json_has_a_version_and_every_session() {
    let text = json(&history()).unwrap();
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(value["schema"], 1);
    assert_eq!(value["format"], "deadheat-history");
    assert_eq!(value["sessions"].as_array().unwrap().len(), 4);
    let series = value["series"].as_array().unwrap();
    let mut series = series.iter();
    let axum = series.find(|one| one["target"] == "rust-axum").unwrap();
    let point = &axum["points"][0];
    assert!(
        point["throughput_per_second"]["interval"]["low"].as_f64() > Some(0.0),
        "{point}"
    );
}
