//! The published JSON Schema is that of the code, and every report satisfies it.

use std::{env, fs, path::Path};

use deadheat_report::{standings, standings_schema};
use serde_json::Value;

use super::cases;
use crate::schema::{closed, satisfies};

/// The published schema. As insta does with its snapshots, it is written anew first where that was asked for.
fn published() -> Value {
    let file =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schemas/standings.schema.json");
    if env::var("INSTA_UPDATE").is_ok_and(|update| update == "always") {
        fs::write(&file, format!("{:#}\n", standings_schema())).expect("writing the schema");
    }
    let text = fs::read_to_string(&file).expect("reading the schema");
    serde_json::from_str(&text).expect("the schema is JSON")
}

#[test]
fn the_published_schema_is_that_of_the_code() {
    assert!(
        published() == standings_schema(),
        "docs/schemas/standings.schema.json is not the schema of what is written. Write it with `INSTA_UPDATE=always \
         cargo test -p deadheat-report schema`, and read the diff: a field that goes or changes its meaning raises \
         SCHEMA in crates/model/src/heats.rs"
    );
}

#[test]
fn every_report_satisfies_the_schema_and_has_all_that_is_shown() {
    let schema = standings_schema();
    let open = jsonschema::validator_for(&schema).expect("a JSON Schema");
    let closed = closed(schema);
    for case in cases::all() {
        let text = standings::json(&case.record, &case.standings).expect("a report");
        let report: Value = serde_json::from_str(&text).expect("JSON");
        satisfies(&open, case.name, &report);
        satisfies(&closed, case.name, &report);
        assert_eq!(report["schema"], 2);
        let view = case.view();
        for (shown, written) in view.loads.iter().zip(report["answers"].as_array().unwrap()) {
            assert_eq!(written["answer"], shown.answer.as_str());
        }
        assert_eq!(
            report["warnings"].as_array().unwrap().len(),
            view.warnings.len()
        );
    }
}

#[test]
fn a_changed_report_does_not_satisfy_it() {
    let schema = standings_schema();
    let open = jsonschema::validator_for(&schema).expect("a JSON Schema");
    let closed = closed(schema);
    let case = cases::named("few");
    let text = standings::json(&case.record, &case.standings).expect("a report");
    let whole: Value = serde_json::from_str(&text).expect("JSON");
    let mut report = whole.clone();
    report["standings"]["loads"][0]["tables"][0]["rows"][0]["answers"] = "many".into();
    assert!(!open.is_valid(&report));
    let mut report = whole;
    report["standings"]["loads"][0]["colour"] = "green".into();
    assert!(open.is_valid(&report) && !closed.is_valid(&report));
}
