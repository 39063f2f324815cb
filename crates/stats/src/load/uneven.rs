//! Whether a server served the connections of a closed loop unevenly: one rule for loads and for the slices of sessions.

use std::fmt;

use deadheat_model::{heat::PerConnection, words::count};
use schemars::JsonSchema;
use serde::Serialize;

use super::LoadSettings;

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
                "half of the answers took at most {:.3} ms, and the mean is {:.3} ms",
                p50_seconds * 1e3,
                mean_seconds * 1e3
            ),
        }
    }
}

impl LoadSettings {
    /// Whether some connections got far fewer answers than others.
    pub fn starved(&self, answers: PerConnection) -> Option<Uneven> {
        let starved = (answers.least as f64) < self.uneven * answers.median as f64
            && answers.median >= self.uneven_answers;
        starved.then_some(Uneven::Starved(answers))
    }

    /// Whether half of the answers came much sooner than the mean.
    pub fn in_a_row(&self, p50_seconds: f64, mean_seconds: f64) -> Option<Uneven> {
        (p50_seconds < self.uneven_p50 * mean_seconds).then_some(Uneven::InARow {
            p50_seconds,
            mean_seconds,
        })
    }
}
