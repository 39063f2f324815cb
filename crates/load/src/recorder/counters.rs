//! The counters and histograms of a recorder, by subject: latencies, connections, events of streams, and the
//! measurement in bins.

use std::time::Duration;

use deadheat_model::{
    CountHistogram, LatencyHistogram,
    observation::{Bin, EventsSeen, OpenLoop, TlsSeen},
};

use super::Extent;
use crate::schedule::nanos;

/// How long requests took: service times, and of an open loop response times.
#[derive(Debug)]
pub(super) struct Latencies {
    /// Service times of the interval that lasts, and of the measurement's intervals before it.
    pub(super) service_now: LatencyHistogram,
    pub(super) service_time: LatencyHistogram,
    /// Service times with connecting, in the measurement; only with a connection per request.
    pub(super) with_connect: Option<LatencyHistogram>,
    /// Times to the first byte, in the measurement; only where they were asked for.
    pub(super) first_byte: Option<LatencyHistogram>,
    /// Response times of the interval that lasts; only in an open loop.
    pub(super) response_now: Option<LatencyHistogram>,
    /// What only an open loop has.
    pub(super) open: Option<OpenLoop>,
    to_their_end: bool,
}

impl Latencies {
    pub(super) fn new(extent: &Extent) -> Self {
        let is_open = extent.is_open;
        Self {
            service_now: LatencyHistogram::new(),
            service_time: LatencyHistogram::new(),
            with_connect: extent.per_request.then(LatencyHistogram::new),
            first_byte: extent.first_byte.then(LatencyHistogram::new),
            response_now: is_open.then(LatencyHistogram::new),
            open: is_open.then(OpenLoop::default),
            to_their_end: extent.to_their_end,
        }
    }

    /// A request ended well that belongs to the interval; `measured`: to the measurement, too.
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

    /// A request of the measurement ended well after it.
    pub(super) fn record_late(&mut self, times: RequestTimes) {
        if self.to_their_end {
            self.service_time.record_ns(times.end - times.started);
            if let Some(open) = &mut self.open {
                open.response_time.record_ns(times.end - times.intended);
            }
        }
    }

    /// An interval of the measurement is over.
    pub(super) fn keep(&mut self) {
        self.service_time.merge(&self.service_now);
        if let (Some(open), Some(now)) = (&mut self.open, &self.response_now) {
            open.response_time.merge(now);
        }
    }

    /// Another interval begins.
    pub(super) fn clear(&mut self) {
        self.service_now.clear();
        if let Some(now) = &mut self.response_now {
            now.clear();
        }
    }
}

/// Connections over a whole load: how many, and how long they took to be made.
#[derive(Debug)]
pub(crate) struct Connections {
    open: u64,
    pub(super) opened: u64,
    pub(super) peak: u64,
    again: u64,
    pub(super) connect_time: LatencyHistogram,
    pub(super) handshake_time: LatencyHistogram,
    /// Handshakes, where there is TLS.
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

    /// A load begins with this many that are open already.
    pub(super) fn begin(&mut self, open: u64) {
        (self.open, self.peak) = (open, open);
    }

    /// Those that are open.
    pub(crate) fn open(&self) -> u64 {
        self.open
    }

    /// Those that took the place of an earlier one.
    pub(crate) fn made_again(&self) -> u64 {
        self.again
    }

    /// One was made, in this many nanoseconds; `again`: in the place of an earlier one.
    pub(crate) fn opened(&mut self, nanoseconds: u64, again: bool) {
        self.connect_time.record_ns(nanoseconds);
        self.again += u64::from(again);
        self.opened += 1;
        self.open += 1;
        self.peak = self.peak.max(self.open);
    }

    /// TLS was agreed on, in this many nanoseconds.
    pub(crate) fn handshake_done(&mut self, nanoseconds: u64) {
        self.handshake_time.record_ns(nanoseconds);
    }

    /// One ended that had carried this many answers; `None`: it had ended before the load began.
    pub(crate) fn closed(&mut self, answers: Option<u64>) {
        self.open -= 1;
        if let Some(answers) = answers {
            self.answers.record(answers);
        }
    }

    /// One that has carried this many answers is still open at the load's end.
    pub(crate) fn lasted(&mut self, answers: u64) {
        self.answers.record(answers);
    }
}

/// Events that came with one read: nanoseconds of the monotonic clock.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EventBatch {
    /// How many, at least 1.
    pub(crate) count: u64,
    /// When they came.
    pub(crate) at: u64,
    /// When their request was sent.
    pub(crate) started: u64,
    /// When the event before them came; `None`: they are the answer's first.
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
            // It was waited for before the measurement, too.
            None => {}
        }
        if came.count > 1 {
            self.seen.gap.record_none(came.count - 1);
        }
    }
}

/// Bins that a load without a known length has room for before the series must grow.
const BINS_OF_UNKNOWN_LENGTH: usize = 8 * 1024;
/// Room for a day at the narrowest width; a longer series grows.
const MOST_AT_FIRST: usize = 1 << 27;

/// The measurement in bins of one width: what ended in each.
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
        self.bins.reserve_exact(room.min(MOST_AT_FIRST));
    }

    /// The measurement begins.
    pub(super) fn begin(&mut self, from: u64) {
        self.end = from.saturating_add(self.width_ns);
        self.bins.push(Bin::default());
    }

    /// The bin of what ends at `end`. Time never goes back.
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

/// A request that ended: nanoseconds of the monotonic clock.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RequestTimes {
    /// When it should have been sent.
    pub(crate) intended: u64,
    /// When the connection that it went out on was begun.
    pub(crate) dialled: u64,
    /// When it was.
    pub(crate) started: u64,
    /// When its answer began to come; where that is not recorded, anything.
    pub(crate) first_byte: u64,
    /// When its answer was whole.
    pub(crate) end: u64,
}

/// Requests in flight and waiting, at an instant.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Gauges {
    /// Requests on their way.
    pub(crate) in_flight: u64,
    /// Open loop: requests that wait for a connection.
    pub(crate) waiting: u64,
}
