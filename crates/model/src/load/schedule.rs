//! When requests are sent.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// When requests are sent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "loop")]
pub enum Schedule {
    /// Closed loop: each connection sends its next request when its answer has come.
    Closed {
        /// Connections held, over all workers.
        connections: u32,
        /// The connections' first requests are spread evenly over this time, so that equal delays of the server
        /// do not turn them into one wave.
        #[serde(with = "crate::seconds")]
        #[schemars(schema_with = "crate::seconds::schema")]
        ramp: Duration,
    },
    /// Open loop: each request has an intended start that no answer moves. One whose time has come takes a free
    /// connection, or waits for one.
    Open {
        /// How the intended starts lie around the rate.
        arrivals: Arrivals,
        /// The rate over the measurement, one stage after the other; the last one's final rate goes on. The
        /// warm-up has the first one's first rate. At least one.
        stages: Vec<Stage>,
        /// Connections made at the start, over all workers.
        connections: u32,
        /// A request that finds no free connection opens another one, as long as there are fewer than these.
        most_connections: u32,
    },
}

impl Schedule {
    /// The most connections that are held at once.
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

/// How intended starts lie around the rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Arrivals {
    /// At even distances.
    Uniform,
    /// As of many users who do not know of each other: the distances are exponentially distributed.
    Poisson,
}

/// A part of an open loop's schedule: the rate goes evenly from one value to another.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Stage {
    /// How long it takes. Zero: the rate changes at once.
    #[serde(with = "crate::seconds")]
    #[schemars(schema_with = "crate::seconds::schema")]
    pub length: Duration,
    /// Requests per second at its start.
    pub from: f64,
    /// Requests per second at its end.
    pub to: f64,
}

impl Stage {
    /// One rate, in requests per second, that goes on.
    pub fn constant(rate: f64) -> Self {
        Self {
            length: Duration::ZERO,
            from: rate,
            to: rate,
        }
    }
}
