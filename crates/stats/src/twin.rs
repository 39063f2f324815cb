//! One stack measured twice under two names (A/A): what differs between the two is noise.

use deadheat_model::TargetId;
use schemars::JsonSchema;
use serde::Serialize;

use crate::{
    CellAnalysis, Settings,
    compare::{Paired, holm, log_ratios},
    metric::Metric,
    order_statistic::Interval,
};

/// A stack and its twin at a load point.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct AaPair {
    /// The stack that was measured twice.
    pub of: TargetId,
    /// What the two differ by; `None` when one of them cannot be compared, or they have too few blocks in common.
    pub found: Option<AaFound>,
    /// The twin's trials, verdict and figures, as of a stack. It has no rank.
    pub cell: CellAnalysis,
}

/// How a stack and its twin differ, by the metric of the load point.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct AaFound {
    /// Blocks in which both were measured.
    pub blocks: usize,
    /// How many times better the twin is: the geometric mean of the ratios within a block.
    pub ratio: f64,
    /// The t interval of `ratio` on the logarithm.
    pub interval: Interval,
    /// The two-sided p value of a ratio of 1.
    pub p: f64,
    /// The same after Holm over all A/A pairs of the session.
    pub p_adjusted: f64,
    /// The noise floor: how far `ratio` is from 1, as a share (`max(ratio, 1 ÷ ratio) − 1`). Smaller differences are
    /// none at this load point.
    pub floor: f64,
    /// Whether the two differ by the rule for stacks (`p_adjusted` below alpha, and farther from 1 than the practical
    /// difference). They are the same program, so then the session's order or machine favours one of two equals.
    pub differs: bool,
}

impl AaPair {
    /// The pair of `original`, if it is there, and its twin.
    pub(crate) fn new(
        of: TargetId,
        original: Option<&CellAnalysis>,
        twin: CellAnalysis,
        metric: Metric,
        settings: &Settings,
    ) -> Self {
        let both = original.filter(|cell| cell.is_comparable() && twin.is_comparable());
        let paired =
            both.and_then(|original| Paired::of(&log_ratios(&twin, original, metric), settings));
        Self {
            of,
            found: paired.map(|paired| AaFound {
                blocks: paired.blocks,
                ratio: paired.ratio(),
                interval: paired.interval(),
                p: paired.p,
                p_adjusted: paired.p,
                floor: paired.mean.abs().exp() - 1.0,
                differs: false,
            }),
            cell: twin,
        }
    }

    /// The noise floor, if it is known.
    pub fn floor(&self) -> Option<f64> {
        self.found.map(|found| found.floor)
    }
}

/// Judges all A/A pairs of a session, each with the metric of its load point.
pub(crate) fn judge(pairs: &mut [(Metric, &mut AaFound)], settings: &Settings) {
    let p: Vec<f64> = pairs.iter().map(|(_, found)| found.p).collect();
    for ((metric, found), p_adjusted) in pairs.iter_mut().zip(holm(&p)) {
        found.p_adjusted = p_adjusted;
        found.differs = p_adjusted < settings.alpha && found.floor > metric.practical(settings);
    }
}
