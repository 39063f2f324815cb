//! The highest rate at which some conditions hold: what `deadheat load --find-rate` looks at next, and what it has found.
//!
//! **The question** is that of a psychometric threshold. A *look* is an open loop of a declared length at one rate: it
//! holds, or it does not. P(holds) falls with the logarithm of the rate as a cumulative normal whose place (the
//! *capacity*: the rate at which as many looks hold as do not) and whose spread are unknown. Besides, a share of looks
//! does not hold whatever the rate, because something else happened on the machine. That share is unknown, too, so that
//! one bad look far below the capacity does not end the search at the wrong place.
//!
//! **The search** keeps the posterior of these three over a grid ([`Posterior`]) and looks next where the least entropy of
//! the capacity is expected, its share of surprise included (the Ψ method: Kontsevich & Tyler, Vision Research 39, 1999;
//! after Watson & Pelli, Perception & Psychophysics 33, 1983). Before the first look, half of the prior lies around the
//! throughput of a closed loop, and half is even over three decades.
//!
//! **The end.** The search ends when the 95 % credible interval is as narrow as was asked for, when the declared looks
//! are used up, or when the capacity lies outside of what can be looked at. A Bayesian interval does not depend on why
//! the search ended. How often it contains the truth is simulated (tests, `capacity`).
//!
//! Everything here is a function of the record.

mod outcome;
mod posterior;
mod search;

use deadheat_model::capacity::CapacityRecord;

pub use self::{
    outcome::{CapacityAnalysis, HighestRate, Outcome, analyse, precision},
    posterior::{Look, Posterior, Prior},
    search::{CONFIDENCE, Next, Range, Search},
};

/// What is believed after the looks of a record.
pub fn so_far(record: &CapacityRecord) -> Posterior {
    outcome::so_far(record)
}

/// What to do after the looks of a record, unless the declared number of looks is used up.
pub fn next(record: &CapacityRecord) -> Next {
    outcome::next(record)
}
