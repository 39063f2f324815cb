//! The JSON Schema of the report for programs, derived from the types that are written. `docs/schemas/report.schema.json`
//! holds it; a test compares the two.

use schemars::{
    JsonSchema, Schema,
    generate::SchemaSettings,
    transform::{Transform, transform_subschemas},
};
use serde_json::Value;

use crate::standings::json::Report;

/// The JSON Schema (draft 2020-12) of what [`standings::json`](crate::standings::json()) writes.
///
/// Objects are open in it, since new fields may come at any time: a reader's copy accepts what a later Deadheat writes
/// in the same version of the format.
pub fn report_schema() -> Value {
    let version = deadheat_model::heats::SCHEMA;
    let mut schema = of::<Report<'static>>(&format!("urn:deadheat:schema:report:{version}"));
    // An end that a lower bound leaves open is infinite, for which JSON has no number.
    if let Some(high) = schema.pointer_mut("/$defs/Interval/properties/high") {
        high["type"] = vec!["number", "null"].into();
    }
    schema
}

/// The schema of a type as it is written, under an id.
fn of<T: JsonSchema>(id: &str) -> Value {
    let settings = SchemaSettings::draft2020_12()
        .for_serialize()
        .with_transform(Readable);
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    schema.insert("$id".to_owned(), id.into());
    let definitions = schema.get_mut("$defs").and_then(Value::as_object_mut);
    for (name, definition) in definitions.into_iter().flatten() {
        if let Some(definition) = definition.as_object_mut() {
            definition.insert("title".to_owned(), name.as_str().into());
        }
    }
    schema.to_value()
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
        }
    }
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
                "([`Settings`](crate::load::Settings)) and",
                "(`Settings`) and",
            ),
            ("[`a`] (b) [`c`]", "`a` (b) `c`"),
        ];
        for (comment, text) in table {
            assert_eq!(prose(comment), text);
        }
    }
}
