//! When requests are sent and when the load ends: pure functions of counts and time, and the shared quota.

mod arrival_queue;
mod arrivals;
mod quota;
mod thinking;

use std::time::Duration;

pub(crate) use arrival_queue::ArrivalQueue;
pub(crate) use arrivals::{Arrivals, Cursor};
pub(crate) use quota::Quota;
pub(crate) use thinking::Thinking;

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

/// One slice, as its workers go through it.
#[derive(Clone, Debug)]
pub(crate) struct SliceRun {
    pub(crate) timeline: Timeline,
    /// The intended starts of an open loop.
    pub(crate) arrivals: Option<Arrivals>,
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

#[cfg(test)]
mod tests {
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
}
