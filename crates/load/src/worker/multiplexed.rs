//! HTTP/2 connections: many requests on each, which end in any order and fail one by one. Requests that the server has
//! not processed outlive their connection.

use deadheat_model::{Failure, failure::FailurePhase};

use super::{
    Worker,
    reading::{CLOSED, Flow, SPEAKS_TLS, is_tls_alert},
    requests::fault,
};
use crate::{
    connection::{Connection, ConnectionState, Task},
    deadlines::NEVER,
    http_connection::{InFlight, Phase, RequestProgress},
    recorder::{Cause, Fault},
};

/// After this many connections in a row that the server gave up without an answer, requests fail instead of being sent again.
const MAX_IN_VAIN: u32 = 3;
const NOT_GREETED: &str = "no SETTINGS of HTTP/2 came within the connect timeout";
const NO_STREAMS: &str = "the server allows no streams (SETTINGS_MAX_CONCURRENT_STREAMS is 0)";
const LATE: &str = "no whole answer within the request timeout";

/// The failure phase of a request by the phase of its answer; `None`: it was not fully sent.
fn phase_of(phase: Option<Phase>) -> FailurePhase {
    match phase {
        None => FailurePhase::Write,
        Some(Phase::Head) => FailurePhase::FirstByte,
        Some(Phase::Body) => FailurePhase::Body,
    }
}

fn because(kind: Failure, phase: FailurePhase, why: &'static str) -> Fault {
    fault(kind, phase, Cause::Why(why))
}

/// The failure of a request in this phase whose connection ends.
fn cut(phase: FailurePhase) -> Failure {
    match phase {
        FailurePhase::Body => Failure::TruncatedBody,
        _ => Failure::ClosedEarly,
    }
}

impl Worker<'_> {
    /// Whether the connection in `slot` has room for another request. Those on the slot's earlier connections count.
    #[inline]
    pub(super) fn has_room_on(&self, slot: usize) -> bool {
        let connection = &self.connections[slot];
        connection.http.has_room(connection.aside)
    }

    /// A free slot for a connection that takes no more requests, if there is one.
    #[cold]
    fn free_aside(&self) -> Option<usize> {
        let mut asides = self.slots..self.connections.len();
        asides.find(|aside| self.connections[*aside].state == ConnectionState::Absent)
    }

    /// Moves the draining connection in `slot` aside, where its open requests end. The slot gets a new connection for
    /// the others at once.
    #[cold]
    pub(super) fn move_aside(&mut self, slot: usize) {
        let connection = &self.connections[slot];
        let is_leaving = connection.state == ConnectionState::Open && connection.http.is_leaving();
        let Some(aside) = self.free_aside().filter(|_| is_leaving) else {
            return;
        };
        self.unlist(slot);
        self.note_closed(true);
        let (all, asides) = self.connections.split_at_mut(self.slots);
        let to = &mut asides[aside - self.slots];
        to.moved_from = slot;
        if all[slot].move_to(to, &self.poller, aside).is_err() {
            self.schedule(aside, Task::Read { closing: true });
        }
        self.begin_answer(aside);
        self.want_flush(aside);
        self.hand_back(aside);
        if self.connections[slot].need != Task::Connect {
            self.replace(slot);
        }
    }

    /// Moves unsent requests of the draining connection `aside` to its replacement. Updates the replacement's count of
    /// draining requests and the time of the last one.
    fn hand_back(&mut self, aside: usize) {
        let slot = self.connections[aside].moved_from;
        let until = std::mem::replace(&mut self.connections[aside].counted_until, NEVER);
        if until != NEVER && self.connections[slot].counted_from != NEVER {
            self.connections[slot].counted_until = until;
        }
        let mut is_any = false;
        while let Some(flight) = self.connections[aside].http.take_unsent() {
            self.connections[slot].http.put_unsent(flight);
            is_any = true;
        }
        let asides = self.connections[self.slots..].iter();
        let asides =
            asides.filter(|one| one.moved_from == slot && one.state != ConnectionState::Absent);
        self.connections[slot].aside = asides.map(|one| one.http.in_flight()).sum();
        match self.connections[slot].state {
            ConnectionState::Open if is_any && self.connections[slot].http.can_put_again() => {
                self.send_again(slot);
            }
            ConnectionState::Absent if is_any => {
                self.note_taken(slot);
                self.schedule(slot, Task::Connect);
            }
            _ => {}
        }
    }

    /// Some requests on a draining connection have ended, so its replacement has room for more.
    pub(super) fn note_left(&mut self, aside: usize) {
        self.hand_back(aside);
        let is_free = self.connections[aside].state == ConnectionState::Absent;
        // One that has more to read moves after that.
        let waits = |one: &Connection| {
            let reads = matches!(one.need, Task::Read { .. });
            one.state == ConnectionState::Open && !reads && one.http.is_leaving()
        };
        if is_free && let Some(slot) = self.connections[..self.slots].iter().position(waits) {
            self.schedule(slot, Task::Aside);
        }
        self.note_drained(self.connections[aside].moved_from);
    }

    /// Sends the preface and SETTINGS on a new connection, and waits for those of the server.
    pub(super) fn greet(&mut self, slot: usize) {
        self.connections[slot].state = ConnectionState::Greeting;
        self.write(slot);
        if self.connections[slot].tls.is_some() {
            // Some may have come with the end of the handshake.
            let end = self.clock.now;
            let mut plain = std::mem::take(&mut self.buffers.plain);
            let flow = self.take_decrypted(slot, &mut plain, end, false);
            self.buffers.plain = plain;
            let tls = self.connections[slot].tls.as_mut();
            if flow == Flow::On && tls.is_some_and(|tls| tls.has_said_goodbye()) {
                self.closed_by_peer(slot, end);
            }
        }
    }

    /// Reads answers from received bytes.
    pub(super) fn take_frames(&mut self, slot: usize, bytes: &[u8], end: u64) -> Flow {
        let mut rest = bytes;
        while !rest.is_empty() {
            let connection = &mut self.connections[slot];
            if connection.spoiled {
                self.recorder.received(rest.len(), 0);
                return Flow::On;
            }
            let (fed, received) = connection.http.feed_frames(
                rest,
                self.plan,
                &mut self.contents,
                &self.recorder.examples,
            );
            match fed {
                Ok((used, came)) => {
                    self.recorder.received(used, received);
                    rest = &rest[used..];
                    match came {
                        RequestProgress::More => {}
                        RequestProgress::Whole => self.judge(slot, end, &[]),
                        RequestProgress::Failed {
                            flight,
                            broken,
                            phase,
                        } => {
                            let fault = because(broken.kind, phase_of(Some(phase)), broken.why);
                            self.lose_stream(slot, flight, fault, end, || broken.why.to_owned());
                        }
                    }
                }
                Err(broken) => {
                    self.recorder.received(rest.len(), received);
                    let connection = &mut self.connections[slot];
                    if connection.state == ConnectionState::Open && connection.http.is_idle() {
                        // Nobody waits for an answer: the next request finds a connection that is of no use.
                        connection.spoiled = true;
                        break;
                    }
                    self.lose_streams(slot, end, broken.why, |_| broken.kind);
                    return Flow::Off;
                }
            }
        }
        self.go_on_with_streams(slot, end)
    }

    /// Continues after answers were read: resends, moves aside or closes the connection as its state requires.
    fn go_on_with_streams(&mut self, slot: usize, end: u64) -> Flow {
        let connection = &self.connections[slot];
        if connection.state == ConnectionState::Greeting {
            if let Some(reason) = connection.http.goaway_reason() {
                self.lose_streams(slot, end, reason, cut);
                return Flow::Off;
            }
            if connection.http.is_ready() {
                self.opened(slot);
            }
        } else if connection.http.is_over() {
            self.end_connection(slot, end);
            return Flow::Off;
        } else if slot >= self.slots {
            self.note_left(slot);
        } else if connection.http.is_leaving() && self.free_aside().is_some() {
            self.schedule(slot, Task::Aside);
        } else if connection.http.can_put_again() {
            self.send_again(slot);
        } else if connection.listed && !self.has_room_on(slot) {
            self.unlist(slot);
        }
        self.note_drained(slot);
        if !self.connections[slot].http.has_written(self.plan) {
            self.want_flush(slot);
        }
        match self.connections[slot].state {
            ConnectionState::Greeting | ConnectionState::Open => Flow::On,
            _ => Flow::Off,
        }
    }

    /// Writes the queued bytes, if the connection is still there.
    pub(super) fn flush(&mut self, slot: usize) {
        let connection = &self.connections[slot];
        if connection.is_talking() && !connection.http.has_written(self.plan) {
            self.write(slot);
        }
    }

    /// Counts one request as failed that was removed from its HTTP connection.
    fn lose_stream(
        &mut self,
        slot: usize,
        flight: InFlight,
        fault: Fault,
        end: u64,
        detail: impl FnOnce() -> String,
    ) {
        let connection = &mut self.connections[slot];
        connection.counted_until = end;
        self.recorder
            .ended_on(connection.place.route, flight.started, false);
        self.recorder
            .failed(fault, flight.started, Some(flight.exchange), end, detail);
    }

    /// The connection in `slot` is unusable: fails the requests that were sent on it, and sends the others again.
    pub(super) fn lose_streams(
        &mut self,
        slot: usize,
        end: u64,
        why: &'static str,
        kind: impl Fn(FailurePhase) -> Failure,
    ) {
        if self.connections[slot].state == ConnectionState::Greeting {
            let phase = FailurePhase::Connect;
            return self.unmade(slot, because(kind(phase), phase, why), || why.to_owned());
        }
        while let Some((flight, phase)) = self.connections[slot].http.take_lost() {
            let phase = phase_of(phase);
            let fault = because(kind(phase), phase, why);
            self.lose_stream(slot, flight, fault, end, || why.to_owned());
        }
        self.end_connection(slot, end);
    }

    /// Ends the connection in `slot` for a fault outside of HTTP/2.
    #[cold]
    pub(super) fn break_off(
        &mut self,
        slot: usize,
        fault: Fault,
        end: u64,
        detail: impl FnOnce() -> String,
    ) {
        if self.connections[slot].state == ConnectionState::Greeting {
            let detail = detail();
            let phase = FailurePhase::Connect;
            return self.unmade(slot, Fault { phase, ..fault }, || detail.clone());
        }
        let detail = if self.recorder.examples.wants(fault.kind) {
            detail()
        } else {
            String::new()
        };
        self.connections[slot].counted_until = end;
        while let Some((flight, phase)) = self.connections[slot].http.take_lost() {
            let phase = phase_of(phase);
            self.lose_stream(slot, flight, Fault { phase, ..fault }, end, || {
                detail.clone()
            });
        }
        self.end_connection(slot, end);
    }

    /// Closes a connection without open requests. Requests to be sent again wait for the next one. After
    /// [`MAX_IN_VAIN`] connections in a row without an answer, they fail.
    fn end_connection(&mut self, slot: usize, end: u64) {
        let connection = &mut self.connections[slot];
        let why = connection.http.goaway_reason().unwrap_or(CLOSED);
        if connection.answered == 0 && !connection.http.is_idle() {
            connection.refusals += 1;
            if connection.refusals >= MAX_IN_VAIN {
                let fault = because(Failure::ClosedEarly, FailurePhase::FirstByte, why);
                while let Some(flight) = self.connections[slot].http.take_unsent() {
                    self.lose_stream(slot, flight, fault, end, || why.to_owned());
                }
            }
        }
        self.renew(slot);
    }

    /// The server has closed the connection.
    pub(super) fn streams_closed(&mut self, slot: usize, end: u64) {
        let connection = &self.connections[slot];
        if connection.state == ConnectionState::Greeting {
            let is_alert = connection.http.has_only(is_tls_alert);
            let why = match connection.http.goaway_reason() {
                Some(reason) => reason,
                None if is_alert => SPEAKS_TLS,
                None => "the server closed the connection before its SETTINGS of HTTP/2",
            };
            return self.lose_streams(slot, end, why, cut);
        }
        if let Some(error) = connection.write_error {
            return self.lose(slot, error);
        }
        let why = match self.cause_of_end(slot, Cause::Why(CLOSED)) {
            Cause::Why(why) => why,
            _ => CLOSED,
        };
        self.lose_streams(slot, end, why, cut);
    }

    /// The server has not sent its settings in time, or allows no streams.
    pub(super) fn not_greeted(&mut self, slot: usize) {
        let http = &self.connections[slot].http;
        let why = if http.has_greeted() {
            NO_STREAMS
        } else {
            NOT_GREETED
        };
        let fault = because(Failure::ConnectOther, FailurePhase::Connect, why);
        self.unmade(slot, fault, || why.to_owned());
    }

    /// Fails the requests in `slot` that timed out. Sends nothing more on the connection; reconnects when the others
    /// have ended, because the server may have lost them too.
    #[cold]
    pub(super) fn time_out_streams(&mut self, slot: usize) {
        let end = self.tick();
        if self.clock.is_over() {
            return;
        }
        let until = end.saturating_sub(self.bounds.request);
        while let Some((flight, phase)) = self.connections[slot].http.take_late(until) {
            let fault = because(Failure::Timeout, phase_of(phase), LATE);
            self.lose_stream(slot, flight, fault, end, || LATE.to_owned());
        }
        let connection = &self.connections[slot];
        let next = connection.http.oldest().map_or(NEVER, |oldest| {
            oldest.started.saturating_add(self.bounds.request)
        });
        if connection.state != ConnectionState::Open {
            if connection.http.is_idle() {
                return self.renew(slot);
            }
            let made = connection.dialled.saturating_add(self.bounds.connect);
            return self.deadlines.set(slot, next.min(made));
        }
        self.deadlines.set(slot, next);
        if connection.http.is_over() {
            return self.end_connection(slot, end);
        }
        if slot >= self.slots {
            self.note_left(slot);
        } else if connection.listed && !self.has_room_on(slot) {
            self.unlist(slot);
        }
        self.want_flush(slot);
    }
}
