//! How far stacks that did not change moved from one session to the next, and how far the null server did.

use deadheat_model::{
    figure::{ratio, short_percent},
    heat::Role,
    heats::SessionRecord,
};
use deadheat_stats::comparison::{
    Bounds,
    sessions::{LETTERS, compare},
};
use serde_json::Value;

use super::{disturbed::sessions_in, results, sessions::record};

/// For each closed loop of a session that an earlier one has as well: what the stacks moved by that are the same in both,
/// as Markdown. Those that moved by less than what counts, or are too few, have no row.
///
/// # Errors
/// What cannot be read.
pub(super) fn table() -> Result<String, String> {
    let mut sessions: Vec<(String, SessionRecord)> = Vec::new();
    for folder in sessions_in(&results::folder())? {
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        sessions.push((name.into_owned(), record(&folder)?));
    }
    sessions.sort_by(|(_, one), (_, other)| one.header.started.cmp(&other.header.started));
    let mut rows = String::new();
    for (place, (later, b)) in sessions.iter().enumerate() {
        for load in b.header.plan.loads.iter().filter(|load| load.leads()) {
            let name = load.name();
            let has_it = |(_, a): &&(String, SessionRecord)| number(a, &name).is_some();
            if let Some((earlier, a)) = sessions[..place].iter().rev().find(has_it) {
                rows += &row((earlier, a), (later, b), &name).unwrap_or_default();
            }
        }
    }
    Ok(format!(
        "| load | from | to | unchanged stacks | they became × | apart by | the null server became × |\n\
         | --- | --- | --- | ---: | ---: | ---: | ---: |\n{rows}"
    ))
}

fn row(a: (&str, &SessionRecord), b: (&str, &SessionRecord), load: &str) -> Option<String> {
    let found = compare(a, b, LETTERS, Bounds::default());
    let is_it = |loads: &Value| {
        loads
            .as_array()
            .is_some_and(|loads| loads.iter().any(|one| one == load))
    };
    let mut warnings = found.warnings.iter();
    let moved = warnings
        .find(|one| one.id == "unchanged-moved" && one.evidence.get("loads").is_some_and(is_it))?;
    let figure = |key: &str| moved.evidence.get(key)?.as_f64();
    let null_server = null_server(b.1, load)? / null_server(a.1, load)?;
    Some(format!(
        "| {load} | {} | {} | {} | {} | {} | {} |\n",
        a.0,
        b.0,
        figure("stacks")?,
        ratio(figure("ratio")?),
        short_percent(figure("spread")?),
        ratio(null_server)
    ))
}

/// The load's number in the plan.
fn number(record: &SessionRecord, load: &str) -> Option<usize> {
    let mut loads = record.header.plan.loads.iter();
    loads.position(|one| one.name() == load)
}

/// The null server's answers per second at a load: the geometric mean over its heats.
fn null_server(record: &SessionRecord, load: &str) -> Option<f64> {
    let heats = record.complete_heats(number(record, load)?);
    let rate = |heat: &deadheat_model::heat::HeatRecord| {
        let member = heat
            .members
            .iter()
            .position(|one| one.role == Role::Ceiling)?;
        let slices = heat.rounds.iter().flatten();
        let own = slices.filter(|slice| slice.member as usize == member);
        let (answers, seconds) = own.fold((0, 0.0), |(answers, seconds), slice| {
            (
                answers + slice.tally.succeeded,
                seconds + slice.window.as_secs_f64(),
            )
        });
        (answers > 0).then(|| (answers as f64 / seconds).ln())
    };
    let logs: Vec<f64> = heats.filter_map(rate).collect();
    (!logs.is_empty()).then(|| (logs.iter().sum::<f64>() / logs.len() as f64).exp())
}
