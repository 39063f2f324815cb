//! Percentiles of response times in heats: one figure for each member and heat.

use super::{Quantity, Settings, within::Estimate};

/// A percentile of one member's response times in one heat, from the merged histograms of its slices.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Percentile {
    /// The member's number.
    pub member: usize,
    /// The response time at the percentile, in seconds (above 0).
    pub seconds: f64,
    /// Response times behind it.
    pub samples: u64,
}

/// Whether so many samples carry a percentile (0 to 100): [`Settings::beyond`] of them must lie beyond it. Of fewer, a
/// single pause of the server decides what the percentile is.
pub fn is_carried(percent: f64, samples: u64, settings: &Settings) -> bool {
    // In thousandths of a sample, so that 1,000 samples at 90 % are not one too few by rounding.
    let beyond = samples as f64 * (100.0 - percent) / 100.0;
    (beyond * 1e3).round() >= settings.beyond as f64 * 1e3
}

/// The estimates of each heat, for [`Fit::of`](super::Fit::of), from its percentiles. What too few samples carry is
/// left out.
pub fn estimates(
    percent: f64,
    heats: &[Vec<Percentile>],
    settings: &Settings,
) -> Vec<Vec<Estimate>> {
    let carried =
        |one: &&Percentile| one.seconds > 0.0 && is_carried(percent, one.samples, settings);
    let estimate = |one: &Percentile| Estimate {
        member: one.member,
        value: Quantity::Latency.advantage(one.seconds),
        scatter: None,
    };
    heats
        .iter()
        .map(|heat| heat.iter().filter(carried).map(estimate).collect())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hundred_samples_lie_beyond_a_percentile() {
        let settings = Settings::default();
        for (percent, least) in [(50.0, 200), (90.0, 1_000), (99.0, 10_000), (99.9, 100_000)] {
            assert!(is_carried(percent, least, &settings), "{percent}");
            assert!(!is_carried(percent, least - 1, &settings), "{percent}");
        }
        assert!(!is_carried(100.0, u64::MAX, &settings));
    }

    #[test]
    fn what_too_few_samples_carry_is_left_out() {
        let one = |member, seconds, samples| Percentile {
            member,
            seconds,
            samples,
        };
        let heats = [vec![
            one(0, 0.002, 10_000),
            one(1, 0.004, 9_999),
            one(2, 0.004, 20_000),
        ]];
        let found = estimates(99.0, &heats, &Settings::default());
        let members: Vec<usize> = found[0].iter().map(|one| one.member).collect();
        assert_eq!(members, [0, 2]);
        // Twice the time is half as good.
        let ahead = found[0][0].value - found[0][1].value;
        assert!((ahead.exp() - 2.0).abs() < 1e-12);
    }
}
