//! From the arguments of `run` to what is measured: stacks, loads, and for how long.

use std::{collections::BTreeSet, time::Duration};

use deadheat_model::{
    Cell, RepeatedTable, StackManifest, TargetId, figure::counted, session::Purpose,
    workload::OfferedRate,
};
use deadheat_runner::{
    heat::WarmUps,
    manifest::{self, Catalogue, PublishedSelection, Reach, Selection},
    secret::without_password,
    session::{
        self, PinningMode, RecordedArguments, SelectedTarget, SessionOptions, heats::HeatOptions,
    },
};
use deadheat_shell::{exit::CommandFailure, invocation};

use crate::{
    options::{AUTO, RunArgs, SelectionArgs},
    other_hosts, select,
};

/// The time that measuring may take by default.
const USUAL_BUDGET: Duration = Duration::from_secs(600);
/// The time for a first impression (`--quick`).
const QUICK_BUDGET: Duration = Duration::from_secs(180);
/// The time for published tables, which have many loads.
const REPETITION_BUDGET: Duration = Duration::from_secs(1800);
/// What a stack's warm-up may take for a first impression.
const QUICK_WARM_UP: Duration = Duration::from_secs(10);
/// Workloads that are measured in heats if nobody names any: one without input or output, one with a database.
const USUAL_WORKLOADS: [&str; 2] = ["plaintext", "users"];
/// The default workloads of a first impression.
const QUICK_WORKLOADS: [&str; 1] = ["plaintext"];

/// What is measured, and how often.
#[derive(Clone)]
pub(crate) struct Profile {
    pub(crate) selection: Selection,
    /// Stacks that exist and were not asked for.
    pub(crate) left_out: Vec<TargetId>,
    pub(crate) cells: Option<BTreeSet<Cell>>,
    pub(crate) published: Vec<RepeatedTable>,
    pub(crate) purpose: Purpose,
    pub(crate) budget: Option<Duration>,
}

impl Profile {
    pub(crate) fn new(args: &RunArgs, catalogue: &Catalogue) -> Result<Self, CommandFailure> {
        if args.published.is_empty() {
            standard(args, catalogue)
        } else {
            repetition(args, catalogue)
        }
    }

    /// The options of a session with this profile.
    pub(crate) fn options(
        self,
        args: &RunArgs,
        catalogue: &Catalogue,
    ) -> Result<SessionOptions, CommandFailure> {
        let hosts = {
            let mut workloads = self.selection.workloads.iter();
            // A PostgreSQL that the user named needs no node of a Slurm job.
            let needs_database = args.postgres.postgres == AUTO
                && workloads.any(|one| one.manifest.oracle.needs_database());
            other_hosts::hosts(&args.other_hosts, true, needs_database)?
        };
        if args.other_hosts.database.is_some() && args.postgres.postgres != AUTO {
            return Err(CommandFailure::usage(format!(
                "--postgres and {}: use one of them; --database HOST starts a PostgreSQL of its own there",
                args.other_hosts.called("--database")
            )));
        }
        let targets = select::targets(catalogue, &self.selection);
        let base = args.heat.session(SessionOptions::new(
            at_budgets(targets, &budgets(args)?),
            self.selection.workloads,
            catalogue.workload("plaintext").cloned(),
            args.heat.seed(),
            invocation::supervision(),
        ));
        let options = SessionOptions {
            cells: self.cells,
            published: self.published,
            // A precision takes the time that it needs.
            budget: self.budget.filter(|_| args.precision.is_none()),
            purpose: self.purpose,
            heats: HeatOptions {
                margin: args.margin,
                until_decided: !args.whole_budget && !args.publish && args.precision.is_none(),
                precision: args.precision,
                separate_loads: args.separate_loads,
                rates: rates(args, self.purpose)?,
                price_per_cpu_hour: args.price,
                left_out: self.left_out,
                ..base.heats
            },
            hosts,
            typed: RecordedArguments {
                root: args.selection.place.root.clone(),
                stacks: args.selection.place.more_stacks.clone(),
                postgres: without_password(&args.postgres.postgres),
            },
            postgres: select::postgres(&args.postgres.postgres)?,
            live: args.live,
            ..base
        };
        match options.budget_beyond_its_side() {
            Some((most, there_are)) if args.explicit.has("--pinning") => {
                Err(CommandFailure::usage(format!(
                    "--cpus {most}, --pinning apart: apart from the generator, servers have {} here; drop --pinning, and the \
                     generator shares CPUs with the servers, or ask for at most that number",
                    counted(there_are, "CPU")
                )))
            }
            _ => Ok(options),
        }
    }
}

/// The rates of equal work: those that were given, or a common one if there is time for it.
fn rates(args: &RunArgs, purpose: Purpose) -> Result<Vec<OfferedRate>, CommandFailure> {
    if args.rate.is_empty() {
        return Ok(match purpose {
            Purpose::Usual | Purpose::Publication => vec![OfferedRate::Common],
            Purpose::FirstLook | Purpose::Repetition => Vec::new(),
        });
    }
    let rates: BTreeSet<Option<OfferedRate>> = args.rate.iter().copied().collect();
    if rates.len() > 1 && rates.contains(&None) {
        return Err(CommandFailure::usage(
            "--rate none excludes other rates: drop one of them",
        ));
    }
    Ok(rates.into_iter().flatten().collect())
}

/// The CPU budgets of each stack, the smallest first; none: each gets what there is.
fn budgets(args: &RunArgs) -> Result<BTreeSet<u32>, CommandFailure> {
    let budgets: BTreeSet<u32> = args.cpus.iter().copied().collect();
    let there_are = session::share_out(PinningMode::Off).server_cpus();
    if budgets.len() < args.cpus.len() {
        return Err(CommandFailure::usage(
            "--cpus has the same number twice: drop one of them",
        ));
    }
    match budgets.last() {
        Some(most) if *most as usize > there_are => Err(CommandFailure::usage(format!(
            "--cpus {most}: Deadheat may use {} here; drop that number, or use a machine with more CPUs",
            counted(there_are, "CPU")
        ))),
        _ => Ok(budgets),
    }
}

/// Each target with each budget.
fn at_budgets(targets: Vec<SelectedTarget>, budgets: &BTreeSet<u32>) -> Vec<SelectedTarget> {
    if budgets.is_empty() {
        return targets;
    }
    let at = |one: &SelectedTarget| {
        let all = budgets.iter().map(|cpus| one.on_cpus(Some(*cpus)));
        all.collect::<Vec<_>>()
    };
    targets.iter().flat_map(at).collect()
}

/// The names of the default stacks and workloads, for whatever was not named. `--all` selects every one.
fn usual(
    catalogue: &Catalogue,
    args: &RunArgs,
) -> Result<(Vec<String>, Vec<String>), CommandFailure> {
    let own = &args.selection;
    let (mut stacks, mut workloads) = (own.stack.clone(), select::workload_names(catalogue, own)?);
    if stacks.is_empty() && !own.pack.is_empty() {
        let asked = catalogue.workloads.iter();
        let asked: Vec<_> = asked.filter(|one| workloads.contains(&one.id)).collect();
        let all = catalogue.stacks.iter().map(|one| &one.manifest);
        let answering = all.filter(|stack| asked.iter().any(|one| stack.answers(one)));
        stacks = answering.map(|one| one.id.clone()).collect();
    }
    if stacks.is_empty() && !own.all {
        let usual = catalogue.stacks.iter().map(|one| &one.manifest);
        let usual =
            usual.filter(|one| one.usual.is_some() && !(args.quick && warms_up_slowly(one)));
        // If a catalogue marks no stack as a default, all are.
        stacks = usual.map(|one| one.id.clone()).collect();
    }
    let has = |id: &&str| catalogue.workload(id).is_some();
    if workloads.is_empty() && !own.all {
        let usual: &[&str] = if args.quick {
            &QUICK_WORKLOADS
        } else {
            &USUAL_WORKLOADS
        };
        let usual = usual.iter().filter(|id| has(id));
        workloads = usual.map(ToString::to_string).collect();
    }
    Ok((stacks, workloads))
}

/// Whether a heat of a first impression would be over before this stack is warm.
fn warms_up_slowly(stack: &StackManifest) -> bool {
    let mut targets = stack.targets().into_iter();
    let own = |target| WarmUps::new(stack.runtime(&target), stack.warm_up_seconds);
    let own = targets.next().map(own);
    own.is_some_and(|own| own.started.least > QUICK_WARM_UP)
}

/// Default variants of stacks that nobody asked for or against, and that answer what is asked for.
fn left_out(catalogue: &Catalogue, selection: &Selection, own: &SelectionArgs) -> Vec<TargetId> {
    if !own.stack.is_empty() {
        return Vec::new();
    }
    let stacks = catalogue.stacks.iter().map(|one| &one.manifest);
    let left_out = stacks.filter(|manifest| {
        let mut targets = selection.targets.iter();
        let mut workloads = selection.workloads.iter();
        !targets.any(|target| target.stack == manifest.id)
            && workloads.any(|one| manifest.answers(&one.manifest))
    });
    left_out
        .filter_map(|manifest| manifest.targets().into_iter().next())
        .collect()
}

fn standard(args: &RunArgs, catalogue: &Catalogue) -> Result<Profile, CommandFailure> {
    let own = &args.selection;
    let (stacks, workloads) = usual(catalogue, args)?;
    let reach = if own.all { Reach::All } else { Reach::Defaults };
    let selection = select::select(catalogue, &stacks, &workloads, reach)?;
    let purpose = match (args.quick, args.publish) {
        (true, _) => Purpose::FirstLook,
        (_, true) => Purpose::Publication,
        (false, false) => Purpose::Usual,
    };
    Ok(Profile {
        left_out: left_out(catalogue, &selection, own),
        selection,
        cells: None,
        published: Vec::new(),
        purpose,
        // A publication takes the time that it needs.
        budget: match purpose {
            Purpose::Publication => args.heat.budget,
            Purpose::FirstLook => Some(args.heat.budget.unwrap_or(QUICK_BUDGET)),
            _ => Some(args.heat.budget.unwrap_or(USUAL_BUDGET)),
        },
    })
}

/// The loads that were published, and no others.
fn repetition(args: &RunArgs, catalogue: &Catalogue) -> Result<Profile, CommandFailure> {
    let all = args.published.iter().any(|document| document == "*");
    let asked = PublishedSelection {
        documents: if all { &[] } else { &args.published },
        workloads: &args.selection.workload,
        stacks: &args.selection.stack,
        server_cpus: session::share_out(args.heat.pinning).server_cpus(),
    };
    let found = manifest::repeat(catalogue, asked).map_err(CommandFailure::usage)?;
    Ok(Profile {
        selection: found.selection,
        left_out: Vec::new(),
        cells: Some(found.cells),
        published: found.tables,
        purpose: Purpose::Repetition,
        budget: Some(args.heat.budget.unwrap_or(REPETITION_BUDGET)),
    })
}
