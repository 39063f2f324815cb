//! Statements about all pairs of a ranking that hold together, with probability 1 − α.
//!
//! Nobody knows which member is the best, so each is taken for the best in turn: the pairs with it share one half of
//! the error level α, and all other pairs share the rest. A member is out if another is proven better while it is taken
//! for the best itself; the others are *contenders*, and the truly best one is among them. A difference is proven if it
//! is proven whichever contender is the best. So as soon as one member leads, the others are compared with it alone,
//! and their intervals are narrower than those of all pairs (comparisons with the best: Hsu, Ann. Stat. 12, 1984; with
//! both ends: Edwards & Hsu, J. Am. Stat. Assoc. 78, 1983).
//!
//! Bonferroni's critical values for these shares are lowered by one factor, which allows for what the pairs have in
//! common (max-t). It follows from simulated sessions of equal members with the fit's own covariance and degrees of
//! freedom. Pairs that are proven leave their share to the others (step-down: Romano & Wolf, J. Am. Stat. Assoc. 100,
//! 2005; for ranks: Mogstad, Romano, Shaikh & Wilhelm, Rev. Econ. Stud. 91, 2024). Intervals, and so dead heats, do not
//! profit from that.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{ChiSquared, Distribution, StandardNormal};
use statrs::distribution::{self, ContinuousCDF};

use super::fit::{Contrast, Fit, quantile};

/// A pair of a ranking that can be compared.
#[derive(Clone, Copy, Debug)]
pub(super) struct Test {
    /// Places in the ranking, the better estimate first.
    pub(super) places: [usize; 2],
    /// How far they are apart.
    pub(super) contrast: Contrast,
    /// Whether heats can prove the first one better: not if the figure of the second is a lower bound.
    pub(super) is_provable: bool,
}

/// What holds for a pair together with all others.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct JointResult {
    /// The half width of the interval of the difference.
    pub(super) half_width: f64,
    /// Whether the first one is proven better.
    pub(super) is_proven: bool,
}

/// Below this level nothing is decided, and Bonferroni's values are as good as any.
const MIN_ALPHA: f64 = 1e-6;

/// What holds for each of the tests, in their order. `bounded` says of each place of the ranking whether its figure is
/// a lower bound; the best is that of the others.
pub(super) fn together(
    fit: &Fit,
    ranked: &[usize],
    bounded: &[bool],
    tests: &[Test],
    alpha: f64,
) -> Vec<JointResult> {
    let shares = Shares::new(ranked.len(), tests, alpha);
    let pair = |test: &Test| PairWidths {
        places: test.places,
        advantage: test.contrast.difference,
        is_provable: test.is_provable,
        near: test.contrast.half_width(shares.near),
        far: test.contrast.half_width(shares.far),
        alone: test.contrast.half_width(alpha),
    };
    let pairs: Vec<PairWidths> = tests.iter().map(pair).collect();
    let has_several = tests.len() > 1 && alpha >= MIN_ALPHA;
    let draws = has_several.then(|| Draws::new(fit, ranked, tests, &shares));
    let factors = |open: &[usize], best: &[Candidate]| match &draws {
        Some(draws) => draws.factors(&pairs, open, best, alpha),
        None => vec![1.0; best.len()],
    };
    let first = bounded.iter().position(|is_bound| !is_bound);
    let meets_first = |place: usize| {
        let is_pair =
            |pair: &PairWidths| pair.has(place) && first.is_some_and(|first| pair.has(first));
        first == Some(place) || pairs.iter().any(is_pair)
    };
    let measured = (0..ranked.len()).filter(|place| !bounded[*place]);
    let contenders = measured.filter(|place| meets_first(*place));
    let mut contenders: Vec<Candidate> = contenders.map(Candidate::new).collect();
    let mut open: Vec<usize> = (0..pairs.len()).collect();
    loop {
        let found = factors(&open, &contenders);
        for (contender, factor) in contenders.iter_mut().zip(found) {
            contender.factor = factor;
            contender.first_factor.get_or_insert(factor);
        }
        contenders.retain(|one| {
            let is_worse = |pair: &PairWidths| {
                let [better, worse] = pair.places;
                worse == one.place && !bounded[better] && pair.is_proven_if(one)
            };
            !pairs.iter().any(is_worse)
        });
        let before = open.len();
        let whoever_is_best =
            |pair: &PairWidths| contenders.iter().all(|one| pair.is_proven_if(one));
        open.retain(|pair| contenders.is_empty() || !whoever_is_best(&pairs[*pair]));
        if open.len() == before {
            break;
        }
    }
    let together = |(place, pair): (usize, &PairWidths)| {
        let factor = |one: &Candidate| pair.half_width(one.place, one.first_factor.unwrap_or(1.0));
        JointResult {
            half_width: contenders.iter().map(factor).fold(pair.alone, f64::max),
            is_proven: !open.contains(&place),
        }
    };
    pairs.iter().enumerate().map(together).collect()
}

/// A member that may be the best.
struct Candidate {
    /// Its place in the ranking.
    place: usize,
    /// The factor on Bonferroni's half widths if it is the best, …
    factor: f64,
    /// … and that of the first step.
    first_factor: Option<f64>,
}

impl Candidate {
    fn new(place: usize) -> Self {
        Self {
            place,
            factor: 1.0,
            first_factor: None,
        }
    }
}

/// A pair with the half widths of its intervals.
struct PairWidths {
    places: [usize; 2],
    /// How far the first one is ahead.
    advantage: f64,
    is_provable: bool,
    /// Bonferroni's half width if one of the two is the best.
    near: f64,
    /// Bonferroni's half width if another member is the best.
    far: f64,
    /// The half width for the pair alone. No interval is narrower.
    alone: f64,
}

impl PairWidths {
    fn has(&self, place: usize) -> bool {
        self.places.contains(&place)
    }

    fn half_width(&self, best: usize, factor: f64) -> f64 {
        let by_bonferroni = if self.has(best) { self.near } else { self.far };
        (factor * by_bonferroni).max(self.alone)
    }

    /// Whether the first one is proven better if this contender is the best of all.
    fn is_proven_if(&self, best: &Candidate) -> bool {
        self.is_provable && self.advantage > self.half_width(best.place, best.factor)
    }
}

/// The error level of each pair.
struct Shares {
    /// Of a pair with the best member.
    near: f64,
    /// Of any other pair.
    far: f64,
}

impl Shares {
    fn new(places: usize, tests: &[Test], alpha: f64) -> Self {
        let with = |place| {
            tests
                .iter()
                .filter(|test| test.places.contains(&place))
                .count()
        };
        let with_best = (0..places).map(with).max().unwrap_or(0).max(1);
        // Pairs with the best share one half, or more if equal shares for all pairs would give them more.
        let near = f64::max(0.5 / with_best as f64, 1.0 / tests.len().max(1) as f64) * alpha;
        let others = tests.len().saturating_sub(with_best);
        Self {
            near,
            far: match others {
                0 => near,
                others => (alpha - near * with_best as f64) / others as f64,
            },
        }
    }
}

/// Simulated sessions in which all members are equal.
const DRAWS: usize = 1_000;

/// Simulated sessions, as directions: each vector of errors is scaled to length 1. The square of its length is χ²
/// distributed, which [`Distance`] integrates exactly, so a few directions cover rare sessions too.
struct Draws {
    /// For each session and test: (t statistic ÷ Bonferroni's critical value for pairs with the best)², at distance 1.
    near: Vec<f64>,
    /// For each test: the factor that turns this into the value for pairs without the best.
    far: Vec<f64>,
    tests: usize,
    places: usize,
    distance: Distance,
}

impl Draws {
    fn new(fit: &Fit, ranked: &[usize], tests: &[Test], shares: &Shares) -> Self {
        let root = fit.errors(ranked);
        let freedom: Vec<f64> = ranked
            .iter()
            .map(|member| {
                fit.variance(*member)
                    .map_or(1.0, |one| one.freedom.max(1.0))
            })
            .collect();
        // With the degrees of freedom of the pair's own two variances, which are simulated.
        let critical = |test: &Test| {
            let [a, b] = test.places;
            let share = test.contrast.share;
            let own = 1.0 / (share.powi(2) / freedom[a] + (1.0 - share).powi(2) / freedom[b]);
            [shares.near, shares.far].map(|alpha| quantile(alpha, own))
        };
        let critical: Vec<[f64; 2]> = tests.iter().map(critical).collect();
        let variance = |(test, [near, _]): (&Test, &[f64; 2])| (near * test.contrast.error).powi(2);
        let variances: Vec<f64> = tests.iter().zip(&critical).map(variance).collect();
        let mut random = ChaCha8Rng::seed_from_u64(0);
        let chi: Vec<ChiSquared<f64>> = freedom
            .iter()
            .map(|freedom| ChiSquared::new(*freedom).expect("positive"))
            .collect();
        let mut near = Vec::with_capacity(DRAWS * tests.len());
        for _ in 0..DRAWS {
            let normal: Vec<f64> = ranked
                .iter()
                .map(|_| StandardNormal.sample(&mut random))
                .collect();
            let squared_distance: f64 = normal.iter().map(|one| one * one).sum();
            let value: Vec<f64> = root
                .iter()
                .map(|row| row.iter().zip(&normal).map(|(a, b)| a * b).sum())
                .collect();
            let scatter: Vec<f64> = chi
                .iter()
                .zip(&freedom)
                .map(|(chi, freedom)| chi.sample(&mut random) / freedom)
                .collect();
            for (test, variance) in tests.iter().zip(&variances) {
                let [a, b] = test.places;
                let share = test.contrast.share;
                let apart = value[a] - value[b];
                let scatter = share * scatter[a] + (1.0 - share) * scatter[b];
                let square = apart * apart / (squared_distance * variance * scatter);
                // A statistic that cannot be simulated counts as infinite, which keeps Bonferroni's value.
                near.push(if square.is_finite() {
                    square
                } else {
                    f64::INFINITY
                });
            }
        }
        Self {
            near,
            far: critical
                .iter()
                .map(|[near, far]| (near / far).powi(2))
                .collect(),
            tests: tests.len(),
            places: ranked.len(),
            distance: Distance::new(ranked.len()),
        }
    }

    /// For each candidate: the factor on Bonferroni's critical values at which a share `alpha` of simulated sessions
    /// exceeds at least one of them.
    fn factors(
        &self,
        pairs: &[PairWidths],
        open: &[usize],
        best: &[Candidate],
        alpha: f64,
    ) -> Vec<f64> {
        let sessions = self.near.chunks(self.tests.max(1));
        let mut largest = Vec::with_capacity(DRAWS);
        let mut with = Vec::with_capacity(DRAWS * self.places);
        for session in sessions {
            let mut all: f64 = 0.0;
            let mut of_place = vec![0.0_f64; self.places];
            for test in open {
                let [a, b] = pairs[*test].places;
                let near = session[*test];
                all = all.max(near * self.far[*test]);
                of_place[a] = of_place[a].max(near);
                of_place[b] = of_place[b].max(near);
            }
            largest.push(all);
            with.extend(of_place);
        }
        let factor = |one: &Candidate| {
            let of_place = with[one.place..].iter().step_by(self.places);
            let reach: Vec<f64> = largest
                .iter()
                .zip(of_place)
                .map(|(all, own)| 1.0 / all.max(*own).sqrt())
                .collect();
            self.distance.factor(&reach, alpha)
        };
        best.iter().map(factor).collect()
    }
}

/// The distribution of the distance of some independent normal numbers from 0.
struct Distance {
    /// The difference between neighbouring distances in `beyond`.
    step: f64,
    /// The probability of a distance beyond each of equally spaced ones.
    beyond: Vec<f64>,
}

/// Distances in the table.
const DISTANCES: usize = 4_096;
/// The table ends this far beyond the square root of the number of normal numbers.
const FARTHEST: f64 = 7.0;
/// Steps of the bisection for a factor.
const HALVINGS: usize = 14;

impl Distance {
    fn new(numbers: usize) -> Self {
        let numbers = numbers as f64;
        let square = distribution::ChiSquared::new(numbers).expect("positive degrees of freedom");
        let step = (numbers.sqrt() + FARTHEST) / DISTANCES as f64;
        let beyond = (0..DISTANCES).map(|place| square.sf((place as f64 * step).powi(2)));
        Self {
            step,
            beyond: beyond.collect(),
        }
    }

    fn beyond(&self, distance: f64) -> f64 {
        let steps = distance / self.step;
        match self.beyond.get(steps as usize..) {
            Some([here, next, ..]) => here + (next - here) * steps.fract(),
            _ => 0.0,
        }
    }

    /// The factor (at most 1) on these critical distances with which the share `alpha` of sessions is beyond its own.
    fn factor(&self, critical: &[f64], alpha: f64) -> f64 {
        let share = |factor: f64| {
            let beyond = critical.iter().map(|one| self.beyond(factor * one));
            beyond.sum::<f64>() / critical.len() as f64
        };
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..HALVINGS {
            let middle = f64::midpoint(low, high);
            if share(middle) > alpha {
                low = middle;
            } else {
                high = middle;
            }
        }
        high
    }
}
