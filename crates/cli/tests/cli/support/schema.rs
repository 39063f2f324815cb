//! The published JSON Schema of the report, as somebody else's program would use it.

use std::fs;

use serde_json::Value;

use super::root::project;

/// Asserts that a report for programs satisfies the schema.
#[track_caller]
pub fn assert_satisfied(report: &Value) {
    let file = project().join("docs/schemas/report.schema.json");
    let schema = fs::read_to_string(file).expect("reading the schema");
    let schema: Value = serde_json::from_str(&schema).expect("the schema is JSON");
    let validator = jsonschema::validator_for(&schema).expect("a JSON Schema");
    let errors: Vec<String> = validator
        .iter_errors(report)
        .map(|error| format!("{}: {error:.200}", error.instance_path()))
        .collect();
    assert!(
        errors.is_empty(),
        "the report does not satisfy docs/schemas/report.schema.json:\n{}",
        errors.join("\n")
    );
}
