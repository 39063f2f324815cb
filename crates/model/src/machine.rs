//! The machine that a session ran on, the other hosts that took part, and what disturbed a measurement.

use std::{net::IpAddr, path::PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The properties of a machine that affect results.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Machine {
    /// The processor's model name.
    pub cpu_model: String,
    /// Logical CPUs that this process may use.
    pub cpus: Vec<usize>,
    /// Groups of these CPUs that are threads of the same core. Cores with one usable thread are omitted.
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
    /// The frequency governor; `None`: there is no governor.
    pub governor: Option<String>,
    /// The system's TCP congestion control; `None`: not known.
    pub congestion_control: Option<String>,
}

/// The relative tolerance of the size of memory.
const MEMORY_TOLERANCE: f64 = 0.02;

impl Machine {
    /// Whether the other machine has as much memory, within 2 %: each kernel and each boot reserves a little more or
    /// less.
    pub fn has_memory_of(&self, other: &Machine) -> bool {
        let apart = self.memory_bytes.abs_diff(other.memory_bytes) as f64;
        apart <= MEMORY_TOLERANCE * self.memory_bytes as f64
    }

    /// Whether the system paces what a local server sends. BBR spreads it over time, even without a network.
    pub fn paces_loopback(&self) -> bool {
        let name = self.congestion_control.as_deref();
        name.is_some_and(|name| name.starts_with("bbr"))
    }
}

/// The other hosts of a session, and how to reach them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Hosts {
    /// The hosts that load the servers, each with an equal share of every load; empty: this machine.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub generators: Vec<String>,
    /// The host of the database; `None`: this machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub database: Option<DatabaseHost>,
    /// The command that runs a program on a host. `{host}` is replaced by the host's name.
    pub launcher: String,
    /// The path of Deadheat on the hosts; `None`: it is copied there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<PathBuf>,
    /// The CPUs of each generator; empty: one worker that is not pinned.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub generator_cpus: Vec<usize>,
    /// This machine's address, on which the servers listen. It is loopback if no other host loads them.
    pub address: IpAddr,
}

impl Hosts {
    /// Whether other hosts load the servers.
    pub fn load_it(&self) -> bool {
        !self.generators.is_empty()
    }
}

/// The host of the database.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DatabaseHost {
    /// The host's name, as the user typed it.
    pub host: String,
    /// The host's address, on which the database listens.
    pub address: IpAddr,
    /// This machine's address. The database accepts connections only from it.
    pub client: IpAddr,
}

/// The role of a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum HostRole {
    /// It loads the servers.
    Generator,
    /// It serves the database.
    Database,
}

/// A host, as it was found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HostRecord {
    /// The host's role.
    pub role: HostRole,
    /// The host's name, as the user typed it.
    pub host: String,
    /// The host's own name.
    pub name: String,
    /// The host's machine.
    pub machine: Machine,
    /// The fastest of several round trips, in seconds, over the connection that Deadheat uses.
    pub round_trip_seconds: f64,
}

/// The share of the machine that others used during a measurement.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Disturbance {
    /// The share of the machine's CPU time that other programs used (0 to 1).
    pub other_cpu: f64,
    /// The share of CPU time that the hypervisor gave to others (0 to 1).
    pub steal: f64,
}

/// The source of CPU times, with its resolution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CpuSource {
    /// `cpu.stat` of a cgroup v2 (microseconds).
    CgroupV2,
    /// `cpuacct.usage` of a cgroup v1 (nanoseconds).
    CgroupV1,
    /// `/proc/<pid>/stat` of the process tree (10 ms).
    Proc,
}
