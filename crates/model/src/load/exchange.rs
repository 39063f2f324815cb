//! Requests, their bodies, and what a record keeps of them.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Bytes, Expectation};

/// A request and its expected answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Exchange {
    /// The request.
    pub request: RequestSpec,
    /// The expected answer.
    pub expect: Expectation,
    /// The target of the request: its index among the load's targets.
    #[serde(default, skip_serializing_if = "is_first")]
    pub target: usize,
    /// How often the request is sent, relative to the others: with twice the weight, twice as often.
    pub weight: u32,
    /// The group that its figures count in, from 0; `None`: no group. Records have figures for each group.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<u32>,
}

impl Exchange {
    /// An exchange with a weight of 1, to the first target, in no group.
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

/// A request. `Host` is added if the headers do not contain it. The framing headers of the body are always added.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RequestSpec {
    /// The method ("GET").
    pub method: String,
    /// Path and query ("/bytes?rounds=1").
    pub path: String,
    /// The headers, in their order.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Body,
    /// Whether path, header values and body are templates. Their placeholders `{{counter}}`, `{{random 1 100}}`,
    /// `{{line NAME}}` (the lines of a list in turn) and `{{random-line NAME}}` are filled in for each request.
    pub template: bool,
}

impl RequestSpec {
    /// A GET request without further headers.
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

/// The sizes of a load's requests, whose contents are not recorded ([`crate::redact`]).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HiddenParts {
    /// The length of each exchange's body in bytes; `None`: no body. For a template, it is the length of the template.
    pub body_bytes: Vec<Option<u64>>,
    /// The sizes of the lists of lines that templates choose from, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub lists: BTreeMap<String, ListSize>,
    /// Four hexadecimal digits that usually differ if anything else is sent.
    pub fingerprint: String,
}

/// The size of a list of lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ListSize {
    /// The number of lines.
    pub lines: u64,
    /// The total size of the lines in bytes.
    pub bytes: u64,
}

/// A request's body. All copies share its bytes, because a session has several copies of each load.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "framing", content = "bytes")]
pub enum Body {
    /// No body.
    #[default]
    None,
    /// A body with a content-length.
    #[serde(with = "crate::bytes")]
    #[schemars(schema_with = "crate::bytes::schema")]
    Sized(Bytes),
    /// A body in chunks, as from a client that does not know the length beforehand.
    #[serde(with = "crate::bytes")]
    #[schemars(schema_with = "crate::bytes::schema")]
    Chunked(Bytes),
    /// The message of a unary gRPC call, sent after a prefix of 5 bytes. The answer is one message and its status
    /// (<https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md>).
    #[serde(with = "crate::bytes")]
    #[schemars(schema_with = "crate::bytes::schema")]
    Call(Bytes),
}

impl Body {
    /// The length in bytes; `None`: no body.
    pub fn length(&self) -> Option<u64> {
        match self {
            Body::None => None,
            Body::Sized(bytes) | Body::Chunked(bytes) | Body::Call(bytes) => {
                Some(bytes.len() as u64)
            }
        }
    }

    /// Whether it is the message of a gRPC call.
    pub const fn is_call(&self) -> bool {
        matches!(self, Body::Call(_))
    }
}
