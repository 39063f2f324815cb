//! The beginning and end of a slice, its clock, and the worker's CPU use in it. Connections are held from one slice to
//! the next.

use std::time::Duration;

use deadheat_model::{
    SliceResult,
    observation::{CountedTime, WorkerHealth},
};

use super::Worker;
use crate::{
    LoadError,
    connection::{ConnectionState, Task},
    deadlines::NEVER,
    recorder::Recorder,
    schedule::{Arrivals, Timeline, global},
    socket::{EVENTS, Events},
    sys,
};

impl Worker<'_> {
    /// Begins a slice: checks held connections, and schedules the opening of the others. `arrivals` are its own intended
    /// starts, if they are not the plan's.
    pub(super) fn begin(
        &mut self,
        timeline: Timeline,
        arrivals: Option<Arrivals>,
        events: &mut Events,
    ) -> Result<(), LoadError> {
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
        self.begin_backlog(arrivals);
        self.tick();
        self.expire();
        self.run_queued(0);
        Ok(())
    }

    /// Continues to open a connection that was being opened when the previous slice ended. Its times and its deadline
    /// are moved by the pause, as if there had been none.
    fn go_on_making(&mut self, slot: usize, held_for: u64) {
        self.deadlines.postpone(slot, held_for);
        let connection = &mut self.connections[slot];
        connection.dialled += held_for;
        connection.handshake_begun += held_for;
        self.want_flush(slot);
        self.schedule(slot, Task::Read { closing: false });
    }

    /// Finds connections that ended while they were held, before anything is sent on them.
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

    /// Holds the connections that are idle or being opened for the next slice, and closes the others.
    fn hold(&mut self) {
        self.run_queue.clear();
        self.lingering.end(self.clock.now);
        for slot in 0..self.connections.len() {
            let has_written = self.connections[slot].http.has_written(self.plan);
            let connection = &mut self.connections[slot];
            connection.on_run_queue = false;
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
                // The slice's counts are final already.
                drop(connection.end());
                self.unlist(slot);
                self.note_closed(was_open && slot < self.slots);
            }
        }
        let opening = self.connections.iter().filter(|one| one.is_opening);
        self.opening = opening.count();
    }

    /// The result of the slice that is over. Connections are held, and another slice may follow.
    pub(crate) fn report(&mut self) -> SliceResult {
        self.hold();
        self.note_dialogues();
        let seen = self.without_counts();
        let fresh = Recorder::new(self.plan, None);
        let counted = std::mem::replace(&mut self.recorder, fresh);
        SliceResult {
            observation: counted.into_observation(self.left, self.health()),
            ..seen
        }
    }

    /// The result of the last slice. Closes the sockets.
    pub(crate) fn into_report(mut self) -> SliceResult {
        self.note_dialogues();
        let (seen, health) = (self.without_counts(), self.health());
        SliceResult {
            observation: self.recorder.into_observation(self.left, health),
            ..seen
        }
    }

    /// Collects the cookie counts and stream limits of all connections.
    fn note_dialogues(&mut self) {
        for connection in &mut self.connections {
            let fewest = &mut self.recorder.seen.fewest_streams;
            *fewest = connection
                .http
                .take_fewest()
                .into_iter()
                .chain(*fewest)
                .min();
            if let Some(seen) = connection.http.take_cookies() {
                let cookies = self.recorder.seen.cookies.get_or_insert_default();
                cookies.merge(&seen);
            }
        }
    }

    /// The result of the slice without the recorder's counts.
    fn without_counts(&self) -> SliceResult {
        let (over, due) = (self.clock.now, self.clock.timeline.measure_until);
        SliceResult {
            drained: Duration::from_nanos(over.saturating_sub(due)),
            reconnected: self.recorder.made_again(),
            interrupted: self.interrupted,
            ..SliceResult::default()
        }
    }

    fn health(&self) -> WorkerHealth {
        self.health.seen(self.plan.cpus[self.index])
    }
}

/// The longest unsuccessful poll that counts, in nanoseconds. In a longer one something else had the CPU, and that time
/// must not be subtracted from the thread's CPU time.
const LONGEST_LOOK: u64 = 50_000;

/// CPU use of the worker thread in the measurement. All but `polled` is known only at its end.
#[derive(Debug, Default)]
pub(super) struct Health {
    /// The values at the start of the measurement, while it lasts.
    begun: Option<UsageAtStart>,
    cpu_time: Duration,
    /// Nanoseconds spent on polls that found nothing.
    polled: u64,
    run_delay: Option<Duration>,
    /// The length of the measurement in nanoseconds.
    wall: u64,
}

/// The thread's CPU use and the time at the start of the measurement.
#[derive(Debug)]
struct UsageAtStart {
    cpu_time: Duration,
    run_delay: Option<Duration>,
    at: u64,
}

impl Health {
    /// Begins the measurement.
    pub(super) fn begin(&mut self, now: u64) {
        self.begun = Some(UsageAtStart {
            cpu_time: sys::thread_cpu_time(),
            run_delay: sys::thread_run_delay(),
            at: now,
        });
    }

    /// Counts a poll of this many nanoseconds that found no event.
    #[inline]
    pub(super) fn looked_in_vain(&mut self, nanoseconds: u64) {
        if self.begun.is_some() {
            self.polled += nanoseconds.min(LONGEST_LOOK);
        }
    }

    /// Ends the measurement.
    pub(super) fn end(&mut self, now: u64) {
        if let Some(begun) = self.begun.take() {
            self.cpu_time = sys::thread_cpu_time().saturating_sub(begun.cpu_time);
            let delays = sys::thread_run_delay().zip(begun.run_delay);
            self.run_delay = delays.map(|(now, before)| now.saturating_sub(before));
            self.wall = now - begun.at;
        }
    }

    /// The recorded health of a worker on `cpu`; `None`: it is not pinned.
    pub(super) fn seen(&self, cpu: Option<usize>) -> WorkerHealth {
        WorkerHealth {
            cpu,
            cpu_time: self.cpu_time,
            polled: Duration::from_nanos(self.polled),
            run_delay: self.run_delay,
            wall: Duration::from_nanos(self.wall),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    WarmUp,
    Measuring,
    /// No requests are sent any more; those in flight may end.
    Drain,
    /// The slice is over, or none has begun.
    Over,
}

/// The last reading of the clock, and the next edges: the ends of the phase and of the interval.
#[derive(Debug)]
pub(super) struct Clock {
    pub(super) now: u64,
    pub(super) phase: Phase,
    pub(super) timeline: Timeline,
    /// When the next phase begins.
    phase_edge: u64,
    /// When the interval ends.
    interval_edge: u64,
    /// The earlier one of the two edges.
    edge: u64,
    interval: u64,
    drain: u64,
}

impl Clock {
    /// A clock for intervals of this many nanoseconds and a drain of at most this many.
    pub(super) fn new(interval: u64, drain: u64) -> Self {
        Self {
            now: 0,
            phase: Phase::Over,
            timeline: Timeline {
                start: 0,
                measure_from: 0,
                measure_until: 0,
            },
            phase_edge: NEVER,
            interval_edge: NEVER,
            edge: NEVER,
            interval,
            drain,
        }
    }

    /// Begins a slice.
    pub(super) fn begin(&mut self, timeline: Timeline) {
        self.timeline = timeline;
        self.phase = Phase::WarmUp;
        self.phase_edge = timeline.measure_from;
        self.interval_edge = timeline.start.saturating_add(self.interval);
        self.edge = self.phase_edge.min(self.interval_edge);
    }

    /// The next edge.
    #[inline]
    pub(super) fn edge(&self) -> u64 {
        self.edge
    }

    /// The edge that was reached, if one was.
    #[inline]
    pub(super) fn reached(&self) -> Option<u64> {
        (self.now >= self.edge && self.phase != Phase::Over).then_some(self.edge)
    }

    /// Whether the phase ends at `at`.
    pub(super) fn is_phase_edge(&self, at: u64) -> bool {
        at == self.phase_edge
    }

    /// Passes the edge at `at`: begins the next phase or interval.
    pub(super) fn pass(&mut self, at: u64) {
        if self.is_phase_edge(at) {
            (self.phase, self.phase_edge) = match self.phase {
                Phase::WarmUp => (Phase::Measuring, self.timeline.measure_until),
                Phase::Measuring => (Phase::Drain, at.saturating_add(self.drain)),
                Phase::Drain | Phase::Over => (Phase::Over, NEVER),
            };
        }
        while self.interval_edge <= at {
            self.interval_edge = self.interval_edge.saturating_add(self.interval);
        }
        self.edge = self.phase_edge.min(self.interval_edge);
    }

    /// Whether requests are issued.
    #[inline]
    pub(super) fn is_sending(&self) -> bool {
        matches!(self.phase, Phase::WarmUp | Phase::Measuring)
    }

    #[inline]
    pub(super) fn is_over(&self) -> bool {
        self.phase == Phase::Over
    }

    /// Whether a request that is due at `intended` belongs to the measurement.
    pub(super) fn counts(&self, intended: u64) -> bool {
        (self.timeline.measure_from..self.timeline.measure_until).contains(&intended)
    }
}

impl Worker<'_> {
    /// Notes the start of a request at `started` on the connection in `slot`. If it is the first counted one, the
    /// connection's time begins with it, or with the connect if the connection was opened for it.
    #[cold]
    pub(super) fn begin_counted(&mut self, slot: usize, started: u64) {
        if self.clock.phase != Phase::Measuring {
            return;
        }
        let from = self.clock.timeline.measure_from;
        let connection = &mut self.connections[slot];
        let is_first = connection.begun() == 0;
        connection.counted_from = match connection.dialled {
            dialled if is_first && dialled >= from => dialled,
            _ => started,
        };
        connection.counted_until = NEVER;
    }

    /// Records the time of a load that ends by a count, after its last request has ended.
    pub(super) fn note_counted(&mut self) {
        self.recorder.seen.counted = match self.plan.is_counted {
            false => None,
            true if self.backlog.is_some() => self.counted_arrivals(),
            true => Some(self.counted_connections()),
        };
    }

    fn counted_connections(&self) -> CountedTime {
        let used = |one: &&crate::connection::Connection| {
            one.counted_from != NEVER && one.counted_until != NEVER
        };
        let thinks = self.plan.thinking.is_some();
        let used = self.connections.iter().filter(used);
        let times = used.map(|one| {
            // The think time after a request belongs to it.
            let until = if thinks {
                one.counted_until.max(one.due)
            } else {
                one.counted_until
            };
            until.saturating_sub(one.counted_from)
        });
        let (connections, in_use) = times.fold((0, 0u64), |(count, sum), time| {
            (count + 1, sum.saturating_add(time))
        });
        CountedTime::Closed {
            connections,
            in_use: Duration::from_nanos(in_use),
        }
    }

    /// The times of an open loop. A worker without a request reports values that do not change the merged ones.
    fn counted_arrivals(&mut self) -> Option<CountedTime> {
        let (start, now) = (self.clock.timeline.start, self.clock.now);
        let since = |at: u64| Duration::from_nanos(at.saturating_sub(start));
        let (first_end, last_end) = self.recorder.own_ends().unwrap_or((now, start));
        let backlog = self.backlog.as_mut()?;
        Some(CountedTime::Open {
            first_due: since(backlog.first_counted().min(now)),
            next_due: backlog.next_after_all().map(Duration::from_nanos),
            first_end: since(first_end),
            last_end: since(last_end),
        })
    }
}
