//! Measures two things in heats of both.

pub(crate) mod heats;
pub(crate) mod loads;
pub(crate) mod looks;
pub(crate) mod progress;
pub(crate) mod secrets;
mod servers;
pub(crate) mod stacks;
pub(crate) mod words;

use deadheat_bench::other_hosts::hosts;
use deadheat_runner::session::SessionOptions;
use deadheat_shell::exit::{Exit, Failure};
use deadheat_stats::versus::Versus;

use super::resolve::Live;
use crate::options::{CompareArgs, MeasureArgs};

/// What came of a measurement.
pub(super) enum Measured {
    /// What is to be said of B.
    Versus(Box<Versus>),
    /// Nothing: a plan alone was asked for, or what went wrong has been told.
    Nothing(Exit),
}

/// Measures both sides until every cell has a verdict at a look, or looks or budget end. Nothing after `--dry-run`,
/// which has printed the plan.
pub(super) fn measure(live: &Live, args: &CompareArgs) -> Result<Measured, Failure> {
    let versus = match live {
        Live::Urls { .. } => servers::urls(args),
        Live::Commands { a, b } => servers::commands([a, b], args),
        Live::Stacks { a, b } => stacks::measure(a, b, args),
    };
    Ok(versus?.map_or(Measured::Nothing(Exit::Fine), |versus| {
        Measured::Versus(Box::new(versus))
    }))
}

/// `base` with what is asked for of any session; `starts`: with servers that are started.
pub(crate) fn session(
    args: &MeasureArgs,
    starts: bool,
    base: SessionOptions,
) -> Result<SessionOptions, Failure> {
    let mut workloads = base.workloads.iter();
    let needs_database = workloads.any(|one| one.manifest.oracle.needs_database());
    Ok(SessionOptions {
        hosts: hosts(&args.other_hosts, starts, needs_database).map_err(Failure::usage)?,
        ..args.heat.session(base)
    })
}
