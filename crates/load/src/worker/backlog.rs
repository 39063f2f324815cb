//! The open loop: requests whose time has come, and the connections that they go out on.

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

/// Arrivals that are counted, taken or given up before events, clock and stop flag are looked at again.
const AT_A_TIME: usize = 4_096;
/// Arrivals that are gone through one by one when the measurement ends. Of more, only the number is worked out.
const AT_THE_END: usize = 65_536;

/// A request that this worker has taken, and that is about to be sent.
#[derive(Clone, Copy, Debug)]
struct TakenArrival {
    /// When it should have been sent.
    intended: u64,
    /// How long it could have been sent and was not: the generator's own delay. What else comes before it is sent is the
    /// connections'.
    lag: u64,
}

/// What a worker of an open loop knows of arrivals that have not been sent, and of connections that wait for one.
#[derive(Debug)]
pub(super) struct Backlog {
    arrivals: Arrivals,
    /// The arrivals that this worker looks after: it wakes for each, and counts it as offered. Any worker may send it.
    own: Cursor,
    /// The number of the next one of them.
    own_index: u64,
    /// When it is due, and how long after the one before.
    next_arrival: u64,
    gap: u64,
    /// How late the latest arrival was noticed.
    last_lag: u64,
    /// When the first request of the measurement was due, of those that the worker looks after or has sent.
    first_counted: u64,
    /// Whether more is due than was seen to at a time.
    is_behind: bool,
    /// How late timers are.
    pub(super) lateness: Lateness,
    /// The next arrival that nobody has taken, as far as it is known: its number, and when it is due since the start.
    next: (u64, Option<u64>),
    all: Cursor,
    /// What this worker has taken and cannot send yet: a connection is being made for it.
    waiting: VecDeque<TakenArrival>,
    /// Connections without a request, the longest idle one first, so that all are used.
    free: VecDeque<usize>,
    /// Connections that requests can be sent on.
    open: usize,
    /// Slots without a connection.
    absent: Vec<usize>,
    /// Connections in a row that could not be made although there were others, and until when no more are tried.
    refusals: u32,
    no_more_before: u64,
    /// Until when that was so the last time.
    refused_until: u64,
    /// Since when this worker can send another request.
    room_since: u64,
    /// Another worker has been woken for the arrivals before this one.
    called_for: u64,
}

impl Backlog {
    /// Of worker `worker` of `workers` that look after arrivals, with this many slots for connections.
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

    /// How many arrivals there are at most.
    pub(super) fn end(&self) -> u64 {
        self.arrivals.end()
    }

    /// When the first request of the measurement was due: one of the warm-up, if it was sent later. The worker knows of
    /// those that it looks after or has sent.
    pub(super) fn first_counted(&self) -> u64 {
        self.first_counted
    }

    /// When the arrival behind the last one would be due, since the start.
    pub(super) fn next_after_all(&mut self) -> Option<u64> {
        self.all.seek(&self.arrivals, self.end());
        self.all.next_beyond(&self.arrivals)
    }

    /// When the worker is to be woken at the latest.
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

    /// A connection was made that requests can be sent on.
    fn connected(&mut self) {
        (self.refusals, self.no_more_before) = (0, 0);
    }

    /// A connection could not be made although there are others: more of them wait for a while. How long.
    pub(super) fn refused(&mut self, now: u64) -> u64 {
        self.refusals += 1;
        let wait = back_off(self.refusals);
        self.no_more_before = now + wait;
        self.refused_until = self.no_more_before;
        wait
    }

    /// More connections may be made, if the wait for that is over.
    fn end_back_off(&mut self, now: u64) {
        if now >= self.no_more_before {
            self.no_more_before = 0;
        }
    }

    /// Slots in which a connection can be made now.
    fn spare(&self, now: u64) -> usize {
        if now >= self.no_more_before {
            self.absent.len()
        } else {
            0
        }
    }

    /// When arrival `index` is due since the load's start. Numbers never go back.
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
    /// A slice begins, whose intended starts are `arrivals`.
    pub(super) fn begin_backlog(&mut self, arrivals: Arrivals) {
        let workers = self.plan.cpus.len();
        let looking = workers.min(self.plan.most_connections as usize);
        let Some(backlog) = &mut self.backlog else {
            return;
        };
        backlog.own = Cursor::new(&arrivals, self.index, looking);
        backlog.all = Cursor::new(&arrivals, 0, 1);
        backlog.arrivals = arrivals;
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
            // Those that are to be there from the start are made at once.
            let is_extra = global(self.index, workers, slot) >= self.plan.connections;
            if connection.state == ConnectionState::Absent && is_extra {
                backlog.absent.push(slot);
            }
        }
        self.plan.taking.note_free(self.index, backlog.free.len());
        self.next_arrival();
    }

    /// Looks up when the next request's time comes that this worker looks after.
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

    /// Counts the requests whose time has come, and sends those that find a connection.
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

    /// What is to be done for an open loop after each round of events.
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

    /// The next arrival that nobody has taken and its time, if it is due by `until`.
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

    /// Takes the next arrival, if it is due by `until`: its number, and when it is due.
    #[inline]
    fn take_due(&mut self, until: u64) -> Option<(u64, u64)> {
        loop {
            let (index, intended) = self.look_due(until)?;
            if self.plan.taking.take(index) {
                return Some((index, intended));
            }
        }
    }

    /// Takes arrivals that are due, as long as they can be sent without waiting for an answer to another. What is left
    /// is for the other workers, or for the next connection that becomes free.
    fn take_in(&mut self) {
        // This many can be on their way. If more are taken, those before have failed at once.
        let most = self.slots * self.plan.depth();
        for _ in 0..=most.min(AT_A_TIME) {
            if !self.has_room() && !self.connect_first() {
                return self.call_another();
            }
            // A new connection is made where nobody has a free one.
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

    /// Whether only other workers have connections. What this one took would be lost if it could not make one, although
    /// they could send it; so it makes one first.
    #[inline]
    fn is_outsider(&self) -> bool {
        self.backlog
            .as_ref()
            .is_some_and(|backlog| backlog.open == 0)
            && !self.plan.per_request
            && self.plan.taking.is_open_elsewhere(self.index)
    }

    /// Request `index`, which was due at `intended`, has been taken.
    fn put_waiting(&mut self, index: u64, intended: u64) {
        let has_room = self.has_room();
        let counts = self.clock.counts(intended);
        if let Some(backlog) = &mut self.backlog {
            let lag = if has_room {
                let since = intended.max(backlog.room_since);
                // What only a new connection can take could not be sent before one could be made.
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

    /// A connection is free: it takes the request that has waited longest, or waits for one.
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
        // In HTTP/2 it may take another one besides.
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
        // The others on it have a deadline already.
        if self.connections[slot].http.in_flight() == 1 {
            self.begin_answer(slot);
        }
        let connection = &self.connections[slot];
        if connection.http.is_multiplexed() && !connection.spoiled {
            // What is due for it at this moment goes out in one write.
            self.want_flush(slot);
            if self.has_room_on(slot) {
                self.enlist(slot);
            }
            return;
        }
        self.send(slot);
    }

    /// Takes a request that waits, because nothing comes of the connection that was made for it.
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
                // What was due before had to wait for it.
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
        // What came due in the last moments, and was not looked at yet; another worker may have sent it.
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
        backlog.waiting.clear();
        self.recorder
            .note_backlog(unsent, since(oldest), since(in_flight));
    }

    /// Counts the arrivals that were due before `at` and that nobody has taken, and when the oldest was due. Those from
    /// `noticed` on had not been noticed when the measurement ended.
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
            // The one that was looked at has been taken out of the schedule.
            let all = 1 + before(at);
            let in_time = before(noticed.clamp(intended, at)).min(all);
            self.recorder.lagged_evenly(0, backlog.last_lag, in_time);
            self.recorder
                .lagged_evenly(0, at.saturating_sub(noticed.max(intended)), all - in_time);
            untaken += all;
            oldest = oldest.or(Some(intended));
        }
        (untaken, oldest)
    }

    /// Counts the requests that were due by `until` and are too many to be gone through.
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
        // The next one has been taken out of the schedule.
        let (all, warm_up) = (before(until), before(timeline.measure_from));
        let is_counted = u64::from(self.clock.counts(backlog.next_arrival));
        self.recorder
            .offered(1 + all, is_counted + all.saturating_sub(warm_up));
        backlog.next_arrival = NEVER;
    }
}
