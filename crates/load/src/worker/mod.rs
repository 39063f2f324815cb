//! One worker thread: an event loop over its share of the connections.
//!
//! Between a slice's first request and its drain a worker takes no lock, allocates nothing and formats nothing, as long
//! as no failure is among the first few of its kind (TLS allocates for its records, and a template for a body longer
//! than those before). An answer costs one `recv` and the next request one `send`; the rest is shared by all
//! connections that were ready at once.

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
    recorder::{Gauges, IntervalSender, Recorder},
    schedule::{SliceRun, nanos, share},
    socket::{Bell, Events, Poller, Ready},
    sys, tls,
    verify::Contents,
};

use backlog::Backlog;
use lingering::Lingering;
use requests::Thinkers;
use slice::{Clock, Health, Phase, recorder};

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

/// Room for what is read.
struct Buffers {
    /// Plain bytes.
    plain: Vec<u8>,
    /// Bytes as they come from the wire, where that is something else.
    wire: Vec<u8>,
    /// Room for what is dropped.
    dropped: Vec<u8>,
    /// A body from a template.
    scratch: Vec<u8>,
    /// Heads of answers.
    heads: Heads,
}

/// How long something is waited for at most, in nanoseconds.
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
    /// How many slots are the load's connections. In HTTP/2 there are some more behind them, where connections end that
    /// take no more requests.
    slots: usize,
    /// Connections that need something, in the order in which that came up.
    run_queue: Vec<usize>,
    /// Connections being made.
    opening: usize,
    /// Sockets that have had their last answer.
    lingering: Lingering,
    deadlines: Deadlines,
    /// Connections that wait before their next request.
    thinkers: Thinkers,
    bounds: WaitLimits,
    /// The requests of an open loop whose time has come.
    backlog: Option<Backlog>,
    contents: Contents,
    clock: Clock,
    recorder: Recorder,
    health: Health,
    next_look: u64,
    /// Whether nothing had happened when events were last looked for.
    is_idle: bool,
    /// Requests under way when the slice ended.
    left: u64,
    interrupted: bool,
}

impl<'a> Worker<'a> {
    /// Allocates all that worker `index` will need. To be called on its own, pinned thread.
    pub(crate) fn new(
        index: usize,
        plan: &'a Plan,
        stop: &'a AtomicBool,
        outlet: Option<IntervalSender>,
    ) -> Result<Self, LoadError> {
        let poller = Poller::new().map_err(|error| error.of_worker(index))?;
        if plan.arrivals.is_some() {
            sys::make_timers_exact();
            let listens = poller.listen(plan.taking.bell(index));
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
            // While it is worked off, those that need something again are behind the others.
            run_queue: Vec::with_capacity(2 * connections.len()),
            opening: 0,
            lingering: Lingering::new(slots, plan.lingering()),
            deadlines: Deadlines::new(connections.len()),
            thinkers: Thinkers::new(match plan.thinking {
                Some(_) => connections.len(),
                None => 0,
            }),
            bounds: WaitLimits {
                request: nanos(plan.timeouts.request),
                connect: nanos(plan.timeouts.connect),
            },
            backlog: plan.arrivals.as_ref().map(|arrivals| {
                // Who has no connection looks after no arrival.
                let workers = workers.min(plan.most_connections as usize);
                Backlog::new(arrivals.clone(), index, workers, slots)
            }),
            connections,
            slots,
            contents: Contents::new(exchanges, plan.content_sample),
            clock: Clock::new(
                plan.interval.map_or(NEVER, nanos),
                nanos(plan.timeouts.cool_down),
            ),
            recorder: recorder(plan, outlet),
            health: Health::default(),
            next_look: NEVER,
            is_idle: false,
            left: 0,
            interrupted: false,
        })
    }

    /// Loads for a slice, until nothing is in flight or that has been waited for long enough; `events` is room for what
    /// happens.
    pub(crate) fn run(&mut self, course: SliceRun, events: &mut Events) -> Result<(), LoadError> {
        self.begin(course, events)?;
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

    /// Looks for events for this many nanoseconds, and reads the clock.
    fn look(&mut self, events: &mut Events, nanoseconds: u64) -> Result<(), LoadError> {
        let looked = self.poller.wait(events, nanoseconds);
        looked.map_err(|source| LoadError::Poll {
            worker: self.index,
            source,
        })?;
        self.tick();
        Ok(())
    }

    /// Waits for what happens next.
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

    /// Until when there is nothing to do if nothing happens. Reads the clock where an open loop's schedule asks for
    /// exactness: since it was last read, requests have been sent.
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

    /// Whether answers are waited for awake.
    #[inline]
    fn polls(&self) -> bool {
        self.plan.wait == Wait::Poll && self.backlog.is_none() && self.recorder.outstanding() > 0
    }

    /// Reads the clock, and passes into the next phase where it is time. All times of a load come from here, so
    /// that none recorded in one phase belongs to another.
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
        // What is noted of the end of a phase belongs to that phase.
        if self.clock.is_phase_edge(at) {
            match self.clock.phase {
                Phase::WarmUp => {
                    self.recorder.begin_measurement(at, self.gauges());
                    self.health.begin(now);
                }
                Phase::Measuring => self.end_measurement(at),
                Phase::CoolDown => self.finish(at),
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
            Phase::WarmUp | Phase::CoolDown => self.recorder.roll(at, self.gauges()),
            Phase::Over => {}
        }
        self.left = self.gauges().in_flight;
        let flights = self.connections.iter();
        for flight in flights.flat_map(|one| one.http.flights()) {
            self.recorder.drained(flight.started, at);
        }
        for connection in &self.connections {
            let unmade = &mut self.recorder.unmade;
            match connection.state {
                ConnectionState::Connecting => unmade.connecting += 1,
                ConnectionState::Tunnelling => unmade.proxy += 1,
                ConnectionState::Handshaking => unmade.tls += 1,
                ConnectionState::Greeting => unmade.settings += 1,
                ConnectionState::Absent | ConnectionState::Open => {}
            }
            if connection.is_established() {
                self.recorder
                    .connections
                    .lasted(connection.answered_in_slice());
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
            Phase::CoolDown | Phase::Over => false,
        }
    }

    /// The gauges now. Requests under way come from the connections, and must agree with the counts.
    fn gauges(&self) -> Gauges {
        let each = self.connections.iter();
        let on_their_way = each.map(|one| one.http.in_flight() as u64);
        Gauges {
            in_flight: on_their_way.sum(),
            waiting: match (&self.backlog, self.index) {
                (None, _) => 0,
                // What nobody has taken is nobody's: one worker tells of it.
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
        if nothing_left && self.clock.phase == Phase::CoolDown {
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

    /// Whether everything has been issued, or taken by a worker that will.
    #[inline]
    fn is_spent(&self) -> bool {
        match &self.backlog {
            Some(backlog) => self.plan.taking.taken() >= backlog.end(),
            None => self.plan.quota.is_spent(),
        }
    }

    /// Looks at the receive queues of connections with a request under way.
    #[cold]
    fn look_at_queues(&mut self) {
        self.next_look = self.clock.now.saturating_add(LOOK);
        let queues = &mut self.recorder.queues;
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
        if slot == Bell::SLOT {
            // What it is for is looked at after each round of events.
            return;
        }
        if self.connections[slot].token(slot) != ready.token {
            // It is about a socket that the slot had before.
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
