//! The card's plot: throughput of at most eight stacks as dots with their intervals on one axis from zero, dead heats
//! bracketed, lower bounds open to the right.

use std::collections::BTreeSet;

use deadheat_document::plot::axis::{Axis, Unit};
use deadheat_model::figure::counted;
use deadheat_stats::{heats::PairVerdict, standings::Measure};

use super::canvas::{Anchor, BLUE, Canvas, DIM, GRID, GROUND, INK, MARGIN, ORANGE, ROOM, Type};
use crate::document::{
    view::{LoadView, RankedFigure, RowView, StandingsView, TableView},
    words,
};

/// More rows than this are too small in a preview.
const MAX_ROWS: usize = 8;
/// The number of these rows that are kept for lower bounds, which may be last in the list and yet the fastest.
const MAX_BOUNDS: usize = 2;
/// The maximum width of an axis label, in pixels.
const TICK_ROOM: f32 = 80.0;
const TICK_SIZE: f32 = 14.0;
/// The font sizes of names, and the maximum width of their column.
const NAME_SIZES: [f32; 2] = [20.0, 17.0];
const NAME_ROOM: f32 = 400.0;
const MIN_RANK_ROOM: f32 = 46.0;
/// The minimum width of a figure's column, and the width of its half width's.
const MIN_VALUE: f32 = 84.0;
const SPREAD_ROOM: f32 = 78.0;
const VALUE: Type = Type::bold(18.0, INK);
const BRACKET_ROOM: f32 = 20.0;
const HEAT: Type = Type::bold(15.0, INK);
const DEAD_HEAT: &str = "dead heat";
/// The height below the rows: axis labels, the axis title, and the note about hidden rows.
const BELOW: f32 = 76.0;
const MAX_ROW: f32 = 50.0;
/// The share of unused height that is left above the rows when there are few of them.
const ABOVE: f32 = 0.4;

/// Rows of dots on one axis from zero.
pub(super) struct Plot<'a> {
    measure: Measure,
    /// The stacks with figures, in their order.
    rows: Vec<PlotRow<'a>>,
    /// Groups of rows that are as good as equal, by their places.
    ties: Vec<Vec<usize>>,
    /// Stacks without a figure.
    missing: Vec<String>,
}

/// A stack with its figure.
#[derive(Clone, Copy)]
struct PlotRow<'a> {
    row: &'a RowView,
    main: RankedFigure,
}

impl PlotRow<'_> {
    /// The ends of its interval.
    fn ends(&self) -> Option<(f64, f64)> {
        let width = self.row.half_width?.exp();
        Some((self.main.value / width, self.main.value * width))
    }
}

impl<'a> Plot<'a> {
    /// The plot of a table.
    pub(super) fn new(view: &StandingsView, load: &LoadView, table: &'a TableView) -> Self {
        let missing = view.not_measured.entries.iter();
        let missing =
            missing.filter(|lack| lack.load.as_ref().is_none_or(|own| *own == load.short));
        let names: BTreeSet<String> = missing.map(|lack| lack.target.clone()).collect();
        let rows = table.rows.iter();
        let rows = rows.filter_map(|row| {
            Some(PlotRow {
                row,
                main: row.main?,
            })
        });
        Self {
            measure: load.measure,
            rows: rows.collect(),
            ties: dead_heats(table),
            missing: names.into_iter().collect(),
        }
    }
}

/// Rows that follow each other and are all dead heats with each other.
fn dead_heats(table: &TableView) -> Vec<Vec<usize>> {
    let tied: BTreeSet<(usize, usize)> = table
        .pairs
        .iter()
        .filter(|pair| pair.verdict == PairVerdict::DeadHeat)
        .map(|pair| (pair.better, pair.worse))
        .collect();
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for row in 0..table.rows.len() {
        let mut group = vec![row];
        for other in row + 1..table.rows.len() {
            let all = group.iter().all(|one| tied.contains(&(*one, other)));
            if !all {
                break;
            }
            group.push(other);
        }
        let is_new = groups
            .last()
            .is_none_or(|last| !group.iter().all(|one| last.contains(one)));
        if group.len() > 1 && is_new {
            groups.push(group);
        }
    }
    groups
}

/// Where things are.
pub struct Frame {
    /// Where names begin.
    names: f32,
    left: f32,
    right: f32,
    /// How wide figures are.
    value: f32,
    top: f32,
    row: f32,
    axis: Axis,
}

impl Frame {
    fn x(&self, value: f64) -> f32 {
        self.left + self.axis.at(value) as f32 * (self.right - self.left)
    }

    /// The middle of a row.
    fn y(&self, row: usize) -> f32 {
        self.top + (row as f32 + 0.5) * self.row
    }
}

pub(super) fn draw(canvas: &mut Canvas, plot: &Plot, (top, bottom): (f32, f32)) {
    let shown = shown(plot);
    let (size, names) = names(canvas, &shown);
    let widths = names
        .iter()
        .map(|name| canvas.face(name_type(size)).width(name, size));
    let name_room = widths.fold(0.0, f32::max);
    let ranks = shown.iter();
    let ranks = ranks.map(|(_, row)| canvas.face(name_type(size)).width(&rank(row), size) + 12.0);
    let rank_room = ranks.fold(MIN_RANK_ROOM, f32::max);
    let values = shown.iter();
    let values = values.map(|(_, row)| canvas.face(VALUE).width(&written(plot, row), VALUE.size));
    let value_room = values.fold(MIN_VALUE, f32::max);
    let ties = ties(plot, &shown);
    let beside = if ties.is_empty() {
        0.0
    } else {
        canvas.face(HEAT).width(DEAD_HEAT, HEAT.size) + BRACKET_ROOM * ties.len().min(2) as f32
    };
    let ends = shown.iter().map(|(_, row)| {
        let value = row.main.value;
        row.ends().map_or(value, |(_, high)| high.max(value))
    });
    let unit = match plot.measure {
        Measure::Throughput => Unit::Count,
        Measure::ResponseTime => Unit::Seconds,
    };
    let row = ((bottom - top - BELOW) / shown.len() as f32).min(MAX_ROW);
    let slack = bottom - top - BELOW - row * shown.len() as f32;
    let frame = Frame {
        names: MARGIN + rank_room,
        left: MARGIN + rank_room + name_room + 24.0,
        right: MARGIN + ROOM - beside - value_room - SPREAD_ROOM - 30.0,
        value: value_room,
        top: top + ABOVE * slack,
        row,
        axis: Axis::amount(unit, ends),
    };
    draw_axis(canvas, &frame, shown.len());
    for (place, ((_, row), name)) in shown.iter().zip(&names).enumerate() {
        label(canvas, &frame, place, row, name, size);
        mark(canvas, &frame, place, row);
        value(canvas, &frame, place, plot, row);
    }
    let x = frame.right + 30.0 + value_room + SPREAD_ROOM;
    brackets(canvas, &frame, &ties, x);
    below(canvas, &frame, plot, &shown);
}

/// A row with its place in the table.
type NumberedRow<'a> = (usize, &'a PlotRow<'a>);

/// The rows that the card has room for, in the table's order: the first ones, and of the lower bounds at least some.
fn shown<'a>(plot: &'a Plot<'a>) -> Vec<NumberedRow<'a>> {
    let bounds = plot.rows.iter().filter(|row| row.main.is_bound).count();
    let others = plot.rows.len() - bounds;
    let mut bounds_left = bounds.min(MAX_BOUNDS.max(MAX_ROWS.saturating_sub(others)));
    let mut others_left = MAX_ROWS - bounds_left;
    let mut has_room = |row: &PlotRow| {
        let left = if row.main.is_bound {
            &mut bounds_left
        } else {
            &mut others_left
        };
        let room = *left > 0;
        *left = left.saturating_sub(1);
        room
    };
    let all = plot.rows.iter().enumerate();
    all.filter(|(_, row)| has_room(row)).collect()
}

const fn name_type(size: f32) -> Type {
    Type::regular(size, INK)
}

/// The stacks' names in the largest size in which all fit, or cut: where that leaves them different, if possible.
fn names(canvas: &mut Canvas, shown: &[NumberedRow]) -> (f32, Vec<String>) {
    let kind = name_type(1.0);
    let whole: Vec<String> = shown
        .iter()
        .map(|(_, row)| canvas.drawable(kind, &row.row.target))
        .collect();
    let face = canvas.face(kind);
    let fits = |size: &f32| {
        whole
            .iter()
            .all(|name| face.width(name, *size) <= NAME_ROOM)
    };
    if let Some(size) = NAME_SIZES.into_iter().find(fits) {
        return (size, whole);
    }
    let size = NAME_SIZES[NAME_SIZES.len() - 1];
    let cut = |share: f32| -> Vec<String> {
        let names = whole.iter();
        names
            .map(|name| face.cut_within(name, size, NAME_ROOM, share))
            .collect()
    };
    let distinct = |names: &Vec<String>| {
        let mut sorted = names.clone();
        sorted.sort();
        sorted.dedup();
        sorted.len() == names.len()
    };
    let mut cuts = [0.5, 0.3, 0.7, 0.1, 0.9, 1.0].into_iter().map(cut);
    (size, cuts.find(distinct).unwrap_or_else(|| cut(0.5)))
}

/// Each tie's rows, of those that are shown.
fn ties(plot: &Plot, shown: &[NumberedRow]) -> Vec<Vec<usize>> {
    let place = |row: &usize| shown.iter().position(|(place, _)| place == row);
    let ties = plot.ties.iter();
    let ties = ties.map(|tie| tie.iter().filter_map(place).collect::<Vec<_>>());
    ties.filter(|rows| rows.len() > 1).collect()
}

fn rank(row: &PlotRow) -> String {
    words::rank(row.main.rank)
}

fn written(plot: &Plot, row: &PlotRow) -> String {
    words::placed(Some(&row.main), |value| words::main(plot.measure, value))
}

fn draw_axis(canvas: &mut Canvas, frame: &Frame, rows: usize) {
    let kind = Type::regular(TICK_SIZE, DIM);
    let bottom = frame.y(rows) - 0.5 * frame.row;
    for (tick, label) in frame.axis.labels() {
        let x = frame.x(tick);
        let colour = if tick == 0.0 { DIM } else { GRID };
        canvas.line((x, frame.top), (x, bottom + 5.0), colour, 1.5);
        canvas.text(kind, (x, bottom + 21.0), Anchor::Middle, TICK_ROOM, label);
    }
}

fn label(canvas: &mut Canvas, frame: &Frame, place: usize, row: &PlotRow, name: &str, size: f32) {
    let y = frame.y(place) + 0.35 * size;
    let kind = Type::regular(size, DIM);
    let room = frame.names - MARGIN;
    canvas.text(kind, (MARGIN, y), Anchor::Start, room, &rank(row));
    let at = (frame.names, y);
    canvas.text(name_type(size), at, Anchor::Start, NAME_ROOM + 1.0, name);
}

fn mark(canvas: &mut Canvas, frame: &Frame, place: usize, row: &PlotRow) {
    // Higher than the dot, so that an interval narrower than it is still seen.
    const CAP: f32 = 9.0;
    let y = frame.y(place);
    let x = frame.x(row.main.value);
    if row.main.is_bound {
        canvas.arrow((x, y), (frame.right, y), ORANGE, 2.5);
        canvas.dot((x, y), 6.0, ORANGE, ORANGE);
        return;
    }
    let Some((low, high)) = row.ends() else {
        canvas.dot((x, y), 5.5, BLUE, GROUND);
        return;
    };
    let (low, high) = (frame.x(low), frame.x(high));
    canvas.line((low, y), (high, y), BLUE, 2.5);
    for end in [low, high] {
        canvas.line((end, y - CAP), (end, y + CAP), BLUE, 1.5);
    }
    canvas.dot((x, y), 3.5, BLUE, BLUE);
}

fn value(canvas: &mut Canvas, frame: &Frame, place: usize, plot: &Plot, row: &PlotRow) {
    let y = frame.y(place) + 6.0;
    let x = frame.right + 22.0;
    let at = (x + frame.value, y);
    canvas.text(
        VALUE,
        at,
        Anchor::End,
        frame.value + 1.0,
        &written(plot, row),
    );
    if row.row.half_width.is_some() {
        let spread = words::half_width(row.row.half_width);
        let at = (x + frame.value + 8.0, y);
        canvas.text(Type::regular(15.0, DIM), at, Anchor::Start, 84.0, &spread);
    }
}

/// Draws a line next to each dead heat that points at its rows; if ranks overlap, the second is next to the first.
fn brackets(canvas: &mut Canvas, frame: &Frame, ties: &[Vec<usize>], x: f32) {
    const ARM: f32 = 8.0;
    let mut taken: Vec<(usize, f32)> = Vec::new();
    for rows in ties {
        let (first, last) = (rows[0], rows[rows.len() - 1]);
        let is_free = |lane: &f32| {
            taken
                .iter()
                .all(|(end, other)| *end < first || other != lane)
        };
        let Some(lane) = [0.0, 1.0].into_iter().find(is_free) else {
            continue;
        };
        taken.push((last, lane));
        let x = x + lane * BRACKET_ROOM;
        canvas.line((x, frame.y(first)), (x, frame.y(last)), INK, 2.0);
        for row in rows {
            canvas.line((x - ARM, frame.y(*row)), (x, frame.y(*row)), INK, 2.0);
        }
        let middle = 0.5 * (frame.y(first) + frame.y(last)) + 5.0;
        let at = (x + 9.0, middle);
        canvas.text(HEAT, at, Anchor::Start, ROOM, DEAD_HEAT);
    }
}

/// What the axis is, and what is not shown.
fn below(canvas: &mut Canvas, frame: &Frame, plot: &Plot, shown: &[NumberedRow]) {
    let y = frame.y(shown.len()) - 0.5 * frame.row + 42.0;
    let kind = Type::regular(15.0, DIM);
    let what = match plot.measure {
        Measure::Throughput => "Requests per second",
        Measure::ResponseTime => "99th percentile of response time, less is better",
    };
    let mut axis = format!("{what}. Lines: how well the ratio to the best is known.");
    if shown.iter().any(|(_, row)| row.main.is_bound) {
        axis += " Dashed: a lower bound.";
    }
    canvas.text(kind, (MARGIN, y), Anchor::Start, ROOM, &axis);
    let mut rest = Vec::new();
    let left = plot.rows.len() - shown.len();
    if left > 0 {
        let bounds = shown.iter().filter(|(_, row)| row.main.is_bound).count();
        let first = match bounds {
            0 => format!("The first {} of {}", shown.len(), plot.rows.len()),
            bounds => format!(
                "The first {} and {} of {}",
                shown.len() - bounds,
                counted(bounds, "lower bound"),
                plot.rows.len()
            ),
        };
        rest.push(format!("{first}, and {left} more in the report."));
    }
    if !plot.missing.is_empty() {
        let missing = words::some(&plot.missing, 4);
        rest.push(format!("Not measured: {missing}."));
    }
    if !rest.is_empty() {
        let at = (MARGIN, y + 20.0);
        canvas.text(kind, at, Anchor::Start, ROOM, &rest.join(" "));
    }
}
