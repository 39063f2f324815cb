//! Which cells of two sessions can be compared, and the figures of each heat of a load.

use deadheat_model::{
    TargetId,
    heats::SessionRecord,
    session::{TargetRecord, TargetState},
    warning::{Warning, note},
};

use super::{CellId, Metric, unsteady};
use crate::{
    heats::{Quantity, Settings, ranking::bounded, recorded, within::Estimate},
    interval::median,
    standings::{LoadAt, settings},
};

/// A session and its loads.
pub(super) struct SessionSide<'a> {
    /// What sentences call it.
    pub(super) name: &'a str,
    pub(super) record: &'a SessionRecord,
    pub(super) loads: Vec<SideLoad<'a>>,
}

/// A stack's numbers in A and B.
pub(super) type Numbers = [usize; 2];

impl<'a> SessionSide<'a> {
    pub(super) fn new(name: &'a str, record: &'a SessionRecord) -> Self {
        let loads = 0..record.header.plan.loads.len();
        let settings = settings(&record.header.plan);
        Self {
            name,
            record,
            loads: loads
                .map(|index| SideLoad::new(record, index, settings))
                .collect(),
        }
    }

    pub(super) fn load(&self, subject: &CellId) -> Option<&SideLoad<'a>> {
        let mut loads = self.loads.iter();
        loads.find(|load| load.is(&subject.workload, &subject.point))
    }

    /// The cells of a stack (or of no stack), one for each load.
    pub(super) fn subjects(&self, target: Option<&TargetId>) -> impl Iterator<Item = CellId> {
        self.record
            .header
            .plan
            .loads
            .iter()
            .map(move |load| CellId {
                target: target.cloned(),
                workload: load.workload.clone(),
                point: load.point.id.clone(),
            })
    }

    fn target(&self, target: &TargetId) -> Option<&'a TargetRecord> {
        self.record.header.target(target)
    }
}

/// The cells that may be compared: stacks and loads that both sessions planned, if at least one session measured the
/// stack there or it failed. In the order of A's plan.
pub(super) fn candidates(sides: &[SessionSide<'_>; 2]) -> Vec<CellId> {
    let [a, b] = sides;
    let targets = a.record.header.targets.iter().map(|record| &record.target);
    let shared: Vec<&TargetId> = targets
        .filter(|target| b.target(target).is_some())
        .collect();
    let loads = a.subjects(None).filter(|load| b.load(load).is_some());
    let subjects = loads.flat_map(|load| {
        let subject = |target: &&TargetId| CellId {
            target: Some((*target).clone()),
            ..load.clone()
        };
        shared.iter().map(subject).collect::<Vec<_>>()
    });
    let is_one = |subject: &CellId| {
        let states = sides.iter().map(|side| state(side, subject));
        states
            .into_iter()
            .any(|state| !matches!(state, CellState::Unplanned(_)))
    };
    subjects.filter(is_one).collect()
}

/// A stack's numbers in both sessions; or the reason why they cannot be compared, and whether it is that B failed.
pub(super) fn numbers(
    sides: &[SessionSide<'_>; 2],
    subject: &CellId,
) -> Result<Numbers, (String, bool)> {
    let states = sides.each_ref().map(|side| state(side, subject));
    if let [Some(a), Some(b)] = states.each_ref().map(CellState::number)
        && let Some(reason) = other_rates(sides, subject, [a, b])
    {
        return Err((reason, false));
    }
    let b_failed = match states {
        [CellState::Counts(a), CellState::Counts(b)] => return Ok([a, b]),
        [_, CellState::Failed(_)] => true,
        // As in the same heats: a rate that A takes only sometimes is no measure of B.
        [CellState::Counts(a), CellState::Overloaded(..)] => {
            let load = sides[0].load(subject);
            load.is_some_and(|load| load.at.overloads(a).is_none())
        }
        _ => false,
    };
    let reasons = states.iter().zip(sides);
    let reasons: Vec<String> = reasons
        .filter_map(|(state, side)| Some(format!("{} {}", side.name, state.reason()?)))
        .collect();
    Err((reasons.join("; "), b_failed))
}

/// The state of a session's cell in a comparison. A reason is written after the session's name.
enum CellState {
    /// The stack has figures, under this number.
    Counts(usize),
    /// The stack, under this number, could not take the rate.
    Overloaded(usize, String),
    /// The stack failed.
    Failed(String),
    /// The stack was measured, but has no figures to compare.
    Lacking(String),
    /// The stack was not planned.
    Unplanned(String),
}

impl CellState {
    /// The number of a stack that was measured at the load.
    fn number(&self) -> Option<usize> {
        match self {
            CellState::Counts(number) | CellState::Overloaded(number, _) => Some(*number),
            CellState::Failed(_) | CellState::Lacking(_) | CellState::Unplanned(_) => None,
        }
    }

    fn reason(&self) -> Option<&str> {
        match self {
            CellState::Counts(_) => None,
            CellState::Overloaded(_, reason)
            | CellState::Failed(reason)
            | CellState::Lacking(reason)
            | CellState::Unplanned(reason) => Some(reason),
        }
    }
}

fn state(side: &SessionSide<'_>, subject: &CellId) -> CellState {
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
    let overloads = load.at.overloads(number);
    if let Some(reason) = overloads.in_words().filter(|_| overloads.are_most()) {
        let reason = format!("cannot take the rate: {reason}");
        return CellState::Overloaded(number, reason);
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

/// The reason why a session did not plan a requested stack.
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

/// The reason why two open loops cannot be compared: each session derives the rate from the capacity that it measured,
/// and response times at two rates are not comparable.
fn other_rates(sides: &[SessionSide<'_>; 2], subject: &CellId, numbers: Numbers) -> Option<String> {
    let [in_a, in_b] = sides.each_ref().map(|side| side.name);
    let [a, b] = sides.each_ref().map(|side| side.load(subject));
    let (a, b) = (a?.offered(numbers[0])?, b?.offered(numbers[1])?);
    (a != b).then(|| {
        format!(
            "the offered rate was {a}/s in {in_a} and {b}/s in {in_b}, and response times at two rates say nothing of \
             each other"
        )
    })
}

/// Notes about a compared cell.
pub(super) fn notes(
    sides: &[SessionSide<'_>; 2],
    subject: &CellId,
    numbers: Numbers,
) -> Vec<Warning> {
    let mut notes = Vec::new();
    for (side, number) in sides.iter().zip(numbers) {
        let Some(load) = side.load(subject) else {
            continue;
        };
        let name = side.name;
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
pub(super) struct SideLoad<'a> {
    pub(super) at: LoadAt<'a>,
    /// For each metric: a member's number and the logarithm of its figure, for each heat that has one.
    logs: Vec<(Metric, Vec<(usize, f64)>)>,
    bounded: Vec<bool>,
}

impl<'a> SideLoad<'a> {
    /// The load at this place of the plan.
    pub(super) fn new(record: &'a SessionRecord, index: usize, settings: Settings) -> Self {
        let at = LoadAt::new(record, index, settings);
        let series = at.heat_series();
        let cost = at.slice_estimates(&series, Quantity::Cost);
        let mut all = vec![(Metric::CpuPerRequest, logs(Quantity::Cost, 1e6, &cost))];
        if at.load.point.open.is_some() {
            let times = |percent| logs(Quantity::Latency, 1.0, &at.timed(percent));
            all.push((Metric::ResponseTimeP50, times(50.0)));
            all.push((Metric::ResponseTimeP99, times(99.0)));
        } else {
            // The throughput of an open loop is the rate that was asked for.
            let throughput = at.slice_estimates(&series, Quantity::Throughput);
            let logs = logs(Quantity::Throughput, 1.0, &throughput);
            all.push((Metric::Throughput, logs));
        }
        let memory = (0..at.load.members()).flat_map(|number| {
            let peaks = at.sound(number).filter_map(|one| one.memory_here()?.peak);
            peaks.map(move |bytes| (number, (bytes as f64).ln()))
        });
        all.push((Metric::MemoryPeak, memory.collect()));
        Self {
            bounded: bounded(&series, &settings),
            logs: all,
            at,
        }
    }

    pub(super) fn is(&self, workload: &str, point: &str) -> bool {
        self.at.load.workload == workload && self.at.load.point.id == point
    }

    /// The number of a planned stack.
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

    /// The number of heats in which a member took part, and the reason of each failure.
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

/// Converts estimates to logarithms of figures; `units` is the number of target units in the quantity's own unit.
fn logs(quantity: Quantity, units: f64, heats: &[Vec<Estimate>]) -> Vec<(usize, f64)> {
    let estimates = heats.iter().flatten();
    let log = |one: &Estimate| (one.member, (quantity.figure(one.value) * units).ln());
    estimates.map(log).collect()
}
