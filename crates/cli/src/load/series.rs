//! The intervals of a load, kept as small as they are.

use deadheat_model::Interval;

/// Intervals of a load in order.
///
/// The load generator's histograms have room for every latency from 1 µs to 1 h. Of hours of load that would be
/// gigabytes, so each is kept only as large as what it holds.
#[derive(Debug, Default)]
pub(crate) struct Series(Vec<Interval>);

impl Series {
    /// Adds the next one.
    pub(crate) fn push(&mut self, interval: &Interval) {
        let kept = Interval {
            service_time: interval.service_time.trimmed(),
            response_time: interval.response_time.as_ref().map(|times| times.trimmed()),
            failed: interval.failed.clone(),
            ..*interval
        };
        self.0.push(kept);
    }

    /// All of them.
    pub(crate) fn into_intervals(self) -> Vec<Interval> {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use deadheat_model::LatencyHistogram;

    use super::*;

    #[test]
    fn nothing_is_lost() {
        let mut interval = Interval {
            index: 3,
            issued: 9,
            response_time: Some(LatencyHistogram::new()),
            ..Interval::default()
        };
        for ns in [1_000, 5_000_000, u64::MAX] {
            interval.service_time.record_ns(ns);
        }
        let mut series = Series::default();
        series.push(&interval);
        assert_eq!(series.into_intervals(), [interval]);
    }
}
