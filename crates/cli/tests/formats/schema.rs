//! The published JSON Schemas: they are those of the code, every report satisfies its own, and a report that was changed
//! does not.

use std::{
    collections::{BTreeMap, BTreeSet},
    env, fs,
    path::{Path, PathBuf},
    sync::{Once, OnceLock},
};

use crate::{
    schemas::schemas,
    standings::cases::{self, Case},
};
use deadheat_bench::document as standings;
use deadheat_model::{
    Failure, Observation,
    failure::FailurePhase,
    observation::{FailureExample, FailureGroup, TlsSeen},
    session::{Phase, StackFailure, TargetState, WorkloadFailure},
};
use jsonschema::Validator;
use serde_json::{Value, json};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schemas")
}

/// A published schema. As insta does with its snapshots, all are written anew first if that is asked for: one command
/// accepts all that a change of a format changes.
pub fn published(name: &str) -> Value {
    static WRITTEN: Once = Once::new();
    WRITTEN.call_once(|| {
        if env::var("INSTA_UPDATE").is_ok_and(|update| update == "always") {
            for (name, schema) in schemas() {
                let file = folder().join(format!("{name}.schema.json"));
                fs::write(&file, format!("{schema:#}\n")).expect("writing a schema");
            }
        }
    });
    let file = folder().join(format!("{name}.schema.json"));
    let text = fs::read_to_string(&file)
        .unwrap_or_else(|error| panic!("reading {}: {error}", file.display()));
    serde_json::from_str(&text).expect("the schema is JSON")
}

#[test]
fn the_published_schemas_are_those_of_the_code() {
    let mut names = BTreeSet::new();
    for (name, generated) in schemas() {
        let published = published(name);
        let shown = [&published, &generated].map(|schema| format!("{schema:#}"));
        let mut lines = shown[0].lines().zip(shown[1].lines());
        let first = lines.find(|(published, generated)| published != generated);
        assert!(
            published == generated,
            "docs/schemas/{name}.schema.json is not the schema of what is written; the first line that differs, \
             published and written: {first:?}. Write it with `INSTA_UPDATE=always cargo test --workspace --test formats schema`, \
             and read the diff: a field that is removed or changes its meaning raises the format's SCHEMA"
        );
        names.insert(format!("{name}.schema.json"));
    }
    let files = fs::read_dir(folder())
        .expect("listing the schemas")
        .flatten();
    let files: BTreeSet<String> = files
        .map(|file| file.file_name().to_string_lossy().into_owned())
        .collect();
    assert_eq!(files, names);
}

/// Where a schema describes fields: the path of each in the schema, with what describes it.
fn described<'a>(schema: &'a Value, path: &str, found: &mut BTreeMap<String, &'a Value>) {
    let Some(keywords) = schema.as_object() else {
        return;
    };
    for (keyword, value) in keywords {
        let path = format!("{path}/{keyword}");
        match value {
            Value::Object(map)
                if ["properties", "patternProperties", "$defs"].contains(&&**keyword) =>
            {
                for (name, below) in map {
                    let path = format!("{path}/{name}");
                    if keyword != "$defs" {
                        found.insert(path.clone(), below);
                    }
                    described(below, &path, found);
                }
            }
            Value::Object(_) => described(value, &path, found),
            Value::Array(list) => {
                for (index, below) in list.iter().enumerate() {
                    described(below, &format!("{path}/{index}"), found);
                }
            }
            _ => {}
        }
    }
}

#[test]
fn every_field_has_a_description_and_every_time_a_unit() {
    let mut wrong = Vec::new();
    for (name, schema) in schemas() {
        let mut fields = BTreeMap::new();
        described(&schema, "", &mut fields);
        for (path, field) in fields {
            let text = field["description"].as_str().unwrap_or_default();
            // What tells the variants of an enum apart has one value in each; a variant's only field is described with it.
            let object = path
                .rsplitn(3, '/')
                .nth(2)
                .and_then(|path| schema.pointer(path));
            let is_of_variant = path.contains("/oneOf/")
                && object.is_some_and(|one| one["description"].is_string());
            if text.is_empty() && field["const"].is_null() && !is_of_variant && !path.contains("/^")
            {
                wrong.push(format!("{name}{path} has no description"));
            }
            if ["`None`", "[`", "so long", "so many"]
                .iter()
                .any(|part| text.contains(part))
            {
                wrong.push(format!("{name}{path}: {text}"));
            }
            let is_time = field["minimum"] == 0 && field["type"].to_string().contains("number");
            if is_time && !path.contains("seconds") && !text.contains("second") {
                wrong.push(format!("{name}{path} has no unit"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The fields of a schema that none of these documents has.
pub fn unwritten(schema: &Value, documents: &[Value]) -> Vec<String> {
    let mut all = BTreeMap::new();
    described(schema, "", &mut all);
    let mut seen = BTreeSet::new();
    for document in documents {
        mark(schema, schema, String::new(), document, &mut seen);
    }
    all.into_keys()
        .filter(|path| !seen.contains(path))
        .collect()
}

/// Notes the fields that a value has.
fn mark(root: &Value, schema: &Value, path: String, value: &Value, seen: &mut BTreeSet<String>) {
    if let Some(definition) = schema["$ref"].as_str() {
        let pointer = definition.trim_start_matches('#');
        let target = root.pointer(pointer).expect("what it refers to");
        mark(root, target, pointer.to_owned(), value, seen);
    }
    for keyword in ["allOf", "anyOf", "oneOf"] {
        for (index, branch) in schema[keyword].as_array().into_iter().flatten().enumerate() {
            mark(
                root,
                branch,
                format!("{path}/{keyword}/{index}"),
                value,
                seen,
            );
        }
    }
    if let Some(fields) = schema["properties"].as_object() {
        let is_other = |(name, field): (&String, &Value)| {
            !field["const"].is_null() && value[name] != field["const"]
        };
        if fields.iter().any(is_other) {
            return;
        }
        for (name, field) in fields {
            if let Some(below) = value.get(name) {
                let path = format!("{path}/properties/{name}");
                seen.insert(path.clone());
                mark(root, field, path, below, seen);
            }
        }
    }
    for pattern in schema["patternProperties"]
        .as_object()
        .into_iter()
        .flatten()
    {
        seen.insert(format!("{path}/patternProperties/{}", pattern.0));
    }
    for element in value.as_array().into_iter().flatten() {
        mark(
            root,
            &schema["items"],
            format!("{path}/items"),
            element,
            seen,
        );
    }
    if let Some(members) = value.as_object() {
        for below in members.values() {
            let path = format!("{path}/additionalProperties");
            mark(root, &schema["additionalProperties"], path, below, seen);
        }
    }
}

/// A row of a table for each line, as an object by the names of its columns.
pub fn rows(table: &str, schema: &Value) -> Vec<Value> {
    let mut reader = csv::Reader::from_reader(table.as_bytes());
    let names = reader.headers().expect("a head").clone();
    let value = |name: &str, cell: &str| {
        let kind = schema["properties"][name]["type"].to_string();
        match cell {
            "" if kind != "\"string\"" => Value::Null,
            cell if kind.contains("string") => cell.into(),
            cell => serde_json::from_str(cell).unwrap_or_else(|_| cell.into()),
        }
    };
    let row = |record: csv::StringRecord| {
        let cells = names.iter().zip(record.iter());
        cells
            .map(|(name, cell)| (name.to_owned(), value(name, cell)))
            .collect()
    };
    reader
        .records()
        .map(|record| row(record.expect("a row")))
        .collect()
}

/// A failed check of a stack under load, with all that a load can tell: the only place where a report holds what a load
/// found as it was recorded.
fn failed_check() -> Case {
    let mut case = cases::named("usual");
    let load = Observation {
        statuses: [(200, 1_000), (500, 3)].into(),
        failures: vec![FailureGroup {
            kind: Failure::WrongStatus,
            phase: FailurePhase::Body,
            cause: "500".to_owned(),
            measured: 3,
            total: 3,
        }],
        examples: vec![FailureExample {
            kind: Failure::WrongStatus,
            detail: "HTTP/1.1 500".to_owned(),
        }],
        tls: Some(TlsSeen::default()),
        ..Observation::default()
    };
    let failure = StackFailure {
        phase: Phase::Load,
        reason: "500 instead of 200".to_owned(),
        log_tail: vec!["panic".to_owned()],
        load: Some(Box::new(load)),
    };
    let targets = &mut case.record.header.targets;
    targets[0].failed_workloads = vec![WorkloadFailure {
        workload: "json".to_owned(),
        failure: failure.clone(),
    }];
    targets[1].state = TargetState::Failed(failure);
    case
}

/// All fixtures' reports as they are written, the small ones first. They are made once: it takes its time.
fn reports() -> Vec<(&'static str, Value)> {
    static ALL: OnceLock<Vec<(&'static str, Value)>> = OnceLock::new();
    let make = || {
        let text = |case: &Case| standings::json(&case.record, &case.standings).expect("a report");
        let all = cases::all();
        let mut texts: Vec<_> = all.iter().map(|case| (case.name, text(case))).collect();
        texts.push(("failed-check", text(&failed_check())));
        texts.sort_by_key(|(_, text)| text.len());
        let parse = |text: String| serde_json::from_str(&text).expect("a report is JSON");
        let reports = texts.into_iter().map(|(name, text)| (name, parse(text)));
        reports.collect()
    };
    ALL.get_or_init(make).clone()
}

/// A schema that allows no fields but those that it names. The published one allows others, for readers of what a later
/// Deadheat writes; what this one writes has none.
pub fn closed(mut schema: Value) -> Validator {
    close(&mut schema, true);
    jsonschema::validator_for(&schema).expect("a JSON Schema")
}

/// Closes a schema and all below it. `whole`: it describes a value alone, not a part of one that others describe too.
fn close(schema: &mut Value, whole: bool) {
    let Some(keywords) = schema.as_object_mut() else {
        return;
    };
    for (keyword, value) in &mut *keywords {
        let below: Vec<&mut Value> = match value {
            Value::Object(map) => map.values_mut().collect(),
            Value::Array(list) => list.iter_mut().collect(),
            _ => continue,
        };
        match keyword.as_str() {
            "properties" | "patternProperties" | "prefixItems" => {
                below.into_iter().for_each(|schema| close(schema, true));
            }
            "$defs" | "anyOf" | "oneOf" | "allOf" => {
                below.into_iter().for_each(|schema| close(schema, false));
            }
            "items" | "additionalProperties" => close(value, true),
            _ => {}
        }
    }
    // A value of any kind has only a description.
    let is_any = keywords.keys().all(|keyword| keyword == "description");
    if whole && !is_any {
        keywords.insert("unevaluatedProperties".to_owned(), false.into());
    }
}

#[track_caller]
pub fn satisfies(validator: &Validator, name: &str, report: &Value) {
    let errors: Vec<String> = validator
        .iter_errors(report)
        .map(|error| format!("{}: {error:.200}", error.instance_path()))
        .take(10)
        .collect();
    assert!(errors.is_empty(), "{name}: {}", errors.join("\n"));
}

#[test]
fn every_report_satisfies_the_published_schema() {
    let open = jsonschema::validator_for(&published("report")).expect("a JSON Schema");
    let closed = closed(published("report"));
    for (name, report) in reports() {
        satisfies(&open, name, &report);
        satisfies(&closed, name, &report);
    }
}

#[test]
fn a_later_field_is_allowed_to_readers_and_not_in_ci() {
    let (_, mut report) = reports().swap_remove(0);
    report["header"]["machine"]["colour"] = "green".into();
    let open = jsonschema::validator_for(&published("report")).expect("a JSON Schema");
    satisfies(&open, "with a later field", &report);
    assert!(!closed(published("report")).is_valid(&report));
}

/// Where a field stands: the pointer to its object, and its name.
type Place = (String, String);

/// The first field of each shape. Fields at the same path are of one shape, wherever they stand in lists.
fn fields(value: &Value, pointer: &str, shape: &str, found: &mut BTreeMap<String, Place>) {
    match value {
        Value::Object(map) => {
            for (name, below) in map {
                let shape = format!("{shape}.{name}");
                fields(below, &format!("{pointer}/{name}"), &shape, found);
                let place = || (pointer.to_owned(), name.clone());
                found.entry(shape).or_insert_with(place);
            }
        }
        Value::Array(list) => {
            for (index, below) in list.iter().enumerate() {
                fields(below, &format!("{pointer}/{index}"), shape, found);
            }
        }
        _ => {}
    }
}

/// A value of another type, which is never right where this one is.
fn of_another_type(value: &Value) -> Value {
    match value {
        Value::Number(number) => number.to_string().into(),
        Value::String(_) => 7.into(),
        _ => json!([[false]]),
    }
}

#[test]
fn a_report_that_was_changed_does_not_satisfy_the_schema() {
    let open = jsonschema::validator_for(&published("report")).expect("a JSON Schema");
    let closed = closed(published("report"));
    let mut reports = reports();
    reports.retain(|(name, _)| !name.starts_with("thirty"));
    let mut seen = BTreeSet::new();
    // Shapes of fields that can be missing, renamed, of another type.
    let (mut missing, mut renamed, mut retyped) = (Vec::new(), Vec::new(), Vec::new());
    for (_, report) in &mut reports {
        let mut found = BTreeMap::new();
        fields(report, "", "", &mut found);
        for (shape, (pointer, name)) in found {
            if !seen.insert(shape.clone()) {
                continue;
            }
            let object = report.pointer(&pointer).expect("where it was found");
            let value = object[&name].clone();
            let other = (name.clone(), of_another_type(&value));
            let changes = [
                (None, &open, &mut missing),
                (Some((format!("{name}-"), value)), &closed, &mut renamed),
                (Some(other), &open, &mut retyped),
            ];
            let whole = object.clone();
            for (field, validator, accepted) in changes {
                let object = report.pointer_mut(&pointer).and_then(Value::as_object_mut);
                let object = object.expect("fields are of objects");
                object.remove(&name);
                object.extend(field);
                if validator.is_valid(report) {
                    accepted.push(shape.clone());
                }
                *report.pointer_mut(&pointer).expect("it") = whole.clone();
            }
        }
    }
    let none: [&str; 0] = [];
    // Each check has figures of its own.
    let is_evidence = |shape: &String| shape.starts_with(".warnings.evidence.");
    retyped.retain(|shape| !is_evidence(shape));
    missing.retain(|shape| !is_evidence(shape));
    assert_eq!(retyped, none, "may be of another type");
    // Its keys are the workloads' ids.
    let free = |shape: &&String| !shape.starts_with(".header.definitions.") && !is_evidence(shape);
    assert_eq!(
        renamed.iter().filter(free).collect::<Vec<_>>(),
        none,
        "may be renamed"
    );
    missing.sort();
    insta::assert_snapshot!("schema-may-be-missing", missing.join("\n"));
    assert!(
        seen.len() > 400,
        "{} shapes are not all of a report's",
        seen.len()
    );
}
