//! What it changes in a stack's figures that its process has served another load before.

use std::collections::BTreeMap;

use deadheat_model::{HeatRecord, TargetId, heat::Role, heats::SessionRecord};

use crate::{
    heats::{Quantity, recorded},
    order_statistic::median,
    welch::{self, Difference},
};

/// How the figures of a stack's processes that had served another load differ from those of its fresh ones: differences of
/// logarithms, by the stack. From each figure its stack's mean over all heats is taken, and then the heat's median, so that one
/// stack that changes does not look like a change of the others. Without two heats of both kinds a stack is not there, nor
/// one that was alone.
pub fn after_another_load(
    record: &SessionRecord,
    load: usize,
    quantity: Quantity,
) -> BTreeMap<TargetId, Difference> {
    let heats = record.complete_heats(load);
    let heats: Vec<Vec<Process<'_>>> = heats.map(|heat| processes(heat, quantity)).collect();
    let mut stacks: BTreeMap<&TargetId, Vec<f64>> = BTreeMap::new();
    for one in heats.iter().flatten() {
        stacks.entry(one.target).or_default().push(one.figure);
    }
    let mean = |target: &TargetId| {
        let own = &stacks[target];
        own.iter().sum::<f64>() / own.len() as f64
    };
    // Fresh, then used.
    let mut kinds: BTreeMap<&TargetId, [Vec<f64>; 2]> = BTreeMap::new();
    for heat in heats.iter().filter(|heat| heat.len() > 1) {
        let rest = |one: &Process<'_>| one.figure - mean(one.target);
        let of_heat = median(heat.iter().map(rest)).unwrap_or_default();
        for one in heat {
            let kinds = kinds.entry(one.target).or_default();
            kinds[usize::from(!one.is_fresh)].push(rest(one) - of_heat);
        }
    }
    let differences = kinds.into_iter();
    differences
        .filter_map(|(target, [fresh, used])| {
            Some((target.clone(), welch::difference(&fresh, &used)?))
        })
        .collect()
}

/// A stack's process in a heat.
struct Process<'a> {
    target: &'a TargetId,
    is_fresh: bool,
    /// The logarithm of its figure.
    figure: f64,
}

fn processes(heat: &HeatRecord, quantity: Quantity) -> Vec<Process<'_>> {
    let figures = recorded::figures(heat, quantity);
    let stacks = heat.members.iter().zip(figures);
    let stacks = stacks.filter(|(member, _)| member.role == Role::Member);
    stacks
        .filter_map(|(member, figure)| {
            Some(Process {
                target: &member.target,
                is_fresh: member.loads_before == 0,
                figure: figure.filter(|one| *one > 0.0)?.ln(),
            })
        })
        .collect()
}
