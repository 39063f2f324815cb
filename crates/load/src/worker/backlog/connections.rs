//! The connections of an open loop: the free ones, and those that can be opened.

use super::Worker;
use crate::connection::Task;

impl Worker<'_> {
    /// Adds a connection to the end of the queue of free connections.
    pub(in crate::worker) fn enlist(&mut self, slot: usize) {
        if let Some(backlog) = &mut self.backlog {
            self.connections[slot].listed = true;
            backlog.free.push_back(slot);
            self.plan.taking.note_free(self.index, backlog.free.len());
        }
    }

    /// Counts another open connection.
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

    /// Notes that a connection was closed or could not be opened; `was_open`: it was open for requests.
    pub(in crate::worker) fn note_closed(&mut self, was_open: bool) {
        if let Some(backlog) = &mut self.backlog {
            backlog.open -= usize::from(was_open);
            self.plan.taking.note_open(self.index, backlog.open);
        }
    }

    /// Whether this worker has an open connection.
    pub(in crate::worker) fn is_open(&self) -> bool {
        let backlog = self.backlog.as_ref();
        backlog.is_some_and(|backlog| backlog.open > 0)
    }

    /// Notes that a connection is being opened in this slot for requests of another one.
    pub(in crate::worker) fn note_taken(&mut self, slot: usize) {
        if let Some(backlog) = &mut self.backlog {
            backlog.absent.retain(|other| *other != slot);
        }
    }

    /// Notes that a slot is empty, so that a connection can be opened in it.
    pub(in crate::worker) fn note_absent(&mut self, slot: usize) {
        let has_room = self.has_room();
        if let Some(backlog) = &mut self.backlog {
            if !has_room {
                backlog.room_since = self.clock.now;
            }
            backlog.absent.push(slot);
        }
    }

    /// Removes the connection in `slot` from the queue of free connections.
    pub(in crate::worker) fn unlist(&mut self, slot: usize) {
        if std::mem::take(&mut self.connections[slot].listed)
            && let Some(backlog) = &mut self.backlog
        {
            backlog.free.retain(|free| *free != slot);
            self.plan.taking.note_free(self.index, backlog.free.len());
        }
    }

    /// Connects before an arrival is taken, if only other workers have open connections and cannot send a due arrival
    /// now. The connection takes the arrival once it is open. Returns whether there is room now.
    pub(super) fn connect_first(&mut self) -> bool {
        if !self.is_outsider() {
            return false;
        }
        let is_helped = self.opening > 0 || self.plan.taking.free_elsewhere(self.index).is_some();
        let is_needed = !is_helped && self.look_due(self.clock.now).is_some();
        let Some(backlog) = &mut self.backlog else {
            return false;
        };
        // If the others lose their connections, this worker could send from now on.
        backlog.room_since = self.clock.now;
        if !is_needed || backlog.spare(self.clock.now) == 0 {
            return false;
        }
        let Some(slot) = backlog.absent.pop() else {
            return false;
        };
        self.connect(slot);
        self.run_task(slot);
        self.has_room()
    }

    /// Wakes another worker that has a free connection, if an arrival is due that this one cannot send.
    pub(super) fn call_another(&mut self) {
        let Some(other) = self.plan.taking.free_elsewhere(self.index) else {
            return;
        };
        let due = self.look_due(self.clock.now);
        if let (Some((index, _)), Some(backlog)) = (due, &mut self.backlog)
            && index >= backlog.called_for
        {
            backlog.called_for = index + 1;
            self.plan.taking.waker(other).wake();
        }
    }

    /// Whether another request can be sent without waiting for an answer.
    #[inline]
    pub(super) fn has_room(&self) -> bool {
        let has_spare = self.backlog.as_ref().is_some_and(|backlog| {
            let spare = backlog.free.len() + self.opening + backlog.spare(self.clock.now);
            backlog.waiting.len() < spare
        });
        has_spare && !self.is_outsider()
    }

    /// Sends waiting requests on free connections, and opens more if no connection is free.
    pub(super) fn dispatch(&mut self) {
        if self.clock.is_over() {
            return;
        }
        while self
            .backlog
            .as_ref()
            .is_some_and(|backlog| backlog.waiting() > 0)
        {
            let Some(slot) = self.take_free() else {
                break;
            };
            self.send_waiting(slot);
        }
        while let Some(backlog) = &mut self.backlog {
            if backlog.waiting.len() <= self.opening || backlog.spare(self.clock.now) == 0 {
                return;
            }
            // Connections that were read in this round are about to be free.
            let connections = &self.connections;
            let needs = |slot: &&usize| connections[**slot].need == Task::Send;
            let drained = self.run_queue.iter().filter(needs).count();
            if backlog.waiting.len() <= self.opening + drained {
                return;
            }
            let Some(slot) = backlog.absent.pop() else {
                return;
            };
            self.connect(slot);
            self.run_task(slot);
        }
    }

    /// Removes the connection that has been free for longest.
    fn take_free(&mut self) -> Option<usize> {
        let backlog = self.backlog.as_mut()?;
        let slot = backlog.free.pop_front()?;
        self.connections[slot].listed = false;
        self.plan.taking.note_free(self.index, backlog.free.len());
        Some(slot)
    }
}
