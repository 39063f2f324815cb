//! A load point's trials in the order in which they ran, each as a share of its stack's own median.

use plotly::{
    Plot, Scatter,
    common::{DashType, HoverInfo, Line, Marker, Mode},
    layout::{Axis, AxisRange, Margin, Shape, ShapeLayer, ShapeLine, ShapeType},
};

use super::{
    plots::{Drawing, Series, Symbol, label, series},
    plotting::{BLUE, CLEAR, GREY, GRID, ORANGE, PURPLE, RED, configuration, layout},
};
use crate::view::{CoursePlot, CoursePoint, Mark, MarkKind};

const HEIGHT_PX: usize = 300;
/// The axis is no closer than so many percent around 100 %: where nothing moved, nothing is to look as if it had.
const LEAST_ARM: f64 = 3.0;
/// Nor farther than this above it: one odd trial is not to hide what the others do. It stands at the edge.
const MOST_ARM: f64 = 100.0;
/// Blocks that are named below the plot; of more, every second, fifth, …
const MOST_NAMES: usize = 12;
const BAND: &str = "rgba(128,128,128,0.10)";

/// Each kind of trial with its look and size, the lowest first.
const KINDS: [(MarkKind, Series, usize); 9] = [
    (
        MarkKind::Counts,
        series("a stack's trial", Symbol::Circle, GREY),
        5,
    ),
    (
        MarkKind::Limited,
        series("generator-limited", Symbol::Right, ORANGE),
        8,
    ),
    (
        MarkKind::Repeated,
        series("repetition that counts", Symbol::Square, BLUE),
        7,
    ),
    (
        MarkKind::Twice,
        series("stack measured twice (A/A)", Symbol::Diamond, BLUE),
        9,
    ),
    (
        MarkKind::Twin,
        series("the same under its other name", Symbol::OpenDiamond, BLUE),
        9,
    ),
    (
        MarkKind::LeftOut,
        series("left out", Symbol::OpenCircle, GREY),
        7,
    ),
    (MarkKind::Void, series("void", Symbol::Down, ORANGE), 10),
    (MarkKind::Failed, series("failed", Symbol::Cross, RED), 9),
    (
        MarkKind::NullServer,
        series("null server (ceiling)", Symbol::Square, PURPLE),
        8,
    ),
];
const MEDIAN: Series = series("median of the stacks in the block", Symbol::Bar, BLUE);
const PAUSE: Series = series("resumed after an interruption", Symbol::Line, RED);

/// The plot of a load point.
pub(super) fn of_point(point: &CoursePoint) -> Drawing {
    let plot = &point.plot;
    let range = range(&plot.marks);
    let mut drawing = Drawing {
        title: format!(
            "Trials in their order: {}, % of the stack's own median",
            point.metric
        ),
        kind: "plot of points over the blocks",
        height: HEIGHT_PX,
        names: Vec::new(),
        plot: frame(plot, range),
        legend: Vec::new(),
    };
    if !plot.medians.is_empty() {
        drawing.plot.add_trace(medians(plot));
        drawing.legend.push(MEDIAN);
    }
    for (kind, look, size) in KINDS {
        let marks: Vec<&Mark> = plot.marks.iter().filter(|mark| mark.kind == kind).collect();
        if !marks.is_empty() {
            drawing.plot.add_trace(trials(&marks, &look, size, range));
            drawing.legend.push(look);
        }
    }
    if !plot.pauses.is_empty() {
        drawing.legend.push(PAUSE);
    }
    drawing
}

/// The ends of the vertical axis in percent: around the trials that count.
fn range(marks: &[Mark]) -> (f64, f64) {
    let counts = |mark: &&Mark| {
        !matches!(
            mark.kind,
            MarkKind::Failed | MarkKind::Void | MarkKind::LeftOut
        )
    };
    let ratios = marks.iter().filter(counts).filter_map(|mark| mark.ratio);
    let arms = ratios.map(|ratio| 100.0 * (ratio - 1.0));
    let (below, above) = arms.fold((LEAST_ARM, LEAST_ARM), |(below, above), arm| {
        (f64::max(below, -arm), f64::max(above, arm))
    });
    let room = 1.12;
    (
        (100.0 - room * below).max(0.0),
        100.0 + (room * above).min(MOST_ARM),
    )
}

/// Two digits after the point of a percentage: as fine as a pixel.
fn shown(percent: f64) -> f64 {
    (percent * 100.0).round() / 100.0
}

fn trials(
    marks: &[&Mark],
    look: &Series,
    size: usize,
    (low, high): (f64, f64),
) -> Box<Scatter<usize, f64>> {
    // What has no figure stands below.
    let height = |mark: &&Mark| {
        let percent = mark.ratio.map_or(low, |ratio| 100.0 * ratio);
        shown(percent.clamp(low, high))
    };
    let places = marks.iter().map(|mark| mark.place).collect();
    let heights = marks.iter().map(height).collect();
    let hover: Vec<String> = marks.iter().map(|mark| label(&mark.hover)).collect();
    let stacks: Vec<usize> = marks.iter().map(|mark| mark.stack).collect();
    let is_line = marks.iter().any(|mark| mark.kind == MarkKind::NullServer);
    let mode = match is_line {
        true => Mode::LinesMarkers,
        false => Mode::Markers,
    };
    let marker = Marker::new()
        .symbol(look.symbol.marker())
        .size(size)
        .color(look.colour);
    Scatter::new(places, heights)
        .name(&*look.name)
        .mode(mode)
        .marker(marker)
        .line(
            Line::new()
                .color(look.colour)
                .width(1.5)
                .dash(DashType::Dash),
        )
        .custom_data(stacks)
        .clip_on_axis(false)
        .hover_info(HoverInfo::Text)
        .hover_text_array(hover)
}

/// A step in each block.
fn medians(plot: &CoursePlot) -> Box<Scatter<Option<f64>, Option<f64>>> {
    let (mut places, mut heights) = (Vec::new(), Vec::new());
    for (block, ratio) in &plot.medians {
        for span in plot.blocks.iter().filter(|span| span.block == *block) {
            let (left, right) = (span.first as f64 - 0.4, span.last as f64 + 0.4);
            places.extend([Some(left), Some(right), None]);
            let height = Some(shown(100.0 * ratio));
            heights.extend([height, height, None]);
        }
    }
    Scatter::new(places, heights)
        .name(&*MEDIAN.name)
        .mode(Mode::Lines)
        .hover_info(HoverInfo::Skip)
        .line(Line::new().color(MEDIAN.colour).width(2.5))
}

fn frame(plot: &CoursePlot, (low, high): (f64, f64)) -> Plot {
    let last = plot.blocks.last().map_or(0, |span| span.last);
    let room = 0.5 + 0.015 * last as f64;
    let step = [1, 2, 5, 10, 20, 50, 100]
        .into_iter()
        .find(|step| plot.blocks.len() <= step * MOST_NAMES)
        .unwrap_or(plot.blocks.len());
    let named = plot.blocks.iter().step_by(step);
    let (middles, names) = named
        .map(|span| {
            let middle = f64::midpoint(span.first as f64, span.last as f64);
            (middle, span.block.to_string())
        })
        .unzip();
    let blocks = Axis::new()
        .title("block")
        .tick_values(middles)
        .tick_text(names)
        .show_grid(false)
        // Not so near to the names of the other axis that the first trial covers one.
        .range(AxisRange::new(0.5 - room, last as f64 + 0.5 + room));
    let shares = Axis::new()
        .tick_suffix(" %")
        .n_ticks(7)
        .show_grid(true)
        .grid_color(GRID)
        .range(AxisRange::new(low, high));
    let still = |axis: Axis| axis.fixed_range(true).zero_line(false);
    let layout = layout()
        .height(HEIGHT_PX)
        .margin(Margin::new().left(58).right(12).top(8).bottom(46))
        .shapes(shapes(plot))
        .x_axis(still(blocks))
        .y_axis(still(shares));
    let mut plot = Plot::new();
    plot.set_layout(layout);
    plot.set_configuration(configuration());
    plot
}

/// Every second block on a darker ground, and a line at each pause.
fn shapes(plot: &CoursePlot) -> Vec<Shape> {
    let bands = plot.blocks.iter().step_by(2).map(|span| {
        Shape::new()
            .shape_type(ShapeType::Rect)
            .layer(ShapeLayer::Below)
            .y_ref("paper")
            .y0(0)
            .y1(1)
            .x0(span.first as f64 - 0.5)
            .x1(span.last as f64 + 0.5)
            .fill_color(BAND)
            .line(ShapeLine::new().color(CLEAR).width(0.0))
    });
    let pauses = plot.pauses.iter().map(|place| {
        let line = ShapeLine::new().color(PAUSE.colour).width(1.5);
        Shape::new()
            .shape_type(ShapeType::Line)
            .y_ref("paper")
            .y0(0)
            .y1(1)
            .x0(*place)
            .x1(*place)
            .line(line.dash(DashType::Dot))
    });
    bands.chain(pauses).collect()
}
