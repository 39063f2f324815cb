//! Connections of a closed loop that wait between an answer and their next request, as users do.
//!
//! They are no [`Deadlines`](crate::deadlines::Deadlines): of thousands that think for seconds, some are through at any
//! moment, and a look through all of them each time would take the whole CPU.

use std::{cmp::Reverse, collections::BinaryHeap};

use super::Worker;
use crate::{
    connection::{ConnectionState, Task},
    deadlines::NEVER,
    schedule::global,
};

/// Who thinks, the earliest to be through first.
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
