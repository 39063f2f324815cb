//! The measurements of a worker: counters, histograms, time series, examples. One per thread and slice, merged later.

mod counters;
mod intervals;

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use deadheat_model::{
    FailureCounts, LatencyHistogram, LoadPhase, Observation, Tally,
    observation::{
        CookiesSeen, CountedTime, GroupSeen, OwnWaits, ReceiveQueues, RouteSeen, Unmade,
        WorkerHealth,
    },
};

pub(crate) use counters::{Cause, EventBatch, Examples, Fault, Gauges, RequestTimes};
pub(crate) use intervals::{BufferReturn, IntervalSender, message_queue_capacity};

use counters::{BinSeries, Bytes, Connections, EventTotals, FailureGroups, Latencies};
use intervals::IntervalRecorder;

/// Counts over the whole load so far. Intervals are differences of them.
#[derive(Clone, Debug, Default)]
struct RunningTotals {
    issued: u64,
    succeeded: u64,
    failed: FailureCounts,
    offered: u64,
    bytes: Bytes,
    /// Events of answers that are streams, if they are counted.
    events: Option<u64>,
}

/// Answers to the measurement's requests.
#[derive(Debug)]
struct AnswerCounts {
    /// By status.
    statuses: Vec<u64>,
    /// By status, over all requests of the load.
    all_statuses: Vec<u64>,
    content_checked: u64,
    /// Bytes in the bodies of verified answers.
    valid_bytes: u64,
}

/// Counts one worker's requests. Times are nanoseconds of the monotonic clock and never go back.
#[derive(Debug)]
pub(crate) struct Recorder {
    /// The whole load so far.
    total: Tally,
    /// The measurement so far, and its length once it is over.
    measured: Tally,
    window: Duration,
    phase: LoadPhase,
    measure_from: u64,
    /// Time in the measurement of requests that began before it or were in flight at its end.
    cut: u64,
    /// Time in the measurement of requests that were in flight at its start.
    carried: u64,
    /// Time after the measurement of requests that began in it.
    draining: u64,
    last_end: u64,
    /// When the first and the last of the measurement's own requests ended.
    own_ends: Option<(u64, u64)>,
    /// The time of the requests, if a count ended the load.
    pub(crate) counted: Option<CountedTime>,
    pub(crate) own_waits: OwnWaits,
    offered: u64,
    latencies: Latencies,
    /// Events of answers that are streams, if they are counted.
    events: Option<Box<EventTotals>>,
    /// The counts of each group of exchanges; empty if there are no groups.
    groups: Vec<GroupSeen>,
    /// The group of each exchange; empty if there are no groups.
    group_of: Arc<[Option<u32>]>,
    /// The counts of each route; empty if there is only one.
    routes: Vec<RouteSeen>,
    series: BinSeries,
    /// Bytes over the whole load so far, before the measurement, and in the measurement once it is over.
    bytes: Bytes,
    bytes_before: Bytes,
    measured_bytes: Bytes,
    answers: AnswerCounts,
    pub(crate) connections: Connections,
    /// Requests sent again on another connection.
    pub(crate) resent: u64,
    /// Cookie counts, if cookies are kept.
    pub(crate) cookies: Option<CookiesSeen>,
    /// The fewest streams that a server allowed on a connection, if that was fewer than were asked for.
    pub(crate) fewest_streams: Option<u32>,
    /// Connections that were still being made at the end.
    pub(crate) unmade: Unmade,
    /// Redirects that were followed, by status.
    followed: BTreeMap<u16, u64>,
    failures: FailureGroups,
    /// Failures kept verbatim.
    pub(crate) examples: Examples,
    /// Samples of the receive queues.
    pub(crate) queues: ReceiveQueues,
    intervals: IntervalRecorder,
}

/// The kinds of figures to record besides the basic counts.
#[derive(Debug, Default)]
pub(crate) struct RecorderOptions {
    /// Whether the loop is open.
    pub(crate) is_open: bool,
    /// Whether there is TLS.
    pub(crate) has_tls: bool,
    /// Whether each request has a connection of its own.
    pub(crate) per_request: bool,
    /// Whether first bytes are recorded.
    pub(crate) first_byte: bool,
    /// Whether events of answers are recorded.
    pub(crate) has_events: bool,
    /// Whether the times of the measurement's requests are recorded that end after it.
    pub(crate) to_their_end: bool,
    /// The group of each exchange; empty if there are no groups.
    pub(crate) group_of: Arc<[Option<u32>]>,
    /// Number of routes that are recorded separately.
    pub(crate) routes: usize,
    /// The receiver of intervals; `None` if no intervals were asked for.
    pub(crate) interval_sender: Option<IntervalSender>,
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
    /// A recorder of one slice.
    pub(crate) fn new(bin: Duration, options: RecorderOptions) -> Self {
        Self {
            total: Tally::default(),
            measured: Tally::default(),
            window: Duration::ZERO,
            phase: LoadPhase::WarmUp,
            measure_from: 0,
            cut: 0,
            carried: 0,
            draining: 0,
            last_end: 0,
            own_ends: None,
            counted: None,
            own_waits: OwnWaits::default(),
            offered: 0,
            latencies: Latencies::new(&options),
            events: options.has_events.then(Box::default),
            groups: groups(&options.group_of),
            group_of: options.group_of,
            routes: vec![RouteSeen::default(); options.routes],
            series: BinSeries::new(bin),
            bytes: Bytes::default(),
            bytes_before: Bytes::default(),
            measured_bytes: Bytes::default(),
            answers: AnswerCounts {
                statuses: vec![0; 1000],
                all_statuses: vec![0; 1000],
                content_checked: 0,
                valid_bytes: 0,
            },
            connections: Connections::new(options.has_tls),
            resent: 0,
            cookies: None,
            fewest_streams: None,
            unmade: Unmade::default(),
            followed: BTreeMap::new(),
            failures: FailureGroups::new(),
            examples: Examples::default(),
            queues: ReceiveQueues::default(),
            intervals: IntervalRecorder::new(options.interval_sender),
        }
    }

    /// Begins the load at `at` with `open` connections. `length`: the longest measurement in nanoseconds, if known.
    pub(crate) fn begin(&mut self, at: u64, open: u64, length: Option<u64>) {
        self.intervals.begin(at);
        self.connections.begin(open);
        self.series.reserve(length);
    }

    fn is_measuring(&self) -> bool {
        self.phase == LoadPhase::Measurement
    }

    /// Ends the warm-up and begins the measurement.
    pub(crate) fn begin_measurement(&mut self, from: u64, gauges: Gauges) {
        self.roll(from, gauges);
        self.measured.carried_in = gauges.in_flight;
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
            for started in under_way {
                self.cut += at - started.max(self.measure_from);
                if started < self.measure_from {
                    self.carried += at - self.measure_from;
                }
            }
            self.measured.in_flight = gauges.in_flight;
            self.window = Duration::from_nanos(at - self.measure_from);
            if !self.window.is_zero() {
                self.measured_bytes = Bytes {
                    valid: self.answers.valid_bytes,
                    ..self.bytes.since(self.bytes_before)
                };
            }
        }
        self.phase = LoadPhase::CoolDown;
    }

    /// Open loop: records the backlog at the end of the measurement. `unsent` requests wait, the oldest of them for
    /// `oldest_unsent`; the oldest one in flight was due `oldest_in_flight` ago (nanoseconds).
    pub(crate) fn note_backlog(&mut self, unsent: u64, oldest_unsent: u64, oldest_in_flight: u64) {
        if let Some(open) = &mut self.latencies.open {
            open.unsent = unsent;
            open.oldest_unsent = Duration::from_nanos(oldest_unsent);
            open.oldest_in_flight = Duration::from_nanos(oldest_in_flight);
        }
    }

    /// Ends an interval: adds its histograms to the measurement's, and sends it if intervals were asked for.
    pub(crate) fn roll(&mut self, at: u64, gauges: Gauges) {
        if self.is_measuring() {
            self.latencies.keep();
        }
        if self.intervals.is_wanted() {
            let running = RunningTotals {
                issued: self.total.issued,
                succeeded: self.total.succeeded,
                failed: self.total.failed.clone(),
                offered: self.offered,
                bytes: self.bytes,
                events: self.events.as_ref().map(|events| events.total),
            };
            let mut part = self.intervals.next(at, running);
            std::mem::swap(&mut part.service_time, &mut self.latencies.service_now);
            std::mem::swap(&mut part.response_time, &mut self.latencies.response_now);
            part.phase = self.phase;
            part.in_flight = gauges.in_flight;
            part.waiting = gauges.waiting;
            part.connections = self.connections.open();
            self.intervals.send(part);
        }
        self.latencies.clear();
    }

    /// Counts a request that is about to be written.
    #[inline]
    pub(crate) fn issued(&mut self) {
        self.total.issued += 1;
        self.measured.issued += u64::from(self.is_measuring());
    }

    /// Whether a request that ends now ends in the measurement but began before it.
    #[inline]
    fn is_carried(&self, started: u64) -> bool {
        self.is_measuring() && started < self.measure_from
    }

    /// Open loop: counts requests that became due; `counted` of them were due in the measurement.
    #[inline]
    pub(crate) fn offered(&mut self, requests: u64, counted: u64) {
        self.offered += requests;
        if let Some(open) = &mut self.latencies.open {
            open.offered += counted;
        }
    }

    /// Open loop: records the send lag of a request in nanoseconds; `counts`: it was due in the measurement.
    #[inline]
    pub(crate) fn lagged(&mut self, nanoseconds: u64, counts: bool) {
        if let (true, Some(open)) = (counts, &mut self.latencies.open) {
            open.send_lag.record_ns(nanoseconds);
        }
    }

    /// Open loop: records send lags of requests of the measurement, evenly spread from `from` to `to` nanoseconds.
    pub(crate) fn lagged_evenly(&mut self, from: u64, to: u64, requests: u64) {
        if let Some(open) = &mut self.latencies.open {
            open.send_lag.record_evenly(from, to, requests);
        }
    }

    /// Open loop: records how long a request waited for a connection, in nanoseconds.
    #[inline]
    pub(crate) fn waited(&mut self, nanoseconds: u64) {
        if let (LoadPhase::Measurement, Some(open)) = (self.phase, &mut self.latencies.open) {
            open.connection_wait.record_ns(nanoseconds);
        }
    }

    /// The counts of an exchange's group.
    #[inline]
    fn group(&mut self, exchange: u32) -> Option<&mut GroupSeen> {
        let group = (*self.group_of.get(exchange as usize)?)?;
        self.groups.get_mut(group as usize)
    }

    /// Counts a verified answer to a request of this exchange, with this many bytes of body.
    #[inline]
    pub(crate) fn succeeded(&mut self, times: RequestTimes, exchange: u32, body_bytes: u64) {
        self.total.succeeded += 1;
        self.bytes.valid += body_bytes;
        if let Some(seen) = self.group(exchange) {
            seen.total_succeeded += 1;
        }
        if self.is_measuring() {
            self.last_end = times.end;
            self.series.at(times.end).succeeded += 1;
            if times.started < self.measure_from {
                self.measured.carried_succeeded += 1;
                self.cut += times.end - self.measure_from;
                self.carried += times.end - self.measure_from;
                return;
            }
            self.note_own_end(times.end);
            self.measured.succeeded += 1;
            self.answers.valid_bytes += body_bytes;
            if let Some(seen) = self.group(exchange) {
                seen.succeeded += 1;
                seen.valid_body_bytes += body_bytes;
                seen.service_time.record_ns(times.end - times.started);
            }
        }
        self.latencies.record(times, self.is_measuring());
        if self.drained(times.started, times.end) {
            self.latencies.record_late(times);
            if let Some(seen) = self.group(exchange) {
                seen.late.record_ns(times.end - times.started);
            }
        }
    }

    /// A request that began at `started` was in flight until `end`. It counts if it began in the measurement and the
    /// measurement is over. Returns whether it does.
    #[inline]
    pub(crate) fn drained(&mut self, started: u64, end: u64) -> bool {
        let measured_until = self.measure_from + self.window.as_nanos() as u64;
        let counts = self.phase == LoadPhase::CoolDown
            && (self.measure_from..measured_until).contains(&started);
        if counts {
            self.draining += end.saturating_sub(measured_until);
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
        let carried = self.is_carried(started);
        self.total.failed[fault.kind] += 1;
        self.failures.count(fault, self.is_measuring() && !carried);
        self.examples.keep(fault.kind, detail);
        self.drained(started, end);
        if self.is_measuring() {
            self.last_end = end;
            self.series.at(end).failed += 1;
            if carried {
                self.measured.carried_failed += 1;
                self.carried += end - self.measure_from;
            } else {
                self.note_own_end(end);
                self.measured.failed[fault.kind] += 1;
                if let Some(seen) = exchange.and_then(|exchange| self.group(exchange)) {
                    seen.failed += 1;
                }
            }
        }
    }

    /// Counts events of an answer.
    pub(crate) fn events_came(&mut self, came: EventBatch) {
        let measured_from = self.is_measuring().then_some(self.measure_from);
        if let Some(events) = &mut self.events {
            events.came(came, measured_from);
        }
    }

    /// Counts a valid answer without an event to a request that began at `started`.
    #[cold]
    pub(crate) fn had_no_event(&mut self, started: u64) {
        let counts = self.is_measuring() && started >= self.measure_from;
        if let (true, Some(events)) = (counts, &mut self.events) {
            events.seen.without += 1;
        }
    }

    /// Records the time since the last event of an answer at the end of the measurement, in nanoseconds.
    pub(crate) fn note_open_gap(&mut self, nanoseconds: u64) {
        let measuring = self.is_measuring();
        if let (true, Some(events)) = (measuring, &mut self.events) {
            events.seen.open_gap = Duration::from_nanos(nanoseconds);
        }
    }

    /// Counts a connection that was opened on `route`.
    pub(crate) fn opened_on(&mut self, route: u32) {
        if let Some(seen) = self.routes.get_mut(route as usize) {
            seen.connections_opened += 1;
        }
    }

    /// Counts the end of a request on `route` that began at `started`.
    #[inline]
    pub(crate) fn ended_on(&mut self, route: u32, started: u64, is_valid: bool) {
        let is_measuring = self.is_measuring();
        if let Some(seen) = self.routes.get_mut(route as usize)
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
        if let Some(count) = self.answers.all_statuses.get_mut(status) {
            *count += 1;
        }
        if self.is_measuring() && started >= self.measure_from {
            if let Some(count) = self.answers.statuses.get_mut(status) {
                *count += 1;
            }
            self.answers.content_checked += u64::from(content_checked);
        }
    }

    /// Counts a followed redirect with this status, to a request that began at `started`.
    pub(crate) fn followed(&mut self, started: u64, status: u16) {
        if self.is_measuring() && started >= self.measure_from {
            *self.followed.entry(status).or_default() += 1;
        }
    }

    /// Requests that were issued and have not ended, by the counts.
    #[inline]
    pub(crate) fn outstanding(&self) -> u64 {
        self.total.issued - self.total.ended()
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
            let waits = &mut self.own_waits.for_continue;
            waits.add(Duration::from_nanos(nanoseconds));
        }
    }

    /// Counts the wait before another attempt to connect, in nanoseconds.
    #[cold]
    pub(crate) fn waits_before_connecting(&mut self, nanoseconds: u64) {
        if self.is_measuring() {
            let waits = &mut self.own_waits.before_connecting;
            waits.add(Duration::from_nanos(nanoseconds));
        }
    }

    /// When the last request of the measurement ended; its start if none did.
    pub(crate) fn last_end(&self) -> u64 {
        self.last_end
    }

    /// The observation of a load that ended with `in_flight` requests under way.
    pub(crate) fn into_observation(mut self, in_flight: u64, health: WorkerHealth) -> Observation {
        self.total.in_flight = in_flight;
        let (bin, bins) = self.series.into_bins(self.window);
        let bytes = self.measured_bytes;
        Observation {
            total: self.total,
            measured: self.measured,
            window: self.window,
            counted: self.counted,
            own_waits: self.own_waits,
            service_time: self.latencies.service_time,
            service_time_with_connect: self.latencies.with_connect,
            first_byte: self.latencies.first_byte,
            events: self.events.map(|events| events.seen),
            groups: self.groups,
            routes: self.routes,
            cut: Duration::from_nanos(self.cut),
            carried: Duration::from_nanos(self.carried),
            draining: Duration::from_nanos(self.draining),
            bin,
            bins,
            connections_opened: self.connections.opened,
            connections_peak: self.connections.peak,
            connect_time: self.connections.connect_time,
            handshake_time: self.connections.handshake_time,
            tls: self.connections.tls,
            answers_per_connection: self.connections.answers,
            resent: self.resent,
            cookies: self.cookies,
            fewest_streams: self.fewest_streams,
            unmade: self.unmade,
            followed: self.followed,
            statuses: seen(self.answers.statuses),
            all_statuses: seen(self.answers.all_statuses),
            failures: self.failures.describe(),
            open: self.latencies.open,
            receive_queues: self.queues,
            sent_bytes: bytes.sent,
            received_bytes: bytes.received,
            body_bytes: bytes.body,
            valid_body_bytes: bytes.valid,
            content_checked: self.answers.content_checked,
            workers: vec![health],
            examples: self.examples.into_kept(),
        }
    }
}

/// The statuses with a count above zero.
fn seen(statuses: Vec<u64>) -> BTreeMap<u16, u64> {
    let all = (0..).zip(statuses);
    all.filter(|(_, count)| *count > 0).collect()
}

#[cfg(test)]
mod tests;
