//! What was measured in alternation: the ratios within blocks, judged at a declared look.

use super::{Bounds, Compared, Metric, Ratio, Subject, Thresholds, Verdict, verdict};
use crate::{interval::moments, order_statistic::Interval, sequential::Look};

/// A cell, as it was measured so far.
#[derive(Clone, Debug, PartialEq)]
pub struct PairedCell {
    /// What was asked of both.
    pub subject: Subject,
    /// What both sides have; the first decides. Sort by [`Metric`].
    pub series: Vec<Series>,
    /// What to know of it although it counts, a sentence each.
    pub notes: Vec<String>,
}

/// A metric over the blocks that have a trial of each side.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// Which.
    pub metric: Metric,
    /// A's figure and B's, in the metric's unit, for each such block in order.
    pub pairs: Vec<(f64, f64)>,
    /// The A/A floor of the metric, where something was measured twice: see [`floor`].
    pub floor: Option<f64>,
}

/// Judges every cell at `look`. With more than one cell, each look's share of errors is split evenly over them, so that
/// it is the share of looks at which *any* cell is called different and is not.
pub fn at_look(cells: &[PairedCell], look: Look, bounds: &Bounds) -> Vec<Compared> {
    let each = Look {
        spends: look.spends / cells.len().max(1) as f64,
        ..look
    };
    let cells = cells.iter();
    cells
        .map(|cell| Compared {
            subject: cell.subject.clone(),
            ratios: cell
                .series
                .iter()
                .filter_map(|series| ratio(series, each, bounds))
                .collect(),
            notes: cell.notes.clone(),
        })
        .collect()
}

/// Whether every cell has a verdict, so that measuring can stop.
pub fn is_decided(compared: &[Compared]) -> bool {
    let open = |cell: &Compared| cell.verdict() == Verdict::NotEnoughData;
    !compared.is_empty() && !compared.iter().any(open)
}

/// How far one thing was from itself: the distance from 1 of the geometric mean of the ratios of two names of it.
/// `None` without a pair.
pub fn floor(pairs: &[(f64, f64)]) -> Option<f64> {
    let logs = log_ratios(pairs);
    let mean = logs.iter().sum::<f64>() / logs.len() as f64;
    (!logs.is_empty()).then(|| mean.abs().exp() - 1.0)
}

/// The t interval of a metric's log-ratios at the level of `look`: a repeated confidence interval (Jennison & Turnbull,
/// J. R. Stat. Soc. B 51, 1989). Over all looks together they hold the ratio with probability 1 − α.
fn ratio(series: &Series, look: Look, bounds: &Bounds) -> Option<Ratio> {
    let logs = log_ratios(&series.pairs);
    let n = logs.len();
    if n == 0 {
        return None;
    }
    let mean = logs.iter().sum::<f64>() / n as f64;
    let moments = moments(&logs);
    let level = look.level();
    let interval = moments.and_then(|moments| {
        let half = moments.half_width(level);
        let (low, high) = ((mean - half).exp(), (mean + half).exp());
        (low > 0.0 && high.is_finite()).then_some(Interval { low, high, level })
    });
    let Thresholds { threshold, margin } = bounds.of(series.metric, series.floor);
    let geometric = |of: fn(&(f64, f64)) -> f64| {
        let logs = series.pairs.iter().filter(|pair| is_pair(pair));
        (logs.map(|pair| of(pair).ln()).sum::<f64>() / n as f64).exp()
    };
    Some(Ratio {
        metric: series.metric,
        a: geometric(|pair| pair.0),
        b: geometric(|pair| pair.1),
        trials_a: n,
        trials_b: n,
        ratio: mean.exp(),
        error: moments.map(|moments| moments.error),
        freedom: moments.map(|moments| (moments.n - 1) as f64),
        interval,
        p: moments.map(|moments| moments.p_of_zero()),
        p_adjusted: None,
        floor: series.floor,
        drift: None,
        threshold,
        margin,
        verdict: verdict(
            series.metric.direction(),
            mean.exp(),
            interval,
            threshold,
            margin,
        ),
    })
}

fn is_pair(pair: &(f64, f64)) -> bool {
    let is_figure = |value: f64| value.is_finite() && value > 0.0;
    is_figure(pair.0) && is_figure(pair.1)
}

fn log_ratios(pairs: &[(f64, f64)]) -> Vec<f64> {
    let pairs = pairs.iter().filter(|pair| is_pair(pair));
    pairs.map(|(a, b)| (b / a).ln()).collect()
}
