//! What stacks gain from more CPUs, in a session that measures each of them at several budgets.
//!
//! The members of a stack take part in the same heats as all others, so a gain is a contrast of the load's fit. Nothing
//! is chosen by the results: each larger budget is compared with the smallest one. All gains of a load hold together,
//! each at an equal share of the error level (Bonferroni).

use std::collections::BTreeMap;

use deadheat_model::TargetId;

use super::{
    at::LoadAt,
    types::{AtBudget, Gain, Measure, Scaling},
};
use crate::{
    heats::{Fit, PairVerdict, Quantity, RankedPair, pairs::Candidate, ranking::bounded},
    interval::{Interval, median},
};

/// What is said of the budgets of a load's stacks, and the pairs behind it.
#[derive(Default)]
pub(crate) struct Scalings {
    pub(super) stacks: Vec<Scaling>,
    pairs: Vec<RankedPair>,
}

impl Scalings {
    /// Of a closed loop. What is the same for all at equal work is no gain.
    pub(crate) fn new(at: &LoadAt<'_>) -> Self {
        let stacks = budgets(at);
        let contrasts: usize = stacks.values().map(|budgets| budgets.len() - 1).sum();
        if contrasts == 0 || at.measure() != Measure::Throughput {
            return Self::default();
        }
        let series = &at.heat_series();
        let judge = Judge {
            at,
            fit: at.fit(series, Quantity::Throughput),
            cost: at.fit(series, Quantity::Cost),
            bounded: bounded(series, &at.settings),
            alpha: at.alpha() / contrasts as f64,
        };
        let mut pairs = Vec::new();
        let stacks = stacks.into_iter().map(|(target, budgets)| Scaling {
            target,
            budgets: judge.budgets(&budgets, &mut pairs),
        });
        Self {
            stacks: stacks.collect(),
            pairs,
        }
    }

    /// Whether more heats would change nothing that is said.
    pub(crate) fn is_settled(&self) -> bool {
        !self.pairs.iter().any(RankedPair::is_open)
    }

    /// Whether the gains are known this well (0.05: ±5 %), or no heat can make them known.
    pub(crate) fn is_precise(&self, precision: f64) -> bool {
        let widths = self.pairs.iter().map(RankedPair::half_width);
        let width = median(widths.filter(|width| width.is_finite()));
        width.is_none_or(|width| width <= precision.ln_1p())
    }

    /// Pairs that more heats can decide.
    pub(crate) fn open(&self) -> impl Iterator<Item = (usize, usize)> {
        let open = self.pairs.iter().filter(|pair| pair.is_open());
        open.map(|pair| (pair.better, pair.worse))
    }
}

/// A budget with the number of the member that has it.
type Budget = (u32, usize);

/// The stacks that have figures at several budgets, each with its budgets, the smallest first.
fn budgets(at: &LoadAt<'_>) -> BTreeMap<TargetId, Vec<Budget>> {
    let mut stacks: BTreeMap<TargetId, Vec<Budget>> = BTreeMap::new();
    let placed = at.groups().into_iter().enumerate();
    for (number, _) in placed.filter(|(_, group)| group.is_some()) {
        let target = at.load.target(number);
        if let Some(cpus) = target.cpus {
            let own = stacks.entry(target.on_cpus(None)).or_default();
            own.push((cpus, number));
        }
    }
    stacks.values_mut().for_each(|own| own.sort_unstable());
    stacks.retain(|_, own| own.len() > 1);
    stacks
}

struct Judge<'a> {
    at: &'a LoadAt<'a>,
    fit: Fit,
    cost: Fit,
    bounded: Vec<bool>,
    alpha: f64,
}

impl Judge<'_> {
    /// What a stack does with each of its budgets that it has a figure for; the pairs are added to `pairs`.
    fn budgets(&self, budgets: &[Budget], pairs: &mut Vec<RankedPair>) -> Vec<AtBudget> {
        let mut known = budgets.iter().filter_map(|(cpus, member)| {
            let per_second = self.fit.figure(*member, Quantity::Throughput)?;
            let cost = self.cost.figure(*member, Quantity::Cost);
            Some(AtBudget {
                cpus: *cpus,
                member: *member,
                per_second,
                is_bound: self.bounded[*member],
                cpu_us_per_request: cost.map(|seconds| 1e6 * seconds),
                heats: self.fit.heats(*member) as u32,
                gain: None,
            })
        });
        let Some(least) = known.next() else {
            return Vec::new();
        };
        let larger: Vec<AtBudget> = known
            .map(|more| {
                let pair = self.pair(&least, &more);
                let gain = self.gain(&pair, &least, &more);
                pairs.push(pair);
                AtBudget { gain, ..more }
            })
            .collect();
        [least].into_iter().chain(larger).collect()
    }

    fn pair(&self, least: &AtBudget, more: &AtBudget) -> RankedPair {
        let [better, worse] = if more.per_second >= least.per_second {
            [more, least]
        } else {
            [least, more]
        };
        let candidate = Candidate {
            better: better.member,
            worse: worse.member,
            contrast: self.fit.contrast(better.member, worse.member),
            better_is_bound: better.is_bound,
            worse_is_bound: worse.is_bound,
            heats: better.heats.min(worse.heats) as usize,
        };
        candidate.judge(self.alpha, &self.at.settings.rule())
    }

    /// How many times as much the larger budget is; `None` if they cannot be compared, as where the smallest has only a
    /// lower bound.
    fn gain(&self, pair: &RankedPair, least: &AtBudget, more: &AtBudget) -> Option<Gain> {
        if least.is_bound {
            return None;
        }
        let (ratio, interval, verdict) = if pair.better == more.member {
            (pair.ratio?, pair.interval, pair.verdict)
        } else {
            let interval = pair.interval.map(Interval::reversed);
            (1.0 / pair.ratio?, interval, pair.verdict.reversed())
        };
        let is_bound = more.is_bound || self.at.record.header.plan.generator_shares_cpus();
        let (interval, verdict) = match (self.at.has_look(), is_bound) {
            (false, _) => (None, PairVerdict::Undecided),
            (true, false) => (interval, verdict),
            // Nothing is known of what the larger budget can do at most.
            (true, true) => (
                interval.map(|one| Interval {
                    high: f64::INFINITY,
                    ..one
                }),
                match verdict {
                    PairVerdict::Faster => PairVerdict::Faster,
                    _ => PairVerdict::Undecided,
                },
            ),
        };
        Some(Gain {
            ratio,
            interval,
            is_bound,
            efficiency: ratio * f64::from(least.cpus) / f64::from(more.cpus),
            verdict,
        })
    }
}
