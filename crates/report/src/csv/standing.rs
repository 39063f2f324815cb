//! Where each trial stands in the analysis: in which cell, whether it counts there, and why not.

use std::collections::{BTreeMap, BTreeSet};

use deadheat_model::SessionRecord;
use deadheat_stats::{
    Analysis, CellAnalysis, Group, TrialAnalysis,
    verdict::{CellVerdict, TrialVerdict},
};
use serde::Serialize;

use super::metrics::Metric;
use crate::{figure::counted, view::why};

/// A trial's place in the analysis.
pub struct Standing<'a> {
    pub group: &'a Group,
    pub cell: &'a CellAnalysis,
    pub trial: &'a TrialAnalysis,
    /// The place of its cell among all cells of the session.
    cell_index: usize,
    place: Place,
}

/// In which of its cell's lists a trial is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Counted,
    Void,
    /// Its block does not count.
    OfIncompleteBlock,
    /// Another trial of its cell in the block does.
    Repeated,
}

/// The standing of all trials of a session.
pub struct Standings<'a> {
    /// By the trial's place in the session.
    all: Vec<Option<Standing<'a>>>,
}

/// Metrics that all counted trials of a cell have, by the cell's place and the metric's name.
pub type InAll = BTreeSet<(usize, String)>;

impl<'a> Standings<'a> {
    /// Looks up every trial of a session.
    pub fn of(record: &SessionRecord, analysis: &'a Analysis) -> Self {
        let mut all: Vec<Option<Standing<'a>>> = record.trials.iter().map(|_| None).collect();
        let groups = analysis.groups.iter();
        let cells = groups.flat_map(|group| group.all_cells().map(move |cell| (group, cell)));
        let blocks = &analysis.blocks;
        let left_out = |block: u32| match blocks.incomplete || blocks.complete.contains(&block) {
            true => Place::Repeated,
            false => Place::OfIncompleteBlock,
        };
        for (cell_index, (group, cell)) in cells.enumerate() {
            let counted = cell.trials.iter().map(|trial| (trial, Place::Counted));
            let void = cell.void.iter().map(|trial| (trial, Place::Void));
            let others = cell.left_out.iter();
            let others = others.map(|trial| (trial, left_out(trial.block)));
            for (trial, place) in counted.chain(void).chain(others) {
                if let Some(slot) = all.get_mut(trial.record) {
                    *slot = Some(Standing {
                        group,
                        cell,
                        trial,
                        cell_index,
                        place,
                    });
                }
            }
        }
        Self { all }
    }

    /// That of a trial, by its place in the session; `None` when its cell is not planned.
    pub fn at(&self, index: usize) -> Option<&Standing<'a>> {
        self.all.get(index)?.as_ref()
    }

    /// The metrics that every counted trial of a cell has, on enough answers. `found` are those of each trial.
    pub fn in_all_trials(&self, found: &[Vec<Metric>]) -> InAll {
        let mut trials: BTreeMap<(usize, String), usize> = BTreeMap::new();
        let mut all = InAll::new();
        for (standing, metrics) in self.all.iter().zip(found) {
            let Some(standing) = standing.as_ref().filter(|one| one.place == Place::Counted) else {
                continue;
            };
            for metric in metrics.iter().filter(|metric| metric.too_few.is_none()) {
                let key = (standing.cell_index, metric.name.clone());
                let have = trials.entry(key.clone()).or_default();
                *have += 1;
                if *have == standing.cell.trials.len() {
                    all.insert(key);
                }
            }
        }
        all
    }

    /// Why a trial's metric counts for nothing; `None` when it counts.
    pub fn why_not_counted(&self, index: usize, metric: &Metric, all: &InAll) -> Option<String> {
        let Some(standing) = self.at(index) else {
            return Some(reason(None));
        };
        if standing.place != Place::Counted || standing.trial.verdict.is_failed() {
            return Some(reason(Some(standing)));
        }
        if let CellVerdict::Failed { failed, of, .. } = &standing.cell.verdict {
            return Some(format!(
                "its cell failed in {failed} of {}",
                counted(*of, "trial")
            ));
        }
        let key = (standing.cell_index, metric.name.clone());
        if all.contains(&key) {
            return None;
        }
        let others = "another trial of its cell has it not, or on too few requests";
        Some(metric.too_few.clone().unwrap_or_else(|| others.to_owned()))
    }
}

impl Standing<'_> {
    /// The names of its flags, apart by spaces.
    pub fn flags(&self) -> String {
        let names = self.trial.flags.iter().map(|flag| word(flag, "flag"));
        names.collect::<Vec<_>>().join(" ")
    }
}

/// What became of a trial, in a word.
pub fn outcome(standing: Option<&Standing<'_>>) -> &'static str {
    let Some(standing) = standing else {
        return "left-out";
    };
    match (&standing.trial.verdict, standing.place) {
        // A stack is not to fail in secret, also where it counts for nothing.
        (TrialVerdict::Failed { .. }, _) => "failed",
        (_, Place::Void) | (TrialVerdict::Void { .. }, _) => "void",
        (_, Place::OfIncompleteBlock | Place::Repeated) => "left-out",
        (TrialVerdict::GeneratorLimited { .. }, Place::Counted) => "generator-limited",
        (TrialVerdict::Counts, Place::Counted) => "counts",
    }
}

/// Why it did, in words; empty for a trial that counts.
pub fn reason(standing: Option<&Standing<'_>>) -> String {
    let Some(standing) = standing else {
        return "left out: the plan has no such cell".to_owned();
    };
    let verdict = why(&standing.trial.verdict);
    let left_out = match standing.place {
        Place::Counted | Place::Void => None,
        Place::OfIncompleteBlock => Some("left out: its block is not complete".to_owned()),
        Place::Repeated => Some("left out: another trial of its block stands for it".to_owned()),
    };
    let both: Vec<String> = verdict.into_iter().chain(left_out).collect();
    both.join("; ")
}

/// What a cell is worth, in a word.
pub fn cell_word(verdict: &CellVerdict) -> String {
    word(verdict, "is")
}

/// The name of an enum's value, as the JSON report has it.
fn word(value: &impl Serialize, tag: &str) -> String {
    let value = serde_json::to_value(value).ok();
    let name = value.and_then(|value| value.get(tag)?.as_str().map(str::to_owned));
    name.unwrap_or_default()
}
