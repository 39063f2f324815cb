//! A search for programs: unrounded. docs/bisect.md describes each field.

use deadheat_model::bisect::{BisectRecord, SCHEMA};
use deadheat_stats::bisect::{Outcome, outcome, whole};
use serde::Serialize;

use super::BisectView;
use crate::ReportError;

#[derive(Serialize)]
struct Report<'a> {
    schema: u32,
    format: &'static str,
    headline: String,
    outcome: Outcome,
    whole: Option<f64>,
    folder: &'a str,
    search: &'a BisectRecord,
}

/// The search as JSON over several lines that end with a newline. `folder` is its folder.
///
/// # Errors
/// When a figure has no place in JSON.
pub fn json(record: &BisectRecord, folder: &str) -> Result<String, ReportError> {
    let report = Report {
        schema: SCHEMA,
        format: "deadheat-bisect",
        headline: BisectView::new(record, folder).headline,
        outcome: outcome(record),
        whole: whole(record),
        folder,
        search: record,
    };
    let mut text = serde_json::to_string_pretty(&report)?;
    text.push('\n');
    Ok(text)
}
