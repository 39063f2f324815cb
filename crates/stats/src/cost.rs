//! What the stacks of a load point need of CPU time, beside the one that needs least.

use deadheat_model::TargetId;
use schemars::JsonSchema;
use serde::Serialize;

use crate::{
    CellAnalysis, Settings, compare::Paired, order_statistic::Interval, trial::TrialAnalysis,
    verdict::CellVerdict,
};

/// CPU time per request of the stacks of a load point, paired within the blocks.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct CpuComparison {
    /// The stack with the lowest median.
    pub least: TargetId,
    /// Its median, in microseconds per request.
    pub least_us_per_request: f64,
    /// The others, the cheapest first.
    pub others: Vec<CpuRatio>,
}

/// How many times as much CPU time a stack needs per request.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct CpuRatio {
    /// The stack.
    pub target: TargetId,
    /// Blocks in which both were measured.
    pub blocks: usize,
    /// Its CPU time per request over that of the one that needs least: the geometric mean of the ratios within a block.
    pub ratio: f64,
    /// The t interval of `ratio` on the logarithm; it is not adjusted for the number of pairs.
    pub interval: Interval,
    /// The two-sided p value of a ratio of 1.
    pub p: f64,
    /// The same after Bonferroni over all pairs of the load point: which stack needs least was found from the same
    /// figures.
    pub p_adjusted: f64,
    /// Whether it needs more: significantly, and by more than the practical difference.
    pub different: bool,
}

/// Compares `cells`; `None` where fewer than two can be. A throughput that the generator limited is a lower bound, but
/// what a request cost the server was measured all the same.
pub fn compare(cells: &[CellAnalysis], settings: &Settings) -> Option<CpuComparison> {
    let is_measured = |cell: &&CellAnalysis| {
        matches!(
            cell.verdict,
            CellVerdict::Counts | CellVerdict::LowerBound { .. }
        )
    };
    let measured = cells.iter().filter(is_measured);
    let mut measured: Vec<(&CellAnalysis, f64)> = measured
        .filter_map(|cell| Some((cell, cell.estimates.as_ref()?.cpu_us_per_request?.median)))
        .collect();
    measured.sort_by(|(a, one), (b, other)| one.total_cmp(other).then(a.target.cmp(&b.target)));
    let ((least, median), others) = measured.split_first()?;
    let pairs = measured.len() * others.len() / 2;
    let others = others.iter().filter_map(|(cell, _)| {
        let paired = Paired::of(&log_ratios(cell, least), settings)?;
        let p_adjusted = (paired.p * pairs as f64).min(1.0);
        Some(CpuRatio {
            target: cell.target.clone(),
            blocks: paired.blocks,
            ratio: paired.ratio(),
            interval: paired.interval(),
            p: paired.p,
            p_adjusted,
            different: p_adjusted < settings.alpha
                && paired.ratio() > 1.0 + settings.practical_difference,
        })
    });
    let mut others: Vec<CpuRatio> = others.collect();
    others.sort_by(|one, other| one.ratio.total_cmp(&other.ratio));
    (!others.is_empty()).then(|| CpuComparison {
        least: least.target.clone(),
        least_us_per_request: *median,
        others,
    })
}

/// The logarithm of `cell`'s CPU time per request over that of `least`, for each block that has both.
fn log_ratios(cell: &CellAnalysis, least: &CellAnalysis) -> Vec<f64> {
    let cpu = |trial: &TrialAnalysis| trial.figures.as_ref()?.cpu_us_per_request;
    let ratios = cell.trials.iter().filter_map(|trial| {
        let mut beside = least.trials.iter();
        let beside = beside.find(|other| other.block == trial.block)?;
        Some((cpu(trial)? / cpu(beside)?).ln()).filter(|log| log.is_finite())
    });
    ratios.collect()
}
