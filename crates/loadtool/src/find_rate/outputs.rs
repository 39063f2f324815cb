//! What a search leaves behind: the report on standard output, and files.

use std::path::Path;

use deadheat_document::text::Screen;
use deadheat_model::{
    capacity::{CapacityRecord, FORMAT, SCHEMA},
    record,
};
use deadheat_runner::files;
use deadheat_shell::{
    data::{self, Files, FilesArgs, Format, Sink},
    exit::Failure,
    output,
};
use deadheat_stats::capacity::analyse;

use crate::{find_rate::document as report, options::LoadFormat};

/// The outputs of a search. Files are opened before the start.
pub(super) struct Outputs {
    printed: LoadFormat,
    files: Files<LoadFormat>,
}

impl Outputs {
    /// Opens all files; refuses formats of a single load's latencies.
    pub(super) fn open(args: &FilesArgs<LoadFormat>) -> Result<Self, Failure> {
        let printed = args.format();
        let files = args.open()?;
        let of_one_load = |format: &LoadFormat| {
            !matches!(
                format,
                LoadFormat::Text | LoadFormat::Json | LoadFormat::Csv | LoadFormat::Html
            )
        };
        if of_one_load(&printed) || files.formats().any(of_one_load) {
            return Err(Failure::usage(
                "--find-rate and hlog, hgrm, openmetrics or otlp: these are of one load; write the search as text, json, \
                 csv or html",
            ));
        }
        Ok(Self { printed, files })
    }

    /// Writes everything.
    pub(super) fn write(self, record: &CapacityRecord) -> Result<(), Failure> {
        let screen = output::screen();
        let printed = match self.printed {
            LoadFormat::Html => data::print(rendered(record, self.printed, screen)?.as_bytes()),
            format => output::data(&rendered(record, format, screen)?),
        };
        let written = self
            .files
            .write(|format| rendered(record, *format, data::page()).map(String::into_bytes));
        printed.and(written)
    }
}

/// The report in a format.
fn rendered(
    record: &CapacityRecord,
    format: LoadFormat,
    screen: Screen,
) -> Result<String, Failure> {
    let analysis = analyse(record);
    let rendered = match format {
        LoadFormat::Json => report::json(record, &analysis),
        LoadFormat::Csv => Ok(report::csv(record)),
        LoadFormat::Html => report::html(record, &analysis),
        // No other format comes here.
        _ => Ok(report::document(record, &analysis).text(screen)),
    };
    rendered.map_err(|error| {
        Failure::no_result(format!("writing the report of {}: {error}", record.url))
    })
}

/// The search in a file that `--json` or `-o FILE.json` wrote; `None`: the file is something else.
///
/// # Errors
/// When it is a search that cannot be read.
pub fn read(file: &Path) -> Result<Option<CapacityRecord>, Failure> {
    let Ok(text) = files::read_text(file) else {
        return Ok(None);
    };
    if !text.trim_start().starts_with('{') || !text.contains(&format!("\"{FORMAT}\"")) {
        return Ok(None);
    }
    let unreadable = |why: &dyn std::fmt::Display| {
        Failure::usage(format!(
            "reading the search in {}: {why}; write it again with --find-rate",
            file.display()
        ))
    };
    let record: CapacityRecord =
        record::read(text.as_bytes()).map_err(|error| unreadable(&error))?;
    if record.schema != SCHEMA {
        return Err(unreadable(&format!(
            "its schema is {}, and this Deadheat reads {SCHEMA}",
            record.schema
        )));
    }
    Ok(Some(record))
}

/// Shows a search again.
///
/// # Errors
/// When it has no report in this format.
pub fn shown_again(record: &CapacityRecord, sink: Sink<Format>) -> Result<(), Failure> {
    let format = match sink.format {
        Format::Text => LoadFormat::Text,
        Format::Json => LoadFormat::Json,
        Format::Csv => LoadFormat::Csv,
        Format::Html => LoadFormat::Html,
        Format::Markdown | Format::Card => {
            return Err(Failure::usage(
                "a search of --find-rate is shown as text, json, csv or html: choose one with --format",
            ));
        }
    };
    let rendered = rendered(record, format, sink.screen())?;
    match format {
        LoadFormat::Html => sink.write_bytes(rendered.as_bytes()),
        _ => sink.write(&rendered),
    }
}
