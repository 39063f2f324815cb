//! What was read: a table for each heading, then what speaks against the figures.

use deadheat_document::{Column, Document, Section, Table, Tone};
use deadheat_model::{
    Warning,
    figure::{NONE, count, figure, seconds},
    imported::{Imported, Run, RunFigures},
};

use super::headline::headline;

/// The head of a column, and its cell for a run that has the figure.
type FigureColumn = (&'static str, fn(&RunFigures) -> Option<String>);

const COLUMNS: [FigureColumn; 7] = [
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
pub fn document(imported: &Imported) -> Document {
    let tables: Vec<&[Run]> = imported.runs.chunk_by(is_of_one_table).collect();
    let warnings = imported.warnings.iter().map(Warning::in_full);
    let not_read = imported.left_out.iter().map(|left| {
        let place = &left.place;
        format!("{}:{}: {}", place.file, place.line, left.reason)
    });
    Document::new(Tone::Plain, headline(&imported.runs, &tables))
        .sections(tables.into_iter().map(section))
        .section(Section::new("Faults of single runs").warnings(faults(&imported.runs)))
        .section(Section::new("Before you decide").warnings(warnings))
        .section(Section::new("Not read").bullets(not_read))
}

fn is_of_one_table(run: &Run, next: &Run) -> bool {
    run.section == next.section && run.tool == next.tool && run.place.file == next.place.file
}

/// Runs of one table, of which there is at least one.
fn section(runs: &[Run]) -> Section {
    let first = &runs[0];
    let title = first.section.as_deref().unwrap_or(&first.place.file);
    let loaded = first.command.as_ref().or(first.target.as_ref());
    let columns = COLUMNS.iter();
    let columns: Vec<&FigureColumn> = columns
        .filter(|(_, cell)| runs.iter().any(|run| cell(&run.figures).is_some()))
        .collect();
    let heads = columns.iter().map(|(head, _)| Column::right(head));
    let mut table = Table::new([Column::left(first.tool.name())].into_iter().chain(heads));
    for run in runs {
        let cells = columns.iter().map(|(_, cell)| cell(&run.figures));
        let cells = cells.map(|cell| cell.unwrap_or_else(|| NONE.to_owned()));
        table.row([run.name()].into_iter().chain(cells));
        if let Some(why) = run.invalid() {
            table.note("! ", why);
        }
    }
    let has_rate = runs.iter().any(|run| run.valid_rate().is_some());
    let unusable = (!has_rate).then_some("No rate of this table can be used.");
    Section::new(title)
        .aside(loaded)
        .table(table)
        .paragraphs(unusable)
}

/// What speaks against runs: each warning once, in the words of the first run that it holds for, with all of these runs.
fn faults(runs: &[Run]) -> Vec<String> {
    let mut warnings: Vec<(&Warning, Vec<&Run>)> = Vec::new();
    for run in runs {
        for warning in &run.warnings {
            match warnings.iter_mut().find(|(one, _)| one.id == warning.id) {
                Some((_, of)) => of.push(run),
                None => warnings.push((warning, vec![run])),
            }
        }
    }
    let sentence = |(warning, of): &(&Warning, Vec<&Run>)| {
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
        let is_one_text = of.iter().all(|run| run.warnings.contains(warning));
        let similar = if is_one_text {
            ""
        } else {
            " (The figures are those of the first.)"
        };
        format!("{which}: {}{similar}", warning.sentence)
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
