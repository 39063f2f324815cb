//! Student's t interval, on the logarithm where the values are ratios or times.
//!
//! Student, "The probable error of a mean", Biometrika 6 (1908); on the logarithm because latencies and ratios
//! scatter by factors, not by differences (Kalibera & Jones, ISMM 2013, § 6).

use schemars::JsonSchema;
use serde::Serialize;
use statrs::distribution::{ContinuousCDF, StudentsT};

use crate::order_statistic::Interval;

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

/// The quantile of Student's t at `probability` (0 to 1) with so many degrees of freedom (1 or more).
pub fn t_quantile(probability: f64, freedom: usize) -> f64 {
    student(freedom as f64).inverse_cdf(probability)
}

/// Student's t with so many degrees of freedom, or one if they are fewer.
pub(crate) fn student(freedom: f64) -> StudentsT {
    // Location 0, scale 1 and a positive number of degrees of freedom are always accepted.
    StudentsT::new(0.0, 1.0, freedom.max(1.0)).expect("positive degrees of freedom")
}

/// The geometric mean of `values` with its interval; `None` when there are none or one is not positive.
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
