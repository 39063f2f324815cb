//! HTTP/2 on the client's side (RFC 9113, RFC 7541): requests as frames, answers out of frames.
//!
//! Nothing here knows sockets, time or counters: bytes go in as they come, and any split of the same bytes gives the same
//! result. Whatever a server sends, memory is bounded: what has no bound in the RFC has one here, and ends in a named
//! failure.

mod client;
mod frame;
#[cfg(any(test, fuzzing))]
pub(crate) mod fuzzing;
pub(crate) mod grpc;
mod hpack;
mod received;
mod request;
mod stream;

pub(crate) use client::{Client, Event, Sink};
pub(crate) use hpack::{NOT_A_NUMBER, Text};
pub(crate) use request::Request;
pub(crate) use stream::Phase;

use deadheat_model::Failure;

/// Why a request or a whole connection failed: a kind for the counter and a reason. `Copy`, so that nothing is allocated
/// for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Http2Failure {
    pub(crate) kind: Failure,
    pub(crate) why: &'static str,
}

impl Http2Failure {
    /// The server broke a rule that holds for the whole connection (RFC 9113 §5.4.1).
    const fn connection(why: &'static str) -> Self {
        Self {
            kind: Failure::Http2,
            why,
        }
    }
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
