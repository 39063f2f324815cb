//! The plots of a load point: dots with intervals, never bare bars. Each plot's figures stand in a table, too.

use plotly::{
    Layout, Plot, Scatter,
    common::{Anchor, ErrorData, ErrorType, HoverInfo, Line, Marker, MarkerSymbol, Mode},
    layout::{Annotation, Axis, AxisRange, HoverMode, Margin, RangeMode},
};
use serde::Serialize;

use super::plotting::{
    BLUE, CLEAR, GREY, GRID, ORANGE, PURPLE, configuration, font, in_script, latency_axis,
};
use crate::{
    ReportError,
    figure::{bytes, figure, seconds},
    view::{Dot, GroupView, PlotCell},
};

/// The height of one stack's row: its name stands above its dots, so that a long name takes no width.
const ROW_PX: usize = 44;
const TOP_PX: usize = 6;
const BOTTOM_PX: usize = 34;
/// The most ticks of an axis of latencies.
const MOST_TICKS: usize = 7;

/// A plot for the template.
#[derive(Serialize)]
pub struct PlotView {
    title: &'static str,
    label: String,
    height: usize,
    legend: Vec<Series>,
    /// Escaped for a script element.
    json: String,
}

/// One series of a plot. The page writes the legend, because plotly's takes its height from the rows.
#[derive(Clone, Copy, Serialize)]
struct Series {
    name: &'static str,
    glyph: char,
    colour: &'static str,
    #[serde(skip)]
    symbol: Symbol,
}

#[derive(Clone, Copy)]
enum Symbol {
    Circle,
    OpenCircle,
    Diamond,
    Square,
    Up,
    Right,
    Tick,
}

impl Symbol {
    const fn glyph(self) -> char {
        match self {
            Symbol::Circle => '●',
            Symbol::OpenCircle => '○',
            Symbol::Diamond => '◆',
            Symbol::Square => '■',
            Symbol::Up => '▲',
            Symbol::Right => '▶',
            Symbol::Tick => '|',
        }
    }

    const fn marker(self) -> MarkerSymbol {
        match self {
            Symbol::Circle => MarkerSymbol::Circle,
            Symbol::OpenCircle => MarkerSymbol::CircleOpen,
            Symbol::Diamond => MarkerSymbol::Diamond,
            Symbol::Square => MarkerSymbol::Square,
            Symbol::Up => MarkerSymbol::TriangleUp,
            Symbol::Right => MarkerSymbol::TriangleRight,
            Symbol::Tick => MarkerSymbol::LineNSOpen,
        }
    }
}

const fn series(name: &'static str, symbol: Symbol, colour: &'static str) -> Series {
    Series {
        name,
        glyph: symbol.glyph(),
        colour,
        symbol,
    }
}

const TRIAL: Series = series("each trial", Symbol::Tick, GREY);
const MEDIAN: Series = series("median with its interval", Symbol::Circle, BLUE);
const LOWER_BOUND: Series = series("lower bound (generator-limited)", Symbol::Right, ORANGE);
const PERCENTILES: [(f64, Series); 4] = [
    (50.0, series("p50", Symbol::Circle, BLUE)),
    (90.0, series("p90", Symbol::Diamond, GREY)),
    (99.0, series("p99", Symbol::Square, ORANGE)),
    (99.9, series("p99.9", Symbol::Up, PURPLE)),
];
const MEMORY: [Series; 3] = [
    series("idle", Symbol::OpenCircle, GREY),
    series("mean", Symbol::Circle, BLUE),
    series("peak", Symbol::Square, ORANGE),
];

/// A plot under construction with its legend.
struct Drawing {
    plot: Plot,
    legend: Vec<Series>,
}

/// The plots of a load point; none when there is nothing to show.
pub fn of_group(group: &GroupView) -> Result<Vec<PlotView>, ReportError> {
    let cells = &group.plot[..];
    if cells.is_empty() {
        return Ok(Vec::new());
    }
    let mut plots = vec![("Throughput, requests per second", throughput(cells))];
    if cells.iter().any(|cell| !cell.service_time.is_empty()) {
        plots.push((
            "Service time, closed loop (logarithmic scale)",
            service_time(cells),
        ));
    }
    if cells.iter().any(|cell| cell.cpu.is_some()) {
        plots.push(("CPU time per request", cpu(cells)));
    }
    plots.push(("Memory (PSS), MiB", memory(cells)));
    let view = |(title, drawing): (&'static str, Drawing)| {
        Ok(PlotView {
            title,
            label: format!(
                "{title}, {}: a dot plot. Its figures are in the tables.",
                group.title
            ),
            height: height(cells.len()),
            legend: drawing.legend,
            json: in_script(&serde_json::to_string(&drawing.plot)?),
        })
    };
    plots.into_iter().map(view).collect()
}

const fn height(rows: usize) -> usize {
    TOP_PX + rows * ROW_PX + BOTTOM_PX
}

/// Text for plotly, which reads some HTML in labels.
fn label(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

fn throughput(cells: &[PlotCell]) -> Drawing {
    let axis = Axis::new().range_mode(RangeMode::ToZero).tick_format("~s");
    let mut drawing = Drawing::new(cells, axis);
    let trials = cells.iter().enumerate();
    let trials =
        trials.flat_map(|(row, cell)| cell.trials.iter().map(move |rate| (*rate, place(row))));
    let (rates, rows): (Vec<f64>, Vec<f64>) = trials.unzip();
    let marker = Marker::new()
        .symbol(TRIAL.symbol.marker())
        .size(11)
        .color(TRIAL.colour);
    let trace = Scatter::new(rates, rows)
        .mode(Mode::Markers)
        .hover_info(HoverInfo::Skip);
    drawing.plot.add_trace(trace.marker(marker));
    for (lower_bound, series, more) in [(false, MEDIAN, ""), (true, LOWER_BOUND, "at least ")] {
        let dots = cells
            .iter()
            .map(|cell| Some(cell.throughput).filter(|_| cell.lower_bound == lower_bound));
        let text = |value: f64| format!("{more}{} requests/s", figure(value));
        drawing.add(series, cells, dots, text);
    }
    drawing.legend.push(TRIAL);
    drawing
}

fn service_time(cells: &[PlotCell]) -> Drawing {
    let dots = cells.iter().flat_map(|cell| &cell.service_time);
    let values: Vec<f64> = dots.map(|(_, dot)| dot.value).collect();
    let axis = latency_axis(values.iter().copied(), MOST_TICKS);
    let mut drawing = Drawing::new(cells, axis);
    for (percent, series) in PERCENTILES {
        let dots = cells.iter().map(|cell| {
            let mut all = cell.service_time.iter();
            all.find(|(other, _)| *other == percent)
                .map(|(_, dot)| *dot)
        });
        let text = |value: f64| format!("{} {}", series.name, seconds(value));
        drawing.add(series, cells, dots, text);
    }
    drawing
}

fn cpu(cells: &[PlotCell]) -> Drawing {
    let axis = Axis::new()
        .range_mode(RangeMode::ToZero)
        .tick_format("~s")
        .tick_suffix("s");
    let mut drawing = Drawing::new(cells, axis);
    let dots = cells
        .iter()
        .map(|cell| cell.cpu.map(|cpu| cpu.scaled(1e-6)));
    let text = |value: f64| format!("{} of CPU per request", seconds(value));
    drawing.add(MEDIAN, cells, dots, text);
    drawing
}

fn memory(cells: &[PlotCell]) -> Drawing {
    const MIB: f64 = 1_048_576.0;
    let mut drawing = Drawing::new(cells, Axis::new().range_mode(RangeMode::ToZero));
    for (row, cell) in cells.iter().enumerate() {
        let least = cell.pss.iter().copied().fold(f64::MAX, f64::min);
        let most = cell.pss.iter().copied().fold(0.0, f64::max);
        drawing.plot.add_trace(
            Scatter::new(vec![least / MIB, most / MIB], vec![place(row); 2])
                .mode(Mode::Lines)
                .hover_info(HoverInfo::Skip)
                .line(Line::new().color(GREY).width(1.0)),
        );
    }
    for (index, series) in MEMORY.into_iter().enumerate() {
        let dots = cells.iter().map(|cell| {
            let value = cell.pss[index] / MIB;
            Some(Dot { value, ends: None })
        });
        let text = |mib: f64| format!("{} {}", series.name, bytes(mib * MIB));
        drawing.add(series, cells, dots, text);
    }
    drawing
}

impl Drawing {
    fn new(cells: &[PlotCell], x_axis: Axis) -> Self {
        Self {
            plot: frame(cells, x_axis),
            legend: Vec::new(),
        }
    }

    /// Adds one series: for each stack a dot with its interval, or nothing.
    fn add(
        &mut self,
        series: Series,
        cells: &[PlotCell],
        dots: impl Iterator<Item = Option<Dot>>,
        text: impl Fn(f64) -> String,
    ) {
        let (mut x, mut y, mut hover, mut above, mut below) =
            (vec![], vec![], vec![], vec![], vec![]);
        for (row, (cell, dot)) in cells.iter().zip(dots).enumerate() {
            let Some(dot) = dot else { continue };
            let (low, high) = dot.ends.unwrap_or((dot.value, dot.value));
            let interval = dot
                .ends
                .map(|(low, high)| format!(" ({} to {})", text(low), text(high)));
            x.push(dot.value);
            y.push(place(row));
            above.push(high - dot.value);
            below.push(dot.value - low);
            let line = format!(
                "{}: {}{}",
                cell.target,
                text(dot.value),
                interval.unwrap_or_default()
            );
            hover.push(label(&line));
        }
        if x.is_empty() {
            return;
        }
        let has_intervals = above.iter().chain(&below).any(|arm| *arm > 0.0);
        let error = ErrorData::new(ErrorType::Data)
            .array(above)
            .array_minus(below)
            .symmetric(false)
            .color(series.colour)
            .thickness(1.5)
            .width(6);
        let marker = Marker::new()
            .symbol(series.symbol.marker())
            .size(9)
            .color(series.colour);
        let trace = Scatter::new(x, y)
            .name(series.name)
            .mode(Mode::Markers)
            .hover_info(HoverInfo::Text)
            .hover_text_array(hover)
            .marker(marker);
        self.plot.add_trace(if has_intervals {
            trace.error_x(error)
        } else {
            trace
        });
        self.legend.push(series);
    }
}

/// Where a row stands on the vertical axis: the first one on top.
fn place(row: usize) -> f64 {
    -(row as f64)
}

/// An empty plot with a row for each stack. Text and grid take their colours from the page's style.
fn frame(cells: &[PlotCell], x_axis: Axis) -> Plot {
    let rows: Vec<f64> = (0..cells.len()).map(place).collect();
    let names = cells.iter().enumerate().map(|(row, cell)| {
        Annotation::new()
            .text(label(&cell.target))
            .x_ref("paper")
            .x(0.0)
            .x_anchor(Anchor::Left)
            .y(place(row))
            .y_shift(15.0)
            .show_arrow(false)
    });
    let y_axis = Axis::new()
        .range(AxisRange::new(place(cells.len()) + 0.5, 0.8))
        .tick_values(rows)
        .show_tick_labels(false)
        .show_grid(true)
        .zero_line(false)
        .fixed_range(true);
    let layout = Layout::new()
        .auto_size(true)
        .height(height(cells.len()))
        .margin(
            Margin::new()
                .left(8)
                .right(16)
                .top(TOP_PX)
                .bottom(BOTTOM_PX),
        )
        .paper_background_color(CLEAR)
        .plot_background_color(CLEAR)
        .font(font())
        .hover_mode(HoverMode::Closest)
        .show_legend(false)
        .annotations(names.collect())
        .x_axis(
            x_axis
                .fixed_range(true)
                .zero_line(true)
                .show_grid(true)
                .grid_color(GRID),
        )
        .y_axis(y_axis);
    let mut plot = Plot::new();
    plot.set_layout(layout);
    plot.set_configuration(configuration());
    plot
}
