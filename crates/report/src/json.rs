//! The report for programs. docs/report-json.md describes each field.

use deadheat_model::{
    SessionHeader, SessionRecord,
    session::{EndReason, Resumption},
};
use deadheat_stats::Analysis;
use schemars::JsonSchema;
use serde::Serialize;

use crate::{
    ReportError, View,
    view::{Fact, Loss},
};

/// The version of the format. A field that goes, or changes its meaning, raises it; a new one does not.
pub const SCHEMA: u32 = 1;
/// The name of the format, in all of its versions.
pub(crate) const FORMAT: &str = "deadheat-report";

/// What a session of Deadheat found, for programs: what the other formats show, unrounded. A field that goes or changes
/// its meaning raises `schema`; new fields may come at any time.
///
/// Units stand in the names: `_seconds`, `_bytes`, `_us` (microseconds), `_per_second`, `_per_request`. Shares are 0 to
/// 1. Blocks count from 0.
#[derive(Serialize, JsonSchema)]
#[schemars(title = "Deadheat report")]
pub(crate) struct Report<'a> {
    /// The version of this format.
    #[schemars(extend("const" = SCHEMA))]
    schema: u32,
    /// What kind of document this is.
    #[schemars(extend("const" = FORMAT))]
    format: &'static str,
    /// Provenance: `session.json` as it was written before the first trial.
    header: &'a SessionHeader,
    /// Why the session ended; null: it was killed.
    ended: Option<EndReason>,
    /// Each time that the session went on after an interruption; absent when it never did.
    #[serde(skip_serializing_if = "<[Resumption]>::is_empty")]
    resumed: &'a [Resumption],
    /// What was measured, in a sentence.
    headline: &'a str,
    /// What a reader must know before any figure.
    alerts: &'a [String],
    /// What the session does not show.
    does_not_show: &'a [String],
    /// Where the figures come from, in words.
    provenance: &'a [Fact],
    /// What was found in words, for each workload and load point, in the order of `analysis.groups`.
    outcomes: Vec<Outcome<'a>>,
    /// All figures.
    analysis: &'a Analysis,
}

/// What was found at a workload and a load point, in words.
#[derive(Serialize, JsonSchema)]
struct Outcome<'a> {
    /// The workload's id.
    workload: &'a str,
    /// The load point's id.
    point: &'a str,
    /// Both in words.
    title: &'a str,
    /// What came of it, in a few sentences.
    summary: &'a str,
    /// A sentence for each dead heat but the one for the first place, which stands in `summary`.
    dead_heats: &'a [String],
    /// Stacks without a result here, failed or void.
    losses: &'a [Loss],
    /// What the null server reached, in a sentence.
    ceiling: Option<&'a str>,
    /// What a stack and its twin differ by, in a sentence.
    noise: Option<&'a str>,
}

/// The session's header and its analysis with every trial, as JSON over several lines that end with a newline.
pub fn json(record: &SessionRecord, analysis: &Analysis) -> Result<String, ReportError> {
    let view = View::new(record, analysis);
    let groups = analysis.groups.iter().zip(view.groups());
    let report = Report {
        schema: SCHEMA,
        format: FORMAT,
        header: &record.header,
        ended: record.end,
        resumed: &record.resumed,
        headline: &view.headline,
        alerts: &view.alerts,
        does_not_show: &view.caveats,
        provenance: &view.provenance,
        outcomes: groups
            .map(|(group, view)| Outcome {
                workload: &group.workload,
                point: &group.point.id,
                title: &view.title,
                summary: &view.summary,
                dead_heats: &view.dead_heats,
                losses: &view.losses,
                ceiling: view.ceiling.as_deref(),
                noise: view.noise.as_deref(),
            })
            .collect(),
        analysis,
    };
    let mut text = serde_json::to_string_pretty(&report)?;
    text.push('\n');
    Ok(text)
}
