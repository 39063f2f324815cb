//! A request on a connection: sent, verified and counted; and the think time before the next one.

use std::{cmp::Reverse, collections::BinaryHeap};

use deadheat_model::{Failure, failure::FailurePhase, redact};
use rustix::io::Errno;

use super::Worker;
use crate::{
    connection::{ConnectionState, Task, WriteOutcome},
    deadlines::NEVER,
    http_connection::{AnswerProgress, InFlight, RedirectOutcome},
    recorder::{Cause, Fault},
    schedule::global,
    socket::Interest,
    verify::excerpt,
};

/// The longest wait for a 100 Continue before the body is sent anyway, in nanoseconds (RFC 9110 §10.1.1 leaves the time
/// to the client).
const HOLD: u64 = 1_000_000_000;
/// A connection that had nothing to do for this many nanoseconds was idle: servers close such connections.
const MIN_IDLE: u64 = 1_000_000;

impl Worker<'_> {
    /// Uses a connection that can take requests: a closed loop fills it, and an open loop sends a waiting request.
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

    /// Sends as many requests as may be in flight, in one write.
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

    /// Whether another request may be sent on the connection in `slot`.
    #[inline]
    fn may_launch(&self, slot: usize) -> bool {
        self.has_room_on(slot) && self.connections[slot].begun() < self.plan.most_per_connection
    }

    /// Writes the queued requests, unless the connection is spoiled.
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

    /// Queues the next request in the connection's cycle, to be written later.
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
            count: plan.next_count(exchange),
        };
        if plan.is_counted && connection.counted_from == NEVER {
            self.begin_counted(slot, started);
        }
        let connection = &mut self.connections[slot];
        let scratch = &mut self.buffers.scratch;
        connection.http.put(flight, plan, scratch);
        self.recorder.issued();
    }

    /// Prepares for the answer to the first request in flight, and sets its deadline.
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

    /// Sends unanswered requests again on a new connection, after the server closed the last one with an answer.
    pub(super) fn send_again(&mut self, slot: usize) {
        let scratch = &mut self.buffers.scratch;
        let again = self.connections[slot].http.put_again(self.plan, scratch);
        self.recorder.seen.resent += again;
        self.begin_answer(slot);
        self.write(slot);
    }

    #[inline]
    pub(super) fn write(&mut self, slot: usize) {
        let connection = &mut self.connections[slot];
        let (count, written) = connection.write(self.plan);
        self.recorder.sent(count);
        let watched = written.and_then(|written| match written {
            WriteOutcome::All => connection.watch(&self.poller, slot, Interest::Reading),
            WriteOutcome::Full => connection.watch(&self.poller, slot, Interest::ReadingAndWriting),
            WriteOutcome::Some => connection.watch_again(&self.poller, slot),
        });
        if let Err(error) = watched {
            self.writing_failed(slot, error);
        }
    }

    /// Handles a failed write. The server may have answered before it closed, so received bytes are read first.
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
            AnswerProgress::Nothing => FailurePhase::Write,
            AnswerProgress::Head | AnswerProgress::Body => self.phase_of(slot),
        };
        let cause = self.cause_of_end(slot, Cause::System(error));
        let fault = fault(Failure::Reset, phase, cause);
        let detail = || format!("writing the request: {}", std::io::Error::from(error));
        self.fail(slot, fault, end, detail);
        // A connection without any answer counts as a failed connect.
        if !self.clock.is_over() && self.connections[slot].answered == 0 {
            self.back_off(slot, end);
        }
    }

    /// Why the connection ended before the answer began: `otherwise`, unless the connection had been idle and the
    /// server closed it at that moment (RFC 9112 §9.5).
    pub(super) fn cause_of_end(&self, slot: usize, otherwise: Cause) -> Cause {
        let connection = &self.connections[slot];
        if let Some(reason) = connection.http.goaway_reason() {
            return Cause::Why(reason);
        }
        let was_idle = connection
            .http
            .oldest()
            .is_some_and(|first| first.started.saturating_sub(connection.last_answer) >= MIN_IDLE);
        let nothing_came = connection.http.progress() == AnswerProgress::Nothing;
        if connection.answered > 0 && was_idle && nothing_came {
            Cause::Why("the connection had been idle, and the server closed it")
        } else {
            otherwise
        }
    }

    /// Continues to write, because there is room again.
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

    /// Verifies and counts the complete answer to the first request in flight. `extra` are bytes after it that no
    /// request asked for.
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
        let not_followed = match connection.http.redirect_outcome() {
            RedirectOutcome::Final => None,
            RedirectOutcome::Followed => Some(EXTRA),
            RedirectOutcome::NotFollowed(why) => Some(fault(
                Failure::BadRedirect,
                FailurePhase::Head,
                Cause::Why(why),
            )),
        };
        // A redirect that could not be followed is not the answer that the request asked for.
        if not_followed.is_none() {
            self.recorder.answered(
                flight.started,
                connection.http.answer.status,
                verdict.content_checked,
            );
        }
        let is_valid = verdict.failure.is_none() && extra.is_empty() && not_followed.is_none();
        self.recorder.ended_on(route, flight.started, is_valid);
        if let Some(fault) = not_followed {
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
                let dialled = connection.http.first_dialled(connection.dialled);
                let (first_byte, length) = (connection.first_byte, connection.http.answer.length);
                self.recorder
                    .succeeded(flight, dialled, first_byte, end, length);
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

    /// The phase of the first request in flight.
    pub(super) fn phase_of(&self, slot: usize) -> FailurePhase {
        let http = &self.connections[slot].http;
        match http.progress() {
            AnswerProgress::Nothing if !http.has_written(self.plan) => FailurePhase::Write,
            AnswerProgress::Nothing => FailurePhase::FirstByte,
            AnswerProgress::Head => FailurePhase::Head,
            AnswerProgress::Body => FailurePhase::Body,
        }
    }

    /// Counts the first request in flight as failed, and those pipelined behind it too. Then opens a new connection.
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

    /// Keeps a connection open that has nothing more to send in this slice.
    fn rest(&mut self, slot: usize) {
        self.deadlines.set(slot, NEVER);
        self.watch_idle(slot);
    }

    /// Watches a connection that has nothing to send, so that its end is noticed.
    fn watch_idle(&mut self, slot: usize) {
        let connection = &mut self.connections[slot];
        if connection.state == ConnectionState::Open {
            let watched: Result<(), Errno> =
                connection.watch(&self.poller, slot, Interest::Reading);
            if watched.is_err() {
                self.renew(slot);
            }
        }
    }
}

/// The failure for bytes after an answer that no request asked for. It is the same however reads split the bytes.
pub(super) const EXTRA: Fault = Fault {
    kind: Failure::ExtraBytes,
    phase: FailurePhase::Body,
    cause: Cause::Why("bytes after the answer"),
};

/// A failure of this kind, in this phase, for this cause.
pub(super) fn fault(kind: Failure, phase: FailurePhase, cause: Cause) -> Fault {
    Fault { kind, phase, cause }
}

/// Connections of a closed loop in their think time between an answer and the next request, ordered by its end.
///
/// They are no `Deadlines`: with thousands of think times of seconds, some end at any moment, and a scan of all
/// connections each time would take the whole CPU.
#[derive(Debug, Default)]
pub(super) struct ThinkingConnections(BinaryHeap<Reverse<(u64, usize)>>);

impl ThinkingConnections {
    /// An empty set with room for this many connections.
    pub(super) fn new(connections: usize) -> Self {
        Self(BinaryHeap::with_capacity(connections))
    }

    /// When the next think time ends.
    #[inline]
    pub(super) fn next(&self) -> u64 {
        self.0.peek().map_or(NEVER, |Reverse((due, _))| *due)
    }

    /// Removes a connection whose think time is over.
    fn take_due(&mut self, now: u64) -> Option<usize> {
        if self.next() > now {
            return None;
        }
        self.0.pop().map(|Reverse((_, slot))| slot)
    }
}

impl Worker<'_> {
    /// Begins the think time of the connection in `slot`, after a request that ended at `end`.
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

    /// Continues the connections whose think time is over.
    #[cold]
    pub(super) fn wake_thinkers(&mut self) {
        while let Some(slot) = self.thinkers.take_due(self.clock.now) {
            let connection = &mut self.connections[slot];
            connection.thinks = false;
            match connection.state {
                ConnectionState::Open if connection.http.is_idle() => {
                    self.schedule(slot, Task::Send)
                }
                // Its connection has closed meanwhile. (One that is being opened continues by itself.)
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
        let mut thinkers = ThinkingConnections::new(3);
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
