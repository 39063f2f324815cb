//! The section of a load.

use deadheat_stats::standings::Measure;
use serde::Serialize;

use super::{
    board::{Board, board},
    colours::Colours,
    notes::{Note, notes},
};
use crate::{
    ReportError,
    standings::{
        view::{LoadView, StandingsView},
        words,
    },
};

/// A load with its plots, tables and notes.
#[derive(Debug, Serialize)]
pub(super) struct LoadSection {
    anchor: String,
    /// The load in words.
    title: String,
    /// The load in a word.
    short: String,
    description: String,
    answer: Answer,
    ratio_title: &'static str,
    /// The margin of a dead heat.
    margin: String,
    boards: Vec<Board>,
    notes: Vec<Note>,
}

/// What came of a load: the load's name, which leads to its section, and the rest of the sentence.
#[derive(Debug, Serialize)]
struct Answer {
    about: String,
    says: String,
}

/// The id of a load's section.
pub(super) fn anchor(place: usize) -> String {
    format!("load-{}", place + 1)
}

/// The sections of all loads.
pub(super) fn sections(
    view: &StandingsView,
    margin: f64,
    colours: &Colours,
) -> Result<Vec<LoadSection>, ReportError> {
    let loads = view.loads.iter().enumerate();
    loads
        .map(|(place, load)| section(place, load, margin, colours))
        .collect()
}

fn section(
    place: usize,
    load: &LoadView,
    margin: f64,
    colours: &Colours,
) -> Result<LoadSection, ReportError> {
    let boards = load.tables.iter().enumerate().map(|(number, table)| {
        let id = format!("{}-{}", anchor(place), number + 1);
        board(id, load, table, margin, colours)
    });
    Ok(LoadSection {
        anchor: anchor(place),
        title: load.title.clone(),
        short: load.short.clone(),
        description: load.description.clone(),
        answer: answer(load),
        ratio_title: match load.measure {
            Measure::Throughput => "How many times as fast as",
            Measure::ResponseTime => "How many times as fast, by p99 response time, as",
        },
        margin: words::percent(margin),
        boards: boards.collect::<Result<_, _>>()?,
        notes: notes(load),
    })
}

/// The sentence begins with the load's short name.
fn answer(load: &LoadView) -> Answer {
    match load.answer.strip_prefix(&load.short) {
        Some(rest) => Answer {
            about: load.short.clone(),
            says: rest.to_owned(),
        },
        None => Answer {
            about: load.answer.clone(),
            says: String::new(),
        },
    }
}
