//! The outputs of a load: the report on standard output, and files. The only module that knows formats.

use std::{
    fs::File,
    io::{self, Write as _},
    path::PathBuf,
};

use deadheat_document::{Document, text::Screen};
use deadheat_model::{Interval, LoadRecord};
use deadheat_runner::files::Destination;
use deadheat_shell::{
    data::{self, COLUMNS, Format, destinations},
    exit::CommandFailure,
    output,
};

use crate::{
    analysis::LoadAnalysis,
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
    failed: Option<String>,
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
        let results = Results::new(record);
        let text = results.data(self.shown)?;
        let printed = match self.shown {
            StdoutContent::Format(Format::Html) => data::print(text.as_bytes()),
            _ => output::data(&text),
        };
        let mut failed = printed.err();
        for mut file in self.files {
            match file.finish(&results) {
                Ok(()) => output::note(&format!("written: {}", file.path.display())),
                Err(why) => {
                    let shown = file.path.display();
                    let failure = CommandFailure::no_result(format!("writing {shown}: {why}"));
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
            let written = self.append(&(head + row));
            self.failed = written.err().map(|error| error.to_string());
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
    fn finish(&mut self, results: &Results<'_>) -> Result<(), String> {
        if let Some(why) = self.failed.take() {
            return Err(why);
        }
        let Some(destination) = self.destination.take() else {
            return Ok(());
        };
        let text = match self.format {
            Format::Csv => report::csv_head(),
            format => results.text(format).map_err(|error| error.to_string())?,
        };
        destination
            .write(text.as_bytes())
            .map_err(|error| error.to_string())
    }
}

/// A load's results, which can be written in any format.
struct Results<'a> {
    record: &'a LoadRecord,
    analysis: LoadAnalysis,
}

impl<'a> Results<'a> {
    fn new(record: &'a LoadRecord) -> Self {
        Self {
            record,
            analysis: crate::analysis::analyse(record),
        }
    }

    /// The text of a file in this format, without a terminal's width and colours.
    fn text(&self, format: Format) -> Result<String, CommandFailure> {
        let written = match format {
            Format::Json => report::json(self.record, &self.analysis),
            Format::Csv => Ok(report::csv(&self.record.intervals)),
            Format::Hlog => report::hdr_log(self.record),
            Format::Hgrm => Ok(report::hgrm(self.record)),
            Format::Html => report::html(self.record, &self.analysis),
            Format::OpenMetrics => Ok(self.over_time(report::open_metrics)),
            Format::Otlp => Ok(self.over_time(report::otlp)),
            format => {
                let screen = Screen::new(COLUMNS, false);
                return data::rendered(&self.whole(), format, true, screen);
            }
        };
        let url = &self.record.url;
        written.map_err(|error| {
            CommandFailure::no_result(format!("writing the report of {url}: {error}"))
        })
    }

    /// The load over time in a format for monitoring systems.
    fn over_time(&self, lay_out: fn(&Source, &[Reading]) -> String) -> String {
        lay_out(
            &Source::from_record(self.record),
            &report::readings(self.record),
        )
    }

    fn whole(&self) -> Document {
        report::document(self.record, &self.analysis)
    }

    /// The text for standard output.
    fn data(&self, shown: StdoutContent) -> Result<String, CommandFailure> {
        let document = match shown {
            StdoutContent::Format(format) => return self.text(format),
            StdoutContent::Brief => report::brief(self.record, &self.analysis),
            StdoutContent::Details => self.whole(),
        };
        Ok(document.text(output::screen()))
    }
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
        assert!(refusal(&[missing]).contains("opening it for writing"));
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
        let results = Results::new(&record);
        for mut destination in outputs.files {
            destination.finish(&results).unwrap();
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
        let results = Results::new(&record);
        for mut destination in outputs.files {
            destination.finish(&results).unwrap();
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
        let error = outputs.files[0].finish(&Results::new(&record)).unwrap_err();
        assert!(error.contains("No space left"), "{error}");
    }
}
