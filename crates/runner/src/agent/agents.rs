//! A load from several hosts. Each generates its share, and all start at the same time.

use std::{
    collections::BTreeMap,
    sync::{
        atomic::AtomicBool,
        mpsc::{self, Receiver},
    },
    thread,
    time::Duration,
};

use deadheat_load::LoadEvent;
use deadheat_model::{
    LoadSpec, Observation, SliceEvent,
    interval::IntervalJoiner,
    load::Share,
    machine::{HostRecord, HostRole},
    record::GeneratorHost,
};

use super::{
    frame::FrameError,
    launcher::{Binary, Launcher},
    message::{AgentMessage, Order},
    monotonic_ns,
    patience::{Deadline, Patience},
    plausible::{ExpectedLoad, check_interval},
    remote::{Agent, AgentError, ReceivedMessage},
};

/// The number of clock queries per agent. The one with the shortest round trip counts.
const QUESTIONS: u32 = 16;
/// The minimum time from ordering a load to its start, so that every agent has received the order before.
const LEAD: Duration = Duration::from_millis(50);
/// The interval at which a stop request is checked.
pub(super) const TICK: Duration = Duration::from_millis(10);
/// The maximum number of queued answers of all agents. Further answers wait in their pipes, because some are large.
const MAX_WAITING: usize = 1;

/// The hosts of a load.
pub struct Agents {
    pub(super) agents: Vec<Agent>,
    heard: Receiver<ReceivedMessage>,
    pub(super) patience: Patience,
    /// The number of loads in slices opened so far.
    pub(super) opened: u32,
    /// The expected results of the open loads, by number.
    pub(super) open: BTreeMap<u32, ExpectedLoad>,
    /// The recent delay of hosts in starting a slice.
    pub(super) late: Duration,
}

impl Agents {
    /// Starts an agent on each of `hosts`, all at the same time, unless `stop` is set meanwhile.
    ///
    /// # Errors
    /// The first host, in the given order, on which no agent could be started.
    pub fn launch(
        hosts: &[String],
        launcher: &Launcher,
        binary: &Binary,
        stop: &AtomicBool,
    ) -> Result<Self, AgentError> {
        Self::launch_with(hosts, launcher, binary, Patience::USUAL, stop)
    }

    pub(super) fn launch_with(
        hosts: &[String],
        launcher: &Launcher,
        binary: &Binary,
        patience: Patience,
        stop: &AtomicBool,
    ) -> Result<Self, AgentError> {
        let (sender, heard) = mpsc::sync_channel(MAX_WAITING);
        let agents = thread::scope(|scope| {
            let launches: Vec<_> = hosts
                .iter()
                .enumerate()
                .map(|(index, host)| {
                    let sender = sender.clone();
                    scope.spawn(move || {
                        Agent::launch(host, index, launcher, binary, sender, patience, stop)
                    })
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
            patience,
            opened: 0,
            open: BTreeMap::new(),
            late: Duration::ZERO,
        })
    }

    /// The records of the hosts, which all have this role.
    ///
    /// # Errors
    /// When an agent is lost.
    pub fn describe(
        &mut self,
        role: HostRole,
        stop: &AtomicBool,
    ) -> Result<Vec<HostRecord>, AgentError> {
        let offsets = self.offsets(QUESTIONS, stop)?;
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

    /// Runs the load `spec`, each host with its share. Returns the merged results, and those of each host. `on_event`
    /// gets the events of [`deadheat_load::run`]: an instant when the last host has reached it, an interval when all
    /// hosts have sent theirs.
    ///
    /// # Errors
    /// When a host is lost or cannot run the load. The other hosts have stopped their load then.
    pub fn load(
        &mut self,
        spec: &LoadSpec,
        on_event: &mut dyn FnMut(LoadEvent),
        stop: &AtomicBool,
    ) -> Result<(Observation, Vec<GeneratorHost>), AgentError> {
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
    ) -> Result<(Observation, Vec<GeneratorHost>), AgentError> {
        for (index, spec) in self.shares(spec).into_iter().enumerate() {
            let spec = Box::new(spec);
            self.say(index, &Order::Load { spec })?;
        }
        let mut asked = Pending::all(self, Some(self.patience.preparation), stop);
        while asked.is_pending() {
            if let Some((index, _, answer)) = self.next(&mut asked)? {
                match answer {
                    AgentMessage::Ready if asked.is_done(index) => {}
                    other => return Err(self.agents[index].unexpected(&other)),
                }
            }
        }
        let offsets = self.offsets(QUESTIONS, stop)?;
        let start = start(&offsets, LEAD);
        for (index, offset) in offsets.iter().enumerate() {
            let at = offset.remote_time(start);
            self.say(index, &Order::Start { at })?;
        }
        on_event(LoadEvent::Started);
        let observations = self.watch(spec, start, on_event, stop)?;
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
        Ok((whole.unwrap_or_default(), hosts.collect()))
    }

    /// Waits for the results of all hosts for a load that starts at `start`.
    fn watch(
        &mut self,
        spec: &LoadSpec,
        start: u64,
        on_event: &mut dyn FnMut(LoadEvent),
        stop: &AtomicBool,
    ) -> Result<Vec<Observation>, AgentError> {
        let count = self.agents.len();
        let asked = ExpectedLoad::of_load(spec);
        let longest = asked
            .longest
            .map(|longest| longest.saturating_add(self.patience.grace));
        let mut pending = Pending::all(self, longest, stop);
        let mut observed: Vec<Option<Observation>> = vec![None; count];
        let mut reached = [
            (0, SliceEvent::CountingStarted),
            (0, SliceEvent::CountingEnded),
        ];
        let mut reached_by = vec![0; count];
        let mut intervals = IntervalJoiner::new(count);
        // The number of intervals that each host has sent, and the time of the last one.
        let mut told = vec![(0, start); count];
        while pending.is_pending() {
            if pending.deadline.stops_now() {
                for index in 0..count {
                    self.say(index, &Order::Stop)?;
                }
            }
            if let Some((index, at, answer)) = self.next(&mut pending)? {
                let since_start = Duration::from_nanos(at.saturating_sub(start));
                match answer {
                    AgentMessage::Reached(instant)
                        if reached
                            .get(reached_by[index])
                            .is_some_and(|it| it.1 == instant) =>
                    {
                        let (hosts, _) = &mut reached[reached_by[index]];
                        reached_by[index] += 1;
                        *hosts += 1;
                        if *hosts == count {
                            on_event(LoadEvent::Slice(instant));
                        }
                    }
                    AgentMessage::Interval { interval } => {
                        let (next, last) = &mut told[index];
                        let host = &self.agents[index].host;
                        check_interval(host, &interval, spec.interval, *next, since_start)?;
                        (*next, *last) = (interval.index + 1, at);
                        intervals.join(index, &interval, &mut |whole| {
                            on_event(LoadEvent::Interval(whole));
                        });
                    }
                    AgentMessage::Observed { observation } if pending.is_done(index) => {
                        asked.check(&self.agents[index].host, &observation, since_start)?;
                        observed[index] = Some(*observation);
                        intervals.end(index, &mut |whole| on_event(LoadEvent::Interval(whole)));
                    }
                    other => return Err(self.agents[index].unexpected(&other)),
                }
            }
            // An agent that sends heartbeats but no intervals is lost as well.
            if let Some(interval) = spec.interval {
                let now = monotonic_ns();
                let patience = interval + self.patience.grace;
                let is_stuck = |index: &usize| {
                    let (_, last) = told[*index];
                    Duration::from_nanos(now.saturating_sub(last)) > patience
                };
                if let Some(index) = pending.hosts().find(is_stuck) {
                    let why = format!("its load has told nothing for {patience:?}");
                    return Err(AgentError::new(&self.agents[index].host, why));
                }
            }
        }
        intervals.flush(&mut |whole| on_event(LoadEvent::Interval(whole)));
        Ok(observed.into_iter().flatten().collect())
    }

    /// The offset of each agent's clock.
    pub(super) fn offsets(
        &mut self,
        questions: u32,
        stop: &AtomicBool,
    ) -> Result<Vec<ClockOffset>, AgentError> {
        let exchanges = self.exchanges(questions, stop)?;
        Ok(exchanges
            .iter()
            .filter_map(|all| ClockOffset::new(all))
            .collect())
    }

    /// Queries the clock of each agent, of all agents in parallel.
    pub(super) fn exchanges(
        &mut self,
        questions: u32,
        stop: &AtomicBool,
    ) -> Result<Vec<Vec<ClockExchange>>, AgentError> {
        let count = self.agents.len();
        let mut exchanges = vec![Vec::new(); count];
        for nth in 0..questions {
            let mut asked = vec![0; count];
            for (index, asked) in asked.iter_mut().enumerate() {
                *asked = monotonic_ns();
                self.say(index, &Order::Clock { nth })?;
            }
            let mut pending = Pending::all(self, Some(self.patience.question), stop);
            while pending.is_pending() {
                match self.next(&mut pending)? {
                    Some((index, heard, AgentMessage::Clock { nth: of, at }))
                        if of == nth && pending.is_done(index) =>
                    {
                        exchanges[index].push(ClockExchange {
                            asked: asked[index],
                            answered: at,
                            heard,
                        });
                    }
                    Some((index, _, other)) => return Err(self.agents[index].unexpected(&other)),
                    None => {}
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

    /// The next answer of any agent; `None` if none arrives within [`TICK`].
    ///
    /// # Errors
    /// When an agent refuses an order, is lost, or has not finished in time.
    pub(super) fn next(
        &mut self,
        pending: &mut Pending<'_>,
    ) -> Result<Option<(usize, u64, AgentMessage)>, AgentError> {
        pending.deadline.look();
        if let Some(why) = pending.deadline.is_over() {
            let hosts: Vec<&str> = pending
                .hosts()
                .map(|it| self.agents[it].host.as_str())
                .collect();
            return Err(AgentError::new(&hosts.join(", "), why));
        }
        let heard = self.next_within(TICK)?;
        if heard.is_none() {
            self.check_pulse(pending.hosts())?;
        }
        Ok(heard)
    }

    /// The next answer of any agent; `None` if none arrives within `wait`.
    pub(super) fn next_within(
        &mut self,
        wait: Duration,
    ) -> Result<Option<(usize, u64, AgentMessage)>, AgentError> {
        match self.heard.recv_timeout(wait) {
            Ok(heard) => self.heard(heard).map(Some),
            Err(_) => Ok(None),
        }
    }

    /// Checks that each of these agents has sent a message recently, at least a heartbeat.
    pub(super) fn check_pulse(
        &mut self,
        mut hosts: impl Iterator<Item = usize>,
    ) -> Result<(), AgentError> {
        let patience = self.patience.silence;
        let silent = hosts.find(|index| self.agents[*index].silent() > patience);
        let Some(index) = silent else { return Ok(()) };
        let silence = format!("nothing was heard of it for {patience:?}");
        Err(self.agents[index].lost(&silence))
    }

    /// Unpacks a message. A refusal and a lost agent are both errors.
    fn heard(&mut self, heard: ReceivedMessage) -> Result<(usize, u64, AgentMessage), AgentError> {
        match heard.answer {
            Ok(AgentMessage::Refused { why }) => {
                Err(AgentError::new(&self.agents[heard.agent].host, why))
            }
            Ok(answer) => Ok((heard.agent, heard.at, answer)),
            Err(error) => Err(self.agents[heard.agent].lost(&error)),
        }
    }

    /// Stops the load on all hosts, and waits for that briefly.
    fn call_off(&mut self) {
        for agent in &self.agents {
            // An order to a lost agent fails, which does not matter.
            let _ = agent.say(&Order::Stop);
        }
        let end = std::time::Instant::now() + self.patience.farewell;
        let mut at_work = self.agents.len();
        while at_work > 0 && std::time::Instant::now() < end {
            let answer = self.heard.recv_timeout(TICK).map(|heard| heard.answer);
            if let Ok(Ok(AgentMessage::Observed { .. } | AgentMessage::Refused { .. }) | Err(_)) =
                answer
            {
                at_work -= 1;
            }
        }
    }
}

impl Drop for Agents {
    fn drop(&mut self) {
        // Order all agents to exit before waiting for any.
        for agent in &mut self.agents {
            agent.send_exit();
        }
    }
}

/// The agents that have not finished an order, and their deadline.
pub(super) struct Pending<'a> {
    is_pending: Vec<bool>,
    pub(super) deadline: Deadline<'a>,
}

impl<'a> Pending<'a> {
    /// All agents as unfinished.
    pub(super) fn all(agents: &Agents, length: Option<Duration>, stop: &'a AtomicBool) -> Self {
        Self {
            is_pending: vec![true; agents.agents.len()],
            deadline: Deadline::within(length, &agents.patience, stop),
        }
    }

    /// Whether any agent is unfinished.
    pub(super) fn is_pending(&self) -> bool {
        self.hosts().next().is_some()
    }

    /// Marks an agent as finished. Returns whether it was unfinished.
    pub(super) fn is_done(&mut self, index: usize) -> bool {
        std::mem::replace(&mut self.is_pending[index], false)
    }

    /// The indices of the unfinished agents.
    pub(super) fn hosts(&self) -> impl Iterator<Item = usize> {
        let all = self.is_pending.iter().enumerate();
        all.filter_map(|(index, is_pending)| is_pending.then_some(index))
    }
}

/// The start time of a load by this clock, in nanoseconds: after `ahead` and a few round trips.
pub(super) fn start(offsets: &[ClockOffset], ahead: Duration) -> u64 {
    let slowest = offsets.iter().map(|offset| offset.round_trip).max();
    let lead = ahead + 4 * slowest.unwrap_or_default();
    monotonic_ns() + lead.as_nanos() as u64
}

/// A query of the remote clock, in nanoseconds. `asked` and `heard` are by this clock, `answered` is by the remote one.
#[derive(Clone, Copy, Debug)]
pub(super) struct ClockExchange {
    pub(super) asked: u64,
    pub(super) answered: u64,
    pub(super) heard: u64,
}

/// The offset of a remote clock, from the quickest of several exchanges. The answer was sent at some time between the
/// request and its arrival, so a quick exchange bounds the offset best (Cristian, "Probabilistic clock
/// synchronization", 1989).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ClockOffset {
    /// The remote clock minus this one, in nanoseconds.
    nanoseconds: i128,
    /// The time of the measurement by this clock, in nanoseconds.
    at: i128,
    /// The quickest round trip. The offset is right within half of it.
    pub(super) round_trip: Duration,
}

impl ClockOffset {
    pub(super) fn new(exchanges: &[ClockExchange]) -> Option<Self> {
        let trip = |it: &ClockExchange| it.heard.saturating_sub(it.asked);
        let best = exchanges.iter().min_by_key(|it| trip(it))?;
        let middle = (i128::from(best.asked) + i128::from(best.heard)) / 2;
        Some(Self {
            nanoseconds: i128::from(best.answered) - middle,
            at: middle,
            round_trip: Duration::from_nanos(trip(best)),
        })
    }

    /// Converts a time of this clock to the remote clock, in nanoseconds.
    pub(super) fn remote_time(&self, here: u64) -> u64 {
        u64::try_from(i128::from(here) + self.nanoseconds).unwrap_or(0)
    }

    /// The drift of the remote clock since `earlier`, and its maximum error, in parts per million. A positive drift
    /// means that the remote clock is faster.
    pub(super) fn drift_since(&self, earlier: &Self) -> (f64, f64) {
        let parts = 1e6 / (self.at - earlier.at).max(1) as f64;
        let error = (self.round_trip + earlier.round_trip).as_nanos() as f64 / 2.0;
        let apart = (self.nanoseconds - earlier.nanoseconds) as f64;
        (apart * parts, error * parts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_quickest_exchange_decides_and_its_half_bounds_the_error() {
        let truth = 5_000_000_000_i128;
        let exchange = |asked: u64, out: u64, back: u64| ClockExchange {
            asked,
            answered: (i128::from(asked + out) + truth) as u64,
            heard: asked + out + back,
        };
        let offset = ClockOffset::new(&[
            exchange(1_000, 900, 100_000),
            exchange(200_000, 70, 30),
            exchange(400_000, 5_000, 90),
        ]);
        let offset = offset.unwrap();
        assert_eq!(offset.round_trip, Duration::from_nanos(100));
        assert!((offset.nanoseconds - truth).abs() <= 50);
        assert!(offset.remote_time(1_000).abs_diff(5_000_001_000) <= 50);
        assert_eq!(ClockOffset::new(&[]), None);
    }

    #[test]
    fn drift_is_what_offsets_grew_by_within_half_of_both_round_trips() {
        let at = |here: u64, there: u64, trip: u64| {
            let exchange = ClockExchange {
                asked: here,
                answered: there + trip / 2,
                heard: here + trip,
            };
            ClockOffset::new(&[exchange]).unwrap()
        };
        // One second, in which the remote clock advanced 600 µs more.
        let earlier = at(1_000_000_000, 5_000_000_000, 20_000);
        let later = at(2_000_000_000, 6_000_600_000, 20_000);
        let (drift, error) = later.drift_since(&earlier);
        assert!((drift - 600.0).abs() < 0.1, "{drift}");
        assert!((error - 20.0).abs() < 0.1, "{error}");
    }

    #[test]
    fn the_other_clock_may_be_behind() {
        let exchange = ClockExchange {
            asked: 10_000,
            answered: 4_000,
            heard: 12_000,
        };
        let offset = ClockOffset::new(&[exchange]).unwrap();
        assert_eq!(offset.remote_time(11_000), 4_000);
        assert_eq!(offset.remote_time(0), 0);
    }
}
