//! The whole analysis of a session.

use std::collections::BTreeMap;

use deadheat_model::{Cell, LoadPoint, SessionRecord, TrialRecord, plan::PlannedWorkload};
use serde::Serialize;

use crate::{
    CellAnalysis, Settings, cell,
    compare::{self, Comparison},
    published::{self, TableAnalysis},
    rank::{self, DeadHeat},
};

/// What a session's records say.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Analysis {
    /// The thresholds used.
    pub settings: Settings,
    /// Blocks and trials that count.
    pub blocks: Blocks,
    /// Each workload at each load point, in the order of the plan.
    pub groups: Vec<Group>,
    /// Published tables that the session repeats.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub published: Vec<TableAnalysis>,
}

/// Blocks and trials that count, and those that do not.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Blocks {
    /// Blocks that were planned.
    pub planned: u32,
    /// Blocks in which every planned cell has a trial, from 0.
    pub complete: Vec<u32>,
    /// No block is complete, so that all trials there are count, and nothing is compared.
    pub incomplete: bool,
    /// There are too few complete blocks for more than an indication.
    pub indicative: bool,
    /// Trials that count.
    pub trials_counted: usize,
    /// Trials left out because their block is not complete, or because the same trial was repeated later.
    pub trials_left_out: usize,
}

/// One workload at one load point.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Group {
    /// The workload's id.
    pub workload: String,
    /// The load point.
    pub point: LoadPoint,
    /// The rate that no stack can pass here, in answers per second: connections over the least time of an answer, where
    /// the workload has one.
    pub ceiling_per_second: Option<f64>,
    /// One cell per planned stack, sorted for reading (see [`rank::sort`]).
    pub cells: Vec<CellAnalysis>,
    /// All pairs of comparable cells, or why there are none.
    pub comparison: GroupComparison,
    /// Stacks in a dead heat, best rank first.
    pub dead_heats: Vec<DeadHeat>,
}

/// The comparisons of a load point.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum GroupComparison {
    /// Every pair of comparable cells.
    Pairs(Vec<Comparison>),
    /// The load is so many requests, cold, as somebody else's tool made them: it repeats a published figure and does
    /// not rank stacks.
    NotRanked,
    /// No block is complete.
    NoCompleteBlock,
    /// There are fewer complete blocks than a comparison needs.
    TooFewBlocks {
        /// Complete blocks.
        complete: usize,
        /// Blocks that a comparison needs.
        needed: usize,
    },
    /// Fewer than two cells can be compared.
    TooFewCells {
        /// Comparable cells.
        comparable: usize,
    },
}

impl GroupComparison {
    /// The pairs, if there are any.
    pub fn pairs(&self) -> &[Comparison] {
        match self {
            GroupComparison::Pairs(pairs) => pairs,
            _ => &[],
        }
    }
}

/// Analyses a session under the default thresholds.
pub fn analyse(record: &SessionRecord) -> Analysis {
    analyse_with(record, Settings::default())
}

/// Analyses a session.
pub fn analyse_with(record: &SessionRecord, settings: Settings) -> Analysis {
    let complete = record.complete_blocks();
    let incomplete = complete.is_empty();
    let counted = counted_trials(record, |block| incomplete || complete.contains(&block));
    let trials_counted = counted.values().map(Vec::len).sum();
    let blocks = Blocks {
        planned: record.header.plan.blocks,
        incomplete,
        indicative: complete.len() < settings.blocks_for_evidence,
        trials_counted,
        trials_left_out: record.trials.len() - trials_counted,
        complete,
    };
    let plan = &record.header.plan;
    let points = plan
        .workloads
        .iter()
        .flat_map(|workload| workload.points.iter().map(move |point| (workload, point)));
    let groups: Vec<Group> = points
        .map(|(workload, point)| group(record, workload, point, &counted, &blocks, &settings))
        .collect();
    Analysis {
        published: published::tables(record, &groups, &blocks, &settings),
        settings,
        blocks,
        groups,
    }
}

type Counted<'a> = BTreeMap<&'a Cell, Vec<(usize, &'a TrialRecord)>>;

/// The trials that count, by cell and in the order of their blocks: of a trial that was repeated, the last one.
fn counted_trials(record: &SessionRecord, counts: impl Fn(u32) -> bool) -> Counted<'_> {
    let planned = &record.header.plan.cells;
    let mut last: BTreeMap<(&Cell, u32), (usize, &TrialRecord)> = BTreeMap::new();
    for (index, trial) in record.trials.iter().enumerate() {
        if counts(trial.block) && planned.contains(&trial.cell) {
            last.insert((&trial.cell, trial.block), (index, trial));
        }
    }
    let mut counted = Counted::new();
    for ((cell, _), trial) in last {
        counted.entry(cell).or_default().push(trial);
    }
    counted
}

fn group(
    record: &SessionRecord,
    workload: &PlannedWorkload,
    point: &LoadPoint,
    counted: &Counted<'_>,
    blocks: &Blocks,
    settings: &Settings,
) -> Group {
    let planned = record.header.plan.cells.iter();
    let mut cells: Vec<CellAnalysis> = planned
        .filter(|cell| cell.workload == workload.id && cell.point == point.id)
        .map(|cell| {
            let counted = counted.get(cell).map_or(&[][..], Vec::as_slice);
            let all = record.trials.iter().filter(|trial| trial.cell == *cell);
            let left_out = all.count() - counted.len();
            cell::analyse(
                cell.target.clone(),
                counted,
                left_out,
                point,
                record.header.machine.cpus.len(),
                settings,
            )
        })
        .collect();
    // Before comparing, so that the result does not depend on the order of the plan.
    rank::sort(&mut cells);
    let comparison = match point.client {
        None => compare_group(&cells, blocks, settings),
        Some(_) => GroupComparison::NotRanked,
    };
    let compared = blocks.complete.len() >= settings.blocks_for_comparison;
    if compared && point.client.is_none() {
        rank::rank(&mut cells, comparison.pairs());
        rank::sort(&mut cells);
    }
    Group {
        workload: workload.id.clone(),
        point: point.clone(),
        ceiling_per_second: workload
            .delay_seconds
            .map(|delay| f64::from(point.connections) / delay),
        dead_heats: rank::dead_heats(&cells, comparison.pairs()),
        cells,
        comparison,
    }
}

fn compare_group(cells: &[CellAnalysis], blocks: &Blocks, settings: &Settings) -> GroupComparison {
    let complete = blocks.complete.len();
    let needed = settings.blocks_for_comparison;
    let comparable = cells.iter().filter(|cell| cell.is_comparable()).count();
    if blocks.incomplete {
        GroupComparison::NoCompleteBlock
    } else if complete < needed {
        GroupComparison::TooFewBlocks { complete, needed }
    } else if comparable < 2 {
        GroupComparison::TooFewCells { comparable }
    } else {
        GroupComparison::Pairs(compare::compare_all(cells, settings))
    }
}
