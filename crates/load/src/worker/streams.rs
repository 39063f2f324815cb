//! Answers that are streams: their events, and their end where that is not HTTP's.

use super::{Worker, faults::fault};
use crate::{
    http_connection::Progress,
    recorder::{Came, Cause, Fault},
};
use deadheat_model::{Failure, failure::FailurePhase};

impl Worker<'_> {
    /// Takes note of the events that came with a read at `at`, on the answer to a request that began at `started`.
    /// Whether the answer has as many as it needs.
    pub(super) fn note_events(&mut self, slot: usize, started: u64, at: u64) -> bool {
        let connection = &mut self.connections[slot];
        let Some(events) = &mut connection.http.answer.events else {
            return false;
        };
        let count = events.take_fresh();
        if count == 0 {
            return false;
        }
        let came = Came {
            count,
            at,
            started,
            before: (events.seen() > count).then_some(connection.last_event),
        };
        connection.last_event = at;
        let is_enough = events.is_enough();
        self.recorder.events_came(came);
        is_enough
    }

    /// The connection's end at `at` was the answer's proper one.
    pub(super) fn end_events(&mut self, slot: usize, at: u64) {
        let http = &mut self.connections[slot].http;
        let first = http.first();
        if let (Some(events), Some(first)) = (&mut http.answer.events, first) {
            events.end();
            self.note_events(slot, first.started, at);
        }
    }

    /// For how long the latest event of an answer that goes on at `at` lies back, at most.
    pub(super) fn open_gap(&self, at: u64) -> u64 {
        let streams = self.connections.iter().filter(|one| {
            let events = one.http.answer.events.as_ref();
            one.http.progress() == Progress::Body
                && !one.http.is_idle()
                && events.is_some_and(|events| events.seen() > 0)
        });
        let gaps = streams.map(|one| at.saturating_sub(one.last_event));
        gaps.max().unwrap_or(0)
    }

    /// Why the answer on `slot` was not whole in time, which it may never be.
    pub(super) fn too_late(&self, slot: usize, phase: FailurePhase) -> (Fault, u64) {
        let answer = &self.connections[slot].http.answer;
        let events = answer.events.as_ref().map_or(0, |events| events.seen());
        let why = match (events, self.plan.stream.and_then(|stream| stream.enough)) {
            (0, _) => "no whole answer within the request timeout",
            (_, Some(_)) => "fewer events within the request timeout than --stream-events",
            (_, None) => "no end of the stream within the request timeout: see --stream-events",
        };
        (fault(Failure::Timeout, phase, Cause::Why(why)), events)
    }
}
