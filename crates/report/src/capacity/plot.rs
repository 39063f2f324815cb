//! The figure of each condition over the rate, with the interval shaded.

use deadheat_model::capacity::{CapacityRecord, Condition, LookOutcome, Unit};
use deadheat_stats::capacity::{CapacityAnalysis, Outcome};
use plotly::{
    Layout, Plot, Scatter,
    common::{DashType, HoverInfo, Line, Marker, MarkerSymbol, Mode},
    layout::{
        Axis, AxisType, HoverMode, Margin, RangeMode, Shape, ShapeLayer, ShapeLine, ShapeType,
        TicksDirection,
    },
};

use super::sentences::shown;
use crate::{
    document::{self, LegendEntry},
    figure::figure,
    html::plotting::{
        BLUE, CLEAR, GREY, GRID, ORANGE, RED, configuration, font, in_script, latency_axis,
    },
    view::clean,
};

const HEIGHT_PX: usize = 320;
/// The most ticks of an axis of times.
const MOST_TICKS: usize = 9;
/// The interval's ground.
const SHADE: &str = "rgba(47,134,200,0.18)";

/// How looks of each outcome are drawn.
const MARKS: [(LookOutcome, LegendEntry, MarkerSymbol); 3] = [
    (
        LookOutcome::Held,
        LegendEntry {
            name: "● holds",
            stroke: "none",
            colour: BLUE,
        },
        MarkerSymbol::Circle,
    ),
    (
        LookOutcome::Failed,
        LegendEntry {
            name: "✕ does not hold",
            stroke: "none",
            colour: RED,
        },
        MarkerSymbol::X,
    ),
    (
        LookOutcome::Discarded,
        LegendEntry {
            name: "◇ discarded",
            stroke: "none",
            colour: GREY,
        },
        MarkerSymbol::DiamondOpen,
    ),
];

/// A plot for each condition that has figures.
pub(super) fn plots(record: &CapacityRecord, analysis: &CapacityAnalysis) -> Vec<document::Plot> {
    let is_known = |index: usize| {
        let mut looks = record.looks.iter();
        looks.any(|look| look.values.get(index).is_some_and(Option::is_some))
    };
    let conditions = record.conditions.iter().enumerate();
    conditions
        .filter(|(index, _)| is_known(*index))
        .map(|(index, condition)| plot(record, analysis, index, condition))
        .collect()
}

fn plot(
    record: &CapacityRecord,
    analysis: &CapacityAnalysis,
    index: usize,
    condition: &Condition,
) -> document::Plot {
    let mut plot = Plot::new();
    plot.set_configuration(configuration());
    let mut legend = Vec::new();
    let mut all = vec![condition.bound];
    for (outcome, series, symbol) in MARKS {
        let looks = record.looks.iter().filter(|look| look.outcome == outcome);
        let points =
            looks.filter_map(|look| Some((look.per_second, *look.values.get(index)?.as_ref()?)));
        let (rates, values): (Vec<f64>, Vec<f64>) = points.unzip();
        if rates.is_empty() {
            continue;
        }
        let hover = rates.iter().zip(&values).map(|(rate, value)| {
            let value = shown(condition, Some(*value));
            format!("{}/s: {} {value}", figure(*rate), condition.figure)
        });
        let hover: Vec<String> = hover.collect();
        all.extend(&values);
        plot.add_trace(
            Scatter::new(rates, values)
                .name(series.name)
                .mode(Mode::Markers)
                .hover_info(HoverInfo::Text)
                .hover_text_array(hover)
                .marker(Marker::new().size(9).color(series.colour).symbol(symbol)),
        );
        legend.push(series);
    }
    let rates = record.looks.iter().map(|look| look.per_second);
    let (least, most) = rates.fold((f64::MAX, 0.0_f64), |(least, most), rate| {
        (least.min(rate), most.max(rate))
    });
    plot.add_trace(
        Scatter::new(vec![least, most], vec![condition.bound; 2])
            .mode(Mode::Lines)
            .hover_info(HoverInfo::Skip)
            .line(Line::new().color(ORANGE).width(2.0).dash(DashType::Dash)),
    );
    legend.push(LegendEntry {
        name: "the bound",
        stroke: "dashed",
        colour: ORANGE,
    });
    let y_axis = match condition.unit {
        Unit::Seconds => latency_axis(all.iter().copied(), MOST_TICKS),
        Unit::Share => Axis::new().range_mode(RangeMode::ToZero).tick_format(".1%"),
        Unit::Count => Axis::new().range_mode(RangeMode::ToZero),
    };
    let rate_axis = Axis::new()
        .type_(AxisType::Log)
        .tick_format("~s")
        .tick_suffix("/s")
        .n_ticks(8);
    let mut layout = Layout::new()
        .auto_size(true)
        .height(HEIGHT_PX)
        .margin(Margin::new().left(48).right(18).top(8).bottom(32))
        .paper_background_color(CLEAR)
        .plot_background_color(CLEAR)
        .font(font())
        .hover_mode(HoverMode::Closest)
        .show_legend(false)
        .x_axis(styled(rate_axis))
        .y_axis(styled(y_axis));
    if let Outcome::Found(found) = &analysis.outcome {
        let shade = Shape::new()
            .shape_type(ShapeType::Rect)
            .layer(ShapeLayer::Below)
            .x_ref("x")
            .x0(found.low)
            .x1(found.high)
            .y_ref("paper")
            .y0(0.0)
            .y1(1.0)
            .fill_color(SHADE)
            .line(ShapeLine::new().width(0.0));
        layout = layout.shapes(vec![shade]);
        legend.push(LegendEntry {
            name: "95 % interval of the highest rate",
            stroke: "area",
            colour: BLUE,
        });
    }
    plot.set_layout(layout);
    let title = clean(&format!("{} at each rate", condition.figure));
    document::Plot {
        label: format!("{title}: a plot of points. The table below has the figures."),
        title,
        subject: clean(&record.url),
        height_px: HEIGHT_PX,
        legend,
        json: in_script(&plot.to_json()),
    }
}

fn styled(axis: Axis) -> Axis {
    axis.fixed_range(true)
        .zero_line(false)
        .show_grid(true)
        .auto_margin(true)
        .grid_color(GRID)
        .ticks(TicksDirection::Outside)
        .tick_length(5)
        .tick_color(CLEAR)
}
