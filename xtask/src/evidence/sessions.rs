//! What a session of stacks decided in its time, and what it changes that one process serves several loads.

use std::{path::Path, process::Command};

use deadheat_model::{
    TargetId,
    heat::SliceRecord,
    heats::{JournalEntry, PlannedLoad, SessionHeader, SessionRecord},
};
use deadheat_stats::{
    heats::{Quantity, RankedPair, Ranking},
    interval::{Difference, median},
    standings::{LoadStandings, after_another_load, standings},
};

use super::{half_width, records::read};

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
    let loads = record.header.plan.loads.iter().enumerate();
    let loads = loads.filter(|(_, load)| load.leads());
    let changes = loads.flat_map(|(index, load)| {
        let [throughputs, costs] = [Quantity::Throughput, Quantity::Cost]
            .map(|quantity| after_another_load(record, index, quantity));
        let row = move |(target, throughput): (TargetId, Difference)| {
            let cost = costs.get(&target).map_or("–".to_owned(), shown);
            format!(
                "| {} | {target} | {} | {cost} |\n",
                load.name(),
                shown(&throughput)
            )
        };
        throughputs.into_iter().map(row)
    });
    format!(
        "{:.1} minutes in heats, {:.0} % of them in slices that count.\n\n| load | by | heats | median ± | pairs decided | \
         those that differ by 10 % |\n| --- | --- | ---: | ---: | ---: | ---: |\n{}\nCompared with all others in its heat, a process \
         that has served another load ÷ a fresh one:\n\n| load | stack | throughput | CPU time per request |\n| --- | --- | \
         --- | --- |\n{}\nTwo turns of one process at one rate, seconds apart in a heat: how far its CPU time per request is \
         apart.\n\n| load | median | pairs of turns |\n| --- | ---: | ---: |\n{}",
        found.time.heats_seconds / 60.0,
        100.0 * found.time.counted_share().unwrap_or_default(),
        rows.collect::<String>(),
        changes.collect::<String>(),
        drift(record)
    )
}

/// How far apart the first two turns of a process at a rate are in CPU time per request, at each load.
fn drift(record: &SessionRecord) -> String {
    let loads = record.header.plan.loads.iter().enumerate();
    let row = |(index, load): (usize, &PlannedLoad)| {
        let mut apart: Vec<f64> = Vec::new();
        for heat in record.complete_heats(index) {
            let cost = |round: &[SliceRecord], member: u32| {
                let slice = round.iter().find(|slice| slice.member == member)?;
                Some(slice.cpu?.seconds / slice.tally.succeeded as f64)
            };
            let [first, second, ..] = &heat.rounds[..] else {
                continue;
            };
            let members = 0..heat.members.len() as u32;
            let pairs = members.filter_map(|one| Some((cost(first, one)?, cost(second, one)?)));
            apart.extend(pairs.map(|(one, other)| (one / other).ln().abs()));
        }
        let median = 100.0 * median(apart.iter().copied())?.exp_m1();
        Some(format!(
            "| {} | {median:.1} % | {} |\n",
            load.name(),
            apart.len()
        ))
    };
    loads
        .filter(|(_, load)| !load.leads())
        .filter_map(row)
        .collect()
}

/// How many pairs of a load are decided, by each quantity that it is ranked by.
fn decided(load: &LoadStandings) -> Vec<String> {
    let row = |by: &str, ranking: &Ranking| {
        let is_decided = |pair: &&RankedPair| pair.verdict.is_decided();
        let is_large = |pair: &&RankedPair| pair.ratio.is_some_and(|ratio| ratio >= LARGE);
        let large = || ranking.pairs.iter().filter(is_large);
        format!(
            "| {}:{} | {by} | {} | {} | {} of {} | {} of {} |\n",
            load.workload,
            load.point.id,
            ranking
                .places
                .iter()
                .map(|place| place.heats)
                .max()
                .unwrap_or(0),
            half_width(ranking.median_half_width()),
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

fn shown(change: &Difference) -> String {
    let half = change.half_width(LEVEL);
    let [low, ratio, high] = [change.mean - half, change.mean, change.mean + half].map(f64::exp);
    format!("{ratio:.3} ({low:.3}–{high:.3})")
}
