//! One worker thread: an event loop over its share of the connections.
//!
//! After its set-up a worker takes no lock, allocates nothing and formats nothing, as long as no failure is among
//! the first few of its kind (TLS allocates for its records, and a template for a body longer than those before). An
//! answer costs one `recv` and the next request one `send`; the rest is shared by all connections that were ready at
//! once.

mod backlog;
mod connects;
mod lateness;
mod reading;
mod requests;

use std::{
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use deadheat_model::{Observation, observation::WorkerHealth};

use crate::{
    LoadError,
    connection::{Connection, State},
    deadlines::{Deadlines, NEVER},
    http1::Heads,
    plan::Plan,
    poller::{EVENTS, Events, Poller, Ready},
    recorder::{Extent, Gauges, Outlet, Recorder},
    schedule::{Timeline, first_send, nanos, share},
    sys, tls,
    verify::Contents,
};

use backlog::Backlog;
use lateness::Lateness;

/// Bytes read at once. A body of 1 MiB comes in a handful of reads, and the buffer stays in the second-level cache.
const READ_BUFFER: usize = 256 * 1024;
/// Bytes dropped at once by the kernel. The room for them is never written to, and so takes no memory.
const DROP_ROOM: usize = 16 * 1024 * 1024;
/// How long a worker sleeps at most before it looks whether it should stop.
const NAP: u64 = 10_000_000;
/// How often receive queues are looked at.
const LOOK: u64 = 100_000_000;
/// The most connections that one look takes in.
const LOOKED_AT: usize = 64;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    WarmUp,
    Measuring,
    /// Nothing is issued any more; what is in flight may end.
    CoolDown,
    Over,
}

/// Room for what is read.
struct Buffers {
    /// Plain bytes.
    plain: Vec<u8>,
    /// Bytes as they come from the wire, where that is something else.
    wire: Vec<u8>,
    /// Room for what is dropped.
    dropped: Vec<u8>,
}

/// A worker with its connections.
pub(crate) struct Worker<'a> {
    index: usize,
    plan: &'a Plan<'a>,
    stop: &'a AtomicBool,
    poller: Poller,
    buffers: Buffers,
    /// Room for a body from a template.
    scratch: Vec<u8>,
    tls: Option<tls::Client>,
    connections: Vec<Connection>,
    /// Connections being made.
    opening: usize,
    /// Connections whose end the server had announced, and that it did not close.
    vain_goodbyes: u32,
    /// Connections whose answers have been read in this round and that may send again, in the order in which they came.
    drained: Vec<usize>,
    deadlines: Deadlines,
    /// The requests of an open loop whose time has come.
    backlog: Option<Backlog>,
    /// When the next one's time comes; in a closed loop never.
    next_arrival: u64,
    /// How long after the one before that is.
    arrival_gap: u64,
    /// How late timers are.
    lateness: Lateness,
    heads: Heads,
    contents: Contents,
    recorder: Recorder,
    timeline: Timeline,
    request_timeout: u64,
    connect_timeout: u64,
    cool_down: u64,
    interval: u64,
    phase: Phase,
    /// When the next phase begins.
    phase_edge: u64,
    /// When the interval ends.
    interval_edge: u64,
    /// The earlier one.
    edge: u64,
    next_look: u64,
    /// The last reading of the clock.
    now: u64,
    /// Requests under way when the load ended.
    left: u64,
    /// CPU time, time without a CPU and wall time at the measurement's start, then over the measurement.
    cpu_time: Duration,
    /// Time of the measurement that went into waiting awake.
    polled: u64,
    run_delay: Option<Duration>,
    wall: u64,
}

impl<'a> Worker<'a> {
    /// Allocates all that worker `index` will need. To be called on its own, pinned thread.
    pub(crate) fn new(
        index: usize,
        plan: &'a Plan<'a>,
        stop: &'a AtomicBool,
        outlet: Option<Outlet>,
    ) -> Result<Self, LoadError> {
        let poller = Poller::new().map_err(|source| LoadError::Poll {
            worker: index,
            source,
        })?;
        if plan.arrivals.is_some() {
            sys::make_timers_exact();
        }
        let workers = plan.cpus.len();
        let connections: Vec<Connection> = share(index, workers, plan.most_connections)
            .map(|global| Connection::new(global as usize % plan.cycle.len(), plan.pipeline))
            .collect();
        let extent = Extent {
            is_open: plan.arrivals.is_some(),
            has_tls: plan.tls.is_some(),
            outlet,
        };
        let exchanges = plan.exchanges.iter().map(|prepared| prepared.exchange);
        let resumption = plan.target.tls.as_ref().is_some_and(|tls| tls.resumption);
        // Written to, so that its pages are there before the first read.
        let buffer = || vec![1u8; READ_BUFFER];
        Ok(Self {
            index,
            plan,
            stop,
            poller,
            buffers: Buffers {
                plain: buffer(),
                wire: plan.tls.as_ref().map_or_else(Vec::new, |_| buffer()),
                dropped: match plan.peer.is_tcp() && plan.tls.is_none() {
                    true => vec![0; DROP_ROOM],
                    false => Vec::new(),
                },
            },
            scratch: Vec::new(),
            tls: plan.tls.as_ref().map(|tls| tls.for_worker(resumption)),
            drained: Vec::with_capacity(EVENTS),
            deadlines: Deadlines::new(connections.len()),
            backlog: plan
                .arrivals
                .as_ref()
                .map(|arrivals| Backlog::new(arrivals, index, workers, connections.len())),
            connections,
            opening: 0,
            vain_goodbyes: 0,
            next_arrival: NEVER,
            arrival_gap: NEVER,
            lateness: Lateness::default(),
            heads: Heads::new(),
            contents: Contents::new(exchanges, plan.content_sample),
            recorder: Recorder::new(plan.bin, plan.length(), extent),
            timeline: Timeline::new(0, plan.warm_up, plan.length()),
            request_timeout: nanos(plan.timeouts.request),
            connect_timeout: nanos(plan.timeouts.connect),
            cool_down: nanos(plan.timeouts.cool_down),
            interval: plan.interval.map_or(NEVER, nanos),
            phase: Phase::WarmUp,
            phase_edge: NEVER,
            interval_edge: NEVER,
            edge: NEVER,
            next_look: NEVER,
            now: 0,
            left: 0,
            cpu_time: Duration::ZERO,
            polled: 0,
            run_delay: None,
            wall: 0,
        })
    }

    /// Loads until the end; `events` is room for them, which cannot go with the worker to another thread.
    pub(crate) fn run(&mut self, timeline: Timeline, events: &mut Events) -> Result<(), LoadError> {
        self.begin(timeline);
        while self.phase != Phase::Over {
            self.wait(events)?;
            if self.now >= self.next_look {
                self.look_at_queues();
            }
            for ready in events.iter() {
                if self.phase == Phase::Over {
                    break;
                }
                if self.now >= self.next_arrival {
                    self.admit();
                }
                self.on_event(ready);
            }
            self.send_more();
            if self.phase != Phase::Over && self.now >= self.deadlines.next() {
                self.expire();
            }
            if self.backlog.is_some() {
                self.attend_backlog();
            }
            self.look_for_the_end();
        }
        Ok(())
    }

    /// What was seen. The sockets are closed by dropping the worker, after the measurement's end has been noted.
    pub(crate) fn observation(self) -> Observation {
        let health = WorkerHealth {
            cpu: self.plan.cpus[self.index],
            cpu_time: self.cpu_time,
            polled: Duration::from_nanos(self.polled),
            run_delay: self.run_delay,
            wall: Duration::from_nanos(self.wall),
        };
        self.recorder.into_observation(self.left, health)
    }

    fn begin(&mut self, timeline: Timeline) {
        self.timeline = timeline;
        self.phase_edge = timeline.measure_from;
        self.interval_edge = timeline.start.saturating_add(self.interval);
        self.edge = self.phase_edge.min(self.interval_edge);
        self.next_look = timeline.measure_from;
        self.recorder.begin(timeline.start);
        let own = share(self.index, self.plan.cpus.len(), self.plan.most_connections);
        for (slot, global) in own.enumerate() {
            if global < self.plan.connections {
                let after = first_send(global, self.plan.connections, self.plan.ramp);
                self.deadlines
                    .set(slot, timeline.start.saturating_add(after));
            } else if let Some(backlog) = &mut self.backlog {
                backlog.absent.push(slot);
            }
        }
        self.next_arrival();
        self.tick();
        self.expire();
    }

    /// Waits for what happens next, and reads the clock.
    fn wait(&mut self, events: &mut Events) -> Result<(), LoadError> {
        let until = self.deadlines.next().min(self.edge).min(self.now + NAP);
        let wake = self.lateness.wake_for(self.next_arrival, self.arrival_gap);
        let until = until.min(wake);
        let timeout = until.saturating_sub(self.now);
        let waited = self.poller.wait(events, timeout);
        waited.map_err(|source| LoadError::Poll {
            worker: self.index,
            source,
        })?;
        let before = self.now;
        self.tick();
        match events.is_empty() {
            true if timeout > 0 => self.lateness.note(until, self.now),
            true if self.phase == Phase::Measuring => self.polled += self.now - before,
            _ => {}
        }
        Ok(())
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
        let at = self.edge;
        if at == self.phase_edge {
            self.pass_into_next_phase(at);
        } else {
            self.recorder.roll(at, self.gauges());
        }
        while self.interval_edge <= at {
            self.interval_edge = self.interval_edge.saturating_add(self.interval);
        }
        self.edge = self.phase_edge.min(self.interval_edge);
    }

    fn pass_into_next_phase(&mut self, at: u64) {
        match self.phase {
            Phase::WarmUp => {
                self.recorder.begin_measurement(at, self.gauges());
                self.phase = Phase::Measuring;
                self.phase_edge = self.timeline.measure_until;
                self.cpu_time = sys::thread_cpu_time();
                self.run_delay = sys::thread_run_delay();
                self.wall = self.now;
            }
            Phase::Measuring => {
                self.end_measurement(at);
                self.phase = Phase::CoolDown;
                self.phase_edge = at.saturating_add(self.cool_down);
            }
            Phase::CoolDown => self.finish(at),
            Phase::Over => {}
        }
    }

    fn end_measurement(&mut self, at: u64) {
        self.cpu_time = sys::thread_cpu_time().saturating_sub(self.cpu_time);
        self.run_delay = sys::thread_run_delay()
            .zip(self.run_delay)
            .map(|(now, before)| now.saturating_sub(before));
        self.wall = self.now - self.wall;
        self.close_backlog(at);
        self.recorder.end_measurement(at, self.gauges());
        self.next_look = NEVER;
    }

    #[cold]
    fn finish(&mut self, at: u64) {
        match self.phase {
            Phase::Measuring => self.end_measurement(at),
            Phase::WarmUp | Phase::CoolDown => self.recorder.roll(at, self.gauges()),
            Phase::Over => {}
        }
        self.left = self.gauges().in_flight;
        for connection in &self.connections {
            if connection.is_established() {
                self.recorder.connection_lasted(connection.answered);
            }
        }
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

    /// What stands now. Requests under way come from the connections, and must agree with the counts.
    fn gauges(&self) -> Gauges {
        let on_their_way = self.connections.iter().map(|one| one.flights.len() as u64);
        Gauges {
            in_flight: on_their_way.sum(),
            waiting: self.backlog.as_ref().map_or(0, Backlog::waiting),
        }
    }

    fn look_for_the_end(&mut self) {
        let nothing_left = self.recorder.outstanding() == 0
            && self
                .backlog
                .as_ref()
                .is_none_or(|backlog| backlog.waiting() == 0);
        if nothing_left && self.phase == Phase::Measuring && self.plan.quota.is_spent() {
            let last = self.recorder.last_end();
            self.finish(last);
        }
        if nothing_left && self.phase == Phase::CoolDown {
            self.finish(self.now);
        }
        if self.stop.load(Ordering::Relaxed) {
            let now = self.tick();
            if self.phase != Phase::Over {
                self.finish(now);
            }
        }
    }

    /// Looks at the receive queues of connections with a request under way.
    #[cold]
    fn look_at_queues(&mut self) {
        self.next_look = self.now.saturating_add(LOOK);
        let queues = &mut self.recorder.queues;
        queues.looks += 1;
        let busy = self
            .connections
            .iter()
            .filter(|one| !one.flights.is_empty());
        for connection in busy.take(LOOKED_AT) {
            if let Some(bytes) = connection.unread() {
                queues.connections += 1;
                queues.waiting += u64::from(bytes > 0);
                queues.bytes += bytes;
                queues.most_bytes = queues.most_bytes.max(bytes);
            }
        }
    }

    fn on_event(&mut self, ready: Ready) {
        let slot = ready.slot;
        if self.connections[slot].state == State::Connecting {
            self.try_to_establish(slot);
        }
        match self.connections[slot].state {
            State::Handshaking => self.handshake(slot),
            State::Closing if ready.closing => self.renew(slot),
            State::Open => {
                if ready.readable {
                    self.receive(slot, ready.closing);
                }
                if ready.writable && self.connections[slot].state == State::Open {
                    self.go_on_writing(slot);
                }
            }
            State::Absent | State::Connecting | State::Closing | State::Retired => {}
        }
    }
}
