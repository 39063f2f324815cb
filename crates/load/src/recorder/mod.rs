//! What one worker saw: counters, histograms, time series, examples. One per thread, merged at the end.

mod failures;
mod intervals;

use std::{collections::BTreeMap, time::Duration};

use deadheat_model::{
    CountHistogram, FailureCounts, LatencyHistogram, LoadPhase, Observation, Tally,
    observation::{Bin, OpenLoop, ReceiveQueues, TlsSeen, WorkerHealth},
};

pub(crate) use failures::{Cause, Examples, Fault};
pub(crate) use intervals::{Message, Outlet, Return, room};

use failures::Groups;

/// Bins that a load without a known length has room for before the series must grow.
const BINS_OF_UNKNOWN_LENGTH: usize = 8 * 1024;

/// A request that ended: nanoseconds of the monotonic clock.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Times {
    /// When it should have been sent.
    pub(crate) intended: u64,
    /// When it was.
    pub(crate) started: u64,
    /// When its answer was whole.
    pub(crate) end: u64,
}

/// What stands at an instant.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Gauges {
    /// Requests on their way.
    pub(crate) in_flight: u64,
    /// Open loop: requests that wait for a connection.
    pub(crate) waiting: u64,
}

/// Bytes over the whole load so far.
#[derive(Clone, Copy, Debug, Default)]
struct Bytes {
    sent: u64,
    received: u64,
    body: u64,
    /// Those of the bodies of verified answers.
    valid: u64,
}

/// What is counted over the whole load so far; intervals are differences of it.
#[derive(Clone, Debug, Default)]
struct Running {
    issued: u64,
    succeeded: u64,
    failed: FailureCounts,
    offered: u64,
    bytes: Bytes,
}

/// Counts one worker's requests. Times are nanoseconds of the monotonic clock and never go back.
#[derive(Debug)]
pub(crate) struct Recorder {
    /// The span that lasts: the warm-up, the measurement, then the cool-down.
    span: Tally,
    /// What was issued and ended in the spans before it.
    earlier: Tally,
    /// The measurement, once it is over, and its length.
    measured: Tally,
    window: Duration,
    phase: LoadPhase,
    load_from: u64,
    measure_from: u64,
    last_end: u64,
    /// Service times of the interval that lasts, and of the measurement's intervals before it.
    service_now: LatencyHistogram,
    service_time: LatencyHistogram,
    /// Response times of the interval that lasts; only in an open loop.
    response_now: Option<LatencyHistogram>,
    /// What only an open loop has.
    open: Option<OpenLoop>,
    offered: u64,
    bin: Duration,
    bin_ns: u64,
    bin_end: u64,
    bins: Vec<Bin>,
    bytes: Bytes,
    measured_bytes: Bytes,
    content_checked: u64,
    statuses: Vec<u64>,
    connections_open: u64,
    connections_opened: u64,
    connections_peak: u64,
    connect_time: LatencyHistogram,
    handshake_time: LatencyHistogram,
    /// Handshakes, where there is TLS.
    pub(crate) tls: Option<TlsSeen>,
    answers_per_connection: CountHistogram,
    /// Requests sent again on another connection.
    pub(crate) resent: u64,
    groups: Groups,
    /// Failures kept verbatim.
    pub(crate) examples: Examples,
    /// Looks at the receive queues.
    pub(crate) queues: ReceiveQueues,
    outlet: Option<Outlet>,
    interval: u64,
    interval_from: u64,
    before: Running,
}

/// What is recorded besides the basic counts.
#[derive(Debug, Default)]
pub(crate) struct Extent {
    /// Whether the loop is open.
    pub(crate) is_open: bool,
    /// Whether there is TLS.
    pub(crate) has_tls: bool,
    /// Where intervals go, if anybody wants them.
    pub(crate) outlet: Option<Outlet>,
}

impl Recorder {
    /// A recorder with room for a measurement of `length`; `None`: of unknown length.
    pub(crate) fn new(bin: Duration, length: Option<Duration>, extent: Extent) -> Self {
        let room = match length {
            Some(length) => length.as_nanos().div_ceil(bin.as_nanos().max(1)) as usize + 1,
            None => BINS_OF_UNKNOWN_LENGTH,
        };
        Self {
            span: Tally::default(),
            earlier: Tally::default(),
            measured: Tally::default(),
            window: Duration::ZERO,
            phase: LoadPhase::WarmUp,
            load_from: 0,
            measure_from: 0,
            last_end: 0,
            service_now: LatencyHistogram::new(),
            service_time: LatencyHistogram::new(),
            response_now: extent.is_open.then(LatencyHistogram::new),
            open: extent.is_open.then(OpenLoop::default),
            offered: 0,
            bin,
            bin_ns: crate::schedule::nanos(bin).max(1),
            bin_end: 0,
            // Room for a day at the narrowest width; a longer series grows.
            bins: Vec::with_capacity(room.min(1 << 27)),
            bytes: Bytes::default(),
            measured_bytes: Bytes::default(),
            content_checked: 0,
            statuses: vec![0; 1000],
            connections_open: 0,
            connections_opened: 0,
            connections_peak: 0,
            connect_time: LatencyHistogram::new(),
            handshake_time: LatencyHistogram::new(),
            tls: extent.has_tls.then(TlsSeen::default),
            answers_per_connection: CountHistogram::new(),
            resent: 0,
            groups: Groups::new(),
            examples: Examples::default(),
            queues: ReceiveQueues::default(),
            outlet: extent.outlet,
            interval: 0,
            interval_from: 0,
            before: Running::default(),
        }
    }

    /// The load begins.
    pub(crate) fn begin(&mut self, at: u64) {
        self.load_from = at;
        self.interval_from = at;
    }

    fn is_measuring(&self) -> bool {
        self.phase == LoadPhase::Measurement
    }

    /// The warm-up is over.
    pub(crate) fn begin_measurement(&mut self, from: u64, gauges: Gauges) {
        self.roll(from, gauges);
        self.next_span(gauges.in_flight);
        self.phase = LoadPhase::Measurement;
        self.measure_from = from;
        self.last_end = from;
        self.bin_end = from.saturating_add(self.bin_ns);
        self.bins.push(Bin::default());
        self.measured_bytes = self.bytes;
    }

    /// The measurement is over, if it ever began.
    pub(crate) fn end_measurement(&mut self, at: u64, gauges: Gauges) {
        self.roll(at, gauges);
        if self.is_measuring() {
            self.measured = self.next_span(gauges.in_flight);
            self.window = Duration::from_nanos(at - self.measure_from);
            let (from, now) = (self.measured_bytes, self.bytes);
            self.measured_bytes = Bytes {
                sent: now.sent - from.sent,
                received: now.received - from.received,
                body: now.body - from.body,
                valid: now.valid - from.valid,
            };
        }
        self.phase = LoadPhase::CoolDown;
    }

    /// Open loop: what had not been sent, or not been answered, when the measurement ended. `unsent` requests wait,
    /// the oldest of them for `oldest_unsent`; the oldest on its way was due `oldest_in_flight` ago (nanoseconds).
    pub(crate) fn note_backlog(&mut self, unsent: u64, oldest_unsent: u64, oldest_in_flight: u64) {
        if let Some(open) = &mut self.open {
            open.unsent = unsent;
            open.oldest_unsent = Duration::from_nanos(oldest_unsent);
            open.oldest_in_flight = Duration::from_nanos(oldest_in_flight);
        }
    }

    /// Ends a span and begins the next one, into which `in_flight` requests reach.
    fn next_span(&mut self, in_flight: u64) -> Tally {
        self.span.in_flight = in_flight;
        let ended = std::mem::take(&mut self.span);
        self.span.carried_in = in_flight;
        add(&mut self.earlier, &ended);
        ended
    }

    /// An interval is over: its histograms join the measurement's, and the whole is handed over if anybody wants it.
    pub(crate) fn roll(&mut self, at: u64, gauges: Gauges) {
        if self.is_measuring() {
            self.service_time.merge(&self.service_now);
            if let (Some(open), Some(now)) = (&mut self.open, &self.response_now) {
                open.response_time.merge(now);
            }
        }
        if let Some(outlet) = self.outlet.take() {
            let mut part = outlet.take();
            std::mem::swap(&mut part.service_time, &mut self.service_now);
            std::mem::swap(&mut part.response_time, &mut self.response_now);
            let running = Running {
                issued: self.earlier.issued + self.span.issued,
                succeeded: self.earlier.succeeded + self.span.succeeded,
                failed: {
                    let mut failed = self.earlier.failed.clone();
                    failed.merge(&self.span.failed);
                    failed
                },
                offered: self.offered,
                bytes: self.bytes,
            };
            let before = &self.before;
            part.index = self.interval;
            part.from = Duration::from_nanos(self.interval_from - self.load_from);
            part.until = Duration::from_nanos(at - self.load_from);
            part.phase = self.phase;
            part.issued = running.issued - before.issued;
            part.succeeded = running.succeeded - before.succeeded;
            part.failed = running.failed.since(&before.failed);
            part.offered = running.offered - before.offered;
            part.sent_bytes = running.bytes.sent - before.bytes.sent;
            part.received_bytes = running.bytes.received - before.bytes.received;
            part.valid_body_bytes = running.bytes.valid - before.bytes.valid;
            part.in_flight = gauges.in_flight;
            part.waiting = gauges.waiting;
            part.connections = self.connections_open;
            self.before = running;
            self.interval += 1;
            self.interval_from = at;
            outlet.send(part);
            self.outlet = Some(outlet);
        }
        self.service_now.clear();
        if let Some(now) = &mut self.response_now {
            now.clear();
        }
    }

    /// A request is about to be written.
    #[inline]
    pub(crate) fn issued(&mut self) {
        self.span.issued += 1;
    }

    /// Open loop: a request's time has come, `late` nanoseconds ago; `counts`: it lay in the measurement.
    #[inline]
    pub(crate) fn offered(&mut self, late: u64, counts: bool) {
        self.offered += 1;
        if let (true, Some(open)) = (counts, &mut self.open) {
            open.offered += 1;
            open.send_lag.record_ns(late);
        }
    }

    /// Open loop: a request has been sent that waited for a connection for so many nanoseconds.
    #[inline]
    pub(crate) fn waited(&mut self, nanoseconds: u64) {
        if let (LoadPhase::Measurement, Some(open)) = (self.phase, &mut self.open) {
            open.connection_wait.record_ns(nanoseconds);
        }
    }

    /// A verified answer came, with so many bytes of body.
    #[inline]
    pub(crate) fn succeeded(&mut self, times: Times, body_bytes: u64) {
        self.span.succeeded += 1;
        self.bytes.valid += body_bytes;
        self.service_now.record_ns(times.end - times.started);
        if let Some(response) = &mut self.response_now {
            response.record_ns(times.end - times.intended);
        }
        if self.is_measuring() {
            self.bin_at(times.end).succeeded += 1;
        }
    }

    /// A request failed at `end`; `detail` is formatted if it is kept as an example.
    #[cold]
    pub(crate) fn failed(&mut self, fault: Fault, end: u64, detail: impl FnOnce() -> String) {
        self.span.failed[fault.kind] += 1;
        self.groups.count(fault, self.is_measuring());
        self.examples.keep(fault.kind, detail);
        if self.is_measuring() {
            self.bin_at(end).failed += 1;
        }
    }

    #[inline]
    fn bin_at(&mut self, end: u64) -> &mut Bin {
        self.last_end = end;
        while end >= self.bin_end {
            self.bins.push(Bin::default());
            self.bin_end = self.bin_end.saturating_add(self.bin_ns);
        }
        let last = self.bins.len() - 1;
        &mut self.bins[last]
    }

    /// Bytes of requests were written.
    #[inline]
    pub(crate) fn sent(&mut self, bytes: usize) {
        self.bytes.sent += bytes as u64;
    }

    /// Bytes of answers came, and of them so many of bodies.
    #[inline]
    pub(crate) fn received(&mut self, bytes: usize, of_bodies: u64) {
        self.bytes.received += bytes as u64;
        self.bytes.body += of_bodies;
    }

    /// A whole answer came, right or wrong.
    #[inline]
    pub(crate) fn answered(&mut self, status: u16, content_checked: bool) {
        if self.is_measuring() {
            if let Some(count) = self.statuses.get_mut(usize::from(status)) {
                *count += 1;
            }
            self.content_checked += u64::from(content_checked);
        }
    }

    /// A connection was made, in so many nanoseconds.
    pub(crate) fn connection_opened(&mut self, nanoseconds: u64) {
        self.connect_time.record_ns(nanoseconds);
        self.connections_opened += 1;
        self.connections_open += 1;
        self.connections_peak = self.connections_peak.max(self.connections_open);
    }

    /// TLS was agreed on, in so many nanoseconds.
    pub(crate) fn handshake_done(&mut self, nanoseconds: u64) {
        self.handshake_time.record_ns(nanoseconds);
    }

    /// A connection ended that had carried so many answers.
    pub(crate) fn connection_closed(&mut self, answers: u64) {
        self.connections_open -= 1;
        self.answers_per_connection.record(answers);
    }

    /// A connection that has carried so many answers is still open at the load's end.
    pub(crate) fn connection_lasted(&mut self, answers: u64) {
        self.answers_per_connection.record(answers);
    }

    /// Requests that were issued and have not ended, by the counts.
    #[inline]
    pub(crate) fn outstanding(&self) -> u64 {
        self.span.carried_in + self.span.issued - self.span.ended()
    }

    /// When the last request of the measurement ended; its start if none did.
    pub(crate) fn last_end(&self) -> u64 {
        self.last_end
    }

    /// The observation of a load that ended with `in_flight` requests under way.
    pub(crate) fn into_observation(mut self, in_flight: u64, health: WorkerHealth) -> Observation {
        self.span.in_flight = in_flight;
        let in_use = self.bins_in_use();
        let mut total = self.earlier;
        add(&mut total, &self.span);
        total.in_flight = in_flight;
        let (measured, window) = (self.measured, self.window);
        let bins = window.as_nanos().div_ceil(u128::from(self.bin_ns)) as usize;
        // An end exactly on a bin's edge has opened the bin after the last one.
        self.bins.resize(bins.max(in_use), Bin::default());
        let bytes = match window {
            Duration::ZERO => Bytes::default(),
            _ => self.measured_bytes,
        };
        let statuses = (0u16..).zip(self.statuses).filter(|(_, count)| *count > 0);
        Observation {
            total,
            measured,
            window,
            service_time: self.service_time,
            bin: self.bin,
            bins: self.bins,
            connections_opened: self.connections_opened,
            connections_peak: self.connections_peak,
            connect_time: self.connect_time,
            handshake_time: self.handshake_time,
            tls: self.tls,
            answers_per_connection: self.answers_per_connection,
            resent: self.resent,
            statuses: statuses.collect::<BTreeMap<u16, u64>>(),
            failures: self.groups.describe(),
            open: self.open,
            receive_queues: self.queues,
            sent_bytes: bytes.sent,
            received_bytes: bytes.received,
            body_bytes: bytes.body,
            valid_body_bytes: bytes.valid,
            content_checked: self.content_checked,
            workers: vec![health],
            examples: self.examples.into_kept(),
        }
    }

    fn bins_in_use(&self) -> usize {
        let used = |bin: &Bin| *bin != Bin::default();
        self.bins.iter().rposition(used).map_or(0, |last| last + 1)
    }
}

/// Adds what was issued and ended in a span; what was in flight at its edges cancels out between spans.
fn add(sum: &mut Tally, span: &Tally) {
    sum.issued += span.issued;
    sum.succeeded += span.succeeded;
    sum.failed.merge(&span.failed);
}

#[cfg(test)]
mod tests {
    use deadheat_model::{Failure, failure::FailurePhase};

    use super::*;

    const MS: u64 = 1_000_000;

    fn recorder() -> Recorder {
        let length = Some(Duration::from_millis(100));
        Recorder::new(Duration::from_millis(10), length, Extent::default())
    }

    fn in_flight(in_flight: u64) -> Gauges {
        Gauges {
            in_flight,
            waiting: 0,
        }
    }

    fn succeed(recorder: &mut Recorder, started: u64, end: u64) {
        let times = Times {
            intended: started,
            started,
            end,
        };
        recorder.succeeded(times, 7);
    }

    fn fail(recorder: &mut Recorder, kind: Failure, end: u64) {
        let fault = Fault {
            kind,
            phase: FailurePhase::Body,
            cause: Cause::Other,
        };
        recorder.failed(fault, end, String::new);
    }

    fn health() -> WorkerHealth {
        WorkerHealth {
            cpu: None,
            cpu_time: Duration::ZERO,
            polled: Duration::ZERO,
            run_delay: None,
            wall: Duration::ZERO,
        }
    }

    #[test]
    fn spans_conserve_over_the_edge() {
        let mut recorder = recorder();
        for _ in 0..5 {
            recorder.issued();
        }
        succeed(&mut recorder, 0, MS);
        fail(&mut recorder, Failure::Reset, MS);
        assert_eq!(recorder.outstanding(), 3);
        recorder.begin_measurement(10 * MS, in_flight(3));
        recorder.issued();
        succeed(&mut recorder, 5 * MS, 12 * MS);
        fail(&mut recorder, Failure::Timeout, 35 * MS);
        recorder.end_measurement(110 * MS, in_flight(2));
        succeed(&mut recorder, 5 * MS, 120 * MS);
        let seen = recorder.into_observation(1, health());
        assert!(seen.total.is_conserved() && seen.measured.is_conserved());
        assert_eq!((seen.measured.in_flight, seen.total.in_flight), (2, 1));
        assert_eq!((seen.measured.succeeded, seen.total.succeeded), (1, 3));
        assert_eq!(
            (
                seen.measured.carried_in,
                seen.measured.issued,
                seen.total.issued
            ),
            (3, 1, 6)
        );
        assert_eq!(seen.service_time.count(), 1);
        assert_eq!(seen.valid_body_bytes, 7, "of the one that ended in it");
        assert_eq!(seen.window, Duration::from_millis(100));
        assert_eq!(seen.bins.len(), 10);
        let (first, third) = (seen.bins[0], seen.bins[2]);
        assert_eq!((first.succeeded, first.failed), (1, 0));
        assert_eq!((third.succeeded, third.failed), (0, 1));
    }

    #[test]
    fn an_end_in_the_warm_up_measures_nothing() {
        let mut recorder = recorder();
        recorder.issued();
        recorder.issued();
        succeed(&mut recorder, 0, 1);
        let seen = recorder.into_observation(1, health());
        assert!(seen.total.is_conserved());
        assert_eq!(seen.measured, Tally::default());
        assert_eq!((seen.window, seen.bins.len()), (Duration::ZERO, 0));
    }

    #[test]
    fn bins_follow_the_time_even_over_gaps() {
        let mut recorder = recorder();
        recorder.begin_measurement(0, in_flight(0));
        for end in [0, 10 * MS - 1, 10 * MS, 95 * MS] {
            recorder.issued();
            succeed(&mut recorder, end, end);
        }
        let counts = |seen: Observation| {
            seen.bins
                .iter()
                .map(|bin| bin.succeeded)
                .collect::<Vec<_>>()
        };
        recorder.end_measurement(100 * MS, in_flight(0));
        let seen = recorder.into_observation(0, health());
        assert_eq!(counts(seen), [2, 1, 0, 0, 0, 0, 0, 0, 0, 1]);
    }
}
