//! One stack's results at one load point, as the tables show them.

use deadheat_stats::{
    CellAnalysis, Group,
    cell::{Estimates, PercentileEstimate, PercentileValue},
    order_statistic::MedianInterval,
    verdict::CellVerdict,
};
use serde::Serialize;

use super::{clean, doubts};
use crate::figure::{self, NONE, bytes, ends, figure, seconds};

/// How a row stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum RowState {
    /// It has a rank.
    Ranked,
    /// Nothing was compared.
    Unranked,
    /// Its throughput is a lower bound.
    LowerBound,
}

impl RowState {
    /// How a stack stands in its group.
    pub fn of(cell: &CellAnalysis) -> Self {
        match (&cell.verdict, cell.rank) {
            (CellVerdict::LowerBound { .. }, _) => RowState::LowerBound,
            (_, Some(_)) => RowState::Ranked,
            (_, None) => RowState::Unranked,
        }
    }
}

/// One stack's results. Each figure has its unit but for throughput (verified answers per second).
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// The rank, with "=" when it is shared; a dash without one.
    pub rank: String,
    /// The stack, under its variant.
    pub target: String,
    /// How it stands.
    pub state: RowState,
    /// Median throughput; "≥" before a lower bound.
    pub throughput: String,
    /// The larger arm of its interval, in percent.
    pub spread: Option<String>,
    /// The interval's ends.
    pub interval: Option<String>,
    /// CPU time per request.
    pub cpu: String,
    /// Its interval.
    pub cpu_interval: Option<String>,
    /// CPUs used.
    pub cores: String,
    /// PSS when just ready.
    pub pss_idle: String,
    /// Mean PSS.
    pub pss_mean: String,
    /// Largest PSS.
    pub pss_peak: String,
    /// Service times.
    pub p50: Latency,
    /// Service times.
    pub p90: Latency,
    /// Service times.
    pub p99: Latency,
    /// Service times.
    pub p999: Latency,
    /// Context switches per request, voluntary and involuntary.
    pub switches: [String; 2],
    /// Page faults per request, without and with input or output.
    pub faults: [String; 2],
    /// From start to the first correct answer.
    pub ready: String,
    /// Doubts and limits.
    pub notes: Vec<String>,
}

/// A percentile.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Latency {
    /// The figure, or a dash.
    pub value: String,
    /// Its interval.
    pub interval: Option<String>,
}

/// A stack's results in its group.
pub fn row(group: &Group, cell: &CellAnalysis, estimates: &Estimates) -> Row {
    let throughput = &estimates.throughput_per_second;
    let state = RowState::of(cell);
    let lower_bound = state == RowState::LowerBound;
    let prefix = if lower_bound { "≥ " } else { "" };
    let of = |estimate: &Option<MedianInterval>, figure: fn(f64) -> String| {
        estimate
            .as_ref()
            .map_or(NONE.to_owned(), |estimate| figure(estimate.median))
    };
    let at = |percent: f64| {
        let mut all = percentiles(estimates).iter();
        all.find(|p| p.percent == percent)
            .map(latency)
            .unwrap_or_default()
    };
    Row {
        rank: rank(group, cell),
        target: clean(&cell.target.to_string()),
        state,
        throughput: format!("{prefix}{}", figure(throughput.median)),
        // Of a lower bound the scatter says nothing about the true value.
        spread: figure::spread(throughput).filter(|_| !lower_bound),
        interval: throughput
            .interval
            .filter(|_| !lower_bound)
            .map(|interval| ends(&interval, figure)),
        cpu: of(&estimates.cpu_us_per_request, cpu_time),
        cpu_interval: estimates
            .cpu_us_per_request
            .and_then(|estimate| estimate.interval)
            .map(|interval| ends(&interval, cpu_time)),
        cores: of(&estimates.cores_used, figure),
        pss_idle: of(&estimates.pss_idle_bytes, bytes),
        pss_mean: of(&estimates.pss_mean_bytes, bytes),
        pss_peak: of(&estimates.pss_peak_bytes, bytes),
        p50: at(50.0),
        p90: at(90.0),
        p99: at(99.0),
        p999: at(99.9),
        switches: [
            of(&estimates.voluntary_switches_per_request, figure),
            of(&estimates.involuntary_switches_per_request, figure),
        ],
        faults: [
            of(&estimates.minor_faults_per_request, figure),
            of(&estimates.major_faults_per_request, figure),
        ],
        ready: seconds(estimates.ready_seconds.median),
        notes: doubts::notes(cell),
    }
}

/// The percentiles that a load point shows: of the response time in an open loop, else of the service time.
pub fn percentiles(estimates: &Estimates) -> &[PercentileEstimate] {
    let open = estimates.open.as_ref();
    open.map_or(&estimates.service_time, |open| &open.response_time)
}

/// The CPU time per request.
pub fn cpu(estimates: &Estimates) -> String {
    let cpu = estimates.cpu_us_per_request.as_ref();
    cpu.map_or(NONE.to_owned(), |cpu| cpu_time(cpu.median))
}

fn cpu_time(microseconds: f64) -> String {
    seconds(microseconds / 1e6)
}

/// A cell's rank, with "=" when it is shared; a dash without one.
pub fn rank(group: &Group, cell: &CellAnalysis) -> String {
    let Some(rank) = cell.rank else {
        return NONE.to_owned();
    };
    let shared = group
        .cells
        .iter()
        .filter(|other| other.rank == Some(rank))
        .count()
        > 1;
    format!("{rank}{}", if shared { "=" } else { "" })
}

/// A percentile with its interval, or a dash.
pub fn latency(estimate: &PercentileEstimate) -> Latency {
    match estimate.value {
        PercentileValue::Seconds(mean) => Latency {
            value: seconds(mean.mean),
            interval: mean.interval.map(|interval| ends(&interval, seconds)),
        },
        PercentileValue::TooFewRequests { .. } => Latency {
            value: NONE.to_owned(),
            interval: None,
        },
    }
}
