//! What is due later. The delay is the same for all, so what comes first is due first and a queue will do.

use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};

/// Values that each become due a fixed time after they came.
#[derive(Debug)]
pub(super) struct DelayQueue<T> {
    delay: Duration,
    entries: VecDeque<(Instant, T)>,
}

impl<T> DelayQueue<T> {
    /// An empty queue.
    pub(super) fn new(delay: Duration) -> Self {
        Self {
            delay,
            entries: VecDeque::new(),
        }
    }

    /// Adds a value that came at `now`, which is never earlier than what was said before.
    pub(super) fn push(&mut self, now: Instant, value: T) {
        let due = now + self.delay;
        debug_assert!(self.entries.back().is_none_or(|(last, _)| *last <= due));
        self.entries.push_back((due, value));
    }

    /// When the first value is due.
    pub(super) fn first_due(&self) -> Option<Instant> {
        self.entries.front().map(|(due, _)| *due)
    }

    /// Takes the first value if it is due at `now`.
    pub(super) fn pop_due(&mut self, now: Instant) -> Option<T> {
        if self.first_due()? > now {
            return None;
        }
        self.entries.pop_front().map(|(_, value)| value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_came_first_is_due_first_and_never_early() {
        let ms = Duration::from_millis;
        let start = Instant::now();
        let mut queue = DelayQueue::new(ms(500));
        assert_eq!(queue.first_due(), None);
        queue.push(start, 'a');
        queue.push(start, 'b');
        queue.push(start + ms(2), 'c');
        assert_eq!(queue.first_due(), Some(start + ms(500)));
        assert_eq!(queue.pop_due(start + Duration::from_micros(499_999)), None);
        assert_eq!(queue.pop_due(start + ms(500)), Some('a'));
        assert_eq!(queue.pop_due(start + ms(500)), Some('b'));
        assert_eq!(queue.pop_due(start + ms(501)), None);
        assert_eq!(queue.pop_due(start + ms(900)), Some('c'));
        assert_eq!(queue.pop_due(start + ms(900)), None);
    }
}
