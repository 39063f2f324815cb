//! The statistics of heats: from slices to verdicts, ranks, and what to measure next.
//!
//! | step | module |
//! | --- | --- |
//! | recorded slices → rounds, with what pauses took | [`recorded`], [`pauses`] |
//! | a heat's rounds → an estimate for each of its members | [`within`], [`percentile`] |
//! | all heats' estimates → differences with errors | [`fit`], [`variance_shrinkage`] |
//! | differences → what of them holds together | `simultaneous` |
//! | differences → faster, dead heat, undecided | [`pairs`] |
//! | verdicts → ranks from … to | [`ranking`] |
//! | undecided neighbours → the members of the next heat, and the order of its slices | [`allocation`] |
//! | a pilot → how far more heats reach | [`Pilot`] |
//!
//! When the heats are looked at while they are still being run, and what each look may spend, is
//! [`crate::sequential`]. Everything but [`recorded`] is a pure function of numbers;
//! members are numbered from 0. docs/statistics.md says it for readers, with what simulations found.

pub mod allocation;
pub mod fit;
pub mod pairs;
pub mod pauses;
pub mod percentile;
pub mod ranking;
pub mod recorded;
mod simultaneous;
pub mod variance_shrinkage;
pub mod within;

use deadheat_model::heats::MIN_HEATS;
use schemars::JsonSchema;
use serde::Serialize;

pub use crate::sequential::{Design as Looks, Look};
pub use allocation::{Allocation, Pilot, PlannedHeats};
pub use fit::{Contrast, Fit};
pub use pairs::{Alone, PairVerdict, RankedPair, Remedy, Rule, unseen_starts};
pub use percentile::Percentile;
pub use ranking::{Group, Rank, RankedMember, Ranking, of_fit, rankings};
pub use recorded::{LimitedBy, limit_of};
pub use within::{Heat, HeatSeries, Quantity, Round, Slice};

/// The thresholds. All are fixed before the session; none looks at a result.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Settings {
    /// The share of sessions that may call any pair different that is not (0 to 1), and of those that may call any pair
    /// a dead heat that is not.
    pub alpha: f64,
    /// Two members whose ratio lies between 1/(1 + this) and 1 + this are as good as equal (0.03: 3 %).
    pub margin: f64,
    /// The fewest heats of both with which a pair can be a dead heat ([`MIN_HEATS`]).
    pub least_heats: u32,
    /// CPUs of a server or generator that are busy for this share of the time have nothing left (0 to 1).
    pub saturated: f64,
    /// A member's figure is a lower bound if the generator was the limit in more than this share of its slices. Not 0:
    /// one slice in which a busy server waited for a moment proves nothing.
    pub bounded: f64,
    /// The weight of a member's expected variance relative to its own, in degrees of freedom ([`variance_shrinkage`]).
    /// Chosen by simulation: with 2 to 4, intervals keep their level for 2 to 10 members that differ in noise. With 0,
    /// they are a third wider after 3 heats.
    pub expected_freedom: f64,
    /// The error level of the F test by which only a member's own variance counts, because it is larger than expected:
    /// the share of rankings of equal members that may have such a member (0 to 1).
    pub variance_test_alpha: f64,
    /// What is assumed to differ between processes of one member when only a pilot has been run (0.02: 2 %). Measured:
    /// next to nothing for Go and Rust, 7 % at most.
    pub between_processes: f64,
    /// Samples that must lie beyond a percentile for it to be one.
    pub beyond: u64,
}

impl Settings {
    /// What decides on a pair.
    pub fn rule(&self) -> Rule {
        Rule {
            threshold: 0.0,
            margin: self.margin,
            least_heats: self.least_heats,
        }
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            alpha: 0.05,
            margin: 0.03,
            least_heats: MIN_HEATS,
            saturated: 0.95,
            bounded: 0.05,
            expected_freedom: 4.0,
            variance_test_alpha: 0.05,
            between_processes: 0.02,
            beyond: 100,
        }
    }
}
