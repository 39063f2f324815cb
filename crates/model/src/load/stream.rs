//! Answers that come as a stream of events.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How answers are taken apart into events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Stream {
    /// What an event is.
    pub event: StreamEvent,
    /// An answer is whole after this many events, at least 1: the rest is not waited for, and the connection is made
    /// again. `None`: it is whole where HTTP says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub enough: Option<u64>,
}

/// What an event is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum StreamEvent {
    /// A server-sent event (WHATWG HTML §9.2): lines with data, up to a blank line. Comments are none.
    Sse,
    /// A line that is not empty, as in NDJSON.
    Lines,
    /// A chunk of the chunked coding (RFC 9112 §7.1).
    Chunks,
}
