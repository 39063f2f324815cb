//! How CPU time and memory went over a measurement, in few samples however long it takes.

use std::time::{Duration, Instant};

use deadheat_model::usage::{UsageSample, UsageSeries};

/// Samples that a series holds at most. At four a second they are all kept over two minutes; of a longer measurement,
/// pairs of neighbours are merged again and again, so that hours take no more room.
const MOST: usize = 512;

/// A series that grows while the measurement goes on.
#[derive(Debug)]
pub(super) struct Course {
    /// When CPU time began to be counted …
    from: Instant,
    /// … and what the tree had used by then.
    cpu_before: Duration,
    kept: UsageSeries,
    /// How many samples each of those kept stands for.
    every: usize,
    /// The next one to be kept, with the number of samples that it stands for so far.
    next: Option<(UsageSample, usize)>,
}

impl Course {
    /// A series that begins now, with the tree's CPU time so far.
    pub(super) fn new(from: Instant, cpu_before: Duration) -> Self {
        Self {
            from,
            cpu_before,
            kept: UsageSeries::default(),
            every: 1,
            next: None,
        }
    }

    /// Adds what was seen at a moment: the tree's CPU time in all, and its PSS if it could be read.
    pub(super) fn add(&mut self, at: Instant, cpu: Duration, pss_bytes: Option<u64>) {
        let sample = UsageSample {
            seconds: rounded(at.saturating_duration_since(self.from), 1e3),
            cpu_seconds: rounded(cpu.saturating_sub(self.cpu_before), 1e6),
            pss_bytes,
        };
        let (merged, of) = match self.next.take() {
            Some((earlier, of)) => (earlier.merged(sample), of + 1),
            None => (sample, 1),
        };
        if of == self.every && self.kept.samples.len() == MOST {
            self.kept = self.kept.thinned(2);
            self.every *= 2;
        }
        // Each of those kept stands for as many, so that they are evenly spaced.
        if of < self.every {
            self.next = Some((merged, of));
        } else {
            self.kept.samples.push(merged);
        }
    }

    /// The series so far.
    pub(super) fn series(&self) -> UsageSeries {
        let last = self.next.map(|(sample, _)| sample);
        UsageSeries {
            samples: self.kept.samples.iter().copied().chain(last).collect(),
        }
    }
}

/// Seconds, to so many parts of one: a record needs no more digits.
fn rounded(duration: Duration, parts: f64) -> f64 {
    (duration.as_secs_f64() * parts).round() / parts
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A course of so many samples, four a second, of a tree that keeps half a CPU busy. Memory is as `size` says.
    fn course(samples: u32, size: impl Fn(u32) -> u64) -> Course {
        let from = Instant::now();
        let mut course = Course::new(from, Duration::from_secs(7));
        for index in 1..=samples {
            let after = Duration::from_millis(250) * index;
            let cpu = Duration::from_secs(7) + after / 2;
            course.add(from + after, cpu, Some(size(index)));
        }
        course
    }

    #[test]
    fn time_and_cpu_time_count_from_the_beginning() {
        let series = course(3, |index| u64::from(index) * 4096).series();
        let last = UsageSample {
            seconds: 0.75,
            cpu_seconds: 0.375,
            pss_bytes: Some(3 * 4096),
        };
        assert_eq!((series.samples.len(), series.samples[2]), (3, last));
    }

    #[test]
    fn hours_take_no_more_room_and_lose_neither_the_peak_nor_the_end_nor_cpu_time() {
        let peak = |index| if index == 30_001 { 9_000 } else { 4_096 };
        for samples in [511, 512, 513, 514, 1_024, 1_025, 4 * 3_600, 40_003] {
            let series = course(samples, peak).series().samples;
            let most = usize::min(samples as usize, MOST) + 1;
            let least = usize::min(samples as usize, MOST / 2);
            assert!((least..=most).contains(&series.len()), "{}", series.len());
            let last = series.last().unwrap();
            let seconds = 0.25 * f64::from(samples);
            assert_eq!((last.seconds, last.cpu_seconds), (seconds, seconds / 2.0));
            let largest = series.iter().filter_map(|sample| sample.pss_bytes).max();
            let expected = if samples > 30_001 { 9_000 } else { 4_096 };
            assert_eq!(largest, Some(expected));
            // Evenly spaced, but for the last one.
            let mut gaps = series
                .windows(2)
                .map(|pair| pair[1].seconds - pair[0].seconds);
            let first = gaps.next().unwrap();
            let even = gaps.clone().take(series.len() - 3);
            assert!(even.into_iter().all(|gap| (gap - first).abs() < 1e-6));
        }
    }
}
