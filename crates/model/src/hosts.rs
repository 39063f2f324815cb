//! The other hosts that take part in a session. The servers run on this machine.

use std::{net::IpAddr, path::PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::machine::Machine;

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
