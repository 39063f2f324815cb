//! Draws the model into a buffer of any size. The smallest one has the most important rows.

use std::time::Duration;

use deadheat_model::LoadPhase;
use ratatui::{buffer::Buffer, layout::Rect, style::Color, text::Line, widgets::Widget};

use super::{
    model::{Model, Point},
    plot::{Plot, PlotSegment, Scale, Trace},
    rows::{Palette, failed, progress, rates, table, target, traffic},
};

/// The most rows of the view. In a higher terminal, earlier output stays visible above it.
pub(super) const MAX_ROWS: u16 = 30;

/// The fewest columns for a useful plot.
const PLOT_COLUMNS: u16 = 46;

/// The fewest and most rows of a plot.
const RATE_ROWS: (u16, u16) = (4, 10);
const LATENCY_ROWS: (u16, u16) = (5, 14);

/// A part of the view: one or more rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Target,
    Progress,
    Rates,
    RatePlot,
    Table,
    LatencyPlot,
    Traffic,
    Failed,
}

impl Part {
    /// From top to bottom.
    const SHOWN: [Part; 8] = [
        Part::Target,
        Part::Progress,
        Part::Rates,
        Part::RatePlot,
        Part::Table,
        Part::LatencyPlot,
        Part::Traffic,
        Part::Failed,
    ];
    /// By importance: a small terminal shows the first parts only.
    const NEEDED: [Part; 8] = [
        Part::Progress,
        Part::Rates,
        Part::Failed,
        Part::Table,
        Part::Target,
        Part::Traffic,
        Part::LatencyPlot,
        Part::RatePlot,
    ];

    /// The fewest and most rows of the part.
    fn rows(self, open: bool) -> (u16, u16) {
        match self {
            Part::Table if open => (5, 5),
            Part::Table => (3, 3),
            Part::RatePlot => RATE_ROWS,
            Part::LatencyPlot => LATENCY_ROWS,
            _ => (1, 1),
        }
    }
}

/// Draws the model.
pub(super) fn render(model: &Model, palette: Palette, area: Rect, buffer: &mut Buffer) {
    for (part, part_area) in lay_out(model.open, area) {
        match part {
            Part::RatePlot => rate_plot(model, palette, part_area, buffer),
            Part::LatencyPlot => latency_plot(model, palette, part_area, buffer),
            Part::Table => {
                for (row, line) in part_area.rows().zip(table(model, part_area.width)) {
                    put(line, row, buffer);
                }
            }
            Part::Target => put(target(model, part_area.width), part_area, buffer),
            Part::Progress => put(progress(model, palette, part_area.width), part_area, buffer),
            Part::Rates => put(rates(model, palette, part_area.width), part_area, buffer),
            Part::Traffic => put(traffic(model, part_area.width), part_area, buffer),
            Part::Failed => put(failed(model, palette, part_area.width), part_area, buffer),
        }
    }
}

fn put(line: Line<'_>, area: Rect, buffer: &mut Buffer) {
    buffer.set_line(area.x, area.y, &line, area.width);
}

/// The parts for which there is room, with their areas.
fn lay_out(open: bool, area: Rect) -> Vec<(Part, Rect)> {
    // One column stays free on each side. The cursor rests in the first one.
    let (x, width) = (area.x + 1, area.width.saturating_sub(2));
    let mut left = area.height;
    let mut chosen: Vec<(Part, u16)> = Vec::new();
    for part in Part::NEEDED {
        let (fewest, _) = part.rows(open);
        let is_plot = matches!(part, Part::RatePlot | Part::LatencyPlot);
        if fewest <= left && (!is_plot || width >= PLOT_COLUMNS) {
            chosen.push((part, fewest));
            left -= fewest;
        }
    }
    // The remaining rows go to the plots in turn.
    while left > 0 {
        let before = left;
        for (part, rows) in &mut chosen {
            if left > 0 && *rows < part.rows(open).1 {
                *rows += 1;
                left -= 1;
            }
        }
        if left == before {
            break;
        }
    }
    let mut y = area.y;
    let mut places = Vec::new();
    for part in Part::SHOWN {
        if let Some((_, height)) = chosen.iter().find(|(one, _)| *one == part) {
            let height = *height;
            places.push((
                part,
                Rect {
                    x,
                    y,
                    width,
                    height,
                },
            ));
            y += height;
        }
    }
    places
}

/// The time span of the plots: the planned length, so that they fill up, or else the elapsed time.
fn shown_length(model: &Model) -> Duration {
    let planned = model.planned_length().unwrap_or_default();
    planned.max(model.elapsed).max(Duration::from_millis(1))
}

fn mark(model: &Model) -> Option<Duration> {
    (!model.warm_up.is_zero() && model.warm_up < shown_length(model)).then_some(model.warm_up)
}

fn trace(
    model: &Model,
    label: &'static str,
    colour: Color,
    value: impl Fn(&Point) -> Option<f64>,
) -> Trace {
    let steps = model.series.points().iter().map(|point| PlotSegment {
        from: point.from.as_secs_f64(),
        until: point.until.as_secs_f64(),
        value: value(point),
        counts: point.phase == LoadPhase::Measurement,
    });
    Trace {
        label,
        colour,
        steps: steps.collect(),
    }
}

fn values(traces: &[Trace]) -> impl Iterator<Item = f64> {
    let steps = traces.iter().flat_map(|trace| &trace.steps);
    steps.filter_map(|step| step.value)
}

fn rate_plot(model: &Model, palette: Palette, area: Rect, buffer: &mut Buffer) {
    // No requests are sent in the drain, so its rates would appear to fall.
    let counts = |point: &Point| point.phase != LoadPhase::Drain;
    let mut traces = Vec::new();
    if model.open {
        let offered = |point: &Point| counts(point).then(|| point.offered());
        let colour = palette.pick(Color::Yellow);
        traces.push(trace(model, "offered", colour, offered));
    }
    if model.series.points().iter().any(|one| one.failing() > 0.0) {
        let colour = palette.pick(Color::Red);
        let failing = |point: &Point| Some(point.failing());
        traces.push(trace(model, "failed", colour, failing));
    }
    let colour = palette.pick(Color::Green);
    let answers = |point: &Point| counts(point).then(|| point.throughput());
    traces.push(trace(model, "answers", colour, answers));
    let scale = Scale::rates(values(&traces));
    plot(model, palette, scale, &traces).render(area, buffer);
}

fn latency_plot(model: &Model, palette: Palette, area: Rect, buffer: &mut Buffer) {
    let at = |quantile: f64| {
        move |point: &Point| {
            let found = point.latencies.quantile(quantile);
            found.map(|latency| latency.as_secs_f64())
        }
    };
    let max = |point: &Point| point.latencies.max().map(|latency| latency.as_secs_f64());
    let traces = [
        trace(model, "max", palette.pick(Color::Red), max),
        trace(model, "p99", palette.pick(Color::Magenta), at(0.99)),
        trace(model, "p90", palette.pick(Color::Yellow), at(0.9)),
        trace(model, "p50", palette.pick(Color::Green), at(0.5)),
    ];
    let scale = Scale::seconds(values(&traces));
    plot(model, palette, scale, &traces).render(area, buffer);
}

fn plot<'a>(model: &Model, palette: Palette, scale: Scale, traces: &'a [Trace]) -> Plot<'a> {
    Plot {
        scale,
        traces,
        length: shown_length(model),
        mark: mark(model),
        faint: palette.pick(Color::DarkGray),
    }
}
