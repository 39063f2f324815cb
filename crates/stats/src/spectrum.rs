//! All percentiles of a cell, for a curve over its trials.

use deadheat_model::LatencyHistogram;

/// Where the curve has points: between the percentiles that tables show, as close to 100 as a trial can tell.
const PERCENTS: [f64; 16] = [
    5.0, 10.0, 25.0, 50.0, 75.0, 90.0, 95.0, 97.5, 99.0, 99.5, 99.75, 99.9, 99.95, 99.99, 99.995,
    99.999,
];
/// Requests that must lie beyond a point in every trial: with fewer it is a few odd requests that it shows.
pub const BEYOND: f64 = 100.0;

/// A percentile over a cell's trials, in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SpectrumPoint {
    /// Which (99: p99).
    pub percent: f64,
    /// The geometric mean over the trials, as in [`crate::cell::PercentileEstimate`].
    pub mean: f64,
    /// The least of a trial.
    pub least: f64,
    /// The most of a trial.
    pub most: f64,
}

/// The percentiles that every one of `trials` can tell, from the lowest; none without a trial.
pub fn spectrum(trials: &[&LatencyHistogram]) -> Vec<SpectrumPoint> {
    let fewest = trials.iter().map(|trial| trial.count()).min().unwrap_or(0);
    let is_told = |percent: &&f64| fewest as f64 * (1.0 - *percent / 100.0) >= BEYOND - 1e-6;
    let told = PERCENTS.iter().filter(is_told);
    told.filter_map(|percent| point(trials, *percent)).collect()
}

fn point(trials: &[&LatencyHistogram], percent: f64) -> Option<SpectrumPoint> {
    let values = trials.iter().map(|trial| trial.quantile(percent / 100.0));
    let values: Option<Vec<f64>> = values.map(|value| Some(value?.as_secs_f64())).collect();
    let values = values?;
    let logarithms: f64 = values.iter().map(|value| value.ln()).sum();
    Some(SpectrumPoint {
        percent,
        mean: (logarithms / values.len() as f64).exp(),
        least: values.iter().copied().fold(f64::MAX, f64::min),
        most: values.iter().copied().fold(0.0, f64::max),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Times of 1, 2, … ms, each once, scaled.
    fn histogram(count: u64, scale: u64) -> LatencyHistogram {
        let mut histogram = LatencyHistogram::new();
        (1..=count).for_each(|ms| histogram.record_ns(ms * scale * 1_000_000));
        histogram
    }

    #[test]
    fn a_point_has_a_hundred_requests_beyond_it_in_every_trial() {
        let (few, many) = (histogram(1_000, 1), histogram(10_000, 1));
        let last =
            |trials: &[&LatencyHistogram]| spectrum(trials).last().map(|point| point.percent);
        assert_eq!(last(&[&many]), Some(99.0));
        assert_eq!(last(&[&many, &few]), Some(90.0));
        assert_eq!(last(&[&histogram(100, 1)]), None);
        assert_eq!(last(&[]), None);
    }

    #[test]
    fn the_band_is_that_of_the_trials_around_their_geometric_mean() {
        let (one, four) = (histogram(1_000, 1), histogram(1_000, 4));
        let points = spectrum(&[&one, &four]);
        let median = points.iter().find(|point| point.percent == 50.0).unwrap();
        let near =
            |found: f64, expected: f64| assert!((found / expected - 1.0).abs() < 2e-3, "{found}");
        near(median.least, 0.5);
        near(median.most, 2.0);
        near(median.mean, 1.0);
    }
}
