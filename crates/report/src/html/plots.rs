//! The plots of a load point: dots with intervals, never bare bars. Each plot's figures stand in a table, too.

use std::borrow::Cow;

use plotly::{
    Plot, Scatter,
    common::{Anchor, DashType, HoverInfo, Line, Marker, MarkerSymbol, Mode},
    layout::{Annotation, Axis, AxisRange, Margin, RangeMode, Shape, ShapeLine, ShapeType},
};
use serde::Serialize;

use super::dots::{arms, between, reaches};
use super::plotting::{
    BLUE, GREY, GRID, ORANGE, PURPLE, configuration, in_script, latency_axis, layout, shortened,
};
use crate::{
    ReportError,
    figure::{bytes, figure, seconds},
    view::{Dot, GroupView, PlotCell, Section},
};

/// The height of one stack's row: its name stands above its dots, so that a long name takes no width.
const ROW_PX: usize = 44;
/// What of a name fits over a plot on a narrow phone.
const NAME_COLUMNS: usize = 41;
const TOP_PX: usize = 6;
const BOTTOM_PX: usize = 34;
/// The most ticks of an axis of latencies.
pub(super) const MOST_TICKS: usize = 7;

/// A plot for the template.
#[derive(Serialize)]
pub struct PlotView {
    title: String,
    label: String,
    /// What it is of, for who sees it alone.
    of: String,
    height: usize,
    legend: Vec<Series>,
    /// Escaped for a script element.
    json: String,
}

/// One series of a plot. The page writes the legend, because plotly's takes its height from the rows.
#[derive(Clone, Serialize)]
pub(super) struct Series {
    pub(super) name: Cow<'static, str>,
    pub(super) glyph: char,
    pub(super) colour: &'static str,
    #[serde(skip)]
    pub(super) symbol: Symbol,
}

#[derive(Clone, Copy)]
pub(super) enum Symbol {
    Circle,
    OpenCircle,
    Diamond,
    Square,
    Up,
    Right,
    Tick,
    Line,
    Bracket,
    OpenDiamond,
    Down,
    Cross,
    Bar,
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
            Symbol::Line => '┆',
            Symbol::Bracket => ']',
            Symbol::OpenDiamond => '◇',
            Symbol::Down => '▼',
            Symbol::Cross => '✕',
            Symbol::Bar => '━',
        }
    }

    pub(super) const fn marker(self) -> MarkerSymbol {
        match self {
            Symbol::Circle => MarkerSymbol::Circle,
            Symbol::OpenCircle => MarkerSymbol::CircleOpen,
            Symbol::Diamond => MarkerSymbol::Diamond,
            Symbol::Square => MarkerSymbol::Square,
            Symbol::Up => MarkerSymbol::TriangleUp,
            Symbol::Right => MarkerSymbol::TriangleRight,
            Symbol::Tick | Symbol::Line | Symbol::Bracket => MarkerSymbol::LineNSOpen,
            Symbol::OpenDiamond => MarkerSymbol::DiamondOpen,
            Symbol::Down => MarkerSymbol::TriangleDown,
            Symbol::Cross => MarkerSymbol::X,
            Symbol::Bar => MarkerSymbol::LineEWOpen,
        }
    }
}

pub(super) const fn series(name: &'static str, symbol: Symbol, colour: &'static str) -> Series {
    Series {
        name: Cow::Borrowed(name),
        glyph: symbol.glyph(),
        colour,
        symbol,
    }
}

const TRIAL: Series = series("each trial", Symbol::Tick, GREY);
pub(super) const MEDIAN: Series = series("median with its interval", Symbol::Circle, BLUE);
const LOWER_BOUND: Series = series("lower bound (generator-limited)", Symbol::Right, ORANGE);
const CEILING: Series = series("ceiling (null server)", Symbol::Line, PURPLE);
/// Its name is that of the group.
const DEAD_HEAT: Series = series("", Symbol::Bracket, PURPLE);
/// How far the arms of a dead heat's bracket reach, as a share of the plot's width.
const BRACKET: f64 = 0.02;
/// The ceiling stands in the plot if it is no more than so many times the highest throughput.
const CEILING_SHOWN: f64 = 3.0;
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

/// A plot under construction with its title, its legend and the stacks that have a row in it, if it has rows.
pub(super) struct Drawing {
    pub(super) title: String,
    pub(super) kind: &'static str,
    pub(super) height: usize,
    pub(super) names: Vec<String>,
    pub(super) plot: Plot,
    pub(super) legend: Vec<Series>,
}

/// The plots of a section; none when there is nothing to show.
pub fn of_section(section: &Section) -> Result<Vec<PlotView>, ReportError> {
    let drawings = match section {
        Section::Capacity(group) => of_group(group),
        Section::Latency(latency) => super::latency_plots::of_latency(latency),
    };
    let drawings = drawings.into_iter();
    drawings
        .map(|drawing| drawing.finished(section.title()))
        .collect()
}

fn of_group(group: &GroupView) -> Vec<Drawing> {
    let cells = &group.plot[..];
    if cells.is_empty() {
        return Vec::new();
    }
    let mut plots = vec![throughput(group)];
    if cells.iter().any(|cell| !cell.times.is_empty()) {
        let title = "Service time, closed loop (logarithmic scale)";
        plots.push(percentiles(title.to_owned(), cells));
    }
    if cells.iter().any(|cell| cell.cpu.is_some()) {
        plots.push(cpu(cells));
    }
    plots.push(memory(cells));
    plots.extend(super::scatter::of_group(group));
    plots.extend(super::nines::of_group(group));
    plots
}

const fn height(rows: usize) -> usize {
    TOP_PX + rows * ROW_PX + BOTTOM_PX
}

/// Text for plotly, which reads some HTML in labels.
pub(super) fn label(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

fn names(cells: &[PlotCell]) -> Vec<String> {
    cells.iter().map(|cell| cell.target.clone()).collect()
}

fn throughput(group: &GroupView) -> Drawing {
    let (cells, ceiling) = (&group.plot, group.ceiling_dot);
    let most = cells.iter().map(|cell| cell.throughput.value);
    let most = most.fold(0.0, f64::max);
    let ceiling = ceiling.map(|dot| (dot, dot.value <= CEILING_SHOWN * most));
    let axis = Axis::new().range_mode(RangeMode::ToZero).tick_format("~s");
    let axis = match ceiling {
        // plotly leaves no room beside a line, and all else is to the left of it, or nearly.
        Some((dot, true)) => axis.range(AxisRange::new(0.0, 1.06 * dot.value.max(most))),
        _ => axis,
    };
    let title = "Throughput, requests per second";
    let mut drawing = Drawing::new(title.to_owned(), names(cells), axis);
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
        drawing.add(&series, dots, text);
    }
    drawing.legend.push(TRIAL);
    drawing.heats(group);
    if let Some((ceiling, is_shown)) = ceiling {
        drawing.ceiling(ceiling, is_shown);
    }
    drawing
}

/// Percentiles of a time.
pub(super) fn percentiles(title: String, cells: &[PlotCell]) -> Drawing {
    let dots = cells.iter().flat_map(|cell| &cell.times);
    let values = reaches(dots.map(|(_, dot)| dot));
    let axis = latency_axis(values.iter().copied(), MOST_TICKS);
    let mut drawing = Drawing::new(title, names(cells), axis);
    for (percent, series) in PERCENTILES {
        let dots = cells.iter().map(|cell| {
            let mut all = cell.times.iter();
            all.find(|(other, _)| *other == percent)
                .map(|(_, dot)| *dot)
        });
        let text = |value: f64| format!("{} {}", series.name, seconds(value));
        drawing.add(&series, dots, text);
    }
    drawing
}

/// One time of each stack at several rates.
pub(super) fn at_rates(
    title: String,
    names: Vec<String>,
    rates: &[(String, Vec<Option<Dot>>)],
) -> Drawing {
    let dots = rates.iter().flat_map(|(_, dots)| dots.iter().flatten());
    let values = reaches(dots);
    let axis = latency_axis(values.iter().copied(), MOST_TICKS);
    let mut drawing = Drawing::new(title, names, axis);
    for ((rate, dots), (_, look)) in rates.iter().zip(PERCENTILES.iter().cycle()) {
        let series = Series {
            name: rate.clone().into(),
            ..look.clone()
        };
        let text = |value: f64| format!("{rate}: {}", seconds(value));
        drawing.add(&series, dots.iter().copied(), text);
    }
    drawing
}

fn cpu(cells: &[PlotCell]) -> Drawing {
    let axis = Axis::new()
        .range_mode(RangeMode::ToZero)
        .tick_format("~s")
        .tick_suffix("s");
    let title = "CPU time per request";
    let mut drawing = Drawing::new(title.to_owned(), names(cells), axis);
    let dots = cells
        .iter()
        .map(|cell| cell.cpu.map(|cpu| cpu.scaled(1e-6)));
    let text = |value: f64| format!("{} of CPU per request", seconds(value));
    drawing.add(&MEDIAN, dots, text);
    drawing
}

fn memory(cells: &[PlotCell]) -> Drawing {
    const MIB: f64 = 1_048_576.0;
    let title = "Memory (PSS), MiB";
    let axis = Axis::new().range_mode(RangeMode::ToZero);
    let mut drawing = Drawing::new(title.to_owned(), names(cells), axis);
    drawing.reach(cells.iter().map(|cell| {
        let sizes = || cell.pss.iter().flatten().map(|dot| dot.value / MIB);
        Some((sizes().reduce(f64::min)?, sizes().reduce(f64::max)?))
    }));
    for (index, series) in MEMORY.into_iter().enumerate() {
        let dots = cells.iter().map(|cell| {
            // Its interval, too: a size without one says nothing of another run.
            Some(cell.pss[index]?.scaled(1.0 / MIB))
        });
        let text = |mib: f64| format!("{} {}", series.name, bytes(mib * MIB));
        drawing.add(&series, dots, text);
    }
    drawing
}

impl Drawing {
    /// For the template; `of` says what it is of.
    pub(super) fn finished(self, of: &str) -> Result<PlotView, ReportError> {
        Ok(PlotView {
            label: format!(
                "{}, {of}: a {}. Its figures are in the tables.",
                self.title, self.kind
            ),
            title: self.title,
            of: of.to_owned(),
            height: self.height,
            legend: self.legend,
            json: in_script(&serde_json::to_string(&self.plot)?),
        })
    }

    pub(super) fn new(title: String, names: Vec<String>, x_axis: Axis) -> Self {
        Self {
            plot: frame(&names, x_axis),
            title,
            kind: "dot plot",
            height: height(names.len()),
            names,
            legend: Vec::new(),
        }
    }

    /// A line at what the null server reached, and its figure in the legend; the figure alone where the line would press
    /// the stacks together.
    fn ceiling(&mut self, ceiling: Dot, is_shown: bool) {
        let beyond = if is_shown { "" } else { ", beyond the axis" };
        let name = format!(
            "ceiling (null server), {} requests/s{beyond}",
            figure(ceiling.value)
        );
        if is_shown {
            let ends = [0.8, place(self.names.len()) + 0.5];
            let line = Line::new().color(CEILING.colour).width(1.5);
            self.plot.add_trace(
                Scatter::new(vec![ceiling.value; 2], ends.to_vec())
                    .mode(Mode::Lines)
                    .hover_info(HoverInfo::Skip)
                    .line(line.dash(DashType::Dash)),
            );
        }
        self.legend.push(Series {
            name: name.into(),
            ..CEILING
        });
    }

    /// A bracket at the right edge for each dead heat, with an arm for each of its stacks. Brackets that would overlap stand
    /// side by side.
    pub(super) fn heats(&mut self, group: &GroupView) {
        let mut edges: Vec<usize> = Vec::new();
        let mut shapes = Vec::new();
        for heat in &group.heats {
            let (Some(first), Some(last)) = (heat.iter().min(), heat.iter().max()) else {
                continue;
            };
            let free = edges.iter().position(|edge| edge < first);
            let column = free.unwrap_or(edges.len());
            edges.resize(edges.len().max(column + 1), 0);
            edges[column] = *last;
            let edge = 1.0 - 1.5 * BRACKET * column as f64;
            shapes.push(bracket([edge, edge], [place(*first), place(*last)]));
            let arms = heat.iter().map(|row| place(*row));
            shapes.extend(arms.map(|row| bracket([edge - BRACKET, edge], [row, row])));
        }
        if !shapes.is_empty() {
            let layout = self.plot.layout().clone();
            self.plot.set_layout(layout.shapes(shapes));
            self.legend.push(Series {
                name: group.heat_name.into(),
                ..DEAD_HEAT
            });
        }
    }

    /// A thin line in each row that has ends.
    pub(super) fn reach(&mut self, ends: impl Iterator<Item = Option<(f64, f64)>>) {
        for (row, ends) in ends.enumerate() {
            let Some((least, most)) = ends else { continue };
            self.plot.add_trace(
                Scatter::new(vec![least, most], vec![place(row); 2])
                    .mode(Mode::Lines)
                    .hover_info(HoverInfo::Skip)
                    .line(Line::new().color(GREY).width(1.0)),
            );
        }
    }

    /// Adds one series: for each stack a dot with its interval, or nothing.
    pub(super) fn add(
        &mut self,
        series: &Series,
        dots: impl Iterator<Item = Option<Dot>>,
        text: impl Fn(f64) -> String,
    ) {
        let (mut rows, mut found, mut hover) = (vec![], vec![], vec![]);
        for (row, (name, dot)) in self.names.iter().zip(dots).enumerate() {
            let Some(dot) = dot else { continue };
            rows.push(place(row));
            found.push(dot);
            hover.push(label(&format!("{name}: {}", between(dot, &text))));
        }
        if found.is_empty() {
            return;
        }
        let marker = Marker::new()
            .symbol(series.symbol.marker())
            .size(9)
            .color(series.colour);
        let values: Vec<f64> = found.iter().map(|dot| dot.value).collect();
        let trace = Scatter::new(values, rows)
            .name(&*series.name)
            .mode(Mode::Markers)
            .hover_info(HoverInfo::Text)
            .hover_text_array(hover)
            .marker(marker);
        self.plot.add_trace(match arms(series.colour, 1.5, &found) {
            Some(arms) => trace.error_x(arms),
            None => trace,
        });
        self.legend.push(series.clone());
    }
}

/// A line of a bracket: its ends across as shares of the plot's width, and down as places of rows.
fn bracket([x0, x1]: [f64; 2], [y0, y1]: [f64; 2]) -> Shape {
    Shape::new()
        .shape_type(ShapeType::Line)
        .x_ref("paper")
        .y_ref("y")
        .x0(x0)
        .x1(x1)
        .y0(y0)
        .y1(y1)
        .line(ShapeLine::new().color(DEAD_HEAT.colour).width(2.0))
}

/// Where a row stands on the vertical axis: the first one on top.
fn place(row: usize) -> f64 {
    -(row as f64)
}

/// An empty plot with a row for each stack. Text and grid take their colours from the page's style.
fn frame(names: &[String], x_axis: Axis) -> Plot {
    let rows: Vec<f64> = (0..names.len()).map(place).collect();
    let annotations = names.iter().enumerate().map(|(row, name)| {
        Annotation::new()
            .text(label(&shortened(name, NAME_COLUMNS)))
            .x_ref("paper")
            .x(0.0)
            .x_anchor(Anchor::Left)
            .y(place(row))
            .y_shift(15.0)
            .show_arrow(false)
    });
    let y_axis = Axis::new()
        .range(AxisRange::new(place(names.len()) + 0.5, 0.8))
        .tick_values(rows)
        .show_tick_labels(false)
        .show_grid(true)
        .zero_line(false)
        .fixed_range(true);
    let margin = Margin::new()
        .left(8)
        .right(16)
        .top(TOP_PX)
        .bottom(BOTTOM_PX);
    let layout = layout()
        .height(height(names.len()))
        .margin(margin)
        .annotations(annotations.collect())
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
