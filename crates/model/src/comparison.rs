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

    /// Its place among the members of every heat, and its number in every load.
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
    /// A third server in every heat: the slow end of a search, whose fast end is A.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slow_end: Option<Contender>,
    /// That both are the same, in a sentence, if so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alike: Option<String>,
    /// Whether B is A after a change that has a name, such as a pull request: reports say what the change makes of A.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_change: bool,
    /// The quantity that the verdict is about.
    #[serde(default)]
    pub decide: Decide,
    /// An additional question about B. Measuring goes on until it has an answer.
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

/// What a check of B fails for. It is fixed before anything is measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Check {
    /// B fails if it is proven slower by more than this share (0.03): its throughput below 0.97 of A's, or its response
    /// time above 1.03.
    #[serde(default)]
    pub fail_if_slower: Option<f64>,
    /// B fails if it is proven to need more CPU time per request at equal work by more than this share (0.03).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fail_if_costlier: Option<f64>,
    /// B also fails unless the measurement excludes what is beyond these bounds; without a bound, a verdict against B.
    #[serde(default)]
    pub require_decision: bool,
}

impl Check {
    /// Whether it has a bound. If so, the bounds decide, and not the verdict.
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

    /// The same, to be changed.
    pub fn contenders_mut(&mut self) -> impl Iterator<Item = &mut Contender> {
        [&mut self.a, &mut self.b]
            .into_iter()
            .chain(&mut self.slow_end)
    }

    /// The contender that is a server of its own and no stack, under this name; `None`: there is none.
    pub fn server(&self, target: &TargetId) -> Option<&Contender> {
        let mut all = self.contenders().into_iter();
        all.find(|one| one.load().is_some() && one.target == *target)
    }
}

/// A server in a comparison: a side, or the slow end of a search.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Contender {
    /// Its name in plan and heats: of a stack the one in the header's list, of another server `A` or `B`.
    pub target: TargetId,
    /// As it was typed, without a password; the name of a stack.
    pub name: String,
    /// What it is.
    #[serde(flatten)]
    pub kind: ContenderKind,
}

impl Contender {
    /// The load of a server that is no stack.
    pub fn load(&self) -> Option<&LoadSpec> {
        match &self.kind {
            ContenderKind::Url { load } | ContenderKind::Command { load, .. } => Some(load),
            ContenderKind::Stack { .. } => None,
        }
    }

    /// The rate of a server's open loop, in requests per second; `None` in a closed loop, and of a stack.
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
    /// A server that runs already: Deadheat neither starts, freezes nor samples it.
    Url {
        /// Its load.
        load: Box<LoadSpec>,
    },
    /// A server that is started for each heat.
    Command {
        /// How it is started.
        command: ComparedCommand,
        /// Its load. Its address is another one in each heat.
        load: Box<LoadSpec>,
    },
    /// A stack, which is started for each heat. What is known of it is in the header's list.
    Stack {
        /// The stack's id in its manifest. Two revisions of a stack have the same.
        stack: String,
        /// Where its sources are from ("the work tree", "HEAD~1 (1a2b3c4)").
        sources: String,
    },
}

/// How a command's server is started.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ComparedCommand {
    /// The program and its arguments, with `$HOST` and `$PORT` to be filled in.
    pub words: Vec<String>,
    /// The folder that it runs in.
    pub folder: PathBuf,
}
