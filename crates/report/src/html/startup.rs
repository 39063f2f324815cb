//! The plots of what a stack takes before it serves.

use plotly::layout::{Axis, RangeMode};

use super::{
    plots::{Drawing, MEDIAN, MOST_TICKS, Series, Symbol, series},
    plotting::{BLUE, GREY, ORANGE, latency_axis},
};
use crate::{
    figure::{bytes, seconds},
    view::{Dot, StartupPlot, StartupView},
};

const MIB: f64 = 1_048_576.0;
const REACH: Series = series("shortest to longest", Symbol::Bar, GREY);
const BUILD: Series = series("one build", Symbol::Diamond, BLUE);
const INCREMENTAL: Series = series("incremental build", Symbol::OpenDiamond, ORANGE);
const SIZE: Series = series("size of what is deployed", Symbol::Square, BLUE);

/// The plots of start-up, build and size.
pub(super) fn of_view(view: &StartupView) -> Vec<Drawing> {
    let stacks = &view.plot[..];
    let starts = stacks.iter().any(|stack| stack.ready.is_some());
    let builds = stacks.iter().any(|stack| stack.build.is_some());
    [
        starts.then(|| ready(stacks)),
        builds.then(|| build(stacks)),
        Some(size(stacks)),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn drawing(title: &str, stacks: &[StartupPlot], axis: Axis) -> Drawing {
    let names = stacks.iter().map(|stack| stack.target.clone());
    Drawing::new(title.to_owned(), names.collect(), axis)
}

fn ready(stacks: &[StartupPlot]) -> Drawing {
    let ends = stacks.iter().filter_map(|stack| stack.range);
    let times: Vec<f64> = ends.flat_map(|(least, most)| [least, most]).collect();
    let axis = latency_axis(times.iter().copied(), MOST_TICKS);
    let title = "Start-up, over all trials that count (logarithmic scale)";
    let mut drawing = drawing(title, stacks, axis);
    drawing.reach(stacks.iter().map(|stack| stack.range));
    let text = |value: f64| format!("first answer after {}", seconds(value));
    drawing.add(&MEDIAN, stacks.iter().map(|stack| stack.ready), text);
    drawing.legend.push(REACH);
    drawing
}

fn build(stacks: &[StartupPlot]) -> Drawing {
    let times: Vec<f64> = stacks.iter().filter_map(|stack| stack.build).collect();
    let axis = latency_axis(times.iter().copied(), MOST_TICKS);
    let title = "Build, a single figure each (logarithmic scale)";
    let mut drawing = drawing(title, stacks, axis);
    for (incremental, series) in [(false, BUILD), (true, INCREMENTAL)] {
        let dots = stacks.iter().map(|stack| {
            let build = stack.build.filter(|_| stack.incremental == incremental);
            build.map(single)
        });
        let text = |value: f64| format!("{}: {}", series.name, seconds(value));
        drawing.add(&series, dots, text);
    }
    drawing
}

fn size(stacks: &[StartupPlot]) -> Drawing {
    let axis = Axis::new().range_mode(RangeMode::ToZero);
    let mut drawing = drawing(
        "Size of what is deployed, MiB, a single figure each",
        stacks,
        axis,
    );
    let text = |mib: f64| format!("{} to deploy", bytes(mib * MIB));
    let dots = stacks.iter().map(|stack| Some(single(stack.size / MIB)));
    drawing.add(&SIZE, dots, text);
    drawing
}

fn single(value: f64) -> Dot {
    Dot { value, ends: None }
}
