//! The intended starts of an open loop, as a closed form of the request's number; and the queue from which workers take
//! them.
//!
//! Let Λ(t) be the requests expected until t: the integral of the rate, which is linear in each stage. Request k of a
//! uniform schedule is due at Λ⁻¹(k); of a Poisson schedule at Λ⁻¹(E₀ + … + E_k), where E_k is exponential with mean 1
//! and a function of the seed and k alone (Çinlar, "Introduction to Stochastic Processes", 1975, ch. 4: a process of
//! any rate is one of rate 1 on another clock). No request's time depends on an answer, on the clock, or on the number
//! of workers or generators: of n generators, each has every nth request of the same schedule, numbered from 0.

use std::{
    io,
    sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
    time::Duration,
};

use deadheat_model::load::{Arrivals as Kind, Share, Stage};

use super::{nanos, share};
use crate::{error::ScheduleError, limits::MAX_PER_SECOND, random, socket::Waker};

/// The most requests with random times that are counted before a load.
const MAX_COUNTED: f64 = 1e8;

/// A stretch of time over which the rate is linear.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Segment {
    /// Its start, in seconds since the load's.
    start: f64,
    /// Requests expected before it.
    before: f64,
    /// Requests expected in it; infinite in the last one, unless nothing is sent there.
    count: f64,
    /// The rate at its start, per second.
    rate: f64,
    /// How fast the rate changes, per second and second.
    slope: f64,
}

impl Segment {
    /// Requests expected in it by `time`, in seconds since the load's start. `time` must not be before its start.
    fn count_by(&self, time: f64) -> f64 {
        let since = time - self.start;
        (self.rate * since + self.slope * since * since / 2.0).min(self.count)
    }

    /// When `count` requests of this segment are expected, in seconds since the load's start. The root of
    /// rate·t + slope·t²/2 = count that keeps its digits however small the slope is.
    fn time_of(&self, count: f64) -> f64 {
        if count <= 0.0 {
            return self.start;
        }
        let discriminant = (self.rate * self.rate + 2.0 * self.slope * count).max(0.0);
        self.start + 2.0 * count / (self.rate + discriminant.sqrt())
    }
}

/// The intended starts of an open loop.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Arrivals {
    kind: Kind,
    seed: u64,
    /// This generator's share of the requests.
    share: Share,
    segments: Vec<Segment>,
    /// The number of this generator's requests; `u64::MAX` if only time ends the load.
    end: u64,
}

impl Arrivals {
    /// A schedule with the warm-up at the first stage's first rate, then the stages, then the last one's final rate
    /// forever.
    pub(crate) fn new(
        kind: Kind,
        seed: u64,
        share: Share,
        warm_up: Duration,
        stages: &[Stage],
    ) -> Result<Self, ScheduleError> {
        let (Some(first), Some(last)) = (stages.first(), stages.last()) else {
            return Err(ScheduleError::NoStage);
        };
        let before = Stage {
            length: warm_up,
            from: first.from,
            to: first.from,
        };
        let mut segments = Vec::with_capacity(stages.len() + 2);
        let (mut start, mut expected) = (0.0, 0.0);
        for (index, stage) in [before].iter().chain(stages).enumerate() {
            for rate in [stage.from, stage.to] {
                if !(0.0..=MAX_PER_SECOND).contains(&rate) {
                    return Err(ScheduleError::Rate { index, rate });
                }
            }
            let length = stage.length.as_secs_f64();
            if length == 0.0 {
                continue;
            }
            let count = (stage.from + stage.to) / 2.0 * length;
            segments.push(Segment {
                start,
                before: expected,
                count,
                rate: stage.from,
                slope: (stage.to - stage.from) / length,
            });
            start += length;
            expected += count;
        }
        segments.push(Segment {
            start,
            before: expected,
            count: if last.to > 0.0 { f64::INFINITY } else { 0.0 },
            rate: last.to,
            slope: 0.0,
        });
        let sends = segments.iter().any(|segment| segment.count > 0.0);
        if sends {
            Ok(Self {
                kind,
                seed,
                share,
                segments,
                end: u64::MAX,
            })
        } else {
            Err(ScheduleError::AlwaysZero)
        }
    }

    /// Ends the schedule after this number of requests after the warm-up, counted over all generators.
    pub(crate) fn ending_after(
        mut self,
        warm_up: Duration,
        requests: u64,
    ) -> Result<Self, ScheduleError> {
        let expected = self.expected_before(nanos(warm_up));
        if self.kind == Kind::Poisson && expected > MAX_COUNTED {
            return Err(ScheduleError::TooMany(expected));
        }
        let whole = Self {
            share: Share::WHOLE,
            ..self.clone()
        };
        let before = whole.due_before(warm_up);
        let all = requests.saturating_add(before);
        let due = whole.count_up_to(all)?;
        if due < all {
            return Err(ScheduleError::TooFew {
                due: due.saturating_sub(before),
                requests,
            });
        }
        self.end = self.share.part(all);
        Ok(self)
    }

    /// The number of requests that are ever due, or `most` if it is less: without an end if the last rate is above 0.
    fn count_up_to(&self, most: u64) -> Result<u64, ScheduleError> {
        let Some(last) = self.segments.last().filter(|last| last.count == 0.0) else {
            return Ok(most);
        };
        // The number of requests expected over the whole load.
        let total = last.before;
        match self.kind {
            // Request k is due if k is below the total.
            Kind::Uniform => Ok(most.min(total.ceil() as u64)),
            Kind::Poisson if total.min(most as f64) > MAX_COUNTED => {
                Err(ScheduleError::TooMany(total.min(most as f64)))
            }
            Kind::Poisson => {
                let mut cursor = Cursor::new(self, 0, 1);
                let mut count = 0;
                while count < most && cursor.next(self).is_some() {
                    count += 1;
                }
                Ok(count)
            }
        }
    }

    /// Number of requests that are due in the first `time` of the load.
    pub(crate) fn due_before(&self, time: Duration) -> u64 {
        let time = nanos(time);
        if self.kind == Kind::Uniform {
            return self.uniform_before(time);
        }
        let mut cursor = Cursor::new(self, 0, 1);
        let mut count = 0;
        while cursor.next(self).is_some_and(|at| at < time) {
            count += 1;
        }
        count
    }

    /// [`Self::due_before`] of a uniform schedule, by bisection: each time can be computed without those before it.
    fn uniform_before(&self, time: u64) -> u64 {
        let is_before = |index: u64| {
            let mut cursor = Cursor::new(self, 0, 1);
            cursor.seek(self, index);
            cursor.next(self).is_some_and(|at| at < time)
        };
        let (mut low, mut high) = (0, self.end.min(1 << 62));
        while low < high {
            let middle = low + (high - low) / 2;
            if is_before(middle) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }

    /// Requests of all generators that are expected by `time`, in nanoseconds since the load's start.
    fn expected_before(&self, time: u64) -> f64 {
        let seconds = time as f64 / 1e9;
        let begun = self.segments.iter().rev().find(|one| one.start <= seconds);
        begun.map_or(0.0, |segment| segment.before + segment.count_by(seconds))
    }

    /// The number of this generator's requests; `u64::MAX` if only time ends the load.
    pub(crate) fn end(&self) -> u64 {
        self.end
    }

    /// The time from the generator's request before `own`, or from the load's start, to `own`, on the clock of rate 1.
    #[inline]
    fn step(&self, own: u64) -> f64 {
        let number = self.share.number(own);
        let first = match own {
            0 => 0,
            _ => self.share.number(own - 1) + 1,
        };
        match self.kind {
            Kind::Uniform if own == 0 => number as f64,
            Kind::Uniform => (number + 1 - first) as f64,
            // 1 − u is never 0.
            Kind::Poisson => (first..=number)
                .map(|number| -(1.0 - random::unit(self.seed, number)).ln())
                .sum(),
        }
    }
}

/// Goes through every `stride`-th arrival from `first` on: one worker's share.
#[derive(Clone, Debug)]
pub(crate) struct Cursor {
    /// The number of the cursor's next request, counted over all workers of this generator.
    index: u64,
    /// The expected number of requests, Λ, at which this generator's request before `index` is due; 0 for the first.
    reached: f64,
    stride: u64,
    segment: usize,
}

impl Cursor {
    /// The share of worker `worker` of `workers`.
    pub(crate) fn new(arrivals: &Arrivals, worker: usize, workers: usize) -> Self {
        let mut cursor = Self {
            index: 0,
            reached: 0.0,
            stride: workers.max(1) as u64,
            segment: 0,
        };
        cursor.skip(arrivals, worker as u64);
        cursor
    }

    /// The number of the next request.
    #[inline]
    pub(crate) fn index(&self) -> u64 {
        self.index
    }

    /// Goes forward to request `index`.
    pub(crate) fn seek(&mut self, arrivals: &Arrivals, index: u64) {
        self.skip(arrivals, index.saturating_sub(self.index));
    }

    fn skip(&mut self, arrivals: &Arrivals, count: u64) {
        if arrivals.kind == Kind::Uniform {
            // The sum of all steps before the next request's own.
            self.index += count;
            self.reached = match self.index {
                0 => 0.0,
                index => arrivals.share.number(index - 1) as f64,
            };
            return;
        }
        for _ in 0..count {
            self.reached += arrivals.step(self.index);
            self.index += 1;
        }
    }

    /// How many of the worker's requests are due before `time` (in nanoseconds since the load's start), the next one
    /// included: those that are expected, so that they need not be gone through.
    pub(crate) fn expected_before(&self, arrivals: &Arrivals, time: u64) -> u64 {
        let all = arrivals.expected_before(time) - self.reached;
        let own = (all.max(0.0) / (arrivals.share.count() as f64 * self.stride as f64)).round();
        let left = arrivals.end.saturating_sub(self.index);
        (own as u64).min(left.div_ceil(self.stride))
    }

    /// When the next request is due, in nanoseconds since the load's start; `None`: there are no more.
    pub(crate) fn next(&mut self, arrivals: &Arrivals) -> Option<u64> {
        if self.index >= arrivals.end {
            return None;
        }
        self.next_beyond(arrivals)
    }

    /// The same, also of requests behind the last one.
    pub(crate) fn next_beyond(&mut self, arrivals: &Arrivals) -> Option<u64> {
        let expected = self.reached + arrivals.step(self.index);
        // An arrival exactly on a segment's end is the next segment's first.
        let segment = loop {
            let segment = arrivals.segments.get(self.segment)?;
            if expected < segment.before + segment.count {
                break segment;
            }
            self.segment += 1;
        };
        let seconds = segment.time_of(expected - segment.before);
        self.skip(arrivals, self.stride);
        Some((seconds * 1e9).round() as u64)
    }
}

/// The state of a worker that the others read, in cache lines of its own.
#[derive(Debug)]
#[repr(align(128))]
struct WorkerNotice {
    /// Its connections without a request.
    free: AtomicUsize,
    /// Connections that it makes at the start.
    at_start: usize,
    /// Its open connections. Until the first connect has ended, those of the start count.
    open: AtomicUsize,
    /// Due arrivals that it has counted.
    due: AtomicU64,
    /// Wakes it.
    waker: Waker,
}

/// The most arrivals whose lag is remembered until a worker takes them. In a longer backlog, only the newest have one.
const REMEMBERED: usize = 1 << 18;
/// Bits of a remembered lag: 18 minutes of nanoseconds. The bits above are a tag for the number of the arrival.
const LAG_BITS: u32 = 40;

/// The lock-free queue from which workers take arrivals, with a notice of each worker.
///
/// Arrivals are taken in order, each by one worker that can send it. With a fixed share for each worker, requests could
/// wait for one worker's connections while another's are free, and the wait would be blamed on the server.
#[derive(Debug)]
pub(crate) struct ArrivalQueue {
    taken: AtomicU64,
    /// Whether a worker has claimed to count the arrivals that are untaken at the end.
    rest_counted: AtomicBool,
    lags: Box<[AtomicU64]>,
    notices: Vec<WorkerNotice>,
}

impl ArrivalQueue {
    /// A queue for this many workers, which open `connections` at the start.
    pub(crate) fn new(workers: usize, connections: u32) -> io::Result<Self> {
        let notice = |worker| {
            let at_start = share(worker, workers, connections).count();
            Ok(WorkerNotice {
                free: AtomicUsize::new(0),
                at_start,
                open: AtomicUsize::new(at_start),
                due: AtomicU64::new(0),
                waker: Waker::new()?,
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

    /// Starts again with arrival 0. No worker may be running.
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

    /// Claims the task to count the untaken arrivals. Returns true to the first caller only.
    pub(crate) fn claim_rest(&self) -> bool {
        !self.rest_counted.swap(true, Ordering::Relaxed)
    }

    /// Whether a worker has claimed that task.
    pub(crate) fn is_rest_claimed(&self) -> bool {
        self.rest_counted.load(Ordering::Relaxed)
    }

    /// Number of taken arrivals, which is the number of the next one.
    #[inline]
    pub(crate) fn taken(&self) -> u64 {
        self.taken.load(Ordering::Relaxed)
    }

    /// Takes arrival `index`; returns false if another worker was quicker.
    #[inline]
    pub(crate) fn take(&self, index: u64) -> bool {
        // `Relaxed` suffices: the counter publishes no other memory.
        let relaxed = Ordering::Relaxed;
        self.taken
            .compare_exchange(index, index + 1, relaxed, relaxed)
            .is_ok()
    }

    /// Number of arrivals that are due and untaken.
    pub(crate) fn waiting(&self) -> u64 {
        let due = |notice: &WorkerNotice| notice.due.load(Ordering::Relaxed);
        let due: u64 = self.notices.iter().map(due).sum();
        due.saturating_sub(self.taken())
    }

    /// Notes that `worker`'s own arrival `index` became due `lag` nanoseconds ago.
    #[inline]
    pub(crate) fn note_due(&self, worker: usize, index: u64, lag: u64) {
        let due = &self.notices[worker].due;
        due.store(due.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
        let lag = lag.min((1 << LAG_BITS) - 1);
        self.lags[index as usize % REMEMBERED].store(tag(index) | lag, Ordering::Relaxed);
    }

    /// How late arrival `index` was noticed, in nanoseconds; `None`: not noticed yet, or no longer remembered.
    #[inline]
    pub(crate) fn lag(&self, index: u64) -> Option<u64> {
        let noted = self.lags[index as usize % REMEMBERED].load(Ordering::Relaxed);
        let lag = noted & ((1 << LAG_BITS) - 1);
        (noted - lag == tag(index)).then_some(lag)
    }

    /// Sets the number of `worker`'s connections without a request.
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

    /// Sets the number of `worker`'s open connections.
    #[inline]
    pub(crate) fn note_open(&self, worker: usize, open: usize) {
        self.notices[worker].open.store(open, Ordering::Relaxed);
    }

    /// Whether a worker other than `worker` has an open connection.
    #[inline]
    pub(crate) fn is_open_elsewhere(&self, worker: usize) -> bool {
        let mut others = (0..self.notices.len()).filter(|other| *other != worker);
        others.any(|other| self.notices[other].open.load(Ordering::Relaxed) > 0)
    }

    /// The waker of `worker`.
    pub(crate) fn waker(&self, worker: usize) -> &Waker {
        &self.notices[worker].waker
    }
}

/// The tag in the high bits of the lag of arrival `index`. It is never 0, the value of an empty entry.
#[inline]
fn tag(index: u64) -> u64 {
    (index + 1) << LAG_BITS
}

#[cfg(test)]
#[path = "arrivals_tests.rs"]
mod tests;
