//! What the stacks of a load point need of CPU time, in words.

use deadheat_stats::{
    Group,
    cost::{CpuComparison, CpuRatio},
};

use super::{clean, words::some};
use crate::figure::{ends, figure, list, seconds};

/// Stacks that are named with their ratios; of more, those that matter.
const MOST_NAMED: usize = 3;

/// What the stacks need of CPU time beside the one that needs least; `None` where that was not compared.
pub(super) fn sentence(group: &Group) -> Option<String> {
    let cpu = group.cpu.as_ref()?;
    let least = clean(&cpu.least.to_string());
    let time = seconds(cpu.least_us_per_request / 1e6);
    let (dearer, same): (Vec<_>, Vec<_>) = cpu.others.iter().partition(|one| one.different);
    let same: Vec<String> = same.into_iter().map(name).collect();
    if dearer.is_empty() {
        return Some(format!(
            "In CPU time per request, nothing tells {} from {least}, with {time}.",
            some(&same)
        ));
    }
    let named = named(group, cpu, &dearer).into_iter().enumerate();
    let named: Vec<String> = named.map(|(place, one)| times(one, place == 0)).collect();
    let beside = match same.is_empty() {
        true => String::new(),
        false => format!(" (nothing tells {} from it)", some(&same)),
    };
    Some(format!(
        "{least} needs the least CPU time per request, {time}{beside}; {}.",
        list(&named)
    ))
}

/// Of many, the fastest if it needs more, and the one that needs most.
fn named<'a>(group: &Group, cpu: &CpuComparison, dearer: &[&'a CpuRatio]) -> Vec<&'a CpuRatio> {
    if dearer.len() <= MOST_NAMED {
        return dearer.to_vec();
    }
    let fastest = group.cells.iter().find(|cell| cell.rank == Some(1));
    let fastest = fastest.filter(|cell| cell.target != cpu.least);
    let is_fastest = |one: &CpuRatio| fastest.is_some_and(|cell| cell.target == one.target);
    let last = dearer.len() - 1;
    let chosen = dearer.iter().enumerate();
    let chosen = chosen.filter(|(place, one)| *place == last || is_fastest(one));
    chosen.map(|(_, one)| *one).collect()
}

/// The first of several says what the figures in parentheses are.
fn times(one: &CpuRatio, is_first: bool) -> String {
    format!(
        "{} needs {} times that ({}{})",
        name(one),
        figure(one.ratio),
        if is_first { "95 % interval " } else { "" },
        ends(&one.interval, figure)
    )
}

fn name(one: &CpuRatio) -> String {
    clean(&one.target.to_string())
}
