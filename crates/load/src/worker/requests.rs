//! A request on a connection: sent, judged, counted.

use std::mem;

use deadheat_model::{Failure, failure::FailurePhase};
use rustix::io::Errno;

use super::{Phase, Worker};
use crate::{
    connection::{Flight, State},
    http1::Progress,
    poller::Watch,
    recorder::{Cause, Fault, Times},
    verify::excerpt,
};

/// How long a body is held back at most for want of a 100 Continue (RFC 9110 §10.1.1 leaves the time to the client).
const HOLD: u64 = 1_000_000_000;

impl Worker<'_> {
    /// A connection can take requests: in a closed loop it is filled with them, in an open loop it takes one that
    /// waits.
    #[inline]
    pub(super) fn ready(&mut self, slot: usize) {
        if !self.connections[slot].flights.is_empty() {
            return self.send_again(slot);
        }
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
    pub(super) fn refill(&mut self, slot: usize) {
        let start = self.tick();
        if self.phase == Phase::Over {
            return;
        }
        let was_empty = self.connections[slot].flights.is_empty();
        while !self.connections[slot].flights.is_full() && self.claim() {
            self.launch(slot, start, start);
        }
        if was_empty {
            if self.connections[slot].flights.is_empty() {
                return self.retire(slot);
            }
            self.begin_answer(slot);
        }
        self.write(slot);
    }

    /// Adds the next request of the connection's turn to those on their way; it is still to be written.
    #[inline]
    pub(super) fn launch(&mut self, slot: usize, intended: u64, started: u64) {
        let plan = self.plan;
        let connection = &mut self.connections[slot];
        let exchange = plan.cycle[connection.turn];
        connection.turn = next(connection.turn, plan.cycle.len());
        connection.flights.push(Flight {
            intended,
            started,
            exchange,
        });
        self.recorder.issued();
        if plan.composes {
            self.compose(slot, exchange);
        } else {
            connection.written = 0;
            connection.holding = plan.exchanges[exchange as usize].request.hold_at.is_some();
        }
    }

    fn compose(&mut self, slot: usize, exchange: u32) {
        let connection = &mut self.connections[slot];
        if connection.written == connection.composed.len() {
            connection.composed.clear();
            connection.written = 0;
        }
        let out = &mut connection.composed;
        self.plan.compose(exchange as usize, &mut self.scratch, out);
    }

    /// Gets ready for the answer to the first request on its way.
    #[inline]
    pub(super) fn begin_answer(&mut self, slot: usize) {
        let connection = &mut self.connections[slot];
        let Some(first) = connection.flights.first() else {
            return;
        };
        connection.answer.begin();
        let request = &self.plan.exchanges[first.exchange as usize].request;
        connection.reader.begin(request.is_head);
        let wait = if connection.holding {
            HOLD.min(self.request_timeout)
        } else {
            self.request_timeout
        };
        self.deadlines.set(slot, first.started.saturating_add(wait));
    }

    /// Sends what is on its way on a new connection, because the server closed the one before with an answer.
    fn send_again(&mut self, slot: usize) {
        let exchanges = self.connections[slot].flights.len();
        for nth in 0..exchanges {
            let flight = self.connections[slot].flights.iter().nth(nth);
            if let Some(flight) = flight {
                self.compose(slot, flight.exchange);
                self.recorder.resent += 1;
            }
        }
        self.begin_answer(slot);
        self.write(slot);
    }

    #[inline]
    pub(super) fn write(&mut self, slot: usize) {
        let plan = self.plan;
        let connection = &mut self.connections[slot];
        let before = connection.written;
        let written = if plan.composes {
            let composed = mem::take(&mut connection.composed);
            let written = connection.write(&composed);
            connection.composed = composed;
            written
        } else {
            let Some(first) = connection.flights.first() else {
                return;
            };
            let request = &plan.exchanges[first.exchange as usize].request;
            let bytes = request.fixed().unwrap_or_default();
            match request.hold_at {
                Some(hold_at) if connection.holding => connection.write(&bytes[..hold_at]),
                _ => connection.write(bytes),
            }
        };
        self.recorder
            .sent(connection.written.saturating_sub(before));
        let watched = written.and_then(|all| {
            let wanted = if all {
                Watch::Reading
            } else {
                Watch::ReadingAndWriting
            };
            connection.watch(&self.poller, slot, wanted)
        });
        if let Err(error) = watched {
            let end = self.tick();
            let fault = fault(Failure::Reset, FailurePhase::Write, Cause::System(error));
            self.fail(slot, fault, end, || {
                format!("writing the request: {}", std::io::Error::from(error))
            });
        }
    }

    /// There is room for writing again.
    pub(super) fn go_on_writing(&mut self, slot: usize) {
        if !self.has_written(slot) {
            self.write(slot);
        } else if let Err(error) = self.connections[slot].flush() {
            let end = self.tick();
            let fault = fault(Failure::Reset, FailurePhase::Write, Cause::System(error));
            self.fail(slot, fault, end, || {
                format!("writing the request: {}", std::io::Error::from(error))
            });
        }
    }

    /// Whether all that is on its way has been written.
    #[inline]
    pub(super) fn has_written(&self, slot: usize) -> bool {
        let connection = &self.connections[slot];
        if self.plan.composes {
            return connection.written == connection.composed.len();
        }
        connection.flights.first().is_none_or(|first| {
            let request = &self.plan.exchanges[first.exchange as usize].request;
            request
                .fixed()
                .is_none_or(|bytes| connection.written == bytes.len())
        })
    }

    /// Sends the rest of a request whose body was held back.
    pub(super) fn release(&mut self, slot: usize) {
        self.connections[slot].holding = false;
        if let Some(first) = self.connections[slot].flights.first() {
            let deadline = first.started.saturating_add(self.request_timeout);
            self.deadlines.set(slot, deadline);
            match self.now >= deadline {
                true => self.time_out(slot),
                false => self.write(slot),
            }
        }
    }

    /// Counts the whole answer to the first request on its way, which `extra` bytes follow that nobody asked for.
    #[inline]
    pub(super) fn judge(&mut self, slot: usize, end: u64, extra: &[u8]) {
        let connection = &mut self.connections[slot];
        let Some(flight) = connection.flights.pop() else {
            return;
        };
        connection.answered += 1;
        let exchange = flight.exchange as usize;
        let expect = &self.plan.exchanges[exchange].exchange.expect;
        let verdict = connection
            .answer
            .verdict(exchange, expect, &mut self.contents);
        self.recorder
            .answered(connection.answer.status, verdict.content_checked);
        match verdict.failure {
            None if extra.is_empty() => {
                let times = Times {
                    intended: flight.intended,
                    started: flight.started,
                    end,
                };
                self.recorder.succeeded(times, connection.answer.length);
            }
            None => {
                let cause = Cause::Why("bytes after the answer");
                let fault = fault(Failure::ExtraBytes, FailurePhase::Body, cause);
                self.recorder.failed(fault, end, || excerpt(extra));
            }
            Some(kind) => {
                let phase = match kind {
                    Failure::WrongStatus => FailurePhase::Head,
                    _ => FailurePhase::Body,
                };
                let answer = &connection.answer;
                let note = verdict.note;
                let describe = || note.unwrap_or_else(|| answer.describe(kind, expect));
                self.recorder
                    .failed(fault(kind, phase, answer.cause(kind)), end, describe);
            }
        }
    }

    pub(super) fn time_out(&mut self, slot: usize) {
        let end = self.tick();
        let phase = self.phase_of(slot);
        let cause = Cause::Why("no whole answer within the request timeout");
        self.fail(slot, fault(Failure::Timeout, phase, cause), end, || {
            format!("no whole answer in time; it stopped at: {phase}")
        });
    }

    /// What is going on with the first request on its way.
    pub(super) fn phase_of(&self, slot: usize) -> FailurePhase {
        match self.connections[slot].reader.progress() {
            Progress::Nothing if !self.has_written(slot) => FailurePhase::Write,
            Progress::Nothing => FailurePhase::FirstByte,
            Progress::Head => FailurePhase::Head,
            Progress::Body => FailurePhase::Body,
        }
    }

    /// Counts the first request on its way as failed, and what is behind it as lost with it; starts over on a new
    /// connection.
    #[cold]
    pub(super) fn fail(
        &mut self,
        slot: usize,
        fault: Fault,
        end: u64,
        detail: impl FnOnce() -> String,
    ) {
        if self.phase == Phase::Over {
            return;
        }
        if self.connections[slot].flights.pop().is_some() {
            self.recorder.failed(fault, end, detail);
        }
        let behind = Fault {
            kind: Failure::ClosedEarly,
            phase: FailurePhase::FirstByte,
            cause: Cause::Why("it was pipelined behind a request that failed"),
        };
        while self.connections[slot].flights.pop().is_some() {
            self.recorder.failed(behind, end, || {
                format!("pipelined behind a request that failed: {}", fault.kind)
            });
        }
        self.renew(slot);
    }

    /// Watches a connection that has nothing to send, so that its end is noticed.
    fn watch_idle(&mut self, slot: usize) {
        let connection = &mut self.connections[slot];
        if connection.state == State::Open {
            let watched: Result<(), Errno> = connection.watch(&self.poller, slot, Watch::Reading);
            if watched.is_err() {
                self.renew(slot);
            }
        }
    }
}

/// What failed, and when.
pub(super) fn fault(kind: Failure, phase: FailurePhase, cause: Cause) -> Fault {
    Fault { kind, phase, cause }
}

/// The place after `place` in a cycle of `count`. A comparison: a remainder would cost a division per request.
#[inline]
fn next(place: usize, count: usize) -> usize {
    match place + 1 {
        next if next == count => 0,
        next => next,
    }
}
