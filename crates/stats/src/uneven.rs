//! Whether a load was uneven: over time (a trend), or over its connections. One rule for loads and for the slices of
//! sessions.
//!
//! Steadiness is checked, not adapted to (Barrett et al., OOPSLA 2017: many programs never reach a steady state).

use std::fmt;

use deadheat_model::{
    Observation,
    figure::{count, percent, seconds},
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
    /// Half of the answers came much sooner than the mean, as of a server that answers one connection several times in
    /// a row while the others wait, or that needs much longer for some answers. Percentiles count answers, so that they
    /// hide that wait.
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

/// Bins that a slope needs: with fewer, its standard error says nothing.
pub const MIN_BINS: usize = 4;

/// How throughput changed over a measurement.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Trend {
    /// The change from start to end along the fitted line, as a share of the mean throughput (−0.1: 10 % less).
    pub change: f64,
    /// The standard error of `change`.
    pub standard_error: f64,
}

impl Trend {
    /// The change in relation to where the fitted line starts, with its standard error: −0.1 (10 % less) of a line that
    /// ends at 90 % of that. A line below zero is taken as zero, because no throughput is: what falls that far has lost
    /// all of it, and the error is not known. `None`: it rose from nothing.
    pub(crate) fn since_start(&self) -> Option<(f64, Option<f64>)> {
        let (start, end) = (1.0 - self.change / 2.0, 1.0 + self.change / 2.0);
        match () {
            () if start <= 0.0 => None,
            () if end <= 0.0 => Some((-1.0, None)),
            // The derivative of end/start by the change is 1/start².
            () => Some((end / start - 1.0, Some(self.standard_error / start.powi(2)))),
        }
    }

    /// The change from the start in words, with these for what rose from nothing, fell and rose: "fell by 34 % over the
    /// measurement (± 4 % standard error)". What more than doubled began so low that the ratio is not known well.
    pub fn in_words(&self, [from_nothing, fell, rose]: [&str; 3]) -> String {
        let (change, error) = match self.since_start() {
            None => (from_nothing.to_owned(), None),
            Some((by, _)) if by > 1.0 => (format!("{rose}more than {}", percent(1.0)), None),
            Some((by, error)) if by < 0.0 => (format!("{fell}{}", percent(-by)), error),
            Some((by, error)) => (format!("{rose}{}", percent(by)), error),
        };
        let error = error.map_or(String::new(), |error| {
            format!(" (± {} standard error)", percent(error))
        });
        format!("{change} over the measurement{error}")
    }
}

/// Bins of full width. The last one may be cut off by the end of the window; a hair of rounding is no cut.
pub(crate) fn whole_bins(observation: &Observation) -> usize {
    let bin = observation.bin.as_secs_f64();
    let window = observation.window.as_secs_f64();
    if bin <= 0.0 {
        return 0;
    }
    ((window / bin + 1e-6).floor() as usize).min(observation.bins.len())
}

/// The trend over an observation's bins of full width; `None` when there are too few or nothing succeeded.
pub fn trend(observation: &Observation) -> Option<Trend> {
    let counts: Vec<f64> = observation.bins[..whole_bins(observation)]
        .iter()
        .map(|bin| bin.succeeded as f64)
        .collect();
    trend_of(&counts)
}

/// The trend over equally spaced values.
pub fn trend_of(values: &[f64]) -> Option<Trend> {
    let n = values.len();
    if n < MIN_BINS {
        return None;
    }
    let mean_x = (n - 1) as f64 / 2.0;
    let mean_y = values.iter().sum::<f64>() / n as f64;
    if mean_y <= 0.0 {
        return None;
    }
    let points = || {
        values
            .iter()
            .enumerate()
            .map(|(x, y)| (x as f64 - mean_x, y - mean_y))
    };
    let squares: f64 = points().map(|(x, _)| x * x).sum();
    let slope = points().map(|(x, y)| x * y).sum::<f64>() / squares;
    let residual: f64 = points().map(|(x, y)| (y - slope * x).powi(2)).sum();
    let slope_error = (residual / (n - 2) as f64 / squares).sqrt();
    let scale = n as f64 / mean_y;
    Some(Trend {
        change: slope * scale,
        standard_error: slope_error * scale,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_falls_by_more_than_all_of_it() {
        let since_start = |values: &[f64]| trend_of(values).unwrap().since_start();
        // Nearly all answers came at first: the line ends below zero.
        assert_eq!(
            since_start(&[900.0, 10.0, 1.0, 0.0, 0.0]),
            Some((-1.0, None))
        );
        assert_eq!(since_start(&[0.0, 0.0, 1.0, 10.0, 900.0]), None);
        let trend = |change| Trend {
            change,
            standard_error: 0.01,
        };
        let (half, error) = trend(-2.0 / 3.0).since_start().unwrap();
        assert!((half + 0.5).abs() < 1e-9, "{half}");
        assert!((error.unwrap() - 0.01 * 9.0 / 16.0).abs() < 1e-9);
        let (doubled, _) = trend(2.0 / 3.0).since_start().unwrap();
        assert!((doubled - 1.0).abs() < 1e-9, "{doubled}");
    }
}
