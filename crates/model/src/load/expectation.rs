//! What makes an answer a success.

use std::io::Read as _;

use flate2::read::MultiGzDecoder;
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
    /// What is in it once it is decompressed by gzip (RFC 1952).
    Gzip {
        /// What is compressed.
        content: Box<Content>,
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
            Content::Gzip { content } => gunzip(body).is_some_and(|text| content.matches(&text)),
            Content::Contains { bytes } => memchr::memmem::find(body, bytes).is_some(),
        }
    }

    /// How JSON differs from the expected content, in a few words; `None` if it does not, or other content is expected.
    pub fn json_difference(&self, body: &[u8]) -> Option<String> {
        let (pointer, value) = match self {
            Content::Gzip { content } => {
                return match gunzip(body) {
                    Some(text) => content.json_difference(&text),
                    None => Some("the body is not compressed by gzip".to_owned()),
                };
            }
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
            Content::Json { .. }
            | Content::JsonAt { .. }
            | Content::Gzip { .. }
            | Content::Contains { .. } => None,
        }
    }
}

/// No answer that is compared is longer than this once it is decompressed.
const MOST_DECOMPRESSED: u64 = 16 << 20;

/// What is in `bytes` once they are decompressed by gzip (RFC 1952); `None` if they are no such thing from the first to the last
/// byte, or longer than 16 MiB then.
pub fn gunzip(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut text = Vec::new();
    let mut decoder = MultiGzDecoder::new(bytes).take(MOST_DECOMPRESSED + 1);
    decoder.read_to_end(&mut text).ok()?;
    (text.len() as u64 <= MOST_DECOMPRESSED).then_some(text)
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use flate2::{Compression, bufread::GzEncoder};
    use serde_json::json;

    use super::*;

    #[test]
    fn a_compressed_body_is_judged_by_what_is_in_it() {
        let compressed = |text: &str, level| {
            let mut bytes = Vec::new();
            let mut encoder = GzEncoder::new(text.as_bytes(), level);
            encoder.read_to_end(&mut bytes).unwrap();
            bytes
        };
        let value = json!({ "name": "Lamp", "price": 7 });
        let content = Content::Gzip {
            content: Box::new(Content::Json { value }),
        };
        for level in [
            Compression::none(),
            Compression::fast(),
            Compression::best(),
        ] {
            let body = compressed(r#"{"price": 7, "name": "Lamp"}"#, level);
            assert!(content.matches(&body));
            assert!(!content.matches(&body[..body.len() - 1]), "cut off");
            assert!(!content.matches(&[&body[..], b"x"].concat()), "with more");
        }
        let other = compressed(r#"{"price": 8, "name": "Lamp"}"#, Compression::fast());
        assert!(!content.matches(&other));
        let difference = content.json_difference(&other).unwrap();
        assert!(difference.contains("price"), "{difference}");
        let plain = r#"{"price": 7, "name": "Lamp"}"#.as_bytes();
        assert!(!content.matches(plain));
        assert_eq!(
            content.json_difference(plain).unwrap(),
            "the body is not compressed by gzip"
        );
        assert_eq!(content.length(), None);
    }
}
