//! Two stacks or variants, or two revisions of one.

pub(crate) mod sides;

use std::sync::atomic::{AtomicBool, Ordering};

use deadheat_bench::{
    doctor, select,
    toolchains::{Missing, looking},
};
use deadheat_model::{LoadPoint, comparison::Comparison};
use deadheat_runner::{
    manifest::{Reach, SelectedWorkload},
    session::{self, SessionOptions},
};
use deadheat_shell::{exit::Failure, interrupt, invocation, output};
use deadheat_stats::versus::Versus;

use self::sides::Sides;
use super::{heats::measure as measure_heats, session as session_of};
use crate::{options::CompareArgs, resolve::StackAt};

/// The workload, if nobody says which.
pub(crate) const WORKLOAD: &str = "plaintext";

pub(super) fn measure(
    a: &StackAt,
    b: &StackAt,
    args: &CompareArgs,
) -> Result<Option<Versus>, Failure> {
    let catalogue = select::catalogue(&args.stacks.place)?;
    let workloads = match args.stacks.workload.as_slice() {
        [] => vec![WORKLOAD.to_owned()],
        named => named.to_vec(),
    };
    // Before there is anything that a signal could leave behind.
    let interrupted = interrupt::on_signals().map_err(Failure::nothing)?;
    // Kept until the end: dropping `sides` deletes the checkouts of the revisions.
    let supervision = invocation::supervision()?;
    let sides = Sides::find(&catalogue, [a, b], &supervision)?;
    if interrupted.load(Ordering::SeqCst) {
        return Err(Failure::interrupted(
            "interrupted before anything was measured, so nothing is recorded",
        ));
    }
    let selection = select::select(&catalogue, &[], &workloads, Reach::Defaults)?;
    let mut options = SessionOptions {
        postgres: select::postgres(args.stacks.postgres.as_deref().unwrap_or("auto"))?,
        ..session_of(
            &args.measure,
            true,
            SessionOptions::new(
                vec![sides.a.selected.clone(), sides.b.selected.clone()],
                selection.workloads,
                catalogue.workload("plaintext").cloned(),
                args.measure.heat.seed(),
                supervision,
            ),
        )?
    };
    check_common(&options, &sides)?;
    check_toolchains(&mut options, args.measure.heat.dry_run, &interrupted)?;
    if !args.measure.heat.dry_run {
        options.findings = doctor::before_a_run(&options);
    }
    let comparison = Comparison {
        a: sides.a.contender(),
        b: sides.b.contender(),
        slow_end: None,
        alike: sides.alike(),
        is_change: false,
        decide: Default::default(),
        check: Default::default(),
    };
    measure_heats(comparison, options, args, &interrupted)
}

/// Looks for the toolchains of both. A side that cannot be measured ends the comparison before anything is built.
fn check_toolchains(
    options: &mut SessionOptions,
    dry_run: bool,
    interrupted: &AtomicBool,
) -> Result<(), Failure> {
    let missing = looking(2, |tell| session::survey(options, interrupted, tell));
    let missing = Missing::new(missing);
    if missing.is_empty() {
        return Ok(());
    }
    let lines = missing.lines().join("\n");
    if dry_run {
        output::warn(&lines);
        return Ok(());
    }
    Err(Failure::nothing(lines).and("Nothing was built: a comparison needs both sides."))
}

/// That both answer at least one of the workloads, as far as their manifests say, at a load that heats can have.
fn check_common(options: &SessionOptions, sides: &Sides) -> Result<(), Failure> {
    let both_answer = |workload: &SelectedWorkload, point: &LoadPoint| {
        let mut targets = options.targets.iter();
        targets.all(|one| {
            let manifest = &one.stack.manifest;
            manifest.answers_at(&one.target, &workload.manifest, point)
        })
    };
    let mut workloads = options.workloads.iter();
    let has_load = workloads.any(|workload| {
        let mut points = workload.points.iter();
        points.any(|point| both_answer(workload, point))
    });
    let named: Vec<&str> = options
        .workloads
        .iter()
        .map(|one| one.manifest.id.as_str())
        .collect();
    let named = named.join(", ");
    if !has_load {
        return Err(Failure::usage(format!(
            "{} and {} have no load of {named} in common; `deadheat stacks list --json` shows the workloads and \
             protocols of each, --workload chooses",
            sides.a.selected.target, sides.b.selected.target,
        )));
    }
    Ok(())
}
