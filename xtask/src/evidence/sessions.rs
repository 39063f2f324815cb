//! What a session of stacks decided in its time, and what it changes that one process serves several loads.

use std::{collections::BTreeMap, path::Path, process::Command};

use deadheat_model::{
    heat::{MemberRecord, Role},
    heats::{JournalEntry, MeasuredHeat, SessionHeader, SessionRecord},
};
use deadheat_stats::{
    heats::{Pair, Quantity, Ranking, recorded},
    standings::{LoadStandings, standings},
    welch::{self, Difference},
};

use super::records::read;

/// The level of the intervals.
const LEVEL: f64 = 0.95;
/// How much a pair differs at least that is to be decided.
const LARGE: f64 = 1.1;

/// A session that is kept.
///
/// # Errors
/// What cannot be read.
pub(super) fn record(session: &Path) -> Result<SessionRecord, String> {
    let journal = session.join("heats.jsonl.gz");
    let failed = |error: &dyn std::fmt::Display| format!("{}: {error}", journal.display());
    let unzipped = Command::new("gzip")
        .arg("-dc")
        .arg(&journal)
        .output()
        .map_err(|error| failed(&error))?;
    let header: SessionHeader = read(&session.join("session.json"))?;
    let (mut heats, mut end) = (Vec::new(), None);
    for line in String::from_utf8_lossy(&unzipped.stdout).lines() {
        match serde_json::from_str(line).map_err(|error| failed(&error))? {
            JournalEntry::Heat(heat) => heats.push(*heat),
            JournalEntry::End { reason, .. } => end = Some(reason),
            JournalEntry::Resumed { .. } => {}
        }
    }
    Ok(SessionRecord {
        header,
        heats,
        resumed: Vec::new(),
        end,
    })
}

/// What was decided at each load and how much of the time was counted, and how the figures of a process that had served
/// another load stand to those of a fresh one, as Markdown.
pub(super) fn table(record: &SessionRecord) -> String {
    let found = standings(record);
    let rows = found.loads.iter().flat_map(decided);
    let members: Vec<Member> = record.heats.iter().flat_map(of_heat).collect();
    let changes = changes(&members).into_iter().map(|(stack, change)| {
        let loads = &record.header.plan.loads;
        let [throughput, cost] = change.map(|one| one.map_or("–".to_owned(), shown));
        format!(
            "| {} | {} | {throughput} | {cost} |\n",
            loads[stack.0].name(),
            stack.1
        )
    });
    format!(
        "{:.1} minutes in heats, {:.0} % of them in slices that count.\n\n| load | by | heats | median ± | pairs decided | \
         those that differ by 10 % |\n| --- | --- | ---: | ---: | ---: | ---: |\n{}\nBeside all others in its heat, a process \
         that has served another load ÷ a fresh one:\n\n| load | stack | throughput | CPU time per request |\n| --- | --- | \
         --- | --- |\n{}",
        found.time.heats_seconds / 60.0,
        100.0 * found.time.counted_share().unwrap_or_default(),
        rows.collect::<String>(),
        changes.collect::<String>()
    )
}

/// How many pairs of a load are decided, by each quantity that it is ranked by.
fn decided(load: &LoadStandings) -> Vec<String> {
    let row = |by: &str, ranking: &Ranking| {
        let is_decided = |pair: &&Pair| pair.verdict.is_decided();
        let is_large = |pair: &&Pair| pair.ratio.is_some_and(|ratio| ratio >= LARGE);
        let large = || ranking.pairs.iter().filter(is_large);
        let mut halves: Vec<f64> = ranking
            .places
            .iter()
            .filter_map(|place| ranking.half_width(place.member))
            .collect();
        halves.sort_by(f64::total_cmp);
        let median = halves.get(halves.len() / 2).copied().unwrap_or(f64::NAN);
        format!(
            "| {}:{} | {by} | {} | {:.1} % | {} of {} | {} of {} |\n",
            load.workload,
            load.point.id,
            ranking
                .places
                .iter()
                .map(|place| place.heats)
                .max()
                .unwrap_or(0),
            100.0 * median,
            ranking.pairs.iter().filter(is_decided).count(),
            ranking.pairs.len(),
            large().filter(is_decided).count(),
            large().count(),
        )
    };
    let tables = load.tables.iter();
    let rows = tables.flat_map(|table| {
        let first = load.leads().then(|| row("throughput", &table.ranking));
        first
            .into_iter()
            .chain([row("CPU time per request", &table.cost)])
    });
    rows.collect()
}

/// A stack at a load.
type StackAt = (usize, String);

/// A stack's process in a heat.
struct Member {
    stack: StackAt,
    is_fresh: bool,
    /// Logarithms of throughput and of CPU time per request, less their means over the stacks of the heat.
    figures: [f64; 2],
}

/// The stacks of a heat at a closed loop.
fn of_heat(measured: &MeasuredHeat) -> Vec<Member> {
    let MeasuredHeat { load, heat } = measured;
    let [throughputs, costs] =
        [Quantity::Throughput, Quantity::Cost].map(|quantity| recorded::figures(heat, quantity));
    let of_member = |(place, record): (usize, &MemberRecord)| {
        let is_stack = record.role == Role::Member && record.offered_per_second.is_none();
        let figures = [throughputs[place]?, costs[place]?].map(f64::ln);
        is_stack.then(|| Member {
            stack: (*load as usize, record.target.to_string()),
            is_fresh: record.loads_before == 0,
            figures,
        })
    };
    let members = heat.members.iter().enumerate();
    let mut members: Vec<Member> = members.filter_map(of_member).collect();
    for which in 0..2 {
        let sum: f64 = members.iter().map(|one| one.figures[which]).sum();
        let mean = sum / members.len().max(1) as f64;
        members
            .iter_mut()
            .for_each(|one| one.figures[which] -= mean);
    }
    members
}

/// What it changes in throughput and CPU time per request that a process has served another load, of each stack that has
/// two heats of both kinds. `None`: that cannot be said.
fn changes(members: &[Member]) -> BTreeMap<&StackAt, [Option<Difference>; 2]> {
    let mut stacks: BTreeMap<&StackAt, Vec<&Member>> = BTreeMap::new();
    for one in members {
        stacks.entry(&one.stack).or_default().push(one);
    }
    let change = |heats: &[&Member], which: usize| {
        let [fresh, kept] = [true, false].map(|is_fresh| {
            let those = heats.iter().filter(|one| one.is_fresh == is_fresh);
            those.map(|one| one.figures[which]).collect::<Vec<f64>>()
        });
        welch::difference(&fresh, &kept)
    };
    let changes = stacks.into_iter();
    let changes = changes.map(|(stack, heats)| (stack, [0, 1].map(|which| change(&heats, which))));
    changes
        .filter(|(_, change)| change.iter().any(Option::is_some))
        .collect()
}

fn shown(change: Difference) -> String {
    let half = change.half_width(LEVEL);
    let [low, ratio, high] = [change.mean - half, change.mean, change.mean + half].map(f64::exp);
    format!("{ratio:.3} ({low:.3}–{high:.3})")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_earlier_load_changes_is_found_in_the_stack_that_it_changes() {
        let member = |stack: &str, is_fresh: bool, figure: f64| Member {
            stack: (0, stack.to_owned()),
            is_fresh,
            figures: [figure, -figure],
        };
        let members = [
            member("a", true, 0.0),
            member("a", true, 0.01),
            member("a", false, 0.1),
            member("a", false, 0.11),
            member("b", true, 0.0),
            member("b", true, 0.02),
            member("b", false, 0.01),
            member("b", false, 0.01),
            // Always started anew.
            member("c", true, 0.0),
            member("c", true, 0.0),
        ];
        let found = changes(&members);
        assert_eq!(found.len(), 2);
        let [throughput, cost] = found[&(0, "a".to_owned())].map(Option::unwrap);
        assert!((throughput.mean - 0.1).abs() < 1e-9 && (cost.mean + 0.1).abs() < 1e-9);
        let [none, _] = found[&(0, "b".to_owned())].map(Option::unwrap);
        assert!(none.mean.abs() < 1e-9);
        assert!(shown(throughput).starts_with("1.105 ("));
    }
}
