//! What speaks against figures, or helps to read them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A warning, complete from the check that found it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Warning {
    /// The check that found it ("cpu-wait").
    pub id: String,
    /// What it does to the figures.
    pub level: Level,
    /// The figures behind it, by name. Shares are 0 to 1.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub evidence: Map<String, Value>,
    /// What was found and what it means, in a sentence or two.
    pub sentence: String,
    /// What to do about it, in a sentence; empty if there is nothing to do.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub advice: String,
}

/// What a warning does to the figures, the gravest first.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    /// The generator was the limit: the figures are bounds for the server.
    Limit,
    /// It may change a decision: figures may be wrong, or may not be what was asked for.
    Doubt,
    /// It helps to read the figures.
    Note,
    /// It holds for most measurements of this kind and changes no decision.
    Routine,
}

/// The generator was the limit.
pub fn limit(id: &str, sentence: impl Into<String>) -> Warning {
    Warning::new(Level::Limit, id, sentence)
}

/// It may change a decision.
pub fn doubt(id: &str, sentence: impl Into<String>) -> Warning {
    Warning::new(Level::Doubt, id, sentence)
}

/// It helps to read the figures.
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

    /// The warning with what to do about it.
    pub fn advice(mut self, advice: impl Into<String>) -> Self {
        self.advice = advice.into();
        self
    }

    /// What was found, and what to do about it.
    pub fn in_full(&self) -> String {
        match self.advice.as_str() {
            "" => self.sentence.clone(),
            advice => format!("{} {advice}", self.sentence),
        }
    }
}
