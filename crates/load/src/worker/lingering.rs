//! Sockets that have had their last answer, and that the server is to close first.
//!
//! The side that closes first has to remember the connection (TIME_WAIT, RFC 9293 §3.6), which costs a client its local
//! ports. So a socket stays open for a while after its last answer, and its slot makes another connection meanwhile:
//! nothing waits for the server's end of the old one.

use std::{collections::VecDeque, os::fd::OwnedFd};

use super::Worker;
use crate::{deadlines::NEVER, socket::Token};

/// How long the server has to close a connection whose end it has announced.
const ANNOUNCED: u64 = 200_000_000;
/// How long it has if only the request announced the end: it may not heed that, and hold back other connections until
/// this one is closed.
const ASKED_FOR: u64 = 10_000_000;
/// How long a slice must have waited for it, so that its end does not cut a wait short that had just begun.
const LEAST_WAIT: u64 = 10_000_000;
/// After this many unanswered waits in a row, the worker assumes that the server never closes, and closes first itself.
const MOST_UNANSWERED: u32 = 3;

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
pub(super) struct Lingering {
    sockets: VecDeque<Socket>,
    /// How many there may be: before the server has closed one, as many as there are slots.
    most: usize,
    slots: usize,
    /// Waits in a row that the server let pass.
    unanswered: u32,
    /// Whether the server has closed one.
    server_closes: bool,
}

impl Lingering {
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

    /// Keeps a socket open for a while, or closes it at once if the server would not close it, or there are too many.
    /// Those that are there stay: they show whether the server closes.
    fn keep(&mut self, socket: OwnedFd, token: Token, is_announced: bool, now: u64) {
        let most = if self.server_closes {
            self.most
        } else {
            self.most.min(self.slots)
        };
        if self.unanswered >= MOST_UNANSWERED || self.sockets.len() >= most {
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

    /// A time before which none is to be closed. Where the waits differ, a later one may be over before.
    #[inline]
    pub(super) fn next(&self) -> u64 {
        self.sockets.front().map_or(NEVER, |socket| socket.until)
    }

    /// The server has closed a socket.
    pub(super) fn closed(&mut self, token: Token) {
        let place = self.sockets.iter().position(|one| one.token == token);
        if let Some(place) = place {
            self.sockets.remove(place);
            self.unanswered = 0;
            self.server_closes = true;
        }
    }

    /// Closes those whose wait is over.
    #[cold]
    pub(super) fn expire(&mut self, now: u64) {
        while self.next() <= now {
            self.sockets.pop_front();
            self.unanswered += 1;
        }
    }

    /// Closes all of them, because a slice is over. Whether the server should have closed them by now counts.
    pub(super) fn end(&mut self, now: u64) {
        let waited = |socket: &&Socket| now.saturating_sub(socket.since) >= LEAST_WAIT;
        self.unanswered += self.sockets.iter().filter(waited).count() as u32;
        self.sockets.clear();
    }
}

impl Worker<'_> {
    /// Nothing more is expected on the connection in `slot`: its socket lingers, and the slot gets another one if that
    /// is still wanted. `is_announced`: the server has said that it closes the connection.
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

    fn keep(lingering: &mut Lingering, generation: u32, now: u64) {
        let socket = std::fs::File::open("/dev/null").unwrap().into();
        lingering.keep(socket, token(generation), true, now);
    }

    #[test]
    fn a_server_that_closes_has_more_to_close_than_there_are_slots() {
        let mut lingering = Lingering::new(2, 5);
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
        let mut lingering = Lingering::new(2, 5);
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
        let mut lingering = Lingering::new(2, 5);
        keep(&mut lingering, 0, 0);
        keep(&mut lingering, 1, 8 * MS);
        lingering.end(12 * MS);
        assert_eq!((lingering.sockets.len(), lingering.unanswered), (0, 1));
    }
}
