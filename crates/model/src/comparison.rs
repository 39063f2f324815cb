//! What a session of `deadheat compare` compares: two sides, which are the two members of every heat. A step of
//! `deadheat bisect` has a third member. Everything else is as in any session ([`crate::heats`]).

use std::{fmt, path::PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{LoadSpec, Schedule, TargetId};

/// One of the two things that are compared.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Side {
    /// The baseline.
    A,
    /// The server that is compared with the baseline.
    B,
}

impl Side {
    /// Both, A first.
    pub const BOTH: [Side; 2] = [Side::A, Side::B];

    /// Its index among the members of every heat, and its number in every load.
    pub const fn member(self) -> usize {
        match self {
            Side::A => 0,
            Side::B => 1,
        }
    }
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Side::A => "A",
            Side::B => "B",
        })
    }
}

/// The two sides of a comparison, and the question about them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Comparison {
    /// The baseline.
    pub a: Contender,
    /// The server that is compared with the baseline.
    pub b: Contender,
    /// A third server in every heat: the slow end of a search whose fast end is A.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slow_end: Option<Contender>,
    /// A sentence that both sides are the same; `None`: they differ.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alike: Option<String>,
    /// Whether B is A after a named change, such as a pull request. Reports then describe the change's effect on A.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_change: bool,
    /// The quantity that the verdict is about.
    #[serde(default)]
    pub decide: Decide,
    /// An additional question about B. Measuring continues until it has an answer.
    #[serde(default)]
    pub check: Check,
}

/// The quantity that decides a comparison: its verdict, and when measuring ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Decide {
    /// Throughput of the closed loop. If servers that already run are loaded at a fixed rate, response times decide as
    /// well.
    #[default]
    Throughput,
    /// CPU time per request at equal work.
    Cpu,
    /// The 99th percentile of response time at equal work.
    P99,
}

/// The conditions under which the check of B fails. They are fixed before anything is measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Check {
    /// B fails if it is proven slower by more than this share (0.03): its throughput below 0.97 of A's, or its response
    /// time above 1.03.
    #[serde(default)]
    pub fail_if_slower: Option<f64>,
    /// B fails if it is proven to need more CPU time per request at equal work by more than this share (0.03).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fail_if_costlier: Option<f64>,
    /// Whether B also fails if a result beyond these bounds is not excluded. Without a bound: a verdict against B.
    #[serde(default)]
    pub require_decision: bool,
}

impl Check {
    /// Whether it has a bound. If so, the bounds decide instead of the verdict.
    pub fn has_bound(&self) -> bool {
        self.fail_if_slower.or(self.fail_if_costlier).is_some()
    }
}

impl Comparison {
    /// The contender of a side.
    pub fn contender(&self, side: Side) -> &Contender {
        match side {
            Side::A => &self.a,
            Side::B => &self.b,
        }
    }

    /// All contenders in the order of their places in every heat: A, B, and the slow end if there is one.
    pub fn contenders(&self) -> Vec<&Contender> {
        [&self.a, &self.b]
            .into_iter()
            .chain(&self.slow_end)
            .collect()
    }

    /// All contenders in the same order, to be changed.
    pub fn contenders_mut(&mut self) -> impl Iterator<Item = &mut Contender> {
        [&mut self.a, &mut self.b]
            .into_iter()
            .chain(&mut self.slow_end)
    }

    /// The contender with this name that is a server and not a stack; `None`: there is no such contender.
    pub fn server(&self, target: &TargetId) -> Option<&Contender> {
        let mut all = self.contenders().into_iter();
        all.find(|one| one.load().is_some() && one.target == *target)
    }
}

/// A server in a comparison: a side, or the slow end of a search.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Contender {
    /// Its name in plan and heats. For a stack, the name in the header's list; for another server, `A` or `B`.
    pub target: TargetId,
    /// What the user typed, without a password; for a stack, its name.
    pub name: String,
    /// How the contender is provided.
    #[serde(flatten)]
    pub kind: ContenderKind,
}

impl Contender {
    /// The load of a server; `None`: it is a stack.
    pub fn load(&self) -> Option<&LoadSpec> {
        match &self.kind {
            ContenderKind::Url { load } | ContenderKind::Command { load, .. } => Some(load),
            ContenderKind::Stack { .. } => None,
        }
    }

    /// The rate of a server's open loop, in requests per second; `None`: a closed loop, or a stack.
    pub fn rate(&self) -> Option<f64> {
        match &self.load()?.schedule {
            Schedule::Closed { .. } => None,
            Schedule::Open { stages, .. } => stages.first().map(|stage| stage.from),
        }
    }
}

/// How a contender is provided: a running server, a command or a stack.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "is", rename_all = "kebab-case")]
pub enum ContenderKind {
    /// A server that is already running. Deadheat neither starts, freezes nor samples it.
    Url {
        /// Its load.
        load: Box<LoadSpec>,
    },
    /// A server that is started for each heat.
    Command {
        /// How it is started.
        command: ComparedCommand,
        /// Its load. The address differs from heat to heat.
        load: Box<LoadSpec>,
    },
    /// A stack, which is started for each heat. The header's list has its record.
    Stack {
        /// The stack's id in its manifest. Two revisions of a stack have the same id.
        stack: String,
        /// The origin of its sources ("the work tree", "HEAD~1 (1a2b3c4)").
        sources: String,
    },
}

/// How a command's server is started.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ComparedCommand {
    /// The program and its arguments. `$HOST` and `$PORT` are replaced by their values.
    pub words: Vec<String>,
    /// The folder that it runs in.
    pub folder: PathBuf,
}
