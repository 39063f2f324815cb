//! Which stacks differ: paired within a block, so that a drift of the machine cancels, and corrected for how many
//! pairs were looked at (Holm, "A simple sequentially rejective multiple test procedure", Scand. J. Stat. 6, 1979).

use deadheat_model::TargetId;
use serde::Serialize;

use crate::{CellAnalysis, Settings, interval::moments, order_statistic::Interval};

/// Two stacks at one load point.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// The one with the higher (or equal) geometric mean of the block-wise ratios.
    pub faster: TargetId,
    /// The other.
    pub slower: TargetId,
    /// Blocks in which both were measured.
    pub blocks: usize,
    /// Throughput of `faster` over that of `slower`: the geometric mean of the ratios within a block.
    pub ratio: f64,
    /// The t interval of `ratio` on the logarithm; it is not adjusted for the number of pairs.
    pub interval: Interval,
    /// The two-sided p value of a ratio of 1.
    pub p: f64,
    /// The same after Holm over all pairs of the load point.
    pub p_adjusted: f64,
    /// Whether they differ: significantly, and by more than the practical threshold.
    pub different: bool,
}

/// All pairs of the comparable cells, in the order of the cells.
pub fn compare_all(cells: &[CellAnalysis], settings: &Settings) -> Vec<Comparison> {
    let comparable: Vec<&CellAnalysis> = cells.iter().filter(|cell| cell.is_comparable()).collect();
    let mut pairs: Vec<Comparison> = Vec::new();
    for (index, a) in comparable.iter().enumerate() {
        let others = &comparable[index + 1..];
        pairs.extend(others.iter().filter_map(|b| compare(a, b, settings)));
    }
    let adjusted = holm(&pairs.iter().map(|pair| pair.p).collect::<Vec<_>>());
    for (pair, p_adjusted) in pairs.iter_mut().zip(adjusted) {
        pair.p_adjusted = p_adjusted;
        // The ratio is 1 or more, so that one bound is both: 1.01 one way is 1/1.01 the other.
        pair.different =
            p_adjusted < settings.alpha && pair.ratio > 1.0 + settings.practical_difference;
    }
    pairs
}

/// One pair, before the correction; `None` with fewer blocks in common than a comparison needs.
fn compare(a: &CellAnalysis, b: &CellAnalysis, settings: &Settings) -> Option<Comparison> {
    let ratios = log_ratios(a, b);
    if ratios.len() < settings.blocks_for_comparison {
        return None;
    }
    let moments = moments(&ratios)?;
    let half = moments.half_width(settings.level);
    let p = moments.p_of_zero();
    let mean = moments.mean.abs();
    let (faster, slower) = if moments.mean < 0.0 { (b, a) } else { (a, b) };
    Some(Comparison {
        faster: faster.target.clone(),
        slower: slower.target.clone(),
        blocks: moments.n,
        ratio: mean.exp(),
        interval: Interval {
            low: (mean - half).exp(),
            high: (mean + half).exp(),
            level: settings.level,
        },
        p,
        p_adjusted: p,
        different: false,
    })
}

/// The logarithm of a's throughput over b's, for each block that has both.
pub(crate) fn log_ratios(a: &CellAnalysis, b: &CellAnalysis) -> Vec<f64> {
    let throughput_in = |cell: &CellAnalysis, block: u32| {
        let trial = cell.trials.iter().find(|trial| trial.block == block)?;
        Some(trial.figures.as_ref()?.throughput_per_second)
    };
    a.trials
        .iter()
        .filter_map(|trial| {
            let ratio = throughput_in(a, trial.block)? / throughput_in(b, trial.block)?;
            Some(ratio.ln()).filter(|log| log.is_finite())
        })
        .collect()
}

/// Holm's adjusted p values, in the order of `p`.
pub fn holm(p: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|a, b| p[*a].total_cmp(&p[*b]));
    let mut adjusted = vec![1.0; p.len()];
    let mut least: f64 = 0.0;
    for (step, index) in order.into_iter().enumerate() {
        least = least.max((p[index] * (p.len() - step) as f64).min(1.0));
        adjusted[index] = least;
    }
    adjusted
}
