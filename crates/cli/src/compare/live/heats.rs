//! What is the same for all contenders: the options of their session, the plan in words, and the heats.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, atomic::AtomicBool},
    time::Duration,
};

use deadheat_model::{
    comparison::Comparison,
    heat::Rounds,
    heats::{LEAST_HEATS, Plan, PlannedLoad, SessionRecord, Step},
    words::time,
};
use deadheat_report::document::Document;
use deadheat_runner::session::{
    SessionOptions,
    heats::{self, HeatOptions, Steering, read_session},
};
use deadheat_stats::{
    heats::order,
    versus::{Check, Versus, alternating::Duel},
};
use serde_json::json;

use super::{
    looks::{Looks, Turn},
    progress::Progress,
};
use crate::{
    compare::{
        args::CompareArgs,
        bounds, check,
        measured::{loads, versus, waiting},
    },
    data, elsewhere,
    exit::Failure,
    heats::args::HeatArgs,
    output,
    plan_text::{self, Entry, about, hosts, pinning},
};

/// How long a heat goes on, if nobody says: many short heats beat few long ones, because processes differ.
const HEAT_TIME: Duration = Duration::from_secs(10);
/// How long it goes on at most for more answers.
const LONGEST_HEAT_TIME: Duration = Duration::from_secs(30);
/// So many answers of each side carry a p99 (10,000), with some to spare for pauses between slices.
const ANSWERS: u32 = 11_500;
/// Orders of rounds, after which they come again. Enough that no drift of the machine keeps step with them.
const ORDERS: usize = 64;

/// Measures two sides. `options` say what they are and what was asked for of any session; what `args` say of heats and
/// looks is added here. `None` after `--dry-run`, which has printed the plan.
pub(super) fn measure(
    comparison: Comparison,
    options: SessionOptions,
    args: &CompareArgs,
    interrupted: &Arc<AtomicBool>,
) -> Result<Option<Versus>, Failure> {
    let comparison = named(comparison, args);
    let planned = Planned::new(comparison, options, args, bounds(args).alpha)?;
    let described = planned.described();
    if args.measure.heat.dry_run {
        let as_json = || json!({ "plan": planned.plan });
        args.verdict.data.print_plan(&described, as_json)?;
        return Ok(None);
    }
    output::note(&data::as_note(&described));
    let (folder, _) = planned.run(duel, Progress::default(), interrupted)?;
    versus_in(&folder).map(Some)
}

/// The comparison with the names that the user gave the sides.
fn named(mut comparison: Comparison, args: &CompareArgs) -> Comparison {
    if let (Some(base), Some(change)) = (&args.verdict.base, &args.verdict.change) {
        comparison.a.name.clone_from(base);
        comparison.b.name.clone_from(change);
        comparison.is_change = true;
    }
    comparison.check = check(args);
    comparison
}

/// What the session in `folder` says of B.
pub(super) fn versus_in(folder: &Path) -> Result<Versus, Failure> {
    let record = read_session(folder).map_err(Failure::nothing)?;
    versus(&record, folder).ok_or_else(|| {
        Failure::nothing("the two sides have no load in common; choose another one with --workload")
    })
}

/// What is measured next in a session of two sides, after this record and the time that it took.
pub(crate) fn duel(record: &SessionRecord, spent: Duration) -> Step {
    let duel = Duel::of(record).expect("a session of two sides records what it compares");
    duel.next(spent)
}

/// A comparison that can be measured.
pub(crate) struct Planned {
    options: SessionOptions,
    looks: Looks,
    /// The plan.
    pub(crate) plan: Plan,
    /// What a heat of each load takes.
    turn: Duration,
}

impl Planned {
    /// Plans heats and looks as `args` say. Over all looks together, `alpha` is spent.
    pub(crate) fn new(
        comparison: Comparison,
        options: SessionOptions,
        args: &CompareArgs,
        alpha: f64,
    ) -> Result<Self, Failure> {
        let check_of_b = comparison.check;
        let heats = of_heats(args, comparison.a.rate());
        let mut options = SessionOptions {
            comparison: Some(Box::new(comparison)),
            heats,
            ..options
        };
        // What one heat of each load takes decides how many there are.
        let one = heats::draft(&options, &AtLooks::at(vec![1]));
        let turn = Turn {
            all: one.estimate,
            rounds: one.loads.iter().map(rounds).sum(),
            loads: one.loads.len() as u32,
        };
        let looks = Looks::choose(&args.measure, turn, alpha)?;
        enough_for(&check_of_b, &looks, options.heats.least_heats)?;
        options.heats.heats = Some(looks.design.most_heats());
        options.heats.alpha = alpha;
        options.budget = looks.budget;
        let plan = heats::draft(&options, &AtLooks::at(looks.heats()));
        elsewhere::check(&args.measure.elsewhere, &plan).map_err(Failure::usage)?;
        Ok(Self {
            options,
            looks,
            plan,
            turn: turn.all,
        })
    }

    /// Measures it: heat by heat, as `next` says. Returns the session's folder and what it holds.
    pub(crate) fn run(
        &self,
        next: NextStep,
        mut progress: Progress,
        interrupted: &Arc<AtomicBool>,
    ) -> Result<(PathBuf, SessionRecord), Failure> {
        let mut steering = AtLooks {
            heats: self.looks.heats(),
            next,
        };
        let outcome = heats::run(
            &self.options,
            &mut steering,
            &mut |event| progress.on(event),
            interrupted,
        );
        progress.finish();
        let folder = outcome.map_err(Failure::nothing)?.folder;
        let record = read_session(&folder).map_err(Failure::nothing)?;
        Ok((folder, record))
    }

    fn described(&self) -> Document {
        described(&self.options, &self.plan, &self.looks, self.turn)
    }
}

/// A check whose answer can only be no is refused: a slowdown is excluded after some heats at the earliest.
fn enough_for(check: &Check, looks: &Looks, least: u32) -> Result<(), Failure> {
    let most = looks.design.most_heats();
    if !check.require_decision || most >= least {
        return Ok(());
    }
    Err(Failure::usage(format!(
        "--require-decision: a slowdown is excluded after {least} heats or more, and {most} are \
         planned. Give a longer --budget, a shorter --heat-time, or --heats {least}"
    )))
}

/// `rate`: that of an open loop.
fn of_heats(args: &CompareArgs, rate: Option<f64>) -> HeatOptions {
    let HeatArgs { slice, guard, .. } = args.measure.heat;
    let share = slice.as_secs_f64() / (slice + guard).as_secs_f64();
    let time = rate.map_or(HEAT_TIME, |rate| heat_time(rate * share));
    HeatOptions {
        heats: Some(1),
        time: Some(args.measure.heat.heat_time.unwrap_or(time)),
        slice,
        guard,
        margin: args.verdict.margin,
        // Earlier looks are asked for by an option whose help says their price.
        least_heats: args
            .measure
            .looks
            .first()
            .map_or(LEAST_HEATS, |first| LEAST_HEATS.min(*first)),
        controls: false,
        ..HeatOptions::default()
    }
}

/// How long a heat goes on when so many requests a second count: long enough for the p99 response time of each side, if
/// that is not too long.
fn heat_time(counted_per_second: f64) -> Duration {
    let needed = 2.0 * f64::from(ANSWERS) / counted_per_second.max(f64::MIN_POSITIVE);
    let most = LONGEST_HEAT_TIME.as_secs_f64();
    Duration::from_secs_f64(needed.clamp(HEAT_TIME.as_secs_f64(), most).ceil())
}

/// What is measured next, after a record and the time that it took.
type NextStep = fn(&SessionRecord, Duration) -> Step;

/// Heats of all sides until a look at one of these numbers of heats decides.
struct AtLooks {
    heats: Vec<u32>,
    next: NextStep,
}

impl AtLooks {
    fn at(heats: Vec<u32>) -> Self {
        Self { heats, next: duel }
    }
}

impl Steering for AtLooks {
    fn next(&mut self, record: &SessionRecord, spent: Duration) -> Step {
        (self.next)(record, spent)
    }

    fn orders(&mut self, members: usize, seed: u64) -> Vec<Vec<usize>> {
        order::rounds(members, seed).take(ORDERS).collect()
    }

    fn looks(&self, _most: u32) -> Vec<u32> {
        self.heats.clone()
    }
}

/// How long a heat of a load loads its servers for what counts.
fn rounds(load: &PlannedLoad) -> Duration {
    match load.heat.rounds {
        Rounds::Time { time } => time,
        Rounds::Count { .. } => HEAT_TIME,
    }
}

/// The plan. `turn` is what a heat of each load takes.
fn described(options: &SessionOptions, plan: &Plan, looks: &Looks, turn: Duration) -> Document {
    let most = match looks.design.looks.len() {
        1 => "",
        _ => "at most ",
    };
    let each = match plan.loads.len() {
        0 | 1 => String::new(),
        loads => format!(" at each of {loads} loads"),
    };
    let heat = turn / plan.loads.len().max(1) as u32;
    let HeatOptions { slice, guard, .. } = options.heats;
    let rounds = plan.loads.first().map_or(HEAT_TIME, rounds);
    let few = match plan.least_heats {
        least if least > looks.design.most_heats() => {
            format!("; too few for a dead heat, which needs {least}")
        }
        _ => String::new(),
    };
    let mut entries: Vec<Entry> = Vec::new();
    if let Some(both) = &options.comparison {
        entries.push(("A", both.a.name.clone()));
        entries.push(("B", both.b.name.clone()));
    }
    entries.extend([
        ("load", loads(&plan.loads)),
        (
            "heat",
            format!(
                "about {}: both servers in turn for {}",
                about(heat),
                about(rounds)
            ),
        ),
        (
            "slices",
            format!(
                "{} counted, after {} that do not count; longer for slow answers",
                time(slice),
                time(guard)
            ),
        ),
        ("generator", waiting(&plan.loads)),
        ("looks", format!("{}{few}", looks.describe())),
    ]);
    entries.extend(hosts(plan));
    entries.extend([("CPUs", pinning(plan)), ("seed", plan.seed.to_string())]);
    let comparison = options.comparison.iter();
    let alike = comparison.filter_map(|both| both.alike.clone());
    entries.extend(alike.map(|alike| ("note", alike)));
    let headline = format!(
        "Plan: B against A, {most}{} heats{each}, {most}{}",
        looks.design.most_heats(),
        about(plan.estimate)
    );
    plan_text::plan(headline, entries)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heats_at_a_low_rate_are_longer() {
        let cases = [
            (1e6, 10),
            (2_500.0, 10),
            (1_000.0, 23),
            (500.0, 30),
            (0.1, 30),
        ];
        for (rate, seconds) in cases {
            assert_eq!(heat_time(rate), Duration::from_secs(seconds), "{rate}");
        }
    }
}
