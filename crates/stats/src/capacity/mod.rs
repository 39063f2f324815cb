//! The highest rate at which some conditions hold: chooses the probes of `deadheat load --find-rate`, and evaluates
//! them.
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

use std::f64::consts::SQRT_2;

use deadheat_model::{
    capacity::{CapacityRecord, ProbeOutcome},
    figure::{figure, short},
    warning::{Warning, doubt, limit},
};
use schemars::JsonSchema;
use serde::Serialize;
use statrs::function::erf::erf;

/// The probability of the interval.
pub const CONFIDENCE: f64 = 0.95;
/// Candidates for the next probe: the quantiles of the capacity at these probabilities.
const CANDIDATES: [f64; 11] = [0.03, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.97];
/// The capacity may lie outside of the probed range by this factor.
const OUTSIDE: f64 = 2.0;
/// The search ends from this probability on that the capacity lies outside of the range.
const SURE: f64 = 0.95;
/// A probe that holds within this share of the highest rate raises that …
const AT_THE_TOP: f64 = 0.75;
/// … by this factor: more connections can do more than those of the closed loop.
const RAISE: f64 = 4.0;

/// The range of rates that are probed.
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
    /// The declared range of rates.
    pub range: Range,
    /// The throughput of a closed loop, in requests per second.
    pub closed: f64,
    /// The rate that the generator cannot reach, in requests per second; `None` if it is unknown.
    pub ceiling: Option<f64>,
    /// The requested half width of the interval, as a share of the capacity.
    pub precision: f64,
}

/// The next step of a search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Next {
    /// Probe at this rate, in requests per second.
    Probe(f64),
    /// The interval is narrow enough.
    Precise,
    /// The conditions do not hold even at the lowest rate.
    Below,
    /// They hold up to the highest rate that the generator can send.
    Beyond,
}

impl Search {
    /// The range after these probes. It is raised if a probe near its upper end held.
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

    /// The posterior after these probes.
    pub fn posterior(&self, probes: &[Probe]) -> Posterior {
        let range = self.range_after(probes);
        let prior = Prior {
            least: range.least / OUTSIDE,
            most: range.most * OUTSIDE,
            likely: self.closed.clamp(range.least, range.most),
        };
        Posterior::new(&prior, probes)
    }

    /// Whether an interval is as narrow as requested.
    pub(crate) fn is_precise(&self, (low, high): (f64, f64)) -> bool {
        let precision = self.precision;
        high / low <= (1.0 + precision) / (1.0 - precision)
    }

    /// The next step after these probes.
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

/// A probe at a rate, and whether it held.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Probe {
    /// Requests per second.
    pub per_second: f64,
    /// Whether every condition held.
    pub held: bool,
}

/// The prior: the assumptions before the first probe.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prior {
    /// The lowest capacity that is considered, in requests per second.
    pub least: f64,
    /// The highest.
    pub most: f64,
    /// The likely capacity: near the throughput of a closed loop.
    pub likely: f64,
}

/// The number of capacities in the grid.
const CELLS: usize = 160;
/// Spreads of the logarithm of the rate: from a server that turns at once to one whose probes hold or not by chance
/// over half of the rate. Each is as likely as the others.
const SPREADS: [f64; 9] = [0.003, 0.006, 0.012, 0.023, 0.045, 0.085, 0.16, 0.30, 0.55];
/// Shares of probes that do not hold whatever the rate, because something else happened on the machine; how likely each
/// is.
const BAD: [(f64, f64); 3] = [(0.01, 0.5), (0.05, 0.3), (0.15, 0.2)];
/// The share of probes that hold whatever the rate.
const LUCKY: f64 = 0.01;
/// Half of the prior is even over the whole range. The other half is normal around the likely capacity, this wide on
/// the logarithm.
const NEAR: f64 = 0.5;
/// The probability that is cut off on either side when the grid is refined.
const TAIL: f64 = 1e-4;
/// The grid is refined until its cells are this narrow, on the logarithm.
const FINE: f64 = 0.001;
/// The maximum number of refinements.
const PASSES: usize = 5;

/// The posterior distribution of the capacity after some probes.
#[derive(Clone, Debug, PartialEq)]
pub struct Posterior {
    /// The logarithm of the first cell's lower edge.
    from: f64,
    /// The cells' width on the logarithm.
    width: f64,
    /// The probability of each cell, spread and share of bad probes, in this order. The sum is 1.
    weights: Vec<f64>,
}

impl Posterior {
    /// Computes the posterior after these probes. The grid covers the prior's whole range first, and then the range of
    /// plausible capacities.
    pub fn new(prior: &Prior, probes: &[Probe]) -> Self {
        let (from, until) = (prior.least.ln(), prior.most.ln());
        let mut posterior = Self::on(from, until, prior, probes);
        for _ in 0..PASSES {
            if posterior.width <= FINE {
                break;
            }
            let (from, until) = posterior.core();
            posterior = Self::on(from, until, prior, probes);
        }
        posterior
    }

    fn on(from: f64, until: f64, prior: &Prior, probes: &[Probe]) -> Self {
        let width = (until - from) / CELLS as f64;
        let whole = (prior.most / prior.least).ln();
        let mut weights = Vec::with_capacity(CELLS * SPREADS.len() * BAD.len());
        for cell in 0..CELLS {
            let capacity = from + (cell as f64 + 0.5) * width;
            let near = (-0.5 * ((capacity - prior.likely.ln()) / NEAR).powi(2)).exp()
                / (NEAR * std::f64::consts::TAU.sqrt());
            let before = 0.5 / whole + 0.5 * near;
            for spread in SPREADS {
                let mut likely = BAD.map(|(_, weight)| before * weight);
                for probe in probes {
                    let turn = normal((capacity - probe.per_second.ln()) / spread);
                    for (likely, (bad, _)) in likely.iter_mut().zip(BAD) {
                        *likely *= chance_of(turn, bad, probe.held);
                    }
                }
                weights.extend(likely);
            }
        }
        let sum: f64 = weights.iter().sum();
        weights.iter_mut().for_each(|weight| *weight /= sum);
        Self {
            from,
            width,
            weights,
        }
    }

    /// The range of plausible capacities, with one more cell on either side.
    fn core(&self) -> (f64, f64) {
        let (low, high) = (self.at(TAIL), self.at(1.0 - TAIL));
        let until = self.from + CELLS as f64 * self.width;
        (
            (low - self.width).max(self.from),
            (high + self.width).min(until),
        )
    }

    /// The probability of each capacity.
    fn cells(&self) -> impl Iterator<Item = f64> {
        let each = self.weights.chunks_exact(SPREADS.len() * BAD.len());
        each.map(|cell| cell.iter().sum())
    }

    /// The logarithm of the capacity below which it lies with this probability.
    fn at(&self, probability: f64) -> f64 {
        let mut before = 0.0;
        for (cell, weight) in self.cells().enumerate() {
            if before + weight >= probability && weight > 0.0 {
                let part = (probability - before) / weight;
                return self.from + (cell as f64 + part.clamp(0.0, 1.0)) * self.width;
            }
            before += weight;
        }
        self.from + CELLS as f64 * self.width
    }

    /// The capacity below which it lies with this probability (0 to 1), in requests per second.
    pub fn quantile(&self, probability: f64) -> f64 {
        self.at(probability).exp()
    }

    /// The interval that holds the capacity with this probability, with as much on either side.
    pub fn interval(&self, probability: f64) -> (f64, f64) {
        let outside = (1.0 - probability) / 2.0;
        (self.quantile(outside), self.quantile(1.0 - outside))
    }

    /// The probability that the capacity is above this rate.
    pub fn above(&self, per_second: f64) -> f64 {
        let place = (per_second.ln() - self.from) / self.width;
        let below: f64 = self
            .cells()
            .enumerate()
            .map(|(cell, weight)| weight * (place - cell as f64).clamp(0.0, 1.0))
            .sum();
        1.0 - below
    }

    /// The spread that is expected, on the logarithm of the rate.
    pub fn spread(&self) -> f64 {
        let each = self.weights.chunks_exact(BAD.len());
        let spreads = each.zip(SPREADS.iter().cycle());
        let logarithms = spreads.map(|(weights, spread)| weights.iter().sum::<f64>() * spread.ln());
        logarithms.sum::<f64>().exp()
    }

    /// The expected entropy of the capacity after a probe at this rate, in nats (Kontsevich & Tyler 1999, for the
    /// threshold alone).
    pub(crate) fn entropy_after(&self, per_second: f64) -> f64 {
        let rate = per_second.ln();
        let mut held = vec![0.0; CELLS];
        let mut failed = vec![0.0; CELLS];
        let each = self.weights.chunks_exact(SPREADS.len() * BAD.len());
        for (cell, weights) in each.enumerate() {
            let capacity = self.from + (cell as f64 + 0.5) * self.width;
            for (weights, spread) in weights.chunks_exact(BAD.len()).zip(SPREADS) {
                let turn = normal((capacity - rate) / spread);
                for (weight, (bad, _)) in weights.iter().zip(BAD) {
                    let holds = chance_of(turn, bad, true);
                    held[cell] += weight * holds;
                    failed[cell] += weight * (1.0 - holds);
                }
            }
        }
        entropy(&held) + entropy(&failed)
    }
}

/// The entropy of the normalised weights, times their sum.
fn entropy(weights: &[f64]) -> f64 {
    let sum: f64 = weights.iter().sum();
    let seen = weights.iter().filter(|weight| **weight > 0.0);
    -seen.map(|weight| weight * (weight / sum).ln()).sum::<f64>()
}

/// The probability of a probe's outcome.
fn chance_of(turn: f64, bad: f64, held: bool) -> f64 {
    let holds = LUCKY + (1.0 - LUCKY - bad) * turn;
    if held { holds } else { 1.0 - holds }
}

/// The cumulative normal distribution.
fn normal(z: f64) -> f64 {
    match z {
        ..-6.0 => 0.0,
        6.0.. => 1.0,
        z => 0.5 * (1.0 + erf(z / SQRT_2)),
    }
}

/// How far below the capacity nearly all probes hold: the 5 % quantile of the normal distribution.
const RELIABLE: f64 = 1.644_853_6;

/// The highest rate, with its error.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct HighestRate {
    /// Requests per second: as many probes at this rate hold as do not.
    pub per_second: f64,
    /// The interval's lower end.
    pub low: f64,
    /// The interval's upper end.
    pub high: f64,
    /// Whether the interval is as narrow as was asked for.
    pub precise: bool,
    /// The rate at which 95 % of the probes hold without disturbances.
    pub reliable_per_second: f64,
    /// Whether a probe failed at a lower rate than that of one that held.
    pub contradictory: bool,
}

/// The result of a search.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "outcome", rename_all = "kebab-case")]
pub enum Outcome {
    /// The highest rate.
    Found(HighestRate),
    /// The conditions do not hold even at the lowest rate.
    Below {
        /// That rate, in requests per second.
        least_per_second: f64,
    },
    /// They hold at every rate that the generator could send.
    GeneratorLimited {
        /// The highest rate at which a probe held; `None`: there was none.
        held_per_second: Option<f64>,
        /// The generator was the limit from this rate on.
        limit_per_second: f64,
    },
    /// No probe counts, none held, or all of them held.
    Undecided {
        /// The highest rate at which a probe held.
        held_per_second: Option<f64>,
        /// The lowest rate at which one did not.
        failed_per_second: Option<f64>,
    },
}

/// The report of a search.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct CapacityAnalysis {
    /// The result of the search.
    #[serde(flatten)]
    pub outcome: Outcome,
    /// The probability that the interval contains the capacity.
    pub confidence: f64,
    /// Probes that count.
    pub counted: u32,
    /// Probes that were discarded, because the generator was the limit.
    pub discarded: u32,
    /// Warnings that change a decision: at most one about the result, and `few-connections` about the trials.
    pub warnings: Vec<Warning>,
}

impl Search {
    /// The search of a record.
    pub fn new(record: &CapacityRecord) -> Self {
        let burst = &record.burst;
        Self {
            range: Range {
                least: burst.least_per_second,
                most: burst.most_per_second,
            },
            closed: burst.per_second,
            ceiling: ceiling(record),
            precision: record.declared.precision,
        }
    }
}

/// The probes that count.
fn counted(record: &CapacityRecord) -> Vec<Probe> {
    let probes = record.probes.iter();
    let counted = probes.filter(|probe| probe.outcome != ProbeOutcome::Discarded);
    let probe = counted.map(|probe| Probe {
        per_second: probe.per_second,
        held: probe.outcome == ProbeOutcome::Held,
    });
    probe.collect()
}

/// The generator's limit: the lowest rate above all rates that held, at or below which two probes were discarded. A
/// single discarded probe may be chance, so it is repeated.
fn ceiling(record: &CapacityRecord) -> Option<f64> {
    let rates = |outcome| {
        let probes = record.probes.iter();
        let probes = probes.filter(move |probe| probe.outcome == outcome);
        probes.map(|probe| probe.per_second)
    };
    let held = rates(ProbeOutcome::Held).fold(0.0, f64::max);
    let mut rates: Vec<f64> = rates(ProbeOutcome::Discarded)
        .filter(|rate| *rate > held)
        .collect();
    rates.sort_by(f64::total_cmp);
    rates.get(1).copied()
}

/// The next step after the probes of a record, if the declared number of probes is not used up.
pub fn next(record: &CapacityRecord) -> Next {
    Search::new(record).next(&counted(record))
}

/// The posterior after the probes of a record.
pub fn so_far(record: &CapacityRecord) -> Posterior {
    Search::new(record).posterior(&counted(record))
}

/// The report of the search so far.
pub fn analyse(record: &CapacityRecord) -> CapacityAnalysis {
    let probes = counted(record);
    let outcome = outcome(record, &probes);
    CapacityAnalysis {
        warnings: warning(record, &outcome).into_iter().collect(),
        outcome,
        confidence: CONFIDENCE,
        counted: probes.len() as u32,
        discarded: (record.probes.len() - probes.len()) as u32,
    }
}

/// The warning that changes a decision; `None` without one.
fn warning(record: &CapacityRecord, outcome: &Outcome) -> Option<Warning> {
    let far = 1.0 - 2.0 * record.declared.precision;
    let is_far = |found: &HighestRate| found.reliable_per_second < far * found.per_second;
    Some(match outcome {
        _ if record.interrupted => doubt(
            "interrupted",
            "The search was interrupted, so the result covers only the trials before that.",
        ),
        Outcome::Found(found) if found.contradictory && is_far(found) => doubt(
            "far-apart",
            "The two rates are far apart: between them, some trials meet the conditions and others do not.",
        ),
        Outcome::Found(found) if found.precise => return None,
        Outcome::Found(_) => {
            let width = precision(record);
            let sentence = format!("The interval is wider than {width}, because the trials were used up.");
            doubt("wide", sentence).advice("Allow more (--trials), or longer ones (--duration).")
        }
        Outcome::Below { .. } => doubt(
            "below",
            "The search does not go lower: a trial would have too few requests, or less than a thousandth of the closed \
             loop's rate.",
        )
        .advice("Try a looser condition, or longer trials (--duration)."),
        Outcome::GeneratorLimited { .. } => {
            let probes = record.probes.iter().rev();
            let mut discarded = probes.filter(|probe| probe.outcome == ProbeOutcome::Discarded);
            let why = discarded.find_map(|probe| probe.why.as_deref());
            limit("generator-limited", why.unwrap_or_default())
                .advice("Give Deadheat more CPUs (--cpus), or load from other machines (--on).")
        }
        Outcome::Undecided { .. } => doubt(
            "undecided",
            "A rate needs a trial that meets the conditions and one that does not.",
        )
        .advice("Allow more trials (--trials)."),
    })
}

/// The requested precision in words: "± 5 %".
pub fn precision(record: &CapacityRecord) -> String {
    let percent = figure(record.declared.precision * 100.0);
    format!("± {} %", short(&percent))
}

fn outcome(record: &CapacityRecord, probes: &[Probe]) -> Outcome {
    let rates = |held| {
        let probes = probes.iter().filter(move |probe| probe.held == held);
        probes.map(|probe| probe.per_second)
    };
    let held_per_second = rates(true).max_by(f64::total_cmp);
    let failed_per_second = rates(false).min_by(f64::total_cmp);
    let search = Search::new(record);
    let next = search.next(probes);
    if next == Next::Below {
        let least_per_second = search.range.least;
        return Outcome::Below { least_per_second };
    }
    if let Some(limit_per_second) = search.ceiling
        && (next == Next::Beyond || failed_per_second.is_none())
    {
        return Outcome::GeneratorLimited {
            held_per_second,
            limit_per_second,
        };
    }
    let (Some(held), Some(failed)) = (held_per_second, failed_per_second) else {
        return Outcome::Undecided {
            held_per_second,
            failed_per_second,
        };
    };
    let posterior = search.posterior(probes);
    let (low, high) = posterior.interval(CONFIDENCE);
    let per_second = posterior.quantile(0.5);
    Outcome::Found(HighestRate {
        per_second,
        low,
        high,
        precise: search.is_precise((low, high)),
        reliable_per_second: per_second * (-RELIABLE * posterior.spread()).exp(),
        contradictory: failed < held,
    })
}
