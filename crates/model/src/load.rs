//! What to load and how: the input of the load generator. `Schedule`, `StopRule` and `Protocol` are values.

use std::{net::SocketAddr, time::Duration};

use serde::{Deserialize, Serialize};

/// One load, as a plain value: it can be sent to another thread, process or host.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LoadSpec {
    /// Where to connect to.
    pub address: SocketAddr,
    /// How requests travel.
    pub protocol: Protocol,
    /// Requests with their expected answers, sent in turn by each connection. At least one.
    pub exchanges: Vec<Exchange>,
    /// When requests are sent.
    pub schedule: Schedule,
    /// When the load ends.
    pub stop: StopRule,
    /// Load before the measurement, not in the figures.
    #[serde(with = "crate::seconds")]
    pub warm_up: Duration,
    /// Bounds on waiting.
    pub timeouts: Timeouts,
    /// One answer in so many has its content compared (1: every one, 0: none). Status and length always are.
    pub content_sample: u32,
    /// One worker thread per CPU, pinned to it; empty: one worker, not pinned.
    pub cpus: Vec<usize>,
    /// The width of the bins of the time series.
    #[serde(with = "crate::seconds")]
    pub bin: Duration,
}

/// How requests travel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "version")]
pub enum Protocol {
    /// HTTP/1.1 over TCP; connections are kept for many requests.
    Http1,
}

/// When requests are sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "loop")]
pub enum Schedule {
    /// Closed loop: each connection sends its next request when its answer has come.
    Closed {
        /// Connections held, over all workers.
        connections: u32,
        /// The connections' first requests are spread evenly over this time, so that equal delays of the server
        /// do not turn them into one wave.
        #[serde(with = "crate::seconds")]
        ramp: Duration,
    },
}

/// When the load ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "after")]
pub enum StopRule {
    /// When the measurement (after the warm-up) has lasted so long.
    Duration {
        /// The measurement's length.
        #[serde(with = "crate::seconds")]
        length: Duration,
    },
    /// When exactly so many requests have been issued after the warm-up and have ended.
    Count {
        /// Requests to issue.
        requests: u64,
    },
}

/// Bounds on waiting.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Timeouts {
    /// For a connection to be made.
    #[serde(with = "crate::seconds")]
    pub connect: Duration,
    /// From a request's start to the last byte of its answer.
    #[serde(with = "crate::seconds")]
    pub request: Duration,
    /// The cool-down: how long requests that are in flight at the measurement's end are waited for, so that no server
    /// is left with half its work. Zero: not at all.
    #[serde(with = "crate::seconds")]
    pub cool_down: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(5),
            request: Duration::from_secs(30),
            cool_down: Duration::from_secs(5),
        }
    }
}

/// A request and the answer that is expected.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Exchange {
    /// What is sent.
    pub request: RequestSpec,
    /// What should come back.
    pub expect: Expectation,
}

/// A request. `Host` is added when the headers have none, and the body's framing headers always.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RequestSpec {
    /// The method ("GET").
    pub method: String,
    /// Path and query ("/bytes?rounds=1").
    pub path: String,
    /// Headers, in order.
    #[serde(default)]
    pub headers: Vec<(String, String)>,
    /// The body.
    #[serde(default)]
    pub body: Body,
}

impl RequestSpec {
    /// A GET without headers of its own.
    pub fn get(path: impl Into<String>) -> Self {
        Self {
            method: "GET".to_owned(),
            path: path.into(),
            headers: Vec::new(),
            body: Body::None,
        }
    }
}

/// A request's body.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "framing", content = "bytes")]
pub enum Body {
    /// No body.
    #[default]
    None,
    /// With a content-length.
    #[serde(with = "crate::bytes")]
    Sized(Vec<u8>),
    /// In chunks, as a client sends it that does not know the length beforehand.
    #[serde(with = "crate::bytes")]
    Chunked(Vec<u8>),
}

/// What makes an answer a success.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Expectation {
    /// The status code.
    pub status: u16,
    /// The body's length in bytes, after the transfer coding is undone; `None`: any.
    pub length: Option<u64>,
    /// The body's content, compared on a sample; `None`: any.
    pub content: Option<Content>,
}

/// An expected body.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "is")]
pub enum Content {
    /// Exactly these bytes.
    Exact {
        /// The bytes.
        #[serde(with = "crate::bytes")]
        bytes: Vec<u8>,
    },
    /// One byte, repeated.
    Repeated {
        /// The byte.
        byte: u8,
        /// How often.
        count: u64,
    },
    /// JSON text that stands for this value, however it is spaced and ordered.
    Json {
        /// The value.
        value: serde_json::Value,
    },
}

impl Content {
    /// Whether `body` is the expected content.
    pub fn matches(&self, body: &[u8]) -> bool {
        match self {
            Content::Exact { bytes } => body == bytes,
            Content::Repeated { byte, count } => {
                body.len() as u64 == *count && body.iter().all(|other| other == byte)
            }
            Content::Json { value } => serde_json::from_slice::<serde_json::Value>(body)
                .is_ok_and(|parsed| parsed == *value),
        }
    }

    /// The length in bytes that every such body has, if there is one.
    pub fn length(&self) -> Option<u64> {
        match self {
            Content::Exact { bytes } => Some(bytes.len() as u64),
            Content::Repeated { count, .. } => Some(*count),
            Content::Json { .. } => None,
        }
    }
}
