//! A document for a terminal.

use anstyle::Style;
use textwrap::core::display_width;

use crate::{
    Align, Audience, Block, Cell, Document, Row, Table, Tone,
    text::{BAD, BOLD, DIM, GOOD, Page, Screen, WARN, cut_end, pad_left, pad_right},
};

/// Between two columns.
const GAP: usize = 2;
/// A column of words is not cut below this width.
const MIN_WORDS: usize = 8;
/// Longer names do not take room from the other columns: their first column counts at most this width.
const MAX_NAME: usize = 32;

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
        Block::Table(table) => page.grid("", &table.printed()),
        Block::Subtitle(title) => page.section(title),
        Block::Fold(fold) if fold.is_drawn => {}
        Block::Fold(fold) => {
            page.section(&fold.title);
            fold.blocks.iter().for_each(|block| write(page, block));
        }
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

    /// A table within the page's width. If cutting columns of words is not enough, it is split into several tables that
    /// repeat the first column.
    fn grid(&mut self, indent: &str, table: &Table) {
        for (number, part) in self.parts(indent, table).iter().enumerate() {
            if number > 0 {
                self.line(Style::new(), "");
            }
            self.grid_part(indent, part);
        }
    }

    fn parts(&self, indent: &str, table: &Table) -> Vec<Table> {
        let least = table.columns.iter().enumerate().map(|(place, column)| {
            let cells = table.cells().map(|cells| cells[place].in_full());
            let texts = cells.chain([column.title.clone()]);
            let widths = texts.map(|text| display_width(&self.charset.write(&text)));
            let width = widths.max().unwrap_or(0);
            match place {
                0 => width.min(MAX_NAME),
                _ if column.is_whole => width,
                _ => width.min(MIN_WORDS),
            }
        });
        let least: Vec<usize> = least.collect();
        let mut parts: Vec<Vec<usize>> = Vec::new();
        let mut room = 0;
        for (place, width) in least.iter().enumerate().skip(1) {
            let width = width + GAP;
            if width > room {
                parts.push(vec![0]);
                room = self.width.saturating_sub(indent.len() + least[0]);
            }
            room = room.saturating_sub(width);
            if let Some(part) = parts.last_mut() {
                part.push(place);
            }
        }
        match parts.len() {
            0 | 1 => vec![table.clone()],
            _ => parts.iter().map(|part| table.with_columns(part)).collect(),
        }
    }

    /// A table, of which columns of words are cut if it is too wide, the last one first. The first column is never cut,
    /// because names may differ in their last letters only: a name without room has a line of its own.
    fn grid_part(&mut self, indent: &str, table: &Table) {
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
                let less = excess.min(width.saturating_sub(MIN_WORDS));
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

fn texts(cells: &[Cell]) -> Vec<String> {
    cells.iter().map(Cell::in_full).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Column, Section, tests::hostile, text::Charset};

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
