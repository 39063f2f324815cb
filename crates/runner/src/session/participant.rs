//! A stack that takes part, and about how long it takes to come up.

use std::time::Duration;

use deadheat_model::{Protocols, TargetId, stack::Runtime};

use crate::heat::WarmUps;

/// Starting, checking and stopping a server, beside the time to its first answer.
pub(super) const OVERHEAD: Duration = Duration::from_millis(400);
/// The time to the first answer, while it is not known.
pub(super) const USUAL_READY: Duration = Duration::from_millis(300);

/// A target that takes part, and how long it took to its first correct answer when it was prepared.
#[derive(Clone, Debug)]
pub struct Participant {
    /// The stack, under its variant.
    pub target: TargetId,
    /// How its code is executed.
    pub runtime: Runtime,
    /// How it is warmed up in a heat.
    pub warm_ups: WarmUps,
    /// Workloads that it answers.
    pub workloads: Vec<String>,
    /// What it speaks beside HTTP/1.1 without TLS.
    pub protocols: Protocols,
    /// To its first correct answer, once that is known.
    pub ready: Option<Duration>,
}
