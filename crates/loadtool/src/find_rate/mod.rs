//! `deadheat load --find-rate`: the highest rate at which conditions hold.
//!
//! ```text
//! LoadArgs → Wanted (conditions, what is declared) → burst → looks, each at the rate that stats::capacity names → CapacityRecord → outputs
//! ```

pub mod document;
mod generators;
mod judging;
pub(crate) mod options;
mod outputs;
mod plan;
mod searching;
mod specs;

use std::time::Duration;

use deadheat_model::{LoadSpec, capacity::Declared, load::Arrivals};
use deadheat_runner::secret::hide_in_load;
use deadheat_shell::{
    data,
    exit::{Exit, Failure},
    invocation, output,
};
use deadheat_stats::capacity::{Outcome, analyse};

pub use self::outputs::{read as read_search, shown_again};
pub(super) use self::plan::PlanOfSearch;
use self::{outputs::Outputs, searching::Search};
use super::{
    PlanOfLoad, Prepared, messages, plan_text::Around, prepare, threads, thresholds::Threshold,
};
use crate::options::{LoadArgs, ProgressArg};

/// The length of a look, if nobody says how long.
const LOOK: Duration = Duration::from_secs(5);
/// Looks, if nobody says how many.
const LOOKS: u32 = 20;
/// The precision, if nobody says which.
const PRECISION: f64 = 0.05;

/// What is searched for, and how.
#[derive(Debug)]
struct Wanted<'a> {
    conditions: &'a [Threshold],
    declared: Declared,
    arrivals: Arrivals,
}

impl<'a> Wanted<'a> {
    fn new(args: &'a LoadArgs) -> Result<Self, String> {
        let conditions = &args.find.find_rate;
        conditions.iter().try_for_each(Threshold::check_find)?;
        let steady = &args.pace.steady;
        let requests = conditions.iter().map(Threshold::requests_for_look);
        Ok(Self {
            conditions,
            declared: Declared {
                looks: args.find.looks.unwrap_or(LOOKS),
                look: args.end.duration.unwrap_or(LOOK),
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
    let wanted = Wanted::new(args).map_err(Failure::usage)?;
    let Prepared {
        asked,
        mut spec,
        hows,
        hosts,
        ..
    } = prepare(args)?;
    // Nobody looks at a look's intervals.
    spec.interval = None;
    let threads = threads::choose(args.safety.threads, &spec, !hosts.names.is_empty());
    spec.threads = threads.count;
    let look = specs::look(&spec, &wanted, specs::LEAST_RATE, 0);
    let fits = |threshold: &Threshold| threshold.check_as("--find-rate", &look);
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
    let plan = plan::describe(&look, &wanted, &around);
    let refused = |error| messages::refused(&asked.typed, &error);
    deadheat_load::check(&look).map_err(refused)?;
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
    let record = Search::begin(spec, &wanted, &asked.typed, &hosts, quiet)?.run()?;
    let found = matches!(analyse(&record).outcome, Outcome::Found(_));
    outputs.write(&record)?;
    Ok(match (record.interrupted, found) {
        (true, _) => Exit::Interrupted,
        (false, true) => Exit::Fine,
        (false, false) => Exit::NoResult,
    })
}

/// The warm-up and the measurement of a look at a rate that needs no longer one.
fn usual_length(spec: &LoadSpec, declared: &Declared) -> Duration {
    spec.warm_up + declared.look
}

/// Listens for Ctrl-C.
fn listen() -> Result<std::sync::Arc<std::sync::atomic::AtomicBool>, Failure> {
    invocation::on_signals().map_err(|error| {
        Failure::no_result(format!("listening for Ctrl-C: {error}; start it again"))
    })
}
