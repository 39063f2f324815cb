//! A comparison for programs: unrounded. docs/compare.md describes each field.

use deadheat_stats::versus::{Gate, Versus};
use serde::Serialize;

use super::document::headline;
use crate::ReportError;

/// The version of the format. A field that goes, or changes its meaning, raises it; a new one does not.
pub const SCHEMA: u32 = 6;

#[derive(Serialize)]
struct Report<'a> {
    schema: u32,
    format: &'static str,
    headline: String,
    gate: Option<&'a Gate>,
    #[serde(flatten)]
    versus: &'a Versus,
}

/// The comparison as JSON over several lines that end with a newline.
pub fn json(versus: &Versus, gate: Option<&Gate>) -> Result<String, ReportError> {
    let report = Report {
        schema: SCHEMA,
        format: "deadheat-compare",
        headline: headline(versus),
        gate,
        versus,
    };
    let mut text = serde_json::to_string_pretty(&report)?;
    text.push('\n');
    Ok(text)
}
