//! Times by percentile on an axis of nines: each next nine takes as much room as the one before, so that the tail is
//! seen. The band is that of the trials.

use plotly::{
    Plot, Scatter,
    common::{Fill, HoverInfo, Line, Mode},
    layout::{Axis, AxisRange},
};

use super::{
    dots::{LOOKS, OTHERS, of_line, reaches},
    plots::{Drawing, label},
    plotting::{GREY, latency_axis, over_axes},
};
use crate::{
    figure::seconds,
    view::{Dot, GroupView, PlotCell},
};

const HEIGHT_PX: usize = 360;
const MOST_TICKS: usize = 7;
const TICKS: [(f64, &str); 6] = [
    (50.0, "p50"),
    (90.0, "p90"),
    (99.0, "p99"),
    (99.9, "p99.9"),
    (99.99, "p99.99"),
    (99.999, "p99.999"),
];

/// The plot of a load point's times; `None` where no trial has enough requests for a curve.
pub(super) fn of_group(group: &GroupView) -> Option<Drawing> {
    let cells = group.plot.iter().filter(|cell| cell.spectrum.len() > 1);
    let cells: Vec<&PlotCell> = cells.collect();
    if cells.is_empty() {
        return None;
    }
    let mut drawing = Drawing {
        title: format!(
            "Percentiles with the band of the trials: {}",
            group.latency_name
        ),
        kind: "plot of curves",
        height: HEIGHT_PX,
        names: Vec::new(),
        plot: frame(&cells),
        legend: Vec::new(),
    };
    // The named ones last, so that they lie on top.
    for cell in cells.iter().skip(LOOKS.len()) {
        let line = Line::new().color(GREY).width(0.7);
        drawing.plot.add_trace(curve(cell, line));
    }
    for (cell, (colour, dash)) in cells.iter().zip(LOOKS) {
        drawing.plot.add_trace(band(cell, colour));
        let line = Line::new().color(colour).width(2.0).dash(dash.clone());
        drawing.plot.add_trace(curve(cell, line));
        drawing.legend.push(of_line(&cell.target, colour, &dash));
    }
    if cells.len() > LOOKS.len() {
        drawing.legend.push(OTHERS);
    }
    Some(drawing)
}

/// Where a percentile stands: the nines that it has (1 for p90, 2 for p99).
fn nines(percent: f64) -> f64 {
    -(1.0 - percent / 100.0).log10()
}

fn frame(cells: &[&PlotCell]) -> Plot {
    let points = || cells.iter().flat_map(|cell| &cell.spectrum);
    let most = points().map(|(percent, _)| *percent).fold(0.0, f64::max);
    let ticks = TICKS.iter().filter(|(percent, _)| *percent <= most);
    let (values, names) = ticks
        .map(|(percent, name)| (nines(*percent), (*name).to_owned()))
        .unzip();
    let percents = Axis::new()
        .tick_values(values)
        .tick_text(names)
        .range(AxisRange::new(0.0, 1.02 * nines(most)));
    let times = reaches(points().map(|(_, dot)| dot));
    let times = latency_axis(times.iter().copied(), MOST_TICKS);
    let [x_axis, y_axis] = [percents, times].map(|axis| axis.zero_line(false));
    over_axes(HEIGHT_PX, 34, x_axis, y_axis)
}

fn curve(cell: &PlotCell, line: Line) -> Box<Scatter<f64, f64>> {
    let points = cell.spectrum.iter();
    let (x, y) = points
        .clone()
        .map(|(percent, dot)| (nines(*percent), dot.value))
        .unzip();
    let hover = points.map(|(percent, dot)| hover(cell, *percent, dot));
    Scatter::new(x, y)
        .name(label(&cell.target))
        .mode(Mode::Lines)
        .line(line)
        .hover_info(HoverInfo::Text)
        .hover_text_array(hover.collect::<Vec<_>>())
}

fn hover(cell: &PlotCell, percent: f64, dot: &Dot) -> String {
    let band = dot
        .ends
        .map(|(least, most)| format!(" (trials: {} to {})", seconds(least), seconds(most)));
    label(&format!(
        "{}: p{percent} {}{}",
        cell.target,
        seconds(dot.value),
        band.unwrap_or_default()
    ))
}

/// From the least to the most of the trials, all the way round.
fn band(cell: &PlotCell, colour: &'static str) -> Box<Scatter<f64, f64>> {
    let ends = cell
        .spectrum
        .iter()
        .filter_map(|(percent, dot)| Some((nines(*percent), dot.ends?)));
    let there = ends.clone().map(|(at, (_, most))| (at, most));
    let back = ends.rev().map(|(at, (least, _))| (at, least));
    let (x, y) = there.chain(back).unzip();
    Scatter::new(x, y)
        .mode(Mode::Lines)
        .line(Line::new().width(0.0))
        .fill(Fill::ToSelf)
        .fill_color(colour)
        .opacity(0.18)
        .hover_info(HoverInfo::Skip)
}
