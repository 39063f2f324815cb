//! What was read, for a terminal: a table for each heading, then what speaks against the figures.

use anstyle::Style;
use deadheat_model::imported::{Figures, Imported, Run};

use crate::{
    figure::{NONE, count, counted, figure, seconds},
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

/// What was read.
pub fn text(imported: &Imported, screen: Screen) -> String {
    let mut page = Page::new(screen);
    page.wrapped(BOLD, "", &headline(&imported.runs));
    let mut rest = imported.runs.as_slice();
    while let Some(first) = rest.first() {
        let end = rest.iter().position(|run| !stands_with(run, first));
        let (together, after) = rest.split_at(end.unwrap_or(rest.len()));
        table(&mut page, together);
        rest = after;
    }
    let of_runs: Vec<String> = imported.runs.iter().filter_map(warnings).collect();
    let of_all: Vec<String> = imported
        .warnings
        .iter()
        .map(|warning| clean(warning))
        .collect();
    page.bullets("What is wrong with single runs", "! ", &of_runs);
    page.bullets("Before you decide", "! ", &of_all);
    let left_out = imported.left_out.iter().map(|left| {
        let place = &left.place;
        clean(&format!("{}:{}: {}", place.file, place.line, left.reason))
    });
    page.bullets("Not read", "- ", &left_out.collect::<Vec<_>>());
    page.text
}

/// What there is, and the best of it.
fn headline(runs: &[Run]) -> String {
    let mut tools: Vec<&str> = runs.iter().map(|run| run.tool.name()).collect();
    tools.dedup();
    let what = format!("{} of {}", counted(runs.len(), "run"), tools.join(", "));
    let best = runs.iter().filter_map(|run| Some((run.valid_rate()?, run)));
    match best.max_by(|one, other| one.0.total_cmp(&other.0)) {
        None => format!("{what}: no rate can be used."),
        Some((rate, _)) if runs.len() == 1 => format!("{what}: {} requests/s.", figure(rate)),
        Some((rate, best)) => {
            let name = clean(&best.name());
            format!(
                "{what}; the highest rate is {} requests/s, of {name}.",
                figure(rate)
            )
        }
    }
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

/// What speaks against a run, in one sentence.
fn warnings(run: &Run) -> Option<String> {
    let place = match run.label {
        Some(_) => format!("{} (line {})", run.name(), run.place.line),
        None => run.name(),
    };
    (!run.warnings.is_empty()).then(|| clean(&format!("{place}: {}", run.warnings.join("; "))))
}

/// Milliseconds in the unit that suits them.
fn time(milliseconds: f64) -> String {
    seconds(milliseconds / 1e3)
}
