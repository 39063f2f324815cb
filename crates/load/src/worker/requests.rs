//! A request on a connection: sent, judged, counted; and the time to think before the next one.

use std::{cmp::Reverse, collections::BinaryHeap};

use deadheat_model::{Failure, failure::FailurePhase, redact};
use rustix::io::Errno;

use super::Worker;
use crate::{
    connection::{ConnectionState, Task, WriteOutcome},
    deadlines::NEVER,
    http_connection::{InFlight, Leads, Progress},
    recorder::{Cause, Fault, RequestTimes},
    schedule::global,
    socket::Watch,
    verify::excerpt,
};

/// The longest wait for a 100 Continue before the body is sent anyway, in nanoseconds (RFC 9110 §10.1.1 leaves the time
/// to the client).
const HOLD: u64 = 1_000_000_000;
/// A connection that had nothing to do for this many nanoseconds was idle: servers close such connections.
const LEAST_IDLE: u64 = 1_000_000;

impl Worker<'_> {
    /// A connection can take requests: in a closed loop it is filled with them, in an open loop it takes one that
    /// waits.
    #[inline]
    pub(super) fn ready(&mut self, slot: usize) {
        match self.backlog {
            None => self.refill(slot),
            Some(_) => {
                self.serve(slot);
                self.watch_idle(slot);
            }
        }
    }

    /// Sends as many requests as may be on their way at once, in one write.
    #[inline]
    fn refill(&mut self, slot: usize) {
        let start = self.tick();
        if self.clock.is_over() {
            return;
        }
        let was_empty = self.connections[slot].http.is_idle();
        if self.is_thinking(slot) {
            return self.watch_idle(slot);
        }
        while self.may_launch(slot) && self.claim() {
            self.launch(slot, start, start);
        }
        if was_empty {
            if self.connections[slot].http.is_idle() {
                return self.rest(slot);
            }
            self.begin_answer(slot);
        }
        self.send(slot);
    }

    /// Whether another request may be put on its way on the connection in `slot`.
    #[inline]
    fn may_launch(&self, slot: usize) -> bool {
        self.has_room_on(slot) && self.connections[slot].begun() < self.plan.most_per_connection
    }

    /// Writes what has been launched, unless the connection is spoiled.
    #[inline]
    pub(super) fn send(&mut self, slot: usize) {
        if self.connections[slot].spoiled {
            let end = self.tick();
            if let Some(broken) = self.connections[slot].http.broken() {
                return self.lose_streams(slot, end, broken.why, |_| broken.kind);
            }
            return self.fail(slot, EXTRA, end, || {
                "bytes came while no request was on its way".to_owned()
            });
        }
        self.write(slot);
    }

    /// Adds the next request of the connection's turn to those on their way; it is still to be written.
    #[inline]
    pub(super) fn launch(&mut self, slot: usize, intended: u64, started: u64) {
        let plan = self.plan;
        let connection = &mut self.connections[slot];
        let exchange = plan.routes.cycle[connection.take_turn()];
        let flight = InFlight {
            intended,
            started,
            exchange,
            is_last: connection.begun() + 1 == plan.most_per_connection,
        };
        if plan.is_counted && connection.counted_from == NEVER {
            self.begin_counted(slot, started);
        }
        let connection = &mut self.connections[slot];
        let scratch = &mut self.buffers.scratch;
        connection.http.put(flight, plan, scratch);
        self.recorder.issued();
    }

    /// Gets ready for the answer to the first request on its way.
    #[inline]
    pub(super) fn begin_answer(&mut self, slot: usize) {
        let connection = &mut self.connections[slot];
        let Some(first) = connection.http.begin_answer(self.plan) else {
            return;
        };
        let wait = if connection.http.is_holding() {
            HOLD.min(self.bounds.request)
        } else {
            self.bounds.request
        };
        self.deadlines.set(slot, first.started.saturating_add(wait));
    }

    /// Sends what is on its way on a new connection, because the server closed the one before with an answer.
    pub(super) fn send_again(&mut self, slot: usize) {
        let scratch = &mut self.buffers.scratch;
        let again = self.connections[slot].http.put_again(self.plan, scratch);
        self.recorder.resent += again;
        self.begin_answer(slot);
        self.write(slot);
    }

    #[inline]
    pub(super) fn write(&mut self, slot: usize) {
        let connection = &mut self.connections[slot];
        let (count, written) = connection.write(self.plan);
        self.recorder.sent(count);
        let watched = written.and_then(|written| match written {
            WriteOutcome::All => connection.watch(&self.poller, slot, Watch::Reading),
            WriteOutcome::Full => connection.watch(&self.poller, slot, Watch::ReadingAndWriting),
            WriteOutcome::Some => connection.watch_again(&self.poller, slot),
        });
        if let Err(error) = watched {
            self.writing_failed(slot, error);
        }
    }

    /// A request could not be written. The server may have answered before it closed: what has come is read first.
    #[cold]
    fn writing_failed(&mut self, slot: usize, error: Errno) {
        self.connections[slot].write_error.get_or_insert(error);
        self.schedule(slot, Task::Read { closing: true });
    }

    /// Gives up the connection in `slot`, because a request could not be written on it.
    #[cold]
    pub(super) fn lose(&mut self, slot: usize, error: Errno) {
        let end = self.tick();
        let phase = match self.connections[slot].http.progress() {
            Progress::Nothing => FailurePhase::Write,
            Progress::Head | Progress::Body => self.phase_of(slot),
        };
        let cause = self.cause_of_end(slot, Cause::System(error));
        let fault = fault(Failure::Reset, phase, cause);
        let detail = || format!("writing the request: {}", std::io::Error::from(error));
        self.fail(slot, fault, end, detail);
        // A connection that was of no use at all is like one that could not be made.
        if !self.clock.is_over() && self.connections[slot].answered == 0 {
            self.back_off(slot, end);
        }
    }

    /// Why the connection ended before the answer began: `otherwise`, unless the connection had been idle and the
    /// server closed it at that moment (RFC 9112 §9.5).
    pub(super) fn cause_of_end(&self, slot: usize, otherwise: Cause) -> Cause {
        let connection = &self.connections[slot];
        if let Some(gone) = connection.http.gone() {
            return Cause::Why(gone);
        }
        let was_idle = connection.http.oldest().is_some_and(|first| {
            first.started.saturating_sub(connection.last_answer) >= LEAST_IDLE
        });
        let nothing_came = connection.http.progress() == Progress::Nothing;
        if connection.answered > 0 && was_idle && nothing_came {
            Cause::Why("the connection had been idle, and the server closed it")
        } else {
            otherwise
        }
    }

    /// There is room for writing again.
    pub(super) fn go_on_writing(&mut self, slot: usize) {
        if !self.connections[slot].http.has_written(self.plan) {
            self.write(slot);
        } else if let Err(error) = self.connections[slot].flush() {
            self.writing_failed(slot, error);
        }
    }

    /// Sends the rest of a request whose body was held back.
    pub(super) fn release(&mut self, slot: usize) {
        let now = self.clock.now;
        let http = &mut self.connections[slot].http;
        if !http.may_go_on()
            && let Some(first) = http.first()
        {
            let waited = now.saturating_sub(first.started);
            self.recorder.waited_for_continue(first.started, waited);
        }
        http.release();
        if let Some(first) = http.first() {
            let deadline = first.started.saturating_add(self.bounds.request);
            self.deadlines.set(slot, deadline);
            if self.clock.now >= deadline {
                self.time_out(slot)
            } else {
                self.write(slot)
            }
        }
    }

    /// Counts the whole answer to the first request on its way, which `extra` bytes follow that nobody asked for.
    #[inline]
    pub(super) fn judge(&mut self, slot: usize, end: u64, extra: &[u8]) {
        let connection = &mut self.connections[slot];
        let Some(flight) = connection.http.take_first() else {
            return;
        };
        connection.answered += 1;
        connection.last_answer = end;
        connection.refusals = 0;
        connection.counted_until = end;
        self.begin_thinking(slot, end);
        let connection = &mut self.connections[slot];
        let exchange = flight.exchange as usize;
        let expect = &self.plan.exchanges[exchange].exchange.expect;
        let route = connection.place.route;
        let verdict = connection
            .http
            .answer
            .verdict(exchange, expect, &mut self.contents);
        self.recorder.answered(
            flight.started,
            connection.http.answer.status,
            verdict.content_checked,
        );
        let astray = match connection.http.leads() {
            Leads::Nowhere => None,
            Leads::On => Some(EXTRA),
            Leads::Astray(why) => Some(fault(
                Failure::BadRedirect,
                FailurePhase::Head,
                Cause::Why(why),
            )),
        };
        let is_valid = verdict.failure.is_none() && extra.is_empty() && astray.is_none();
        self.recorder.ended_on(route, flight.started, is_valid);
        if let Some(fault) = astray {
            let http = &connection.http;
            let (status, to) = (http.answer.status, || redact::url(&http.location()));
            let detail = || format!("status {status} with the Location {:?}", to());
            self.recorder
                .failed(fault, flight.started, Some(flight.exchange), end, detail);
            return;
        }
        let events = connection.http.answer.events.as_ref();
        match verdict.failure {
            None if extra.is_empty() => {
                if events.is_some_and(|events| events.seen() == 0) {
                    self.recorder.had_no_event(flight.started);
                }
                let times = RequestTimes {
                    intended: flight.intended,
                    dialled: connection.http.first_dialled(connection.dialled),
                    started: flight.started,
                    first_byte: connection.first_byte,
                    end,
                };
                let length = connection.http.answer.length;
                self.recorder.succeeded(times, flight.exchange, length);
            }
            None => {
                let detail = || excerpt(extra);
                self.recorder
                    .failed(EXTRA, flight.started, Some(flight.exchange), end, detail);
            }
            Some(kind) => {
                let phase = match kind {
                    Failure::WrongStatus => FailurePhase::Head,
                    _ => FailurePhase::Body,
                };
                let answer = &connection.http.answer;
                let note = verdict.note;
                let describe = || note.unwrap_or_else(|| answer.describe(kind, expect));
                let fault = fault(kind, phase, answer.cause(kind));
                self.recorder
                    .failed(fault, flight.started, Some(flight.exchange), end, describe);
            }
        }
    }

    pub(super) fn time_out(&mut self, slot: usize) {
        if self.connections[slot].http.is_multiplexed() {
            return self.time_out_streams(slot);
        }
        let end = self.tick();
        let phase = self.phase_of(slot);
        let (fault, events) = self.too_late(slot, phase);
        self.fail(slot, fault, end, || match events {
            0 => format!("no whole answer in time; it stopped at: {phase}"),
            events => format!("no whole answer in time, but {events} events of it"),
        });
    }

    /// What is going on with the first request on its way.
    pub(super) fn phase_of(&self, slot: usize) -> FailurePhase {
        let http = &self.connections[slot].http;
        match http.progress() {
            Progress::Nothing if !http.has_written(self.plan) => FailurePhase::Write,
            Progress::Nothing => FailurePhase::FirstByte,
            Progress::Head => FailurePhase::Head,
            Progress::Body => FailurePhase::Body,
        }
    }

    /// Counts the first request on its way as failed, and those pipelined behind it too. Then makes a new connection.
    #[cold]
    pub(super) fn fail(
        &mut self,
        slot: usize,
        fault: Fault,
        end: u64,
        detail: impl FnOnce() -> String,
    ) {
        if self.clock.is_over() {
            return;
        }
        if self.connections[slot].http.is_multiplexed() {
            return self.break_off(slot, fault, end, detail);
        }
        let route = self.connections[slot].place.route;
        self.connections[slot].counted_until = end;
        if let Some(flight) = self.connections[slot].http.take_first() {
            self.recorder.ended_on(route, flight.started, false);
            self.recorder
                .failed(fault, flight.started, Some(flight.exchange), end, detail);
            self.begin_thinking(slot, end);
        }
        let behind = Fault {
            kind: Failure::ClosedEarly,
            phase: FailurePhase::FirstByte,
            cause: Cause::Why("it was pipelined behind a request that failed"),
        };
        while let Some(flight) = self.connections[slot].http.take_first() {
            let detail = || format!("pipelined behind a request that failed: {}", fault.kind);
            self.recorder.ended_on(route, flight.started, false);
            self.recorder
                .failed(behind, flight.started, Some(flight.exchange), end, detail);
        }
        self.renew(slot);
    }

    /// Leaves a connection open that has nothing to send, and perhaps will in another slice.
    fn rest(&mut self, slot: usize) {
        self.deadlines.set(slot, NEVER);
        self.watch_idle(slot);
    }

    /// Watches a connection that has nothing to send, so that its end is noticed.
    fn watch_idle(&mut self, slot: usize) {
        let connection = &mut self.connections[slot];
        if connection.state == ConnectionState::Open {
            let watched: Result<(), Errno> = connection.watch(&self.poller, slot, Watch::Reading);
            if watched.is_err() {
                self.renew(slot);
            }
        }
    }
}

/// Bytes came after an answer that no request asked for. The cause is the same however they are cut.
pub(super) const EXTRA: Fault = Fault {
    kind: Failure::ExtraBytes,
    phase: FailurePhase::Body,
    cause: Cause::Why("bytes after the answer"),
};

/// What failed, and when.
pub(super) fn fault(kind: Failure, phase: FailurePhase, cause: Cause) -> Fault {
    Fault { kind, phase, cause }
}

/// Connections of a closed loop that think between an answer and their next request, the earliest to be through first.
///
/// They are no `Deadlines`: of thousands that think for seconds, some are through at any moment, and a look through all of
/// them each time would take the whole CPU.
#[derive(Debug, Default)]
pub(super) struct Thinkers(BinaryHeap<Reverse<(u64, usize)>>);

impl Thinkers {
    /// With room for this many.
    pub(super) fn new(connections: usize) -> Self {
        Self(BinaryHeap::with_capacity(connections))
    }

    /// When the next one is through.
    #[inline]
    pub(super) fn next(&self) -> u64 {
        self.0.peek().map_or(NEVER, |Reverse((due, _))| *due)
    }

    /// Takes out one that is through.
    fn take_due(&mut self, now: u64) -> Option<usize> {
        if self.next() > now {
            return None;
        }
        self.0.pop().map(|Reverse((_, slot))| slot)
    }
}

impl Worker<'_> {
    /// A request of the connection in `slot` is over: its next one waits.
    #[inline]
    pub(super) fn begin_thinking(&mut self, slot: usize, end: u64) {
        if let Some(thinking) = &self.plan.thinking {
            let global = global(self.index, self.plan.cpus.len(), slot);
            let connection = &mut self.connections[slot];
            let time = thinking.time(self.plan.number_of(global), connection.thoughts);
            connection.thoughts += 1;
            connection.due = end.saturating_add(time);
        }
    }

    /// Whether the connection in `slot` still has to wait. It is woken when that is over.
    #[inline]
    pub(super) fn is_thinking(&mut self, slot: usize) -> bool {
        if self.plan.thinking.is_none() {
            return false;
        }
        let connection = &mut self.connections[slot];
        let waits = connection.due > self.clock.now;
        if waits {
            self.deadlines.set(slot, NEVER);
            if !connection.thinks {
                connection.thinks = true;
                self.thinkers.0.push(Reverse((connection.due, slot)));
            }
        }
        waits
    }

    /// Has those that are through go on.
    #[cold]
    pub(super) fn wake_thinkers(&mut self) {
        while let Some(slot) = self.thinkers.take_due(self.clock.now) {
            let connection = &mut self.connections[slot];
            connection.thinks = false;
            match connection.state {
                ConnectionState::Open if connection.http.is_idle() => {
                    self.schedule(slot, Task::Send)
                }
                // Its connection has ended meanwhile. (One that is being made goes on by itself.)
                ConnectionState::Absent => self.schedule(slot, Task::Connect),
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_through_first_is_woken_first() {
        let mut thinkers = Thinkers::new(3);
        assert_eq!((thinkers.next(), thinkers.take_due(9)), (NEVER, None));
        for (due, slot) in [(30, 0), (10, 1), (20, 2)] {
            thinkers.0.push(Reverse((due, slot)));
        }
        assert_eq!(thinkers.next(), 10);
        assert_eq!(thinkers.take_due(9), None);
        assert_eq!(
            [thinkers.take_due(20), thinkers.take_due(20)],
            [Some(1), Some(2)]
        );
        assert_eq!((thinkers.take_due(20), thinkers.next()), (None, 30));
    }
}
