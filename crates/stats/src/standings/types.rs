//! What a session of heats says: the answer to its question, load by load.

use deadheat_model::{
    LoadPoint, TargetId, Warning,
    heat::{Compression, HeatPlan},
    heats::EndReason,
    session::StackFailure,
};
use schemars::JsonSchema;
use serde::Serialize;

use super::TimeSpent;
use crate::{
    heats::{Group, LimitedBy, Look, PairVerdict, Ranking, Settings},
    interval::{Interval, LogMean},
    uneven::Uneven,
};

/// The results of a session of heats.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Standings {
    /// The thresholds used.
    pub settings: Settings,
    /// The loads, in the order of the plan.
    pub loads: Vec<LoadStandings>,
    /// Stacks that could not be measured at all.
    pub absent: Vec<Absent>,
    /// Published tables that the session repeats, each with the measured figures.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub published: Vec<TableSides>,
    /// How the stacks start: a table for each CPU budget, the largest first, then one of yardsticks. Empty if they ran
    /// already.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub starts: Vec<StartTable>,
    /// How the session's time was spent.
    pub time: TimeSpent,
    /// Warnings and notes about the figures, the gravest first. The report includes them in its own list.
    #[serde(skip)]
    pub warnings: Vec<Warning>,
    /// Why the session ended; `None` while it is running, or if it was killed.
    pub end: Option<EndReason>,
}

impl Standings {
    /// The loads with heats of their own.
    pub fn leading(&self) -> impl Iterator<Item = &LoadStandings> + Clone {
        self.loads.iter().filter(|load| load.leads())
    }
}

/// A workload at a load point.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct LoadStandings {
    /// The workload's id.
    pub workload: String,
    /// What it exercises.
    pub description: String,
    /// The load point.
    pub point: LoadPoint,
    /// The measure that stacks are ranked by.
    pub measure: Measure,
    /// Equal work: the rate that each stack is offered, in requests per second. `None` in a closed loop, and until the
    /// rate is known.
    pub offered_per_second: Option<f64>,
    /// The members by their numbers: the stacks, then the null server, then the twin.
    pub members: Vec<TargetId>,
    /// Complete heats.
    pub heats: u32,
    /// The look that the verdicts are based on, which counts the first [`Look::heats`] heats. `None` with too few heats
    /// for a verdict; estimates then use all complete heats.
    pub look: Option<Look>,
    /// A table for each CPU budget, the largest first: only stacks with the same budget are ranked together. Then one
    /// of yardsticks, if there are any.
    pub tables: Vec<Table>,
    /// The gains of stacks from more CPUs, if each was measured at several budgets; closed loops only.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub scaling: Vec<Scaling>,
    /// Stacks that were planned here and have no place in any table.
    pub lacking: Vec<Absent>,
    /// The null server's throughput in answers per second: the maximum of this generator on this machine.
    pub ceiling_per_second: Option<f64>,
    /// The null server's throughput in each of its heats.
    pub null_server_series: Vec<HeatFigure>,
    /// A stack next to its own copy (A/A).
    pub twin: Option<Twin>,
    /// The plan of the last heat.
    pub heat: HeatPlan,
    /// How long slices were; `None` without any.
    pub slices: Option<crate::heats::recorded::SliceLengths>,
    /// Whether more heats would not change any verdict.
    pub settled: bool,
}

impl LoadStandings {
    /// Workload and load point in one word ("plaintext:c50").
    pub fn name(&self) -> String {
        format!("{}:{}", self.workload, self.point.id)
    }

    /// Whether the load has heats of its own. Equal work has none.
    pub fn leads(&self) -> bool {
        self.point.is_closed()
    }

    /// Whether the load is equal work in the heats of `closed`.
    pub fn is_measured_with(&self, closed: &Self) -> bool {
        self.workload == closed.workload && self.point.is_in_heats_of(&closed.point)
    }

    /// The table of the largest CPU budget.
    pub fn first_table(&self) -> Option<&Table> {
        self.tables.first()
    }
}

/// The measure that stacks are ranked by at a load.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Measure {
    /// Closed loop: verified answers per second.
    Throughput,
    /// Open loop: the 99th percentile of response time, from the intended start.
    ResponseTime,
}

/// Stacks of one CPU budget, or yardsticks.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Table {
    /// The group that it ranks.
    pub group: Group,
    /// The stacks, the best estimate of [`LoadStandings::measure`] first.
    pub rows: Vec<Row>,
    /// By [`LoadStandings::measure`]. Numbers are places in [`LoadStandings::members`].
    pub ranking: Ranking,
    /// By CPU time per request; its figures are seconds.
    pub cost: Ranking,
    /// Open loop: by the median of response time, in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p50: Option<Ranking>,
    /// The median of its rows' half widths (0.03: ±3 %).
    pub half_width: Option<f64>,
}

/// A stack in a table.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Row {
    /// Its number.
    pub member: usize,
    /// The stack, under its variant.
    pub target: TargetId,
    /// Verified answers per second: in a closed loop the estimate, in an open loop the answered part of the offered
    /// rate.
    pub throughput_per_second: Figure,
    /// CPU time of its process tree per verified answer, in microseconds.
    pub cpu_us_per_request: Option<Figure>,
    /// Closed loop: the mean of service time by Little's law, connections ÷ throughput, in seconds.
    pub mean_seconds: Option<f64>,
    /// The median in seconds: of response time in an open loop; of service time in a closed loop. Service time there is
    /// mostly the queueing of busy connections, so it has no rank.
    pub p50_seconds: Option<Figure>,
    /// Its 99th percentile, in seconds.
    pub p99_seconds: Option<Figure>,
    /// Closed loop: how unevenly its connections were served; `None` if they were served evenly.
    pub uneven: Option<Uneven>,
    /// How many times better the best of the table is, 1 or more, at the table's level. `None` for the best itself, or
    /// if they cannot be compared.
    pub behind: Option<Behind>,
    /// Half the width of the interval of the ratio to the best stack that is not a lower bound; for that stack, of the
    /// ratio to the next one (0.03: ±3 %). `None` if the stack is a lower bound or cannot be compared.
    pub half_width: Option<f64>,
    /// The spread between its heats, each with a fresh process, relative to the other stacks: the standard deviation of
    /// the figure that it is ranked by, which includes the noise of a heat (0.03: 3 %). `None` with too few heats.
    pub spread: Option<f64>,
    /// Memory of its process tree.
    pub memory: Memory,
    /// Heats in which it was not steady: at the end of its warm-up, or because it still became faster while it was
    /// counted.
    pub unsteady_heats: u32,
    /// At a rate: the heats in which it did not take the rate, in words; at most half of its heats.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overloads: Option<String>,
    /// Whether response times are left out, because the rate is near its capacity, or its turns began with a queue from before
    /// they counted.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub near_capacity: bool,
    /// Counted heats in which it took part.
    pub heats: u32,
    /// Slices that count.
    pub slices: u32,
    /// Whether it was without load for longer than servers keep idle connections before more than a few of its slices.
    pub often_late: bool,
    /// Slices that were discarded: the machine slept or was disturbed in their round, or the member failed later in the same
    /// heat.
    pub discarded_slices: u32,
    /// Verified answers in counted slices.
    pub answers: u64,
    /// Requests that failed in counted slices.
    pub failed_requests: u64,
    /// Connections that had to be made again.
    pub reconnected: u64,
    /// The share of its CPUs' time that the server was busy (0 to 1): the median over slices.
    pub busy: Option<f64>,
    /// The limit in most slices.
    pub limited_by: Option<LimitedBy>,
    /// Heats in which it failed, each with the reason. These heats do not count for it.
    pub failures: Vec<String>,
    /// The figures of each route, if the workload has several.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub routes: Vec<Route>,
    /// How much shorter compression makes an answer, if the workload asks for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compression: Option<Compression>,
    /// Writes that it acknowledged and the database had after each heat; `None` if it writes nothing, or they were not
    /// compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub writes: Option<u64>,
    /// Its throughput in each counted heat, in order.
    pub series: Vec<HeatFigure>,
}

/// The figures of a stack for one of several routes, over all counted heats.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Route {
    /// "GET /items/ID".
    pub route: String,
    /// Verified answers.
    pub answers: u64,
    /// Requests that failed.
    pub failed_requests: u64,
    /// The median of service time, in seconds.
    pub p50_seconds: Option<f64>,
    /// Its 99th percentile, in seconds; `None` with fewer than 100 answers beyond it.
    pub p99_seconds: Option<f64>,
}

/// The figures of a stack with several budgets of CPUs.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Scaling {
    /// The stack, under its variant, without a budget.
    pub target: TargetId,
    /// Its budgets, the smallest first.
    pub budgets: Vec<AtBudget>,
}

/// The figures of a stack with one budget of CPUs.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct AtBudget {
    /// The number of CPUs.
    pub cpus: u32,
    /// The number of the member that had them.
    pub member: usize,
    /// Verified answers per second.
    pub per_second: f64,
    /// Whether that is only a lower bound, because the generator was the limit.
    pub is_bound: bool,
    /// CPU time of its process tree per verified answer, in microseconds.
    pub cpu_us_per_request: Option<f64>,
    /// Heats behind these figures.
    pub heats: u32,
    /// The gain over the smallest budget; `None` for the smallest one itself, or if they cannot be compared.
    pub gain: Option<Gain>,
}

/// The gain of a stack from a larger budget of CPUs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Gain {
    /// Throughput over that with the smallest budget: 2 is twice as much.
    pub ratio: f64,
    /// The interval of it; all of a load hold together. An end that a lower bound leaves open is 0 or ∞ (null in JSON).
    /// `None` as long as there are too few heats for a verdict.
    pub interval: Option<Interval>,
    /// Whether the ratio is only a lower bound: the generator was the limit at the larger budget, or had fewer CPUs
    /// there than at the smallest one.
    pub is_bound: bool,
    /// The ratio over that of the CPUs: 1 if twice the CPUs give twice the throughput.
    pub efficiency: f64,
    /// The verdict on the larger budget compared with the smallest.
    pub verdict: PairVerdict,
}

/// A heat of a member.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct HeatFigure {
    /// The heat's number in the session, from 0.
    pub heat: u32,
    /// Verified answers per second over all of its slices that count.
    pub per_second: f64,
}

/// A figure with its place.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Figure {
    /// The estimate, in the unit that the field names.
    pub value: f64,
    /// The best and the worst rank that it can have, from 1; `None` where it has no place in the ranking.
    pub rank: Option<crate::heats::Rank>,
    /// Whether the value is only a lower bound, because the generator was the limit.
    pub is_bound: bool,
}

impl Figure {
    pub(super) const fn unranked(value: f64) -> Self {
        Self {
            value,
            rank: None,
            is_bound: false,
        }
    }
}

/// The ratio of a stack to the best of its table.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Behind {
    /// How many times better the best is.
    pub ratio: f64,
    /// The interval of it. An end that a lower bound leaves open is 0 or ∞ (null in JSON).
    pub interval: Option<Interval>,
    /// The verdict on the best compared with this stack.
    pub verdict: PairVerdict,
}

impl Behind {
    /// The ratio of a member to the best of a ranking; `None` for the best itself, or if they cannot be compared.
    pub fn new(ranking: &Ranking, member: usize) -> Option<Self> {
        let best = ranking.places.first()?.member;
        let mut pairs = ranking.pairs.iter();
        let pair = pairs.find(|pair| (pair.better, pair.worse) == (best, member))?;
        Some(Self {
            ratio: pair.ratio?,
            interval: pair.interval,
            verdict: pair.verdict,
        })
    }
}

/// Bytes of memory (PSS of the process tree): medians over heats.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Memory {
    /// The mean over the rounds.
    pub mean_bytes: Option<f64>,
    /// The largest that was read in the rounds.
    pub peak_bytes: Option<f64>,
    /// Heats behind these: those whose process had served no other load before.
    pub heats: u32,
}

/// Stacks of one CPU budget, or yardsticks, by how they start.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct StartTable {
    /// The group that it ranks.
    pub group: Group,
    /// The stacks, the first to answer first.
    pub rows: Vec<StartRow>,
}

/// How a stack starts. Each heat is a fresh start, and has one value of each figure.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct StartRow {
    /// The stack, under its variant.
    pub target: TargetId,
    /// Starts that reached a right answer, over all loads. A start does not depend on the load that follows.
    pub starts: u32,
    /// Starts that did not reach a right answer.
    pub failed_starts: u32,
    /// From the process's start to its first right answer, in seconds.
    pub first_answer_seconds: StartFigure,
    /// Memory (PSS of the process tree) right after that, in bytes.
    pub memory_at_rest_bytes: Option<StartFigure>,
    /// The warm-up at each closed loop, in the order of the plan.
    pub loads: Vec<StartAtLoad>,
}

impl StartRow {
    /// The warm-up at a load.
    pub fn at(&self, workload: &str, point: &str) -> Option<&StartAtLoad> {
        let mut loads = self.loads.iter();
        loads.find(|load| load.workload == workload && load.point == point)
    }
}

/// A stack's first load after its starts.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct StartAtLoad {
    /// The workload's id.
    pub workload: String,
    /// The load point's id.
    pub point: String,
    /// Starts that this load followed.
    pub starts: u32,
    /// Of these, the ones after which the stack was not steady at the end of its warm-up.
    pub unsteady_starts: u32,
    /// If most starts were not steady: the median time from the start to the end of the warm-up, in seconds. The stack
    /// then has no time to steady.
    pub not_steady_after_seconds: Option<f64>,
    /// Start, and load until throughput and CPU time per answer were within 10 % of what they were at the end of the
    /// warm-up, in seconds. Checks of answers between the two are not in it.
    pub time_to_steady_seconds: Option<StartFigure>,
    /// CPU time of the process tree from its start until then, in seconds.
    pub cpu_to_steady_seconds: Option<StartFigure>,
    /// The 99th percentile of service time of the first answers, in seconds, with a 95 % interval over the starts. Like
    /// all percentiles of a closed loop, it is not ranked. `None` with fewer than 1,000 answers.
    pub first_p99_seconds: Option<LogMean>,
    /// The number of these answers: the minimum and the maximum of a start. They are whole slices of the warm-up.
    pub first_answers: Option<[u64; 2]>,
}

/// A figure of starts with its place among the stacks of its table.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct StartFigure {
    /// The estimate for a typical heat of the session, in the unit that the field names.
    pub value: f64,
    /// The best and the worst rank that it can have, from 1; less is better. `None` for a yardstick.
    pub rank: Option<crate::heats::Rank>,
    /// Whether the value is an upper bound, because the true time was too short to measure.
    pub is_upper_bound: bool,
    /// How many times less the best one needs.
    pub behind: Option<Behind>,
    /// Half the width of the interval of its ratio to the best (0.03: ±3 %), as of a [`Row`].
    pub half_width: Option<f64>,
}

/// A stack next to its own copy (A/A).
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Twin {
    /// The stacks that had a twin; the ratio is over all of them.
    pub of: Vec<TargetId>,
    /// Heats with a twin.
    pub heats: u32,
    /// How many times the twin's throughput (or response time) was that of its original: 1 if the method is fair. The
    /// geometric mean over these heats.
    pub ratio: f64,
    /// The 95 % interval of it (Student); `None` with fewer than 3 heats.
    pub interval: Option<Interval>,
    /// The verdict on the twin compared with its original, by the rules for any pair.
    pub verdict: PairVerdict,
}

impl Twin {
    /// Whether the interval excludes 1, which casts doubt on other differences of that size.
    pub fn differs(&self) -> bool {
        matches!(self.verdict, PairVerdict::Faster | PairVerdict::Slower)
    }
}

/// A stack that has no figure.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Absent {
    /// The stack, under its variant.
    pub target: TargetId,
    /// What became of it.
    pub is: AbsentBecause,
    /// Why, in a sentence.
    pub reason: String,
    /// The command that would change that, if it is known.
    pub remedy: Option<String>,
    /// The last lines of the server's or the build's output, if it failed.
    pub log: Vec<String>,
}

impl Absent {
    /// A stack that failed, with the last lines of its output.
    pub(super) fn failed(target: &TargetId, failure: &StackFailure) -> Self {
        Self {
            target: target.clone(),
            is: AbsentBecause::Failed,
            reason: failure.in_words(),
            remedy: None,
            log: failure.log_tail.clone(),
        }
    }
}

/// Why a stack has no figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AbsentBecause {
    /// Something that the stack needs is missing.
    Unavailable,
    /// The stack could not be built, started or verified, or it failed under load.
    Failed,
    /// The stack does not have what the load requires.
    NotOffered,
    /// The stack has had no heat yet.
    NotMeasured,
    /// The stack cannot take the rate at which all stacks are loaded.
    Overloaded,
}

/// A published table with the measured figures.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct TableSides {
    /// The document's id.
    pub document: String,
    /// The table's id.
    pub table: String,
    /// The name of the row that ratios are against.
    pub baseline: String,
    /// The rows, in the document's order.
    pub rows: Vec<RowSides>,
}

/// A row on both sides.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct RowSides {
    /// Its name in the document.
    pub name: String,
    /// The stack that represents it here.
    pub target: TargetId,
    /// The published figure, valid or not.
    pub published_per_second: Option<f64>,
    /// Whether it can be compared with others.
    pub published_valid: bool,
    /// The published figure over the baseline's. One run of each: there is no interval.
    pub published_ratio: Option<f64>,
    /// What was measured.
    pub measured: MeasuredSide,
    /// The measured figure over the baseline's; `None` for the baseline itself, and if one of the two is missing.
    pub measured_ratio: Option<MeasuredRatio>,
    /// The agreement of both ratios; `None` if one is unknown, or the measured one has no interval.
    pub agreement: Option<Agreement>,
}

/// The measured side of a published row.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "is", rename_all = "kebab-case")]
pub enum MeasuredSide {
    /// The stack was not planned.
    LeftOut {
        /// Why.
        reason: String,
    },
    /// The stack has no figure.
    Absent {
        /// What became of it.
        because: AbsentBecause,
        /// Why, in a sentence.
        reason: String,
        /// The command that would change that, if it is known.
        remedy: Option<String>,
    },
    /// The stack was measured.
    Measured {
        /// Verified answers per second.
        per_second: f64,
        /// Whether that is only a lower bound, because the generator was the limit.
        is_bound: bool,
    },
}

/// A measured ratio.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct MeasuredRatio {
    /// The ratio: from heats with both if the ranking of their load compares them, else that of their estimates.
    pub ratio: f64,
    /// The interval of it, at the level of the ranking. `None` if the ranking does not compare them, for a bound, and
    /// as long as there are too few heats for a verdict.
    pub interval: Option<Interval>,
    /// Whether it is the ratio itself.
    pub bound: Bound,
}

/// The kind of bound that a ratio is, if a figure in it is a lower bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Bound {
    /// Neither figure is a lower bound.
    Exact,
    /// The row's figure is a lower bound: the ratio is this or more.
    AtLeast,
    /// The baseline's figure is a lower bound: the ratio is this or less.
    AtMost,
}

/// The position of a published ratio relative to the interval of the measured one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Agreement {
    /// The published ratio lies inside.
    Within,
    /// The measured ratio is higher.
    Higher,
    /// The measured ratio is lower.
    Lower,
    /// The measured ratio is on the other side of 1: the order is reversed.
    Reversed,
}
