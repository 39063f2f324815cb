//! Stacks that did not make it, with the reason, the remedy and the end of their log: as prominent as a winner.

use deadheat_model::{
    Cell, FailureCounts, Observation, SessionRecord,
    session::{TargetRecord, TargetState},
    trial::{Phase, TrialFailure, TrialOutcome},
};
use deadheat_stats::{
    CellAnalysis, Group,
    verdict::{CellVerdict, FailReason},
};
use schemars::JsonSchema;
use serde::Serialize;

use super::{clean, clean::clean_log, doubts};
use crate::figure::{count, counted};

/// Reasons that are spelled out; the trials' details have them all.
const MOST_REASONS: usize = 3;

/// A stack that failed or is unavailable.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Loss {
    /// The stack, under its variant.
    pub target: String,
    /// What happened, in a few words that follow the name ("failed in 2 of 7 trials").
    pub what: String,
    /// Why, each a sentence's worth.
    pub reasons: Vec<String>,
    /// The command that would change that.
    pub remedy: Option<String>,
    /// Examples of failed requests, verbatim.
    pub examples: Vec<String>,
    /// The last lines of the server's or the build's output.
    pub log: Vec<String>,
}

impl Loss {
    fn new(target: impl ToString, what: impl Into<String>) -> Self {
        Self {
            target: clean(&target.to_string()),
            what: what.into(),
            reasons: Vec::new(),
            remedy: None,
            examples: Vec::new(),
            log: Vec::new(),
        }
    }

    fn with_failure(mut self, failure: &TrialFailure) -> Self {
        self.reasons.push(clean(&failure.reason));
        self.log = clean_log(&failure.log_tail);
        self.examples = failure.load.as_deref().map(examples).unwrap_or_default();
        self
    }
}

/// Stacks that could not be measured at all.
pub fn of_session(record: &SessionRecord) -> Vec<Loss> {
    let targets = record.header.targets.iter();
    let loss = targets.filter_map(|target| match &target.state {
        TargetState::Ready { .. } => None,
        TargetState::Unavailable { reason, remedy } => Some(Loss {
            reasons: vec![clean(reason)],
            remedy: Some(clean(remedy)),
            ..Loss::new(&target.target, "is unavailable here")
        }),
        TargetState::Failed(failure) => {
            let loss = Loss::new(&target.target, failed(failure.phase));
            Some(loss.with_failure(failure))
        }
    });
    loss.collect()
}

/// Stacks that failed at this workload and load point.
pub fn of_group(record: &SessionRecord, group: &Group) -> Vec<Loss> {
    let mut losses = Vec::new();
    for target in &record.header.targets {
        let here = target.failed_workloads.iter();
        let here = here.filter(|_| was_asked(record, group, target));
        for lost in here.filter(|lost| lost.workload == group.workload) {
            let loss = Loss::new(&target.target, failed(lost.failure.phase));
            losses.push(loss.with_failure(&lost.failure));
        }
    }
    losses.extend(group.cells.iter().filter_map(|cell| of_cell(record, cell)));
    losses
}

/// Where published tables are repeated, a stack is asked for at some load points only.
fn was_asked(record: &SessionRecord, group: &Group, target: &TargetRecord) -> bool {
    let rows = record.header.published.iter().flat_map(|table| &table.rows);
    let asked = |cell: &Cell| {
        cell.target == target.target
            && cell.workload == group.workload
            && cell.point == group.point.id
    };
    group.point.counted.is_none() || rows.filter_map(|row| row.cell()).any(asked)
}

fn of_cell(record: &SessionRecord, cell: &CellAnalysis) -> Option<Loss> {
    let (failed, of, reasons) = match &cell.verdict {
        CellVerdict::Void { void } => return Some(void_loss(cell, *void)),
        CellVerdict::Failed {
            failed,
            of,
            reasons,
        } => (failed, of, reasons),
        _ => return None,
    };
    let what = format!("failed in {} of {}", failed, counted(*of, "trial"));
    let mut loss = Loss::new(&cell.target, what);
    let mut distinct: Vec<String> = Vec::new();
    for reason in reasons.iter().map(kind_of) {
        if !distinct.contains(&reason) {
            distinct.push(reason);
        }
    }
    let more = distinct.len().saturating_sub(MOST_REASONS);
    loss.reasons = distinct;
    if more > 0 {
        loss.reasons.truncate(MOST_REASONS);
        loss.reasons
            .push(format!("{}: see the trials", counted(more, "other reason")));
    }
    if let Some(kinds) = kinds(&cell.failures) {
        let ended = counted(cell.requests_ended as usize, "request");
        loss.reasons
            .push(format!("of {ended} with warm-up, {kinds}"));
    }
    // The first failed trial speaks for the others.
    let first = cell.trials.iter().find(|trial| trial.verdict.is_failed())?;
    match &record.trials.get(first.record)?.outcome {
        TrialOutcome::Failed(failure) => {
            loss.log = clean_log(&failure.log_tail);
            loss.examples = failure.load.as_deref().map(examples).unwrap_or_default();
        }
        TrialOutcome::Measured(measured) => loss.examples = examples(&measured.load),
    }
    Some(loss)
}

/// Why trials failed, without the numbers that differ from one to the next.
pub fn kind_of(why: &FailReason) -> String {
    match why {
        FailReason::WrongAnswers { .. } => "answers were wrong".to_owned(),
        FailReason::TransportFailures { .. } => "too many requests failed on the way".to_owned(),
        FailReason::Outcome { phase, reason } => format!("{}: {}", failed(*phase), clean(reason)),
        FailReason::NotConserved | FailReason::NoSuccess => reason(why),
    }
}

/// "failed while starting", "failed under load".
pub fn failed(phase: Phase) -> String {
    match phase {
        Phase::Load => format!("failed {}", phase.describe()),
        _ => format!("failed while {}", phase.describe()),
    }
}

/// Why a trial failed, in words.
pub fn reason(reason: &FailReason) -> String {
    match reason {
        FailReason::Outcome { phase, reason } => {
            format!("{}: {}", failed(*phase), clean(reason))
        }
        FailReason::NotConserved => {
            "the generator's counts do not add up: a fault of Deadheat, not of the stack".to_owned()
        }
        FailReason::WrongAnswers { count: 1 } => "one answer was wrong".to_owned(),
        FailReason::WrongAnswers { count: wrong } => {
            format!("{} answers were wrong", count(*wrong))
        }
        FailReason::NoSuccess => "not one verified answer".to_owned(),
        FailReason::TransportFailures { count: lost, ended } => format!(
            "{} of {} requests failed on the way",
            count(*lost),
            count(*ended)
        ),
    }
}

/// A cell without a trial that was not void.
fn void_loss(cell: &CellAnalysis, void: usize) -> Loss {
    let what = match void {
        1 => "has no result: its only trial was void".to_owned(),
        many => format!("has no result: all of its {many} trials were void"),
    };
    Loss {
        reasons: doubts::most_noise(&cell.void).into_iter().collect(),
        remedy: Some("deadheat doctor  # names what disturbs, and what to do about it".to_owned()),
        ..Loss::new(&cell.target, what)
    }
}

/// Failures by kind, in words; `None` when there are none.
pub fn kinds(failures: &FailureCounts) -> Option<String> {
    let kinds: Vec<String> = failures
        .iter()
        .map(|(kind, number)| format!("{} {} ({})", count(number), kind.name(), kind.describe()))
        .collect();
    (!kinds.is_empty()).then(|| kinds.join(", "))
}

/// A load's examples of failures, verbatim but harmless.
pub fn examples(load: &Observation) -> Vec<String> {
    let example = |example: &deadheat_model::observation::FailureExample| {
        clean(&format!("{}: {}", example.kind.name(), example.detail))
    };
    load.examples.iter().map(example).collect()
}
