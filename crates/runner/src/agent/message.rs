//! What the coordinator and an agent say to each other.

use std::{
    io::{Read, Write},
    net::{IpAddr, SocketAddr},
    time::Duration,
};

use deadheat_model::{Interval, LoadSpec, Observation, machine::Machine};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use super::{
    frame::{self, FrameError},
    traffic::{Seen, Token},
};
use crate::doctor::{Examination, Interface};

/// The version of these messages. Coordinator and agent must have the same.
pub(super) const PROTOCOL: u32 = 7;

/// What the coordinator says. The first message is `Hello`, the last one `Bye`.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "say")]
pub(super) enum Order {
    Hello {
        protocol: u32,
    },
    /// What time is it there?
    Clock {
        nth: u32,
    },
    /// Get ready for a load.
    Load {
        spec: Box<LoadSpec>,
    },
    /// Begin it when the agent's monotonic clock says so, in nanoseconds.
    Start {
        at: u64,
    },
    /// Get ready for a load in slices, which is called by this number.
    Open {
        load: u32,
        spec: Box<LoadSpec>,
    },
    /// Load for a slice, from when the agent's monotonic clock says so, in nanoseconds.
    Slice {
        load: u32,
        at: u64,
        guard: Duration,
        length: Duration,
    },
    /// Close its connections.
    Close {
        load: u32,
    },
    /// Start a database that listens on an address of the agent's host, for one client and itself.
    Database {
        listen: IpAddr,
        client: IpAddr,
    },
    /// End the load or slice now.
    Stop,
    /// The coordinator is still there.
    Alive,
    Bye,
    /// Look for what would spoil a measurement there, and watch other programs for so long.
    Examine {
        watch: Duration,
        connections: u32,
    },
    /// Connect to the coordinator there, show the token, and take part in the measurement of the network.
    Probe {
        coordinator: SocketAddr,
        token: Token,
    },
}

/// What an agent says. The first message is `Hello`, the last one `Bye`.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "say")]
pub(super) enum Answer {
    Hello(Box<Host>),
    Clock {
        nth: u32,
        at: u64,
    },
    /// The load can begin.
    Ready,
    /// The load came to an instant.
    Reached(Instant),
    Interval {
        interval: Box<Interval>,
    },
    /// The load is over.
    Observed {
        observation: Box<Observation>,
    },
    /// The slices can begin.
    Opened {
        load: u32,
    },
    /// A slice is over.
    Sliced {
        load: u32,
        part: Box<SlicePart>,
    },
    /// The database runs.
    Serving {
        /// With a password, which is nowhere else.
        url: String,
        description: String,
    },
    /// What was asked for could not be started or carried through.
    Refused {
        why: String,
    },
    /// The agent is still there.
    Alive,
    Bye,
    Examined(Box<Examination>),
    Probed(Box<Probed>),
}

/// An instant of a load.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "instant")]
pub(super) enum Instant {
    MeasurementStarted,
    MeasurementEnded,
}

/// What one host saw of a slice, as [`deadheat_load::SliceSeen`] has it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct SlicePart {
    pub(super) observation: Observation,
    pub(super) drained: Duration,
    pub(super) undrained: u64,
    pub(super) reconnected: u64,
    pub(super) interrupted: bool,
    /// How long after the agreed instant it began.
    pub(super) late: Duration,
}

/// What an agent saw of the network.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Probed {
    pub(super) seen: Seen,
    /// The interface that it used.
    pub(super) interface: Option<Interface>,
}

/// Who an agent is, and where.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Host {
    pub(super) protocol: u32,
    /// Deadheat's version there.
    pub(super) version: String,
    /// The host's own name.
    pub(super) name: String,
    pub(super) machine: Machine,
}

/// Writes a message as a frame.
pub(super) fn send(out: &mut impl Write, message: &impl Serialize) -> std::io::Result<()> {
    frame::write(out, &serde_json::to_vec(message)?)
}

/// Reads the next message.
pub(super) fn receive<T: DeserializeOwned>(input: &mut impl Read) -> Result<T, FrameError> {
    let content = frame::read(input)?;
    serde_json::from_slice(&content).map_err(|error| {
        // The checksum is right: the other side speaks another language.
        FrameError::Stranger(error.to_string())
    })
}
