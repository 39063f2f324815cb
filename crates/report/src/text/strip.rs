//! Throughput as a small plot at the end of a row: a dot with its interval, all rows on one scale from zero.

use textwrap::core::display_width;

use super::Charset;
use crate::{
    figure::figure,
    view::{Dot, PlotCell},
};

/// Narrower than this an interval is hardly ever wider than a column.
pub(super) const LEAST_WIDTH: usize = 24;
/// Wider than this the eye loses the row.
const MOST_WIDTH: usize = 80;

/// What a strip is drawn with.
struct Marks {
    lead: char,
    median: char,
    single: char,
    low: char,
    between: char,
    high: char,
    beyond: char,
    open_end: char,
}

const UNICODE: Marks = Marks {
    lead: '·',
    median: '●',
    single: '○',
    low: '├',
    between: '─',
    high: '┤',
    beyond: '╌',
    open_end: '→',
};

const ASCII: Marks = Marks {
    lead: '.',
    median: '*',
    single: 'o',
    low: '|',
    between: '-',
    high: '|',
    beyond: '-',
    open_end: '>',
};

/// A figure that a strip shows.
#[derive(Clone, Copy)]
pub(super) struct Plotted {
    dot: Dot,
    lower_bound: bool,
}

impl Plotted {
    /// Each stack's throughput.
    pub(super) fn all(cells: &[PlotCell]) -> Vec<Self> {
        let plotted = cells.iter().map(|cell| Self {
            dot: cell.throughput,
            lower_bound: cell.lower_bound,
        });
        plotted.collect()
    }
}

/// The strips of a load point.
pub(super) struct Strips {
    /// From 0 to the highest figure, over the strips.
    pub head: String,
    /// A strip for each row.
    pub rows: Vec<String>,
}

impl Strips {
    /// Strips of `width` columns at most.
    pub(super) fn new(cells: &[Plotted], width: usize, charset: Charset) -> Self {
        let marks = marks(charset);
        let highest = cells.iter().map(|cell| {
            let dot = cell.dot;
            dot.ends.map_or(dot.value, |(_, high)| high.max(dot.value))
        });
        let most = highest.fold(0.0, f64::max);
        let width = width.min(MOST_WIDTH);
        // A lower bound at the scale's end needs a column for its open end.
        let is_open = cells.iter().any(|cell| cell.lower_bound);
        let last = width - 1 - usize::from(is_open);
        let label = figure(most);
        let gap = (last + 1).saturating_sub(1 + display_width(&label));
        Self {
            head: format!("0{}{label}", " ".repeat(gap)),
            rows: cells
                .iter()
                .map(|cell| strip(cell, most, width, last, marks))
                .collect(),
        }
    }
}

/// What the marks that occur in the strips of `cells` mean, in a sentence.
pub(super) fn legend(cells: &[Plotted], charset: Charset) -> String {
    let marks = marks(charset);
    let is_single = |cell: &&Plotted| !cell.lower_bound && cell.dot.ends.is_none();
    let mut parts = Vec::new();
    if cells.iter().any(|cell| cell.dot.ends.is_some()) {
        parts.push(format!(
            "{} is the median, {}{}{} its interval where that is wider than a column",
            marks.median, marks.low, marks.between, marks.high
        ));
    }
    if cells.iter().any(|cell| is_single(&cell)) {
        parts.push(format!("{} has no interval", marks.single));
    }
    if cells.iter().any(|cell| cell.lower_bound) {
        parts.push(format!(
            "{}{}{} is a lower bound",
            marks.median, marks.beyond, marks.open_end
        ));
    }
    format!("The plot's scale begins at 0; {}.", parts.join(", "))
}

const fn marks(charset: Charset) -> &'static Marks {
    match charset {
        Charset::Unicode => &UNICODE,
        Charset::Ascii => &ASCII,
    }
}

fn strip(cell: &Plotted, most: f64, width: usize, last: usize, marks: &Marks) -> String {
    let column = |value: f64| match most > 0.0 {
        true => ((value / most).clamp(0.0, 1.0) * last as f64).round() as usize,
        false => 0,
    };
    let dot = column(cell.dot.value);
    let mut strip = vec![' '; width];
    let mut first = dot;
    if let Some((low, high)) = cell.dot.ends {
        let (low, high) = (column(low), column(high));
        strip[low..=high].fill(marks.between);
        if low < dot {
            strip[low] = marks.low;
        }
        if high > dot {
            strip[high] = marks.high;
        }
        first = low.min(dot);
    }
    if cell.lower_bound {
        strip[dot..].fill(marks.beyond);
        strip[width - 1] = marks.open_end;
    }
    strip[..first].fill(marks.lead);
    strip[dot] = match cell.lower_bound || cell.dot.ends.is_some() {
        true => marks.median,
        false => marks.single,
    };
    strip.into_iter().collect::<String>().trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(value: f64, ends: Option<(f64, f64)>, lower_bound: bool) -> Plotted {
        Plotted {
            dot: Dot { value, ends },
            lower_bound,
        }
    }

    #[test]
    fn a_dot_stands_where_its_figure_is_and_its_interval_around_it() {
        let cells = [
            cell(50.0, Some((30.0, 100.0)), false),
            cell(50.0, Some((49.9, 50.1)), false),
            cell(50.0, Some((30.0, 50.0)), false),
            cell(25.0, None, false),
            cell(0.0, None, false),
        ];
        let strips = Strips::new(&cells, 21, Charset::Unicode);
        assert_eq!(strips.head, "0                 100");
        let expected = [
            "······├───●─────────┤",
            "··········●",
            "······├───●",
            "·····○",
            "○",
        ];
        assert_eq!(strips.rows, expected);
        let ascii = Strips::new(&cells, 21, Charset::Ascii);
        assert_eq!(ascii.rows[0], "......|---*---------|");
        assert_eq!(ascii.rows[3], ".....o");
    }

    #[test]
    fn a_lower_bound_is_open_to_the_right_even_if_it_is_the_highest() {
        let cells = [cell(100.0, None, true), cell(50.0, None, true)];
        let strips = Strips::new(&cells, 22, Charset::Unicode);
        assert_eq!(strips.head, "0                 100");
        assert_eq!(strips.rows[0], "····················●→");
        assert_eq!(strips.rows[1], "··········●╌╌╌╌╌╌╌╌╌╌→");
        assert!(legend(&cells, Charset::Unicode).ends_with("0; ●╌→ is a lower bound."));
    }

    #[test]
    fn nothing_answered_is_a_dot_at_zero() {
        let strips = Strips::new(&[cell(0.0, Some((0.0, 0.0)), false)], 24, Charset::Unicode);
        assert_eq!(strips.rows, ["●"]);
    }
}
