//! What a check of a change may rely on: `--fail-if-slower` and `--require-decision`.

use deadheat_model::comparison::Check;
use schemars::JsonSchema;
use serde::Serialize;

use super::{Compared, Direction, Metric, Ratio, Subject, Verdict, Versus};
use crate::order_statistic::Interval;

/// Whether B passes a check.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
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
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct GateCell {
    /// Which cell.
    #[serde(flatten)]
    pub subject: Subject,
    /// What the ratio is of.
    pub metric: Metric,
    /// B's figure over A's.
    pub ratio: f64,
    /// The interval that decided.
    pub interval: Option<Interval>,
    /// What it says of the check.
    pub is: Gated,
}

/// What a ratio says of the check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Gated {
    /// B is proven slower by more than the bound; without a bound, slower: it fails.
    Slower,
    /// A slowdown beyond the bound is excluded: by the whole interval, or without a bound by the verdict.
    Excluded,
    /// Neither.
    NotExcluded,
}

impl Gate {
    /// Whether B passes `check` by these cells, beside which so many were not judged.
    pub fn of(compared: &[Compared], not_judged: usize, check: Check) -> Self {
        let judged = |cell: &Compared| {
            let subject = cell.subject.clone();
            let cells = cell.deciding().iter().map(|ratio| GateCell {
                subject: subject.clone(),
                metric: ratio.metric,
                ratio: ratio.ratio,
                interval: ratio.interval,
                is: gated(ratio, check.fail_if_slower),
            });
            cells.collect::<Vec<_>>()
        };
        let (judgeable, unjudged): (Vec<&Compared>, Vec<&Compared>) = compared
            .iter()
            .partition(|cell| !cell.deciding().is_empty());
        let mut gate = Self {
            check,
            failed: false,
            cells: judgeable.into_iter().flat_map(judged).collect(),
            not_judged: not_judged + unjudged.len(),
        };
        let fails_if_slower = check.fail_if_slower.is_some() || check.require_decision;
        gate.failed = (fails_if_slower && gate.has(Gated::Slower))
            || (check.require_decision && gate.is_open());
        gate
    }

    /// Whether measuring on would change nothing of it: B is proven slower by more than the bound, or that is excluded
    /// everywhere.
    pub fn is_decided(&self) -> bool {
        self.has(Gated::Slower) || !self.is_open()
    }

    fn has(&self, is: Gated) -> bool {
        self.cells.iter().any(|cell| cell.is == is)
    }

    fn is_open(&self) -> bool {
        self.has(Gated::NotExcluded) || self.not_judged > 0
    }
}

impl Versus {
    /// Whether B passes `check`. What has no look is not judged.
    pub fn gate(&self, check: Check) -> Gate {
        let judged = if self.is_judged() {
            &self.compared[..]
        } else {
            &[]
        };
        let not_judged = self.not_compared.len() + self.compared.len() - judged.len();
        Gate::of(judged, not_judged, check)
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

/// With a bound, what the interval of the ratio says of that bound; whether B is slower at all is another question. Both
/// ends hold at every look, so that at most half of the error level of all looks together fails a B that is not slower
/// by more than the bound, and as much passes one that is.
fn gated(ratio: &Ratio, bound: Option<f64>) -> Gated {
    let Some(bound) = bound else {
        return match ratio.verdict {
            Verdict::Worse => Gated::Slower,
            Verdict::NotEnoughData => Gated::NotExcluded,
            Verdict::Better | Verdict::DeadHeat => Gated::Excluded,
        };
    };
    let Some(interval) = ratio.interval else {
        return Gated::NotExcluded;
    };
    // Of two sessions, what the machine itself changed by proves nothing of B, and may hide as much.
    let drift = ratio.drift.unwrap_or(0.0);
    let beyond = bound.max(drift);
    let (is_slower, is_excluded) = match ratio.metric.direction() {
        Direction::MoreIsBetter => (interval.high < 1.0 - beyond, interval.low >= 1.0 - bound),
        Direction::LessIsBetter => (interval.low > 1.0 + beyond, interval.high <= 1.0 + bound),
    };
    match () {
        () if is_slower => Gated::Slower,
        () if is_excluded && drift <= bound && ratio.heats() >= ratio.rule.least_heats as usize => {
            Gated::Excluded
        }
        () => Gated::NotExcluded,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::heats::Rule;

    /// Of a throughput with this interval, after so many heats.
    fn of(low: f64, high: f64, heats: usize) -> Gated {
        let ratio = Ratio {
            metric: Metric::Throughput,
            a: 1.0,
            b: (low * high).sqrt(),
            heats_a: heats,
            heats_b: heats,
            ratio: (low * high).sqrt(),
            error: None,
            spread: None,
            freedom: None,
            interval: Some(Interval {
                low,
                high,
                level: 0.95,
            }),
            p: None,
            p_adjusted: None,
            drift: None,
            rule: Rule {
                threshold: 0.0,
                margin: 0.03,
                least_heats: 8,
            },
            verdict: Verdict::NotEnoughData,
        };
        gated(&ratio.judged(), Some(0.03))
    }

    /// Slower is not slower than the bound, and an estimate beyond the bound is no proof.
    #[test]
    fn the_bound_itself_is_tested() {
        assert_eq!(of(0.93, 0.965, 8), Gated::Slower);
        assert_eq!(
            of(0.93, 0.99, 8),
            Gated::NotExcluded,
            "slower, by 4 % or so"
        );
        assert_eq!(
            of(0.975, 0.99, 8),
            Gated::Excluded,
            "slower, by 3 % at most"
        );
        assert_eq!(of(0.96, 1.04, 8), Gated::NotExcluded);
        assert_eq!(of(0.975, 0.99, 7), Gated::NotExcluded, "too few starts");
        assert_eq!(of(0.93, 0.965, 7), Gated::Slower);
    }
}
