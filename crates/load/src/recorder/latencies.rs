//! How long requests took.

use deadheat_model::{LatencyHistogram, observation::OpenLoop};

use super::{Extent, RequestTimes};

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
