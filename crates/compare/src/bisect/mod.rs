//! `deadheat bisect`: the commit that made a stack or a command slower. What is asked next, and why that is sound, is in
//! [`crate::bisect::analysis`].

pub mod analysis;
pub mod document;
mod measure;
mod start;
mod subject;

use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
    sync::{Arc, atomic::AtomicBool},
};

use clap::{Arg, Args};
use deadheat_bench::heats;
use deadheat_document::text::Screen;
use deadheat_model::{
    bisect::{Asks, BisectAnswer, BisectRecord, SCHEMA},
    record::{self, Record, RecordError},
};
use deadheat_runner::{files, session::exclusively};
use deadheat_shell::{
    data::{self, FilesArgs, Format, OfDocument, Sink},
    exit::{CommandFailure, Exit},
    invocation,
    options::ExplicitOptions,
    output,
    record_file::RecordFile,
};
use serde::Deserialize;

use self::{
    analysis::{Outcome, next, outcome, resume_command},
    document::{answer, document, json},
    measure::Measurer,
    start::Search,
};
use crate::options::{CompareArgs, MEASURING, MeasureArgs, ServerArgs, StacksArgs, in_long_help};

/// Searches for the commit, or resumes a search.
pub fn bisect(args: BisectArgs) -> Result<Exit, CommandFailure> {
    let (format, files) = (args.data.format(), args.data.open()?);
    let (search, folder, shown) = match args.resume.clone() {
        Some(folder) => start::reopen(&folder, args)?,
        None => {
            let planned = start::plan(args)?;
            if planned.args.measure.heat.dry_run {
                let for_programs = || start::for_programs(&planned);
                let data = &planned.args.verdict.data;
                return data.print_plan(&start::plan_document(&planned), for_programs);
            }
            output::note(&data::as_note(&start::plan_document(&planned)));
            let folder = planned.begin()?;
            let shown = heats::typed(folder.path());
            (planned, folder, shown)
        }
    };
    let interrupted = invocation::on_signals().map_err(CommandFailure::no_result)?;
    let again = resume_command(&search.record, &shown);
    let with_advice = |failure: CommandFailure| match &again {
        Some(command) => failure.and(&format!("Go on with: {command}")),
        None => failure,
    };
    let (record, stopped) = measure(search, folder, &interrupted).map_err(with_advice)?;
    let rendered =
        |format, screen| self::rendered(&record, &shown, stopped.as_deref(), format, screen);
    data::print(format, &rendered(format, output::screen())?)?;
    files.write(|format| Ok(rendered(format, data::page())?.into_bytes()))?;
    Ok(exit(&outcome(&record)))
}

/// Writes the report of a search from its folder.
///
/// # Errors
/// When the record cannot be read, or has no report in this format.
pub fn shown_again(folder: &Path, sink: Sink) -> Result<(), CommandFailure> {
    let (_, record) = read(folder)?;
    write_again(&record, &heats::typed(folder), folder, sink)
}

/// Writes the report of a search from the JSON of an earlier report, which contains the record.
///
/// # Errors
/// As for [`shown_again`].
pub fn shown_again_from(file: &RecordFile, sink: Sink) -> Result<(), CommandFailure> {
    let reported: ReportedSearch = file.record(SCHEMA).map_err(|error| {
        CommandFailure::usage(format!(
            "reading the search in {}: {error}; name the folder of the search",
            file.path().display()
        ))
    })?;
    write_again(&reported.search, &reported.folder, file.path(), sink)
}

/// What the JSON of a report has of the search.
#[derive(Deserialize)]
struct ReportedSearch {
    folder: String,
    search: BisectRecord,
}

impl Record for ReportedSearch {
    fn check(&self) -> Result<(), RecordError> {
        self.search.check()
    }
}

/// `folder` is the search's, as the user would type it; `place` is where the record was read from.
fn write_again(
    record: &BisectRecord,
    folder: &str,
    place: &Path,
    sink: Sink,
) -> Result<(), CommandFailure> {
    let what = format!("The search of `deadheat bisect` in {}", place.display());
    data::must_be_of::<OfDocument>(&what, sink.format)?;
    let text = rendered(record, folder, None, sink.format, sink.screen())?;
    sink.write(&text)
}

/// Measures questions until the search is over, one stays undecided, or the user interrupts. Only an interrupted search
/// has the sentence: what was measured for its last question.
fn measure(
    search: Search,
    folder: Folder,
    interrupted: &Arc<AtomicBool>,
) -> Result<(BisectRecord, Option<String>), CommandFailure> {
    let Search {
        subject,
        args,
        mut record,
    } = search;
    let mut measurer = Measurer::new(&subject, args, &folder, interrupted);
    while let Some(asks) = next(&record) {
        output::note(&start::question(&record, asks));
        let Some(question) = measurer.ask(&record, asks)? else {
            return Ok((record, measurer.stopped()));
        };
        let said = answer(&question);
        let is_open = matches!(
            question.answer,
            BisectAnswer::Half | BisectAnswer::Undecided
        );
        record.questions.push(question);
        folder.save(&record)?;
        // What was said is never lost.
        output::note(&format!("  {said}"));
        if is_open && !matches!(asks, Asks::Found { .. }) {
            break;
        }
    }
    Ok((record, None))
}

fn rendered(
    record: &BisectRecord,
    folder: &str,
    stopped: Option<&str>,
    format: Format,
    screen: Screen,
) -> Result<String, CommandFailure> {
    match format {
        Format::Json => json(record, folder)
            .map_err(|error| CommandFailure::no_result(format!("writing the search: {error}"))),
        format => data::rendered(&document(record, folder, stopped), format, true, screen),
    }
}

fn exit(outcome: &Outcome) -> Exit {
    match outcome {
        Outcome::Found(found) if found.confirmed => Exit::Fine,
        Outcome::NotSlower => Exit::Failed,
        Outcome::Found(_) | Outcome::NotProven | Outcome::Undecided { .. } => Exit::NoResult,
        Outcome::Unfinished { .. } => Exit::Interrupted,
    }
}

const AFTER_HELP: &str = "Example: deadheat bisect v1.4 HEAD --build 'make server' -- ./server --port '$PORT'

A \
                          first comparison has to show that BAD is slower than GOOD. Each step then measures the \
                          middle commit together with GOOD
and BAD, and asks which of them it is nearer to. Each \
                          comparison lasts until it is decided, or --budget is used up. In
the end, the commit is \
                          compared with the one before it. A search names a wrong commit in at most 5 % of \
                          cases.

Commits are those of the first parents of BAD: a merge represents all that it \
                          merged. A commit that does not build or start
is skipped.

The guide is \
                          docs/bisect.md.
Exit status: 0 the commit was found; 1 BAD is not slower; 2 wrong usage; 3 \
                          undecided, or nothing could be measured; 130
interrupted.";

/// Options of `compare` have headings that say what else it compares.
fn under_own_heading(arg: Arg) -> Arg {
    match arg.get_help_heading() {
        Some(MEASURING) => arg.help_heading("Measuring"),
        Some("URLs and commands") => arg.help_heading("Commands"),
        _ => in_long_help(arg),
    }
}

/// What `deadheat bisect` is asked to do.
#[derive(Debug, Args)]
#[command(
    after_help = "The guide is docs/bisect.md. All options: deadheat bisect --help.",
    after_long_help = AFTER_HELP,
    override_usage = "deadheat bisect GOOD BAD [OPTIONS] STACK[:VARIANT]\n       \
                      deadheat bisect GOOD BAD [OPTIONS] -- COMMAND…\n       \
                      deadheat bisect --resume FOLDER",
    mut_args(under_own_heading),
    mut_arg("i_may_load_this_host", |arg| arg.hide(true)),
    mut_arg("workload", |arg| arg.help("The workload: `json` (its first load point) or `json:c50` [default: plaintext]")),
    mut_arg("budget", |arg| arg.help("The time that each comparison may take [default: 5m]")),
    mut_arg("heat_time", |arg| arg.help("How long each heat loads its servers in turn [default: 10s]")),
    mut_arg("heats", |arg| arg.help("Number of heats of each comparison, with one checkpoint after them")),
    mut_arg("results", |arg| arg.help("The folder in which the search has its own [default: results]")),
    mut_arg("arrivals", |arg| arg.hide(true)),
    mut_arg("max_connections", |arg| arg.hide(true)),
    mut_arg("stacks", |arg| arg.hide(true)),
    mut_arg("dry_run", |arg| arg.help("Print the plan, with the number of commits and steps, and exit")),
)]
pub struct BisectArgs {
    /// Explicit options, in their order.
    #[command(flatten)]
    pub explicit: ExplicitOptions,
    /// A revision of git that is fast
    #[arg(value_name = "GOOD", required_unless_present = "resume")]
    pub(crate) good: Option<String>,
    /// A later one that is slow
    #[arg(value_name = "BAD", required_unless_present = "resume")]
    pub(crate) bad: Option<String>,
    /// The stack to measure. Commits that change nothing in its folder are skipped
    #[arg(value_name = "STACK[:VARIANT]")]
    pub(crate) stack: Option<String>,
    /// The command that starts the server, in a copy of the repository at each commit. It listens at $HOST:$PORT
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<String>,
    /// Run this in each copy first, in a shell
    #[arg(long, value_name = "COMMAND")]
    pub(crate) build: Option<String>,
    /// Continue a search that was interrupted, killed or undecided. Only --budget can be changed; --format and
    /// --output are those of this call
    #[arg(long, value_name = "FOLDER", conflicts_with_all = ["good", "bad", "stack", "command"])]
    pub(crate) resume: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) data: FilesArgs<OfDocument>,
    #[command(flatten)]
    pub(crate) measure: MeasureArgs,
    #[command(flatten)]
    pub(crate) server: ServerArgs,
    #[command(flatten)]
    pub(crate) stacks: StacksArgs,
}

impl BisectArgs {
    /// The options of the comparisons that a search makes.
    fn into_comparison(self) -> CompareArgs {
        let mut args =
            CompareArgs::measuring(self.explicit, self.measure, self.server, self.stacks);
        args.verdict.data = self.data;
        args
    }
}

/// The record's file.
pub const RECORD: &str = "bisect.json";
/// The file that is locked while a process works on the search. The record's own file is replaced after each question.
const LOCK: &str = "lock";

/// The record of the search in a folder, and the folder's whole path.
fn read(folder: &Path) -> Result<(PathBuf, BisectRecord), CommandFailure> {
    let file = folder.join(RECORD);
    let failed = |error: String| {
        CommandFailure::usage(format!(
            "reading {}: {error}; a search has its folder in results/, with a name like bisect-20261121-090807",
            file.display()
        ))
    };
    let path = std::path::absolute(folder).map_err(|error| failed(error.to_string()))?;
    let text = files::read_text(&file).map_err(|error| failed(error.to_string()))?;
    let record: BisectRecord =
        record::read(text.as_bytes()).map_err(|error| failed(error.to_string()))?;
    if record.schema != SCHEMA {
        return Err(failed(format!(
            "it has version {} of the format, and this deadheat has {SCHEMA}",
            record.schema
        )));
    }
    if record.commits.is_empty() {
        return Err(failed("it has no commits".to_owned()));
    }
    Ok((path, record))
}

/// The folder of a search, locked: no other process continues the search until this is dropped.
#[derive(Debug)]
struct Folder {
    path: PathBuf,
    _lock: File,
}

impl Folder {
    /// Makes a new folder in `results`, for a search that began at this time (RFC 3339).
    fn create(results: &Path, started: &str) -> Result<Self, CommandFailure> {
        let failed = |path: &Path, error: io::Error| {
            CommandFailure::no_result(format!(
                "making the folder {}: {error}; choose another one with --results",
                path.display()
            ))
        };
        let results = std::path::absolute(results).map_err(|error| failed(results, error))?;
        fs::create_dir_all(&results).map_err(|error| failed(&results, error))?;
        // 2026-11-21T09:08:07Z → 20261121-090807
        let time = started.replace(['-', ':', 'Z'], "").replace('T', "-");
        let names = (1..1000).map(|number| match number {
            1 => format!("bisect-{time}"),
            _ => format!("bisect-{time}-{number}"),
        });
        for path in names.map(|name| results.join(name)) {
            match fs::create_dir(&path) {
                Ok(()) => return Self::lock(path),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(failed(&path, error)),
            }
        }
        Err(failed(&results, io::ErrorKind::AlreadyExists.into()))
    }

    /// Opens the folder of a search to continue it, with its record.
    fn open(path: &Path) -> Result<(Self, BisectRecord), CommandFailure> {
        // Before there is a lock in a folder that is no search's.
        let (path, _) = read(path)?;
        let folder = Self::lock(path)?;
        let (_, record) = read(&folder.path)?;
        Ok((folder, record))
    }

    fn lock(path: PathBuf) -> Result<Self, CommandFailure> {
        let file = path.join(LOCK);
        let lock = File::options().create(true).append(true).open(&file);
        let lock = lock.map_err(|error| {
            CommandFailure::no_result(format!("writing {}: {error}", file.display()))
        })?;
        if let Some(holder) = exclusively(&lock, &file) {
            return Err(CommandFailure::usage(format!(
                "going on with {}: {holder} is at work on it; wait for its end",
                path.display()
            )));
        }
        fs::create_dir_all(path.join("logs")).map_err(|error| {
            CommandFailure::no_result(format!("writing {}: {error}", path.display()))
        })?;
        Ok(Self { path, _lock: lock })
    }

    /// Writes the record, whole or not at all.
    fn save(&self, record: &BisectRecord) -> Result<(), CommandFailure> {
        let file = self.path.join(RECORD);
        let failed = |error: String| {
            CommandFailure::no_result(format!(
                "writing {}: {error}; is the disk full?",
                file.display()
            ))
        };
        let text =
            serde_json::to_string_pretty(record).map_err(|error| failed(error.to_string()))?;
        files::write_whole(&file, (text + "\n").as_bytes())
            .map_err(|error| failed(error.to_string()))
    }

    /// The path of the folder.
    fn path(&self) -> &Path {
        &self.path
    }

    /// The log of a commit's build.
    fn build_log(&self, short: &str) -> PathBuf {
        self.path.join("logs").join(format!("{short}.build.log"))
    }
}
