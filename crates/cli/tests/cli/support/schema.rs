//! The published JSON Schemas, as somebody else's program would use them.

use std::fs;

use serde_json::Value;

use super::root::project;

/// Asserts that documents for programs satisfy the schema of this name.
#[track_caller]
pub fn assert_satisfied<'a>(name: &str, documents: impl IntoIterator<Item = &'a Value>) {
    let file = project().join(format!("docs/schemas/{name}.schema.json"));
    let schema = fs::read_to_string(file).expect("reading the schema");
    let schema: Value = serde_json::from_str(&schema).expect("the schema is JSON");
    let validator = jsonschema::validator_for(&schema).expect("a JSON Schema");
    let errors: Vec<String> = documents
        .into_iter()
        .flat_map(|document| validator.iter_errors(document))
        .map(|error| format!("{}: {error:.200}", error.instance_path()))
        .collect();
    assert!(
        errors.is_empty(),
        "docs/schemas/{name}.schema.json is not satisfied:\n{}",
        errors.join("\n")
    );
}
