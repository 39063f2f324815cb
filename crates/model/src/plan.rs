//! What a session will do, decided before it starts.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{LoadPoint, TargetId, choice::Choice, trial::Disturbance};

/// Stack × workload × load point: what one trial measures.
#[derive(
    Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "mode")]
pub enum Pinning {
    /// Server on one set of CPUs; generator, database, upstream and sampling on the other.
    Apart {
        /// The server's CPUs. A variant made for fewer of them gets the first ones, which are threads of different
        /// cores as far as there are any.
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
    /// All CPUs that the session may use.
    pub fn cpus(&self) -> Vec<usize> {
        match self {
            Pinning::Apart { server, generator } => [&server[..], &generator[..]].concat(),
            Pinning::Off { cpus } => cpus.clone(),
        }
    }

    /// How many CPUs the server may use.
    pub fn server_cpus(&self) -> usize {
        match self {
            Pinning::Apart { server, .. } => server.len(),
            Pinning::Off { cpus } => cpus.len(),
        }
    }
}

/// A workload with the load points that the session measures.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
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
    #[schemars(schema_with = "crate::seconds::schema")]
    pub measure: Duration,
}

/// How often a trial is run in its block at most: once, and again while it was disturbed.
pub const MOST_ATTEMPTS: u32 = 3;

/// What a session measures to judge itself.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Controls {
    /// The null server, which only answers: its throughput is the ceiling of the machine with this generator.
    #[serde(default)]
    pub null_server: Option<TargetId>,
    /// One stack once more under another name (A/A): what differs between the two is noise.
    #[serde(default)]
    pub twin: Option<Twin>,
}

impl Controls {
    /// The name of the null server. No manifest's id can begin so.
    pub fn null_server_id() -> TargetId {
        TargetId::new("~null-server", None)
    }

    /// The name of the twin. No manifest's id can begin so.
    pub fn twin_id() -> TargetId {
        TargetId::new("~aa-twin", None)
    }

    /// What `target` is called where people read: "null server", "go-nethttp (A/A)", or its own name.
    pub fn shown(&self, target: &TargetId) -> String {
        let twin = self.twin.as_ref().filter(|twin| twin.name == *target);
        match twin {
            Some(twin) => format!("{} (A/A)", twin.of),
            None if self.null_server.as_ref() == Some(target) => "null server".to_owned(),
            None => target.to_string(),
        }
    }

    /// Whether `target` is one of the controls.
    pub fn has(&self, target: &TargetId) -> bool {
        let twin = self.twin.as_ref().map(|twin| &twin.name);
        self.null_server.as_ref() == Some(target) || twin == Some(target)
    }
}

/// A stack under another name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Twin {
    /// The name.
    pub name: TargetId,
    /// The stack, under its variant.
    pub of: TargetId,
}

/// How much a trial may be disturbed; fixed before the session, and it looks at no result.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NoiseBound {
    /// What other programs may use of the machine's CPU time (0 to 1).
    pub other_cpu: f64,
    /// What the hypervisor may give to others (0 to 1).
    pub steal: f64,
}

impl Default for NoiseBound {
    fn default() -> Self {
        Self {
            other_cpu: 0.05,
            steal: 0.05,
        }
    }
}

impl NoiseBound {
    /// Whether `disturbance` is past the bound.
    pub fn is_passed_by(&self, disturbance: Disturbance) -> bool {
        disturbance.other_cpu > self.other_cpu || disturbance.steal > self.steal
    }
}

/// What a session will do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
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
    /// Targets that the session measures to judge itself; their cells stand among `cells`, they do not among `targets`.
    #[serde(default)]
    pub controls: Controls,
    /// Trials that were disturbed by more than this are void, and repeated in their block. `None`: none is.
    #[serde(default)]
    pub noise_bound: Option<NoiseBound>,
    /// How CPUs are shared out.
    pub pinning: Pinning,
    /// The time that measuring may take, if it was bounded.
    pub budget_seconds: Option<f64>,
    /// The time that measuring is expected to take.
    #[serde(rename = "estimate_seconds", with = "crate::seconds")]
    #[schemars(schema_with = "crate::seconds::schema")]
    pub estimate: Duration,
    /// Why it is so, and what a longer budget would buy. `None` in older records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub choice: Option<Choice>,
}

impl Plan {
    /// Trials in all.
    pub fn trials(&self) -> usize {
        self.cells.len() * self.blocks as usize
    }
}
