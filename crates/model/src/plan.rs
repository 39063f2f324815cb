//! What a session will do, decided before it starts.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{TargetId, figure};

/// Stack × workload × load point.
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
    /// What it says beside another one: "server on CPU 0, generator on CPU 1", "off".
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

    /// How many CPUs the server may use.
    pub fn server_cpus(&self) -> usize {
        match self {
            Pinning::Apart { server, .. } => server.len(),
            Pinning::Off { cpus } => cpus.len(),
        }
    }
}

/// How much of a machine others may have before a measurement on it is in doubt; it looks at no result.
#[derive(Clone, Copy, Debug)]
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
