//! A load in slices from several hosts: each has its share, and each slice begins at one instant on all of them. What an
//! agent says it saw must be possible, by what it was asked for and by this process's clock.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::Duration,
};

use deadheat_load::Slice;
use deadheat_model::{
    Interval, LoadSpec, Observation, Schedule, SliceEvent, SliceResult, StopRule,
};

use super::{
    agents::{Agents, Pending, TICK, start},
    message::{AgentMessage, Order},
    monotonic_ns,
    patience::SILENCE,
    remote::AgentError,
};

/// Questions for the time before each slice: clocks go apart by up to 50 µs in a second.
const QUESTIONS: u32 = 4;
/// A slice begins at least so far ahead, and longer where hosts came late to the one before.
const LEAD: Duration = Duration::from_millis(3);

impl Agents {
    /// Gets all hosts ready for a load in slices; its number.
    ///
    /// # Errors
    /// When a host is lost, or cannot load so.
    pub(crate) fn open(&mut self, spec: &LoadSpec, stop: &AtomicBool) -> Result<u32, AgentError> {
        let load = self.opened;
        self.opened += 1;
        for (index, spec) in self.shares(spec).into_iter().enumerate() {
            let spec = Box::new(spec);
            self.say(index, &Order::Open { load, spec })?;
        }
        let mut pending = Pending::all(self, Some(self.patience.preparation), stop);
        while pending.is_pending() {
            match self.next(&mut pending)? {
                Some((index, _, AgentMessage::Opened { load: opened }))
                    if opened == load && pending.is_done(index) => {}
                Some((index, _, other)) => return Err(self.agents[index].unexpected(&other)),
                None => {}
            }
        }
        self.open.insert(load, ExpectedLoad::of_load(spec));
        Ok(load)
    }

    /// A slice of a load that is open. `on_event` is called when its counted part begins and ends by this clock, which
    /// the hosts' clocks were compared with just before, and when all hosts have told what they saw.
    ///
    /// # Errors
    /// When a host is lost, or could not go on.
    pub(crate) fn slice(
        &mut self,
        load: u32,
        slice: Slice,
        on_event: &mut dyn FnMut(SliceEvent),
        stop: &AtomicBool,
    ) -> Result<SliceResult, AgentError> {
        let offsets = self.offsets(QUESTIONS, stop)?;
        let start = start(&offsets, LEAD + self.late);
        for (index, offset) in offsets.iter().enumerate() {
            let order = Order::Slice {
                load,
                at: offset.there(start),
                guard: slice.guard,
                length: slice.length,
            };
            self.say(index, &order)?;
        }
        let counted = start + slice.guard.as_nanos() as u64;
        if wait_until(counted, stop) {
            on_event(SliceEvent::CountingStarted);
            if wait_until(counted + slice.length.as_nanos() as u64, stop) {
                on_event(SliceEvent::CountingEnded);
            }
        }
        let sliced = self.gather(load, slice, start, stop)?;
        on_event(SliceEvent::Drained);
        Ok(sliced)
    }

    /// Waits for what all hosts saw of a slice that began at `start`.
    fn gather(
        &mut self,
        load: u32,
        slice: Slice,
        start: u64,
        stop: &AtomicBool,
    ) -> Result<SliceResult, AgentError> {
        let asked = self.open.get(&load).copied();
        let drain = asked.map_or(Duration::ZERO, |it| {
            it.longest_slice(slice.guard, slice.length)
        });
        let mut pending = Pending::all(self, Some(drain + self.patience.grace), stop);
        let mut parts: Vec<(usize, SliceResult)> = Vec::new();
        while pending.is_pending() {
            if pending.deadline.stops_now() {
                for index in 0..self.agents.len() {
                    self.say(index, &Order::Stop)?;
                }
            }
            match self.next(&mut pending)? {
                Some((index, at, AgentMessage::Sliced { load: of, result }))
                    if of == load && pending.is_done(index) =>
                {
                    let passed = Duration::from_nanos(at.saturating_sub(start));
                    let checked = asked.map_or(Ok(()), |it| it.check(&result.observation, passed));
                    checked.map_err(|why| AgentError::new(&self.agents[index].host, why))?;
                    parts.push((index, *result));
                }
                Some((index, _, other)) => return Err(self.agents[index].unexpected(&other)),
                None => {}
            }
        }
        let busy = |(_, part): &&(usize, SliceResult)| part.observation.busiest_worker();
        let busiest = parts.iter().max_by(|a, b| busy(a).total_cmp(&busy(b)));
        let busiest_host = busiest.map(|(index, _)| *index as u32);
        let together = SliceResult::together(parts.into_iter().map(|(_, part)| part));
        // Half of it is forgotten with each slice: one late start is no reason to wait for ever.
        self.late = together.late.max(self.late / 2).min(SILENCE / 10);
        Ok(SliceResult {
            busiest_host,
            ..together
        })
    }

    /// Closes a load's connections. A host that is lost has closed them.
    pub(crate) fn close(&mut self, load: u32) {
        self.open.remove(&load);
        for agent in &self.agents {
            let _ = agent.say(&Order::Close { load });
        }
    }
}

/// Sleeps until the monotonic clock says so; whether it did before `stop` was set.
fn wait_until(at: u64, stop: &AtomicBool) -> bool {
    loop {
        let left = Duration::from_nanos(at.saturating_sub(monotonic_ns()));
        if left.is_zero() {
            return true;
        }
        if stop.load(Ordering::SeqCst) {
            return false;
        }
        thread::sleep(left.min(TICK));
    }
}

/// How much more time a host may say has passed, for clocks and for its way here.
const SLACK: Duration = Duration::from_secs(5);
/// Phases of a load, each of which ends an interval: as many more than time alone makes.
const PHASES: u64 = 4;
/// The most kinds of failures and examples that one host tells of.
const MOST_FAILURES: usize = 100_000;

/// What was asked for.
#[derive(Clone, Copy, Debug)]
pub(super) struct ExpectedLoad {
    groups: usize,
    routes: usize,
    workers: usize,
    bin: Duration,
    cool_down: Duration,
    /// The longest that it can take; `None`: until it is stopped.
    pub(super) longest: Option<Duration>,
}

impl ExpectedLoad {
    /// By a load.
    pub(super) fn of_load(spec: &LoadSpec) -> Self {
        let measurement = match spec.stop {
            StopRule::Duration { length } => Some(length),
            StopRule::Count { requests } => Some(longest_of(requests, spec)),
            StopRule::Interrupt => None,
        };
        let measurement = match (measurement, spec.limit) {
            (Some(own), Some(limit)) => Some(own.min(limit)),
            (own, limit) => own.or(limit),
        };
        let cool_down = spec.timeouts.cool_down;
        let around = spec.warm_up + spec.timeouts.connect + cool_down;
        Self {
            groups: spec.exchanges.len(),
            routes: spec.routes().count(),
            workers: spec.workers().len(),
            bin: spec.bin,
            cool_down,
            longest: measurement.map(|length| length.saturating_add(around)),
        }
    }

    /// The longest that a slice of this load can take from its start.
    pub(super) fn longest_slice(&self, guard: Duration, length: Duration) -> Duration {
        guard + length + self.cool_down
    }

    /// Checks what was seen within `passed`.
    ///
    /// # Errors
    /// What cannot be.
    pub(super) fn check(&self, seen: &Observation, passed: Duration) -> Result<(), String> {
        let passed = passed + SLACK;
        if seen.window > passed {
            return Err(format!(
                "it reports a measurement of {:?}, within {passed:?}",
                seen.window
            ));
        }
        if !seen.bins.is_empty() && seen.bin < self.bin {
            return Err(format!(
                "it counts in bins of {:?}, not of {:?}",
                seen.bin, self.bin
            ));
        }
        let bins = passed.as_nanos() / self.bin.as_nanos().max(1) + 2;
        let bins = usize::try_from(bins).unwrap_or(usize::MAX);
        let counts = [
            ("groups", seen.groups.len(), self.groups),
            ("addresses", seen.routes.len(), self.routes),
            ("workers", seen.workers.len(), self.workers),
            ("bins", seen.bins.len(), bins),
            ("statuses", seen.statuses.len(), 1_000),
            ("statuses", seen.all_statuses.len(), 1_000),
            ("redirects", seen.followed.len(), 1_000),
            ("failures", seen.failures.len(), MOST_FAILURES),
            ("examples", seen.examples.len(), MOST_FAILURES),
        ];
        match counts.into_iter().find(|(_, count, most)| count > most) {
            Some((what, count, most)) => Err(format!(
                "it tells of {count} {what}, where there can be {most}"
            )),
            None => Ok(()),
        }
    }
}

/// Checks an interval that came when so much time had `passed` since the load's start. `next` is the first place that the
/// host has not told of.
///
/// # Errors
/// What cannot be.
pub(super) fn check_interval(
    interval: &Interval,
    asked: Option<Duration>,
    next: u64,
    passed: Duration,
) -> Result<(), String> {
    let Some(length) = asked else {
        return Err("it tells of an interval, which was not asked for".to_owned());
    };
    let passed = passed + SLACK;
    let most = passed.as_nanos() / length.as_nanos().max(1);
    let most = u64::try_from(most)
        .unwrap_or(u64::MAX)
        .saturating_add(PHASES);
    let index = interval.index;
    if index < next || index > most {
        return Err(format!(
            "it tells of interval {index}, where there can be {next} to {most}"
        ));
    }
    if interval.from > interval.until || interval.until > passed {
        return Err(format!(
            "it tells of an interval from {:?} to {:?}, within {passed:?}",
            interval.from, interval.until
        ));
    }
    Ok(())
}

/// The longest that so many requests can take, if each takes as long as it may.
fn longest_of(requests: u64, spec: &LoadSpec) -> Duration {
    let timeouts = spec.timeouts.connect + spec.timeouts.request;
    let think = spec.think.map(|think| think.time(1.0 - f64::EPSILON));
    let one = timeouts.as_secs_f64() * (f64::from(spec.redirects) + 1.0)
        + think.unwrap_or_default().as_secs_f64();
    let (turns, more) = match &spec.schedule {
        // A host can have half as many connections for each request as another one.
        Schedule::Closed { connections, ramp } => {
            let turns = requests.div_ceil(u64::from(*connections).max(1));
            (2.0 * (turns as f64 + 1.0), ramp.as_secs_f64())
        }
        Schedule::Open { stages, .. } => {
            let lengths = stages.iter().map(|stage| stage.length.as_secs_f64());
            let last = stages.last().map_or(0.0, |stage| stage.to);
            (
                requests as f64,
                lengths.sum::<f64>() + requests as f64 / last,
            )
        }
    };
    let all = Duration::try_from_secs_f64(one * turns + more);
    all.unwrap_or(Duration::MAX)
}
