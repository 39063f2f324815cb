//! Reports of sessions that were measured in heats.
//!
//! [`StandingsView`] holds what all formats show: numbers with their units in their names, states, and the sentences.
//! [`words`] writes numbers and verdicts the same way everywhere. [`document`](document()) is the whole report, which the
//! formats lay out; the short text for a terminal, the card, JSON and CSV are their own.

mod card;
pub mod csv;
pub mod json;
mod layout;
mod scaling;
mod text;
pub mod view;
pub mod words;

use deadheat_document::{
    Frame,
    error::ReportError,
    html::{Bar, Contents, DataFile, Shell},
    markdown::without_homes,
    text::Screen,
};

use self::layout::{SCRIPT, STYLE};
pub use self::{csv::csv, json::json, layout::document};
pub use card::{SIZE as CARD_SIZE, card, card_svg};
pub use text::text;
pub use view::StandingsView;

/// The whole report as Markdown that can be committed.
pub fn markdown(view: &StandingsView) -> String {
    without_homes(&document(view).markdown())
}

/// Everything that the report knows, for a terminal, as long as it gets.
pub fn full(view: &StandingsView, screen: Screen) -> String {
    document(view).text(screen)
}

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
