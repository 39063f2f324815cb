//! Several sessions for a person or a program: what changed between them, and a stack's figures over them.

mod document;

use deadheat_stats::history::History;
use serde::Serialize;

use crate::ReportError;

pub use self::document::document;

/// The version of the JSON format. A field that goes, or changes its meaning, raises it; a new one does not.
pub const SCHEMA: u32 = 3;

#[derive(Serialize)]
struct Report<'a> {
    schema: u32,
    format: &'static str,
    #[serde(flatten)]
    history: &'a History,
}

/// The history as JSON over several lines that end with a newline.
///
/// # Errors
/// When a figure cannot be written.
pub fn json(history: &History) -> Result<String, ReportError> {
    let report = Report {
        schema: SCHEMA,
        format: "deadheat-history",
        history,
    };
    Ok(serde_json::to_string_pretty(&report)? + "\n")
}
