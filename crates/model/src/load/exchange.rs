//! What is sent.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Bytes, Expectation};

/// A request and the answer that is expected.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Exchange {
    /// What is sent.
    pub request: RequestSpec,
    /// What should come back.
    pub expect: Expectation,
    /// Which of the load's targets it is sent to, from 0.
    #[serde(default, skip_serializing_if = "is_first")]
    pub target: usize,
    /// How often it is sent in comparison with the others: twice as often as one of half the weight.
    pub weight: u32,
    /// The group whose figures it counts in, from 0; `None`: none. What became of each group is recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<u32>,
}

impl Exchange {
    /// A request and what should come back, with a weight of 1, in no group.
    pub fn new(request: RequestSpec, expect: Expectation) -> Self {
        Self {
            request,
            expect,
            target: 0,
            weight: 1,
            group: None,
        }
    }
}

fn is_first(index: &usize) -> bool {
    *index == 0
}

/// A request. `Host` is added when the headers have none, and the body's framing headers always.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RequestSpec {
    /// The method ("GET").
    pub method: String,
    /// Path and query ("/bytes?rounds=1").
    pub path: String,
    /// Headers, in order.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Body,
    /// Whether path, header values and body are templates: `{{counter}}`, `{{random 1 100}}`, `{{line NAME}}` (the
    /// lines of a list in turn) and `{{random-line NAME}}` are replaced anew for each request.
    pub template: bool,
}

impl RequestSpec {
    /// A GET without headers of its own.
    pub fn get(path: impl Into<String>) -> Self {
        Self {
            method: "GET".to_owned(),
            path: path.into(),
            headers: Vec::new(),
            body: Body::None,
            template: false,
        }
    }
}

/// What a record does not have of a load's requests ([`crate::redact`]).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HiddenParts {
    /// The length of each exchange's body in bytes; `None`: it has none. A template's is that of the template.
    pub body_bytes: Vec<Option<u64>>,
    /// The lists of lines that templates choose from, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub lists: BTreeMap<String, ListSize>,
    /// Differs, as a rule, if anything else is sent: four hexadecimal digits.
    pub fingerprint: String,
}

/// The size of a list of lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ListSize {
    /// How many there are.
    pub lines: u64,
    /// Their bytes in all.
    pub bytes: u64,
}

/// A request's body. Its bytes are shared by all copies: a session has several of each load.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "framing", content = "bytes")]
pub enum Body {
    /// No body.
    #[default]
    None,
    /// With a content-length.
    #[serde(with = "crate::bytes")]
    #[schemars(schema_with = "crate::bytes::schema")]
    Sized(Bytes),
    /// In chunks, as a client sends it that does not know the length beforehand.
    #[serde(with = "crate::bytes")]
    #[schemars(schema_with = "crate::bytes::schema")]
    Chunked(Bytes),
    /// The message of a unary call of gRPC: it is sent behind a prefix of 5 bytes, and the answer is one message and its
    /// status (<https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md>).
    #[serde(with = "crate::bytes")]
    #[schemars(schema_with = "crate::bytes::schema")]
    Call(Bytes),
}

impl Body {
    /// Its length in bytes; `None`: there is no body.
    pub fn length(&self) -> Option<u64> {
        match self {
            Body::None => None,
            Body::Sized(bytes) | Body::Chunked(bytes) | Body::Call(bytes) => {
                Some(bytes.len() as u64)
            }
        }
    }

    /// Whether it is the message of a call of gRPC.
    pub const fn is_call(&self) -> bool {
        matches!(self, Body::Call(_))
    }
}
