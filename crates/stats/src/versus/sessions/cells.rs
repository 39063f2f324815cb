//! Which cells of two sessions can be compared, and with which trials.

use deadheat_model::{
    Cell, LoadPoint, SessionRecord, TargetId, TrialOutcome,
    session::{TargetRecord, TargetState},
};

use super::{Bounds, Found, Metric, Ratio, Subject, Trials, unpaired::Sample};
use crate::{
    Analysis, CellAnalysis, TrialAnalysis, analyse,
    verdict::{CellVerdict, FailReason, TrialVerdict},
};

/// A session and what it says.
pub(in crate::versus) struct Session<'a> {
    pub(in crate::versus) record: &'a SessionRecord,
    pub(super) analysis: Analysis,
}

/// How the sides are called.
const NAMES: [&str; 2] = ["A", "B"];

impl<'a> Session<'a> {
    pub(in crate::versus) fn new(record: &'a SessionRecord) -> Self {
        Self {
            record,
            analysis: analyse(record),
        }
    }

    fn target(&self, target: &TargetId) -> Option<&TargetRecord> {
        let mut targets = self.record.header.targets.iter();
        targets.find(|record| record.target == *target)
    }

    fn point(&self, workload: &str, point: &str) -> Option<&LoadPoint> {
        let mut workloads = self.record.header.plan.workloads.iter();
        let workload = workloads.find(|planned| planned.id == workload)?;
        workload.points.iter().find(|planned| planned.id == point)
    }

    /// Every load point, in the order of the plan.
    fn points(&self) -> impl Iterator<Item = (&str, &str)> {
        let workloads = self.record.header.plan.workloads.iter();
        workloads.flat_map(|workload| {
            let points = workload.points.iter();
            points.map(|point| (workload.id.as_str(), point.id.as_str()))
        })
    }

    fn plans(&self, subject: &Subject) -> bool {
        let cells = &self.record.header.plan.cells;
        subject.cell().is_some_and(|cell| cells.contains(&cell))
    }

    /// A cell of a stack or of a control.
    pub(in crate::versus) fn cell(
        &self,
        target: &TargetId,
        workload: &str,
        point: &str,
    ) -> Option<&CellAnalysis> {
        let mut groups = self.analysis.groups.iter();
        let group = groups.find(|group| group.workload == workload && group.point.id == point)?;
        let ceiling = group.ceiling.iter().map(|ceiling| &ceiling.cell);
        let twin = group.twin.iter().map(|twin| &twin.cell);
        let mut cells = group.cells.iter().chain(ceiling).chain(twin);
        cells.find(|cell| cell.target == *target)
    }

    /// The trials of a cell that count, with their blocks.
    pub(in crate::versus) fn found(&self, cell: &CellAnalysis) -> Vec<(u32, Found)> {
        self.found_where(cell, |verdict| *verdict == TrialVerdict::Counts)
    }

    /// The null server's trials at a load point that neither failed nor were void. That the generator was the limit in
    /// them, as it usually is, takes nothing from them: a machine that is slower slows the generator, too.
    fn null(&self, workload: &str, point: &str) -> Option<Vec<Found>> {
        let null = self.record.header.plan.controls.null_server.as_ref()?;
        let cell = self.cell(null, workload, point)?;
        let found = self.found_where(cell, |verdict| {
            matches!(
                verdict,
                TrialVerdict::Counts | TrialVerdict::GeneratorLimited { .. }
            )
        });
        Some(found.into_iter().map(|(_, found)| found).collect())
    }

    fn found_where(
        &self,
        cell: &CellAnalysis,
        wanted: impl Fn(&TrialVerdict) -> bool,
    ) -> Vec<(u32, Found)> {
        let of = |trial: &TrialAnalysis| {
            let (figures, record) = (
                trial.figures.as_ref()?,
                self.record.trials.get(trial.record)?,
            );
            let TrialOutcome::Measured(measured) = &record.outcome else {
                return None;
            };
            Some((trial.block, Found::of_trial(&measured.load, figures)))
        };
        let trials = cell.trials.iter().filter(|trial| wanted(&trial.verdict));
        trials.filter_map(of).collect()
    }

    /// The rates that an open loop was given in a cell, each once.
    fn offered(&self, cell: &Cell) -> Vec<f64> {
        let trials = self.record.trials.iter();
        let trials = trials.filter(|trial| trial.cell == *cell);
        let mut rates: Vec<f64> = trials
            .filter_map(|trial| trial.offered_per_second)
            .collect();
        rates.dedup();
        rates
    }
}

impl Subject {
    /// The cell of a session.
    fn cell(&self) -> Option<Cell> {
        Some(Cell {
            target: self.target.clone()?,
            workload: self.workload.clone(),
            point: self.point.clone(),
        })
    }
}

/// What could be compared: stacks that both sessions were asked for at load points that both have, if at least one
/// planned it. In the order of A's plan; without the controls.
pub(super) fn candidates(sides: &[Session<'_>; 2]) -> Vec<Subject> {
    let [a, b] = sides;
    let control = |target: &TargetId| {
        let mut sides = sides.iter();
        sides.any(|side| side.record.header.plan.controls.has(target))
    };
    let shared = |target: &&TargetRecord| b.target(&target.target).is_some();
    let targets = a.record.header.targets.iter().filter(shared);
    let targets: Vec<&TargetId> = targets
        .map(|record| &record.target)
        .filter(|target| !control(target))
        .collect();
    let points = a
        .points()
        .filter(|(workload, point)| b.point(workload, point).is_some());
    let subjects = points.flat_map(|(workload, point)| {
        let targets = targets.iter();
        targets.map(move |target| Subject {
            target: Some((*target).clone()),
            workload: workload.to_owned(),
            point: point.to_owned(),
        })
    });
    let planned = |subject: &Subject| sides.iter().any(|side| side.plans(subject));
    subjects.filter(planned).collect()
}

/// The trials of both sides, or why they cannot be compared and whether it is because B failed.
pub(super) fn trials_of<'a>(
    sides: &[Session<'a>; 2],
    subject: &Subject,
) -> Result<Trials, (String, bool)> {
    let states = sides.each_ref().map(|side| state(side, subject));
    let b_failed = matches!(states[1], State::Failed(_));
    let reasons: Vec<String> = states
        .iter()
        .zip(NAMES)
        .filter_map(|(state, name)| Some(format!("{name} {}", state.reason()?)))
        .chain(other_rates(sides, subject))
        .collect();
    match states {
        [State::Counts(a), State::Counts(b)] if reasons.is_empty() => Ok([a, b]),
        _ => Err((reasons.join("; "), b_failed)),
    }
}

/// What a cell of a session is worth for a comparison; the reason follows the session's name.
pub(in crate::versus) enum State {
    Counts(Vec<Found>),
    Failed(String),
    Lacking(String),
}

impl State {
    pub(in crate::versus) fn reason(&self) -> Option<&str> {
        match self {
            State::Counts(_) => None,
            State::Failed(reason) | State::Lacking(reason) => Some(reason),
        }
    }
}

pub(in crate::versus) fn state(side: &Session<'_>, subject: &Subject) -> State {
    let Some(target) = &subject.target else {
        return State::Lacking("names no stack".to_owned());
    };
    if !side.plans(subject) {
        return unplanned(side.target(target), &subject.workload);
    }
    let Some(cell) = side.cell(target, &subject.workload, &subject.point) else {
        return State::Lacking("was not measured".to_owned());
    };
    match &cell.verdict {
        CellVerdict::Failed {
            failed,
            of,
            reasons,
        } => {
            let first = reasons.first().map_or(String::new(), because);
            State::Failed(format!("failed in {failed} of {of} trials{first}"))
        }
        _ if side.analysis.blocks.incomplete => State::Lacking("has no complete block".to_owned()),
        CellVerdict::Counts => {
            let found: Vec<Found> = side
                .found(cell)
                .into_iter()
                .map(|(_, found)| found)
                .collect();
            match found.len() {
                0 => State::Lacking("has no trial that counts".to_owned()),
                _ => State::Counts(found),
            }
        }
        CellVerdict::LowerBound { limited, of, .. } => State::Lacking(format!(
            "is a lower bound: the generator was the limit in {limited} of {of} trials"
        )),
        CellVerdict::Void { void } => State::Lacking(format!(
            "has no trial that counts: {void} were void, because others used the machine"
        )),
        CellVerdict::NotMeasured => State::Lacking("has no trial that counts".to_owned()),
    }
}

/// Why a session did not plan a stack that it was asked for.
fn unplanned(target: Option<&TargetRecord>, workload: &str) -> State {
    let Some(target) = target else {
        return State::Lacking("was not asked for it".to_owned());
    };
    match &target.state {
        TargetState::Failed(failure) => {
            let phase = failure.phase.describe();
            State::Failed(format!("failed while {phase}: {}", failure.reason))
        }
        TargetState::Unavailable { reason, remedy } => State::Lacking(format!(
            "was unavailable: {reason} (to change that: {remedy})"
        )),
        TargetState::Ready { .. } => match target.failed_workload(workload) {
            Some(failure) => State::Failed(format!("failed its check: {}", failure.reason)),
            None => State::Lacking("did not plan it".to_owned()),
        },
    }
}

pub(in crate::versus) fn because(reason: &FailReason) -> String {
    match reason {
        FailReason::Outcome { phase, reason } => format!(", {}: {reason}", phase.describe()),
        FailReason::WrongAnswers { count } => format!(", wrong answers: {count}"),
        FailReason::TransportFailures { count, ended } => {
            format!(", requests lost on the way: {count} of {ended}")
        }
        FailReason::NoSuccess => ", without one verified answer".to_owned(),
        FailReason::NotConserved => ", because the generator's counts do not add up".to_owned(),
    }
}

/// The rate of an open loop follows from what a session found to be the capacity, to two digits. At two rates two
/// response times say nothing of each other: at 70 % of its capacity a server that is 7 % nearer to it waits much longer.
fn other_rates(sides: &[Session<'_>; 2], subject: &Subject) -> Option<String> {
    let [a, b] = rates(sides, subject)?;
    (a != b).then(|| {
        format!("the offered rate was {a} in A and {b} in B, and response times at two rates say nothing of each other")
    })
}

/// The offered rates of both sides, in words.
fn rates(sides: &[Session<'_>; 2], subject: &Subject) -> Option<[String; 2]> {
    let cell = subject.cell()?;
    let [a, b] = sides.each_ref().map(|side| {
        let rates = side.offered(&cell);
        let words: Vec<String> = rates.iter().map(|rate| format!("{rate}/s")).collect();
        (!words.is_empty()).then(|| words.join(" and "))
    });
    Some([a?, b?])
}

/// What to know of a cell that is compared.
pub(super) fn notes(sides: &[Session<'_>; 2], subject: &Subject) -> Vec<String> {
    let mut notes = Vec::new();
    for (side, name) in sides.iter().zip(NAMES) {
        let target = subject.target.as_ref();
        let cell = target.and_then(|target| side.cell(target, &subject.workload, &subject.point));
        let Some(cell) = cell else { continue };
        let flagged = cell.trials.iter().filter(|trial| !trial.flags.is_empty());
        match flagged.count() {
            0 => {}
            count => notes.push(format!(
                "{count} of {} trials of {name} have a flag (`deadheat report` says which)",
                cell.trials.len()
            )),
        }
    }
    notes
}

/// How far a stack was from itself at this load point: the larger of both sessions' A/A floors.
pub(in crate::versus) fn floor(
    sides: &[Session<'_>; 2],
    subject: &Subject,
    metric: Metric,
) -> Option<f64> {
    let of = |side: &Session<'_>| {
        let twin = side.record.header.plan.controls.twin.as_ref()?;
        let cell = |target| side.cell(target, &subject.workload, &subject.point);
        let (twin, original) = (side.found(cell(&twin.name)?), side.found(cell(&twin.of)?));
        let pairs = original.iter().filter_map(|(block, one)| {
            let (_, other) = twin.iter().find(|(other, _)| other == block)?;
            Some((one.get(metric)?, other.get(metric)?))
        });
        from_itself(&pairs.collect::<Vec<_>>())
    };
    sides.iter().filter_map(of).max_by(f64::total_cmp)
}

/// How far one thing was from itself: the distance from 1 of the geometric mean of the ratios of two names of it.
/// `None` without a pair.
fn from_itself(pairs: &[(f64, f64)]) -> Option<f64> {
    let is_figure = |value: f64| value.is_finite() && value > 0.0;
    let pairs = pairs.iter().filter(|(a, b)| is_figure(*a) && is_figure(*b));
    let logs: Vec<f64> = pairs.map(|(a, b)| (b / a).ln()).collect();
    let mean = logs.iter().sum::<f64>() / logs.len() as f64;
    (!logs.is_empty()).then(|| mean.abs().exp() - 1.0)
}

/// How far the null server, the same program in both sessions, was from itself: the distance from 1 of the ratio of its
/// throughputs in B and A at this load point, of an open one at the closed one whose capacity it takes a share of. A
/// stack that differs by less may differ because the machine did. `None` where a session has no such trial.
pub(super) fn moved(sides: &[Session<'_>; 2], subject: &Subject, bounds: &Bounds) -> Option<f64> {
    let point = sides[0].point(&subject.workload, &subject.point)?;
    let closed = point.open.as_ref().map(|open| open.capacity_of.as_str());
    let closed = closed.unwrap_or(&subject.point);
    let ratio = null_ratio(sides, &subject.workload, closed, bounds)?;
    Some(distance(ratio.ratio))
}

/// The null server's throughput in B over that in A.
fn null_ratio(
    sides: &[Session<'_>; 2],
    workload: &str,
    point: &str,
    bounds: &Bounds,
) -> Option<Ratio> {
    let [a, b] = sides.each_ref().map(|side| side.null(workload, point));
    Some(Sample::of(Metric::Throughput, &[a?, b?])?.ratio(None, None, bounds))
}

fn distance(ratio: f64) -> f64 {
    ratio.ln().abs().exp() - 1.0
}

/// What the null server says of the machine at the two times: a sentence for each load point at which it differed.
pub(super) fn drift(sides: &[Session<'_>; 2], bounds: &Bounds) -> Vec<String> {
    let of = |(workload, point): (&str, &str)| {
        let ratio = null_ratio(sides, workload, point, bounds)?;
        let moved = distance(ratio.ratio) > bounds.practical_difference;
        (ratio.p? < bounds.alpha && moved).then(|| {
            format!(
                "the null server, the same program in both sessions, answered {:.3} times as much in B as in A at \
                 {workload} {point}: the machine was not the same, and every difference there may come from that",
                ratio.ratio
            )
        })
    };
    sides[0].points().filter_map(of).collect()
}

/// Stacks that failed before their first trial in both sessions.
pub(super) fn failed_in_both(sides: &[Session<'_>; 2]) -> Option<String> {
    let [a, b] = sides;
    let failed = |record: &&TargetRecord| matches!(record.state, TargetState::Failed(_));
    let both = a
        .record
        .header
        .targets
        .iter()
        .filter(failed)
        .filter_map(|record| {
            let of_b = b.target(&record.target).filter(failed)?;
            let TargetState::Failed(failure) = &of_b.state else {
                return None;
            };
            let phase = failure.phase.describe();
            Some(format!(
                "{} failed while {phase}: {}",
                record.target, failure.reason
            ))
        });
    let both: Vec<String> = both.collect();
    (!both.is_empty()).then(|| both.join("; "))
}
