//! One deadline for each connection, without a heap: the earliest is only ever known to be *not later* than the
//! truth, and the truth is looked up when that time has come.
//!
//! In a steady load every request sets a deadline seconds away and none is ever reached, so that setting one must
//! cost two stores and a comparison. Looking through all of them happens about once in a timeout.

/// No deadline.
pub(crate) const NEVER: u64 = u64::MAX;

/// A deadline for each slot, in nanoseconds of the monotonic clock.
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

    /// A time before which no deadline falls due.
    #[inline]
    pub(crate) fn next(&self) -> u64 {
        self.next
    }

    /// The first slot from `from` on whose deadline is due; its deadline is taken away. A look through all slots,
    /// from 0 until `None`, finds `next` again.
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
}
