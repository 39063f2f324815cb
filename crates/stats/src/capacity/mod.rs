//! The highest rate at which some conditions hold: what `deadheat load --find-rate` probes next, and what it has found.
//!
//! **The question** is that of a psychometric threshold. A *probe* is an open loop of a declared length at one rate: it
//! holds, or it does not. P(holds) falls with the logarithm of the rate as a cumulative normal whose place (the
//! *capacity*: the rate at which as many probes hold as do not) and whose spread are unknown. Besides, a share of probes
//! does not hold whatever the rate, because something else happened on the machine. That share is unknown, too, so that
//! one bad probe far below the capacity does not end the search at the wrong place.
//!
//! **The search** keeps the posterior of these three over a grid ([`Posterior`]) and probes next where the least entropy of
//! the capacity is expected, its share of surprise included (the Ψ method: Kontsevich & Tyler, Vision Research 39, 1999;
//! after Watson & Pelli, Perception & Psychophysics 33, 1983). Before the first probe, half of the prior lies around the
//! throughput of a closed loop, and half is even over three decades.
//!
//! **The end.** The search ends when the 95 % credible interval is as narrow as was asked for, when the declared probes
//! are used up, or when the capacity lies outside of what can be probed. A Bayesian interval does not depend on why
//! the search ended. How often it contains the truth is simulated (tests, `capacity`).
//!
//! Everything here is a function of the record.

mod outcome;
mod posterior;

use deadheat_model::capacity::CapacityRecord;

pub use self::{
    outcome::{CapacityAnalysis, HighestRate, Outcome, analyse, precision},
    posterior::{Posterior, Prior, Probe},
};

/// What is believed after the probes of a record.
pub fn so_far(record: &CapacityRecord) -> Posterior {
    outcome::so_far(record)
}

/// What to do after the probes of a record, unless the declared number of probes is used up.
pub fn next(record: &CapacityRecord) -> Next {
    outcome::next(record)
}

/// The probability of the interval.
pub const CONFIDENCE: f64 = 0.95;
/// Rates that are weighed for the next probe: the capacities below which it lies with these probabilities.
const CANDIDATES: [f64; 11] = [0.03, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.97];
/// The capacity may lie outside of what is probed by this factor.
const OUTSIDE: f64 = 2.0;
/// The capacity is taken for one outside of what can be probed from this probability on.
const SURE: f64 = 0.95;
/// A probe that holds within this share of the highest rate raises that …
const AT_THE_TOP: f64 = 0.75;
/// … by this factor: more connections can do more than those of the closed loop.
const RAISE: f64 = 4.0;

/// Which rates are probed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    /// The lowest, in requests per second.
    pub least: f64,
    /// The highest.
    pub most: f64,
}

/// A search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Search {
    /// Which rates are probed, as it was declared.
    pub range: Range,
    /// The throughput of a closed loop, in requests per second.
    pub closed: f64,
    /// The generator cannot send as much as this, in requests per second. `None`: nothing is known of it.
    pub ceiling: Option<f64>,
    /// The interval reaches so far to either side of the capacity at most, as a share of it.
    pub precision: f64,
}

/// What is done next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Next {
    /// A probe at this rate, in requests per second.
    Probe(f64),
    /// The interval is narrow enough.
    Precise,
    /// The conditions do not hold even at the lowest rate.
    Below,
    /// They hold up to the highest rate that the generator can send.
    Beyond,
}

impl Search {
    /// The rates after these probes: where the highest one holds, there are higher ones.
    pub(crate) fn range_after(&self, probes: &[Probe]) -> Range {
        let held = probes.iter().filter(|probe| probe.held);
        let highest = held.map(|probe| probe.per_second).fold(0.0, f64::max);
        let mut range = self.range;
        while highest >= AT_THE_TOP * range.most {
            range.most *= RAISE;
        }
        // Just below what could not be sent.
        let most = self.ceiling.map_or(range.most, |ceiling| 0.97 * ceiling);
        range.most = range.most.min(most).max(range.least);
        range
    }

    /// What is known after these probes.
    pub fn posterior(&self, probes: &[Probe]) -> Posterior {
        let range = self.range_after(probes);
        let prior = Prior {
            least: range.least / OUTSIDE,
            most: range.most * OUTSIDE,
            likely: self.closed.clamp(range.least, range.most),
        };
        Posterior::new(&prior, probes)
    }

    /// Whether an interval is as narrow as was asked for.
    pub(crate) fn is_precise(&self, (low, high): (f64, f64)) -> bool {
        let precision = self.precision;
        high / low <= (1.0 + precision) / (1.0 - precision)
    }

    /// What to do after these probes.
    pub fn next(&self, probes: &[Probe]) -> Next {
        let range = self.range_after(probes);
        let posterior = self.posterior(probes);
        if posterior.above(range.least) <= 1.0 - SURE {
            return Next::Below;
        }
        if self.ceiling.is_some() && posterior.above(range.most) >= SURE {
            return Next::Beyond;
        }
        if self.is_precise(posterior.interval(CONFIDENCE)) {
            return Next::Precise;
        }
        let rates = CANDIDATES.map(|at| posterior.quantile(at).clamp(range.least, range.most));
        let weighed = rates.map(|rate| (rate, posterior.entropy_after(rate)));
        let best = weighed
            .into_iter()
            .min_by(|(_, one), (_, other)| one.total_cmp(other));
        Next::Probe(best.map_or(range.least, |(rate, _)| rate))
    }
}
