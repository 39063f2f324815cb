//! What serde says about a manifest, taken apart so that it can be said better.

/// A message of serde or of one of the model's deserialisers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Complaint {
    /// "unknown field `x`, expected one of …".
    UnknownKey { key: String, known: Vec<String> },
    /// "missing field `x`".
    MissingKey { key: String },
    /// "unknown variant `x`, expected one of …".
    UnknownWord { word: String, known: Vec<String> },
    /// "invalid type: …, expected …" and "invalid value: …, expected …".
    WrongValue { got: String, expected: String },
    /// Anything else, as it is.
    Other(String),
}

impl Complaint {
    /// Takes `message` apart.
    pub fn new(message: &str) -> Self {
        let quoted = quoted(message);
        let known = || quoted.iter().skip(1).cloned().collect();
        match (message, quoted.first()) {
            (text, Some(key)) if text.starts_with("unknown field") => Self::UnknownKey {
                key: key.clone(),
                known: known(),
            },
            (text, Some(key)) if text.starts_with("missing field") => {
                Self::MissingKey { key: key.clone() }
            }
            (text, Some(word)) if text.starts_with("unknown variant") => Self::UnknownWord {
                word: word.clone(),
                known: known(),
            },
            _ => Self::wrong_value(message).unwrap_or_else(|| Self::Other(message.to_owned())),
        }
    }

    fn wrong_value(message: &str) -> Option<Self> {
        let rest = message
            .strip_prefix("invalid type: ")
            .or_else(|| message.strip_prefix("invalid value: "))?;
        // What was got may hold the word itself; what is expected never does.
        let (got, expected) = rest.rsplit_once(", expected ")?;
        Some(Self::WrongValue {
            got: in_toml(got),
            expected: in_toml(expected),
        })
    }
}

/// The parts of `message` in backquotes.
fn quoted(message: &str) -> Vec<String> {
    let parts = message.split('`').skip(1).step_by(2);
    parts.map(str::to_owned).collect()
}

/// serde's words for types, in TOML's.
fn in_toml(words: &str) -> String {
    let named = match words {
        "a sequence" | "sequence" => "an array",
        "a map" | "map" => "a table",
        "u32" | "u64" => "a whole number that is not negative",
        "a duration" => "a duration such as \"2s\"",
        "a character" => "a single character",
        "path string" => "a string",
        "IP address" => "an IP address such as \"10.0.0.1\"",
        "a string" | "a boolean" => words,
        _ if words.starts_with("struct ") || words.contains(" enum ") => "a table",
        _ => return with_article(words),
    };
    named.to_owned()
}

/// "string \"x\"" becomes "the string \"x\"".
fn with_article(words: &str) -> String {
    let is_value = [
        "string ",
        "integer ",
        "floating point ",
        "boolean ",
        "character ",
    ]
    .iter()
    .any(|kind| words.starts_with(kind));
    if is_value {
        format!("the {words}")
    } else {
        words.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_serdes_messages_apart() {
        let wrong = |got: &str, expected: &str| Complaint::WrongValue {
            got: got.to_owned(),
            expected: expected.to_owned(),
        };
        let cases = [
            (
                "unknown field `a`, expected `b` or `c`",
                Complaint::UnknownKey {
                    key: "a".to_owned(),
                    known: vec!["b".to_owned(), "c".to_owned()],
                },
            ),
            (
                "missing field `a`",
                Complaint::MissingKey {
                    key: "a".to_owned(),
                },
            ),
            (
                "unknown variant `x`, expected one of `y`, `z`",
                Complaint::UnknownWord {
                    word: "x".to_owned(),
                    known: vec!["y".to_owned(), "z".to_owned()],
                },
            ),
            (
                "invalid type: string \"x, expected y\", expected a sequence",
                wrong("the string \"x, expected y\"", "an array"),
            ),
            (
                "invalid type: sequence, expected struct Database",
                wrong("an array", "a table"),
            ),
            (
                "invalid value: integer `-1`, expected u32",
                wrong("the integer `-1`", "a whole number that is not negative"),
            ),
            ("a pool is …", Complaint::Other("a pool is …".to_owned())),
        ];
        for (message, expected) in cases {
            assert_eq!(Complaint::new(message), expected, "{message}");
        }
    }
}
