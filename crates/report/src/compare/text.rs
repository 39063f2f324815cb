//! A comparison for a terminal: the verdict first.

use anstyle::Style;
use textwrap::core::display_width;

use super::{
    view::{CompareView, Outcome, RatioRow, SideView},
    words,
};
use crate::text::{BAD, BOLD, DIM, GOOD, Page, Screen, WARN, pad_left, pad_right};

/// The whole comparison, wrapped at `width` columns, with ANSI colours if `colour`. The first line is the verdict.
pub fn text(view: &CompareView, width: usize, colour: bool) -> String {
    let mut page = answer(view, width, colour);
    page.bullets("How it was measured and judged", "- ", &view.how);
    side(&mut page, "A", &view.a);
    side(&mut page, "B", &view.b);
    if !view.conditions.is_empty() {
        page.section("Where");
        page.facts(&view.conditions);
    }
    page.text
}

/// What answers the question, on one screen. Laid out like [`text`].
pub fn brief(view: &CompareView, width: usize, colour: bool) -> String {
    let mut page = answer(view, width, colour);
    page.line(Style::new(), "");
    let effort = view.effort.as_deref();
    match &view.folder {
        Some(folder) => {
            if let Some(effort) = effort {
                page.wrapped(DIM, "", effort);
            }
            page.line(DIM, &format!("Records: {folder}"));
            page.line(DIM, &format!("Details: deadheat report {folder} --details"));
        }
        None => page.wrapped(
            DIM,
            "",
            "--details shows how it was judged, both sides and the machine.",
        ),
    }
    page.text
}

fn answer(view: &CompareView, width: usize, colour: bool) -> Page {
    let mut page = Page::new(Screen::new(width, colour));
    let style = match view.outcome {
        Outcome::Better => GOOD,
        Outcome::Worse => BAD.bold(),
        Outcome::Even => BOLD,
    };
    page.wrapped(style, "", &view.headline);
    if let Some(gate) = &view.gate {
        let style = if gate.failed { BAD } else { Style::new() };
        for sentence in &gate.sentences {
            page.wrapped(style, "", sentence);
        }
    }
    page.wrapped(Style::new(), "A  ", &view.a.name);
    page.wrapped(Style::new(), "B  ", &view.b.name);
    for warning in &view.warnings {
        page.wrapped(WARN, "! ", warning);
    }
    if let Some((load, rows)) = view.metrics_of_one() {
        let renamed = rows.into_iter().map(|(name, row)| RatioRow {
            name,
            ..row.clone()
        });
        let rows: Vec<RatioRow> = renamed.collect();
        ratios(&mut page, &load, &rows, view.is_judged);
    } else {
        for table in &view.tables {
            ratios(&mut page, table.title, &table.rows, view.is_judged);
        }
    }
    page.bullets("Not compared", "x ", &view.not_compared);
    page.bullets("Notes", "- ", &view.notes);
    page.bullets("What differs between A and B", "- ", &view.differences);
    page
}

fn side(page: &mut Page, name: &str, side: &SideView) {
    if !side.facts.is_empty() {
        page.section(&format!("{name}: {}", side.name));
        page.facts(&side.facts);
    }
}

fn ratios(page: &mut Page, title: &str, ratios: &[RatioRow], is_judged: bool) {
    page.section(title);
    let rows = ratios.iter().map(|row| words::cells(&row.found, is_judged));
    let rows: Vec<[String; 4]> = rows.collect();
    let widths: [usize; 4] = std::array::from_fn(|column| {
        let widths = rows.iter().map(|row| display_width(&row[column]));
        let head = display_width(words::HEAD[column]);
        widths.max().unwrap_or(0).max(head)
    });
    let longest = ratios
        .iter()
        .map(|row| display_width(&row.name) + depth(row));
    let figures: usize = widths.iter().map(|width| width + 2).sum();
    let names = longest
        .max()
        .unwrap_or(0)
        .min(page.width.saturating_sub(figures));
    let line = |name: &str, cells: &[String; 4]| {
        let mut line = pad_right(name, names);
        for (column, (cell, width)) in cells.iter().zip(widths).enumerate() {
            line += "  ";
            // Figures end below each other, words begin there.
            line += &match column {
                0 | 1 => pad_left(cell, width),
                _ => pad_right(cell, width),
            };
        }
        line
    };
    page.line(DIM, &line("", &words::HEAD.map(str::to_owned)));
    let mut group: Option<&str> = None;
    for (row, cells) in ratios.iter().zip(&rows) {
        if row.group.as_deref() != group {
            group = row.group.as_deref();
            page.line(Style::new(), group.unwrap_or_default());
        }
        let style = match row.outcome {
            Outcome::Better => GOOD,
            Outcome::Worse => BAD,
            Outcome::Even => Style::new(),
        };
        let name = format!("{}{}", " ".repeat(depth(row)), row.name);
        if display_width(&name) <= names {
            page.line(style, &line(&name, cells));
        } else {
            // A name is never cut: two variants may differ in their last letters only.
            page.wrapped(style, &" ".repeat(depth(row)), &row.name);
            page.line(style, &line("", cells));
        }
    }
}

/// How deep a row stands below its group.
fn depth(row: &RatioRow) -> usize {
    if row.group.is_some() { 2 } else { 0 }
}
