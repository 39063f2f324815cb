//! One worker thread: an event loop over its share of the connections.
//!
//! Between a slice's first request and its drain a worker takes no lock, allocates nothing and formats nothing, as long
//! as no failure is among the first few of its kind and its intervals are taken (TLS allocates for its records, and a
//! template for a body longer than those before). An answer costs one `recv` and the next request one `send`; the rest
//! is shared by all connections that were ready at once.

mod backlog;
mod connects;
mod lingering;
mod multiplexed;
mod reading;
mod requests;
mod run_queue;
mod slice;

use std::{
    iter::repeat_with,
    sync::atomic::{AtomicBool, Ordering},
};

use deadheat_model::Wait;

use crate::{
    LoadError,
    connection::{Connection, ConnectionState},
    deadlines::{Deadlines, NEVER},
    http_connection::{Heads, HttpConnection},
    plan::Plan,
    recorder::{Gauges, IntervalRecorder, Recorder},
    schedule::{Arrivals, Timeline, nanos, share},
    socket::{Events, Poller, Ready, Waker},
    sys, tls,
    verify::Contents,
};

use backlog::Backlog;
use lingering::LingeringSockets;
use requests::ThinkingConnections;
use slice::{Clock, Health, Phase};

/// Bytes read at once. A body of 1 MiB takes a handful of reads, and the buffer stays in the second-level cache.
const READ_BUFFER: usize = 256 * 1024;
/// Bytes dropped at once by the kernel. It never writes to the buffer, which so takes no memory.
const DROP_ROOM: usize = 16 * 1024 * 1024;
/// The longest sleep of a worker before it checks the stop flag, in nanoseconds.
const NAP: u64 = 10_000_000;
/// The time between two samples of the receive queues, in nanoseconds.
const LOOK: u64 = 100_000_000;
/// The most connections in a sample.
const LOOKED_AT: usize = 64;

/// Buffers for reading.
struct Buffers {
    /// Plain bytes.
    plain: Vec<u8>,
    /// Encrypted bytes; empty without TLS.
    wire: Vec<u8>,
    /// Buffer for dropped bytes.
    dropped: Vec<u8>,
    /// A body from a template.
    scratch: Vec<u8>,
    /// Heads of answers.
    heads: Heads,
}

/// The timeouts in nanoseconds.
struct WaitLimits {
    request: u64,
    connect: u64,
}

/// A worker with its connections.
pub(crate) struct Worker<'a> {
    index: usize,
    plan: &'a Plan,
    stop: &'a AtomicBool,
    poller: Poller,
    buffers: Buffers,
    /// TLS on each route, with sessions of its own.
    tls: Vec<Option<tls::Client>>,
    connections: Vec<Connection>,
    /// Number of slots for the load's connections. In HTTP/2, further slots follow for draining connections.
    slots: usize,
    /// Connections with a task, in the order in which they were queued.
    run_queue: Vec<usize>,
    /// Number of connections that are being opened.
    opening: usize,
    /// Sockets after their last answer.
    lingering: LingeringSockets,
    deadlines: Deadlines,
    /// Connections in their think time.
    thinkers: ThinkingConnections,
    bounds: WaitLimits,
    /// Open loop: due requests and free connections.
    backlog: Option<Backlog>,
    contents: Contents,
    clock: Clock,
    recorder: Recorder,
    health: Health,
    next_look: u64,
    /// Whether the last poll found no event.
    is_idle: bool,
    /// Requests in flight when the slice ended.
    left: u64,
    interrupted: bool,
}

impl<'a> Worker<'a> {
    /// Allocates all that worker `index` will need. Must be called on its own, pinned thread.
    pub(crate) fn new(
        index: usize,
        plan: &'a Plan,
        stop: &'a AtomicBool,
        intervals: Option<IntervalRecorder>,
    ) -> Result<Self, LoadError> {
        let poller = Poller::new().map_err(|error| error.of_worker(index))?;
        if plan.arrivals.is_some() {
            sys::make_timers_exact();
            let listens = poller.listen(plan.taking.waker(index));
            listens.map_err(|source| LoadError::Poll {
                worker: index,
                source,
            })?;
        }
        let workers = plan.cpus.len();
        let own = || share(index, workers, plan.most_connections);
        let slots = own().count();
        let connections: Vec<Connection> = own()
            .chain(repeat_with(own).flatten().take(plan.most_aside(slots)))
            .map(|global| {
                let place = plan.place(global);
                let http = match &plan.http2 {
                    Some(http2) => HttpConnection::multiplexed(http2),
                    None => {
                        let tls = plan.routes.tls(place.route).is_some();
                        let browsing = plan.browsing.map(|browsing| browsing.over(tls));
                        HttpConnection::new(plan.pipeline, browsing)
                    }
                };
                Connection::new(place, plan.routes.turns(place.route), http)
            })
            .collect();
        let exchanges = plan.exchanges.iter().map(|prepared| &prepared.exchange);
        let tls = |route: u32| {
            let on_it = connections.iter().filter(|one| one.place.route == route);
            let tls = plan.routes.tls(route)?;
            Some(tls.for_worker(plan.resumes(route), on_it.count()))
        };
        let tls: Vec<_> = (0..plan.routes.all().len() as u32).map(tls).collect();
        // Written to, so that its pages are there before the first read.
        let buffer = || vec![1u8; READ_BUFFER];
        Ok(Self {
            index,
            plan,
            stop,
            poller,
            buffers: Buffers {
                plain: buffer(),
                wire: if plan.routes.have_tls() {
                    buffer()
                } else {
                    Vec::new()
                },
                dropped: if plan.routes.have_plain_tcp() {
                    vec![0; DROP_ROOM]
                } else {
                    Vec::new()
                },
                scratch: Vec::new(),
                heads: Heads::new(),
            },
            tls,
            // While the queue is run, connections with a new task are appended.
            run_queue: Vec::with_capacity(2 * connections.len()),
            opening: 0,
            lingering: LingeringSockets::new(slots, plan.lingering()),
            deadlines: Deadlines::new(connections.len()),
            thinkers: ThinkingConnections::new(match plan.thinking {
                Some(_) => connections.len(),
                None => 0,
            }),
            bounds: WaitLimits {
                request: nanos(plan.timeouts.request),
                connect: nanos(plan.timeouts.connect),
            },
            backlog: plan.arrivals.as_ref().map(|arrivals| {
                // Workers without connections get no arrivals.
                let workers = workers.min(plan.most_connections as usize);
                Backlog::new(arrivals.clone(), index, workers, slots)
            }),
            connections,
            slots,
            contents: Contents::new(exchanges, plan.content_sample),
            clock: Clock::new(
                plan.interval.map_or(NEVER, nanos),
                nanos(plan.timeouts.drain),
            ),
            recorder: Recorder::new(plan, intervals),
            health: Health::default(),
            next_look: NEVER,
            is_idle: false,
            left: 0,
            interrupted: false,
        })
    }

    /// Runs a slice until nothing is in flight or the drain is over. `arrivals` are its own intended starts, if they
    /// are not the plan's; `events` is a buffer for events.
    pub(crate) fn run(
        &mut self,
        timeline: Timeline,
        arrivals: Option<Arrivals>,
        events: &mut Events,
    ) -> Result<(), LoadError> {
        self.begin(timeline, arrivals, events)?;
        while !self.clock.is_over() {
            self.wait(events)?;
            if self.clock.now >= self.next_look {
                self.look_at_queues();
            }
            for ready in events.iter() {
                if self.clock.is_over() {
                    break;
                }
                self.admit_due();
                self.on_event(ready);
            }
            self.run_queued(0);
            let left = self.run_queue.len();
            if !self.clock.is_over() && self.clock.now >= self.deadlines.next() {
                self.expire();
            }
            if !self.clock.is_over() && self.clock.now >= self.thinkers.next() {
                self.wake_thinkers();
            }
            if self.clock.now >= self.lingering.next() {
                self.lingering.expire(self.clock.now);
            }
            if self.backlog.is_some() {
                self.attend_backlog();
            }
            self.run_queued(left);
            self.look_for_the_end();
        }
        Ok(())
    }

    /// After a slice: sends the intervals that nobody has taken yet.
    pub(crate) fn send_rest(&mut self) {
        self.recorder.send_rest();
    }

    /// Waits at most this many nanoseconds for events, and reads the clock.
    fn look(&mut self, events: &mut Events, nanoseconds: u64) -> Result<(), LoadError> {
        let looked = self.poller.wait(events, nanoseconds);
        looked.map_err(|source| LoadError::Poll {
            worker: self.index,
            source,
        })?;
        self.tick();
        Ok(())
    }

    /// Waits for the next event.
    fn wait(&mut self, events: &mut Events) -> Result<(), LoadError> {
        let until = self.wait_until();
        let before = self.clock.now;
        let timeout = until.saturating_sub(before);
        let was_idle = self.is_idle || self.backlog.is_some();
        self.look(events, timeout)?;
        self.is_idle = events.is_empty() && self.run_queue.is_empty();
        match &mut self.backlog {
            Some(backlog) if self.is_idle && timeout > 0 => {
                backlog.lateness.note(until, self.clock.now);
            }
            _ if self.is_idle && timeout == 0 && was_idle => {
                self.health.looked_in_vain(self.clock.now - before);
            }
            _ => {}
        }
        Ok(())
    }

    /// Until when there is nothing to do without an event. In an open loop, reads the clock for exactness: requests
    /// were sent since it was last read.
    fn wait_until(&mut self) -> u64 {
        if self.backlog.is_some() {
            self.tick();
        }
        if !self.run_queue.is_empty() || self.polls() {
            return 0;
        }
        let until = self.deadlines.next().min(self.thinkers.next());
        let until = until.min(self.lingering.next());
        let until = until.min(self.clock.edge());
        let until = until.min(self.clock.now + NAP);
        let wake = self.backlog.as_ref().map_or(NEVER, Backlog::wake);
        until.min(wake)
    }

    /// Whether the worker polls for answers instead of sleeping.
    #[inline]
    fn polls(&self) -> bool {
        self.plan.wait == Wait::Poll && self.backlog.is_none() && self.recorder.outstanding() > 0
    }

    /// Reads the clock, and enters the next phase if it is due. All times of a load come from here, so that none is
    /// recorded in the wrong phase.
    #[inline]
    fn tick(&mut self) -> u64 {
        self.clock.now = sys::monotonic_ns();
        while let Some(edge) = self.clock.reached() {
            self.pass_edge(edge);
        }
        self.clock.now
    }

    #[cold]
    fn pass_edge(&mut self, at: u64) {
        let now = self.clock.now;
        // Records of the end of a phase belong to that phase.
        if self.clock.is_phase_edge(at) {
            match self.clock.phase {
                Phase::WarmUp => {
                    self.recorder.begin_measurement(at, self.gauges());
                    self.health.begin(now);
                }
                Phase::Measuring => self.end_measurement(at),
                Phase::Drain => self.finish(at),
                Phase::Over => {}
            }
        } else {
            self.recorder.roll(at, self.gauges());
        }
        self.clock.pass(at);
    }

    fn end_measurement(&mut self, at: u64) {
        self.health.end(self.clock.now);
        self.close_backlog(at);
        let gauges = self.gauges();
        let flights = self.connections.iter().flat_map(|one| one.http.flights());
        let under_way = flights.map(|flight| flight.started);
        if self.plan.stream.is_some() {
            let gap = self.open_gap(at);
            self.recorder.note_open_gap(gap);
        }
        self.recorder.end_measurement(at, gauges, under_way);
        self.next_look = NEVER;
    }

    #[cold]
    fn finish(&mut self, at: u64) {
        match self.clock.phase {
            Phase::Measuring => self.end_measurement(at),
            Phase::WarmUp | Phase::Drain => self.recorder.roll(at, self.gauges()),
            Phase::Over => {}
        }
        self.left = self.gauges().in_flight;
        let flights = self.connections.iter();
        for flight in flights.flat_map(|one| one.http.flights()) {
            self.recorder.drained(flight.started, at);
        }
        for connection in &self.connections {
            let unmade = &mut self.recorder.seen.unmade;
            match connection.state {
                ConnectionState::Connecting => unmade.connecting += 1,
                ConnectionState::Tunnelling => unmade.proxy += 1,
                ConnectionState::Handshaking => unmade.tls += 1,
                ConnectionState::Greeting => unmade.settings += 1,
                ConnectionState::Absent | ConnectionState::Open => {}
            }
            if connection.is_established() {
                let answers = &mut self.recorder.seen.answers_per_connection;
                answers.record(connection.answered_in_slice());
            }
        }
        self.clock.phase = Phase::Over;
    }

    /// Whether another request may be issued; takes it from the quota when there is one.
    #[inline]
    fn claim(&self) -> bool {
        match self.clock.phase {
            Phase::WarmUp => true,
            Phase::Measuring => self.plan.quota.claim(),
            Phase::Drain | Phase::Over => false,
        }
    }

    /// The gauges now. Requests in flight are counted over the connections, and must agree with the recorder.
    fn gauges(&self) -> Gauges {
        let each = self.connections.iter();
        let on_their_way = each.map(|one| one.http.in_flight() as u64);
        Gauges {
            in_flight: on_their_way.sum(),
            waiting: match (&self.backlog, self.index) {
                (None, _) => 0,
                // One worker reports the arrivals that no worker has taken.
                (Some(backlog), 0) => backlog.waiting() + self.plan.taking.waiting(),
                (Some(backlog), _) => backlog.waiting(),
            },
        }
    }

    fn look_for_the_end(&mut self) {
        let nothing_left = self.recorder.outstanding() == 0
            && self
                .backlog
                .as_ref()
                .is_none_or(|backlog| backlog.waiting() == 0);
        if nothing_left && self.clock.phase == Phase::Measuring && self.is_spent() {
            let last = self.recorder.last_end();
            self.finish(last);
            self.note_counted();
        }
        if nothing_left && self.clock.phase == Phase::Drain {
            self.finish(self.clock.now);
        }
        if self.stop.load(Ordering::Relaxed) {
            let now = self.tick();
            if !self.clock.is_over() {
                self.interrupted = true;
                self.finish(now);
            }
        }
    }

    /// Whether all requests were issued, or taken by a worker that will issue them.
    #[inline]
    fn is_spent(&self) -> bool {
        match &self.backlog {
            Some(backlog) => self.plan.taking.taken() >= backlog.end(),
            None => self.plan.quota.is_spent(),
        }
    }

    /// Samples the receive queues of connections with a request in flight.
    #[cold]
    fn look_at_queues(&mut self) {
        self.next_look = self.clock.now.saturating_add(LOOK);
        let queues = &mut self.recorder.seen.receive_queues;
        queues.looks += 1;
        let busy = self.connections.iter().filter(|one| !one.http.is_idle());
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
        let slot = ready.token.slot;
        if slot == Waker::SLOT {
            // The reason for it is handled after each round of events.
            return;
        }
        if self.connections[slot].token(slot) != ready.token {
            // An event of an earlier socket of the slot.
            if ready.closing {
                self.lingering.closed(ready.token);
            }
            return;
        }
        if self.connections[slot].state == ConnectionState::Connecting {
            self.try_to_establish(slot);
        }
        match self.connections[slot].state {
            ConnectionState::Tunnelling => self.tunnel(slot),
            ConnectionState::Handshaking => self.handshake(slot),
            ConnectionState::Greeting | ConnectionState::Open => {
                if ready.readable {
                    self.receive(slot, ready.closing);
                }
                if ready.writable && self.connections[slot].is_talking() {
                    self.go_on_writing(slot);
                }
            }
            ConnectionState::Absent | ConnectionState::Connecting => {}
        }
    }
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
