//! What a trial and a cell are worth: do they count, were they limited by the generator or disturbed, or did they fail?

use deadheat_model::{
    LoadFault, Observation, TrialRecord,
    trial::{Measured, Phase, TrialOutcome},
};
use schemars::JsonSchema;
use serde::Serialize;

use crate::{
    Settings,
    figures::Figures,
    limit::{self, Limit},
    trial::Judge,
};

/// The verdict on a trial.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "is", rename_all = "kebab-case")]
pub enum TrialVerdict {
    /// It counts.
    Counts,
    /// The generator's side set the pace: the throughput is a lower bound, and times contain the generator's own.
    GeneratorLimited {
        /// What shows it; at least one.
        limits: Vec<Limit>,
    },
    /// It was disturbed past the plan's bound. It counts for nothing, whatever it found.
    Void {
        /// What other programs used, of the machine's CPU time (0 to 1).
        other_cpu: f64,
        /// What the hypervisor gave to others (0 to 1).
        steal: f64,
    },
    /// It failed.
    Failed {
        /// Why.
        reason: FailReason,
    },
}

impl TrialVerdict {
    /// Whether the trial failed.
    pub fn is_failed(&self) -> bool {
        matches!(self, TrialVerdict::Failed { .. })
    }

    /// Whether the generator was the limit.
    pub fn is_limited(&self) -> bool {
        matches!(self, TrialVerdict::GeneratorLimited { .. })
    }
}

/// Why a trial failed. The first that holds, in this order.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "why", rename_all = "kebab-case")]
pub enum FailReason {
    /// It did not run to its end.
    Outcome {
        /// Where it ended.
        phase: Phase,
        /// What was attempted, on what, and what happened.
        reason: String,
    },
    /// Requests were lost or invented: the generator's own figures do not add up.
    NotConserved,
    /// Answers came and were wrong, in the warm-up or in the measurement. One is enough.
    WrongAnswers {
        /// Wrong answers.
        count: u64,
    },
    /// Not one verified answer in the measurement.
    NoSuccess,
    /// Too many requests failed on the way, in the measurement.
    TransportFailures {
        /// Requests that failed so.
        count: u64,
        /// Requests that ended.
        ended: u64,
    },
}

/// The verdict on a cell, from its counted trials.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "is", rename_all = "kebab-case")]
pub enum CellVerdict {
    /// Every trial counts; the cell can be compared.
    Counts,
    /// At least one trial was limited by the generator: its throughput is a lower bound, and it is not ranked.
    LowerBound {
        /// Trials so limited.
        limited: usize,
        /// Trials in all.
        of: usize,
        /// What showed it, the first of each kind, in the order of the blocks.
        limits: Vec<Limit>,
    },
    /// At least one trial failed: it is not ranked, and its throughput is not shown.
    Failed {
        /// Failed trials.
        failed: usize,
        /// Trials in all.
        of: usize,
        /// Why, each reason once, in the order of the blocks.
        reasons: Vec<FailReason>,
    },
    /// All of its trials that would count were disturbed past the plan's bound.
    Void {
        /// Void trials.
        void: usize,
    },
    /// No trial is there to be counted.
    NotMeasured,
}

/// The verdict on one trial, with the limits that its figures show already.
pub fn of_trial(
    trial: &TrialRecord,
    figures: Option<&Figures>,
    judge: &Judge<'_>,
    more: Vec<Limit>,
) -> TrialVerdict {
    if let Some(reason) = failure(trial, judge.settings) {
        return TrialVerdict::Failed { reason };
    }
    if let Some(void) = void(trial, judge) {
        return void;
    }
    let TrialOutcome::Measured(measured) = &trial.outcome else {
        return TrialVerdict::Counts;
    };
    let limits = limits_of(trial.block, measured, figures, judge);
    let limits: Vec<Limit> = limits.into_iter().chain(more).collect();
    if limits.is_empty() {
        TrialVerdict::Counts
    } else {
        TrialVerdict::GeneratorLimited { limits }
    }
}

/// Why a trial failed; `None` when it did not.
pub fn failure(trial: &TrialRecord, settings: &Settings) -> Option<FailReason> {
    match &trial.outcome {
        TrialOutcome::Failed(failure) => Some(FailReason::Outcome {
            phase: failure.phase,
            reason: failure.reason.clone(),
        }),
        TrialOutcome::Measured(measured) => failure_of(&measured.load, settings),
    }
}

/// The verdict void, when others used too much of the machine and the trial did not fail ([`TrialRecord::void`]).
pub fn void(trial: &TrialRecord, judge: &Judge<'_>) -> Option<TrialVerdict> {
    let cpus = judge.machine.cpus.len();
    let disturbance = trial.void(judge.noise_bound, cpus, judge.settings.transport_failures)?;
    Some(TrialVerdict::Void {
        other_cpu: disturbance.other_cpu,
        steal: disturbance.steal,
    })
}

fn limits_of(
    block: u32,
    measured: &Measured,
    figures: Option<&Figures>,
    judge: &Judge<'_>,
) -> Vec<Limit> {
    let near = judge.ceiling.zip(figures).and_then(|(rates, figures)| {
        limit::ceiling(rates, block, figures.throughput_per_second, judge)
    });
    [
        limit::worker(measured, judge),
        limit::cpus(measured, judge),
        near,
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Why a load is no measurement, if so.
pub(crate) fn failure_of(load: &Observation, settings: &Settings) -> Option<FailReason> {
    Some(match load.fault(settings.transport_failures)? {
        LoadFault::NotConserved => FailReason::NotConserved,
        LoadFault::WrongAnswers { count } => FailReason::WrongAnswers { count },
        LoadFault::NoSuccess => FailReason::NoSuccess,
        LoadFault::TransportFailures { count, ended } => {
            FailReason::TransportFailures { count, ended }
        }
    })
}

/// The verdict on a cell whose trials have these verdicts, and that has so many void ones beside them.
pub fn of_cell<'a>(trials: impl Iterator<Item = &'a TrialVerdict>, void: usize) -> CellVerdict {
    let (mut of, mut limited, mut failed) = (0, 0, 0);
    let mut reasons: Vec<FailReason> = Vec::new();
    let mut limits: Vec<Limit> = Vec::new();
    for verdict in trials {
        of += 1;
        match verdict {
            TrialVerdict::Counts | TrialVerdict::Void { .. } => {}
            TrialVerdict::GeneratorLimited { limits: shown } => {
                limited += 1;
                for limit in shown {
                    if !limits.iter().any(|known| known.is_like(limit)) {
                        limits.push(*limit);
                    }
                }
            }
            TrialVerdict::Failed { reason } => {
                failed += 1;
                if !reasons.contains(reason) {
                    reasons.push(reason.clone());
                }
            }
        }
    }
    match (of, failed, limited) {
        (0, _, _) if void > 0 => CellVerdict::Void { void },
        (0, _, _) => CellVerdict::NotMeasured,
        (_, 1.., _) => CellVerdict::Failed {
            failed,
            of,
            reasons,
        },
        (_, _, 1..) => CellVerdict::LowerBound {
            limited,
            of,
            limits,
        },
        _ => CellVerdict::Counts,
    }
}
