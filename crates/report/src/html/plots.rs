//! The plots of a load point: dots with intervals, never bare bars. Each plot's figures stand in a table, too.

use plotly::{
    Configuration, Layout, Plot, Scatter,
    common::{
        Anchor, ErrorData, ErrorType, Font, HoverInfo, Line, Marker, MarkerSymbol, Mode,
        Orientation,
    },
    configuration::DisplayModeBar,
    layout::{Annotation, Axis, AxisRange, AxisType, HoverMode, Legend, Margin, RangeMode},
};
use serde::Serialize;

use crate::{
    ReportError,
    figure::{bytes, figure, seconds},
    view::{Dot, GroupView, PlotCell},
};

/// The height of one stack's row: its name stands above its dots, so that a long name takes no width.
const ROW_PX: usize = 40;
const TOP_PX: usize = 34;
const BOTTOM_PX: usize = 34;

// Told apart by shape and by lightness, and with 3:1 contrast on the page's light and dark ground. Hues after
// Okabe & Ito, "Color universal design" (2008).
const BLUE: &str = "#2f86c8";
const ORANGE: &str = "#c9741a";
const PURPLE: &str = "#a765a3";
const GREY: &str = "#84888c";

/// A plot for the template.
#[derive(Serialize)]
pub struct PlotView {
    title: &'static str,
    label: String,
    height: usize,
    /// Escaped for a script element.
    json: String,
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
            "Service time, closed loop (logarithmic)",
            service_time(cells),
        ));
    }
    if cells.iter().any(|cell| cell.cpu.is_some()) {
        plots.push(("CPU time per request", cpu(cells)));
    }
    plots.push(("Memory (PSS), MiB", memory(cells)));
    let view = |(title, plot): (&'static str, Plot)| {
        Ok(PlotView {
            title,
            label: format!(
                "{title}, {}: a dot plot. Its figures are in the tables.",
                group.title
            ),
            height: height(cells.len()),
            json: in_script(&serde_json::to_string(&plot)?),
        })
    };
    plots.into_iter().map(view).collect()
}

const fn height(rows: usize) -> usize {
    TOP_PX + rows * ROW_PX + BOTTOM_PX
}

/// JSON that cannot end the script element it stands in.
fn in_script(json: &str) -> String {
    json.replace('<', "\\u003c")
        .replace('>', "\\u003e")
        .replace('&', "\\u0026")
}

/// Text for plotly, which reads some HTML in labels.
fn label(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

fn throughput(cells: &[PlotCell]) -> Plot {
    let mut plot = frame(
        cells,
        Axis::new().range_mode(RangeMode::ToZero).tick_format("~s"),
    );
    let trials = cells
        .iter()
        .enumerate()
        .flat_map(|(row, cell)| cell.trials.iter().map(move |rate| (*rate, row)));
    let (rates, rows): (Vec<f64>, Vec<usize>) = trials.unzip();
    plot.add_trace(
        Scatter::new(rates, rows.into_iter().map(place).collect())
            .name("each trial")
            .mode(Mode::Markers)
            .hover_info(HoverInfo::Skip)
            .marker(
                Marker::new()
                    .symbol(MarkerSymbol::CircleOpen)
                    .size(7)
                    .color(GREY),
            ),
    );
    for (lower_bound, name, symbol) in [
        (false, "median and interval", MarkerSymbol::Circle),
        (
            true,
            "lower bound: generator-limited",
            MarkerSymbol::TriangleRight,
        ),
    ] {
        let dots = cells
            .iter()
            .enumerate()
            .filter(|(_, cell)| cell.lower_bound == lower_bound);
        let dots = dots.map(|(row, cell)| (row, &cell.target, cell.throughput));
        let more = if lower_bound { "at least " } else { "" };
        let text = |value: f64| format!("{more}{} requests/s", figure(value));
        add_dots(
            &mut plot,
            name,
            symbol,
            if lower_bound { ORANGE } else { BLUE },
            dots,
            text,
        );
    }
    plot
}

fn service_time(cells: &[PlotCell]) -> Plot {
    let axis = Axis::new()
        .type_(AxisType::Log)
        .tick_format("~s")
        .tick_suffix("s")
        .n_ticks(6);
    let mut plot = frame(cells, axis);
    let series = [
        (50.0, "p50", MarkerSymbol::Circle, BLUE),
        (90.0, "p90", MarkerSymbol::DiamondOpen, GREY),
        (99.0, "p99", MarkerSymbol::Square, ORANGE),
        (99.9, "p99.9", MarkerSymbol::TriangleUpOpen, PURPLE),
    ];
    for (percent, name, symbol, colour) in series {
        let dots = cells.iter().enumerate().filter_map(|(row, cell)| {
            let mut all = cell.service_time.iter();
            let (_, dot) = all.find(|(other, _)| *other == percent)?;
            Some((row, &cell.target, *dot))
        });
        add_dots(&mut plot, name, symbol, colour, dots, |value| {
            format!("{name} {}", seconds(value))
        });
    }
    plot
}

fn cpu(cells: &[PlotCell]) -> Plot {
    let axis = Axis::new()
        .range_mode(RangeMode::ToZero)
        .tick_format("~s")
        .tick_suffix("s");
    let mut plot = frame(cells, axis);
    let in_seconds = |dot: Dot| Dot {
        value: dot.value / 1e6,
        ends: dot.ends.map(|(low, high)| (low / 1e6, high / 1e6)),
    };
    let dots = cells
        .iter()
        .enumerate()
        .filter_map(|(row, cell)| Some((row, &cell.target, in_seconds(cell.cpu?))));
    let text = |value: f64| format!("{} of CPU per request", seconds(value));
    add_dots(
        &mut plot,
        "median and interval",
        MarkerSymbol::Circle,
        BLUE,
        dots,
        text,
    );
    plot
}

fn memory(cells: &[PlotCell]) -> Plot {
    const MIB: f64 = 1_048_576.0;
    let mut plot = frame(cells, Axis::new().range_mode(RangeMode::ToZero));
    for (row, cell) in cells.iter().enumerate() {
        let (least, most) = cell
            .pss
            .iter()
            .fold((f64::MAX, 0.0_f64), |(least, most), pss| {
                (least.min(*pss), most.max(*pss))
            });
        plot.add_trace(
            Scatter::new(vec![least / MIB, most / MIB], vec![place(row), place(row)])
                .mode(Mode::Lines)
                .show_legend(false)
                .hover_info(HoverInfo::Skip)
                .line(Line::new().color(GREY).width(1.0)),
        );
    }
    let series = [
        ("idle", MarkerSymbol::CircleOpen, GREY),
        ("mean", MarkerSymbol::Circle, BLUE),
        ("peak", MarkerSymbol::Square, ORANGE),
    ];
    for (index, (name, symbol, colour)) in series.into_iter().enumerate() {
        let dots = cells.iter().enumerate().map(|(row, cell)| {
            let dot = Dot {
                value: cell.pss[index] / MIB,
                ends: None,
            };
            (row, &cell.target, dot)
        });
        add_dots(&mut plot, name, symbol, colour, dots, |mib| {
            format!("{name} {}", bytes(mib * MIB))
        });
    }
    plot
}

/// Adds one series: a dot per stack with its interval.
fn add_dots<'a>(
    plot: &mut Plot,
    name: &str,
    symbol: MarkerSymbol,
    colour: &'static str,
    dots: impl Iterator<Item = (usize, &'a String, Dot)>,
    text: impl Fn(f64) -> String,
) {
    let (mut x, mut y, mut hover, mut above, mut below) = (vec![], vec![], vec![], vec![], vec![]);
    for (row, target, dot) in dots {
        let (low, high) = dot.ends.unwrap_or((dot.value, dot.value));
        let interval = dot
            .ends
            .map(|(low, high)| format!(" ({} to {})", text(low), text(high)));
        x.push(dot.value);
        y.push(place(row));
        above.push(high - dot.value);
        below.push(dot.value - low);
        hover.push(label(&format!(
            "{target}: {}{}",
            text(dot.value),
            interval.unwrap_or_default()
        )));
    }
    if x.is_empty() {
        return;
    }
    let error = ErrorData::new(ErrorType::Data)
        .array(above)
        .array_minus(below)
        .symmetric(false)
        .color(colour)
        .thickness(1.5)
        .width(4);
    plot.add_trace(
        Scatter::new(x, y)
            .name(name)
            .mode(Mode::Markers)
            .hover_info(HoverInfo::Text)
            .hover_text_array(hover)
            .error_x(error)
            .marker(Marker::new().symbol(symbol).size(10).color(colour)),
    );
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
            .y_shift(14.0)
            .show_arrow(false)
    });
    let y_axis = Axis::new()
        .range(AxisRange::new(place(cells.len()) + 0.5, 0.8))
        .tick_values(rows)
        .show_tick_labels(false)
        .show_grid(true)
        .zero_line(false)
        .fixed_range(true);
    let legend = Legend::new()
        .orientation(Orientation::Horizontal)
        .x(0.0)
        .x_anchor(Anchor::Left)
        .y(1.0)
        .y_anchor(Anchor::Bottom);
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
        .paper_background_color("rgba(0,0,0,0)")
        .plot_background_color("rgba(0,0,0,0)")
        .font(
            Font::new()
                .size(12)
                .family("ui-sans-serif, system-ui, sans-serif"),
        )
        .hover_mode(HoverMode::Closest)
        .show_legend(true)
        .legend(legend)
        .annotations(names.collect())
        .x_axis(
            x_axis
                .fixed_range(true)
                .zero_line(true)
                .show_grid(true)
                .grid_color("rgba(128,128,128,0.25)"),
        )
        .y_axis(y_axis);
    let mut plot = Plot::new();
    plot.set_layout(layout);
    plot.set_configuration(
        Configuration::new()
            .responsive(true)
            .display_mode_bar(DisplayModeBar::False)
            .display_logo(false)
            .show_send_to_cloud(false),
    );
    plot
}
