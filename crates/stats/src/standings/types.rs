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
    heats::{Group, LimitedBy, Look, Ranking, Settings, Verdict},
    interval::{Interval, LogMean},
    uneven::Uneven,
};

/// What a session of heats says.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Standings {
    /// The thresholds used.
    pub settings: Settings,
    /// The loads, in the order of the plan.
    pub loads: Vec<LoadStandings>,
    /// Stacks that could not be measured at all.
    pub absent: Vec<Absent>,
    /// Published tables that the session repeats, each beside what was measured.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub published: Vec<TableSides>,
    /// How the stacks start: a table for each CPU budget, the largest first, then one of yardsticks. Empty if they ran
    /// already.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub starts: Vec<StartTable>,
    /// Where the time went.
    pub time: TimeSpent,
    /// What may change a decision or helps to read the figures, the gravest first. The report has them among its own.
    #[serde(skip)]
    pub warnings: Vec<Warning>,
    /// Why the session ended; `None`: it goes on, or was killed.
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
    /// What the stacks are ranked by.
    pub measure: Measure,
    /// Equal work: the rate that each stack is offered, in requests per second. `None` in a closed loop, and as long as it
    /// is not known.
    pub offered_per_second: Option<f64>,
    /// The members by their numbers: the stacks, then the null server, then the twin.
    pub members: Vec<TargetId>,
    /// Complete heats.
    pub heats: u32,
    /// The look that the verdicts are of, which counts the first [`Look::heats`] heats. `None`: there are too few heats
    /// for any verdict; estimates are of all complete heats then.
    pub look: Option<Look>,
    /// A table for each CPU budget, the largest first: only stacks with the same budget are ranked together. Then one of
    /// yardsticks, if there are any.
    pub tables: Vec<Table>,
    /// What stacks gain from more CPUs, if each was measured at several budgets; closed loops alone.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub scaling: Vec<Scaling>,
    /// Stacks that were to be measured here and have no place in any table.
    pub lacking: Vec<Absent>,
    /// What the null server answered per second here: the most that this generator can load on this machine.
    pub ceiling_per_second: Option<f64>,
    /// What the null server answered in each of its heats.
    pub ceiling_course: Vec<HeatFigure>,
    /// A stack beside itself (A/A).
    pub twin: Option<Twin>,
    /// What the last heat was to do, at least.
    pub heat: HeatPlan,
    /// How long slices were; `None` without any.
    pub slices: Option<crate::heats::recorded::SliceLengths>,
    /// Whether more heats would decide nothing more.
    pub settled: bool,
}

impl LoadStandings {
    /// Workload and load point in one word ("plaintext:c50").
    pub fn name(&self) -> String {
        format!("{}:{}", self.workload, self.point.id)
    }

    /// Whether it has heats of its own. Equal work has not.
    pub fn leads(&self) -> bool {
        self.point.is_closed()
    }

    /// Whether it is equal work in the heats of `closed`.
    pub fn is_measured_with(&self, closed: &Self) -> bool {
        self.workload == closed.workload && self.point.is_in_heats_of(&closed.point)
    }

    /// The table of the largest CPU budget.
    pub fn first_table(&self) -> Option<&Table> {
        self.tables.first()
    }
}

/// What stacks are ranked by at a load.
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
    /// Verified answers per second: in a closed loop the estimate, in an open loop what came of the offered rate.
    pub throughput_per_second: Figure,
    /// CPU time of its process tree per verified answer, in microseconds.
    pub cpu_us_per_request: Option<Figure>,
    /// Closed loop: the mean of service time by Little's law, connections ÷ throughput, in seconds.
    pub mean_seconds: Option<f64>,
    /// The median of response time in an open loop, in seconds. In a closed loop that of service time, the queueing of
    /// connections that always wait, which has no rank.
    pub p50_seconds: Option<Figure>,
    /// Its 99th percentile, in seconds.
    pub p99_seconds: Option<Figure>,
    /// Closed loop: how its connections were served unevenly, if so.
    pub uneven: Option<Uneven>,
    /// How the best of the table stands to it, at the table's level: how many times better, 1 or more. `None` for the best
    /// itself, or if they cannot be compared.
    pub behind: Option<Behind>,
    /// Half the width of the interval of its ratio to the best that is no lower bound; of that one itself, to the next
    /// such (0.03: ±3 %). `None`: it is a lower bound, or cannot be compared.
    pub half_width: Option<f64>,
    /// How far its heats, each with a process of its own, are from each other beside the other stacks': the standard deviation
    /// of what it is ranked by, of which the noise of a heat is a part (0.03: 3 %). `None` with too few heats.
    pub spread: Option<f64>,
    /// Memory of its process tree.
    pub memory: Memory,
    /// Heats in which it was not steady: at the end of its warm-up, or because it still became faster while it was
    /// counted.
    pub unsteady_heats: u32,
    /// At a rate: the heats in which it did not take it, in words. They are not most of its heats.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overloads: Option<String>,
    /// Whether the rate is so near to its capacity that turns say little of response times: it has none then.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub near_capacity: bool,
    /// Complete heats that count in which it took part.
    pub heats: u32,
    /// Slices that count.
    pub slices: u32,
    /// Whether it was without load for longer than servers keep idle connections before more than a few of its slices.
    pub often_late: bool,
    /// Slices that were discarded: the machine slept in their round, or the member failed later in the same heat.
    pub discarded_slices: u32,
    /// Verified answers in counted slices.
    pub answers: u64,
    /// Requests that failed in them.
    pub failed_requests: u64,
    /// Connections that had to be made again.
    pub reconnected: u64,
    /// The share of its CPUs' time that the server was busy (0 to 1): the median over slices.
    pub busy: Option<f64>,
    /// What the limit was in most slices.
    pub limited_by: Option<LimitedBy>,
    /// Heats in which it failed, each with the reason; it counts for nothing in these.
    pub failures: Vec<String>,
    /// What it did of each route, if the workload has several.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub routes: Vec<Route>,
    /// How much shorter compression makes an answer, if the workload asks for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compression: Option<Compression>,
    /// Writes that it acknowledged and the database had after each heat; `None` if it writes nothing, or they were not compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub writes: Option<u64>,
    /// What it answered in each heat that counts, in their order.
    pub course: Vec<HeatFigure>,
}

/// What a stack did of one of several routes, over all heats that count.
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

/// What a stack does with several budgets of CPUs.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Scaling {
    /// The stack, under its variant, without a budget.
    pub target: TargetId,
    /// Its budgets, the smallest first.
    pub budgets: Vec<AtBudget>,
}

/// What a stack does with a budget of CPUs.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct AtBudget {
    /// The CPUs that it was given.
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
    /// What it gains over the smallest budget; `None` for that one itself, or if they cannot be compared.
    pub gain: Option<Gain>,
}

/// What a stack gains from a larger budget of CPUs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Gain {
    /// Throughput over that with the smallest budget: 2 is twice as much.
    pub ratio: f64,
    /// The interval of it; all of a load hold together. An end that a lower bound leaves open is 0 or ∞ (null in JSON).
    /// `None` as long as there are too few heats for a verdict.
    pub interval: Option<Interval>,
    /// Whether the ratio is only a lower bound: the generator was the limit of the larger budget, or had fewer CPUs beside
    /// it than beside the smallest.
    pub is_bound: bool,
    /// The ratio over that of the CPUs: 1 if twice the CPUs give twice the throughput.
    pub efficiency: f64,
    /// How the larger budget stands to the smallest.
    pub verdict: Verdict,
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

/// How far a stack is behind the best of its table.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Behind {
    /// How many times better the best is.
    pub ratio: f64,
    /// The interval of it. An end that a lower bound leaves open is 0 or ∞ (null in JSON).
    pub interval: Option<Interval>,
    /// How the best stands to this stack.
    pub verdict: Verdict,
}

impl Behind {
    /// How the best of a ranking stands to a member; `None` for the best itself, or if they cannot be compared.
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
    /// Starts that came to a right answer, over all loads: they are the same whatever load follows.
    pub starts: u32,
    /// Starts that did not.
    pub failed_starts: u32,
    /// From the process's start to its first right answer, in seconds.
    pub first_answer_seconds: StartFigure,
    /// Memory (PSS of the process tree) right after that, in bytes.
    pub memory_at_rest_bytes: Option<StartFigure>,
    /// What followed at each closed loop, in the order of the plan.
    pub loads: Vec<StartAtLoad>,
}

impl StartRow {
    /// What followed at a load.
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
    /// If these are most of them: start and load until the end of the warm-up, in seconds, their median. Then the stack has
    /// no time to steady.
    pub not_steady_after_seconds: Option<f64>,
    /// Start, and load until throughput and CPU time per answer were within 10 % of what they were at the end of the warm-up,
    /// in seconds. Checks of answers between the two are not in it.
    pub time_to_steady_seconds: Option<StartFigure>,
    /// CPU time of the process tree from its start until then, in seconds.
    pub cpu_to_steady_seconds: Option<StartFigure>,
    /// The 99th percentile of service time of the first answers, in seconds, with a 95 % interval over the starts. It ranks
    /// nobody, as no percentile of a closed loop does. `None` with fewer than 1,000 answers.
    pub first_p99_seconds: Option<LogMean>,
    /// How many answers these were: the fewest and the most of a start. They are whole slices of the warm-up.
    pub first_answers: Option<[u64; 2]>,
}

/// A figure of starts with its place among the stacks of its table.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct StartFigure {
    /// The estimate, in the unit that the field names: this stack in a heat that is typical for the session.
    pub value: f64,
    /// The best and the worst rank that it can have, from 1; less is better. `None` for a yardstick.
    pub rank: Option<crate::heats::Rank>,
    /// Whether the value is an upper bound: the truth was over before it could be told.
    pub is_upper_bound: bool,
    /// How many times less the best has.
    pub behind: Option<Behind>,
    /// Half the width of the interval of its ratio to the best (0.03: ±3 %), as of a [`Row`].
    pub half_width: Option<f64>,
}

/// A stack beside itself.
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
    /// How the twin stands to its original, by the rules for any pair.
    pub verdict: Verdict,
}

impl Twin {
    /// Whether the interval excludes 1: then other differences of that size are in doubt, too.
    pub fn differs(&self) -> bool {
        matches!(self.verdict, Verdict::Faster | Verdict::Slower)
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
    /// A stack that failed, with its last words.
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
    /// Something that it needs is not here.
    Unavailable,
    /// It could not be built, started or verified, or it failed under load.
    Failed,
    /// It does not have what the load asks for.
    NotOffered,
    /// It had no heat yet.
    NotMeasured,
    /// It cannot take the rate at which all are loaded.
    Overloaded,
}

/// A published table beside what was measured.
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
    /// The stack that stands for it here.
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
    /// How both ratios go together, if both are known and the measured one has an interval.
    pub agreement: Option<Agreement>,
}

/// What was measured for a published row.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "is", rename_all = "kebab-case")]
pub enum MeasuredSide {
    /// Nothing was planned.
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
    /// It was measured.
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
    /// The interval of it, at the level of the ranking. `None` if the ranking does not compare them, for a bound, and as
    /// long as there are too few heats for a verdict.
    pub interval: Option<Interval>,
    /// Whether it is the ratio itself.
    pub bound: Bound,
}

/// What a ratio with a lower bound in it says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Bound {
    /// Neither figure is a lower bound.
    Exact,
    /// The row's is one: the ratio is this or more.
    AtLeast,
    /// The baseline's is one: the ratio is this or less.
    AtMost,
}

/// How a published ratio lies beside the interval of the measured one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Agreement {
    /// It lies inside.
    Within,
    /// The measured ratio is higher.
    Higher,
    /// The measured ratio is lower.
    Lower,
    /// The measured ratio is on the other side of 1: the order is reversed.
    Reversed,
}
