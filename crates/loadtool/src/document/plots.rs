//! The plots of a load, and the points that they are drawn from: over time, and by percentile.

use deadheat_document::plot::{
    Colour, Guide, GuidePosition, Plot, Series, Shape, Stroke,
    axis::{Axis, Unit},
};
use deadheat_model::{Interval, LatencyHistogram, LoadPhase, LoadRecord};

/// What of an interval is drawn.
type PointValue = fn(&Point) -> Option<f64>;

/// A line: its name, how it is drawn, and its value in an interval.
type Line = (&'static str, Stroke, Colour, PointValue);

/// The plots of a load, without those that have nothing to draw: answers and failures over time need two instants,
/// latencies and what was held two intervals with a value, percentiles an answer.
pub(super) fn plots(record: &LoadRecord) -> Vec<Plot> {
    let points = points(record);
    let all = [
        throughput(record, &points),
        latencies(record, &points),
        percentiles(record),
        held(record, &points),
    ];
    all.into_iter().flatten().collect()
}

/// Valid answers, failures and the offered rate over time.
fn throughput(record: &LoadRecord, points: &[Point]) -> Option<Plot> {
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
        over_time(record, points, title, Unit::PerSecond, series.collect())
    })
}

/// Percentiles over time.
fn latencies(record: &LoadRecord, points: &[Point]) -> Option<Plot> {
    let lines: [Line; 4] = [
        ("max", Stroke::Dotted, Colour::Grey, |point| point.times[3]),
        ("p99", Stroke::Solid, Colour::Orange, |point| point.times[2]),
        ("p90", Stroke::Dashed, Colour::Purple, |point| {
            point.times[1]
        }),
        ("p50", Stroke::Solid, Colour::Blue, |point| point.times[0]),
    ];
    let kind = match record.observation.open {
        Some(_) => "Response time",
        None => "Service time, closed loop,",
    };
    let title = format!("{kind} over time (logarithmic scale)");
    let series = known(points, lines, |point| point.at)?;
    Some(over_time(record, points, title, Unit::Seconds, series))
}

/// What was held at the end of each interval: connections, requests in flight and requests that waited.
fn held(record: &LoadRecord, points: &[Point]) -> Option<Plot> {
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
    let series = known(points, lines, |point| point.until)?;
    let title = "At each interval's end".to_owned();
    Some(over_time(record, points, title, Unit::Count, series))
}

/// The lines that have values; `None` unless the first one has two.
fn known<const N: usize>(
    points: &[Point],
    lines: [Line; N],
    place: fn(&Point) -> f64,
) -> Option<Vec<Series>> {
    let count = |of: PointValue| points.iter().filter_map(of).count();
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
    points: &[Point],
    title: String,
    unit: Unit,
    series: Vec<Series>,
) -> Plot {
    let values = series.iter().flat_map(|series| &series.points);
    let values = values.filter_map(|(_, value)| *value);
    let y = match unit {
        Unit::Seconds => Axis::logarithmic(unit, values.clone()),
        _ => None,
    };
    let measured = intervals(record).find(|one| one.phase == LoadPhase::Measurement);
    let from = measured.map(|first| first.from.as_secs_f64());
    let warm_up = from.filter(|from| *from > 0.0).map(|from| Guide {
        name: "warm-up",
        colour: Colour::Grey,
        at: GuidePosition::Between(0.0, from),
    });
    Plot {
        title,
        subject: record.url.clone(),
        figures: FIGURES,
        x: Axis::elapsed(points.last().map_or(0.0, |last| last.until)),
        y: y.unwrap_or_else(|| Axis::amount(unit, values)),
        guides: warm_up.into_iter().collect(),
        series,
    }
}

const FIGURES: &str = "Its main figures are in the tables.";

/// Latency by percentile: each step to the right is a tenth of what was left.
fn percentiles(record: &LoadRecord) -> Option<Plot> {
    let observation = &record.observation;
    let line = |name: &str, stroke, colour, times| Series {
        name: name.to_owned(),
        colour,
        shape: Shape::Line(stroke),
        points: curve(times),
    };
    let service = &observation.service_time;
    let series = match &observation.open {
        None => {
            let name = "service time (closed loop)";
            vec![line(name, Stroke::Solid, Colour::Blue, service)]
        }
        // Response time lies above.
        Some(open) => {
            let response = &open.response_time;
            vec![
                line("service time", Stroke::Dashed, Colour::Blue, service),
                line("response time", Stroke::Solid, Colour::Orange, response),
            ]
        }
    };
    let points = || series.iter().flat_map(|line| &line.points);
    let most = points().map(|(place, _)| *place).fold(1.0, f64::max);
    if most < 10.0 {
        return None;
    }
    Some(Plot {
        title: "Latency by percentile (both scales logarithmic)".to_owned(),
        subject: record.url.clone(),
        figures: FIGURES,
        x: Axis::percentiles(most),
        y: Axis::logarithmic(Unit::Seconds, points().filter_map(|(_, time)| *time))?,
        guides: Vec::new(),
        series,
    })
}

/// Steps each time the distance to 1 halves: enough for a smooth curve.
const TICKS: u32 = 6;

/// An interval, or a bin.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Point {
    /// Its start, in seconds since the load's start.
    pub(super) from: f64,
    /// Its middle, in seconds since the load's start.
    pub(super) at: f64,
    /// Its end, in seconds since the load's start.
    pub(super) until: f64,
    /// Valid answers per second.
    pub(super) valid: f64,
    /// Failed requests per second.
    pub(super) failed: f64,
    /// Open loop: requests per second whose time came in it.
    pub(super) offered: Option<f64>,
    /// Requests in flight at its end; not of bins.
    pub(super) in_flight: Option<f64>,
    /// Open loop: requests that waited for a connection at its end.
    pub(super) waiting: Option<f64>,
    /// Connections open at its end; not of bins.
    pub(super) connections: Option<f64>,
    /// p50, p90, p99 and the longest time, in seconds, where there are samples enough; not of bins.
    pub(super) times: [Option<f64>; 4],
}

/// The intervals that are drawn.
fn intervals(record: &LoadRecord) -> impl Iterator<Item = &Interval> {
    let intervals = record.intervals.iter();
    intervals.filter(|one| one.phase != LoadPhase::Drain && !one.length().is_zero())
}

/// The load over time, the warm-up too.
fn points(record: &LoadRecord) -> Vec<Point> {
    let points: Vec<Point> = intervals(record).map(point).collect();
    if points.is_empty() {
        of_bins(record)
    } else {
        points
    }
}

fn point(interval: &Interval) -> Point {
    let length = interval.length().as_secs_f64();
    let times = interval
        .response_time
        .as_ref()
        .unwrap_or(&interval.service_time);
    // In a single interval, ten samples beyond a percentile are enough to be looked at.
    let at = |quantile: f64| {
        let enough = times.count() as f64 * (1.0 - quantile) >= 10.0;
        let found = times.quantile(quantile).filter(|_| enough);
        found.map(|found| found.as_secs_f64())
    };
    Point {
        from: interval.from.as_secs_f64(),
        at: interval.from.as_secs_f64() + length / 2.0,
        until: interval.until.as_secs_f64(),
        valid: interval.throughput(),
        failed: interval.failed.total() as f64 / length,
        offered: interval
            .response_time
            .as_ref()
            .map(|_| interval.offered as f64 / length),
        in_flight: Some(interval.in_flight as f64),
        waiting: interval
            .response_time
            .as_ref()
            .map(|_| interval.waiting as f64),
        connections: Some(interval.connections as f64),
        times: [
            at(0.5),
            at(0.9),
            at(0.99),
            times.max().map(|most| most.as_secs_f64()),
        ],
    }
}

/// The bins of the measurement, for a load without intervals.
fn of_bins(record: &LoadRecord) -> Vec<Point> {
    let observation = &record.observation;
    let (width, window) = (
        observation.bin.as_secs_f64(),
        observation.window.as_secs_f64(),
    );
    let bins = observation.bins.iter().enumerate();
    let point = |(index, bin): (usize, &deadheat_model::observation::Bin)| {
        let from = index as f64 * width;
        let length = (window - from).min(width);
        (length > 0.0).then(|| Point {
            from,
            at: from + length / 2.0,
            until: from + length,
            valid: bin.succeeded as f64 / length,
            failed: bin.failed as f64 / length,
            ..Point::default()
        })
    };
    bins.filter_map(point).collect()
}

/// 1 ÷ (1 − quantile) with the latency there in seconds.
fn curve(histogram: &LatencyHistogram) -> Vec<(f64, Option<f64>)> {
    let last = histogram.count() as f64;
    let steps = histogram.percentiles(TICKS).into_iter();
    let mut points: Vec<(f64, Option<f64>)> = steps
        // The largest of n samples is at 1 − 1/n: nothing is known beyond.
        .map(|(quantile, latency, _)| {
            let place = if quantile < 1.0 {
                1.0 / (1.0 - quantile)
            } else {
                last
            };
            (place.min(last), Some(latency.as_secs_f64()))
        })
        .collect();
    points.dedup_by_key(|(place, _)| *place);
    points
}
