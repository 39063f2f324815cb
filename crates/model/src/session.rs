//! What a session is for, and what it knows of its stacks before it measures them: builds, versions, and failures.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    Observation, Protocols, TargetId,
    stack::{Class, Database, Runtime, StackRole},
};

/// What a session is for. It decides what nobody said.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Purpose {
    /// To choose a stack.
    #[default]
    Usual,
    /// Which order of magnitude, and does it work at all?
    FirstLook,
    /// Figures that others will quote.
    Publication,
    /// Published tables once more.
    Repetition,
}

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

/// A stack that was asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TargetRecord {
    /// The stack, under its variant.
    pub target: TargetId,
    /// The language.
    pub language: String,
    /// The framework.
    pub framework: String,
    /// How much of a web application it provides.
    pub class: Class,
    /// What it takes part as.
    pub role: StackRole,
    /// How the code is executed.
    pub runtime: Runtime,
    /// What the variant changes, in a few words.
    pub variant_description: Option<String>,
    /// The CPUs that it is given at most: its budget, or as many as the variant is made for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpus: Option<u32>,
    /// How it reaches the database, if it does.
    pub database: Option<Database>,
    /// What it speaks beside HTTP/1.1 without TLS. `None`: not recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protocols: Option<Protocols>,
    /// What it cannot do or deviates in.
    pub limits: Vec<String>,
    /// Versions found, by asking the toolchain and the lock file.
    pub versions: Vec<FoundVersion>,
    /// A hash of the sources that it was built from; `None` if they could not be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sources: Option<String>,
    /// Where it is, if it is not one of the project's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub added: Option<Added>,
    /// Whether it can be measured.
    pub state: TargetState,
    /// Workloads that it does not answer rightly; the session leaves them out for this stack.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failed_workloads: Vec<WorkloadFailure>,
}

impl TargetRecord {
    /// What was wrong with its answers to the workload of this id, if it does not answer it rightly.
    pub fn failed_workload(&self, id: &str) -> Option<&StackFailure> {
        let mut failed = self.failed_workloads.iter();
        failed
            .find(|one| one.workload == id)
            .map(|one| &one.failure)
    }
}

/// A stack in a folder of the user's (`--stacks`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Added {
    /// The stack's folder.
    pub folder: PathBuf,
    /// Whether it takes the place of a stack of the same name.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub replaces: bool,
}

/// A workload that a stack does not answer rightly.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WorkloadFailure {
    /// The workload's id.
    pub workload: String,
    /// What was wrong.
    pub failure: StackFailure,
}

/// A version that was asked for and found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FoundVersion {
    /// The program or package.
    pub name: String,
    /// Its version.
    pub version: String,
}

/// Whether a stack can be measured here.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "is", rename_all = "kebab-case")]
pub enum TargetState {
    /// Built and started; verified for every workload of the plan but `failed_workloads`.
    Ready {
        /// Its build.
        build: BuildRecord,
    },
    /// Something that it needs is not here.
    Unavailable {
        /// What is missing.
        reason: String,
        /// The command that would change that.
        remedy: String,
    },
    /// It could not be fetched, built, started or verified.
    Failed(StackFailure),
}

/// What a build took and made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BuildRecord {
    /// The time that the build steps took, 0 when there are none. An incremental build is shorter than a first one.
    pub seconds: f64,
    /// Whether the stack had been built here before.
    pub incremental: bool,
    /// Bytes of the artefacts that are deployed.
    pub artefact_bytes: u64,
}
