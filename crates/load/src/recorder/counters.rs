//! The counters and histograms of a recorder, by subject: latencies, connections, events of streams, the measurement in
//! bins, and failures by kind, phase and cause, the first few of each kind kept verbatim.

use std::{io, time::Duration};

use deadheat_model::{
    CountHistogram, Failure, LatencyHistogram,
    failure::FailurePhase,
    observation::{Bin, EventsSeen, FailureExample, FailureGroup, OpenLoop, TlsSeen},
};
use rustix::io::Errno;

use super::RecorderOptions;
use crate::schedule::nanos;

/// Bytes over the whole load so far.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Bytes {
    pub(super) sent: u64,
    pub(super) received: u64,
    pub(super) body: u64,
    /// Bytes in the bodies of verified answers.
    pub(super) valid: u64,
}

impl Bytes {
    /// The difference to the earlier counts `before`.
    pub(super) fn since(self, before: Self) -> Self {
        Self {
            sent: self.sent - before.sent,
            received: self.received - before.received,
            body: self.body - before.body,
            valid: self.valid - before.valid,
        }
    }
}

/// Latencies of requests: service times, and in an open loop also response times.
#[derive(Debug)]
pub(super) struct Latencies {
    /// Service times of the current interval.
    pub(super) service_now: LatencyHistogram,
    /// Service times of the measurement's finished intervals.
    pub(super) service_time: LatencyHistogram,
    /// Service times with connecting, in the measurement; only with a connection per request.
    pub(super) with_connect: Option<LatencyHistogram>,
    /// Times to the first byte, in the measurement; only if they were asked for.
    pub(super) first_byte: Option<LatencyHistogram>,
    /// Response times of the current interval; only in an open loop.
    pub(super) response_now: Option<LatencyHistogram>,
    /// Figures that only an open loop has.
    pub(super) open: Option<OpenLoop>,
    to_their_end: bool,
}

impl Latencies {
    pub(super) fn new(options: &RecorderOptions) -> Self {
        let is_open = options.is_open;
        Self {
            service_now: LatencyHistogram::new(),
            service_time: LatencyHistogram::new(),
            with_connect: options.per_request.then(LatencyHistogram::new),
            first_byte: options.first_byte.then(LatencyHistogram::new),
            response_now: is_open.then(LatencyHistogram::new),
            open: is_open.then(OpenLoop::default),
            to_their_end: options.to_their_end,
        }
    }

    /// Records a successful request of the current interval; `measured`: it also belongs to the measurement.
    #[inline]
    pub(super) fn record(&mut self, times: RequestTimes, measured: bool) {
        if let (true, Some(with_connect)) = (measured, &mut self.with_connect) {
            with_connect.record_ns(times.end - times.dialled);
        }
        if let (true, Some(first_byte)) = (measured, &mut self.first_byte) {
            first_byte.record_ns(times.first_byte - times.started);
        }
        self.service_now.record_ns(times.end - times.started);
        if let Some(response) = &mut self.response_now {
            response.record_ns(times.end - times.intended);
        }
    }

    /// Records a request of the measurement that succeeded after its end.
    pub(super) fn record_late(&mut self, times: RequestTimes) {
        if self.to_their_end {
            self.service_time.record_ns(times.end - times.started);
            if let Some(open) = &mut self.open {
                open.response_time.record_ns(times.end - times.intended);
            }
        }
    }

    /// Adds the current interval, which is over, to the measurement.
    pub(super) fn keep(&mut self) {
        self.service_time.merge(&self.service_now);
        if let (Some(open), Some(now)) = (&mut self.open, &self.response_now) {
            open.response_time.merge(now);
        }
    }

    /// Begins another interval.
    pub(super) fn clear(&mut self) {
        self.service_now.clear();
        if let Some(now) = &mut self.response_now {
            now.clear();
        }
    }
}

/// Connections over a whole load: their number, and how long connecting took.
#[derive(Debug)]
pub(crate) struct Connections {
    open: u64,
    pub(super) opened: u64,
    pub(super) peak: u64,
    again: u64,
    pub(super) connect_time: LatencyHistogram,
    pub(super) handshake_time: LatencyHistogram,
    /// TLS handshakes; `None` without TLS.
    pub(crate) tls: Option<TlsSeen>,
    pub(super) answers: CountHistogram,
}

impl Connections {
    pub(super) fn new(has_tls: bool) -> Self {
        Self {
            open: 0,
            opened: 0,
            peak: 0,
            again: 0,
            connect_time: LatencyHistogram::new(),
            handshake_time: LatencyHistogram::new(),
            tls: has_tls.then(TlsSeen::default),
            answers: CountHistogram::new(),
        }
    }

    /// Begins a load with this many open connections.
    pub(super) fn begin(&mut self, open: u64) {
        (self.open, self.peak) = (open, open);
    }

    /// Open connections.
    pub(crate) fn open(&self) -> u64 {
        self.open
    }

    /// Connections that replaced an earlier one.
    pub(crate) fn made_again(&self) -> u64 {
        self.again
    }

    /// Counts a connection that took this many nanoseconds to open; `again`: it replaced an earlier one.
    pub(crate) fn opened(&mut self, nanoseconds: u64, again: bool) {
        self.connect_time.record_ns(nanoseconds);
        self.again += u64::from(again);
        self.opened += 1;
        self.open += 1;
        self.peak = self.peak.max(self.open);
    }

    /// Records a TLS handshake that took this many nanoseconds.
    pub(crate) fn handshake_done(&mut self, nanoseconds: u64) {
        self.handshake_time.record_ns(nanoseconds);
    }

    /// Counts the end of a connection after this many answers; `None`: it had ended before the load began.
    pub(crate) fn closed(&mut self, answers: Option<u64>) {
        self.open -= 1;
        if let Some(answers) = answers {
            self.answers.record(answers);
        }
    }

    /// Records the answers of a connection that is still open at the end of the load.
    pub(crate) fn lasted(&mut self, answers: u64) {
        self.answers.record(answers);
    }
}

/// Events that arrived with one read. Times are nanoseconds of the monotonic clock.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EventBatch {
    /// Number of events, at least 1.
    pub(crate) count: u64,
    /// When they arrived.
    pub(crate) at: u64,
    /// When their request was sent.
    pub(crate) started: u64,
    /// When the previous event arrived; `None`: these are the answer's first.
    pub(crate) before: Option<u64>,
}

/// Events of answers that are streams.
#[derive(Debug, Default)]
pub(super) struct EventTotals {
    /// Over the whole load so far.
    pub(super) total: u64,
    /// In the measurement.
    pub(super) seen: EventsSeen,
}

impl EventTotals {
    /// Counts events; they are in the measurement if it began at `measured_from`.
    pub(super) fn came(&mut self, came: EventBatch, measured_from: Option<u64>) {
        self.total += came.count;
        let Some(from) = measured_from else {
            return;
        };
        self.seen.events += came.count;
        match came.before {
            Some(before) => self.seen.gap.record_ns(came.at - before),
            None if came.started >= from => {
                self.seen.first_event.record_ns(came.at - came.started);
            }
            // Part of the wait lies before the measurement.
            None => {}
        }
        if came.count > 1 {
            self.seen.gap.record_none(came.count - 1);
        }
    }
}

/// The initial capacity of the series, in bins, if the length of the load is unknown.
const BINS_OF_UNKNOWN_LENGTH: usize = 8 * 1024;
/// Room for a day at the narrowest width; a longer series grows.
const MAX_AT_FIRST: usize = 1 << 27;

/// The measurement in bins of one width: the requests that ended in each.
#[derive(Debug)]
pub(super) struct BinSeries {
    width: Duration,
    width_ns: u64,
    /// When the last bin ends.
    end: u64,
    bins: Vec<Bin>,
}

impl BinSeries {
    pub(super) fn new(width: Duration) -> Self {
        Self {
            width,
            width_ns: nanos(width).max(1),
            end: 0,
            bins: Vec::new(),
        }
    }

    /// Makes room for a measurement of this many nanoseconds, if that is known.
    pub(super) fn reserve(&mut self, length: Option<u64>) {
        let room = length.map_or(BINS_OF_UNKNOWN_LENGTH, |length| {
            length.div_ceil(self.width_ns) as usize + 1
        });
        self.bins.reserve_exact(room.min(MAX_AT_FIRST));
    }

    /// The measurement begins.
    pub(super) fn begin(&mut self, from: u64) {
        self.end = from.saturating_add(self.width_ns);
        self.bins.push(Bin::default());
    }

    /// The bin for a request that ends at `end`, which is never earlier than in the last call.
    #[inline]
    pub(super) fn at(&mut self, end: u64) -> &mut Bin {
        while end >= self.end {
            self.bins.push(Bin::default());
            self.end = self.end.saturating_add(self.width_ns);
        }
        let last = self.bins.len() - 1;
        &mut self.bins[last]
    }

    /// The width of a bin, and the bins of a measurement that took `window`.
    pub(super) fn into_bins(mut self, window: Duration) -> (Duration, Vec<Bin>) {
        let used = |bin: &Bin| *bin != Bin::default();
        let in_use = self.bins.iter().rposition(used).map_or(0, |last| last + 1);
        let bins = window.as_nanos().div_ceil(u128::from(self.width_ns)) as usize;
        // An end exactly on a bin's edge has opened the bin after the last one.
        self.bins.resize(bins.max(in_use), Bin::default());
        (self.width, self.bins)
    }
}

/// The times of a request that ended, in nanoseconds of the monotonic clock.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RequestTimes {
    /// When it should have been sent.
    pub(crate) intended: u64,
    /// When its connection was dialled.
    pub(crate) dialled: u64,
    /// When it was first written.
    pub(crate) started: u64,
    /// When the first byte of its answer arrived; meaningless if first bytes are not recorded.
    pub(crate) first_byte: u64,
    /// When its answer was complete.
    pub(crate) end: u64,
}

/// Requests in flight and waiting, at an instant.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Gauges {
    /// Requests in flight.
    pub(crate) in_flight: u64,
    /// Open loop: requests that wait for a connection.
    pub(crate) waiting: u64,
}

/// Failures of each kind that a worker keeps verbatim.
const EXAMPLES_OF_A_KIND: u8 = 3;
/// The most groups by cause. Failures of further causes are counted by kind and phase alone.
const GROUPS: usize = 64;

/// The cause of a failure. It is cheap to copy and compare, and formatted at the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cause {
    /// The operating system's error.
    System(Errno),
    /// The parser's or the generator's reason.
    Why(&'static str),
    /// The answer's status.
    Status(u16),
    /// Any cause after the first [`GROUPS`].
    Other,
}

impl Cause {
    fn describe(self) -> String {
        match self {
            Cause::System(errno) => io::Error::from(errno).to_string(),
            Cause::Why(why) => why.to_owned(),
            Cause::Status(status) => format!("status {status}"),
            Cause::Other => "other causes".to_owned(),
        }
    }
}

/// A failure: its kind, the phase of the request, and the cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) kind: Failure,
    pub(crate) phase: FailurePhase,
    pub(crate) cause: Cause,
}

/// The first few failures of each kind. Only they are ever formatted.
#[derive(Debug, Default)]
pub(crate) struct Examples {
    kept: Vec<FailureExample>,
    seen: [u8; Failure::ALL.len()],
}

impl Examples {
    /// Whether another example of `kind` would be kept.
    #[inline]
    pub(crate) fn wants(&self, kind: Failure) -> bool {
        self.seen[kind as usize] < EXAMPLES_OF_A_KIND
    }

    /// Keeps an example, if one of its kind is wanted.
    pub(crate) fn keep(&mut self, kind: Failure, detail: impl FnOnce() -> String) {
        if self.wants(kind) {
            self.seen[kind as usize] += 1;
            let detail = detail();
            self.kept.push(FailureExample { kind, detail });
        }
    }

    pub(crate) fn into_kept(self) -> Vec<FailureExample> {
        self.kept
    }
}

/// Failures by kind, phase and cause.
#[derive(Debug)]
pub(crate) struct FailureGroups(Vec<Group>);

#[derive(Debug)]
struct Group {
    fault: Fault,
    measured: u64,
    total: u64,
}

impl FailureGroups {
    pub(crate) fn new() -> Self {
        // And one group of other causes for each kind and phase.
        Self(Vec::with_capacity(GROUPS + 32))
    }

    /// Counts a failure. Looks through the groups: failures are few, or alike.
    pub(crate) fn count(&mut self, fault: Fault, measured: bool) {
        let index = match self.find(fault) {
            Some(index) => index,
            None if self.0.len() < GROUPS => self.add(fault),
            None => {
                let rest = Fault {
                    cause: Cause::Other,
                    ..fault
                };
                self.find(rest).unwrap_or_else(|| self.add(rest))
            }
        };
        self.0[index].total += 1;
        self.0[index].measured += u64::from(measured);
    }

    fn find(&self, fault: Fault) -> Option<usize> {
        self.0.iter().position(|group| group.fault == fault)
    }

    fn add(&mut self, fault: Fault) -> usize {
        self.0.push(Group {
            fault,
            measured: 0,
            total: 0,
        });
        self.0.len() - 1
    }

    pub(crate) fn describe(&self) -> Vec<FailureGroup> {
        let group = |group: &Group| FailureGroup {
            kind: group.fault.kind,
            phase: group.fault.phase,
            cause: group.fault.cause.describe(),
            measured: group.measured,
            total: group.total,
        };
        self.0.iter().map(group).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_first_examples_are_formatted() {
        let mut examples = Examples::default();
        for _ in 0..3 {
            examples.keep(Failure::Reset, || "first".to_owned());
        }
        examples.keep(Failure::Reset, || unreachable!("a fourth is not kept"));
        examples.keep(Failure::Timeout, || "another kind".to_owned());
        assert_eq!(examples.into_kept().len(), 4);
    }

    #[test]
    fn alike_failures_are_one_group_and_too_many_groups_are_joined() {
        let fault = |status| Fault {
            kind: Failure::WrongStatus,
            phase: FailurePhase::Body,
            cause: Cause::Status(status),
        };
        let mut groups = FailureGroups::new();
        for status in 500..600 {
            groups.count(fault(status), status % 2 == 0);
            groups.count(fault(status), false);
        }
        let described = groups.describe();
        assert_eq!(described.len(), GROUPS + 1);
        assert_eq!((described[0].total, described[0].measured), (2, 1));
        assert_eq!(described[0].cause, "status 500");
        assert_eq!(described.iter().map(|group| group.total).sum::<u64>(), 200);
        assert_eq!(described[GROUPS].cause, "other causes");
    }
}
