//! A table of stacks: what leads a row, the name, then figures, and at the end of the rows a small plot.

use anstyle::Style;
use textwrap::core::display_width;

use super::{
    BOLD, DIM, Page, WARN,
    strip::{self, Plotted, Strips},
};
use crate::view::RowState;

/// One row.
pub(super) struct Line<'a, const N: usize> {
    /// A rank, or whatever stands before the name.
    pub lead: &'a str,
    /// The stack.
    pub name: &'a str,
    /// How it is painted.
    pub style: Style,
    /// The figures.
    pub cells: [String; N],
}

/// How a row is painted: the first ones bold, lower bounds as a warning.
pub(super) fn style(state: RowState, rank: &str) -> Style {
    match state {
        RowState::Ranked if rank.trim_end_matches('=') == "1" => BOLD,
        RowState::Ranked | RowState::Unranked => Style::new(),
        RowState::LowerBound => WARN,
    }
}

impl Page {
    pub(super) fn table<const N: usize>(
        &mut self,
        caption: &str,
        lead: &str,
        head: &[&str; N],
        rows: &[Line<'_, N>],
    ) {
        self.plotted(caption, lead, head, rows, &[]);
    }

    /// Whether a table of all names in one line each leaves room for a plot.
    pub(super) fn has_room<const N: usize>(
        &self,
        lead: &str,
        head: &[&str; N],
        rows: &[Line<'_, N>],
    ) -> bool {
        let columns = Columns::of(self, lead, head, rows);
        columns.besides() + columns.longest + GAP + strip::LEAST_WIDTH <= self.width
    }

    /// A table with plots at the end of its rows; without if there are none.
    pub(super) fn plotted<const N: usize>(
        &mut self,
        caption: &str,
        lead: &str,
        head: &[&str; N],
        rows: &[Line<'_, N>],
        plotted: &[Plotted],
    ) {
        let columns = Columns::of(self, lead, head, rows);
        let reserved = match plotted {
            [] => 0,
            _ => GAP + strip::LEAST_WIDTH,
        };
        let room = self.width.saturating_sub(columns.besides() + reserved);
        let name_width = columns.longest.min(room).max("stack".len());
        let strips = (!plotted.is_empty()).then(|| {
            let left = self
                .width
                .saturating_sub(columns.besides() + name_width + GAP);
            Strips::new(plotted, left.max(strip::LEAST_WIDTH), self.charset)
        });
        let line = |lead: &str, name: &str, cells: &[String; N], strip: Option<&String>| {
            let mut line = format!("{}  {}", left(lead, columns.lead), left(name, name_width));
            for (cell, width) in cells.iter().zip(columns.cells) {
                line += &format!("  {}{cell}", " ".repeat(width - display_width(cell)));
            }
            if let Some(strip) = strip {
                line += &format!("  {strip}");
            }
            line
        };
        self.text.push('\n');
        if !caption.is_empty() {
            self.line(DIM, caption);
        }
        let scale = strips.as_ref().map(|strips| &strips.head);
        let head = head.map(|name| self.charset.write(name).into_owned());
        self.line(DIM, &line(lead, "stack", &head, scale));
        for (at, row) in rows.iter().enumerate() {
            let strip = strips.as_ref().and_then(|strips| strips.rows.get(at));
            let (lead, name) = (self.charset.write(row.lead), self.charset.write(row.name));
            let cells = row
                .cells
                .each_ref()
                .map(|cell| self.charset.write(cell).into_owned());
            if display_width(&name) <= name_width {
                self.line(row.style, &line(&lead, &name, &cells, strip));
            } else {
                // A name is never cut: two variants may differ in their last letters only.
                let mark = format!("{}  ", left(&lead, columns.lead));
                self.wrapped(row.style, &mark, &name);
                self.line(row.style, &line("", "", &cells, strip));
            }
        }
        self.text.push('\n');
    }
}

/// Between two columns.
const GAP: usize = 2;

/// How wide what is.
struct Columns<const N: usize> {
    lead: usize,
    longest: usize,
    cells: [usize; N],
}

impl<const N: usize> Columns<N> {
    fn of(page: &Page, lead: &str, head: &[&str; N], rows: &[Line<'_, N>]) -> Self {
        let width = |text: &str| display_width(&page.charset.write(text));
        Self {
            lead: widest(rows.iter().map(|row| width(row.lead)), lead),
            longest: widest(rows.iter().map(|row| width(row.name)), "stack"),
            cells: std::array::from_fn(|column| {
                let cells = rows.iter().map(|row| width(&row.cells[column]));
                widest(cells, &page.charset.write(head[column]))
            }),
        }
    }

    /// All but the names.
    fn besides(&self) -> usize {
        self.lead + GAP + self.cells.iter().map(|width| width + GAP).sum::<usize>()
    }
}

fn widest(cells: impl Iterator<Item = usize>, head: &str) -> usize {
    cells.chain([display_width(head)]).max().unwrap_or(0)
}

fn left(text: &str, width: usize) -> String {
    format!(
        "{text}{}",
        " ".repeat(width.saturating_sub(display_width(text)))
    )
}
