//! `--format`, `--json` and `--output`: the same options on every command that prints data.

use std::{
    fs,
    marker::PhantomData,
    path::{Path, PathBuf},
};

use clap::{
    Args, ValueEnum,
    builder::{PossibleValuesParser, TypedValueParser},
};
use deadheat_document::{
    Document, json as report,
    json::Body,
    text::{Charset, Screen},
};
use deadheat_model::figure;
use deadheat_runner::{
    files::Destination,
    session::{HEADER_FILE, heats::HEATS_FILE},
};
use serde::Serialize;

use crate::{
    exit::{CommandFailure, Exit},
    file_errors::{unwritable, why_unwritable},
    output,
};

/// What a program reads, in the envelope of all reports.
///
/// # Errors
/// When a value has no form in JSON.
pub fn json(body: &impl Body) -> Result<String, CommandFailure> {
    report::json(body).map_err(|error| CommandFailure::no_result(error.to_string()))
}

/// A plan and nothing else, for programs.
#[derive(Serialize)]
pub struct PlanAlone<T> {
    /// The plan.
    pub plan: T,
}

/// What `--dry-run --json` prints; docs/formats.md describes it.
#[derive(Serialize)]
#[serde(transparent)]
struct PlanReport<T>(T);

impl<T: Serialize> Body for PlanReport<T> {
    const FORMAT: &'static str = "deadheat-plan";
    const SCHEMA: u32 = 1;
}

/// The columns of a text file.
pub const COLUMNS: usize = 80;

/// A format of data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For the terminal
    Text,
    /// To be committed or pasted
    Markdown,
    /// A page that opens anywhere
    Html,
    /// For programs (docs/formats.md)
    Json,
    /// For spreadsheets (docs/formats.md)
    Csv,
    /// A picture (PNG, 1200 × 630) of one workload, for where a link is shown
    Card,
    /// A published table (docs/published.md)
    Toml,
    /// Histograms of the intervals (HdrHistogram log)
    Hlog,
    /// Percentiles of the whole load (HdrHistogram)
    Hgrm,
    /// The time series for Prometheus (OpenMetrics with timestamps; docs/metrics.md)
    #[value(name = "openmetrics")]
    OpenMetrics,
    /// The time series for OpenTelemetry (OTLP as JSON, a line per interval; docs/metrics.md)
    Otlp,
}

impl Format {
    /// How names of files in this format end, without the dot; the usual one first.
    fn endings(self) -> &'static [&'static str] {
        match self {
            Self::Text => &["txt"],
            Self::Markdown => &["md"],
            Self::Html => &["html", "htm"],
            Self::Json => &["json"],
            Self::Csv => &["csv"],
            Self::Card => &["png"],
            Self::Toml => &["toml"],
            Self::Hlog => &["hlog"],
            Self::Hgrm => &["hgrm"],
            Self::OpenMetrics => &["om"],
            Self::Otlp => &["otlp.json", "otlp.jsonl"],
        }
    }
}

/// Every command has these.
pub const TEXT_OR_JSON: &[Format] = &[Format::Text, Format::Json];
/// The formats of a document, and JSON.
pub const OF_DOCUMENT: &[Format] = &[Format::Text, Format::Markdown, Format::Html, Format::Json];
/// The formats that only a load has.
pub const OF_LOAD_ALONE: &[Format] = &[
    Format::Hlog,
    Format::Hgrm,
    Format::OpenMetrics,
    Format::Otlp,
];

/// The formats of a command.
pub trait Formats: Clone + Send + Sync + 'static {
    /// All of them: those that it shares with other commands, then its own.
    const LISTS: &'static [&'static [Format]];
}

/// Text and JSON.
#[derive(Clone, Copy, Debug, Default)]
pub struct TextOrJson;

impl Formats for TextOrJson {
    const LISTS: &'static [&'static [Format]] = &[TEXT_OR_JSON];
}

/// The formats of a document, and JSON.
#[derive(Clone, Copy, Debug, Default)]
pub struct OfDocument;

impl Formats for OfDocument {
    const LISTS: &'static [&'static [Format]] = &[OF_DOCUMENT];
}

/// The formats of a session's report.
#[derive(Clone, Copy, Debug)]
pub struct OfSession;

impl Formats for OfSession {
    const LISTS: &'static [&'static [Format]] = &[OF_DOCUMENT, &[Format::Csv, Format::Card]];
}

fn all<F: Formats>() -> impl Iterator<Item = Format> {
    F::LISTS.iter().flat_map(|list| list.iter().copied())
}

/// The possible values of `--format`.
fn parser<F: Formats>() -> impl TypedValueParser<Value = Format> {
    let names = all::<F>().filter_map(|format| format.to_possible_value());
    PossibleValuesParser::new(names)
        .map(|name| Format::from_str(&name, false).expect("a possible value"))
}

/// Refuses a format that `what` does not have.
///
/// # Errors
/// When `F` does not list `format`.
pub fn must_be_of<F: Formats>(what: &str, format: Format) -> Result<(), CommandFailure> {
    if all::<F>().any(|one| one == format) {
        return Ok(());
    }
    let names = all::<F>().filter_map(|format| format.to_possible_value());
    let names: Vec<String> = names.map(|one| one.get_name().to_owned()).collect();
    let names = match names.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} or {last}", others.join(", ")),
        None => String::new(),
    };
    Err(CommandFailure::usage(format!(
        "{what} can be shown as {names}: choose one with --format"
    )))
}

/// A document in a format of documents. Its text is the first screen, unless `details` are asked for.
///
/// # Errors
/// When documents have no such format, or the page cannot be written.
pub fn rendered(
    document: &Document,
    format: Format,
    details: bool,
    screen: Screen,
) -> Result<String, CommandFailure> {
    match format {
        Format::Text if details => Ok(document.text(screen)),
        Format::Text => Ok(document.brief(screen)),
        Format::Markdown => Ok(document.markdown()),
        Format::Html => document
            .html()
            .map_err(|error| CommandFailure::no_result(format!("writing the page: {error}"))),
        other => Err(CommandFailure::no_result(format!(
            "a document has no format {other:?}"
        ))),
    }
}

/// The format of `F` that a file's name asks for: of several, the one with the longest ending, so that `.otlp.json` is not
/// `.json`. `instead` is what else the user could do.
///
/// # Errors
/// When its ending is that of no format.
fn by_ending<F: Formats>(path: &Path, instead: &str) -> Result<Format, CommandFailure> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let name = name.to_ascii_lowercase();
    let ends_with = |ending: &&&str| {
        let stem = name.strip_suffix(**ending);
        let stem = stem.and_then(|stem| stem.strip_suffix('.'));
        stem.is_some_and(|stem| !stem.is_empty())
    };
    let found = all::<F>().filter_map(|format| {
        let endings = format.endings().iter().filter(ends_with);
        Some((endings.map(|ending| ending.len()).max()?, format))
    });
    let longest = found.max_by_key(|(length, _)| *length);
    longest.map(|(_, format)| format).ok_or_else(|| {
        let usual = all::<F>().filter_map(|format| format.endings().first());
        let usual: Vec<String> = usual.map(|ending| format!(".{ending}")).collect();
        let why = format!(
            "which format? end the file's name with one of {}{instead}",
            usual.join(" ")
        );
        unusable(path, &why)
    })
}

/// The options that choose the printed format.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct FormatArgs<F: Formats> {
    /// The format
    ///
    /// By default text.
    #[arg(long, value_parser = parser::<F>(), value_name = "FORMAT")]
    format: Option<Format>,
    /// Short for --format json
    #[arg(long, conflicts_with = "format")]
    json: bool,
    #[arg(skip)]
    formats: PhantomData<F>,
}

impl<F: Formats> FormatArgs<F> {
    fn asked(&self) -> Option<Format> {
        self.json.then_some(Format::Json).or(self.format)
    }

    /// The format of what is printed.
    pub(crate) fn format(&self) -> Format {
        self.asked().unwrap_or(Format::Text)
    }
}

/// The output options of a command that only shows something.
#[derive(Clone, Debug, Default, Args)]
pub struct DataArgs<F: Formats> {
    #[command(flatten)]
    printed: FormatArgs<F>,
    /// Write this file instead of standard output
    ///
    /// Its extension chooses the format, unless --format does.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// Where data goes, and in which format.
#[derive(Debug)]
pub struct Sink {
    /// The format.
    pub format: Format,
    file: Option<(PathBuf, Destination)>,
}

impl<F: Formats> DataArgs<F> {
    /// Opens the file, if one was named: before any work, so that nobody waits for data that has no place.
    ///
    /// # Errors
    /// When its name has no known ending and no format was asked for, or it cannot be written.
    pub fn open(&self) -> Result<Sink, CommandFailure> {
        let Some(path) = &self.output else {
            let format = self.printed.format();
            return Ok(Sink { format, file: None });
        };
        let format = match self.printed.asked() {
            Some(format) => format,
            None => by_ending::<F>(path, ", or choose one with --format")?,
        };
        let file = Some((path.clone(), opened(path)?));
        Ok(Sink { format, file })
    }

    /// [`open`](Self::open), unless the file is one of those that are read.
    ///
    /// # Errors
    /// As `open`, and when it would replace what is read.
    pub fn open_beside<'p>(
        &self,
        read: impl IntoIterator<Item = &'p Path>,
    ) -> Result<Sink, CommandFailure> {
        keep(read, self.output.as_slice())?;
        self.open()
    }
}

impl Sink {
    /// The screen to lay out for: a file has a fixed width and no colours.
    pub fn screen(&self) -> Screen {
        match self.file {
            Some(_) => page(),
            None => output::screen(),
        }
    }

    /// Writes what was made in its format.
    ///
    /// # Errors
    /// As for [`print()`].
    pub fn write(self, contents: &(impl AsRef<[u8]> + ?Sized)) -> Result<(), CommandFailure> {
        match self.file {
            Some((path, place)) => write(&path, place, contents.as_ref()),
            None => print(self.format, contents),
        }
    }
}

/// The output options of a command that measures: its report is always printed.
#[derive(Clone, Debug, Default, Args)]
pub struct FilesArgs<F: Formats> {
    #[command(flatten)]
    pub(crate) printed: FormatArgs<F>,
    /// Write a file as well, in the format of its extension; repeatable
    #[arg(short, long, value_name = "FILE")]
    pub output: Vec<PathBuf>,
}

impl<F: Formats> FilesArgs<F> {
    /// The format of what is printed.
    pub fn format(&self) -> Format {
        self.printed.format()
    }

    /// Whether the plan, which is text or JSON, is printed as JSON.
    ///
    /// # Errors
    /// When another format was asked for.
    pub fn plan_is_json(&self) -> Result<bool, CommandFailure> {
        match self.printed.asked() {
            Some(Format::Json) => Ok(true),
            Some(format) if format != Format::Text => Err(CommandFailure::usage(
                "--dry-run and --format: a plan is printed as text or json alone",
            )),
            _ => Ok(false),
        }
    }

    /// Prints a plan as text, or else as JSON.
    ///
    /// # Errors
    /// When another format was asked for, or it cannot be written.
    pub fn print_plan<T: Serialize>(
        &self,
        plan: &Document,
        for_programs: impl FnOnce() -> T,
    ) -> Result<Exit, CommandFailure> {
        let plan = if self.plan_is_json()? {
            json(&PlanReport(for_programs()))?
        } else {
            plan.text(page())
        };
        output::data(&plan)?;
        Ok(Exit::Fine)
    }

    /// Opens the files.
    ///
    /// # Errors
    /// When a name has no known ending, is listed twice, or cannot be written.
    pub fn open(&self) -> Result<Files, CommandFailure> {
        destinations::<F>(&self.output).map(Files)
    }

    /// [`open`](Self::open), unless a file is one of those that are read.
    ///
    /// # Errors
    /// As `open`, and when one would replace what is read.
    pub fn open_beside<'p>(
        &self,
        read: impl IntoIterator<Item = &'p Path>,
    ) -> Result<Files, CommandFailure> {
        keep(read, &self.output)?;
        self.open()
    }
}

/// Output files, opened before the measurement and written after it.
#[derive(Debug)]
pub struct Files(Vec<(PathBuf, Format, Destination)>);

impl Files {
    /// The formats that were asked for.
    pub fn formats(&self) -> impl Iterator<Item = Format> {
        self.0.iter().map(|(_, format, _)| *format)
    }

    /// Writes all of them, the others too if one of them fails.
    ///
    /// # Errors
    /// All failures, with the exit status of the first one.
    pub fn write(
        self,
        mut rendered: impl FnMut(Format) -> Result<Vec<u8>, CommandFailure>,
    ) -> Result<(), CommandFailure> {
        let mut failed: Result<(), CommandFailure> = Ok(());
        for (path, format, place) in self.0 {
            let written = rendered(format).and_then(|bytes| write(&path, place, &bytes));
            failed = match (failed, written) {
                (Err(first), Err(other)) => Err(first.and(&other.to_string())),
                (before, written) => before.and(written),
            };
        }
        failed
    }
}

/// Opens files, each with the format of its ending.
///
/// # Errors
/// When a name has no known ending, is listed twice, or cannot be written.
pub fn destinations<F: Formats>(
    paths: &[PathBuf],
) -> Result<Vec<(PathBuf, Format, Destination)>, CommandFailure> {
    let mut files: Vec<(PathBuf, Format, Destination)> = Vec::new();
    for path in paths {
        let format = by_ending::<F>(path, "")?;
        let destination = opened(path)?;
        if files
            .iter()
            .any(|(other, ..)| place(other) == self::place(path))
        {
            return Err(unusable(path, "this file is listed twice"));
        }
        files.push((path.clone(), format, destination));
    }
    Ok(files)
}

/// Refuses to write what is read.
fn keep<'p>(
    read: impl IntoIterator<Item = &'p Path>,
    written: &[PathBuf],
) -> Result<(), CommandFailure> {
    let read: Vec<PathBuf> = read
        .into_iter()
        .filter_map(|path| fs::canonicalize(path).ok())
        .collect();
    let both = |path: &&PathBuf| place(path).is_some_and(|place| read.contains(&place));
    match written.iter().find(both) {
        Some(path) => Err(unusable(
            path,
            "this file is read, and would be replaced; name another one",
        )),
        None => Ok(()),
    }
}

fn opened(path: &Path) -> Result<Destination, CommandFailure> {
    if is_session_record(path) {
        let why =
            "this file is part of a session's record, and would be replaced; name another one";
        return Err(unusable(path, why));
    }
    Destination::open(path).map_err(|error| {
        let why = why_unwritable(path, &error);
        unusable(path, &format!("opening it for writing: {why}"))
    })
}

fn unusable(path: &Path, why: &str) -> CommandFailure {
    CommandFailure::usage(format!("--output {}: {why}", path.display()))
}

/// Whether this is a file of a session that was measured: without it there is no report of that session any more.
fn is_session_record(path: &Path) -> bool {
    let files = [HEADER_FILE, HEATS_FILE];
    place(path).is_some_and(|real| {
        files.iter().any(|name| real.ends_with(name))
            && files.iter().all(|name| real.with_file_name(name).is_file())
    })
}

/// Where a file is or will be, however its path is written.
fn place(path: &Path) -> Option<PathBuf> {
    fs::canonicalize(path).ok().or_else(|| {
        let folder = path.parent().filter(|folder| *folder != Path::new(""));
        let folder = fs::canonicalize(folder.unwrap_or(Path::new("."))).ok()?;
        Some(folder.join(path.file_name()?))
    })
}

/// Writes a file and says so.
fn write(path: &Path, place: Destination, bytes: &[u8]) -> Result<(), CommandFailure> {
    place
        .write(bytes)
        .map_err(|error| unwritable(path, &error))?;
    let size = figure::bytes(bytes.len() as f64);
    output::note(&format!("written: {} ({size})", path.display()));
    Ok(())
}

/// Prints what was made in a format. A picture is kept byte for byte, and a page as well, except on a screen. In text,
/// control characters are made visible.
///
/// # Errors
/// When it cannot be written, or a picture would go to a terminal.
pub fn print(format: Format, contents: &(impl AsRef<[u8]> + ?Sized)) -> Result<(), CommandFailure> {
    let contents = contents.as_ref();
    let is_terminal = output::is_terminal();
    match format {
        Format::Card if is_terminal => Err(CommandFailure::usage(
            "refusing to write a PNG to the terminal; use --output card.png",
        )),
        Format::Card | Format::Html if !is_terminal => output::bytes(contents),
        _ => output::data(&String::from_utf8_lossy(contents)),
    }
}

/// A plan as a note before a measurement.
pub fn as_note(plan: &Document) -> String {
    plan.text(page()).trim_end().to_owned()
}

/// What the text of a file is read on.
pub fn page() -> Screen {
    Screen {
        width: COLUMNS,
        colour: false,
        charset: Charset::Unicode,
    }
}

#[cfg(test)]
#[path = "data_tests.rs"]
mod tests;
