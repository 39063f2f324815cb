//! Two stacks, in blocks of one session.

use std::collections::BTreeSet;

use deadheat_model::{SessionRecord, TargetId};

use super::Judged;
use crate::{
    CellAnalysis,
    sequential::Look,
    verdict::CellVerdict,
    versus::{
        Bounds, Compared, Found, NotCompared, Subject,
        found::series,
        paired::{self, PairedCell},
        sessions::{Session, State, floor, state},
    },
};

/// What the complete blocks up to `look` say of `b` against `a`, at each load point of the session; without a look
/// nothing is compared yet.
pub fn judge(
    record: &SessionRecord,
    a: &TargetId,
    b: &TargetId,
    look: Option<Look>,
    bounds: &Bounds,
) -> Judged {
    // Without a look no ratio is made, so that all that has failed so far may be seen.
    let blocks = look.map_or(u32::MAX, |look| look.blocks);
    let record = first_blocks(record, blocks);
    // The same session twice: in it the sides are two stacks.
    let sides = [Session::new(&record), Session::new(&record)];
    let (mut cells, mut not_compared) = (Vec::new(), Vec::new());
    let mut failed = false;
    for subject in subjects(&record) {
        match paired(&sides, a, b, &subject) {
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

/// The blocks in which both stacks have a trial that counts, or why they cannot be compared.
fn paired(
    sides: &[Session<'_>; 2],
    a: &TargetId,
    b: &TargetId,
    subject: &Subject,
) -> Result<PairedCell, Hindrance> {
    let under = |target: &TargetId| Subject {
        target: Some(target.clone()),
        ..subject.clone()
    };
    let subjects = [under(a), under(b)];
    let [of_a, of_b] = &subjects;
    let cell = |side: usize, target| sides[side].cell(target, &subject.workload, &subject.point);
    let cells = [cell(0, a), cell(1, b)];
    // A cell that has no trial yet, or whose trials were void, may get one in the blocks to come.
    let hopeful = |cell: &Option<&CellAnalysis>| {
        let verdict = cell.map(|cell| &cell.verdict);
        matches!(
            verdict,
            Some(CellVerdict::NotMeasured | CellVerdict::Void { .. })
        )
    };
    let states = [state(&sides[0], of_a), state(&sides[1], of_b)];
    let failed = states
        .each_ref()
        .map(|state| matches!(state, State::Failed(_)));
    let reasons: Vec<String> = states
        .iter()
        .zip(&cells)
        .zip(["A", "B"])
        .filter(|((_, cell), _)| !hopeful(cell))
        .filter_map(|((state, _), name)| Some(format!("{name} {}", state.reason()?)))
        .collect();
    if !reasons.is_empty() {
        return Err(Hindrance {
            reason: reasons.join("; "),
            failed,
        });
    }
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
    Ok(PairedCell {
        series: series(&pairs, |metric| floor(sides, subject, metric)),
        notes: notes(&cells),
        subject: subject.clone(),
    })
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
