//! A comparison in heats, whatever its contenders are: the options of the session, the plan in words, and the
//! measurement.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, atomic::AtomicBool},
    time::Duration,
};

use deadheat_bench::{
    options::HeatArgs,
    other_hosts,
    plan_text::{self, Entry, hosts, pinning},
};
use deadheat_document::Document;
use deadheat_model::{
    comparison::{Comparison, Contender, ContenderKind, Decide},
    figure::{self, about, time},
    heat::Rounds,
    heats::{MIN_HEATS, Plan, PlannedLoad, SessionRecord, Step},
    workload::OfferedRate,
};
use deadheat_runner::session::{
    SessionError, SessionOptions,
    heats::{self, HeatOptions, Steering, read_session},
};
use deadheat_shell::{
    data::{self, PlanAlone},
    exit::CommandFailure,
    output,
};
use deadheat_stats::{
    comparison::{Check, ComparisonAnalysis, alternating::Duel},
    heats::allocation,
};

use super::{
    ComparisonProgress,
    loads::rates,
    looks::{Looks, Turn},
};
use crate::{
    bounds, check,
    measured::{self, analyse, waiting},
    options::CompareArgs,
};

/// How long the rounds of a heat last by default: many short heats beat few long ones, because processes differ.
const HEAT_TIME: Duration = Duration::from_secs(10);
/// How long the rounds of a heat last if throughput decides nothing: long enough to find the capacity, and the common
/// rate.
const SHORT_HEAT_TIME: Duration = Duration::from_secs(2);
/// A slice of a URL at a rate. Its server is not frozen between slices.
const TURN_AT_A_RATE: Duration = Duration::from_secs(5);
/// The part of such a slice that does not count, in which connections and queues reach their usual state.
const GUARD_AT_A_RATE: Duration = Duration::from_secs(1);
/// The number of orders of rounds before they repeat. There are enough that no drift of the machine keeps step with
/// them.
const ORDERS: usize = 64;

/// Measures two sides. `options` say what they are and what was asked for of any session; what `args` say of heats and
/// looks is added here. `None` after `--dry-run`, which has printed the plan.
pub(super) fn measure(
    comparison: Comparison,
    options: SessionOptions,
    args: &CompareArgs,
    interrupted: &Arc<AtomicBool>,
) -> Result<Option<ComparisonAnalysis>, CommandFailure> {
    let comparison = named(comparison, args);
    let planned = PlannedComparison::new(comparison, options, args, bounds(args).alpha)?;
    let described = planned.described();
    if args.measure.heat.dry_run {
        let for_programs = || PlanAlone {
            plan: &planned.plan,
        };
        args.verdict.data.print_plan(&described, for_programs)?;
        return Ok(None);
    }
    output::note(&data::as_note(&described));
    let (folder, _) = planned.run(duel, ComparisonProgress::default(), interrupted)?;
    comparison_in(&folder).map(Some)
}

/// The comparison with the names that the user gave the sides.
fn named(mut comparison: Comparison, args: &CompareArgs) -> Comparison {
    if let (Some(base), Some(change)) = (&args.verdict.base, &args.verdict.change) {
        comparison.a.name.clone_from(base);
        comparison.b.name.clone_from(change);
        comparison.is_change = true;
    }
    comparison.decide = args.verdict.decide;
    comparison.check = check(args);
    comparison
}

/// B compared with A, by the session in `folder`.
pub(super) fn comparison_in(folder: &Path) -> Result<ComparisonAnalysis, CommandFailure> {
    let record = read_session(folder).map_err(CommandFailure::no_result)?;
    analyse(&record, folder).ok_or_else(|| {
        CommandFailure::no_result(
            "the two sides have no load in common; choose another one with --workload",
        )
    })
}

/// The next step of a session of two sides, after this record and measuring time.
pub(crate) fn duel(record: &SessionRecord, spent: Duration) -> Step {
    let duel = Duel::new(record).expect("a session of two sides records what it compares");
    duel.next(spent)
}

/// A comparison that can be measured.
pub(crate) struct PlannedComparison {
    options: SessionOptions,
    looks: Looks,
    /// The plan.
    pub(crate) plan: Plan,
    /// The time of one heat at each load.
    turn: Duration,
}

impl PlannedComparison {
    /// Plans heats and looks as `args` say. Over all looks together, `alpha` is spent.
    pub(crate) fn new(
        comparison: Comparison,
        options: SessionOptions,
        args: &CompareArgs,
        alpha: f64,
    ) -> Result<Self, CommandFailure> {
        let check_of_b = comparison.check;
        let heats = of_heats(args, &comparison.a);
        let mut options = SessionOptions {
            comparison: Some(Box::new(comparison)),
            heats,
            ..options
        };
        // The time of one heat at each load decides the number of heats.
        let one = heats::draft(&options, &AtLooks::at(vec![1]));
        let turn = Turn {
            all: one.estimate,
            rounds: one.leading().map(rounds).sum(),
            loads: one.leading().count() as u32,
        };
        let looks = Looks::choose(&args.measure, turn, alpha)?;
        enough_for(&check_of_b, &looks, options.heats.least_heats)?;
        options.heats.heats = Some(looks.design.most_heats());
        options.heats.alpha = alpha;
        options.budget = looks.budget;
        let plan = heats::draft(&options, &AtLooks::at(looks.heats()));
        other_hosts::check(&args.measure.other_hosts, &plan)?;
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
        mut progress: ComparisonProgress,
        interrupted: &Arc<AtomicBool>,
    ) -> Result<(PathBuf, SessionRecord), CommandFailure> {
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
        let folder = outcome.map_err(not_measured)?.folder;
        let record = read_session(&folder).map_err(CommandFailure::no_result)?;
        Ok((folder, record))
    }

    fn described(&self) -> Document {
        described(&self.options, &self.plan, &self.looks, self.turn)
    }
}

/// The failure of a session without a record.
pub(super) fn not_measured(error: SessionError) -> CommandFailure {
    match error {
        SessionError::Interrupted => CommandFailure::interrupted(error),
        error => CommandFailure::no_result(error),
    }
}

/// A check whose answer can only be no is refused: a slowdown is excluded after some heats at the earliest.
fn enough_for(check: &Check, looks: &Looks, least: u32) -> Result<(), CommandFailure> {
    let most = looks.design.most_heats();
    if !check.require_decision || most >= least {
        return Ok(());
    }
    Err(CommandFailure::usage(format!(
        "--require-decision: a slowdown is excluded after {least} heats or more, and {most} are \
         planned. Give a longer --budget, a shorter --heat-time, or --heats {least}"
    )))
}

/// The heats of a comparison whose first side is `a`.
fn of_heats(args: &CompareArgs, a: &Contender) -> HeatOptions {
    let HeatArgs {
        slice,
        guard,
        heat_time,
        ..
    } = args.measure.heat;
    let Check { fail_if_slower, .. } = check(args);
    let decide = args.verdict.decide;
    let is_open = a.rate().is_some();
    // A slice of an open loop begins with an empty queue, so that it is a long one.
    let unless_given = |option, given, own| {
        if is_open && !args.explicit.has(option) {
            own
        } else {
            given
        }
    };
    let slice = unless_given("--slice", slice, TURN_AT_A_RATE);
    let guard = unless_given("--guard", guard, GUARD_AT_A_RATE);
    let time = match decide {
        _ if is_open => 2 * (slice + guard),
        Decide::Throughput => HEAT_TIME,
        Decide::Cpu if fail_if_slower.is_some() => HEAT_TIME,
        Decide::Cpu | Decide::P99 => SHORT_HEAT_TIME,
    };
    HeatOptions {
        heats: Some(1),
        time: Some(heat_time.unwrap_or(time)),
        slice,
        guard,
        margin: args.verdict.margin,
        // Earlier looks are asked for by an option whose help says their price.
        least_heats: args
            .measure
            .looks
            .first()
            .map_or(MIN_HEATS, |first| MIN_HEATS.min(*first)),
        controls: false,
        rates: match a.kind {
            ContenderKind::Url { .. } => Vec::new(),
            _ => rates(args),
        },
        ..HeatOptions::default()
    }
}

/// Chooses the next step, from a record and its measuring time.
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
        allocation::rounds(members, seed).take(ORDERS).collect()
    }

    fn looks(&self, _: &PlannedLoad, _most: u32) -> Vec<u32> {
        self.heats.clone()
    }
}

/// The time for which a heat of a load loads its servers in counted rounds.
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
    let loads: Vec<&PlannedLoad> = plan.leading().collect();
    let each = match loads.len() {
        0 | 1 => String::new(),
        loads => format!(" at each of {loads} loads"),
    };
    let heat = turn / loads.len().max(1) as u32;
    let HeatOptions { slice, guard, .. } = options.heats;
    let rounds = loads.first().map_or(HEAT_TIME, |load| rounds(load));
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
        ("load", measured::loads(plan)),
        (
            "heat",
            format!(
                "about {}: both servers in turn for {}",
                about(heat),
                about(rounds)
            ),
        ),
        match options.comparison.as_ref().and_then(|both| both.a.rate()) {
            Some(_) => (
                "turns",
                format!(
                    "{} at the rate without interruption, after {} that do not count",
                    time(slice),
                    time(guard)
                ),
            ),
            None => (
                "slices",
                format!(
                    "{} counted, after {} that do not count; longer for slow answers",
                    time(slice),
                    time(guard)
                ),
            ),
        },
    ]);
    entries.extend(equal_work(plan).map(|text| ("equal work", text)));
    entries.extend([
        ("generator", waiting(plan)),
        ("decides", decides(options).to_owned()),
        ("checkpoints", format!("{}{few}", looks.describe())),
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

/// The metrics that the verdict is about.
fn decides(options: &SessionOptions) -> &'static str {
    let both = options.comparison.as_ref();
    let is_open = both.is_some_and(|both| both.a.rate().is_some());
    match both.map_or(Decide::Throughput, |both| both.decide) {
        Decide::Throughput if is_open => "the median and the p99 response time, and throughput",
        Decide::P99 if is_open => "the p99 response time, and throughput",
        Decide::Throughput => "throughput",
        Decide::Cpu => "CPU time per request at equal work",
        Decide::P99 => "the p99 response time at equal work",
    }
}

/// At which rates both sides are compared as well, and what of it decides.
fn equal_work(plan: &Plan) -> Option<String> {
    let first = plan.leading().next()?;
    let work: Vec<&PlannedLoad> = plan.equal_work(first).map(|(_, load)| load).collect();
    let rates = work
        .iter()
        .filter_map(|one| match one.point.open.as_ref()?.rate {
            OfferedRate::Common => {
                Some("one that both can take at 70 % of their capacity".to_owned())
            }
            OfferedRate::PerSecond(rate) => Some(figure::rate(rate.into())),
        });
    let rates: Vec<String> = rates.collect();
    let plan = work.first()?.heat;
    Some(format!(
        "then each side {} times for {} at the same rate, {}, in the order A, B, B, A",
        plan.rounds.number(),
        time(plan.slice),
        rates.join(" and "),
    ))
}

#[cfg(test)]
mod tests {
    use std::io;

    use clap::Parser;
    use deadheat_model::TargetId;
    use deadheat_shell::exit::Exit;

    use super::*;
    use crate::live::loads::of_url;

    #[derive(Debug, Parser)]
    struct Compare {
        #[command(flatten)]
        args: CompareArgs,
    }

    fn args(options: &str) -> CompareArgs {
        let typed = ["compare", "a", "b"].into_iter();
        let typed = typed.chain(options.split_whitespace());
        Compare::try_parse_from(typed).unwrap().args
    }

    fn side(kind: ContenderKind) -> Contender {
        Contender {
            target: TargetId::new("A", None),
            name: "a".to_owned(),
            kind,
        }
    }

    #[test]
    fn an_interrupted_preparation_is_no_failure_of_the_comparison() {
        let exit = |error| not_measured(error).exit();
        assert_eq!(exit(SessionError::Interrupted), Exit::Interrupted);
        let full = io::ErrorKind::StorageFull.into();
        assert_eq!(exit(SessionError::Certificate(full)), Exit::NoResult);
    }

    #[test]
    fn most_of_a_heat_goes_into_what_is_asked() {
        use OfferedRate::{Common, PerSecond};
        let cases = [
            ("", 10, &[][..]),
            ("--rate 5/s", 10, &[PerSecond(5)]),
            (
                "--rate 5/s --rate common --rate 5/s",
                10,
                &[Common, PerSecond(5)],
            ),
            ("--decide cpu", 2, &[Common]),
            ("--decide p99 --fail-if-slower 3%", 2, &[Common]),
            ("--decide cpu --fail-if-slower 3%", 10, &[Common]),
            ("--fail-if-costlier 3%", 10, &[Common]),
            ("--decide cpu --heat-time 7s", 7, &[Common]),
        ];
        for (options, rounds, rates) in cases {
            let heats = of_heats(
                &args(options),
                &side(ContenderKind::Stack {
                    stack: "a".to_owned(),
                    sources: String::new(),
                }),
            );
            assert_eq!(heats.time, Some(Duration::from_secs(rounds)), "{options}");
            assert_eq!(heats.rates, rates, "{options}");
            assert_eq!(heats.slice, Duration::from_millis(100), "{options}");
        }
    }

    #[test]
    fn urls_at_a_rate_are_loaded_without_interruption() {
        let heats = |options: &str| {
            let args = args(options);
            let (_, load) = of_url("http://127.0.0.1:1/", &args).unwrap();
            let load = Box::new(load);
            of_heats(&args, &side(ContenderKind::Url { load }))
        };
        let seconds = Duration::from_secs;
        let at_rate = heats("--rate 100/s");
        assert_eq!((at_rate.slice, at_rate.guard), (seconds(5), seconds(1)));
        assert_eq!(at_rate.time, Some(seconds(12)), "a turn of each side");
        assert!(at_rate.rates.is_empty(), "it is no equal work");
        let closed = heats("");
        assert_eq!(closed.slice, Duration::from_millis(100));
        let typed = heats("--rate 100/s --slice 100ms --guard 2s");
        assert_eq!(
            (typed.slice, typed.guard),
            (Duration::from_millis(100), seconds(2))
        );
    }
}
