//! Two stacks or variants, or two revisions of one: a session with the two as its contenders.

mod sides;

use std::{
    ops::ControlFlow,
    path::Path,
    sync::atomic::{AtomicBool, Ordering},
    time::Instant,
};

use deadheat_model::{
    Event, Plan, SessionHeader, SessionRecord, TargetId,
    change::{Aspect, Change},
    choice::{Origin, Purpose},
    session::{EndReason, TargetRecord, TargetState},
};
use deadheat_runner::session::{
    self, LatencyMode, PinningMode, START_TIMEOUT, SelectedTarget, SessionOptions,
};
use deadheat_stats::versus::{
    Bounds, Ended, Fact, How, Side, Versus,
    alternating::{final_look, stacks},
};

use self::sides::{One, Sides};
use super::looks::Looks;
use crate::{
    args::AssetsArg,
    compare::{args::CompareArgs, bounds, resolve::StackAt},
    doctor,
    exit::Failure,
    interrupt, output, plan_text,
    progress::Progress,
    report, run, select,
};

/// The measurement of a trial, if nobody says how long.
const MEASURE: std::time::Duration = std::time::Duration::from_secs(3);
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
    let sides = Sides::find(&catalogue, [a, b], &run::supervision()?)?;
    if interrupted.load(Ordering::SeqCst) {
        return Err(Failure::nothing(
            "interrupted before anything was measured; there are no records",
        ));
    }
    let selection = select::select(&catalogue, &[], &workloads, false)?;
    let measure = &args.measure;
    let mut options = SessionOptions {
        targets: vec![sides.a.selected.clone(), sides.b.selected.clone()],
        workloads: selection.workloads,
        cells: None,
        published: Vec::new(),
        plaintext: catalogue.workload("plaintext").cloned(),
        results: measure.results.clone().unwrap_or_else(|| "results".into()),
        seed: measure.seed.unwrap_or_else(run::random_seed),
        budget: None,
        purpose: Purpose::Usual,
        blocks: Some(1),
        measure: Some(measure.measure.unwrap_or(MEASURE)),
        warm_up: measure.warm_up,
        latency: LatencyMode::Off,
        noise_bound: measure.noise_bound(),
        pinning: measure
            .pinning
            .map_or(PinningMode::Apart, |pinning| pinning.mode()),
        postgres: select::postgres(args.stacks.postgres.as_deref().unwrap_or("auto"))?,
        supervision: run::supervision()?,
        start_timeout: measure.start_timeout.unwrap_or(START_TIMEOUT),
        findings: Vec::new(),
        live: false,
        arguments: run::arguments(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
    };
    let bounds = bounds(args);
    let block = session::draft(&options);
    check_common(&block, &sides)?;
    let looks = Looks::choose(measure, block.estimate, bounds.alpha)?;
    options.blocks = Some(looks.design.most_blocks());
    options.budget = looks.budget;
    let mut draft = session::draft(&options);
    not_asked(&mut draft, args);
    output::note(&plan_text::describe(&draft));
    output::note(&format!("  looks     {}", looks.describe()));
    if let Some(alike) = sides.alike() {
        output::note(&format!("  note      {alike}"));
    }
    if measure.dry_run {
        return Ok(None);
    }
    options.findings = doctor::before_a_run(&options);
    let mut watch = Watch {
        a: sides.a.target(),
        b: sides.b.target(),
        looks: &looks,
        bounds,
        begun: Instant::now(),
        given_up: false,
    };
    let folder = go(&options, draft, &mut watch, &interrupted)?;
    let record = session::read_session(&folder).map_err(Failure::nothing)?;
    report::Rendered::of(&record, AssetsArg::Inline)?.write_beside(&folder)?;
    Ok(Some(versus(&record, &sides, &watch, &folder)))
}

/// The plan says that it is as asked for only where somebody asked: looks and measurement have usual lengths.
fn not_asked(draft: &mut Plan, args: &CompareArgs) {
    let measure = &args.measure;
    let asked = measure.blocks.is_some() || !measure.looks.is_empty();
    if let Some(choice) = &mut draft.choice {
        if !asked {
            choice.blocks_from = Origin::Budget;
        }
        if measure.measure.is_none() {
            choice.measure_from = Origin::Budget;
        }
    }
}

/// That both answer at least one of the workloads, as far as their manifests say.
fn check_common(plan: &Plan, sides: &Sides) -> Result<(), Failure> {
    if common(plan, &sides.a.target(), &sides.b.target()) {
        return Ok(());
    }
    let workloads: Vec<&str> = plan.workloads.iter().map(|one| one.id.as_str()).collect();
    Err(Failure::usage(format!(
        "{} and {} answer none of the workloads {} both; `deadheat stacks list` says which they answer, --workload \
         chooses",
        sides.a.target(),
        sides.b.target(),
        workloads.join(", ")
    )))
}

/// Whether there is a load point at which both are measured.
fn common(plan: &Plan, a: &TargetId, b: &TargetId) -> bool {
    let at = |target: &TargetId| -> Vec<(&String, &String)> {
        let cells = plan.cells.iter().filter(|cell| cell.target == *target);
        cells.map(|cell| (&cell.workload, &cell.point)).collect()
    };
    let of_b = at(b);
    at(a).iter().any(|point| of_b.contains(point))
}

/// Watches over a session: judges it at the declared looks, and ends it when there is nothing to compare any more.
struct Watch<'a> {
    a: TargetId,
    b: TargetId,
    looks: &'a Looks,
    bounds: Bounds,
    /// When measuring began.
    begun: Instant,
    /// One side cannot be measured.
    given_up: bool,
}

impl Watch<'_> {
    fn started(&mut self, header: &SessionHeader, interrupt: &AtomicBool) {
        self.begun = Instant::now();
        if !common(&header.plan, &self.a, &self.b) {
            self.give_up(interrupt);
        }
    }

    /// Ends the session in the only way that it can be ended before its first block.
    fn give_up(&mut self, interrupt: &AtomicBool) {
        self.given_up = true;
        interrupt.store(true, Ordering::SeqCst);
    }

    fn after_block(&mut self, record: &SessionRecord) -> ControlFlow<EndReason> {
        let blocks = stacks::complete_blocks(record);
        let judge = |look| stacks::judge(record, &self.a, &self.b, look, &self.bounds);
        // Shown no look, the judge compares nothing; it says whether there is anything left to compare.
        let so_far = judge(None);
        if so_far.compared.is_empty() {
            self.given_up = so_far.failed;
            return ControlFlow::Break(EndReason::Enough);
        }
        let look = self.looks.design.at(blocks);
        if look.is_some_and(|look| judge(Some(look)).is_final()) {
            return ControlFlow::Break(EndReason::Enough);
        }
        let elapsed = self.begun.elapsed();
        let next = elapsed / blocks.max(1);
        let over = self
            .looks
            .budget
            .is_some_and(|budget| elapsed + next > budget);
        match over && blocks < self.looks.design.most_blocks() {
            true => ControlFlow::Break(EndReason::Budget),
            false => ControlFlow::Continue(()),
        }
    }

    fn ended(&self, end: Option<EndReason>) -> Ended {
        match end {
            _ if self.given_up => Ended::Failed,
            Some(EndReason::Enough) => Ended::Decided,
            Some(EndReason::Finished) => Ended::LooksTaken,
            Some(EndReason::Budget) => Ended::Budget,
            Some(EndReason::Interrupted) | None => Ended::Interrupted,
        }
    }
}

/// Runs the session; its folder.
fn go(
    options: &SessionOptions,
    draft: Plan,
    watch: &mut Watch<'_>,
    interrupted: &AtomicBool,
) -> Result<std::path::PathBuf, Failure> {
    let mut progress = Progress::new(Some(draft));
    let watch = std::cell::RefCell::new(watch);
    let outcome = session::run(
        options,
        &mut |event| {
            if let Event::SessionStarted { header } = event {
                watch.borrow_mut().started(header, interrupted);
            }
            progress.on(event);
        },
        &mut |record| watch.borrow_mut().after_block(record),
        interrupted,
    );
    progress.finish();
    Ok(outcome.map_err(Failure::nothing)?.folder)
}

fn versus(record: &SessionRecord, sides: &Sides, watch: &Watch<'_>, folder: &Path) -> Versus {
    let ended = watch.ended(record.end);
    let blocks = stacks::complete_blocks(record);
    let look = final_look(&watch.looks.design, blocks, ended);
    let judged = stacks::judge(record, &watch.a, &watch.b, look, &watch.bounds);
    let header = &record.header;
    let target = |one: &One| {
        let mut targets = header.targets.iter();
        targets.find(|record| record.target == one.target())
    };
    let [a, b] = [target(&sides.a), target(&sides.b)];
    Versus {
        how: How::Alternating {
            design: watch.looks.design.clone(),
            look,
            blocks,
            ended,
            seed: header.plan.seed,
        },
        a: side(&sides.a, a),
        b: side(&sides.b, b),
        bounds: watch.bounds,
        compared: judged.compared,
        not_compared: judged.not_compared,
        conditions: conditions(header, &run::shown(folder)),
        differences: differences(sides, a, b),
        warnings: sides
            .alike()
            .into_iter()
            .chain(stacks::biased(record))
            .collect(),
    }
}

fn side(one: &One, record: Option<&TargetRecord>) -> Side {
    let mut facts = vec![Fact::new("sources", one.sources())];
    let state = record.map(|record| &record.state);
    if let Some(record) = record {
        let versions = record.versions.iter();
        facts.extend(versions.map(|found| Fact::new(&found.name, &found.version)));
    }
    Side {
        name: one.target().to_string(),
        facts,
        failed: match state {
            Some(TargetState::Failed(failure)) => {
                Some(format!("{}: {}", failure.phase.describe(), failure.reason))
            }
            Some(TargetState::Unavailable { reason, remedy }) => {
                Some(format!("unavailable: {reason} (to change that: {remedy})"))
            }
            Some(TargetState::Ready { .. }) | None => None,
        },
    }
}

fn conditions(header: &SessionHeader, folder: &str) -> Vec<Fact> {
    let machine = &header.machine;
    vec![
        Fact::new("CPUs", plan_text::pinning(&header.plan.pinning)),
        Fact::new("processor", &machine.cpu_model),
        Fact::new("kernel", &machine.kernel),
        Fact::new("records", folder),
    ]
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
