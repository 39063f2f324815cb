//! The check of a change: `--fail-if-slower`, `--fail-if-costlier` and `--require-decision`.

use deadheat_model::comparison::{Check, Decide};
use schemars::JsonSchema;
use serde::Serialize;

use super::{
    CellId, Compared, ComparisonAnalysis, Direction, Metric, Overloaded, Ratio, RatioVerdict,
};
use crate::interval::Interval;

/// Whether B passes a check.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Gate {
    /// What was asked for.
    #[serde(flatten)]
    pub check: Check,
    /// Whether B failed it.
    pub failed: bool,
    /// The ratios that the check tests, in the order of the comparison: those with a bound; without one, those that
    /// decide.
    pub cells: Vec<GateCell>,
    /// Rates that the check tests and that A can take but B cannot, so B fails.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub overloaded: Vec<GateOverload>,
    /// Number of questions that were not judged: their cells were not compared, lack the ratio, or stopped before a
    /// look. Each rate of equal work is a question.
    pub not_judged: usize,
    /// Number of those that more heats would not answer, because neither side can take the rate.
    #[serde(skip)]
    hopeless: usize,
}

/// A rate that A can take but B cannot.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct GateOverload {
    /// Which cell.
    #[serde(flatten)]
    pub subject: CellId,
    /// B's overload.
    #[serde(flatten)]
    pub overloaded: Overloaded,
}

/// One ratio that a check tests.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct GateCell {
    /// Which cell.
    #[serde(flatten)]
    pub subject: CellId,
    /// The metric of the ratio.
    pub metric: Metric,
    /// The rate of equal work at which it was measured, in requests per second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub per_second: Option<f64>,
    /// The bound that it is tested against; without one, the verdict counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bound: Option<f64>,
    /// B's figure over A's.
    pub ratio: f64,
    /// The interval that decided.
    pub interval: Option<Interval>,
    /// The result of the check for this ratio.
    pub is: Gated,
}

/// The result of a check for one ratio.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Gated {
    /// B is proven worse by more than the bound; without a bound, worse: it fails.
    Worse,
    /// It is excluded that B is worse by more than the bound: by the whole interval, or without a bound by the verdict.
    Excluded,
    /// Neither.
    NotExcluded,
}

impl Gate {
    /// Whether B passes `check` by these cells; `not_judged` is the number of others.
    pub fn new(compared: &[Compared], not_judged: usize, check: Check) -> Self {
        let mut gate = Self {
            check,
            failed: false,
            cells: Vec::new(),
            overloaded: Vec::new(),
            not_judged,
            hopeless: 0,
        };
        let verdict = [(GateQuestion::Verdict, None)];
        let slower = (GateQuestion::Slower, check.fail_if_slower);
        let bounds = [slower, (GateQuestion::Costlier, check.fail_if_costlier)];
        let bounds: Vec<_> = bounds.into_iter().filter(|one| one.1.is_some()).collect();
        let asked = if check.has_bound() {
            &bounds[..]
        } else {
            &verdict
        };
        for cell in compared {
            for (question, bound) in asked {
                let of = |ratio: &Ratio| GateCell {
                    subject: cell.subject.clone(),
                    metric: ratio.metric,
                    per_second: ratio.per_second,
                    bound: *bound,
                    ratio: ratio.ratio,
                    interval: ratio.interval,
                    is: gated(ratio, *bound),
                };
                gate.cells.extend(question.ratios(cell).map(of));
                gate.not_judged += question.unknown(cell);
                if question.is_about_rates(cell.decide) {
                    gate.ask_rates(cell);
                }
            }
        }
        let is_asked = check.has_bound() || check.require_decision;
        gate.failed =
            (is_asked && gate.is_against_b()) || (check.require_decision && gate.is_open());
        gate
    }

    /// Checks which sides can take the rates of a cell. A rate that only A cannot take is no fault of B.
    fn ask_rates(&mut self, cell: &Compared) {
        for rate in cell.all_overloads() {
            match rate {
                [None, Some(b)] if b.other_side_keeps_up => {
                    let one = GateOverload {
                        subject: cell.subject.clone(),
                        overloaded: b.clone(),
                    };
                    if !self.overloaded.contains(&one) {
                        self.overloaded.push(one);
                    }
                }
                [Some(a), None] if a.other_side_keeps_up => {}
                [a, b] => {
                    self.not_judged += 1;
                    self.hopeless += usize::from(a.is_some() && b.is_some());
                }
            }
        }
    }

    /// Whether more heats would not change the result: B is proven worse by more than a bound, or that is excluded at
    /// every rate that a side can take.
    pub fn is_decided(&self) -> bool {
        let is_open = self.has(Gated::NotExcluded) || self.not_judged > self.hopeless;
        self.is_against_b() || !is_open
    }

    /// Whether B is proven worse by more than a bound, or cannot take a rate that A takes.
    pub(super) fn is_against_b(&self) -> bool {
        self.has(Gated::Worse) || !self.overloaded.is_empty()
    }

    fn has(&self, is: Gated) -> bool {
        self.cells.iter().any(|cell| cell.is == is)
    }

    fn is_open(&self) -> bool {
        self.has(Gated::NotExcluded) || self.not_judged > 0
    }
}

/// A question that a check asks about a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum GateQuestion {
    /// Whether the verdict is against B.
    Verdict,
    /// Whether B is slower by more than a bound.
    Slower,
    /// Whether B needs more CPU time per request by more than a bound.
    Costlier,
}

impl GateQuestion {
    /// Whether the question is about this ratio: that of the deciding quantity, or of throughput if CPU time decides.
    pub(super) fn is_about(
        self,
        decides: bool,
        decide: Decide,
        metric: Metric,
        at_rate: bool,
    ) -> bool {
        let is_cost = metric == Metric::CpuPerRequest;
        match self {
            Self::Verdict => decides,
            Self::Slower if decide == Decide::Cpu => metric == Metric::Throughput,
            Self::Slower => decides && !is_cost,
            Self::Costlier => is_cost && at_rate,
        }
    }

    /// Whether a side that cannot take a rate of equal work answers the question.
    fn is_about_rates(self, decide: Decide) -> bool {
        match self {
            Self::Verdict => decide != Decide::Throughput,
            Self::Slower => decide == Decide::P99,
            Self::Costlier => true,
        }
    }

    /// The number of ratios that the cell lacks for this question.
    fn unknown(self, cell: &Compared) -> usize {
        let needed = match self {
            Self::Costlier => Some(Metric::CpuPerRequest),
            Self::Verdict | Self::Slower => cell.needed(),
        };
        match needed.filter(|_| self.is_about_rates(cell.decide)) {
            Some(metric) => cell.unknown(metric, self.ratios(cell)),
            None => usize::from(self.ratios(cell).next().is_none()),
        }
    }

    fn ratios(self, cell: &Compared) -> impl Iterator<Item = &Ratio> {
        let (decide, count) = (cell.decide, cell.deciding().len());
        let ratios = cell.ratios.iter().enumerate();
        let ratios = ratios.filter(move |(place, ratio)| {
            let at_rate = ratio.per_second.is_some();
            self.is_about(*place < count, decide, ratio.metric, at_rate)
        });
        ratios.map(|(_, ratio)| ratio)
    }
}

impl ComparisonAnalysis {
    /// The result of `check` for B. Cells without a look are not judged.
    pub fn gate(&self, check: Check) -> Gate {
        let judged = if self.is_judged() {
            &self.compared[..]
        } else {
            &[]
        };
        let not_judged = self.not_compared.len() + self.compared.len() - judged.len();
        let gate = Gate::new(judged, not_judged, check);
        if !check.has_bound() {
            return gate;
        }
        let level = 1.0 - self.bounds.alpha / gate.cells.len().max(1) as f64;
        Gate::new(&at_shared_level(judged, level), not_judged, check)
    }

    /// Whether any cell has a ratio. Without one, nothing was compared.
    pub fn has_ratio(&self) -> bool {
        self.compared.iter().any(|cell| !cell.ratios.is_empty())
    }

    /// Whether B failed: as a whole, or in a cell.
    pub fn b_failed(&self) -> bool {
        self.b.failed.is_some() || self.not_compared.iter().any(|cell| cell.b_failed)
    }
}

/// The cells with the intervals that a bound is tested with. In the same heats, they have these intervals already. Those of
/// sessions and runs have Holm's levels, which are chosen by the p values of no difference, and so hold for that question
/// alone: here, all tested ratios share the error evenly (Bonferroni).
fn at_shared_level(compared: &[Compared], level: f64) -> Vec<Compared> {
    let mut compared = compared.to_vec();
    let ratios = compared.iter_mut().flat_map(|cell| &mut cell.ratios);
    for ratio in ratios.filter(|ratio| ratio.p_adjusted.is_some()) {
        ratio.interval = ratio.interval_at(level);
    }
    compared
}

/// Compares the interval of the ratio with the bound; without a bound, uses the verdict. Both ends of the interval hold
/// at every look. So at most half of the error level of all looks fails a B that is not worse by more than the bound,
/// and at most the other half passes a B that is.
fn gated(ratio: &Ratio, bound: Option<f64>) -> Gated {
    let Some(bound) = bound else {
        return match ratio.verdict {
            RatioVerdict::Worse => Gated::Worse,
            RatioVerdict::NotEnoughData => Gated::NotExcluded,
            RatioVerdict::Better | RatioVerdict::DeadHeat => Gated::Excluded,
        };
    };
    let Some(interval) = ratio.interval else {
        return Gated::NotExcluded;
    };
    let (is_worse, is_excluded) = match ratio.metric.direction() {
        Direction::MoreIsBetter => (interval.high < 1.0 - bound, interval.low >= 1.0 - bound),
        Direction::LessIsBetter => (interval.low > 1.0 + bound, interval.high <= 1.0 + bound),
    };
    match () {
        () if is_worse => Gated::Worse,
        () if is_excluded && ratio.heats() >= ratio.rule.least_heats as usize => Gated::Excluded,
        () => Gated::NotExcluded,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::heats::Rule;

    /// The gate's result for a throughput with this interval, after this number of heats.
    fn of(low: f64, high: f64, heats: usize) -> Gated {
        let ratio = Ratio {
            metric: Metric::Throughput,
            per_second: None,
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
            unchanged: None,
            rule: Rule {
                threshold: 0.0,
                margin: 0.03,
                least_heats: 8,
            },
            verdict: RatioVerdict::NotEnoughData,
        };
        gated(&ratio.judged(), Some(0.03))
    }

    /// A proven difference below the bound does not fail, and an estimate beyond the bound is no proof.
    #[test]
    fn the_bound_itself_is_tested() {
        assert_eq!(of(0.93, 0.965, 8), Gated::Worse);
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
        assert_eq!(of(0.93, 0.965, 7), Gated::Worse);
    }
}
