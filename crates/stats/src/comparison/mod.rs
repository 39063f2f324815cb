//! B against A: what `deadheat compare` says.
//!
//! There are several ways here. [`paired`] judges what was measured in heats of both sides, at a declared look
//! ([`crate::sequential`]). [`sessions`] judges two sessions that were measured at two times, [`tool_runs`] runs of
//! other load generators. Records of `deadheat load` are judged in the crate `compare`. All end in a [`Ratio`].
//! [`midpoint`] judges whether a server is nearer to a fast or to a slow one, for `deadheat bisect`.

pub mod alternating;
mod gate;
pub mod midpoint;
pub mod paired;
pub mod sessions;
pub mod tool_runs;

pub use deadheat_model::comparison::Check;
use deadheat_model::{
    TargetId,
    change::Change,
    comparison::{Decide, Side},
    heats::MIN_HEATS,
    warning::{Warning, doubt, note},
};
use schemars::JsonSchema;
use serde::Serialize;

pub use self::{
    gate::{Gate, GateCell, GateOverload, Gated},
    sessions::Movement,
};
use crate::{
    heats::{self, Rule, recorded::SliceLengths},
    interval::{Difference, Interval},
    sequential::{Design, Look},
};

/// The bounds of a comparison. All are fixed in advance and independent of results.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Bounds {
    /// The share of comparisons that may have a wrong verdict (0 to 1).
    pub alpha: f64,
    /// Between two sessions, a difference counts only when the ratio is farther from 1 than this share (0.01: above
    /// 1.01 or below 1/1.01). In the same heats, every proven difference counts.
    pub practical_difference: f64,
    /// That share for response and service times, which scatter more: the histogram's three significant digits, timers
    /// and caches move a percentile by a few percent.
    pub practical_latency: f64,
    /// A dead heat when the whole interval lies within this share of 1 (0.03: from 1/1.03 to 1.03). Of times of two
    /// sessions, and of response times in the same heats, within `practical_latency` if that is more.
    pub margin: f64,
    /// The fewest heats of both with which a pair can be a dead heat, or a slowdown can be excluded.
    pub least_heats: u32,
}

impl Bounds {
    /// The rule for `metric` in the same heats. Every proven difference counts, however small it is. The exception is
    /// the throughput of an open loop, whose ratio is 1 unless a side did not keep up, so its last digits mean nothing.
    pub fn in_heats(&self, metric: Metric, is_open: bool) -> Rule {
        let practical = match metric {
            Metric::Throughput if is_open => self.practical_latency,
            _ => 0.0,
        };
        let is_wide = metric.is_response_time() || practical > 0.0;
        let least = if is_wide { self.practical_latency } else { 0.0 };
        Rule {
            threshold: practical,
            margin: self.margin.max(least),
            least_heats: self.least_heats,
        }
    }

    /// The bounds for runs of a load. They have no minimum number, because runs do not show differences between starts.
    pub fn of_runs(self) -> Self {
        Self {
            least_heats: 0,
            ..self
        }
    }

    /// The rule for `metric` of two sessions.
    pub(crate) fn rule(&self, metric: Metric) -> Rule {
        let (practical, margin) = if metric.is_response_time() {
            (
                self.practical_latency,
                self.margin.max(self.practical_latency),
            )
        } else {
            (self.practical_difference, self.margin)
        };
        Rule {
            threshold: practical,
            margin,
            least_heats: self.least_heats,
        }
    }
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            alpha: 0.05,
            practical_difference: 0.01,
            practical_latency: 0.05,
            margin: 0.03,
            least_heats: MIN_HEATS,
        }
    }
}

/// B against A.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ComparisonAnalysis {
    /// How both sides were measured.
    pub how: Method,
    /// The baseline (A).
    pub a: SideFacts,
    /// The candidate (B).
    pub b: SideFacts,
    /// Whether B is A after a change that has a name, such as a pull request.
    pub is_change: bool,
    /// The bounds used.
    pub bounds: Bounds,
    /// The compared cells.
    pub compared: Vec<Compared>,
    /// The cells that were not compared, each with the reason.
    pub not_compared: Vec<NotCompared>,
    /// Conditions that are the same for both sides: name and value.
    pub conditions: Vec<Fact>,
    /// Intended differences between the two sides: versions, commits, sources, or the set of stacks. `before` is A,
    /// `after` is B.
    pub differences: Vec<Change>,
    /// Warnings about unintended differences between the sides, and about what stacks that are the same in both
    /// sessions moved by.
    pub warnings: Vec<Warning>,
}

impl ComparisonAnalysis {
    /// Whether the figures were judged. Heats are judged only at a declared look.
    pub fn is_judged(&self) -> bool {
        !matches!(self.how, Method::Heats { look: None, .. })
    }

    /// Why measuring ended; `None` if the figures are not of heats of both sides.
    pub fn ended(&self) -> Option<Ended> {
        match self.how {
            Method::Heats { ended, .. } => Some(ended),
            Method::Sessions | Method::Runs { .. } => None,
        }
    }
}

/// One side.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct SideFacts {
    /// The name as typed by the user ("go-nethttp@HEAD~1", "results/…", a URL).
    pub name: String,
    /// Facts about the side: commit, command, versions, time. Name and value.
    pub facts: Vec<Fact>,
    /// The reason why the side could not be measured at all: it did not build, start or answer correctly. `None` if it
    /// was measured.
    pub failed: Option<String>,
}

/// A named fact.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Fact {
    /// What it is.
    pub name: String,
    /// The fact.
    pub value: String,
}

impl Fact {
    /// `value` under `name`.
    pub fn new(name: impl Into<String>, value: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            value: value.into(),
        }
    }
}

/// How both sides were measured.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "is", rename_all = "kebab-case")]
pub enum Method {
    /// Each in its own session, at two times: no heat has both.
    Sessions,
    /// Each in runs of `deadheat load`.
    Runs {
        /// A's runs.
        a: usize,
        /// B's runs.
        b: usize,
    },
    /// In heats: both servers alive at the same time, loaded in turn, a slice at a time.
    Heats {
        /// The looks that were declared in advance.
        design: Design,
        /// The look that the figures are based on; `None` if the session ended before the first look. The figures then
        /// use all complete heats, and there is no verdict.
        look: Option<Look>,
        /// Complete heats at each load.
        heats: u32,
        /// Fresh processes of each side behind the figures; 1 for servers that were already running.
        starts: u32,
        /// The session's folder, as the user would type it.
        folder: String,
        /// How long slices were; `None` without any.
        slices: Option<SliceLengths>,
        /// How long each side was loaded at a rate of equal work in a turn; `None` without any.
        #[serde(skip_serializing_if = "Option::is_none")]
        equal_work: Option<SliceLengths>,
        /// The measuring time, in seconds.
        took_seconds: f64,
        /// Why it ended.
        ended: Ended,
        /// The seed of the orders.
        seed: u64,
    },
}

/// Why measuring ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Ended {
    /// Every cell had a verdict at a look.
    Decided,
    /// The last declared look was taken.
    LooksTaken,
    /// The budget ended before the last declared look; one last look was taken there ([`Design::last_at`]).
    Budget,
    /// SIGINT or SIGTERM. The user may have sent it because of the results so far, so no look was taken.
    Interrupted,
    /// A host or a service was lost, or Deadheat was killed. No look was taken.
    Lost,
    /// One side could no longer be measured.
    Failed,
}

/// The identity of a cell: one stack, workload and load point that both sides have.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub struct CellId {
    /// The stack, where the sides are sessions with stacks in them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<TargetId>,
    /// The workload's id; for a URL or a command the method and the path.
    pub workload: String,
    /// The load point's id; for a URL or a command its connections ("c50").
    pub point: String,
}

impl std::fmt::Display for CellId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if let Some(target) = &self.target {
            write!(f, "{target} ")?;
        }
        write!(f, "{} {}", self.workload, self.point)
    }
}

/// A cell that was compared.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Compared {
    /// What was asked of both.
    #[serde(flatten)]
    pub subject: CellId,
    /// The verdict on B. B is worse if it is worse in a ratio that decides, or if it cannot take a rate that decides
    /// and A can ([`Overloaded::other_side_keeps_up`]). Any other verdict needs all of these to be known: B may be
    /// better in one and worse in the next.
    pub verdict: RatioVerdict,
    /// The quantity that the verdict is about.
    pub decide: Decide,
    /// Rates of equal work, in requests per second.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rates: Vec<f64>,
    /// The ratio of each metric that both sides have.
    pub ratios: Vec<Ratio>,
    /// The number of the first ratios that decide together. The worst of their verdicts is the cell's.
    pub deciding: usize,
    /// The number of figures that share the error, with or without a ratio: those that decide, and those that a check
    /// has a bound for.
    pub tested: usize,
    /// Sides that cannot take a rate of equal work, so that the cell has no ratio there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub overloaded: Vec<Overloaded>,
    /// Notes about the cell.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<Warning>,
}

impl Compared {
    /// The ratios that decide.
    pub fn deciding(&self) -> &[Ratio] {
        &self.ratios[..self.deciding.min(self.ratios.len())]
    }

    /// Sets the verdict that follows from the ratios and rates.
    pub fn judged(self) -> Self {
        let verdict = self.found();
        Self { verdict, ..self }
    }

    fn found(&self) -> RatioVerdict {
        let ratios = self.deciding().iter().map(|ratio| ratio.verdict);
        let rates = self.overloads().map(|[a, b]| match (a, b) {
            (None, Some(b)) if b.other_side_keeps_up => RatioVerdict::Worse,
            (Some(a), None) if a.other_side_keeps_up => RatioVerdict::Better,
            _ => RatioVerdict::NotEnoughData,
        });
        let found: Vec<RatioVerdict> = ratios.chain(rates).collect();
        let has = |verdict| found.contains(&verdict);
        match () {
            () if has(RatioVerdict::Worse) => RatioVerdict::Worse,
            () if found.is_empty() || has(RatioVerdict::NotEnoughData) => {
                RatioVerdict::NotEnoughData
            }
            () if self.lacks().is_some() => RatioVerdict::NotEnoughData,
            () if has(RatioVerdict::Better) => RatioVerdict::Better,
            () => RatioVerdict::DeadHeat,
        }
    }

    /// The metric that a verdict requires; `None` if any metric may decide.
    pub(crate) fn needed(&self) -> Option<Metric> {
        match self.decide {
            Decide::Throughput => None,
            Decide::Cpu => Some(Metric::CpuPerRequest),
            Decide::P99 => Some(Metric::ResponseTimeP99),
        }
    }

    /// The required metric, if it is not known at all rates.
    pub fn lacks(&self) -> Option<Metric> {
        let needed = self.needed()?;
        (self.unknown(needed, self.deciding().iter()) > 0).then_some(needed)
    }

    /// The number of rates that both sides can take but that have no ratio of `metric`; without rates, 1 if there is no
    /// such ratio.
    pub(crate) fn unknown<'r>(
        &self,
        metric: Metric,
        ratios: impl Iterator<Item = &'r Ratio>,
    ) -> usize {
        let found: Vec<&Ratio> = ratios.filter(|ratio| ratio.metric == metric).collect();
        if self.rates.is_empty() {
            return usize::from(found.is_empty() && self.overloaded.is_empty());
        }
        let is_known = |rate: &&f64| {
            found.iter().any(|ratio| ratio.per_second == Some(**rate))
                || self.overloaded.iter().any(|one| one.per_second == **rate)
        };
        self.rates.len() - self.rates.iter().filter(is_known).count()
    }

    /// The deciding rates that A or B cannot take, each with the overloaded sides.
    pub fn overloads(&self) -> impl Iterator<Item = [Option<&Overloaded>; 2]> {
        let rates = self.all_overloads();
        rates.filter(|rate| rate.iter().flatten().any(|one| one.decides))
    }

    /// The rates that A or B cannot take, each with the overloaded sides.
    pub(crate) fn all_overloads(&self) -> impl Iterator<Item = [Option<&Overloaded>; 2]> {
        let same_rate = |one: &Overloaded, next: &Overloaded| one.per_second == next.per_second;
        let rates = self.overloaded.chunk_by(same_rate);
        rates.map(|rate| Side::BOTH.map(|side| rate.iter().find(|one| one.side == side)))
    }

    /// Whether more heats cannot give a verdict, because neither side can take the deciding rates.
    pub(crate) fn is_hopeless(&self) -> bool {
        let cannot = |[a, b]: [Option<&Overloaded>; 2]| a.is_some() && b.is_some();
        self.deciding == 0 && self.overloads().any(cannot)
    }

    /// The ratio behind the verdict: the first deciding ratio with the same verdict.
    pub fn decisive(&self) -> Option<&Ratio> {
        let mut deciding = self.deciding().iter();
        deciding.find(|ratio| ratio.verdict == self.verdict)
    }
}

/// A side that cannot take a rate of equal work: in most of its heats its capacity was lower, or requests waited for
/// longer and longer.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Overloaded {
    /// Which side.
    pub side: Side,
    /// The rate, in requests per second.
    pub per_second: f64,
    /// The number of these heats, and the reason.
    pub reason: String,
    /// Whether this rate decides on the cell.
    pub decides: bool,
    /// Whether the other side took the rate in all of its heats. Two equal servers whose capacity is near the rate take
    /// it only sometimes, so "most heats" of one and not of the other would be chance.
    pub other_side_keeps_up: bool,
}

/// A cell that was not compared.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct NotCompared {
    /// What was asked.
    #[serde(flatten)]
    pub subject: CellId,
    /// Why it was not compared.
    pub reason: String,
    /// Whether B failed in the cell: it did not start, gave wrong answers, or lost requests.
    pub b_failed: bool,
}

/// One metric of B over the same of A.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Ratio {
    /// Which.
    pub metric: Metric,
    /// The rate of equal work at which it was measured, in requests per second, the same for both sides.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub per_second: Option<f64>,
    /// The estimate of A over all its heats, in the metric's unit: of two sessions the geometric mean.
    pub a: f64,
    /// The estimate of B, likewise.
    pub b: f64,
    /// A's heats behind it.
    pub heats_a: usize,
    /// B's heats behind it.
    pub heats_b: usize,
    /// B over A: the geometric mean of the ratios. Of two sessions, divided by that of `unchanged`.
    pub ratio: f64,
    /// The standard error of the ratio's logarithm; `None` with too few heats.
    pub error: Option<f64>,
    /// The standard deviation of the ratio's logarithm between heats, each with fresh processes (0.03: 3 %). `None`
    /// with too few heats, and for two sessions or runs, which have no pairs of figures.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spread: Option<f64>,
    /// Its degrees of freedom.
    pub freedom: Option<f64>,
    /// The t interval of the ratio on the logarithm, at its level; `None` with too few heats. An end that a
    /// lower bound leaves open is 0 or ∞.
    pub interval: Option<Interval>,
    /// The two-sided p value of a ratio of 1; `None` with too few heats. Not corrected for looks or cells.
    pub p: Option<f64>,
    /// The p value after Holm's correction over the cells of the metric; only for sessions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p_adjusted: Option<f64>,
    /// How far stacks that are the same in both sessions moved; `None` if there are too few, and then the ratio has
    /// no interval. Only for sessions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unchanged: Option<Movement>,
    /// The rule of the verdict. Its threshold is the practical difference for two sessions. In the same heats it is 0, and
    /// for an open loop's throughput the practical difference of times.
    #[serde(flatten)]
    pub rule: Rule,
    /// The verdict.
    pub verdict: RatioVerdict,
}

impl Ratio {
    /// The number of heats of the side that has fewer.
    pub(crate) fn heats(&self) -> usize {
        self.heats_a.min(self.heats_b)
    }

    /// The t interval at this level; `None` with too few heats.
    pub(crate) fn interval_at(&self, level: f64) -> Option<Interval> {
        let difference = Difference {
            mean: self.ratio.ln(),
            error: self.error?,
            freedom: self.freedom?,
        };
        let half = difference.half_width(level);
        let low = (difference.mean - half).exp();
        let high = (difference.mean + half).exp();
        (low > 0.0 && high.is_finite()).then_some(Interval { low, high, level })
    }

    /// Sets the verdict that follows from the rule, the interval and the number of heats.
    pub(crate) fn judged(self) -> Self {
        let heats = self.heats();
        let found = self
            .interval
            .map(|interval| self.rule.verdict(self.ratio, &interval, heats));
        Self {
            verdict: verdict(self.metric.direction(), found),
            ..self
        }
    }
}

/// The verdict of a ratio on B.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RatioVerdict {
    /// B is better: the interval excludes 1, and the ratio is beyond the threshold. Of throughput and times: faster.
    Better,
    /// B is worse, likewise.
    Worse,
    /// The whole interval lies within the margin: whatever the difference is, it is smaller than that.
    DeadHeat,
    /// Neither.
    #[default]
    NotEnoughData,
}

/// Converts the verdict on the ratio of B to A into a verdict on B, by the metric's direction. Undecided without an
/// interval.
fn verdict(direction: Direction, found: Option<heats::PairVerdict>) -> RatioVerdict {
    match (found.unwrap_or(heats::PairVerdict::Undecided), direction) {
        (heats::PairVerdict::Undecided, _) => RatioVerdict::NotEnoughData,
        (heats::PairVerdict::DeadHeat, _) => RatioVerdict::DeadHeat,
        (heats::PairVerdict::Faster, Direction::MoreIsBetter)
        | (heats::PairVerdict::Slower, Direction::LessIsBetter) => RatioVerdict::Better,
        (heats::PairVerdict::Faster | heats::PairVerdict::Slower, _) => RatioVerdict::Worse,
    }
}

/// The warning about an unintended difference between A and `others`.
pub fn differs(change: &Change, a: &str, others: &str) -> Warning {
    let value = |value: &Option<String>| value.clone().unwrap_or_else(|| "none".to_owned());
    let (name, before, after) = (change.name(), value(&change.before), value(&change.after));
    let sentence = format!("Conditions differ: {name} is {before} in {a}, {after} in {others}.");
    doubt("other-conditions", sentence)
        .with("what", name)
        .with("a", before)
        .with("b", after)
}

/// The note that a side was not steady in some of its heats.
fn unsteady(side: &str, heats: usize, all: usize) -> Option<Warning> {
    let sentence = format!("{side} was not steady after its warm-up in {heats} of {all} heats.");
    (heats > 0).then(|| note("unsteady", sentence).with("heats", heats))
}

/// A metric that is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Metric {
    /// Verified answers per second, in a closed loop.
    Throughput,
    /// Median of the response time in seconds: an open loop's, from the intended start.
    ResponseTimeP50,
    /// Its 99th percentile, in seconds.
    ResponseTimeP99,
    /// CPU time of the server's process tree per verified answer, in microseconds.
    CpuPerRequest,
    /// The largest PSS of the tree that was read, in bytes.
    MemoryPeak,
}

/// Whether larger or smaller figures of a metric are better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// A larger figure is better.
    MoreIsBetter,
    /// A smaller figure is better.
    LessIsBetter,
}

impl Metric {
    /// Every metric, in the order in which tables have them.
    pub const ALL: [Metric; 5] = [
        Metric::Throughput,
        Metric::ResponseTimeP50,
        Metric::ResponseTimeP99,
        Metric::CpuPerRequest,
        Metric::MemoryPeak,
    ];

    /// The direction of the metric.
    pub const fn direction(self) -> Direction {
        match self {
            Metric::Throughput => Direction::MoreIsBetter,
            _ => Direction::LessIsBetter,
        }
    }

    /// The name in a sentence, as a quantity of which B has a multiple of A's.
    pub const fn name(self) -> &'static str {
        match self {
            Metric::Throughput => "throughput",
            Metric::ResponseTimeP50 => "median response time",
            Metric::ResponseTimeP99 => "p99 response time",
            Metric::CpuPerRequest => "CPU time per request",
            Metric::MemoryPeak => "peak PSS",
        }
    }

    /// Whether it is a response time, as only open loops have them.
    pub const fn is_response_time(self) -> bool {
        matches!(self, Metric::ResponseTimeP50 | Metric::ResponseTimeP99)
    }
}
