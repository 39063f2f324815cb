//! A search for programs: unrounded. docs/load-json.md describes each field.

use deadheat_model::capacity::CapacityRecord;
use deadheat_stats::capacity::CapacityAnalysis;
use serde::Serialize;

use super::CapacityView;
use crate::ReportError;

/// The record, and what it says.
#[derive(Serialize)]
struct Report<'a> {
    headline: String,
    caveat: Option<String>,
    answer: &'a CapacityAnalysis,
    #[serde(flatten)]
    record: &'a CapacityRecord,
}

/// The search as JSON over several lines that end with a newline. It can be read again as a [`CapacityRecord`].
///
/// # Errors
/// When a figure has no place in JSON.
pub fn json(record: &CapacityRecord, analysis: &CapacityAnalysis) -> Result<String, ReportError> {
    let CapacityView {
        headline, caveat, ..
    } = CapacityView::new(record, analysis);
    let report = Report {
        headline,
        caveat,
        answer: analysis,
        record,
    };
    let mut text = serde_json::to_string_pretty(&report)?;
    text.push('\n');
    Ok(text)
}
