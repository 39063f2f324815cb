//! The files of a comparison of two servers that are no stacks, URLs or commands: `comparison.json` (a
//! [`ComparisonHeader`], written before the first trial) and `trials.jsonl` (a [`ComparisonEntry`] per line, appended
//! and synced after every trial). docs/formats.md documents both. Stacks are compared in a session.

use std::{fmt, path::PathBuf, time::Duration};

use serde::{Deserialize, Serialize};

use crate::{
    LoadSpec, Observation,
    machine::Machine,
    plan::{NoiseBound, Pinning},
    trial::{Disturbance, Noise, Resources, TrialFailure},
};

/// The version of both file formats.
pub const SCHEMA: u32 = 1;

/// One of the two things that are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Side {
    /// What the other one is compared with.
    A,
    /// What is compared.
    B,
}

impl Side {
    /// Both, A first.
    pub const BOTH: [Side; 2] = [Side::A, Side::B];
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Side::A => "A",
            Side::B => "B",
        })
    }
}

/// What is known before the first trial.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ComparisonHeader {
    /// The version of the format, [`SCHEMA`].
    pub schema: u32,
    /// The comparison's id, which is its folder's name.
    pub id: String,
    /// Deadheat's version.
    pub deadheat: String,
    /// When it started (RFC 3339, UTC).
    pub started: String,
    /// Deadheat's own arguments.
    pub arguments: Vec<String>,
    /// Where it ran.
    pub machine: Machine,
    /// What the other one is compared with.
    pub a: ComparedServer,
    /// What is compared.
    pub b: ComparedServer,
    /// What it will do.
    pub plan: ComparisonPlan,
}

impl ComparisonHeader {
    /// The server of a side.
    pub fn server(&self, side: Side) -> &ComparedServer {
        match side {
            Side::A => &self.a,
            Side::B => &self.b,
        }
    }
}

/// A server that is compared, and how it is loaded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ComparedServer {
    /// As it was typed, without a password.
    pub name: String,
    /// How it is started; `None`: it runs already, and Deadheat neither starts nor samples it.
    pub command: Option<ComparedCommand>,
    /// The load of each trial. The address of a command's server is another one in each trial.
    pub load: LoadSpec,
}

/// A server that is started for each trial.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ComparedCommand {
    /// The program and its arguments, with `$HOST` and `$PORT` to be filled in.
    pub words: Vec<String>,
    /// The folder that it runs in.
    pub folder: PathBuf,
}

/// What a comparison will do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ComparisonPlan {
    /// The seed of the order within blocks and of random requests.
    pub seed: u64,
    /// Blocks at most: a trial of each side.
    pub blocks: u32,
    /// The numbers of complete blocks at which it is looked at, declared before the first.
    pub looks: Vec<u32>,
    /// The share of comparisons that may err, over all looks (0 to 1).
    pub alpha: f64,
    /// Trials that were disturbed by more than this are void, and repeated in their block. `None`: none is.
    pub noise_bound: Option<NoiseBound>,
    /// How CPUs are shared out.
    pub pinning: Pinning,
    /// The time that measuring may take, if it was bounded.
    pub budget_seconds: Option<f64>,
    /// The time that measuring is expected to take.
    #[serde(rename = "estimate_seconds", with = "crate::seconds")]
    pub estimate: Duration,
}

/// A line of `trials.jsonl`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "record", rename_all = "kebab-case")]
pub enum ComparisonEntry {
    /// A trial ended.
    Trial(Box<ComparisonTrial>),
    /// The comparison ended in order; absent when it was killed.
    End {
        /// Why.
        reason: ComparisonEnd,
        /// When (RFC 3339, UTC).
        at: String,
    },
}

/// Why a comparison ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ComparisonEnd {
    /// There was a verdict at a look.
    Decided,
    /// All blocks were measured.
    Finished,
    /// The budget was used up.
    Budget,
    /// SIGINT or SIGTERM.
    Interrupted,
    /// A trial failed, so that there is nothing to compare.
    Failed,
}

/// One trial of one side.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ComparisonTrial {
    /// The block, from 0.
    pub block: u32,
    /// The place in the block's order, from 0. A repetition has that of the trial that it repeats.
    pub position: u32,
    /// 0 for the first time in its block; more when the trials before it were void.
    pub attempt: u32,
    /// What was measured.
    pub side: Side,
    /// When it started (RFC 3339, UTC).
    pub started: String,
    /// The command with its address filled in; empty for a server that runs already.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub command: Vec<String>,
    /// What came of it.
    pub outcome: ComparisonOutcome,
}

/// What came of a trial.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "result", rename_all = "kebab-case")]
pub enum ComparisonOutcome {
    /// It ran to its end. Whether it counts is decided by the statistics, from what stands here.
    Measured(Box<MeasuredServer>),
    /// It did not get so far.
    Failed(TrialFailure),
}

/// A trial that ran to its end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MeasuredServer {
    /// From a command's start to its first answer of the right status; `None` for a server that runs already.
    #[serde(
        rename = "ready_seconds",
        default,
        with = "crate::seconds::option",
        skip_serializing_if = "Option::is_none"
    )]
    pub ready: Option<Duration>,
    /// What the load found.
    pub load: Observation,
    /// What the server's process tree used; `None` for a server that runs already, whose processes are not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resources: Option<Resources>,
    /// What disturbed the machine meanwhile. Of a server that runs already, what it used itself is among what other
    /// programs did.
    pub noise: Noise,
}

impl ComparisonTrial {
    /// How the trial was disturbed, on a machine of `cpus` CPUs; `None` when it was not measured. What other programs
    /// used is 0 where it cannot be told from what the server used.
    pub fn disturbance(&self, cpus: usize) -> Option<Disturbance> {
        let ComparisonOutcome::Measured(measured) = &self.outcome else {
            return None;
        };
        let noise = &measured.noise;
        let other_cpu = measured.resources.as_ref().map_or(0.0, |resources| {
            let all = resources.span_seconds * cpus.max(1) as f64;
            if all > 0.0 {
                noise.other_cpu_seconds / all
            } else {
                0.0
            }
        });
        Some(Disturbance {
            other_cpu,
            steal: noise.steal_share,
        })
    }
}

/// A whole comparison, as read back from its files.
#[derive(Clone, Debug, PartialEq)]
pub struct ComparisonRecord {
    /// What was known before the first trial.
    pub header: ComparisonHeader,
    /// Trials in the order in which they ended.
    pub trials: Vec<ComparisonTrial>,
    /// Why it ended; `None`: it was killed, or goes on.
    pub end: Option<ComparisonEnd>,
}

impl ComparisonRecord {
    /// Whether a trial was disturbed by more than the plan allows. The figures of such a trial count for nothing; a
    /// failure in it counts all the same, so that it is void only if nothing failed.
    pub fn is_void(&self, trial: &ComparisonTrial) -> bool {
        let bound = self.header.plan.noise_bound;
        let disturbance = trial.disturbance(self.header.machine.cpus.len());
        let both = bound.zip(disturbance);
        both.is_some_and(|(bound, disturbance)| bound.is_passed_by(disturbance))
    }

    /// How many blocks have a trial of each side, void or not.
    pub fn complete_blocks(&self) -> u32 {
        let has = |block: u32, side: Side| {
            let mut trials = self.trials.iter();
            trials.any(|trial| trial.block == block && trial.side == side)
        };
        let blocks = 0..self.header.plan.blocks;
        blocks
            .filter(|block| Side::BOTH.iter().all(|side| has(*block, *side)))
            .count() as u32
    }
}
