//! What a load leaves behind: the report on standard output, and files. The only place that knows formats.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Write as _},
    path::{Path, PathBuf},
};

use deadheat_model::LoadRecord;
use deadheat_report::{
    ReportError,
    load::{self as report, LoadView},
};
use deadheat_stats::load::LoadAnalysis;

use crate::{exit::Failure, output};

/// The columns of a text file.
const COLUMNS: usize = 80;

/// A format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    Text,
    Json,
    Csv,
    HdrLog,
    Percentiles,
    Html,
}

impl Format {
    fn of(path: &Path) -> Option<Self> {
        let ending = path.extension()?.to_str()?.to_ascii_lowercase();
        Some(match ending.as_str() {
            "txt" => Format::Text,
            "json" => Format::Json,
            "csv" => Format::Csv,
            "hlog" => Format::HdrLog,
            "hgrm" => Format::Percentiles,
            "html" | "htm" => Format::Html,
            _ => return None,
        })
    }
}

/// The outputs of a load. Files are opened before the start: whoever has waited for a load should not hear then that
/// there is no place for its result.
#[derive(Debug)]
pub(crate) struct Outputs {
    /// Whether standard output gets JSON.
    json: bool,
    files: Vec<Destination>,
}

#[derive(Debug)]
struct Destination {
    path: PathBuf,
    format: Format,
    file: File,
    /// Whether it is to be taken away again if nothing is written into it.
    is_new: bool,
}

impl Outputs {
    /// Opens all files. What they have in them stays until there is something to write.
    pub(crate) fn open(paths: &[PathBuf], json: bool) -> Result<Self, Failure> {
        let mut files: Vec<Destination> = Vec::new();
        for path in paths {
            let destination = Destination::open(path)
                .map_err(|why| Failure::usage(format!("--output {}: {why}", path.display())))?;
            let same = |other: &Destination| {
                fs::canonicalize(&other.path).ok() == fs::canonicalize(path).ok()
            };
            if files.iter().any(same) {
                return Err(Failure::usage(format!(
                    "--output {}: this file is there twice",
                    path.display()
                )));
            }
            files.push(destination);
        }
        Ok(Self { json, files })
    }

    /// Writes everything: the other files, too, where one of them fails.
    pub(crate) fn write(self, record: &LoadRecord) -> Result<(), Failure> {
        let results = Results::of(record);
        let data = results.data(self.json).map_err(|error| {
            Failure::nothing(format!("writing the report of {}: {error}", record.url))
        })?;
        output::data(&data);
        let mut failed = None;
        for destination in self.files {
            let shown = destination.path.display().to_string();
            let text = results.text(destination.format);
            let written = text
                .map_err(|error| error.to_string())
                .and_then(|text| destination.write(&text).map_err(|error| error.to_string()));
            match written {
                Ok(()) => output::note(&format!("written: {shown}")),
                Err(why) => {
                    let failure = Failure::nothing(format!("writing {shown}: {why}"));
                    failed = failed.or(Some(failure));
                }
            }
        }
        failed.map_or(Ok(()), Err)
    }
}

impl Destination {
    fn open(path: &Path) -> Result<Self, String> {
        let format = Format::of(path).ok_or(
            "which format? give the file one of the endings .txt .json .csv .hlog .hgrm .html",
        )?;
        let is_new = fs::symlink_metadata(path).is_err();
        let mut options = OpenOptions::new();
        // What is there is cut off only when there is something to put in its place.
        let file = options.write(true).create(true).truncate(false).open(path);
        Ok(Self {
            path: path.to_owned(),
            format,
            file: file.map_err(|error| format!("opening it for writing: {error}"))?,
            is_new,
        })
    }

    fn write(mut self, text: &str) -> io::Result<()> {
        // A device or a pipe has no length.
        if self.file.metadata()?.is_file() {
            self.file.set_len(0)?;
        }
        self.is_new = false;
        self.file.write_all(text.as_bytes())?;
        self.file.flush()
    }
}

impl Drop for Destination {
    fn drop(&mut self) {
        if self.is_new {
            // Nobody is left to hear of a file that could not be taken away.
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// A load's results, to be laid out in any format.
struct Results<'a> {
    record: &'a LoadRecord,
    analysis: LoadAnalysis,
    view: LoadView,
}

impl<'a> Results<'a> {
    fn of(record: &'a LoadRecord) -> Self {
        let analysis = deadheat_stats::load::analyse(record);
        let view = LoadView::new(record, &analysis);
        Self {
            record,
            analysis,
            view,
        }
    }

    /// The text of a file. One that a person reads has neither a terminal's width nor its colours.
    fn text(&self, format: Format) -> Result<String, ReportError> {
        match format {
            Format::Text => Ok(report::text(&self.view, COLUMNS, false)),
            Format::Json => report::json(self.record, &self.analysis),
            Format::Csv => Ok(report::csv(self.record)),
            Format::HdrLog => report::hdr_log(self.record),
            Format::Percentiles => Ok(report::hgrm(self.record)),
            Format::Html => report::html(&self.view),
        }
    }

    /// What goes to standard output.
    fn data(&self, json: bool) -> Result<String, ReportError> {
        match json {
            true => self.text(Format::Json),
            false => Ok(report::text(&self.view, output::width(), output::colour())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(paths: &[PathBuf]) -> String {
        Outputs::open(paths, false).unwrap_err().to_string()
    }

    #[test]
    fn the_ending_chooses_the_format() {
        let formats = ["a.txt", "a.JSON", "a.b.csv", "a.hlog", "a.hgrm", "a.html"]
            .map(|name| Format::of(Path::new(name)));
        let expected = [
            Format::Text,
            Format::Json,
            Format::Csv,
            Format::HdrLog,
            Format::Percentiles,
            Format::Html,
        ];
        assert_eq!(formats, expected.map(Some));
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

    #[test]
    fn what_was_there_stays_until_there_is_something_new() {
        let folder = tempfile::tempdir().unwrap();
        let (old, new) = (folder.path().join("old.txt"), folder.path().join("new.txt"));
        fs::write(&old, "a long text from before").unwrap();
        let outputs = Outputs::open(&[old.clone(), new.clone()], false).unwrap();
        drop(outputs);
        assert_eq!(fs::read_to_string(&old).unwrap(), "a long text from before");
        assert!(!new.exists());
        let outputs = Outputs::open(&[old.clone(), new.clone()], false).unwrap();
        for destination in outputs.files {
            destination.write("short").unwrap();
        }
        assert_eq!(fs::read_to_string(&old).unwrap(), "short");
        assert_eq!(fs::read_to_string(&new).unwrap(), "short");
    }
}
