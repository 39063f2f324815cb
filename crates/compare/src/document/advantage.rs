//! Ratios as people read them: always the larger over the smaller, with a word for which side that is.

use deadheat_model::figure::{ratio, ratios};
use deadheat_stats::versus::{Direction, Ratio};

/// How far one side is ahead of the other in a metric.
pub(super) struct Advantage {
    /// Whether B is ahead.
    pub(super) is_of_b: bool,
    /// The figure of the side that is ahead over the other one, so that more is better; 1 or more.
    factor: f64,
    /// B's figure over A's, so that more is better, and the ends of its interval.
    range_of_b: Option<(f64, f64)>,
}

impl Advantage {
    pub(super) fn new(found: &Ratio) -> Self {
        let is_more = found.metric.direction() == Direction::MoreIsBetter;
        let better = |ratio: f64| if is_more { ratio } else { 1.0 / ratio };
        let of_b = better(found.ratio);
        let ends = found.interval.map(|interval| {
            let (low, high) = (better(interval.low), better(interval.high));
            (low.min(high), low.max(high))
        });
        Self {
            is_of_b: of_b >= 1.0,
            factor: of_b.max(1.0 / of_b),
            range_of_b: ends,
        }
    }

    /// How many times as good B is as A.
    pub(super) fn of_b(&self) -> f64 {
        if self.is_of_b {
            self.factor
        } else {
            1.0 / self.factor
        }
    }

    /// "1.47×".
    pub(super) fn factor(&self) -> String {
        format!("{}×", ratio(self.factor))
    }

    /// How many times as good B may be as A, at least and at most: 0 and ∞ where an end is open.
    pub(super) fn range_of_b(&self) -> Option<(f64, f64)> {
        self.range_of_b
    }

    /// The interval of the factor ("1.41–1.53×"); `None` without one, or if it has 1 inside, so that either side may be
    /// ahead.
    pub(super) fn span(&self) -> Option<String> {
        let (low, high) = self.range_of_b?;
        let (least, most) = match () {
            () if low >= 1.0 => (low, high),
            () if high <= 1.0 => (1.0 / high, 1.0 / low),
            () => return None,
        };
        Some(if most.is_finite() {
            format!("{}×", ratios(least, most))
        } else {
            format!("{}× or more", ratio(least))
        })
    }
}
