//! A load in slices from several hosts: each has its share, and each slice begins at one instant on all of them.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::Duration,
};

use deadheat_load::Slice;
use deadheat_model::{LoadSpec, SliceEvent, SliceResult};

use super::{
    agents::{Agents, Pending, TICK, start},
    message::{AgentMessage, Order},
    monotonic_ns,
    patience::SILENCE,
    plausible::ExpectedLoad,
    remote::AgentError,
};

/// The number of clock queries before each slice. Clocks drift by up to 50 µs per second.
const QUESTIONS: u32 = 4;
/// The minimum time from ordering a slice to its start. It grows when hosts were late for the slice before.
const LEAD: Duration = Duration::from_millis(3);

impl Agents {
    /// Prepares all hosts for a load in slices, and returns the load's number.
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

    /// Runs one slice of an open load. `on_event` is called when the counted part begins and ends by this clock, and
    /// when all hosts have sent their results. The hosts' clocks are compared with this one just before.
    ///
    /// # Errors
    /// When a host is lost or fails.
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
                at: offset.remote_time(start),
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

    /// Waits for the results of all hosts for a slice that began at `start`.
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
                    if let Some(asked) = asked {
                        asked.check(&self.agents[index].host, &result.observation, passed)?;
                    }
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
        // Halves with each slice, so one late start does not delay all later ones.
        self.late = together.late.max(self.late / 2).min(SILENCE / 10);
        Ok(SliceResult {
            busiest_host,
            ..together
        })
    }

    /// Closes a load's connections. Lost hosts have closed theirs already.
    pub(crate) fn close(&mut self, load: u32) {
        self.open.remove(&load);
        for agent in &self.agents {
            let _ = agent.say(&Order::Close { load });
        }
    }
}

/// Sleeps until the monotonic clock shows `at`, in nanoseconds. Returns `false` if `stop` was set before.
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
