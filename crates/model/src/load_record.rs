//! Everything that one load left behind: what `deadheat load` writes its outputs from.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Interval, LoadSpec, Observation, machine::Machine};

/// The version of the record.
pub const SCHEMA: u32 = 1;

/// One of several hosts that loaded together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GeneratorHost {
    /// What the user called it.
    pub host: String,
    /// What it calls itself.
    pub name: String,
    /// Where its generator ran.
    pub machine: Machine,
    /// It began the load at the same instant as the others, give or take this time.
    #[serde(rename = "clock_error_seconds", with = "crate::seconds")]
    #[schemars(schema_with = "crate::seconds::schema")]
    pub clock_error: Duration,
    /// What it found.
    pub observation: Observation,
}

/// A load: what was asked for and what was found. Every output can be made again from it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LoadRecord {
    /// The version of the format, [`SCHEMA`].
    pub schema: u32,
    /// Deadheat's version.
    pub deadheat: String,
    /// When it started (RFC 3339, UTC).
    pub started: String,
    /// What the user asked for, as it was typed: the URL, or the file of URLs. Without a password.
    pub url: String,
    /// Where the generator ran.
    pub machine: Machine,
    /// What was asked for, without secrets.
    pub spec: LoadSpec,
    /// Whether somebody stopped it before its end.
    pub interrupted: bool,
    /// What was found.
    pub observation: Observation,
    /// The same over time; empty where the spec asks for no intervals.
    pub intervals: Vec<Interval>,
    /// The hosts that it came from; empty: `machine` alone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<GeneratorHost>,
}
