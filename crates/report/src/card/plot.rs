//! The card's plot: throughput of at most eight stacks as dots with their intervals on one axis from zero, dead heats
//! bracketed, lower bounds open to the right.

use super::{
    canvas::{Anchor, Canvas, Type},
    layout::{BLUE, DIM, GRID, GROUND, INK, MARGIN, ORANGE, ROOM},
};
use crate::{
    figure::{count, counted, figure},
    view::{GroupView, PlotCell, Row},
};

/// More rows than this are too small in a preview.
const MOST_ROWS: usize = 8;
/// Of which so many are kept for lower bounds, which stand last and may be the fastest.
const MOST_BOUNDS: usize = 2;
/// Between the axis's figures at least, in pixels.
const TICK_GAP: f32 = 26.0;
const TICK_SIZE: f32 = 14.0;
/// The names' sizes, and the most room that they take.
const NAME_SIZES: [f32; 2] = [20.0, 17.0];
const NAME_ROOM: f32 = 400.0;
const RANK_ROOM: f32 = 46.0;
const VALUE_ROOM: f32 = 162.0;
const BRACKET_ROOM: f32 = 20.0;
const HEAT: Type = Type::bold(15.0, INK);
/// Below the rows: the axis's figures, what they are, and what is not shown.
const BELOW: f32 = 76.0;
const MOST_ROW: f32 = 50.0;
/// The share of the room that a few rows leave that stands above them.
const ABOVE: f32 = 0.4;

/// Where things are.
struct Frame {
    left: f32,
    right: f32,
    top: f32,
    row: f32,
    /// What stands at the right end.
    most: f64,
}

impl Frame {
    fn x(&self, value: f64) -> f32 {
        let share = if self.most > 0.0 {
            value / self.most
        } else {
            0.0
        };
        self.left + share.clamp(0.0, 1.0) as f32 * (self.right - self.left)
    }

    /// The middle of a row.
    fn y(&self, row: usize) -> f32 {
        self.top + (row as f32 + 0.5) * self.row
    }
}

pub(super) fn draw(canvas: &mut Canvas, group: &GroupView, (top, bottom): (f32, f32)) {
    let shown = shown(group);
    let (size, names) = names(canvas, &shown);
    let widths = names
        .iter()
        .map(|name| canvas.face(name_type(size)).width(name, size));
    let name_room = widths.fold(0.0, f32::max);
    let heats = heats(group, &shown);
    let beside = if heats.is_empty() {
        0.0
    } else {
        canvas.face(HEAT).width(group.heat_name, HEAT.size)
            + BRACKET_ROOM * heats.len().min(2) as f32
    };
    let ends = shown.iter().map(|(_, cell)| {
        let dot = cell.throughput;
        dot.ends.map_or(dot.value, |(_, high)| high.max(dot.value))
    });
    let most = ends.fold(0.0, f64::max);
    let row = ((bottom - top - BELOW) / shown.len() as f32).min(MOST_ROW);
    let slack = bottom - top - BELOW - row * shown.len() as f32;
    let frame = Frame {
        left: MARGIN + RANK_ROOM + name_room + 24.0,
        right: MARGIN + ROOM - beside - VALUE_ROOM - 30.0,
        top: top + ABOVE * slack,
        row,
        // Room for the open end of a lower bound that is the highest.
        most: if shown.iter().any(|(_, cell)| cell.lower_bound) {
            1.12 * most
        } else {
            most
        },
    };
    axis(canvas, &frame, shown.len());
    for (place, ((row, cell), name)) in shown.iter().zip(&names).enumerate() {
        label(canvas, &frame, place, row, name, size);
        mark(canvas, &frame, place, cell);
        value(canvas, &frame, place, row);
    }
    let x = frame.right + 30.0 + VALUE_ROOM;
    brackets(canvas, &frame, &heats, x, group.heat_name);
    below(canvas, &frame, group, &shown);
}

/// The rows that the card has room for: the first ones, and of the lower bounds at least some.
fn shown(group: &GroupView) -> Vec<(&Row, &PlotCell)> {
    let all = || group.rows.iter().zip(&group.plot);
    let bounds = all().filter(|(_, cell)| cell.lower_bound).count();
    let others = group.rows.len() - bounds;
    let kept = bounds.min(MOST_BOUNDS.max(MOST_ROWS.saturating_sub(others)));
    let ranked = all().filter(|(_, cell)| !cell.lower_bound);
    ranked
        .take(MOST_ROWS - kept)
        .chain(all().filter(|(_, cell)| cell.lower_bound).take(kept))
        .collect()
}

const fn name_type(size: f32) -> Type {
    Type::regular(size, INK)
}

/// The stacks' names in the largest size in which all fit, or cut: where that leaves them different, if possible.
fn names(canvas: &mut Canvas, shown: &[(&Row, &PlotCell)]) -> (f32, Vec<String>) {
    let kind = name_type(1.0);
    let whole: Vec<String> = shown
        .iter()
        .map(|(row, _)| canvas.drawable(kind, &row.target))
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

/// Each dead heat's rows, of those that are shown.
fn heats(group: &GroupView, shown: &[(&Row, &PlotCell)]) -> Vec<Vec<usize>> {
    let place = |row: &usize| {
        let name = &group.plot.get(*row)?.target;
        shown.iter().position(|(_, cell)| cell.target == *name)
    };
    let heats = group.heats.iter();
    let heats = heats.map(|heat| heat.iter().filter_map(place).collect::<Vec<_>>());
    heats.filter(|rows| rows.len() > 1).collect()
}

/// The distance of the axis's figures: the least of 1, 2 or 5 times a power of ten of which no more than `most_ticks`
/// reach `most`.
fn step(most: f64, most_ticks: f64) -> f64 {
    let least = most / most_ticks;
    if least <= 0.0 || !least.is_finite() {
        return 1.0;
    }
    let power = 10_f64.powf(least.log10().floor());
    let steps = [1.0, 2.0, 5.0].map(|times| times * power);
    let mut enough = steps.into_iter().filter(|step| *step >= least);
    enough.next().unwrap_or(10.0 * power)
}

fn axis(canvas: &mut Canvas, frame: &Frame, rows: usize) {
    let kind = Type::regular(TICK_SIZE, DIM);
    let widest = canvas.face(kind).width(&figure(frame.most), TICK_SIZE);
    let ticks = (frame.right - frame.left) / (widest + TICK_GAP);
    let step = step(frame.most, f64::from(ticks.floor().max(1.0)));
    let bottom = frame.y(rows) - 0.5 * frame.row;
    let ticks = (frame.most / step).floor() as u32;
    for tick in (0..=ticks).map(|tick| f64::from(tick) * step) {
        let x = frame.x(tick);
        let colour = if tick == 0.0 { DIM } else { GRID };
        canvas.line((x, frame.top), (x, bottom + 5.0), colour, 1.5);
        let at = (x, bottom + 21.0);
        let whole = step >= 1.0;
        let text = if whole {
            count(tick as u64)
        } else {
            figure(tick)
        };
        canvas.text(kind, at, Anchor::Middle, widest + TICK_GAP, &text);
    }
}

fn label(canvas: &mut Canvas, frame: &Frame, place: usize, row: &Row, name: &str, size: f32) {
    let y = frame.y(place) + 0.35 * size;
    let kind = Type::regular(size, DIM);
    canvas.text(kind, (MARGIN, y), Anchor::Start, RANK_ROOM, &row.rank);
    let at = (MARGIN + RANK_ROOM, y);
    canvas.text(name_type(size), at, Anchor::Start, NAME_ROOM + 1.0, name);
}

fn mark(canvas: &mut Canvas, frame: &Frame, place: usize, cell: &PlotCell) {
    // Higher than the dot, so that an interval narrower than it is still seen.
    const CAP: f32 = 9.0;
    let y = frame.y(place);
    let dot = cell.throughput;
    let x = frame.x(dot.value);
    if cell.lower_bound {
        canvas.arrow((x, y), (frame.right, y), ORANGE, 2.5);
        canvas.dot((x, y), 6.0, ORANGE, ORANGE);
        return;
    }
    let Some((low, high)) = dot.ends else {
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

fn value(canvas: &mut Canvas, frame: &Frame, place: usize, row: &Row) {
    let y = frame.y(place) + 6.0;
    let x = frame.right + 22.0;
    let kind = Type::bold(18.0, INK);
    canvas.text(kind, (x + 84.0, y), Anchor::End, 96.0, &row.throughput);
    if let Some(spread) = &row.spread {
        let at = (x + 92.0, y);
        canvas.text(Type::regular(15.0, DIM), at, Anchor::Start, 84.0, spread);
    }
}

/// A line beside each dead heat that points at its rows; the second one, where ranks overlap, stands beside the first.
fn brackets(canvas: &mut Canvas, frame: &Frame, heats: &[Vec<usize>], x: f32, what: &str) {
    const ARM: f32 = 8.0;
    let mut taken: Vec<(usize, f32)> = Vec::new();
    for rows in heats {
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
        canvas.text(HEAT, at, Anchor::Start, ROOM, what);
    }
}

/// What the axis is, and what is not shown.
fn below(canvas: &mut Canvas, frame: &Frame, group: &GroupView, shown: &[(&Row, &PlotCell)]) {
    let y = frame.y(shown.len()) - 0.5 * frame.row + 42.0;
    let kind = Type::regular(15.0, DIM);
    let what = group.intervals.split_once(". ");
    let what = what.map_or(group.intervals.trim_end_matches('.'), |(first, _)| first);
    let mut sentences = vec![format!("Requests per second. {what}.")];
    if shown.iter().any(|(_, cell)| cell.lower_bound) {
        sentences.push("Dashed: a lower bound.".to_owned());
    }
    canvas.text(kind, (MARGIN, y), Anchor::Start, ROOM, &sentences.join(" "));
    let mut rest = Vec::new();
    let left = group.rows.len() - shown.len();
    if left > 0 {
        let bounds = shown.iter().filter(|(_, cell)| cell.lower_bound).count();
        let first = match bounds {
            0 => format!("The first {} of {}", shown.len(), group.rows.len()),
            bounds => format!(
                "The first {} and {} of {}",
                shown.len() - bounds,
                counted(bounds, "lower bound"),
                group.rows.len()
            ),
        };
        rest.push(format!("{first}, and {left} more in the report."));
    }
    rest.extend(group.not_measured.clone());
    if !rest.is_empty() {
        let at = (MARGIN, y + 20.0);
        canvas.text(kind, at, Anchor::Start, ROOM, &rest.join(" "));
    }
}

#[cfg(test)]
mod tests {
    use super::step;

    #[test]
    fn the_axis_has_a_few_round_figures() {
        for (most, ticks, expected) in [
            (5_240.0, 5.0, 2_000.0),
            (10_000.0, 5.0, 2_000.0),
            (11_000.0, 2.0, 10_000.0),
            (596.0, 6.0, 100.0),
            (0.9, 5.0, 0.2),
            (0.0, 5.0, 1.0),
        ] {
            let step = step(most, ticks);
            assert!((step - expected).abs() < 1e-9, "{most}: {step}");
        }
    }
}
