//! `deadheat report`: every output again, from the recorded trials alone.

use std::path::{Path, PathBuf};

use deadheat_model::SessionRecord;
use deadheat_report::{
    ReportError, View, figure,
    html::{self, Assets, Contents},
};
use deadheat_runner::{files::write_whole, session};
use deadheat_stats::Analysis;

use crate::{
    args::{AssetsArg, Format, ReportArgs},
    exit::{Exit, Failure},
    heats, output,
};

/// The HTML report's file in a session's folder.
pub(crate) const HTML_FILE: &str = "report.html";

pub(crate) fn report(args: &ReportArgs) -> Result<Exit, Failure> {
    let assets = args.page.assets;
    let is_apart = assets == AssetsArg::Separate;
    if is_apart && (args.format != Format::Html || args.output.is_none()) {
        return Err(Failure::usage(
            "--assets separate writes a page and the script beside it: add `--format html --output FILE`",
        ));
    }
    if args.details && args.format != Format::Text {
        return Err(Failure::usage(
            "--details says how much the text shows; the other formats show everything",
        ));
    }
    if args.workload.is_some() && args.format != Format::Card {
        return Err(Failure::usage(
            "--workload says what the card shows: it needs --format card",
        ));
    }
    let written = match session::heats::is_session_of_heats(&args.session) {
        true => of_heats(args)?,
        false => of_trials(args)?,
    };
    let Some(path) = &args.output else {
        match (args.format, std::str::from_utf8(&written)) {
            // A page is kept byte for byte, except on a screen.
            (Format::Html, _) if !output::is_terminal() => output::bytes(&written)?,
            (Format::Card, _) | (_, Err(_)) => output::bytes(&written)?,
            (_, Ok(text)) => output::data(text)?,
        }
        return Ok(Exit::Fine);
    };
    if is_apart {
        let (shared, script) = plotly_beside(path.parent().unwrap_or(Path::new("")));
        write(&shared, script.as_bytes())?;
    }
    write(path, &written)?;
    Ok(Exit::Fine)
}

/// The report of a session in blocks of trials.
fn of_trials(args: &ReportArgs) -> Result<Vec<u8>, Failure> {
    if args.details {
        return Err(Failure::usage(
            "--details is for sessions that were measured in heats; this one's text has everything",
        ));
    }
    let record = session::read_session(&args.session).map_err(Failure::usage)?;
    match args.format {
        Format::Card => card(args, &record),
        format => {
            let rendered = Rendered::of(&record, args.page.assets)?;
            Ok(rendered.in_format(format).into_bytes())
        }
    }
}

/// The report of a session in heats.
fn of_heats(args: &ReportArgs) -> Result<Vec<u8>, Failure> {
    let record = session::heats::read_session(&args.session).map_err(Failure::usage)?;
    if args.format == Format::Card {
        refuse_picture(args)?;
        return heats::Rendered::card(&record, args.workload.as_deref());
    }
    let rendered = heats::Rendered::of(&record)?;
    let text = match args.details {
        true => rendered.details(),
        false => rendered.in_format(args.format),
    };
    Ok(text.as_bytes().to_vec())
}

/// The file that has plotly's script for the pages in a folder, and the script.
fn plotly_beside(folder: &Path) -> (PathBuf, String) {
    (folder.join(html::plotly_file()), html::plotly_js())
}

/// Writes a file and says so.
fn write(path: &Path, written: &[u8]) -> Result<(), Failure> {
    write_whole(path, written).map_err(|error| {
        Failure::nothing(format!(
            "writing {}: {error}; does the folder exist, and may you write in it?",
            path.display()
        ))
    })?;
    let size = figure::bytes(written.len() as f64);
    output::note(&format!("written: {} ({size})", path.display()));
    Ok(())
}

/// Pictures are not for a terminal.
fn refuse_picture(args: &ReportArgs) -> Result<(), Failure> {
    match args.output.is_none() && output::is_terminal() {
        true => Err(Failure::usage(
            "refusing to write a PNG to the terminal; use --output card.png",
        )),
        false => Ok(()),
    }
}

/// A picture of a workload.
fn card(args: &ReportArgs, record: &SessionRecord) -> Result<Vec<u8>, Failure> {
    refuse_picture(args)?;
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
    assets: AssetsArg,
}

impl Rendered {
    /// Analyses and renders a session.
    pub(crate) fn of(record: &SessionRecord, assets: AssetsArg) -> Result<Self, Failure> {
        let analysis = deadheat_stats::analyse(record);
        let view = View::new(record, &analysis);
        let failed = |error| {
            Failure::nothing(format!(
                "writing the report of {}: {error}",
                record.header.id
            ))
        };
        let json = deadheat_report::json(record, &analysis).map_err(failed)?;
        let csv = deadheat_report::csv(record, &analysis);
        let contents = Contents {
            json: &json,
            csv: &csv,
            assets: match assets {
                AssetsArg::Inline => Assets::Inline,
                AssetsArg::Separate => Assets::Separate,
            },
        };
        Ok(Self {
            text: deadheat_report::text::text_on(&view, output::screen()),
            markdown: deadheat_report::markdown(&view),
            html: deadheat_report::html(&view, &contents).map_err(failed)?,
            json,
            csv,
            analysis,
            assets,
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

    /// Writes `report.html`, `report.md`, `report.json` and `report.csv` into the session's folder, and the page's script
    /// where it is not in the page.
    pub(crate) fn write_beside(&self, folder: &Path) -> Result<(), Failure> {
        let mut files = vec![
            (folder.join(HTML_FILE), self.html.as_str()),
            (folder.join("report.md"), &self.markdown),
            (folder.join("report.json"), &self.json),
            (folder.join("report.csv"), &self.csv),
        ];
        let shared = plotly_beside(folder);
        if self.assets == AssetsArg::Separate {
            files.push((shared.0, &shared.1));
        }
        for (path, text) in files {
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
