//! The figures of one trial, each straight from its record.

use deadheat_model::{
    LoadPoint, Observation, TrialRecord,
    plan::NoiseBound,
    trial::{Disturbance, Resources, TrialOutcome},
    workload::CountedLoad,
};
use serde::Serialize;

use crate::{
    Settings,
    steadiness::{self, Trend},
    verdict::{self, TrialVerdict},
};

/// The percentiles that every trial's service time is given at (those that ab prints, and three more).
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

/// One trial.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TrialAnalysis {
    /// Its place in the session's trials, from 0.
    pub record: usize,
    /// The block, from 0.
    pub block: u32,
    /// What it is worth.
    pub verdict: TrialVerdict,
    /// What to know of it although it counts.
    pub flags: Vec<Flag>,
    /// Its figures, when it was measured; a failed trial has them too, and they count for nothing.
    pub figures: Option<Figures>,
}

/// A doubt about a trial that does not void it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(tag = "flag", rename_all = "kebab-case")]
pub enum Flag {
    /// Little's law does not hold: in a closed loop the connections are throughput × mean service time
    /// (Little, Operations Research 9, 1961). The generator or the connections waited for something else.
    Little {
        /// Connections of the load point.
        connections: u32,
        /// Throughput × mean service time: requests in flight on average.
        in_flight: f64,
    },
    /// The throughput changed over the measurement.
    Unsteady {
        /// How.
        #[serde(flatten)]
        trend: Trend,
    },
    /// Its time limit came before all of its requests had ended: the throughput is that of the time until then.
    CutShort {
        /// Requests that ended.
        ended: u64,
        /// Requests that should have been.
        asked: u64,
    },
    /// Other programs, or other machines on the same hardware, took CPU time meanwhile.
    Disturbed {
        /// What other programs used, of the machine's CPU time (0 to 1).
        other_cpu: f64,
        /// What the hypervisor gave to others (0 to 1).
        steal: f64,
    },
}

/// What a measured trial found.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Figures {
    /// Verified answers per second of the measurement.
    pub throughput_per_second: f64,
    /// Service time (end − actual start) of verified answers.
    pub service_time: Option<ServiceTime>,
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
    /// PSS of the tree when it had just become ready, in bytes.
    pub pss_idle_bytes: f64,
    /// Mean PSS of the tree in bytes.
    pub pss_mean_bytes: f64,
    /// Largest PSS of the tree in bytes.
    pub pss_peak_bytes: f64,
    /// From the process's start to its first correct answer, in seconds.
    pub ready_seconds: f64,
    /// CPU share of the generator's busiest worker, 0 to 1.
    pub busiest_worker: f64,
    /// How throughput changed over the measurement.
    pub trend: Option<Trend>,
}

/// A trial's service times.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ServiceTime {
    /// Verified answers in the histogram.
    pub requests: u64,
    /// The mean, in seconds.
    pub mean_seconds: f64,
    /// All of [`PERCENTS`], also where there are too few answers for one to be shown (see [`requests_for`]).
    pub percentiles: Vec<Percentile>,
}

impl ServiceTime {
    /// The same as [`ServiceTime::at`], if there are enough answers for it.
    pub fn shown(&self, percent: f64) -> Option<f64> {
        self.at(percent)
            .filter(|_| self.requests >= requests_for(percent))
    }

    /// The service time in seconds at one of [`PERCENTS`], however few the answers.
    pub fn at(&self, percent: f64) -> Option<f64> {
        let found = self.percentiles.iter().find(|p| p.percent == percent);
        found.map(|percentile| percentile.seconds)
    }
}

/// One percentile of a trial.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Percentile {
    /// Which (99: 99 % of the answers took no longer).
    pub percent: f64,
    /// The service time in seconds (from a histogram with three significant digits).
    pub seconds: f64,
}

/// Whether something else took CPU time from a trial on a machine of so many CPUs. It looks at no result.
fn disturbed(outcome: &TrialOutcome, cpus: usize, settings: &Settings) -> Option<Flag> {
    let TrialOutcome::Measured(measured) = outcome else {
        return None;
    };
    let bound = NoiseBound {
        other_cpu: settings.other_cpu,
        steal: settings.steal,
    };
    let disturbance = measured.disturbance(cpus);
    let Disturbance { other_cpu, steal } = disturbance;
    bound
        .is_passed_by(disturbance)
        .then_some(Flag::Disturbed { other_cpu, steal })
}

/// The analysis of one trial at `point`, on a machine of `cpus` CPUs.
pub fn analyse(
    record: usize,
    trial: &TrialRecord,
    point: &LoadPoint,
    cpus: usize,
    settings: &Settings,
) -> TrialAnalysis {
    let figures = match &trial.outcome {
        TrialOutcome::Measured(measured) => Some(Figures::new(
            &measured.load,
            &measured.resources,
            measured.ready.as_secs_f64(),
        )),
        TrialOutcome::Failed(_) => None,
    };
    let flags = figures.iter().flat_map(|figures| match &point.counted {
        None => doubts(figures, point.connections, settings),
        // Such a load starts cold and ends with fewer and fewer connections, and may spend its time on making them:
        // that is what it is, and no doubt about it.
        Some(by_count) => cut_short(&trial.outcome, by_count),
    });
    let flags = flags.chain(disturbed(&trial.outcome, cpus, settings));
    TrialAnalysis {
        record,
        block: trial.block,
        verdict: verdict::of_trial(trial, settings),
        flags: flags.collect(),
        figures,
    }
}

fn doubts(figures: &Figures, connections: u32, settings: &Settings) -> Vec<Flag> {
    let little = little(figures, connections, settings);
    let trend = figures.trend.filter(|trend| trend.is_unsteady(settings));
    let unsteady = trend.map(|trend| Flag::Unsteady { trend });
    little.into_iter().chain(unsteady).collect()
}

fn cut_short(outcome: &TrialOutcome, by_count: &CountedLoad) -> Vec<Flag> {
    let (TrialOutcome::Measured(measured), asked) = (outcome, by_count.requests) else {
        return Vec::new();
    };
    let ended = measured.load.measured.ended();
    let cut = (ended < asked).then_some(Flag::CutShort { ended, asked });
    cut.into_iter().collect()
}

fn little(figures: &Figures, connections: u32, settings: &Settings) -> Option<Flag> {
    let mean = figures.service_time.as_ref()?.mean_seconds;
    let in_flight = figures.throughput_per_second * mean;
    let deviation = (in_flight - f64::from(connections)).abs();
    (deviation > settings.little_deviation * f64::from(connections)).then_some(Flag::Little {
        connections,
        in_flight,
    })
}

impl Figures {
    fn new(load: &Observation, used: &Resources, ready_seconds: f64) -> Self {
        let throughput = load.throughput();
        // Both are rates, because resources and answers are counted over spans that differ by some milliseconds.
        let per_second =
            |amount: f64| (used.span_seconds > 0.0).then(|| amount / used.span_seconds);
        let per_request = |amount: f64| {
            let rate = per_second(amount)?;
            (throughput > 0.0).then(|| rate / throughput)
        };
        Self {
            throughput_per_second: throughput,
            service_time: service_time(load),
            cpu_us_per_request: per_request(used.cpu_seconds * 1e6),
            cores_used: per_second(used.cpu_seconds),
            voluntary_switches_per_request: per_request(used.voluntary_switches as f64),
            involuntary_switches_per_request: per_request(used.involuntary_switches as f64),
            minor_faults_per_request: per_request(used.minor_faults as f64),
            major_faults_per_request: per_request(used.major_faults as f64),
            pss_idle_bytes: used.pss_idle_bytes as f64,
            pss_mean_bytes: used.pss_mean_bytes as f64,
            pss_peak_bytes: used.pss_peak_bytes as f64,
            ready_seconds,
            busiest_worker: load.busiest_worker(),
            trend: steadiness::trend(load),
        }
    }
}

fn service_time(load: &Observation) -> Option<ServiceTime> {
    let histogram = &load.service_time;
    let percentile = |percent: &f64| {
        let seconds = histogram.quantile(percent / 100.0)?.as_secs_f64();
        Some(Percentile {
            percent: *percent,
            seconds,
        })
    };
    Some(ServiceTime {
        requests: histogram.count(),
        mean_seconds: histogram.mean()?.as_secs_f64(),
        percentiles: PERCENTS.iter().filter_map(percentile).collect(),
    })
}
