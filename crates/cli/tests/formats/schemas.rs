//! The JSON Schemas of what programs read, derived from the types that are written. `docs/schemas` holds them; a test
//! compares the two.

use deadheat_bench::document as standings;
use deadheat_compare::{
    audit::document as audit,
    bisect::document as bisect,
    document as compare,
    history::analysis::History,
    site::analysis::types::{SiteComparison, SiteIndex, SitePairs, SiteSession, SiteTimeline},
};
use deadheat_document::json::{Body, Envelope};
use deadheat_loadtool::{document as load, find_rate::document as search};
use deadheat_model::{
    Failure, capacity,
    heats::{JournalEntry, SessionHeader},
};
use schemars::{
    JsonSchema, Schema,
    generate::SchemaSettings,
    transform::{Transform, transform_subschemas},
};
use serde_json::{Value, json};

/// The JSON Schema (draft 2020-12) of each file for programs, under the name of its file in `docs/schemas`. Those of CSV
/// describe a row as an object by its columns.
///
/// Objects are open in them, since new fields may come at any time: a reader's copy accepts what a later Deadheat writes
/// in the same version of the format.
pub fn schemas() -> Vec<(&'static str, Value)> {
    let heats = deadheat_model::heats::SCHEMA;
    let id = format!("find-rate:{}", capacity::SCHEMA);
    let mut search = of::<search::RateSearchReport<'static>>(&id);
    constant(&mut search, "schema", capacity::SCHEMA.into());
    constant(&mut search, "format", capacity::FORMAT.into());
    let mut session = of::<SessionHeader>(&format!("session:{heats}"));
    constant(&mut session, "schema", heats.into());
    let mut intervals = of::<load::CsvRow>("load-csv");
    for kind in Failure::ALL {
        let field = json!({ "type": "integer", "minimum": 0, "description": kind.describe() });
        intervals["properties"][load::failed_column(*kind)] = field;
    }
    let mut looks = of::<search::ProbeRow>("find-rate-csv");
    looks["patternProperties"]["_(seconds|share|count)$"] = json!({
        "type": ["number", "null"],
        "description": "The figure of a condition in this unit; null if it is not known.",
    });
    let mut all = vec![
        (
            "report",
            report::<standings::SessionReport<'static>>("report"),
        ),
        ("report-csv", of::<standings::csv::CsvRow>("report-csv")),
        ("session", session),
        ("heats", of::<JournalEntry>(&format!("heats:{heats}"))),
        ("load", report::<load::LoadReport<'static>>("load")),
        ("load-csv", intervals),
        ("find-rate", search),
        ("find-rate-csv", looks),
        (
            "compare",
            report::<compare::CompareReport<'static>>("compare"),
        ),
        ("bisect", report::<bisect::BisectReport<'static>>("bisect")),
        ("history", report::<History>("history")),
        ("audit", report::<audit::AuditReport<'static>>("audit")),
        ("site", report::<SiteIndex>("site")),
        ("site-session", report::<SiteSession>("site-session")),
        ("site-pairs", report::<SitePairs>("site-pairs")),
        ("site-timeline", report::<SiteTimeline>("site-timeline")),
        (
            "site-comparison",
            report::<SiteComparison>("site-comparison"),
        ),
    ];
    for (name, schema) in &mut all {
        schema["title"] = format!("deadheat-{name}").into();
    }
    all
}

/// The schema of a report in its envelope.
fn report<T: Body + JsonSchema + 'static>(name: &str) -> Value {
    let mut schema = of::<Envelope<'static, T>>(&format!("{name}:{}", T::SCHEMA));
    let body = of::<T>(name);
    schema["description"] = body["description"].clone();
    constant(&mut schema, "schema", T::SCHEMA.into());
    constant(&mut schema, "format", T::FORMAT.into());
    schema
}

/// Gives a field its only value.
fn constant(schema: &mut Value, field: &str, value: Value) {
    schema["properties"][field]["const"] = value;
}

/// The schema of a type as it is written, under an id.
fn of<T: JsonSchema>(id: &str) -> Value {
    let settings = SchemaSettings::draft2020_12()
        .for_serialize()
        .with_transform(Readable);
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    schema.insert("$id".to_owned(), format!("urn:deadheat:schema:{id}").into());
    let definitions = schema.get_mut("$defs").and_then(Value::as_object_mut);
    for (name, definition) in definitions.into_iter().flatten() {
        if let Some(definition) = definition.as_object_mut() {
            definition.insert("title".to_owned(), name.as_str().into());
        }
    }
    let mut schema = schema.to_value();
    // An end that a lower bound leaves open is infinite, for which JSON has no number.
    if let Some(high) = schema.pointer_mut("/$defs/Interval/properties/high") {
        high["type"] = vec!["number", "null"].into();
    }
    schema
}

/// Takes away what is Rust's and no reader's.
#[derive(Clone)]
struct Readable;

impl Transform for Readable {
    fn transform(&mut self, schema: &mut Schema) {
        transform_subschemas(self, schema);
        // Manifests are closed, and parts of them stand in a report; those with keys of a pattern have no others.
        if !schema
            .get("patternProperties")
            .is_some_and(Value::is_object)
        {
            let closed = schema.get("additionalProperties") == Some(&Value::Bool(false));
            closed.then(|| schema.remove("additionalProperties"));
        }
        // What a missing field is read as; what is written has it.
        schema.remove("default");
        // "uint32" and "double" are OpenAPI's, and strict validators refuse what they do not know.
        schema.remove("format");
        describe(schema, prose);
        name_nothing(schema);
    }
}

/// Changes the description, if there is one.
fn describe(schema: &mut Schema, change: impl Fn(&str) -> String) {
    let description = schema.get("description").and_then(Value::as_str);
    if let Some(text) = description.map(change) {
        schema.insert("description".to_owned(), text.into());
    }
}

/// What is `None` in Rust is null in JSON, or is not there at all.
fn name_nothing(schema: &mut Schema) {
    let required = schema.get("required").and_then(Value::as_array).cloned();
    let required = required.unwrap_or_default();
    let fields = schema.get_mut("properties").and_then(Value::as_object_mut);
    for (name, field) in fields.into_iter().flatten() {
        let is_there = required.iter().any(|other| other == name.as_str());
        let word = if is_there { "null" } else { "absent" };
        if let Ok(field) = <&mut Schema>::try_from(field) {
            describe(field, |text| text.replace("`None`", word));
            if is_time(field) && !name.contains("seconds") {
                describe(field, |text| {
                    if text.contains("second") {
                        text.to_owned()
                    } else {
                        format!("{text} In seconds.")
                    }
                });
            }
        }
    }
}

/// Whether it is a time ([`deadheat_model::seconds`]): the only numbers that may be fractions and not negative.
fn is_time(schema: &Schema) -> bool {
    let minimum = schema.get("minimum").and_then(Value::as_u64);
    let kind = schema.get("type").map(Value::to_string);
    minimum == Some(0) && kind.is_some_and(|kind| kind.contains("number"))
}

/// A doc comment as prose: a line for each paragraph, and names where rustdoc has links.
fn prose(comment: &str) -> String {
    let paragraphs = comment.split("\n\n").map(|text| text.replace('\n', " "));
    let text = paragraphs.collect::<Vec<_>>().join("\n");
    let mut parts = text.split("[`");
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        plain.push('`');
        let Some((name, rest)) = part.split_once("`]") else {
            plain += part;
            continue;
        };
        plain += name;
        plain.push('`');
        let target = rest.strip_prefix('(').and_then(|rest| rest.split_once(')'));
        plain += target.map_or(rest, |(_, rest)| rest);
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::prose;

    #[test]
    fn links_and_lines_of_comments_are_undone() {
        let table = [
            ("plain [0, 1] `x`", "plain [0, 1] `x`"),
            ("a\nb\n\nc\nd", "a b\nc d"),
            ("see [`rank::sort`].", "see `rank::sort`."),
            (
                "([`Settings`](deadheat_loadtool::document::Settings)) and",
                "(`Settings`) and",
            ),
            ("[`a`] (b) [`c`]", "`a` (b) `c`"),
        ];
        for (comment, text) in table {
            assert_eq!(prose(comment), text);
        }
    }
}
