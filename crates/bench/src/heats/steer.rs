//! The statistics steer the runner.

use std::time::Duration;

use deadheat_model::heats::{PlannedLoad, SessionRecord, Step};
use deadheat_runner::session::{SessionOptions, heats::Steering};
use deadheat_stats::{
    heats::allocation,
    sequential::usual_looks,
    steering::{self, looks_for},
};

/// So many balanced sets of orders are dealt for a heat; then they come again.
const SETS: usize = 4;

/// What is measured next, by what the heats so far say.
pub(super) struct Steer {
    /// Whether a ranking is looked at before its last heat.
    until_decided: bool,
    /// The precision that was asked for.
    precision: Option<f64>,
    /// The error level of a ranking.
    alpha: f64,
}

impl Steer {
    /// As a session is asked for.
    pub(super) fn new(options: &SessionOptions) -> Self {
        Self {
            until_decided: options.heats.until_decided,
            precision: options.heats.precision,
            alpha: options.heats.alpha,
        }
    }
}

impl Steering for Steer {
    fn next(&mut self, record: &SessionRecord, spent: Duration) -> Step {
        steering::next(record, spent)
    }

    fn orders(&mut self, members: usize, seed: u64) -> Vec<Vec<usize>> {
        let rounds = allocation::rounds(members, seed);
        rounds.take(SETS * 2 * members.max(1)).collect()
    }

    fn looks(&self, load: &PlannedLoad, most: u32) -> Vec<u32> {
        match self.precision {
            Some(precision) => looks_for(load, precision, self.alpha),
            None if self.until_decided => usual_looks(most),
            None => vec![most],
        }
    }
}
