//! What the first rounds of a heat cost more than the later ones, for stacks that compile while they run and for others.

use std::{collections::BTreeMap, path::Path};

use deadheat_model::{
    HeatRecord, TargetId,
    heat::{Role, SliceRecord},
    stack::Runtime,
};
use deadheat_stats::interval::median;

use super::sessions::record;

/// Rounds in the table.
const ROUNDS: usize = 8;
/// Heats with fewer are left out: no round in the table is in the later half.
const MIN_ROUNDS: usize = 2 * ROUNDS - 1;

/// The mean CPU time per answer in each of the first rounds ÷ its median in the later half of the rounds, as Markdown, from a
/// session's records.
///
/// # Errors
/// What cannot be read.
pub(super) fn table(session: &Path) -> Result<String, String> {
    let record = record(session)?;
    let targets = record.header.targets.iter();
    let runtimes: BTreeMap<&TargetId, Runtime> =
        targets.map(|one| (&one.target, one.runtime)).collect();
    let members: Vec<(bool, Vec<Option<f64>>)> = record
        .heats
        .iter()
        .filter(|one| record.header.plan.loads[one.load as usize].leads())
        .flat_map(|one| of_heat(&one.heat))
        .map(|(target, ratios)| (runtimes.get(target) == Some(&Runtime::Jit), ratios))
        .collect();
    let of = |compiles: bool| {
        let own = members.iter().filter(move |(one, _)| *one == compiles);
        own.map(|(_, ratios)| ratios)
    };
    let mean = |compiles: bool, round: usize| {
        let all: Vec<f64> = of(compiles).filter_map(|ratios| ratios[round]).collect();
        all.iter().sum::<f64>() / all.len() as f64
    };
    let mut table = format!(
        "| round | compiles while it runs ({} members) | others ({} members) |\n| --- | --- | --- |\n",
        of(true).count(),
        of(false).count()
    );
    for round in 0..ROUNDS {
        let [jit, other] = [true, false].map(|compiles| mean(compiles, round));
        table += &format!("| {} | {jit:.2} | {other:.2} |\n", round + 1);
    }
    Ok(table)
}

/// The members of a heat, but for the null server, with the ratio of each of their first rounds.
fn of_heat(heat: &HeatRecord) -> Vec<(&TargetId, Vec<Option<f64>>)> {
    if heat.rounds.len() < MIN_ROUNDS {
        return Vec::new();
    }
    let of_member = |place: usize| {
        let costs = heat.rounds.iter().map(|round| {
            let own = round.iter().find(|slice| slice.member as usize == place);
            own.and_then(cost)
        });
        ratios(&costs.collect::<Vec<_>>())
    };
    let members = heat.members.iter().enumerate();
    members
        .filter(|(_, member)| member.role != Role::Ceiling && member.failure.is_none())
        .filter_map(|(place, member)| Some((&member.target, of_member(place)?)))
        .collect()
}

/// CPU time per answer.
fn cost(slice: &SliceRecord) -> Option<f64> {
    let answers = slice.tally.succeeded;
    let cpu = slice.cpu.filter(|_| answers > 0)?;
    Some(cpu.seconds / answers as f64)
}

/// The costs of the first rounds ÷ their median in the later half.
fn ratios(costs: &[Option<f64>]) -> Option<Vec<Option<f64>>> {
    let usual = median(costs[costs.len() / 2..].iter().flatten().copied())?;
    let first = costs.iter().take(ROUNDS);
    Some(first.map(|cost| cost.map(|cost| cost / usual)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_rounds_are_compared_with_the_later_half() {
        let costs = [4.0, 3.0, 2.0, 2.0, 2.0, 2.0, 9.0, 2.0].map(Some);
        let found = ratios(&costs).unwrap();
        assert_eq!(found[..3], [Some(2.0), Some(1.5), Some(1.0)]);
        assert_eq!(ratios(&[Some(1.0), None]), None);
    }
}
