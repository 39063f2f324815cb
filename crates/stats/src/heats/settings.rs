//! The thresholds of the statistics of heats.

use deadheat_model::heats::LEAST_HEATS;
use schemars::JsonSchema;
use serde::Serialize;

use super::pairs::Rule;

/// The thresholds. All are fixed before the session; none looks at a result.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Settings {
    /// The share of sessions that may call any pair different that is not (0 to 1), and of those that may call any pair
    /// a dead heat that is not.
    pub alpha: f64,
    /// Two members whose ratio lies between 1/(1 + this) and 1 + this are as good as equal (0.03: 3 %).
    pub margin: f64,
    /// The fewest heats of both with which a pair can be a dead heat ([`LEAST_HEATS`]).
    pub least_heats: u32,
    /// CPUs of a server or generator that are busy for this share of the time have nothing left (0 to 1).
    pub saturated: f64,
    /// A member's figure is a lower bound if the generator was the limit in more than this share of its slices. Not 0:
    /// one slice in which a busy server waited for a moment proves nothing.
    pub bounded: f64,
    /// How much the expected variance of a member counts beside its own, in degrees of freedom ([`super::variance_shrinkage`]).
    /// Chosen by simulation: with 2 to 4, intervals hold what they promise for 2 to 10 members that differ in noise; with
    /// none they are a third wider after 3 heats.
    pub expected_freedom: f64,
    /// A member's own variance counts alone if it is beyond what is expected of it by an F test, in which this share of
    /// rankings with alike members may have such a member (0 to 1).
    pub unlike: f64,
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
            least_heats: LEAST_HEATS,
            saturated: 0.95,
            bounded: 0.05,
            expected_freedom: 4.0,
            unlike: 0.05,
            between_processes: 0.02,
            beyond: 100,
        }
    }
}
