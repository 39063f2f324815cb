//! Which cells a session has: the contenders', and those by which it judges itself.

use std::{collections::BTreeSet, time::Duration};

use deadheat_model::{
    Cell, LoadPoint, TargetId,
    plan::{Controls, Twin},
    stack::Runtime,
};
use rand::{SeedableRng, seq::IndexedRandom};
use rand_chacha::ChaCha8Rng;

use super::{
    Participant,
    open::{derived, is_closed, is_common},
};
use crate::session::{SelectedWorkload, SessionOptions};

/// The trials of one block.
pub(super) struct Layout<'a> {
    /// Workloads with their load points, open ones after the closed one that they follow from.
    pub(super) workloads: Vec<(&'a SelectedWorkload, Vec<LoadPoint>)>,
    /// Contenders' cells first.
    pub(super) cells: Vec<Planned<'a>>,
    /// What the session measures to judge itself.
    pub(super) controls: Controls,
}

/// A cell, and what it stands for.
#[derive(Clone)]
pub(super) struct Planned<'a> {
    pub(super) cell: Cell,
    pub(super) workload: &'a SelectedWorkload,
    pub(super) point: LoadPoint,
    pub(super) runtime: Runtime,
    /// To the first correct answer, once that is known.
    pub(super) ready: Option<Duration>,
}

impl<'a> Layout<'a> {
    /// Everything that `participants` are to be measured at, under open loops too `with_open`.
    pub(super) fn of(
        options: &'a SessionOptions,
        participants: &[Participant],
        with_open: bool,
    ) -> Self {
        let workloads: Vec<(&SelectedWorkload, Vec<LoadPoint>)> = options
            .workloads
            .iter()
            .map(|workload| (workload, points(workload, with_open)))
            .collect();
        let contenders = participants.iter();
        let mut cells: Vec<Planned<'_>> = contenders
            .flat_map(|one| contender(options, one, &workloads))
            .collect();
        let null_server = null_server(&workloads, &cells);
        let (twin, twins) = twin(options.seed, participants, &cells);
        let controls = Controls {
            null_server: null_server.first().map(|one| one.cell.target.clone()),
            twin,
        };
        cells.extend(null_server);
        cells.extend(twins);
        Self {
            workloads,
            cells,
            controls,
        }
    }

    /// Whether a cell is one of an open loop.
    pub(super) fn has_open(&self) -> bool {
        self.cells.iter().any(|one| one.point.open.is_some())
    }
}

fn points(workload: &SelectedWorkload, with_open: bool) -> Vec<LoadPoint> {
    let own = workload.points.iter().flat_map(|point| {
        let open = if with_open {
            derived(point)
        } else {
            Vec::new()
        };
        [point.clone()].into_iter().chain(open)
    });
    own.collect()
}

/// A contender's cells: at the load points that are asked for, and at the open loops that follow from these.
fn contender<'a>(
    options: &SessionOptions,
    participant: &Participant,
    workloads: &[(&'a SelectedWorkload, Vec<LoadPoint>)],
) -> Vec<Planned<'a>> {
    let cell = |workload: &SelectedWorkload, point: &str| Cell {
        target: participant.target.clone(),
        workload: workload.manifest.id.clone(),
        point: point.to_owned(),
    };
    let mut cells = Vec::new();
    for (workload, points) in workloads {
        if !participant.workloads.contains(&workload.manifest.id) {
            continue;
        }
        for point in points {
            let open = point.open.as_ref();
            let origin = open.map_or(&point.id, |open| &open.capacity_of);
            if options.wants(&participant.target, &workload.manifest.id, origin) {
                cells.push(Planned {
                    cell: cell(workload, &point.id),
                    workload,
                    point: point.clone(),
                    runtime: participant.runtime,
                    ready: participant.ready,
                });
            }
        }
    }
    cells
}

/// The null server's cells: one for each closed loop that a contender is measured at.
fn null_server<'a>(
    workloads: &[(&'a SelectedWorkload, Vec<LoadPoint>)],
    contenders: &[Planned<'_>],
) -> Vec<Planned<'a>> {
    let met = |cell: &Cell| {
        let mut cells = contenders.iter().map(|one| &one.cell);
        cells.any(|one| (&one.workload, &one.point) == (&cell.workload, &cell.point))
    };
    let cells = workloads.iter().flat_map(|(workload, points)| {
        let closed = points.iter().filter(|point| is_closed(point));
        closed.map(move |point| Planned {
            cell: Cell {
                target: Controls::null_server_id(),
                workload: workload.manifest.id.clone(),
                point: point.id.clone(),
            },
            workload,
            point: point.clone(),
            runtime: Runtime::Native,
            ready: None,
        })
    });
    cells.filter(|one| met(&one.cell)).collect()
}

/// The twin and its cells: one of the stacks that answer most workloads, and the seed says which.
fn twin<'a>(
    seed: u64,
    participants: &[Participant],
    contenders: &[Planned<'a>],
) -> (Option<Twin>, Vec<Planned<'a>>) {
    let common = |target: &TargetId| -> Vec<&Planned<'a>> {
        let own = contenders.iter().filter(|one| one.cell.target == *target);
        own.filter(|one| is_common(&one.point)).collect()
    };
    let answers = |target: &TargetId| -> usize {
        let cells = common(target).into_iter();
        let workloads: BTreeSet<&String> = cells.map(|one| &one.cell.workload).collect();
        workloads.len()
    };
    let targets = participants.iter().map(|one| &one.target);
    let counted: Vec<(&TargetId, usize)> = targets.map(|one| (one, answers(one))).collect();
    let most = counted.iter().map(|(_, count)| *count).max().unwrap_or(0);
    let eligible: Vec<&TargetId> = counted
        .iter()
        .filter(|(_, count)| *count == most && most > 0)
        .map(|(target, _)| *target)
        .collect();
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let Some(of) = eligible.choose(&mut random) else {
        return (None, Vec::new());
    };
    let twin = Twin {
        name: Controls::twin_id(),
        of: (*of).clone(),
    };
    let cells = common(of).into_iter();
    let cells = cells.map(|one| under(twin.name.clone(), one)).collect();
    (Some(twin), cells)
}

/// `original` under another name.
fn under<'a>(name: TargetId, original: &Planned<'a>) -> Planned<'a> {
    Planned {
        cell: Cell {
            target: name,
            ..original.cell.clone()
        },
        ..original.clone()
    }
}
