//! Two servers that are no stacks: URLs of servers that run, or commands.

use std::{env, ops::ControlFlow, path::PathBuf};

use deadheat_model::{
    LoadSpec, Schedule, StopRule,
    comparison::{
        ComparedCommand, ComparedServer, ComparisonEnd, ComparisonOutcome, ComparisonPlan,
        ComparisonRecord, ComparisonTrial, Side as Which,
    },
    plan::Pinning,
};
use deadheat_report::load::most_frequent_failure;
use deadheat_runner::session::{
    PinningMode, START_TIMEOUT,
    comparison::{self, ComparisonOptions, Referee},
};
use deadheat_stats::versus::{
    Bounds, Ended, Fact, How, Side, Versus,
    alternating::{final_look, servers},
};

use super::{
    loads,
    looks::Looks,
    progress::Progress,
    words::{shown, words},
};
use crate::{
    compare::{args::CompareArgs, bounds},
    exit::Failure,
    interrupt, output,
    plan_text::about,
    run,
};

/// Compares servers that run.
pub(super) fn urls(args: &CompareArgs) -> Result<Option<Versus>, Failure> {
    let server = |typed: &str| {
        let (name, load) = loads::of_url(typed, args)?;
        Ok(ComparedServer {
            name,
            command: None,
            load,
        })
    };
    let sides = [server(&args.a)?, server(&args.b)?];
    compare(sides, PinningMode::Off, args)
}

/// Compares servers that are started for each trial.
pub(super) fn commands(
    commands: [&String; 2],
    args: &CompareArgs,
) -> Result<Option<Versus>, Failure> {
    let folder = env::current_dir().map_err(|error| {
        Failure::usage(format!(
            "finding the current folder: {error}; change to one that exists"
        ))
    })?;
    let server = |command: &String| {
        let words = words(command).map_err(Failure::usage)?;
        Ok(ComparedServer {
            name: shown(command),
            command: Some(ComparedCommand {
                words,
                folder: folder.clone(),
            }),
            load: loads::of_command(args)?,
        })
    };
    let [a, b] = commands;
    let sides = [server(a)?, server(b)?];
    let pinning = args.measure.pinning.map(|pinning| pinning.mode());
    compare(sides, pinning.unwrap_or(PinningMode::Apart), args)
}

fn compare(
    [a, b]: [ComparedServer; 2],
    pinning: PinningMode,
    args: &CompareArgs,
) -> Result<Option<Versus>, Failure> {
    let measure = &args.measure;
    let bounds = bounds(args);
    let block = comparison::block_time([&a.load, &b.load], a.command.is_some());
    let looks = Looks::choose(measure, block, bounds.alpha)?;
    let options = ComparisonOptions {
        a,
        b,
        seed: measure.seed.unwrap_or_else(run::random_seed),
        looks: looks.design.looks.iter().map(|look| look.blocks).collect(),
        alpha: bounds.alpha,
        budget: looks.budget,
        noise_bound: measure.noise_bound(),
        pinning,
        results: measure.results.clone().unwrap_or_else(|| "results".into()),
        supervision: run::supervision()?,
        start_timeout: measure.start_timeout.unwrap_or(START_TIMEOUT),
        arguments: run::arguments(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
    };
    let plan = comparison::plan(&options);
    output::note(&described(&options, &plan, &looks));
    if measure.dry_run {
        return Ok(None);
    }
    let interrupted = interrupt::on_signals().map_err(Failure::nothing)?;
    let mut progress = Progress::new();
    let mut referee = AtLooks {
        looks: &looks,
        bounds,
    };
    let outcome = comparison::run(
        &options,
        &mut |event| progress.on(event),
        &mut referee,
        &interrupted,
    );
    progress.finish();
    let folder = outcome.map_err(Failure::nothing)?.folder;
    let record = comparison::read_comparison(&folder).map_err(Failure::nothing)?;
    let mut versus = versus(&record, &looks, bounds, folder);
    // By the words as they were typed: the record has them without passwords.
    versus.warnings.extend(alike(&options.a, &options.b));
    Ok(Some(versus))
}

/// Judges at the declared looks, and whether a trial failed.
struct AtLooks<'a> {
    looks: &'a Looks,
    bounds: Bounds,
}

impl Referee for AtLooks<'_> {
    fn failure(&mut self, trial: &ComparisonTrial) -> Option<String> {
        failure(trial)
    }

    fn look(&mut self, record: &ComparisonRecord, blocks: u32) -> ControlFlow<()> {
        let Some(look) = self.looks.design.at(blocks) else {
            return ControlFlow::Continue(());
        };
        match servers::judge(record, Some(look), &self.bounds).is_final() {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    }
}

/// Why a trial is no measurement, if so, with what went wrong most often.
fn failure(trial: &ComparisonTrial) -> Option<String> {
    let reason = servers::failure_of(trial)?;
    let load = match &trial.outcome {
        ComparisonOutcome::Measured(measured) => Some(&measured.load),
        ComparisonOutcome::Failed(failure) => failure.load.as_deref(),
    };
    Some(match load.and_then(most_frequent_failure) {
        Some(most) => format!("{reason}; mostly, {most}"),
        None => reason,
    })
}

fn versus(record: &ComparisonRecord, looks: &Looks, bounds: Bounds, folder: PathBuf) -> Versus {
    let ended = ended(record.end);
    let blocks = record.complete_blocks();
    let look = final_look(&looks.design, blocks, ended);
    let judged = servers::judge(record, look, &bounds);
    let side = |which: Which| {
        let own = record.trials.iter();
        let mut own = own.filter(|trial| trial.side == which);
        Side {
            name: record.header.server(which).name.clone(),
            facts: facts(record.header.server(which)),
            failed: own.find_map(failure).map(|reason| after_the_word(&reason)),
        }
    };
    Versus {
        how: How::Alternating {
            design: looks.design.clone(),
            look,
            blocks,
            ended,
            seed: record.header.plan.seed,
        },
        a: side(Which::A),
        b: side(Which::B),
        bounds,
        compared: judged.compared,
        not_compared: judged.not_compared,
        conditions: conditions(record, &run::shown(&folder)),
        differences: Vec::new(),
        warnings: Vec::new(),
    }
}

/// A reason as it stands after "A failed: ".
fn after_the_word(reason: &str) -> String {
    reason.strip_prefix("failed ").unwrap_or(reason).to_owned()
}

fn ended(end: Option<ComparisonEnd>) -> Ended {
    match end {
        Some(ComparisonEnd::Decided) => Ended::Decided,
        Some(ComparisonEnd::Finished) => Ended::LooksTaken,
        Some(ComparisonEnd::Budget) => Ended::Budget,
        Some(ComparisonEnd::Failed) => Ended::Failed,
        Some(ComparisonEnd::Interrupted) | None => Ended::Interrupted,
    }
}

fn facts(server: &ComparedServer) -> Vec<Fact> {
    match &server.command {
        None => vec![Fact::new("server", server.load.target.endpoint.to_string())],
        Some(command) => vec![Fact::new("folder", command.folder.display().to_string())],
    }
}

fn conditions(record: &ComparisonRecord, folder: &str) -> Vec<Fact> {
    let header = &record.header;
    let machine = &header.machine;
    let mut facts = vec![
        Fact::new("load", load(&header.a.load)),
        Fact::new("CPUs", cpus(&header.plan.pinning)),
        Fact::new("processor", &machine.cpu_model),
        Fact::new("kernel", &machine.kernel),
    ];
    if header.a.command.is_none() {
        facts.push(Fact::new(
            "not known",
            "CPU and memory of servers that run already: throughput and service time alone are compared",
        ));
    }
    facts.push(Fact::new("records", folder));
    facts
}

/// That both sides are the same, if so.
fn alike(a: &ComparedServer, b: &ComparedServer) -> Option<String> {
    // Also one server under two names.
    let same_server = a.command.is_none()
        && (&a.load.target, &a.load.exchanges) == (&b.load.target, &b.load.exchanges);
    let same_command = a.command.is_some() && a.command == b.command;
    let same = same_server || same_command;
    same.then(|| {
        "A and B are the same: what differs between them is the noise of this machine (A/A)"
            .to_owned()
    })
}

/// The plan, some lines of at most 80 columns where names allow.
fn described(options: &ComparisonOptions, plan: &ComparisonPlan, looks: &Looks) -> String {
    let most = match looks.design.looks.len() {
        1 => "",
        _ => "at most ",
    };
    [
        format!(
            "Plan: B against A in alternation, {most}{} blocks of a trial each, {most}{}",
            plan.blocks,
            about(plan.estimate)
        ),
        format!("  A         {}", options.a.name),
        format!("  B         {}", options.b.name),
        format!("  load      {}", load(&options.a.load)),
        format!("  looks     {}", looks.describe()),
        format!("  CPUs      {}", cpus(&plan.pinning)),
        format!("  seed      {}", plan.seed),
    ]
    .join("\n")
}

fn load(spec: &LoadSpec) -> String {
    let connections = match spec.schedule {
        Schedule::Closed { connections, .. } | Schedule::Open { connections, .. } => connections,
    };
    let measured = match spec.stop {
        StopRule::Duration { length } => about(length),
        StopRule::Count { .. } | StopRule::Interrupt => "until its end".to_owned(),
    };
    format!(
        "closed loop, {connections} connections; {} warm-up, {measured} measured",
        about(spec.warm_up)
    )
}

fn cpus(pinning: &Pinning) -> String {
    let list = |cpus: &[usize]| {
        let numbers: Vec<String> = cpus.iter().map(usize::to_string).collect();
        format!("CPU {}", numbers.join(", "))
    };
    match pinning {
        Pinning::Apart { server, generator } => {
            format!(
                "server on {}, generator on {}",
                list(server),
                list(generator)
            )
        }
        Pinning::Off { cpus } => format!("not pinned: the generator may use {}", list(cpus)),
    }
}
