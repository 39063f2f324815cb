//! How long connections of a closed loop wait before their next request: a function of a seed and two counts.

use deadheat_model::load::Think;

use super::nanos;
use crate::random;

/// So that times have nothing in common with what templates choose by the same seed.
const OWN: u64 = 0x7468_696e_6b20_7469;

/// The times of all connections.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Thinking {
    think: Think,
    seed: u64,
}

impl Thinking {
    pub(crate) fn new(think: Think, seed: u64) -> Self {
        Self {
            think,
            seed: seed ^ OWN,
        }
    }

    /// The `nth` time of a connection, in nanoseconds; `connection` is its number among those of all generators.
    pub(crate) fn time(&self, connection: u64, nth: u64) -> u64 {
        let own = random::number(self.seed, connection);
        nanos(self.think.time(random::unit(own, nth)))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn times_are_those_of_the_seed_and_of_no_other_connection() {
        let think = Think::Uniform {
            from: Duration::from_secs(1),
            to: Duration::from_secs(2),
        };
        let times = |seed, connection| {
            let thinking = Thinking::new(think, seed);
            (0..100)
                .map(move |nth| thinking.time(connection, nth))
                .collect::<Vec<u64>>()
        };
        let first = times(7, 0);
        assert_eq!(first, times(7, 0));
        assert_ne!(first, times(7, 1));
        assert_ne!(first, times(8, 0));
        assert!(
            first
                .iter()
                .all(|time| (1_000_000_000..2_000_000_000).contains(time))
        );
        let mean = first.iter().sum::<u64>() / 100;
        assert!((1_400_000_000..1_600_000_000).contains(&mean), "{mean}");
    }
}
