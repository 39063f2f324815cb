//! How far the figures of a session can be trusted, in a line.

use deadheat_model::{
    Warning,
    figure::{counted, ratio, ratios},
};
use deadheat_stats::standings::Standings;

use super::names::{name, shorts};
use crate::document::words;

/// A ratio is worth a word if it is known this many times worse than the typical ones.
const MUCH_WORSE: f64 = 1.2;

/// The line, without a full stop.
pub(super) fn trust(standings: &Standings, warnings: &[Warning]) -> String {
    let heats: u32 = standings.leading().map(|load| load.heats).sum();
    let tables = standings.leading().flat_map(|load| &load.tables);
    let widths: Vec<f64> = tables.filter_map(|table| table.half_width).collect();
    let least = widths.iter().copied().reduce(f64::min);
    let most = widths.iter().copied().reduce(f64::max);
    let typical = least.zip(most);
    let typical =
        typical.map(|(least, most)| format!("ratios known to {}", words::half_widths(least, most)));
    let parts = [
        Some(counted(heats as usize, "heat")),
        typical,
        worst(standings, most),
    ];
    let warnings = match warnings.len() {
        0 => "no warnings".to_owned(),
        many => counted(many, "warning"),
    };
    let parts = parts
        .into_iter()
        .flatten()
        .chain([twin(standings), warnings]);
    parts.collect::<Vec<_>>().join(", ")
}

/// The ratio with the widest interval, if that is much wider than the typical ones are at `most`.
fn worst(standings: &Standings, most: Option<f64>) -> Option<String> {
    let loads = standings.loads.iter().zip(shorts(standings));
    let loads = loads.filter(|(load, _)| load.leads());
    let all = loads.flat_map(|(load, short)| {
        let rows = load.tables.iter().flat_map(|table| &table.rows);
        rows.filter_map(move |row| Some((row.half_width?, &row.target, short.clone())))
    });
    let (width, target, load) = all.max_by(|(one, ..), (other, ..)| one.total_cmp(other))?;
    let is_much = most.is_none_or(|most| width > MUCH_WORSE * most);
    let width = words::half_width(Some(width));
    is_much.then(|| format!("the worst to {width} ({}, {load})", name(target)))
}

/// The twin that differs the most by what the headlines are about, and before all others one that differs provably.
fn twin(standings: &Standings) -> String {
    let loads = standings.loads.iter().zip(shorts(standings));
    let twins = loads.filter_map(|(load, short)| {
        let twin = load.twin.as_ref()?;
        (load.leads() || twin.differs()).then_some((twin, short))
    });
    let judged = twins
        .clone()
        .filter_map(|(twin, short)| Some((twin, twin.interval?, short)));
    let farthest = judged.max_by(|(one, ..), (other, ..)| {
        let distance = |ratio: f64| ratio.ln().abs();
        let order = one.differs().cmp(&other.differs());
        order.then(distance(one.ratio).total_cmp(&distance(other.ratio)))
    });
    match farthest {
        Some((twin, _, load)) if twin.differs() => {
            let far = words::percent((twin.ratio - 1.0).abs());
            format!("A/A check failed ({load}: {far} apart)")
        }
        Some((twin, ends, _)) => {
            format!(
                "A/A {} ({})",
                ratio(twin.ratio),
                ratios(ends.low, ends.high)
            )
        }
        None if twins.count() > 0 => "too few heats for an A/A check".to_owned(),
        None => "no A/A check".to_owned(),
    }
}
