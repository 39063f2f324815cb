//! Reports of sessions that were measured in heats.
//!
//! [`StandingsView`] holds what all formats show: numbers with their units in their names, states, and the sentences.
//! [`words`] writes numbers and verdicts the same way everywhere. [`document`](document()) is the whole report, which
//! the formats lay out; the short text for a terminal, the card, JSON and CSV are their own.

mod card;
pub mod csv;
mod layout;
mod scaling;
mod text;
pub mod view;
pub mod words;

use deadheat_document::{
    Frame,
    html::{Bar, Contents, DataFile, Shell},
    json::{self, Body, ReportError},
    view::Fact,
};
use deadheat_model::{
    Warning,
    heats::{EndReason, Resumption, SCHEMA, SessionHeader, SessionRecord},
};
use deadheat_stats::{heats::Group, standings::Standings};
use schemars::JsonSchema;
use serde::Serialize;

use self::{
    layout::{SCRIPT, STYLE},
    view::LoadView,
};

pub use card::{SIZE as CARD_SIZE, card, card_svg};
pub use csv::csv;
pub use layout::document;
pub use text::text;
pub use view::StandingsView;

/// The report as a page. Without `contents` the page has no data to save.
pub fn html(view: &StandingsView, contents: Option<&Contents<'_>>) -> Result<String, ReportError> {
    let command = |format| format!("deadheat report {} --format {format}", view.id);
    let data = contents.map(|contents| {
        vec![
            DataFile::new(
                "report.json",
                "everything that is shown, unrounded (docs/formats.md)",
                command("json"),
                contents.json,
            ),
            DataFile::new(
                "report.csv",
                "a row for each load, stack and metric (docs/formats.md)",
                command("csv"),
                contents.csv,
            ),
        ]
    });
    page(view, data.unwrap_or_default(), None)
}

/// The page of a session that is being measured: the report so far, below a bar, with a script that reloads it.
pub fn live_page(view: &StandingsView, bar: &Bar) -> Result<String, ReportError> {
    page(view, Vec::new(), Some(bar))
}

fn page(
    view: &StandingsView,
    data: Vec<DataFile<'_>>,
    live: Option<&Bar>,
) -> Result<String, ReportError> {
    document(view).html_in(&Frame {
        style: STYLE,
        script: SCRIPT,
        live,
        ..Frame::new(&view.id, Shell::new(data))
    })
}

/// The results of a session of heats for programs: the contents of the other formats, unrounded.
///
/// Names contain units: `_seconds`, `_bytes`, `_us` (microseconds), `_per_second`, `_per_request`. Shares are 0 to
/// 1. Heats count from 0.
#[derive(Serialize, JsonSchema)]
pub struct SessionReport<'a> {
    /// `session.json` as it was written before the first heat.
    header: &'a SessionHeader,
    /// Why the session ended; null while it is running, or if it was killed.
    ended: Option<EndReason>,
    /// Each resumption after an interruption; absent without any.
    #[serde(skip_serializing_if = "<[Resumption]>::is_empty")]
    resumed: &'a [Resumption],
    /// The title: what was compared, on which machine, and when.
    title: String,
    /// The answer of each load, in the order of `standings.loads`.
    answers: Vec<Answer<'a>>,
    /// How far the figures can be trusted, in a line.
    trust: &'a str,
    /// Warnings, those that may change a decision first.
    warnings: &'a [Warning],
    /// The stacks without a figure, in a line; null without any.
    not_measured: Option<&'a str>,
    /// The limits of the session.
    does_not_show: &'a [String],
    /// How the session was measured and judged, in words.
    method: &'a [Fact],
    /// All figures.
    standings: &'a Standings,
}

impl Body for SessionReport<'_> {
    const FORMAT: &'static str = "deadheat-report";
    const SCHEMA: u32 = SCHEMA;
}

/// The answer of a load, in words.
#[derive(Serialize, JsonSchema)]
struct Answer<'a> {
    /// The workload's id.
    workload: &'a str,
    /// The load point's id.
    point: &'a str,
    /// Workload and load point in words.
    title: &'a str,
    /// The answer, in at most 25 words.
    answer: String,
    /// Notes about the whole load, a sentence or two each.
    notes: Vec<String>,
    /// Each row of each of its tables.
    rows: Vec<RowWords<'a>>,
}

/// The result of a row, in words.
#[derive(Serialize, JsonSchema)]
struct RowWords<'a> {
    /// The group that its table ranks.
    group: Group,
    /// The stack, under its variant.
    target: &'a str,
    /// The comparison with the best of its table.
    verdict: String,
    /// Notes about the row's figures, in a few words each.
    notes: Vec<String>,
}

fn answer(load: &LoadView) -> Answer<'_> {
    let tables = load.tables.iter();
    let rows = tables.flat_map(|table| table.rows.iter().map(|row| (table.group, row)));
    let rows = rows.map(|(group, row)| RowWords {
        group,
        target: &row.target,
        verdict: words::row_verdict(load.measure, row),
        notes: words::notes(row),
    });
    Answer {
        workload: &load.workload,
        point: &load.point.id,
        title: &load.title,
        answer: load.answer(),
        notes: words::load_notes(load),
        rows: rows.collect(),
    }
}

/// The session's header and its standings as JSON over several lines that end with a newline.
pub fn json(record: &SessionRecord, standings: &Standings) -> Result<String, ReportError> {
    let view = StandingsView::new(record, standings);
    json::json(&SessionReport {
        header: &record.header,
        ended: record.end,
        resumed: &record.resumed,
        title: view.title.to_string(),
        answers: view.loads.iter().map(answer).collect(),
        trust: &view.trust,
        warnings: &view.warnings,
        not_measured: view.not_measured.line.as_deref(),
        does_not_show: &view.details.caveats,
        method: &view.details.method,
        standings,
    })
}
