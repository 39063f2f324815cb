//! Verdicts on pairs: faster, dead heat, or undecided. The interval that is shown and the verdict always agree.
//!
//! All pairs of a ranking share the error level α. Two kinds of claims are made, and each kind is held to α by Holm
//! (Scand. J. Stat. 6, 1979): that a pair differs (the interval excludes 1), and that it is a dead heat (the interval
//! lies within the margin: two one-sided tests, Schuirmann, J. Pharmacokinet. Biopharm. 15, 1987). Holm lets the next
//! claim of a kind have a larger share of α after each claim that succeeded. A pair that differs has the interval at its
//! step among the differences, and a dead heat at its step among the dead heats. Every other pair has it at the stricter
//! of its two steps, so that no interval excludes 1 without the verdict, and none lies within the margin without it.
//!
//! A dead heat must not profit from proven differences: with those as steps, members in a row, each exactly the margin
//! from the next, gave a false dead heat in more sessions than α (docs/statistics.md has both figures).

use schemars::JsonSchema;
use serde::Serialize;

use super::{
    Quantity,
    fit::{Contrast, quantile},
};
use crate::{holm::holm, order_statistic::Interval};

/// What is known about a pair: how the first member stands to the second.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The interval lies above 1: the first one is better (faster, or cheaper).
    Faster,
    /// The interval lies below 1: the first one is worse (slower, or more expensive).
    Slower,
    /// The interval holds 1 and lies within the margin: as good as equal.
    DeadHeat,
    /// Anything else.
    Undecided,
}

impl Verdict {
    /// The same pair seen from the other member.
    pub fn reversed(self) -> Self {
        match self {
            Verdict::Faster => Verdict::Slower,
            Verdict::Slower => Verdict::Faster,
            other => other,
        }
    }

    /// The word for it: how the first member is compared with the second.
    pub fn word(self, quantity: Quantity) -> &'static str {
        match (self, quantity) {
            (Verdict::Faster, Quantity::Cost) => "cheaper",
            (Verdict::Slower, Quantity::Cost) => "more expensive",
            (Verdict::Faster, _) => "faster",
            (Verdict::Slower, _) => "slower",
            (Verdict::DeadHeat, _) => "dead heat",
            (Verdict::Undecided, _) => "undecided",
        }
    }

    /// Whether it says anything.
    pub fn is_decided(self) -> bool {
        self != Verdict::Undecided
    }
}

/// What could decide an undecided pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "by", rename_all = "kebab-case")]
pub enum Remedy {
    /// About so many more heats with both members, if they scatter as the heats so far did.
    MoreHeats {
        /// Heats beyond those so far.
        heats: u32,
    },
    /// A heat in which they meet, or others through which they can be compared.
    Meeting,
    /// A faster generator: the figure of one of them, or of both, is only a lower bound.
    FasterGenerator,
}

/// The verdict on two members.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Pair {
    /// The member with the better (or equal) estimate.
    pub better: usize,
    /// The other.
    pub worse: usize,
    /// How `better` stands to `worse`.
    pub verdict: Verdict,
    /// What could decide it; `None` if it is decided.
    pub remedy: Option<Remedy>,
    /// How many times better `better` is, 1 or more; `None` if they cannot be compared.
    pub ratio: Option<f64>,
    /// The interval of `ratio`, at the level that its verdict was reached at. An end that a lower bound leaves open is 0
    /// or ∞ (null in JSON). `None` if they cannot be compared.
    pub interval: Option<Interval>,
}

impl Pair {
    /// The half width of the interval on the logarithm (0.03: ±3 %); ∞ where an end is open or there is no interval.
    pub fn half_width(&self) -> f64 {
        let width = |interval: Interval| (interval.high / interval.low).ln() / 2.0;
        self.interval.map_or(f64::INFINITY, width)
    }

    /// Whether more heats can decide it and have not yet.
    pub fn is_open(&self) -> bool {
        matches!(
            self.remedy,
            Some(Remedy::MoreHeats { .. } | Remedy::Meeting)
        )
    }
}

/// A pair before it is judged. The first member has the better estimate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Candidate {
    /// The member with the better (or equal) estimate.
    pub better: usize,
    /// The other.
    pub worse: usize,
    /// How far they are apart; `None` if they cannot be compared.
    pub contrast: Option<Contrast>,
    /// The better one's figure is only a lower bound.
    pub better_is_bound: bool,
    /// The other's figure is only a lower bound.
    pub worse_is_bound: bool,
    /// Heats behind the one of the two that was in fewer.
    pub heats: usize,
}

impl Candidate {
    /// The p value of no difference; 1 where the data cannot show the one that the estimates suggest.
    fn p_equal(&self) -> Option<f64> {
        let contrast = self.contrast?;
        match (self.better_is_bound, self.worse_is_bound) {
            (true, true) => None,
            // The other's true figure may be higher by any amount.
            (false, true) => Some(1.0),
            _ => Some(contrast.p(0.0)),
        }
    }

    /// The smallest share of error at which the interval lies within the margin; 1 where it cannot.
    fn p_apart(&self, margin: f64) -> Option<f64> {
        let contrast = self.contrast?;
        let can = !self.better_is_bound && !self.worse_is_bound;
        let room = margin.ln_1p() - contrast.difference.abs();
        Some(if can && room > 0.0 {
            contrast.p(contrast.difference + room)
        } else {
            1.0
        })
    }

    /// The interval's ends, on the logarithm, at the error `alpha`.
    fn ends(&self, contrast: &Contrast, alpha: f64) -> (f64, f64) {
        let half = contrast.half_width(alpha);
        let low = if self.worse_is_bound {
            f64::NEG_INFINITY
        } else {
            contrast.difference - half
        };
        let high = if self.better_is_bound {
            f64::INFINITY
        } else {
            contrast.difference + half
        };
        (low, high)
    }

    fn judge(&self, alpha: f64, margin: f64) -> Pair {
        let none = Pair {
            better: self.better,
            worse: self.worse,
            verdict: Verdict::Undecided,
            remedy: Some(Remedy::Meeting),
            ratio: None,
            interval: None,
        };
        let Some(contrast) = self.contrast else {
            return none;
        };
        let (low, high) = self.ends(&contrast, alpha);
        let interval = Interval {
            low: low.exp(),
            high: high.exp(),
            level: 1.0 - alpha,
        };
        // By what is shown, so that the two agree to the last digit. The better estimate comes first, so that the
        // interval never lies below 1.
        let verdict = if interval.low > 1.0 {
            Verdict::Faster
        } else if interval.low >= 1.0 / (1.0 + margin) && interval.high <= 1.0 + margin {
            Verdict::DeadHeat
        } else {
            Verdict::Undecided
        };
        let remedy = || match (self.better_is_bound, self.worse_is_bound) {
            (_, true) => Remedy::FasterGenerator,
            (true, false) => self.more_heats(&contrast, alpha, contrast.difference),
            (false, false) => {
                let room = margin.ln_1p() - contrast.difference;
                let far = contrast.difference.max(room);
                self.more_heats(&contrast, alpha, far)
            }
        };
        Pair {
            verdict,
            remedy: (!verdict.is_decided()).then(remedy),
            ratio: Some(contrast.difference.exp()),
            interval: Some(interval),
            ..none
        }
    }

    /// How many more heats would make the interval's half width `target`, if the estimate stayed where it is.
    fn more_heats(&self, contrast: &Contrast, alpha: f64, target: f64) -> Remedy {
        let heats = self.heats.max(1) as f64;
        let reaches = |all: u32| {
            let more = f64::from(all) / heats;
            let freedom = contrast.freedom * more;
            quantile(alpha, freedom) * contrast.error / more.sqrt() <= target
        };
        let now = self.heats as u32;
        let mut most = now + 1;
        while !reaches(most) && most < MOST_HEATS {
            most *= 2;
        }
        let (mut least, mut most) = (now, most.min(MOST_HEATS));
        while most - least > 1 {
            let middle = u32::midpoint(least, most);
            if reaches(middle) {
                most = middle;
            } else {
                least = middle;
            }
        }
        Remedy::MoreHeats { heats: most - now }
    }
}

/// A pair that would need more heats than this needs "very many".
pub const MOST_HEATS: u32 = 10_000;

/// Judges all pairs of a ranking together. `alpha` is the share of errors that they may make (0 to 1), `margin` the
/// share within which a pair is a dead heat (0.03: from 1/1.03 to 1.03).
///
/// Pairs that cannot be compared, and those of two lower bounds, of which nothing can be found, take no part in α.
pub fn judge(candidates: &[Candidate], alpha: f64, margin: f64) -> Vec<Pair> {
    let testable: Vec<usize> = (0..candidates.len())
        .filter(|place| candidates[*place].p_equal().is_some())
        .collect();
    let of = |p: &dyn Fn(&Candidate) -> Option<f64>| -> Vec<f64> {
        let all = testable.iter();
        all.map(|place| p(&candidates[*place]).unwrap_or(1.0))
            .collect()
    };
    let p_equal = of(&Candidate::p_equal);
    let different = steps(&p_equal, alpha);
    let alike = steps(&of(&|one| one.p_apart(margin)), alpha);
    let mut levels = vec![alpha; candidates.len()];
    for (index, place) in testable.iter().enumerate() {
        let (different, alike) = (different[index], alike[index]);
        let holds_one = p_equal[index] >= alike.alpha;
        levels[*place] = if different.passed {
            different.alpha
        } else if alike.passed && holds_one {
            alike.alpha
        } else {
            different.alpha.min(alike.alpha)
        };
    }
    let judged = candidates.iter().zip(levels);
    judged
        .map(|(one, alpha)| one.judge(alpha, margin))
        .collect()
}

/// What a hypothesis was tested at.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Step {
    alpha: f64,
    passed: bool,
}

/// Holm's steps, in the order of `p`: α over the number of hypotheses that are left. Those after the first that fails
/// share its step.
fn steps(p: &[f64], alpha: f64) -> Vec<Step> {
    let adjusted = holm(p);
    let passed = |place: &usize| adjusted[*place] < alpha;
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|a, b| p[*a].total_cmp(&p[*b]));
    let successes = order.iter().filter(|place| passed(place)).count();
    let mut steps = vec![
        Step {
            alpha,
            passed: false
        };
        p.len()
    ];
    for (step, place) in order.iter().enumerate() {
        let left = p.len() - step.min(successes);
        steps[*place] = Step {
            alpha: alpha / left as f64,
            passed: passed(place),
        };
    }
    steps
}
