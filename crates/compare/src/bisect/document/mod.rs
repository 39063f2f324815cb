//! What `deadheat bisect` shows, for a person ([`document`]) or a program ([`json`]). docs/bisect.md has an example.

pub mod layout;
mod sentences;

use deadheat_document::{
    error::ReportError,
    json::{self, Body},
};
use deadheat_model::bisect::{BisectRecord, SCHEMA};
use schemars::JsonSchema;
use serde::Serialize;

pub use self::layout::{answer, document};
use crate::bisect::analysis::{Outcome, outcome, whole};

/// What `deadheat bisect` found. Commits are numbered from 0, without the fast end.
#[derive(Serialize, JsonSchema)]
pub struct Report<'a> {
    /// The answer as a sentence.
    headline: &'a str,
    /// What came of the search.
    outcome: Outcome,
    /// The slow end's throughput over the fast one's, over all heats; null if it is not known.
    whole: Option<f64>,
    /// The folder with `bisect.json`, the logs of builds, and a session for each comparison.
    folder: &'a str,
    /// The content of `bisect.json`.
    search: &'a BisectRecord,
}

impl Body for Report<'_> {
    const FORMAT: &'static str = "deadheat-bisect";
    const SCHEMA: u32 = SCHEMA;
}

/// The search as unrounded JSON over several lines that end with a newline. `folder` is its folder.
///
/// # Errors
/// When a figure has no place in JSON.
pub fn json(record: &BisectRecord, folder: &str) -> Result<String, ReportError> {
    let document = document(record, folder, None);
    json::json(&Report {
        headline: document.headline(),
        outcome: outcome(record),
        whole: whole(record),
        folder,
        search: record,
    })
}
