//! Ranks with ties, and which stacks are in a dead heat.

use std::cmp::Reverse;

use deadheat_model::TargetId;
use schemars::JsonSchema;
use serde::Serialize;

use crate::{CellAnalysis, compare::Comparison, metric::Metric, verdict::CellVerdict};

/// Gives every comparable cell with at least so many trials its rank: 1 + the number of stacks that are significantly
/// better, and no less than the rank of a stack with better figures. Of one with fewer nothing could be found, and so
/// nothing better.
///
/// Without the second rule, noise would improve a rank: from a stack whose figures scatter nothing can be told apart, so
/// that nothing would be better than it.
pub fn rank(
    cells: &mut [CellAnalysis],
    metric: Metric,
    comparisons: &[Comparison],
    least_trials: usize,
) {
    let enough = |cell: &&mut CellAnalysis| cell.trials.len() >= least_trials;
    let comparable = cells.iter_mut().filter(|cell| cell.is_comparable());
    let mut best_first: Vec<&mut CellAnalysis> = comparable.filter(enough).collect();
    best_first.sort_by_cached_key(|cell| (score(cell, metric), cell.target.clone()));
    let mut least = 1;
    for cell in best_first {
        let better = comparisons
            .iter()
            .filter(|pair| pair.different && pair.slower == cell.target);
        least = least.max(1 + better.count() as u32);
        cell.rank = Some(least);
    }
}

/// The order of the cells by the mean that comparisons are of: the logarithm of the geometric mean over trials, the best
/// first. In steps so small that nothing is told apart by them, and large enough that rounding is not.
fn score(cell: &CellAnalysis, metric: Metric) -> Reverse<i64> {
    let figures = cell
        .trials
        .iter()
        .filter_map(|trial| trial.figures.as_ref());
    let figures = figures.filter_map(|figures| metric.of_trial(figures));
    let logs: Vec<f64> = figures
        .map(|figure| metric.advantage(figure, 1.0))
        .collect();
    let mean = logs.iter().sum::<f64>() / logs.len().max(1) as f64;
    Reverse((mean * 1e9).round() as i64)
}

/// Sorts cells for reading: ranked ones by rank, then those without a rank, lower bounds, failed ones, void ones and
/// those not measured; in each by the metric, the best first, then by name. A lower bound that is already better than a
/// comparable stack stands before that one: its true figure is better still.
pub fn sort(cells: &mut [CellAnalysis], metric: Metric) {
    let key = |cell: &CellAnalysis| (class(&cell.verdict), cell.rank.unwrap_or(u32::MAX));
    // All figures are positive, so that their bits are in their order.
    let figure = |cell: &CellAnalysis| metric.of_cell(cell).map(f64::to_bits);
    cells.sort_by(|a, b| {
        let by_figure = match (metric, figure(a), figure(b)) {
            (Metric::Throughput, a, b) => b.cmp(&a),
            (Metric::ResponseTime { .. }, Some(a), Some(b)) => a.cmp(&b),
            (Metric::ResponseTime { .. }, a, b) => b.is_some().cmp(&a.is_some()),
        };
        let by_name = a.target.cmp(&b.target);
        key(a).cmp(&key(b)).then(by_figure).then(by_name)
    });
    for place in 0..cells.len() {
        let bound = &cells[place];
        let is_beaten =
            |other: &CellAnalysis| other.is_comparable() && metric.is_apart(bound, other);
        if class(&bound.verdict) == 1
            && let Some(beaten) = cells[..place].iter().position(is_beaten)
        {
            cells[beaten..=place].rotate_right(1);
        }
    }
}

fn class(verdict: &CellVerdict) -> u8 {
    match verdict {
        CellVerdict::Counts => 0,
        CellVerdict::LowerBound { .. } => 1,
        CellVerdict::Failed { .. } => 2,
        CellVerdict::Void { .. } => 3,
        CellVerdict::NotMeasured => 4,
    }
}

/// Stacks of equal rank of which none differs from another.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct DeadHeat {
    /// Their rank.
    pub rank: u32,
    /// Two or more stacks, in the order of the cells.
    pub targets: Vec<TargetId>,
    /// The largest ratio between two of them that the pairs' intervals (not adjusted) leave open: a
    /// dead heat over few or noisy blocks says that no difference was found, not that there is none.
    pub open_ratio: f64,
}

/// The dead heats among sorted cells, best rank first.
///
/// Equal rank alone is not enough: differences are not transitive, and of two stacks that each have one better stack
/// one may be the other's.
pub fn dead_heats(cells: &[CellAnalysis], comparisons: &[Comparison]) -> Vec<DeadHeat> {
    let pair = |a: &TargetId, b: &TargetId| {
        comparisons.iter().find(|pair| {
            (pair.faster == *a && pair.slower == *b) || (pair.faster == *b && pair.slower == *a)
        })
    };
    let mut heats: Vec<DeadHeat> = Vec::new();
    for cell in cells {
        let Some(rank) = cell.rank else { continue };
        let alike = |heat: &&mut DeadHeat| {
            let mut pairs = heat.targets.iter().map(|target| pair(target, &cell.target));
            heat.rank == rank && pairs.all(|pair| pair.is_some_and(|pair| !pair.different))
        };
        match heats.iter_mut().find(alike) {
            Some(heat) => {
                let pairs = heat
                    .targets
                    .iter()
                    .filter_map(|target| pair(target, &cell.target));
                let open = pairs.map(|pair| pair.interval.high);
                heat.open_ratio = open.fold(heat.open_ratio, f64::max);
                heat.targets.push(cell.target.clone());
            }
            None => heats.push(DeadHeat {
                rank,
                targets: vec![cell.target.clone()],
                open_ratio: 1.0,
            }),
        }
    }
    heats.retain(|heat| heat.targets.len() > 1);
    heats
}
