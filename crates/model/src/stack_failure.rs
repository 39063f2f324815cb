//! Where and why a stack failed.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Observation;

/// Where a stack failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Phase {
    /// Fetching dependencies.
    Fetch,
    /// Building.
    Build,
    /// From the start of the process to the first correct answer.
    Start,
    /// Probes before the load.
    VerifyBefore,
    /// Under load.
    Load,
    /// Probes after the load.
    VerifyAfter,
    /// From SIGTERM to its end.
    Stop,
    /// A service that the workload needs (PostgreSQL, upstream).
    Service,
}

impl Phase {
    /// For a sentence: "failed while …".
    pub const fn describe(self) -> &'static str {
        match self {
            Phase::Fetch => "fetching its dependencies",
            Phase::Build => "building",
            Phase::Start => "starting",
            Phase::VerifyBefore => "being checked before the load",
            Phase::Load => "under load",
            Phase::VerifyAfter => "being checked after the load",
            Phase::Stop => "being stopped",
            Phase::Service => "waiting for a service it needs",
        }
    }
}

/// Why a stack failed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StackFailure {
    /// Where.
    pub phase: Phase,
    /// What was attempted, on what, and what happened.
    pub reason: String,
    /// The last lines of the server's or the build's output.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub log_tail: Vec<String>,
    /// What the load found, if there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load: Option<Box<Observation>>,
}

impl StackFailure {
    /// Where and why, as the end of a sentence ("under load: ended by SIGSEGV").
    pub fn in_words(&self) -> String {
        format!("{}: {}", self.phase.describe(), self.reason)
    }
}
