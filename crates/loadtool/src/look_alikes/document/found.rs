//! What the tools' figures are made from, counted as they count.

use std::time::Duration;

use deadheat_model::{Failure, LatencyHistogram, LoadRecord, Observation};

/// What the tools' figures are made from.
pub(super) struct ToolFigures<'a> {
    pub(super) observation: &'a Observation,
    /// How long answers took; from the start of connecting, where each request has a connection of its own.
    pub(super) times: &'a LatencyHistogram,
}

/// The cause of a redirect that could not be followed for want of a Location.
const NO_LOCATION: &str = "it has no Location";

impl<'a> ToolFigures<'a> {
    pub(super) fn new(record: &'a LoadRecord) -> Self {
        let observation = &record.observation;
        let with_connect = observation.service_time_with_connect.as_ref();
        Self {
            observation,
            times: with_connect.unwrap_or(&observation.service_time),
        }
    }

    /// Whole answers, of any status and content.
    pub(super) fn answers(&self) -> u64 {
        self.observation.statuses.values().sum()
    }

    /// Whole answers whose status is not one of these.
    pub(super) fn answers_outside(&self, statuses: std::ops::Range<u16>) -> u64 {
        let all = self.observation.statuses.iter();
        let outside = all.filter(|(status, _)| !statuses.contains(*status));
        outside.map(|(_, count)| count).sum()
    }

    /// Requests that failed in one of these ways.
    pub(super) fn failed(&self, kinds: &[Failure]) -> u64 {
        let failed = &self.observation.measured.failed;
        kinds.iter().map(|kind| failed[*kind]).sum()
    }

    /// Requests that no whole answer came to, by what happened.
    pub(super) fn errors(&self) -> Vec<(&'static str, u64)> {
        let failed = self.observation.measured.failed.iter();
        let answered = [
            Failure::WrongStatus,
            Failure::WrongLength,
            Failure::WrongContent,
        ];
        let unanswered = failed.filter(|(kind, _)| !answered.contains(kind));
        let mut errors: Vec<_> = unanswered
            .map(|(kind, count)| match kind {
                Failure::BadRedirect => (kind.describe(), count - self.without_location()),
                kind => (kind.describe(), count),
            })
            .filter(|(_, count)| *count > 0)
            .collect();
        errors.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        errors
    }

    /// Redirects that say nowhere to go: final answers for all tools (RFC 9110 §15.4 asks for no Location).
    fn without_location(&self) -> u64 {
        let groups = self.observation.failures.iter();
        let without =
            groups.filter(|group| group.kind == Failure::BadRedirect && group.cause == NO_LOCATION);
        without.map(|group| group.measured).sum()
    }

    pub(super) fn seconds(&self) -> f64 {
        self.observation.window.as_secs_f64()
    }

    /// So much per second; 0 in no time.
    pub(super) fn per_second(&self, amount: f64) -> f64 {
        match self.seconds() {
            seconds if seconds > 0.0 => amount / seconds,
            _ => 0.0,
        }
    }
}

/// The seconds of a time that may not be known: 0 then, as the tools have it.
pub(super) fn seconds(time: Option<Duration>) -> f64 {
    time.unwrap_or_default().as_secs_f64()
}

/// How many times lie in each of `bins` steps of equal width from the least to the longest, of which the first holds the
/// least alone: the upper bound of each step in seconds, and the count.
pub(super) fn steps(times: &LatencyHistogram, bins: usize) -> Vec<(f64, u64)> {
    let (Some(least), Some(most)) = (times.least(), times.max()) else {
        return Vec::new();
    };
    let width = (most.as_secs_f64() - least.as_secs_f64()) / (bins - 1) as f64;
    let mut below = 0;
    let step = |nth: usize| {
        let bound = least.as_secs_f64() + width * nth as f64;
        let share = times.share_up_to(Duration::from_secs_f64(bound));
        let up_to = if nth + 1 == bins {
            times.count()
        } else {
            (share * times.count() as f64).round() as u64
        };
        let count = up_to - below;
        below = up_to;
        (bound, count)
    };
    (0..bins).map(step).collect()
}

/// A bar of squares, of which the highest count has `most`.
pub(super) fn bar(count: u64, highest: u64, most: u64) -> String {
    "■".repeat((count * most / highest.max(1)) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_times_are_in_the_steps() {
        let mut times = LatencyHistogram::new();
        for millisecond in 1..=100 {
            times.record_ns(millisecond * 1_000_000);
        }
        let steps = steps(&times, 11);
        assert_eq!(steps.len(), 11);
        assert_eq!(steps[0].1, 1);
        assert_eq!(steps.iter().map(|(_, count)| count).sum::<u64>(), 100);
        assert!((steps[10].0 - 0.1).abs() < 1e-3, "{steps:?}");
        assert_eq!(super::steps(&LatencyHistogram::new(), 11), []);
        let mut same = LatencyHistogram::new();
        same.record_ns(5);
        same.record_ns(5);
        assert_eq!(
            super::steps(&same, 3).iter().map(|one| one.1).sum::<u64>(),
            2
        );
    }
}
