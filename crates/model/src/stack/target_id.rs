//! The name of a stack under one of its settings.

use std::{borrow::Cow, fmt, str::FromStr};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

/// A stack under one of its settings, written `stack` or `stack:variant`, with `@2` at the end for a budget of 2 CPUs.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TargetId {
    /// The stack's id, which is its folder's name.
    pub stack: String,
    /// The variant's id; `None`: the name has no variant.
    pub variant: Option<String>,
    /// The CPU budget, in a session that measures each stack at several budgets.
    pub cpus: Option<u32>,
}

/// The maximum number of digits of a budget in a name. In a stack at a commit (`deadheat compare`), more follow the
/// `@`.
const BUDGET_DIGITS: usize = 3;

impl TargetId {
    /// The target of `stack` under `variant`.
    pub fn new(stack: impl Into<String>, variant: Option<&str>) -> Self {
        Self {
            stack: stack.into(),
            variant: variant.map(str::to_owned),
            cpus: None,
        }
    }

    /// This target with a CPU budget, or without one.
    pub fn on_cpus(&self, cpus: Option<u32>) -> Self {
        Self {
            cpus,
            ..self.clone()
        }
    }

    /// The id of the null server, which measures the ceiling of a session. No manifest's id can begin like this.
    pub fn null_server() -> Self {
        Self::new("~null-server", None)
    }

    /// The id of the twin, with which a session checks that it finds no difference between equal servers. No manifest's
    /// id can begin like this.
    pub fn twin() -> Self {
        Self::new("~aa-twin", None)
    }

    /// The name for a file: "go@variant", "go@@2" with 2 CPUs.
    pub fn file_stem(&self) -> String {
        let variant = self.variant.as_deref().unwrap_or_default();
        match (variant, self.cpus) {
            ("", None) => self.stack.clone(),
            (_, None) => format!("{}@{variant}", self.stack),
            (_, Some(cpus)) => format!("{}@{variant}@{cpus}", self.stack),
        }
    }
}

impl fmt::Display for TargetId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.stack)?;
        if let Some(variant) = &self.variant {
            write!(f, ":{variant}")?;
        }
        self.cpus.map_or(Ok(()), |cpus| write!(f, "@{cpus}"))
    }
}

impl FromStr for TargetId {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let is_budget = |text: &str| {
            (1..=BUDGET_DIGITS).contains(&text.len())
                && text.bytes().all(|one| one.is_ascii_digit())
        };
        let budget = text.rsplit_once('@').filter(|(_, cpus)| is_budget(cpus));
        let (name, cpus) = match budget {
            Some((name, cpus)) => (name, cpus.parse().ok()),
            None => (text, None),
        };
        let target = match name.split_once(':') {
            Some((stack, variant)) => Self::new(stack, Some(variant)),
            None => Self::new(name, None),
        };
        Ok(target.on_cpus(cpus))
    }
}

impl Serialize for TargetId {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for TargetId {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Ok(text.parse().unwrap_or_else(|never| match never {}))
    }
}

impl JsonSchema for TargetId {
    fn schema_name() -> Cow<'static, str> {
        "TargetId".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A stack under one of its settings, written `stack` or `stack:variant`, with `@2` behind it for \
                            a budget of 2 CPUs.",
            "type": "string",
        })
    }
}
