//! What a session is for.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a session is for. It decides what nobody said.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Purpose {
    /// To choose a stack.
    #[default]
    Usual,
    /// Which order of magnitude, and does it work at all?
    FirstLook,
    /// Figures that others will quote.
    Publication,
    /// Published tables once more.
    Repetition,
}
