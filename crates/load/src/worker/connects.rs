//! Connections made, made again and given up.

use std::io;

use deadheat_model::Failure;
use mio::Token;

use super::{Phase, Worker};
use crate::{connection::State, deadlines::NEVER};

/// The wait after a failed connect, doubled with each in a row.
const BACKOFF_FIRST: u64 = 10_000_000;
/// The longest wait after a failed connect.
const BACKOFF_MOST: u64 = 500_000_000;

impl Worker<'_> {
    /// Closes the connection if it is open, and begins to make it again if it is still wanted.
    pub(super) fn reopen(&mut self, slot: usize) {
        self.close(slot);
        let spent = self.phase == Phase::Measuring && self.plan.quota.is_spent();
        if spent || self.phase == Phase::CoolDown {
            return self.retire(slot);
        }
        self.deadlines
            .set(slot, self.now.saturating_add(self.connect_timeout));
        let opened =
            self.connections[slot].open(self.plan.address, self.poll.registry(), Token(slot));
        if let Err(error) = opened {
            self.connect_failed(slot, &error);
        }
    }

    fn close(&mut self, slot: usize) {
        if self.connections[slot].close() {
            self.recorder.connection_closed();
        }
    }

    pub(super) fn retire(&mut self, slot: usize) {
        self.close(slot);
        self.connections[slot].state = State::Retired;
        self.deadlines.set(slot, NEVER);
    }

    /// Counts a request that found no connection: issued and failed at once. The next attempt waits.
    #[cold]
    pub(super) fn connect_failed(&mut self, slot: usize, error: &io::Error) {
        let kind = match error.kind() {
            io::ErrorKind::ConnectionRefused => Failure::ConnectRefused,
            io::ErrorKind::TimedOut => Failure::ConnectTimeout,
            // It was made, and reset before anything was written.
            io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe => Failure::Reset,
            _ => Failure::ConnectOther,
        };
        let end = self.tick();
        if self.phase == Phase::Over {
            return;
        }
        self.close(slot);
        if !self.claim() {
            return self.retire(slot);
        }
        self.recorder.issued();
        self.recorder.failed(kind, end);
        self.recorder.examples.keep(kind, || error.to_string());
        let connection = &mut self.connections[slot];
        let wait = (BACKOFF_FIRST << connection.refusals.min(16)).min(BACKOFF_MOST);
        connection.refusals += 1;
        self.deadlines.set(slot, end + wait);
    }

    /// Does what is due: first connects and later ones, timeouts.
    #[cold]
    pub(super) fn expire(&mut self) {
        let now = self.now;
        let mut from = 0;
        while let Some(slot) = self.deadlines.take_due(from, now) {
            from = slot + 1;
            match self.connections[slot].state {
                State::Absent => self.reopen(slot),
                State::Connecting => self.connect_failed(slot, &io::ErrorKind::TimedOut.into()),
                State::Busy => {
                    let end = self.tick();
                    self.fail(slot, Failure::Timeout, end, || {
                        "no whole answer in time".to_owned()
                    });
                }
                State::Idle | State::Retired => {}
            }
            if self.phase == Phase::Over {
                return;
            }
        }
    }
}
