//! A comparison for programs: unrounded.

use deadheat_document::{
    error::ReportError,
    json::{self, Body},
};
use deadheat_stats::versus::{Gate, Versus};
use schemars::JsonSchema;
use serde::Serialize;

use crate::document::layout::headline;

/// What `deadheat compare` found, unrounded. Shares and levels are from 0 to 1.
#[derive(Serialize, JsonSchema)]
pub struct Report<'a> {
    /// The verdict as a sentence.
    headline: String,
    /// What `--fail-if-slower`, `--fail-if-costlier` and `--require-decision` say; null in `deadheat report`, and without these
    /// options.
    gate: Option<&'a Gate>,
    #[serde(flatten)]
    versus: &'a Versus,
}

impl Body for Report<'_> {
    const FORMAT: &'static str = "deadheat-compare";
    const SCHEMA: u32 = 7;
}

/// The comparison as JSON over several lines that end with a newline.
pub fn json(versus: &Versus, gate: Option<&Gate>) -> Result<String, ReportError> {
    json::json(&Report {
        headline: headline(versus),
        gate,
        versus,
    })
}
