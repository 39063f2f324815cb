//! One stack's figures at one load point, as the plots draw them.

use deadheat_model::{LoadPoint, SessionRecord, trial::TrialOutcome};
use deadheat_stats::{
    CellAnalysis, cell::PercentileValue, interval::LogMean, order_statistic::MedianInterval,
    spectrum::SpectrumPoint, verdict::CellVerdict,
};

use super::{clean, row::percentiles};

/// A figure with its interval, for a plot.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dot {
    /// The figure.
    pub value: f64,
    /// Its interval's ends.
    pub ends: Option<(f64, f64)>,
}

impl Dot {
    /// A median with its interval.
    pub fn of_median(estimate: &MedianInterval) -> Self {
        Self {
            value: estimate.median,
            ends: estimate
                .interval
                .map(|interval| (interval.low, interval.high)),
        }
    }

    /// A mean with its interval.
    pub fn of_mean(mean: &LogMean) -> Self {
        Self {
            value: mean.mean,
            ends: mean.interval.map(|interval| (interval.low, interval.high)),
        }
    }

    /// The ends of its interval, or itself twice.
    pub fn reach(self) -> (f64, f64) {
        self.ends.unwrap_or((self.value, self.value))
    }

    /// The same in another unit.
    pub fn scaled(self, factor: f64) -> Self {
        Self {
            value: self.value * factor,
            ends: self.ends.map(|(low, high)| (low * factor, high * factor)),
        }
    }
}

/// One stack's figures for the plots.
#[derive(Clone, Debug)]
pub struct PlotCell {
    /// The stack, under its variant.
    pub target: String,
    /// Whether its throughput is a lower bound.
    pub lower_bound: bool,
    /// Whether it did not keep up with the offered rate in at least one trial.
    pub overloaded: bool,
    /// Requests per second that an open loop offered.
    pub offered: Option<f64>,
    /// Verified answers per second.
    pub throughput: Dot,
    /// The same, of each trial.
    pub trials: Vec<f64>,
    /// CPU µs per request.
    pub cpu: Option<Dot>,
    /// PSS in bytes: idle, mean and peak, each if it could be read.
    pub pss: [Option<Dot>; 3],
    /// Service times (of an open loop: response times) in seconds: the percent and the figure.
    pub times: Vec<(f64, Dot)>,
    /// The same times over the trials, at all percentiles that each trial can tell: the percent, and the geometric mean
    /// with the least and the most of a trial.
    pub spectrum: Vec<(f64, Dot)>,
}

/// What the plots draw of a stack; `None` without a figure.
pub fn plot_cell(
    record: &SessionRecord,
    point: &LoadPoint,
    cell: &CellAnalysis,
) -> Option<PlotCell> {
    let estimates = cell.estimates.as_ref()?;
    let lower_bound = matches!(cell.verdict, CellVerdict::LowerBound { .. });
    let figures = cell
        .trials
        .iter()
        .filter_map(|trial| trial.figures.as_ref());
    let times = percentiles(estimates).iter().filter_map(|p| match p.value {
        PercentileValue::Seconds(mean) => Some((p.percent, Dot::of_mean(&mean))),
        PercentileValue::TooFewRequests { .. } => None,
    });
    let mut throughput = Dot::of_median(&estimates.throughput_per_second);
    if lower_bound {
        throughput.ends = None;
    }
    Some(PlotCell {
        target: clean(&cell.target.to_string()),
        lower_bound,
        overloaded: cell.is_overloaded(),
        offered: estimates
            .open
            .as_ref()
            .and_then(|open| open.offered_per_second),
        throughput,
        trials: figures
            .map(|figures| figures.throughput_per_second)
            .collect(),
        cpu: estimates.cpu_us_per_request.as_ref().map(Dot::of_median),
        pss: [
            &estimates.pss_idle_bytes,
            &estimates.pss_mean_bytes,
            &estimates.pss_peak_bytes,
        ]
        .map(|estimate| estimate.as_ref().map(Dot::of_median)),
        times: times.collect(),
        spectrum: spectrum(record, point, cell),
    })
}

fn spectrum(record: &SessionRecord, point: &LoadPoint, cell: &CellAnalysis) -> Vec<(f64, Dot)> {
    let histograms = cell.trials.iter().filter_map(|trial| {
        let TrialOutcome::Measured(measured) = &record.trials.get(trial.record)?.outcome else {
            return None;
        };
        let load = &measured.load;
        match point.open {
            Some(_) => load.open.as_ref().map(|open| &open.response_time),
            None => Some(&load.service_time),
        }
    });
    let points = deadheat_stats::spectrum::spectrum(&histograms.collect::<Vec<_>>());
    let dot = |point: SpectrumPoint| {
        let ends = Some((point.least, point.most));
        (
            point.percent,
            Dot {
                value: point.mean,
                ends,
            },
        )
    };
    points.into_iter().map(dot).collect()
}
