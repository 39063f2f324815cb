//! The connections of an open loop: which can take a request, and which can be made.

use super::Worker;

impl Worker<'_> {
    /// Puts a connection behind the others that can take a request.
    pub(in crate::worker) fn enlist(&mut self, slot: usize) {
        if let Some(backlog) = &mut self.backlog {
            self.connections[slot].listed = true;
            backlog.free.push_back(slot);
            self.plan.taking.note_free(self.index, backlog.free.len());
        }
    }

    /// There is another connection that requests can be sent on.
    pub(in crate::worker) fn note_open(&mut self) {
        let has_room = self.has_room();
        if let Some(backlog) = &mut self.backlog {
            if !has_room {
                backlog.room_since = self.clock.now;
            }
            backlog.connected();
            backlog.open += 1;
            self.plan.taking.note_open(self.index, backlog.open);
        }
    }

    /// A connection is closed, or could not be made; `was_open`: requests could be sent on it.
    pub(in crate::worker) fn note_closed(&mut self, was_open: bool) {
        if let Some(backlog) = &mut self.backlog {
            backlog.open -= usize::from(was_open);
            self.plan.taking.note_open(self.index, backlog.open);
        }
    }

    /// Whether requests can be sent on a connection of this worker.
    pub(in crate::worker) fn is_open(&self) -> bool {
        let backlog = self.backlog.as_ref();
        backlog.is_some_and(|backlog| backlog.open > 0)
    }

    /// A connection is made in this slot for requests that another one had.
    pub(in crate::worker) fn note_taken(&mut self, slot: usize) {
        if let Some(backlog) = &mut self.backlog {
            backlog.absent.retain(|other| *other != slot);
        }
    }

    /// A slot has no connection any more, and one can be made in it.
    pub(in crate::worker) fn note_absent(&mut self, slot: usize) {
        let has_room = self.has_room();
        if let Some(backlog) = &mut self.backlog {
            if !has_room {
                backlog.room_since = self.clock.now;
            }
            backlog.absent.push(slot);
        }
    }

    /// The connection in `slot` is closed: nothing can be sent on it.
    pub(in crate::worker) fn unlist(&mut self, slot: usize) {
        if std::mem::take(&mut self.connections[slot].listed)
            && let Some(backlog) = &mut self.backlog
        {
            backlog.free.retain(|free| *free != slot);
            self.plan.taking.note_free(self.index, backlog.free.len());
        }
    }
}
