//! One measured run of a cell on a fresh process, as it stands in `trials.jsonl`.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

use crate::{Cell, Observation, plan::NoiseBound, usage::UsageSeries};

/// One trial.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrialRecord {
    /// The block, from 0.
    pub block: u32,
    /// The place in the block's order, from 0. A repetition has that of the trial that it repeats.
    pub position: u32,
    /// 0 for the first time in its block; more when the trials before it were void.
    #[serde(default)]
    pub attempt: u32,
    /// What was measured.
    #[serde(flatten)]
    pub cell: Cell,
    /// When it started (RFC 3339, UTC).
    pub started: String,
    /// The server's command.
    pub command: Vec<String>,
    /// The port it was given.
    pub port: u16,
    /// The warm-up before the measurement.
    #[serde(rename = "warm_up_seconds", with = "crate::seconds")]
    pub warm_up: Duration,
    /// The rate of an open loop, in requests per second; `None` for a closed one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offered_per_second: Option<f64>,
    /// What came of it.
    pub outcome: TrialOutcome,
}

/// What came of a trial.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "result", rename_all = "kebab-case")]
pub enum TrialOutcome {
    /// It ran to its end. Whether it counts is decided by the statistics, from what stands here.
    Measured(Box<Measured>),
    /// It did not get so far, or what it measured is not an answer.
    Failed(TrialFailure),
}

/// A trial that ran to its end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// From the process's start to its first correct answer.
    #[serde(rename = "ready_seconds", with = "crate::seconds")]
    pub ready: Duration,
    /// Probes that passed before the load.
    pub verified_before: u32,
    /// Probes that passed after the load.
    pub verified_after: u32,
    /// What the load found.
    pub load: Observation,
    /// What the server's process tree used.
    pub resources: Resources,
    /// What disturbed the machine meanwhile.
    pub noise: Noise,
}

impl TrialRecord {
    /// How the trial was disturbed, on a machine of `cpus` CPUs; `None` when it was not measured.
    pub fn disturbance(&self, cpus: usize) -> Option<Disturbance> {
        match &self.outcome {
            TrialOutcome::Measured(measured) => Some(measured.disturbance(cpus)),
            TrialOutcome::Failed(_) => None,
        }
    }

    /// Whether the trial failed: it did not run to its end, or what it measured is no measurement
    /// ([`Observation::fault`]).
    pub fn has_failed(&self, transport_failures: f64) -> bool {
        match &self.outcome {
            TrialOutcome::Measured(measured) => measured.load.fault(transport_failures).is_some(),
            TrialOutcome::Failed(_) => true,
        }
    }

    /// By what a void trial was disturbed; `None` when it is not void. Void is one that others took more of the machine
    /// from than `bound` allows, and that did not fail: noise makes no answer wrong, and a stack is not to fail in
    /// secret.
    pub fn void(
        &self,
        bound: Option<NoiseBound>,
        cpus: usize,
        transport_failures: f64,
    ) -> Option<Disturbance> {
        let disturbance = self.disturbance(cpus)?;
        let is_void = bound?.is_passed_by(disturbance) && !self.has_failed(transport_failures);
        is_void.then_some(disturbance)
    }
}

impl Measured {
    /// How it was disturbed, on a machine of `cpus` CPUs.
    pub fn disturbance(&self, cpus: usize) -> Disturbance {
        self.noise.disturbance(self.resources.span_seconds, cpus)
    }
}

/// How much of the machine others had during a measurement.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Disturbance {
    /// What other programs used, of the machine's CPU time (0 to 1).
    pub other_cpu: f64,
    /// What the hypervisor gave to others (0 to 1).
    pub steal: f64,
}

/// Where a trial or a stack failed.
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

/// Why a trial, or a stack before its trials, failed.
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

/// What a server's process tree used during the measurement.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Resources {
    /// How CPU time was taken.
    pub cpu_source: CpuSource,
    /// CPU time, user and system, of the whole tree.
    pub cpu_seconds: f64,
    /// The span over which CPU time, switches and faults were counted.
    pub span_seconds: f64,
    /// PSS of the tree in bytes when it had just become ready; `None` if it could not be read.
    #[serde(default, deserialize_with = "bytes_if_read")]
    pub pss_idle_bytes: Option<u64>,
    /// Mean PSS of the tree in bytes; `None` if no sample could read it.
    #[serde(default, deserialize_with = "bytes_if_read")]
    pub pss_mean_bytes: Option<u64>,
    /// Largest PSS of the tree in bytes; `None` if no sample could read it.
    #[serde(default, deserialize_with = "bytes_if_read")]
    pub pss_peak_bytes: Option<u64>,
    /// Samples behind the mean and the peak.
    pub samples: u32,
    /// Most processes seen at once.
    pub processes: u32,
    /// Most threads seen at once.
    pub threads: u32,
    /// Voluntary context switches of all threads seen; `None` where they are so many that counting would disturb.
    pub voluntary_switches: Option<u64>,
    /// Involuntary context switches of all threads seen; `None` as well.
    pub involuntary_switches: Option<u64>,
    /// Page faults that needed no input or output.
    pub minor_faults: u64,
    /// Page faults that did.
    pub major_faults: u64,
    /// CPU time and PSS of the tree sample by sample; `None` in older records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub series: Option<UsageSeries>,
}

/// Older records say 0 for memory that could not be read. No process has none.
fn bytes_if_read<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u64>, D::Error> {
    let bytes = Option::<u64>::deserialize(from)?;
    Ok(bytes.filter(|bytes| *bytes > 0))
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
    /// Context switches of the generator's threads that they did not ask for; `None` where they are not known.
    #[serde(default)]
    pub generator_involuntary_switches: Option<u64>,
    /// How long work waited (pressure stall information); `None` where the kernel does not tell.
    #[serde(default)]
    pub pressure: Option<Pressure>,
    /// CPU time that Deadheat's own sampling of the server used while it was measured: what it reads once the
    /// measurement is over is not in it. `None` in older records.
    #[serde(default)]
    pub sampler_cpu_seconds: Option<f64>,
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

/// Shares of the time (0 to 1) in which at least one task of the machine waited for something
/// (Linux, Documentation/accounting/psi.rst: the growth of `some … total` over the span). Server and generator
/// themselves make CPU pressure, so that it bounds nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Pressure {
    /// For a CPU.
    pub cpu: f64,
    /// For memory.
    pub memory: f64,
    /// For input or output.
    pub io: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_that_an_older_record_could_not_read_is_unknown_and_not_zero() {
        let json = |bytes: &str| {
            format!(
                r#"{{"cpu_source":"proc","cpu_seconds":0.0,"span_seconds":1.0,"pss_idle_bytes":{bytes},
                "pss_mean_bytes":{bytes},"pss_peak_bytes":{bytes},"samples":0,"processes":1,"threads":1,
                "voluntary_switches":null,"involuntary_switches":null,"minor_faults":0,"major_faults":0}}"#
            )
        };
        let read = |bytes: &str| {
            let used: Resources = serde_json::from_str(&json(bytes)).unwrap();
            [
                used.pss_idle_bytes,
                used.pss_mean_bytes,
                used.pss_peak_bytes,
            ]
        };
        assert_eq!(read("0"), [None; 3]);
        assert_eq!(read("null"), [None; 3]);
        assert_eq!(read("4096"), [Some(4096); 3]);
    }
}
