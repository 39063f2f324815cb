//! The report for a terminal: at most 40 lines, whatever the session's size. [`full`] has everything.

mod details;
mod ranking;
mod room;

use anstyle::Style;
use deadheat_stats::standings::{AbsentBecause, Measure};

use super::{
    view::{LoadView, StandingsView, TableView},
    words,
};
use crate::text::{BAD, BOLD, DIM, Page, Screen, WARN};
use ranking::Columns;

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

/// Everything that the report knows, as long as it gets.
pub fn full(view: &StandingsView, screen: Screen) -> String {
    let mut page = Page::new(screen);
    page.wrapped(BOLD, "", &view.title.to_string());
    details::write(&mut page, view);
    page.text
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
        &format!("{}.", view.trust.line),
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

/// A table as far as it is shown.
struct Block<'a> {
    load: &'a LoadView,
    table: &'a TableView,
    /// Whether it is the load's first, which stands below its answer.
    is_first: bool,
}

fn blocks(load: &LoadView) -> Vec<Block<'_>> {
    let tables = load.tables.iter().enumerate();
    let tables = tables.filter(|(_, table)| !table.rows.is_empty());
    tables
        .map(|(place, table)| Block {
            load,
            table,
            is_first: place == 0,
        })
        .collect()
}

/// A load's answer. If there is no room, it names the best alone; the page has the others.
fn answer(page: &Page, load: &LoadView) -> Vec<String> {
    let whole = page.wrap("", &format!("{}.", load.answer()));
    if whole.len() <= MOST_OF_A_TEXT {
        return whole;
    }
    let shorter = LoadView {
        clauses: load.clauses[..1].to_vec(),
        ..load.clone()
    };
    page.cut(MOST_OF_A_TEXT, "", &format!("{}.", shorter.answer()))
}

/// Answers with the first rows of their tables, in so many lines.
fn loads(page: &mut Page, view: &StandingsView, room: usize) {
    let answers: Vec<Vec<String>> = view.loads.iter().map(|load| answer(page, load)).collect();
    let heights: Vec<usize> = answers.iter().map(Vec::len).collect();
    let tables: Vec<Vec<usize>> = view
        .loads
        .iter()
        .map(|load| {
            blocks(load)
                .iter()
                .map(|block| block.table.rows.len())
                .collect()
        })
        .collect();
    let plan = room::plan(room, &heights, &tables);
    let mut drawn = Drawn::new(page, view, &plan);
    for (place, load) in view.loads.iter().enumerate().take(plan.answers) {
        if plan.is_spaced() {
            page.line(Style::new(), "");
        }
        let style = if plan.is_spaced() { BOLD } else { Style::new() };
        for line in &answers[place] {
            page.line(style, line);
        }
        for (block, rows) in blocks(load).iter().zip(&plan.rows[place]) {
            drawn.block(page, block, *rows);
        }
    }
    left_out(page, view, &plan);
}

/// Tables under construction: their columns are the same in all of them.
struct Drawn {
    columns: Columns,
    head: Option<Measure>,
}

impl Drawn {
    fn new(page: &Page, view: &StandingsView, plan: &room::Plan) -> Self {
        let loads = view.loads.iter().zip(&plan.rows);
        let shown = loads.flat_map(|(load, rows)| {
            let blocks = blocks(load).into_iter().zip(rows);
            blocks.flat_map(move |(block, rows)| {
                let first = block.table.rows.iter().take(*rows);
                first.map(move |row| (load.measure, row))
            })
        });
        Self {
            columns: Columns::of(page, shown),
            head: None,
        }
    }

    fn block(&mut self, page: &mut Page, block: &Block, rows: usize) {
        if rows == 0 {
            return;
        }
        let measure = block.load.measure;
        if let (false, Some(title)) = (block.is_first, &block.table.title) {
            page.line(BOLD, title);
        }
        if self.head != Some(measure) {
            self.head = Some(measure);
            self.columns.head(page, measure);
        }
        for row in block.table.rows.iter().take(rows) {
            self.columns.row(page, measure, row, block.table.most);
        }
    }
}

/// What has no room, and what the columns mean.
fn left_out(page: &mut Page, view: &StandingsView, plan: &room::Plan) {
    let loads = view.loads.len() - plan.answers;
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
