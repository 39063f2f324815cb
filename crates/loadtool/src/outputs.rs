//! The outputs of a load: the report on standard output, and files. The only module that knows formats.

use std::{
    fs::File,
    io::{self, Write as _},
    path::PathBuf,
};

use deadheat_document::text::Screen;
use deadheat_model::{Interval, LoadRecord, record::SCHEMA};
use deadheat_runner::files::Destination;
use deadheat_shell::{
    data::{self, COLUMNS, Format, Sink, destinations},
    exit::CommandFailure,
    file_errors::unwritable,
    output,
    record_file::RecordFile,
};

use crate::{
    analysis::{LoadAnalysis, analyse},
    document as report,
    document::{Reading, Source},
    options::OfLoad,
};

/// The content of standard output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StdoutContent {
    /// The first screen of the report.
    Brief,
    /// The whole report.
    Details,
    /// The results in this format.
    Format(Format),
}

impl StdoutContent {
    /// The content in a format; with `details`, the text is the whole report.
    pub(crate) fn new(format: Format, details: bool) -> Self {
        match (format, details) {
            (_, true) => Self::Details,
            (Format::Text, false) => Self::Brief,
            (format, false) => Self::Format(format),
        }
    }

    fn format(self) -> Format {
        match self {
            Self::Brief | Self::Details => Format::Text,
            Self::Format(format) => format,
        }
    }
}

/// Writes the report of a recorded load; with `details`, its text is the whole report.
///
/// # Errors
/// When the record cannot be read, or has no report in this format.
pub fn shown_again(file: &RecordFile, details: bool, sink: Sink) -> Result<(), CommandFailure> {
    let what = format!("The load in {}", file.path().display());
    data::must_be_of::<OfLoad>(&what, sink.format)?;
    let record: LoadRecord = file.record(SCHEMA).map_err(|error| {
        CommandFailure::usage(format!(
            "reading the load in {}: {error}; write it again with -o FILE.json",
            file.path().display()
        ))
    })?;
    let shown = StdoutContent::new(sink.format, details);
    let text = printed_text(&record, &analyse(&record), shown, sink.screen())?;
    sink.write(&text)
}

/// The outputs of a load. Files are opened before the start, so that a load does not run whose result cannot be
/// written.
///
/// An existing file keeps its content, and a new one is not created, until there is something to write. So a load that
/// ends without a result leaves no empty file, however it ends.
#[derive(Debug)]
pub(crate) struct Outputs {
    shown: StdoutContent,
    files: Vec<Output>,
}

#[derive(Debug)]
struct Output {
    path: PathBuf,
    format: Format,
    /// The opened destination, until writing begins.
    destination: Option<Destination>,
    /// The file of a table of intervals, once it has rows.
    table: Option<File>,
    /// Why nothing more can be written.
    failed: Option<io::Error>,
}

/// Why a file has no report.
#[derive(Debug, thiserror::Error)]
enum OutputError {
    #[error(transparent)]
    File(#[from] io::Error),
    #[error(transparent)]
    Report(#[from] CommandFailure),
}

impl Outputs {
    /// Opens all files.
    pub(crate) fn open(paths: &[PathBuf], shown: StdoutContent) -> Result<Self, CommandFailure> {
        let files = destinations::<OfLoad>(paths)?;
        let files = files.into_iter().map(Output::new);
        Ok(Self {
            shown,
            files: files.collect(),
        })
    }

    /// Adds the row of a finished interval to tables of intervals. So users can watch them, and they have every
    /// interval of a load of any length.
    pub(crate) fn interval(&mut self, interval: &Interval) {
        let tables = self.files.iter_mut();
        for table in tables.filter(|file| file.format == Format::Csv) {
            table.add_row(&report::csv_row(interval));
        }
    }

    /// Writes all outputs. If a file fails, the others are still written.
    pub(crate) fn write(self, record: &LoadRecord) -> Result<(), CommandFailure> {
        let analysis = analyse(record);
        let text = printed_text(record, &analysis, self.shown, output::screen())?;
        let printed = data::print(self.shown.format(), &text);
        let mut failed = printed.err();
        for mut file in self.files {
            match file.finish(record, &analysis) {
                Ok(()) => output::note(&format!("written: {}", file.path.display())),
                Err(error) => {
                    let failure = match error {
                        OutputError::File(error) => unwritable(&file.path, &error),
                        OutputError::Report(error) => {
                            let shown = file.path.display();
                            CommandFailure::no_result(format!("writing {shown}: {error}"))
                        }
                    };
                    failed = failed.or(Some(failure));
                }
            }
        }
        failed.map_or(Ok(()), Err)
    }
}

impl Output {
    fn new((path, format, destination): (PathBuf, Format, Destination)) -> Self {
        Self {
            path,
            format,
            destination: Some(destination),
            table: None,
            failed: None,
        }
    }

    /// Adds a row to a table, with the head before the first one.
    fn add_row(&mut self, row: &str) {
        let head = match self.table {
            Some(_) => String::new(),
            None => report::csv_head(),
        };
        if self.failed.is_none() {
            self.failed = self.append(&(head + row)).err();
        }
    }

    fn append(&mut self, rows: &str) -> io::Result<()> {
        if let Some(destination) = self.destination.take() {
            self.table = Some(destination.begin()?);
        }
        let Some(table) = &mut self.table else {
            return Ok(());
        };
        table.write_all(rows.as_bytes())
    }

    /// Writes the file, unless it is a table that has its rows already.
    fn finish(&mut self, record: &LoadRecord, analysis: &LoadAnalysis) -> Result<(), OutputError> {
        if let Some(error) = self.failed.take() {
            return Err(error.into());
        }
        let Some(destination) = self.destination.take() else {
            return Ok(());
        };
        let text = match self.format {
            Format::Csv => report::csv_head(),
            format => file_text(record, analysis, format)?,
        };
        Ok(destination.write(text.as_bytes())?)
    }
}

/// The text of a file in this format, without a terminal's width and colours.
fn file_text(
    record: &LoadRecord,
    analysis: &LoadAnalysis,
    format: Format,
) -> Result<String, CommandFailure> {
    let over_time = |lay_out: fn(&Source, &[Reading]) -> String| {
        lay_out(&Source::from_record(record), &report::readings(record))
    };
    let written = match format {
        Format::Json => report::json(record, analysis),
        Format::Csv => Ok(report::csv(&record.intervals)),
        Format::Hlog => report::hdr_log(record),
        Format::Hgrm => Ok(report::hgrm(record)),
        Format::Html => report::html(record, analysis),
        Format::OpenMetrics => Ok(over_time(report::open_metrics)),
        Format::Otlp => Ok(over_time(report::otlp)),
        format => {
            let document = report::document(record, analysis);
            return data::rendered(&document, format, true, Screen::new(COLUMNS, false));
        }
    };
    let url = &record.url;
    written
        .map_err(|error| CommandFailure::no_result(format!("writing the report of {url}: {error}")))
}

/// The text for standard output, or for what takes its place.
fn printed_text(
    record: &LoadRecord,
    analysis: &LoadAnalysis,
    shown: StdoutContent,
    screen: Screen,
) -> Result<String, CommandFailure> {
    let document = match shown {
        StdoutContent::Format(format) => return file_text(record, analysis, format),
        StdoutContent::Brief => report::brief(record, analysis),
        StdoutContent::Details => report::document(record, analysis),
    };
    Ok(document.text(screen))
}

#[cfg(test)]
mod tests {
    use std::{fs, time::Duration};

    use super::*;

    fn refusal(paths: &[PathBuf]) -> String {
        Outputs::open(paths, StdoutContent::Brief)
            .unwrap_err()
            .to_string()
    }

    #[test]
    fn a_file_needs_an_ending_that_is_known() {
        for name in ["a", "a.xml", "json", ".json", "a."] {
            assert!(refusal(&[name.into()]).contains("which format"), "{name}");
        }
    }

    #[test]
    fn what_cannot_be_written_is_found_when_it_is_opened() {
        let folder = tempfile::tempdir().unwrap();
        let missing = folder.path().join("no/out.json");
        let told = refusal(&[missing]);
        assert!(told.contains("opening it for writing"), "{told}");
        assert!(told.contains("no does not exist; create it"), "{told}");
        assert!(!told.contains(".deadheat-"), "{told}");
        let taken = folder.path().join("folder.json");
        fs::create_dir(&taken).unwrap();
        assert!(refusal(&[taken]).contains("opening it for writing"));
        let twice = folder.path().join("a.json");
        let again = folder.path().join("./a.json");
        assert!(refusal(&[twice.clone(), again]).contains("twice"));
        assert!(!twice.exists(), "what was made is taken away");
    }

    fn record() -> LoadRecord {
        LoadRecord {
            schema: deadheat_model::record::SCHEMA,
            deadheat: String::new(),
            started: String::new(),
            url: "http://localhost/".to_owned(),
            machine: Default::default(),
            spec: deadheat_model::LoadSpec::new(
                deadheat_model::load::Target::plain("127.0.0.1:80".parse().unwrap()),
                Vec::new(),
                deadheat_model::Schedule::Closed {
                    connections: 1,
                    ramp: Duration::ZERO,
                },
                deadheat_model::StopRule::Interrupt,
            ),
            interrupted: false,
            observation: Default::default(),
            intervals: Vec::new(),
            hosts: Vec::new(),
        }
    }

    #[test]
    fn what_was_there_stays_until_there_is_something_new() {
        let folder = tempfile::tempdir().unwrap();
        let (old, new) = (folder.path().join("old.txt"), folder.path().join("new.txt"));
        fs::write(&old, "a long text from before".repeat(1_000)).unwrap();
        let before = fs::read_to_string(&old).unwrap();
        let mut outputs = Outputs::open(&[old.clone(), new.clone()], StdoutContent::Brief).unwrap();
        outputs.interval(&Interval::default());
        assert_eq!(fs::read_to_string(&old).unwrap(), before);
        // Nothing is left to be taken away, so that no end of the process leaves anything.
        assert!(!new.exists());
        let record = record();
        let analysis = analyse(&record);
        for mut destination in outputs.files {
            destination.finish(&record, &analysis).unwrap();
        }
        let text = fs::read_to_string(&old).unwrap();
        assert!(text.starts_with("Nothing was measured"), "{text}");
        assert_eq!(fs::read_to_string(&new).unwrap(), text);
    }

    #[test]
    fn tables_grow_while_the_load_goes_on() {
        let folder = tempfile::tempdir().unwrap();
        let paths = ["a.csv", "b.csv"].map(|name| folder.path().join(name));
        fs::write(&paths[0], "before").unwrap();
        let mut outputs = Outputs::open(&paths, StdoutContent::Brief).unwrap();
        assert_eq!(fs::read_to_string(&paths[0]).unwrap(), "before");
        let intervals = [0, 1].map(|index| Interval {
            index,
            ..Interval::default()
        });
        for (index, interval) in intervals.iter().enumerate() {
            outputs.interval(interval);
            for path in &paths {
                let rows = fs::read_to_string(path).unwrap();
                assert_eq!(rows, report::csv(&intervals[..=index]));
            }
        }
        let record = record();
        let analysis = analyse(&record);
        for mut destination in outputs.files {
            destination.finish(&record, &analysis).unwrap();
            let rows = fs::read_to_string(&destination.path).unwrap();
            assert_eq!(rows, report::csv(&intervals));
        }
    }

    #[test]
    fn a_table_that_cannot_be_written_is_told_of_in_the_end() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("full.csv");
        std::os::unix::fs::symlink("/dev/full", &path).unwrap();
        let mut outputs = Outputs::open(&[path], StdoutContent::Brief).unwrap();
        outputs.interval(&Interval::default());
        outputs.interval(&Interval::default());
        let record = record();
        let finished = outputs.files[0].finish(&record, &analyse(&record));
        let error = finished.unwrap_err();
        assert!(error.to_string().contains("No space left"), "{error}");
    }
}
