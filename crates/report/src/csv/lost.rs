//! Rows for what has no trial, so that no stack is missing in silence.

use std::collections::BTreeSet;

use deadheat_model::{Cell, SessionRecord, session::TargetState, trial::TrialFailure};
use deadheat_stats::{Analysis, Group};

use super::{Row, standing::cell_word};
use crate::view::{clean, failed};

/// Stacks that could not be measured, workloads that a stack does not answer rightly, cells without a trial.
pub fn rows(record: &SessionRecord, analysis: &Analysis) -> Vec<Row> {
    let mut rows = Vec::new();
    for target in &record.header.targets {
        let row = Row::about(record, &target.target);
        match &target.state {
            TargetState::Ready { .. } => {}
            TargetState::Unavailable { reason, remedy } => rows.push(Row {
                outcome: "unavailable".to_owned(),
                reason: format!("{}; to change that: {}", clean(reason), clean(remedy)),
                ..row.clone()
            }),
            TargetState::Failed(failure) => rows.push(row.clone().failed(failure)),
        }
        for lost in &target.failed_workloads {
            let row = row.clone().at(&lost.workload, "", None);
            rows.push(row.failed(&lost.failure));
        }
    }
    let measured: BTreeSet<&Cell> = record.trials.iter().map(|trial| &trial.cell).collect();
    let planned = record.header.plan.cells.iter();
    let without = planned.filter(|cell| !measured.contains(cell));
    rows.extend(without.map(|cell| not_measured(record, analysis, cell)));
    rows
}

fn not_measured(record: &SessionRecord, analysis: &Analysis, planned: &Cell) -> Row {
    let is_here =
        |group: &&Group| group.workload == planned.workload && group.point.id == planned.point;
    let group = analysis.groups.iter().find(is_here);
    let cell = group.and_then(|group| {
        let mut cells = group.all_cells();
        cells.find(|cell| cell.target == planned.target)
    });
    let row = Row::about(record, &planned.target);
    Row {
        cell: cell.map_or(String::new(), |cell| cell_word(&cell.verdict)),
        outcome: "not-measured".to_owned(),
        reason: "it was planned, and no trial of it is recorded".to_owned(),
        ..row.at(
            &planned.workload,
            &planned.point,
            group.map(|group| &group.point),
        )
    }
}

impl Row {
    fn failed(self, failure: &TrialFailure) -> Self {
        Self {
            outcome: "failed".to_owned(),
            reason: format!("{}: {}", failed(failure.phase), clean(&failure.reason)),
            ..self
        }
    }
}
