//! What one worker saw: counters, histograms, time series, examples. One per thread and slice, merged at the end.

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
pub(crate) use intervals::{BufferReturn, IntervalSender, room};

use counters::{BinSeries, Bytes, Connections, EventTotals, FailureGroups, Latencies};
use intervals::Rolling;

/// What is counted over the whole load so far; intervals are differences of it.
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
    /// By status, those to all requests.
    all_statuses: Vec<u64>,
    content_checked: u64,
    /// Bytes of the bodies of those that were verified.
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
    /// Those of answers that are streams, if they are counted.
    events: Option<Box<EventTotals>>,
    /// Of each group of exchanges; empty where there is none.
    groups: Vec<GroupSeen>,
    /// The group of each exchange; empty where there is none.
    group_of: Arc<[Option<u32>]>,
    /// Of each route; empty where there is one.
    routes: Vec<RouteSeen>,
    series: BinSeries,
    /// Over the whole load so far, before the measurement, and in it once it is over.
    bytes: Bytes,
    bytes_before: Bytes,
    measured_bytes: Bytes,
    answers: AnswerCounts,
    pub(crate) connections: Connections,
    /// Requests sent again on another connection.
    pub(crate) resent: u64,
    /// What was seen of cookies, if any are kept.
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
    /// Looks at the receive queues.
    pub(crate) queues: ReceiveQueues,
    rolling: Rolling,
}

/// What is recorded besides the basic counts.
#[derive(Debug, Default)]
pub(crate) struct Extent {
    /// Whether the loop is open.
    pub(crate) is_open: bool,
    /// Whether there is TLS.
    pub(crate) has_tls: bool,
    /// Whether each request has a connection of its own.
    pub(crate) per_request: bool,
    /// Whether first bytes are recorded.
    pub(crate) first_byte: bool,
    /// Whether events of answers are.
    pub(crate) has_events: bool,
    /// Whether the times of the measurement's requests are recorded that end after it.
    pub(crate) to_their_end: bool,
    /// The group of each exchange; empty where there is none.
    pub(crate) group_of: Arc<[Option<u32>]>,
    /// How many routes are recorded, each for itself.
    pub(crate) routes: usize,
    /// Where intervals go, if anybody wants them.
    pub(crate) outlet: Option<IntervalSender>,
}

/// As many groups may have room for all latencies from the start; of more, each gets room when it needs it.
const WITH_ROOM: usize = 16;

/// Nothing yet of each group.
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
    pub(crate) fn new(bin: Duration, extent: Extent) -> Self {
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
            latencies: Latencies::new(&extent),
            events: extent.has_events.then(Box::default),
            groups: groups(&extent.group_of),
            group_of: extent.group_of,
            routes: vec![RouteSeen::default(); extent.routes],
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
            connections: Connections::new(extent.has_tls),
            resent: 0,
            cookies: None,
            fewest_streams: None,
            unmade: Unmade::default(),
            followed: BTreeMap::new(),
            failures: FailureGroups::new(),
            examples: Examples::default(),
            queues: ReceiveQueues::default(),
            rolling: Rolling::new(extent.outlet),
        }
    }

    /// The load begins, with this many connections that are open already. Its measurement takes this many nanoseconds at
    /// most, if that is known.
    pub(crate) fn begin(&mut self, at: u64, open: u64, length: Option<u64>) {
        self.rolling.begin(at);
        self.connections.begin(open);
        self.series.reserve(length);
    }

    fn is_measuring(&self) -> bool {
        self.phase == LoadPhase::Measurement
    }

    /// The warm-up is over.
    pub(crate) fn begin_measurement(&mut self, from: u64, gauges: Gauges) {
        self.roll(from, gauges);
        self.measured.carried_in = gauges.in_flight;
        self.phase = LoadPhase::Measurement;
        self.measure_from = from;
        self.last_end = from;
        self.series.begin(from);
        self.bytes_before = self.bytes;
    }

    /// The measurement is over, if it ever began; `under_way` are the starts of the requests in flight.
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

    /// Open loop: what had not been sent, or not been answered, when the measurement ended. `unsent` requests wait,
    /// the oldest of them for `oldest_unsent`; the oldest on its way was due `oldest_in_flight` ago (nanoseconds).
    pub(crate) fn note_backlog(&mut self, unsent: u64, oldest_unsent: u64, oldest_in_flight: u64) {
        if let Some(open) = &mut self.latencies.open {
            open.unsent = unsent;
            open.oldest_unsent = Duration::from_nanos(oldest_unsent);
            open.oldest_in_flight = Duration::from_nanos(oldest_in_flight);
        }
    }

    /// An interval is over: its histograms join the measurement's, and the whole is handed over if anybody wants it.
    pub(crate) fn roll(&mut self, at: u64, gauges: Gauges) {
        if self.is_measuring() {
            self.latencies.keep();
        }
        if self.rolling.is_wanted() {
            let running = RunningTotals {
                issued: self.total.issued,
                succeeded: self.total.succeeded,
                failed: self.total.failed.clone(),
                offered: self.offered,
                bytes: self.bytes,
                events: self.events.as_ref().map(|events| events.total),
            };
            let mut part = self.rolling.next(at, running);
            std::mem::swap(&mut part.service_time, &mut self.latencies.service_now);
            std::mem::swap(&mut part.response_time, &mut self.latencies.response_now);
            part.phase = self.phase;
            part.in_flight = gauges.in_flight;
            part.waiting = gauges.waiting;
            part.connections = self.connections.open();
            self.rolling.send(part);
        }
        self.latencies.clear();
    }

    /// A request is about to be written.
    #[inline]
    pub(crate) fn issued(&mut self) {
        self.total.issued += 1;
        self.measured.issued += u64::from(self.is_measuring());
    }

    /// Whether what ends now ends in the measurement, but began before it.
    #[inline]
    fn is_carried(&self, started: u64) -> bool {
        self.is_measuring() && started < self.measure_from
    }

    /// Open loop: the time of this many requests has come, and `counted` of these times lay in the measurement.
    #[inline]
    pub(crate) fn offered(&mut self, requests: u64, counted: u64) {
        self.offered += requests;
        if let Some(open) = &mut self.latencies.open {
            open.offered += counted;
        }
    }

    /// Open loop: a request whose time lay in the measurement (`counts`) could have been sent this many nanoseconds ago.
    #[inline]
    pub(crate) fn lagged(&mut self, nanoseconds: u64, counts: bool) {
        if let (true, Some(open)) = (counts, &mut self.latencies.open) {
            open.send_lag.record_ns(nanoseconds);
        }
    }

    /// The same of this many requests of the measurement, whose delays lie evenly from `from` to `to`.
    pub(crate) fn lagged_evenly(&mut self, from: u64, to: u64, requests: u64) {
        if let Some(open) = &mut self.latencies.open {
            open.send_lag.record_evenly(from, to, requests);
        }
    }

    /// Open loop: a request has been sent that waited for a connection for this many nanoseconds.
    #[inline]
    pub(crate) fn waited(&mut self, nanoseconds: u64) {
        if let (LoadPhase::Measurement, Some(open)) = (self.phase, &mut self.latencies.open) {
            open.connection_wait.record_ns(nanoseconds);
        }
    }

    /// What is recorded of an exchange's group.
    #[inline]
    fn group(&mut self, exchange: u32) -> Option<&mut GroupSeen> {
        let group = (*self.group_of.get(exchange as usize)?)?;
        self.groups.get_mut(group as usize)
    }

    /// A verified answer came to a request of this exchange, with this many bytes of body.
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

    /// Events of an answer came.
    pub(crate) fn events_came(&mut self, came: EventBatch) {
        let measured_from = self.is_measuring().then_some(self.measure_from);
        if let Some(events) = &mut self.events {
            events.came(came, measured_from);
        }
    }

    /// A valid answer without an event came to a request that began at `started`.
    #[cold]
    pub(crate) fn had_no_event(&mut self, started: u64) {
        let counts = self.is_measuring() && started >= self.measure_from;
        if let (true, Some(events)) = (counts, &mut self.events) {
            events.seen.without += 1;
        }
    }

    /// The measurement is over, and the latest event of an answer lies this many nanoseconds back.
    pub(crate) fn note_open_gap(&mut self, nanoseconds: u64) {
        let measuring = self.is_measuring();
        if let (true, Some(events)) = (measuring, &mut self.events) {
            events.seen.open_gap = Duration::from_nanos(nanoseconds);
        }
    }

    /// A connection was made on `route`.
    pub(crate) fn opened_on(&mut self, route: u32) {
        if let Some(seen) = self.routes.get_mut(route as usize) {
            seen.connections_opened += 1;
        }
    }

    /// A request on `route` that began at `started` has ended.
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

    /// Bytes of requests were written.
    #[inline]
    pub(crate) fn sent(&mut self, bytes: usize) {
        self.bytes.sent += bytes as u64;
    }

    /// Bytes of answers came, and of them this many of bodies.
    #[inline]
    pub(crate) fn received(&mut self, bytes: usize, of_bodies: u64) {
        self.bytes.received += bytes as u64;
        self.bytes.body += of_bodies;
    }

    /// A whole answer came, right or wrong, to a request that began at `started`.
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

    /// A redirect with this status came to a request that began at `started`, and is followed.
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

    /// A body has been sent without the 100 (Continue) that was waited for so long, by a request that began at `started`.
    #[cold]
    pub(crate) fn waited_for_continue(&mut self, started: u64, nanoseconds: u64) {
        if self.is_measuring() && started >= self.measure_from {
            let waits = &mut self.own_waits.for_continue;
            waits.add(Duration::from_nanos(nanoseconds));
        }
    }

    /// Another attempt to connect waits for so long.
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

/// The statuses that came.
fn seen(statuses: Vec<u64>) -> BTreeMap<u16, u64> {
    let all = (0..).zip(statuses);
    all.filter(|(_, count)| *count > 0).collect()
}

#[cfg(test)]
mod tests;
