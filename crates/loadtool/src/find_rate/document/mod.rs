//! What `deadheat load --find-rate` leaves, from its record and analysis: the answer, a warning, and every trial.
//!
//! [`document`] and [`html`] are for people. What programs read ([`json`], [`csv`]) is unrounded.

mod csv;
mod layout;
mod plot;
mod sentences;

use deadheat_document::{
    Frame,
    error::ReportError,
    html::{DataFile, Shell},
};
use deadheat_model::capacity::CapacityRecord;
use schemars::JsonSchema;
use serde::Serialize;

use deadheat_stats::capacity::CapacityAnalysis;

pub use self::csv::Row;
pub use self::csv::csv;
pub use self::layout::document;

/// What `deadheat load --find-rate` declared, every look, and the answer. All figures follow from `burst` and `looks`.
#[derive(Serialize, JsonSchema)]
pub struct Report<'a> {
    /// The first line of the report.
    headline: String,
    /// What was found.
    answer: &'a CapacityAnalysis,
    #[serde(flatten)]
    record: &'a CapacityRecord,
}

/// The search as JSON over several lines that end with a newline. It can be read again as a [`CapacityRecord`].
///
/// # Errors
/// When a figure has no place in JSON.
pub fn json(record: &CapacityRecord, analysis: &CapacityAnalysis) -> Result<String, ReportError> {
    let report = Report {
        headline: sentences::headline(record, analysis),
        answer: analysis,
        record,
    };
    Ok(serde_json::to_string_pretty(&report)? + "\n")
}

/// The search as one HTML file that needs no network, with its data.
///
/// # Errors
/// When the template does not fit the document, or a figure has no place in JSON.
pub fn html(record: &CapacityRecord, analysis: &CapacityAnalysis) -> Result<String, ReportError> {
    let (json, csv) = (json(record, analysis)?, csv(record));
    let command = |name| format!("deadheat load --find-rate … -o {name} …");
    let data = vec![
        DataFile::new(
            "capacity.json",
            "everything that is known (docs/formats.md)",
            command("capacity.json"),
            &json,
        ),
        DataFile::new(
            "capacity.csv",
            "a row for each trial (docs/formats.md)",
            command("capacity.csv"),
            &csv,
        ),
    ];
    let (url, started) = (&record.url, &record.started);
    document(record, analysis).html_in(&Frame {
        origin: &format!("deadheat load --find-rate {url}, started {started}"),
        ..Frame::new("deadheat-capacity", Shell::new(data))
    })
}
