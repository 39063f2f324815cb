//! Whether a server served the connections of a closed loop unevenly: one rule for loads and for the slices of sessions.

use std::fmt;

use deadheat_model::{
    figure::{count, seconds},
    heat::PerConnection,
};
use schemars::JsonSchema;
use serde::Serialize;

/// Connections whose fewest answers are below this share of the median starve …
const STARVED: f64 = 0.5;
/// … if the median is at least this many answers: with fewer, chance and the first answers alone make them differ.
pub const ENOUGH_ANSWERS: u64 = 100;
/// Connections are answered several times in a row if the median service time is below this share of the mean. Where
/// service times are exponential, it is 0.69 of the mean.
const IN_A_ROW: f64 = 0.25;

/// How the connections of a closed loop were served unevenly.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "because", rename_all = "kebab-case")]
pub enum Uneven {
    /// Some connections got far fewer answers than others.
    Starved(PerConnection),
    /// Half of the answers came much sooner than the mean, as of a server that answers one connection several times in a
    /// row while the others wait, or that needs much longer for some answers. Percentiles count answers, so that they hide that wait.
    InARow {
        /// The median of the service times.
        p50_seconds: f64,
        /// Their mean.
        mean_seconds: f64,
    },
}

impl fmt::Display for Uneven {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Uneven::Starved(answers) => write!(
                f,
                "answers per connection from {} over {} (median) to {}",
                count(answers.least),
                count(answers.median),
                count(answers.most)
            ),
            Uneven::InARow {
                p50_seconds,
                mean_seconds,
            } => write!(
                f,
                "half of the answers took at most {}, and the mean is {}",
                seconds(*p50_seconds),
                seconds(*mean_seconds)
            ),
        }
    }
}

/// Whether some connections got far fewer answers than others.
pub fn starved(answers: PerConnection) -> Option<Uneven> {
    let starved = (answers.least as f64) < STARVED * answers.median as f64
        && answers.median >= ENOUGH_ANSWERS;
    starved.then_some(Uneven::Starved(answers))
}

/// Whether half of the answers came much sooner than the mean.
pub fn in_a_row(p50_seconds: f64, mean_seconds: f64) -> Option<Uneven> {
    (p50_seconds < IN_A_ROW * mean_seconds).then_some(Uneven::InARow {
        p50_seconds,
        mean_seconds,
    })
}
