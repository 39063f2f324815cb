//! A load from several hosts: each has its share of the spec, and all begin at one instant.

use std::{
    collections::BTreeMap,
    sync::{
        atomic::{AtomicBool, Ordering},
        mpsc::{self, Receiver},
    },
    thread,
    time::Duration,
};

use deadheat_load::{LoadEvent, Phase};
use deadheat_model::{
    Interval, LoadSpec, Observation,
    hosts::{HostRecord, HostRole},
    load::Share,
    load_record::GeneratorHost,
};

use super::{
    clock::{Exchange, Offset},
    frame::FrameError,
    launcher::{Binary, Launcher},
    message::{Answer, Instant, Order},
    monotonic_ns,
    remote::{Agent, AgentError, Heard, next},
    serve::SILENCE,
};

/// Questions for the time, of which the quickest answered one counts.
const QUESTIONS: u32 = 16;
/// How long an agent may take to set up its worker threads.
pub(super) const PREPARATION: Duration = Duration::from_secs(30);
/// The start is at least so far ahead that every agent has heard of it before.
const LEAD: Duration = Duration::from_millis(50);
/// How long the others may take to end their load when one is lost.
const LEFTOVERS: Duration = Duration::from_secs(2);
/// Between two looks at whether somebody stops the load.
pub(super) const TICK: Duration = Duration::from_millis(10);

/// The hosts of a load.
pub struct Agents {
    pub(super) agents: Vec<Agent>,
    heard: Receiver<Heard>,
    /// How many loads in slices there were.
    pub(super) opened: u32,
    /// How late hosts began a slice lately.
    pub(super) late: Duration,
}

/// What several hosts found together.
#[derive(Debug)]
pub struct Together {
    /// Their observations, merged: one load.
    pub observation: Observation,
    /// Each host's own.
    pub hosts: Vec<GeneratorHost>,
}

impl Together {
    /// What this process found alone.
    pub fn alone(observation: Observation) -> Self {
        Self {
            observation,
            hosts: Vec::new(),
        }
    }
}

impl Agents {
    /// Starts an agent on each of `hosts`, all at the same time, unless `stop` is set meanwhile.
    ///
    /// # Errors
    /// The first host, in the order given, on which none could be started.
    pub fn launch(
        hosts: &[String],
        launcher: &Launcher,
        binary: &Binary,
        stop: &AtomicBool,
    ) -> Result<Self, AgentError> {
        let (ears, heard) = mpsc::channel();
        let agents = thread::scope(|scope| {
            let launches: Vec<_> = hosts
                .iter()
                .enumerate()
                .map(|(index, host)| {
                    let ears = ears.clone();
                    scope.spawn(move || Agent::launch(host, index, launcher, binary, ears, stop))
                })
                .collect();
            let joined = launches.into_iter().zip(hosts).map(|(launch, host)| {
                let panicked = |_| Err(AgentError::new(host, "starting an agent failed"));
                launch.join().unwrap_or_else(panicked)
            });
            joined.collect::<Result<Vec<Agent>, AgentError>>()
        })?;
        Ok(Self {
            agents,
            heard,
            opened: 0,
            late: Duration::ZERO,
        })
    }

    /// The hosts as they are, and what all of them do.
    ///
    /// # Errors
    /// When one is lost.
    pub fn describe(&mut self, role: HostRole) -> Result<Vec<HostRecord>, AgentError> {
        let offsets = self.offsets(QUESTIONS)?;
        let hosts = self.agents.iter().zip(offsets);
        Ok(hosts
            .map(|(agent, offset)| HostRecord {
                role,
                host: agent.host.clone(),
                name: agent.seen.name.clone(),
                machine: agent.seen.machine.clone(),
                round_trip_seconds: offset.round_trip.as_secs_f64(),
            })
            .collect())
    }

    /// Loads as `spec` says, each host with its share. `on_event` gets what [`deadheat_load::run`] tells: an instant
    /// when the last host has come to it, an interval when all have sent theirs.
    ///
    /// # Errors
    /// When a host is lost, or cannot load. The others have ended their load then.
    pub fn load(
        &mut self,
        spec: &LoadSpec,
        on_event: &mut dyn FnMut(LoadEvent),
        stop: &AtomicBool,
    ) -> Result<Together, AgentError> {
        let outcome = self.go(spec, on_event, stop);
        if outcome.is_err() {
            self.call_off();
        }
        outcome
    }

    fn go(
        &mut self,
        spec: &LoadSpec,
        on_event: &mut dyn FnMut(LoadEvent),
        stop: &AtomicBool,
    ) -> Result<Together, AgentError> {
        for (index, spec) in self.shares(spec).into_iter().enumerate() {
            let spec = Box::new(spec);
            self.say(index, &Order::Load { spec })?;
        }
        let mut ready = 0;
        while ready < self.agents.len() {
            if let (_, _, Answer::Ready) = self.next(PREPARATION)? {
                ready += 1;
            }
        }
        let offsets = self.offsets(QUESTIONS)?;
        let start = start(&offsets, LEAD);
        for (index, offset) in offsets.iter().enumerate() {
            let at = offset.there(start);
            self.say(index, &Order::Start { at })?;
        }
        on_event(LoadEvent::Phase(Phase::WarmUpStarted));
        let observations = self.watch(on_event, stop)?;
        let mut whole: Option<Observation> = None;
        for observation in &observations {
            match &mut whole {
                Some(whole) => whole.merge(observation),
                None => whole = Some(observation.clone()),
            }
        }
        let hosts = self.agents.iter().zip(observations).zip(&offsets);
        let hosts = hosts.map(|((agent, observation), offset)| GeneratorHost {
            host: agent.host.clone(),
            name: agent.seen.name.clone(),
            machine: agent.seen.machine.clone(),
            clock_error: offset.round_trip / 2,
            observation,
        });
        Ok(Together {
            observation: whole.unwrap_or_default(),
            hosts: hosts.collect(),
        })
    }

    /// Waits until all have observed their share.
    fn watch(
        &mut self,
        on_event: &mut dyn FnMut(LoadEvent),
        stop: &AtomicBool,
    ) -> Result<Vec<Observation>, AgentError> {
        let count = self.agents.len();
        let mut observed: Vec<Option<Observation>> = vec![None; count];
        let mut reached: Vec<(Instant, usize)> = Vec::new();
        let mut intervals = Intervals::default();
        let mut last: Vec<u64> = vec![monotonic_ns(); count];
        let mut stopped = false;
        while observed.iter().any(Option::is_none) {
            if !stopped && stop.load(Ordering::SeqCst) {
                stopped = true;
                for index in 0..count {
                    self.say(index, &Order::Stop)?;
                }
            }
            if let Some(heard) = next(&self.heard, TICK) {
                let (index, at, answer) = self.heard(heard)?;
                last[index] = at;
                match answer {
                    Answer::Reached(instant) => {
                        match reached.iter_mut().find(|(it, _)| *it == instant) {
                            Some((_, hosts)) => *hosts += 1,
                            None => reached.push((instant, 1)),
                        }
                        if reached.contains(&(instant, count)) {
                            on_event(LoadEvent::Phase(match instant {
                                Instant::MeasurementStarted => Phase::MeasurementStarted,
                                Instant::MeasurementEnded => Phase::MeasurementEnded,
                            }));
                        }
                    }
                    Answer::Interval { interval } => {
                        intervals.join(interval, count, &mut |whole| {
                            on_event(LoadEvent::Interval(whole));
                        });
                    }
                    Answer::Observed { observation } => observed[index] = Some(*observation),
                    _ => {}
                }
            }
            let now = monotonic_ns();
            let silent = |at: &u64| Duration::from_nanos(now.saturating_sub(*at)) > SILENCE;
            if let Some(index) = last.iter().position(silent) {
                let silence = format!("nothing was heard of it for {SILENCE:?}");
                return Err(self.agents[index].lost(&silence));
            }
        }
        intervals.flush(&mut |whole| on_event(LoadEvent::Interval(whole)));
        Ok(observed.into_iter().flatten().collect())
    }

    /// How far each agent's clock is from this one's.
    pub(super) fn offsets(&mut self, questions: u32) -> Result<Vec<Offset>, AgentError> {
        let exchanges = self.exchanges(questions)?;
        Ok(exchanges.iter().filter_map(|all| Offset::of(all)).collect())
    }

    /// Asks each agent for its time. All are asked at once, so that it takes no longer with many.
    pub(super) fn exchanges(&mut self, questions: u32) -> Result<Vec<Vec<Exchange>>, AgentError> {
        let count = self.agents.len();
        let mut exchanges = vec![Vec::new(); count];
        for nth in 0..questions {
            let mut asked = vec![0; count];
            for (index, asked) in asked.iter_mut().enumerate() {
                *asked = monotonic_ns();
                self.say(index, &Order::Clock { nth })?;
            }
            let mut missing = count;
            while missing > 0 {
                let (index, heard, answer) = self.next(SILENCE)?;
                if let Answer::Clock { nth: of, at } = answer
                    && of == nth
                {
                    missing -= 1;
                    exchanges[index].push(Exchange {
                        asked: asked[index],
                        answered: at,
                        heard,
                    });
                }
            }
        }
        Ok(exchanges)
    }

    /// Each agent's share of a load.
    pub(super) fn shares(&self, spec: &LoadSpec) -> Vec<LoadSpec> {
        let of = self.agents.len() as u32;
        let share = |index| LoadSpec {
            share: Share::new(index, of).unwrap_or_default(),
            ..spec.clone()
        };
        (0..of).map(share).collect()
    }

    pub(super) fn say(&mut self, index: usize, order: &Order) -> Result<(), AgentError> {
        let said = self.agents[index].say(order);
        said.map_err(|error| self.agents[index].lost(&FrameError::from(error)))
    }

    /// The next answer of any agent.
    pub(super) fn next(&mut self, wait: Duration) -> Result<(usize, u64, Answer), AgentError> {
        let heard = self.next_within(wait)?;
        heard.ok_or_else(|| self.silent(wait))
    }

    /// The next answer of any agent, if one comes in time.
    pub(super) fn next_within(
        &mut self,
        wait: Duration,
    ) -> Result<Option<(usize, u64, Answer)>, AgentError> {
        let heard = next(&self.heard, wait);
        heard.map(|heard| self.heard(heard)).transpose()
    }

    /// That nothing was heard for so long.
    pub(super) fn silent(&self, wait: Duration) -> AgentError {
        let hosts: Vec<&str> = self.agents.iter().map(|it| it.host.as_str()).collect();
        AgentError::new(&hosts.join(", "), format!("nothing was heard for {wait:?}"))
    }

    /// What was heard; who refuses what was asked ends that as well as who is lost.
    fn heard(&mut self, heard: Heard) -> Result<(usize, u64, Answer), AgentError> {
        match heard.answer {
            Ok(Answer::Refused { why }) => {
                Err(AgentError::new(&self.agents[heard.agent].host, why))
            }
            Ok(answer) => Ok((heard.agent, heard.at, answer)),
            Err(error) => Err(self.agents[heard.agent].lost(&error)),
        }
    }

    /// Has all end their load, and waits a moment for that.
    fn call_off(&mut self) {
        for agent in &self.agents {
            // Who is lost cannot be told.
            let _ = agent.say(&Order::Stop);
        }
        let end = monotonic_ns() + LEFTOVERS.as_nanos() as u64;
        let mut at_work = self.agents.len();
        while at_work > 0 && monotonic_ns() < end {
            let answer = next(&self.heard, TICK).map(|heard| heard.answer);
            if let Some(Ok(Answer::Observed { .. } | Answer::Refused { .. }) | Err(_)) = answer {
                at_work -= 1;
            }
        }
    }
}

/// When a load begins, by this clock: so far ahead, and a few round trips more.
pub(super) fn start(offsets: &[Offset], ahead: Duration) -> u64 {
    let slowest = offsets.iter().map(|offset| offset.round_trip).max();
    let lead = ahead + 4 * slowest.unwrap_or_default();
    monotonic_ns() + lead.as_nanos() as u64
}

/// Joins what the hosts saw in each interval.
#[derive(Default)]
struct Intervals(BTreeMap<u64, (usize, Box<Interval>)>);

impl Intervals {
    /// Takes in one of `hosts` parts; `on_interval` gets what is whole now, in order.
    fn join(
        &mut self,
        part: Box<Interval>,
        hosts: usize,
        on_interval: &mut dyn FnMut(Box<Interval>),
    ) {
        match self.0.get_mut(&part.index) {
            Some((there, whole)) => {
                whole.merge(&part);
                *there += 1;
            }
            None => {
                self.0.insert(part.index, (1, part));
            }
        }
        while let Some(first) = self.0.first_entry() {
            if first.get().0 < hosts {
                return;
            }
            on_interval(first.remove().1);
        }
    }

    /// No host goes on: what is there is all there is.
    fn flush(&mut self, on_interval: &mut dyn FnMut(Box<Interval>)) {
        while let Some((_, (_, whole))) = self.0.pop_first() {
            on_interval(whole);
        }
    }
}
