//! The machine a session ran on.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a reader must know of the machine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Machine {
    /// The processor's model name.
    pub cpu_model: String,
    /// Logical CPUs that this process may use.
    pub cpus: Vec<usize>,
    /// Those of them that are threads of one core, core by core. Cores with one usable thread are left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shared_cores: Vec<Vec<usize>>,
    /// Memory in bytes.
    pub memory_bytes: u64,
    /// The operating system's name and version.
    pub os: String,
    /// The kernel's release.
    pub kernel: String,
    /// The processor's vulnerabilities with their mitigations, as `name: state`.
    pub mitigations: Vec<String>,
    /// The frequency governor, where there is one.
    pub governor: Option<String>,
    /// The system's TCP congestion control, where it is known.
    pub congestion_control: Option<String>,
}

impl Machine {
    /// Whether what a local server sends is paced: BBR spreads it over time also where there is no network.
    pub fn paces_loopback(&self) -> bool {
        let name = self.congestion_control.as_deref();
        name.is_some_and(|name| name.starts_with("bbr"))
    }
}
