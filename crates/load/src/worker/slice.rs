//! A slice's beginning and end: connections that are held from one to the next, and what was seen in between.

use std::{sync::Arc, time::Duration};

use deadheat_model::{SliceResult, observation::WorkerHealth};

use super::{Worker, health::Health};
use crate::{
    LoadError,
    connection::{ConnectionState, Task},
    deadlines::NEVER,
    plan::Plan,
    poller::{EVENTS, Events},
    recorder::{Extent, IntervalSender, Recorder},
    schedule::{SliceRun, global},
};

impl Worker<'_> {
    /// A slice begins: connections that were held are looked at, the others are wanted by and by.
    pub(super) fn begin(&mut self, course: SliceRun, events: &mut Events) -> Result<(), LoadError> {
        let timeline = course.timeline;
        let held_for = timeline.start.saturating_sub(self.clock.now);
        self.clock.begin(timeline);
        self.health = Health::default();
        self.next_look = timeline.measure_from;
        (self.is_idle, self.interrupted, self.left) = (false, false, 0);
        let open = self.connections.iter().filter(|one| one.is_established());
        let open = open.count() as u64;
        let length = timeline.measure_until.checked_sub(timeline.measure_from);
        let length = length.filter(|_| timeline.measure_until < NEVER);
        self.recorder.begin(timeline.start, open, length);
        self.tick();
        if self.connections.iter().any(|one| one.socket.is_some()) {
            self.find_ended(events)?;
        }
        let (workers, connections) = (self.plan.cpus.len(), self.plan.connections);
        for slot in 0..self.slots {
            let global = global(self.index, workers, slot);
            if self.connections[slot].is_being_made() {
                self.go_on_making(slot, held_for);
            } else if global < connections {
                let at = timeline.start.saturating_add(self.plan.first_send(global));
                self.deadlines.set(slot, at);
            }
        }
        if let Some(arrivals) = course.arrivals {
            self.begin_backlog(arrivals);
        }
        self.tick();
        self.expire();
        self.run_queued(0);
        Ok(())
    }

    /// Goes on with a connection that was being made when the slice before ended. Its times, and its deadline, are as if
    /// there had been nothing in between.
    fn go_on_making(&mut self, slot: usize, held_for: u64) {
        self.deadlines.postpone(slot, held_for);
        let connection = &mut self.connections[slot];
        connection.dialled += held_for;
        connection.handshake_begun += held_for;
        self.want_flush(slot);
        self.schedule(slot, Task::Read { closing: false });
    }

    /// Looks for connections that ended while they were held, before anything is sent on them.
    fn find_ended(&mut self, events: &mut Events) -> Result<(), LoadError> {
        for connection in &mut self.connections {
            connection.answered_before = connection.answered;
        }
        for _ in 0..=self.connections.len() / EVENTS {
            self.look(events, 0)?;
            for ready in events.iter() {
                let slot = ready.token.slot;
                let made = self.connections.get(slot);
                let made = made.filter(|one| one.is_being_made());
                match made.map(|one| ready.closing && one.token(slot) == ready.token) {
                    Some(true) => {
                        self.close(slot);
                        self.deadlines.set(slot, NEVER);
                    }
                    None if !self.clock.is_over() => self.on_event(ready),
                    _ => {}
                }
            }
        }
        Ok(())
    }

    /// Leaves the connections that are at rest or being made until the next slice, and gives up the others.
    fn hold(&mut self) {
        self.run_queue.clear();
        self.lingering.end(self.clock.now);
        for slot in 0..self.connections.len() {
            let has_written = self.connections[slot].http.has_written(self.plan);
            let connection = &mut self.connections[slot];
            connection.on_agenda = false;
            connection.aside = 0;
            connection.need = Task::Nothing;
            let has_nothing = connection.http.is_idle() && slot < self.slots;
            let has_nothing = has_nothing && !connection.spoiled;
            let is_at_rest = connection.state == ConnectionState::Open && has_written;
            if has_nothing && connection.is_being_made() {
                continue;
            }
            self.deadlines.set(slot, NEVER);
            if !(has_nothing && is_at_rest) {
                while connection.http.take_first().is_some() {}
                let was_open = connection.is_open();
                // The slice's counts have been closed.
                drop(connection.end());
                self.unlist(slot);
                self.note_closed(was_open && slot < self.slots);
            }
        }
        let opening = self.connections.iter().filter(|one| one.is_opening);
        self.opening = opening.count();
    }

    /// What was seen in the slice that is over. Connections are held, and another slice may follow.
    pub(crate) fn report(&mut self) -> SliceResult {
        self.hold();
        self.note_dialogues();
        let seen = self.without_counts();
        let fresh = recorder(self.plan, None);
        let counted = std::mem::replace(&mut self.recorder, fresh);
        SliceResult {
            observation: counted.into_observation(self.left, self.health()),
            ..seen
        }
    }

    /// What was seen in the last slice. The sockets are closed.
    pub(crate) fn into_report(mut self) -> SliceResult {
        self.note_dialogues();
        let (seen, health) = (self.without_counts(), self.health());
        SliceResult {
            observation: self.recorder.into_observation(self.left, health),
            ..seen
        }
    }

    /// Takes over what connections saw of cookies, and of limits on streams.
    fn note_dialogues(&mut self) {
        for connection in &mut self.connections {
            let fewest = &mut self.recorder.fewest_streams;
            *fewest = connection
                .http
                .take_fewest()
                .into_iter()
                .chain(*fewest)
                .min();
            if let Some(seen) = connection.http.take_cookies() {
                self.recorder.cookies.get_or_insert_default().merge(&seen);
            }
        }
    }

    /// What was seen, without what the recorder has.
    fn without_counts(&self) -> SliceResult {
        let (over, due) = (self.clock.now, self.clock.timeline.measure_until);
        SliceResult {
            drained: Duration::from_nanos(over.saturating_sub(due)),
            reconnected: self.recorder.connections.made_again(),
            interrupted: self.interrupted,
            ..SliceResult::default()
        }
    }

    fn health(&self) -> WorkerHealth {
        self.health.seen(self.plan.cpus[self.index])
    }
}

/// A recorder for what `plan` asks for.
pub(super) fn recorder(plan: &Plan, outlet: Option<IntervalSender>) -> Recorder {
    let extent = Extent {
        is_open: plan.arrivals.is_some(),
        has_tls: plan.routes.have_tls(),
        routes: match plan.routes.all() {
            [_] => 0,
            all => all.len(),
        },
        per_request: plan.per_request,
        first_byte: plan.first_byte,
        has_events: plan.stream.is_some(),
        to_their_end: plan.to_their_end,
        group_of: Arc::clone(&plan.groups),
        outlet,
    };
    Recorder::new(plan.bin, extent)
}
