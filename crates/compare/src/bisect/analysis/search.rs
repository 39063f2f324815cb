//! The search itself: which commit is asked next.

use std::collections::BTreeSet;

use deadheat_model::bisect::{BisectAnswer, BisectRecord};

/// What is known of the commits, numbered from 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Search {
    /// The first that may have made it slower.
    first: usize,
    /// The last that may have: the oldest that is known to be slow.
    last: usize,
    /// Those that cannot be measured.
    skipped: BTreeSet<usize>,
}

impl Search {
    /// After the answers so far.
    pub fn new(record: &BisectRecord) -> Self {
        let mut search = Self {
            first: 0,
            last: record.commits.len().saturating_sub(1),
            skipped: BTreeSet::new(),
        };
        for (index, answer) in record.answers() {
            match answer {
                BisectAnswer::Slower => search.last = search.last.min(index),
                BisectAnswer::NotSlower => search.first = search.first.max(index + 1),
                BisectAnswer::Skipped { .. } => {
                    search.skipped.insert(index);
                }
                BisectAnswer::Half | BisectAnswer::Undecided => {}
            }
        }
        // A file that somebody changed may have anything.
        search.first = search.first.min(search.last);
        search
    }

    /// The commits of which one made it slower, the first and the last.
    pub(crate) fn suspects(&self) -> (usize, usize) {
        (self.first, self.last)
    }

    /// The commit to ask: the middle one, or another one near it that can be measured. `None`: no other question tells
    /// the suspects apart.
    ///
    /// Commits that do not build come in rows. So with each one that was skipped, the next is twice as far from the
    /// middle, on either side in turn.
    pub fn next(&self) -> Option<usize> {
        let suspects = self.last + 1 - self.first;
        // The last is known to be slow.
        let askable = self.first..self.last;
        let middle = (self.first + suspects / 2).saturating_sub(1);
        let skipped = self.skipped.range(askable.clone()).count() as u32;
        let target = match skipped.checked_sub(1) {
            None => middle,
            Some(doublings) => {
                let away = 1_usize.checked_shl(doublings.min(40)).unwrap_or(usize::MAX);
                let newer = doublings.is_multiple_of(2);
                if newer {
                    middle.saturating_add(away)
                } else {
                    middle.saturating_sub(away)
                }
            }
        };
        let target = target.clamp(self.first, self.last);
        askable
            .filter(|index| !self.skipped.contains(index))
            .min_by_key(|index| index.abs_diff(target))
    }
}
