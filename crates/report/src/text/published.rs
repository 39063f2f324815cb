//! Published tables beside what was measured.

use anstyle::Style;
use textwrap::core::display_width;

use super::{BOLD, DIM, Page, WARN};
use crate::view::{PublishedRowView, PublishedTableView, PublishedView};

/// What the columns stand under: the sides, then the columns themselves.
const SIDES: [&str; 2] = ["published", "measured here"];
const HEAD: [&str; 6] = [
    "requests/s",
    "ratio",
    "requests/s",
    "± %",
    "ratio",
    "95 % interval",
];
/// Columns of the published side.
const PUBLISHED: usize = 2;
/// Between two columns, and between the sides.
const GAP: usize = 2;
const SIDE_GAP: usize = 5;

pub(super) fn section(page: &mut Page, view: &PublishedView) {
    page.section("Published and measured");
    for sentence in &view.introduction {
        page.wrapped(Style::new(), "", sentence);
    }
    view.tables
        .iter()
        .for_each(|table| self::table(page, table));
}

fn table(page: &mut Page, table: &PublishedTableView) {
    page.section(&table.title);
    for fact in &table.facts {
        page.wrapped(
            Style::new(),
            "- ",
            &format!("{}: {}", fact.name, fact.value),
        );
    }
    let charset = page.charset;
    let written = |cells: [String; 6]| cells.map(|cell| charset.write(&cell).into_owned());
    let rows = table.rows.iter().map(|row| written(cells(row)));
    let cells: Vec<[String; 6]> = rows.collect();
    let head = written(HEAD.map(str::to_owned));
    let widths: [usize; 6] = std::array::from_fn(|column| {
        let own = cells.iter().map(|row| display_width(&row[column]));
        own.chain([display_width(&head[column])]).max().unwrap_or(0)
    });
    page.text.push('\n');
    page.line(DIM, &sides(&widths));
    page.line(DIM, &line(&head, &widths));
    for (row, cells) in table.rows.iter().zip(&cells) {
        let style = if row.is_baseline { BOLD } else { Style::new() };
        page.wrapped(style, "", &format!("{} → {}", row.name, row.target));
        page.line(style, &line(cells, &widths));
    }
    page.text.push('\n');
    for note in &table.notes {
        page.wrapped(WARN, "! ", &format!("{}: {}", note.whose(), note.text));
    }
    for row in &table.rows {
        if let Some(reason) = &row.target_reason {
            let text = format!("{} → {}: {reason}", row.name, row.target);
            page.wrapped(Style::new(), "- ", &text);
        }
    }
    for remark in &table.remarks {
        page.wrapped(Style::new(), "- ", remark);
    }
}

fn cells(row: &PublishedRowView) -> [String; 6] {
    let bare = |spread: &String| spread.trim_matches(['±', '%', ' ']).to_owned();
    [
        row.published.clone(),
        row.published_ratio.clone(),
        row.measured.clone(),
        row.spread.as_ref().map(bare).unwrap_or_default(),
        row.ratio.clone(),
        row.interval.clone().unwrap_or_default(),
    ]
}

fn line(cells: &[String; 6], widths: &[usize; 6]) -> String {
    let mut line = String::new();
    for (column, (cell, width)) in cells.iter().zip(widths).enumerate() {
        let gap = if column == PUBLISHED { SIDE_GAP } else { GAP };
        line += &" ".repeat(gap + width - display_width(cell));
        line += cell;
    }
    line
}

/// The sides' names, each over the beginning of its columns.
fn sides(widths: &[usize; 6]) -> String {
    let published: usize = widths[..PUBLISHED].iter().map(|width| GAP + width).sum();
    let (left, indent) = (published - GAP + SIDE_GAP, " ".repeat(GAP));
    format!("{indent}{:<left$}{}", SIDES[0], SIDES[1])
}
