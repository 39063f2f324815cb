//! Events of answers that are streams.

use deadheat_model::events::EventsSeen;

/// Events that came with one read: nanoseconds of the monotonic clock.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Came {
    /// How many, at least 1.
    pub(crate) count: u64,
    /// When they came.
    pub(crate) at: u64,
    /// When their request was sent.
    pub(crate) started: u64,
    /// When the event before them came; `None`: they are the answer's first.
    pub(crate) before: Option<u64>,
}

#[derive(Debug, Default)]
pub(super) struct Events {
    /// Over the whole load so far.
    pub(super) total: u64,
    /// In the measurement.
    pub(super) seen: EventsSeen,
}

impl Events {
    /// Counts events; they are in the measurement if it began at `measured_from`.
    pub(super) fn came(&mut self, came: Came, measured_from: Option<u64>) {
        self.total += came.count;
        let Some(from) = measured_from else {
            return;
        };
        self.seen.events += came.count;
        match came.before {
            Some(before) => self.seen.gap.record_ns(came.at - before),
            None if came.started >= from => {
                self.seen.first_event.record_ns(came.at - came.started);
            }
            // It was waited for before the measurement, too.
            None => {}
        }
        if came.count > 1 {
            self.seen.gap.record_none(came.count - 1);
        }
    }
}
