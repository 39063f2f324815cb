//! A table's rows with bars.

use anstyle::Style;
use deadheat_document::text::{BOLD, Charset, DIM, Page, WARN, cut_middle, pad_left, pad_right};
use deadheat_model::figure::{NONE, seconds};
use deadheat_stats::standings::{AbsentBecause, Measure};
use textwrap::core::display_width;

use crate::document::{
    view::{AtRate, RowView},
    words,
};

/// Between two columns.
const GAP: usize = 2;
/// Bars narrower than this say nothing, wider ones lose the eye.
const LEAST_BAR: usize = 8;
const MOST_BAR: usize = 40;

/// How wide each column is, over all tables of the report.
pub(super) struct Columns {
    rank: usize,
    name: usize,
    /// Value, half width, cost, response time, memory; 0 of one that no table has.
    figures: [usize; FIGURES],
    bar: usize,
}

/// The heads of rank and name, and of value, half width, cost, response time and memory.
const LEAD: [&str; 2] = ["rank", "stack"];
const FIGURES: usize = 5;
const HEADS: [&str; FIGURES] = ["", "±", "CPU/req", "p99", "peak mem"];
/// The place of the response time, which only loads with equal work have.
const TIME: usize = 3;

impl Columns {
    pub(super) fn new<'a>(page: &Page, rows: impl Iterator<Item = (Measure, &'a RowView)>) -> Self {
        let width = |text: &str| display_width(&page.charset.write(text));
        let mut columns = Self {
            rank: width(LEAD[0]),
            name: width(LEAD[1]),
            figures: HEADS.map(width),
            bar: 0,
        };
        columns.figures[TIME] = 0;
        for (measure, row) in rows {
            columns.rank = columns.rank.max(width(&rank(row)));
            columns.name = columns.name.max(width(&row.target));
            let head = width(words::measure_head(measure));
            columns.figures[0] = columns.figures[0].max(head);
            for (place, cell) in figures(measure, row).iter().enumerate() {
                let head = if cell.is_empty() {
                    0
                } else {
                    width(HEADS[place])
                };
                columns.figures[place] = columns.figures[place].max(width(cell)).max(head);
            }
        }
        let figures = columns.figures.iter().filter(|width| **width > 0);
        let figures: usize = figures.map(|width| width + GAP).sum();
        let room = page
            .width
            .saturating_sub(columns.rank + GAP + figures + GAP);
        // A bar is an extra: names and figures come first.
        columns.bar = match room.checked_sub(columns.name) {
            Some(bar) if bar >= LEAST_BAR => bar.min(MOST_BAR),
            _ if columns.figures[TIME] == 0 => LEAST_BAR,
            _ => 0,
        };
        columns.name = columns.name.min(room.saturating_sub(columns.bar));
        columns
    }

    pub(super) fn head(&self, page: &mut Page, measure: Measure) {
        let mut heads = HEADS.map(str::to_owned);
        heads[0] = words::measure_head(measure).to_owned();
        let line = self.line(page.charset, LEAD[0], LEAD[1], &heads, "");
        page.line(DIM, &line);
    }

    pub(super) fn row(&self, page: &mut Page, measure: Measure, row: &RowView, most: f64) {
        let (rank, figures) = (rank(row), figures(measure, row));
        let bar = bar(page.charset, row, most, self.bar);
        let line = self.line(page.charset, &rank, &row.target, &figures, &bar);
        page.line(style(row), &line);
    }

    fn line(
        &self,
        charset: Charset,
        rank: &str,
        name: &str,
        figures: &[String; FIGURES],
        bar: &str,
    ) -> String {
        let name = cut_middle(&charset.write(name), self.name, charset);
        let cell = |column: usize| pad_left(&charset.write(&figures[column]), self.figures[column]);
        let mut cells = vec![
            pad_right(&charset.write(rank), self.rank),
            pad_right(&name, self.name),
            cell(0),
            cell(1),
        ];
        if self.bar > 0 {
            cells.push(pad_right(bar, self.bar));
        }
        // What no table has is no column.
        let rest = (2..FIGURES).filter(|column| self.figures[*column] > 0);
        cells.extend(rest.map(cell));
        cells.join(&" ".repeat(GAP))
    }
}

/// Lower bounds as a warning, and who may be the first bold.
fn style(row: &RowView) -> Style {
    match row.main {
        Some(main) if main.is_bound => WARN,
        Some(main) if main.rank.is_some_and(|rank| rank.best == 1) => BOLD,
        _ => Style::new(),
    }
}

fn rank(row: &RowView) -> String {
    words::rank(row.main.and_then(|main| main.rank))
}

/// Cost and response time are those of equal work where there is some.
fn figures(measure: Measure, row: &RowView) -> [String; FIGURES] {
    let (cost, time) = match row.at_rates.first() {
        None => (
            words::placed(row.cpu_us_per_request.as_ref(), words::cost),
            String::new(),
        ),
        Some(AtRate::Lacks(AbsentBecause::Overloaded)) => ("too slow".to_owned(), NONE.to_owned()),
        Some(AtRate::Lacks(AbsentBecause::Failed)) => ("failed".to_owned(), NONE.to_owned()),
        Some(found) => (
            words::placed(found.cost().as_ref(), words::cost),
            words::placed(found.p99().as_ref(), seconds),
        ),
    };
    [
        words::main_placed(measure, row),
        words::half_width_in_column(row.half_width),
        cost,
        time,
        words::memory(row.memory.peak_bytes),
    ]
}

/// A bar from 0; `most` is as long as there is room.
fn bar(charset: Charset, row: &RowView, most: f64, width: usize) -> String {
    let Some(main) = row.main.filter(|_| width > 0) else {
        return String::new();
    };
    // An arrow shows that a lower bound may be more.
    let width = width.saturating_sub(1);
    let share = if most > 0.0 { main.value / most } else { 0.0 };
    let eighths = (share.clamp(0.0, 1.0) * width as f64 * 8.0).round() as usize;
    let (full, part) = (eighths / 8, eighths % 8);
    let mut bar = match charset {
        Charset::Unicode => {
            let parts = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
            "█".repeat(full) + parts[part]
        }
        Charset::Ascii => "#".repeat(full + usize::from(part >= 4)),
    };
    if main.is_bound {
        bar.push(match charset {
            Charset::Unicode => '→',
            Charset::Ascii => '>',
        });
    }
    bar
}
