//! Faults, as requests and answers have them.

use deadheat_model::{Failure, failure::FailurePhase};

use crate::recorder::{Cause, Fault};

/// Bytes came after an answer that no request asked for. The cause is the same however they are cut.
pub(super) const EXTRA: Fault = Fault {
    kind: Failure::ExtraBytes,
    phase: FailurePhase::Body,
    cause: Cause::Why("bytes after the answer"),
};

/// What failed, and when.
pub(super) fn fault(kind: Failure, phase: FailurePhase, cause: Cause) -> Fault {
    Fault { kind, phase, cause }
}
