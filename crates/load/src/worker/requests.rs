//! A request on a connection: sent, answered, judged, counted.

use std::io;

use deadheat_model::Failure;

use super::{Phase, Worker};
use crate::{
    connection::State,
    http1::{Ending, Step},
    verify::{Examiner, excerpt},
};

/// What came of the bytes of one read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flow {
    /// The connection goes on.
    On,
    /// It was closed, or the load is over.
    Off,
}

impl Worker<'_> {
    /// Sends the next request on a connection that is free.
    #[inline]
    pub(super) fn issue(&mut self, slot: usize) {
        let start = self.tick();
        if self.phase == Phase::Over {
            return;
        }
        if !self.claim() {
            return self.retire(slot);
        }
        self.recorder.issued();
        let connection = &mut self.connections[slot];
        connection.state = State::Busy;
        connection.started = start;
        connection.written = 0;
        connection.answer.begin();
        connection
            .reader
            .begin(self.plan.requests[connection.exchange].is_head);
        self.deadlines
            .set(slot, start.saturating_add(self.request_timeout));
        self.write(slot);
    }

    #[inline]
    pub(super) fn write(&mut self, slot: usize) {
        let connection = &mut self.connections[slot];
        let request = &self.plan.requests[connection.exchange];
        if let Err(error) = connection.write(&request.bytes) {
            let end = self.tick();
            self.fail(slot, Failure::Reset, end, || {
                format!("writing the request: {error}")
            });
        }
    }

    /// Reads what has come; `closing`: the peer has said that nothing follows.
    #[inline]
    pub(super) fn receive(&mut self, slot: usize, closing: bool, buffer: &mut [u8]) {
        loop {
            let length = match self.connections[slot].read(buffer) {
                Ok(length) => length,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Err(error) => {
                    let end = self.tick();
                    return self.fail(slot, Failure::Reset, end, || {
                        format!("reading the answer: {error}")
                    });
                }
            };
            let end = self.tick();
            if self.phase == Phase::Over {
                return;
            }
            if length == 0 {
                return self.closed_by_peer(slot, end);
            }
            if self.take(slot, &buffer[..length], end, closing) == Flow::Off {
                return;
            }
            // A read that leaves room has emptied the socket, and what comes later is another edge (epoll(7)). The
            // end of the stream is the one thing that may have come with the same edge.
            if length < buffer.len() && !closing {
                return;
            }
        }
    }

    #[inline]
    fn take(&mut self, slot: usize, bytes: &[u8], end: u64, closing: bool) -> Flow {
        let connection = &mut self.connections[slot];
        let exchange = connection.exchange;
        let expect = &self.plan.exchanges[exchange].expect;
        let mut examiner = Examiner {
            answer: &mut connection.answer,
            exchange,
            expect,
            contents: &mut self.contents,
            examples: &self.recorder.examples,
            received: 0,
        };
        let step = connection.reader.feed(bytes, &mut examiner);
        self.recorder.body(examiner.received);
        match step {
            Ok(Step::More) => Flow::On,
            Ok(Step::Whole { used, keep_alive }) => {
                let extra = &bytes[used..];
                let request = &self.plan.requests[exchange];
                let all_written = connection.written == request.bytes.len();
                // Closed by the peer between two requests is no failure, as long as that is known before the next
                // request is written.
                let reuse =
                    keep_alive && extra.is_empty() && all_written && !request.closes && !closing;
                self.judge(slot, end, extra);
                if reuse {
                    self.issue(slot);
                    match self.connections[slot].state {
                        State::Busy => Flow::On,
                        _ => Flow::Off,
                    }
                } else {
                    self.reopen(slot);
                    Flow::Off
                }
            }
            Err(wrong) => {
                self.fail(slot, wrong.kind, end, || {
                    format!("{}: {}", wrong.why, excerpt(bytes))
                });
                Flow::Off
            }
        }
    }

    /// Counts a whole answer, which `extra` bytes follow, and turns to the next exchange.
    #[inline]
    fn judge(&mut self, slot: usize, end: u64, extra: &[u8]) {
        let connection = &mut self.connections[slot];
        let exchange = connection.exchange;
        let expect = &self.plan.exchanges[exchange].expect;
        let verdict = connection
            .answer
            .verdict(exchange, expect, &mut self.contents);
        if verdict.content_checked {
            self.recorder.content_checked();
        }
        match verdict.failure {
            None if extra.is_empty() => self.recorder.succeeded(connection.started, end),
            None => {
                self.recorder.failed(Failure::ExtraBytes, end);
                self.recorder
                    .examples
                    .keep(Failure::ExtraBytes, || excerpt(extra));
            }
            Some(kind) => {
                self.recorder.failed(kind, end);
                let note = verdict.note;
                let describe = || note.unwrap_or_else(|| connection.answer.describe(kind, expect));
                self.recorder.examples.keep(kind, describe);
            }
        }
        connection.exchange = next(exchange, self.plan.exchanges.len());
        // From here on no request is under way; an edge passed before the next one must not count it.
        connection.state = State::Idle;
    }

    fn closed_by_peer(&mut self, slot: usize, end: u64) {
        match self.connections[slot].reader.end() {
            Ending::Whole => {
                self.judge(slot, end, &[]);
                self.reopen(slot);
            }
            Ending::Cut(kind) => self.fail(slot, kind, end, || "the peer sent FIN".to_owned()),
        }
    }

    /// Counts the request under way as failed, and starts over on a new connection.
    #[cold]
    pub(super) fn fail(
        &mut self,
        slot: usize,
        kind: Failure,
        end: u64,
        detail: impl FnOnce() -> String,
    ) {
        if self.phase == Phase::Over {
            return;
        }
        self.recorder.failed(kind, end);
        self.recorder.examples.keep(kind, detail);
        let connection = &mut self.connections[slot];
        connection.exchange = next(connection.exchange, self.plan.exchanges.len());
        self.reopen(slot);
    }
}

/// The exchange after `exchange`, of `count`. A comparison: a remainder would cost a division per request.
#[inline]
fn next(exchange: usize, count: usize) -> usize {
    match exchange + 1 {
        next if next == count => 0,
        next => next,
    }
}
