//! Where and why something failed, and what disturbed a measurement.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Observation;

/// How much of the machine others had during a measurement.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Disturbance {
    /// What other programs used, of the machine's CPU time (0 to 1).
    pub other_cpu: f64,
    /// What the hypervisor gave to others (0 to 1).
    pub steal: f64,
}

/// Where a stack failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Phase {
    /// Fetching dependencies.
    Fetch,
    /// Building.
    Build,
    /// From the start of the process to the first correct answer.
    Start,
    /// Probes before the load.
    VerifyBefore,
    /// Under load.
    Load,
    /// Probes after the load.
    VerifyAfter,
    /// From SIGTERM to its end.
    Stop,
    /// A service that the workload needs (PostgreSQL, upstream).
    Service,
}

impl Phase {
    /// For a sentence: "failed while …".
    pub const fn describe(self) -> &'static str {
        match self {
            Phase::Fetch => "fetching its dependencies",
            Phase::Build => "building",
            Phase::Start => "starting",
            Phase::VerifyBefore => "being checked before the load",
            Phase::Load => "under load",
            Phase::VerifyAfter => "being checked after the load",
            Phase::Stop => "being stopped",
            Phase::Service => "waiting for a service it needs",
        }
    }
}

/// Why a stack failed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TrialFailure {
    /// Where.
    pub phase: Phase,
    /// What was attempted, on what, and what happened.
    pub reason: String,
    /// The last lines of the server's or the build's output.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub log_tail: Vec<String>,
    /// What the load found, if there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load: Option<Box<Observation>>,
}

impl TrialFailure {
    /// Where and why, as the end of a sentence ("under load: ended by SIGSEGV").
    pub fn in_words(&self) -> String {
        format!("{}: {}", self.phase.describe(), self.reason)
    }
}

/// How CPU time was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CpuSource {
    /// `cpu.stat` of a cgroup v2 (microseconds).
    CgroupV2,
    /// `cpuacct.usage` of a cgroup v1 (nanoseconds).
    CgroupV1,
    /// `/proc/<pid>/stat` of the tree (10 ms).
    Proc,
}

/// What disturbed the machine during the measurement, from `/proc/stat`: shares of all CPU time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Noise {
    /// Time that the hypervisor gave to others, of all CPU time.
    pub steal_share: f64,
    /// Time in which all CPUs idled, of all CPU time.
    pub idle_share: f64,
    /// CPU seconds used by anything but the server's tree and Deadheat's own processes.
    pub other_cpu_seconds: f64,
    /// How busy the server's CPUs were, 0 to 1; `None` when nothing was pinned.
    #[serde(default)]
    pub server_cpus_busy: Option<f64>,
    /// How busy generator, database, upstream and sampling kept the generator's CPUs, 0 to 1; what other programs did
    /// there is not in it. `None` when nothing was pinned.
    #[serde(default)]
    pub generator_cpus_busy: Option<f64>,
}

impl Noise {
    /// How much of a machine of `cpus` CPUs others had, if this was counted over `span_seconds`.
    pub fn disturbance(&self, span_seconds: f64, cpus: usize) -> Disturbance {
        let all = span_seconds * cpus.max(1) as f64;
        let used = self.other_cpu_seconds;
        Disturbance {
            other_cpu: if all > 0.0 { used / all } else { 0.0 },
            steal: self.steal_share,
        }
    }
}
