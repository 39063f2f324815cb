//! `deadheat report`: every output again, from the recorded trials alone.

use std::path::{Path, PathBuf};

use deadheat_model::SessionRecord;
use deadheat_report::{
    View,
    html::{self, Assets, Contents},
};
use deadheat_runner::session::{self, write_whole};
use deadheat_stats::Analysis;

use crate::{
    args::{AssetsArg, Format, ReportArgs},
    exit::{Exit, Failure},
    output,
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
    let record = session::read_session(&args.session).map_err(Failure::usage)?;
    let rendered = Rendered::of(&record, assets)?;
    let text = rendered.text_of(args.format);
    match &args.output {
        None => output::data(text),
        Some(path) => {
            let shared = if is_apart {
                path.parent().map(plotly_beside)
            } else {
                None
            };
            for (path, text) in shared
                .iter()
                .map(|(path, text)| (path, text.as_str()))
                .chain([(path, text)])
            {
                write(path, text).map_err(Failure::nothing)?;
                let size = deadheat_report::figure::bytes(text.len() as f64);
                output::note(&format!("written: {} ({size})", path.display()));
            }
        }
    }
    Ok(Exit::Fine)
}

/// The file that has plotly's script for the pages in a folder, and the script.
fn plotly_beside(folder: &Path) -> (PathBuf, String) {
    (folder.join(html::plotly_file()), html::plotly_js())
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    write_whole(path, text.as_bytes()).map_err(|error| {
        format!(
            "writing {}: {error}; give a file in a folder that you may write in",
            path.display()
        )
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
            text: deadheat_report::text(&view, output::width(), output::colour()),
            markdown: deadheat_report::markdown(&view),
            html: deadheat_report::html(&view, &contents).map_err(failed)?,
            json,
            csv,
            analysis,
            assets,
        })
    }

    fn text_of(&self, format: Format) -> &str {
        match format {
            Format::Text => &self.text,
            Format::Markdown => &self.markdown,
            Format::Html => &self.html,
            Format::Json => &self.json,
            Format::Csv => &self.csv,
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
