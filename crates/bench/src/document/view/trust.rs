//! How far the figures of a session can be trusted: in a line, and all warnings.

use deadheat_document::view::clean;
use deadheat_model::{
    Warning,
    figure::{counted, ratio, ratios, some},
    heats::{EndReason, SessionRecord},
    warning::{Level, doubt},
};
use deadheat_stats::standings::{Standings, short_names};

use super::{State, name, shorts};
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

/// This many names are spelled out.
const MOST_NAMES: usize = 3;

/// All warnings of a session, those that may change a decision first.
pub(super) fn warnings(
    record: &SessionRecord,
    standings: &Standings,
    state: State,
) -> Vec<Warning> {
    let heats: u32 = standings.leading().map(|load| load.heats).sum();
    let of_state = early_end(record, state, heats);
    let is_early = of_state.is_some() && record.header.plan.precision.is_some();
    let too_few = too_few_heats(standings, state).filter(|_| !is_early);
    let of_state = of_state.into_iter().chain(too_few);
    let bad = record.header.findings.iter();
    let bad = bad.filter(|warning| warning.level <= Level::Doubt);
    let found = standings.warnings.iter().cloned();
    let mut all: Vec<Warning> = of_state.chain(found).chain(bad.cloned()).collect();
    all.sort_by_key(|warning| warning.level);
    for warning in &mut all {
        warning.sentence = clean(&warning.sentence);
        let lines: Vec<String> = warning.advice.lines().map(clean).collect();
        warning.advice = lines.join("\n");
    }
    all
}

fn early_end(record: &SessionRecord, state: State, heats: u32) -> Option<Warning> {
    let what = match state {
        State::Killed => "The session was killed before its end",
        State::Ended(EndReason::Interrupted) => "The session was interrupted",
        State::Ended(EndReason::Lost) => "A host was lost and could not be reached again",
        State::Ended(EndReason::Nothing) => {
            let warning = doubt("early-end", "Nothing could be measured.");
            return Some(warning.advice("See why under “Not measured”."));
        }
        State::Running | State::Ended(_) => return None,
    };
    let until = match heats {
        0 => "no heat was complete by then",
        _ if record.header.plan.precision.is_some() => {
            "with --precision, verdicts come at the end of a session"
        }
        _ => "verdicts cover the heats up to the last checkpoint before that",
    };
    let warning = doubt("early-end", format!("{what}; {until}."));
    Some(warning.advice(resume(&record.header.id)))
}

/// How to continue the session in `folder`.
pub(super) fn resume(folder: &str) -> String {
    format!(
        "Continue it with `deadheat run --resume {}`.",
        clean(folder)
    )
}

fn too_few_heats(standings: &Standings, state: State) -> Option<Warning> {
    if state == State::Running {
        return None;
    }
    let unjudged = |load: &deadheat_stats::standings::LoadStandings| {
        let rows = load.tables.iter().map(|table| table.rows.len());
        load.leads() && load.look.is_none() && rows.max().unwrap_or(0) > 1
    };
    let loads = standings.loads.iter().zip(short_names(&standings.loads));
    let names = loads.filter(|(load, _)| unjudged(load));
    let names: Vec<String> = names.map(|(_, short)| short).collect();
    (!names.is_empty()).then(|| {
        let sentence = format!(
            "Too few heats for a verdict ({}): the order may change with more data.",
            some(&names, MOST_NAMES)
        );
        doubt("too-few-heats", sentence)
            .with("loads", names)
            .advice("Measure for longer with --budget.")
    })
}
