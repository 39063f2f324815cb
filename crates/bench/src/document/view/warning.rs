//! All warnings of a session: of its figures, of the machine, and of how it ended.

use deadheat_document::view::clean;
use deadheat_model::{
    Warning,
    figure::some,
    heats::{EndReason, SessionRecord},
    warning::{Level, doubt},
};
use deadheat_stats::standings::{Standings, short_names};

use super::State;

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
