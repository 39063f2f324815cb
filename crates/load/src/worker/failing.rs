//! A request that fails: counted with what stood behind it, and its connection made anew.

use deadheat_model::{Failure, failure::FailurePhase};

use super::Worker;
use crate::{
    http1::Progress,
    recorder::{Cause, Fault},
};

/// Bytes came after an answer that no request asked for. The cause is the same however they are cut.
pub(super) const EXTRA: Fault = Fault {
    kind: Failure::ExtraBytes,
    phase: FailurePhase::Body,
    cause: Cause::Why("bytes after the answer"),
};

impl Worker<'_> {
    /// The first request on its way has no whole answer, and its time is up.
    pub(super) fn time_out(&mut self, slot: usize) {
        let end = self.tick();
        let phase = self.phase_of(slot);
        let cause = Cause::Why("no whole answer within the request timeout");
        self.fail(slot, fault(Failure::Timeout, phase, cause), end, || {
            format!("no whole answer in time; it stopped at: {phase}")
        });
    }

    /// What is going on with the first request on its way.
    pub(super) fn phase_of(&self, slot: usize) -> FailurePhase {
        let dialogue = &self.connections[slot].dialogue;
        match dialogue.progress() {
            Progress::Nothing if !dialogue.has_written(self.plan) => FailurePhase::Write,
            Progress::Nothing => FailurePhase::FirstByte,
            Progress::Head => FailurePhase::Head,
            Progress::Body => FailurePhase::Body,
        }
    }

    /// Counts the first request on its way as failed, and what is behind it as lost with it; starts over on a new
    /// connection.
    #[cold]
    pub(super) fn fail(
        &mut self,
        slot: usize,
        fault: Fault,
        end: u64,
        detail: impl FnOnce() -> String,
    ) {
        if self.clock.is_over() {
            return;
        }
        if let Some(flight) = self.connections[slot].dialogue.take_first() {
            self.recorder.failed(fault, flight.started, end, detail);
        }
        let behind = Fault {
            kind: Failure::ClosedEarly,
            phase: FailurePhase::FirstByte,
            cause: Cause::Why("it was pipelined behind a request that failed"),
        };
        while let Some(flight) = self.connections[slot].dialogue.take_first() {
            self.recorder.failed(behind, flight.started, end, || {
                format!("pipelined behind a request that failed: {}", fault.kind)
            });
        }
        self.renew(slot);
    }
}

/// What failed, and when.
pub(super) fn fault(kind: Failure, phase: FailurePhase, cause: Cause) -> Fault {
    Fault { kind, phase, cause }
}
