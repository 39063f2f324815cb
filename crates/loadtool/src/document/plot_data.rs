//! What plots are drawn from: the load over time, and the latencies over percentiles. Numbers, not strings.

use deadheat_model::{Interval, LatencyHistogram, LoadPhase, LoadRecord};

/// Steps each time the distance to 1 halves: enough for a smooth curve.
const TICKS: u32 = 6;

/// A load over time and over percentiles.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct PlotData {
    /// The load over time, the warm-up too.
    pub(super) points: Vec<Point>,
    /// The distributions of the measurement.
    pub(super) percentiles: Vec<Percentiles>,
    /// When the measurement began, in seconds since the load's start; `None` where that is not in `points`.
    pub(super) measured_from: Option<f64>,
    /// Whether the times in `points` are response times (open loop) or service times.
    pub(super) response: bool,
}

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

/// A distribution by percentile.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Percentiles {
    /// What was timed.
    pub(super) name: &'static str,
    /// 1 ÷ (1 − quantile) with the latency there in seconds.
    pub(super) points: Vec<(f64, f64)>,
}

/// What the plots of a load are drawn from.
pub(super) fn plot_data(record: &LoadRecord) -> PlotData {
    let observation = &record.observation;
    let intervals: Vec<&Interval> = record
        .intervals
        .iter()
        .filter(|interval| interval.phase != LoadPhase::CoolDown && !interval.length().is_zero())
        .collect();
    let open = observation.open.as_ref();
    let response = open.map(|open| ("response time", &open.response_time));
    let all = [Some(("service time", &observation.service_time)), response];
    let percentiles = all.into_iter().flatten().map(|(name, found)| Percentiles {
        name,
        points: curve(found),
    });
    let measured = intervals
        .iter()
        .find(|interval| interval.phase == LoadPhase::Measurement);
    PlotData {
        points: if intervals.is_empty() {
            of_bins(record)
        } else {
            intervals.iter().map(|interval| point(interval)).collect()
        },
        percentiles: percentiles
            .filter(|curve| !curve.points.is_empty())
            .collect(),
        measured_from: measured.map(|interval| interval.from.as_secs_f64()),
        response: open.is_some(),
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

fn curve(histogram: &LatencyHistogram) -> Vec<(f64, f64)> {
    let last = histogram.count() as f64;
    let steps = histogram.percentiles(TICKS).into_iter();
    let mut points: Vec<(f64, f64)> = steps
        // The largest of n samples stands at 1 − 1/n: nothing is known beyond.
        .map(|(quantile, latency, _)| {
            let place = if quantile < 1.0 {
                1.0 / (1.0 - quantile)
            } else {
                last
            };
            (place.min(last), latency.as_secs_f64())
        })
        .collect();
    points.dedup_by_key(|(place, _)| *place);
    points
}
