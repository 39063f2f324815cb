//! Intervals of means, of medians and of differences of means, and the correction for several tests.
//!
//! Student's t: "The probable error of a mean", Biometrika 6 (1908); on the logarithm because latencies and ratios
//! scatter by factors, not by differences (Kalibera & Jones, ISMM 2013, § 6).

use schemars::JsonSchema;
use serde::Serialize;
use statrs::distribution::{Binomial, ContinuousCDF, DiscreteCDF, StudentsT};

/// A geometric mean over heats, in the unit of its values.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct LogMean {
    /// The geometric mean.
    pub mean: f64,
    /// The t interval on the logarithm, taken back; `None` for a single value.
    pub interval: Option<Interval>,
    /// Values behind it.
    pub trials: usize,
}

/// Mean and standard error of a sample.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moments {
    /// The mean.
    pub mean: f64,
    /// The standard error of the mean (n − 1 degrees of freedom).
    pub error: f64,
    /// Values.
    pub n: usize,
}

/// The moments of `values`; `None` for fewer than two.
pub fn moments(values: &[f64]) -> Option<Moments> {
    let n = values.len();
    if n < 2 {
        return None;
    }
    let mean = values.iter().sum::<f64>() / n as f64;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    let error = (squares / (n - 1) as f64 / n as f64).sqrt();
    Some(Moments { mean, error, n })
}

impl Moments {
    /// The half width of the t interval at `level` (0 to 1).
    pub fn half_width(&self, level: f64) -> f64 {
        t_quantile(f64::midpoint(1.0, level), self.n - 1) * self.error
    }

    /// The two-sided p value of a mean of zero. Without any scatter it is 1 when the mean is zero, else 0.
    pub fn p_of_zero(&self) -> f64 {
        if self.error == 0.0 {
            return if self.mean == 0.0 { 1.0 } else { 0.0 };
        }
        let t = (self.mean / self.error).abs();
        (2.0 * student((self.n - 1) as f64).sf(t)).min(1.0)
    }
}

/// The quantile of Student's t at `probability` (0 to 1) with this many degrees of freedom (1 or more).
pub fn t_quantile(probability: f64, freedom: usize) -> f64 {
    student(freedom as f64).inverse_cdf(probability)
}

/// Student's t with this many degrees of freedom, or one if they are fewer.
pub(crate) fn student(freedom: f64) -> StudentsT {
    // Location 0, scale 1 and a positive number of degrees of freedom are always accepted.
    StudentsT::new(0.0, 1.0, freedom.max(1.0)).expect("positive degrees of freedom")
}

/// The geometric mean of `values` with its interval; `None` without values, or if one is not positive.
pub fn log_mean(values: &[f64], level: f64) -> Option<LogMean> {
    if values.is_empty() || values.iter().any(|value| *value <= 0.0) {
        return None;
    }
    let logs: Vec<f64> = values.iter().map(|value| value.ln()).collect();
    let mean = logs.iter().sum::<f64>() / logs.len() as f64;
    let interval = moments(&logs).map(|moments| {
        let half = moments.half_width(level);
        Interval {
            low: (mean - half).exp(),
            high: (mean + half).exp(),
            level,
        }
    });
    Some(LogMean {
        mean: mean.exp(),
        interval,
        trials: values.len(),
    })
}

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
pub struct MedianBounds {
    /// The lower end is the `rank`-th smallest value and the upper one the `rank`-th largest, from 1.
    pub rank: u64,
    /// The level achieved (0 to 1).
    pub level: f64,
}

/// The tightest symmetric bounds that reach `level`; the smallest and the largest value when none does.
/// `None` for fewer than two values.
pub fn bounds(n: u64, level: f64) -> Option<MedianBounds> {
    if n < 2 {
        return None;
    }
    // A half is a probability, so the distribution exists.
    let signs = Binomial::new(0.5, n).expect("one half is a probability");
    let at = |rank: u64| MedianBounds {
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

/// The median of `values` with its interval; `None` without values.
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

/// The difference of two means whose values belong to no pairs and whose spreads may differ.
///
/// B. L. Welch, "The generalization of 'Student's' problem when several different population variances are involved",
/// Biometrika 34 (1947), with the degrees of freedom of Welch and Satterthwaite.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Difference {
    /// Mean of the second sample less that of the first.
    pub mean: f64,
    /// Its standard error.
    pub error: f64,
    /// Degrees of freedom; no whole number.
    pub freedom: f64,
}

/// `b` less `a`; `None` when either has fewer than two values.
pub fn difference(a: &[f64], b: &[f64]) -> Option<Difference> {
    let (a, b) = (moments(a)?, moments(b)?);
    let (va, vb) = (a.error.powi(2), b.error.powi(2));
    let below = va.powi(2) / (a.n - 1) as f64 + vb.powi(2) / (b.n - 1) as f64;
    // Without any spread there is nothing to weigh; the degrees do not matter then.
    let freedom = if below > 0.0 {
        (va + vb).powi(2) / below
    } else {
        (a.n + b.n - 2) as f64
    };
    Some(Difference {
        mean: b.mean - a.mean,
        error: (va + vb).sqrt(),
        freedom,
    })
}

impl Difference {
    /// The half width of the interval at `level` (0 to 1).
    pub fn half_width(&self, level: f64) -> f64 {
        student(self.freedom).inverse_cdf(f64::midpoint(1.0, level)) * self.error
    }

    /// The two-sided p value of no difference. Without any spread it is 1 if the difference is 0, otherwise 0.
    pub fn p_of_zero(&self) -> f64 {
        if self.error == 0.0 {
            return if self.mean == 0.0 { 1.0 } else { 0.0 };
        }
        (2.0 * student(self.freedom).sf((self.mean / self.error).abs())).min(1.0)
    }
}

/// Holm's adjusted p values, in the order of `p`: corrected for how many hypotheses were tested ("A simple sequentially
/// rejective multiple test procedure", Scand. J. Stat. 6, 1979).
pub fn holm(p: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|a, b| p[*a].total_cmp(&p[*b]));
    let mut adjusted = vec![1.0; p.len()];
    let mut least: f64 = 0.0;
    for (step, index) in order.into_iter().enumerate() {
        least = least.max((p[index] * (p.len() - step) as f64).min(1.0));
        adjusted[index] = least;
    }
    adjusted
}
