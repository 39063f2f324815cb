//! The report of a session of heats: shown, and written next to its records.

use std::path::Path;

use deadheat_document::{error::ReportError, html::Contents, text::Screen};
use deadheat_model::{
    heats::{EndReason, SessionRecord},
    session::TargetState,
};
use deadheat_runner::{files::write_whole, session::heats::read_session};
use deadheat_shell::{
    data::{self, Files, Format},
    exit::{Exit, Failure},
    invocation::shown,
    output,
    session_folders::HTML_FILE,
};
use deadheat_stats::standings::{Standings, standings};

use crate::{document as standings, document::StandingsView, options::RunArgs};

/// Writes the report of a session that has ended into its folder, and shows it.
pub(super) fn outcome(
    folder: &Path,
    args: &RunArgs,
    files: Files<Format>,
) -> Result<Exit, Failure> {
    let record = read_session(folder).map_err(Failure::no_result)?;
    let rendered = Rendered::new(&record, folder, output::screen())?;
    rendered.write_beside(folder)?;
    let printed = match args.data.format() {
        Format::Card => Rendered::card(&record, None).and_then(|card| data::print(&card)),
        Format::Html => data::print(rendered.html.as_bytes()),
        format => output::data(rendered.in_format(format)),
    };
    let written = write_files(&record, folder, files);
    place(folder);
    printed
        .and(written)
        .map(|()| exit(&record, &rendered.standings))
}

/// Writes the files that were asked for with `--output`.
fn write_files(record: &SessionRecord, folder: &Path, files: Files<Format>) -> Result<(), Failure> {
    files.write(|format| match format {
        Format::Card => Rendered::card(record, None),
        format => {
            let rendered = Rendered::new(record, folder, data::page())?;
            Ok(rendered.in_format(*format).as_bytes().to_vec())
        }
    })
}

/// Says where the report of a session is.
pub(crate) fn place(folder: &Path) {
    output::note(&format!("report: {}", shown(&folder.join(HTML_FILE))));
    output::note(&format!(
        "all of it here: deadheat report {} --details",
        shown(folder)
    ));
}

/// A folder as the user would type it.
fn typed(folder: &Path) -> String {
    let shown = shown(folder);
    shlex::try_quote(&shown).map_or_else(|_| shown.clone(), Into::into)
}

/// The exit status: 3 if nothing was measured, or 130 if it was interrupted before; 1 if a stack failed, before or under load.
/// An unavailable stack is reported, and is no failure.
fn exit(record: &SessionRecord, standings: &Standings) -> Exit {
    let rows = || {
        let tables = standings.loads.iter().flat_map(|load| &load.tables);
        tables.flat_map(|table| &table.rows)
    };
    if rows().next().is_none() {
        return match record.end {
            Some(EndReason::Interrupted) => Exit::Interrupted,
            _ => Exit::NoResult,
        };
    }
    let failed = record.header.targets.iter().any(|target| {
        matches!(target.state, TargetState::Failed(_)) || !target.failed_workloads.is_empty()
    });
    let lacking = standings.loads.iter().any(|load| {
        let mut lacking = load.lacking.iter();
        lacking.any(|one| one.is == deadheat_stats::standings::AbsentBecause::Failed)
    });
    if failed || lacking || rows().any(|row| !row.failures.is_empty()) {
        Exit::Failed
    } else {
        Exit::Fine
    }
}

/// A session's report in every format that is text.
pub struct Rendered {
    standings: Standings,
    text: String,
    details: String,
    markdown: String,
    html: String,
    json: String,
    csv: String,
}

impl Rendered {
    /// Analyses and renders the session in `folder`.
    pub fn new(record: &SessionRecord, folder: &Path, screen: Screen) -> Result<Self, Failure> {
        let standings = standings(record);
        let view = StandingsView::new(record, &standings).in_folder(&typed(folder));
        let failed = |error: ReportError| {
            let id = &record.header.id;
            Failure::no_result(format!("writing the report of {id}: {error}"))
        };
        let json = standings::json(record, &standings).map_err(failed)?;
        let csv = standings::csv(&view);
        let contents = Contents {
            json: &json,
            csv: &csv,
        };
        Ok(Self {
            text: standings::text(&view, screen),
            details: standings::full(&view, screen),
            markdown: standings::markdown(&view),
            html: standings::html(&view, Some(&contents)).map_err(failed)?,
            json,
            csv,
            standings,
        })
    }

    /// One of the formats; the text instead of a picture.
    pub fn in_format(&self, format: Format) -> &str {
        match format {
            Format::Text | Format::Card => &self.text,
            Format::Markdown => &self.markdown,
            Format::Html => &self.html,
            Format::Json => &self.json,
            Format::Csv => &self.csv,
        }
    }

    /// A picture of a load, of the first one that has an answer unless it is named.
    pub fn card(record: &SessionRecord, workload: Option<&str>) -> Result<Vec<u8>, Failure> {
        let view = StandingsView::new(record, &standings(record));
        standings::card(&view, workload).map_err(|error| match error {
            ReportError::NoSuchWorkload { .. } => Failure::usage(error),
            error => Failure::no_result(format!("{}: {error}", record.header.id)),
        })
    }

    /// The text with everything that is known.
    pub fn details(&self) -> &str {
        &self.details
    }

    /// Writes `report.html`, `report.md`, `report.json` and `report.csv` into the session's folder.
    fn write_beside(&self, folder: &Path) -> Result<(), Failure> {
        let files = [
            (HTML_FILE, &self.html),
            ("report.md", &self.markdown),
            ("report.json", &self.json),
            ("report.csv", &self.csv),
        ];
        for (name, text) in files {
            let path = folder.join(name);
            write_whole(&path, text.as_bytes()).map_err(|error| {
                Failure::no_result(format!(
                    "writing {}: {error}; the heats are safe, `deadheat report {}` prints the report",
                    path.display(),
                    folder.display()
                ))
            })?;
        }
        Ok(())
    }
}
