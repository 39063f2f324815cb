//! Columns of text.

use textwrap::core::display_width;

use crate::text::{Charset, DIM, Page};

/// Between two columns.
const GAP: usize = 2;

/// `text` with blanks before it up to a width.
pub(super) fn pad_left(text: &str, width: usize) -> String {
    let blank = width.saturating_sub(display_width(text));
    format!("{}{text}", " ".repeat(blank))
}

/// `text` with blanks after it up to a width.
pub(super) fn pad_right(text: &str, width: usize) -> String {
    let blank = width.saturating_sub(display_width(text));
    format!("{text}{}", " ".repeat(blank))
}

/// A name no wider than `width`, its middle cut out: variants often differ in their ends.
pub(super) fn cut_middle(name: &str, width: usize, charset: Charset) -> String {
    if display_width(name) <= width {
        return name.to_owned();
    }
    let ellipsis = charset.write("…");
    let room = width.saturating_sub(display_width(&ellipsis));
    let taken = |characters: &mut dyn Iterator<Item = char>, most: usize| {
        let mut taken = Vec::new();
        let mut used = 0;
        for character in characters {
            used += display_width(character.encode_utf8(&mut [0; 4]));
            if used > most {
                break;
            }
            taken.push(character);
        }
        taken
    };
    let head = taken(&mut name.chars(), room - room / 2);
    let mut tail = taken(&mut name.chars().rev(), room / 2);
    tail.reverse();
    let (head, tail): (String, String) = (head.into_iter().collect(), tail.into_iter().collect());
    format!("{head}{ellipsis}{tail}")
}

/// Writes a table of any size: names left, all other cells right. A name that has no room stands on lines of its own.
pub(super) fn write(page: &mut Page, heads: &[&str], rows: &[Vec<String>]) {
    let write = |page: &Page, cell: &str| page.charset.write(cell).into_owned();
    let heads: Vec<String> = heads.iter().map(|head| write(page, head)).collect();
    let rows: Vec<Vec<String>> = rows
        .iter()
        .map(|row| row.iter().map(|cell| write(page, cell)).collect())
        .collect();
    let width = |column: usize| {
        let cells = rows.iter().map(|row| display_width(&row[column]));
        cells
            .chain([display_width(&heads[column])])
            .max()
            .unwrap_or(0)
    };
    let mut widths: Vec<usize> = (0..heads.len()).map(width).collect();
    let figures: usize = widths.iter().skip(1).map(|width| width + GAP).sum();
    widths[0] = widths[0].min(page.width.saturating_sub(figures));
    let line = |cells: &[String]| {
        let mut line = pad_right(&cells[0], widths[0]);
        for (cell, width) in cells.iter().zip(&widths).skip(1) {
            line += &format!("{}{}", " ".repeat(GAP), pad_left(cell, *width));
        }
        line
    };
    page.line(DIM, &line(&heads));
    for row in &rows {
        if display_width(&row[0]) <= widths[0] {
            page.line(anstyle::Style::new(), &line(row));
            continue;
        }
        page.wrapped(anstyle::Style::new(), "", &row[0]);
        let mut figures = row.clone();
        figures[0].clear();
        page.line(anstyle::Style::new(), &line(&figures));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lose_their_middle() {
        assert_eq!(cut_middle("short", 5, Charset::Unicode), "short");
        assert_eq!(
            cut_middle("language-framework", 9, Charset::Unicode),
            "lang…work"
        );
        assert_eq!(
            cut_middle("language-framework", 9, Charset::Ascii),
            "lan...ork"
        );
        assert_eq!(cut_middle("大小大小大小", 7, Charset::Unicode), "大…小");
    }
}
