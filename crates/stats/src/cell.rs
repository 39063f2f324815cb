//! A cell: one stack at one load point, over its counted trials.

use deadheat_model::{FailureCounts, TargetId, TrialRecord, trial::TrialOutcome};
use schemars::JsonSchema;
use serde::Serialize;

use crate::{
    Settings,
    attempts::CellTrials,
    figures::{Figures, Times, requests_for},
    interval::{LogMean, log_mean},
    order_statistic::{MedianInterval, median_interval},
    trial::{self, Flag, Judge, TrialAnalysis},
    verdict::{self, CellVerdict},
};

/// The percentiles of a cell.
pub const PERCENTILES: [f64; 4] = [50.0, 90.0, 99.0, 99.9];

/// One stack at one load point.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct CellAnalysis {
    /// The stack, under its variant.
    pub target: TargetId,
    /// What it is worth.
    pub verdict: CellVerdict,
    /// 1 + the number of stacks that are significantly better, and no less than the rank of a stack with better figures;
    /// `None` when it is not ranked.
    pub rank: Option<u32>,
    /// Trials that count, in the order of their blocks.
    pub trials: Vec<TrialAnalysis>,
    /// Void trials, in the order of the session. They count for nothing.
    pub void: Vec<TrialAnalysis>,
    /// Other trials that were left out: their block is not complete, or they were repeated.
    pub trials_left_out: usize,
    /// The trials that were left out, in the order of the session. They count for nothing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<TrialAnalysis>,
    /// What was found; `None` when the cell failed or was not measured.
    pub estimates: Option<Estimates>,
    /// Failed requests by kind over the counted trials, each with its warm-up and end.
    pub failures: FailureCounts,
    /// Requests that ended over the counted trials, each with its warm-up and end.
    pub requests_ended: u64,
}

impl CellAnalysis {
    /// Whether the cell can be compared with others.
    pub fn is_comparable(&self) -> bool {
        self.verdict == CellVerdict::Counts && !self.is_overloaded()
    }

    /// Whether the server did not keep up with the offered rate in a trial that counts, or in its warm-up. Then its
    /// response times are not comparable: the slowest of its requests had not ended, and are in no histogram, or had
    /// waited from before the measurement.
    pub fn is_overloaded(&self) -> bool {
        let open = self
            .estimates
            .as_ref()
            .and_then(|found| found.open.as_ref());
        open.is_some_and(|open| open.overloaded > 0)
    }

    /// The geometric mean over trials of a percentile of the response time, in seconds; `None` for a closed loop, and
    /// when a trial had too few answers.
    pub fn response_time(&self, percent: f64) -> Option<&LogMean> {
        let open = self.estimates.as_ref()?.open.as_ref()?;
        let mut all = open.response_time.iter();
        match &all.find(|p| p.percent == percent)?.value {
            PercentileValue::Seconds(mean) => Some(mean),
            PercentileValue::TooFewRequests { .. } => None,
        }
    }

    /// The median throughput in verified answers per second.
    pub fn throughput(&self) -> Option<f64> {
        self.estimates
            .as_ref()
            .map(|estimates| estimates.throughput_per_second.median)
    }
}

/// A cell's estimates over its counted trials. Medians come with the order-statistic interval.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Estimates {
    /// Verified answers per second of the measurement. For a lower bound: the true value is this or more.
    pub throughput_per_second: MedianInterval,
    /// CPU time of the process tree per verified answer, in microseconds.
    pub cpu_us_per_request: Option<MedianInterval>,
    /// CPUs that were busy for the process tree.
    pub cores_used: Option<MedianInterval>,
    /// PSS of the tree in bytes when it had just become ready; null if a trial could not read it.
    pub pss_idle_bytes: Option<MedianInterval>,
    /// Mean PSS of the tree in bytes; null if a trial could not read it.
    pub pss_mean_bytes: Option<MedianInterval>,
    /// Largest PSS of the tree in bytes; null if a trial could not read it.
    pub pss_peak_bytes: Option<MedianInterval>,
    /// Voluntary context switches per verified answer.
    pub voluntary_switches_per_request: Option<MedianInterval>,
    /// Involuntary context switches per verified answer.
    pub involuntary_switches_per_request: Option<MedianInterval>,
    /// Page faults without input or output per verified answer.
    pub minor_faults_per_request: Option<MedianInterval>,
    /// Page faults with input or output per verified answer.
    pub major_faults_per_request: Option<MedianInterval>,
    /// From the process's start to its first correct answer, in seconds.
    pub ready_seconds: MedianInterval,
    /// Service times at each of [`PERCENTILES`], in seconds.
    pub service_time: Vec<PercentileEstimate>,
    /// What only an open loop has.
    pub open: Option<OpenEstimates>,
}

/// What only an open loop has. What it achieved of the offered rate is the throughput.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct OpenEstimates {
    /// The offered rate in requests per second; `None` when the trials' differ, which no session does.
    pub offered_per_second: Option<f64>,
    /// Response times at each of [`PERCENTILES`], in seconds.
    pub response_time: Vec<PercentileEstimate>,
    /// Trials in which the server did not keep up with the offered rate, in the measurement or in the warm-up.
    pub overloaded: usize,
}

/// A percentile of a time over trials.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct PercentileEstimate {
    /// Which (99: 99 % of the answers took no longer).
    pub percent: f64,
    /// One figure per trial, and their geometric mean in seconds; or why there is none.
    #[serde(flatten)]
    pub value: PercentileValue,
}

/// A percentile, or why it is not given.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PercentileValue {
    /// The geometric mean over trials, in seconds, with a t interval on the logarithm.
    Seconds(LogMean),
    /// A trial had too few verified answers.
    TooFewRequests {
        /// Verified answers of the trial with the fewest.
        fewest: u64,
        /// Verified answers that every trial needs.
        needed: u64,
    },
}

/// The analysis of a cell from its trials.
pub fn analyse(target: TargetId, of: &CellTrials<'_>, judge: &Judge<'_>) -> CellAnalysis {
    let analysed = |trials: &[(usize, &TrialRecord)]| -> Vec<TrialAnalysis> {
        let trials = trials.iter();
        trials
            .map(|(record, trial)| trial::analyse(*record, trial, judge))
            .collect()
    };
    let trials = analysed(&of.counted);
    let void = analysed(&of.void);
    let verdict = verdict::of_cell(trials.iter().map(|trial| &trial.verdict), void.len());
    let estimates = match verdict {
        CellVerdict::Counts | CellVerdict::LowerBound { .. } => estimates(&trials, judge.settings),
        CellVerdict::Failed { .. } | CellVerdict::Void { .. } | CellVerdict::NotMeasured => None,
    };
    let (failures, requests_ended) = failures(&of.counted);
    CellAnalysis {
        target,
        verdict,
        rank: None,
        trials,
        void,
        trials_left_out: of.left_out.len(),
        left_out: analysed(&of.left_out),
        estimates,
        failures,
        requests_ended,
    }
}

fn failures(counted: &[(usize, &TrialRecord)]) -> (FailureCounts, u64) {
    let mut failures = FailureCounts::default();
    let mut ended = 0;
    for (_, trial) in counted {
        let load = match &trial.outcome {
            TrialOutcome::Measured(measured) => Some(&measured.load),
            TrialOutcome::Failed(failure) => failure.load.as_deref(),
        };
        if let Some(load) = load {
            failures.merge(&load.total.failed);
            ended += load.total.ended();
        }
    }
    (failures, ended)
}

fn estimates(trials: &[TrialAnalysis], settings: &Settings) -> Option<Estimates> {
    let figures: Vec<&Figures> = trials.iter().filter_map(|t| t.figures.as_ref()).collect();
    let always = |figure: fn(&Figures) -> f64| {
        let values: Vec<f64> = figures.iter().map(|f| figure(f)).collect();
        median_interval(&values, settings.level)
    };
    // A median over some of the trials would be another quantity than the others in its row.
    let if_all = |figure: fn(&Figures) -> Option<f64>| {
        let values: Option<Vec<f64>> = figures.iter().map(|f| figure(f)).collect();
        median_interval(&values?, settings.level)
    };
    Some(Estimates {
        throughput_per_second: always(|f| f.throughput_per_second)?,
        cpu_us_per_request: if_all(|f| f.cpu_us_per_request),
        cores_used: if_all(|f| f.cores_used),
        pss_idle_bytes: if_all(|f| f.pss_idle_bytes),
        pss_mean_bytes: if_all(|f| f.pss_mean_bytes),
        pss_peak_bytes: if_all(|f| f.pss_peak_bytes),
        voluntary_switches_per_request: if_all(|f| f.voluntary_switches_per_request),
        involuntary_switches_per_request: if_all(|f| f.involuntary_switches_per_request),
        minor_faults_per_request: if_all(|f| f.minor_faults_per_request),
        major_faults_per_request: if_all(|f| f.major_faults_per_request),
        ready_seconds: always(|f| f.ready_seconds)?,
        service_time: percentiles(&figures, settings, |f| f.service_time.as_ref()),
        open: open_estimates(trials, &figures, settings),
    })
}

fn open_estimates(
    trials: &[TrialAnalysis],
    figures: &[&Figures],
    settings: &Settings,
) -> Option<OpenEstimates> {
    let rates: Option<Vec<f64>> = figures
        .iter()
        .map(|f| Some(f.open.as_ref()?.offered_per_second))
        .collect();
    let rates = rates?;
    Some(OpenEstimates {
        offered_per_second: rates
            .first()
            .copied()
            .filter(|first| rates.iter().all(|rate| rate == first)),
        response_time: percentiles(figures, settings, |f| {
            f.open.as_ref()?.response_time.as_ref()
        }),
        overloaded: trials
            .iter()
            .filter(|trial| trial.flags.iter().any(Flag::is_overload))
            .count(),
    })
}

fn percentiles(
    figures: &[&Figures],
    settings: &Settings,
    times: fn(&Figures) -> Option<&Times>,
) -> Vec<PercentileEstimate> {
    let estimate = |percent: &f64| percentile(figures, *percent, settings, times);
    PERCENTILES.iter().map(estimate).collect()
}

fn percentile(
    figures: &[&Figures],
    percent: f64,
    settings: &Settings,
    times: fn(&Figures) -> Option<&Times>,
) -> PercentileEstimate {
    let needed = requests_for(percent);
    let requests = |f: &&Figures| times(f).map_or(0, |time| time.requests);
    let fewest = figures.iter().map(requests).min().unwrap_or(0);
    let too_few = PercentileValue::TooFewRequests { fewest, needed };
    let values: Vec<f64> = figures
        .iter()
        .filter_map(|f| times(f)?.at(percent))
        .collect();
    let value = match log_mean(&values, settings.level) {
        Some(mean) if fewest >= needed => PercentileValue::Seconds(mean),
        _ => too_few,
    };
    PercentileEstimate { percent, value }
}
