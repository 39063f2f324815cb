//! Why a plan is as it is, and what a longer budget would buy.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::LoadPhase;

/// A warm-up or a measurement that is shorter than this means nothing: half-second bins hardly begin to tell a trend, and
/// connections that were opened together have not yet fallen out of step.
pub const LEAST_PHASE: Duration = Duration::from_secs(1);
/// A longer measurement is never chosen: more blocks tell more.
pub const LONGEST_MEASUREMENT: Duration = Duration::from_secs(5);
/// With fewer blocks than this a plan never makes do by itself: an interval over two is worth nothing.
pub const LEAST_BLOCKS: u32 = 3;
/// From so many blocks on, results are evidence; with fewer they are indicative.
pub const EVIDENCE_BLOCKS: u32 = 7;
/// From so many blocks on, results are fit to be published.
pub const PUBLISHED_BLOCKS: u32 = 10;
/// More blocks than these are never chosen: the intervals hardly get narrower.
pub const MOST_BLOCKS: u32 = 30;

/// Shares of a stack's own capacity that are offered to it, in percent: an easy load, a usual one, one near the limit.
pub const OWN_SHARES: [u32; 3] = [50, 70, 90];
/// The share of the slowest stack's capacity that is offered to all, in percent: what each of them can do.
pub const COMMON_SHARE: u32 = 70;

/// What a session is for. It decides what nobody said.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Purpose {
    /// Seven blocks if they fit the budget.
    #[default]
    Usual,
    /// Three short blocks: which order of magnitude, and does it work at all?
    FirstLook,
    /// Ten blocks or more, with latency: figures that others will quote.
    Publication,
    /// Published tables once more: three blocks, or with a budget seven if they fit.
    Repetition,
}

impl Purpose {
    /// The fewest blocks that a plan for it has, unless the user gave a number.
    pub fn least_blocks(self) -> u32 {
        match self {
            Purpose::Usual | Purpose::FirstLook | Purpose::Repetition => LEAST_BLOCKS,
            Purpose::Publication => PUBLISHED_BLOCKS,
        }
    }
}

/// Where a value of the plan comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Origin {
    /// The user gave it.
    Asked,
    /// What the session is for has it so, whatever the budget.
    Purpose,
    /// It is the most that fits the budget.
    Budget,
    /// It is the least that means anything, and takes longer than the budget.
    Least,
}

/// Whether open loops are in the plan, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LatencyChoice {
    /// They are, because they were asked for.
    Asked,
    /// They are, because the budget has room for them.
    Fits,
    /// They are not: the budget has no room for them.
    TooLong,
    /// They are not: so few blocks were asked for that the question of capacity comes first.
    FewBlocks,
    /// They are not: nobody wanted them.
    Off,
    /// They are not: there is no closed loop of which they could follow, such as among loads of so many requests.
    NoClosedLoop,
}

impl LatencyChoice {
    /// Whether there are open loops.
    pub fn is_on(self) -> bool {
        matches!(self, LatencyChoice::Asked | LatencyChoice::Fits)
    }
}

/// A part of a trial that the user wanted shorter than [`LEAST_PHASE`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ShortPhase {
    /// Warm-up or measurement.
    pub phase: LoadPhase,
    /// Its length.
    #[serde(rename = "seconds", with = "crate::seconds")]
    #[schemars(schema_with = "crate::seconds::schema")]
    pub length: Duration,
}

/// What a longer budget would buy: the plan that `--budget` with it makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Offer {
    /// The budget.
    #[serde(rename = "budget_seconds", with = "crate::seconds")]
    #[schemars(schema_with = "crate::seconds::schema")]
    pub budget: Duration,
    /// Blocks.
    pub blocks: u32,
    /// The measurement of a trial whose workload needs no longer one.
    #[serde(rename = "measure_seconds", with = "crate::seconds")]
    #[schemars(schema_with = "crate::seconds::schema")]
    pub measure: Duration,
    /// Whether there are open loops.
    pub latency: bool,
}

/// Why a plan is as it is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Choice {
    /// What the session is for.
    pub purpose: Purpose,
    /// Where the number of blocks comes from.
    pub blocks_from: Origin,
    /// The measurement of a trial whose workload needs no longer one.
    #[serde(rename = "measure_seconds", with = "crate::seconds")]
    #[schemars(schema_with = "crate::seconds::schema")]
    pub measure: Duration,
    /// Where it comes from.
    pub measure_from: Origin,
    /// Whether there are open loops, and why.
    pub latency: LatencyChoice,
    /// What was wanted too short to mean anything.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub too_short: Vec<ShortPhase>,
    /// What longer budgets would buy, the shortest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub offers: Vec<Offer>,
}
