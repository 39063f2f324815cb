//! The envelope of all JSON reports, and what can go wrong while any report is written.

use schemars::JsonSchema;
use serde::Serialize;

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

/// A report could not be written.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// The page's template does not fit the view.
    #[error("filling the page's template: {0:#}")]
    Template(#[from] minijinja::Error),
    /// A value has no JSON form.
    #[error("writing the report as JSON: {0}")]
    Json(#[from] serde_json::Error),
    /// A histogram could not be written into HdrHistogram's log.
    #[error("writing the HdrHistogram log: {reason}")]
    HdrLog {
        /// What happened.
        reason: String,
    },
    /// A card could not be drawn.
    #[error("drawing the card: {reason}")]
    Card {
        /// What happened.
        reason: String,
    },
    /// A card was asked for of a load point that the session does not have.
    #[error(
        "the session has no closed loop of a workload `{asked}`; it has {}",
        if known.is_empty() { "none".to_owned() } else { known.join(", ") }
    )]
    NoSuchWorkload {
        /// What was asked for.
        asked: String,
        /// What there is.
        known: Vec<String>,
    },
}
