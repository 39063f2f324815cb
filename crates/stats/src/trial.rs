//! One trial: its verdict, its flags and its figures.

use deadheat_model::{
    LoadPoint, TrialRecord, machine::Machine, plan::NoiseBound, trial::Measured,
    trial::TrialOutcome, workload::CountedLoad,
};
use schemars::JsonSchema;
use serde::Serialize;

pub use crate::figures::{Figures, OpenFigures, PERCENTS, Percentile, Times, requests_for};
use crate::{
    Settings,
    ceiling::CeilingRates,
    little::{self, LittleCause},
    load::LoadSettings,
    open,
    steadiness::{self, Trend},
    verdict::{self, TrialVerdict},
};

/// One trial.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct TrialAnalysis {
    /// Its place in the session's trials, from 0.
    pub record: usize,
    /// The block, from 0.
    pub block: u32,
    /// 0 for the first time in its block; more when the trials before it were void.
    pub attempt: u32,
    /// What it is worth.
    pub verdict: TrialVerdict,
    /// What to know of it although it counts.
    pub flags: Vec<Flag>,
    /// Its figures, when it was measured; a failed or void trial has them too, and they count for nothing.
    pub figures: Option<Figures>,
}

/// A doubt about a trial that does not void it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "flag", rename_all = "kebab-case")]
pub enum Flag {
    /// Little's law does not hold, and something else than the generator explains it: in a closed loop the connections
    /// are throughput × mean service time (Little, Operations Research 9, 1961).
    Little {
        /// Connections of the load point.
        connections: u32,
        /// Throughput × mean service time: requests in flight on average.
        in_flight: f64,
        /// What explains it.
        because: LittleCause,
    },
    /// The throughput changed over the measurement.
    Unsteady {
        /// How.
        #[serde(flatten)]
        trend: Trend,
    },
    /// The measurement was too short, or had too few answers, to tell whether the throughput changed.
    SteadinessUnknown {
        /// Whole bins that it had.
        bins: usize,
        /// Whole bins that it takes.
        needed: usize,
    },
    /// Its time limit came before all of its requests had ended: the throughput is that of the time until then.
    CutShort {
        /// Requests that ended.
        ended: u64,
        /// Requests that should have been.
        asked: u64,
    },
    /// Other programs, or other machines on the same hardware, took CPU time meanwhile. Of a trial that could not be
    /// void: the plan has no bound, or it failed.
    Disturbed {
        /// What other programs used, of the machine's CPU time (0 to 1).
        other_cpu: f64,
        /// What the hypervisor gave to others (0 to 1).
        steal: f64,
    },
    /// Open loop: the server did not keep up with the rate; requests waited for a connection, and more and more of them.
    /// Response times are those of an overloaded server, and grow with the length of the measurement.
    Overloaded {
        /// Requests whose intended start lay in the measurement.
        offered: u64,
        /// Requests that waited for a connection when it ended, and had not been sent.
        unsent: u64,
        /// How long the oldest of them had waited, in seconds.
        oldest_unsent_seconds: f64,
        /// Requests in flight when the measurement began.
        in_flight_before: u64,
        /// Requests in flight when it ended.
        in_flight_after: u64,
        /// The most connections that the loop holds.
        connections: u32,
    },
    /// Open loop: the server did not keep up with the rate while it was warmed up, and began the measurement with the
    /// requests that had waited since. Response times are those of working them off, not of the rate.
    Backlog {
        /// Requests whose intended start lay in the measurement.
        offered: u64,
        /// Requests of the warm-up that waited for a connection when it began.
        waiting: u64,
        /// The most connections that the loop holds.
        connections: u32,
    },
    /// Open loop: a part of the response times is the generator's own lateness.
    SendLag {
        /// The percentile at which both were compared.
        percent: f64,
        /// The send lag there, in seconds.
        send_lag_seconds: f64,
        /// … as a share of the response time there.
        response_share: f64,
    },
}

impl Flag {
    /// Whether the server did not keep up with the rate of an open loop, in the measurement or before it.
    pub fn is_overload(&self) -> bool {
        matches!(self, Flag::Overloaded { .. } | Flag::Backlog { .. })
    }
}

/// What a trial is judged by, besides its own record.
#[derive(Clone, Copy, Debug)]
pub struct Judge<'a> {
    /// Its load point.
    pub point: &'a LoadPoint,
    /// Where it ran.
    pub machine: &'a Machine,
    /// What makes it void.
    pub noise_bound: Option<NoiseBound>,
    /// The null server's rates at the load point; `None` for those of the null server itself.
    pub ceiling: Option<&'a CeilingRates>,
    /// The thresholds.
    pub settings: &'a Settings,
    /// Those of open loops.
    pub load_settings: &'a LoadSettings,
}

/// The analysis of one trial.
pub fn analyse(record: usize, trial: &TrialRecord, judge: &Judge<'_>) -> TrialAnalysis {
    let analysis = |verdict, flags, figures| TrialAnalysis {
        record,
        block: trial.block,
        attempt: trial.attempt,
        verdict,
        flags,
        figures,
    };
    let TrialOutcome::Measured(measured) = &trial.outcome else {
        return analysis(
            verdict::of_trial(trial, None, judge, Vec::new()),
            vec![],
            None,
        );
    };
    let figures = Figures::new(measured, trial.offered_per_second);
    let open = open::signs(trial, measured, judge);
    let little = little::deviation(measured, &figures, judge);
    let mut limits = Vec::new();
    let mut flags = Vec::new();
    if let Some(deviation) = little {
        match deviation.as_flag() {
            Some(flag) => flags.push(flag),
            None => limits.push(deviation.as_limit()),
        }
    }
    limits.extend(open.limits);
    let verdict = verdict::of_trial(trial, Some(&figures), judge, limits);
    // Of a limited generator nothing follows for the server.
    let open_flags = open.flags.into_iter();
    flags.extend(open_flags.filter(|flag| !(verdict.is_limited() && flag.is_overload())));
    flags.extend(match &judge.point.counted {
        None => steadiness_of(measured, &figures, judge.settings),
        // Such a load starts cold and ends with fewer and fewer connections, and may spend its time on making them:
        // that is what it is, and no doubt about it.
        Some(by_count) => cut_short(measured, by_count),
    });
    flags.extend(disturbed(measured, &verdict, judge));
    analysis(verdict, flags, Some(figures))
}

fn steadiness_of(measured: &Measured, figures: &Figures, settings: &Settings) -> Option<Flag> {
    let bins = steadiness::whole_bins(&measured.load);
    let needed = settings.steady_bins;
    match figures.trend.filter(|_| bins >= needed) {
        None => Some(Flag::SteadinessUnknown { bins, needed }),
        Some(trend) => trend
            .is_unsteady(settings)
            .then_some(Flag::Unsteady { trend }),
    }
}

fn cut_short(measured: &Measured, by_count: &CountedLoad) -> Option<Flag> {
    let (ended, asked) = (measured.load.measured.ended(), by_count.requests);
    (ended < asked).then_some(Flag::CutShort { ended, asked })
}

/// Whether something else took CPU time from a trial that is not void for it. It looks at no figure.
fn disturbed(measured: &Measured, verdict: &TrialVerdict, judge: &Judge<'_>) -> Option<Flag> {
    let usual = NoiseBound {
        other_cpu: judge.settings.other_cpu,
        steal: judge.settings.steal,
    };
    let bound = judge.noise_bound.unwrap_or(usual);
    let disturbance = measured.disturbance(judge.machine.cpus.len());
    let is_void = matches!(verdict, TrialVerdict::Void { .. });
    (bound.is_passed_by(disturbance) && !is_void).then_some(Flag::Disturbed {
        other_cpu: disturbance.other_cpu,
        steal: disturbance.steal,
    })
}
