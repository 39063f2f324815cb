//! Reading from a connection: received bytes are dropped or decrypted, and parsed into answers and events.

use deadheat_model::{Failure, failure::FailurePhase};
use rustix::io::Errno;

use super::{
    Worker,
    requests::{EXTRA, fault},
};
use crate::{
    connection::{ConnectionState, Task},
    http_connection::{AnswerProgress, Ending, FeedOutcome, NOT_HTTP, RedirectOutcome},
    recorder::{Cause, Fault},
    socket,
    tls::TlsError,
    verify::excerpt,
};

/// Bytes read at once when a head is expected. Small answers and heads fit, and little of a long unchecked body is
/// copied.
const HEAD_READ: usize = 16 * 1024;
/// The most bytes read from one connection before it is the turn of others.
const AT_A_TIME: usize = 1024 * 1024;
/// The shortest rest of an unchecked body that is worth a system call of its own to drop it.
const WORTH_DROPPING: u64 = 8 * 1024;

/// Whether the connection continues after the bytes of one read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flow {
    /// The connection stays open.
    On,
    /// The connection was closed or waits for its end, or the load is over.
    Off,
}

/// The cause of a failure: the server closed the connection.
pub(super) const CLOSED: &str = "the server closed the connection";
/// The cause of a failure: the server closed, or reset, a connection in HTTP/1 before a request was sent on it.
const CLOSED_UNUSED: &str = "the server closed the connection before its first request";
const RESET_UNUSED: &str = "the server reset the connection before its first request";
/// The cause of a failure: an answer to plain HTTP is a TLS alert.
pub(super) const SPEAKS_TLS: &str =
    "the server answered with a TLS alert: this port speaks TLS, use https://";

/// Whether bytes begin a TLS record with an alert (RFC 8446 §5.1), of any version of TLS.
pub(super) fn is_tls_alert(bytes: &[u8]) -> bool {
    matches!(bytes, [0x15, 0x03, 0..=4, ..])
}

impl Worker<'_> {
    /// Reads received bytes; `closing`: the peer sends nothing after them.
    #[inline]
    pub(super) fn receive(&mut self, slot: usize, closing: bool) {
        if self.connections[slot].tls.is_some() {
            return self.receive_tls(slot, closing);
        }
        let mut read = 0;
        loop {
            let (length, asked, is_dropped) = match self.read_some(slot) {
                Ok(read) => read,
                Err(Errno::AGAIN) => return,
                Err(error) => return self.reading_failed(slot, error),
            };
            let end = self.tick();
            if self.clock.is_over() {
                // What was read is lost.
                self.connections[slot].spoiled = true;
                return;
            }
            if length == 0 {
                return self.closed_by_peer(slot, end);
            }
            let flow = if is_dropped {
                self.take_dropped(slot, length, end, closing)
            } else {
                let bytes = std::mem::take(&mut self.buffers.plain);
                let flow = self.take(slot, &bytes[..length], end, closing);
                self.buffers.plain = bytes;
                flow
            };
            // A read that leaves room has emptied the socket, and what comes later is another edge (epoll(7)). The
            // end of the stream is the one thing that may have come with the same edge.
            if flow == Flow::Off || (length < asked && !closing) {
                return;
            }
            read += length;
            if read >= AT_A_TIME {
                return self.schedule(slot, Task::Read { closing });
            }
        }
    }

    /// Reads or drops received bytes. Returns their number, the size of the buffer, and whether they were dropped.
    #[inline]
    fn read_some(&mut self, slot: usize) -> Result<(usize, usize, bool), Errno> {
        let connection = &self.connections[slot];
        let socket = connection.socket()?;
        if let Some(body) = connection.http.ignored()
            && body.left >= WORTH_DROPPING
            && !self.buffers.dropped.is_empty()
        {
            // Nothing may follow the last expected answer: room for one more byte shows whether something does.
            let wanted = body.left + u64::from(body.is_last);
            let most = self.buffers.dropped.len();
            let room = most.min(usize::try_from(wanted).unwrap_or(usize::MAX));
            let length = socket::drop_bytes(socket, &mut self.buffers.dropped[..room])?;
            return Ok((length, room, true));
        }
        let room = if connection.http.is_multiplexed() {
            self.buffers.plain.len()
        } else {
            match connection.http.progress() {
                AnswerProgress::Body => self.buffers.plain.len(),
                AnswerProgress::Nothing | AnswerProgress::Head => HEAD_READ,
            }
        };
        let length = socket::read(socket, &mut self.buffers.plain[..room])?;
        Ok((length, room, false))
    }

    fn receive_tls(&mut self, slot: usize, closing: bool) {
        let mut taken = 0;
        loop {
            let read = self.connections[slot].socket();
            let length = match read.and_then(|socket| socket::read(socket, &mut self.buffers.wire))
            {
                Ok(length) => length,
                Err(Errno::AGAIN) => return,
                Err(error) => return self.reading_failed(slot, error),
            };
            let end = self.tick();
            if self.clock.is_over() {
                // What was read is lost.
                self.connections[slot].spoiled = true;
                return;
            }
            if length == 0 {
                return self.closed_by_peer(slot, end);
            }
            let asked = self.buffers.wire.len();
            let (wire, mut plain) = (
                std::mem::take(&mut self.buffers.wire),
                std::mem::take(&mut self.buffers.plain),
            );
            let flow = self.decrypt(slot, &wire[..length], &mut plain, end, closing);
            (self.buffers.wire, self.buffers.plain) = (wire, plain);
            if flow == Flow::Off || (length < asked && !closing) {
                return;
            }
            taken += length;
            if taken >= AT_A_TIME {
                return self.schedule(slot, Task::Read { closing });
            }
        }
    }

    fn decrypt(
        &mut self,
        slot: usize,
        mut wire: &[u8],
        plain: &mut [u8],
        end: u64,
        closing: bool,
    ) -> Flow {
        while !wire.is_empty() {
            let Some(session) = &mut self.connections[slot].tls else {
                return Flow::Off;
            };
            if let Err(broken) = session.feed(&mut wire) {
                let _ = self.connections[slot].flush();
                self.tls_broken(slot, &broken, end);
                return Flow::Off;
            }
            if self.take_decrypted(slot, plain, end, closing) == Flow::Off {
                return Flow::Off;
            }
        }
        let Some(session) = &mut self.connections[slot].tls else {
            return Flow::Off;
        };
        if session.has_said_goodbye() {
            self.closed_by_peer(slot, end);
            return Flow::Off;
        }
        Flow::On
    }

    /// Parses decrypted bytes.
    pub(super) fn take_decrypted(
        &mut self,
        slot: usize,
        plain: &mut [u8],
        end: u64,
        closing: bool,
    ) -> Flow {
        loop {
            let Some(session) = &mut self.connections[slot].tls else {
                return Flow::Off;
            };
            let length = session.take(plain);
            if length == 0 {
                return Flow::On;
            }
            if self.take(slot, &plain[..length], end, closing) == Flow::Off {
                return Flow::Off;
            }
        }
    }

    fn tls_broken(&mut self, slot: usize, broken: &TlsError, end: u64) {
        let phase = self.phase_of(slot);
        let (why, detail) = match broken {
            TlsError::Tls(why, error) => (Cause::Why(why), crate::tls::in_full(error)),
            TlsError::Socket(error) => (
                Cause::System(*error),
                std::io::Error::from(*error).to_string(),
            ),
        };
        self.fail(slot, fault(Failure::Tls, phase, why), end, || detail);
    }

    #[cold]
    fn reading_failed(&mut self, slot: usize, error: Errno) {
        if self.connections[slot].state == ConnectionState::Greeting {
            return self.connect_failed(slot, error);
        }
        if let Some(error) = self.connections[slot].write_error {
            return self.lose(slot, error);
        }
        let end = self.tick();
        let http = &self.connections[slot].http;
        if http.is_idle() && !http.is_multiplexed() && !self.clock.is_over() {
            return self.ended_idle(slot, Failure::Reset, RESET_UNUSED);
        }
        let phase = self.phase_of(slot);
        let cause = self.cause_of_end(slot, Cause::System(error));
        self.fail(slot, fault(Failure::Reset, phase, cause), end, || {
            format!("reading the answer: {}", std::io::Error::from(error))
        });
    }

    /// Counts bytes of a body that were received and dropped.
    #[inline]
    fn take_dropped(&mut self, slot: usize, length: usize, end: u64, closing: bool) -> Flow {
        let http = &mut self.connections[slot].http;
        let left = http.ignored().map_or(0, |body| body.left);
        let of_body = left.min(length as u64);
        let step = http.dropped(of_body);
        self.recorder.received(length, of_body);
        let extra: &[u8] = if length as u64 > left {
            b"(dropped unseen)"
        } else {
            &[]
        };
        match step {
            FeedOutcome::More => Flow::On,
            FeedOutcome::Whole { keep_alive, .. } => {
                let flow = self.answered(slot, end, keep_alive, extra, closing);
                if flow == Flow::On {
                    self.note_drained(slot);
                }
                flow
            }
        }
    }

    /// Parses bytes into answers.
    #[inline]
    fn take(&mut self, slot: usize, bytes: &[u8], end: u64, closing: bool) -> Flow {
        if self.connections[slot].http.is_multiplexed() {
            return self.take_frames(slot, bytes, end);
        }
        let mut rest = bytes;
        while !rest.is_empty() {
            let connection = &mut self.connections[slot];
            let Some(first) = connection.http.first() else {
                // No request is in flight.
                self.recorder.received(rest.len(), 0);
                if closing {
                    // A last answer before the close, such as 408 (RFC 9110 §15.5.9).
                    self.ended_idle(slot, Failure::ClosedEarly, CLOSED_UNUSED);
                    return Flow::Off;
                }
                connection.spoiled = true;
                return Flow::On;
            };
            if self.plan.first_byte && connection.http.progress() == AnswerProgress::Nothing {
                connection.first_byte = end;
            }
            let (step, received) = connection.http.feed(
                first,
                rest,
                self.plan,
                &mut self.buffers.heads,
                &mut self.contents,
                &self.recorder.examples,
            );
            if self.plan.stream.is_some() {
                let is_enough = self.note_events(slot, first.started, end);
                if is_enough && !matches!(step, Ok(FeedOutcome::Whole { .. })) {
                    // The rest answers no request.
                    self.recorder.received(rest.len(), received);
                    self.judge(slot, end, &[]);
                    self.renew(slot);
                    return Flow::Off;
                }
            }
            let connection = &mut self.connections[slot];
            match step {
                Ok(FeedOutcome::More) => {
                    self.recorder.received(rest.len(), received);
                    if connection.http.may_go_on() {
                        self.release(slot);
                    }
                    return match self.connections[slot].state {
                        ConnectionState::Open => Flow::On,
                        _ => Flow::Off,
                    };
                }
                Ok(FeedOutcome::Whole { used, keep_alive }) => {
                    self.recorder.received(used, received);
                    rest = &rest[used..];
                    if self.answered(slot, end, keep_alive, rest, closing) == Flow::Off {
                        return Flow::Off;
                    }
                }
                Err(wrong) => {
                    self.recorder.received(rest.len(), received);
                    let phase = match connection.http.progress() {
                        AnswerProgress::Body => FailurePhase::Body,
                        AnswerProgress::Nothing | AnswerProgress::Head => FailurePhase::Head,
                    };
                    let fault = if wrong.why == NOT_HTTP && is_tls_alert(rest) {
                        fault(wrong.kind, phase, Cause::Why(SPEAKS_TLS))
                    } else if wrong.why == NOT_HTTP && connection.answered > 0 {
                        // Bytes that are no answer are extra bytes of the previous one.
                        EXTRA
                    } else {
                        fault(wrong.kind, phase, Cause::Why(wrong.why))
                    };
                    self.fail(slot, fault, end, || {
                        format!("{}: {}", wrong.why, excerpt(rest))
                    });
                    return Flow::Off;
                }
            }
        }
        self.note_drained(slot);
        match self.connections[slot].state {
            ConnectionState::Open => Flow::On,
            _ => Flow::Off,
        }
    }

    /// Handles a complete answer; `rest` are the bytes after it.
    #[inline]
    fn answered(
        &mut self,
        slot: usize,
        end: u64,
        keep_alive: bool,
        rest: &[u8],
        closing: bool,
    ) -> Flow {
        let connection = &self.connections[slot];
        let Some(first) = connection.http.first() else {
            return Flow::Off;
        };
        let is_last = connection.http.in_flight() == 1;
        let announced = self.plan.request(first.exchange, first.is_last).closes;
        // If the answer arrives before its request is fully written, the unwritten rest blocks the next request.
        let early = is_last && !connection.http.has_written(self.plan);
        let extra = if is_last || !keep_alive { rest } else { &[] };
        if connection.http.redirect_outcome() == RedirectOutcome::Followed && extra.is_empty() {
            let stays = keep_alive && !announced && !early && !closing;
            return self.follow(slot, stays);
        }
        self.judge(slot, end, extra);
        if !extra.is_empty() || early {
            self.renew(slot);
            return Flow::Off;
        }
        if !keep_alive || announced {
            if is_last && !closing {
                self.linger(slot, !keep_alive);
            } else {
                // Requests pipelined behind it are sent again: the server has not processed them (RFC 9112 §9.3.2).
                self.renew(slot);
            }
            return Flow::Off;
        }
        if is_last && closing {
            // Closed by the peer between two requests: no failure, as long as it is known before the next one.
            self.renew(slot);
            return Flow::Off;
        }
        if !is_last {
            self.begin_answer(slot);
        }
        Flow::On
    }

    /// Follows the redirect in the answer, as part of the same request; `stays`: on the same connection.
    #[cold]
    fn follow(&mut self, slot: usize, stays: bool) -> Flow {
        let connection = &mut self.connections[slot];
        connection.answered += 1;
        connection.refusals = 0;
        if let Some(first) = connection.http.first() {
            let status = connection.http.answer.status;
            self.recorder.followed(first.started, status);
        }
        connection.http.go_on(connection.dialled, stays);
        if !stays {
            self.renew(slot);
            return Flow::Off;
        }
        self.begin_answer(slot);
        self.write(slot);
        match self.connections[slot].state {
            ConnectionState::Open => Flow::On,
            _ => Flow::Off,
        }
    }

    pub(super) fn closed_by_peer(&mut self, slot: usize, end: u64) {
        let connection = &mut self.connections[slot];
        if connection.http.is_multiplexed() {
            return self.streams_closed(slot, end);
        }
        if connection.http.is_idle() {
            return self.ended_idle(slot, Failure::ClosedEarly, CLOSED_UNUSED);
        }
        let cut = connection
            .tls
            .as_mut()
            .is_some_and(|session| !session.has_said_goodbye());
        let ending = connection.http.end();
        if let Some(error) = connection.write_error
            // A write after the peer's FIN; any other error means that there was none.
            && !(matches!(ending, Ending::Whole) && error == Errno::PIPE)
        {
            return self.lose(slot, error);
        }
        match ending {
            Ending::Whole if cut => {
                let cause = Cause::Why("TLS was cut off without a close_notify");
                let fault = fault(Failure::TruncatedBody, FailurePhase::Body, cause);
                self.fail(slot, fault, end, || {
                    "the server closed the connection without a close_notify: the body may be cut off".to_owned()
                });
            }
            Ending::Whole if connection.http.redirect_outcome() == RedirectOutcome::Followed => {
                self.follow(slot, false);
            }
            Ending::Whole => {
                self.end_events(slot, end);
                self.judge(slot, end, &[]);
                self.renew(slot);
            }
            Ending::Cut(kind) => {
                let cause = self.cause_of_end(slot, Cause::Why(CLOSED));
                let fault = fault(kind, self.phase_of(slot), cause);
                self.fail(slot, fault, end, || CLOSED.to_owned());
            }
        }
    }
}

impl Worker<'_> {
    /// The server has ended a connection in HTTP/1 without a request in flight. One that was of no use counts as a
    /// failed connect, of this kind: if the server ends each connection at once, the load would otherwise send nothing
    /// for ever.
    fn ended_idle(&mut self, slot: usize, kind: Failure, why: &'static str) {
        let connection = &self.connections[slot];
        let is_new = connection.answered == 0 && connection.dialled >= self.clock.timeline.start;
        // In an open loop, a connection may wait for its first request.
        let is_useless = is_new && (self.backlog.is_none() || connection.need == Task::Begin);
        if is_useless {
            let fault = fault(kind, FailurePhase::Connect, Cause::Why(why));
            self.unmade(slot, fault, || why.to_owned());
        } else {
            self.renew(slot);
        }
    }

    /// Counts the events that arrived with a read at `at`, in the answer to a request that began at `started`. Returns
    /// whether the answer has as many as it needs.
    pub(super) fn note_events(&mut self, slot: usize, started: u64, at: u64) -> bool {
        let connection = &mut self.connections[slot];
        let Some(events) = &mut connection.http.answer.events else {
            return false;
        };
        let count = events.take_fresh();
        if count == 0 {
            return false;
        }
        let before = (events.seen() > count).then_some(connection.last_event);
        connection.last_event = at;
        let is_enough = events.is_enough();
        self.recorder.events_came(count, at, started, before);
        is_enough
    }

    /// Completes an answer that ends with the connection, at `at`.
    pub(super) fn end_events(&mut self, slot: usize, at: u64) {
        let http = &mut self.connections[slot].http;
        let first = http.first();
        if let (Some(events), Some(first)) = (&mut http.answer.events, first) {
            events.end();
            self.note_events(slot, first.started, at);
        }
    }

    /// The longest time since the last event of any unfinished answer, at `at`.
    pub(super) fn open_gap(&self, at: u64) -> u64 {
        let streams = self.connections.iter().filter(|one| {
            let events = one.http.answer.events.as_ref();
            one.http.progress() == AnswerProgress::Body
                && !one.http.is_idle()
                && events.is_some_and(|events| events.seen() > 0)
        });
        let gaps = streams.map(|one| at.saturating_sub(one.last_event));
        gaps.max().unwrap_or(0)
    }

    /// The failure of an answer in `slot` that was not complete in time, and the number of its events.
    pub(super) fn too_late(&self, slot: usize, phase: FailurePhase) -> (Fault, u64) {
        let answer = &self.connections[slot].http.answer;
        let events = answer.events.as_ref().map_or(0, |events| events.seen());
        let why = match (events, self.plan.stream.and_then(|stream| stream.enough)) {
            (0, _) => "no whole answer within the request timeout",
            (_, Some(_)) => "fewer events within the request timeout than --stream-events",
            (_, None) => "no end of the stream within the request timeout: see --stream-events",
        };
        (fault(Failure::Timeout, phase, Cause::Why(why)), events)
    }
}
