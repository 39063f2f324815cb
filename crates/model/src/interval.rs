//! The results of a part of a load: of an interval of a single load, or of a slice.

use std::{collections::BTreeMap, time::Duration};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{FailureCounts, LatencyHistogram, Observation};

/// The phase of a load.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum LoadPhase {
    /// Load that does not count yet.
    #[default]
    WarmUp,
    /// Load that counts.
    Measurement,
    /// Nothing is sent any more. Requests in flight may end.
    #[serde(rename = "cool-down")]
    Drain,
}

/// The results between two instants of a load. Intervals never overlap, and each belongs to one phase.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Interval {
    /// The interval's number, from 0.
    pub index: u64,
    /// The interval's start, from the load's start.
    #[serde(rename = "from_seconds", with = "crate::seconds")]
    #[schemars(schema_with = "crate::seconds::schema")]
    pub from: Duration,
    /// The interval's end, from the load's start.
    #[serde(rename = "until_seconds", with = "crate::seconds")]
    #[schemars(schema_with = "crate::seconds::schema")]
    pub until: Duration,
    /// The phase that the interval belongs to.
    pub phase: LoadPhase,
    /// Requests issued.
    pub issued: u64,
    /// Verified answers.
    pub succeeded: u64,
    /// Failed requests by kind.
    pub failed: FailureCounts,
    /// Requests in flight at the interval's end.
    pub in_flight: u64,
    /// Open loop: requests whose intended start was in the interval.
    pub offered: u64,
    /// Open loop: requests that waited for a connection at the interval's end.
    pub waiting: u64,
    /// Connections open at the interval's end.
    pub connections: u64,
    /// Bytes of requests written.
    pub sent_bytes: u64,
    /// Bytes of answers received.
    pub received_bytes: u64,
    /// Body bytes of the verified answers.
    pub valid_body_bytes: u64,
    /// Events of answers that are streams; `None`: not recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub events: Option<u64>,
    /// Service time of the verified answers.
    pub service_time: LatencyHistogram,
    /// Open loop: response time of the verified answers; `None`: closed loop.
    pub response_time: Option<LatencyHistogram>,
}

impl Interval {
    /// The interval's length.
    pub fn length(&self) -> Duration {
        self.until.saturating_sub(self.from)
    }

    /// Verified answers per second.
    pub fn throughput(&self) -> f64 {
        match self.length() {
            Duration::ZERO => 0.0,
            length => self.succeeded as f64 / length.as_secs_f64(),
        }
    }

    /// A copy in as little memory as possible. An interval that is being recorded has space for all latencies.
    pub fn compact(&self) -> Self {
        Self {
            service_time: self.service_time.compact(),
            response_time: self.response_time.as_ref().map(LatencyHistogram::compact),
            ..self.clone_without_latencies()
        }
    }

    fn clone_without_latencies(&self) -> Self {
        Self {
            failed: self.failed.clone(),
            service_time: LatencyHistogram::small(),
            response_time: None,
            ..*self
        }
    }

    /// Appends the next interval, so that both become one.
    pub fn append(&mut self, next: &Self) {
        let (from, in_flight, waiting, connections) =
            (self.from, next.in_flight, next.waiting, next.connections);
        self.merge(next);
        self.from = from;
        self.until = next.until;
        (self.in_flight, self.waiting, self.connections) = (in_flight, waiting, connections);
    }

    /// Adds the results of another worker for the same interval.
    pub fn merge(&mut self, other: &Self) {
        // Workers end at slightly different times if no clock ends the measurement.
        self.until = self.until.max(other.until);
        self.issued += other.issued;
        self.succeeded += other.succeeded;
        self.failed.merge(&other.failed);
        self.in_flight += other.in_flight;
        self.offered += other.offered;
        self.waiting += other.waiting;
        self.connections += other.connections;
        self.sent_bytes += other.sent_bytes;
        self.received_bytes += other.received_bytes;
        self.valid_body_bytes += other.valid_body_bytes;
        if let Some(more) = other.events {
            *self.events.get_or_insert(0) += more;
        }
        self.service_time.merge(&other.service_time);
        match (&mut self.response_time, &other.response_time) {
            (Some(own), Some(more)) => own.merge(more),
            (own @ None, Some(more)) => *own = Some(more.clone()),
            (_, None) => {}
        }
    }
}

/// Joins parts of intervals, from workers or hosts, into intervals of the whole load.
#[derive(Debug)]
pub struct IntervalJoiner {
    /// Of each source, whether its load is over, so that it sends no parts any more.
    over: Vec<bool>,
    /// The intervals that lack parts, each with the sources whose parts it has.
    incomplete: BTreeMap<u64, (Vec<usize>, Box<Interval>)>,
}

impl IntervalJoiner {
    /// Joins the parts of this many sources.
    pub fn new(sources: usize) -> Self {
        Self {
            over: vec![false; sources],
            incomplete: BTreeMap::new(),
        }
    }

    /// Adds the part of an interval from `source`. Calls `on_interval` for each complete interval, in order.
    pub fn join(
        &mut self,
        source: usize,
        part: &Interval,
        on_interval: &mut dyn FnMut(Box<Interval>),
    ) {
        match self.incomplete.get_mut(&part.index) {
            Some((sources, whole)) => {
                whole.merge(part);
                sources.push(source);
            }
            None => {
                let whole = (vec![source], Box::new(part.clone()));
                self.incomplete.insert(part.index, whole);
            }
        }
        self.pass_on(on_interval);
    }

    /// Waits no longer for parts from `source`, whose load is over.
    pub fn end(&mut self, source: usize, on_interval: &mut dyn FnMut(Box<Interval>)) {
        self.over[source] = true;
        self.pass_on(on_interval);
    }

    fn pass_on(&mut self, on_interval: &mut dyn FnMut(Box<Interval>)) {
        while let Some(first) = self.incomplete.first_entry() {
            let (sources, _) = first.get();
            let mut all = self.over.iter().enumerate();
            if !all.all(|(source, is_over)| *is_over || sources.contains(&source)) {
                return;
            }
            on_interval(first.remove().1);
        }
    }

    /// Passes on the intervals that are left, when no more parts arrive, and is ready for another load.
    pub fn flush(&mut self, on_interval: &mut dyn FnMut(Box<Interval>)) {
        self.over.fill(true);
        self.pass_on(on_interval);
        self.over.fill(false);
    }
}

/// An instant of a slice, or of a load that consists of one slice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "instant")]
pub enum SliceEvent {
    /// The guard is over: requests count from now on.
    CountingStarted,
    /// Nothing is sent any more.
    CountingEnded,
    /// Nothing is in flight any more, or the drain timed out.
    Drained,
}

/// The results of a slice: from one worker, from all workers of a host, or from all hosts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SliceResult {
    /// `measured` covers the counted span, `total` the whole slice with guard and drain. Service and response times are
    /// those of all requests that began in the counted span, including those that ended in the drain.
    /// `connections_opened` and `answers_per_connection` are those of this slice alone. Connections in `unmade` are
    /// still being opened in the next slice.
    pub observation: Observation,
    /// The time from the end of the counted span until nothing was in flight.
    #[serde(with = "crate::seconds")]
    pub drained: Duration,
    /// Connections that replaced earlier ones since the previous slice, including those that were lost while the load
    /// was paused. With a connection per request, nearly every connection counts.
    pub reconnected: u64,
    /// Whether the stop flag ended the slice before its drain was over.
    pub interrupted: bool,
    /// How much later it began than the instant that the hosts had agreed on.
    #[serde(with = "crate::seconds")]
    pub late: Duration,
    /// The host with the busiest worker, by its index, if several hosts load.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_is_told_once_all_its_parts_are_there() {
        let mut intervals = IntervalJoiner::new(2);
        let mut told = Vec::new();
        let mut join = |source, index, succeeded| {
            let part = Interval {
                index,
                succeeded,
                ..Interval::default()
            };
            let mut note = |whole: Box<Interval>| told.push((whole.index, whole.succeeded));
            intervals.join(source, &part, &mut note);
        };
        join(0, 0, 1);
        join(0, 1, 2);
        join(1, 0, 10);
        join(0, 2, 4);
        join(1, 1, 20);
        assert_eq!(told, [(0, 11), (1, 22)]);
        intervals.flush(&mut |whole| told.push((whole.index, whole.succeeded)));
        assert_eq!(told, [(0, 11), (1, 22), (2, 4)]);
    }

    #[test]
    fn an_interval_waits_for_nobody_whose_load_is_over() {
        let mut intervals = IntervalJoiner::new(2);
        let part = |index| Interval {
            index,
            ..Interval::default()
        };
        let mut told = Vec::new();
        let mut note = |whole: Box<Interval>| told.push(whole.index);
        intervals.join(1, &part(0), &mut note);
        intervals.join(1, &part(1), &mut note);
        intervals.join(0, &part(0), &mut note);
        intervals.end(0, &mut note);
        intervals.join(1, &part(2), &mut note);
        assert_eq!(told, [0, 1, 2]);
        // All work again in the next load.
        intervals.flush(&mut |_| ());
        let mut again = Vec::new();
        intervals.join(1, &part(0), &mut |whole| again.push(whole.index));
        assert!(again.is_empty());
    }
}
