//! One worker thread: an event loop over its share of the connections.
//!
//! After its set-up a worker takes no lock, allocates nothing and formats nothing, as long as no failure is among
//! the first few of its kind. An answer costs one `recv` and the next request one `send`; the rest is shared by
//! all connections that were ready at once.

mod connects;
mod requests;

use std::{
    io,
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use deadheat_model::{Observation, observation::WorkerHealth};
use mio::{Events, Poll, event::Event};

use crate::{
    LoadError,
    connection::{Connection, State},
    deadlines::Deadlines,
    plan::Plan,
    recorder::Recorder,
    schedule::{Timeline, first_send, nanos, share},
    sys,
    verify::Contents,
};

/// Bytes read at once. A body of 1 MiB comes in a handful of reads, and the buffer stays in the second-level cache.
const READ_BUFFER: usize = 256 * 1024;
/// Events taken at once.
const EVENTS: usize = 1024;
/// How long a worker sleeps at most before it looks whether it should stop.
const NAP: u64 = 10_000_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    WarmUp,
    Measuring,
    /// Nothing is issued any more; what is in flight may end.
    CoolDown,
    Over,
}

/// A worker with its connections.
pub(crate) struct Worker<'a> {
    index: usize,
    plan: &'a Plan<'a>,
    stop: &'a AtomicBool,
    poll: Poll,
    events: Events,
    buffer: Vec<u8>,
    connections: Vec<Connection>,
    deadlines: Deadlines,
    contents: Contents,
    recorder: Recorder,
    timeline: Timeline,
    request_timeout: u64,
    connect_timeout: u64,
    phase: Phase,
    /// When the next phase begins.
    edge: u64,
    /// The last reading of the clock.
    now: u64,
    cool_down: u64,
    /// Requests under way when the load ended.
    left: u64,
    /// CPU and wall time at the measurement's start, then over the measurement.
    cpu_time: Duration,
    wall: u64,
}

impl<'a> Worker<'a> {
    /// Allocates all that worker `index` will need. To be called on its own, pinned thread.
    pub(crate) fn new(
        index: usize,
        plan: &'a Plan<'a>,
        stop: &'a AtomicBool,
    ) -> Result<Self, LoadError> {
        let poll = Poll::new().map_err(|source| LoadError::Poll {
            worker: index,
            source,
        })?;
        let own = share(index, plan.cpus.len(), plan.connections);
        let exchanges = plan.exchanges.len();
        let connections: Vec<Connection> = own
            .map(|global| Connection::new(global as usize % exchanges))
            .collect();
        Ok(Self {
            index,
            plan,
            stop,
            poll,
            events: Events::with_capacity(EVENTS),
            // Written to, so that its pages are there before the first read.
            buffer: vec![1u8; READ_BUFFER],
            deadlines: Deadlines::new(connections.len()),
            connections,
            contents: Contents::new(&plan.exchanges, plan.content_sample),
            recorder: Recorder::new(plan.bin, plan.length()),
            timeline: Timeline::new(0, plan.warm_up, plan.stop),
            request_timeout: nanos(plan.timeouts.request),
            connect_timeout: nanos(plan.timeouts.connect),
            phase: Phase::WarmUp,
            edge: 0,
            now: 0,
            cool_down: nanos(plan.timeouts.cool_down),
            left: 0,
            cpu_time: Duration::ZERO,
            wall: 0,
        })
    }

    /// Loads until the end.
    pub(crate) fn run(&mut self, timeline: Timeline) -> Result<(), LoadError> {
        // Apart from the worker while it runs, because it changes while they are looked at.
        let mut buffer = std::mem::take(&mut self.buffer);
        let mut events = std::mem::replace(&mut self.events, Events::with_capacity(0));
        self.begin(timeline);
        while self.phase != Phase::Over {
            self.wait(&mut events)?;
            self.tick();
            for event in &events {
                if self.phase == Phase::Over {
                    break;
                }
                self.on_event(event, &mut buffer);
            }
            if self.phase != Phase::Over && self.now >= self.deadlines.next() {
                self.expire();
            }
            self.look_for_the_end();
        }
        (self.buffer, self.events) = (buffer, events);
        Ok(())
    }

    /// What was seen. The sockets are closed by dropping the worker, after the measurement's end has been noted.
    pub(crate) fn observation(self) -> Observation {
        let health = WorkerHealth {
            cpu: self.plan.cpus[self.index],
            cpu_time: self.cpu_time,
            wall: Duration::from_nanos(self.wall),
        };
        self.recorder.into_observation(self.left, health)
    }

    fn begin(&mut self, timeline: Timeline) {
        self.timeline = timeline;
        self.edge = timeline.measure_from;
        let own = share(self.index, self.plan.cpus.len(), self.plan.connections);
        for (slot, global) in own.enumerate() {
            let after = first_send(global, self.plan.connections, self.plan.ramp);
            self.deadlines
                .set(slot, timeline.start.saturating_add(after));
        }
        self.tick();
        self.expire();
    }

    fn wait(&mut self, events: &mut Events) -> Result<(), LoadError> {
        let until = self.deadlines.next().min(self.edge).min(self.now + NAP);
        let timeout = Duration::from_nanos(until.saturating_sub(self.now));
        match self.poll.poll(events, Some(timeout)) {
            Err(error) if error.kind() != io::ErrorKind::Interrupted => Err(LoadError::Poll {
                worker: self.index,
                source: error,
            }),
            _ => Ok(()),
        }
    }

    /// Reads the clock, and passes into the next phase where it is time. All times of a load come from here, so
    /// that none recorded in one phase belongs to another.
    #[inline]
    fn tick(&mut self) -> u64 {
        self.now = sys::monotonic_ns();
        while self.now >= self.edge && self.phase != Phase::Over {
            self.pass_edge();
        }
        self.now
    }

    #[cold]
    fn pass_edge(&mut self) {
        match self.phase {
            Phase::WarmUp => {
                self.recorder.begin_measurement(self.edge, self.in_flight());
                self.phase = Phase::Measuring;
                self.edge = self.timeline.measure_until;
                self.cpu_time = sys::thread_cpu_time();
                self.wall = self.now;
            }
            Phase::Measuring => {
                let at = self.edge;
                self.end_measurement(at);
                self.phase = Phase::CoolDown;
                self.edge = at.saturating_add(self.cool_down);
            }
            Phase::CoolDown => self.finish(self.edge),
            Phase::Over => {}
        }
    }

    fn end_measurement(&mut self, at: u64) {
        self.cpu_time = sys::thread_cpu_time().saturating_sub(self.cpu_time);
        self.wall = self.now - self.wall;
        self.recorder.end_measurement(at, self.in_flight());
    }

    #[cold]
    fn finish(&mut self, at: u64) {
        if self.phase == Phase::Measuring {
            self.end_measurement(at);
        }
        self.left = self.in_flight();
        self.phase = Phase::Over;
    }

    /// Whether another request may be issued; takes it from the quota when there is one.
    #[inline]
    fn claim(&self) -> bool {
        match self.phase {
            Phase::WarmUp => true,
            Phase::Measuring => self.plan.quota.claim(),
            Phase::CoolDown | Phase::Over => false,
        }
    }

    /// Requests under way, by the connections' states: it must agree with the counts.
    fn in_flight(&self) -> u64 {
        let busy = self
            .connections
            .iter()
            .filter(|connection| connection.state == State::Busy);
        busy.count() as u64
    }

    fn look_for_the_end(&mut self) {
        if self.phase == Phase::Measuring
            && self.plan.quota.is_spent()
            && self.recorder.outstanding() == 0
        {
            let last = self.recorder.last_end();
            self.finish(last);
        }
        if self.phase == Phase::CoolDown && self.recorder.outstanding() == 0 {
            self.finish(self.now);
        }
        if self.stop.load(Ordering::Relaxed) {
            let now = self.tick();
            if self.phase != Phase::Over {
                self.finish(now);
            }
        }
    }

    fn on_event(&mut self, event: &Event, buffer: &mut [u8]) {
        let slot = event.token().0;
        if self.connections[slot].state == State::Connecting {
            match self.connections[slot].establish() {
                Ok(false) => return,
                Ok(true) => {
                    self.connections[slot].refusals = 0;
                    self.recorder.connection_opened();
                    self.issue(slot);
                }
                Err(error) => return self.connect_failed(slot, &error),
            }
        }
        let closing = event.is_read_closed();
        if self.connections[slot].state == State::Busy
            && (event.is_readable() || closing || event.is_error())
        {
            self.receive(slot, closing, buffer);
        }
        if self.connections[slot].state == State::Busy && event.is_writable() {
            self.write(slot);
        }
    }
}
