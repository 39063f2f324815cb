//! The forest plot: how many times as fast each stack is as one of them, the baseline, with intervals that stand alone. It is
//! drawn beside the default baseline; for all others the page has the same figures, which its script puts in their places.

use std::fmt::Display;

use deadheat_stats::heats::Verdict;
use serde::{Serialize, Serializer, ser::SerializeTuple};

use crate::{
    figure::{NONE, figure},
    plot::{
        axis::Scale,
        svg::{HEAD, Percent, ROW, Svg},
    },
};

/// The share of the drawing that is the plot; the rest is text.
const PLOT: f64 = 0.54;
/// Where the ratios end; the intervals end at the right edge.
const RATIOS: f64 = 0.73;
/// Ratios up to this, and down to its inverse, are near.
const NEAR: f64 = 4.0;
/// Ticks that a drawing has room for. Those that an axis does not need are empty.
const TICKS: usize = 6;
/// The least distance of ticks, as a share of the axis.
const APART: f64 = 0.2;

/// How a stack stands to the baseline.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Beside {
    /// How many times as fast it is.
    pub(super) ratio: f64,
    /// The ends of its interval; an end that is open is 0 or ∞.
    pub(super) interval: Option<(f64, f64)>,
    /// What is known.
    pub(super) verdict: Verdict,
}

/// A row's figures relative to a baseline.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Cell {
    /// The row is the baseline's.
    Baseline,
    /// The two can be compared.
    Beside(Beside),
    /// They cannot.
    Nothing,
}

/// A stack in the plot.
#[derive(Clone, Debug)]
pub(super) struct Line {
    /// The class of its colour.
    pub(super) colour: String,
    /// Its name.
    pub(super) name: String,
}

/// All that is drawn beside one baseline. Positions are percent of the drawing's width.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Layout {
    /// The values at the axis: where, and what is written.
    ticks: Vec<(f64, String)>,
    /// Where the dead heat's band begins and ends.
    band: (f64, f64),
    /// The rows.
    rows: Vec<Mark>,
}

/// What a row of the plot shows.
#[derive(Clone, Debug, PartialEq)]
struct Mark {
    /// Where the dot and the interval's ends are; `None`: there is nothing to draw.
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
    /// The places of everything beside one baseline. Ratios within `margin` of 1 (0.03: 3 %) are as good as equal.
    pub(super) fn new(cells: &[Cell], margin: f64) -> Self {
        let known: Vec<&Beside> = shown(cells);
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
        let place = |value: f64| {
            let share = axis.map_or(0.0, |axis| axis.at(value));
            Percent(share * PLOT).figure()
        };
        let ticks = axis
            .map(|axis| axis.ticks(APART, Some(1.0)))
            .unwrap_or_default();
        let ticks = ticks.into_iter();
        let mark = |cell: &Cell| match cell {
            Cell::Baseline => Mark {
                at: Some((place(1.0), place(1.0), place(1.0))),
                kind: "baseline",
                ratio: ONE.to_owned(),
                interval: "baseline".to_owned(),
            },
            Cell::Beside(beside) => {
                let (low, high) = beside.interval.unwrap_or((beside.ratio, beside.ratio));
                let is_beyond = axis.is_some_and(|axis| axis.is_beyond(beside.ratio));
                Mark {
                    at: Some((place(beside.ratio), place(low), place(high))),
                    kind: if is_beyond { "beyond" } else { kind(beside) },
                    ratio: times(beside.ratio),
                    interval: interval(beside.interval),
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
            band: (place(1.0 / (1.0 + margin)), place(1.0 + margin)),
            rows: cells.iter().map(mark).collect(),
        }
    }

    /// The drawing.
    pub(super) fn draw(&self, lines: &[Line], label: &str) -> String {
        let rows = lines.len();
        let mut svg = Svg::of_rows(rows, label);
        self.draw_axis(&mut svg, rows);
        for (row, (line, mark)) in lines.iter().zip(&self.rows).enumerate() {
            draw_row(&mut svg, row, line, mark);
        }
        svg.finish()
    }

    fn draw_axis(&self, svg: &mut Svg, rows: usize) {
        let (left, right) = self.band;
        svg.element(
            "rect",
            &[
                ("class", &"band"),
                ("x", &of(left)),
                ("width", &of(right - left)),
                ("y", &HEAD),
                ("height", &(rows * ROW)),
            ],
        );
        for tick in 0..TICKS {
            let (at, label) = match self.ticks.get(tick) {
                Some((at, label)) => (*at, label.as_str()),
                None => (0.0, ""),
            };
            let class = if label == ONE { "tick one" } else { "tick" };
            svg.begin(
                "g",
                &[("class", &if label.is_empty() { "tick none" } else { class })],
            );
            svg.rule("rule", at / 100.0, rows);
            let baseline = HEAD - 6;
            svg.text("text", &[("x", &of(at)), ("y", &baseline)], label);
            svg.end("g");
        }
    }
}

/// What the axis must hold: all that is within a factor of the baseline, if that is at least half of the rows. Far away
/// rows are different without a plot, and would leave no room to see whether near ones are.
fn shown(cells: &[Cell]) -> Vec<&Beside> {
    let known: Vec<&Beside> = cells
        .iter()
        .filter_map(|cell| match cell {
            Cell::Beside(beside) => Some(beside),
            _ => None,
        })
        .collect();
    let is_near = |one: &&&Beside| one.ratio.ln().abs() <= NEAR.ln();
    let near: Vec<&Beside> = known.iter().filter(is_near).copied().collect();
    if near.len() * 2 >= known.len() {
        near
    } else {
        known
    }
}

/// The label of the tick where stacks are equal.
const ONE: &str = "1×";

fn draw_row(svg: &mut Svg, row: usize, line: &Line, mark: &Mark) {
    let y = Svg::middle(row);
    let (at, low, high) = mark.at.unwrap_or((0.0, 0.0, 0.0));
    let class = format!("row {} {}", line.colour, mark.kind);
    svg.begin("g", &[("class", &class)]);
    svg.text("title", &[], &line.name);
    svg.element(
        "line",
        &[("x1", &of(low)), ("x2", &of(high)), ("y1", &y), ("y2", &y)],
    );
    svg.element("circle", &[("cx", &of(at)), ("cy", &y), ("r", &4.5)]);
    let x = Percent(RATIOS);
    let baseline = y + 4;
    let end: [(&str, &dyn Display); 3] = [("class", &"value"), ("x", &x), ("y", &baseline)];
    svg.text("text", &end, &mark.ratio);
    let x = Percent(1.0);
    let end: [(&str, &dyn Display); 3] = [("class", &"interval"), ("x", &x), ("y", &baseline)];
    svg.text("text", &end, &mark.interval);
    svg.end("g");
}

/// A figure that is percent already.
fn of(percent: f64) -> Percent {
    Percent(percent / 100.0)
}

/// "0.85×".
fn times(ratio: f64) -> String {
    format!("{}×", two_decimals(ratio))
}

/// Two decimals, as far as there is something to see: more where 1 would be written for what is not, and for small
/// ratios.
fn two_decimals(ratio: f64) -> String {
    let written = format!("{ratio:.2}");
    match ratio {
        ratio if ratio >= 9.995 => figure(ratio),
        ratio if written == "1.00" && ratio != 1.0 => format!("{ratio:.3}"),
        ratio if ratio >= 0.0995 => written,
        ratio if ratio >= 0.00995 => format!("{ratio:.3}"),
        ratio => figure(ratio),
    }
}

/// "0.5×": a tick is a round number.
fn tick_label(tick: f64) -> String {
    // Rounded, because a product of steps is not exact.
    let rounded: f64 = format!("{tick:.3e}").parse().unwrap_or(tick);
    format!("{rounded}×")
}

/// "0.82–0.88"; an end that is open is said in words.
fn interval(ends: Option<(f64, f64)>) -> String {
    match ends {
        None => String::new(),
        Some((low, high)) => match (low > 0.0, high.is_finite()) {
            (true, true) => format!("{}–{}", two_decimals(low), two_decimals(high)),
            (true, false) => format!("≥ {}", two_decimals(low)),
            (false, true) => format!("≤ {}", two_decimals(high)),
            (false, false) => "any".to_owned(),
        },
    }
}

/// The classes of a row, by what is known.
fn kind(beside: &Beside) -> &'static str {
    let is_open = |(low, high): (f64, f64)| low <= 0.0 || high.is_infinite();
    match (beside.verdict, beside.interval.is_some_and(is_open)) {
        (Verdict::Faster | Verdict::Slower, false) => "differs",
        (Verdict::Faster | Verdict::Slower, true) => "differs open",
        (Verdict::DeadHeat, _) => "dead-heat",
        (Verdict::Undecided, false) => "undecided",
        (Verdict::Undecided, true) => "undecided open",
    }
}

#[cfg(test)]
mod tests;
