//! Which cells of two sessions can be compared, and the figures of each heat of a load.

use deadheat_model::{
    TargetId,
    heats::SessionRecord,
    session::{TargetRecord, TargetState},
    warning::{Warning, note},
};

use super::{Metric, Subject, unsteady};
use crate::{
    heats::{Quantity, Settings, ranking::bounded, recorded, within::Estimate},
    interval::median,
    standings::{LoadAt, settings},
};

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

/// A load of a session.
pub(super) struct Load<'a> {
    pub(super) at: LoadAt<'a>,
    /// For each metric a member's number and the logarithm of its figure, once for each heat that has it.
    logs: Vec<(Metric, Vec<(usize, f64)>)>,
    bounded: Vec<bool>,
}

impl<'a> Load<'a> {
    /// The load at this place of the plan.
    pub(super) fn new(record: &'a SessionRecord, index: usize, settings: Settings) -> Self {
        let at = LoadAt::new(record, index, settings);
        let course = at.course();
        let cost = at.sliced(&course, Quantity::Cost);
        let mut all = vec![(Metric::CpuPerRequest, logs(Quantity::Cost, 1e6, &cost))];
        if at.load.point.open.is_some() {
            let times = |percent| logs(Quantity::Latency, 1.0, &at.timed(percent));
            all.push((Metric::ResponseTimeP50, times(50.0)));
            all.push((Metric::ResponseTimeP99, times(99.0)));
        } else {
            // The throughput of an open loop is the rate that was asked for.
            let throughput = at.sliced(&course, Quantity::Throughput);
            let logs = logs(Quantity::Throughput, 1.0, &throughput);
            all.push((Metric::Throughput, logs));
        }
        let memory = (0..at.load.members()).flat_map(|number| {
            let peaks = at.sound(number).filter_map(|one| one.memory_here()?.peak);
            peaks.map(move |bytes| (number, (bytes as f64).ln()))
        });
        all.push((Metric::MemoryPeak, memory.collect()));
        Self {
            bounded: bounded(&course, &settings),
            logs: all,
            at,
        }
    }

    pub(super) fn is(&self, workload: &str, point: &str) -> bool {
        self.at.load.workload == workload && self.at.load.point.id == point
    }

    /// The number of a stack that was planned here.
    pub(super) fn number(&self, target: &TargetId) -> Option<usize> {
        let mut targets = self.at.load.targets.iter();
        targets.position(|one| one == target)
    }

    /// The logarithm of a member's figure in each heat that has it.
    pub(super) fn logs(&self, metric: Metric, number: usize) -> Vec<f64> {
        let mut metrics = self.logs.iter();
        let of_metric = metrics.find(|(one, _)| *one == metric);
        let logs = of_metric.into_iter().flat_map(|(_, logs)| logs);
        let own = logs.filter(|(one, log)| *one == number && log.is_finite());
        own.map(|(_, log)| *log).collect()
    }

    /// Whether a stack's throughput is only a lower bound.
    pub(super) fn is_bound(&self, number: usize) -> bool {
        self.at.load.leads() && self.bounded[number]
    }

    /// Heats in which a member took part, and why it failed in those in which it did.
    pub(super) fn failures(&self, number: usize) -> (usize, Vec<String>) {
        let failures = self.at.places(number);
        let failures = failures.filter_map(|(heat, place)| recorded::failure(heat, place));
        (self.at.places(number).count(), failures.collect())
    }

    /// The rate of an open loop: the median over heats.
    pub(super) fn offered(&self, number: usize) -> Option<f64> {
        let members = self.at.sound(number);
        median(members.filter_map(|one| one.offered_per_second))
    }
}

/// Estimates as logarithms of figures, in units of which there are this many to the quantity's own.
fn logs(quantity: Quantity, units: f64, heats: &[Vec<Estimate>]) -> Vec<(usize, f64)> {
    let estimates = heats.iter().flatten();
    let log = |one: &Estimate| (one.member, (quantity.figure(one.value) * units).ln());
    estimates.map(log).collect()
}
