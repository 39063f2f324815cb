//! A workload: the contents of `workloads/<id>.toml`.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    figure::{count, counted},
    load::{Body, HttpVersion, Protocol, Reuse},
    stack_protocol::StackProtocol,
};

/// A workload's manifest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct WorkloadManifest {
    /// The id; must be the file's name.
    pub id: String,
    /// What it exercises, in a sentence.
    pub description: String,
    /// The pack that it belongs to, with the workloads and the rules of another suite; `None`: no pack. It is measured
    /// only if the pack or the workload is named, and only for stacks that declare it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pack: Option<String>,
    /// How its correct answers are known.
    pub oracle: Oracle,
    /// The request method.
    pub method: String,
    /// Path and query. `{rounds}` is replaced by the load point's rounds. The load point's number of queries is
    /// appended. A stack can serve the workload at another path (`[routes]`).
    pub path: String,
    /// The required beginning of the answer's content type ("text/plain").
    pub content_type: String,
    /// One answer in this many has its content compared under load.
    pub content_sample: u32,
    /// The load points, the default one first.
    pub point: Vec<LoadPoint>,
}

impl WorkloadManifest {
    /// The workloads that its requests belong to: itself, or its parts if it is mixed.
    pub fn parts(&self) -> Vec<&Self> {
        match &self.oracle {
            Oracle::Mixed { .. } => self.oracle.parts().collect(),
            _ => vec![self],
        }
    }
}

impl Oracle {
    /// The amount of work of its answers, for sorting: 0 for an answer that never changes, more for what takes longer.
    pub fn job(&self) -> u8 {
        match self {
            Self::Text { .. } => 0,
            Self::Json { .. } => 1,
            Self::Greeting => 2,
            Self::StaticFile => 3,
            Self::Products => 4,
            Self::Repeated { .. } => 5,
            Self::Users => 6,
            Self::Fortunes => 7,
            Self::Worlds { task } => match task {
                WorldTask::One | WorldTask::Cached => 6,
                WorldTask::Several => 7,
                WorldTask::Update => 8,
            },
            Self::Crud => 8,
            Self::Mixed { .. } => 9,
            Self::DigestChain => 10,
            Self::UploadDigest => 11,
            Self::Relayed => 12,
        }
    }

    /// The database table that all of its requests use; `None`: there is no such table.
    pub fn table(&self) -> Option<Table> {
        match self {
            Self::Users => Some(Table::Users),
            Self::Fortunes => Some(Table::Fortune),
            Self::Crud => Some(Table::Items),
            Self::Worlds { task } if *task != WorldTask::Cached => Some(Table::World),
            _ => None,
        }
    }

    /// Whether it combines several workloads.
    pub fn is_mixed(&self) -> bool {
        matches!(self, Self::Mixed { .. })
    }

    /// Whether its workloads need PostgreSQL.
    pub fn needs_database(&self) -> bool {
        self.table().is_some()
            || matches!(self, Self::Worlds { .. })
            || self.parts().any(|part| part.oracle.needs_database())
    }

    /// Whether its workloads need the slow upstream.
    pub fn needs_upstream(&self) -> bool {
        *self == Self::Relayed || self.parts().any(|part| part.oracle.needs_upstream())
    }

    /// Whether its memory use is a result of its own. Processes that served other loads before cannot show it.
    pub fn asks_for_memory(&self) -> bool {
        *self == Self::UploadDigest
    }

    /// Whether its load writes to the table items.
    pub fn writes(&self) -> bool {
        *self == Self::Crud || self.parts().any(|part| part.oracle.writes())
    }

    /// The parts of a mixed workload.
    fn parts(&self) -> impl Iterator<Item = &WorkloadManifest> {
        let parts = match self {
            Self::Mixed { part } => part.as_slice(),
            _ => &[],
        };
        parts.iter().filter_map(MixedPart::manifest)
    }
}

/// A table of the database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Table {
    /// `users`: id and email.
    Users,
    /// `fortune`: id and message.
    Fortune,
    /// `items`: id, name and price. Each server has its own, because it writes.
    Items,
    /// `world`: id and randomnumber. Each server has its own, because it writes.
    World,
}

impl Table {
    /// All tables.
    pub const ALL: [Self; 4] = [Self::Users, Self::Fortune, Self::Items, Self::World];

    /// Whether each server has its own, because it writes.
    pub fn is_own(self) -> bool {
        matches!(self, Self::Items | Self::World)
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Users => "users",
            Self::Fortune => "fortune",
            Self::Items => "items",
            Self::World => "world",
        })
    }
}

/// How the correct answer is known.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Oracle {
    /// Exactly this text.
    Text {
        /// The text.
        body: String,
    },
    /// JSON text with this value.
    Json {
        /// The value.
        value: serde_json::Value,
    },
    /// One byte, repeated.
    Repeated {
        /// The byte, as a character of ASCII.
        byte: char,
        /// How often.
        count: u64,
    },
    /// `Hello, <name>!` for the random name in the request's JSON body.
    Greeting,
    /// The file `style.css` of the folder at `STATIC_DIR`; 304 for a client that already has it.
    StaticFile,
    /// A hundred products from the number in the request on, as JSON compressed with gzip.
    Products,
    /// SHA-256 of the request's body; base64.
    UploadDigest,
    /// SHA-256 of the file at `BLOB_PATH`, then of the digest, `rounds` times in all; base64.
    DigestChain,
    /// The first ten rows of the table users, by id.
    Users,
    /// An HTML page with all rows of the table fortune and one more, sorted by message.
    Fortunes,
    /// The table items: read one item, read a page, add one, replace one, delete one.
    Crud,
    /// Random rows of the table world, as in TechEmpower's Framework Benchmarks.
    Worlds {
        /// What is done with the rows.
        task: WorldTask,
    },
    /// The slow upstream's answer.
    Relayed,
    /// A mix of several workloads.
    Mixed {
        /// The workloads, and how often each is requested.
        part: Vec<MixedPart>,
    },
}

/// What a request does with random rows of the table world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WorldTask {
    /// Reads one row, which is the answer.
    One,
    /// Reads the requested number of rows, each by its own statement.
    Several,
    /// Reads the requested number of rows, and writes another number into each.
    Update,
    /// Returns the requested number of rows from the server's own memory.
    Cached,
}

/// A part of a mixed workload.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MixedPart {
    /// Its id.
    pub workload: String,
    /// How often it is requested, relative to the other parts.
    pub weight: u32,
    /// Its manifest, which is added when all manifests have been read.
    #[serde(skip)]
    pub manifest: Option<Box<WorkloadManifest>>,
}

impl MixedPart {
    fn manifest(&self) -> Option<&WorkloadManifest> {
        self.manifest.as_deref()
    }
}

/// A workload at one load.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct LoadPoint {
    /// The id, unique in the workload ("c100").
    pub id: String,
    /// The connections of a closed loop, or the maximum number of connections of an open loop.
    pub connections: u32,
    /// Whether requests are conditional (`If-None-Match`). The content never changes, so that the answer is 304.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub revalidate: bool,
    /// The value of `{rounds}` in the path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rounds: Option<u32>,
    /// The number of rows in a request, which is appended to the path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queries: Option<u32>,
    /// The protocol. Stacks that do not declare it are not measured.
    #[serde(default, skip_serializing_if = "StackProtocol::is_usual")]
    pub protocol: StackProtocol,
    /// Concurrent requests on a connection, with HTTP/2.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub streams: u32,
    /// How its requests are sent.
    #[serde(default, skip_serializing_if = "Sending::is_usual")]
    pub sending: Sending,
    /// The open loop; `None`: a closed loop. Manifests contain only closed loops, to which the plan adds open ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open: Option<OpenLoad>,
}

const fn one() -> u32 {
    1
}

/// Whether there is one stream. Serde passes a reference.
fn is_one(streams: &u32) -> bool {
    *streams == 1
}

/// Equal work: an open loop with the same rate for all stacks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct OpenLoad {
    /// The load point, of the same workload, in whose heats it is measured.
    pub capacity_of: String,
    /// The rate. Arrivals are those of a Poisson process.
    pub rate: OfferedRate,
}

/// The rate of an open loop.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum OfferedRate {
    /// The largest of 1, 2, 5, 10, 20, 50 … requests per second that three quarters of the stacks can serve at 70 % of
    /// their capacity, as measured in the first heat.
    Common,
    /// This many requests per second.
    PerSecond(u32),
}

/// How the requests of a load are sent. The defaults are HTTP/1.1, keep-alive and sized bodies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Sending {
    /// The version of HTTP in the request line.
    pub http: HttpVersion,
    /// Whether connections carry more than one request.
    pub reuse: Reuse,
    /// How request bodies are framed.
    pub bodies: Framing,
}

impl Sending {
    /// Whether all settings have their defaults.
    pub fn is_usual(&self) -> bool {
        *self == Self::default()
    }
}

/// How request bodies are framed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Framing {
    /// With a content-length.
    #[default]
    Sized,
    /// In chunks.
    Chunked,
}

impl Framing {
    /// `body` with this framing.
    pub fn apply(self, body: Body) -> Body {
        match (self, body) {
            (Framing::Sized, Body::Chunked(bytes)) => Body::Sized(bytes),
            (Framing::Chunked, Body::Sized(bytes)) => Body::Chunked(bytes),
            (_, body) => body,
        }
    }
}

impl LoadPoint {
    /// A closed loop of HTTP/1.1 without TLS, with the defaults of all else.
    pub fn new(id: impl Into<String>, connections: u32) -> Self {
        Self {
            id: id.into(),
            connections,
            revalidate: false,
            rounds: None,
            queries: None,
            protocol: StackProtocol::default(),
            streams: one(),
            sending: Sending::default(),
            open: None,
        }
    }

    /// Whether it is a closed loop. Only closed loops have their own heats.
    pub fn is_closed(&self) -> bool {
        self.open.is_none()
    }

    /// Whether it is equal work in the heats of `closed`, a point of the same workload.
    pub fn is_in_heats_of(&self, closed: &Self) -> bool {
        let open = self.open.as_ref();
        open.is_some_and(|open| open.capacity_of == closed.id)
    }

    /// The load generator's protocol.
    pub fn load_protocol(&self) -> Protocol {
        if self.protocol.is_http2() {
            return Protocol::Http2 {
                streams: self.streams,
            };
        }
        Protocol::Http1 {
            version: self.sending.http,
            reuse: self.sending.reuse,
            pipeline: 1,
        }
    }

    /// The maximum number of requests in flight.
    pub fn in_flight(&self) -> u32 {
        self.connections.saturating_mul(self.streams)
    }

    /// Its connections, with the protocol unless that is HTTP/1.1: "10 connections × 10 streams (100 requests in
    /// flight), HTTP/2 over TLS".
    pub fn connections_in_words(&self) -> String {
        let connections = counted(self.connections, "connection");
        let streams = match self.streams {
            1 => String::new(),
            streams => format!(
                " × {} ({} requests in flight)",
                counted(streams, "stream"),
                count(self.in_flight().into())
            ),
        };
        match self.protocol {
            StackProtocol::Http1 => format!("{connections}{streams}"),
            protocol => format!("{connections}{streams}, {protocol}"),
        }
    }

    /// The `path` of a workload, with the numbers of this load point filled in.
    pub fn fill(&self, path: &str) -> String {
        let path = match self.rounds {
            Some(rounds) => path.replace("{rounds}", &rounds.to_string()),
            None => path.to_owned(),
        };
        match self.queries {
            Some(queries) => format!("{path}{queries}"),
            None => path,
        }
    }
}
