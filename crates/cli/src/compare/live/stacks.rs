//! Two stacks or variants, or two revisions of one.

mod sides;

use std::sync::atomic::Ordering;

use deadheat_model::{
    TargetId,
    change::{Aspect, Change},
    comparison::{ContenderKind, Side},
    session::TargetRecord,
};
use deadheat_runner::session::{
    PinningMode, START_TIMEOUT, SelectedTarget, SessionOptions, comparison::Contenders,
};
use deadheat_stats::versus::{Fact, Versus};

use self::sides::{One, Sides};
use super::heats::{Contest, measure as measure_heats};
use crate::{
    compare::{args::CompareArgs, resolve::StackAt},
    doctor,
    exit::Failure,
    interrupt, invocation, select,
};

/// The workload, if nobody says which.
const WORKLOAD: &str = "plaintext";

pub(super) fn measure(
    a: &StackAt,
    b: &StackAt,
    args: &CompareArgs,
) -> Result<Option<Versus>, Failure> {
    let catalogue = select::catalogue(args.stacks.root.as_deref())?;
    let workloads = match args.stacks.workload.as_slice() {
        [] => vec![WORKLOAD.to_owned()],
        named => named.to_vec(),
    };
    // Before there is anything that a signal could leave behind.
    let interrupted = interrupt::on_signals().map_err(Failure::nothing)?;
    // Until the end: with them go the folders of the revisions.
    let supervision = invocation::supervision()?;
    let sides = Sides::find(&catalogue, [a, b], &supervision)?;
    if interrupted.load(Ordering::SeqCst) {
        return Err(Failure::nothing(
            "interrupted before anything was measured; there are no records",
        ));
    }
    let selection = select::select(&catalogue, &[], &workloads, false)?;
    let measure = &args.measure;
    let pinning = measure
        .pinning
        .map_or(PinningMode::Apart, |pinning| pinning.mode());
    let mut options = SessionOptions {
        results: measure.results.clone().unwrap_or_else(|| "results".into()),
        warm_up: measure.warm_up,
        pinning,
        postgres: select::postgres(args.stacks.postgres.as_deref().unwrap_or("auto"))?,
        start_timeout: measure.start_timeout.unwrap_or(START_TIMEOUT),
        arguments: invocation::arguments(),
        ..SessionOptions::new(
            vec![sides.a.selected.clone(), sides.b.selected.clone()],
            selection.workloads,
            catalogue.workload("plaintext").cloned(),
            measure.seed.unwrap_or_else(invocation::random_seed),
            supervision,
        )
    };
    check_common(&options, &sides)?;
    if !measure.dry_run {
        options.findings = doctor::before_a_run(&options);
    }
    let contest = Contest {
        contenders: Contenders::Stacks(Box::new(options)),
        pinning,
        names: [&sides.a, &sides.b].map(|one| one.target().to_string()),
        alike: sides.alike(),
    };
    let measured = measure_heats(contest, args, &interrupted)?;
    Ok(measured.map(|(record, mut versus)| {
        let [a, b] = Side::BOTH.map(|side| match &record.header.contender(side).kind {
            ContenderKind::Stack { record } => Some(record.as_ref()),
            ContenderKind::Url { .. } | ContenderKind::Command { .. } => None,
        });
        versus.differences = differences(&sides, a, b);
        for (side, one) in [(&mut versus.a, &sides.a), (&mut versus.b, &sides.b)] {
            side.facts.insert(0, Fact::new("sources", one.sources()));
        }
        versus
    }))
}

/// That both answer at least one of the workloads, as far as their manifests say, at a load that heats can have.
fn check_common(options: &SessionOptions, sides: &Sides) -> Result<(), Failure> {
    let answered = options.workloads.iter().filter(|workload| {
        let mut targets = options.targets.iter();
        targets.all(|target| target.stack.manifest.answers(&workload.manifest.id))
    });
    let mut points = answered.flat_map(|workload| &workload.points).peekable();
    let named: Vec<&str> = options
        .workloads
        .iter()
        .map(|one| one.manifest.id.as_str())
        .collect();
    let named = named.join(", ");
    if points.peek().is_none() {
        return Err(Failure::usage(format!(
            "{} and {} answer none of the workloads {named} both; `deadheat stacks list` says which they answer, \
             --workload chooses",
            sides.a.target(),
            sides.b.target(),
        )));
    }
    Ok(())
}

/// What differs between two revisions of a stack. Two stacks differ in everything.
fn differences(sides: &Sides, a: Option<&TargetRecord>, b: Option<&TargetRecord>) -> Vec<Change> {
    if !sides.are_of_one_stack() {
        return Vec::new();
    }
    let mut changes = Vec::new();
    let mut note = |aspect, what: &str, before: Option<String>, after: Option<String>| {
        if before != after {
            changes.push(Change {
                aspect,
                what: what.to_owned(),
                before,
                after,
            });
        }
    };
    let sources = [&sides.a, &sides.b].map(|one| Some(one.sources()));
    let [before, after] = sources;
    note(Aspect::Commit, "sources", before, after);
    let (Some(a), Some(b)) = (a, b) else {
        return changes;
    };
    let version = |record: &TargetRecord, name: &str| {
        let mut versions = record.versions.iter();
        let found = versions.find(|found| found.name == name);
        found.map(|found| found.version.clone())
    };
    let names = a
        .versions
        .iter()
        .chain(&b.versions)
        .map(|found| &found.name);
    let mut told: Vec<&String> = Vec::new();
    for name in names {
        if !told.contains(&name) {
            note(Aspect::Version, name, version(a, name), version(b, name));
            told.push(name);
        }
    }
    changes
}

impl One {
    fn target(&self) -> TargetId {
        let SelectedTarget { target, .. } = &self.selected;
        target.clone()
    }
}
