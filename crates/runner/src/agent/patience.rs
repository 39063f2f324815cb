//! How long an agent may take, by the coordinator's own clock: whatever it is asked for has an end, and a nearer one once
//! somebody stops.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};

/// How often each side says that it is there.
pub(super) const PULSE: Duration = Duration::from_secs(1);
/// A side that hears nothing of the other for so long takes it for lost.
pub(super) const SILENCE: Duration = Duration::from_secs(6);

/// How long agents may take.
#[derive(Clone, Copy, Debug)]
pub(super) struct Patience {
    /// To the first answer, copying the program included.
    pub(super) greeting: Duration,
    /// To set up its worker threads.
    pub(super) preparation: Duration,
    /// An agent of which nothing is heard for so long is lost.
    pub(super) silence: Duration,
    /// To answer a simple query, and to accept an order.
    pub(super) question: Duration,
    /// For what takes its time by itself (a load, an interval of it, an examination), beyond that time: what was seen has
    /// to be sent.
    pub(super) grace: Duration,
    /// To start a database, with a download of PostgreSQL.
    pub(super) database: Duration,
    /// To end what it does once somebody stops, and to say what it saw.
    pub(super) stopping: Duration,
    /// To end by itself.
    pub(super) farewell: Duration,
}

impl Patience {
    pub(super) const USUAL: Self = Self {
        greeting: Duration::from_secs(60),
        preparation: Duration::from_secs(30),
        silence: SILENCE,
        question: SILENCE,
        grace: Duration::from_secs(15),
        database: Duration::from_secs(300),
        stopping: Duration::from_secs(10),
        farewell: Duration::from_secs(2),
    };
}

/// Until when answers are waited for.
pub(super) struct Deadline<'a> {
    /// `None`: what was asked for has no end of its own.
    end: Option<Instant>,
    /// How long that was, for messages.
    length: Duration,
    stopping: Duration,
    stop: &'a AtomicBool,
    is_stopped: bool,
    is_told: bool,
}

impl<'a> Deadline<'a> {
    /// In `length`, or once somebody has stopped and the patience for that has ended.
    pub(super) fn within(
        length: Option<Duration>,
        patience: &Patience,
        stop: &'a AtomicBool,
    ) -> Self {
        Self {
            end: length.and_then(|length| Instant::now().checked_add(length)),
            length: length.unwrap_or_default(),
            stopping: patience.stopping,
            stop,
            is_stopped: false,
            is_told: false,
        }
    }

    /// Whether somebody has stopped; true once.
    pub(super) fn stops_now(&mut self) -> bool {
        self.look();
        self.is_stopped && !std::mem::replace(&mut self.is_told, self.is_stopped)
    }

    /// Takes note of it if somebody has stopped.
    pub(super) fn look(&mut self) {
        if self.is_stopped || !self.stop.load(Ordering::SeqCst) {
            return;
        }
        self.is_stopped = true;
        let end = Instant::now() + self.stopping;
        if self.end.is_none_or(|own| end < own) {
            self.end = Some(end);
            self.length = self.stopping;
        }
    }

    /// Why nothing is waited for any more, if so.
    pub(super) fn is_over(&self) -> Option<String> {
        if self.end.is_none_or(|end| Instant::now() < end) {
            return None;
        }
        let length = self.length;
        Some(if self.is_stopped {
            format!("it did not end within {length:?} after it was stopped")
        } else {
            format!("it did not answer the request within {length:?}")
        })
    }
}
