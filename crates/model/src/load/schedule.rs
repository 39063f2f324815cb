//! When requests are sent, and how long users think between them.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// When requests are sent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "loop")]
pub enum Schedule {
    /// Closed loop: each connection sends its next request when its answer has arrived.
    Closed {
        /// The number of connections, over all workers.
        connections: u32,
        /// The time over which the connections' first requests are spread evenly. Otherwise, equal delays of the server
        /// would turn them into one wave.
        #[serde(with = "crate::seconds")]
        #[schemars(schema_with = "crate::seconds::schema")]
        ramp: Duration,
    },
    /// Open loop: each request has an intended start that does not depend on answers. A request that is due takes a
    /// free connection, or waits for one.
    Open {
        /// How intended starts are distributed around the rate.
        arrivals: Arrivals,
        /// The rate over the measurement, in one or more stages. After the last stage, its final rate continues. The
        /// warm-up has the initial rate of the first stage.
        stages: Vec<Stage>,
        /// Connections opened at the start, over all workers.
        connections: u32,
        /// The maximum number of connections. A request that finds no free connection opens another one, up to this
        /// number.
        most_connections: u32,
    },
}

impl Schedule {
    /// The maximum number of connections at the same time.
    pub fn most_connections(&self) -> u32 {
        match self {
            Schedule::Closed { connections, .. } => *connections,
            Schedule::Open {
                connections,
                most_connections,
                ..
            } => *connections.max(most_connections),
        }
    }

    /// Whether it is an open loop.
    pub fn is_open(&self) -> bool {
        matches!(self, Schedule::Open { .. })
    }
}

/// How intended starts are distributed around the rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Arrivals {
    /// At even distances.
    Uniform,
    /// As from many independent users (Poisson): the distances are exponentially distributed.
    Poisson,
}

/// A part of an open loop's schedule. The rate changes linearly from one value to another.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Stage {
    /// The length of the stage. Zero: the rate changes at once.
    #[serde(with = "crate::seconds")]
    #[schemars(schema_with = "crate::seconds::schema")]
    pub length: Duration,
    /// Requests per second at its start.
    pub from: f64,
    /// Requests per second at its end.
    pub to: f64,
}

impl Stage {
    /// A constant rate that does not end, in requests per second.
    pub fn constant(rate: f64) -> Self {
        Self {
            length: Duration::ZERO,
            from: rate,
            to: rate,
        }
    }
}

/// How long a connection of a closed loop waits between an answer and its next request, like a user who reads the
/// answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "distribution")]
pub enum Think {
    /// Uniformly distributed between two times. If they are equal, the time is constant.
    Uniform {
        /// The shortest time.
        #[serde(with = "crate::seconds")]
        #[schemars(schema_with = "crate::seconds::schema")]
        from: Duration,
        /// The longest time.
        #[serde(with = "crate::seconds")]
        #[schemars(schema_with = "crate::seconds::schema")]
        to: Duration,
    },
    /// Exponentially distributed: short times are likely, and long ones possible.
    Exponential {
        /// The mean time.
        #[serde(with = "crate::seconds")]
        #[schemars(schema_with = "crate::seconds::schema")]
        mean: Duration,
    },
}

impl Think {
    /// The mean time.
    pub fn mean(&self) -> Duration {
        match self {
            Think::Uniform { from, to } => (*from + *to) / 2,
            Think::Exponential { mean } => *mean,
        }
    }

    /// Whether the time is random.
    pub fn is_random(&self) -> bool {
        match self {
            Think::Uniform { from, to } => from != to,
            Think::Exponential { .. } => true,
        }
    }

    /// The time for `chance`, a random number from 0 (included) to 1 (excluded).
    pub fn time(&self, chance: f64) -> Duration {
        match self {
            Think::Uniform { from, to } => *from + to.saturating_sub(*from).mul_f64(chance),
            // The inverse of the distribution function. Random numbers have 53 bits, so no time exceeds 37 means.
            Think::Exponential { mean } => mean.mul_f64(-(-chance).ln_1p()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_as_the_distribution_has_them() {
        let seconds = Duration::from_secs;
        let always = Think::Uniform {
            from: seconds(2),
            to: seconds(2),
        };
        assert_eq!(
            (always.time(0.0), always.time(0.9)),
            (seconds(2), seconds(2))
        );
        assert!(!always.is_random());
        let uniform = Think::Uniform {
            from: seconds(1),
            to: seconds(3),
        };
        assert_eq!(
            (uniform.time(0.0), uniform.time(0.5)),
            (seconds(1), seconds(2))
        );
        assert_eq!((uniform.mean(), uniform.is_random()), (seconds(2), true));
        let exponential = Think::Exponential { mean: seconds(1) };
        assert_eq!(exponential.time(0.0), Duration::ZERO);
        // Half of the times are below ln 2 means.
        let median = exponential.time(0.5).as_secs_f64();
        assert!((median - std::f64::consts::LN_2).abs() < 1e-6, "{median}");
        let mean: f64 = (0..10_000)
            .map(|part| exponential.time(f64::from(part) / 1e4).as_secs_f64())
            .sum();
        assert!((mean / 1e4 - 1.0).abs() < 0.01, "{mean}");
        assert!(exponential.time(1.0 - f64::EPSILON) < seconds(40));
    }
}
