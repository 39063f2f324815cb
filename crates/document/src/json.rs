//! The envelope of all JSON reports.

use schemars::JsonSchema;
use serde::Serialize;

use crate::error::ReportError;

/// What is in a report for programs.
pub trait Body: Serialize {
    /// The name of the format, in all of its versions.
    const FORMAT: &'static str;
    /// The version of the format. A field that is removed or changes its meaning raises it; a new one does not.
    const SCHEMA: u32;
}

/// A report for programs.
#[derive(Serialize, JsonSchema)]
pub struct Envelope<'a, T> {
    /// The version of this format. It is raised when a field is removed or changes its meaning. Fields can be added at any
    /// time.
    schema: u32,
    /// What kind of document this is.
    format: &'static str,
    #[serde(flatten)]
    body: &'a T,
}

/// The report as JSON over several lines that end with a newline.
///
/// # Errors
/// When a value has no form in JSON.
pub fn json<T: Body>(body: &T) -> Result<String, ReportError> {
    let report = Envelope {
        schema: T::SCHEMA,
        format: T::FORMAT,
        body,
    };
    Ok(serde_json::to_string_pretty(&report)? + "\n")
}

/// The report as JSON in one line.
///
/// # Errors
/// When a value has no form in JSON.
pub fn compact_json<T: Body>(body: &T) -> Result<String, ReportError> {
    let report = Envelope {
        schema: T::SCHEMA,
        format: T::FORMAT,
        body,
    };
    Ok(serde_json::to_string(&report)?)
}
