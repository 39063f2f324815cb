//! What the time between two sessions did to stacks that are the same in both.
//!
//! Two machines of one kind, two kernels or two hours do not make all servers slower by the same factor, so no single
//! server shows what they did to another one (docs/evidence has by how much they differ). Least of all the null server
//! does, which hardly works. A stack has changed if it moved farther than the unchanged ones: its ratio is compared with
//! the distribution of theirs. With the logarithms of
//! their ratios d₁ … d_k, of mean m and standard deviation s, the ratio of one more stack that did not change lies
//! within m ± t(k − 1) · s · √(1 + 1/k) at the level of t (prediction interval of a normal distribution: Hahn & Meeker,
//! Statistical Intervals, 1991, section 4.3). Their scatter has the error of their own figures in it, and counts as no
//! smaller than that error alone. A stack whose figures have a larger error than theirs adds the difference of the
//! variances, with the degrees of freedom of Satterthwaite.

use deadheat_model::TargetId;
use schemars::JsonSchema;
use serde::Serialize;

use crate::interval::Difference;

/// With fewer unchanged stacks their scatter is not known, and there is no verdict.
pub const MIN_UNCHANGED: usize = 3;

/// How far stacks that are the same in both sessions moved from A to B.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Movement {
    /// Their number, without the stack that is compared with them. Their sources, versions and warm-ups are the same.
    pub stacks: usize,
    /// The geometric mean of their ratios, B over A.
    pub ratio: f64,
    /// The standard deviation of the logarithms of their ratios (0.1: 10 %).
    pub spread: f64,
    /// The mean of the variances of the logarithms' errors.
    #[serde(skip)]
    variance: f64,
}

impl Movement {
    /// The movement of these stacks; `None` if they are too few.
    fn new<'a>(logs: impl Iterator<Item = &'a Difference>) -> Option<Self> {
        let logs: Vec<&Difference> = logs.collect();
        if logs.len() < MIN_UNCHANGED {
            return None;
        }
        let stacks = logs.len() as f64;
        let mean = logs.iter().map(|one| one.mean).sum::<f64>() / stacks;
        let squares = logs.iter().map(|one| (one.mean - mean).powi(2));
        let variances = logs.iter().map(|one| one.error.powi(2));
        Some(Self {
            stacks: logs.len(),
            ratio: mean.exp(),
            spread: (squares.sum::<f64>() / (stacks - 1.0)).sqrt(),
            variance: variances.sum::<f64>() / stacks,
        })
    }

    /// How far a stack's logarithm is from theirs, with the error that it would have if it had not changed.
    pub(super) fn against(&self, own: &Difference) -> Difference {
        let stacks = self.stacks as f64;
        let scatter = self.spread.powi(2).max(self.variance) * (1.0 + 1.0 / stacks);
        let more = (own.error.powi(2) - self.variance).max(0.0);
        let below = scatter.powi(2) / (stacks - 1.0) + more.powi(2) / own.freedom;
        let freedom = if below > 0.0 {
            (scatter + more).powi(2) / below
        } else {
            stacks - 1.0
        };
        Difference {
            mean: own.mean - self.ratio.ln(),
            error: (scatter + more).sqrt(),
            freedom,
        }
    }
}

/// The unchanged stacks with a figure of one metric at one load.
pub(super) struct Unchanged(Vec<(TargetId, Difference)>);

impl Unchanged {
    /// These stacks. Those without an error say nothing of how far they moved.
    pub(super) fn new(stacks: impl Iterator<Item = (TargetId, Option<Difference>)>) -> Self {
        let known = stacks.filter_map(|(target, found)| Some((target, found?)));
        Self(known.collect())
    }

    /// The movement of all but this one; `None` if they are too few.
    pub(super) fn without(&self, target: Option<&TargetId>) -> Option<Movement> {
        let others = self.0.iter().filter(|(one, _)| Some(one) != target);
        Movement::new(others.map(|(_, found)| found))
    }

    /// Their number.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;
    use rand_distr::{Distribution, StandardNormal};

    use super::*;
    use crate::interval::holm;

    fn difference(mean: f64, error: f64) -> Difference {
        Difference {
            mean,
            error,
            freedom: 14.0,
        }
    }

    /// `scipy.stats.t.interval(.95, 3, loc, s * sqrt(1 + 1/4))` of SciPy 1.17.1 for 0.1, 0.2, 0.3 and 0.4.
    #[test]
    fn the_interval_is_that_of_one_more_stack() {
        let stacks = [0.1, 0.2, 0.3, 0.4].map(|mean| difference(mean, 0.01));
        let movement = Movement::new(stacks.iter()).unwrap();
        assert!((movement.ratio.ln() - 0.25).abs() < 1e-12);
        assert!((movement.spread - 0.12909944487358058).abs() < 1e-12);
        let found = movement.against(&difference(0.5, 0.01));
        assert!((found.mean - 0.25).abs() < 1e-12);
        assert!((found.half_width(0.95) - 0.45934655775934985).abs() < 1e-9);
        // A less precise figure can be farther away.
        let noisy = movement.against(&difference(0.5, 0.2));
        assert!((noisy.error.powi(2) - (found.error.powi(2) + 0.04 - 0.0001)).abs() < 1e-12);
        assert!(noisy.freedom > 3.0 && noisy.freedom < 17.0);
    }

    /// Twenty stacks that did not change, on machines that treat each of them differently by 10 %: a change of any is
    /// reported in at most 5 % of sessions, while one that became half as fast is found in most.
    #[test]
    fn machines_that_treat_stacks_differently_change_none() {
        const SESSIONS: u64 = 1_000;
        const ERROR: f64 = 0.04;
        let (mut wrong, mut missed) = (0, 0);
        for session in 0..SESSIONS {
            let mut random = ChaCha8Rng::seed_from_u64(session);
            let mut normal = || -> f64 { StandardNormal.sample(&mut random) };
            let mut stack = || difference(0.2 + 0.1 * normal() + ERROR * normal(), ERROR);
            let stacks: Vec<Difference> = (0..20).map(|_| stack()).collect();
            let half = Difference {
                mean: stack().mean + 0.5_f64.ln(),
                ..stacks[0]
            };
            let p = |own: usize| {
                let others = stacks.iter().enumerate();
                let others = others.filter(|(place, _)| *place != own);
                let movement = Movement::new(others.map(|(_, one)| one)).unwrap();
                movement.against(&stacks[own]).p_of_zero()
            };
            let of_all = holm(&(0..20).map(p).collect::<Vec<_>>());
            wrong += u32::from(of_all.iter().any(|p| *p < 0.05));
            let movement = Movement::new(stacks.iter()).unwrap();
            missed += u32::from(movement.against(&half).p_of_zero() * 21.0 >= 0.05);
        }
        // 5 %, and three standard errors of 1,000 sessions.
        assert!(wrong < 71, "{wrong} of {SESSIONS}");
        assert!(missed < 100, "{missed} of {SESSIONS}");
    }

    /// By chance, three stacks moved as if their figures had no error.
    #[test]
    fn the_interval_is_no_narrower_than_the_errors_of_the_figures() {
        let stacks = [0.1, 0.1, 0.1].map(|mean| difference(mean, 0.05));
        let movement = Movement::new(stacks.iter()).unwrap();
        let found = movement.against(&difference(0.1, 0.05));
        assert!((found.error - 0.05 * (4.0_f64 / 3.0).sqrt()).abs() < 1e-12);
    }

    #[test]
    fn two_stacks_are_too_few() {
        let target = |name: &str| TargetId::new(name, None);
        let stacks = ["a", "b", "c"].map(|name| (target(name), Some(difference(0.0, 0.1))));
        let unchanged = Unchanged::new(stacks.into_iter());
        assert!(unchanged.without(None).is_some());
        assert_eq!(unchanged.without(Some(&target("a"))), None);
        assert!(unchanged.without(Some(&target("d"))).is_some());
    }
}
