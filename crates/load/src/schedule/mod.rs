//! When requests are sent and when the load ends: pure functions of counts and time, the time to think, and the quota
//! that all workers share.

mod arrivals;

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use deadheat_model::load::Think;

pub(crate) use self::arrivals::{ArrivalQueue, Arrivals, Cursor};
use crate::random;

/// Connection `index` of `connections` sends its first request this long after the load's start, in nanoseconds:
/// index ↦ ramp × index / connections.
pub(crate) fn first_send(index: u64, connections: u32, ramp: Duration) -> u64 {
    let offset = ramp.as_nanos() * u128::from(index) / u128::from(connections.max(1));
    u64::try_from(offset).unwrap_or(u64::MAX)
}

/// The global indexes of worker `worker`'s connections: dealt like cards, so that the ramp is even on each worker.
pub(crate) fn share(worker: usize, workers: usize, connections: u32) -> impl Iterator<Item = u32> {
    (worker as u32..connections).step_by(workers.max(1))
}

/// The global index of a worker's `slot`-th connection.
pub(crate) fn global(worker: usize, workers: usize, slot: usize) -> u32 {
    (worker + slot * workers.max(1)) as u32
}

/// The instants of a load, in nanoseconds of the monotonic clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Timeline {
    /// The warm-up begins.
    pub(crate) start: u64,
    /// The measurement begins.
    pub(crate) measure_from: u64,
    /// The measurement ends at the latest.
    pub(crate) measure_until: u64,
}

impl Timeline {
    /// The timeline of a load that begins at `start` and whose measurement takes `length` at most, if that is known.
    pub(crate) fn new(start: u64, warm_up: Duration, length: Option<Duration>) -> Self {
        let measure_from = start.saturating_add(nanos(warm_up));
        let length = length.map_or(u64::MAX, nanos);
        Self {
            start,
            measure_from,
            measure_until: measure_from.saturating_add(length),
        }
    }
}

/// A duration in nanoseconds; more than 584 years count as that.
pub(crate) fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

/// How many requests the workers may still issue after the warm-up, together.
#[derive(Debug)]
pub(crate) enum Quota {
    /// As many as fit into the time.
    Unlimited,
    /// This many. One counter for all workers: a share for each would leave the quicker ones idle at the end.
    Left(AtomicU64),
}

impl Quota {
    pub(crate) fn new(requests: u64) -> Self {
        Quota::Left(AtomicU64::new(requests))
    }

    /// Takes one request from the quota, if one is left.
    #[inline]
    pub(crate) fn claim(&self) -> bool {
        match self {
            Quota::Unlimited => true,
            Quota::Left(left) => {
                let one_less = |left: u64| left.checked_sub(1);
                // `Relaxed` suffices: the counter publishes no other memory.
                left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_less)
                    .is_ok()
            }
        }
    }

    /// Whether nothing is left.
    #[inline]
    pub(crate) fn is_spent(&self) -> bool {
        !self.has_more_than(0)
    }

    /// Whether more than `count` requests are left.
    #[inline]
    pub(crate) fn has_more_than(&self, count: usize) -> bool {
        match self {
            Quota::Unlimited => true,
            Quota::Left(left) => left.load(Ordering::Relaxed) > count as u64,
        }
    }
}

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
    fn the_ramp_is_even_and_starts_at_once() {
        let ramp = Duration::from_millis(100);
        let starts: Vec<u64> = (0..4).map(|index| first_send(index, 4, ramp)).collect();
        assert_eq!(starts, [0, 25_000_000, 50_000_000, 75_000_000]);
        assert_eq!(first_send(7, 8, Duration::ZERO), 0);
        assert_eq!(
            first_send(u64::from(u32::MAX) - 1, u32::MAX, Duration::MAX),
            u64::MAX
        );
    }

    #[test]
    fn shares_are_even_and_complete() {
        for (workers, connections) in [(1, 5), (2, 5), (3, 3), (4, 2), (3, 0)] {
            let mut all = Vec::new();
            for worker in 0..workers {
                let own: Vec<u32> = share(worker, workers, connections).collect();
                assert!((own.len() as u32).abs_diff(connections / workers as u32) <= 1);
                all.extend(own);
            }
            all.sort_unstable();
            assert_eq!(all, (0..connections).collect::<Vec<u32>>());
        }
    }

    #[test]
    fn a_timeline_never_overflows() {
        let ten = Duration::from_nanos(10);
        for length in [Some(Duration::MAX), None] {
            let line = Timeline::new(5, ten, length);
            assert_eq!((line.measure_from, line.measure_until), (15, u64::MAX));
        }
        assert_eq!(Timeline::new(5, ten, Some(ten)).measure_until, 25);
    }

    #[test]
    fn a_quota_is_exact_over_threads() {
        let quota = Quota::new(1_000);
        let claimed = AtomicU64::new(0);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    while quota.claim() {
                        claimed.fetch_add(1, Ordering::Relaxed);
                    }
                });
            }
        });
        assert_eq!(claimed.into_inner(), 1_000);
        assert!(quota.is_spent() && !quota.claim());
    }

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
