//! What the workers of an open loop tell each other, without a lock: how many arrivals have been taken, and who has
//! connections, and free ones.
//!
//! Arrivals are taken in their order, each by one worker that can send it. A share for each worker would let requests
//! wait for one worker's connections while another's are free, and blame the server for it.

use std::{
    io,
    sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
};

use super::share;
use crate::socket::Bell;

/// One worker's notice to the others, in cache lines of its own.
#[derive(Debug)]
#[repr(align(128))]
struct Notice {
    /// Its connections without a request.
    free: AtomicUsize,
    /// Connections that it makes at the start.
    at_start: usize,
    /// Its connections that requests can be sent on. Until the first has been tried, those of the start count.
    open: AtomicUsize,
    /// Arrivals that it has seen fall due.
    due: AtomicU64,
    /// Wakes it.
    bell: Bell,
}

/// Arrivals whose lag is remembered until somebody takes them. Of a longer backlog the lags of the newest are.
const REMEMBERED: usize = 1 << 18;
/// Bits of a remembered lag: 18 minutes of nanoseconds. Above them is a tag that tells whose lag it is.
const LAG_BITS: u32 = 40;

/// The arrivals that have been taken, and a notice of each worker.
#[derive(Debug)]
pub(crate) struct ArrivalQueue {
    taken: AtomicU64,
    /// Whether a worker has counted all that nobody took at the end.
    rest_counted: AtomicBool,
    lags: Box<[AtomicU64]>,
    notices: Vec<Notice>,
}

impl ArrivalQueue {
    /// Of this many workers, which make `connections` at the start.
    pub(crate) fn new(workers: usize, connections: u32) -> io::Result<Self> {
        let notice = |worker| {
            let at_start = share(worker, workers, connections).count();
            Ok(Notice {
                free: AtomicUsize::new(0),
                at_start,
                open: AtomicUsize::new(at_start),
                due: AtomicU64::new(0),
                bell: Bell::new()?,
            })
        };
        Ok(Self {
            taken: AtomicU64::new(0),
            rest_counted: AtomicBool::new(false),
            lags: match workers {
                0 => Box::default(),
                _ => (0..REMEMBERED).map(|_| AtomicU64::new(0)).collect(),
            },
            notices: (0..workers).map(notice).collect::<io::Result<_>>()?,
        })
    }

    /// Begins anew, with arrival 0. No worker may be at work.
    pub(crate) fn reset(&self) {
        let relaxed = Ordering::Relaxed;
        for notice in &self.notices {
            notice.due.store(0, relaxed);
            notice.open.fetch_max(notice.at_start, relaxed);
        }
        for lag in &self.lags {
            lag.store(0, relaxed);
        }
        self.taken.store(0, relaxed);
        self.rest_counted.store(false, relaxed);
    }

    /// Whether the caller is to count what nobody took: the first who asks is.
    pub(crate) fn claim_rest(&self) -> bool {
        !self.rest_counted.swap(true, Ordering::Relaxed)
    }

    /// Whether somebody has claimed it.
    pub(crate) fn is_rest_claimed(&self) -> bool {
        self.rest_counted.load(Ordering::Relaxed)
    }

    /// How many arrivals have been taken: the number of the next one.
    #[inline]
    pub(crate) fn taken(&self) -> u64 {
        self.taken.load(Ordering::Relaxed)
    }

    /// Takes arrival `index`, unless another worker was quicker.
    #[inline]
    pub(crate) fn take(&self, index: u64) -> bool {
        // Only the number itself is shared: no other memory depends on its order.
        let relaxed = Ordering::Relaxed;
        self.taken
            .compare_exchange(index, index + 1, relaxed, relaxed)
            .is_ok()
    }

    /// Arrivals that are due and that nobody has taken.
    pub(crate) fn waiting(&self) -> u64 {
        let due = |notice: &Notice| notice.due.load(Ordering::Relaxed);
        let due: u64 = self.notices.iter().map(due).sum();
        due.saturating_sub(self.taken())
    }

    /// Arrival `index`, which `worker` looks after, fell due `lag` nanoseconds ago.
    #[inline]
    pub(crate) fn note_due(&self, worker: usize, index: u64, lag: u64) {
        let due = &self.notices[worker].due;
        due.store(due.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
        let lag = lag.min((1 << LAG_BITS) - 1);
        self.lags[index as usize % REMEMBERED].store(tag(index) | lag, Ordering::Relaxed);
    }

    /// How late it was noticed that arrival `index` was due; `None`: nobody has, or it is too long ago.
    #[inline]
    pub(crate) fn lag(&self, index: u64) -> Option<u64> {
        let noted = self.lags[index as usize % REMEMBERED].load(Ordering::Relaxed);
        let lag = noted & ((1 << LAG_BITS) - 1);
        (noted - lag == tag(index)).then_some(lag)
    }

    /// `worker` has this many connections without a request.
    #[inline]
    pub(crate) fn note_free(&self, worker: usize, free: usize) {
        self.notices[worker].free.store(free, Ordering::Relaxed);
    }

    /// A worker other than `worker` with a free connection.
    #[inline]
    pub(crate) fn free_elsewhere(&self, worker: usize) -> Option<usize> {
        let others = (0..self.notices.len()).filter(|other| *other != worker);
        let mut free = others.filter(|other| self.notices[*other].free.load(Ordering::Relaxed) > 0);
        free.next()
    }

    /// `worker` has this many connections that requests can be sent on.
    #[inline]
    pub(crate) fn note_open(&self, worker: usize, open: usize) {
        self.notices[worker].open.store(open, Ordering::Relaxed);
    }

    /// Whether a worker other than `worker` has a connection that requests can be sent on.
    #[inline]
    pub(crate) fn is_open_elsewhere(&self, worker: usize) -> bool {
        let mut others = (0..self.notices.len()).filter(|other| *other != worker);
        others.any(|other| self.notices[other].open.load(Ordering::Relaxed) > 0)
    }

    /// What wakes `worker`.
    pub(crate) fn bell(&self, worker: usize) -> &Bell {
        &self.notices[worker].bell
    }
}

/// What a remembered lag begins with. An empty place is nobody's.
#[inline]
fn tag(index: u64) -> u64 {
    (index + 1) << LAG_BITS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lag_is_known_until_its_place_is_another_arrivals() {
        let taking = ArrivalQueue::new(2, 0).unwrap();
        assert_eq!((taking.lag(0), taking.lag(7)), (None, None));
        taking.note_due(0, 7, 1_234);
        taking.note_due(1, 8, u64::MAX);
        assert_eq!(taking.lag(7), Some(1_234));
        assert_eq!(taking.lag(8), Some((1 << LAG_BITS) - 1));
        taking.note_due(0, 7 + REMEMBERED as u64, 0);
        assert_eq!(taking.lag(7), None);
        assert_eq!(taking.waiting(), 3);
        assert!(taking.take(0) && !taking.take(0));
        assert_eq!(taking.waiting(), 2);
    }

    #[test]
    fn who_has_a_free_connection_is_known_to_the_others() {
        let taking = ArrivalQueue::new(3, 0).unwrap();
        assert_eq!(taking.free_elsewhere(0), None);
        taking.note_free(2, 1);
        assert_eq!(taking.free_elsewhere(0), Some(2));
        assert_eq!(taking.free_elsewhere(2), None);
    }

    #[test]
    fn who_is_to_make_a_connection_counts_as_connected_until_that_has_been_tried() {
        let taking = ArrivalQueue::new(3, 1).unwrap();
        assert!(!taking.is_open_elsewhere(0) && taking.is_open_elsewhere(1));
        taking.note_open(0, 0);
        assert!(!taking.is_open_elsewhere(1));
        taking.note_open(2, 4);
        assert!(taking.is_open_elsewhere(1) && !taking.is_open_elsewhere(2));
        // Connections are held between slices, and those of the start are made again.
        taking.reset();
        assert!(taking.is_open_elsewhere(0));
        taking.note_open(2, 0);
        assert!(taking.is_open_elsewhere(1) && !taking.is_open_elsewhere(0));
    }
}
