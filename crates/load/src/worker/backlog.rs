//! The open loop: requests whose time has come, and the connections that they go out on.

use std::collections::VecDeque;

use deadheat_model::{Failure, failure::FailurePhase};

use super::{Phase, Worker};
use crate::{
    connection::{Flight, State},
    deadlines::NEVER,
    recorder::{Cause, Fault},
    schedule::{Arrivals, Cursor},
};

/// Requests that may wait before the queue must grow.
const ROOM: usize = 16 * 1024;

/// A request whose time has come.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    /// When it should have been sent.
    intended: u64,
    /// When that was noticed: what comes before is the generator's own delay, what comes after the connections'.
    noticed: u64,
}

/// The requests of an open loop that have not been sent, and the connections that wait for one.
#[derive(Debug)]
pub(super) struct Backlog {
    cursor: Cursor,
    waiting: VecDeque<Waiting>,
    /// Connections without a request, the longest idle one first, so that all are used.
    free: VecDeque<usize>,
    /// Slots without a connection.
    pub(super) absent: Vec<usize>,
}

impl Backlog {
    pub(super) fn new(arrivals: &Arrivals, worker: usize, workers: usize, slots: usize) -> Self {
        Self {
            cursor: Cursor::new(arrivals, worker, workers),
            waiting: VecDeque::with_capacity(ROOM),
            free: VecDeque::with_capacity(slots),
            absent: Vec::with_capacity(slots),
        }
    }

    /// Requests that have not been sent.
    pub(super) fn waiting(&self) -> u64 {
        self.waiting.len() as u64
    }
}

impl Worker<'_> {
    /// Looks up when the next request's time comes.
    pub(super) fn next_arrival(&mut self) {
        if let (Some(backlog), Some(arrivals)) = (&mut self.backlog, &self.plan.arrivals) {
            let next = backlog.cursor.next(arrivals);
            let due = |at: u64| self.timeline.start.saturating_add(at);
            let before = self.next_arrival;
            self.next_arrival = next.map_or(NEVER, due);
            self.arrival_gap = self.next_arrival.saturating_sub(before);
        }
    }

    /// Takes in the requests whose time has come, and sends those that find a connection.
    pub(super) fn admit(&mut self) {
        while self.now >= self.next_arrival {
            let intended = self.next_arrival;
            if !self.claim() {
                self.next_arrival = NEVER;
                return;
            }
            self.next_arrival();
            let noticed = self.now;
            let counts =
                (self.timeline.measure_from..self.timeline.measure_until).contains(&intended);
            self.recorder.offered(noticed - intended, counts);
            if let Some(backlog) = &mut self.backlog {
                backlog.waiting.push_back(Waiting { intended, noticed });
            }
            self.dispatch();
        }
    }

    /// What is to be done for an open loop after each round of events.
    pub(super) fn attend_backlog(&mut self) {
        if self.phase != Phase::Over && self.now >= self.next_arrival {
            self.admit();
        }
        self.give_up_waiting();
        self.dispatch();
    }

    /// Sends waiting requests on free connections, and opens more where there are none.
    fn dispatch(&mut self) {
        if self.phase == Phase::Over {
            return;
        }
        while self
            .backlog
            .as_ref()
            .is_some_and(|backlog| backlog.waiting() > 0)
        {
            let Some(slot) = self.take_free() else {
                break;
            };
            self.send_waiting(slot);
        }
        while let Some(backlog) = &mut self.backlog {
            // Those that were read in this round are about to be free.
            if backlog.waiting.len() <= self.opening + self.drained.len() {
                return;
            }
            let Some(slot) = backlog.absent.pop() else {
                return;
            };
            self.connect(slot);
        }
    }

    /// A connection without a request.
    fn take_free(&mut self) -> Option<usize> {
        let backlog = self.backlog.as_mut()?;
        while let Some(slot) = backlog.free.pop_front() {
            let connection = &mut self.connections[slot];
            connection.listed = false;
            if connection.state == State::Open && connection.flights.is_empty() {
                return Some(slot);
            }
        }
        None
    }

    /// A connection is free: it takes the request that has waited longest, or waits for one.
    pub(super) fn serve(&mut self, slot: usize) {
        let Some(backlog) = &mut self.backlog else {
            return;
        };
        if backlog.waiting.is_empty() {
            if !std::mem::replace(&mut self.connections[slot].listed, true) {
                backlog.free.push_back(slot);
            }
        } else {
            self.send_waiting(slot);
        }
    }

    fn send_waiting(&mut self, slot: usize) {
        let start = self.tick();
        // The end of the measurement may have emptied the queue.
        let waiting = self
            .backlog
            .as_mut()
            .and_then(|backlog| backlog.waiting.pop_front());
        let Some(waiting) = waiting else {
            return self.serve(slot);
        };
        self.recorder.waited(start - waiting.noticed);
        self.launch(slot, waiting.intended, start);
        self.begin_answer(slot);
        self.write(slot);
    }

    /// Takes a request that waits, because nothing comes of the connection that was made for it.
    pub(super) fn take_waiting(&mut self) -> bool {
        self.backlog
            .as_mut()
            .is_some_and(|backlog| backlog.waiting.pop_front().is_some())
    }

    /// Counts requests that waited for a connection longer than a request may take.
    fn give_up_waiting(&mut self) {
        while let Some(oldest) = self
            .backlog
            .as_ref()
            .and_then(|backlog| backlog.waiting.front())
        {
            if self.now.saturating_sub(oldest.noticed) < self.request_timeout {
                return;
            }
            let end = self.tick();
            if !self.take_waiting() {
                return;
            }
            self.recorder.issued();
            let fault = Fault {
                kind: Failure::NoConnection,
                phase: FailurePhase::Waiting,
                cause: Cause::Why("all connections were busy or being made"),
            };
            self.recorder.failed(fault, end, || "never sent".to_owned());
        }
    }

    /// The measurement ends at `at`: what has not been sent is not sent any more, and is told of.
    pub(super) fn close_backlog(&mut self, at: u64) {
        if self.backlog.is_none() {
            return;
        }
        // What came due in the last moments, and was not looked at yet.
        while self.next_arrival < at && self.claim() {
            let intended = self.next_arrival;
            self.next_arrival();
            let counts = intended >= self.timeline.measure_from;
            self.recorder.offered(at - intended, counts);
            if let Some(backlog) = &mut self.backlog {
                backlog.waiting.push_back(Waiting {
                    intended,
                    noticed: at,
                });
            }
        }
        self.next_arrival = NEVER;
        let Some(backlog) = &mut self.backlog else {
            return;
        };
        let since =
            |intended: Option<u64>| intended.map_or(0, |intended| at.saturating_sub(intended));
        let oldest = backlog.waiting.front().map(|waiting| waiting.intended);
        let flights = self
            .connections
            .iter()
            .flat_map(|connection| connection.flights.iter());
        let in_flight = flights.map(|flight: Flight| flight.intended).min();
        let unsent = backlog.waiting();
        backlog.waiting.clear();
        self.recorder
            .note_backlog(unsent, since(oldest), since(in_flight));
    }
}
