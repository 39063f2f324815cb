//! `deadheat load --find-rate`: the highest rate at which conditions hold.
//!
//! ```text
//! LoadArgs → Wanted (conditions, what is declared) → burst → probes, each at the rate that stats::capacity names → CapacityRecord → Outputs
//! ```

pub mod document;
mod plan;
mod search;

use std::{path::Path, time::Duration};

use deadheat_document::text::Screen;
use deadheat_model::{
    LoadSpec,
    capacity::{CapacityRecord, Declared, FORMAT, SCHEMA},
    load::Arrivals,
    record,
};
use deadheat_runner::{files, secret::hide_in_load};
use deadheat_shell::{
    data::{self, Files, FilesArgs, Format, Sink},
    exit::{Exit, Failure},
    invocation, output,
};
use deadheat_stats::capacity::{Outcome, analyse};

pub(super) use self::plan::PlanOfSearch;
use self::search::RateSearch;
use crate::{
    PlanOfLoad, Prepared, messages,
    options::{LoadArgs, LoadFormat, ProgressArg},
    plan_text::Around,
    prepare, threads,
    thresholds::Threshold,
};

/// The length of a probe, if nobody says how long.
const PROBE_LENGTH: Duration = Duration::from_secs(5);
/// Probes, if nobody says how many.
const PROBES: u32 = 20;
/// The precision, if nobody says which.
const PRECISION: f64 = 0.05;

/// What is searched for, and how.
#[derive(Debug)]
struct SearchGoal<'a> {
    conditions: &'a [Threshold],
    declared: Declared,
    arrivals: Arrivals,
}

impl<'a> SearchGoal<'a> {
    fn new(args: &'a LoadArgs) -> Result<Self, String> {
        let conditions = &args.find.find_rate;
        conditions.iter().try_for_each(Threshold::check_find)?;
        let steady = &args.pace.steady;
        let requests = conditions.iter().map(Threshold::requests_for_probe);
        Ok(Self {
            conditions,
            declared: Declared {
                probes: args.find.looks.unwrap_or(PROBES),
                probe_length: args.end.duration.unwrap_or(PROBE_LENGTH),
                requests: requests.max().unwrap_or_default(),
                precision: args.find.precision.unwrap_or(PRECISION),
                most_connections: steady.max_connections,
            },
            // As independent users come. Even distances would hide that requests meet.
            arrivals: steady.arrivals.unwrap_or(Arrivals::Poisson),
        })
    }
}

/// Searches, and reports.
pub(super) fn find(args: &LoadArgs) -> Result<Exit, Failure> {
    let wanted = SearchGoal::new(args).map_err(Failure::usage)?;
    let Prepared {
        asked,
        mut spec,
        hows,
        hosts,
        ..
    } = prepare(args)?;
    // Nobody reads a probe's intervals.
    spec.interval = None;
    let threads = threads::choose(args.safety.threads, &spec, !hosts.names.is_empty());
    spec.threads = threads.count;
    let probe = plan::probe(&spec, &wanted, plan::LEAST_RATE, 0);
    let fits = |threshold: &Threshold| threshold.check_as("--find-rate", &probe);
    let mut conditions = wanted.conditions.iter();
    conditions.try_for_each(fits).map_err(Failure::usage)?;
    let outputs = Outputs::open(&args.output.data)?;
    let around = Around {
        typed: &asked.typed,
        hows: &hows,
        hosts: hosts.describe(),
        why_wait: None,
        why_threads: threads.why.as_deref(),
        files: &args.output.data.output,
        collector: None,
        thresholds: &[],
    };
    let plan = plan::describe(&probe, &wanted, &around);
    let refused = |error| messages::refused(&asked.typed, &error);
    deadheat_load::check(&probe).map_err(refused)?;
    if args.safety.dry_run {
        let for_programs = || {
            hide_in_load(&mut spec);
            PlanOfLoad {
                spec,
                find_rate: Some(plan::declared(&wanted)),
            }
        };
        return args.output.data.print_plan(&plan, for_programs);
    }
    output::note(&data::as_note(&plan));
    let quiet = args.output.progress == ProgressArg::Off || !output::tells_progress();
    let record = RateSearch::begin(spec, &wanted, &asked.typed, &hosts, quiet)?.run()?;
    let found = matches!(analyse(&record).outcome, Outcome::Found(_));
    outputs.write(&record)?;
    Ok(match (record.interrupted, found) {
        (true, _) => Exit::Interrupted,
        (false, true) => Exit::Fine,
        (false, false) => Exit::NoResult,
    })
}

/// The warm-up and the measurement of a probe at a rate that needs no longer one.
fn usual_length(spec: &LoadSpec, declared: &Declared) -> Duration {
    spec.warm_up + declared.probe_length
}

/// Listens for Ctrl-C.
fn listen() -> Result<std::sync::Arc<std::sync::atomic::AtomicBool>, Failure> {
    invocation::on_signals().map_err(|error| {
        Failure::no_result(format!("listening for Ctrl-C: {error}; start it again"))
    })
}

/// The outputs of a search. Files are opened before the start.
struct Outputs {
    printed: LoadFormat,
    files: Files<LoadFormat>,
}

impl Outputs {
    /// Opens all files; refuses formats of a single load's latencies.
    fn open(args: &FilesArgs<LoadFormat>) -> Result<Self, Failure> {
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
    fn write(self, record: &CapacityRecord) -> Result<(), Failure> {
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
        LoadFormat::Json => document::json(record, &analysis),
        LoadFormat::Csv => Ok(document::csv(record)),
        LoadFormat::Html => document::html(record, &analysis),
        // No other format comes here.
        _ => Ok(document::document(record, &analysis).text(screen)),
    };
    rendered.map_err(|error| {
        Failure::no_result(format!("writing the report of {}: {error}", record.url))
    })
}

/// The search in a file that `--json` or `-o FILE.json` wrote; `None`: the file is something else.
///
/// # Errors
/// When it is a search that cannot be read.
pub fn read_search(file: &Path) -> Result<Option<CapacityRecord>, Failure> {
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
