//! Ranks with ties, and which stacks are in a dead heat.

use std::cmp::Reverse;

use deadheat_model::TargetId;

use crate::{CellAnalysis, compare::Comparison, verdict::CellVerdict};

/// Gives every comparable cell its rank: 1 + the number of stacks that are significantly better.
pub fn rank(cells: &mut [CellAnalysis], comparisons: &[Comparison]) {
    for cell in cells.iter_mut().filter(|cell| cell.is_comparable()) {
        let better = comparisons
            .iter()
            .filter(|pair| pair.different && pair.slower == cell.target);
        cell.rank = Some(1 + better.count() as u32);
    }
}

/// Sorts cells for reading: ranked ones by rank, then those without a rank, lower bounds, failed ones and those not
/// measured; in each by median throughput, highest first, then by name.
pub fn sort(cells: &mut [CellAnalysis]) {
    cells.sort_by(|a, b| {
        let key = |cell: &CellAnalysis| (class(&cell.verdict), cell.rank.unwrap_or(u32::MAX));
        let median = |cell: &CellAnalysis| Reverse(cell.throughput().map(|rate| rate.to_bits()));
        (key(a), median(a), &a.target).cmp(&(key(b), median(b), &b.target))
    });
}

fn class(verdict: &CellVerdict) -> u8 {
    match verdict {
        CellVerdict::Counts => 0,
        CellVerdict::LowerBound { .. } => 1,
        CellVerdict::Failed { .. } => 2,
        CellVerdict::NotMeasured => 3,
    }
}

/// Stacks that are in a dead heat: of equal rank, and none differs from another. Cells must be sorted.
///
/// Equal rank alone is not enough: differences are not transitive, and of two stacks that each have one better stack
/// one may be the other's.
pub fn dead_heats(cells: &[CellAnalysis], comparisons: &[Comparison]) -> Vec<Vec<TargetId>> {
    let differ = |a: &TargetId, b: &TargetId| {
        comparisons.iter().any(|pair| {
            pair.different
                && (pair.faster == *a && pair.slower == *b
                    || pair.faster == *b && pair.slower == *a)
        })
    };
    let mut heats: Vec<(u32, Vec<TargetId>)> = Vec::new();
    for cell in cells {
        let Some(rank) = cell.rank else { continue };
        let same = heats.iter_mut().find(|(other, members)| {
            *other == rank && members.iter().all(|member| !differ(member, &cell.target))
        });
        match same {
            Some((_, members)) => members.push(cell.target.clone()),
            None => heats.push((rank, vec![cell.target.clone()])),
        }
    }
    let heats = heats.into_iter().map(|(_, members)| members);
    heats.filter(|members| members.len() > 1).collect()
}
