//! The published JSON Schemas, as somebody else's program would use them.

use std::{
    collections::BTreeMap,
    fs,
    sync::{Mutex, PoisonError},
};

use jsonschema::Validator;
use serde_json::Value;

use super::root::project;

/// The schema of this name. It is compiled once: that takes longer than to read most documents.
fn validator(name: &str) -> Validator {
    static COMPILED: Mutex<BTreeMap<String, Validator>> = Mutex::new(BTreeMap::new());
    let mut compiled = COMPILED.lock().unwrap_or_else(PoisonError::into_inner);
    let compile = || {
        let file = project().join(format!("docs/schemas/{name}.schema.json"));
        let schema = fs::read_to_string(file).expect("reading the schema");
        let schema: Value = serde_json::from_str(&schema).expect("the schema is JSON");
        jsonschema::validator_for(&schema).expect("a JSON Schema")
    };
    compiled
        .entry(name.to_owned())
        .or_insert_with(compile)
        .clone()
}

/// Asserts that documents for programs satisfy the schema of this name.
#[track_caller]
pub fn assert_satisfied<'a>(name: &str, documents: impl IntoIterator<Item = &'a Value>) {
    let validator = validator(name);
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
