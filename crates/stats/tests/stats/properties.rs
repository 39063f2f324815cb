//! Laws that hold for any figures.

use deadheat_stats::interval::{bounds, holm, log_mean, median_interval};
use proptest::prelude::*;

proptest! {
    #[test]
    fn intervals_hold_their_centre(values in prop::collection::vec(0.001..1e6_f64, 2..60)) {
        let median = median_interval(&values, 0.95).unwrap();
        let interval = median.interval.unwrap();
        prop_assert!(interval.low <= median.median && median.median <= interval.high);
        let mean = log_mean(&values, 0.95).unwrap();
        let interval = mean.interval.unwrap();
        prop_assert!(interval.low <= mean.mean && mean.mean <= interval.high);
    }

    #[test]
    fn intervals_do_not_see_the_order(
        values in prop::collection::vec(0.001..1e6_f64, 1..30).prop_shuffle(),
    ) {
        let mut sorted = values.clone();
        sorted.sort_by(f64::total_cmp);
        prop_assert_eq!(median_interval(&values, 0.95), median_interval(&sorted, 0.95));
    }

    #[test]
    fn levels_are_reached_when_they_can_be(n in 2_u64..200) {
        let found = bounds(n, 0.95).unwrap();
        prop_assert!(found.rank == 1 || found.level >= 0.95);
        prop_assert!(found.level >= 0.95 || n <= 5);
        prop_assert!(found.rank <= n / 2);
    }

    #[test]
    fn holm_only_raises_and_keeps_order(p in prop::collection::vec(0.0..=1.0_f64, 1..40)) {
        let adjusted = holm(&p);
        for (i, a) in adjusted.iter().enumerate() {
            prop_assert!(*a >= p[i] && *a <= 1.0);
            prop_assert!(p.iter().zip(&adjusted).all(|(q, b)| *q < p[i] || b >= a));
        }
    }
}
