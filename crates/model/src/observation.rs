//! What a load found. Observations of the same load from several threads, processes or hosts merge into one.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::{FailureCounts, LatencyHistogram};

/// Requests by their fate over a span of time. Always:
/// `carried_in + issued = succeeded + failed + in_flight`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    /// Requests in flight when the span began.
    pub carried_in: u64,
    /// Requests issued in the span.
    pub issued: u64,
    /// Requests with a verified answer that ended in the span.
    pub succeeded: u64,
    /// Requests that failed in the span, by kind.
    pub failed: FailureCounts,
    /// Requests in flight when the span ended.
    pub in_flight: u64,
}

impl Tally {
    /// Whether no request was lost or invented.
    pub fn is_conserved(&self) -> bool {
        self.carried_in + self.issued == self.succeeded + self.failed.total() + self.in_flight
    }

    /// Requests that ended in the span, well or not.
    pub fn ended(&self) -> u64 {
        self.succeeded + self.failed.total()
    }

    /// Adds another tally of the same span.
    pub fn merge(&mut self, other: &Self) {
        self.carried_in += other.carried_in;
        self.issued += other.issued;
        self.succeeded += other.succeeded;
        self.failed.merge(&other.failed);
        self.in_flight += other.in_flight;
    }
}

/// One bin of the time series of the measurement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bin {
    /// Verified answers.
    pub succeeded: u64,
    /// Failed requests.
    pub failed: u64,
}

/// What one worker thread used; for judging whether the generator was the limit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct WorkerHealth {
    /// The CPU it was pinned to.
    pub cpu: Option<usize>,
    /// CPU time that the thread used during the measurement.
    #[serde(rename = "cpu_seconds", with = "crate::seconds")]
    pub cpu_time: Duration,
    /// The measurement's length as this thread saw it.
    #[serde(rename = "wall_seconds", with = "crate::seconds")]
    pub wall: Duration,
}

impl WorkerHealth {
    /// CPU time over wall time, 0 to 1.
    pub fn busy(&self) -> f64 {
        if self.wall.is_zero() {
            return 0.0;
        }
        self.cpu_time.as_secs_f64() / self.wall.as_secs_f64()
    }
}

/// An example of a failure, kept verbatim.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailureExample {
    /// The kind.
    pub kind: crate::Failure,
    /// What was seen: an error of the operating system, or the start of the answer.
    pub detail: String,
}

/// What a load found.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Observation {
    /// The whole load: warm-up, measurement and the end.
    pub total: Tally,
    /// The measurement alone.
    pub measured: Tally,
    /// The measurement's length.
    #[serde(rename = "window_seconds", with = "crate::seconds")]
    pub window: Duration,
    /// Service time (end − actual start) of the verified answers that ended in the measurement.
    pub service_time: LatencyHistogram,
    /// The width of a bin.
    #[serde(rename = "bin_seconds", with = "crate::seconds")]
    pub bin: Duration,
    /// The measurement in bins, from its start; the last one may be shorter than the others.
    pub bins: Vec<Bin>,
    /// Connections made over the whole load.
    pub connections_opened: u64,
    /// Most connections that were open at once (a sum of the workers' own maxima).
    pub connections_peak: u64,
    /// Body bytes received in the measurement, after the transfer coding is undone.
    pub body_bytes: u64,
    /// Answers in the measurement whose content was compared.
    pub content_checked: u64,
    /// The worker threads.
    pub workers: Vec<WorkerHealth>,
    /// The first few failures of each kind.
    pub examples: Vec<FailureExample>,
}

impl Observation {
    /// Verified answers per second of the measurement.
    pub fn throughput(&self) -> f64 {
        if self.window.is_zero() {
            return 0.0;
        }
        self.measured.succeeded as f64 / self.window.as_secs_f64()
    }

    /// The busiest worker's CPU share, 0 to 1.
    pub fn busiest_worker(&self) -> f64 {
        self.workers
            .iter()
            .map(WorkerHealth::busy)
            .fold(0.0, f64::max)
    }

    /// Adds another part of the same load.
    pub fn merge(&mut self, other: &Self) {
        self.total.merge(&other.total);
        self.measured.merge(&other.measured);
        self.window = self.window.max(other.window);
        self.service_time.merge(&other.service_time);
        self.bin = self.bin.max(other.bin);
        if self.bins.len() < other.bins.len() {
            self.bins.resize(other.bins.len(), Bin::default());
        }
        for (own, more) in self.bins.iter_mut().zip(&other.bins) {
            own.succeeded += more.succeeded;
            own.failed += more.failed;
        }
        self.connections_opened += other.connections_opened;
        self.connections_peak += other.connections_peak;
        self.body_bytes += other.body_bytes;
        self.content_checked += other.content_checked;
        self.workers.extend_from_slice(&other.workers);
        self.examples.extend_from_slice(&other.examples);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Failure;

    fn part(succeeded: u64, bins: usize) -> Observation {
        let mut part = Observation {
            window: Duration::from_secs(2),
            bins: vec![
                Bin {
                    succeeded: 1,
                    failed: 0
                };
                bins
            ],
            ..Observation::default()
        };
        part.measured.issued = succeeded + 2;
        part.measured.succeeded = succeeded;
        part.measured.failed[Failure::Reset] = 1;
        part.measured.in_flight = 1;
        part
    }

    #[test]
    fn merging_keeps_conservation_and_the_longer_series() {
        let mut whole = part(4, 1);
        whole.merge(&part(6, 3));
        assert!(whole.measured.is_conserved());
        assert_eq!(whole.measured.succeeded, 10);
        assert_eq!(whole.bins.len(), 3);
        assert_eq!(whole.bins[0].succeeded, 2);
        assert_eq!(whole.throughput(), 5.0);
    }

    #[test]
    fn a_lost_request_is_seen() {
        let mut tally = part(4, 1).measured;
        tally.issued += 1;
        assert!(!tally.is_conserved());
    }
}
