//! The machine a session ran on, the other hosts that take part in it, and what disturbed a measurement.

use std::{net::IpAddr, path::PathBuf};

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

/// The other hosts that were asked for, and how they are reached.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Hosts {
    /// Who loads the servers, each with an equal share of every load; empty: this machine.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub generators: Vec<String>,
    /// Who serves the database; `None`: this machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub database: Option<DatabaseHost>,
    /// The command that runs a program there, with `{host}` for the host's name.
    pub launcher: String,
    /// Where Deadheat is there; `None`: it was copied.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<PathBuf>,
    /// The CPUs of each generator; empty: one worker, not pinned.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub generator_cpus: Vec<usize>,
    /// This machine's address, on which the servers listen: loopback, if no other host loads them.
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
    /// What the user called it.
    pub host: String,
    /// Its address, on which the database listens.
    pub address: IpAddr,
    /// This machine's address, the only one whose connections it takes.
    pub client: IpAddr,
}

/// What a host does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum HostRole {
    /// It loads the servers.
    Generator,
    /// It serves the database.
    Database,
}

/// A host as it was found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HostRecord {
    /// What it does.
    pub role: HostRole,
    /// What the user called it.
    pub host: String,
    /// What it calls itself.
    pub name: String,
    /// Its machine.
    pub machine: Machine,
    /// The quickest of several messages there and back, in seconds, over the way that Deadheat reaches it.
    pub round_trip_seconds: f64,
}

/// How much of the machine others had during a measurement.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Disturbance {
    /// What other programs used, of the machine's CPU time (0 to 1).
    pub other_cpu: f64,
    /// What the hypervisor gave to others (0 to 1).
    pub steal: f64,
}

/// How CPU time was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CpuSource {
    /// `cpu.stat` of a cgroup v2 (microseconds).
    CgroupV2,
    /// `cpuacct.usage` of a cgroup v1 (nanoseconds).
    CgroupV1,
    /// `/proc/<pid>/stat` of the tree (10 ms).
    Proc,
}
