//! What disturbed a measurement, and how CPU time was taken.

use serde::{Deserialize, Serialize};

/// How much of the machine others had during a measurement.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Disturbance {
    /// What other programs used, of the machine's CPU time (0 to 1).
    pub other_cpu: f64,
    /// What the hypervisor gave to others (0 to 1).
    pub steal: f64,
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
