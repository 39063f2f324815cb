//! `deadheat load --find-rate`: the highest rate at which conditions hold.
//!
//! ```text
//! LoadArgs → SearchGoal (conditions, declared settings) → burst → probes, each at the rate that stats::capacity names → CapacityRecord → Outputs
//! ```

pub mod document;
mod search;

use std::time::Duration;

use deadheat_document::{Document, text::Screen};
use deadheat_load::{LoadError, limits::MAX_PER_SECOND};
use deadheat_model::{
    LoadSpec, Schedule, StopRule,
    capacity::{CapacityRecord, Condition, DeclaredSettings, SCHEMA},
    figure::{counted, rate, time},
    load::{
        Arrivals, Stage,
        words::{arrivals, streams},
    },
};
use deadheat_runner::secret::hide_in_load;
use deadheat_shell::{
    data::{self, Files, FilesArgs, Format, Formats, OF_DOCUMENT, Sink},
    exit::{CommandFailure, Exit},
    output,
    record_file::RecordFile,
};
use deadheat_stats::capacity::{Outcome, analyse};
use serde::Serialize;

use self::search::RateSearch;
use crate::{
    PlanOfLoad, PreparedLoad, hosts, messages,
    options::{LoadArgs, OfLoad, ProgressArg},
    plan_text::{self, PlanContext},
    prepare,
    thresholds::Threshold,
    workers,
};

/// The default length of a probe.
const PROBE_LENGTH: Duration = Duration::from_secs(5);
/// The default number of probes.
const PROBES: u32 = 20;
/// The default precision.
const PRECISION: f64 = 0.05;

/// The goal of a search, and its declared settings.
#[derive(Debug)]
struct SearchGoal<'a> {
    conditions: &'a [Threshold],
    declared: DeclaredSettings,
    arrivals: Arrivals,
}

impl<'a> SearchGoal<'a> {
    fn new(args: &'a LoadArgs) -> Result<Self, CommandFailure> {
        let conditions = &args.find.find_rate;
        conditions.iter().try_for_each(Threshold::check_find)?;
        let steady = &args.pace.steady;
        let requests = conditions.iter().map(Threshold::requests_for_probe);
        Ok(Self {
            conditions,
            declared: DeclaredSettings {
                probes: args.find.trials.unwrap_or(PROBES),
                probe_length: args.end.duration.unwrap_or(PROBE_LENGTH),
                requests: requests.max().unwrap_or_default(),
                precision: args.find.precision.unwrap_or(PRECISION),
                most_connections: steady.max_connections,
            },
            // Like independent users. With even distances, requests would never collide.
            arrivals: steady.arrivals.unwrap_or(Arrivals::Poisson),
        })
    }
}

/// Runs the search and writes the report.
pub(super) fn find(args: &LoadArgs) -> Result<Exit, CommandFailure> {
    let wanted = SearchGoal::new(args)?;
    let PreparedLoad {
        asked,
        hows,
        mut spec,
    } = prepare(args)?;
    let hosts = hosts::hosts(&args.hosts, &spec)?;
    spec.wait = workers::choose_wait(args.safety.wait, &spec).wait;
    // A probe's intervals are not used.
    spec.interval = None;
    let threads = workers::choose_threads(args.safety.threads, &spec, !hosts.names.is_empty());
    spec.threads = threads.count;
    let probe = probe(&spec, &wanted, MIN_RATE, 0);
    let fits = |threshold: &Threshold| threshold.check_as("--find-rate", &probe);
    wanted.conditions.iter().try_for_each(fits)?;
    let outputs = Outputs::open(&args.output.data)?;
    let context = PlanContext {
        typed: &asked.typed,
        hows: &hows,
        hosts: hosts.describe(),
        why_wait: None,
        why_threads: threads.why.as_deref(),
        files: &args.output.data.output,
        collector: None,
        thresholds: &[],
    };
    let plan = describe(&probe, &wanted, &context);
    let refused = |error| messages::refused(&asked.typed, &error);
    deadheat_load::check(&probe).map_err(refused)?;
    if args.safety.dry_run {
        let for_programs = || {
            hide_in_load(&mut spec);
            PlanOfLoad {
                spec,
                find_rate: Some(declared(&wanted)),
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

/// The length of warm-up and measurement of a probe at a rate that needs no longer one.
fn usual_length(spec: &LoadSpec, declared: &DeclaredSettings) -> Duration {
    spec.warm_up + declared.probe_length
}

/// The formats of a search: the others are of a single load.
#[derive(Clone, Copy)]
struct OfSearch;

impl Formats for OfSearch {
    const LISTS: &'static [&'static [Format]] = &[OF_DOCUMENT, &[Format::Csv]];
}

/// The outputs of a search. Files are opened before the start.
struct Outputs {
    printed: Format,
    files: Files,
}

impl Outputs {
    /// Opens all files. Refuses formats for the latencies of a single load.
    fn open(args: &FilesArgs<OfLoad>) -> Result<Self, CommandFailure> {
        let printed = args.format();
        let files = args.open()?;
        for format in files.formats().chain([printed]) {
            data::must_be_of::<OfSearch>("A search of --find-rate", format)?;
        }
        Ok(Self { printed, files })
    }

    /// Writes everything.
    fn write(self, record: &CapacityRecord) -> Result<(), CommandFailure> {
        let shown = rendered(record, self.printed, output::screen())?;
        let printed = data::print(self.printed, &shown);
        let written = self
            .files
            .write(|format| rendered(record, format, data::page()).map(String::into_bytes));
        printed.and(written)
    }
}

/// The report in a format.
fn rendered(
    record: &CapacityRecord,
    format: Format,
    screen: Screen,
) -> Result<String, CommandFailure> {
    let analysis = analyse(record);
    let failed =
        |error| CommandFailure::no_result(format!("writing the report of {}: {error}", record.url));
    match format {
        Format::Json => document::json(record, &analysis).map_err(failed),
        Format::Csv => Ok(document::csv(record)),
        Format::Html => document::html(record, &analysis).map_err(failed),
        format => data::rendered(&document::document(record, &analysis), format, true, screen),
    }
}

/// Writes the report of a recorded search.
///
/// # Errors
/// When the record cannot be read, or has no report in this format.
pub fn shown_again(file: &RecordFile, sink: Sink) -> Result<(), CommandFailure> {
    data::must_be_of::<OfSearch>("A search of --find-rate", sink.format)?;
    let record: CapacityRecord = file.record(SCHEMA).map_err(|error| {
        CommandFailure::usage(format!(
            "reading the search in {}: {error}; write it again with --find-rate",
            file.path().display()
        ))
    })?;
    let rendered = rendered(&record, sink.format, sink.screen())?;
    sink.write(&rendered)
}

/// The plan in words; `probe` is an example of a probe.
fn describe(probe: &LoadSpec, wanted: &SearchGoal<'_>, context: &PlanContext<'_>) -> Document {
    let declared = &wanted.declared;
    let conditions = wanted
        .conditions
        .iter()
        .map(|one| one.described().condition);
    let conditions: Vec<String> = conditions.collect();
    let arrivals = arrivals(wanted.arrivals);
    let connections = connections(probe, wanted);
    let total = usual_length(probe, declared) * declared.probes;
    let total = Duration::from_secs(total.as_secs_f64().ceil() as u64);
    let pace = vec![
        (
            "find",
            format!(
                "the highest rate at which {} is true, within ± {} % at 95 %",
                conditions.join(" and "),
                declared.precision * 100.0
            ),
        ),
        (
            "range",
            format!(
                "from the throughput of a closed loop with {connections}: a thousandth of it, but at least {}, to \
                 twice as much, and higher if it passes there",
                rate(rounded(least_rate(wanted)))
            ),
        ),
        (
            "trials",
            format!(
                "at most {}, about {} in all: each an open loop {arrivals} with {} of warm-up, {} of measurement, and \
                 up to {} for requests in flight; below {}, longer (up to {}), to send {}",
                declared.probes,
                time(total),
                time(probe.warm_up),
                time(declared.probe_length),
                time(probe.timeouts.drain),
                rate(rounded(rate_of_usual_probes(wanted))),
                time(declared.probe_length * LONGER),
                counted(declared.requests, "request"),
            ),
        ),
        ("holds", holds(wanted)),
    ];
    plan_text::laid_out(probe, context, pace)
}

/// The conditions of a probe in words.
fn holds(wanted: &SearchGoal<'_>) -> String {
    let errors = if wanted.conditions.iter().any(Threshold::is_of_errors) {
        ""
    } else {
        ", at most 0.1 % of the requests fail,"
    };
    format!("a trial in which every condition is true{errors} and the server keeps up")
}

fn connections(probe: &LoadSpec, wanted: &SearchGoal<'_>) -> String {
    let deadheat_model::Schedule::Open { connections, .. } = probe.schedule else {
        return String::new();
    };
    let more = match wanted.declared.most_connections {
        Some(most) => format!("trials open up to {most}"),
        None => "trials open more when all are busy".to_owned(),
    };
    format!(
        "{}{} ({more})",
        counted(connections, "connection"),
        streams(probe)
    )
}

/// The declared settings, for programs.
fn declared<'a>(wanted: &'a SearchGoal<'_>) -> PlanOfSearch<'a> {
    let conditions = wanted.conditions.iter().map(Threshold::described);
    PlanOfSearch {
        conditions: conditions.collect(),
        declared: &wanted.declared,
        arrivals: wanted.arrivals,
    }
}

/// The settings that are declared before the first trial, for programs.
#[derive(Serialize)]
pub(crate) struct PlanOfSearch<'a> {
    conditions: Vec<Condition>,
    declared: &'a DeclaredSettings,
    arrivals: Arrivals,
}

/// The lowest rate of a search, for checks and plans.
const MIN_RATE: f64 = 1.0;
/// The longest measurement of the closed loop.
const BURST: Duration = Duration::from_secs(2);
/// The largest factor by which probes at low rates are longer.
const LONGER: u32 = 4;
/// The factor by which more requests than needed are due in a probe, because Poisson arrivals scatter.
const SPARE: f64 = 1.2;
/// The default limit of connections of a probe.
const MAX_CONNECTIONS: f64 = 10_000.0;
/// The longest time of an answer, in seconds, if no condition bounds it.
const USUAL_LIMIT: f64 = 1.0;

/// The closed loop before the probes.
fn burst(base: &LoadSpec, wanted: &SearchGoal<'_>) -> LoadSpec {
    LoadSpec {
        stop: StopRule::Duration {
            length: wanted.declared.probe_length.min(BURST),
        },
        ..base.clone()
    }
}

/// The `nth` probe, at this rate.
fn probe(base: &LoadSpec, wanted: &SearchGoal<'_>, per_second: f64, nth: u64) -> LoadSpec {
    let connections = base.schedule.most_connections();
    let spec = |most_connections| LoadSpec {
        schedule: Schedule::Open {
            arrivals: wanted.arrivals,
            stages: vec![Stage::constant(per_second)],
            connections,
            most_connections,
        },
        stop: StopRule::Duration {
            length: length(wanted, per_second),
        },
        // Other arrivals in each probe.
        seed: base.seed.wrapping_add(nth),
        ..base.clone()
    };
    match wanted.declared.most_connections {
        Some(most) => spec(most),
        None => {
            let most = needed(wanted.conditions, per_second).max(connections);
            within_descriptors(spec(most), connections, &spec)
        }
    }
}

/// The number of connections of a probe: twice the requests in flight if each takes the longest allowed time. If
/// requests still wait for a connection, the probe would not hold with more connections either.
fn needed(conditions: &[Threshold], per_second: f64) -> u32 {
    let limits = conditions.iter().filter_map(Threshold::longest);
    let limit = limits.reduce(f64::max).unwrap_or(USUAL_LIMIT);
    (2.0 * per_second * limit).ceil().min(MAX_CONNECTIONS) as u32
}

/// The number of connections, limited by the file descriptors.
fn within_descriptors(
    asked: LoadSpec,
    connections: u32,
    with: &dyn Fn(u32) -> LoadSpec,
) -> LoadSpec {
    let mut spec = asked;
    while spec.schedule.most_connections() > connections
        && let Err(LoadError::TooFewDescriptors { .. }) = deadheat_load::check(&spec)
    {
        spec = with((spec.schedule.most_connections() / 2).max(connections));
    }
    spec
}

/// The length of the measurement of a probe, so that enough requests are due.
fn length(wanted: &SearchGoal<'_>, per_second: f64) -> Duration {
    let declared = &wanted.declared;
    let needed = Duration::from_secs_f64(SPARE * declared.requests as f64 / per_second);
    needed.clamp(declared.probe_length, declared.probe_length * LONGER)
}

/// The lowest rate at which enough requests are due in the longest probe.
fn least_rate(wanted: &SearchGoal<'_>) -> f64 {
    let longest = wanted.declared.probe_length * LONGER;
    SPARE * wanted.declared.requests as f64 / longest.as_secs_f64()
}

/// The rate below which probes are longer than declared.
fn rate_of_usual_probes(wanted: &SearchGoal<'_>) -> f64 {
    least_rate(wanted) * f64::from(LONGER)
}

/// A rate rounded to four significant digits.
fn rounded(per_second: f64) -> f64 {
    let digits = format!("{per_second:.3e}");
    digits.parse().unwrap_or(per_second).min(MAX_PER_SECOND)
}

#[cfg(test)]
mod tests {
    use super::rounded;

    #[test]
    fn rates_are_short_in_decimal() {
        for (rate, expected) in [
            (979.94, 979.9),
            (12_345.6, 12_350.0),
            (0.012_345, 0.012_35),
            (2e9, 1e9),
        ] {
            assert_eq!(rounded(rate), expected);
        }
    }
}
