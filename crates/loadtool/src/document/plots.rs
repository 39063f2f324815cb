//! The plots of a load: over time, and by percentile. Each plot's main figures stand in a table, too.

use deadheat_document::plot::{
    Colour, Guide, GuidePosition, Plot, Series, Shape, Stroke,
    axis::{Axis, Unit},
};
use deadheat_model::LoadRecord;

use super::plot_data::{PlotData, Point, plot_data};

/// What of an interval is drawn.
type Of = fn(&Point) -> Option<f64>;

/// A line: its name, how it is drawn, and its value in an interval.
type Line = (&'static str, Stroke, Colour, Of);

/// The plots of a load; none without an answer or a failure.
pub(super) fn plots(record: &LoadRecord) -> Vec<Plot> {
    let data = plot_data(record);
    let all = [
        throughput(record, &data),
        latencies(record, &data),
        percentiles(record, &data),
        held(record, &data),
    ];
    all.into_iter().flatten().collect()
}

/// Valid answers, failures and the offered rate over time.
fn throughput(record: &LoadRecord, data: &PlotData) -> Option<Plot> {
    let points = &data.points;
    let (first, last) = (points.first()?, points.last()?);
    let lines: [Line; 3] = [
        ("offered", Stroke::Dotted, Colour::Grey, |point| {
            point.offered
        }),
        ("valid answers", Stroke::Solid, Colour::Blue, |point| {
            Some(point.valid)
        }),
        ("failed", Stroke::Dashed, Colour::Red, |point| {
            Some(point.failed)
        }),
    ];
    let is_drawn = |(name, _, _, of): &Line| {
        let mut values = points.iter().filter_map(*of);
        *name == "valid answers" || values.any(|value| value > 0.0)
    };
    let lines = lines.into_iter().filter(is_drawn);
    let series = lines.map(|(name, stroke, colour, of)| {
        let starts = points.iter().map(|point| (point.from, of(point)));
        Series {
            name: name.to_owned(),
            colour,
            shape: Shape::Steps(stroke),
            points: starts.chain([(last.until, of(last))]).collect(),
        }
    });
    (first.from < last.from).then(|| {
        let title = "Answers and failures per second".to_owned();
        over_time(record, data, title, Unit::PerSecond, series.collect())
    })
}

/// Percentiles over time.
fn latencies(record: &LoadRecord, data: &PlotData) -> Option<Plot> {
    let lines: [Line; 4] = [
        ("longest", Stroke::Dotted, Colour::Grey, |point| {
            point.times[3]
        }),
        ("p99", Stroke::Solid, Colour::Orange, |point| point.times[2]),
        ("p90", Stroke::Dashed, Colour::Purple, |point| {
            point.times[1]
        }),
        ("p50", Stroke::Solid, Colour::Blue, |point| point.times[0]),
    ];
    let kind = if data.response {
        "Response time"
    } else {
        "Service time, closed loop,"
    };
    let title = format!("{kind} over time (logarithmic scale)");
    let series = known(data, lines, |point| point.at)?;
    Some(over_time(record, data, title, Unit::Seconds, series))
}

/// What was held at the end of each interval: connections, requests in flight and requests that waited.
fn held(record: &LoadRecord, data: &PlotData) -> Option<Plot> {
    let lines: [Line; 3] = [
        ("connections open", Stroke::Dotted, Colour::Grey, |point| {
            point.connections
        }),
        ("requests in flight", Stroke::Solid, Colour::Blue, |point| {
            point.in_flight
        }),
        (
            "requests waiting for a connection",
            Stroke::Dashed,
            Colour::Orange,
            |point| point.waiting,
        ),
    ];
    let series = known(data, lines, |point| point.until)?;
    let title = "At each interval's end".to_owned();
    Some(over_time(record, data, title, Unit::Count, series))
}

/// The lines that have values; `None` unless the first one has two.
fn known<const N: usize>(
    data: &PlotData,
    lines: [Line; N],
    place: fn(&Point) -> f64,
) -> Option<Vec<Series>> {
    let points = &data.points;
    let count = |of: Of| points.iter().filter_map(of).count();
    (count(lines[0].3) > 1).then(|| {
        let lines = lines.into_iter().filter(|line| count(line.3) > 0);
        let series = lines.map(|(name, stroke, colour, of)| Series {
            name: name.to_owned(),
            colour,
            shape: Shape::Line(stroke),
            points: points
                .iter()
                .map(|point| (place(point), of(point)))
                .collect(),
        });
        series.collect()
    })
}

/// A plot over time, with the warm-up shaded.
fn over_time(
    record: &LoadRecord,
    data: &PlotData,
    title: String,
    unit: Unit,
    series: Vec<Series>,
) -> Plot {
    let points = series.iter().flat_map(|series| &series.points);
    let values = points.filter_map(|(_, value)| *value);
    let y = match unit {
        Unit::Seconds => Axis::logarithmic(unit, values.clone()),
        _ => None,
    };
    let warm_up = data.measured_from.filter(|from| *from > 0.0);
    let warm_up = warm_up.map(|from| Guide {
        name: "warm-up",
        colour: Colour::Grey,
        at: GuidePosition::Between(0.0, from),
    });
    Plot {
        title,
        subject: record.url.clone(),
        figures: FIGURES,
        x: Axis::elapsed(data.points.last().map_or(0.0, |last| last.until)),
        y: y.unwrap_or_else(|| Axis::amount(unit, values)),
        guides: warm_up.into_iter().collect(),
        series,
    }
}

const FIGURES: &str = "Its main figures are in the tables.";

/// Latency by percentile: each step to the right is a tenth of what was left.
fn percentiles(record: &LoadRecord, data: &PlotData) -> Option<Plot> {
    let curves = &data.percentiles;
    let points = || curves.iter().flat_map(|curve| &curve.points);
    let most = points().map(|(place, _)| *place).fold(1.0, f64::max);
    if most < 10.0 {
        return None;
    }
    // The last curve lies above: response time where there is one.
    let series = curves.iter().enumerate().map(|(index, curve)| {
        let (name, stroke, colour) = match (index, data.response) {
            (0, false) => ("service time (closed loop)", Stroke::Solid, Colour::Blue),
            (0, true) => (curve.name, Stroke::Dashed, Colour::Blue),
            _ => (curve.name, Stroke::Solid, Colour::Orange),
        };
        let points = curve.points.iter();
        Series {
            name: name.to_owned(),
            colour,
            shape: Shape::Line(stroke),
            points: points.map(|(place, time)| (*place, Some(*time))).collect(),
        }
    });
    Some(Plot {
        title: "Latency by percentile (both scales logarithmic)".to_owned(),
        subject: record.url.clone(),
        figures: FIGURES,
        x: Axis::percentiles(most),
        y: Axis::logarithmic(Unit::Seconds, points().map(|(_, time)| *time))?,
        guides: Vec::new(),
        series: series.collect(),
    })
}
