//! The connections of an open loop: which can take a request, and which can be made for one.

use super::Worker;
use crate::connection::Task;

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

    /// Makes a connection before anything is taken, if only other workers have some, and something is due that they
    /// cannot send now. The connection takes it when it is up. Whether there is room now.
    pub(super) fn connect_first(&mut self) -> bool {
        if !self.is_outsider() {
            return false;
        }
        let is_helped = self.opening > 0 || self.plan.taking.free_elsewhere(self.index).is_some();
        let is_needed = !is_helped && self.look_due(self.clock.now).is_some();
        let Some(backlog) = &mut self.backlog else {
            return false;
        };
        // Should the others lose their connections, it could send from now on.
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

    /// Wakes another worker that has a free connection, if something is due that this one cannot send.
    pub(super) fn call_another(&mut self) {
        let Some(other) = self.plan.taking.free_elsewhere(self.index) else {
            return;
        };
        let due = self.look_due(self.clock.now);
        if let (Some((index, _)), Some(backlog)) = (due, &mut self.backlog)
            && index >= backlog.called_for
        {
            backlog.called_for = index + 1;
            self.plan.taking.bell(other).ring();
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

    /// Sends waiting requests on free connections, and opens more where there are none.
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
            // Those that were read in this round are about to be free.
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

    /// A connection without a request.
    fn take_free(&mut self) -> Option<usize> {
        let backlog = self.backlog.as_mut()?;
        let slot = backlog.free.pop_front()?;
        self.connections[slot].listed = false;
        self.plan.taking.note_free(self.index, backlog.free.len());
        Some(slot)
    }
}
