//! Two stacks, in blocks of one session.

use std::collections::BTreeSet;

use deadheat_model::{SessionRecord, TargetId, TrialRecord};

use super::Judged;
use crate::{
    CellAnalysis, Settings,
    sequential::Look,
    verdict::{CellVerdict, failure},
    versus::{
        Bounds, Compared, Found, NotCompared, Subject,
        found::series,
        paired::{self, PairedCell},
        sessions::{Session, State, because, biased_in, floor, state},
    },
};

/// What the complete blocks up to `look` say of `b` against `a`, at each load point of the session; without a look
/// nothing is compared yet. Figures are of these blocks alone; what fails or hinders counts whenever it was, also after
/// the look.
pub fn judge(
    record: &SessionRecord,
    a: &TargetId,
    b: &TargetId,
    look: Option<Look>,
    bounds: &Bounds,
) -> Judged {
    let first = first_blocks(record, look.map_or(u32::MAX, |look| look.blocks));
    // The same session twice: in it the sides are two stacks.
    let figures = [Session::new(&first), Session::new(&first)];
    let whole = Session::new(record);
    let (mut cells, mut not_compared) = (Vec::new(), Vec::new());
    let mut failed = false;
    for subject in subjects(record) {
        let cell = match hindrance(&whole, [a, b], &subject) {
            Some(hindrance) => Err(hindrance),
            None => Ok(paired(&figures, [a, b], &subject)),
        };
        match cell {
            Ok(cell) => cells.push(cell),
            Err(hindrance) => {
                let [a_failed, b_failed] = hindrance.failed;
                failed |= a_failed || b_failed;
                not_compared.push(NotCompared {
                    subject,
                    reason: hindrance.reason,
                    b_failed,
                });
            }
        }
    }
    let compared = match look {
        Some(look) => paired::at_look(&cells, look, bounds),
        None => cells
            .into_iter()
            .map(|cell| Compared {
                subject: cell.subject,
                ratios: Vec::new(),
                notes: cell.notes,
            })
            .collect(),
    };
    Judged {
        compared,
        not_compared,
        failed,
    }
}

/// That the A/A pair of the session, one stack under two names, differed, if so.
pub fn biased(record: &SessionRecord) -> Option<String> {
    biased_in(&Session::new(record), "this comparison")
}

/// How many blocks are complete.
pub fn complete_blocks(record: &SessionRecord) -> u32 {
    record.complete_blocks().len() as u32
}

/// The session as it was after so many complete blocks.
fn first_blocks(record: &SessionRecord, blocks: u32) -> SessionRecord {
    let complete = record.complete_blocks().into_iter();
    let kept: BTreeSet<u32> = complete.take(blocks as usize).collect();
    let mut record = record.clone();
    record.trials.retain(|trial| kept.contains(&trial.block));
    record
}

/// Every load point at which a stack was to be measured, in the order of the plan.
fn subjects(record: &SessionRecord) -> Vec<Subject> {
    let plan = &record.header.plan;
    let points = plan.workloads.iter().flat_map(|workload| {
        let points = workload.points.iter();
        points.map(|point| (workload.id.clone(), point.id.clone()))
    });
    points
        .map(|(workload, point)| Subject {
            target: None,
            workload,
            point,
        })
        .collect()
}

/// Why two cells cannot be compared.
struct Hindrance {
    reason: String,
    /// Which sides failed, A first.
    failed: [bool; 2],
}

/// Why the two stacks cannot be compared at a load point, if so.
fn hindrance(whole: &Session<'_>, targets: [&TargetId; 2], subject: &Subject) -> Option<Hindrance> {
    let mut failed = [false; 2];
    let mut reasons = Vec::new();
    for ((target, name), failed) in targets.into_iter().zip(["A", "B"]).zip(&mut failed) {
        let own = under(subject, target);
        let mut state = state(whole, &own);
        if !matches!(state, State::Failed(_))
            && let Some(reason) = failed_trial(whole.record, &own)
        {
            state = State::Failed(reason);
        }
        *failed = matches!(state, State::Failed(_));
        // A cell that has no trial yet, or whose trials were void, may get one in the blocks to come.
        let verdict = whole
            .cell(target, &subject.workload, &subject.point)
            .map(|cell| &cell.verdict);
        let hopeful = matches!(
            verdict,
            Some(CellVerdict::NotMeasured | CellVerdict::Void { .. })
        );
        if let Some(reason) = state.reason().filter(|_| *failed || !hopeful) {
            reasons.push(format!("{name} {reason}"));
        }
    }
    (!reasons.is_empty()).then(|| Hindrance {
        reason: reasons.join("; "),
        failed,
    })
}

fn under(subject: &Subject, target: &TargetId) -> Subject {
    Subject {
        target: Some(target.clone()),
        ..subject.clone()
    }
}

/// Why a trial of a cell failed, if one did, also in a block that was never completed.
fn failed_trial(record: &SessionRecord, subject: &Subject) -> Option<String> {
    let of_cell = |trial: &&TrialRecord| {
        let cell = &trial.cell;
        subject.target.as_ref() == Some(&cell.target)
            && (&cell.workload, &cell.point) == (&subject.workload, &subject.point)
    };
    let mut trials = record.trials.iter().filter(of_cell);
    trials.find_map(|trial| {
        let reason = failure(trial, &Settings::default())?;
        let because = because(&reason);
        Some(format!("failed in block {}{because}", trial.block + 1))
    })
}

/// The blocks in which both stacks have a trial that counts.
fn paired(sides: &[Session<'_>; 2], targets: [&TargetId; 2], subject: &Subject) -> PairedCell {
    let [a, b] = targets;
    let cell = |side: usize, target| sides[side].cell(target, &subject.workload, &subject.point);
    let cells = [cell(0, a), cell(1, b)];
    let found = |side: usize| -> Vec<(u32, Found)> {
        let cell = cells[side];
        cell.map(|cell| sides[side].found(cell)).unwrap_or_default()
    };
    let other = found(1);
    let pairs: Vec<(Found, Found)> = found(0)
        .into_iter()
        .filter_map(|(block, one)| {
            let (_, other) = other.iter().find(|(of, _)| *of == block)?;
            Some((one, other.clone()))
        })
        .collect();
    PairedCell {
        series: series(&pairs, |metric| floor(sides, subject, metric)),
        notes: notes(&cells),
        subject: subject.clone(),
    }
}

/// What to know of a cell although it counts.
fn notes(cells: &[Option<&CellAnalysis>; 2]) -> Vec<String> {
    let flagged = |(cell, name): (&Option<&CellAnalysis>, &str)| {
        let trials = &cell.as_ref()?.trials;
        let count = trials
            .iter()
            .filter(|trial| !trial.flags.is_empty())
            .count();
        (count > 0).then(|| {
            let of = trials.len();
            format!("{count} of {of} trials of {name} have a flag (`deadheat report` says which)")
        })
    };
    cells.iter().zip(["A", "B"]).filter_map(flagged).collect()
}
