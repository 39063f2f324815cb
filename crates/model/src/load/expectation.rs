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
    /// JSON text of objects with whole numbers in them. Other members are allowed, and capitals do not matter.
    Records {
        /// How many objects there are in an array; `None`: one object without an array.
        count: Option<u32>,
        /// The members of each object.
        members: Vec<String>,
        /// The largest number that is allowed; the smallest is 1.
        most: u64,
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
            Content::Records {
                count,
                members,
                most,
            } => serde_json::from_slice::<Value>(body)
                .is_ok_and(|parsed| records_difference(*count, members, *most, &parsed).is_none()),
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
            Content::Records {
                count,
                members,
                most,
            } => {
                return match serde_json::from_slice::<Value>(body) {
                    Ok(parsed) => records_difference(*count, members, *most, &parsed),
                    Err(error) => Some(format!("the body is not JSON: {error}")),
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
            | Content::Records { .. }
            | Content::Contains { .. } => None,
        }
    }
}

/// How `found` differs from `count` objects with these members, each a whole number from 1 to `most`.
fn records_difference(
    count: Option<u32>,
    members: &[String],
    most: u64,
    found: &Value,
) -> Option<String> {
    let records = match (count, found) {
        (None, one) => std::slice::from_ref(one),
        (Some(_), Value::Array(records)) => records.as_slice(),
        (Some(_), _) => return Some("the body is not an array".to_owned()),
    };
    if let Some(count) = count.filter(|count| records.len() != *count as usize) {
        return Some(format!("{} objects instead of {count}", records.len()));
    }
    records.iter().find_map(|record| {
        let wrong = members.iter().find(|name| {
            let number = member(record, name).and_then(Value::as_u64);
            !number.is_some_and(|number| (1..=most).contains(&number))
        })?;
        Some(format!(
            "`{wrong}` is not a number from 1 to {most} in {record}"
        ))
    })
}

/// A member of a JSON object by its name, whose capitals do not matter.
pub fn member<'v>(record: &'v Value, name: &str) -> Option<&'v Value> {
    let mut members = record.as_object()?.iter();
    let found = members.find(|(own, _)| own.eq_ignore_ascii_case(name))?;
    Some(found.1)
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

    #[test]
    fn records_are_judged_by_their_number_and_their_members() {
        let records = |count| Content::Records {
            count,
            members: vec!["id".to_owned(), "randomNumber".to_owned()],
            most: 10_000,
        };
        let (one, two) = (records(None), records(Some(2)));
        for (content, body, problem) in [
            (&one, r#"{"id":1,"randomNumber":10000}"#, None),
            (&one, r#"{"ID":1,"randomnumber":7,"more":0}"#, None),
            (
                &one,
                r#"[{"id":1,"randomNumber":7}]"#,
                Some("`id` is not a number"),
            ),
            (
                &one,
                r#"{"id":1,"randomNumber":10001}"#,
                Some("`randomNumber`"),
            ),
            (&one, r#"{"id":0,"randomNumber":1}"#, Some("`id`")),
            (&one, r#"{"id":"1","randomNumber":1}"#, Some("`id`")),
            (&one, "{", Some("not JSON")),
            (
                &two,
                r#"[{"id":1,"randomNumber":7},{"id":1,"randomNumber":7}]"#,
                None,
            ),
            (
                &two,
                r#"[{"id":1,"randomNumber":7}]"#,
                Some("1 objects instead of 2"),
            ),
            (
                &two,
                r#"[{"id":1,"randomNumber":7},{"id":1}]"#,
                Some("`randomNumber`"),
            ),
            (&two, r#"{"id":1,"randomNumber":7}"#, Some("not an array")),
        ] {
            let difference = content.json_difference(body.as_bytes());
            assert_eq!(
                content.matches(body.as_bytes()),
                problem.is_none(),
                "{body}"
            );
            assert_eq!(difference.is_some(), problem.is_some(), "{body}");
            let difference = difference.unwrap_or_default();
            assert!(difference.contains(problem.unwrap_or("")), "{difference}");
        }
    }
}
