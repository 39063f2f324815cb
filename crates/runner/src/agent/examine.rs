//! The coordinator's side of an examination: hosts are asked one by one, so that one that is lost takes no other with it.

use std::{
    sync::atomic::AtomicBool,
    time::{Duration, Instant},
};

use super::{
    agents::{Agents, ClockExchange, ClockOffset, Pending},
    launcher::{Binary, Launcher},
    message::{AgentMessage, Order},
    remote::AgentError,
};
use crate::doctor::{Clocks, Examination, Trips};

/// Questions for the time before others are watched, and as many after that.
const QUESTIONS: u32 = 100;
/// As many at a time.
const AT_A_TIME: u32 = 10;
/// They end after this, however few there were.
const LONGEST_QUESTIONS: Duration = Duration::from_secs(1);
/// Ctrl-C ends this process at once, and the agents with it.
static NEVER: AtomicBool = AtomicBool::new(false);

/// A host that is to be examined.
pub struct Examinee(Agents);

/// What was found on a host.
#[derive(Clone, Debug)]
pub struct Examined {
    /// What it calls itself.
    pub name: String,
    /// Its machine.
    pub examination: Examination,
    /// Its clock and this one's.
    pub clocks: Clocks,
}

impl Examinee {
    /// Starts an agent on `host`.
    ///
    /// # Errors
    /// When it cannot be reached.
    pub fn reach(host: &str, launcher: &Launcher, binary: &Binary) -> Result<Self, AgentError> {
        Agents::launch(&[host.to_owned()], launcher, binary, &NEVER).map(Self)
    }

    #[cfg(test)]
    pub(super) fn new(agents: Agents) -> Self {
        Self(agents)
    }

    /// Examines its machine, with other programs watched for `watch`, for at most `connections`; and its clock, before
    /// and after that.
    ///
    /// # Errors
    /// When it is lost.
    pub fn examine(&mut self, watch: Duration, connections: u32) -> Result<Examined, AgentError> {
        let before = self.ask_for_time()?;
        self.0.say(0, &Order::Examine { watch, connections })?;
        let examination = self.wait_for_examination(watch)?;
        let after = self.ask_for_time()?;
        let agent = &self.0.agents[0];
        let clocks = clocks(&before, &after);
        Ok(Examined {
            name: agent.seen.name.clone(),
            examination,
            clocks: clocks
                .ok_or_else(|| AgentError::new(&agent.host, "it does not know the time"))?,
        })
    }

    fn ask_for_time(&mut self) -> Result<Vec<ClockExchange>, AgentError> {
        let start = Instant::now();
        let mut all = Vec::new();
        while all.len() < QUESTIONS as usize && start.elapsed() < LONGEST_QUESTIONS {
            all.extend(self.0.exchanges(AT_A_TIME, &NEVER)?.into_iter().flatten());
        }
        Ok(all)
    }

    fn wait_for_examination(&mut self, watch: Duration) -> Result<Examination, AgentError> {
        let longest = watch + self.0.patience.grace;
        let mut pending = Pending::all(&self.0, Some(longest), &NEVER);
        loop {
            match self.0.next(&mut pending)? {
                Some((_, _, AgentMessage::Examined(examination))) => return Ok(*examination),
                Some((index, _, other)) => return Err(self.0.agents[index].unexpected(&other)),
                None => {}
            }
        }
    }
}

fn clocks(before: &[ClockExchange], after: &[ClockExchange]) -> Option<Clocks> {
    let (drift_ppm, drift_error_ppm) =
        ClockOffset::new(after)?.drift_since(&ClockOffset::new(before)?);
    let all = before.iter().chain(after);
    let trips = all.map(|it| Duration::from_nanos(it.heard.saturating_sub(it.asked)));
    Some(Clocks {
        trips: Trips::new(trips.collect())?,
        drift_ppm,
        drift_error_ppm,
    })
}
