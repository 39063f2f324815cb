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
    /// What came of it, after its name.
    says: String,
    ratio_title: &'static str,
    /// The margin of a dead heat.
    margin: String,
    /// The share of errors of an interval that stands alone.
    alpha: String,
    boards: Vec<Board>,
    notes: Vec<Note>,
}

/// The id of a load's section.
pub(super) fn anchor(place: usize) -> String {
    format!("load-{}", place + 1)
}

/// The sections of all loads.
pub(super) fn sections(
    view: &StandingsView,
    colours: &Colours,
) -> Result<Vec<LoadSection>, ReportError> {
    let loads = view.loads.iter().enumerate();
    loads
        .map(|(place, load)| section(place, load, view, colours))
        .collect()
}

fn section(
    place: usize,
    load: &LoadView,
    view: &StandingsView,
    colours: &Colours,
) -> Result<LoadSection, ReportError> {
    let boards = load.tables.iter().enumerate().map(|(number, table)| {
        let id = format!("{}-{}", anchor(place), number + 1);
        board(id, load, table, view.margin, colours)
    });
    Ok(LoadSection {
        anchor: anchor(place),
        title: load.title.clone(),
        short: load.short.clone(),
        description: load.description.clone(),
        says: load.says(),
        ratio_title: match load.measure {
            Measure::Throughput => "How many times as fast as",
            Measure::ResponseTime => "How many times as fast, by p99 response time, as",
        },
        margin: words::percent(view.margin),
        alpha: words::percent(view.alpha),
        boards: boards.collect::<Result<_, _>>()?,
        notes: notes(load),
    })
}
