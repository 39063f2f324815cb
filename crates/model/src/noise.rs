//! What disturbed a measurement, and how CPU time was taken.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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
