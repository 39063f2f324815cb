//! One worker thread: an event loop over its share of the connections.
//!
//! After its set-up a worker takes no lock, allocates nothing and formats nothing, as long as no failure is among
//! the first few of its kind. An answer costs one `recv` and the next request one `send`; the rest is shared by
//! all connections that were ready at once.

use std::{
    io,
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use deadheat_model::{Failure, Observation, observation::WorkerHealth};
use mio::{Events, Poll, Token, event::Event};

use crate::{
    LoadError,
    connection::{Connection, State},
    deadlines::{Deadlines, NEVER},
    http1::{Ending, Step},
    plan::Plan,
    recorder::Recorder,
    schedule::{Timeline, first_send, nanos, share},
    sys,
    verify::{Contents, Examiner, excerpt},
};

/// Bytes read at once. A body of 1 MiB comes in a handful of reads, and the buffer stays in the second-level cache.
const READ_BUFFER: usize = 256 * 1024;
/// Events taken at once.
const EVENTS: usize = 1024;
/// How long a worker sleeps at most before it looks whether it should stop.
const NAP: u64 = 10_000_000;
/// The wait after a failed connect, doubled with each in a row.
const BACKOFF_FIRST: u64 = 10_000_000;
/// The longest wait after a failed connect.
const BACKOFF_MOST: u64 = 500_000_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    WarmUp,
    Measuring,
    Over,
}

/// What came of the bytes of one read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flow {
    /// The connection goes on.
    On,
    /// It was closed, or the load is over.
    Off,
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
    /// When the load ended, and the requests under way then.
    ended: (u64, u64),
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
            ended: (0, 0),
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
        let (until, in_flight) = self.ended;
        let health = WorkerHealth {
            cpu: self.plan.cpus[self.index],
            cpu_time: self.cpu_time,
            wall: Duration::from_nanos(self.wall),
        };
        self.recorder.into_observation(until, in_flight, health)
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
            Phase::Measuring => self.finish(self.edge),
            Phase::Over => {}
        }
    }

    #[cold]
    fn finish(&mut self, at: u64) {
        if self.phase == Phase::Measuring {
            self.cpu_time = sys::thread_cpu_time().saturating_sub(self.cpu_time);
            self.wall = self.now - self.wall;
        }
        self.ended = (at, self.in_flight());
        self.phase = Phase::Over;
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

    /// Sends the next request on a connection that is free.
    #[inline]
    fn issue(&mut self, slot: usize) {
        let start = self.tick();
        if self.phase == Phase::Over {
            return;
        }
        if self.phase == Phase::Measuring && !self.plan.quota.claim() {
            return self.retire(slot);
        }
        self.recorder.issued();
        let connection = &mut self.connections[slot];
        connection.state = State::Busy;
        connection.started = start;
        connection.written = 0;
        connection.answer.begin();
        connection
            .reader
            .begin(self.plan.requests[connection.exchange].is_head);
        self.deadlines
            .set(slot, start.saturating_add(self.request_timeout));
        self.write(slot);
    }

    #[inline]
    fn write(&mut self, slot: usize) {
        let connection = &mut self.connections[slot];
        let request = &self.plan.requests[connection.exchange];
        if let Err(error) = connection.write(&request.bytes) {
            let end = self.tick();
            self.fail(slot, Failure::Reset, end, || {
                format!("writing the request: {error}")
            });
        }
    }

    /// Reads what has come; `closing`: the peer has said that nothing follows.
    #[inline]
    fn receive(&mut self, slot: usize, closing: bool, buffer: &mut [u8]) {
        loop {
            let length = match self.connections[slot].read(buffer) {
                Ok(length) => length,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Err(error) => {
                    let end = self.tick();
                    return self.fail(slot, Failure::Reset, end, || {
                        format!("reading the answer: {error}")
                    });
                }
            };
            let end = self.tick();
            if self.phase == Phase::Over {
                return;
            }
            if length == 0 {
                return self.closed_by_peer(slot, end);
            }
            if self.take(slot, &buffer[..length], end, closing) == Flow::Off {
                return;
            }
            // A read that leaves room has emptied the socket, and what comes later is another edge (epoll(7)). The
            // end of the stream is the one thing that may have come with the same edge.
            if length < buffer.len() && !closing {
                return;
            }
        }
    }

    #[inline]
    fn take(&mut self, slot: usize, bytes: &[u8], end: u64, closing: bool) -> Flow {
        let connection = &mut self.connections[slot];
        let exchange = connection.exchange;
        let expect = &self.plan.exchanges[exchange].expect;
        let mut examiner = Examiner {
            answer: &mut connection.answer,
            exchange,
            expect,
            contents: &mut self.contents,
            examples: &self.recorder.examples,
            received: 0,
        };
        let step = connection.reader.feed(bytes, &mut examiner);
        self.recorder.body(examiner.received);
        match step {
            Ok(Step::More) => Flow::On,
            Ok(Step::Whole { used, keep_alive }) => {
                let extra = &bytes[used..];
                let request = &self.plan.requests[exchange];
                let all_written = connection.written == request.bytes.len();
                // Closed by the peer between two requests is no failure, as long as that is known before the next
                // request is written.
                let reuse =
                    keep_alive && extra.is_empty() && all_written && !request.closes && !closing;
                self.judge(slot, end, extra);
                if reuse {
                    self.issue(slot);
                    match self.connections[slot].state {
                        State::Busy => Flow::On,
                        _ => Flow::Off,
                    }
                } else {
                    self.reopen(slot);
                    Flow::Off
                }
            }
            Err(wrong) => {
                self.fail(slot, wrong.kind, end, || {
                    format!("{}: {}", wrong.why, excerpt(bytes))
                });
                Flow::Off
            }
        }
    }

    /// Counts a whole answer, which `extra` bytes follow, and turns to the next exchange.
    #[inline]
    fn judge(&mut self, slot: usize, end: u64, extra: &[u8]) {
        let connection = &mut self.connections[slot];
        let exchange = connection.exchange;
        let expect = &self.plan.exchanges[exchange].expect;
        let verdict = connection
            .answer
            .verdict(exchange, expect, &mut self.contents);
        if verdict.content_checked {
            self.recorder.content_checked();
        }
        match verdict.failure {
            None if extra.is_empty() => self.recorder.succeeded(connection.started, end),
            None => {
                self.recorder.failed(Failure::ExtraBytes, end);
                self.recorder
                    .examples
                    .keep(Failure::ExtraBytes, || excerpt(extra));
            }
            Some(kind) => {
                self.recorder.failed(kind, end);
                let note = verdict.note;
                let describe = || note.unwrap_or_else(|| connection.answer.describe(kind, expect));
                self.recorder.examples.keep(kind, describe);
            }
        }
        connection.exchange = next(exchange, self.plan.exchanges.len());
        // From here on no request is under way; an edge passed before the next one must not count it.
        connection.state = State::Idle;
    }

    fn closed_by_peer(&mut self, slot: usize, end: u64) {
        match self.connections[slot].reader.end() {
            Ending::Whole => {
                self.judge(slot, end, &[]);
                self.reopen(slot);
            }
            Ending::Cut(kind) => self.fail(slot, kind, end, || "the peer sent FIN".to_owned()),
        }
    }

    /// Counts the request under way as failed, and starts over on a new connection.
    #[cold]
    fn fail(&mut self, slot: usize, kind: Failure, end: u64, detail: impl FnOnce() -> String) {
        if self.phase == Phase::Over {
            return;
        }
        self.recorder.failed(kind, end);
        self.recorder.examples.keep(kind, detail);
        let connection = &mut self.connections[slot];
        connection.exchange = next(connection.exchange, self.plan.exchanges.len());
        self.reopen(slot);
    }

    /// Closes the connection if it is open, and begins to make it again if it is still wanted.
    fn reopen(&mut self, slot: usize) {
        self.close(slot);
        if self.phase == Phase::Measuring && self.plan.quota.is_spent() {
            return self.retire(slot);
        }
        self.deadlines
            .set(slot, self.now.saturating_add(self.connect_timeout));
        let opened =
            self.connections[slot].open(self.plan.address, self.poll.registry(), Token(slot));
        if let Err(error) = opened {
            self.connect_failed(slot, &error);
        }
    }

    fn close(&mut self, slot: usize) {
        if self.connections[slot].close() {
            self.recorder.connection_closed();
        }
    }

    fn retire(&mut self, slot: usize) {
        self.close(slot);
        self.connections[slot].state = State::Retired;
        self.deadlines.set(slot, NEVER);
    }

    /// Counts a request that found no connection: issued and failed at once. The next attempt waits.
    #[cold]
    fn connect_failed(&mut self, slot: usize, error: &io::Error) {
        let kind = match error.kind() {
            io::ErrorKind::ConnectionRefused => Failure::ConnectRefused,
            io::ErrorKind::TimedOut => Failure::ConnectTimeout,
            // It was made, and reset before anything was written.
            io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe => Failure::Reset,
            _ => Failure::ConnectOther,
        };
        let end = self.tick();
        if self.phase == Phase::Over {
            return;
        }
        self.close(slot);
        if self.phase == Phase::Measuring && !self.plan.quota.claim() {
            return self.retire(slot);
        }
        self.recorder.issued();
        self.recorder.failed(kind, end);
        self.recorder.examples.keep(kind, || error.to_string());
        let connection = &mut self.connections[slot];
        let wait = (BACKOFF_FIRST << connection.refusals.min(16)).min(BACKOFF_MOST);
        connection.refusals += 1;
        self.deadlines.set(slot, end + wait);
    }

    /// Does what is due: first connects and later ones, timeouts.
    #[cold]
    fn expire(&mut self) {
        let now = self.now;
        let mut from = 0;
        while let Some(slot) = self.deadlines.take_due(from, now) {
            from = slot + 1;
            match self.connections[slot].state {
                State::Absent => self.reopen(slot),
                State::Connecting => self.connect_failed(slot, &io::ErrorKind::TimedOut.into()),
                State::Busy => {
                    let end = self.tick();
                    self.fail(slot, Failure::Timeout, end, || {
                        "no whole answer in time".to_owned()
                    });
                }
                State::Idle | State::Retired => {}
            }
            if self.phase == Phase::Over {
                return;
            }
        }
    }
}

/// The exchange after `exchange`, of `count`. A comparison: a remainder would cost a division per request.
#[inline]
fn next(exchange: usize, count: usize) -> usize {
    match exchange + 1 {
        next if next == count => 0,
        next => next,
    }
}
