//! Whether a trial's throughput stayed the same over its measurement: a least-squares slope over the bins.
//!
//! Steadiness is checked, not adapted to (Barrett et al., OOPSLA 2017: many programs never reach a steady state).

use deadheat_model::Observation;
use schemars::JsonSchema;
use serde::Serialize;

use crate::Settings;

/// Bins that a slope needs: with fewer, its standard error says nothing.
pub const LEAST_BINS: usize = 4;

/// How throughput changed over a measurement.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Trend {
    /// The change from start to end along the fitted line, as a share of the mean throughput (−0.1: 10 % less).
    pub change: f64,
    /// The standard error of `change`.
    pub standard_error: f64,
}

impl Trend {
    /// Whether the change is too large, and too large to be scatter.
    pub fn is_unsteady(&self, settings: &Settings) -> bool {
        self.change.abs() > self.bound(settings)
    }

    /// The change, up or down, up to which a trial is steady, as a share of the mean throughput: what matters, or what
    /// scatter explains, if that is more.
    pub fn bound(&self, settings: &Settings) -> f64 {
        settings
            .steady_change
            .max(settings.steady_errors * self.standard_error)
    }
}

/// Bins of full width. The last one may be cut off by the end of the window; a hair of rounding is no cut.
pub fn whole_bins(observation: &Observation) -> usize {
    let bin = observation.bin.as_secs_f64();
    let window = observation.window.as_secs_f64();
    if bin <= 0.0 {
        return 0;
    }
    ((window / bin + 1e-6).floor() as usize).min(observation.bins.len())
}

/// The trend over an observation's bins of full width; `None` when there are too few or nothing succeeded.
pub fn trend(observation: &Observation) -> Option<Trend> {
    let counts: Vec<f64> = observation.bins[..whole_bins(observation)]
        .iter()
        .map(|bin| bin.succeeded as f64)
        .collect();
    trend_of(&counts)
}

/// The trend over equally spaced values.
pub fn trend_of(values: &[f64]) -> Option<Trend> {
    let n = values.len();
    if n < LEAST_BINS {
        return None;
    }
    let mean_x = (n - 1) as f64 / 2.0;
    let mean_y = values.iter().sum::<f64>() / n as f64;
    if mean_y <= 0.0 {
        return None;
    }
    let points = || {
        values
            .iter()
            .enumerate()
            .map(|(x, y)| (x as f64 - mean_x, y - mean_y))
    };
    let squares: f64 = points().map(|(x, _)| x * x).sum();
    let slope = points().map(|(x, y)| x * y).sum::<f64>() / squares;
    let residual: f64 = points().map(|(x, y)| (y - slope * x).powi(2)).sum();
    let slope_error = (residual / (n - 2) as f64 / squares).sqrt();
    let scale = n as f64 / mean_y;
    Some(Trend {
        change: slope * scale,
        standard_error: slope_error * scale,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bound_is_what_matters_or_what_scatter_explains_if_that_is_more() {
        let settings = Settings::default();
        for (change, standard_error, bound, is_unsteady) in [
            (-0.12, 0.01, 0.10, true),
            (0.09, 0.01, 0.10, false),
            (0.25, 0.13, 0.26, false),
            (0.27, 0.13, 0.26, true),
        ] {
            let trend = Trend {
                change,
                standard_error,
            };
            assert_eq!(trend.bound(&settings), bound);
            assert_eq!(trend.is_unsteady(&settings), is_unsteady, "{trend:?}");
        }
    }
}
