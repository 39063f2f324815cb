//! What a trial and a cell are worth: do they count, were they limited by the generator, or did they fail?

use deadheat_model::{
    Observation, TrialRecord,
    trial::{Measured, Phase, TrialOutcome},
};
use serde::Serialize;

use crate::Settings;

/// The verdict on a trial.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "is", rename_all = "kebab-case")]
pub enum TrialVerdict {
    /// It counts.
    Counts,
    /// A worker of the generator, or its side of the machine, was (almost) always busy: the throughput is a lower bound.
    GeneratorLimited {
        /// CPU share of the busiest worker, 0 to 1.
        busiest_worker: f64,
        /// How busy the CPUs of generator, database and upstream were, 0 to 1, when that was the limit.
        cpus_busy: Option<f64>,
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
}

/// Why a trial failed. The first that holds, in this order.
#[derive(Clone, Debug, PartialEq, Serialize)]
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
#[derive(Clone, Debug, PartialEq, Serialize)]
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
    /// No trial is there to be counted.
    NotMeasured,
}

/// The verdict on one trial.
pub fn of_trial(trial: &TrialRecord, settings: &Settings) -> TrialVerdict {
    match &trial.outcome {
        TrialOutcome::Failed(failure) => TrialVerdict::Failed {
            reason: FailReason::Outcome {
                phase: failure.phase,
                reason: failure.reason.clone(),
            },
        },
        TrialOutcome::Measured(measured) => match failure_of(&measured.load, settings) {
            Some(reason) => TrialVerdict::Failed { reason },
            None => limit_of(measured, settings),
        },
    }
}

/// Whether the generator's side was the limit: a worker was too busy, or generator, database and upstream were busy on
/// their CPUs while the server had time left on its own.
fn limit_of(measured: &Measured, settings: &Settings) -> TrialVerdict {
    let busiest_worker = measured.load.busiest_worker();
    let noise = &measured.noise;
    let server = noise.server_cpus_busy;
    let server_had_time = server.is_some_and(|server| server < settings.server_saturated);
    let cpus_busy = noise
        .generator_cpus_busy
        .filter(|busy| *busy >= settings.generator_busy && server_had_time);
    if busiest_worker >= settings.generator_busy || cpus_busy.is_some() {
        return TrialVerdict::GeneratorLimited {
            busiest_worker,
            cpus_busy,
        };
    }
    TrialVerdict::Counts
}

/// Why a load is no measurement, if so.
pub(crate) fn failure_of(load: &Observation, settings: &Settings) -> Option<FailReason> {
    let measured = &load.measured;
    if !(measured.is_conserved() && load.total.is_conserved()) {
        return Some(FailReason::NotConserved);
    }
    let wrong_measured = measured.failed.wrong_answers();
    let wrong = load.total.failed.wrong_answers().max(wrong_measured);
    if wrong > 0 {
        return Some(FailReason::WrongAnswers { count: wrong });
    }
    if measured.succeeded == 0 || load.window.is_zero() {
        return Some(FailReason::NoSuccess);
    }
    let (count, ended) = (measured.failed.total(), measured.ended());
    let too_many = count as f64 > settings.transport_failures * ended as f64;
    too_many.then_some(FailReason::TransportFailures { count, ended })
}

/// The verdict on a cell whose trials have these verdicts.
pub fn of_cell<'a>(trials: impl Iterator<Item = &'a TrialVerdict>) -> CellVerdict {
    let (mut of, mut limited, mut failed) = (0, 0, 0);
    let mut reasons: Vec<FailReason> = Vec::new();
    for verdict in trials {
        of += 1;
        match verdict {
            TrialVerdict::Counts => {}
            TrialVerdict::GeneratorLimited { .. } => limited += 1,
            TrialVerdict::Failed { reason } => {
                failed += 1;
                if !reasons.contains(reason) {
                    reasons.push(reason.clone());
                }
            }
        }
    }
    match (of, failed, limited) {
        (0, _, _) => CellVerdict::NotMeasured,
        (_, 1.., _) => CellVerdict::Failed {
            failed,
            of,
            reasons,
        },
        (_, _, 1..) => CellVerdict::LowerBound { limited, of },
        _ => CellVerdict::Counts,
    }
}
