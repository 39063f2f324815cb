//! Which trials count: those of complete blocks, and of several attempts in a block the first that failed, or else the last one
//! that is not void.

use std::collections::BTreeMap;

use deadheat_model::{Cell, SessionRecord, TrialRecord};

use crate::{trial::Judge, verdict};

/// A trial with its place in the session's record.
pub type Placed<'a> = (usize, &'a TrialRecord);

/// The trials of a cell, told apart by whether they count.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CellTrials<'a> {
    /// Those that count, in the order of their blocks; no more than one in each.
    pub counted: Vec<Placed<'a>>,
    /// Void ones of any block, in the order of the session.
    pub void: Vec<Placed<'a>>,
    /// All others, in the order of the session: their block does not count, or another trial of the block does.
    pub left_out: Vec<Placed<'a>>,
}

/// The trials of `cell`. Those of blocks that do not count are left out.
pub fn of_cell<'a>(
    record: &'a SessionRecord,
    cell: &Cell,
    block_counts: impl Fn(u32) -> bool,
    judge: &Judge<'_>,
) -> CellTrials<'a> {
    let all = record.trials.iter().enumerate();
    let all = all.filter(|(_, trial)| trial.cell == *cell);
    let (void, others): (Vec<Placed<'a>>, Vec<Placed<'a>>) =
        all.partition(|(_, trial)| verdict::void(trial, judge).is_some());
    let mut last: BTreeMap<u32, Placed<'a>> = BTreeMap::new();
    for (index, trial) in others.iter().filter(|(_, trial)| block_counts(trial.block)) {
        let earlier = last.get(&trial.block);
        // A stack is not to fail in secret: what comes after a failure does not hide it.
        let failed = |(_, trial): &Placed<'_>| verdict::failure(trial, judge.settings).is_some();
        if !earlier.is_some_and(failed) {
            last.insert(trial.block, (*index, *trial));
        }
    }
    let counted: Vec<Placed<'a>> = last.into_values().collect();
    let is_counted = |index: usize| counted.iter().any(|(other, _)| *other == index);
    let left_out = others.iter().filter(|(index, _)| !is_counted(*index));
    CellTrials {
        left_out: left_out.copied().collect(),
        counted,
        void,
    }
}
