//! The run queue: the connections with a task, which the event loop runs. No task calls the next one directly: with a
//! server that breaks each connection at once, the recursion would have no end.

use super::Worker;
use crate::connection::{ConnectionState, Task};

/// The most tasks of one connection that are run in a row, for example to connect and to send. Then it is the other
/// connections' turn.
const AT_A_TIME: usize = 3;

impl Worker<'_> {
    /// Puts a connection on the run queue with this task, which replaces its previous one.
    #[inline]
    pub(super) fn schedule(&mut self, slot: usize, need: Task) {
        let connection = &mut self.connections[slot];
        connection.need = need;
        self.enter(slot);
    }

    /// Requests that a connection's output is written at its turn in the queue, together with any that is added until
    /// then.
    #[inline]
    pub(super) fn want_flush(&mut self, slot: usize) {
        self.connections[slot].flushes = true;
        self.enter(slot);
    }

    #[inline]
    fn enter(&mut self, slot: usize) {
        let connection = &mut self.connections[slot];
        if !connection.on_run_queue {
            connection.on_run_queue = true;
            self.run_queue.push(slot);
        }
    }

    /// Schedules more requests on a connection that has room for them. They are sent after the answers on the other
    /// connections have been read: so no answer is stamped later because of requests that can wait, and the kernel's
    /// code for either stays in the CPU's cache.
    #[inline]
    pub(super) fn note_drained(&mut self, slot: usize) {
        if self.connections[slot].need == Task::Nothing && self.is_drained(slot) {
            self.schedule(slot, Task::Send);
        }
    }

    #[inline]
    fn is_drained(&self, slot: usize) -> bool {
        let connection = &self.connections[slot];
        connection.state == ConnectionState::Open && connection.http.wants_more(connection.aside)
    }

    /// Runs the queued tasks from index `from` on. Tasks that are added meanwhile wait for the next call.
    #[inline]
    pub(super) fn run_queued(&mut self, from: usize) {
        let count = self.run_queue.len();
        for nth in from..count {
            let slot = self.run_queue[nth];
            self.run_task(slot);
            let connection = &mut self.connections[slot];
            connection.on_run_queue = connection.need != Task::Nothing;
            if connection.on_run_queue {
                self.run_queue.push(slot);
            }
        }
        self.run_queue.drain(from..count);
    }

    /// Runs a connection's task, then writes its unsent bytes if that was requested.
    #[inline]
    pub(super) fn run_task(&mut self, slot: usize) {
        self.attend_needs(slot);
        if std::mem::take(&mut self.connections[slot].flushes) {
            self.flush(slot);
        }
    }

    #[inline]
    fn attend_needs(&mut self, slot: usize) {
        for _ in 0..AT_A_TIME {
            match std::mem::take(&mut self.connections[slot].need) {
                Task::Nothing => return,
                Task::Begin => self.begin_on(slot),
                Task::Send => self.send_more(slot),
                // One read reads as much as allowed at a time; the rest has to wait.
                Task::Read { closing } => return self.read_on(slot, closing),
                Task::Aside => self.move_aside(slot),
                Task::Connect => self.connect_if_needed(slot),
            }
        }
    }

    fn begin_on(&mut self, slot: usize) {
        // Its state may have changed since.
        let connection = &self.connections[slot];
        if connection.state != ConnectionState::Open {
            return;
        }
        if connection.http.is_idle() {
            self.ready(slot)
        } else {
            self.send_again(slot);
            if self.connections[slot].http.is_multiplexed() {
                // There may be room for more.
                self.note_drained(slot);
            }
        }
    }

    #[inline]
    fn send_more(&mut self, slot: usize) {
        if self.is_drained(slot) {
            self.ready(slot)
        }
    }

    fn read_on(&mut self, slot: usize, closing: bool) {
        match self.connections[slot].state {
            ConnectionState::Greeting | ConnectionState::Open => {
                self.receive(slot, closing);
                self.end_reading(slot);
                // Requests may have been answered before there was more to read.
                self.note_drained(slot);
            }
            ConnectionState::Tunnelling => self.tunnel(slot),
            ConnectionState::Handshaking => self.handshake(slot),
            ConnectionState::Connecting => self.try_to_establish(slot),
            ConnectionState::Absent => {}
        }
    }

    /// Ends the connection after a failed write, once everything that had arrived is read.
    fn end_reading(&mut self, slot: usize) {
        let connection = &self.connections[slot];
        let reads_on = matches!(connection.need, Task::Read { .. });
        let Some(error) = connection.write_error.filter(|_| !reads_on) else {
            return;
        };
        if connection.state == ConnectionState::Greeting {
            self.connect_failed(slot, error);
        } else if connection.http.is_idle() {
            self.renew(slot);
        } else {
            self.lose(slot, error);
        }
    }
}
