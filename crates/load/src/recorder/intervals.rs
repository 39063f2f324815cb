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
pub(crate) fn room(workers: usize) -> usize {
    workers * (SPARE + 3)
}

/// A worker's end: filled intervals out, empty ones back.
#[derive(Debug)]
pub(crate) struct IntervalSender {
    worker: usize,
    filled: SyncSender<Message>,
    empty: Receiver<Box<Interval>>,
    is_open: bool,
}

/// The way back of a worker's intervals.
pub(crate) type BufferReturn = SyncSender<Box<Interval>>;

/// An interval with room for everything.
fn blank(is_open: bool) -> Box<Interval> {
    Box::new(Interval {
        response_time: is_open.then(LatencyHistogram::new),
        ..Interval::default()
    })
}

impl IntervalSender {
    /// A way for the intervals of worker `worker`; `is_open`: of an open loop.
    pub(crate) fn new(
        worker: usize,
        filled: SyncSender<Message>,
        is_open: bool,
    ) -> (Self, BufferReturn) {
        let (give_back, empty) = sync_channel(SPARE);
        for _ in 0..SPARE {
            // There is room for as many.
            let _ = give_back.try_send(blank(is_open));
        }
        let outlet = Self {
            worker,
            filled,
            empty,
            is_open,
        };
        (outlet, give_back)
    }

    /// An empty interval. It is a new one where nobody gave one back in time.
    pub(crate) fn take(&self) -> Box<Interval> {
        self.empty
            .try_recv()
            .unwrap_or_else(|_| blank(self.is_open))
    }

    /// Hands over a filled one. Waits only where the queue is full, which holds several intervals of each worker.
    pub(crate) fn send(&self, interval: Box<Interval>) {
        // Nobody listens any more when the load was given up.
        let _ = self.filled.send(Message::Interval(self.worker, interval));
    }
}

/// One interval after the other, each what was counted since the one before.
#[derive(Debug)]
pub(super) struct Rolling {
    outlet: Option<IntervalSender>,
    load_from: u64,
    from: u64,
    index: u64,
    before: RunningTotals,
}

impl Rolling {
    /// A recorder that sends its intervals to `outlet`; `None`: nobody wants intervals.
    pub(super) fn new(outlet: Option<IntervalSender>) -> Self {
        Self {
            outlet,
            load_from: 0,
            from: 0,
            index: 0,
            before: RunningTotals::default(),
        }
    }

    /// The load begins.
    pub(super) fn begin(&mut self, at: u64) {
        (self.load_from, self.from) = (at, at);
    }

    pub(super) fn is_wanted(&self) -> bool {
        self.outlet.is_some()
    }

    /// The interval that ends at `at`, until when `now` was counted.
    pub(super) fn next(&mut self, at: u64, now: RunningTotals) -> Box<Interval> {
        let mut part = match &self.outlet {
            Some(outlet) => outlet.take(),
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

    /// Hands it over.
    pub(super) fn send(&self, part: Box<Interval>) {
        if let Some(outlet) = &self.outlet {
            outlet.send(part);
        }
    }
}
