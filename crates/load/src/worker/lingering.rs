//! Sockets after their last answer, which the server is expected to close first.
//!
//! The side that closes first has to remember the connection (TIME_WAIT, RFC 9293 §3.6), which costs a client its local
//! ports. So a socket stays open for a while after its last answer. Its slot opens another connection meanwhile,
//! without waiting for the server to close the old one.

use std::{collections::VecDeque, os::fd::OwnedFd};

use super::Worker;
use crate::{deadlines::NEVER, socket::Token};

/// The time for the server to close a connection after it announced that, in nanoseconds.
const ANNOUNCED: u64 = 200_000_000;
/// The time for the server to close a connection if only the request asked for that, in nanoseconds. The server may
/// ignore it, and accept no other connection until this one is closed.
const ASKED_FOR: u64 = 10_000_000;
/// The shortest wait, in nanoseconds, that counts as unanswered when the slice ends: a shorter one had just begun.
const MIN_WAIT: u64 = 10_000_000;
/// After this many unanswered waits in a row, the worker assumes that the server never closes, and closes first itself.
const MAX_UNANSWERED: u32 = 3;

#[derive(Debug)]
struct Socket {
    token: Token,
    since: u64,
    until: u64,
    /// Closed when it is dropped.
    _socket: OwnedFd,
}

/// The lingering sockets of a worker, the oldest first.
#[derive(Debug)]
pub(super) struct LingeringSockets {
    sockets: VecDeque<Socket>,
    /// The most sockets. Until the server has closed one, the limit is the number of slots.
    most: usize,
    slots: usize,
    /// Waits in a row without a close by the server.
    unanswered: u32,
    /// Whether the server has closed one.
    server_closes: bool,
}

impl LingeringSockets {
    /// Room for `most` sockets of a worker with this many slots.
    pub(super) fn new(slots: usize, most: usize) -> Self {
        Self {
            sockets: VecDeque::with_capacity(most),
            most,
            slots,
            unanswered: 0,
            server_closes: false,
        }
    }

    /// Keeps a socket open for a while. Closes it at once if the server is not expected to close it, or there are too
    /// many. The sockets that are kept already stay: they show whether the server closes.
    fn keep(&mut self, socket: OwnedFd, token: Token, is_announced: bool, now: u64) {
        let most = if self.server_closes {
            self.most
        } else {
            self.most.min(self.slots)
        };
        if self.unanswered >= MAX_UNANSWERED || self.sockets.len() >= most {
            return;
        }
        let wait = if is_announced { ANNOUNCED } else { ASKED_FOR };
        self.sockets.push_back(Socket {
            token,
            since: now,
            until: now.saturating_add(wait),
            _socket: socket,
        });
    }

    /// A time before which no socket has to be closed. If waits differ, a later one may be over earlier.
    #[inline]
    pub(super) fn next(&self) -> u64 {
        self.sockets.front().map_or(NEVER, |socket| socket.until)
    }

    /// Notes that the server has closed a socket.
    pub(super) fn closed(&mut self, token: Token) {
        let place = self.sockets.iter().position(|one| one.token == token);
        if let Some(place) = place {
            self.sockets.remove(place);
            self.unanswered = 0;
            self.server_closes = true;
        }
    }

    /// Closes sockets whose wait is over.
    #[cold]
    pub(super) fn expire(&mut self, now: u64) {
        while self.next() <= now {
            self.sockets.pop_front();
            self.unanswered += 1;
        }
    }

    /// Closes all sockets at the end of a slice. A long enough wait counts as unanswered.
    pub(super) fn end(&mut self, now: u64) {
        let waited = |socket: &&Socket| now.saturating_sub(socket.since) >= MIN_WAIT;
        self.unanswered += self.sockets.iter().filter(waited).count() as u32;
        self.sockets.clear();
    }
}

impl Worker<'_> {
    /// Lets the socket of the connection in `slot` linger after its last answer, and opens another connection if
    /// needed. `is_announced`: the server has said that it closes the connection.
    pub(super) fn linger(&mut self, slot: usize, is_announced: bool) {
        let token = self.connections[slot].token(slot);
        if let Some(socket) = self.part(slot) {
            let now = self.clock.now;
            self.lingering.keep(socket, token, is_announced, now);
        }
        self.replace(slot);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn token(generation: u32) -> Token {
        Token {
            slot: 0,
            generation,
        }
    }

    fn keep(lingering: &mut LingeringSockets, generation: u32, now: u64) {
        let socket = std::fs::File::open("/dev/null").unwrap().into();
        lingering.keep(socket, token(generation), true, now);
    }

    #[test]
    fn a_server_that_closes_has_more_to_close_than_there_are_slots() {
        let mut lingering = LingeringSockets::new(2, 5);
        for generation in 0..3 {
            keep(&mut lingering, generation, 0);
        }
        assert_eq!(lingering.sockets.len(), 2, "as many as there are slots");
        lingering.closed(token(7));
        assert!(!lingering.server_closes, "that was none of them");
        lingering.closed(token(1));
        for generation in 3..9 {
            keep(&mut lingering, generation, MS);
        }
        assert_eq!(lingering.sockets.len(), 5);
        lingering.expire(199 * MS);
        assert_eq!((lingering.sockets.len(), lingering.next()), (5, 200 * MS));
        lingering.expire(200 * MS);
        assert_eq!((lingering.sockets.len(), lingering.unanswered), (4, 1));
    }

    #[test]
    fn a_server_that_never_closes_is_not_waited_for_again() {
        let mut lingering = LingeringSockets::new(2, 5);
        for start in [0, 300 * MS] {
            keep(&mut lingering, 0, start);
            keep(&mut lingering, 1, start);
            lingering.expire(start + 200 * MS);
        }
        keep(&mut lingering, 2, 600 * MS);
        assert_eq!((lingering.sockets.len(), lingering.next()), (0, NEVER));
    }

    #[test]
    fn the_end_of_a_slice_cuts_only_long_waits_short() {
        let mut lingering = LingeringSockets::new(2, 5);
        keep(&mut lingering, 0, 0);
        keep(&mut lingering, 1, 8 * MS);
        lingering.end(12 * MS);
        assert_eq!((lingering.sockets.len(), lingering.unanswered), (0, 1));
    }
}
