//! The report for a terminal: at most 40 lines, whatever the session's size. [`full`](super::full) has everything.

mod ranking;
mod row_budget;

use anstyle::Style;
use deadheat_document::text::{BAD, BOLD, DIM, Page, Screen, WARN};
use deadheat_stats::standings::AbsentBecause;
use ranking::Columns;

use super::{
    scaling,
    view::{LoadView, StandingsView},
    words,
};

/// The command line adds two: the path of the page, and how to see everything here.
const MOST_LINES: usize = 38;
/// Warnings that are shown.
const MOST_WARNINGS: usize = 3;
/// Stacks whose reasons are given if nothing was measured.
const MOST_REASONS: usize = 8;
/// Lines that a warning, an answer or a title takes at most.
const MOST_OF_A_TEXT: usize = 2;

/// The report in at most 38 lines.
pub fn text(view: &StandingsView, screen: Screen) -> String {
    let mut page = Page::new(screen);
    page.at_most(MOST_OF_A_TEXT, BOLD, "", &view.title.to_string());
    let end = end(view, screen);
    let room = MOST_LINES - lines(&page.text) - lines(&end);
    loads(&mut page, view, room);
    page.text + &end
}

fn lines(text: &str) -> usize {
    text.lines().count()
}

/// How far the figures can be trusted, and what is not there.
fn end(view: &StandingsView, screen: Screen) -> String {
    let mut page = Page::new(screen);
    page.line(Style::new(), "");
    page.at_most(
        MOST_OF_A_TEXT,
        Style::new(),
        "",
        &format!("{}.", view.trust),
    );
    for warning in view.warnings.iter().take(MOST_WARNINGS) {
        page.at_most(MOST_OF_A_TEXT, WARN, "! ", &warning.in_full());
    }
    if view.warnings.len() > MOST_WARNINGS {
        let more = view.warnings.len() - MOST_WARNINGS;
        let plural = if more == 1 { "" } else { "s" };
        page.line(
            DIM,
            &format!("  … {more} more warning{plural}, in the page"),
        );
    }
    if let Some(line) = &view.not_measured.line {
        page.at_most(MOST_OF_A_TEXT, BAD, "", &format!("Not measured: {line}."));
    }
    if !view.has_figures() {
        reasons(&mut page, view);
    }
    page.text
}

/// Why there is nothing to show.
fn reasons(page: &mut Page, view: &StandingsView) {
    let entries = view.not_measured.entries.iter();
    let entries = entries.filter(|lack| lack.because != AbsentBecause::NotMeasured);
    for lack in entries.take(MOST_REASONS) {
        page.at_most(MOST_OF_A_TEXT, BAD, "x ", &words::lack(lack));
    }
}

/// A load's answer. If there is no room, it names the best alone; the page has the others.
fn answer(page: &Page, load: &LoadView) -> Vec<String> {
    let mut lines = page.wrap("", &format!("{}.", load.answer()));
    if lines.len() > MOST_OF_A_TEXT {
        lines = page.cut(MOST_OF_A_TEXT, "", &format!("{}.", load.short_answer()));
    }
    let scaling = scaling::sentence(load);
    for text in scaling.iter().chain(load.equal_work.first()) {
        lines.extend(page.cut(MOST_OF_A_TEXT, "", text));
    }
    lines
}

/// Answers with the first rows of their tables, in so many lines.
fn loads(page: &mut Page, view: &StandingsView, room: usize) {
    let answers: Vec<Vec<String>> = view.leading().map(|load| answer(page, load)).collect();
    let heights: Vec<usize> = answers.iter().map(Vec::len).collect();
    let rows = |load: &LoadView| {
        let tables = load.filled_tables();
        tables.map(|table| table.rows.len()).collect()
    };
    let rows: Vec<Vec<usize>> = view.leading().map(rows).collect();
    let at_rates = words::at_rates(view);
    let at_rates = at_rates.map_or_else(Vec::new, |text| page.wrap("", &text));
    let plan = row_budget::plan(room.saturating_sub(at_rates.len()), &heights, &rows);
    let shown = || view.leading().zip(&plan.rows);
    let rows = shown().flat_map(|(load, rows)| {
        let tables = load.filled_tables().zip(rows);
        tables
            .flat_map(|(table, rows)| table.rows.iter().take(*rows).map(|row| (load.measure, row)))
    });
    // The same in all tables.
    let columns = Columns::new(page, rows);
    let mut head = None;
    for (place, (load, rows)) in shown().enumerate().take(plan.answers) {
        if plan.is_spaced() {
            page.line(Style::new(), "");
        }
        let style = if plan.is_spaced() { BOLD } else { Style::new() };
        answers[place]
            .iter()
            .for_each(|line| page.line(style, line));
        for (number, (table, rows)) in load.filled_tables().zip(rows).enumerate() {
            if *rows == 0 {
                continue;
            }
            // The first table is what the answer is about.
            if let Some(title) = table.title.as_ref().filter(|_| number > 0) {
                page.line(BOLD, title);
            }
            if head.replace(load.measure) != Some(load.measure) {
                columns.head(page, load.measure);
            }
            for row in table.rows.iter().take(*rows) {
                columns.row(page, load.measure, row, table.most);
            }
        }
    }
    left_out(page, view, &plan);
    if plan.has_tables() {
        at_rates.iter().for_each(|line| page.line(DIM, line));
    }
}

/// What has no room, and what the columns mean.
fn left_out(page: &mut Page, view: &StandingsView, plan: &row_budget::Plan) {
    let loads = view.leading().count() - plan.answers;
    if loads > 0 {
        page.line(DIM, &format!("… {loads} more loads, in the page"));
    }
    match plan.rows_left_out {
        0 => {}
        1 => page.line(DIM, "… 1 more row, in the page"),
        more => page.line(DIM, &format!("… {more} more rows, in the page")),
    }
    if plan.has_tables() && needs_legend(view) {
        page.line(DIM, words::legend(view));
    }
}

/// Whether there is anything that the legend explains.
fn needs_legend(view: &StandingsView) -> bool {
    let mut rows = view.loads.iter().flat_map(LoadView::rows);
    rows.any(|row| {
        let rank = row.main.and_then(|main| main.rank);
        row.half_width.is_some() || rank.is_some_and(|rank| rank.best != rank.worst)
    })
}
