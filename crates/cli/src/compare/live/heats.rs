//! What is the same for all contenders: the plan in words, the heats, the looks, and what they say.

use std::{
    ops::ControlFlow,
    path::Path,
    sync::{Arc, atomic::AtomicBool},
    time::Duration,
};

use deadheat_model::{
    Wait,
    comparison::{
        ComparedHeat, ComparedPoint, ComparisonEnd, ComparisonRecord, Contender, ContenderKind,
        Side as Which,
    },
    session::TargetRecord,
};
use deadheat_runner::session::{
    PinningMode, START_TIMEOUT,
    comparison::{self, ComparisonOptions, Contenders, HeatTimes, Referee},
    heats::HeatOptions,
};
use deadheat_stats::{
    heats::order,
    versus::{
        Bounds, Ended, Fact, How, Side, Versus,
        alternating::{failure_of, final_look, has_failed, judge},
    },
};

use super::{looks::Looks, progress::Progress, slice};
use crate::{
    compare::{
        args::{CompareArgs, MeasureArgs},
        bounds,
    },
    exit::Failure,
    invocation, output,
    plan_text::{about, pinning},
};

/// How long a heat goes on, if nobody says: many short heats beat few long ones, because processes differ.
const HEAT_TIME: Duration = Duration::from_secs(10);
/// Orders of rounds, after which they come again. Enough that no drift of the machine keeps step with them.
const ORDERS: usize = 64;

/// Two contenders, and what is said of them beside what every comparison says.
pub(super) struct Contest {
    pub(super) contenders: Contenders,
    pub(super) pinning: PinningMode,
    /// As they are called in the plan.
    pub(super) names: [String; 2],
    /// That both are the same, if so.
    pub(super) alike: Option<String>,
}

/// Measures the contenders. `None` after `--dry-run`, which has printed the plan.
pub(super) fn measure(
    contest: Contest,
    args: &CompareArgs,
    interrupted: &Arc<AtomicBool>,
) -> Result<Option<(ComparisonRecord, Versus)>, Failure> {
    let bounds = bounds(args);
    let mut options = options(&contest, &args.measure, bounds.alpha)?;
    let points = comparison::plan(&options).1.len() as u32;
    let turn = comparison::heat_time(&options) * points;
    let looks = Looks::choose(&args.measure, turn, bounds.alpha)?;
    options.looks = looks.design.looks.iter().map(|look| look.heats).collect();
    options.budget = looks.budget;
    let described = described(&contest, &options, &looks);
    if args.measure.dry_run {
        output::data(&(described + "\n"))?;
        return Ok(None);
    }
    output::note(&described);
    let mut progress = Progress::default();
    let mut referee = AtLooks {
        looks: &looks,
        bounds,
    };
    let folder = comparison::run(
        &options,
        &mut |event| progress.on(event),
        &mut referee,
        interrupted,
    );
    progress.finish();
    let folder = folder.map_err(Failure::nothing)?;
    let record = comparison::read_comparison(&folder).map_err(Failure::nothing)?;
    let mut versus = versus(&record, &looks, bounds, &folder);
    versus.warnings.extend(contest.alike);
    Ok(Some((record, versus)))
}

fn options(
    contest: &Contest,
    args: &MeasureArgs,
    alpha: f64,
) -> Result<ComparisonOptions, Failure> {
    let seed = match &contest.contenders {
        Contenders::Stacks(session) => session.seed,
        Contenders::Servers(_) => args.seed.unwrap_or_else(invocation::random_seed),
    };
    Ok(ComparisonOptions {
        contenders: contest.contenders.clone(),
        seed,
        looks: Vec::new(),
        alpha,
        budget: None,
        heat: HeatTimes {
            slice: slice(args),
            guard: args.guard.unwrap_or(HeatOptions::default().guard),
            time: args.heat_time.unwrap_or(HEAT_TIME),
        },
        warm_up: args.warm_up,
        pinning: contest.pinning,
        results: args.results.clone().unwrap_or_else(|| "results".into()),
        supervision: invocation::supervision()?,
        start_timeout: args.start_timeout.unwrap_or(START_TIMEOUT),
        arguments: invocation::arguments(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
    })
}

/// Judges at the declared looks.
struct AtLooks<'a> {
    looks: &'a Looks,
    bounds: Bounds,
}

impl Referee for AtLooks<'_> {
    fn orders(&mut self, seed: u64) -> Vec<Vec<usize>> {
        order::rounds(2, seed).take(ORDERS).collect()
    }

    fn failed(&mut self, heat: &ComparedHeat) -> bool {
        has_failed(heat)
    }

    fn look(&mut self, record: &ComparisonRecord, heats: u32) -> ControlFlow<()> {
        let look = self.looks.design.at(heats);
        match look.is_some() && judge(record, look, &self.bounds).is_final() {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    }
}

fn versus(record: &ComparisonRecord, looks: &Looks, bounds: Bounds, folder: &Path) -> Versus {
    let ended = ended(record.end);
    let heats = record.most_complete_heats();
    let look = final_look(&looks.design, heats, ended);
    let judged = judge(record, look, &bounds);
    let side = |which: Which| {
        let contender = record.header.contender(which);
        Side {
            name: contender.name.clone(),
            facts: facts(contender),
            failed: failure_of(record, which),
        }
    };
    let least = record.header.points.first().map(|point| point.heat);
    let seconds = |of: fn(&deadheat_model::heat::HeatPlan) -> Duration| {
        least.as_ref().map_or(0.0, |heat| of(heat).as_secs_f64())
    };
    let walls: Duration = record.heats.iter().map(|heat| heat.heat.wall).sum();
    Versus {
        how: How::Heats {
            design: looks.design.clone(),
            look,
            heats,
            slice_seconds: seconds(|heat| heat.slice),
            guard_seconds: seconds(|heat| heat.guard),
            took_seconds: walls.as_secs_f64(),
            ended,
            seed: record.header.plan.seed,
        },
        a: side(Which::A),
        b: side(Which::B),
        bounds,
        compared: judged.compared,
        not_compared: judged.not_compared,
        conditions: conditions(record, &invocation::shown(folder)),
        differences: Vec::new(),
        warnings: Vec::new(),
    }
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

fn facts(contender: &Contender) -> Vec<Fact> {
    match &contender.kind {
        ContenderKind::Url { load } => {
            vec![Fact::new("server", load.target.endpoint.to_string())]
        }
        ContenderKind::Command { command, .. } => {
            vec![Fact::new("folder", command.folder.display().to_string())]
        }
        ContenderKind::Stack { record } => versions(record),
    }
}

fn versions(record: &TargetRecord) -> Vec<Fact> {
    let versions = record.versions.iter();
    versions
        .map(|found| Fact::new(&found.name, &found.version))
        .collect()
}

fn conditions(record: &ComparisonRecord, folder: &str) -> Vec<Fact> {
    let header = &record.header;
    let machine = &header.machine;
    let mut facts = vec![
        Fact::new("load", loads(&header.points)),
        Fact::new("generator", waiting(&header.points)),
        Fact::new("CPUs", pinning(&header.plan.pinning)),
        Fact::new("processor", &machine.cpu_model),
        Fact::new("kernel", &machine.kernel),
    ];
    if let ContenderKind::Url { .. } = header.a.kind {
        facts.push(Fact::new(
            "not known",
            "CPU and memory of servers that run already: throughput and service time alone are compared; nor are \
             they frozen while the other one is loaded",
        ));
    }
    facts.push(Fact::new("records", folder));
    facts
}

/// The plan, some lines of at most 80 columns where names allow.
fn described(contest: &Contest, options: &ComparisonOptions, looks: &Looks) -> String {
    let (plan, points) = comparison::plan(options);
    let most = match looks.design.looks.len() {
        1 => "",
        _ => "at most ",
    };
    let each = match points.len() {
        0 | 1 => String::new(),
        points => format!(" at each of {points} loads"),
    };
    let HeatTimes { slice, guard, time } = options.heat;
    let [a, b] = &contest.names;
    let mut lines = vec![
        format!(
            "Plan: B against A, {most}{} heats{each}, {most}{}",
            plan.heats,
            about(plan.estimate)
        ),
        format!("  A         {a}"),
        format!("  B         {b}"),
        format!("  load      {}", loads(&points)),
        format!(
            "  heat      about {}: both servers in turn for {}",
            about(comparison::heat_time(options)),
            about(time)
        ),
        format!(
            "  slices    {} ms counted after {} ms that are not; longer for slow answers",
            slice.as_millis(),
            guard.as_millis()
        ),
        format!("  generator {}", waiting(&points)),
        format!("  looks     {}", looks.describe()),
        format!("  CPUs      {}", pinning(&plan.pinning)),
        format!("  seed      {}", plan.seed),
    ];
    lines.extend(
        contest
            .alike
            .iter()
            .map(|alike| format!("  note      {alike}")),
    );
    lines.join("\n")
}

fn loads(points: &[ComparedPoint]) -> String {
    let named = points
        .iter()
        .map(|one| format!("{} {}", one.workload, one.point));
    named.collect::<Vec<_>>().join(", ")
}

/// How the generator waits for answers.
fn waiting(points: &[ComparedPoint]) -> String {
    let polls = |one: &&ComparedPoint| one.heat.wait == Wait::Poll;
    match points.iter().filter(polls).count() {
        0 => "waits for answers asleep, because its CPUs are not its own".to_owned(),
        all if all == points.len() => "waits for answers awake, on CPUs of its own".to_owned(),
        _ => "waits for answers awake, but asleep where a service shares its CPUs".to_owned(),
    }
}
