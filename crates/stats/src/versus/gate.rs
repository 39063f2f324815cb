//! `--fail-if-slower`: what a check of a change may rely on.

use serde::Serialize;

use super::{Compared, Metric, Subject, Verdict, Versus};

/// Whether B is slower than A by more than a bound.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Gate {
    /// The share that B's throughput may be less than A's (0.03).
    pub fail_if_slower: f64,
    /// The ratio below which it is slower by more than that: 1 − the share.
    pub least_ratio: f64,
    /// Whether a cell failed it.
    pub failed: bool,
    /// Every cell that has a throughput on both sides, in the order of the comparison.
    pub cells: Vec<GateCell>,
    /// Cells of closed loops that were not judged: not compared, or without a throughput to compare, as when no look was
    /// reached. (Open loops that were compared have no throughput; they are not among them.)
    pub not_judged: usize,
}

/// One cell.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GateCell {
    /// Which.
    #[serde(flatten)]
    pub subject: Subject,
    /// B's throughput over A's.
    pub ratio: f64,
    /// What it says of the bound.
    pub is: Gated,
}

/// What a cell says of the bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Gated {
    /// B is slower, and its ratio is beyond the bound: it fails.
    Slower,
    /// The whole interval lies above the bound: a slowdown of more than that is excluded.
    Excluded,
    /// Neither: the interval reaches beyond the bound. It passes, without having shown that it may.
    NotExcluded,
}

impl Versus {
    /// Whether B is slower than A by more than the share `bound`.
    pub fn gate(&self, bound: f64) -> Gate {
        let least_ratio = 1.0 - bound;
        let cells = self.compared.iter();
        let cells: Vec<GateCell> = cells.filter_map(|cell| gated(cell, least_ratio)).collect();
        let unjudged = self.compared.iter().filter(|cell| lacks_throughput(cell));
        Gate {
            fail_if_slower: bound,
            least_ratio,
            failed: cells.iter().any(|cell| cell.is == Gated::Slower),
            cells,
            not_judged: self.not_compared.len() + unjudged.count(),
        }
    }

    /// Whether there is any figure of B over A. Without one nothing was compared.
    pub fn has_ratio(&self) -> bool {
        self.compared.iter().any(|cell| !cell.ratios.is_empty())
    }

    /// Whether B failed: as a whole, or in a cell.
    pub fn b_failed(&self) -> bool {
        self.b.failed.is_some() || self.not_compared.iter().any(|cell| cell.b_failed)
    }
}

/// Whether a closed loop, or what has no figure at all, has no throughput. CPU time and memory alone are left of an open
/// loop that had too few requests for its times.
fn lacks_throughput(cell: &Compared) -> bool {
    let has = |metric| cell.ratios.iter().any(|ratio| ratio.metric == metric);
    let closed = has(Metric::ServiceTimeP50) || has(Metric::ServiceTimeP99);
    !has(Metric::Throughput) && (closed || cell.ratios.is_empty())
}

fn gated(cell: &Compared, least_ratio: f64) -> Option<GateCell> {
    let mut ratios = cell.ratios.iter();
    let ratio = ratios.find(|ratio| ratio.metric == Metric::Throughput)?;
    let excluded = ratio
        .interval
        .is_some_and(|interval| interval.low >= least_ratio);
    let is = match ratio.verdict {
        Verdict::Worse if ratio.ratio < least_ratio => Gated::Slower,
        _ if excluded => Gated::Excluded,
        _ => Gated::NotExcluded,
    };
    Some(GateCell {
        subject: cell.subject.clone(),
        ratio: ratio.ratio,
        is,
    })
}
