//! What the live view knows: a plain value, fed by events. It neither draws nor looks at a clock.

use std::time::Duration;

use deadheat_load::LoadEvent;
use deadheat_model::{
    FailureCounts, Interval, LatencyHistogram, LoadPhase, LoadSpec, Schedule, SliceEvent, StopRule,
};

use super::series::Series;

/// An open loop is behind when less of what it offered ends in an interval, and requests wait.
const KEEPS_UP: f64 = 0.98;

/// What is known of a load that goes on.
#[derive(Debug)]
pub(super) struct Model {
    /// What is loaded, a URL.
    pub(super) target: String,
    /// Whether it is an open loop.
    pub(super) open: bool,
    /// Connections at its start.
    pub(super) connections: u32,
    pub(super) warm_up: Duration,
    pub(super) stop: StopRule,
    /// How long what is in flight at the end is waited for.
    pub(super) cool_down: Duration,
    /// `None`: nothing has been sent yet.
    pub(super) phase: Option<LoadPhase>,
    /// The end of the last interval, since the load's start.
    pub(super) elapsed: Duration,
    /// The last interval.
    pub(super) latest: Option<Interval>,
    /// The warm-up until the measurement begins, then the measurement.
    pub(super) so_far: SoFar,
    /// All intervals.
    pub(super) series: Series,
}

/// Sums over the intervals of a phase.
#[derive(Debug, Default)]
pub(super) struct SoFar {
    pub(super) phase: LoadPhase,
    pub(super) length: Duration,
    pub(super) succeeded: u64,
    pub(super) failed: FailureCounts,
    pub(super) offered: u64,
    pub(super) service_time: LatencyHistogram,
    pub(super) response_time: LatencyHistogram,
}

impl SoFar {
    fn begin(&mut self, phase: LoadPhase) {
        self.phase = phase;
        self.length = Duration::ZERO;
        (self.succeeded, self.offered) = (0, 0);
        self.failed = FailureCounts::default();
        self.service_time.clear();
        self.response_time.clear();
    }

    fn add(&mut self, interval: &Interval) {
        self.length += interval.length();
        self.succeeded += interval.succeeded;
        self.failed.merge(&interval.failed);
        self.offered += interval.offered;
        self.service_time.merge(&interval.service_time);
        if let Some(response_time) = &interval.response_time {
            self.response_time.merge(response_time);
        }
    }

    /// Verified answers per second.
    pub(super) fn throughput(&self) -> f64 {
        per_second(self.succeeded, self.length)
    }

    /// Requests that ended.
    pub(super) fn ended(&self) -> u64 {
        self.succeeded + self.failed.total()
    }

    /// Failed requests as a share of those that ended, 0 to 1.
    pub(super) fn failed_share(&self) -> f64 {
        match self.ended() {
            0 => 0.0,
            ended => self.failed.total() as f64 / ended as f64,
        }
    }
}

impl Model {
    /// A load of `target` as `spec` says, of which nothing has happened yet.
    pub(super) fn new(spec: &LoadSpec, target: &str) -> Self {
        let (Schedule::Closed { connections, .. } | Schedule::Open { connections, .. }) =
            spec.schedule;
        Self {
            target: target.to_owned(),
            open: spec.schedule.is_open(),
            connections,
            warm_up: spec.warm_up,
            stop: spec.stop,
            cool_down: spec.timeouts.cool_down,
            phase: None,
            elapsed: Duration::ZERO,
            latest: None,
            so_far: SoFar::default(),
            series: Series::default(),
        }
    }

    /// Takes an event.
    pub(super) fn on(&mut self, event: &LoadEvent) {
        match event {
            LoadEvent::Started => self.enter(LoadPhase::WarmUp),
            LoadEvent::Slice(SliceEvent::CountingStarted) => self.enter(LoadPhase::Measurement),
            LoadEvent::Slice(SliceEvent::CountingEnded) => self.enter(LoadPhase::CoolDown),
            LoadEvent::Slice(SliceEvent::Drained) => {}
            LoadEvent::Interval(interval) => self.add(interval),
        }
    }

    fn enter(&mut self, phase: LoadPhase) {
        self.phase = self.phase.max(Some(phase));
        // The cool-down belongs to no figure: those of the measurement stay.
        if phase == LoadPhase::Measurement && self.so_far.phase < phase {
            self.so_far.begin(phase);
        }
    }

    fn add(&mut self, interval: &Interval) {
        // An interval is told when it is over: the phase that follows it can have been told before.
        self.enter(interval.phase);
        self.elapsed = self.elapsed.max(interval.until);
        if interval.phase == self.so_far.phase {
            self.so_far.add(interval);
        }
        self.series.push(interval);
        self.latest = Some(interval.clone());
    }

    /// How much of the load is done, 0 to 1; `None` where only an interrupt ends it.
    pub(super) fn done(&self) -> Option<f64> {
        if self.phase == Some(LoadPhase::CoolDown) {
            return Some(1.0);
        }
        let share = match self.stop {
            StopRule::Duration { .. } => {
                let whole = self.planned_length()?.as_secs_f64();
                self.elapsed.as_secs_f64() / whole.max(f64::MIN_POSITIVE)
            }
            StopRule::Count { requests } => match self.so_far.phase {
                LoadPhase::WarmUp if !self.warm_up.is_zero() => 0.0,
                _ => self.so_far.ended() as f64 / requests.max(1) as f64,
            },
            StopRule::Interrupt => return None,
        };
        Some(share.clamp(0.0, 1.0))
    }

    /// Warm-up and measurement together, where it is known how long they are.
    pub(super) fn planned_length(&self) -> Option<Duration> {
        match self.stop {
            StopRule::Duration { length } => Some(self.warm_up + length),
            StopRule::Count { .. } | StopRule::Interrupt => None,
        }
    }

    /// Whether an open loop does not get done what it offers.
    pub(super) fn is_behind(&self) -> bool {
        let Some(latest) = &self.latest else {
            return false;
        };
        let ended = latest.succeeded + latest.failed.total();
        self.open && latest.waiting > 0 && (ended as f64) < KEEPS_UP * latest.offered as f64
    }
}

/// So many in a time, per second; nothing in no time.
pub(super) fn per_second(count: u64, length: Duration) -> f64 {
    match length {
        Duration::ZERO => 0.0,
        length => count as f64 / length.as_secs_f64(),
    }
}
