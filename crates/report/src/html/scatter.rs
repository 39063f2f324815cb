//! Throughput against what it costs: a point for each stack with both its intervals, and the Pareto frontier.

use std::borrow::Cow;

use plotly::{
    Plot, Scatter,
    common::{DashType, HoverInfo, Line, LineShape, Marker, Mode, Position, Title},
    layout::{Axis, AxisRange},
};
use textwrap::core::display_width;

use super::{
    dots::{arms, between},
    naming::{Named, sides},
    plots::{Drawing, Series, Symbol, label, series},
    plotting::{BLUE, GREY, ORANGE, latency_axis, memory_axis, over_axes, shortened},
};
use crate::{
    figure::{bytes, figure, seconds},
    view::{Cost, Dot, Frontier, GroupView, PlotCell},
};

const HEIGHT_PX: usize = 340;
const FRONTIER: Series = series("on the frontier", Symbol::Circle, BLUE);
const OTHERS: Series = series("others", Symbol::OpenCircle, GREY);
/// The true throughput is above.
const AT_LEAST: Series = series("lower bound (generator-limited)", Symbol::Up, ORANGE);
/// Room above the highest point, for its name.
const ROOM: f64 = 1.12;
/// The same beside the outermost points, as a factor on the logarithmic axis.
const BESIDE: f64 = 1.5;
/// What of a name fits between a point and the plot's middle on a narrow phone.
const NAME_COLUMNS: usize = 23;
const MOST_TICKS: usize = 6;
const MIB: f64 = 1_048_576.0;

/// The plots of a load point's frontiers.
pub(super) fn of_group(group: &GroupView) -> Vec<Drawing> {
    let frontiers = group.frontiers.iter();
    let drawings = frontiers.map(|frontier| Scene::new(frontier, &group.plot).drawing());
    drawings.collect()
}

/// A stack in the plot.
struct Point<'a> {
    cell: &'a PlotCell,
    /// In the axis's unit.
    cost: Dot,
    is_on_frontier: bool,
    /// Where its name stands, if it has one.
    side: Option<Position>,
}

impl Point<'_> {
    /// Its name, as long as it may be.
    fn name(&self) -> Cow<'_, str> {
        shortened(&self.cell.target, NAME_COLUMNS)
    }

    fn series(&self) -> Series {
        match (self.cell.lower_bound, self.is_on_frontier) {
            (true, _) => AT_LEAST,
            (false, true) => FRONTIER,
            (false, false) => OTHERS,
        }
    }
}

/// What the plot shows.
struct Scene<'a> {
    frontier: &'a Frontier,
    points: Vec<Point<'a>>,
    /// The ends of the axis of costs.
    costs: (f64, f64),
}

impl<'a> Scene<'a> {
    fn new(frontier: &'a Frontier, cells: &'a [PlotCell]) -> Self {
        let unit = match frontier.cost {
            Cost::PeakMemory => MIB,
            Cost::CpuTime => 1.0,
        };
        let points = cells.iter().enumerate().filter_map(|(place, cell)| {
            Some(Point {
                cell,
                cost: frontier.cost.of(cell)?.scaled(1.0 / unit),
                is_on_frontier: frontier.places.contains(&place),
                side: None,
            })
        });
        let points: Vec<Point<'_>> = points.collect();
        let values = points.iter().map(|point| point.cost.value);
        let least = values.clone().fold(f64::MAX, f64::min);
        let mut scene = Self {
            frontier,
            costs: (least / BESIDE, values.fold(least, f64::max) * BESIDE),
            points,
        };
        scene.place_names();
        scene
    }

    /// Gives the stacks of the frontier their names where there is room. The others have theirs at the pointer and in
    /// the tables, as has who finds no room.
    fn place_names(&mut self) {
        let (least, most) = self.costs;
        let highest = self.highest();
        let across = |cost: f64| (cost / least).ln() / (most / least).ln();
        // Who costs most is alone on its side of the plot, most of the time: it comes first.
        self.points
            .sort_by(|one, other| other.cost.value.total_cmp(&one.cost.value));
        let named = self.points.iter().map(|point| Named {
            at: (
                across(point.cost.value),
                point.cell.throughput.value / highest,
            ),
            columns: match point.is_on_frontier {
                true => display_width(&point.name()),
                false => 0,
            },
        });
        let sides = sides(&named.collect::<Vec<_>>());
        for (point, side) in self.points.iter_mut().zip(sides) {
            point.side = side;
        }
    }

    /// The end of the axis of throughput.
    fn highest(&self) -> f64 {
        let rates = self.points.iter().map(|point| point.cell.throughput);
        ROOM * rates.map(|dot| dot.reach().1).fold(0.0, f64::max)
    }

    fn drawing(&self) -> Drawing {
        let mut drawing = Drawing {
            title: format!("Throughput against {}", self.frontier.cost.name()),
            kind: "scatter plot",
            height: HEIGHT_PX,
            names: Vec::new(),
            plot: self.frame(),
            legend: Vec::new(),
        };
        drawing.plot.add_trace(self.stairs());
        for series in [FRONTIER, AT_LEAST, OTHERS] {
            let is_in = |point: &&Point<'_>| point.series().name == series.name;
            let points: Vec<&Point<'_>> = self.points.iter().filter(is_in).collect();
            if !points.is_empty() {
                drawing.plot.add_trace(self.dots(&series, &points));
                drawing.legend.push(series);
            }
        }
        drawing
    }

    fn frame(&self) -> Plot {
        let costs = self.points.iter().map(|point| point.cost.value);
        let (axis, title) = match self.frontier.cost {
            Cost::PeakMemory => (
                memory_axis(costs, MOST_TICKS),
                "peak memory (PSS), MiB, logarithmic",
            ),
            Cost::CpuTime => (
                latency_axis(costs, MOST_TICKS),
                "CPU time per request, logarithmic",
            ),
        };
        let (least, most) = self.costs;
        let range = AxisRange::new(least.log10(), most.log10());
        let rates = Axis::new()
            .range(AxisRange::new(0.0, self.highest()))
            .tick_format("~s");
        let titled = |axis: Axis, title: &str| axis.title(Title::with_text(title)).zero_line(true);
        let costs = titled(axis.range(range), title);
        over_axes(HEIGHT_PX, 48, costs, titled(rates, "requests per second"))
    }

    /// The frontier as stairs: what can be had for each cost.
    fn stairs(&self) -> Box<Scatter<f64, f64>> {
        let corners = self.frontier.stacks.iter().filter_map(|stack| {
            let mut points = self.points.iter();
            let point = points.find(|point| point.cell.target == *stack)?;
            Some((point.cost.value, point.cell.throughput.value))
        });
        let (mut x, mut y): (Vec<f64>, Vec<f64>) = corners.unzip();
        if let (Some(first), Some(last)) = (x.first().copied(), y.last().copied()) {
            x.insert(0, first);
            y.insert(0, 0.0);
            x.push(self.costs.1);
            y.push(last);
        }
        let line = Line::new().color(BLUE).width(1.0);
        Scatter::new(x, y)
            .mode(Mode::Lines)
            .hover_info(HoverInfo::Skip)
            .line(line.dash(DashType::Dot).shape(LineShape::Hv))
    }

    fn dots(&self, series: &Series, points: &[&Point<'_>]) -> Box<Scatter<f64, f64>> {
        let costs = points.iter().map(|point| point.cost);
        let rates = points.iter().map(|point| point.cell.throughput);
        let hover = points.iter().map(|point| self.hover(point));
        let names = points.iter().map(|point| match point.side {
            Some(_) => label(&point.name()),
            None => String::new(),
        });
        let sides = points.iter().map(|point| {
            let side = point.side.clone();
            side.unwrap_or(Position::TopRight)
        });
        let marker = Marker::new()
            .symbol(series.symbol.marker())
            .size(9)
            .color(series.colour);
        let values = |dots: &[Dot]| dots.iter().map(|dot| dot.value).collect::<Vec<f64>>();
        let (costs, rates): (Vec<Dot>, Vec<Dot>) = (costs.collect(), rates.collect());
        let mut trace = Scatter::new(values(&costs), values(&rates))
            .name(&*series.name)
            .mode(Mode::MarkersText)
            .text_array(names.collect::<Vec<_>>())
            .text_position_array(sides.collect())
            .hover_info(HoverInfo::Text)
            .hover_text_array(hover.collect::<Vec<_>>())
            .marker(marker);
        if let Some(arms) = arms(series.colour, 1.0, &costs) {
            trace = trace.error_x(arms);
        }
        if let Some(arms) = arms(series.colour, 1.0, &rates) {
            trace = trace.error_y(arms);
        }
        trace
    }

    fn hover(&self, point: &Point<'_>) -> String {
        let rate = point.cell.throughput;
        let rate = between(rate, |value| format!("{} requests/s", figure(value)));
        let cost = between(point.cost, |value| match self.frontier.cost {
            Cost::PeakMemory => bytes(value * MIB),
            Cost::CpuTime => format!("{} of CPU per request", seconds(value)),
        });
        let least = match point.cell.lower_bound {
            true => "at least ",
            false => "",
        };
        label(&format!("{}: {least}{rate}; {cost}", point.cell.target))
    }
}
