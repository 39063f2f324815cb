//! Intervals handed over while the load goes on: no lock, and no allocation as long as somebody takes them.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use deadheat_model::{Interval, LatencyHistogram};

/// Intervals of one worker that may be on their way at once.
const SPARE: usize = 4;

/// What a worker tells the one who waits for it.
#[derive(Debug)]
pub(crate) enum Message {
    /// One of its intervals is over; with the worker's index.
    Interval(usize, Box<Interval>),
    /// It is through.
    Through,
}

/// Room in the queue of messages for so many workers.
pub(crate) fn room(workers: usize) -> usize {
    workers * (SPARE + 2)
}

/// A worker's end: filled intervals out, empty ones back.
#[derive(Debug)]
pub(crate) struct Outlet {
    worker: usize,
    filled: SyncSender<Message>,
    empty: Receiver<Box<Interval>>,
    is_open: bool,
}

/// The way back of a worker's intervals.
pub(crate) type Return = SyncSender<Box<Interval>>;

/// An interval with room for everything.
fn blank(is_open: bool) -> Box<Interval> {
    Box::new(Interval {
        response_time: is_open.then(LatencyHistogram::new),
        ..Interval::default()
    })
}

impl Outlet {
    /// A way for the intervals of worker `worker`; `is_open`: of an open loop.
    pub(crate) fn new(worker: usize, filled: SyncSender<Message>, is_open: bool) -> (Self, Return) {
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
