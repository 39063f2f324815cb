//! What `deadheat bisect` shows, for a person ([`document`]) or a program ([`json`]). docs/bisect.md describes both.

mod document;
mod sentences;

use deadheat_model::bisect::{BisectRecord, SCHEMA};
use deadheat_stats::bisect::{Outcome, outcome, whole};
use serde::Serialize;

pub use self::document::{answer, document};
use crate::ReportError;

#[derive(Serialize)]
struct Report<'a> {
    schema: u32,
    format: &'static str,
    headline: &'a str,
    outcome: Outcome,
    whole: Option<f64>,
    folder: &'a str,
    search: &'a BisectRecord,
}

/// The search as unrounded JSON over several lines that end with a newline. `folder` is its folder.
///
/// # Errors
/// When a figure has no place in JSON.
pub fn json(record: &BisectRecord, folder: &str) -> Result<String, ReportError> {
    let document = document(record, folder, None);
    let report = Report {
        schema: SCHEMA,
        format: "deadheat-bisect",
        headline: document.headline(),
        outcome: outcome(record),
        whole: whole(record),
        folder,
        search: record,
    };
    Ok(serde_json::to_string_pretty(&report)? + "\n")
}
