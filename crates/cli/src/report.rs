//! `deadheat report`: every output again, from the recorded trials alone.

use std::path::Path;

use deadheat_model::SessionRecord;
use deadheat_report::View;
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
    let record = session::read_session(&args.session).map_err(Failure::usage)?;
    let rendered = Rendered::of(&record)?;
    output::data(match args.format {
        Format::Text => &rendered.text,
        Format::Markdown => &rendered.markdown,
        Format::Html => &rendered.html,
        Format::Json => &rendered.json,
        Format::Csv => &rendered.csv,
    });
    Ok(Exit::Fine)
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
            text: deadheat_report::text(&view, output::width(), output::colour()),
            json: deadheat_report::json(record, &analysis).map_err(failed)?,
            markdown: deadheat_report::markdown(&view),
            html: deadheat_report::html(&view).map_err(failed)?,
            csv: deadheat_report::csv(record, &analysis),
            analysis,
        })
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
