//! What a session is for, and the rates that it offers.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Shares of a stack's own capacity that are offered to it, in percent: an easy load, a usual one, one near the limit.
pub const OWN_SHARES: [u32; 3] = [50, 70, 90];
/// The share of the slowest stack's capacity that is offered to all, in percent: what each of them can do.
pub const COMMON_SHARE: u32 = 70;

/// What a session is for. It decides what nobody said.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Purpose {
    /// To choose a stack.
    #[default]
    Usual,
    /// Which order of magnitude, and does it work at all?
    FirstLook,
    /// Figures that others will quote, with latency.
    Publication,
    /// Published tables once more.
    Repetition,
}
