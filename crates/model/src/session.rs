//! A session's files: `session.json` (a [`SessionHeader`], written before the first trial) and `trials.jsonl`
//! (a [`JournalEntry`] per line, appended and synced after every trial). docs/formats.md documents both.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    Cell, Plan, RepeatedTable, TargetId, TrialRecord,
    machine::{Finding, Machine},
    stack::{Database, Runtime},
    trial::TrialFailure,
};

/// The version of both file formats.
pub const SCHEMA: u32 = 1;

/// What is known before the first trial.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SessionHeader {
    /// The version of the format, [`SCHEMA`].
    pub schema: u32,
    /// The session's id, which is its folder's name.
    pub id: String,
    /// Deadheat's version.
    pub deadheat: String,
    /// The commit of the stacks' sources, with `-dirty` when there were changes; `None` outside a checkout.
    pub commit: Option<String>,
    /// When it started (RFC 3339, UTC).
    pub started: String,
    /// Deadheat's own arguments.
    pub arguments: Vec<String>,
    /// Where it ran.
    pub machine: Machine,
    /// What `deadheat doctor` would have told of the machine when the session began, except what was fine.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Finding>,
    /// What it will do.
    pub plan: Plan,
    /// Every stack that was asked for, ready or not.
    pub targets: Vec<TargetRecord>,
    /// The database, its version and where it came from, when a workload needed it.
    pub postgres: Option<String>,
    /// Published tables that it repeats, as they stood in `published/`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub published: Vec<RepeatedTable>,
    /// A hash of what each workload's file said, by the workload's id; empty in older records.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub definitions: BTreeMap<String, String>,
    /// The machine's boot (`/proc/sys/kernel/random/boot_id`); `None` where it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub boot: Option<String>,
    /// Whether the report of the trials so far was served while it ran, from its beginning.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub live: bool,
    /// The names of the environment variables that servers inherited from Deadheat, beside those of the contract and of
    /// their manifests; empty in older records, whose servers inherited all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub environment: Vec<String>,
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
    /// How the code is executed.
    pub runtime: Runtime,
    /// What the variant changes, in a few words.
    pub variant_description: Option<String>,
    /// CPUs that the variant is made for; it is given no more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpus: Option<u32>,
    /// How it reaches the database, if it does.
    pub database: Option<Database>,
    /// What it cannot do or deviates in.
    pub limits: Vec<String>,
    /// Versions found, by asking the toolchain and the lock file.
    pub versions: Vec<FoundVersion>,
    /// A hash of the sources that it was built from; `None` in older records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sources: Option<String>,
    /// Whether it can be measured.
    pub state: TargetState,
    /// Workloads that it does not answer rightly; the session leaves them out for this stack.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failed_workloads: Vec<WorkloadFailure>,
}

impl TargetRecord {
    /// What was wrong with its answers to the workload of this id, if it does not answer it rightly.
    pub fn failed_workload(&self, id: &str) -> Option<&TrialFailure> {
        let mut failed = self.failed_workloads.iter();
        failed
            .find(|one| one.workload == id)
            .map(|one| &one.failure)
    }
}

/// A workload that a stack does not answer rightly.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WorkloadFailure {
    /// The workload's id.
    pub workload: String,
    /// What was wrong.
    pub failure: TrialFailure,
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
    Failed(TrialFailure),
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

/// A line of `trials.jsonl`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "record", rename_all = "kebab-case")]
pub enum JournalEntry {
    /// A trial ended.
    Trial(Box<TrialRecord>),
    /// The session went on after it had been interrupted or killed; trials follow.
    Resumed {
        /// When (RFC 3339, UTC).
        at: String,
        /// The machine's boot, as in the header.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        boot: Option<String>,
        /// Whether the report of the trials so far is served from now on.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        live: bool,
    },
    /// The session ended in order; absent when it was killed.
    End {
        /// Why.
        reason: EndReason,
        /// When (RFC 3339, UTC).
        at: String,
    },
}

/// Why a session ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum EndReason {
    /// All blocks were measured.
    Finished,
    /// The budget was used up.
    Budget,
    /// SIGINT or SIGTERM.
    Interrupted,
    /// What it was to find out was known. Only comparisons of stacks ended so, before they were measured in heats.
    Enough,
}

/// A whole session, as read back from its files.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionRecord {
    /// What was known before the first trial.
    pub header: SessionHeader,
    /// Trials in the order in which they ended.
    pub trials: Vec<TrialRecord>,
    /// Why it ended; `None`: it was killed.
    pub end: Option<EndReason>,
    /// When it went on after an interruption, in order.
    pub resumed: Vec<Resumption>,
}

/// A session went on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Resumption {
    /// When (RFC 3339, UTC).
    pub at: String,
    /// Whether the machine was started anew since the last trial before.
    pub rebooted: bool,
    /// How many trials had been recorded by then.
    pub trials_before: usize,
    /// Whether the report of the trials so far was served from then on.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub live: bool,
}

impl SessionRecord {
    /// Blocks in which every planned cell has a trial.
    pub fn complete_blocks(&self) -> Vec<u32> {
        let plan = &self.header.plan;
        let has = |block: u32, cell: &Cell| {
            let mut trials = self.trials.iter();
            trials.any(|trial| trial.block == block && trial.cell == *cell)
        };
        let whole = |block: &u32| plan.cells.iter().all(|cell| has(*block, cell));
        (0..plan.blocks)
            .filter(|block| !plan.cells.is_empty() && whole(block))
            .collect()
    }

    /// Blocks with trials from both sides of a resumption, in order: what is compared in them was not measured near to
    /// each other in time.
    pub fn straddling_blocks(&self) -> Vec<u32> {
        let parts = |resumption: &Resumption| {
            let (before, after) = self.trials.split_at_checked(resumption.trials_before)?;
            let last = before.last()?.block;
            after
                .iter()
                .any(|trial| trial.block == last)
                .then_some(last)
        };
        let mut blocks: Vec<u32> = self.resumed.iter().filter_map(parts).collect();
        blocks.dedup();
        blocks
    }
}
