//! Warnings about figures, and notes that help to read them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A warning, with all that the check found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Warning {
    /// The id of the check ("cpu-wait").
    pub id: String,
    /// The effect on the figures.
    pub level: Level,
    /// The figures of the check, by name. Shares are 0 to 1.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub evidence: Map<String, Value>,
    /// What was found and what it means, in a sentence or two.
    pub sentence: String,
    /// What to do about it, one sentence or command per line; empty: nothing.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub advice: String,
}

/// The effect of a warning on the figures, the most serious first.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    /// The generator was the limit: the figures are bounds for the server.
    Limit,
    /// It may change a decision: figures may be wrong, or not those that were requested.
    Doubt,
    /// It helps to read the figures.
    Note,
    /// It applies to most measurements of this kind, or cannot be checked. It changes no decision.
    Routine,
}

/// A warning that the generator was the limit.
pub fn limit(id: &str, sentence: impl Into<String>) -> Warning {
    Warning::new(Level::Limit, id, sentence)
}

/// A warning that may change a decision.
pub fn doubt(id: &str, sentence: impl Into<String>) -> Warning {
    Warning::new(Level::Doubt, id, sentence)
}

/// A note that helps to read the figures.
pub fn note(id: &str, sentence: impl Into<String>) -> Warning {
    Warning::new(Level::Note, id, sentence)
}

impl Warning {
    /// A warning without figures and advice.
    pub fn new(level: Level, id: &str, sentence: impl Into<String>) -> Self {
        Self {
            id: id.to_owned(),
            level,
            evidence: Map::new(),
            sentence: sentence.into(),
            advice: String::new(),
        }
    }

    /// The warning with a figure.
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.evidence.insert(name.to_owned(), value.into());
        self
    }

    /// The warning with advice.
    pub fn advice(mut self, advice: impl Into<String>) -> Self {
        self.advice = advice.into();
        self
    }

    /// The sentence and the advice.
    pub fn in_full(&self) -> String {
        let (commands, sentences): (Vec<&str>, Vec<&str>) =
            self.advice.lines().partition(|line| is_command(line));
        let (commands, advice) = (commands.join("; "), sentences.join(" "));
        let said = match (commands.as_str(), advice.as_str()) {
            ("", "") => return self.sentence.clone(),
            (_, "") => format!("To fix it: {commands}"),
            (_, then) if then.starts_with("Then ") => format!("To fix it: {commands}. {advice}"),
            // The commands only show something.
            _ => advice,
        };
        format!("{} {said}", self.sentence)
    }
}

/// Whether a line of advice is a command for a shell. Sentences begin with a capital letter or a sign.
pub fn is_command(line: &str) -> bool {
    line.starts_with(char::is_lowercase)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_part_of_a_sentence_unless_they_only_look() {
        let full = |advice: &str| doubt("id", "It is.").advice(advice).in_full();
        assert_eq!(full(""), "It is.");
        assert_eq!(
            full("sysctl -w a=b\nls"),
            "It is. To fix it: sysctl -w a=b; ls"
        );
        assert_eq!(full("ps -p 42\nStop it."), "It is. Stop it.");
        let then = full("ulimit -t 1\nThen start it again.");
        assert_eq!(then, "It is. To fix it: ulimit -t 1. Then start it again.");
    }
}
