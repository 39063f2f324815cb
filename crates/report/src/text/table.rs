//! A table of stacks: what leads a row, the name, then figures.

use anstyle::Style;
use textwrap::core::display_width;

use super::{BOLD, DIM, Page, WARN};
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
        let widths: [usize; N] = std::array::from_fn(|column| {
            let cells = rows.iter().map(|row| display_width(&row.cells[column]));
            widest(cells, head[column])
        });
        let lead_width = widest(rows.iter().map(|row| display_width(row.lead)), lead);
        let right = widths.iter().map(|width| width + 2).sum::<usize>();
        let longest = widest(rows.iter().map(|row| display_width(row.name)), "stack");
        let room = self.width.saturating_sub(right + lead_width + 2);
        let name_width = longest.min(room).max("stack".len());
        let line = |lead: &str, name: &str, cells: &[String; N]| {
            let mut line = format!("{}  {}", left(lead, lead_width), left(name, name_width));
            for (cell, width) in cells.iter().zip(widths) {
                line += &format!("  {}{cell}", " ".repeat(width - display_width(cell)));
            }
            line
        };
        self.text.push('\n');
        if !caption.is_empty() {
            self.line(DIM, caption);
        }
        self.line(DIM, &line(lead, "stack", &head.map(str::to_owned)));
        for row in rows {
            if display_width(row.name) <= name_width {
                self.line(row.style, &line(row.lead, row.name, &row.cells));
            } else {
                // A name is never cut: two variants may differ in their last letters only.
                let mark = format!("{}  ", left(row.lead, lead_width));
                self.wrapped(row.style, &mark, row.name);
                self.line(row.style, &line("", "", &row.cells));
            }
        }
        self.text.push('\n');
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
