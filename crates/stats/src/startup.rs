//! How long a stack takes from the start of its process to its first correct answer.

use deadheat_model::TargetId;

use crate::{
    Analysis, Settings,
    order_statistic::{MedianInterval, median_interval},
};

/// The starts of a stack over a session, in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Starts {
    /// The median with its interval. Each trial starts a process anew, whatever it measures after that, and asks it for
    /// the same.
    pub median: MedianInterval,
    /// The shortest.
    pub least: f64,
    /// The longest.
    pub most: f64,
}

/// The starts of `target` in its trials that count and did not fail, at all load points; `None` without one.
pub fn starts(analysis: &Analysis, target: &TargetId) -> Option<Starts> {
    let settings: &Settings = &analysis.settings;
    let cells = analysis.groups.iter().flat_map(|group| &group.cells);
    let trials = cells
        .filter(|cell| cell.target == *target)
        .flat_map(|cell| &cell.trials)
        .filter(|trial| !trial.verdict.is_failed());
    let times: Vec<f64> = trials
        .filter_map(|trial| Some(trial.figures.as_ref()?.ready_seconds))
        .collect();
    Some(Starts {
        median: median_interval(&times, settings.level)?,
        least: times.iter().copied().fold(f64::MAX, f64::min),
        most: times.iter().copied().fold(0.0, f64::max),
    })
}
