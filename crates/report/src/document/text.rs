//! A document for a terminal.

use anstyle::Style;
use textwrap::core::display_width;

use super::{Align, Audience, Block, Cell, Column, Document, Row, Table, Tone};
use crate::text::{BAD, BOLD, DIM, GOOD, Page, Screen, WARN, cut_end, pad_left, pad_right};

/// Between two columns.
const GAP: usize = 2;
/// A column of words is not cut below this width.
const LEAST_WORDS: usize = 8;

impl Document {
    /// The whole document for a screen. It begins with the headline.
    pub fn text(&self, screen: Screen) -> String {
        self.text_without(Audience::Brief, screen)
    }

    /// What answers the question, for the first screen, and how to get the rest.
    pub fn brief(&self, screen: Screen) -> String {
        self.text_without(Audience::Details, screen)
    }

    fn text_without(&self, audience: Audience, screen: Screen) -> String {
        let mut page = Page::new(screen);
        page.wrapped(style(self.tone), "", &self.headline);
        let sections = self.sections.iter();
        let sections = sections.filter(|one| one.audience != audience && one.has_text());
        for (place, section) in sections.enumerate() {
            let is_titled = !section.title.is_empty();
            if is_titled || place > 0 {
                page.line(Style::new(), "");
            }
            if is_titled {
                page.wrapped(style(section.tone), "", &section.title);
            }
            for block in &section.blocks {
                write(&mut page, block);
            }
        }
        page.text
    }
}

fn style(tone: Tone) -> Style {
    match tone {
        Tone::Plain => BOLD,
        Tone::Good => GOOD,
        Tone::Doubtful => WARN.bold(),
        Tone::Bad => BAD.bold(),
    }
}

fn write(page: &mut Page, block: &Block) {
    match block {
        Block::Paragraph(text) => page.wrapped(Style::new(), "", text),
        Block::Aside(text) => page.wrapped(DIM, "", text),
        Block::Bullets(items) => page.list(Style::new(), "- ", items),
        Block::Warnings(items) => page.list(WARN, "! ", items),
        Block::Facts(facts) => page.facts(facts),
        Block::Table(table) => page.grid("", table),
        Block::Log(lines) => {
            for line in lines {
                page.line(Style::new(), &format!("    {line}"));
            }
        }
        Block::Plots(_) | Block::Ratios(_) => {}
    }
}

impl Page {
    /// Sentences below each other.
    fn list(&mut self, style: Style, mark: &str, items: &[String]) {
        for item in items {
            self.wrapped(style, mark, item);
        }
    }

    /// A table of names and their figures.
    pub(crate) fn table(&mut self, indent: &str, heads: &[&str], rows: &[Vec<String>]) {
        let columns = heads.iter().enumerate().map(|(index, head)| match index {
            0 => Column::left(head),
            _ => Column::right(head),
        });
        let mut table = Table::new(columns);
        rows.iter().for_each(|row| table.row(row));
        self.grid(indent, &table);
    }

    /// A table that keeps to the width. If it is too wide, columns of words are cut, the last one first. The first column
    /// is never cut, because names may differ in their last letters only: a name without room has a line of its own.
    fn grid(&mut self, indent: &str, table: &Table) {
        let heads: Vec<&str> = table.columns.iter().map(|one| one.title.as_str()).collect();
        let heads = self.written(&heads);
        let widths = self.widths(indent, table, &heads);
        for line in self.cells(indent, table, &widths, &heads) {
            self.line(DIM, &line);
        }
        for row in &table.rows {
            match row {
                Row::Cells(cells) => {
                    let mut tones = cells.iter().map(|cell| cell.tone);
                    let style = match tones.find(|tone| *tone != Tone::Plain) {
                        None => Style::new(),
                        Some(Tone::Bad) => BAD,
                        Some(tone) => style(tone),
                    };
                    let cells = self.written(&texts(cells));
                    for line in self.cells(indent, table, &widths, &cells) {
                        self.line(style, &line);
                    }
                }
                Row::Note { mark, text } => {
                    let mark = format!("{indent}  {mark}");
                    self.wrapped(Style::new(), &mark, text);
                }
                Row::Command(text) => self.line(Style::new(), &format!("{indent}    {text}")),
            }
        }
    }

    fn written(&self, cells: &[impl AsRef<str>]) -> Vec<String> {
        let cells = cells.iter();
        cells
            .map(|cell| self.charset.write(cell.as_ref()).into_owned())
            .collect()
    }

    fn widths(&self, indent: &str, table: &Table, heads: &[String]) -> Vec<usize> {
        let mut widths: Vec<usize> = heads.iter().map(|head| display_width(head)).collect();
        for cells in table.cells() {
            for (width, cell) in widths.iter_mut().zip(self.written(&texts(cells))) {
                *width = display_width(&cell).max(*width);
            }
        }
        let whole = indent.len() + widths.iter().map(|width| width + GAP).sum::<usize>() - GAP;
        let mut excess = whole.saturating_sub(self.width);
        for (column, width) in table.columns.iter().zip(&mut widths).skip(1).rev() {
            if !column.is_whole {
                let less = excess.min(width.saturating_sub(LEAST_WORDS));
                *width -= less;
                excess -= less;
            }
        }
        widths[0] = widths[0].saturating_sub(excess);
        widths
    }

    /// The lines of a row.
    fn cells(
        &self,
        indent: &str,
        table: &Table,
        widths: &[usize],
        cells: &[String],
    ) -> Vec<String> {
        let has_room = display_width(&cells[0]) <= widths[0];
        let mut lines = if has_room {
            Vec::new()
        } else {
            self.wrap(indent, &cells[0])
        };
        let columns = table.columns.iter().zip(widths).zip(cells).enumerate();
        let columns = columns.map(|(index, ((column, width), cell))| {
            let cell = match index {
                0 if !has_room => "",
                _ => cell,
            };
            match column.align {
                Align::Left => pad_right(&cut_end(cell, *width, self.charset), *width),
                Align::Right => pad_left(cell, *width),
            }
        });
        let columns: Vec<String> = columns.collect();
        lines.push(format!("{indent}{}", columns.join(&" ".repeat(GAP))));
        lines
    }
}

fn texts(cells: &[Cell]) -> Vec<&str> {
    cells.iter().map(|cell| cell.text.as_str()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        document::{Section, tests::hostile},
        text::Charset,
    };

    fn screen(width: usize) -> Screen {
        Screen::new(width, false)
    }

    #[test]
    fn every_block_is_shown_and_nothing_moves_the_cursor() {
        let expected = [
            "A <i>headline</i>\\u{202e}",
            "A paragraph & more.",
            "An [aside](javascript:x).",
            "! </main>",
            "",
            "A `title`",
            "name            figure",
            "<b>|\\u{1b}[31m   1,000",
            "  ! *bold* @someone",
            "    make <b>",
            "- one\\ntwo",
            "  \"name\"  <value>",
            "    make </pre>",
            "",
        ];
        assert_eq!(hostile().text(screen(80)), expected.join("\n"));
        assert!(!hostile().text(screen(80)).contains('\u{1b}'));
        let coloured = hostile().text(Screen::new(80, true));
        assert!(coloured.starts_with("\u{1b}["), "{coloured}");
    }

    #[test]
    fn a_table_keeps_to_the_width_whatever_its_characters_take() {
        let words = "大小".repeat(30);
        let name = format!("{}-last", "name".repeat(16));
        let mut table = Table::new([
            Column::left("name"),
            Column::right("figure"),
            Column::left("words"),
            Column::left("more"),
        ]);
        table.row(["short", "1", "few", "a note"]);
        table.row([&name, "1,000", &words, &words]);
        let document = Document::new(Tone::Plain, "Wide.").section(Section::new("T").table(table));
        for charset in [Charset::Unicode, Charset::Ascii] {
            let text = document.text(Screen {
                charset,
                ..screen(80)
            });
            for line in text.lines() {
                assert!(display_width(line) <= 80, "{line}");
            }
            assert!(text.contains(&name), "{text}");
            assert_eq!(text.is_ascii(), charset == Charset::Ascii, "{text}");
        }
    }

    #[test]
    fn the_last_words_are_cut_first() {
        let mut table = Table::new([
            Column::left("name"),
            Column::left("words"),
            Column::left("more"),
        ]);
        table.row(["a", &"x".repeat(40), &"y".repeat(60)]);
        let document = Document::new(Tone::Plain, "Cut.").section(Section::new("T").table(table));
        let text = document.text(screen(80));
        let last = text.lines().last().unwrap();
        assert!(
            last.starts_with(&format!("a     {}  yyy", "x".repeat(40))),
            "{text}"
        );
        assert!(last.ends_with("y…") && display_width(last) == 80, "{text}");
    }
}
