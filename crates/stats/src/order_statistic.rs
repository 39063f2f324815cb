//! The median with its order-statistic interval, which assumes nothing about the distribution.
//!
//! David & Nagaraja, *Order Statistics*, 3rd ed. (2003), § 7.1: the interval from the r-th smallest to the r-th
//! largest of n independent values holds the median with probability `1 − 2·P(Bin(n, ½) ≤ r − 1)`.

use schemars::JsonSchema;
use serde::Serialize;
use statrs::distribution::{Binomial, DiscreteCDF};

/// A median of several values, in the unit of its values.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct MedianInterval {
    /// The median: the middle value, or the mean of the two middle ones.
    pub median: f64,
    /// The interval; `None` for a single value.
    pub interval: Option<Interval>,
    /// Values behind it.
    pub trials: usize,
}

/// An interval with the level that it achieves.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Interval {
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// The probability that such an interval covers the true value (0 to 1).
    pub level: f64,
}

impl Interval {
    /// That of a ratio seen from the other side: of A to B, if this is of B to A.
    pub fn reversed(self) -> Self {
        Self {
            low: 1.0 / self.high,
            high: 1.0 / self.low,
            ..self
        }
    }
}

/// Which order statistics bound the median.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// The lower end is the `rank`-th smallest value and the upper one the `rank`-th largest, from 1.
    pub rank: u64,
    /// The level achieved (0 to 1).
    pub level: f64,
}

/// The tightest symmetric bounds that reach `level`; the smallest and the largest value when none does.
/// `None` for fewer than two values.
pub fn bounds(n: u64, level: f64) -> Option<Bounds> {
    if n < 2 {
        return None;
    }
    // A half is a probability, so the distribution exists.
    let signs = Binomial::new(0.5, n).expect("one half is a probability");
    let at = |rank: u64| Bounds {
        rank,
        level: 1.0 - 2.0 * signs.cdf(rank - 1),
    };
    let tightest = (2..=n / 2).rev().map(at);
    let reached = tightest.into_iter().find(|bounds| bounds.level >= level);
    Some(reached.unwrap_or_else(|| at(1)))
}

/// The median; `None` of nothing.
pub fn median(values: impl Iterator<Item = f64>) -> Option<f64> {
    let mut sorted: Vec<f64> = values.collect();
    sorted.sort_by(f64::total_cmp);
    middle(&sorted)
}

/// The median of values in ascending order.
fn middle(sorted: &[f64]) -> Option<f64> {
    let n = sorted.len();
    let upper = *sorted.get(n / 2)?;
    Some(match n % 2 {
        0 => f64::midpoint(sorted[n / 2 - 1], upper),
        _ => upper,
    })
}

/// The median of `values` with its interval; `None` when there are none.
pub fn median_interval(values: &[f64], level: f64) -> Option<MedianInterval> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let n = sorted.len();
    let median = middle(&sorted)?;
    let interval = bounds(n as u64, level).map(|bounds| {
        let rank = bounds.rank as usize;
        Interval {
            low: sorted[rank - 1],
            high: sorted[n - rank],
            level: bounds.level,
        }
    });
    Some(MedianInterval {
        median,
        interval,
        trials: n,
    })
}
