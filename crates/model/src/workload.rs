//! What is asked of a stack: the contents of `workloads/<id>.toml`.

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
    /// The pack that it belongs to: workloads of another suite, with the rules of that suite. They are measured only if the
    /// pack or the workload is named, and by stacks that declare them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pack: Option<String>,
    /// How its answers are known.
    pub oracle: Oracle,
    /// The method.
    pub method: String,
    /// Path and query. `{rounds}` stands for the load point's rounds; the load point's number of queries follows at the end. A
    /// stack can serve the workload at another path (`[routes]`).
    pub path: String,
    /// The beginning of the answer's content type ("text/plain").
    pub content_type: String,
    /// One answer in this many has its content compared under load.
    pub content_sample: u32,
    /// Loads, the default one first.
    pub point: Vec<LoadPoint>,
}

impl WorkloadManifest {
    /// The workloads that a request of it may belong to: itself, or its parts.
    pub fn parts(&self) -> Vec<&Self> {
        match &self.oracle {
            Oracle::Mixed { .. } => self.oracle.parts().collect(),
            _ => vec![self],
        }
    }
}

impl Oracle {
    /// How much of a job its workloads are: 0 for an answer that never changes, more for what takes longer.
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

    /// The table of the database that each request asks for, if all ask for one.
    pub fn table(&self) -> Option<Table> {
        match self {
            Self::Users => Some(Table::Users),
            Self::Fortunes => Some(Table::Fortune),
            Self::Crud => Some(Table::Items),
            Self::Worlds { task } if *task != WorldTask::Cached => Some(Table::World),
            _ => None,
        }
    }

    /// Whether it asks for several workloads at once.
    pub fn is_mixed(&self) -> bool {
        matches!(self, Self::Mixed { .. })
    }

    /// Whether PostgreSQL is behind its workloads.
    pub fn needs_database(&self) -> bool {
        self.table().is_some()
            || matches!(self, Self::Worlds { .. })
            || self.parts().any(|part| part.oracle.needs_database())
    }

    /// Whether the slow upstream is behind its workloads.
    pub fn needs_upstream(&self) -> bool {
        *self == Self::Relayed || self.parts().any(|part| part.oracle.needs_upstream())
    }

    /// Whether the memory that it takes is a result of its own, which a process that served other loads before cannot show.
    pub fn asks_for_memory(&self) -> bool {
        *self == Self::UploadDigest
    }

    /// Whether its load writes to the table items.
    pub fn writes(&self) -> bool {
        *self == Self::Crud || self.parts().any(|part| part.oracle.writes())
    }

    /// The workloads of a mixed one.
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
    /// `items`: id, name and price. Each server has one of its own, because it writes.
    Items,
    /// `world`: id and randomnumber. Each server has one of its own, because it writes.
    World,
}

impl Table {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Users, Self::Fortune, Self::Items, Self::World];

    /// Whether each server has one of its own, to which it writes.
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

/// How the right answer is known.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Oracle {
    /// Exactly this text.
    Text {
        /// The text.
        body: String,
    },
    /// JSON that stands for this value.
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
    /// The file `style.css` of the folder at `STATIC_DIR`; 304 for a client that has it.
    StaticFile,
    /// A hundred products from the number in the request on, as JSON that is compressed by gzip.
    Products,
    /// SHA-256 of the request's body; base64.
    UploadDigest,
    /// SHA-256 of the file at `BLOB_PATH`, then of the digest, `rounds` times in all; base64.
    DigestChain,
    /// The first ten rows of the table users, by id.
    Users,
    /// A page of HTML with all rows of the table fortune and one more, by message.
    Fortunes,
    /// Items of the table items: one, a page of them, a new one, one replaced, one deleted.
    Crud,
    /// Random rows of the table world, as TechEmpower's Framework Benchmarks ask for them.
    Worlds {
        /// What is done with them.
        task: WorldTask,
    },
    /// The slow upstream's answer.
    Relayed,
    /// Several workloads at once.
    Mixed {
        /// Which, and how often each is asked for.
        part: Vec<MixedPart>,
    },
}

/// What a request does with random rows of the table world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WorldTask {
    /// Reads one, which is the answer.
    One,
    /// Reads as many as the request says, each by a statement of its own.
    Several,
    /// Reads as many as the request says, and writes another number into each.
    Update,
    /// Takes as many as the request says from the server's own memory.
    Cached,
}

/// A workload in a mixed one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MixedPart {
    /// Its id.
    pub workload: String,
    /// How often it is asked for in comparison with the others.
    pub weight: u32,
    /// Its manifest, which is added when all are read.
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
    /// Connections of the closed loop; of an open one the most that it holds.
    pub connections: u32,
    /// Whether each request asks for what has changed since the answer that the client has (`If-None-Match`): nothing has.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub revalidate: bool,
    /// For `{rounds}` in the path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rounds: Option<u32>,
    /// The number of rows that a request asks for, which is added to the path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queries: Option<u32>,
    /// What is spoken with the stack. Stacks that do not declare it are not asked.
    #[serde(default, skip_serializing_if = "StackProtocol::is_usual")]
    pub protocol: StackProtocol,
    /// Requests on a connection at once, with HTTP/2.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub streams: u32,
    /// How its requests are sent.
    #[serde(default, skip_serializing_if = "Sending::is_usual")]
    pub sending: Sending,
    /// An open loop; no manifest has one, the plan adds them to the closed loops.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open: Option<OpenLoad>,
}

const fn one() -> u32 {
    1
}

/// Serde hands over a reference.
fn is_one(streams: &u32) -> bool {
    *streams == 1
}

/// Equal work: an open loop at a rate that is the same for all.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct OpenLoad {
    /// The load point, of the same workload, in whose heats it is measured.
    pub capacity_of: String,
    /// The rate; arrivals are those of a Poisson process.
    pub rate: OfferedRate,
}

/// The rate of an open loop.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum OfferedRate {
    /// The largest of 1, 2, 5, 10, 20, 50 … requests per second that three quarters of the stacks can take at 70 % of their
    /// capacity, as the first heat measured it.
    Common,
    /// So many requests per second.
    PerSecond(u32),
}

/// How the requests of a load are sent. What is left out is as usual: HTTP/1.1, keep-alive, sized bodies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Sending {
    /// The version of HTTP in the request line.
    pub http: HttpVersion,
    /// Whether connections carry more than one request.
    pub reuse: Reuse,
    /// How request bodies are framed.
    pub bodies: Framing,
}

impl Default for Sending {
    fn default() -> Self {
        Self {
            http: HttpVersion::Http11,
            reuse: Reuse::KeepAlive,
            bodies: Framing::Sized,
        }
    }
}

impl Sending {
    /// Whether all of it is as usual.
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
    /// `body` in this framing.
    pub fn apply(self, body: Body) -> Body {
        match (self, body) {
            (Framing::Sized, Body::Chunked(bytes)) => Body::Sized(bytes),
            (Framing::Chunked, Body::Sized(bytes)) => Body::Chunked(bytes),
            (_, body) => body,
        }
    }
}

impl LoadPoint {
    /// Whether it is a closed loop. Only these have heats of their own.
    pub fn is_closed(&self) -> bool {
        self.open.is_none()
    }

    /// Whether it is equal work in the heats of `closed`, a point of the same workload.
    pub fn is_in_heats_of(&self, closed: &Self) -> bool {
        let open = self.open.as_ref();
        open.is_some_and(|open| open.capacity_of == closed.id)
    }

    /// How the load generator sends its requests.
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

    /// Requests in flight, at most.
    pub fn in_flight(&self) -> u32 {
        self.connections.saturating_mul(self.streams)
    }

    /// Its connections, and what they speak if that is not HTTP/1.1: "10 connections × 10 streams (100 requests in flight),
    /// HTTP/2 over TLS".
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
}

impl LoadPoint {
    /// `path` of a workload, with the numbers of this load point in it.
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
