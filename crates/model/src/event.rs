//! What happens during a session. Progress, journal and machine output consume the same events.

use std::time::Duration;

use crate::{
    TargetId,
    heats::{EndReason, MeasuredHeat, NextHeat, SessionHeader},
    session::{BuildRecord, TargetState, WorkloadFailure},
};

/// An event of a session.
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
        /// The stack with its variant.
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
    /// A stack is prepared, or cannot be measured.
    Prepared {
        /// The stack with its variant.
        target: TargetId,
        /// The result.
        state: TargetState,
        /// Workloads that it does not answer correctly.
        failed_workloads: Vec<WorkloadFailure>,
    },
    /// Everything before the first heat is done, or a session is resumed.
    HeatsStarted {
        /// What is known before the first heat.
        header: Box<SessionHeader>,
    },
    /// A heat starts.
    HeatStarted {
        /// Its number in the session, from 0.
        heat: u32,
        /// What the heat measures.
        next: NextHeat,
    },
    /// A heat begins its next step.
    HeatStep {
        /// The step.
        step: HeatStep,
    },
    /// A heat ended and is in the journal.
    HeatEnded {
        /// Its record.
        heat: Box<MeasuredHeat>,
    },
    /// The session ended normally.
    HeatsEnded {
        /// Why.
        reason: EndReason,
    },
}

/// The current step of a heat.
#[derive(Clone, Debug, PartialEq)]
pub enum HeatStep {
    /// A member is being started, checked and warmed up.
    BringingUp {
        /// The member.
        target: TargetId,
    },
    /// A round begins.
    Round {
        /// The number of rounds before it.
        done: u32,
        /// Time since the first round began.
        elapsed: Duration,
    },
    /// A member is loaded at a rate.
    AtRate {
        /// The member.
        target: TargetId,
        /// Requests per second.
        per_second: f64,
    },
    /// All members are checked again and stopped.
    Ending,
}
