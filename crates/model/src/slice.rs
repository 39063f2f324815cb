//! A slice of a load: its instants, and what was seen of it.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::Observation;

/// An instant of a slice, or of a load that is one slice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "instant")]
pub enum SliceEvent {
    /// The guard is over: what happens from now on counts.
    CountingStarted,
    /// Nothing is sent any more.
    CountingEnded,
    /// Nothing is in flight any more, or the drain was given up.
    Drained,
}

/// What was seen of a slice: by a worker, by all workers of a host, or by all hosts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SliceResult {
    /// `measured` is the counted span, `total` the whole slice with guard and drain. Service and response times are of
    /// all requests that began in the counted span, also of those that ended in the drain. `connections_opened` and
    /// `answers_per_connection` are those of this slice alone. Connections in `unmade` continue to be made in the next
    /// slice.
    pub observation: Observation,
    /// From the end of the counted span until nothing was in flight.
    #[serde(with = "crate::seconds")]
    pub drained: Duration,
    /// Connections that replaced earlier ones since the previous slice, also those that were lost while the load was
    /// paused. With a connection per request that is almost every one.
    pub reconnected: u64,
    /// Whether the stop flag ended the slice before its drain was over.
    pub interrupted: bool,
    /// How much later it began than at the instant that the hosts had agreed on.
    #[serde(with = "crate::seconds")]
    pub late: Duration,
    /// Which of several hosts that loaded had the busiest worker, by its place among them.
    #[serde(skip)]
    pub busiest_host: Option<u32>,
}

impl SliceResult {
    /// Merges the results of several workers or hosts for the same slice.
    pub fn together(parts: impl IntoIterator<Item = Self>) -> Self {
        let mut parts = parts.into_iter();
        let mut whole = parts.next().unwrap_or_default();
        for part in parts {
            whole.observation.merge(&part.observation);
            whole.drained = whole.drained.max(part.drained);
            whole.reconnected += part.reconnected;
            whole.interrupted |= part.interrupted;
            whole.late = whole.late.max(part.late);
        }
        whole
    }

    /// Requests that were still in flight when the drain was given up. Their connections were closed.
    pub fn undrained(&self) -> u64 {
        self.observation.total.in_flight
    }
}
