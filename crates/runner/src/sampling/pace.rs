//! How dear sampling is, and how often it may be done for that.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// How often memory, threads and context switches are looked at, at most.
pub const INTERVAL: Duration = Duration::from_millis(250);
/// A sample is followed by a pause so many times as long as its CPU time: it may take half a percent of a CPU at most.
/// Reading PSS walks the page tables of every process of the tree, which takes long where there are many pages. (It holds
/// a lock meanwhile, but gives way to a server that waits for it: Linux, fs/proc/task_mmu.c, `show_smaps_rollup`.)
const PAUSE_PER_COST: u32 = 200;

/// The pause after a sample that took so much CPU time.
pub(super) fn pause(cpu: Duration) -> Duration {
    INTERVAL.max(cpu.saturating_mul(PAUSE_PER_COST))
}

/// CPU time that the calling thread has used.
pub(super) fn thread_cpu() -> Duration {
    let used = clock_gettime(ClockId::ThreadCPUTime);
    Duration::try_from(used).unwrap_or_default()
}

/// Times what the calling thread does, in CPU time.
pub(super) struct Stopwatch(Duration);

impl Stopwatch {
    pub(super) fn start() -> Self {
        Self(thread_cpu())
    }

    /// CPU time so far.
    pub(super) fn cpu(&self) -> Duration {
        thread_cpu().saturating_sub(self.0)
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
        std::thread::sleep(Duration::from_millis(20));
        assert!(
            watch.cpu() < Duration::from_millis(10),
            "sleeping is no work"
        );
        let mut sum = 0_u64;
        while watch.cpu() < Duration::from_millis(10) {
            sum = std::hint::black_box(sum + 1);
        }
    }
}
