//! A wrong answer, told so that somebody can mend it.

use deadheat_model::{
    figure::{counted, list},
    load::Content,
};

/// How much of a body is shown.
const SHOWN: usize = 120;

/// What was asked, which rule was broken, what was expected, what came.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{asked}: {rule}: expected {expected}, got {got}")]
pub struct Fault {
    /// The request.
    pub asked: String,
    /// The rule.
    pub rule: &'static str,
    /// What would have been right.
    pub expected: String,
    /// What came.
    pub got: String,
    /// Whether the server refused what was asked for, so that asking again changes nothing.
    pub is_refusal: bool,
}

/// The rule that a server breaks which does not answer at all.
pub(super) const ANSWERS: &str = "there is an answer";

impl Fault {
    /// Whether the server answered, and wrongly.
    pub(crate) fn is_answer(&self) -> bool {
        self.rule != ANSWERS
    }

    pub(super) fn new(asked: String, rule: &'static str, expected: String, got: String) -> Self {
        Self {
            asked,
            rule,
            expected,
            got,
            is_refusal: false,
        }
    }
}

/// The beginning of a body, for a message.
pub(super) fn shown(body: &[u8]) -> String {
    if body.is_empty() {
        return "an empty body".to_owned();
    }
    let text: String = String::from_utf8_lossy(body).chars().take(SHOWN).collect();
    let text = text.escape_debug();
    if body.len() > SHOWN {
        format!("{} bytes that begin `{text}`", body.len())
    } else {
        format!("`{text}`")
    }
}

/// An expected body, for a message.
pub(super) fn described(content: &Content) -> String {
    match content {
        Content::Exact { bytes } => shown(bytes),
        Content::Repeated { byte, count } => format!("{count} bytes `{}`", char::from(*byte)),
        Content::Json { value } => format!("JSON for {}", shown(value.to_string().as_bytes())),
        Content::JsonAt { pointer, value } => format!("JSON with `{value}` at {pointer}"),
        Content::Records {
            count,
            members,
            most,
        } => {
            let objects = match count {
                Some(count) => format!("an array of {}", counted(*count, "object")),
                None => "an object".to_owned(),
            };
            let members: Vec<String> = members.iter().map(|name| format!("`{name}`")).collect();
            format!("{objects} with {} from 1 to {most}", list(&members))
        }
        Content::Gzip { content } => format!("{}, compressed by gzip", described(content)),
        Content::Contains { bytes } => format!("a body with {} in it", shown(bytes)),
    }
}
