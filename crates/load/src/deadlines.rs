//! The deadline of each connection, and an estimate of how late timers fire.

/// No deadline.
pub(crate) const NEVER: u64 = u64::MAX;

/// A deadline for each slot, in nanoseconds of the monotonic clock, without a heap. Only a lower bound of the earliest
/// one is kept. When that time comes, all slots are searched.
///
/// In a steady load every request sets a deadline seconds away and none is ever reached, so that setting one must
/// cost two stores and a comparison. The search happens about once in a timeout.
#[derive(Debug)]
pub(crate) struct Deadlines {
    at: Vec<u64>,
    /// No deadline is earlier than this.
    next: u64,
}

impl Deadlines {
    pub(crate) fn new(slots: usize) -> Self {
        Self {
            at: vec![NEVER; slots],
            next: NEVER,
        }
    }

    /// Replaces the deadline of `slot`.
    #[inline]
    pub(crate) fn set(&mut self, slot: usize, at: u64) {
        self.at[slot] = at;
        self.next = self.next.min(at);
    }

    /// Postpones the deadline of `slot`, if it has one, by this many nanoseconds.
    pub(crate) fn postpone(&mut self, slot: usize, nanoseconds: u64) {
        self.at[slot] = self.at[slot].saturating_add(nanoseconds);
    }

    /// A lower bound of the earliest deadline.
    #[inline]
    pub(crate) fn next(&self) -> u64 {
        self.next
    }

    /// Returns the first slot from `from` on whose deadline is due, and removes the deadline. Calls from 0 until `None`
    /// search all slots, which updates `next`.
    pub(crate) fn take_due(&mut self, from: usize, now: u64) -> Option<usize> {
        if from == 0 {
            self.next = NEVER;
        }
        for slot in from..self.at.len() {
            if self.at[slot] <= now {
                self.at[slot] = NEVER;
                return Some(slot);
            }
            self.next = self.next.min(self.at[slot]);
        }
        None
    }
}

/// The change of the estimate by one observation, in nanoseconds.
const STEP: u64 = 500;
/// A worker may be woken this much too early even if requests are close together, in nanoseconds.
const MIN: u64 = 25_000;
/// The earliest that a worker is woken before a request is due, in nanoseconds.
const MAX: u64 = 100_000;
/// Polling may take up to the time between two requests divided by this, if that is longer than [`MIN`].
const SHARE: u64 = 10;

/// An estimate of how late a worker's timers fire. Waking takes a processor up to tens of microseconds, in a virtual
/// machine more than fifty. Without a correction, every request of an open loop would be sent late by that time.
#[derive(Debug, Default)]
pub(crate) struct Lateness {
    /// An estimate of the median, in nanoseconds: it moves by a step towards each observation.
    typical: u64,
}

impl Lateness {
    /// Notes that a timer for `due` fired at `now`, without another event.
    #[inline]
    pub(crate) fn note(&mut self, due: u64, now: u64) {
        self.typical = if now.saturating_sub(due) > self.typical {
            self.typical + STEP
        } else {
            self.typical.saturating_sub(STEP)
        };
    }

    /// When to set the timer for a request that is due at `due`, `gap` after the one before: as much earlier as timers
    /// are late, but by no more than 25 µs, or a tenth of the gap where that is longer, or half of a gap that is short.
    #[inline]
    pub(crate) fn wake_for(&self, due: u64, gap: u64) -> u64 {
        let most = (gap / SHARE).clamp(MIN, MAX).min(gap / 2);
        due.saturating_sub(self.typical.min(most))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sweep(deadlines: &mut Deadlines, now: u64) -> Vec<usize> {
        let (mut due, mut from) = (Vec::new(), 0);
        while let Some(slot) = deadlines.take_due(from, now) {
            due.push(slot);
            from = slot + 1;
        }
        due
    }

    #[test]
    fn due_ones_are_found_once_and_the_next_is_known() {
        let mut deadlines = Deadlines::new(4);
        for (slot, at) in [(0, 30), (1, 10), (2, 20), (3, 50)] {
            deadlines.set(slot, at);
        }
        assert_eq!(deadlines.next(), 10);
        assert_eq!(sweep(&mut deadlines, 20), [1, 2]);
        assert_eq!(deadlines.next(), 30);
        deadlines.set(0, 90);
        assert_eq!(
            deadlines.next(),
            30,
            "too early is allowed, too late is not"
        );
        assert_eq!(sweep(&mut deadlines, 40), [0; 0]);
        assert_eq!(deadlines.next(), 50);
    }

    #[test]
    fn a_deadline_set_during_the_look_is_kept() {
        let mut deadlines = Deadlines::new(2);
        deadlines.set(0, 10);
        deadlines.set(1, 70);
        assert_eq!(deadlines.take_due(0, 10), Some(0));
        deadlines.set(0, 40);
        assert_eq!(deadlines.take_due(1, 10), None);
        assert_eq!(deadlines.next(), 40);
    }

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
        assert_eq!(early(100_000), MIN);
        assert_eq!(early(500_000), 50_000);
        assert_eq!(early(5_000_000), 70_000, "no more than timers are late");
        let lateness = Lateness { typical: 700_000 };
        assert_eq!(1_000_000 - lateness.wake_for(1_000_000, 1 << 40), MAX);
    }
}
