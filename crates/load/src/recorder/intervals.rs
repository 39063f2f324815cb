//! Intervals handed over while the load runs: no lock, and no allocation as long as the receiver takes them.

use std::{
    sync::mpsc::{Receiver, SyncSender, sync_channel},
    time::Duration,
};

use deadheat_model::{Interval, LatencyHistogram};

use super::RunningTotals;
use crate::worker_pool::Message;

/// The most intervals of one worker that may be in use at once.
const SPARE: usize = 4;

/// The capacity of the message queue for this number of workers.
pub(crate) fn message_queue_capacity(workers: usize) -> usize {
    workers * (SPARE + 3)
}

/// Makes a worker's intervals: each has the counts since the previous one. It sends filled intervals and gets empty ones
/// back.
#[derive(Debug)]
pub(crate) struct IntervalRecorder {
    worker: usize,
    filled: SyncSender<Message>,
    empty: Receiver<Box<Interval>>,
    is_open: bool,
    load_from: u64,
    from: u64,
    index: u64,
    before: RunningTotals,
}

/// The channel that returns intervals to a worker for reuse.
pub(crate) type BufferReturn = SyncSender<Box<Interval>>;

/// An empty interval with allocated histograms.
fn blank(is_open: bool) -> Box<Interval> {
    Box::new(Interval {
        response_time: is_open.then(LatencyHistogram::new),
        ..Interval::default()
    })
}

impl IntervalRecorder {
    /// A recorder of worker `worker`, and the channel to return its intervals; `is_open`: the loop is open.
    pub(crate) fn new(
        worker: usize,
        filled: SyncSender<Message>,
        is_open: bool,
    ) -> (Self, BufferReturn) {
        let (give_back, empty) = sync_channel(SPARE);
        for _ in 0..SPARE {
            // The channel has room for all of them.
            let _ = give_back.try_send(blank(is_open));
        }
        let recorder = Self {
            worker,
            filled,
            empty,
            is_open,
            load_from: 0,
            from: 0,
            index: 0,
            before: RunningTotals::default(),
        };
        (recorder, give_back)
    }

    /// Begins the load at `at`.
    pub(super) fn begin(&mut self, at: u64) {
        (self.load_from, self.from) = (at, at);
    }

    /// When the interval began.
    pub(super) fn from(&self) -> u64 {
        self.from
    }

    /// The interval that ends at `at`; `now` are the counts of the load up to then.
    pub(super) fn next(&mut self, at: u64, now: RunningTotals) -> Box<Interval> {
        // A returned one, or else a new one.
        let returned = self.empty.try_recv();
        let mut part = returned.unwrap_or_else(|_| blank(self.is_open));
        let before = &self.before;
        let bytes = now.bytes.since(before.bytes);
        part.index = self.index;
        part.from = Duration::from_nanos(self.from - self.load_from);
        part.until = Duration::from_nanos(at - self.load_from);
        part.issued = now.requests.issued - before.requests.issued;
        part.succeeded = now.requests.succeeded - before.requests.succeeded;
        part.failed = now.requests.failed.since(&before.requests.failed);
        part.offered = now.offered - before.offered;
        part.sent_bytes = bytes.sent;
        part.received_bytes = bytes.received;
        part.valid_body_bytes = bytes.valid;
        part.events = now.events.map(|events| events - before.events.unwrap_or(0));
        self.before = now;
        self.index += 1;
        self.from = at;
        part
    }

    /// Sends a filled interval. Waits only if the queue is full, which holds several intervals of each worker.
    pub(super) fn send(&self, interval: Box<Interval>) {
        // If the load was given up, the receiver is gone.
        let _ = self.filled.send(Message::Interval(self.worker, interval));
    }
}
