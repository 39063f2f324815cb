//! The measurements of a worker: counters, histograms, time series, examples. One per thread and slice, merged later.

mod counters;
mod intervals;

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use deadheat_model::{
    LatencyHistogram, LoadPhase, Observation, Tally,
    observation::{EventsSeen, GroupSeen, OpenLoop, RouteSeen, TlsSeen, WorkerHealth},
};

pub(crate) use self::counters::{Cause, Examples, Fault, Gauges};
pub(crate) use intervals::{BufferReturn, IntervalRecorder, message_queue_capacity};

use crate::{http_connection::InFlight, plan::Plan};
use counters::{BinSeries, Bytes, FailureGroups};

/// Counts over the whole load so far. Intervals are differences of them.
#[derive(Debug, Default)]
struct RunningTotals {
    requests: Tally,
    offered: u64,
    bytes: Bytes,
    /// Events of answers that are streams, if they are counted.
    events: Option<u64>,
}

/// Counts one worker's requests. Times are nanoseconds of the monotonic clock and never go back.
#[derive(Debug)]
pub(crate) struct Recorder {
    /// What is recorded so far. [`Self::into_observation`] adds what is kept in another form.
    pub(crate) seen: Observation,
    phase: LoadPhase,
    measure_from: u64,
    last_end: u64,
    /// When the first and the last of the measurement's own requests ended.
    own_ends: Option<(u64, u64)>,
    /// Open loop: requests that became due over the whole load so far.
    offered: u64,
    /// Service times of the current interval, and in an open loop its response times.
    service_now: LatencyHistogram,
    response_now: Option<LatencyHistogram>,
    /// Whether the times of the measurement's requests are recorded that end after it.
    to_their_end: bool,
    /// Events of answers that are streams, over the whole load so far.
    events: u64,
    /// The group of each exchange; empty if there are no groups.
    group_of: Arc<[Option<u32>]>,
    series: BinSeries,
    /// Bytes over the whole load so far, and before the measurement.
    bytes: Bytes,
    bytes_before: Bytes,
    /// Answers by status: to the measurement's requests, and over the whole load.
    statuses: Vec<u64>,
    all_statuses: Vec<u64>,
    /// Connections that are open, and those that replaced an earlier one.
    open: u64,
    made_again: u64,
    failures: FailureGroups,
    /// Failures kept verbatim.
    pub(crate) examples: Examples,
    /// `None`: no intervals were asked for.
    intervals: Option<IntervalRecorder>,
}

/// Up to this many groups, each has a full-size histogram from the start. With more, histograms grow when needed.
const WITH_ROOM: usize = 16;

/// Empty counts for each group.
fn groups(group_of: &[Option<u32>]) -> Vec<GroupSeen> {
    let last = group_of.iter().flatten().max();
    let count = last.map_or(0, |last| *last as usize + 1);
    let service_time = if count > WITH_ROOM {
        LatencyHistogram::small()
    } else {
        LatencyHistogram::new()
    };
    let one = GroupSeen {
        service_time,
        late: LatencyHistogram::small(),
        ..GroupSeen::default()
    };
    vec![one; count]
}

impl Recorder {
    /// A recorder of one slice, for the figures that `plan` asks for.
    pub(crate) fn new(plan: &Plan, intervals: Option<IntervalRecorder>) -> Self {
        let is_open = plan.arrivals.is_some();
        // The counts of a single route are those of the load.
        let routes = match plan.routes.all() {
            [_] => 0,
            all => all.len(),
        };
        Self {
            seen: Observation {
                service_time_with_connect: plan.per_request.then(LatencyHistogram::new),
                first_byte: plan.first_byte.then(LatencyHistogram::new),
                // In a slice, these requests are recorded when they end.
                in_flight_ages: (!plan.to_their_end).then(LatencyHistogram::new),
                events: plan.stream.is_some().then(EventsSeen::default),
                groups: groups(&plan.groups),
                routes: vec![RouteSeen::default(); routes],
                tls: plan.routes.have_tls().then(TlsSeen::default),
                open: is_open.then(OpenLoop::default),
                ..Observation::default()
            },
            phase: LoadPhase::WarmUp,
            measure_from: 0,
            last_end: 0,
            own_ends: None,
            offered: 0,
            service_now: LatencyHistogram::new(),
            response_now: is_open.then(LatencyHistogram::new),
            to_their_end: plan.to_their_end,
            events: 0,
            group_of: Arc::clone(&plan.groups),
            series: BinSeries::new(plan.bin),
            bytes: Bytes::default(),
            bytes_before: Bytes::default(),
            statuses: vec![0; 1000],
            all_statuses: vec![0; 1000],
            open: 0,
            made_again: 0,
            failures: FailureGroups::new(),
            examples: Examples::default(),
            intervals,
        }
    }

    /// Begins the load at `at` with `open` connections. `length`: the longest measurement in nanoseconds, if known.
    pub(crate) fn begin(&mut self, at: u64, open: u64, length: Option<u64>) {
        if let Some(intervals) = &mut self.intervals {
            intervals.begin(at);
        }
        (self.open, self.seen.connections_peak) = (open, open);
        self.series.reserve(length);
    }

    fn is_measuring(&self) -> bool {
        self.phase == LoadPhase::Measurement
    }

    /// Ends the warm-up and begins the measurement.
    pub(crate) fn begin_measurement(&mut self, from: u64, gauges: Gauges) {
        self.roll(from, gauges);
        self.seen.measured.carried_in = gauges.in_flight;
        self.phase = LoadPhase::Measurement;
        self.measure_from = from;
        self.last_end = from;
        self.series.begin(from);
        self.bytes_before = self.bytes;
    }

    /// Ends the measurement, if it ever began; `under_way` are the starts of the requests in flight.
    pub(crate) fn end_measurement(
        &mut self,
        at: u64,
        gauges: Gauges,
        under_way: impl Iterator<Item = u64>,
    ) {
        self.roll(at, gauges);
        if self.is_measuring() {
            let window = Duration::from_nanos(at - self.measure_from);
            for started in under_way {
                if let Some(ages) = &mut self.seen.in_flight_ages {
                    ages.record_ns(at - started);
                }
                self.seen.cut += Duration::from_nanos(at - started.max(self.measure_from));
                if started < self.measure_from {
                    self.seen.carried += window;
                }
            }
            self.seen.measured.in_flight = gauges.in_flight;
            self.seen.window = window;
            if !window.is_zero() {
                let bytes = self.bytes.since(self.bytes_before);
                self.seen.sent_bytes = bytes.sent;
                self.seen.received_bytes = bytes.received;
                self.seen.body_bytes = bytes.body;
            }
        }
        self.phase = LoadPhase::Drain;
    }

    /// Open loop: records the backlog at the end of the measurement. `unsent` requests wait, the oldest of them for
    /// `oldest_unsent`; the oldest one in flight was due `oldest_in_flight` ago (nanoseconds).
    pub(crate) fn note_backlog(&mut self, unsent: u64, oldest_unsent: u64, oldest_in_flight: u64) {
        if let Some(open) = &mut self.seen.open {
            open.unsent = unsent;
            open.oldest_unsent = Duration::from_nanos(oldest_unsent);
            open.oldest_in_flight = Duration::from_nanos(oldest_in_flight);
        }
    }

    /// Ends an interval: adds its histograms to the measurement's, and sends it if intervals were asked for. Where the last
    /// answer ended the load before the interval began, nothing is in it, and it is not sent.
    pub(crate) fn roll(&mut self, at: u64, gauges: Gauges) {
        if self.is_measuring() {
            self.seen.service_time.merge(&self.service_now);
            if let (Some(open), Some(now)) = (&mut self.seen.open, &self.response_now) {
                open.response_time.merge(now);
            }
        }
        let intervals = self.intervals.as_mut();
        if let Some(intervals) = intervals.filter(|one| one.from() <= at) {
            let mut part = intervals.next(
                at,
                RunningTotals {
                    requests: self.seen.total.clone(),
                    offered: self.offered,
                    bytes: self.bytes,
                    events: self.seen.events.as_ref().map(|_| self.events),
                },
            );
            std::mem::swap(&mut part.service_time, &mut self.service_now);
            std::mem::swap(&mut part.response_time, &mut self.response_now);
            part.phase = self.phase;
            part.in_flight = gauges.in_flight;
            part.waiting = gauges.waiting;
            part.connections = self.open;
            intervals.send(part);
        }
        self.service_now.clear();
        if let Some(now) = &mut self.response_now {
            now.clear();
        }
    }

    /// After the load: sends the intervals that nobody has taken yet.
    pub(crate) fn send_rest(&mut self) {
        if let Some(intervals) = &mut self.intervals {
            intervals.send_rest();
        }
    }

    /// Counts a request that is about to be written, or that fails before it can be.
    #[inline]
    pub(crate) fn issued(&mut self) {
        self.seen.total.issued += 1;
        self.seen.measured.issued += u64::from(self.is_measuring());
    }

    /// Open loop: counts requests that became due; `counted` of them were due in the measurement.
    #[inline]
    pub(crate) fn offered(&mut self, requests: u64, counted: u64) {
        self.offered += requests;
        if let Some(open) = &mut self.seen.open {
            open.offered += counted;
        }
    }

    /// Open loop: records the send lag of a request in nanoseconds; `counts`: it was due in the measurement.
    #[inline]
    pub(crate) fn lagged(&mut self, nanoseconds: u64, counts: bool) {
        if let (true, Some(open)) = (counts, &mut self.seen.open) {
            open.send_lag.record_ns(nanoseconds);
        }
    }

    /// Open loop: records send lags of requests of the measurement, evenly spread from `from` to `to` nanoseconds.
    pub(crate) fn lagged_evenly(&mut self, from: u64, to: u64, requests: u64) {
        if let Some(open) = &mut self.seen.open {
            open.send_lag.record_evenly(from, to, requests);
        }
    }

    /// Open loop: records that a request of the measurement had waited for this long, in nanoseconds, when the
    /// measurement ended. It is never sent. In a slice, that is a lower bound of its response time.
    pub(crate) fn left_waiting(&mut self, nanoseconds: u64) {
        if let (true, Some(open)) = (self.to_their_end, &mut self.seen.open) {
            open.response_time.record_ns(nanoseconds);
        }
    }

    /// Like [`Self::left_waiting`], for requests that had waited for up to `longest`, evenly spread.
    pub(crate) fn left_waiting_evenly(&mut self, longest: u64, requests: u64) {
        if let (true, Some(open)) = (self.to_their_end, &mut self.seen.open) {
            open.response_time.record_evenly(0, longest, requests);
        }
    }

    /// Open loop: records how long a request waited for a connection, in nanoseconds.
    #[inline]
    pub(crate) fn waited(&mut self, nanoseconds: u64) {
        if let (LoadPhase::Measurement, Some(open)) = (self.phase, &mut self.seen.open) {
            open.connection_wait.record_ns(nanoseconds);
        }
    }

    /// The counts of an exchange's group.
    #[inline]
    fn group(&mut self, exchange: u32) -> Option<&mut GroupSeen> {
        let group = (*self.group_of.get(exchange as usize)?)?;
        self.seen.groups.get_mut(group as usize)
    }

    /// Counts a verified answer, with this many bytes of body, that was complete at `end`. `dialled`: when its request's
    /// connection was dialled; `first_byte`: when its first byte arrived, meaningless if first bytes are not recorded.
    #[inline]
    pub(crate) fn succeeded(
        &mut self,
        flight: InFlight,
        dialled: u64,
        first_byte: u64,
        end: u64,
        body_bytes: u64,
    ) {
        let (started, exchange) = (flight.started, flight.exchange);
        let (service_time, response_time) = (end - started, end - flight.intended);
        self.seen.total.succeeded += 1;
        self.bytes.valid += body_bytes;
        if let Some(group) = self.group(exchange) {
            group.total_succeeded += 1;
        }
        if self.is_measuring() {
            self.last_end = end;
            self.series.at(end).succeeded += 1;
            if started < self.measure_from {
                let part = Duration::from_nanos(end - self.measure_from);
                self.seen.measured.carried_succeeded += 1;
                self.seen.cut += part;
                self.seen.carried += part;
                return;
            }
            self.note_own_end(end);
            self.seen.measured.succeeded += 1;
            self.seen.valid_body_bytes += body_bytes;
            if let Some(group) = self.group(exchange) {
                group.succeeded += 1;
                group.valid_body_bytes += body_bytes;
                group.service_time.record_ns(service_time);
            }
            if let Some(with_connect) = &mut self.seen.service_time_with_connect {
                with_connect.record_ns(end - dialled);
            }
            if let Some(times) = &mut self.seen.first_byte {
                times.record_ns(first_byte - started);
            }
        }
        self.service_now.record_ns(service_time);
        if let Some(now) = &mut self.response_now {
            now.record_ns(response_time);
        }
        if self.drained(started, end) {
            if self.to_their_end {
                self.seen.service_time.record_ns(service_time);
                if let Some(open) = &mut self.seen.open {
                    open.response_time.record_ns(response_time);
                }
            }
            if let Some(group) = self.group(exchange) {
                group.late.record_ns(service_time);
            }
        }
    }

    /// A request that began at `started` was in flight until `end`. It counts if it began in the measurement and the
    /// measurement is over. Returns whether it does.
    #[inline]
    pub(crate) fn drained(&mut self, started: u64, end: u64) -> bool {
        let measured_until = self.measure_from + self.seen.window.as_nanos() as u64;
        let counts = self.phase == LoadPhase::Drain
            && (self.measure_from..measured_until).contains(&started);
        if counts {
            self.seen.draining += Duration::from_nanos(end.saturating_sub(measured_until));
        }
        counts
    }

    /// A request that began at `started` failed at `end`; `exchange` is its own, if it was sent. `detail` is formatted if
    /// it is kept as an example.
    #[cold]
    pub(crate) fn failed(
        &mut self,
        fault: Fault,
        started: u64,
        exchange: Option<u32>,
        end: u64,
        detail: impl FnOnce() -> String,
    ) {
        let carried = self.is_measuring() && started < self.measure_from;
        self.seen.total.failed[fault.kind] += 1;
        self.failures.count(fault, self.is_measuring() && !carried);
        self.examples.keep(fault.kind, detail);
        self.drained(started, end);
        if self.is_measuring() {
            self.last_end = end;
            self.series.at(end).failed += 1;
            if carried {
                self.seen.measured.carried_failed += 1;
                self.seen.carried += Duration::from_nanos(end - self.measure_from);
            } else {
                self.note_own_end(end);
                self.seen.measured.failed[fault.kind] += 1;
                if let Some(group) = exchange.and_then(|exchange| self.group(exchange)) {
                    group.failed += 1;
                }
            }
        }
    }

    /// Counts events that arrived with one read at `at`, in the answer to a request that began at `started`. `before`:
    /// when the previous event arrived; `None`: these are the answer's first.
    pub(crate) fn events_came(&mut self, count: u64, at: u64, started: u64, before: Option<u64>) {
        self.events += count;
        let (true, Some(seen)) = (self.is_measuring(), &mut self.seen.events) else {
            return;
        };
        seen.events += count;
        match before {
            Some(before) => seen.gap.record_ns(at - before),
            None if started >= self.measure_from => seen.first_event.record_ns(at - started),
            // Part of the wait lies before the measurement.
            None => {}
        }
        if count > 1 {
            seen.gap.record_none(count - 1);
        }
    }

    /// Counts a valid answer without an event to a request that began at `started`.
    #[cold]
    pub(crate) fn had_no_event(&mut self, started: u64) {
        let counts = self.is_measuring() && started >= self.measure_from;
        if let (true, Some(events)) = (counts, &mut self.seen.events) {
            events.without += 1;
        }
    }

    /// Records the time since the last event of an answer at the end of the measurement, in nanoseconds.
    pub(crate) fn note_open_gap(&mut self, nanoseconds: u64) {
        if let (true, Some(events)) = (self.is_measuring(), &mut self.seen.events) {
            events.open_gap = Duration::from_nanos(nanoseconds);
        }
    }

    /// Counts a connection on `route` that took this many nanoseconds to open; `again`: it replaced an earlier one.
    pub(crate) fn opened(&mut self, route: u32, nanoseconds: u64, again: bool) {
        self.seen.connect_time.record_ns(nanoseconds);
        self.made_again += u64::from(again);
        self.open += 1;
        self.seen.connections_opened += 1;
        self.seen.connections_peak = self.seen.connections_peak.max(self.open);
        if let Some(seen) = self.seen.routes.get_mut(route as usize) {
            seen.connections_opened += 1;
        }
    }

    /// Connections that replaced an earlier one.
    pub(crate) fn made_again(&self) -> u64 {
        self.made_again
    }

    /// Counts the end of a connection after this many answers; `None`: it had ended before the load began.
    pub(crate) fn closed(&mut self, answers: Option<u64>) {
        self.open -= 1;
        if let Some(answers) = answers {
            self.seen.answers_per_connection.record(answers);
        }
    }

    /// Counts the end of a request on `route` that began at `started`.
    #[inline]
    pub(crate) fn ended_on(&mut self, route: u32, started: u64, is_valid: bool) {
        let is_measuring = self.is_measuring();
        if let Some(seen) = self.seen.routes.get_mut(route as usize)
            && is_measuring
            && started >= self.measure_from
        {
            seen.succeeded += u64::from(is_valid);
            seen.failed += u64::from(!is_valid);
        }
    }

    /// Counts bytes of requests that were written.
    #[inline]
    pub(crate) fn sent(&mut self, bytes: usize) {
        self.bytes.sent += bytes as u64;
    }

    /// Counts received bytes, `of_bodies` of which belong to bodies.
    #[inline]
    pub(crate) fn received(&mut self, bytes: usize, of_bodies: u64) {
        self.bytes.received += bytes as u64;
        self.bytes.body += of_bodies;
    }

    /// Counts a complete answer, valid or not, to a request that began at `started`.
    #[inline]
    pub(crate) fn answered(&mut self, started: u64, status: u16, content_checked: bool) {
        let status = usize::from(status);
        if let Some(count) = self.all_statuses.get_mut(status) {
            *count += 1;
        }
        if self.is_measuring() && started >= self.measure_from {
            if let Some(count) = self.statuses.get_mut(status) {
                *count += 1;
            }
            self.seen.content_checked += u64::from(content_checked);
        }
    }

    /// Counts a followed redirect with this status, to a request that began at `started`.
    pub(crate) fn followed(&mut self, started: u64, status: u16) {
        if self.is_measuring() && started >= self.measure_from {
            *self.seen.followed.entry(status).or_default() += 1;
        }
    }

    /// Requests that were issued and have not ended, by the counts.
    #[inline]
    pub(crate) fn outstanding(&self) -> u64 {
        self.seen.total.issued - self.seen.total.ended()
    }

    #[inline]
    fn note_own_end(&mut self, end: u64) {
        let first = self.own_ends.map_or(end, |(first, _)| first);
        self.own_ends = Some((first, end));
    }

    /// When the first and the last of the measurement's own requests ended.
    pub(crate) fn own_ends(&self) -> Option<(u64, u64)> {
        self.own_ends
    }

    /// Counts a wait in vain for 100 (Continue), in nanoseconds, by a request that began at `started`.
    #[cold]
    pub(crate) fn waited_for_continue(&mut self, started: u64, nanoseconds: u64) {
        if self.is_measuring() && started >= self.measure_from {
            let waits = &mut self.seen.own_waits.for_continue;
            waits.add(Duration::from_nanos(nanoseconds));
        }
    }

    /// Counts the wait before another attempt to connect, in nanoseconds.
    #[cold]
    pub(crate) fn waits_before_connecting(&mut self, nanoseconds: u64) {
        if self.is_measuring() {
            let waits = &mut self.seen.own_waits.before_connecting;
            waits.add(Duration::from_nanos(nanoseconds));
        }
    }

    /// When the last request of the measurement ended; its start if none did.
    pub(crate) fn last_end(&self) -> u64 {
        self.last_end
    }

    /// The observation of a load that ended with `in_flight` requests under way.
    pub(crate) fn into_observation(self, in_flight: u64, health: WorkerHealth) -> Observation {
        let mut seen = self.seen;
        seen.total.in_flight = in_flight;
        (seen.bin, seen.bins) = self.series.into_bins(seen.window);
        seen.statuses = above_zero(self.statuses);
        seen.all_statuses = above_zero(self.all_statuses);
        seen.failures = self.failures.describe();
        seen.examples = self.examples.into_kept();
        seen.workers = vec![health];
        seen.in_flight_ages = seen.in_flight_ages.filter(|ages| !ages.is_empty());
        seen
    }
}

/// The statuses with a count above zero.
fn above_zero(statuses: Vec<u64>) -> BTreeMap<u16, u64> {
    let all = (0..).zip(statuses);
    all.filter(|(_, count)| *count > 0).collect()
}

#[cfg(test)]
mod tests;
