//! A slice's beginning and end: connections that are held from one to the next, and what was seen in between.

use std::time::Duration;

use deadheat_model::{Observation, observation::WorkerHealth};

use super::{Worker, health::Health};
use crate::{
    LoadError,
    connection::{Need, State},
    deadlines::NEVER,
    plan::Plan,
    poller::{EVENTS, Events},
    recorder::{Extent, Outlet, Recorder},
    schedule::{Course, global},
};

/// What one worker saw in a slice.
#[derive(Debug)]
pub(crate) struct Part {
    pub(crate) worker: usize,
    pub(crate) observation: Observation,
    pub(crate) outline: Outline,
}

/// The same without what was counted.
#[derive(Debug)]
pub(crate) struct Outline {
    health: WorkerHealth,
    /// From the measurement's end until nothing was in flight.
    pub(crate) drained: Duration,
    /// Connections made in the place of earlier ones.
    pub(crate) reconnected: u64,
    /// Whether it was told to stop before it was over.
    pub(crate) interrupted: bool,
}

impl Outline {
    /// With what was counted by worker `worker`, and `left` requests under way at the end.
    fn with(self, worker: usize, counted: Recorder, left: u64) -> Part {
        Part {
            worker,
            observation: counted.into_observation(left, self.health.clone()),
            outline: self,
        }
    }
}

impl Worker<'_> {
    /// A slice begins: connections that were held are looked at, the others are wanted by and by.
    pub(super) fn begin(&mut self, course: Course, events: &mut Events) -> Result<(), LoadError> {
        let timeline = course.timeline;
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
        if open > 0 {
            self.find_ended(events)?;
        }
        let (workers, connections) = (self.plan.cpus.len(), self.plan.connections);
        for slot in 0..self.connections.len() {
            let global = global(self.index, workers, slot);
            if global < connections {
                let at = timeline.start.saturating_add(self.plan.first_send(global));
                self.deadlines.set(slot, at);
            }
        }
        if let Some(arrivals) = course.arrivals {
            self.begin_backlog(arrivals);
        }
        self.tick();
        self.expire();
        self.work_off(0);
        Ok(())
    }

    /// Looks for connections that ended while they were held, before anything is sent on them.
    fn find_ended(&mut self, events: &mut Events) -> Result<(), LoadError> {
        for connection in &mut self.connections {
            connection.answered_before = connection.answered;
        }
        for _ in 0..=self.connections.len() / EVENTS {
            self.look(events, 0)?;
            for ready in events.iter() {
                if !self.clock.is_over() {
                    self.on_event(ready);
                }
            }
        }
        Ok(())
    }

    /// Leaves the connections that are at rest open until the next slice, and gives up the others.
    fn hold(&mut self) {
        self.agenda.clear();
        self.lingering.end(self.clock.now);
        for slot in 0..self.connections.len() {
            self.deadlines.set(slot, NEVER);
            let is_at_rest = self.connections[slot].dialogue.has_written(self.plan);
            let connection = &mut self.connections[slot];
            connection.on_agenda = false;
            connection.need = Need::Nothing;
            let is_at_rest = is_at_rest
                && connection.state == State::Open
                && connection.dialogue.is_idle()
                && !connection.spoiled;
            if !is_at_rest {
                while connection.dialogue.take_first().is_some() {}
                let was_open = connection.is_open();
                // The slice's counts have been closed.
                drop(connection.end());
                self.unlist(slot);
                self.note_closed(was_open);
            }
        }
        self.opening = 0;
    }

    /// What was seen in the slice that is over. Connections are held, and another slice may follow.
    pub(crate) fn report(&mut self) -> Part {
        self.hold();
        self.note_cookies();
        let outline = self.outline();
        let fresh = recorder(self.plan, None);
        let seen = std::mem::replace(&mut self.recorder, fresh);
        outline.with(self.index, seen, self.left)
    }

    /// What was seen in the last slice. The sockets are closed.
    pub(crate) fn into_report(mut self) -> Part {
        self.note_cookies();
        let outline = self.outline();
        outline.with(self.index, self.recorder, self.left)
    }

    /// Takes over what connections saw of cookies.
    fn note_cookies(&mut self) {
        for connection in &mut self.connections {
            if let Some(seen) = connection.dialogue.take_cookies() {
                self.recorder.cookies.get_or_insert_default().merge(&seen);
            }
        }
    }

    /// What was seen, without what the recorder has.
    fn outline(&self) -> Outline {
        let (over, due) = (self.clock.now, self.clock.timeline.measure_until);
        Outline {
            drained: Duration::from_nanos(over.saturating_sub(due)),
            reconnected: self.recorder.connections.made_again(),
            interrupted: self.interrupted,
            health: self.health.seen(self.plan.cpus[self.index]),
        }
    }
}

/// A recorder for what `plan` asks for.
pub(super) fn recorder(plan: &Plan, outlet: Option<Outlet>) -> Recorder {
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
        exchanges: if plan.per_exchange {
            plan.exchanges.len()
        } else {
            0
        },
        outlet,
    };
    Recorder::new(plan.bin, extent)
}
