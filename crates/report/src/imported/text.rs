//! What was read, for a terminal: a table for each heading, then what speaks against the figures.

use std::collections::HashMap;

use anstyle::Style;
use deadheat_model::imported::{Figures, Imported, Run};

use super::headline::headline;
use crate::{
    figure::{NONE, count, figure, seconds},
    text::{BOLD, DIM, Page, Screen, WARN},
    view::clean,
};

/// A column: its head, and its cell for a run that has the figure.
type Column = (&'static str, fn(&Figures) -> Option<String>);

const COLUMNS: [Column; 7] = [
    ("requests/s", |figures| {
        figures.requests_per_second.map(figure)
    }),
    ("mean", |figures| figures.mean_ms.map(time)),
    ("p50", |figures| figures.p50_ms.map(time)),
    ("p99", |figures| figures.p99_ms.map(time)),
    ("max", |figures| figures.max_ms.map(time)),
    ("errors", |figures| figures.non_2xx.map(count)),
    ("failed", |figures| figures.failed.map(count)),
];

/// The most runs that a warning names.
const MOST_NAMED: usize = 6;

/// What was read.
pub fn text(imported: &Imported, screen: Screen) -> String {
    let mut page = Page::new(screen);
    let tables = tables(&imported.runs);
    page.wrapped(BOLD, "", &headline(&imported.runs, &tables));
    for together in tables {
        table(&mut page, together);
    }
    let of_runs = said_once(&imported.runs);
    let mut of_all: Vec<String> = Vec::new();
    for warning in &imported.warnings {
        let warning = clean(warning);
        if !of_all.contains(&warning) {
            of_all.push(warning);
        }
    }
    page.bullets("Faults of single runs", "! ", &of_runs);
    page.bullets("Before you decide", "! ", &of_all);
    let left_out = imported.left_out.iter().map(|left| {
        let place = &left.place;
        clean(&format!("{}:{}: {}", place.file, place.line, left.reason))
    });
    page.bullets("Not read", "- ", &left_out.collect::<Vec<_>>());
    page.text
}

/// Runs that stand in one table.
fn tables(runs: &[Run]) -> Vec<&[Run]> {
    runs.chunk_by(|one, next| stands_with(next, one)).collect()
}

fn stands_with(run: &Run, other: &Run) -> bool {
    run.section == other.section && run.tool == other.tool && run.place.file == other.place.file
}

fn table(page: &mut Page, runs: &[Run]) {
    let Some(first) = runs.first() else {
        return;
    };
    let of = first.command.as_deref().or(first.target.as_deref());
    page.section(&clean(
        first.section.as_deref().unwrap_or(&first.place.file),
    ));
    if let Some(of) = of {
        page.wrapped(DIM, "", &clean(of));
    }
    let columns: Vec<&Column> = COLUMNS
        .iter()
        .filter(|(_, cell)| runs.iter().any(|run| cell(&run.figures).is_some()))
        .collect();
    let mut heads = vec![first.tool.name()];
    heads.extend(columns.iter().map(|(head, _)| *head));
    let row = |run: &Run| {
        let mut row = vec![clean(&run.name())];
        let cells = columns
            .iter()
            .map(|(_, cell)| cell(&run.figures).unwrap_or_else(|| NONE.to_owned()));
        row.extend(cells);
        row
    };
    page.table("", &heads, &runs.iter().map(row).collect::<Vec<_>>());
    for run in runs.iter().filter(|run| run.invalid().is_some()) {
        let why = run.invalid().unwrap_or_default();
        page.wrapped(WARN, "! ", &clean(&format!("{}: {why}", run.name())));
    }
    if runs.iter().all(|run| run.valid_rate().is_none()) {
        page.wrapped(Style::new(), "", "No rate of this table can be used.");
    }
}

/// What speaks against runs: each warning once, with the runs that it holds for. Warnings that differ in their numbers
/// alone are one, with the words of the first.
fn said_once(runs: &[Run]) -> Vec<String> {
    let mut places: HashMap<String, usize> = HashMap::new();
    let mut warnings: Vec<(&str, Vec<&Run>)> = Vec::new();
    for run in runs {
        for warning in &run.warnings {
            let kind = warning.replace(|one: char| one.is_ascii_digit() || ",.".contains(one), "");
            let place = *places.entry(kind).or_insert(warnings.len());
            if place == warnings.len() {
                warnings.push((warning, Vec::new()));
            }
            warnings[place].1.push(run);
        }
    }
    let sentence = |(warning, of): &(&str, Vec<&Run>)| {
        let named: Vec<String> = of.iter().take(MOST_NAMED).map(|run| place(run)).collect();
        let more = match of.len() - named.len() {
            0 => String::new(),
            more => format!(" and {} more", count(more as u64)),
        };
        let is_of_all = of.len() == runs.len() && runs.len() > 1;
        let which = if is_of_all {
            "all runs".to_owned()
        } else {
            named.join(", ") + &more
        };
        let is_one_text = of
            .iter()
            .all(|run| run.warnings.iter().any(|one| one == warning));
        let similar = if is_one_text {
            ""
        } else {
            " (the numbers are of the first)"
        };
        clean(&format!("{which}: {warning}{similar}"))
    };
    warnings.iter().map(sentence).collect()
}

/// A run's name, and its line.
fn place(run: &Run) -> String {
    match run.label {
        Some(_) => format!("{} (line {})", run.name(), run.place.line),
        None => run.name(),
    }
}

/// Milliseconds in the unit that suits them.
fn time(milliseconds: f64) -> String {
    seconds(milliseconds / 1e3)
}
