//! The figures of one trial, each straight from its record.

use deadheat_model::{
    LatencyHistogram, Observation,
    observation::OpenLoop,
    trial::{Measured, Resources},
};
use schemars::JsonSchema;
use serde::Serialize;

use crate::steadiness::{self, Trend};

/// The percentiles that every trial's times are given at (those that ab prints, and three more).
pub const PERCENTS: [f64; 12] = [
    50.0, 66.0, 75.0, 80.0, 90.0, 95.0, 98.0, 99.0, 99.9, 99.99, 99.999, 100.0,
];

/// Verified answers that a trial needs for a percentile of 90 or more to be shown: about a hundred beyond it
/// (p99: 10,000), so that it is not one odd request. Lower percentiles and the longest request need one.
pub fn requests_for(percent: f64) -> u64 {
    if (90.0..100.0).contains(&percent) {
        (10_000.0 / (100.0 - percent)).round() as u64
    } else {
        1
    }
}

/// What a measured trial found.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Figures {
    /// Verified answers per second of the measurement.
    pub throughput_per_second: f64,
    /// Service time (end − actual start) of verified answers.
    pub service_time: Option<Times>,
    /// What only an open loop has.
    pub open: Option<OpenFigures>,
    /// CPU time of the server's process tree per verified answer, in microseconds.
    pub cpu_us_per_request: Option<f64>,
    /// CPU time of the tree over the time in which it was counted: how many CPUs were busy.
    pub cores_used: Option<f64>,
    /// Voluntary context switches per verified answer.
    pub voluntary_switches_per_request: Option<f64>,
    /// Involuntary context switches per verified answer.
    pub involuntary_switches_per_request: Option<f64>,
    /// Page faults without input or output per verified answer.
    pub minor_faults_per_request: Option<f64>,
    /// Page faults with input or output per verified answer.
    pub major_faults_per_request: Option<f64>,
    /// PSS of the tree when it had just become ready, in bytes; null if it could not be read.
    pub pss_idle_bytes: Option<f64>,
    /// Mean PSS of the tree in bytes; null if it could not be read.
    pub pss_mean_bytes: Option<f64>,
    /// Largest PSS of the tree in bytes; null if it could not be read.
    pub pss_peak_bytes: Option<f64>,
    /// From the process's start to its first correct answer, in seconds.
    pub ready_seconds: f64,
    /// CPU share of the generator's busiest worker, 0 to 1.
    pub busiest_worker: f64,
    /// How throughput changed over the measurement.
    pub trend: Option<Trend>,
}

/// What only a trial in an open loop has.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct OpenFigures {
    /// The rate that was asked for, in requests per second; what was achieved of it is the throughput.
    pub offered_per_second: f64,
    /// Requests whose intended start lay in the measurement.
    pub offered: u64,
    /// Requests whose time had come when the measurement ended, and that had not been sent.
    pub unsent: u64,
    /// Response time (end − intended start) of verified answers.
    pub response_time: Option<Times>,
    /// How late the generator noticed that a request's time had come.
    pub send_lag: Option<Times>,
    /// How long a request waited for a free connection after that.
    pub connection_wait: Option<Times>,
}

/// The percentiles of one kind of time in a trial.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Times {
    /// Requests in the histogram: verified answers, of service and response time.
    pub requests: u64,
    /// The mean, in seconds.
    pub mean_seconds: f64,
    /// All of [`PERCENTS`], also where there are too few answers for one to be shown (see [`requests_for`]).
    pub percentiles: Vec<Percentile>,
}

impl Times {
    /// The same as [`Times::at`], if there are enough answers for it.
    pub fn shown(&self, percent: f64) -> Option<f64> {
        self.at(percent)
            .filter(|_| self.requests >= requests_for(percent))
    }

    /// The time in seconds at one of [`PERCENTS`], however few the answers.
    pub fn at(&self, percent: f64) -> Option<f64> {
        let found = self.percentiles.iter().find(|p| p.percent == percent);
        found.map(|percentile| percentile.seconds)
    }
}

/// One percentile of a trial.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Percentile {
    /// Which (99: 99 % of the answers took no longer).
    pub percent: f64,
    /// The time in seconds (from a histogram with three significant digits).
    pub seconds: f64,
}

impl Figures {
    /// The figures of a measured trial. `offered_per_second` is the rate of an open loop, where the record has it.
    pub fn new(measured: &Measured, offered_per_second: Option<f64>) -> Self {
        let load = &measured.load;
        let used: &Resources = &measured.resources;
        let throughput = load.throughput();
        // Both are rates, because resources and answers are counted over spans that differ by some milliseconds.
        let per_second =
            |amount: f64| (used.span_seconds > 0.0).then(|| amount / used.span_seconds);
        let per_request = |amount: f64| {
            let rate = per_second(amount)?;
            (throughput > 0.0).then(|| rate / throughput)
        };
        let bytes = |read: Option<u64>| read.map(|bytes| bytes as f64);
        let switches = |counted: Option<u64>| counted.and_then(|count| per_request(count as f64));
        Self {
            throughput_per_second: throughput,
            service_time: Times::of(&load.service_time),
            open: load
                .open
                .as_ref()
                .map(|open| OpenFigures::new(open, load, offered_per_second)),
            cpu_us_per_request: per_request(used.cpu_seconds * 1e6),
            cores_used: per_second(used.cpu_seconds),
            voluntary_switches_per_request: switches(used.voluntary_switches),
            involuntary_switches_per_request: switches(used.involuntary_switches),
            minor_faults_per_request: per_request(used.minor_faults as f64),
            major_faults_per_request: per_request(used.major_faults as f64),
            pss_idle_bytes: bytes(used.pss_idle_bytes),
            pss_mean_bytes: bytes(used.pss_mean_bytes),
            pss_peak_bytes: bytes(used.pss_peak_bytes),
            ready_seconds: measured.ready.as_secs_f64(),
            busiest_worker: load.busiest_worker(),
            trend: steadiness::trend(load),
        }
    }
}

impl OpenFigures {
    fn new(open: &OpenLoop, load: &Observation, offered_per_second: Option<f64>) -> Self {
        let window = load.window.as_secs_f64();
        let counted = if window > 0.0 {
            open.offered as f64 / window
        } else {
            0.0
        };
        Self {
            offered_per_second: offered_per_second.unwrap_or(counted),
            offered: open.offered,
            unsent: open.unsent,
            response_time: Times::of(&open.response_time),
            send_lag: Times::of(&open.send_lag),
            connection_wait: Times::of(&open.connection_wait),
        }
    }
}

impl Times {
    fn of(histogram: &LatencyHistogram) -> Option<Self> {
        let percentile = |percent: &f64| {
            let seconds = histogram.quantile(percent / 100.0)?.as_secs_f64();
            Some(Percentile {
                percent: *percent,
                seconds,
            })
        };
        Some(Self {
            requests: histogram.count(),
            mean_seconds: histogram.mean()?.as_secs_f64(),
            percentiles: PERCENTS.iter().filter_map(percentile).collect(),
        })
    }
}
