//! Parts of a session's plan: cells, the pinning of CPUs, and the limit on noise.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{TargetId, figure};

/// A cell of a plan: stack × workload × load point.
#[derive(
    Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
pub struct Cell {
    /// The stack with its variant.
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

/// How CPUs are divided between servers and generator.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "mode")]
pub enum Pinning {
    /// The server has its own CPUs. Generator, database, upstream and sampling have the others.
    Apart {
        /// The server's CPUs. A variant made for fewer CPUs gets the first ones, which are threads of different cores
        /// if possible.
        server: Vec<usize>,
        /// The generator's CPUs.
        generator: Vec<usize>,
    },
    /// No pinning: the operating system decides.
    Off {
        /// The available CPUs.
        cpus: Vec<usize>,
    },
}

impl Pinning {
    /// The pinning as comparisons show it: "server on CPU 0, generator on CPU 1", "off".
    pub fn in_words(&self) -> String {
        match self {
            Self::Apart { server, generator } => format!(
                "server on {}, generator on {}",
                figure::cpus(server),
                figure::cpus(generator)
            ),
            Self::Off { .. } => "off".to_owned(),
        }
    }

    /// All CPUs that the session may use.
    pub fn cpus(&self) -> Vec<usize> {
        match self {
            Pinning::Apart { server, generator } => [&server[..], &generator[..]].concat(),
            Pinning::Off { cpus } => cpus.clone(),
        }
    }

    /// The number of CPUs that the server may use.
    pub fn server_cpus(&self) -> usize {
        match self {
            Pinning::Apart { server, .. } => server.len(),
            Pinning::Off { cpus } => cpus.len(),
        }
    }
}

/// The maximum share of a machine that others may use before a measurement is in doubt. It does not depend on results.
#[derive(Clone, Copy, Debug)]
pub struct NoiseBound {
    /// The share of the machine's CPU time that other programs may use (0 to 1).
    pub other_cpu: f64,
    /// The share of CPU time that the hypervisor may give to others (0 to 1).
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
