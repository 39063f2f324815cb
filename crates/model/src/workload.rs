//! What is asked of a stack: the contents of `workloads/<id>.toml`.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::{
    StopRule,
    load::{Body, HttpVersion, Protocol, Reuse},
};

/// A workload's manifest.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct WorkloadManifest {
    /// The id; must be the file's name.
    pub id: String,
    /// What it exercises, in a sentence.
    pub description: String,
    /// How its answers are known.
    pub oracle: Oracle,
    /// The method.
    pub method: String,
    /// Path and query; `{rounds}` stands for the load point's rounds.
    pub path: String,
    /// The beginning of the answer's content type ("text/plain").
    pub content_type: String,
    /// A trial's measurement is never shorter than this.
    #[serde(default, with = "humantime_serde")]
    pub least_measurement: Option<Duration>,
    /// One answer in so many has its content compared under load.
    pub content_sample: u32,
    /// Loads, the default one first.
    pub point: Vec<LoadPoint>,
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
    /// SHA-256 of the file at `BLOB_PATH`, then of the digest, `rounds` times in all; base64.
    DigestChain,
    /// The first ten rows of the table users, by id.
    Users,
    /// The slow upstream's answer.
    Relayed,
}

/// A workload at one load.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct LoadPoint {
    /// The id, unique in the workload ("c100").
    pub id: String,
    /// Connections of the closed loop.
    pub connections: u32,
    /// For `{rounds}` in the path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rounds: Option<u32>,
    /// How its requests are sent, where that is not as usual: over HTTP/1.1 with keep-alive, with sized bodies, after a
    /// warm-up, for as long as the plan says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<Client>,
}

/// A client that makes so many requests and ends, as `ab -n` and `hey -n` do. It has no warm-up: what a server does cold
/// is in its figures, and so are its last requests, when fewer and fewer connections have one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Client {
    /// Requests in all.
    pub requests: u64,
    /// The longest that they may take; what has not been sent by then is not sent.
    #[serde(with = "humantime_serde")]
    pub limit: Duration,
    /// The version of HTTP in the request line.
    pub http: HttpVersion,
    /// Whether connections carry more than one request.
    pub reuse: Reuse,
    /// How request bodies are framed.
    #[serde(default)]
    pub bodies: Framing,
}

/// How request bodies are framed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
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
    /// How requests travel.
    pub fn protocol(&self) -> Protocol {
        match &self.client {
            None => Protocol::HTTP_1_1,
            Some(client) => Protocol::Http1 {
                version: client.http,
                reuse: client.reuse,
                pipeline: 1,
            },
        }
    }

    /// The warm-up, where `usual` is that of other load points.
    pub fn warm_up(&self, usual: Duration) -> Duration {
        match self.client {
            None => usual,
            Some(_) => Duration::ZERO,
        }
    }

    /// When the load ends, where `usual` is how long others last.
    pub fn stop(&self, usual: Duration) -> StopRule {
        match &self.client {
            None => StopRule::Duration { length: usual },
            Some(client) => StopRule::Count {
                requests: client.requests,
            },
        }
    }
}

impl WorkloadManifest {
    /// Path and query at `point`.
    pub fn path_at(&self, point: &LoadPoint) -> String {
        match point.rounds {
            Some(rounds) => self.path.replace("{rounds}", &rounds.to_string()),
            None => self.path.clone(),
        }
    }
}
