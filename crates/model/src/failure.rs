//! The reasons for failed requests. A reason is a small `Copy` value that indexes a counter, never a string.

use std::{
    borrow::Cow,
    collections::BTreeMap,
    fmt,
    ops::{Index, IndexMut},
};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

macro_rules! failures {
    ($($(#[$doc:meta])* $name:ident = $text:literal, $says:literal;)*) => {
        /// The kinds of failure of one request.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "kebab-case")]
        pub enum Failure { $($(#[$doc])* $name,)* }

        impl Failure {
            /// All kinds, in the order of their counters.
            pub const ALL: &'static [Failure] = &[$(Failure::$name,)*];

            /// The name in records and tables.
            pub const fn name(self) -> &'static str {
                match self { $(Failure::$name => $text,)* }
            }

            /// What happened, in words.
            pub const fn describe(self) -> &'static str {
                match self { $(Failure::$name => $says,)* }
            }
        }
    };
}

failures! {
    /// The connection was refused.
    ConnectRefused = "connect-refused", "the connection was refused";
    /// No connection within the connect timeout.
    ConnectTimeout = "connect-timeout", "no connection within the connect timeout";
    /// The connection could not be made for another reason.
    ConnectOther = "connect-other", "the connection could not be made";
    /// The generator had no local port left (EADDRNOTAVAIL): its own limit, not the server's.
    NoLocalPort = "no-local-port", "the generator had no local port left to connect from";
    /// Open loop: no connection became free within the request timeout.
    NoConnection = "no-connection", "no connection became free within the request timeout";
    /// The TLS handshake failed, or the peer broke TLS later.
    Tls = "tls", "the TLS handshake failed, or the peer broke TLS";
    /// The peer reset the connection, or writing failed.
    Reset = "reset", "the connection was reset";
    /// The peer closed before the first byte of the answer.
    ClosedEarly = "closed-early", "the connection was closed before the first byte of the answer";
    /// The peer closed in the middle of the head.
    TruncatedHead = "truncated-head", "the connection was closed in the middle of the answer's head";
    /// The peer closed in the middle of the body, or HTTP/2 ended it before its content-length.
    TruncatedBody = "truncated-body", "the answer's body ended before it was whole";
    /// No complete answer within the request timeout.
    Timeout = "timeout", "no whole answer within the request timeout";
    /// The head breaks the rules of its version of HTTP, or is larger than 64 KiB.
    BadHead = "bad-head", "the answer's head is not valid HTTP, or is larger than 64 KiB";
    /// The framing contradicts itself, or a chunk is malformed; HTTP/2: the body is longer than its content-length.
    BadFraming = "bad-framing", "the length of the answer's body is contradictory or malformed";
    /// Bytes arrived that do not belong to the answer to any request.
    ExtraBytes = "extra-bytes", "bytes came after the answer that no request had asked for";
    /// HTTP/2: the server broke a rule that holds for the whole connection, asked for too much work, or speaks another
    /// protocol.
    Http2 = "http2", "the answer is not valid HTTP/2";
    /// HTTP/2: the server cancelled the request (RST_STREAM).
    StreamReset = "stream-reset", "the server reset the request's stream";
    /// gRPC: the call's status is not OK or is missing, or the answer is not one message.
    Grpc = "grpc", "the gRPC call did not succeed";
    /// The status is not the expected one.
    WrongStatus = "wrong-status", "the answer's status is not the expected one";
    /// The body's length is not the expected one.
    WrongLength = "wrong-length", "the answer's body has another length than expected";
    /// The body's content is not the expected one.
    WrongContent = "wrong-content", "the answer's body has another content than expected";
    /// A redirect could not be followed.
    BadRedirect = "bad-redirect", "a redirect could not be followed";
}

impl Failure {
    /// Whether the answer itself was wrong (status, length, content, framing), as opposed to the transport.
    pub const fn is_wrong_answer(self) -> bool {
        matches!(
            self,
            Failure::BadHead
                | Failure::BadFraming
                | Failure::ExtraBytes
                | Failure::Http2
                | Failure::Grpc
                | Failure::WrongStatus
                | Failure::WrongLength
                | Failure::WrongContent
                | Failure::BadRedirect
        )
    }
}

/// The phase of a request in which it failed.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum FailurePhase {
    /// The request waited for a connection (open loop).
    Waiting,
    /// The connection was being opened.
    Connect,
    /// The TLS handshake was in progress.
    Tls,
    /// The request was being written.
    Write,
    /// The request was written, and no byte of the answer had arrived.
    FirstByte,
    /// The answer's head was arriving.
    Head,
    /// The answer's body was arriving, or had arrived.
    Body,
}

impl FailurePhase {
    /// Whether a request that failed in this phase was never written.
    pub const fn is_before_sending(self) -> bool {
        matches!(
            self,
            FailurePhase::Waiting | FailurePhase::Connect | FailurePhase::Tls
        )
    }

    /// The name in records and tables.
    pub const fn name(self) -> &'static str {
        match self {
            FailurePhase::Waiting => "waiting",
            FailurePhase::Connect => "connect",
            FailurePhase::Tls => "tls",
            FailurePhase::Write => "write",
            FailurePhase::FirstByte => "first-byte",
            FailurePhase::Head => "head",
            FailurePhase::Body => "body",
        }
    }
}

impl fmt::Display for FailurePhase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

const KINDS: usize = Failure::ALL.len();

/// Failed requests by kind. Serialised as an object that contains only the kinds that occurred.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "BTreeMap<Failure, u64>", from = "BTreeMap<Failure, u64>")]
pub struct FailureCounts([u64; KINDS]);

impl FailureCounts {
    /// The number of failures, over all kinds.
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }

    /// The number of answers that arrived and were wrong.
    pub fn wrong_answers(&self) -> u64 {
        let wrong = self.iter().filter(|(kind, _)| kind.is_wrong_answer());
        wrong.map(|(_, count)| count).sum()
    }

    /// The kinds that occurred, with their counts.
    pub fn iter(&self) -> impl Iterator<Item = (Failure, u64)> {
        let all = Failure::ALL.iter().copied().zip(self.0);
        all.filter(|(_, count)| *count > 0)
    }

    /// The failures that were added since `earlier`, an earlier state of the same counts.
    pub fn since(&self, earlier: &Self) -> Self {
        let mut counts = self.clone();
        for (own, before) in counts.0.iter_mut().zip(earlier.0) {
            *own = own.saturating_sub(before);
        }
        counts
    }

    /// Adds the counts of `other`.
    pub fn merge(&mut self, other: &Self) {
        for (own, more) in self.0.iter_mut().zip(other.0) {
            *own += more;
        }
    }
}

impl Index<Failure> for FailureCounts {
    type Output = u64;

    fn index(&self, kind: Failure) -> &u64 {
        &self.0[kind as usize]
    }
}

impl IndexMut<Failure> for FailureCounts {
    fn index_mut(&mut self, kind: Failure) -> &mut u64 {
        &mut self.0[kind as usize]
    }
}

impl From<FailureCounts> for BTreeMap<Failure, u64> {
    fn from(counts: FailureCounts) -> Self {
        counts.iter().collect()
    }
}

impl From<BTreeMap<Failure, u64>> for FailureCounts {
    fn from(map: BTreeMap<Failure, u64>) -> Self {
        let mut counts = Self::default();
        for (kind, count) in map {
            counts[kind] = count;
        }
        counts
    }
}

impl JsonSchema for FailureCounts {
    fn schema_name() -> Cow<'static, str> {
        "FailureCounts".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let kinds = Failure::ALL.iter().map(|kind| {
            let count = serde_json::json!({
                "description": kind.describe(),
                "type": "integer",
                "minimum": 1,
            });
            (kind.name().to_owned(), count)
        });
        json_schema!({
            "description": "Failed requests by kind: the kinds that occurred.",
            "type": "object",
            "properties": kinds.collect::<serde_json::Map<_, _>>(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn record_names_are_the_serialised_names() {
        for kind in Failure::ALL {
            let json = serde_json::to_string(kind).unwrap();
            assert_eq!(json, format!("\"{}\"", kind.name()));
        }
    }

    #[test]
    fn counts_survive_a_round_trip_and_merge() {
        let mut counts = FailureCounts::default();
        counts[Failure::Timeout] = 3;
        counts[Failure::WrongStatus] = 2;
        let json = serde_json::to_string(&counts).unwrap();
        assert_eq!(json, r#"{"timeout":3,"wrong-status":2}"#);
        let mut back: FailureCounts = serde_json::from_str(&json).unwrap();
        assert_eq!(back, counts);
        back.merge(&counts);
        assert_eq!((back.total(), back.wrong_answers()), (10, 4));
    }
}
