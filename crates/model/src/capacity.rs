//! The record of a search for the highest rate at which conditions are met. `deadheat load --find-rate` writes its
//! outputs from it.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{LoadSpec, Observation, machine::Machine};

/// The version of the format.
pub const SCHEMA: u32 = 1;
/// The name of the format, which each document contains.
pub const FORMAT: &str = "deadheat-capacity";

/// The unit of a condition's figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Unit {
    /// A time in seconds.
    Seconds,
    /// A share, 0 to 1.
    Share,
    /// A number of requests.
    Count,
}

/// A condition that probes must meet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Condition {
    /// The condition in words: "p99 < 50 ms".
    pub condition: String,
    /// The figure alone: "p99".
    pub figure: String,
    /// The unit of figure and bound.
    pub unit: Unit,
    /// The bound of the figure.
    pub bound: f64,
}

/// The settings that were declared before the first probe.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DeclaredSettings {
    /// The maximum number of probes, including discarded ones.
    #[serde(rename = "looks")]
    pub probes: u32,
    /// The length of a probe.
    #[serde(rename = "look_seconds", with = "crate::seconds")]
    #[schemars(schema_with = "crate::seconds::schema")]
    pub probe_length: Duration,
    /// The minimum number of requests that are due in a probe. Probes at low rates take longer for it.
    pub requests: u64,
    /// The search ends when the interval extends at most this share to either side.
    pub precision: f64,
    /// The maximum number of connections, which probes open when all are busy; `None`: as many as the rate needs.
    pub most_connections: Option<u32>,
}

/// The closed loop before the first probe.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Burst {
    /// Valid answers per second.
    pub per_second: f64,
    /// The lowest rate that is probed, in requests per second.
    pub least_per_second: f64,
    /// The highest rate that is probed, unless it meets the conditions.
    pub most_per_second: f64,
    /// The results of the load.
    pub observation: Observation,
}

/// The outcome of a probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ProbeOutcome {
    /// All conditions were met.
    Held,
    /// A condition was not met, or the server did not keep up.
    Failed,
    /// A condition was not met, and the generator was the limit. The probe does not describe the server.
    Discarded,
}

/// A probe: an open loop at one rate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProbeRecord {
    /// The rate in requests per second.
    pub per_second: f64,
    /// The length of its measurement.
    #[serde(rename = "seconds", with = "crate::seconds")]
    #[schemars(schema_with = "crate::seconds::schema")]
    pub length: Duration,
    /// The maximum number of connections.
    pub most_connections: u32,
    /// The outcome of the probe.
    pub outcome: ProbeOutcome,
    /// Why it failed or was discarded; `None`: all conditions were met.
    pub why: Option<String>,
    /// The figure of each condition, in its unit; `None`: no figure.
    pub values: Vec<Option<f64>>,
    /// The results of the load.
    pub observation: Observation,
}

/// The record of a search: the request and the results. All outputs can be written again from it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CapacityRecord {
    /// The version of the format, [`SCHEMA`].
    pub schema: u32,
    /// Always [`FORMAT`].
    pub format: String,
    /// Deadheat's version.
    pub deadheat: String,
    /// When the search started (RFC 3339, UTC).
    pub started: String,
    /// The URL, or the file of URLs, as the user typed it, without a password.
    pub url: String,
    /// The machine that the generator ran on.
    pub machine: Machine,
    /// The hosts that loaded the server; empty: `machine` alone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<String>,
    /// The conditions that every probe must meet.
    pub conditions: Vec<Condition>,
    /// The settings that were declared before the first probe.
    pub declared: DeclaredSettings,
    /// The load, without secrets. A probe has its own rate and length.
    pub spec: LoadSpec,
    /// Whether the user stopped the search before its end.
    pub interrupted: bool,
    /// How long the search took.
    #[serde(rename = "elapsed_seconds", with = "crate::seconds")]
    #[schemars(schema_with = "crate::seconds::schema")]
    pub elapsed: Duration,
    /// The closed loop before the first probe.
    pub burst: Burst,
    /// The probes, in the order in which they were taken.
    #[serde(rename = "looks")]
    pub probes: Vec<ProbeRecord>,
}
