//! What a check of a change may rely on: `--fail-if-slower` and `--require-decision`.

use serde::Serialize;

use super::{Compared, Direction, Metric, Ratio, Subject, Verdict, Versus};

/// What a check fails for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Check {
    /// B fails if it is slower by more than this share (0.03): its throughput below 0.97 of A's, or its response
    /// time above 1.03.
    pub fail_if_slower: Option<f64>,
    /// B fails if a slowdown beyond that bound is not excluded; without a bound, if any slowdown is not excluded.
    pub require_decision: bool,
}

/// Whether B passes a check.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Gate {
    /// What was asked for.
    #[serde(flatten)]
    pub check: Check,
    /// Whether B failed it.
    pub failed: bool,
    /// Every ratio that decides, in the order of the comparison.
    pub cells: Vec<GateCell>,
    /// Cells that were not judged: not compared, without a ratio that decides, or measured but stopped before a look.
    pub not_judged: usize,
}

/// One ratio that decides on a cell.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GateCell {
    /// Which cell.
    #[serde(flatten)]
    pub subject: Subject,
    /// What the ratio is of.
    pub metric: Metric,
    /// B's figure over A's.
    pub ratio: f64,
    /// What it says of the check.
    pub is: Gated,
}

/// What a ratio says of the check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Gated {
    /// B is slower, and its ratio is beyond the bound: it fails.
    Slower,
    /// A slowdown beyond the bound is excluded: by the whole interval, or without a bound by the verdict.
    Excluded,
    /// Neither.
    NotExcluded,
}

impl Versus {
    /// Whether B passes `check`.
    pub fn gate(&self, check: Check) -> Gate {
        let judged = |cell: &Compared| {
            let subject = cell.subject.clone();
            let cells = cell.deciding().iter().map(|ratio| GateCell {
                subject: subject.clone(),
                metric: ratio.metric,
                ratio: ratio.ratio,
                is: gated(ratio, check.fail_if_slower),
            });
            cells.collect::<Vec<_>>()
        };
        let (judgeable, unjudged): (Vec<&Compared>, Vec<&Compared>) = self
            .compared
            .iter()
            .partition(|cell| self.is_judged() && !cell.deciding().is_empty());
        let cells: Vec<GateCell> = judgeable.into_iter().flat_map(judged).collect();
        let not_judged = self.not_compared.len() + unjudged.len();
        let has = |is| cells.iter().any(|cell| cell.is == is);
        let is_open = has(Gated::NotExcluded) || not_judged > 0;
        let fails_if_slower = check.fail_if_slower.is_some() || check.require_decision;
        Gate {
            failed: (fails_if_slower && has(Gated::Slower)) || (check.require_decision && is_open),
            check,
            cells,
            not_judged,
        }
    }

    /// Whether there is any figure of B over A. Without one nothing was compared.
    pub fn has_ratio(&self) -> bool {
        self.compared.iter().any(|cell| !cell.ratios.is_empty())
    }

    /// Whether B failed: as a whole, or in a cell.
    pub fn b_failed(&self) -> bool {
        self.b.failed.is_some() || self.not_compared.iter().any(|cell| cell.b_failed)
    }
}

fn gated(ratio: &Ratio, bound: Option<f64>) -> Gated {
    let Some(bound) = bound else {
        return match ratio.verdict {
            Verdict::Worse => Gated::Slower,
            Verdict::NotEnoughData => Gated::NotExcluded,
            Verdict::Better | Verdict::DeadHeat => Gated::Excluded,
        };
    };
    let is_beyond = |figure: f64, direction| match direction {
        Direction::MoreIsBetter => figure < 1.0 - bound,
        Direction::LessIsBetter => figure > 1.0 + bound,
    };
    let direction = ratio.metric.direction();
    let worst = ratio.interval.map(|interval| match direction {
        Direction::MoreIsBetter => interval.low,
        Direction::LessIsBetter => interval.high,
    });
    match ratio.verdict {
        Verdict::Worse if is_beyond(ratio.ratio, direction) => Gated::Slower,
        _ if worst.is_some_and(|worst| !is_beyond(worst, direction)) => Gated::Excluded,
        _ => Gated::NotExcluded,
    }
}
