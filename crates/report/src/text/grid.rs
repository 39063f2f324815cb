//! Columns of text.

use anstyle::Style;
use textwrap::core::display_width;

use super::{Charset, DIM, Page, pad_left, pad_right};

/// Between two columns.
const GAP: usize = 2;

/// A name no wider than `width`, its middle cut out: variants often differ in their ends.
pub(crate) fn cut_middle(name: &str, width: usize, charset: Charset) -> String {
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

impl Page {
    /// A table of any size: names left, all other cells right. A name that has no room stands on lines of its own.
    pub(crate) fn table(&mut self, indent: &str, heads: &[&str], rows: &[Vec<String>]) {
        let write = |cell: &str| self.charset.write(cell).into_owned();
        let heads: Vec<String> = heads.iter().map(|head| write(head)).collect();
        let rows: Vec<Vec<String>> = rows
            .iter()
            .map(|row| row.iter().map(|cell| write(cell)).collect())
            .collect();
        let width = |column: usize| {
            let cells = rows.iter().chain([&heads]);
            cells
                .map(|row| display_width(&row[column]))
                .max()
                .unwrap_or(0)
        };
        let mut widths: Vec<usize> = (0..heads.len()).map(width).collect();
        let figures: usize = widths.iter().skip(1).map(|width| width + GAP).sum();
        widths[0] = widths[0].min(self.width.saturating_sub(figures + indent.len()));
        let line = |name: &str, cells: &[String]| {
            let mut line = format!("{indent}{}", pad_right(name, widths[0]));
            for (cell, width) in cells.iter().zip(&widths).skip(1) {
                line += &format!("{}{}", " ".repeat(GAP), pad_left(cell, *width));
            }
            line
        };
        self.line(DIM, &line(&heads[0], &heads));
        for row in &rows {
            let has_room = display_width(&row[0]) <= widths[0];
            if !has_room {
                self.wrapped(Style::new(), indent, &row[0]);
            }
            self.line(
                Style::new(),
                &line(if has_room { &row[0] } else { "" }, row),
            );
        }
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
