//! What it changes in a stack's figures that its process has served another load before.

use std::collections::BTreeMap;

use deadheat_model::{
    HeatRecord, TargetId,
    heat::{MemberRecord, Role},
    heats::SessionRecord,
};

use crate::{
    heats::{Quantity, recorded},
    welch::{self, Difference},
};

/// A stack's process in a heat.
struct Process {
    is_fresh: bool,
    /// The logarithm of its figure less the mean of those of the other stacks in the heat.
    figure: f64,
}

/// How the figures of a stack's processes that had served another load differ from those of its fresh ones, beside the other
/// stacks of their heats: differences of logarithms, by the stack. Without two heats of both kinds a stack is not there.
pub fn after_another_load(
    record: &SessionRecord,
    load: usize,
    quantity: Quantity,
) -> BTreeMap<TargetId, Difference> {
    let mut stacks: BTreeMap<TargetId, Vec<Process>> = BTreeMap::new();
    for heat in record.complete_heats(load) {
        for (target, process) in processes(heat, quantity) {
            stacks.entry(target.clone()).or_default().push(process);
        }
    }
    let differences = stacks.into_iter().filter_map(|(target, heats)| {
        let [fresh, used] = [true, false].map(|is_fresh| {
            let those = heats.iter().filter(|one| one.is_fresh == is_fresh);
            those.map(|one| one.figure).collect::<Vec<f64>>()
        });
        Some((target, welch::difference(&fresh, &used)?))
    });
    differences.collect()
}

fn processes(heat: &HeatRecord, quantity: Quantity) -> Vec<(&TargetId, Process)> {
    let figures = recorded::figures(heat, quantity);
    let stacks = heat.members.iter().zip(figures);
    let stacks = stacks.filter(|(member, _)| member.role == Role::Member);
    let stacks: Vec<(&MemberRecord, f64)> = stacks
        .filter_map(|(member, figure)| Some((member, figure.filter(|one| *one > 0.0)?.ln())))
        .collect();
    let sum: f64 = stacks.iter().map(|(_, figure)| figure).sum();
    // Alone, nobody is beside it.
    let others = stacks.len().saturating_sub(1);
    let processes = stacks.iter().filter(|_| others > 0);
    processes
        .map(|(member, figure)| {
            let process = Process {
                is_fresh: member.loads_before == 0,
                figure: figure - (sum - figure) / others as f64,
            };
            (&member.target, process)
        })
        .collect()
}
