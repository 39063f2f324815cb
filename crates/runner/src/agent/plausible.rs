//! What can be true of what an agent says it saw of a load, by what it was asked for and by this process's clock.

use std::time::Duration;

use deadheat_model::{Interval, LoadSpec, Observation, Schedule, StopRule};

use super::remote::AgentError;

/// How much more time a host may say has passed, for clocks and for its way here.
const SLACK: Duration = Duration::from_secs(5);
/// Phases of a load, each of which ends an interval: as many more than time alone makes.
const PHASES: u64 = 4;
/// The most kinds of failures and examples that one host tells of.
const MAX_FAILURES: usize = 100_000;

/// What was asked for.
#[derive(Clone, Copy, Debug)]
pub(super) struct ExpectedLoad {
    groups: usize,
    routes: usize,
    workers: usize,
    bin: Duration,
    drain: Duration,
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
        let drain = spec.timeouts.drain;
        let around = spec.warm_up + spec.timeouts.connect + drain;
        Self {
            groups: spec.exchanges.len(),
            routes: spec.routes().count(),
            workers: spec.workers().len(),
            bin: spec.bin,
            drain,
            longest: measurement.map(|length| length.saturating_add(around)),
        }
    }

    /// The longest that a slice of this load can take from its start.
    pub(super) fn longest_slice(&self, guard: Duration, length: Duration) -> Duration {
        guard + length + self.drain
    }

    /// Checks what `host` has seen within `passed`.
    ///
    /// # Errors
    /// What cannot be.
    pub(super) fn check(
        &self,
        host: &str,
        seen: &Observation,
        passed: Duration,
    ) -> Result<(), AgentError> {
        let refuse = |why: String| Err(AgentError::new(host, why));
        let passed = passed + SLACK;
        let (window, bin) = (seen.window, seen.bin);
        if window > passed {
            return refuse(format!(
                "it reports a measurement of {window:?}, within {passed:?}"
            ));
        }
        if !seen.bins.is_empty() && bin < self.bin {
            let asked = self.bin;
            return refuse(format!("it counts in bins of {bin:?}, not of {asked:?}"));
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
            ("failures", seen.failures.len(), MAX_FAILURES),
            ("examples", seen.examples.len(), MAX_FAILURES),
        ];
        match counts.into_iter().find(|(_, count, most)| count > most) {
            Some((what, count, most)) => refuse(format!(
                "it tells of {count} {what}, where there can be {most}"
            )),
            None => Ok(()),
        }
    }
}

/// Checks an interval of `host` that came when so much time had `passed` since the load's start. `next` is the first place
/// that the host has not told of.
///
/// # Errors
/// What cannot be.
pub(super) fn check_interval(
    host: &str,
    interval: &Interval,
    asked: Option<Duration>,
    next: u64,
    passed: Duration,
) -> Result<(), AgentError> {
    let refuse = |why: String| Err(AgentError::new(host, why));
    let Some(length) = asked else {
        return refuse("it tells of an interval, which was not asked for".to_owned());
    };
    let passed = passed + SLACK;
    let most = passed.as_nanos() / length.as_nanos().max(1);
    let most = u64::try_from(most)
        .unwrap_or(u64::MAX)
        .saturating_add(PHASES);
    let index = interval.index;
    if index < next || index > most {
        return refuse(format!(
            "it tells of interval {index}, where there can be {next} to {most}"
        ));
    }
    if interval.from > interval.until || interval.until > passed {
        return refuse(format!(
            "it tells of an interval from {:?} to {:?}, within {passed:?}",
            interval.from, interval.until
        ));
    }
    Ok(())
}

/// The maximum time of this many requests, each with its maximum time.
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
