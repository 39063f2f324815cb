//! The difference of two means whose values belong to no pairs and whose spreads may differ.
//!
//! B. L. Welch, "The generalization of 'Student's' problem when several different population variances are involved",
//! Biometrika 34 (1947), with the degrees of freedom of Welch and Satterthwaite.

use statrs::distribution::ContinuousCDF;

use crate::interval::{moments, student};

/// The difference of two means.
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

    /// The two-sided p value of no difference. Without any spread it is 1 when there is none, else 0.
    pub fn p_of_zero(&self) -> f64 {
        if self.error == 0.0 {
            return if self.mean == 0.0 { 1.0 } else { 0.0 };
        }
        (2.0 * student(self.freedom).sf((self.mean / self.error).abs())).min(1.0)
    }
}
