//! What a load found of answers that are streams of events.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::LatencyHistogram;

/// The events that came in the measurement, on answers with a right status, whatever became of these. An event's time is
/// that of the read that completed it, so that events of one read have no time between them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EventsSeen {
    /// How many.
    pub events: u64,
    /// From a request's actual start to its first event, of the measurement's requests.
    pub first_event: LatencyHistogram,
    /// Between an event and the one before it in the same answer.
    pub gap: LatencyHistogram,
    /// How long the latest event of an unfinished answer lay back when the measurement ended, at most: a gap that
    /// had not ended.
    #[serde(rename = "open_gap_seconds", with = "crate::seconds")]
    #[schemars(schema_with = "crate::seconds::schema")]
    pub open_gap: Duration,
    /// Valid answers to the measurement's requests without any event.
    pub without: u64,
}

impl EventsSeen {
    /// The longest time without an event within an answer; `None`: no answer had an event.
    pub fn longest_gap(&self) -> Option<Duration> {
        let open = Some(self.open_gap).filter(|gap| !gap.is_zero());
        self.gap.max().max(open)
    }

    /// Adds another part of the same load.
    pub fn merge(&mut self, other: &Self) {
        self.events += other.events;
        self.first_event.merge(&other.first_event);
        self.gap.merge(&other.gap);
        self.open_gap = self.open_gap.max(other.open_gap);
        self.without += other.without;
    }
}
