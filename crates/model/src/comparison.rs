//! The files of a comparison: `comparison.json` (a [`ComparisonHeader`], written before the first heat) and
//! `heats.jsonl` (a [`ComparisonEntry`] per line, appended and synced after every heat). docs/formats.md documents both.

use std::{fmt, path::PathBuf, time::Duration};

use serde::{Deserialize, Serialize};

use crate::{
    LoadPoint, LoadSpec,
    heat::{HeatEnd, HeatPlan, HeatRecord},
    machine::{Finding, Machine},
    plan::Pinning,
    session::TargetRecord,
};

/// The version of both file formats.
pub const SCHEMA: u32 = 2;

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

    /// Its place among the members of every heat.
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

/// What is known before the first heat.
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
    /// What `deadheat doctor` found before it; of stacks alone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Finding>,
    /// What the other one is compared with.
    pub a: Contender,
    /// What is compared.
    pub b: Contender,
    /// At what load they are compared; each has heats of its own.
    pub points: Vec<ComparedPoint>,
    /// The database's version and origin, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub postgres: Option<String>,
    /// The names of the environment variables that both sides inherited from Deadheat: a command all of them, a stack
    /// the declared ones. Empty for URLs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub environment: Vec<String>,
    /// What it will do.
    pub plan: ComparisonPlan,
}

impl ComparisonHeader {
    /// The contender of a side.
    pub fn contender(&self, side: Side) -> &Contender {
        match side {
            Side::A => &self.a,
            Side::B => &self.b,
        }
    }
}

/// One side.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Contender {
    /// As it was typed, without a password; the name of a stack.
    pub name: String,
    /// What it is.
    #[serde(flatten)]
    pub kind: ContenderKind,
}

/// What is compared.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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
    /// A stack, which is started for each heat.
    Stack {
        /// What is known of it, and whether it is ready.
        record: Box<TargetRecord>,
    },
}

impl ContenderKind {
    /// The load of a server that is no stack.
    pub fn load(&self) -> Option<&LoadSpec> {
        match self {
            ContenderKind::Url { load } | ContenderKind::Command { load, .. } => Some(load),
            ContenderKind::Stack { .. } => None,
        }
    }
}

/// How a command's server is started.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ComparedCommand {
    /// The program and its arguments, with `$HOST` and `$PORT` to be filled in.
    pub words: Vec<String>,
    /// The folder that it runs in.
    pub folder: PathBuf,
}

/// A load at which both sides are compared.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ComparedPoint {
    /// The workload's id; for a URL or a command the method and the path.
    pub workload: String,
    /// The load point's id; for a URL or a command its connections ("c50").
    pub point: String,
    /// The load point as the workload's manifest has it; of stacks alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load: Option<Box<LoadPoint>>,
    /// The least of each heat: slices and guards become longer where answers are slow.
    pub heat: HeatPlan,
}

/// What a comparison will do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ComparisonPlan {
    /// The seed of the orders of slices and of random requests.
    pub seed: u64,
    /// Heats at most, at each load.
    pub heats: u32,
    /// The numbers of heats at each load at which it is looked at, declared before the first.
    pub looks: Vec<u32>,
    /// The share of comparisons that may err, over all looks (0 to 1).
    pub alpha: f64,
    /// How CPUs are shared out.
    pub pinning: Pinning,
    /// The time that measuring may take, if it was bounded.
    pub budget_seconds: Option<f64>,
    /// The time that measuring is expected to take at most.
    #[serde(rename = "estimate_seconds", with = "crate::seconds")]
    pub estimate: Duration,
}

/// A line of `heats.jsonl`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "record", rename_all = "kebab-case")]
pub enum ComparisonEntry {
    /// A heat ended.
    Heat(Box<ComparedHeat>),
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
    /// All heats were run.
    Finished,
    /// The budget was used up.
    Budget,
    /// SIGINT or SIGTERM.
    Interrupted,
    /// A side failed at every load, so that there is nothing to compare.
    Failed,
}

/// A heat of both sides at one load.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ComparedHeat {
    /// The load's place in the header's list.
    pub point: u32,
    /// The heat. Its first member is A, its second B.
    pub heat: HeatRecord,
}

/// A whole comparison, as read back from its files.
#[derive(Clone, Debug, PartialEq)]
pub struct ComparisonRecord {
    /// What was known before the first heat.
    pub header: ComparisonHeader,
    /// Heats in the order in which they ended.
    pub heats: Vec<ComparedHeat>,
    /// Why it ended; `None`: it was killed, or goes on.
    pub end: Option<ComparisonEnd>,
}

impl ComparisonRecord {
    /// The heats at the load at this place that ran to their end, in their order.
    pub fn complete_heats(&self, point: usize) -> impl Iterator<Item = &HeatRecord> + Clone {
        let own = self
            .heats
            .iter()
            .filter(move |one| one.point as usize == point);
        own.map(|one| &one.heat)
            .filter(|heat| heat.end == HeatEnd::Finished)
    }

    /// How many heats ran to their end at the load that has most of them.
    pub fn most_complete_heats(&self) -> u32 {
        let points = 0..self.header.points.len();
        let most = points.map(|point| self.complete_heats(point).count()).max();
        most.unwrap_or(0) as u32
    }
}
