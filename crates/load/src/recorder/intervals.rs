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

/// A worker's end of the channels: it sends filled intervals and gets empty ones back.
#[derive(Debug)]
pub(crate) struct IntervalSender {
    worker: usize,
    filled: SyncSender<Message>,
    empty: Receiver<Box<Interval>>,
    is_open: bool,
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

impl IntervalSender {
    /// The channels for the intervals of worker `worker`; `is_open`: the loop is open.
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
        let interval_sender = Self {
            worker,
            filled,
            empty,
            is_open,
        };
        (interval_sender, give_back)
    }

    /// An empty interval: a returned one, or else a new one.
    pub(crate) fn take(&self) -> Box<Interval> {
        self.empty
            .try_recv()
            .unwrap_or_else(|_| blank(self.is_open))
    }

    /// Sends a filled interval. Waits only if the queue is full, which holds several intervals of each worker.
    pub(crate) fn send(&self, interval: Box<Interval>) {
        // If the load was given up, the receiver is gone.
        let _ = self.filled.send(Message::Interval(self.worker, interval));
    }
}

/// Makes intervals: each has the counts since the previous one.
#[derive(Debug)]
pub(super) struct IntervalRecorder {
    interval_sender: Option<IntervalSender>,
    load_from: u64,
    from: u64,
    index: u64,
    before: RunningTotals,
}

impl IntervalRecorder {
    /// A recorder that sends its intervals to `interval_sender`; `None`: nobody wants intervals.
    pub(super) fn new(interval_sender: Option<IntervalSender>) -> Self {
        Self {
            interval_sender,
            load_from: 0,
            from: 0,
            index: 0,
            before: RunningTotals::default(),
        }
    }

    /// Begins the load at `at`.
    pub(super) fn begin(&mut self, at: u64) {
        (self.load_from, self.from) = (at, at);
    }

    pub(super) fn is_wanted(&self) -> bool {
        self.interval_sender.is_some()
    }

    /// The interval that ends at `at`; `now` are the counts of the load up to then.
    pub(super) fn next(&mut self, at: u64, now: RunningTotals) -> Box<Interval> {
        let mut part = match &self.interval_sender {
            Some(interval_sender) => interval_sender.take(),
            None => blank(false),
        };
        let before = &self.before;
        let bytes = now.bytes.since(before.bytes);
        part.index = self.index;
        part.from = Duration::from_nanos(self.from - self.load_from);
        part.until = Duration::from_nanos(at - self.load_from);
        part.issued = now.issued - before.issued;
        part.succeeded = now.succeeded - before.succeeded;
        part.failed = now.failed.since(&before.failed);
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

    /// Sends an interval, if intervals were asked for.
    pub(super) fn send(&self, part: Box<Interval>) {
        if let Some(interval_sender) = &self.interval_sender {
            interval_sender.send(part);
        }
    }
}
