//! What makes an answer a success.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    StatusSet,
    json_value::{difference, is_same},
};

/// What makes an answer a success.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Expectation {
    /// The status codes that are right.
    pub status: StatusSet,
    /// The body's length in bytes, after the transfer coding is undone; `None`: any.
    pub length: Option<u64>,
    /// The body's content, compared on a sample; `None`: any.
    pub content: Option<Content>,
}

/// An expected body.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "is")]
pub enum Content {
    /// Exactly these bytes.
    Exact {
        /// The bytes.
        #[serde(with = "crate::bytes")]
        #[schemars(schema_with = "crate::bytes::schema")]
        bytes: Vec<u8>,
    },
    /// One byte, repeated.
    Repeated {
        /// The byte.
        byte: u8,
        /// How often.
        count: u64,
    },
    /// JSON text of this value, however it is spaced and ordered, and however its numbers are written.
    Json {
        /// The value.
        value: Value,
    },
    /// JSON text with this value at one place.
    JsonAt {
        /// The place, as a JSON pointer (RFC 6901): "/users/0/name".
        pointer: String,
        /// The value.
        value: Value,
    },
    /// Anything with these bytes in it.
    Contains {
        /// The bytes.
        #[serde(with = "crate::bytes")]
        #[schemars(schema_with = "crate::bytes::schema")]
        bytes: Vec<u8>,
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
            Content::Json { value } => {
                serde_json::from_slice::<Value>(body).is_ok_and(|parsed| is_same(&parsed, value))
            }
            Content::JsonAt { pointer, value } => serde_json::from_slice::<Value>(body)
                .is_ok_and(|parsed| parsed.pointer(pointer).is_some_and(|at| is_same(at, value))),
            Content::Contains { bytes } => memchr::memmem::find(body, bytes).is_some(),
        }
    }

    /// How JSON differs from the expected content, in a few words; `None` if it does not, or other content is expected.
    pub fn json_difference(&self, body: &[u8]) -> Option<String> {
        let (pointer, value) = match self {
            Content::Json { value } => ("", value),
            Content::JsonAt { pointer, value } => (pointer.as_str(), value),
            Content::Exact { .. } | Content::Repeated { .. } | Content::Contains { .. } => {
                return None;
            }
        };
        match serde_json::from_slice::<Value>(body) {
            Ok(parsed) => difference(pointer, value, parsed.pointer(pointer)),
            Err(error) => Some(format!("the body is not JSON: {error}")),
        }
    }

    /// The length in bytes that every such body has, if there is one.
    pub fn length(&self) -> Option<u64> {
        match self {
            Content::Exact { bytes } => Some(bytes.len() as u64),
            Content::Repeated { count, .. } => Some(*count),
            Content::Json { .. } | Content::JsonAt { .. } | Content::Contains { .. } => None,
        }
    }
}
