//! Which cells of two sessions can be compared.

use deadheat_model::{
    TargetId,
    heats::SessionRecord,
    session::{TargetRecord, TargetState},
    warning::{Warning, note},
};

use super::{Metric, Subject, load::Load, unsteady};
use crate::standings::settings;

/// A session and its loads.
pub(super) struct Session<'a> {
    pub(super) record: &'a SessionRecord,
    pub(super) loads: Vec<Load<'a>>,
}

/// How the sides are called.
const NAMES: [&str; 2] = ["A", "B"];

/// A stack's numbers in A and B.
pub(super) type Numbers = [usize; 2];

impl<'a> Session<'a> {
    pub(super) fn new(record: &'a SessionRecord) -> Self {
        let loads = 0..record.header.plan.loads.len();
        let settings = settings(&record.header.plan);
        Self {
            record,
            loads: loads
                .map(|index| Load::new(record, index, settings))
                .collect(),
        }
    }

    pub(super) fn load(&self, subject: &Subject) -> Option<&Load<'a>> {
        let mut loads = self.loads.iter();
        loads.find(|load| load.is(&subject.workload, &subject.point))
    }

    /// A stack, or nothing, at each of its loads.
    pub(super) fn subjects(&self, target: Option<&TargetId>) -> impl Iterator<Item = Subject> {
        self.record
            .header
            .plan
            .loads
            .iter()
            .map(move |load| Subject {
                target: target.cloned(),
                workload: load.workload.clone(),
                point: load.point.id.clone(),
            })
    }

    fn target(&self, target: &TargetId) -> Option<&'a TargetRecord> {
        self.record.header.target(target)
    }
}

/// What could be compared: stacks that both sessions were asked for, at loads that both have, if at least one measured
/// them there or they failed. In the order of A's plan.
pub(super) fn candidates(sides: &[Session<'_>; 2]) -> Vec<Subject> {
    let [a, b] = sides;
    let targets = a.record.header.targets.iter().map(|record| &record.target);
    let shared: Vec<&TargetId> = targets
        .filter(|target| b.target(target).is_some())
        .collect();
    let loads = a.subjects(None).filter(|load| b.load(load).is_some());
    let subjects = loads.flat_map(|load| {
        let subject = |target: &&TargetId| Subject {
            target: Some((*target).clone()),
            ..load.clone()
        };
        shared.iter().map(subject).collect::<Vec<_>>()
    });
    let is_one = |subject: &Subject| {
        let states = sides.iter().map(|side| state(side, subject));
        states
            .into_iter()
            .any(|state| !matches!(state, CellState::Unplanned(_)))
    };
    subjects.filter(is_one).collect()
}

/// A stack's numbers in both sessions, or why they cannot be compared and whether it is because B failed.
pub(super) fn numbers(
    sides: &[Session<'_>; 2],
    subject: &Subject,
) -> Result<Numbers, (String, bool)> {
    let states = sides.each_ref().map(|side| state(side, subject));
    if let [CellState::Counts(a), CellState::Counts(b)] = states {
        return match other_rates(sides, subject, [a, b]) {
            Some(reason) => Err((reason, false)),
            None => Ok([a, b]),
        };
    }
    let b_failed = matches!(states[1], CellState::Failed(_));
    let reasons = states.iter().zip(NAMES);
    let reasons: Vec<String> = reasons
        .filter_map(|(state, name)| Some(format!("{name} {}", state.reason()?)))
        .collect();
    Err((reasons.join("; "), b_failed))
}

/// What a cell of a session is worth for a comparison. A reason follows the session's name.
enum CellState {
    /// The stack has figures, under this number.
    Counts(usize),
    /// It failed.
    Failed(String),
    /// It was measured and has nothing to compare.
    Lacking(String),
    /// It was not to be measured.
    Unplanned(String),
}

impl CellState {
    fn reason(&self) -> Option<&str> {
        match self {
            CellState::Counts(_) => None,
            CellState::Failed(reason)
            | CellState::Lacking(reason)
            | CellState::Unplanned(reason) => Some(reason),
        }
    }
}

fn state(side: &Session<'_>, subject: &Subject) -> CellState {
    let Some((load, target)) = side.load(subject).zip(subject.target.as_ref()) else {
        return CellState::Unplanned("did not plan it".to_owned());
    };
    let Some(number) = load.number(target) else {
        return unplanned(side.target(target), &subject.workload);
    };
    if load.at.has_failed(number) {
        let (heats, reasons) = load.failures(number);
        let last = reasons.last().map_or("", String::as_str);
        return CellState::Failed(format!(
            "failed in {} of {heats} heats, {last}",
            reasons.len()
        ));
    }
    if load.is_bound(number) {
        let reason = "is a lower bound: the generator was the limit";
        return CellState::Lacking(reason.to_owned());
    }
    let has_figure = |metric| !load.logs(metric, number).is_empty();
    if Metric::ALL.into_iter().any(has_figure) {
        CellState::Counts(number)
    } else {
        CellState::Lacking("has no heat that counts".to_owned())
    }
}

/// Why a session did not plan a stack that it was asked for.
fn unplanned(target: Option<&TargetRecord>, workload: &str) -> CellState {
    let Some(target) = target else {
        return CellState::Unplanned("was not asked for it".to_owned());
    };
    match &target.state {
        TargetState::Failed(failure) => CellState::Failed(format!("failed {}", failure.in_words())),
        TargetState::Unavailable { reason, remedy } => CellState::Unplanned(format!(
            "was unavailable: {reason} (to change that: {remedy})"
        )),
        TargetState::Ready { .. } => match target.failed_workload(workload) {
            Some(failure) => CellState::Failed(format!("failed {}", failure.in_words())),
            None => CellState::Unplanned("did not plan it".to_owned()),
        },
    }
}

/// The rate of an open loop follows from what a session found to be the capacity. Response times at two rates say
/// nothing of each other: at 70 % of its capacity a server that is 7 % nearer to it waits much longer.
fn other_rates(sides: &[Session<'_>; 2], subject: &Subject, numbers: Numbers) -> Option<String> {
    let [a, b] = sides.each_ref().map(|side| side.load(subject));
    let (a, b) = (a?.offered(numbers[0])?, b?.offered(numbers[1])?);
    (a != b).then(|| {
        format!(
            "the offered rate was {a}/s in A and {b}/s in B, and response times at two rates say nothing of each other"
        )
    })
}

/// What to know of a cell that is compared.
pub(super) fn notes(sides: &[Session<'_>; 2], subject: &Subject, numbers: Numbers) -> Vec<Warning> {
    let mut notes = Vec::new();
    for ((side, name), number) in sides.iter().zip(NAMES).zip(numbers) {
        let Some(load) = side.load(subject) else {
            continue;
        };
        let (heats, failures) = load.failures(number);
        if let Some(last) = failures.last() {
            let sentence = format!("{name} failed in 1 of {heats} heats, {last}.");
            notes.push(note("failed-heat", sentence));
        }
        notes.extend(unsteady(
            name,
            load.at.unsteady_heats(number) as usize,
            heats,
        ));
    }
    notes
}
