//! What else is to be known of a load: who is missing, what failed, and how it was checked.

use serde::Serialize;

use super::figures::of_heats;
use crate::{
    figure::{counted, list},
    standings::{
        view::{LackView, LoadView, RowView},
        words,
    },
};

/// A sentence or two.
#[derive(Debug, Serialize)]
pub(super) struct Note {
    text: String,
    /// The command that would change it.
    remedy: Option<String>,
}

impl Note {
    fn new(text: String) -> Self {
        Self { text, remedy: None }
    }
}

/// All notes on a load, those about missing figures first.
pub(super) fn notes(load: &LoadView) -> Vec<Note> {
    let mut notes: Vec<Note> = load.lacking.iter().map(lacking).collect();
    notes.extend(load.rows().filter_map(failures));
    notes.extend(bounds(load));
    notes.extend(unsteady(load));
    notes.extend(words::load_notes(load).into_iter().map(Note::new));
    notes
}

fn lacking(lack: &LackView) -> Note {
    Note {
        text: format!(
            "{}: {}. {}.",
            lack.target,
            words::absent(lack.because),
            lack.reason
        ),
        remedy: lack.remedy.clone(),
    }
}

fn failures(row: &RowView) -> Option<Note> {
    let (first, rest) = row.failures.split_first()?;
    let more = match rest.len() {
        0 => String::new(),
        more => format!(" ({more} more)"),
    };
    let heats = of_heats(row.failures.len() as u32, row);
    Some(Note::new(format!(
        "{} failed in {}, which do not count: {}{more}.",
        row.target,
        // A heat in which it failed is not among those that count.
        if row.failures.len() as u32 <= row.heats {
            heats
        } else {
            counted(row.failures.len(), "heat")
        },
        first.trim_end_matches('.')
    )))
}

fn names<'a>(rows: impl Iterator<Item = &'a RowView>) -> Option<String> {
    let names: Vec<String> = rows.map(|row| row.target.clone()).collect();
    (!names.is_empty()).then(|| list(&names))
}

fn bounds(load: &LoadView) -> Option<Note> {
    let bounded = load
        .rows()
        .filter(|row| row.main.is_some_and(|main| main.is_bound));
    let names = names(bounded)?;
    Some(Note::new(format!(
        "≥: the load generator was the limit of {names}. Their true throughput may be higher; their cost is not affected."
    )))
}

fn unsteady(load: &LoadView) -> Option<Note> {
    let names = names(load.rows().filter(|row| row.unsteady_heats * 2 > row.heats))?;
    Some(Note::new(format!(
        "Not steady after the maximum warm-up in most heats: {names}. A server that has run for longer may be faster \
         or slower."
    )))
}
