//! What is left of a block: a function of the session so far and of nothing else.

use deadheat_model::{Cell, Plan, SessionRecord};
use rand::{SeedableRng, seq::SliceRandom};
use rand_chacha::ChaCha8Rng;

/// A trial that is to be run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Due {
    /// What it measures.
    pub(super) cell: Cell,
    /// The cell's place in the block's order.
    pub(super) position: u32,
}

/// The trials that are left of a block, in their order.
pub(super) fn left(session: &SessionRecord, block: u32) -> Vec<Due> {
    let has = |cell: &Cell| {
        let mut trials = session.trials.iter();
        trials.any(|trial| trial.block == block && trial.cell == *cell)
    };
    let all = (0..).zip(order(&session.header.plan, block));
    all.filter(|(_, cell)| !has(cell))
        .map(|(position, cell)| Due { cell, position })
        .collect()
}

/// The cells in the random order of a block: the same for the same seed.
fn order(plan: &Plan, block: u32) -> Vec<Cell> {
    let mut random = ChaCha8Rng::seed_from_u64(plan.seed ^ u64::from(block) << 32);
    let mut cells = plan.cells.clone();
    cells.shuffle(&mut random);
    cells
}
