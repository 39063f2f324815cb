//! The conditions for a successful answer: its status, its body, and its division into events.

use std::{fmt, io::Read as _, ops::RangeInclusive, str::FromStr};

use flate2::read::MultiGzDecoder;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Number, Value};

/// The conditions for a successful answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Expectation {
    /// The accepted status codes.
    pub status: StatusSet,
    /// The body's length in bytes, without the transfer coding; `None`: any length.
    pub length: Option<u64>,
    /// The body's content, compared for a sample of the answers; `None`: any content.
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
    /// JSON text with this value. White space, the order of members and the notation of numbers do not matter.
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
    /// Content that is compressed with gzip (RFC 1952).
    Gzip {
        /// The content after decompression.
        content: Box<Content>,
    },
    /// JSON text of objects whose members are whole numbers. Other members are allowed. The case of names does not
    /// matter.
    Records {
        /// The number of objects in an array; `None`: one object without an array.
        count: Option<u32>,
        /// The members of each object.
        members: Vec<String>,
        /// The largest allowed number; the smallest is 1.
        most: u64,
    },
    /// Any body that contains these bytes.
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
                // Each byte is the one before it: one comparison of memory.
                body.len() as u64 == *count
                    && body.first().is_none_or(|first| first == byte)
                    && body.get(1..).is_none_or(|rest| rest == &body[..rest.len()])
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

    /// How a JSON body differs from the expected content, in a few words; `None`: it does not, or other content is
    /// expected.
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

    /// The length in bytes that every such body has; `None`: the length varies.
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

/// How `found` differs from `count` objects with these members, each a whole number from 1 to `most`; `None`: it does
/// not.
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

/// A member of a JSON object by its name, whose case does not matter.
pub fn member<'v>(record: &'v Value, name: &str) -> Option<&'v Value> {
    let mut members = record.as_object()?.iter();
    let found = members.find(|(own, _)| own.eq_ignore_ascii_case(name))?;
    Some(found.1)
}

/// The maximum length of a compared answer after decompression, in bytes.
const MAX_DECOMPRESSED: u64 = 16 << 20;

/// Decompresses `bytes` with gzip (RFC 1952); `None` if they are not gzip data from the first to the last byte, or
/// longer than 16 MiB after decompression.
pub fn gunzip(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut text = Vec::new();
    let mut decoder = MultiGzDecoder::new(bytes).take(MAX_DECOMPRESSED + 1);
    decoder.read_to_end(&mut text).ok()?;
    (text.len() as u64 <= MAX_DECOMPRESSED).then_some(text)
}

/// How answers are divided into events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Stream {
    /// The kind of event.
    pub event: StreamEvent,
    /// The number of events, at least 1, after which an answer is complete. The client does not wait for the rest, and
    /// opens a new connection. `None`: the answer is complete where HTTP says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub enough: Option<u64>,
}

/// A kind of event in answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum StreamEvent {
    /// A server-sent event (WHATWG HTML §9.2): lines with data, up to a blank line. Comments do not count.
    Sse,
    /// A line that is not empty, as in NDJSON.
    Lines,
    /// A chunk of the chunked coding (RFC 9112 §7.1).
    Chunks,
}

/// The status codes of redirects that clients follow automatically (RFC 9110 §15.4).
pub const REDIRECTS: [u16; 5] = [301, 302, 303, 307, 308];

/// A set of status codes from 100 to 999. It is written "200", "2xx", "200-204", or as a list of these: "2xx,304".
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
pub struct StatusSet(Vec<RangeInclusive<u16>>);

impl StatusSet {
    /// The set of one code.
    pub fn just(status: u16) -> Self {
        Self(vec![status..=status])
    }

    /// The set of these codes.
    pub fn of(statuses: &[u16]) -> Self {
        Self(statuses.iter().map(|status| *status..=*status).collect())
    }

    /// The set of all 2xx codes.
    pub fn success() -> Self {
        Self(vec![200..=299])
    }

    /// Whether the set contains `status`.
    pub fn contains(&self, status: u16) -> bool {
        self.0.iter().any(|range| range.contains(&status))
    }
}

impl From<u16> for StatusSet {
    fn from(status: u16) -> Self {
        Self::just(status)
    }
}

/// The error for text that is not a status, nor a range or list of them.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a status; write 200, 2xx, 200-204 or a list (2xx,304)")]
pub struct StatusError(String);

impl FromStr for StatusSet {
    type Err = StatusError;

    fn from_str(text: &str) -> Result<Self, StatusError> {
        text.split(',')
            .map(|part| status_range(part.trim()))
            .collect::<Result<_, _>>()
            .map(Self)
    }
}

fn status_range(text: &str) -> Result<RangeInclusive<u16>, StatusError> {
    let bad = || StatusError(text.to_owned());
    let code = |text: &str| match text.parse() {
        Ok(code @ 100..=999) if text.len() == 3 => Ok(code),
        _ => Err(bad()),
    };
    if let Some(class) = text.strip_suffix("xx") {
        return match class.parse::<u16>() {
            Ok(class @ 1..=9) if text.len() == 3 => Ok(class * 100..=class * 100 + 99),
            _ => Err(bad()),
        };
    }
    match text.split_once('-') {
        None => code(text).map(|code| code..=code),
        Some((first, last)) => match (code(first.trim_end())?, code(last.trim_start())?) {
            (first, last) if first <= last => Ok(first..=last),
            _ => Err(bad()),
        },
    }
}

impl fmt::Display for StatusSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, range) in self.0.iter().enumerate() {
            if index > 0 {
                f.write_str(",")?;
            }
            let (first, last) = (*range.start(), *range.end());
            if first == last {
                write!(f, "{first}")?;
            } else if first % 100 == 0 && last == first + 99 {
                write!(f, "{}xx", first / 100)?;
            } else {
                write!(f, "{first}-{last}")?;
            }
        }
        Ok(())
    }
}

impl From<StatusSet> for String {
    fn from(set: StatusSet) -> Self {
        set.to_string()
    }
}

impl TryFrom<String> for StatusSet {
    type Error = StatusError;

    fn try_from(text: String) -> Result<Self, StatusError> {
        text.parse()
    }
}

/// The maximum length of a value or place in a description, in characters.
const LONGEST_SHOWN: usize = 60;

/// Whether two values are equal. 10, 10.0 and 1e1 are the same number (RFC 8259 §6).
fn is_same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => is_same_number(one, other),
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len()
                && one
                    .iter()
                    .zip(other)
                    .all(|(one, other)| is_same(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            one.len() == other.len()
                && one
                    .iter()
                    .all(|(name, value)| other.get(name).is_some_and(|found| is_same(value, found)))
        }
        (one, other) => one == other,
    }
}

fn is_same_number(one: &Number, other: &Number) -> bool {
    match (as_integer(one), as_integer(other)) {
        (Some(one), Some(other)) => one == other,
        (None, None) => one.as_f64() == other.as_f64(),
        _ => false,
    }
}

/// The exact value of a number without a fraction; `None`: it has a fraction, or exceeds 128 bits.
fn as_integer(number: &Number) -> Option<i128> {
    let integer = number.as_i64().map(i128::from);
    integer
        .or_else(|| number.as_u64().map(i128::from))
        .or_else(|| {
            let float = number.as_f64()?;
            // Each such number is an integer that fits into 128 bits, and the conversion is exact.
            (float.fract() == 0.0 && float.abs() < 2f64.powi(126)).then_some(float as i128)
        })
}

/// The first place below `place` at which `found` is not `expected`: "at /price: expected 10, found 12.5".
pub(super) fn difference(place: &str, expected: &Value, found: Option<&Value>) -> Option<String> {
    let Some(found) = found else {
        return Some(format!(
            "{}: expected {}, found nothing",
            at(place),
            shown(expected)
        ));
    };
    match (expected, found) {
        (Value::Array(expected), Value::Array(found)) if expected.len() == found.len() => {
            let mut pairs = expected.iter().zip(found).enumerate();
            pairs.find_map(|(index, (expected, found))| {
                difference(&format!("{place}/{index}"), expected, Some(found))
            })
        }
        (Value::Array(expected), Value::Array(found)) => Some(format!(
            "{}: expected an array of length {}, found one of length {}",
            at(place),
            expected.len(),
            found.len()
        )),
        (Value::Object(expected), Value::Object(found)) => {
            let mut members = expected.iter();
            let differs = members
                .find_map(|(name, value)| difference(&below(place, name), value, found.get(name)));
            differs.or_else(|| {
                let name = found.keys().find(|name| !expected.contains_key(*name))?;
                Some(format!(
                    "{}: expected nothing there",
                    at(&below(place, name))
                ))
            })
        }
        (expected, found) if is_same(expected, found) => None,
        (expected, found) => Some(format!(
            "{}: expected {}, found {}",
            at(place),
            shown(expected),
            shown(found)
        )),
    }
}

fn at(place: &str) -> String {
    match place {
        "" => "in the whole value".to_owned(),
        place => format!("at {}", bounded(place)),
    }
}

/// The place of a member, escaped as RFC 6901 requires.
fn below(place: &str, name: &str) -> String {
    format!("{place}/{}", name.replace('~', "~0").replace('/', "~1"))
}

fn shown(value: &Value) -> String {
    bounded(&value.to_string())
}

fn bounded(text: &str) -> String {
    match text.char_indices().nth(LONGEST_SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests;
