//! `deadheat report`: every output again, from the recorded trials alone.

use std::path::Path;

use deadheat_model::SessionRecord;
use deadheat_report::{ReportError, View};
use deadheat_runner::session::{self, write_whole};
use deadheat_stats::Analysis;

use crate::{
    args::{Format, ReportArgs},
    exit::{Exit, Failure},
    output,
};

/// The HTML report's file in a session's folder.
pub(crate) const HTML_FILE: &str = "report.html";

pub(crate) fn report(args: &ReportArgs) -> Result<Exit, Failure> {
    if args.workload.is_some() && args.format != Format::Card {
        return Err(Failure::usage(
            "--workload says what the card shows: it needs --format card",
        ));
    }
    let record = session::read_session(&args.session).map_err(Failure::usage)?;
    let written = match args.format {
        Format::Card => card(args, &record)?,
        format => Rendered::of(&record)?.in_format(format).into_bytes(),
    };
    match &args.output {
        None => output::bytes(&written),
        Some(path) => write_whole(path, &written).map_err(|error| {
            Failure::nothing(format!(
                "writing the report to {}: {error}; does the folder exist, and may you write there?",
                path.display()
            ))
        })?,
    }
    Ok(Exit::Fine)
}

/// A picture of a workload.
fn card(args: &ReportArgs, record: &SessionRecord) -> Result<Vec<u8>, Failure> {
    if args.output.is_none() && output::is_terminal() {
        return Err(Failure::usage(
            "a picture is nothing for a terminal: say where to write it (--output card.png)",
        ));
    }
    let view = View::new(record, &deadheat_stats::analyse(record));
    deadheat_report::card(&view, args.workload.as_deref()).map_err(|error| match error {
        ReportError::NoSuchWorkload { .. } => Failure::usage(error),
        error => Failure::nothing(format!("{}: {error}", record.header.id)),
    })
}

/// A session's report in every format.
pub(crate) struct Rendered {
    /// For this terminal.
    pub(crate) text: String,
    /// For programs.
    pub(crate) json: String,
    /// What it was made from.
    pub(crate) analysis: Analysis,
    markdown: String,
    html: String,
    csv: String,
}

impl Rendered {
    /// Analyses and renders a session.
    pub(crate) fn of(record: &SessionRecord) -> Result<Self, Failure> {
        let analysis = deadheat_stats::analyse(record);
        let view = View::new(record, &analysis);
        let failed = |error| {
            Failure::nothing(format!(
                "writing the report of {}: {error}",
                record.header.id
            ))
        };
        Ok(Self {
            text: deadheat_report::text::text_on(&view, output::screen()),
            json: deadheat_report::json(record, &analysis).map_err(failed)?,
            markdown: deadheat_report::markdown(&view),
            html: deadheat_report::html(&view).map_err(failed)?,
            csv: deadheat_report::csv(record, &analysis),
            analysis,
        })
    }

    /// One of the formats that are text.
    fn in_format(self, format: Format) -> String {
        match format {
            // The card is none.
            Format::Text | Format::Card => self.text,
            Format::Markdown => self.markdown,
            Format::Html => self.html,
            Format::Json => self.json,
            Format::Csv => self.csv,
        }
    }

    /// Writes `report.html`, `report.md`, `report.json` and `report.csv` into the session's folder.
    pub(crate) fn write_beside(&self, folder: &Path) -> Result<(), Failure> {
        let files = [
            (HTML_FILE, &self.html),
            ("report.md", &self.markdown),
            ("report.json", &self.json),
            ("report.csv", &self.csv),
        ];
        for (name, text) in files {
            let path = folder.join(name);
            write_whole(&path, text.as_bytes()).map_err(|error| {
                Failure::nothing(format!(
                    "writing {}: {error}; the trials are safe, `deadheat report {}` prints the report",
                    path.display(),
                    folder.display()
                ))
            })?;
        }
        Ok(())
    }
}
