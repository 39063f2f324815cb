//! What probes say of the capacity: a posterior over a grid of capacities, spreads and shares of bad probes.

use std::f64::consts::SQRT_2;

use statrs::function::erf::erf;

/// A probe at a rate, and whether it held.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Probe {
    /// Requests per second.
    pub per_second: f64,
    /// Whether every condition held.
    pub held: bool,
}

/// What is believed before the first probe.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prior {
    /// The lowest capacity that is thought of, in requests per second.
    pub least: f64,
    /// The highest.
    pub most: f64,
    /// Where it is likely: near the throughput of a closed loop.
    pub likely: f64,
}

/// Capacities of a grid.
const CELLS: usize = 160;
/// Spreads of the logarithm of the rate: from a server that turns at once to one whose probes hold or not by chance over
/// half of the rate. Each is as likely as the others.
const SPREADS: [f64; 9] = [0.003, 0.006, 0.012, 0.023, 0.045, 0.085, 0.16, 0.30, 0.55];
/// Shares of probes that do not hold whatever the rate, because something else happened on the machine; how likely each
/// is.
const BAD: [(f64, f64); 3] = [(0.01, 0.5), (0.05, 0.3), (0.15, 0.2)];
/// The share of probes that hold whatever the rate.
const LUCKY: f64 = 0.01;
/// Half of the prior is even over the whole range. The other half is normal around the likely capacity, this wide on the
/// logarithm.
const NEAR: f64 = 0.5;
/// What is left out on either side when the grid is made finer.
const TAIL: f64 = 1e-4;
/// Cells are made finer until they are this narrow, on the logarithm.
const FINE: f64 = 0.001;
/// How often at most.
const PASSES: usize = 5;

/// What is believed of the capacity after some probes.
#[derive(Clone, Debug, PartialEq)]
pub struct Posterior {
    /// The logarithm of the first cell's lower edge.
    from: f64,
    /// The cells' width on the logarithm.
    width: f64,
    /// The probability of each cell, spread and share of bad probes, in this order; together 1.
    weights: Vec<f64>,
}

impl Posterior {
    /// After these probes. The grid covers the prior's whole range first, and then the part where the capacity can be.
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
                        *likely *= outcome(turn, bad, probe.held);
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

    /// Where the capacity can be, with a cell more on either side.
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

    /// How likely the capacity is above this rate.
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

    /// How little will be known of the capacity after a probe at this rate: the entropy that is expected, in nats
    /// (Kontsevich & Tyler 1999, for the threshold alone).
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
                    let holds = outcome(turn, bad, true);
                    held[cell] += weight * holds;
                    failed[cell] += weight * (1.0 - holds);
                }
            }
        }
        entropy(&held) + entropy(&failed)
    }
}

/// The entropy of what these sum up to, weighed by that sum.
fn entropy(weights: &[f64]) -> f64 {
    let sum: f64 = weights.iter().sum();
    let seen = weights.iter().filter(|weight| **weight > 0.0);
    -seen.map(|weight| weight * (weight / sum).ln()).sum::<f64>()
}

/// The probability of a probe's outcome.
fn outcome(turn: f64, bad: f64, held: bool) -> f64 {
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
