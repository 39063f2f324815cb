//! What two sides are compared in.

use schemars::JsonSchema;
use serde::Serialize;

/// What two sides are compared in.
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

/// Which way a metric is better.
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

    /// Which way it is better.
    pub const fn direction(self) -> Direction {
        match self {
            Metric::Throughput => Direction::MoreIsBetter,
            _ => Direction::LessIsBetter,
        }
    }

    /// What it is called in a sentence, as something that B has so many times as much of as A.
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
