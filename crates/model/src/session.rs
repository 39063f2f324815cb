//! The purpose of a session, and what it knows of its stacks before it measures them: builds, versions, and failures.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    Observation, Protocols, TargetId,
    stack::{Class, Database, Runtime, StackRole},
};

/// The purpose of a session. It determines the defaults.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Purpose {
    /// To choose a stack.
    #[default]
    Usual,
    /// To see the order of magnitude, and whether everything works.
    FirstLook,
    /// To publish figures that others will quote.
    Publication,
    /// To repeat published tables.
    Repetition,
}

/// The phase in which a stack failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Phase {
    /// Fetching dependencies.
    Fetch,
    /// Building.
    Build,
    /// Starting, up to the first correct answer.
    Start,
    /// Checks before the load.
    VerifyBefore,
    /// Under load.
    Load,
    /// Checks after the load.
    VerifyAfter,
    /// Stopping, from SIGTERM to the exit.
    Stop,
    /// A service that the workload needs (PostgreSQL, upstream).
    Service,
}

impl Phase {
    /// The phase in words, for a sentence such as "failed while …".
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
    /// The phase in which it failed.
    pub phase: Phase,
    /// What was attempted, on what, and what happened.
    pub reason: String,
    /// The last lines of the server's or the build's output.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub log_tail: Vec<String>,
    /// The results of the load; `None`: there was no load.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load: Option<Box<Observation>>,
}

impl StackFailure {
    /// Phase and reason, as the end of a sentence ("under load: ended by SIGSEGV").
    pub fn in_words(&self) -> String {
        format!("{}: {}", self.phase.describe(), self.reason)
    }
}

/// A stack that was requested.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TargetRecord {
    /// The stack with its variant.
    pub target: TargetId,
    /// The language.
    pub language: String,
    /// The framework.
    pub framework: String,
    /// How much of a web application it provides.
    pub class: Class,
    /// The stack's role.
    pub role: StackRole,
    /// How the code is executed.
    pub runtime: Runtime,
    /// What the variant changes, in a few words.
    pub variant_description: Option<String>,
    /// The maximum number of CPUs: its budget, or the number that the variant is made for; `None`: all CPUs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpus: Option<u32>,
    /// How it accesses the database; `None`: it does not.
    pub database: Option<Database>,
    /// Its protocols in addition to HTTP/1.1 without TLS. `None`: not recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protocols: Option<Protocols>,
    /// Its deficiencies and deviations.
    pub limits: Vec<String>,
    /// The versions that the toolchain and the lock file report.
    pub versions: Vec<FoundVersion>,
    /// A hash of the sources that it was built from; `None`: not readable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sources: Option<String>,
    /// Its folder; `None`: it is one of the project's own stacks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub added: Option<AddedStack>,
    /// Whether it can be measured.
    pub state: TargetState,
    /// Workloads that it does not answer correctly. The session does not measure them for this stack.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failed_workloads: Vec<WorkloadFailure>,
}

impl TargetRecord {
    /// Why its answers to the workload with this id are wrong; `None`: they are not.
    pub fn failed_workload(&self, id: &str) -> Option<&StackFailure> {
        let mut failed = self.failed_workloads.iter();
        failed
            .find(|one| one.workload == id)
            .map(|one| &one.failure)
    }
}

/// A stack in one of the user's own folders (`--stacks`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AddedStack {
    /// The stack's folder.
    pub folder: PathBuf,
    /// Whether it replaces a stack of the same name.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub replaces: bool,
}

/// A workload that a stack does not answer correctly.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WorkloadFailure {
    /// The workload's id.
    pub workload: String,
    /// What is wrong with the answers.
    pub failure: StackFailure,
}

/// The version of a program or package.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FoundVersion {
    /// The program or package.
    pub name: String,
    /// Its version.
    pub version: String,
}

/// Whether a stack can be measured on this machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "is", rename_all = "kebab-case")]
pub enum TargetState {
    /// Built, started, and verified for every workload of the plan except `failed_workloads`.
    Ready {
        /// Its build.
        build: BuildRecord,
    },
    /// Something that it needs is missing.
    Unavailable {
        /// What is missing.
        reason: String,
        /// The command that fixes this.
        remedy: String,
    },
    /// It could not be fetched, built, started or verified.
    Failed(StackFailure),
}

/// The results of a build.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BuildRecord {
    /// The time of the build steps in seconds; 0: there are no steps. An incremental build is shorter than a first one.
    pub seconds: f64,
    /// Whether the stack had been built here before.
    pub incremental: bool,
    /// Bytes of the artefacts that are deployed.
    pub artefact_bytes: u64,
}
