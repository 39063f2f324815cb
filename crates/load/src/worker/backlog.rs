//! The open loop: requests that are due, and the connections for them.

mod connections;

use std::collections::VecDeque;

use deadheat_model::{Failure, failure::FailurePhase};

use super::{Phase, Worker, connects::back_off};
use crate::{
    connection::ConnectionState,
    deadlines::{Lateness, NEVER},
    http_connection::InFlight,
    recorder::{Cause, Fault},
    schedule::{Arrivals, Cursor, global},
};

/// The most arrivals that are counted, taken or given up before events, clock and stop flag are checked again.
const AT_A_TIME: usize = 4_096;
/// The most arrivals that are counted one by one when the measurement ends. The number of further ones is computed.
const AT_THE_END: usize = 65_536;

/// A request that this worker has taken, and that is about to be sent.
#[derive(Clone, Copy, Debug)]
struct TakenArrival {
    /// Its intended start.
    intended: u64,
    /// The generator's own delay in nanoseconds. The rest of the wait is caused by busy connections.
    lag: u64,
}

/// A worker's state in an open loop: arrivals that have not been sent, and connections that wait for one.
#[derive(Debug)]
pub(super) struct Backlog {
    arrivals: Arrivals,
    /// The arrivals that this worker is responsible for: it wakes for each, and counts it as offered. Any worker may
    /// send them.
    own: Cursor,
    /// The number of the next own arrival.
    own_index: u64,
    /// When the next own arrival is due, and the gap to the one before it.
    next_arrival: u64,
    gap: u64,
    /// How late the latest arrival was noticed.
    last_lag: u64,
    /// When the first request of the measurement was due, among the worker's own arrivals and those that it has sent.
    first_counted: u64,
    /// Whether more arrivals are due than were handled at a time.
    is_behind: bool,
    /// How late timers are.
    pub(super) lateness: Lateness,
    /// The last looked-up arrival: its number, and when it is due, in nanoseconds since the start of the slice.
    next: (u64, Option<u64>),
    all: Cursor,
    /// Arrivals that this worker has taken and that wait for a connection.
    waiting: VecDeque<TakenArrival>,
    /// Connections without a request, the longest idle one first, so that all are used.
    free: VecDeque<usize>,
    /// Connections that requests can be sent on.
    open: usize,
    /// Slots without a connection.
    absent: Vec<usize>,
    /// Failed connects in a row while other connections were open, and when the next attempt is allowed; 0: at once.
    refusals: u32,
    no_more_before: u64,
    /// The end of the last wait after a failed connect.
    refused_until: u64,
    /// Since when this worker has room for another request.
    room_since: u64,
    /// The number of the first arrival that no other worker has been woken for.
    called_for: u64,
}

impl Backlog {
    /// An empty backlog of worker `worker` of `workers`, with this many slots for connections.
    pub(super) fn new(arrivals: Arrivals, worker: usize, workers: usize, slots: usize) -> Self {
        Self {
            own: Cursor::new(&arrivals, worker, workers),
            own_index: 0,
            next_arrival: NEVER,
            gap: NEVER,
            last_lag: 0,
            first_counted: NEVER,
            is_behind: false,
            lateness: Lateness::default(),
            next: (u64::MAX, None),
            all: Cursor::new(&arrivals, 0, 1),
            arrivals,
            waiting: VecDeque::with_capacity(slots),
            free: VecDeque::with_capacity(slots),
            open: 0,
            absent: Vec::with_capacity(slots),
            refusals: 0,
            no_more_before: 0,
            refused_until: 0,
            room_since: 0,
            called_for: 0,
        }
    }

    /// Requests that this worker has taken and not sent.
    pub(super) fn waiting(&self) -> u64 {
        self.waiting.len() as u64
    }

    /// The number of arrivals; `u64::MAX` if only time ends the load.
    pub(super) fn end(&self) -> u64 {
        self.arrivals.end()
    }

    /// When the first request of the measurement was due, among the worker's own arrivals and those that it has sent.
    /// It may be one of the warm-up that was sent late.
    pub(super) fn first_counted(&self) -> u64 {
        self.first_counted
    }

    /// When an arrival after the last one would be due, in nanoseconds since the start.
    pub(super) fn next_after_all(&mut self) -> Option<u64> {
        self.all.seek(&self.arrivals, self.end());
        self.all.next_beyond(&self.arrivals)
    }

    /// When the worker must wake at the latest.
    pub(super) fn wake(&self) -> u64 {
        if self.is_behind {
            return 0;
        }
        let wake = self.lateness.wake_for(self.next_arrival, self.gap);
        match self.no_more_before {
            0 => wake,
            at => wake.min(at),
        }
    }

    /// Notes that a connection was opened.
    fn connected(&mut self) {
        (self.refusals, self.no_more_before) = (0, 0);
    }

    /// Notes a failed connect while other connections are open. Returns the wait before the next one in nanoseconds.
    pub(super) fn refused(&mut self, now: u64) -> u64 {
        self.refusals += 1;
        let wait = back_off(self.refusals);
        self.no_more_before = now + wait;
        self.refused_until = self.no_more_before;
        wait
    }

    /// Allows further attempts to connect, if the wait is over.
    fn end_back_off(&mut self, now: u64) {
        if now >= self.no_more_before {
            self.no_more_before = 0;
        }
    }

    /// Number of slots in which a connection can be opened now.
    fn spare(&self, now: u64) -> usize {
        if now >= self.no_more_before {
            self.absent.len()
        } else {
            0
        }
    }

    /// When arrival `index` is due, in nanoseconds since the start. The index must not decrease between calls.
    #[inline]
    fn due(&mut self, index: u64) -> Option<u64> {
        if self.next.0 != index {
            self.all.seek(&self.arrivals, index);
            self.next = (index, self.all.next(&self.arrivals));
        }
        self.next.1
    }
}

impl Worker<'_> {
    /// Begins a slice. `arrivals` are its own intended starts, if they are not those that the backlog was made for.
    pub(super) fn begin_backlog(&mut self, arrivals: Option<Arrivals>) {
        let workers = self.plan.cpus.len();
        let Some(backlog) = &mut self.backlog else {
            return;
        };
        if let Some(arrivals) = arrivals {
            let looking = workers.min(self.plan.most_connections as usize);
            backlog.own = Cursor::new(&arrivals, self.index, looking);
            backlog.all = Cursor::new(&arrivals, 0, 1);
            backlog.arrivals = arrivals;
        }
        backlog.next = (u64::MAX, None);
        backlog.next_arrival = NEVER;
        (backlog.last_lag, backlog.first_counted) = (0, NEVER);
        backlog.is_behind = false;
        backlog.waiting.clear();
        backlog.called_for = 0;
        backlog.room_since = self.clock.timeline.start;
        backlog.connected();
        backlog.absent.clear();
        for (slot, connection) in self.connections[..self.slots].iter().enumerate() {
            // Connections of the start are opened at once.
            let is_extra = global(self.index, workers, slot) >= self.plan.connections;
            if connection.state == ConnectionState::Absent && is_extra {
                backlog.absent.push(slot);
            }
        }
        self.plan.taking.note_free(self.index, backlog.free.len());
        self.next_arrival();
    }

    /// Looks up when the worker's next own arrival is due.
    fn next_arrival(&mut self) {
        if let Some(backlog) = &mut self.backlog {
            backlog.own_index = backlog.own.index();
            let next = if self.connections.is_empty() {
                None
            } else {
                backlog.own.next(&backlog.arrivals)
            };
            let due = |at: u64| self.clock.timeline.start.saturating_add(at);
            let before = backlog.next_arrival;
            backlog.next_arrival = next.map_or(NEVER, due);
            backlog.gap = backlog.next_arrival.saturating_sub(before);
        }
    }

    /// Counts the requests that are due, and sends those that find a connection.
    #[inline]
    pub(super) fn admit_due(&mut self) {
        let due = |backlog: &Backlog| self.clock.now >= backlog.next_arrival;
        if self.backlog.as_ref().is_some_and(due) {
            self.admit();
        }
    }

    fn admit(&mut self) {
        self.offer_until(self.clock.now, AT_A_TIME);
        self.take_in();
    }

    /// Counts the requests that were due by `until`, at most this many.
    fn offer_until(&mut self, until: u64, most: usize) {
        for _ in 0..most {
            let Some(backlog) = &mut self.backlog else {
                return;
            };
            let due = backlog.next_arrival;
            if due > until || due == NEVER {
                return;
            }
            let counts = self.clock.counts(due);
            if counts {
                backlog.first_counted = backlog.first_counted.min(due);
            }
            self.recorder.offered(1, u64::from(counts));
            let lag = self.clock.now.saturating_sub(due);
            backlog.last_lag = lag;
            let taking = &self.plan.taking;
            taking.note_due(self.index, backlog.own_index, lag);
            self.next_arrival();
        }
    }

    /// Handles the backlog after each round of events.
    pub(super) fn attend_backlog(&mut self) {
        if let Some(backlog) = &mut self.backlog {
            backlog.end_back_off(self.clock.now);
            backlog.is_behind = false;
        }
        self.give_up_waiting();
        self.dispatch();
        self.admit();
    }

    fn note_behind(&mut self) {
        if let Some(backlog) = &mut self.backlog {
            backlog.is_behind = true;
        }
    }

    /// The number of the next untaken arrival and when it is due, if that is by `until`.
    #[inline]
    fn look_due(&mut self, until: u64) -> Option<(u64, u64)> {
        if !self.clock.is_sending() {
            return None;
        }
        let index = self.plan.taking.taken();
        let due = self.backlog.as_mut()?.due(index)?;
        let intended = self.clock.timeline.start.saturating_add(due);
        (intended <= until).then_some((index, intended))
    }

    /// Takes the next arrival, if it is due by `until`. Returns its number, and when it is due.
    #[inline]
    fn take_due(&mut self, until: u64) -> Option<(u64, u64)> {
        loop {
            let (index, intended) = self.look_due(until)?;
            if self.plan.taking.take(index) {
                return Some((index, intended));
            }
        }
    }

    /// Takes due arrivals while there is room to send them at once. The others are left to other workers, or to the
    /// next connection that becomes free.
    fn take_in(&mut self) {
        // At most this many can be in flight. If more are taken, earlier ones have failed at once.
        let most = self.slots * self.plan.depth();
        for _ in 0..=most.min(AT_A_TIME) {
            if !self.has_room() && !self.connect_first() {
                return self.call_another();
            }
            // A worker opens a new connection only if no worker has a free one.
            let has_free = self
                .backlog
                .as_ref()
                .is_some_and(|backlog| !backlog.free.is_empty());
            if !has_free && self.plan.taking.free_elsewhere(self.index).is_some() {
                return self.call_another();
            }
            let Some((index, intended)) = self.take_due(self.clock.now) else {
                return;
            };
            self.put_waiting(index, intended);
            self.dispatch();
        }
        self.note_behind();
    }

    /// Whether only other workers have connections. This one then connects before it takes an arrival: if connecting
    /// fails, another worker can still send it.
    #[inline]
    fn is_outsider(&self) -> bool {
        self.backlog
            .as_ref()
            .is_some_and(|backlog| backlog.open == 0)
            && !self.plan.per_request
            && self.plan.taking.is_open_elsewhere(self.index)
    }

    /// Queues request `index`, which was taken and due at `intended`, and records its send lag.
    fn put_waiting(&mut self, index: u64, intended: u64) {
        let has_room = self.has_room();
        let counts = self.clock.counts(intended);
        if let Some(backlog) = &mut self.backlog {
            let lag = if has_room {
                let since = intended.max(backlog.room_since);
                // A request that needs a new connection could not be sent before the wait to connect was over.
                let needs_another = backlog.waiting.len() >= backlog.free.len() + self.opening;
                let until = if needs_another {
                    backlog.refused_until
                } else {
                    0
                };
                self.clock.now.saturating_sub(since.max(until))
            } else {
                0
            };
            let noticed = self.plan.taking.lag(index).unwrap_or(0);
            let lag = lag
                .max(noticed)
                .min(self.clock.now.saturating_sub(intended));
            self.recorder.lagged(lag, counts);
            backlog.waiting.push_back(TakenArrival { intended, lag });
        }
    }

    /// Gives a free connection the request that has waited longest, or lists the connection as free.
    pub(super) fn serve(&mut self, slot: usize) {
        if self.connections[slot].listed || !self.has_room_on(slot) {
            return;
        }
        if self
            .backlog
            .as_ref()
            .is_some_and(|backlog| backlog.waiting.is_empty())
            && let Some((index, intended)) = self.take_due(self.clock.now)
        {
            self.put_waiting(index, intended);
        }
        let has_room = self.has_room();
        let Some(backlog) = &mut self.backlog else {
            return;
        };
        if backlog.waiting.is_empty() {
            self.enlist(slot);
        } else {
            self.send_waiting(slot);
        }
        // In HTTP/2 it may have room for another one.
        if let Some(backlog) = &mut self.backlog
            && !has_room
            && self.connections[slot].listed
        {
            backlog.room_since = self.clock.now;
        }
    }

    fn send_waiting(&mut self, slot: usize) {
        let start = self.tick();
        // The end of the measurement may have emptied the queue.
        let waiting = self
            .backlog
            .as_mut()
            .and_then(|backlog| backlog.waiting.pop_front());
        let Some(waiting) = waiting else {
            return self.serve(slot);
        };
        self.recorder.waited(start - waiting.intended - waiting.lag);
        if self.clock.phase == Phase::Measuring
            && let Some(backlog) = &mut self.backlog
        {
            backlog.first_counted = backlog.first_counted.min(waiting.intended);
        }
        self.launch(slot, waiting.intended, start);
        // Earlier requests on it have set the deadline already.
        if self.connections[slot].http.in_flight() == 1 {
            self.begin_answer(slot);
        }
        let connection = &self.connections[slot];
        if connection.http.is_multiplexed() && !connection.spoiled {
            // All requests for it that are due now go out in one write.
            self.want_flush(slot);
            if self.has_room_on(slot) {
                self.enlist(slot);
            }
            return;
        }
        self.send(slot);
    }

    /// Removes the longest waiting request, because the connection for it failed. Returns whether there was one.
    pub(super) fn take_waiting(&mut self) -> bool {
        self.backlog
            .as_mut()
            .is_some_and(|backlog| backlog.waiting.pop_front().is_some())
    }

    /// Counts requests that waited for a connection longer than a request may take.
    fn give_up_waiting(&mut self) {
        let Some(until) = self.clock.now.checked_sub(self.bounds.request) else {
            return;
        };
        while let Some(oldest) = self
            .backlog
            .as_ref()
            .and_then(|backlog| backlog.waiting.front())
        {
            if oldest.intended > until {
                break;
            }
            let had_room = self.has_room();
            if !self.take_waiting() {
                break;
            }
            self.give_up();
            if !had_room && let Some(backlog) = &mut self.backlog {
                // Requests that were due before had to wait for this one.
                backlog.room_since = self.clock.now;
            }
        }
        for _ in 0..AT_A_TIME {
            if self.take_due(until).is_none() {
                return;
            }
            self.give_up();
        }
        self.note_behind();
    }

    #[cold]
    fn give_up(&mut self) {
        let end = self.tick();
        if self.clock.is_over() {
            return;
        }
        let fault = Fault {
            kind: Failure::NoConnection,
            phase: FailurePhase::Waiting,
            cause: Cause::Why("all connections were busy or being made"),
        };
        self.never_sent(fault, end, || "never sent".to_owned());
    }

    /// Ends the measurement at `at`: arrivals that have not been sent are dropped and recorded.
    pub(super) fn close_backlog(&mut self, at: u64) {
        if self.backlog.is_none() {
            return;
        }
        let next_arrival = |backlog: &Backlog| backlog.next_arrival;
        let noticed = self.backlog.as_ref().map_or(NEVER, next_arrival);
        // Arrivals of the last moments that were not counted yet; another worker may have sent them.
        let until = if self.is_spent() {
            NEVER
        } else {
            at.saturating_sub(1)
        };
        self.offer_until(until, AT_THE_END);
        self.offer_rest(until);
        let (untaken, oldest) = self.count_untaken(at, noticed);
        let Some(backlog) = &mut self.backlog else {
            return;
        };
        backlog.next_arrival = NEVER;
        let since =
            |intended: Option<u64>| intended.map_or(0, |intended| at.saturating_sub(intended));
        let waiting = backlog.waiting.front().map(|waiting| waiting.intended);
        let oldest = waiting.into_iter().chain(oldest).min();
        let flights = self
            .connections
            .iter()
            .flat_map(|connection| connection.http.flights());
        let in_flight = flights.map(|flight: InFlight| flight.intended).min();
        let unsent = backlog.waiting() + untaken;
        for waiting in backlog.waiting.drain(..) {
            if self.clock.counts(waiting.intended) {
                let waited = at.saturating_sub(waiting.intended);
                self.recorder.left_waiting(waited);
            }
        }
        self.recorder
            .note_backlog(unsent, since(oldest), since(in_flight));
    }

    /// Counts the untaken arrivals that were due before `at`. Returns their number, and when the oldest was due.
    /// Arrivals from `noticed` on had not been noticed when the measurement ended.
    fn count_untaken(&mut self, at: u64, noticed: u64) -> (u64, Option<u64>) {
        let until = at.saturating_sub(1);
        let mut untaken = 0;
        let mut oldest = None;
        for _ in 0..AT_THE_END {
            if self.plan.taking.is_rest_claimed() {
                return (untaken, oldest);
            }
            let Some((index, intended)) = self.take_due(until) else {
                return (untaken, oldest);
            };
            let lag = self.plan.taking.lag(index).unwrap_or(0);
            let counts = self.clock.counts(intended);
            self.recorder.lagged(lag, counts);
            if counts {
                self.recorder.left_waiting(at.saturating_sub(intended));
            }
            untaken += 1;
            oldest = oldest.or(Some(intended));
        }
        let start = self.clock.timeline.start;
        if let Some((_, intended)) = self.look_due(until)
            && self.plan.taking.claim_rest()
            && let Some(backlog) = &mut self.backlog
        {
            let cursor = &backlog.all;
            let before =
                |at: u64| cursor.expected_before(&backlog.arrivals, at.saturating_sub(start));
            // The cursor is already past the arrival that was looked up.
            let all = 1 + before(at);
            let in_time = before(noticed.clamp(intended, at)).min(all);
            self.recorder.lagged_evenly(0, backlog.last_lag, in_time);
            self.recorder
                .lagged_evenly(0, at.saturating_sub(noticed.max(intended)), all - in_time);
            let counted_from = intended.max(self.clock.timeline.measure_from);
            let counted = all.saturating_sub(before(counted_from));
            self.recorder
                .left_waiting_evenly(at.saturating_sub(counted_from), counted);
            untaken += all;
            oldest = oldest.or(Some(intended));
        }
        (untaken, oldest)
    }

    /// Counts the requests that were due by `until` and are too many to be counted one by one.
    fn offer_rest(&mut self, until: u64) {
        let timeline = self.clock.timeline;
        let Some(backlog) = &mut self.backlog else {
            return;
        };
        if backlog.next_arrival > until || backlog.next_arrival == NEVER {
            return;
        }
        let before = |at: u64| {
            let cursor = &backlog.own;
            cursor.expected_before(&backlog.arrivals, at.saturating_sub(timeline.start))
        };
        // The cursor is already past the next arrival.
        let (all, warm_up) = (before(until), before(timeline.measure_from));
        let is_counted = u64::from(self.clock.counts(backlog.next_arrival));
        self.recorder
            .offered(1 + all, is_counted + all.saturating_sub(warm_up));
        backlog.next_arrival = NEVER;
    }
}
