//! The intervals of a load, kept in bounded memory.

use deadheat_model::{Interval, LoadPhase};

use super::downsample::{Downsampled, Piece};

/// The most intervals kept, plus one for each change of phase: about 50 to 300 MB (40 kB to 250 kB each). With
/// intervals of 1 s that is 20 min; longer loads merge neighbours.
pub(crate) const MOST: usize = 1_200;

/// Intervals of a load in order.
#[derive(Debug)]
pub(crate) struct Series(Downsampled<Interval>);

impl Piece for Interval {
    fn phase(&self) -> LoadPhase {
        self.phase
    }

    fn append(&mut self, next: Self) {
        Interval::append(self, &next);
    }
}

impl Default for Series {
    fn default() -> Self {
        Self(Downsampled::new(MOST))
    }
}

impl Series {
    /// Adds the next one.
    pub(crate) fn push(&mut self, interval: Interval) {
        self.0.push(interval);
    }

    /// All of them, numbered from 0.
    pub(crate) fn into_intervals(self) -> Vec<Interval> {
        let mut intervals = self.0.into_pieces();
        for (index, interval) in (0..).zip(&mut intervals) {
            interval.index = index;
        }
        intervals
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use deadheat_model::{Failure, LatencyHistogram};

    use super::*;

    fn second(index: u64) -> Interval {
        let mut interval = Interval {
            index,
            from: Duration::from_secs(index),
            until: Duration::from_secs(index + 1),
            phase: LoadPhase::Measurement,
            issued: 3,
            succeeded: 2,
            in_flight: index,
            valid_body_bytes: 5,
            service_time: LatencyHistogram::small(),
            response_time: Some(LatencyHistogram::small()),
            ..Interval::default()
        };
        interval.failed[Failure::Timeout] = 1;
        for ns in [1_000 * (index + 1), 5_000_000] {
            interval.service_time.record_ns(ns);
            if let Some(times) = &mut interval.response_time {
                times.record_ns(2 * ns);
            }
        }
        interval
    }

    fn series_of(seconds: u64) -> Vec<Interval> {
        let mut series = Series::default();
        (0..seconds).for_each(|index| series.push(second(index)));
        series.into_intervals()
    }

    #[test]
    fn a_load_of_usual_length_keeps_each_interval_as_it_was() {
        let kept = series_of(600);
        assert_eq!(kept, (0..600).map(second).collect::<Vec<_>>());
    }

    #[test]
    fn hours_of_load_keep_every_count_and_latency_in_fewer_intervals() {
        const SECONDS: u64 = 10_000;
        let kept = series_of(SECONDS);
        assert!(
            kept.len() <= MOST && kept.len() > MOST / 3,
            "{}",
            kept.len()
        );
        let mut all = second(0);
        (1..SECONDS).for_each(|index| all.append(&second(index)));
        let mut sum = kept[0].clone();
        for (index, interval) in kept.iter().enumerate() {
            assert_eq!(interval.index, index as u64);
            assert_eq!(
                (interval.throughput(), interval.in_flight),
                (2.0, interval.until.as_secs() - 1)
            );
            if index > 0 {
                sum.append(interval);
            }
        }
        assert_eq!(sum, all);
    }
}
