//! Sessions of heats from their records to their standings, on records whose truth is known.

mod published;
mod rows;
mod scaling;
mod starts;
mod steered;
mod verdicts;
mod warnings;

use std::time::Duration;

use deadheat_simulation::Recorded;

pub use crate::sessions::{died, member, quiet, steered};

/// The same, over two loads, within a budget.
fn two_loads(speeds: &[f64], budget: Duration) -> Recorded {
    Recorded {
        workloads: vec!["plaintext".to_owned(), "users".to_owned()],
        budget: Some(budget),
        ..quiet(speeds)
    }
}
