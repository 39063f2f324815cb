//! How long users of a closed loop think.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How long a connection of a closed loop waits between an answer and its next request, as a user does who reads the
/// answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "distribution")]
pub enum Think {
    /// Any time between two is as likely as any other; the same twice: always that.
    Uniform {
        /// The shortest.
        #[serde(with = "crate::seconds")]
        #[schemars(schema_with = "crate::seconds::schema")]
        from: Duration,
        /// The longest.
        #[serde(with = "crate::seconds")]
        #[schemars(schema_with = "crate::seconds::schema")]
        to: Duration,
    },
    /// Short times are likely, and long ones possible: exponentially distributed.
    Exponential {
        /// The mean.
        #[serde(with = "crate::seconds")]
        #[schemars(schema_with = "crate::seconds::schema")]
        mean: Duration,
    },
}

impl Think {
    /// How long it takes on average.
    pub fn mean(&self) -> Duration {
        match self {
            Think::Uniform { from, to } => (*from + *to) / 2,
            Think::Exponential { mean } => *mean,
        }
    }

    /// Whether it takes a different time each time.
    pub fn is_random(&self) -> bool {
        match self {
            Think::Uniform { from, to } => from != to,
            Think::Exponential { .. } => true,
        }
    }

    /// The time at `chance`, a number of the unit interval (0 included, 1 excluded).
    pub fn time(&self, chance: f64) -> Duration {
        match self {
            Think::Uniform { from, to } => *from + to.saturating_sub(*from).mul_f64(chance),
            // The inverse of the distribution's function. The numbers of a generator have 53 bits, so that none is more
            // than 37 means.
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
