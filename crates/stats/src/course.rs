//! The course of a session at a load point: each trial beside its own stack's median, and each block beside the others.
//! A machine that drifts moves all stacks at once; a median over stacks of different speeds shows that only when each
//! is taken relative to itself.

use std::collections::BTreeSet;

use crate::{CellAnalysis, Group, Settings, TrialAnalysis, order_statistic::median_interval};

/// How a trial stands in its cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It is one of the trials that the cell is judged by.
    Counted,
    /// It was disturbed past the plan's bound.
    Void,
    /// Its block is not complete, or another trial of the block stands for the cell.
    LeftOut,
}

/// A trial in the course of the session.
#[derive(Clone, Copy, Debug)]
pub struct Step<'a> {
    /// Its cell.
    pub cell: &'a CellAnalysis,
    /// The trial.
    pub trial: &'a TrialAnalysis,
    /// How it stands in its cell.
    pub standing: Standing,
    /// Its figure by the load point's metric (answers per second, or seconds).
    pub figure: Option<f64>,
    /// `figure` over the median of its cell's trials that count and did not fail. `None` where either is missing.
    pub ratio: Option<f64>,
}

impl Step<'_> {
    /// Whether the trial is one that its cell's figures come from.
    pub fn tells(&self) -> bool {
        self.standing == Standing::Counted && !self.trial.verdict.is_failed()
    }
}

/// A block at a load point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BlockCourse {
    /// The block, from 0.
    pub block: u32,
    /// The null server's figure and its ratio to the median of all blocks; `None` where it has no trial that tells.
    pub null_server: Option<(f64, f64)>,
    /// The median over stacks of their ratios in this block: where the machine stood, as far as all stacks show it. The
    /// twin is not among them, since its stack is.
    pub stacks: Option<f64>,
    /// The place in the session's records of its first trial here, from 0.
    pub first: usize,
    /// Trials that count and did not fail, those of the controls among them.
    pub counted: usize,
    /// Void trials.
    pub void: usize,
    /// Trials that were run because the one before them was void.
    pub repetitions: usize,
    /// Failed trials, also where another one stands for the cell.
    pub failed: usize,
    /// Other trials that were left out.
    pub left_out: usize,
}

/// Every trial of a load point, controls included, in the order in which they ended.
pub fn steps<'a>(group: &'a Group, settings: &Settings) -> Vec<Step<'a>> {
    let mut steps: Vec<Step<'a>> = Vec::new();
    for cell in group.all_cells() {
        let figure = |trial: &TrialAnalysis| {
            let figures = trial.figures.as_ref()?;
            group.metric.of_trial(figures).filter(|value| *value > 0.0)
        };
        let told = cell
            .trials
            .iter()
            .filter(|trial| !trial.verdict.is_failed());
        let told: Vec<f64> = told.filter_map(figure).collect();
        let own = median_interval(&told, settings.level).map(|found| found.median);
        let standings = [
            (Standing::Counted, &cell.trials),
            (Standing::Void, &cell.void),
            (Standing::LeftOut, &cell.left_out),
        ];
        for (standing, trials) in standings {
            steps.extend(trials.iter().map(|trial| {
                let figure = figure(trial);
                Step {
                    cell,
                    trial,
                    standing,
                    figure,
                    ratio: figure.zip(own).map(|(figure, own)| figure / own),
                }
            }));
        }
    }
    steps.sort_by_key(|step| step.trial.record);
    steps
}

/// The blocks that have trials at a load point, of which these are all.
pub fn blocks(group: &Group, steps: &[Step<'_>], settings: &Settings) -> Vec<BlockCourse> {
    let numbers: BTreeSet<u32> = steps.iter().map(|step| step.trial.block).collect();
    let blocks = numbers.into_iter();
    blocks
        .filter_map(|block| of_block(group, steps, block, settings))
        .collect()
}

fn of_block(
    group: &Group,
    steps: &[Step<'_>],
    block: u32,
    settings: &Settings,
) -> Option<BlockCourse> {
    let here = || steps.iter().filter(move |step| step.trial.block == block);
    let count = |wanted: fn(&Step<'_>) -> bool| here().filter(|step| wanted(step)).count();
    let null_server = group.ceiling.as_ref().map(|ceiling| &ceiling.cell.target);
    let null_server = here().find(|step| step.tells() && Some(&step.cell.target) == null_server);
    let contends = |step: &&Step<'_>| {
        let mut cells = group.cells.iter();
        step.tells() && cells.any(|cell| cell.target == step.cell.target)
    };
    let ratios: Vec<f64> = here()
        .filter(contends)
        .filter_map(|step| step.ratio)
        .collect();
    Some(BlockCourse {
        block,
        null_server: null_server.and_then(|step| step.figure.zip(step.ratio)),
        stacks: median_interval(&ratios, settings.level).map(|found| found.median),
        first: here().next()?.trial.record,
        counted: count(|step| step.tells()),
        void: count(|step| step.standing == Standing::Void),
        repetitions: count(|step| step.trial.attempt > 0),
        failed: count(|step| step.trial.verdict.is_failed()),
        left_out: count(|step| {
            step.standing == Standing::LeftOut && !step.trial.verdict.is_failed()
        }),
    })
}
