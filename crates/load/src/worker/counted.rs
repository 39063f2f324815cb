//! The time of the requests of a load that ends by a count.

use std::time::Duration;

use deadheat_model::observation::CountedTime;

use super::{Phase, Worker};
use crate::deadlines::NEVER;

impl Worker<'_> {
    /// A request of the connection in `slot` begins, at `started`. If it is the first counted one, the connection's time
    /// begins with it, or with the connection if that was made for it.
    #[cold]
    pub(super) fn begin_counted(&mut self, slot: usize, started: u64) {
        if self.clock.phase != Phase::Measuring {
            return;
        }
        let from = self.clock.timeline.measure_from;
        let connection = &mut self.connections[slot];
        let is_first = connection.begun() == 0;
        connection.counted_from = match connection.dialled {
            dialled if is_first && dialled >= from => dialled,
            _ => started,
        };
        connection.counted_until = NEVER;
    }

    /// All requests have been issued, and have ended.
    pub(super) fn note_counted(&mut self) {
        self.recorder.counted = match self.plan.is_counted {
            false => None,
            true if self.backlog.is_some() => self.counted_arrivals(),
            true => Some(self.counted_connections()),
        };
    }

    fn counted_connections(&self) -> CountedTime {
        let used = |one: &&crate::connection::Connection| {
            one.counted_from != NEVER && one.counted_until != NEVER
        };
        let thinks = self.plan.thinking.is_some();
        let used = self.connections.iter().filter(used);
        let times = used.map(|one| {
            // The time to think after a request is a part of its own.
            let until = if thinks {
                one.counted_until.max(one.due)
            } else {
                one.counted_until
            };
            until.saturating_sub(one.counted_from)
        });
        let (connections, in_use) = times.fold((0, 0u64), |(count, sum), time| {
            (count + 1, sum.saturating_add(time))
        });
        CountedTime::Closed {
            connections,
            in_use: Duration::from_nanos(in_use),
        }
    }

    /// A worker that had no request says what changes nothing in what the others say.
    fn counted_arrivals(&mut self) -> Option<CountedTime> {
        let (start, now) = (self.clock.timeline.start, self.clock.now);
        let since = |at: u64| Duration::from_nanos(at.saturating_sub(start));
        let (first_end, last_end) = self.recorder.own_ends().unwrap_or((now, start));
        let backlog = self.backlog.as_mut()?;
        Some(CountedTime::Open {
            first_due: since(backlog.first_counted().min(now)),
            next_due: backlog.next_after_all().map(Duration::from_nanos),
            first_end: since(first_end),
            last_end: since(last_end),
        })
    }
}
