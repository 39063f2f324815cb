//! The report for programs. docs/report-json.md describes each field.

use deadheat_model::{
    SessionHeader, SessionRecord,
    session::{EndReason, Resumption},
};
use deadheat_stats::Analysis;
use serde::Serialize;

use crate::{
    ReportError, View,
    view::{Fact, Loss, PublishedView},
};

/// The version of the format. A field that goes, or changes its meaning, raises it; a new one does not.
pub const SCHEMA: u32 = 1;

#[derive(Serialize)]
struct Report<'a> {
    schema: u32,
    format: &'static str,
    header: &'a SessionHeader,
    ended: Option<EndReason>,
    #[serde(skip_serializing_if = "<[Resumption]>::is_empty")]
    resumed: &'a [Resumption],
    headline: &'a str,
    alerts: &'a [String],
    does_not_show: &'a [String],
    provenance: &'a [Fact],
    outcomes: Vec<Outcome<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    published: Option<&'a PublishedView>,
    analysis: &'a Analysis,
}

#[derive(Serialize)]
struct Outcome<'a> {
    workload: &'a str,
    point: &'a str,
    title: &'a str,
    summary: &'a str,
    dead_heats: &'a [String],
    losses: &'a [Loss],
    ceiling: Option<&'a str>,
    noise: Option<&'a str>,
}

/// The session's header and its analysis with every trial, as JSON over several lines that end with a newline.
pub fn json(record: &SessionRecord, analysis: &Analysis) -> Result<String, ReportError> {
    let view = View::new(record, analysis);
    let groups = analysis.groups.iter().zip(view.groups());
    let report = Report {
        schema: SCHEMA,
        format: "deadheat-report",
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
        published: view.published.as_ref(),
        analysis,
    };
    let mut text = serde_json::to_string_pretty(&report)?;
    text.push('\n');
    Ok(text)
}
