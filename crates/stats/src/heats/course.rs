//! What the statistics of heats start from: everything that was counted at one load point.

use schemars::JsonSchema;
use serde::Serialize;

/// One load point: every heat of it, in the order in which the heats were run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HeatSeries {
    /// Number of members. They are numbered from 0.
    pub members: usize,
    /// The heats. A member may be missing from any of them.
    pub heats: Vec<Heat>,
}

/// Servers that were alive together, from their start to their stop.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Heat {
    /// The rounds in the order in which they were run.
    pub rounds: Vec<Round>,
}

/// One turn of the heat's members.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Round {
    /// At most one slice of each member. A slice that does not count is left out.
    pub slices: Vec<Slice>,
}

/// One member's stretch of load in a round.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Slice {
    /// The member's number.
    pub member: usize,
    /// Verified answers.
    pub answers: f64,
    /// The time that they took, in seconds.
    pub seconds: f64,
    /// CPU time of the server in it, in seconds; `None` if it was not measured.
    pub cpu_seconds: Option<f64>,
    /// Whether the load generator was the limit ([`limit_of`](super::limit_of)): the server can do so much at least.
    pub bounded: bool,
}

/// What a slice has of a figure that is one amount per another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Amounts {
    pub(super) amount: f64,
    pub(super) per: f64,
}

impl Amounts {
    /// All of these together.
    pub(super) fn sum(parts: &[Self]) -> Self {
        let sum = |of: fn(&Self) -> f64| parts.iter().map(of).sum();
        Self {
            amount: sum(|part| part.amount),
            per: sum(|part| part.per),
        }
    }

    pub(super) fn figure(self) -> f64 {
        self.amount / self.per
    }
}

/// What is compared. The larger its [`advantage`](Quantity::advantage), the better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Quantity {
    /// Verified answers per second: more is better.
    Throughput,
    /// CPU time per request: less is better.
    Cost,
    /// A percentile of response time: less is better.
    Latency,
}

impl Quantity {
    /// The logarithm of a figure, with the sign by which more is better. A figure of 0 is infinitely far away.
    pub fn advantage(self, figure: f64) -> f64 {
        match self {
            Quantity::Throughput => figure.ln(),
            Quantity::Cost | Quantity::Latency => -figure.ln(),
        }
    }

    /// The figure of an advantage, in the unit that it was taken from.
    pub fn figure(self, advantage: f64) -> f64 {
        match self {
            Quantity::Throughput => advantage.exp(),
            Quantity::Cost | Quantity::Latency => (-advantage).exp(),
        }
    }

    /// What a slice has of it; `None` if it says nothing.
    pub(super) fn part(self, slice: &Slice) -> Option<Amounts> {
        let (amount, per) = match self {
            Quantity::Throughput => (slice.answers, slice.seconds),
            Quantity::Cost => (slice.cpu_seconds?, slice.answers),
            Quantity::Latency => return None,
        };
        Some(Amounts { amount, per })
    }
}
