//! What happens during a session. Progress, journal and machine output consume the same events.

use std::time::Duration;

use crate::{
    TargetId,
    heats::{EndReason, MeasuredHeat, NextHeat, SessionHeader},
    session::{BuildRecord, TargetState, WorkloadFailure},
};

/// Something happened.
#[derive(Clone, Debug)]
pub enum Event {
    /// A service is being started ("PostgreSQL", "slow upstream").
    ServiceStarting {
        /// Its name.
        name: String,
    },
    /// A service is ready.
    ServiceReady {
        /// Its name.
        name: String,
        /// Its version and origin.
        detail: String,
    },
    /// A step of preparing a stack starts ("fetch", "build", "verify plaintext").
    PrepareStarted {
        /// The stack, under its variant.
        target: TargetId,
        /// The step.
        step: String,
    },
    /// A stack was built.
    Built {
        /// The stack's id.
        target: TargetId,
        /// The build.
        build: BuildRecord,
    },
    /// It is known whether a stack can be measured.
    Prepared {
        /// The stack, under its variant.
        target: TargetId,
        /// The result.
        state: TargetState,
        /// Workloads that it does not answer rightly.
        failed_workloads: Vec<WorkloadFailure>,
    },
    /// Everything before the first heat is done, or a session goes on.
    HeatsStarted {
        /// What is known.
        header: Box<SessionHeader>,
    },
    /// A heat starts.
    HeatStarted {
        /// Its number in the session, from 0.
        heat: u32,
        /// What is measured.
        next: NextHeat,
    },
    /// A heat comes to its next step.
    HeatStep {
        /// The step.
        step: HeatStep,
    },
    /// A heat ended and is in the journal.
    HeatEnded {
        /// Its record.
        heat: Box<MeasuredHeat>,
    },
    /// The session of heats ended in order.
    HeatsEnded {
        /// Why.
        reason: EndReason,
    },
}

/// What a heat is doing.
#[derive(Clone, Debug, PartialEq)]
pub enum HeatStep {
    /// A member is started, checked and warmed up.
    BringingUp {
        /// The member.
        target: TargetId,
    },
    /// A round begins.
    Round {
        /// Rounds before it.
        done: u32,
        /// Time since the first one began.
        elapsed: Duration,
    },
    /// A member is loaded at a rate.
    AtRate {
        /// The member.
        target: TargetId,
        /// Requests per second.
        per_second: f64,
    },
    /// All members are checked once more and stopped.
    Ending,
}
