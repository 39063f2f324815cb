//! Published tables beside what was measured.

use serde::Serialize;

use crate::{
    standings::{
        view::{PublishedView, StandingsView},
        words,
    },
    view::Fact,
};

/// A table as the template has it.
#[derive(Debug, Serialize)]
pub(super) struct Table<'a> {
    title: &'a str,
    facts: &'a [Fact],
    rows: Vec<Row<'a>>,
    notes: &'a [String],
}

#[derive(Debug, Serialize)]
struct Row<'a> {
    name: &'a str,
    target: &'a str,
    cells: [String; 6],
}

pub(super) fn tables(view: &StandingsView) -> Vec<Table<'_>> {
    view.published.iter().map(table).collect()
}

fn table(view: &PublishedView) -> Table<'_> {
    let rows = view.rows.iter().map(|own| Row {
        name: &own.name,
        target: &own.target,
        cells: words::sides(own),
    });
    Table {
        title: &view.title,
        facts: &view.facts,
        rows: rows.collect(),
        notes: &view.notes,
    }
}
