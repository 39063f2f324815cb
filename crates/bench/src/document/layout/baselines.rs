//! How many times as fast each stack is as one of them, the baseline, with an interval for each ratio alone: a column
//! of a load's table. A page draws the comparison with the first stack; it has the figures for all others too, and its
//! script shows them when the reader chooses another baseline.

use std::fmt::Display;

use deadheat_document::{
    html::in_script,
    plot::{
        axis::Scale,
        svg::{Percent, Svg, tenths},
    },
};
use deadheat_model::figure::{self, NONE};
use deadheat_stats::{
    heats::{PairVerdict, pairs::RankedPair},
    standings::Measure,
};
use minijinja::HtmlEscape;
use serde::{Serialize, Serializer, ser::SerializeTuple};

use crate::document::{
    view::{LoadView, StandingsView, TableView},
    words,
};

/// The script that draws the comparison with another baseline.
pub(in crate::document) const SCRIPT: &str = include_str!("baselines.js");

/// Ratios up to this, and down to its inverse, are near.
const NEAR: f64 = 4.0;
/// Ticks that an axis has room for. Those that it does not need are empty.
const TICKS: usize = 6;
/// The least distance of ticks, as a share of the axis.
const APART: f64 = 0.2;
/// The height of a row's drawing in pixels.
const HEIGHT: usize = 22;

/// The column that compares every row with a baseline that the reader chooses.
pub(super) struct Baselines {
    title: &'static str,
    names: Vec<String>,
    /// The drawing for each row as the baseline.
    layouts: Vec<Layout>,
}

/// The explanation of the drawings.
pub(super) fn caption(view: &StandingsView) -> String {
    format!(
        "● differs, ○ undecided, • beyond the axis; the band is a dead heat, all of it within ±{}. Each interval of a ratio \
         stands alone: it is for the reader who has picked this pair beforehand, and misses the truth in {} of sessions. \
         Ranks and ± allow for all stacks.",
        words::percent(view.margin),
        words::percent(view.alpha)
    )
}

impl Baselines {
    /// All baselines of a table. `margin`: ratios within it of 1 are as good as equal.
    pub(super) fn new(load: &LoadView, table: &TableView, margin: f64) -> Self {
        let places = 0..table.rows.len();
        Self {
            title: match load.measure {
                Measure::Throughput => "times as fast as",
                Measure::ResponseTime => "times as fast, by p99, as",
            },
            names: table.rows.iter().map(|row| row.target.clone()).collect(),
            layouts: places
                .map(|baseline| Layout::new(&cells(table, baseline), margin))
                .collect(),
        }
    }

    /// The head: the choice of a baseline, the axis, and the data of the drawings for each baseline.
    pub(super) fn head(&self) -> String {
        let options = self.names.iter().map(|name| HtmlEscape(name));
        let options: String = options
            .map(|name| format!("<option>{name}</option>"))
            .collect();
        let first = HtmlEscape(&self.names[0]);
        let mut axis = Svg::beside_text(16, &[]);
        for tick in 0..TICKS {
            let (at, label) = self.layouts[0].ticks.get(tick).cloned().unwrap_or_default();
            axis.text("text", &[("x", &percent(at)), ("y", &12)], &label);
        }
        // Figures and words of this program, which are JSON.
        let layouts = serde_json::to_string(&self.layouts).unwrap_or_default();
        format!(
            "{} <span class=\"against\">{first}</span><label class=\"choosers\" hidden><span class=\"hidden\">the \
             baseline</span> <select>{options}</select></label><span class=\"beside\">{}</span><script \
             type=\"application/json\">{}</script>",
            self.title,
            axis.finish(),
            in_script(&layouts)
        )
    }

    /// A row compared with the first stack.
    pub(super) fn cell(&self, row: usize) -> String {
        let Layout {
            band: (left, one, right),
            rows,
            ..
        } = &self.layouts[0];
        let Mark {
            at,
            kind,
            ratio,
            interval,
        } = &rows[row];
        let (at, low, high) = at.unwrap_or_default();
        let (width, middle) = (tenths(right - left), HEIGHT / 2);
        let mut svg = Svg::beside_text(HEIGHT, &[]);
        svg.element(
            "rect",
            &[
                ("x", &percent(*left)),
                ("width", &percent(width)),
                ("height", &HEIGHT),
            ],
        );
        let one = percent(*one);
        svg.element(
            "line",
            &[
                ("class", &"one"),
                ("x1", &one),
                ("x2", &one),
                ("y2", &HEIGHT),
            ],
        );
        let ends: [(&str, &dyn Display); 4] = [
            ("x1", &percent(low)),
            ("x2", &percent(high)),
            ("y1", &middle),
            ("y2", &middle),
        ];
        svg.element("line", &ends);
        svg.element(
            "circle",
            &[("cx", &percent(at)), ("cy", &middle), ("r", &4.5)],
        );
        format!(
            "<span class=\"beside {kind}\">{} <b>{ratio}</b> <span class=\"soft\">{interval}</span></span>",
            svg.finish()
        )
    }
}

/// A place that is counted in percent of the width.
fn percent(place: f64) -> Percent {
    Percent(place / 100.0)
}

/// The comparison of every row of a table with one of them.
fn cells(table: &TableView, baseline: usize) -> Vec<Cell> {
    let mut cells = vec![Cell::Nothing; table.rows.len()];
    cells[baseline] = Cell::Baseline;
    for pair in &table.pairs {
        let (other, row) = if pair.worse == baseline {
            (pair.better, better(pair))
        } else if pair.better == baseline {
            (pair.worse, better(pair).map(inverse))
        } else {
            continue;
        };
        if let (Some(cell), Some(row)) = (cells.get_mut(other), row) {
            *cell = Cell::Compared(row);
        }
    }
    cells
}

/// The better one of a pair compared with the other, with the interval for this pair alone; `None` if they cannot be
/// compared.
fn better(pair: &RankedPair) -> Option<ComparedRow> {
    let alone = pair.alone?;
    Some(ComparedRow {
        ratio: pair.ratio?,
        interval: Some((alone.interval.low, alone.interval.high)),
        verdict: alone.verdict,
    })
}

/// The comparison in the other direction.
fn inverse(row: ComparedRow) -> ComparedRow {
    ComparedRow {
        ratio: 1.0 / row.ratio,
        interval: row.interval.map(|(low, high)| (1.0 / high, 1.0 / low)),
        verdict: row.verdict.reversed(),
    }
}

/// A stack compared with the baseline.
#[derive(Clone, Copy, Debug, PartialEq)]
struct ComparedRow {
    /// The ratio: how many times as fast the stack is.
    ratio: f64,
    /// The ends of its interval; an end that is open is 0 or ∞.
    interval: Option<(f64, f64)>,
    /// The verdict for this pair alone.
    verdict: PairVerdict,
}

/// A row's figures relative to a baseline.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Cell {
    /// The row is the baseline's.
    Baseline,
    /// The row can be compared with the baseline.
    Compared(ComparedRow),
    /// The row cannot be compared.
    Nothing,
}

/// The drawing for one baseline. Places are percent of the drawing's width.
#[derive(Clone, Debug, PartialEq, Serialize)]
struct Layout {
    /// The values at the axis: where, and what is written.
    ticks: Vec<(f64, String)>,
    /// The places of the dead heat band's start, of the ratio 1, and of the band's end.
    band: (f64, f64, f64),
    /// The rows.
    rows: Vec<Mark>,
}

/// A row of the plot.
#[derive(Clone, Debug, PartialEq)]
struct Mark {
    /// The places of the dot and of the interval's ends; `None` if there is nothing to draw.
    at: Option<(f64, f64, f64)>,
    /// The kind of the dot.
    kind: &'static str,
    /// The ratio.
    ratio: String,
    /// The interval.
    interval: String,
}

impl Serialize for Mark {
    /// As a list, because there is one for each pair of stacks.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut tuple = serializer.serialize_tuple(4)?;
        tuple.serialize_element(&self.at)?;
        tuple.serialize_element(self.kind)?;
        tuple.serialize_element(&self.ratio)?;
        tuple.serialize_element(&self.interval)?;
        tuple.end()
    }
}

impl Layout {
    /// The drawing for one baseline. Ratios within `margin` of 1 (0.03: 3 %) are as good as equal.
    fn new(cells: &[Cell], margin: f64) -> Self {
        let known: Vec<&ComparedRow> = shown(cells);
        let known = known.into_iter();
        let least = known.clone().map(|one| one.ratio).fold(1.0, f64::min);
        let most = known.clone().map(|one| one.ratio).fold(1.0, f64::max);
        // A single wide interval must not press all others together: it ends at the edge, and its text says where.
        let ends = known.flat_map(|one| {
            let (low, high) = one.interval.unwrap_or((one.ratio, one.ratio));
            [one.ratio, low.max(least / 2.0), high.min(most * 2.0)]
        });
        let equal = [1.0, 1.0 / (1.0 + margin), 1.0 + margin];
        let axis = Scale::logarithmic(equal.into_iter().chain(ends));
        let place = |value: f64| Percent(axis.map_or(0.0, |axis| axis.at(value))).figure();
        let ticks = axis
            .map(|axis| axis.ticks(APART, Some(1.0)))
            .unwrap_or_default();
        let ticks = ticks.into_iter();
        let mark = |cell: &Cell| match cell {
            Cell::Baseline => Mark {
                at: Some((place(1.0), place(1.0), place(1.0))),
                kind: "baseline",
                ratio: "1×".to_owned(),
                interval: "baseline".to_owned(),
            },
            Cell::Compared(row) => {
                let (low, high) = row.interval.unwrap_or((row.ratio, row.ratio));
                let is_beyond = axis.is_some_and(|axis| axis.is_beyond(row.ratio));
                Mark {
                    at: Some((place(row.ratio), place(low), place(high))),
                    kind: if is_beyond { "beyond" } else { kind(row) },
                    ratio: format!("{}×", figure::ratio(row.ratio)),
                    interval: row
                        .interval
                        .map_or_else(String::new, |(low, high)| figure::ratios(low, high)),
                }
            }
            Cell::Nothing => Mark {
                at: None,
                kind: "nothing",
                ratio: NONE.to_owned(),
                interval: String::new(),
            },
        };
        Self {
            ticks: ticks.map(|tick| (place(tick), tick_label(tick))).collect(),
            band: (place(1.0 / (1.0 + margin)), place(1.0), place(1.0 + margin)),
            rows: cells.iter().map(mark).collect(),
        }
    }
}

/// The rows that the axis must cover: those within a factor of the baseline if they are at least half of the rows,
/// otherwise all. Rows far away clearly differ, and would leave no space for the details of near ones.
fn shown(cells: &[Cell]) -> Vec<&ComparedRow> {
    let known: Vec<&ComparedRow> = cells
        .iter()
        .filter_map(|cell| match cell {
            Cell::Compared(row) => Some(row),
            _ => None,
        })
        .collect();
    let is_near = |one: &&&ComparedRow| one.ratio.ln().abs() <= NEAR.ln();
    let near: Vec<&ComparedRow> = known.iter().filter(is_near).copied().collect();
    if near.len() * 2 >= known.len() {
        near
    } else {
        known
    }
}

/// "0.5×": a tick is a round number.
fn tick_label(tick: f64) -> String {
    // Rounded, because a product of steps is not exact.
    let rounded: f64 = format!("{tick:.3e}").parse().unwrap_or(tick);
    format!("{rounded}×")
}

/// The classes of a row, by what is known.
fn kind(row: &ComparedRow) -> &'static str {
    let is_open = |(low, high): (f64, f64)| low <= 0.0 || high.is_infinite();
    match (row.verdict, row.interval.is_some_and(is_open)) {
        (PairVerdict::Faster | PairVerdict::Slower, false) => "differs",
        (PairVerdict::Faster | PairVerdict::Slower, true) => "differs open",
        (PairVerdict::DeadHeat, _) => "dead-heat",
        (PairVerdict::Undecided, false) => "undecided",
        (PairVerdict::Undecided, true) => "undecided open",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compared(ratio: f64, low: f64, high: f64, verdict: PairVerdict) -> Cell {
        Cell::Compared(ComparedRow {
            ratio,
            interval: Some((low, high)),
            verdict,
        })
    }

    #[test]
    fn what_is_slower_lies_left_of_the_baseline_and_its_interval_around_it() {
        let cells = [
            Cell::Baseline,
            compared(0.8, 0.75, 0.86, PairVerdict::Slower),
            compared(1.2, 0.9, 1.6, PairVerdict::Undecided),
        ];
        let layout = Layout::new(&cells, 0.03);
        let at = |row: usize| layout.rows[row].at.unwrap();
        let one = at(0).0;
        assert!(layout.band.0 < one && one == layout.band.1 && one < layout.band.2);
        let (dot, low, high) = at(1);
        assert!(low < dot && dot < high && high < one, "{:?}", layout.rows);
        let (_, low, high) = at(2);
        assert!(low < one && one < high && high < 100.0);
        assert!(layout.ticks.contains(&(one, "1×".to_owned())));
        assert_eq!(layout.rows[1].ratio, "0.80×");
        assert_eq!(layout.rows[1].interval, "0.75–0.86");
    }

    #[test]
    fn open_ends_reach_the_edge_and_are_said_in_words() {
        let cells = [
            Cell::Baseline,
            compared(0.5, 0.4, f64::INFINITY, PairVerdict::Undecided),
            compared(0.9, 0.0, 0.95, PairVerdict::Slower),
            compared(0.9, 0.0, f64::INFINITY, PairVerdict::Undecided),
            Cell::Nothing,
        ];
        let layout = Layout::new(&cells, 0.03);
        let words: Vec<&str> = layout
            .rows
            .iter()
            .map(|row| row.interval.as_str())
            .collect();
        assert_eq!(words, ["baseline", "≥ 0.40", "≤ 0.950", "–", ""]);
        assert_eq!(layout.rows[1].at.unwrap().2, 100.0);
        assert_eq!(layout.rows[2].at.unwrap().1, 0.0);
        assert_eq!(layout.rows[4].at, None);
    }

    #[test]
    fn a_single_wide_interval_does_not_press_the_others_together() {
        let close = compared(0.95, 0.93, 0.97, PairVerdict::Slower);
        let alone = Layout::new(&[Cell::Baseline, close], 0.03);
        let wide = compared(0.9, 0.001, 900.0, PairVerdict::Undecided);
        let both = Layout::new(&[Cell::Baseline, close, wide], 0.03);
        let length = |layout: &Layout| {
            let (_, low, high) = layout.rows[1].at.unwrap();
            high - low
        };
        assert!(length(&both) > length(&alone) / 12.0);
        assert_eq!(both.rows[2].interval, "0.00100–900");
    }

    #[test]
    fn a_far_row_does_not_press_near_ones_together_but_stands_at_the_edge() {
        let close = compared(0.95, 0.93, 0.97, PairVerdict::Slower);
        let far = compared(0.01, 0.009, 0.011, PairVerdict::Slower);
        let alone = Layout::new(&[Cell::Baseline, close, close], 0.03);
        let both = Layout::new(&[Cell::Baseline, close, close, far], 0.03);
        assert_eq!(alone.rows[1].at, both.rows[1].at);
        assert_eq!(
            (both.rows[3].at, both.rows[3].kind),
            (Some((0.0, 0.0, 0.0)), "beyond")
        );
        assert_eq!(both.rows[3].ratio, "0.010×");
        // If most are far, they are what there is to see.
        let most = Layout::new(&[Cell::Baseline, close, far, far], 0.03);
        assert!(most.rows.iter().all(|row| row.kind != "beyond"));
    }

    #[test]
    fn a_row_is_drawn_with_its_kind_and_words() {
        let cells = [
            Cell::Baseline,
            compared(0.8, 0.75, 0.86, PairVerdict::Slower),
        ];
        let drawn = Baselines {
            title: "as",
            names: ["<a>", "b"].map(str::to_owned).to_vec(),
            layouts: vec![Layout::new(&cells, 0.03); 2],
        };
        let cell = drawn.cell(1);
        assert!(
            cell.starts_with("<span class=\"beside differs\">"),
            "{cell}"
        );
        assert!(cell.contains("<b>0.80×</b>") && cell.contains(">0.75–0.86</span>"));
        let head = drawn.head();
        assert_eq!(head.matches("<text").count(), TICKS);
        assert!(head.contains("<option>&lt;a&gt;</option>"), "{head}");
    }

    #[test]
    fn ticks_have_round_labels() {
        for (tick, label) in [
            (1.0, "1×"),
            (0.1 + 0.2, "0.3×"),
            (20.0, "20×"),
            (0.025, "0.025×"),
        ] {
            assert_eq!(tick_label(tick), label);
        }
    }
}
