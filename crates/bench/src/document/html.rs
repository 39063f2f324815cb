//! The report of a session of heats as one HTML file that needs nothing else.

use deadheat_document::{
    Frame,
    error::ReportError,
    html::{Contents, data::DataFile, live::Bar, shell::Shell},
};

use super::StandingsView;
use crate::document::layout::{SCRIPT, STYLE, document};

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
