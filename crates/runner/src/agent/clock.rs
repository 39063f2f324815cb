//! How far another host's monotonic clock is from this one's.

use std::time::Duration;

/// A question and its answer: asked and heard on this clock, answered on the other one, in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Exchange {
    pub(super) asked: u64,
    pub(super) answered: u64,
    pub(super) heard: u64,
}

/// What is known of the other clock: the best of several exchanges. The answer was given some time between the question
/// and its arrival, so the quickest exchange says most (Cristian, "Probabilistic clock synchronization", 1989).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Offset {
    /// The other clock less this one, in nanoseconds.
    nanoseconds: i128,
    /// By this clock.
    at: i128,
    /// The quickest round trip. The offset is right within half of it.
    pub(super) round_trip: Duration,
}

impl Offset {
    pub(super) fn new(exchanges: &[Exchange]) -> Option<Self> {
        let trip = |it: &Exchange| it.heard.saturating_sub(it.asked);
        let best = exchanges.iter().min_by_key(|it| trip(it))?;
        let middle = (i128::from(best.asked) + i128::from(best.heard)) / 2;
        Some(Self {
            nanoseconds: i128::from(best.answered) - middle,
            at: middle,
            round_trip: Duration::from_nanos(trip(best)),
        })
    }

    /// What the other clock shows when this one shows `here`.
    pub(super) fn there(&self, here: u64) -> u64 {
        u64::try_from(i128::from(here) + self.nanoseconds).unwrap_or(0)
    }

    /// How much faster the other clock went since `earlier`, and how far that may be wrong, in parts per million.
    pub(super) fn drift_since(&self, earlier: &Self) -> (f64, f64) {
        let parts = 1e6 / (self.at - earlier.at).max(1) as f64;
        let error = (self.round_trip + earlier.round_trip).as_nanos() as f64 / 2.0;
        let apart = (self.nanoseconds - earlier.nanoseconds) as f64;
        (apart * parts, error * parts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_quickest_exchange_decides_and_its_half_bounds_the_error() {
        let truth = 5_000_000_000_i128;
        let exchange = |asked: u64, out: u64, back: u64| Exchange {
            asked,
            answered: (i128::from(asked + out) + truth) as u64,
            heard: asked + out + back,
        };
        let offset = Offset::new(&[
            exchange(1_000, 900, 100_000),
            exchange(200_000, 70, 30),
            exchange(400_000, 5_000, 90),
        ]);
        let offset = offset.unwrap();
        assert_eq!(offset.round_trip, Duration::from_nanos(100));
        assert!((offset.nanoseconds - truth).abs() <= 50);
        assert!(offset.there(1_000).abs_diff(5_000_001_000) <= 50);
        assert_eq!(Offset::new(&[]), None);
    }

    #[test]
    fn drift_is_what_offsets_grew_by_within_half_of_both_round_trips() {
        let at = |here: u64, there: u64, trip: u64| {
            let exchange = Exchange {
                asked: here,
                answered: there + trip / 2,
                heard: here + trip,
            };
            Offset::new(&[exchange]).unwrap()
        };
        // One second, in which the other clock went 600 µs further.
        let earlier = at(1_000_000_000, 5_000_000_000, 20_000);
        let later = at(2_000_000_000, 6_000_600_000, 20_000);
        let (drift, error) = later.drift_since(&earlier);
        assert!((drift - 600.0).abs() < 0.1, "{drift}");
        assert!((error - 20.0).abs() < 0.1, "{error}");
    }

    #[test]
    fn the_other_clock_may_be_behind() {
        let exchange = Exchange {
            asked: 10_000,
            answered: 4_000,
            heard: 12_000,
        };
        let offset = Offset::new(&[exchange]).unwrap();
        assert_eq!(offset.there(11_000), 4_000);
        assert_eq!(offset.there(0), 0);
    }
}
