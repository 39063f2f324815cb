//! What sampling costs, and how often it may be done for that.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// How often memory, threads and context switches are looked at, at most.
pub const INTERVAL: Duration = Duration::from_millis(250);
/// How long a measurement has to be for each unit of CPU time spent on sampling it: three quarters of a per cent of a CPU
/// at most, so that with what nobody foresees it stays below one.
/// Reading PSS walks the page tables of every process of the tree, which takes long where there are many pages. (It holds
/// a lock meanwhile, but gives way to a server that waits for it: Linux, fs/proc/task_mmu.c, `show_smaps_rollup`.)
const LENGTH_PER_COST: u32 = 133;
/// The same for a single thing among them.
const LENGTH_PER_ONCE: u32 = 200;

/// What sampling one measurement has cost so far, in CPU time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spent {
    /// All of it.
    pub(super) total: Duration,
    /// The last sample, which the next is expected to cost as well.
    pub(super) last: Duration,
}

impl Spent {
    /// Adds a sample.
    pub(super) fn add(&mut self, sample: Duration) {
        self.total += sample;
        self.last = sample;
    }

    /// How long to wait for the next sample when the measurement has lasted for `elapsed`.
    pub(super) fn pause(&self, elapsed: Duration) -> Duration {
        let affordable = (self.total.saturating_add(self.last)).saturating_mul(LENGTH_PER_COST);
        INTERVAL.max(affordable.saturating_sub(elapsed))
    }
}

/// Whether something that is done once, while the load goes on, and takes so much CPU time may be done in a measurement
/// of such a length: in at most half a per cent of it, because other things are done as well.
pub(super) fn is_affordable(once: Duration, measure: Duration) -> bool {
    once.saturating_mul(LENGTH_PER_ONCE) <= measure
}

/// What the first sample of a tree is expected to cost that had `idle` processes when a sample of it cost `cost`, and has
/// `now` of them: each process costs as much as then, or more. It costs no less than it did, since a process that has
/// ended tells nothing of the pages of the others.
pub(super) fn expected(cost: Duration, idle: usize, now: usize) -> Duration {
    let grown = now as f64 / idle.max(1) as f64;
    cost.mul_f64(grown.max(1.0))
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

    const fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    #[test]
    fn cheap_samples_come_at_the_usual_interval_and_dear_ones_when_they_can_be_afforded() {
        let spent = |total, last| Spent { total, last };
        let none = Duration::ZERO;
        assert_eq!(spent(none, none).pause(none), ms(250));
        assert_eq!(spent(ms(1), ms(1)).pause(none), ms(266));
        assert_eq!(spent(ms(1), ms(1)).pause(ms(100)), ms(250));
        assert_eq!(spent(ms(6), ms(26)).pause(ms(6)), ms(4250));
        assert_eq!(
            spent(none, Duration::MAX).pause(ms(5)),
            Duration::MAX - ms(5)
        );
    }

    #[test]
    fn a_tree_that_has_grown_since_it_was_idle_is_expected_to_cost_as_much_for_each_process() {
        assert_eq!(expected(ms(5), 20, 532), ms(133));
        assert_eq!(expected(ms(5), 20, 20), ms(5));
        assert_eq!(expected(ms(5), 20, 1), ms(5));
        assert_eq!(expected(ms(5), 0, 2), ms(10), "it was not seen when idle");
        // php-fpm at proxy: a pool that is made on demand. 2 s have room for a sample of the idle one, not for this.
        let pause = |last| Spent { total: ms(8), last }.pause(ms(8));
        assert!(pause(ms(5)) < ms(2000));
        assert!(pause(expected(ms(5), 20, 532)) > ms(18_000));
    }

    #[test]
    fn what_is_done_once_takes_half_a_per_cent_at_most() {
        assert!(is_affordable(ms(5), ms(1000)));
        assert!(!is_affordable(ms(5), ms(999)));
        assert!(!is_affordable(Duration::MAX, ms(1000)));
    }

    #[test]
    fn a_measurement_of_any_length_spends_less_than_one_per_cent_on_samples_that_cost_the_same() {
        for begin in [100, 1_200, 7_000].map(Duration::from_micros) {
            for sample in [300, 1_000, 5_000, 30_000, 400_000].map(Duration::from_micros) {
                let mut elapsed = begin;
                let mut spent = Spent {
                    total: begin,
                    last: sample,
                };
                for _ in 0..100 {
                    elapsed += spent.pause(elapsed);
                    spent.add(sample);
                    let share = spent.total.as_secs_f64() / elapsed.as_secs_f64();
                    assert!(share < 0.0076, "{begin:?} {sample:?} {elapsed:?}: {share}");
                    elapsed += sample;
                }
            }
        }
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
