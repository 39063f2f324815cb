//! Where a slice is in time.

use crate::{deadlines::NEVER, schedule::Timeline};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    WarmUp,
    Measuring,
    /// Nothing is issued any more; what is in flight may end.
    CoolDown,
    /// The slice is over, or none has begun.
    Over,
}

/// The last reading of the clock, and the edges that come next.
#[derive(Debug)]
pub(super) struct Clock {
    pub(super) now: u64,
    pub(super) phase: Phase,
    pub(super) timeline: Timeline,
    /// When the next phase begins.
    phase_edge: u64,
    /// When the interval ends.
    interval_edge: u64,
    /// The earlier one.
    edge: u64,
    interval: u64,
    cool_down: u64,
}

impl Clock {
    /// A clock for intervals of so many nanoseconds and a cool-down of at most so many.
    pub(super) fn new(interval: u64, cool_down: u64) -> Self {
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
            cool_down,
        }
    }

    /// A slice begins.
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

    /// The edge that has come, if one has.
    #[inline]
    pub(super) fn reached(&self) -> Option<u64> {
        (self.now >= self.edge && self.phase != Phase::Over).then_some(self.edge)
    }

    /// Whether the phase ends at `at`.
    pub(super) fn is_phase_edge(&self, at: u64) -> bool {
        at == self.phase_edge
    }

    /// Goes past the edge at `at`.
    pub(super) fn pass(&mut self, at: u64) {
        if self.is_phase_edge(at) {
            (self.phase, self.phase_edge) = match self.phase {
                Phase::WarmUp => (Phase::Measuring, self.timeline.measure_until),
                Phase::Measuring => (Phase::CoolDown, at.saturating_add(self.cool_down)),
                Phase::CoolDown | Phase::Over => (Phase::Over, NEVER),
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

    /// Whether a request that is due at `intended` is one of the measurement.
    pub(super) fn counts(&self, intended: u64) -> bool {
        (self.timeline.measure_from..self.timeline.measure_until).contains(&intended)
    }
}
