//! Timers that fire late, and what is done about it: an open loop is woken a little before a request is due, and polls
//! for the rest.

/// What one observation moves the estimate by, in nanoseconds.
const STEP: u64 = 500;
/// A worker may be woken so much too early however close its requests are.
const LEAST: u64 = 25_000;
/// No worker is woken earlier than this.
const MOST: u64 = 100_000;
/// The share of the time between two requests that polling may take where that is longer.
const SHARE: u64 = 10;

/// How late a worker's timers are. Being woken takes a processor microseconds to tens of them, in a virtual machine more
/// than fifty, and every request of an open loop would leave so much after its time.
#[derive(Debug, Default)]
pub(super) struct Lateness {
    /// An estimate of the median, in nanoseconds: it moves by a step towards each observation.
    typical: u64,
}

impl Lateness {
    /// A timer for `due` fired, and nothing else had happened; it is `now`.
    #[inline]
    pub(super) fn note(&mut self, due: u64, now: u64) {
        self.typical = if now.saturating_sub(due) > self.typical {
            self.typical + STEP
        } else {
            self.typical.saturating_sub(STEP)
        };
    }

    /// When to set the timer for a request that is due at `due`, `gap` after the one before: as much earlier as timers
    /// are late, but by no more than 25 µs, or a tenth of the gap where that is longer, or half of a gap that is short.
    #[inline]
    pub(super) fn wake_for(&self, due: u64, gap: u64) -> u64 {
        let most = (gap / SHARE).clamp(LEAST, MOST).min(gap / 2);
        due.saturating_sub(self.typical.min(most))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_estimate_goes_to_the_median_and_one_outlier_does_not_move_it() {
        let mut lateness = Lateness::default();
        // Nine in ten are 40 µs late, one is a millisecond late.
        for nth in 0..2_000 {
            let late = if nth % 10 == 0 { 1_000_000 } else { 40_000 };
            lateness.note(1_000_000, 1_000_000 + late);
        }
        assert!(
            lateness.typical.abs_diff(40_000) <= 2 * STEP,
            "{lateness:?}"
        );
        for _ in 0..2_000 {
            lateness.note(1_000_000, 1_000_000);
        }
        assert_eq!(lateness.wake_for(1_000_000, 1_000_000), 1_000_000);
    }

    #[test]
    fn polling_has_its_bounds() {
        let lateness = Lateness { typical: 70_000 };
        let early = |gap| 1_000_000 - lateness.wake_for(1_000_000, gap);
        assert_eq!(early(10_000), 5_000, "some of the gap is slept through");
        assert_eq!(early(100_000), LEAST);
        assert_eq!(early(500_000), 50_000);
        assert_eq!(early(5_000_000), 70_000, "no more than timers are late");
        let lateness = Lateness { typical: 700_000 };
        assert_eq!(1_000_000 - lateness.wake_for(1_000_000, 1 << 40), MOST);
    }
}
