//! What a session will do, decided before it starts.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::{LoadPoint, TargetId};

/// Stack × workload × load point: what one trial measures.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Cell {
    /// The stack, under its variant.
    pub target: TargetId,
    /// The workload's id.
    pub workload: String,
    /// The load point's id.
    pub point: String,
}

impl std::fmt::Display for Cell {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {} {}", self.target, self.workload, self.point)
    }
}

/// How CPUs are shared out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "mode")]
pub enum Pinning {
    /// Server on one set of CPUs; generator, database, upstream and sampling on the other.
    Apart {
        /// The server's CPUs.
        server: Vec<usize>,
        /// The generator's CPUs.
        generator: Vec<usize>,
    },
    /// No pinning: the operating system decides.
    Off {
        /// CPUs that there are.
        cpus: Vec<usize>,
    },
}

impl Pinning {
    /// How many CPUs the server may use.
    pub fn server_cpus(&self) -> usize {
        match self {
            Pinning::Apart { server, .. } => server.len(),
            Pinning::Off { cpus } => cpus.len(),
        }
    }
}

/// A workload with the load points that the session measures.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlannedWorkload {
    /// The workload's id.
    pub id: String,
    /// What it exercises.
    pub description: String,
    /// Its load points.
    pub points: Vec<LoadPoint>,
    /// What every answer takes at least, by the workload's own nature, in seconds: the slow upstream's delay.
    #[serde(default)]
    pub delay_seconds: Option<f64>,
    /// The measurement of each trial.
    #[serde(rename = "measure_seconds", with = "crate::seconds")]
    pub measure: Duration,
}

/// What a session will do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// The seed of the random order and of random requests.
    pub seed: u64,
    /// Blocks.
    pub blocks: u32,
    /// Stacks × variants, in the order of their names.
    pub targets: Vec<TargetId>,
    /// Workloads with their load points.
    pub workloads: Vec<PlannedWorkload>,
    /// Trials of one block, in the order of targets, workloads and load points (each block shuffles them).
    pub cells: Vec<Cell>,
    /// How CPUs are shared out.
    pub pinning: Pinning,
    /// The time that measuring may take, if it was bounded.
    pub budget_seconds: Option<f64>,
    /// The time that measuring is expected to take.
    #[serde(rename = "estimate_seconds", with = "crate::seconds")]
    pub estimate: Duration,
}

impl Plan {
    /// Trials in all.
    pub fn trials(&self) -> usize {
        self.cells.len() * self.blocks as usize
    }
}
