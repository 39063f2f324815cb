//! The record of a search for the highest rate at which conditions hold: what `deadheat load --find-rate` writes its
//! outputs from.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{LoadSpec, Observation, machine::Machine};

/// The version of the record.
pub const SCHEMA: u32 = 1;
/// What a document says that it is.
pub const FORMAT: &str = "deadheat-capacity";

/// What a condition's figure is measured in.
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

/// What has to be true.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Condition {
    /// As a person reads it: "p99 < 50 ms".
    pub condition: String,
    /// The figure alone: "p99".
    pub figure: String,
    /// What it is measured in.
    pub unit: Unit,
    /// What it is compared with.
    pub bound: f64,
}

/// What was declared before the first probe.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Declared {
    /// Probes at most, those that are discarded included.
    #[serde(rename = "looks")]
    pub probes: u32,
    /// The length of a probe.
    #[serde(rename = "look_seconds", with = "crate::seconds")]
    #[schemars(schema_with = "crate::seconds::schema")]
    pub probe_length: Duration,
    /// Probes at low rates take longer, until this many requests are due.
    pub requests: u64,
    /// The search ends when the interval reaches no further than this share to either side.
    pub precision: f64,
    /// Probes open more connections when all are busy, up to this; `None`: as many as the rate needs.
    pub most_connections: Option<u32>,
}

/// The closed loop before the first probe.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Burst {
    /// Valid answers per second.
    pub per_second: f64,
    /// The lowest rate that is probed.
    pub least_per_second: f64,
    /// The highest, unless the conditions hold there.
    pub most_per_second: f64,
    /// What was found.
    pub observation: Observation,
}

/// What became of a probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ProbeOutcome {
    /// Every condition held.
    Held,
    /// One did not, or the server did not keep up.
    Failed,
    /// It did not hold, and the generator was the limit: it says nothing of the server.
    Discarded,
}

/// An open loop at one rate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProbeRecord {
    /// The rate.
    pub per_second: f64,
    /// The length of its measurement.
    #[serde(rename = "seconds", with = "crate::seconds")]
    #[schemars(schema_with = "crate::seconds::schema")]
    pub length: Duration,
    /// The most connections that it may hold.
    pub most_connections: u32,
    /// What became of it.
    pub outcome: ProbeOutcome,
    /// Why it did not hold, or was discarded.
    pub why: Option<String>,
    /// The figure of each condition, in its unit; `None`: there was none.
    pub values: Vec<Option<f64>>,
    /// What was found.
    pub observation: Observation,
}

/// A search: what was asked for and what was found. Every output can be made again from it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CapacityRecord {
    /// The version of the format, [`SCHEMA`].
    pub schema: u32,
    /// Always [`FORMAT`].
    pub format: String,
    /// Deadheat's version.
    pub deadheat: String,
    /// When it started (RFC 3339, UTC).
    pub started: String,
    /// What the user asked for, as it was typed, without a password.
    pub url: String,
    /// Where the generator ran.
    pub machine: Machine,
    /// The hosts that loaded; empty: `machine` alone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<String>,
    /// What every probe has to do.
    pub conditions: Vec<Condition>,
    /// What was declared beforehand.
    pub declared: Declared,
    /// The load, without secrets. A probe has its own rate and length.
    pub spec: LoadSpec,
    /// Whether somebody stopped it before its end.
    pub interrupted: bool,
    /// How long it took.
    #[serde(rename = "elapsed_seconds", with = "crate::seconds")]
    #[schemars(schema_with = "crate::seconds::schema")]
    pub elapsed: Duration,
    /// The closed loop before the first probe.
    pub burst: Burst,
    /// The probes, in the order in which they were taken.
    #[serde(rename = "looks")]
    pub probes: Vec<ProbeRecord>,
}
