//! Verdicts on pairs: faster, dead heat, or undecided.
//!
//! A pair has two of them. One is for a reader who has picked the pair beforehand: it holds for this pair alone, with
//! an interval at the level 1 − α ([`Alone`]). The other is part of the ranking, whose statements hold together
//! ([`super::simultaneous`]). It equals the verdict for the pair alone, or is undecided: the two never contradict each
//! other. Ranks, and statements of a report about pairs that were picked by their results, are based on it.
//!
//! A dead heat is an interval that lies within the margin (two one-sided tests: Schuirmann, J. Pharmacokinet. Biopharm.
//! 15, 1987). It does not profit from proven differences: if it did, members in a row, each exactly the margin from
//! the next, would have a false dead heat in more sessions than α (docs/statistics.md has both figures).

use deadheat_model::figure::{counted, short_percent};
use schemars::JsonSchema;
use serde::Serialize;

use super::{
    fit::{Contrast, quantile},
    simultaneous::JointResult,
};
use crate::interval::Interval;

/// What is known about a pair: how the first member compares with the second.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PairVerdict {
    /// The interval lies above 1: the first one is better (faster, or cheaper).
    Faster,
    /// The interval lies below 1: the first one is worse (slower, or more expensive).
    Slower,
    /// The interval holds 1 and lies within the margin: as good as equal.
    DeadHeat,
    /// Anything else.
    Undecided,
}

impl PairVerdict {
    /// The same pair seen from the other member.
    pub fn reversed(self) -> Self {
        match self {
            PairVerdict::Faster => PairVerdict::Slower,
            PairVerdict::Slower => PairVerdict::Faster,
            other => other,
        }
    }

    /// Whether it says anything.
    pub fn is_decided(self) -> bool {
        self != PairVerdict::Undecided
    }
}

/// What could decide an undecided pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "by", rename_all = "kebab-case")]
pub enum Remedy {
    /// About this many more heats with both members, if they scatter as the heats so far did.
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
pub struct RankedPair {
    /// The member with the better (or equal) estimate.
    pub better: usize,
    /// The other.
    pub worse: usize,
    /// How `better` compares with `worse`, as one of the ranking's statements, which hold together.
    pub verdict: PairVerdict,
    /// What could decide it; `None` if it is decided.
    pub remedy: Option<Remedy>,
    /// How many times better `better` is, 1 or more; `None` if they cannot be compared.
    pub ratio: Option<f64>,
    /// The interval of `ratio`, which holds together with those of all pairs. It ends at 1 if a step after the first
    /// proved the difference. An end that a lower bound leaves open is 0 or ∞ (null in JSON). `None` if they cannot be
    /// compared.
    pub interval: Option<Interval>,
    /// The verdict on the pair alone; `None` if they cannot be compared.
    pub alone: Option<Alone>,
}

/// The verdict on a pair that was picked beforehand. Of many such, some are wrong.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Alone {
    /// How the better one compares with the other.
    pub verdict: PairVerdict,
    /// The interval of their ratio, with ends as in [`RankedPair::interval`].
    pub interval: Interval,
}

impl RankedPair {
    /// The half width of the interval on the logarithm (0.03: ±3 %); ∞ where an end is open or there is no interval.
    pub fn half_width(&self) -> f64 {
        let ends = self.interval.filter(|interval| interval.low > 0.0);
        let width = ends
            .zip(self.ratio)
            .map(|(ends, ratio)| (ends.high / ratio).ln());
        width.unwrap_or(f64::INFINITY)
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
    /// How far they are apart, if heats can say anything of it: not of two lower bounds.
    pub(super) fn testable(&self) -> Option<Contrast> {
        let both_are_bounds = self.better_is_bound && self.worse_is_bound;
        self.contrast.filter(|_| !both_are_bounds)
    }

    /// The verdict on the pair as the only one of its ranking. `alpha` is the share of errors (0 to 1).
    pub fn judge(&self, alpha: f64, rule: &Rule) -> RankedPair {
        let alone = self.testable().map(|contrast| {
            let half_width = contrast.half_width(alpha);
            JointResult {
                half_width,
                is_proven: contrast.difference > half_width && !self.worse_is_bound,
            }
        });
        self.judge_together(alone, alpha, rule)
    }

    /// The verdict on the pair as one of several, from what holds for it together with the others; `None`: nothing
    /// does.
    pub(super) fn judge_together(
        &self,
        together: Option<JointResult>,
        alpha: f64,
        rule: &Rule,
    ) -> RankedPair {
        let mut pair = RankedPair {
            better: self.better,
            worse: self.worse,
            verdict: PairVerdict::Undecided,
            remedy: Some(Remedy::Meeting),
            ratio: None,
            interval: None,
            alone: None,
        };
        let Some(contrast) = self.contrast else {
            return pair;
        };
        let together = together.unwrap_or(JointResult {
            half_width: f64::INFINITY,
            is_proven: false,
        });
        let ends = |half: f64| (contrast.difference - half, contrast.difference + half);
        let interval = self.interval(ends(contrast.half_width(alpha)), alpha);
        let ratio = contrast.difference.exp();
        let verdict = |interval| rule.verdict(ratio, interval, self.heats);
        let alone = Alone {
            verdict: verdict(&interval),
            interval,
        };
        let (mut low, high) = ends(together.half_width);
        if together.is_proven {
            low = low.max(0.0);
        }
        let interval = self.interval((low, high), alpha);
        pair.ratio = Some(ratio);
        pair.interval = Some(interval);
        pair.alone = Some(alone);
        // By what is shown, so that verdict and interval agree to the last digit.
        pair.verdict = match verdict(&interval) {
            _ if together.is_proven => PairVerdict::Faster,
            found if found == alone.verdict => found,
            _ => PairVerdict::Undecided,
        };
        let remedy = || self.remedy(&contrast, &alone, together.half_width, rule);
        pair.remedy = (!pair.verdict.is_decided()).then(remedy);
        pair
    }

    /// The interval of the ratio from its ends on the logarithm, open where a figure is a lower bound.
    fn interval(&self, (low, high): (f64, f64), alpha: f64) -> Interval {
        Interval {
            low: if self.worse_is_bound { 0.0 } else { low.exp() },
            high: if self.better_is_bound {
                f64::INFINITY
            } else {
                high.exp()
            },
            level: 1.0 - alpha,
        }
    }

    fn remedy(&self, contrast: &Contrast, alone: &Alone, half: f64, rule: &Rule) -> Remedy {
        if self.worse_is_bound {
            return Remedy::FasterGenerator;
        }
        let room = rule.margin.ln_1p() - contrast.difference;
        let can_be_equal = alone.verdict != PairVerdict::Faster && !self.better_is_bound;
        let (target, least) = if can_be_equal && room > contrast.difference {
            (room, rule.least_heats)
        } else {
            (contrast.difference, 0)
        };
        let alpha = contrast.p(contrast.difference + half);
        let more = self.more_heats(contrast, alpha, target);
        Remedy::MoreHeats {
            heats: more.max(least.saturating_sub(self.heats as u32)),
        }
    }

    /// How many more heats would make the interval's half width `target`, if the estimate stayed where it is.
    fn more_heats(&self, contrast: &Contrast, alpha: f64, target: f64) -> u32 {
        let heats = self.heats.max(1) as f64;
        let reaches = |all: u32| {
            let more = f64::from(all) / heats;
            let freedom = contrast.freedom * more;
            quantile(alpha, freedom) * contrast.error / more.sqrt() <= target
        };
        let now = self.heats as u32;
        let mut most = now + 1;
        while !reaches(most) && most < MAX_HEATS {
            most *= 2;
        }
        let (mut least, mut most) = (now, most.min(MAX_HEATS));
        while most - least > 1 {
            let middle = u32::midpoint(least, most);
            if reaches(middle) {
                most = middle;
            } else {
                least = middle;
            }
        }
        most - now
    }
}

/// A pair that would need more heats than this needs "very many".
pub const MAX_HEATS: u32 = 10_000;

/// A kind of process with at most this share (0 to 1) is missed by all of `starts` starts in 5 % of cases or more:
/// 1 − 0.05^(1/n).
pub fn unseen(starts: usize) -> f64 {
    1.0 - 0.05_f64.powf(1.0 / starts as f64)
}

/// How common a kind of process can be that this number of starts of each server has not shown.
pub fn unseen_starts(starts: usize) -> String {
    if starts == 1 {
        return "One process of each was seen: others may differ.".to_owned();
    }
    format!(
        "{} of each: a behaviour of up to {} of starts may be unseen.",
        counted(starts, "start"),
        short_percent(unseen(starts))
    )
}

/// What decides on a ratio. It is fixed before anything is measured.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Rule {
    /// A difference must be more than this (0.01: above 1.01 or below 1/1.01).
    pub threshold: f64,
    /// A dead heat is an interval within this much of 1 (0.03: from 1/1.03 to 1.03), …
    pub margin: f64,
    /// … after at least this number of heats. With fewer starts, a rare kind of process stays unseen too often.
    pub least_heats: u32,
}

impl Rule {
    /// The verdict on a ratio of first to second with its interval, after this number of heats of both.
    pub fn verdict(&self, ratio: f64, interval: &Interval, heats: usize) -> PairVerdict {
        let is_within =
            interval.low >= 1.0 / (1.0 + self.margin) && interval.high <= 1.0 + self.margin;
        match () {
            () if interval.low > 1.0 && ratio > 1.0 + self.threshold => PairVerdict::Faster,
            () if interval.high < 1.0 && ratio < 1.0 / (1.0 + self.threshold) => {
                PairVerdict::Slower
            }
            () if is_within && heats >= self.least_heats as usize => PairVerdict::DeadHeat,
            () => PairVerdict::Undecided,
        }
    }
}
