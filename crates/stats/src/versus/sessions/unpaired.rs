//! One metric of one cell, from heats of two sessions, or from runs.

use super::{Bounds, Metric, Ratio};
use crate::{holm::holm, order_statistic::Interval, versus::Verdict, welch};

/// With fewer heats or runs on a side there is no interval: it would reach over orders of magnitude.
pub const LEAST: usize = 3;

/// The logarithms of a metric on both sides.
pub struct Sample {
    metric: Metric,
    a: Vec<f64>,
    b: Vec<f64>,
}

impl Sample {
    /// A sample of the logarithms of both sides, one for each heat; `None` when a side has none.
    pub fn new(metric: Metric, a: Vec<f64>, b: Vec<f64>) -> Option<Self> {
        (!a.is_empty() && !b.is_empty()).then_some(Self { metric, a, b })
    }

    /// The ratio, before it is corrected for the number of cells: its interval is at 1 − α. `drift` is how far the null
    /// server was from itself.
    pub fn ratio(&self, drift: Option<f64>, bounds: &Bounds) -> Ratio {
        let (a, b) = (mean(&self.a), mean(&self.b));
        let has_enough = self.a.len().min(self.b.len()) >= LEAST;
        let difference = welch::difference(&self.a, &self.b).filter(|_| has_enough);
        Ratio {
            per_second: None,
            metric: self.metric,
            a: a.exp(),
            b: b.exp(),
            heats_a: self.a.len(),
            heats_b: self.b.len(),
            ratio: (b - a).exp(),
            error: difference.map(|difference| difference.error),
            spread: None,
            freedom: difference.map(|difference| difference.freedom),
            interval: None,
            p: difference.map(|difference| difference.p_of_zero()),
            p_adjusted: None,
            drift,
            rule: bounds.rule(self.metric, drift),
            verdict: Verdict::NotEnoughData,
        }
    }
}

/// Corrects the ratios of one metric over all cells (Holm), and judges them. The interval of each is at the level at
/// which Holm's method tests it: 1 − α/k for the smallest of k p values, 1 − α/(k − 1) for the next, and for all from
/// the first that is not significant on that one's. So an interval excludes 1 where the adjusted p is below α, and
/// nowhere else.
pub fn correct(ratios: &mut [&mut Ratio], bounds: &Bounds) {
    let mut tested: Vec<&mut &mut Ratio> = ratios.iter_mut().filter(|r| r.p.is_some()).collect();
    tested.sort_by(|one, other| one.p.unwrap_or(1.0).total_cmp(&other.p.unwrap_or(1.0)));
    let p: Vec<f64> = tested.iter().filter_map(|ratio| ratio.p).collect();
    let adjusted = holm(&p);
    let significant = adjusted.iter().take_while(|p| **p < bounds.alpha).count();
    for (step, (ratio, adjusted)) in tested.into_iter().zip(adjusted).enumerate() {
        let tests = p.len() - step.min(significant);
        ratio.p_adjusted = Some(adjusted);
        ratio.interval = interval(ratio, 1.0 - bounds.alpha / tests as f64);
        **ratio = ratio.clone().judged();
    }
}

fn interval(ratio: &Ratio, level: f64) -> Option<Interval> {
    let difference = welch::Difference {
        mean: ratio.ratio.ln(),
        error: ratio.error?,
        freedom: ratio.freedom?,
    };
    let half = difference.half_width(level);
    let (low, high) = (
        (difference.mean - half).exp(),
        (difference.mean + half).exp(),
    );
    (low > 0.0 && high.is_finite()).then_some(Interval { low, high, level })
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// One metric of runs that are in no heats, from the values of each side; `None` without values above zero.
pub(in crate::versus) fn of_runs(
    metric: Metric,
    a: &[f64],
    b: &[f64],
    bounds: &Bounds,
) -> Option<Ratio> {
    let logs = |values: &[f64]| values.iter().map(|value| value.ln()).collect();
    let is_positive = a.iter().chain(b).all(|value| *value > 0.0);
    let sample = Sample::new(metric, logs(a), logs(b)).filter(|_| is_positive)?;
    let mut ratio = sample.ratio(None, bounds);
    correct(&mut [&mut ratio], bounds);
    Some(ratio)
}
