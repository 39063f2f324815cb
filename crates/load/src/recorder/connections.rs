//! Connections over a whole load: how many, and how long they took to be made.

use deadheat_model::{CountHistogram, LatencyHistogram, observation::TlsSeen};

#[derive(Debug)]
pub(crate) struct Connections {
    open: u64,
    pub(super) opened: u64,
    pub(super) peak: u64,
    again: u64,
    pub(super) connect_time: LatencyHistogram,
    pub(super) handshake_time: LatencyHistogram,
    /// Handshakes, where there is TLS.
    pub(crate) tls: Option<TlsSeen>,
    pub(super) answers: CountHistogram,
}

impl Connections {
    pub(super) fn new(has_tls: bool) -> Self {
        Self {
            open: 0,
            opened: 0,
            peak: 0,
            again: 0,
            connect_time: LatencyHistogram::new(),
            handshake_time: LatencyHistogram::new(),
            tls: has_tls.then(TlsSeen::default),
            answers: CountHistogram::new(),
        }
    }

    /// A load begins with so many that are open already.
    pub(super) fn begin(&mut self, open: u64) {
        (self.open, self.peak) = (open, open);
    }

    /// Those that are open.
    pub(crate) fn open(&self) -> u64 {
        self.open
    }

    /// Those that took the place of an earlier one.
    pub(crate) fn made_again(&self) -> u64 {
        self.again
    }

    /// One was made, in so many nanoseconds; `again`: in the place of an earlier one.
    pub(crate) fn opened(&mut self, nanoseconds: u64, again: bool) {
        self.connect_time.record_ns(nanoseconds);
        self.again += u64::from(again);
        self.opened += 1;
        self.open += 1;
        self.peak = self.peak.max(self.open);
    }

    /// TLS was agreed on, in so many nanoseconds.
    pub(crate) fn handshake_done(&mut self, nanoseconds: u64) {
        self.handshake_time.record_ns(nanoseconds);
    }

    /// One ended that had carried so many answers; `None`: it had ended before the load began.
    pub(crate) fn closed(&mut self, answers: Option<u64>) {
        self.open -= 1;
        if let Some(answers) = answers {
            self.answers.record(answers);
        }
    }

    /// One that has carried so many answers is still open at the load's end.
    pub(crate) fn lasted(&mut self, answers: u64) {
        self.answers.record(answers);
    }
}
