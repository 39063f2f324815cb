//! What makes an answer a success.

use serde::{Deserialize, Serialize};

use super::StatusSet;

/// What makes an answer a success.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Expectation {
    /// The status codes that are right.
    pub status: StatusSet,
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
    /// JSON text with this value at one place.
    JsonAt {
        /// The place, as a JSON pointer (RFC 6901): "/users/0/name".
        pointer: String,
        /// The value.
        value: serde_json::Value,
    },
    /// Anything with these bytes in it.
    Contains {
        /// The bytes.
        #[serde(with = "crate::bytes")]
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
            Content::Json { value } => serde_json::from_slice::<serde_json::Value>(body)
                .is_ok_and(|parsed| parsed == *value),
            Content::JsonAt { pointer, value } => serde_json::from_slice::<serde_json::Value>(body)
                .is_ok_and(|parsed| parsed.pointer(pointer) == Some(value)),
            Content::Contains { bytes } => memchr::memmem::find(body, bytes).is_some(),
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
