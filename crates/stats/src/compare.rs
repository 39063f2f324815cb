//! Which stacks differ: paired within a block, so that a drift of the machine cancels, and corrected for how many
//! pairs were looked at (Holm, "A simple sequentially rejective multiple test procedure", Scand. J. Stat. 6, 1979).

use deadheat_model::TargetId;
use schemars::JsonSchema;
use serde::Serialize;

use crate::{CellAnalysis, Settings, interval::moments, metric::Metric, order_statistic::Interval};

/// Two stacks at one load point.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Comparison {
    /// The better (or equal) one by the geometric mean of the block-wise ratios: with the higher throughput, or with
    /// the shorter response time.
    pub faster: TargetId,
    /// The other.
    pub slower: TargetId,
    /// Blocks in which both were measured.
    pub blocks: usize,
    /// How many times better `faster` is, 1 or more: its throughput over that of `slower`, or the response time of
    /// `slower` over its own. The geometric mean of the ratios within a block.
    pub ratio: f64,
    /// The t interval of `ratio` on the logarithm; it is not adjusted for the number of pairs.
    pub interval: Interval,
    /// The two-sided p value of a ratio of 1.
    pub p: f64,
    /// The same after Holm over all pairs of the load point.
    pub p_adjusted: f64,
    /// Whether they differ: significantly, and by more than the load point's least difference.
    pub different: bool,
}

/// Ratios of two things within blocks, summed up on the logarithm.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Paired {
    /// Blocks.
    pub blocks: usize,
    /// The mean of the logarithms.
    pub mean: f64,
    /// The half width of its t interval.
    pub half: f64,
    /// The level of that interval (0 to 1).
    pub level: f64,
    /// The two-sided p value of a ratio of 1.
    pub p: f64,
}

impl Paired {
    /// Of the logarithms of the ratios, one for each block; `None` with fewer than a comparison needs.
    pub fn of(log_ratios: &[f64], settings: &Settings) -> Option<Self> {
        if log_ratios.len() < settings.blocks_for_comparison {
            return None;
        }
        let moments = moments(log_ratios)?;
        Some(Self {
            blocks: moments.n,
            mean: moments.mean,
            half: moments.half_width(settings.level),
            level: settings.level,
            p: moments.p_of_zero(),
        })
    }

    /// The geometric mean of the ratios.
    pub fn ratio(&self) -> f64 {
        self.mean.exp()
    }

    /// Its t interval.
    pub fn interval(&self) -> Interval {
        Interval {
            low: (self.mean - self.half).exp(),
            high: (self.mean + self.half).exp(),
            level: self.level,
        }
    }

    /// The same of the inverse ratios, if the mean is below 1.
    fn upright(mut self) -> Self {
        self.mean = self.mean.abs();
        self
    }
}

/// All pairs of the comparable cells by throughput, in the order of the cells, without a noise floor.
pub fn compare_all(cells: &[CellAnalysis], settings: &Settings) -> Vec<Comparison> {
    let metric = Metric::Throughput;
    compare_by(cells, metric, metric.practical(settings), settings)
}

/// All pairs of the comparable cells, in the order of the cells. `least` is the share that a ratio must be farther from
/// 1 than ([`least_difference`]).
pub fn compare_by(
    cells: &[CellAnalysis],
    metric: Metric,
    least: f64,
    settings: &Settings,
) -> Vec<Comparison> {
    let comparable: Vec<&CellAnalysis> = cells.iter().filter(|cell| cell.is_comparable()).collect();
    let mut pairs: Vec<Comparison> = Vec::new();
    for (index, a) in comparable.iter().enumerate() {
        let others = &comparable[index + 1..];
        pairs.extend(
            others
                .iter()
                .filter_map(|b| compare(a, b, metric, settings)),
        );
    }
    let adjusted = holm(&pairs.iter().map(|pair| pair.p).collect::<Vec<_>>());
    for (pair, p_adjusted) in pairs.iter_mut().zip(adjusted) {
        pair.p_adjusted = p_adjusted;
        // The ratio is 1 or more, so that one bound is both: 1.01 one way is 1/1.01 the other.
        pair.different = p_adjusted < settings.alpha && pair.ratio > 1.0 + least;
    }
    pairs
}

/// What a ratio must be farther from 1 than, as a share: the practical difference, or what the same program under two
/// names differs by, if that is more.
pub fn least_difference(metric: Metric, floor: Option<f64>, settings: &Settings) -> f64 {
    metric.practical(settings).max(floor.unwrap_or(0.0))
}

/// One pair, before the correction; `None` with fewer blocks in common than a comparison needs.
fn compare(
    a: &CellAnalysis,
    b: &CellAnalysis,
    metric: Metric,
    settings: &Settings,
) -> Option<Comparison> {
    let paired = Paired::of(&log_ratios(a, b, metric), settings)?;
    let (faster, slower) = if paired.mean < 0.0 { (b, a) } else { (a, b) };
    let paired = paired.upright();
    Some(Comparison {
        faster: faster.target.clone(),
        slower: slower.target.clone(),
        blocks: paired.blocks,
        ratio: paired.ratio(),
        interval: paired.interval(),
        p: paired.p,
        p_adjusted: paired.p,
        different: false,
    })
}

/// The logarithm of how many times better a is than b, for each block that has both.
pub fn log_ratios(a: &CellAnalysis, b: &CellAnalysis, metric: Metric) -> Vec<f64> {
    let figure_in = |cell: &CellAnalysis, block: u32| {
        let trial = cell.trials.iter().find(|trial| trial.block == block)?;
        metric.of_trial(trial.figures.as_ref()?)
    };
    a.trials
        .iter()
        .filter_map(|trial| {
            let (one, other) = (figure_in(a, trial.block)?, figure_in(b, trial.block)?);
            Some(metric.advantage(one, other)).filter(|log| log.is_finite())
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
