//! Connections of a closed loop that wait between an answer and their next request, as users do.

use super::Worker;
use crate::schedule::global;

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
        let due = self.connections[slot].due;
        let waits = due > self.clock.now;
        if waits {
            self.deadlines.set(slot, due);
        }
        waits
    }
}
