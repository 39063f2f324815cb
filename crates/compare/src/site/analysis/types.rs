//! The data of the site. The pages show it, and readers download it.
//!
//! Figures have five significant digits. The logarithms of ratios and the half widths of their intervals are whole
//! numbers, in units of 0.0000001: a session of 30 stacks has 435 pairs for each load.

use deadheat_model::{
    TargetId,
    change::Change,
    heats::EndReason,
    session::FoundVersion,
    stack::{Class, Database, Runtime, StackRole},
};
use deadheat_stats::{
    comparison::Metric,
    heats::{Group, Rank},
    standings::{Absent, Measure},
};
use schemars::JsonSchema;
use serde::Serialize;

/// What the site has: its sessions, stacks and loads.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct SiteIndex {
    /// The sessions, oldest first.
    pub sessions: Vec<IndexedSession>,
    /// Every stack of any session, by name.
    pub stacks: Vec<IndexedStack>,
    /// Every load of any session ("plaintext:c50"), by name.
    pub loads: Vec<String>,
    /// The stack that timelines are drawn relative to.
    pub reference: Option<TargetId>,
    /// The pairs of sessions that are compared: places in `sessions`, the older one first.
    pub comparisons: Vec<[usize; 2]>,
}

/// A session, as the index has it.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct IndexedSession {
    /// Its id.
    pub id: String,
    /// When it started (RFC 3339, UTC).
    pub started: String,
    /// Its folder on the site, relative to `data` and `records`: the kind of machine, then the session. Sessions of
    /// one kind of machine are compared.
    pub folder: String,
    /// The kind of machine, in words.
    pub machine: String,
    /// The number of stacks with a figure.
    pub stacks: usize,
    /// The number of stacks without any figure.
    pub absent: usize,
    /// Its loads, as places in the index's list.
    pub loads: Vec<usize>,
    /// The files of its records.
    pub records: Vec<String>,
}

/// A stack, as the index has it.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct IndexedStack {
    /// The stack, under its variant.
    pub target: TargetId,
    /// The name of its files on the site, without ending.
    pub file: String,
}

/// A session: every stack at every load.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct SiteSession {
    /// The session's id.
    pub id: String,
    /// When it started (RFC 3339, UTC).
    pub started: String,
    /// Why the session ended; null while it is running, or if it was killed.
    pub ended: Option<EndReason>,
    /// Deadheat's version.
    pub deadheat: String,
    /// The commit of the stacks' sources.
    pub commit: Option<String>,
    /// The command that repeats the session.
    pub command: String,
    /// The command that repeats the figures of each stack alone.
    #[serde(skip)]
    pub repeat_stack: Vec<(TargetId, String)>,
    /// The machine: names and values.
    pub machine: Vec<(String, String)>,
    /// The share of rankings that may claim a wrong order (0 to 1).
    pub alpha: f64,
    /// Two stacks whose ratio lies between 1/(1 + this) and 1 + this are as good as equal.
    pub margin: f64,
    /// The fewest heats with which a pair can be a dead heat.
    pub least_heats: u32,
    /// The price of a CPU for an hour that the session was given, in any currency.
    pub price_per_cpu_hour: Option<f64>,
    /// What may change a decision, such as an early end.
    pub warnings: Vec<String>,
    /// The stacks that were asked for.
    pub stacks: Vec<SiteStack>,
    /// The loads.
    pub loads: Vec<SiteLoad>,
    /// Stacks that could not be measured at all. Of a stack that was measured, workloads that no stack answers.
    pub absent: Vec<Absent>,
}

/// A stack in a session.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct SiteStack {
    /// The stack, under its variant.
    pub target: TargetId,
    /// The language.
    pub language: String,
    /// The framework.
    pub framework: String,
    /// How much of a web application it provides.
    pub class: Class,
    /// What it takes part as.
    pub role: StackRole,
    /// How the code is executed.
    pub runtime: Runtime,
    /// What the variant changes, such as processes and threads.
    pub variant: Option<String>,
    /// How it reaches the database, if it does.
    pub database: Option<Database>,
    /// Its database access in words.
    pub database_access: String,
    /// Versions found.
    pub versions: Vec<FoundVersion>,
    /// What it cannot do or deviates in.
    pub limits: Vec<String>,
    /// A hash of its sources.
    pub sources: Option<String>,
    /// Whether it is one of the project's own stacks.
    pub is_own: bool,
    /// The command that started it, from its last heat.
    pub command: Vec<String>,
    /// From the process's start to its first right answer.
    pub first_answer_seconds: Option<RankedFigure>,
    /// Memory right after that.
    pub memory_at_rest_bytes: Option<RankedFigure>,
}

/// A figure with the ranks that it can have.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct RankedFigure {
    /// The figure.
    pub value: f64,
    /// Its ranks; null: it has none.
    pub rank: Option<Rank>,
    /// Whether it is only a bound: of throughput a lower one, of a start an upper one.
    pub is_bound: bool,
}

/// A load of a session.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct SiteLoad {
    /// Workload and load point ("plaintext:c50").
    pub name: String,
    /// The name in a sentence ("plaintext", "users at 2,000/s").
    pub label: String,
    /// The workload's id.
    pub workload: String,
    /// What it exercises.
    pub description: String,
    /// What stacks are ranked by.
    pub measure: Measure,
    /// Of equal work: the load that has the heats.
    pub equal_work_of: Option<String>,
    /// Of equal work: the rate that each stack is offered, in requests per second.
    pub offered_per_second: Option<f64>,
    /// Complete heats.
    pub heats: u32,
    /// Heats behind the verdicts; null: there are too few for any.
    pub judged_heats: Option<u32>,
    /// By how much a stack and its copy in the same heats (A/A) differ, if that is proven, as a share.
    pub copies_differ: Option<f64>,
    /// Loads with the same number share their starts, so that their errors are not independent.
    pub shared_starts: Option<u32>,
    /// A table for each CPU budget, the largest first, then one of yardsticks.
    pub tables: Vec<SiteTable>,
    /// Stacks that were to be measured here and have no place in any table.
    pub absent: Vec<Absent>,
}

/// Stacks that are ranked together.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct SiteTable {
    /// The group.
    pub group: Group,
    /// The stacks, the best first.
    pub rows: Vec<SiteRow>,
}

/// A stack at a load.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct SiteRow {
    /// Its place in the session's list of stacks.
    pub stack: usize,
    /// Verified answers per second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub per_second: Option<RankedFigure>,
    /// CPU time per request in microseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_us: Option<RankedFigure>,
    /// Equal work: the median response time in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p50_seconds: Option<RankedFigure>,
    /// Equal work: the 99th percentile of response time in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p99_seconds: Option<RankedFigure>,
    /// The most memory that its processes had in a heat: the median over heats.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub peak_bytes: Option<f64>,
    /// Heats that count.
    pub heats: u32,
    /// Requests that failed.
    pub failed_requests: u64,
    /// Heats in which it failed, each with the reason.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub failures: Vec<String>,
}

/// Every pair of stacks at a load of a session.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct SitePairs {
    /// The session's id.
    pub session: String,
    /// The load's name.
    pub load: String,
    /// The rankings of each table, in the order of the session's tables.
    pub tables: Vec<TablePairs>,
}

/// The pairs of a table.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct TablePairs {
    /// By what the load is ranked by.
    pub main: RankingPairs,
    /// By CPU time per request.
    pub cost: RankingPairs,
    /// Equal work: by the median response time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p50: Option<RankingPairs>,
}

/// All pairs of a ranking. They are those of the first member with each after it, then of the second, and so on.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct RankingPairs {
    /// The members, the best first, as places in the session's list of stacks.
    pub stacks: Vec<usize>,
    /// The logarithm of how many times better each is than the last one.
    pub log: Vec<i64>,
    /// Whether each figure is only a lower bound.
    pub is_bound: Vec<bool>,
    /// Heats behind each.
    pub heats: Vec<usize>,
    /// The half width of each pair's interval alone, for readers who picked the pair beforehand; null: open or unknown.
    pub alone: Vec<Option<i64>>,
    /// The half width of the interval that holds together with those of all pairs.
    pub together: Vec<Option<i64>>,
    /// The verdict of each pair alone, a letter each: F, the better one is faster (or cheaper); S, slower; D, dead
    /// heat; U, undecided; -, they cannot be compared.
    pub verdicts_alone: String,
    /// The verdicts that hold together.
    pub verdicts_together: String,
}

/// A stack over all sessions.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct SiteTimeline {
    /// The stack, under its variant.
    pub target: TargetId,
    /// Its series, one for each closed loop.
    pub series: Vec<SiteSeries>,
}

/// A stack at a load over all sessions.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct SiteSeries {
    /// The load's name.
    pub load: String,
    /// A point for each session that was to measure it, oldest first.
    pub points: Vec<SitePoint>,
}

/// A stack at a load in one session.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct SitePoint {
    /// The session's place in the index.
    pub session: usize,
    /// Answers per second: the geometric mean over heats, with the ends of its 95 % interval.
    pub per_second: Option<Ends>,
    /// The same as a multiple of the null server's.
    pub of_null_server: Option<Ends>,
    /// The same as a multiple of the reference stack's.
    pub of_reference: Option<Ends>,
    /// Its ranks, and the number of stacks in the ranking.
    pub rank: Option<(usize, usize, usize)>,
    /// Whether the figure is only a lower bound.
    pub is_bound: bool,
    /// Why it has no figure.
    pub absent: Option<String>,
    /// How it compares with its point before on the same kind of machine.
    pub step: Option<SiteStep>,
    /// What changed since its point before that can be a reason.
    pub changes: Vec<Change>,
}

/// A figure with the ends of its interval; null: too few heats for one.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Ends(pub f64, pub Option<f64>, pub Option<f64>);

/// A point compared with the one before on the same kind of machine.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct SiteStep {
    /// The place of the session before.
    pub since: usize,
    /// What is known.
    pub verdict: StepVerdict,
    /// The ratio of throughputs with the ends of its interval.
    pub ratio: Option<Ends>,
    /// Why there is no verdict, or what differs between the conditions.
    pub because: Option<String>,
    /// Warnings about the load: the difference may come from the machine.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// What a step says of a stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum StepVerdict {
    /// It became faster.
    Faster,
    /// It became slower.
    Slower,
    /// As good as equal.
    DeadHeat,
    /// Neither is proven.
    Undecided,
    /// The conditions differ, or one session has no figure.
    NotCompared,
}

/// A session compared with an older one on the same kind of machine.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct SiteComparison {
    /// The older session's id.
    pub a: String,
    /// The newer session's id.
    pub b: String,
    /// Differences of machine, settings and Deadheat. They would be in every ratio, so the stacks and loads that they
    /// are about have no verdict.
    pub conditions: Vec<Change>,
    /// Differences that are what is compared: versions, sources, stacks and loads.
    pub differences: Vec<Change>,
    /// What a reader must know before the figures.
    pub warnings: Vec<String>,
    /// Those of the warnings that are about a load, each with the load's name.
    #[serde(skip)]
    pub load_warnings: Vec<(String, String)>,
    /// The loads of the cells, by name.
    pub loads: Vec<String>,
    /// The stacks of the cells.
    pub stacks: Vec<TargetId>,
    /// What was compared.
    pub cells: Vec<ComparedCell>,
    /// What was not, with the reason.
    pub not_compared: Vec<NotComparedCell>,
}

/// A stack at a load in two sessions.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ComparedCell {
    /// The stack's place in the comparison's list.
    pub stack: usize,
    /// The load's place.
    pub load: usize,
    /// What is said of the newer session.
    pub verdict: StepVerdict,
    /// The metrics that both have. The first decides.
    pub ratios: Vec<MetricRatio>,
}

/// A metric in two sessions.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct MetricRatio {
    /// Which.
    pub metric: Metric,
    /// The older session's figure.
    pub a: f64,
    /// The newer session's figure.
    pub b: f64,
    /// B over A, with the ends of its interval. With them, it is divided by that of stacks that are the same in both
    /// sessions.
    pub ratio: Ends,
    /// What is said of B.
    pub verdict: StepVerdict,
    /// The p value after Holm's correction.
    pub p: Option<f64>,
}

/// A stack at a load that was not compared.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct NotComparedCell {
    /// The stack.
    pub target: TargetId,
    /// The load's name.
    pub load: String,
    /// Why.
    pub reason: String,
}

/// A figure with five significant digits.
pub fn rounded(value: f64) -> f64 {
    format!("{value:.4e}").parse().unwrap_or(value)
}
