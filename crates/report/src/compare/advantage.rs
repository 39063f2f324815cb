//! Ratios as people read them: always the larger over the smaller, with a word for which side that is.

use deadheat_stats::versus::{Direction, Ratio};

use crate::figure::figure;

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
    pub(super) fn of(found: &Ratio) -> Self {
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
        times(self.factor)
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
        if !most.is_finite() {
            return Some(format!("{} or more", times(least)));
        }
        let digits = decimals(least);
        let number = |value: f64| match digits {
            0 => figure(value),
            digits => format!("{value:.digits$}"),
        };
        Some(format!("{}–{}×", number(least), number(most)))
    }
}

/// Decimals of a factor: near 1, a tenth of a percent is worth showing. 0: three significant digits.
fn decimals(factor: f64) -> usize {
    match factor {
        f if f < 1.1 => 3,
        f if f < 9.995 => 2,
        _ => 0,
    }
}

/// A factor: "1.047×", "1.63×", "12.3×".
pub(super) fn times(factor: f64) -> String {
    match decimals(factor) {
        0 => format!("{}×", figure(factor)),
        digits => format!("{factor:.digits$}×"),
    }
}

/// A difference in percent, with its sign: "−4.8 %", "+268 %".
pub(super) fn signed(share: f64) -> String {
    let percent = 100.0 * share;
    let size = match percent.abs() {
        size if size < 0.1 => format!("{size:.2}"),
        size if size < 9.95 => format!("{size:.1}"),
        size => format!("{size:.0}"),
    };
    let sign = match percent {
        _ if size.chars().all(|c| c == '0' || c == '.') => "±",
        less if less < 0.0 => "−",
        _ => "+",
    };
    format!("{sign}{size} %")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factors_are_precise_near_one() {
        let cases = [
            (1.0, "1.000×"),
            (1.0482, "1.048×"),
            (1.634, "1.63×"),
            (9.996, "10.0×"),
            (123.4, "123×"),
        ];
        for (value, expected) in cases {
            assert_eq!(times(value), expected);
        }
    }

    #[test]
    fn differences_have_a_sign() {
        let cases = [
            (-0.048, "−4.8 %"),
            (2.68, "+268 %"),
            (0.000_5, "+0.05 %"),
            (0.0, "±0.00 %"),
        ];
        for (value, expected) in cases {
            assert_eq!(signed(value), expected);
        }
    }
}
