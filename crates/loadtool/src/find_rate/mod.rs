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
    capacity::{
        CapacityRecord, Condition, DeclaredSettings, ProbeOutcome, ProbeRecord, SCHEMA, Unit,
    },
    figure::{count, counted, rate, time},
    load::{
        Arrivals, Stage,
        words::{arrivals, streams},
    },
    warning::{Warning, doubt},
};
use deadheat_runner::secret::hide_in_load;
use deadheat_shell::{
    data::{self, Files, FilesArgs, Format, Formats, OF_DOCUMENT, Sink},
    exit::{CommandFailure, Exit},
    output,
    record_file::RecordFile,
};
use deadheat_stats::capacity::{CapacityAnalysis, Outcome, analyse};
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
    spec.wait = workers::choose_wait(args.safety.wait, &spec, hosts.has_others()).wait;
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
    let analysis = analysis(record);
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
            let limits = wanted.conditions.iter().filter_map(Threshold::longest);
            let most = needed(limits, per_second).min(MAX_CONNECTIONS) as u32;
            within_descriptors(spec(most.max(connections)), connections, &spec)
        }
    }
}

/// The number of connections of a probe: twice the requests in flight if each takes the longest allowed time. If
/// requests still wait for a connection, the probe would not hold with more connections either. `limits`: the time that
/// each condition allows, in seconds.
fn needed(limits: impl Iterator<Item = f64>, per_second: f64) -> f64 {
    let limit = limits.reduce(f64::max).unwrap_or(USUAL_LIMIT);
    (2.0 * per_second * limit).ceil()
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

/// The analysis of a search, with what is known of the connections of its probes.
fn analysis(record: &CapacityRecord) -> CapacityAnalysis {
    let mut analysis = analyse(record);
    analysis.warnings.extend(few_connections(record));
    analysis
}

/// A p99 of the connection wait from which on requests have waited for a connection.
const WAIT: Duration = Duration::from_millis(1);

/// Probes failed while their requests waited for a connection, and had fewer connections than their rate needs,
/// although the user set no limit.
fn few_connections(record: &CapacityRecord) -> Option<Warning> {
    if record.declared.most_connections.is_some() {
        return None;
    }
    let conditions = record.conditions.iter();
    let times = conditions.filter(|condition| condition.unit == Unit::Seconds);
    let limits = times.map(|condition| condition.bound);
    let needed = |probe: &ProbeRecord| needed(limits.clone(), probe.per_second);
    let is_short = |probe: &&ProbeRecord| {
        let (found, most) = (&probe.observation, probe.most_connections);
        let has_waited = found.open.as_ref().is_some_and(|open| {
            open.unsent > 0 || open.connection_wait.quantile(0.99) >= Some(WAIT)
        });
        probe.outcome == ProbeOutcome::Failed
            && f64::from(most) < needed(probe)
            && found.connections_peak >= u64::from(most)
            && has_waited
    };
    let short: Vec<&ProbeRecord> = record.probes.iter().filter(is_short).collect();
    let fewest = short.iter().min_by_key(|probe| probe.most_connections)?;
    let all = short.iter().map(|probe| needed(probe));
    let most = all.fold(0.0, f64::max) as u64;
    let connections = u64::from(fewest.most_connections);
    let sentence = format!(
        "In {} that failed, only {} could be opened, and requests waited for one: the server may keep up with higher \
         rates.",
        counted(short.len(), "trial"),
        counted(connections, "connection")
    );
    let advice = if (connections as f64) < MAX_CONNECTIONS {
        format!(
            "The highest of these rates needs up to {}: raise the limit of file descriptors (ulimit -n).",
            count(most)
        )
    } else {
        format!("Allow more with --max-connections {most}.")
    };
    let warning = doubt("few-connections", sentence)
        .with("trials", short.len())
        .with("connections", connections)
        .with("needed", most);
    Some(warning.advice(advice))
}

/// The length of the measurement of a probe, so that enough requests are due.
fn length(wanted: &SearchGoal<'_>, per_second: f64) -> Duration {
    let declared = &wanted.declared;
    let needed = SPARE * declared.requests as f64 / per_second;
    let needed = Duration::try_from_secs_f64(needed).unwrap_or(Duration::MAX);
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
    use deadheat_model::{
        LatencyHistogram, Observation,
        capacity::{Burst, FORMAT},
        load::Target,
        machine::Machine,
        observation::OpenLoop,
    };

    use super::*;

    fn settings(requests: u64) -> DeclaredSettings {
        DeclaredSettings {
            probes: 1,
            probe_length: Duration::from_secs(5),
            requests,
            precision: PRECISION,
            most_connections: None,
        }
    }

    #[test]
    fn a_probe_is_no_longer_than_the_longest_whatever_it_needs() {
        let length_of = |requests| {
            let wanted = SearchGoal {
                conditions: &[],
                declared: settings(requests),
                arrivals: Arrivals::Poisson,
            };
            length(&wanted, MIN_RATE)
        };
        assert_eq!(length_of(1), Duration::from_secs(5));
        assert_eq!(length_of(10), Duration::from_secs(12));
        assert_eq!(length_of(u64::MAX), Duration::from_secs(20));
    }

    /// A search with a trial that did not hold at this rate, with as many connections as were allowed. Its requests
    /// waited for this long.
    fn search(per_second: f64, most_connections: u32, wait: Duration) -> CapacityRecord {
        let condition: Threshold = "p99<50ms".parse().unwrap();
        let mut connection_wait = LatencyHistogram::new();
        connection_wait.record_ns(wait.as_nanos() as u64);
        let observation = Observation {
            open: Some(OpenLoop {
                connection_wait,
                ..OpenLoop::default()
            }),
            connections_peak: u64::from(most_connections),
            ..Observation::default()
        };
        let schedule = Schedule::Closed {
            connections: 1,
            ramp: Duration::ZERO,
        };
        let target = Target::plain("192.0.2.7:80".parse().unwrap());
        CapacityRecord {
            schema: SCHEMA,
            format: FORMAT.to_owned(),
            deadheat: String::new(),
            started: String::new(),
            url: String::new(),
            machine: Machine::default(),
            hosts: Vec::new(),
            conditions: vec![condition.described()],
            declared: settings(1_000),
            spec: LoadSpec::new(target, Vec::new(), schedule, StopRule::Interrupt),
            interrupted: false,
            elapsed: Duration::ZERO,
            burst: Burst {
                per_second,
                least_per_second: 1e-3 * per_second,
                most_per_second: 2.0 * per_second,
                observation: Observation::default(),
            },
            probes: vec![ProbeRecord {
                per_second,
                length: Duration::from_secs(5),
                most_connections,
                outcome: ProbeOutcome::Failed,
                why: None,
                values: vec![None],
                observation,
            }],
        }
    }

    #[test]
    fn trials_that_failed_for_want_of_connections_are_named() {
        let waited = Duration::from_millis(5);
        let warning = |record: &CapacityRecord| {
            let warning = few_connections(record);
            warning.map(|warning| warning.in_full())
        };
        let short = search(1_000.0, 60, waited);
        let said = warning(&short).unwrap();
        assert!(said.contains("In 1 trial that failed, only 60 connections"));
        assert!(said.contains("needs up to 100: raise the limit of file descriptors"));
        let ids = |record| analysis(record).warnings.into_iter().map(|one| one.id);
        assert!(ids(&short).any(|id| id == "few-connections"));
        let capped = warning(&search(1e6, 10_000, waited)).unwrap();
        assert!(capped.contains("--max-connections 100000."), "{capped}");
        // As many as the rate needs, nothing waited, or not all were open.
        assert_eq!(warning(&search(1_000.0, 100, waited)), None);
        assert_eq!(warning(&search(1_000.0, 60, Duration::ZERO)), None);
        let mut others = search(1_000.0, 60, waited);
        others.probes[0].observation.connections_peak = 59;
        assert_eq!(warning(&others), None);
        // It held, or the user set the limit.
        let mut held = search(1_000.0, 60, waited);
        held.probes[0].outcome = ProbeOutcome::Held;
        assert_eq!(warning(&held), None);
        let mut chosen = search(1_000.0, 60, waited);
        chosen.declared.most_connections = Some(60);
        assert_eq!(warning(&chosen), None);
    }

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
