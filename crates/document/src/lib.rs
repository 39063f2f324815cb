//! What a report says, once for all formats: a headline, then sections of blocks.
//!
//! A report is a function that returns a [`Document`]; [`Document::text`], [`Document::markdown`] and [`Document::html`]
//! lay it out. Texts are made harmless when they enter a document, and each format escapes its own markup. What is empty
//! is left out: a section without blocks, a list without items, a table without rows.

pub mod csv;
pub mod html;
pub mod json;
pub mod markdown;
pub mod plot;
mod renderers;
pub mod text;
pub mod view;

use std::collections::BTreeSet;

use serde::Serialize;

pub use crate::renderers::{RatioMark, RatioPlot, html::Frame};
use crate::{
    plot::Plot,
    view::{Fact, clean},
};

/// A report.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Document {
    tone: Tone,
    headline: String,
    /// Whether it is a file of its own in Markdown, whose headline is a heading, and no part of a comment.
    is_file: bool,
    sections: Vec<Section>,
}

/// Whether a headline, a title or a cell is good or bad news.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Tone {
    /// Neither good nor bad.
    Plain,
    /// Good, or as precise as was asked for.
    Good,
    /// With a caveat that changes a decision.
    Doubtful,
    /// Bad, or no result.
    Bad,
}

/// Blocks under a title.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Section {
    tone: Tone,
    /// Empty for the blocks that belong to the headline.
    title: String,
    audience: Audience,
    blocks: Vec<Block>,
}

/// The readers that a section is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Audience {
    /// Every reader.
    All,
    /// Readers who want details: [`Document::brief`] leaves it out, and Markdown folds it away.
    Details,
    /// Only readers of [`Document::brief`]: it says how to get the rest.
    Brief,
}

/// A part of a section.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Block {
    Paragraph(String),
    /// A paragraph in the background.
    Aside(String),
    Bullets(Vec<String>),
    /// What changes a decision.
    Warnings(Vec<String>),
    Facts(Vec<Fact>),
    Table(Table),
    /// Lines that are never wrapped, because they are there to be copied.
    Log(Vec<String>),
    /// Plots, which only HTML shows.
    Plots(Vec<Plot>),
    /// Ratios with their intervals, which only HTML shows.
    Ratios(RatioPlot),
    /// A title within the section.
    Subtitle(String),
    /// Blocks that a page shows when its reader opens them.
    Fold(Fold),
}

/// Blocks below a title.
#[derive(Clone, Debug, PartialEq, Serialize)]
struct Fold {
    title: String,
    blocks: Vec<Block>,
    /// Whether only a page shows it.
    is_drawn: bool,
}

/// Rows of cells, with notes between them.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Table {
    columns: Vec<Column>,
    rows: Vec<Row>,
    /// What a page's drawings in it mean.
    caption: String,
}

/// The head of a column.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Column {
    title: String,
    align: Align,
    /// Whether its cells are never cut and never broken.
    is_whole: bool,
    /// The order that a page sorts its rows in first: "ascending" or "descending"; empty if it does not sort them.
    order: &'static str,
    /// Markup that a page has as its head; the column is drawn, and only a page has it.
    drawing: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Align {
    Left,
    Right,
}

/// A row of a table.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Row {
    /// Cells, one for each column.
    Cells(Vec<Cell>),
    /// A line as wide as the table, about the row above or below it.
    Note {
        /// What it begins with.
        mark: &'static str,
        /// What it says.
        text: String,
    },
    /// A note that is never wrapped, because it is there to be copied.
    Command(String),
}

/// The text in a row and a column. Any text is a cell without a tone.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Cell {
    text: String,
    tone: Tone,
    /// More, in the background.
    note: String,
    /// The figure that a page sorts it by.
    key: Option<f64>,
    /// The length of the bar that a page draws below the text, from 0 to 1.
    bar: Option<f64>,
    /// Markup that a page shows in place of the text.
    drawing: Option<String>,
}

impl Cell {
    /// A figure with what it is sorted by.
    pub fn figure(text: impl AsRef<str>, key: Option<f64>) -> Self {
        Self {
            key: key.filter(|key| key.is_finite()),
            ..Self::from(text)
        }
    }

    /// Markup, which nothing escapes.
    pub fn drawn(markup: String) -> Self {
        Self {
            drawing: Some(markup),
            ..Self::from("")
        }
    }

    /// The cell with more in the background.
    pub fn note(self, note: impl AsRef<str>) -> Self {
        let note = clean(note.as_ref());
        Self { note, ..self }
    }

    /// The cell with a bar of this length on a page, from 0 to 1.
    pub fn bar(self, share: Option<f64>) -> Self {
        let bar = share.map(|share| share.clamp(0.0, 1.0));
        Self { bar, ..self }
    }

    /// The text with its note.
    fn in_full(&self) -> String {
        match self.note.as_str() {
            "" => self.text.clone(),
            note => format!("{} ({note})", self.text),
        }
    }

    /// A cell with a tone.
    pub fn toned(tone: Tone, text: impl AsRef<str>) -> Self {
        Self {
            text: clean(text.as_ref()),
            tone,
            note: String::new(),
            key: None,
            bar: None,
            drawing: None,
        }
    }
}

impl<T: AsRef<str>> From<T> for Cell {
    fn from(text: T) -> Self {
        Self::toned(Tone::Plain, text)
    }
}

impl Document {
    /// A document that has only its headline.
    pub fn new(tone: Tone, headline: impl AsRef<str>) -> Self {
        Self {
            tone,
            headline: clean(headline.as_ref()),
            is_file: false,
            sections: Vec::new(),
        }
    }

    /// The document as a file of its own in Markdown: its headline is a heading.
    pub fn file(self) -> Self {
        Self {
            is_file: true,
            ..self
        }
    }

    /// Adds a section, if there is anything in it.
    pub fn section(mut self, section: Section) -> Self {
        if !section.blocks.is_empty() {
            self.sections.push(section);
        }
        self
    }

    /// Adds sections.
    pub fn sections(self, sections: impl IntoIterator<Item = Section>) -> Self {
        sections.into_iter().fold(self, Self::section)
    }

    /// Whether there is a plot in it.
    fn has_plots(&self) -> bool {
        let mut blocks = self.sections.iter().flat_map(|section| &section.blocks);
        blocks.any(|block| matches!(block, Block::Plots(_)))
    }

    /// The answer.
    pub fn headline(&self) -> &str {
        &self.headline
    }
}

impl Section {
    /// An empty section.
    pub fn new(title: impl AsRef<str>) -> Self {
        Self::toned(Tone::Plain, title)
    }

    /// An empty section with a tone.
    pub fn toned(tone: Tone, title: impl AsRef<str>) -> Self {
        Self {
            tone,
            title: clean(title.as_ref()),
            audience: Audience::All,
            blocks: Vec::new(),
        }
    }

    /// What belongs to the headline: the first section, without a title.
    pub fn lead() -> Self {
        Self::new("")
    }

    /// The last lines of [`Document::brief`], which say how to get the rest.
    pub fn hint() -> Self {
        Self {
            audience: Audience::Brief,
            ..Self::new("")
        }
    }

    /// The section for readers who want details: [`Document::brief`] leaves it out, and Markdown folds it away.
    pub fn details(self) -> Self {
        Self {
            audience: Audience::Details,
            ..self
        }
    }

    /// Adds a paragraph.
    pub fn paragraph(self, text: impl AsRef<str>) -> Self {
        self.with(Some(text), |mut texts| Block::Paragraph(texts.remove(0)))
    }

    /// Adds a paragraph in the background, if there is one.
    pub fn aside(self, text: Option<impl AsRef<str>>) -> Self {
        self.with(text, |mut texts| Block::Aside(texts.remove(0)))
    }

    /// Adds a paragraph for each text.
    pub fn paragraphs(self, texts: impl IntoIterator<Item = impl AsRef<str>>) -> Self {
        texts.into_iter().fold(self, Self::paragraph)
    }

    /// Adds a list; equal items are shown once.
    pub fn bullets(self, items: impl IntoIterator<Item = impl AsRef<str>>) -> Self {
        self.with(unique(items), Block::Bullets)
    }

    /// Adds what changes a decision, equal texts once.
    pub fn warnings(self, items: impl IntoIterator<Item = impl AsRef<str>>) -> Self {
        self.with(unique(items), Block::Warnings)
    }

    /// Adds lines that are never wrapped, because they are there to be copied.
    pub fn log(self, lines: impl IntoIterator<Item = impl AsRef<str>>) -> Self {
        self.with(lines, Block::Log)
    }

    /// Adds facts.
    pub fn facts(
        mut self,
        facts: impl IntoIterator<Item = (impl AsRef<str>, impl AsRef<str>)>,
    ) -> Self {
        let facts = facts.into_iter();
        let facts: Vec<Fact> = facts
            .map(|(name, value)| Fact::new(name.as_ref(), value))
            .collect();
        if !facts.is_empty() {
            self.blocks.push(Block::Facts(facts));
        }
        self
    }

    /// Adds a table.
    pub fn table(mut self, table: Table) -> Self {
        if !table.rows.is_empty() {
            self.blocks.push(Block::Table(table));
        }
        self
    }

    /// Adds plots.
    pub fn plots(mut self, mut plots: Vec<Plot>) -> Self {
        for plot in &mut plots {
            plot.title = clean(&plot.title);
            plot.subject = clean(&plot.subject);
        }
        if !plots.is_empty() {
            self.blocks.push(Block::Plots(plots));
        }
        self
    }

    /// Adds a title within the section.
    pub fn subtitle(self, title: impl AsRef<str>) -> Self {
        self.with(Some(title), |mut texts| Block::Subtitle(texts.remove(0)))
    }

    /// Adds the blocks of another section, which a page shows when its reader opens them below that section's title.
    pub fn fold(self, section: Section) -> Self {
        self.folded(section, false)
    }

    /// Adds blocks of drawings in the same way. Only a page has them.
    pub fn fold_of_drawings(self, section: Section) -> Self {
        self.folded(section, true)
    }

    fn folded(mut self, Section { title, blocks, .. }: Section, is_drawn: bool) -> Self {
        if !blocks.is_empty() {
            self.blocks.push(Block::Fold(Fold {
                title,
                blocks,
                is_drawn,
            }));
        }
        self
    }

    /// Adds a plot of ratios.
    pub fn ratios(mut self, plot: RatioPlot) -> Self {
        self.blocks.push(Block::Ratios(plot));
        self
    }

    fn with(
        mut self,
        texts: impl IntoIterator<Item = impl AsRef<str>>,
        block: impl FnOnce(Vec<String>) -> Block,
    ) -> Self {
        let texts = texts.into_iter().map(|text| clean(text.as_ref()));
        let texts: Vec<String> = texts.filter(|text| !text.is_empty()).collect();
        if !texts.is_empty() {
            self.blocks.push(block(texts));
        }
        self
    }

    /// Whether a format without plots shows anything of it.
    fn has_text(&self) -> bool {
        let mut blocks = self.blocks.iter();
        blocks.any(|block| match block {
            Block::Plots(_) | Block::Ratios(_) => false,
            Block::Fold(fold) => !fold.is_drawn,
            _ => true,
        })
    }
}

impl Column {
    /// A column of words.
    pub fn left(title: impl AsRef<str>) -> Self {
        Self::new(title, Align::Left)
    }

    /// A column of figures.
    pub fn right(title: impl AsRef<str>) -> Self {
        Self::new(title, Align::Right)
    }

    fn new(title: impl AsRef<str>, align: Align) -> Self {
        Self {
            title: clean(title.as_ref()),
            align,
            is_whole: align == Align::Right,
            order: "",
            drawing: None,
        }
    }

    /// A column of drawings, which only a page has, with markup as its head.
    pub fn drawn(markup: String) -> Self {
        Self {
            drawing: Some(markup),
            ..Self::left("")
        }
    }

    /// The column of a page that sorts by it, the best figures first.
    pub fn sorted(self, less_is_better: bool) -> Self {
        let order = if less_is_better {
            "ascending"
        } else {
            "descending"
        };
        Self { order, ..self }
    }

    /// The column with cells that are never cut and never broken.
    pub fn whole(self) -> Self {
        Self {
            is_whole: true,
            ..self
        }
    }
}

impl Table {
    /// A table without rows. The first column names the row.
    pub fn new(columns: impl IntoIterator<Item = Column>) -> Self {
        Self {
            columns: columns.into_iter().collect(),
            rows: Vec::new(),
            caption: String::new(),
        }
    }

    /// The table with what its drawings mean.
    pub fn caption(self, caption: impl AsRef<str>) -> Self {
        let caption = clean(caption.as_ref());
        Self { caption, ..self }
    }

    /// Adds a row with a cell for each column.
    pub fn row(&mut self, cells: impl IntoIterator<Item = impl Into<Cell>>) {
        let cells: Vec<Cell> = cells.into_iter().map(Into::into).collect();
        debug_assert_eq!(cells.len(), self.columns.len(), "{cells:?}");
        self.rows.push(Row::Cells(cells));
    }

    /// Adds a line about the row above or below it.
    pub fn note(&mut self, mark: &'static str, text: impl AsRef<str>) {
        let text = clean(text.as_ref());
        self.rows.push(Row::Note { mark, text });
    }

    /// Adds a line that is never wrapped, because it is there to be copied.
    pub fn command(&mut self, text: impl AsRef<str>) {
        self.rows.push(Row::Command(clean(text.as_ref())));
    }

    /// The table without what only a page has.
    fn printed(&self) -> Self {
        let columns = self.columns.iter().enumerate();
        let printed = columns.filter(|(_, column)| column.drawing.is_none());
        self.with_columns(&printed.map(|(place, _)| place).collect::<Vec<_>>())
    }

    /// The table with some of its columns.
    fn with_columns(&self, places: &[usize]) -> Self {
        let row = |row: &Row| match row {
            Row::Cells(cells) => {
                Row::Cells(places.iter().map(|place| cells[*place].clone()).collect())
            }
            other => other.clone(),
        };
        Self {
            columns: places
                .iter()
                .map(|place| self.columns[*place].clone())
                .collect(),
            rows: self.rows.iter().map(row).collect(),
            caption: self.caption.clone(),
        }
    }

    /// The rows without the notes.
    fn cells(&self) -> impl Iterator<Item = &Vec<Cell>> {
        self.rows.iter().filter_map(|row| match row {
            Row::Cells(cells) => Some(cells),
            Row::Note { .. } | Row::Command(_) => None,
        })
    }
}

/// The texts without those that are equal to an earlier one.
fn unique(items: impl IntoIterator<Item = impl AsRef<str>>) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let items = items.into_iter().map(|item| item.as_ref().to_owned());
    items.filter(|item| seen.insert(item.clone())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A document with each block, and text from outside that wants to be more.
    pub(super) fn hostile() -> Document {
        let mut table = Table::new([Column::left("name"), Column::right("figure")]);
        table.row(["<b>|\u{1b}[31m", "1,000"]);
        table.note("! ", "*bold* @someone");
        table.command("make <b>");
        Document::new(Tone::Doubtful, "A <i>headline</i>\u{202e}")
            .section(
                Section::lead()
                    .paragraph("A paragraph & more.")
                    .aside(Some("An [aside](javascript:x)."))
                    .warnings(["</main>"]),
            )
            .section(
                Section::new("A `title`")
                    .table(table)
                    .bullets(["one\ntwo"])
                    .facts([("\"name\"", "<value>")])
                    .log(["make </pre>"]),
            )
    }

    #[test]
    fn what_is_empty_is_left_out() {
        let none: [&str; 0] = [];
        let document = Document::new(Tone::Plain, "Nothing.")
            .section(
                Section::lead()
                    .paragraphs(none)
                    .bullets(none)
                    .warnings(none)
                    .aside(None::<&str>),
            )
            .section(Section::new("Rows").table(Table::new([Column::left("a")])))
            .section(Section::new("Plots").plots(Vec::new()));
        assert_eq!(document, Document::new(Tone::Plain, "Nothing."));
    }
}
