//! What the stacks of a load point are compared by.

use deadheat_model::LoadPoint;
use schemars::JsonSchema;
use serde::Serialize;

use crate::{CellAnalysis, Settings, figures::Figures, order_statistic::Interval};

/// What the stacks of a load point are compared, ranked and sorted by.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "is", rename_all = "kebab-case")]
pub enum Metric {
    /// Verified answers per second; more is better. Of closed loops.
    Throughput,
    /// A percentile of the response time; less is better. Of open loops.
    ResponseTime {
        /// Which (99: p99).
        percent: f64,
    },
}

impl Metric {
    /// The metric at `point`: of an open loop p99 where every comparable cell has one, else p50.
    pub fn at(point: &LoadPoint, cells: &[CellAnalysis]) -> Self {
        if point.open.is_none() {
            return Metric::Throughput;
        }
        let mut comparable = cells.iter().filter(|cell| cell.is_comparable());
        let all_have = comparable.all(|cell| cell.response_time(99.0).is_some());
        let percent = if all_have { 99.0 } else { 50.0 };
        Metric::ResponseTime { percent }
    }

    /// The figure of one trial.
    pub fn of_trial(self, figures: &Figures) -> Option<f64> {
        match self {
            Metric::Throughput => Some(figures.throughput_per_second),
            Metric::ResponseTime { percent } => {
                let open = figures.open.as_ref()?;
                open.response_time.as_ref()?.shown(percent)
            }
        }
    }

    /// The figure of a cell: median throughput, or the mean of a response time.
    pub fn of_cell(self, cell: &CellAnalysis) -> Option<f64> {
        match self {
            Metric::Throughput => cell.throughput(),
            Metric::ResponseTime { percent } => cell.response_time(percent).map(|mean| mean.mean),
        }
    }

    /// Whether `one` is better than `other` as far as their intervals tell: they do not touch.
    pub fn is_apart(self, one: &CellAnalysis, other: &CellAnalysis) -> bool {
        let interval = |cell| self.interval_of_cell(cell);
        let Some((one, other)) = interval(one).zip(interval(other)) else {
            return false;
        };
        match self {
            Metric::Throughput => one.low > other.high,
            Metric::ResponseTime { .. } => one.high < other.low,
        }
    }

    fn interval_of_cell(self, cell: &CellAnalysis) -> Option<Interval> {
        match self {
            Metric::Throughput => cell.estimates.as_ref()?.throughput_per_second.interval,
            Metric::ResponseTime { percent } => cell.response_time(percent)?.interval,
        }
    }

    /// The logarithm of how many times better `one` is than `other`: positive when it is better.
    pub fn advantage(self, one: f64, other: f64) -> f64 {
        match self {
            Metric::Throughput => (one / other).ln(),
            Metric::ResponseTime { .. } => (other / one).ln(),
        }
    }

    /// The difference below which nobody would choose, as a share.
    pub fn practical(self, settings: &Settings) -> f64 {
        match self {
            Metric::Throughput => settings.practical_difference,
            Metric::ResponseTime { .. } => settings.practical_latency,
        }
    }
}
