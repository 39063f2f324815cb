//! The end of an open loop's measurement: what was due is counted, and what of it has not been sent.

use super::{Backlog, Worker};
use crate::{deadlines::NEVER, http_connection::InFlight};

/// Arrivals that are gone through one by one when the measurement ends. Of more, only the number is worked out.
const AT_THE_END: usize = 65_536;

impl Worker<'_> {
    /// Ends the measurement at `at`: arrivals that have not been sent are dropped and recorded.
    pub(in crate::worker) fn close_backlog(&mut self, at: u64) {
        if self.backlog.is_none() {
            return;
        }
        let next_arrival = |backlog: &Backlog| backlog.next_arrival;
        let noticed = self.backlog.as_ref().map_or(NEVER, next_arrival);
        // What came due in the last moments, and was not looked at yet; another worker may have sent it.
        let until = if self.is_spent() {
            NEVER
        } else {
            at.saturating_sub(1)
        };
        self.offer_until(until, AT_THE_END);
        self.offer_rest(until);
        let (untaken, oldest) = self.count_untaken(at, noticed);
        let Some(backlog) = &mut self.backlog else {
            return;
        };
        backlog.next_arrival = NEVER;
        let since =
            |intended: Option<u64>| intended.map_or(0, |intended| at.saturating_sub(intended));
        let waiting = backlog.waiting.front().map(|waiting| waiting.intended);
        let oldest = waiting.into_iter().chain(oldest).min();
        let flights = self
            .connections
            .iter()
            .flat_map(|connection| connection.http.flights());
        let in_flight = flights.map(|flight: InFlight| flight.intended).min();
        let unsent = backlog.waiting() + untaken;
        backlog.waiting.clear();
        self.recorder
            .note_backlog(unsent, since(oldest), since(in_flight));
    }

    /// Counts the arrivals that were due before `at` and that nobody has taken, and when the oldest was due. Those from
    /// `noticed` on had not been noticed when the measurement ended.
    fn count_untaken(&mut self, at: u64, noticed: u64) -> (u64, Option<u64>) {
        let until = at.saturating_sub(1);
        let mut untaken = 0;
        let mut oldest = None;
        for _ in 0..AT_THE_END {
            if self.plan.taking.is_rest_claimed() {
                return (untaken, oldest);
            }
            let Some((index, intended)) = self.take_due(until) else {
                return (untaken, oldest);
            };
            let lag = self.plan.taking.lag(index).unwrap_or(0);
            let counts = self.clock.counts(intended);
            self.recorder.lagged(lag, counts);
            untaken += 1;
            oldest = oldest.or(Some(intended));
        }
        let start = self.clock.timeline.start;
        if let Some((_, intended)) = self.look_due(until)
            && self.plan.taking.claim_rest()
            && let Some(backlog) = &mut self.backlog
        {
            let cursor = &backlog.all;
            let before =
                |at: u64| cursor.expected_before(&backlog.arrivals, at.saturating_sub(start));
            // The one that was looked at has been taken out of the schedule.
            let all = 1 + before(at);
            let in_time = before(noticed.clamp(intended, at)).min(all);
            self.recorder.lagged_evenly(0, backlog.last_lag, in_time);
            self.recorder
                .lagged_evenly(0, at.saturating_sub(noticed.max(intended)), all - in_time);
            untaken += all;
            oldest = oldest.or(Some(intended));
        }
        (untaken, oldest)
    }

    /// Counts the requests that were due by `until` and are too many to be gone through.
    fn offer_rest(&mut self, until: u64) {
        let timeline = self.clock.timeline;
        let Some(backlog) = &mut self.backlog else {
            return;
        };
        if backlog.next_arrival > until || backlog.next_arrival == NEVER {
            return;
        }
        let before = |at: u64| {
            let cursor = &backlog.own;
            cursor.expected_before(&backlog.arrivals, at.saturating_sub(timeline.start))
        };
        // The next one has been taken out of the schedule.
        let (all, warm_up) = (before(until), before(timeline.measure_from));
        let is_counted = u64::from(self.clock.counts(backlog.next_arrival));
        self.recorder
            .offered(1 + all, is_counted + all.saturating_sub(warm_up));
        backlog.next_arrival = NEVER;
    }
}
