//! The plots of a load: over time, and by percentile. Each plot's main figures stand in a table, too.

use plotly::{
    Layout, Plot, Scatter,
    common::{DashType, HoverInfo, Line, LineShape, Marker, Mode},
    layout::{
        Axis, AxisType, HoverMode, Margin, RangeMode, Shape, ShapeLayer, ShapeLine, ShapeType,
        TicksDirection,
    },
};
use serde::Serialize;

use crate::{
    ReportError,
    figure::{figure, seconds},
    html::plotting::{
        BLUE, CLEAR, GREY, GRID, ORANGE, PURPLE, RED, configuration, font, in_script, latency_axis,
    },
    load::{LoadView, Point},
};

const HEIGHT_PX: usize = 280;
/// The most ticks of an axis of latencies.
const MOST_TICKS: usize = 9;

/// A plot for the template.
#[derive(Serialize)]
pub(super) struct PlotView {
    title: String,
    label: String,
    height: usize,
    legend: Vec<Series>,
    /// Escaped for a script element.
    json: String,
}

/// One line of a plot. The page writes the legend, so that it wraps on a narrow screen.
#[derive(Clone, Serialize)]
struct Series {
    name: String,
    stroke: Stroke,
    colour: &'static str,
}

/// How a line is drawn, so that colour is not all that tells it apart.
#[derive(Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Stroke {
    Solid,
    Dashed,
    Dotted,
    /// An area, not a line.
    Area,
}

impl Stroke {
    const fn dash(self) -> DashType {
        match self {
            Stroke::Solid | Stroke::Area => DashType::Solid,
            Stroke::Dashed => DashType::Dash,
            Stroke::Dotted => DashType::Dot,
        }
    }
}

fn series(name: &str, stroke: Stroke, colour: &'static str) -> Series {
    Series {
        name: name.to_owned(),
        stroke,
        colour,
    }
}

/// A plot under construction.
struct Drawing {
    title: String,
    plot: Plot,
    layout: Layout,
    legend: Vec<Series>,
    /// Whether a value holds for its whole interval, and not at an instant.
    steps: bool,
}

/// The plots of a load; none without an answer or a failure.
pub(super) fn of(view: &LoadView) -> Result<Vec<PlotView>, ReportError> {
    let all = [
        over_time(view),
        times(view),
        by_percentile(view),
        held(view),
    ];
    let view = |drawing: Drawing| {
        let mut plot = drawing.plot;
        plot.set_layout(drawing.layout);
        Ok(PlotView {
            label: format!(
                "{}: a line plot. Its main figures are in the tables.",
                drawing.title
            ),
            title: drawing.title,
            height: HEIGHT_PX,
            legend: drawing.legend,
            json: in_script(&serde_json::to_string(&plot)?),
        })
    };
    all.into_iter().flatten().map(view).collect()
}

/// Valid answers, failures and the offered rate over time.
fn over_time(view: &LoadView) -> Option<Drawing> {
    let points = &view.series.points;
    if points.len() < 2 {
        return None;
    }
    let of = |point: &Point| {
        point
            .valid
            .max(point.failed)
            .max(point.offered.unwrap_or(0.0))
    };
    let y_axis = amount_axis(points.iter().map(of));
    let mut drawing = Drawing::new("Answers and failures per second", time_axis(), y_axis);
    drawing.shade_warm_up(view);
    drawing.steps = true;
    let per_second = |value: f64| format!("{}/s", figure(value));
    if points.iter().any(|point| point.offered.is_some()) {
        let line = steps(points, |point| point.offered);
        drawing.add(series("offered", Stroke::Dotted, GREY), line, per_second);
    }
    let valid = steps(points, |point| Some(point.valid));
    drawing.add(
        series("valid answers", Stroke::Solid, BLUE),
        valid,
        per_second,
    );
    if points.iter().any(|point| point.failed > 0.0) {
        let failed = steps(points, |point| Some(point.failed));
        drawing.add(series("failed", Stroke::Dashed, RED), failed, per_second);
    }
    Some(drawing)
}

/// A value that holds for each interval, from the start of the first one to the end of the last.
fn steps(
    points: &[Point],
    of: impl Fn(&Point) -> Option<f64>,
) -> impl Iterator<Item = (f64, Option<f64>)> {
    let last = points.last().map(|point| (point.until, of(point)));
    let starts = points.iter().map(move |point| (point.from, of(point)));
    starts.chain(last)
}

/// Percentiles over time.
fn times(view: &LoadView) -> Option<Drawing> {
    let points = &view.series.points;
    let names = [
        series("longest", Stroke::Dotted, GREY),
        series("p99", Stroke::Solid, ORANGE),
        series("p90", Stroke::Dashed, PURPLE),
        series("p50", Stroke::Solid, BLUE),
    ];
    let of = |index: usize| move |point: &Point| (point.at, point.times[3 - index]);
    let known = |index: usize| {
        points
            .iter()
            .map(of(index))
            .filter(|(_, time)| time.is_some())
    };
    if known(0).count() < 2 {
        return None;
    }
    let kind = if view.series.response {
        "Response time"
    } else {
        "Service time, closed loop,"
    };
    let all = points.iter().flat_map(|point| point.times).flatten();
    let title = format!("{kind} over time (logarithmic scale)");
    let mut drawing = Drawing::new(&title, time_axis(), latency_axis(all, MOST_TICKS));
    drawing.shade_warm_up(view);
    for (index, series) in names.into_iter().enumerate() {
        if known(index).next().is_some() {
            drawing.add(series, points.iter().map(of(index)), seconds);
        }
    }
    Some(drawing)
}

/// What was held at the end of each interval: connections, requests in flight and requests that waited.
fn held(view: &LoadView) -> Option<Drawing> {
    let points = &view.series.points;
    let known = points.iter().filter(|point| point.connections.is_some());
    if known.count() < 2 {
        return None;
    }
    let held = |point: &Point| [point.connections, point.in_flight, point.waiting];
    let most = points.iter().flat_map(held).flatten().fold(0.0, f64::max);
    let y_axis = amount_axis(std::iter::once(most));
    // There is no half of a connection.
    let y_axis = if most < 5.0 {
        y_axis.dtick(1.0)
    } else {
        y_axis
    };
    let mut drawing = Drawing::new("At each interval's end", time_axis(), y_axis);
    drawing.shade_warm_up(view);
    /// What of a point is drawn.
    type Of = fn(&Point) -> Option<f64>;
    let lines: [(Series, Of); 3] = [
        (series("connections open", Stroke::Dotted, GREY), |point| {
            point.connections
        }),
        (series("requests in flight", Stroke::Solid, BLUE), |point| {
            point.in_flight
        }),
        (
            series("requests waiting for a connection", Stroke::Dashed, ORANGE),
            |point| point.waiting,
        ),
    ];
    for (series, of) in lines {
        if points.iter().any(|point| of(point).is_some()) {
            let line = points.iter().map(|point| (point.until, of(point)));
            drawing.add(series, line, figure);
        }
    }
    Some(drawing)
}

/// Latency by percentile: each step to the right is a tenth of what was left.
fn by_percentile(view: &LoadView) -> Option<Drawing> {
    let curves = &view.series.percentiles;
    let most = curves.iter().flat_map(|curve| &curve.points);
    let most = most.map(|(place, _)| *place).fold(1.0, f64::max);
    if most < 10.0 {
        return None;
    }
    let all = curves
        .iter()
        .flat_map(|curve| curve.points.iter().map(|(_, time)| *time));
    let (ticks, names) = nines(most).into_iter().unzip();
    let x_axis = Axis::new()
        .type_(AxisType::Log)
        .tick_values(ticks)
        .tick_text(names)
        .tick_angle(0.0);
    let mut drawing = Drawing::new(
        "Latency by percentile (both scales logarithmic)",
        x_axis,
        latency_axis(all, MOST_TICKS),
    );
    // The last curve lies above: response time where there is one.
    for (index, curve) in curves.iter().enumerate() {
        let (name, dash, colour) = match (index, view.series.response) {
            (0, false) => ("service time (closed loop)", Stroke::Solid, BLUE),
            (0, true) => (curve.name.as_str(), Stroke::Dashed, BLUE),
            _ => (curve.name.as_str(), Stroke::Solid, ORANGE),
        };
        let line = curve
            .points
            .iter()
            .map(|(place, time)| (*place, Some(*time)));
        drawing.add(series(name, dash, colour), line, seconds);
    }
    Some(drawing)
}

/// p0, p90, p99, … as far as there are samples.
fn nines(most: f64) -> Vec<(f64, String)> {
    let decades = most.log10().floor().clamp(1.0, 9.0) as u32;
    let tick = |decade: u32| {
        let name = match decade {
            0 => "p0".to_owned(),
            1 => "p90".to_owned(),
            2 => "p99".to_owned(),
            more => format!("p99.{}", "9".repeat(more as usize - 2)),
        };
        (10_f64.powi(decade as i32), name)
    };
    (0..=decades).map(tick).collect()
}

/// An axis of rates or counts from zero on. SI prefixes are for large ones alone: nobody counts in "200m".
fn amount_axis(values: impl Iterator<Item = f64>) -> Axis {
    let axis = Axis::new().range_mode(RangeMode::ToZero);
    match values.fold(0.0, f64::max) {
        most if most < 1_000.0 => axis.tick_format("~g"),
        _ => axis.tick_format("~s"),
    }
}

fn time_axis() -> Axis {
    Axis::new()
        .range_mode(RangeMode::ToZero)
        .tick_suffix(" s")
        .n_ticks(8)
}

impl Drawing {
    /// An empty plot. Text and grid take their colours from the page's style.
    fn new(title: &str, x_axis: Axis, y_axis: Axis) -> Self {
        let styled = |axis: Axis| {
            axis.fixed_range(true)
                .zero_line(false)
                .show_grid(true)
                .auto_margin(true)
                .grid_color(GRID)
                // Ticks that are not seen keep the labels of both axes apart where they meet.
                .ticks(TicksDirection::Outside)
                .tick_length(5)
                .tick_color(CLEAR)
        };
        let layout = Layout::new()
            .auto_size(true)
            .height(HEIGHT_PX)
            .margin(Margin::new().left(48).right(18).top(8).bottom(32))
            .paper_background_color(CLEAR)
            .plot_background_color(CLEAR)
            .font(font())
            .hover_mode(HoverMode::Closest)
            .show_legend(false)
            .x_axis(styled(x_axis))
            .y_axis(styled(y_axis));
        let mut plot = Plot::new();
        plot.set_configuration(configuration());
        Self {
            title: title.to_owned(),
            plot,
            layout,
            legend: Vec::new(),
            steps: false,
        }
    }

    /// Shades what came before the measurement.
    fn shade_warm_up(&mut self, view: &LoadView) {
        let Some(until) = view.series.measured_from.filter(|from| *from > 0.0) else {
            return;
        };
        let shape = Shape::new()
            .shape_type(ShapeType::Rect)
            .layer(ShapeLayer::Below)
            .x_ref("x")
            .x0(0.0)
            .x1(until)
            .y_ref("paper")
            .y0(0.0)
            .y1(1.0)
            .fill_color("rgba(128,128,128,0.16)")
            .line(ShapeLine::new().width(0.0));
        self.layout = std::mem::take(&mut self.layout).shapes(vec![shape]);
        self.legend.push(series("warm-up", Stroke::Area, GREY));
    }

    /// Adds a line; where a value is missing it is interrupted.
    fn add(
        &mut self,
        series: Series,
        points: impl Iterator<Item = (f64, Option<f64>)>,
        text: impl Fn(f64) -> String,
    ) {
        let (x, y): (Vec<f64>, Vec<Option<f64>>) = points.unzip();
        let said = |value: &Option<f64>| {
            value.map_or(String::new(), |value| {
                format!("{} {}", series.name, text(value))
            })
        };
        let hover: Vec<String> = y.iter().map(said).collect();
        // Few points are shown one by one: a line through two of them hides where they are.
        let few = x.len() <= 60 && !self.steps;
        let trace = Scatter::new(x, y)
            .name(&series.name)
            .mode(if few { Mode::LinesMarkers } else { Mode::Lines })
            .hover_info(HoverInfo::Text)
            .hover_text_array(hover)
            .connect_gaps(false)
            .marker(Marker::new().size(4).color(series.colour))
            .line(
                Line::new()
                    .color(series.colour)
                    .width(2.0)
                    .shape(if self.steps {
                        LineShape::Hv
                    } else {
                        LineShape::Linear
                    })
                    .dash(series.stroke.dash()),
            );
        self.plot.add_trace(trace);
        self.legend.push(series);
    }
}
