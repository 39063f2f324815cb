//! How dear sampling is, and how often it may be done for that.

use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

/// How often memory, threads and context switches are looked at, at most.
pub const INTERVAL: Duration = Duration::from_millis(250);
/// A sample is followed by a pause so many times as long as it took. Reading PSS walks the page tables of every process
/// of the tree and holds their locks, which can take long; so it takes half a percent of the time at most.
const PAUSE_PER_COST: u32 = 200;

/// The pause after a sample that took so long.
pub(super) fn pause(took: Duration) -> Duration {
    INTERVAL.max(took.saturating_mul(PAUSE_PER_COST))
}

/// CPU time that the calling thread has used.
pub(super) fn thread_cpu() -> Duration {
    let used = clock_gettime(ClockId::ThreadCPUTime);
    Duration::try_from(used).unwrap_or_default()
}

/// Times a sample.
pub(super) struct Stopwatch {
    wall: Instant,
    cpu: Duration,
}

impl Stopwatch {
    pub(super) fn start() -> Self {
        Self {
            wall: Instant::now(),
            cpu: thread_cpu(),
        }
    }

    /// What it took so far, of the clock or of the CPU, whichever is more: a lock is held as long as the clock says.
    pub(super) fn took(&self) -> Duration {
        self.wall.elapsed().max(self.cpu())
    }

    /// CPU time that the calling thread used so far.
    pub(super) fn cpu(&self) -> Duration {
        thread_cpu().saturating_sub(self.cpu)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dear_sample_is_followed_by_a_long_pause_and_a_cheap_one_by_the_usual() {
        let ms = Duration::from_millis;
        assert_eq!(pause(Duration::ZERO), ms(250));
        assert_eq!(pause(Duration::from_micros(1250)), ms(250));
        assert_eq!(
            pause(Duration::from_micros(1251)),
            Duration::from_micros(250_200)
        );
        assert_eq!(pause(ms(30)), Duration::from_secs(6));
        for micros in [1, 100, 1_250, 5_000, 80_000, 3_000_000] {
            let took = Duration::from_micros(micros);
            let share = took.as_secs_f64() / (took + pause(took)).as_secs_f64();
            assert!(share < 0.005, "{took:?}: {share}");
        }
        assert_eq!(pause(Duration::MAX), Duration::MAX);
    }

    #[test]
    fn the_stopwatch_counts_work_of_its_own_thread() {
        let watch = Stopwatch::start();
        let mut sum = 0_u64;
        while watch.cpu() < Duration::from_millis(2) {
            sum = std::hint::black_box(sum + 1);
        }
        assert!(watch.took() >= Duration::from_millis(2));
    }
}
