//! What a profile measures.

use std::{collections::BTreeSet, time::Duration};

use deadheat_model::{Cell, RepeatedTable, choice::Purpose};
use deadheat_runner::{
    manifest::{self, Asked, Catalogue, Selection, TRIAL_LIMIT},
    session,
};

use crate::{
    args::{ProfileArg, RunArgs},
    choices,
    exit::Failure,
    select,
};

/// The time that measuring may take, where blocks and durations are chosen to fit it.
const USUAL_BUDGET: Duration = Duration::from_secs(600);

/// What is measured, and how often.
pub(crate) struct Profile {
    pub(crate) selection: Selection,
    pub(crate) cells: Option<BTreeSet<Cell>>,
    pub(crate) published: Vec<RepeatedTable>,
    pub(crate) purpose: Purpose,
    pub(crate) budget: Option<Duration>,
}

impl Profile {
    pub(crate) fn of(args: &RunArgs, catalogue: &Catalogue) -> Result<Self, Failure> {
        match args.profile {
            ProfileArg::Standard => standard(args, catalogue),
            ProfileArg::Seeds => seeds(args, catalogue),
        }
    }
}

fn standard(args: &RunArgs, catalogue: &Catalogue) -> Result<Profile, Failure> {
    if !args.published.is_empty() {
        let message = "--published chooses what --profile seeds repeats; add that";
        return Err(Failure::usage(message));
    }
    let own = &args.selection;
    Ok(Profile {
        selection: select::select(catalogue, &own.stack, &own.workload, own.all)?,
        cells: None,
        published: Vec::new(),
        purpose: choices::purpose(args),
        // A publication takes what it needs.
        budget: match choices::purpose(args) {
            Purpose::Publication => args.budget,
            _ => Some(args.budget.unwrap_or(USUAL_BUDGET)),
        },
    })
}

fn seeds(args: &RunArgs, catalogue: &Catalogue) -> Result<Profile, Failure> {
    if args.selection.all {
        let message = "--all: --profile seeds repeats all that was published anyway";
        return Err(Failure::usage(message));
    }
    if args.warm_up.is_some() {
        let message = "--warm-up: --profile seeds has none, as what was published had none";
        return Err(Failure::usage(message));
    }
    let preset = [
        (args.quick, "--quick"),
        (args.publish, "--publish"),
        (args.latency.is_some(), "--latency"),
    ];
    if let Some((_, preset)) = preset.iter().find(|(given, _)| *given) {
        return Err(Failure::usage(format!(
            "{preset}: --profile seeds has the loads that were published and no others; say --blocks or --budget"
        )));
    }
    let asked = Asked {
        documents: &args.published,
        workloads: &args.selection.workload,
        stacks: &args.selection.stack,
        limit: args.measure.unwrap_or(TRIAL_LIMIT),
        server_cpus: session::share_out(args.pinning.mode()).server_cpus(),
    };
    let found = manifest::repeat(catalogue, asked).map_err(Failure::usage)?;
    Ok(Profile {
        selection: found.selection,
        cells: Some(found.cells),
        published: found.tables,
        purpose: Purpose::Repetition,
        budget: args.budget,
    })
}
