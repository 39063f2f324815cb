//! A search for a terminal: the answer first.

use anstyle::Style;
use textwrap::core::display_width;

use super::view::{BisectView, HEAD};
use crate::text::{BAD, BOLD, DIM, Page, Screen, pad_left, pad_right};

/// The column with the answer, which is aligned as words are. The last one, too, and it may be cut.
const ANSWER: usize = 4;
const MESSAGE: usize = 5;

/// The search, wrapped at `width` columns, with ANSI colours if `colour`. It begins with the answer.
pub fn text(view: &BisectView, width: usize, colour: bool) -> String {
    let mut page = Page::new(Screen::new(width, colour));
    let style = if view.is_found { BAD.bold() } else { BOLD };
    page.wrapped(style, "", &view.headline);
    for sentence in &view.sentences {
        page.wrapped(Style::new(), "", sentence);
    }
    let rows: Vec<[&str; 6]> = view.rows.iter().map(|row| row.cells()).collect();
    if !rows.is_empty() {
        page.section(&view.title);
        table(&mut page, &rows);
    }
    page.bullets("Notes", "- ", &view.notes);
    page.text
}

fn table(page: &mut Page, rows: &[[&str; 6]]) {
    let widths: [usize; 6] = std::array::from_fn(|column| {
        let all = rows.iter().chain([&HEAD]);
        all.map(|row| display_width(row[column])).max().unwrap_or(0)
    });
    let line = |page: &Page, row: &[&str; 6]| {
        let cells = row.iter().zip(widths).enumerate();
        let cells = cells.map(|(column, (cell, width))| match column {
            0 | ANSWER => pad_right(cell, width),
            MESSAGE => (*cell).to_owned(),
            _ => pad_left(cell, width),
        });
        let cells: Vec<String> = cells.collect();
        page.cut(1, "", &cells.join("  "))
    };
    for text in line(page, &HEAD) {
        page.line(DIM, &text);
    }
    for row in rows {
        for text in line(page, row) {
            page.line(Style::new(), &text);
        }
    }
}
