//! What the live view knows, with the load over time in a bounded number of points: a plain value, fed by events. It
//! neither draws nor looks at a clock.

use std::{collections::BTreeMap, time::Duration};

use deadheat_load::LoadEvent;
use deadheat_model::{
    FailureCounts, Interval, LatencyHistogram, LoadPhase, LoadSpec, Schedule, SliceEvent, StopRule,
};

use crate::series::{Downsampled, Piece};

/// An open loop is behind if requests wait and less than this share of the offered ones ends in an interval.
const KEEPS_UP: f64 = 0.98;

/// The state of a running load.
#[derive(Debug)]
pub(super) struct Model {
    /// The URL that is loaded.
    pub(super) target: String,
    /// Whether the loop is open.
    pub(super) open: bool,
    /// Connections at the start.
    pub(super) connections: u32,
    pub(super) warm_up: Duration,
    pub(super) stop: StopRule,
    /// The longest wait for requests in flight at the end.
    pub(super) drain: Duration,
    /// `None`: nothing has been sent yet.
    pub(super) phase: Option<LoadPhase>,
    /// The end of the last interval, since the load's start.
    pub(super) elapsed: Duration,
    /// The last interval.
    pub(super) latest: Option<Interval>,
    /// The totals of the warm-up, and from the measurement on those of the measurement.
    pub(super) so_far: PhaseTotals,
    /// All intervals.
    pub(super) series: Series,
}

/// Sums over the intervals of a phase.
#[derive(Debug, Default)]
pub(super) struct PhaseTotals {
    pub(super) phase: LoadPhase,
    pub(super) length: Duration,
    pub(super) succeeded: u64,
    pub(super) failed: FailureCounts,
    pub(super) offered: u64,
    pub(super) service_time: LatencyHistogram,
    pub(super) response_time: LatencyHistogram,
}

impl PhaseTotals {
    fn begin(&mut self, phase: LoadPhase) {
        self.phase = phase;
        self.length = Duration::ZERO;
        (self.succeeded, self.offered) = (0, 0);
        self.failed = FailureCounts::default();
        self.service_time.clear();
        self.response_time.clear();
    }

    fn add(&mut self, interval: &Interval) {
        self.length += interval.length();
        self.succeeded += interval.succeeded;
        self.failed.merge(&interval.failed);
        self.offered += interval.offered;
        self.service_time.merge(&interval.service_time);
        if let Some(response_time) = &interval.response_time {
            self.response_time.merge(response_time);
        }
    }

    /// Verified answers per second.
    pub(super) fn throughput(&self) -> f64 {
        per_second(self.succeeded, self.length)
    }

    /// Requests that ended.
    pub(super) fn ended(&self) -> u64 {
        self.succeeded + self.failed.total()
    }

    /// Failed requests as a share of those that ended, 0 to 1.
    pub(super) fn failed_share(&self) -> f64 {
        match self.ended() {
            0 => 0.0,
            ended => self.failed.total() as f64 / ended as f64,
        }
    }
}

impl Model {
    /// The model of a load of `target` by `spec` before its start.
    pub(super) fn new(spec: &LoadSpec, target: &str) -> Self {
        let (Schedule::Closed { connections, .. } | Schedule::Open { connections, .. }) =
            spec.schedule;
        Self {
            target: target.to_owned(),
            open: spec.schedule.is_open(),
            connections,
            warm_up: spec.warm_up,
            stop: spec.stop,
            drain: spec.timeouts.drain,
            phase: None,
            elapsed: Duration::ZERO,
            latest: None,
            so_far: PhaseTotals::default(),
            series: Series::default(),
        }
    }

    /// Updates the model by an event.
    pub(super) fn on(&mut self, event: &LoadEvent) {
        match event {
            LoadEvent::Started => self.enter(LoadPhase::WarmUp),
            LoadEvent::Slice(SliceEvent::CountingStarted) => self.enter(LoadPhase::Measurement),
            LoadEvent::Slice(SliceEvent::CountingEnded) => self.enter(LoadPhase::Drain),
            LoadEvent::Slice(SliceEvent::Drained) => {}
            LoadEvent::Interval(interval) => self.add(interval),
        }
    }

    fn enter(&mut self, phase: LoadPhase) {
        self.phase = self.phase.max(Some(phase));
        // The drain counts in no figure, so those of the measurement stay.
        if phase == LoadPhase::Measurement && self.so_far.phase < phase {
            self.so_far.begin(phase);
        }
    }

    fn add(&mut self, interval: &Interval) {
        // An interval is reported when it is over. The start of the next phase may be reported before it.
        self.enter(interval.phase);
        self.elapsed = self.elapsed.max(interval.until);
        if interval.phase == self.so_far.phase {
            self.so_far.add(interval);
        }
        self.series.push(interval);
        self.latest = Some(interval.clone());
    }

    /// The share of the load that is done, 0 to 1; `None` if only an interrupt ends it.
    pub(super) fn done(&self) -> Option<f64> {
        if self.phase == Some(LoadPhase::Drain) {
            return Some(1.0);
        }
        let share = match self.stop {
            StopRule::Duration { .. } => {
                let whole = self.planned_length()?.as_secs_f64();
                self.elapsed.as_secs_f64() / whole.max(f64::MIN_POSITIVE)
            }
            StopRule::Count { requests } => match self.so_far.phase {
                LoadPhase::WarmUp if !self.warm_up.is_zero() => 0.0,
                _ => self.so_far.ended() as f64 / requests.max(1) as f64,
            },
            StopRule::Interrupt => return None,
        };
        Some(share.clamp(0.0, 1.0))
    }

    /// The length of warm-up and measurement together; `None`: unknown.
    pub(super) fn planned_length(&self) -> Option<Duration> {
        match self.stop {
            StopRule::Duration { length } => Some(self.warm_up + length),
            StopRule::Count { .. } | StopRule::Interrupt => None,
        }
    }

    /// Whether an open loop falls behind its offered rate.
    pub(super) fn is_behind(&self) -> bool {
        let Some(latest) = &self.latest else {
            return false;
        };
        let ended = latest.succeeded + latest.failed.total();
        self.open && latest.waiting > 0 && (ended as f64) < KEEPS_UP * latest.offered as f64
    }
}

/// A count per second; 0 if the time is zero.
pub(super) fn per_second(count: u64, length: Duration) -> f64 {
    match length {
        Duration::ZERO => 0.0,
        length => count as f64 / length.as_secs_f64(),
    }
}

/// The most points kept, plus one for each change of phase; more than a terminal's width shows.
const MAX_POINTS: usize = 240;

/// Steps of a histogram for each halving of the distance to its end: a step has at most 1 % of the latencies.
const STEPS: u32 = 50;

/// Buckets for each doubling of a latency, as a power of two: they are 6 % wide, less than a dot of a plot is high.
const FINENESS: u32 = 4;

/// Latencies in coarse buckets. Full histograms would need some 50 MB for a series.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct CoarseHistogram {
    buckets: BTreeMap<u32, u64>,
    count: u64,
    max: Duration,
}

impl CoarseHistogram {
    fn from_histogram(histogram: &LatencyHistogram) -> Self {
        let mut own = Self {
            max: histogram.max().unwrap_or_default(),
            ..Self::default()
        };
        for (_, latency, up_to) in histogram.percentiles(STEPS) {
            let more = up_to - own.count;
            if more > 0 {
                *own.buckets.entry(bucket(latency)).or_default() += more;
                own.count = up_to;
            }
        }
        own
    }

    fn merge(&mut self, other: &Self) {
        for (bucket, count) in &other.buckets {
            *self.buckets.entry(*bucket).or_default() += count;
        }
        self.count += other.count;
        self.max = self.max.max(other.max);
    }

    /// The approximate latency at `quantile` (0 to 1); `None` without latencies.
    pub(super) fn quantile(&self, quantile: f64) -> Option<Duration> {
        let rank = ((self.count as f64 * quantile).ceil() as u64).max(1);
        let mut up_to = 0;
        for (bucket, count) in &self.buckets {
            up_to += count;
            if up_to >= rank {
                return Some(middle(*bucket).min(self.max));
            }
        }
        None
    }

    /// The longest latency; `None` without latencies.
    pub(super) fn max(&self) -> Option<Duration> {
        (self.count > 0).then_some(self.max)
    }
}

/// The bucket of a latency: its highest bit, then the bits that follow.
fn bucket(latency: Duration) -> u32 {
    // Histograms end at an hour.
    let ns = (latency.as_nanos() as u64).max(1 << FINENESS);
    let octave = ns.ilog2();
    let step = (ns >> (octave - FINENESS)) as u32 & ((1 << FINENESS) - 1);
    (octave << FINENESS) | step
}

/// The latency in the middle of a bucket.
fn middle(bucket: u32) -> Duration {
    let (octave, step) = (
        bucket >> FINENESS,
        u64::from(bucket & ((1 << FINENESS) - 1)),
    );
    let width = 1u64 << (octave - FINENESS);
    Duration::from_nanos((1 << octave) + step * width + width / 2)
}

/// A point of the series: one interval, or several in a row.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Point {
    pub(super) from: Duration,
    pub(super) until: Duration,
    pub(super) phase: LoadPhase,
    succeeded: u64,
    failed: u64,
    offered: u64,
    /// Response times in an open loop, else service times.
    pub(super) latencies: CoarseHistogram,
}

impl Point {
    fn new(interval: &Interval) -> Self {
        let latencies = interval.response_time.as_ref();
        Self {
            from: interval.from,
            until: interval.until,
            phase: interval.phase,
            succeeded: interval.succeeded,
            failed: interval.failed.total(),
            offered: interval.offered,
            latencies: CoarseHistogram::from_histogram(latencies.unwrap_or(&interval.service_time)),
        }
    }

    fn merge(&mut self, next: &Self) {
        self.until = next.until;
        self.succeeded += next.succeeded;
        self.failed += next.failed;
        self.offered += next.offered;
        self.latencies.merge(&next.latencies);
    }

    /// Verified answers per second.
    pub(super) fn throughput(&self) -> f64 {
        self.per_second(self.succeeded)
    }

    /// Failed requests per second.
    pub(super) fn failing(&self) -> f64 {
        self.per_second(self.failed)
    }

    /// Offered requests per second.
    pub(super) fn offered(&self) -> f64 {
        self.per_second(self.offered)
    }

    fn per_second(&self, count: u64) -> f64 {
        match self.until.saturating_sub(self.from) {
            Duration::ZERO => 0.0,
            length => count as f64 / length.as_secs_f64(),
        }
    }
}

impl Piece for Point {
    fn phase(&self) -> LoadPhase {
        self.phase
    }

    fn append(&mut self, next: Self) {
        self.merge(&next);
    }
}

/// The points of a load.
#[derive(Clone, Debug)]
pub(super) struct Series(Downsampled<Point>);

impl Default for Series {
    fn default() -> Self {
        Self(Downsampled::new(MAX_POINTS))
    }
}

impl Series {
    /// The points in order.
    pub(super) fn points(&self) -> &[Point] {
        self.0.pieces()
    }

    /// Adds the next interval.
    pub(super) fn push(&mut self, interval: &Interval) {
        self.0.push(Point::new(interval));
    }
}

#[cfg(test)]
mod tests {
    use deadheat_model::Failure;

    use super::*;

    fn second(index: u64, phase: LoadPhase, latencies_ns: &[u64]) -> Interval {
        let mut interval = Interval {
            index,
            from: Duration::from_secs(index),
            until: Duration::from_secs(index + 1),
            phase,
            succeeded: latencies_ns.len() as u64,
            offered: 7,
            ..Interval::default()
        };
        interval.failed[Failure::Timeout] = 1;
        for ns in latencies_ns {
            interval.service_time.record_ns(*ns);
        }
        interval
    }

    #[test]
    fn a_load_of_any_length_keeps_every_count_and_second_in_a_bounded_number_of_points() {
        let mut series = Series::default();
        for index in 0..20_000 {
            let phase = match index {
                0..=4 => LoadPhase::WarmUp,
                _ => LoadPhase::Measurement,
            };
            series.push(&second(index, phase, &[1_000_000, 2_000_000, 3_000_000]));
            assert!(series.points().len() <= MAX_POINTS + 1, "{index}");
        }
        let points = series.points();
        assert!(points.len() > MAX_POINTS / 3, "{}", points.len());
        assert_eq!(points[0].from, Duration::ZERO);
        assert_eq!(points[points.len() - 1].until, Duration::from_secs(20_000));
        for pair in points.windows(2) {
            assert_eq!(pair[0].until, pair[1].from);
            assert!(pair[0].phase <= pair[1].phase);
        }
        assert_eq!(
            points.iter().map(|point| point.succeeded).sum::<u64>(),
            60_000
        );
        assert_eq!(points.iter().map(|point| point.failed).sum::<u64>(), 20_000);
        assert_eq!(
            points
                .iter()
                .map(|point| point.latencies.count)
                .sum::<u64>(),
            60_000
        );
        // Rates do not depend on how many intervals a point has.
        for point in points {
            assert_eq!(
                (point.throughput(), point.failing(), point.offered()),
                (3.0, 1.0, 7.0)
            );
        }
    }

    #[test]
    fn merged_percentiles_are_those_of_all_latencies_within_a_bucket() {
        // A fast interval with many answers and a slow one with few: the mean of percentiles would be far off.
        let fast: Vec<u64> = (1..=900).map(|n| n * 1_000).collect();
        let slow: Vec<u64> = (1..=100).map(|n| n * 1_000_000).collect();
        let mut merged =
            CoarseHistogram::from_histogram(&second(0, LoadPhase::WarmUp, &fast).service_time);
        merged.merge(&CoarseHistogram::from_histogram(
            &second(1, LoadPhase::WarmUp, &slow).service_time,
        ));
        let mut both = LatencyHistogram::new();
        fast.iter().chain(&slow).for_each(|ns| both.record_ns(*ns));
        for quantile in [0.5, 0.8, 0.95, 0.99] {
            let exact = both.quantile(quantile).unwrap().as_secs_f64();
            let ours = merged.quantile(quantile).unwrap().as_secs_f64();
            assert!(
                (ours / exact - 1.0).abs() < 0.06,
                "{quantile}: {ours} for {exact}"
            );
        }
        assert_eq!(merged.max(), both.max());
        assert_eq!(merged.count, 1_000);
    }

    #[test]
    fn a_latency_lies_in_its_bucket() {
        for ns in (0..42).flat_map(|bit| [1u64 << bit, (1 << bit) + 1, (1 << bit) * 3 / 2]) {
            let latency = Duration::from_nanos(ns.max(1_000));
            let shown = middle(bucket(latency)).as_secs_f64();
            let error = shown / latency.as_secs_f64() - 1.0;
            assert!(error.abs() <= 1.0 / 16.0, "{latency:?}: {shown}");
        }
    }

    #[test]
    fn nothing_has_no_percentile() {
        let empty = CoarseHistogram::from_histogram(&LatencyHistogram::new());
        assert_eq!((empty.quantile(0.5), empty.max()), (None, None));
    }
}
