//! Intervals handed over while the load runs: no lock, no wait, and no allocation as long as the receiver takes them.
//!
//! The receiver can stall: it writes to terminals, pipes and other hosts. A worker that waited for it would
//! record that time as the server's. So it keeps the intervals that nobody takes, and sends them later.

use std::{
    collections::VecDeque,
    sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel},
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
    /// Intervals that the queue had no room for, the oldest first: copies in as little memory as possible.
    unsent: VecDeque<Box<Interval>>,
    /// The interval that the latest of those is a copy of, for reuse.
    spare: Option<Box<Interval>>,
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
            unsent: VecDeque::new(),
            spare: None,
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
        let returned = self.spare.take().or_else(|| self.empty.try_recv().ok());
        let mut part = returned.unwrap_or_else(|| blank(self.is_open));
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

    /// Sends a filled interval, after those that are still unsent. If the queue has no room, keeps a copy for later:
    /// the worker never waits.
    pub(super) fn send(&mut self, interval: Box<Interval>) {
        while let Some(earlier) = self.unsent.pop_front() {
            let sent = self.filled.try_send(Message::Late(self.worker, earlier));
            if let Err(TrySendError::Full(Message::Late(_, earlier))) = sent {
                self.unsent.push_front(earlier);
                break;
            }
        }
        let interval = if self.unsent.is_empty() {
            let message = Message::Interval(self.worker, interval);
            match self.filled.try_send(message) {
                Err(TrySendError::Full(Message::Interval(_, interval))) => interval,
                // If the load was given up, the receiver is gone.
                _ => return,
            }
        } else {
            interval
        };
        self.unsent.push_back(Box::new(interval.compact()));
        self.spare = Some(interval);
    }

    /// Sends the intervals that are still unsent, and waits until the queue has room for them: the load is over.
    pub(super) fn send_rest(&mut self) {
        for earlier in self.unsent.drain(..) {
            // If the load was given up, the receiver is gone.
            let _ = self.filled.send(Message::Late(self.worker, earlier));
        }
    }
}
