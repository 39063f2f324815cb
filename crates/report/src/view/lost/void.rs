//! Void trials: by what they were disturbed, and what came after them.

use deadheat_model::{SessionRecord, plan::MOST_ATTEMPTS};
use deadheat_stats::{Analysis, CellAnalysis, Group, verdict::TrialVerdict};
use serde::Serialize;

use crate::{
    figure::{count, counted, list, percent},
    view::{alerts::past, clean, words},
};

/// The void trials of a session.
#[derive(Clone, Debug, Serialize)]
pub struct VoidView {
    /// How many there are.
    #[serde(skip)]
    pub trials: usize,
    /// What void means, in sentences.
    pub sentences: Vec<String>,
    /// Each cell that has some.
    pub rows: Vec<VoidRow>,
}

/// A cell with void trials.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct VoidRow {
    /// The stack, under its variant, or a control.
    pub target: String,
    /// The workload and its load.
    pub at: String,
    /// How many, of how many.
    pub trials: String,
    /// Blocks that they were in, from 1.
    pub blocks: String,
    /// The most that other programs used, of the machine's CPU time.
    pub other_cpu: String,
    /// The most that the hypervisor gave to others.
    pub steal: String,
    /// Whether they were repeated, and what came of that.
    pub then: String,
}

/// The void trials of a session; `None` without one.
pub fn void(record: &SessionRecord, analysis: &Analysis) -> Option<VoidView> {
    let mut rows = Vec::new();
    let mut trials = 0;
    for group in &analysis.groups {
        for cell in group.all_cells().filter(|cell| !cell.void.is_empty()) {
            let name = clean(&record.header.plan.controls.shown(&cell.target));
            trials += cell.void.len();
            rows.push(row(group, cell, name));
        }
    }
    let bound = record.header.plan.noise_bound;
    let bound = bound.map(|bound| format!("Void is a trial during which {}.", past(bound)));
    let rule = format!(
        "The bound was set before the session and looks at no result. A void trial counts for nothing and is run again at \
         the end of its block, up to {} times.",
        MOST_ATTEMPTS - 1
    );
    (trials > 0).then(|| VoidView {
        trials,
        sentences: bound.into_iter().chain([rule]).collect(),
        rows,
    })
}

fn row(group: &Group, cell: &CellAnalysis, target: String) -> VoidRow {
    let noise = cell.void.iter().filter_map(|trial| match trial.verdict {
        TrialVerdict::Void { other_cpu, steal } => Some((other_cpu, steal)),
        _ => None,
    });
    let (other, steal) = noise.fold((0.0, 0.0), |(other, steal), (one, two)| {
        (f64::max(other, one), f64::max(steal, two))
    });
    let mut blocks: Vec<u32> = cell.void.iter().map(|trial| trial.block).collect();
    blocks.sort_unstable();
    blocks.dedup();
    let all = cell.void.len() + cell.trials.len() + cell.left_out.len();
    VoidRow {
        target,
        at: words::at(group),
        trials: format!("{} of {}", cell.void.len(), all),
        blocks: numbers(&blocks),
        other_cpu: percent(other),
        steal: percent(steal),
        then: then(cell, &blocks),
    }
}

/// What came of the blocks with void trials.
fn then(cell: &CellAnalysis, blocks: &[u32]) -> String {
    let counts = |block: &&u32| cell.trials.iter().any(|trial| trial.block == **block);
    let (good, lost): (Vec<&u32>, Vec<&u32>) = blocks.iter().partition(counts);
    let of = |blocks: Vec<&u32>| {
        let blocks: Vec<u32> = blocks.into_iter().copied().collect();
        let noun = if blocks.len() == 1 { "block" } else { "blocks" };
        format!("{noun} {}", numbers(&blocks))
    };
    match (good.is_empty(), lost.is_empty()) {
        (false, true) => "repeated until one counted".to_owned(),
        (true, _) => format!(
            "{}, and none counts",
            match cell.void.len() - blocks.len() {
                0 => "not repeated".to_owned(),
                times => format!("repeated {}", counted(times, "time")),
            }
        ),
        (false, false) => format!(
            "repeated until one counted in {}; none counts in {}",
            of(good),
            of(lost)
        ),
    }
}

fn numbers(blocks: &[u32]) -> String {
    let numbers: Vec<String> = blocks
        .iter()
        .map(|block| count(u64::from(block + 1)))
        .collect();
    list(&numbers)
}
