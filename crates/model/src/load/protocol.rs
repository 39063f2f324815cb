//! How requests travel.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How requests travel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "protocol")]
pub enum Protocol {
    /// HTTP/1.
    Http1 {
        /// The version in the request line.
        version: HttpVersion,
        /// Whether connections carry more than one request.
        reuse: Reuse,
        /// Requests on a connection that are sent before the first of them is answered; 1: no pipelining.
        pipeline: u32,
    },
    /// HTTP/2: agreed on in TLS (ALPN) where there is TLS, with prior knowledge where there is none (RFC 9113 §3).
    Http2 {
        /// Requests on a connection at once, at least 1. The server may allow fewer.
        streams: u32,
    },
}

impl Protocol {
    /// HTTP/1.1 with keep-alive, without pipelining: what most clients speak.
    pub const HTTP_1_1: Self = Protocol::Http1 {
        version: HttpVersion::Http11,
        reuse: Reuse::KeepAlive,
        pipeline: 1,
    };

    /// Requests that are on their way on a connection at once, at most.
    pub const fn depth(self) -> u32 {
        match self {
            Protocol::Http1 { pipeline, .. } => pipeline,
            Protocol::Http2 { streams, .. } => streams,
        }
    }

    /// The version of HTTP: "1.1".
    pub const fn version(self) -> &'static str {
        match self {
            Protocol::Http1 {
                version: HttpVersion::Http10,
                ..
            } => "1.0",
            Protocol::Http1 {
                version: HttpVersion::Http11,
                ..
            } => "1.1",
            Protocol::Http2 { .. } => "2",
        }
    }

    /// Whether each request has a connection of its own.
    pub const fn is_per_request(self) -> bool {
        matches!(
            self,
            Protocol::Http1 {
                reuse: Reuse::PerRequest,
                ..
            }
        )
    }
}

/// A version of HTTP/1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum HttpVersion {
    /// HTTP/1.0: connections end after an answer, unless both sides say keep-alive.
    #[serde(rename = "1.0")]
    Http10,
    /// HTTP/1.1: connections go on, unless one side says close.
    #[serde(rename = "1.1")]
    Http11,
}

/// The number, as it stands behind `HTTP/`.
impl fmt::Display for HttpVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            HttpVersion::Http10 => "1.0",
            HttpVersion::Http11 => "1.1",
        })
    }
}

/// Whether connections carry more than one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Reuse {
    /// As many as the server allows; HTTP/1.0 asks for it with `Connection: keep-alive`.
    KeepAlive,
    /// One; HTTP/1.1 announces it with `Connection: close`.
    PerRequest,
}
