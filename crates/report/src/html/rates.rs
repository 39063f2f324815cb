//! Response times against the offered rate: how long a stack's users wait as more of them come.

use plotly::{
    Plot, Scatter,
    common::{HoverInfo, Line, Marker, MarkerSymbol, Mode, Title},
    layout::{Axis, AxisRange},
};

use super::{
    dots::{LOOKS, OTHERS, arms, between, of_line, reaches},
    plots::{Drawing, Series, Symbol, label, series},
    plotting::{GREY, ORANGE, latency_axis, over_axes},
};
use crate::{
    figure::{figure, seconds},
    view::{Dot, LatencyView, PlotCell},
};

const HEIGHT_PX: usize = 360;
const MOST_TICKS: usize = 7;
/// Room to the right of the highest rate.
const ROOM: f64 = 1.05;
/// The percentiles that have a plot each.
const PERCENTS: [f64; 2] = [50.0, 99.0];
const DOUBTFUL: Series = series(
    "overloaded or generator-limited",
    Symbol::OpenCircle,
    ORANGE,
);

/// One stack's times, the lowest rate first.
struct Curve<'a> {
    target: &'a str,
    points: Vec<Point<'a>>,
}

#[derive(Clone, Copy)]
struct Point<'a> {
    cell: &'a PlotCell,
    offered: f64,
    time: Dot,
}

impl Point<'_> {
    /// Whether the time is not the stack's at that rate: it did not keep up, or the generator was late.
    fn is_doubtful(self) -> bool {
        self.cell.overloaded || self.cell.lower_bound
    }
}

/// A plot for p50 and one for p99; none where no stack had two rates.
pub(super) fn of_latency(view: &LatencyView) -> Vec<Drawing> {
    let drawings = PERCENTS.map(|percent| {
        let curves = curves(view, percent);
        let is_curve = curves.iter().any(|curve| curve.points.len() > 1);
        is_curve.then(|| draw(percent, &curves))
    });
    drawings.into_iter().flatten().collect()
}

/// The stacks in the order of the tables.
fn curves(view: &LatencyView, percent: f64) -> Vec<Curve<'_>> {
    let mut curves: Vec<Curve<'_>> = Vec::new();
    for cell in view.points.iter().flat_map(|point| &point.plot) {
        let mut times = cell.times.iter();
        let time = times.find(|(other, _)| *other == percent);
        let (Some(offered), Some((_, time))) = (cell.offered, time) else {
            continue;
        };
        let point = Point {
            cell,
            offered,
            time: *time,
        };
        match curves.iter_mut().find(|curve| curve.target == cell.target) {
            Some(curve) => curve.points.push(point),
            None => curves.push(Curve {
                target: &cell.target,
                points: vec![point],
            }),
        }
    }
    for curve in &mut curves {
        let points = &mut curve.points;
        points.sort_by(|one, other| one.offered.total_cmp(&other.offered));
    }
    curves
}

fn draw(percent: f64, curves: &[Curve<'_>]) -> Drawing {
    let mut drawing = Drawing {
        title: format!("p{percent} of the response time against the offered rate (logarithmic)"),
        kind: "plot of curves",
        height: HEIGHT_PX,
        names: Vec::new(),
        plot: frame(curves),
        legend: Vec::new(),
    };
    // The named ones last, so that they lie on top.
    for curve in curves.iter().skip(LOOKS.len()) {
        let line = Line::new().color(GREY).width(0.7);
        add(&mut drawing.plot, percent, curve, line, GREY);
    }
    for (curve, (colour, dash)) in curves.iter().zip(LOOKS) {
        drawing.legend.push(of_line(curve.target, colour, &dash));
        let line = Line::new().color(colour).width(2.0).dash(dash);
        add(&mut drawing.plot, percent, curve, line, colour);
    }
    if curves.len() > LOOKS.len() {
        drawing.legend.push(OTHERS);
    }
    let mut points = curves.iter().flat_map(|curve| &curve.points);
    if points.any(|point| point.is_doubtful()) {
        drawing.legend.push(DOUBTFUL);
    }
    drawing
}

fn frame(curves: &[Curve<'_>]) -> Plot {
    let points = || curves.iter().flat_map(|curve| &curve.points);
    let highest = points().map(|point| point.offered).fold(0.0, f64::max);
    let rates = Axis::new()
        .range(AxisRange::new(0.0, ROOM * highest))
        .tick_format("~s")
        .title(Title::with_text("offered requests per second"));
    let times = reaches(points().map(|point| &point.time));
    let times = latency_axis(times.iter().copied(), MOST_TICKS);
    let [x_axis, y_axis] = [rates, times].map(|axis| axis.zero_line(false));
    over_axes(HEIGHT_PX, 48, x_axis, y_axis)
}

/// A line through all of a stack's times, and its dots: open ones where the time is in doubt.
fn add(plot: &mut Plot, percent: f64, curve: &Curve<'_>, line: Line, colour: &'static str) {
    let points = curve.points.iter();
    let (x, y): (Vec<f64>, Vec<f64>) = points
        .map(|point| (point.offered, point.time.value))
        .unzip();
    let trace = Scatter::new(x, y).name(label(curve.target));
    let trace = trace.mode(Mode::Lines).hover_info(HoverInfo::Skip);
    plot.add_trace(trace.line(line));
    for (is_doubtful, symbol) in [
        (false, MarkerSymbol::Circle),
        (true, MarkerSymbol::CircleOpen),
    ] {
        let points = curve.points.iter().copied();
        let points = points.filter(|point| point.is_doubtful() == is_doubtful);
        let points: Vec<Point<'_>> = points.collect();
        if !points.is_empty() {
            let marker = Marker::new().symbol(symbol).size(8).color(colour);
            plot.add_trace(dots(percent, curve, &points, marker, colour));
        }
    }
}

fn dots(
    percent: f64,
    curve: &Curve<'_>,
    points: &[Point<'_>],
    marker: Marker,
    colour: &'static str,
) -> Box<Scatter<f64, f64>> {
    let times: Vec<Dot> = points.iter().map(|point| point.time).collect();
    let rates = points.iter().map(|point| point.offered).collect();
    let hover = points.iter().map(|point| hover(percent, point));
    let trace = Scatter::new(rates, times.iter().map(|time| time.value).collect())
        .name(label(curve.target))
        .mode(Mode::Markers)
        .marker(marker)
        .hover_info(HoverInfo::Text)
        .hover_text_array(hover.collect::<Vec<_>>());
    match arms(colour, 1.0, &times) {
        Some(arms) => trace.error_y(arms),
        None => trace,
    }
}

fn hover(percent: f64, point: &Point<'_>) -> String {
    let doubt = match (point.cell.overloaded, point.cell.lower_bound) {
        (true, _) => "; overloaded",
        (_, true) => "; limited by the generator",
        _ => "",
    };
    label(&format!(
        "{} at {} requests/s: p{percent} {}{doubt}",
        point.cell.target,
        figure(point.offered),
        between(point.time, seconds)
    ))
}
