//! The load over time as comma-separated values (RFC 4180): one row per interval, one column per variable.

use deadheat_document::csv::{Number, head, line};
use deadheat_model::{Failure, Interval, LatencyHistogram, LoadPhase};
use schemars::JsonSchema;
use serde::Serialize;

/// An interval of a load. After these columns, each kind of failure has one.
///
/// A field without a value is empty: in a closed loop those of the open loop, and times without an answer. Percentiles are
/// never left out, even with few samples: `succeeded` says how many there are. No intervals are joined, however long the
/// load; JSON has 1,200 at most.
#[derive(Default, Serialize, JsonSchema)]
pub struct Row {
    /// Which interval, from 0.
    index: u64,
    /// The phase that it lies in.
    phase: LoadPhase,
    /// Its start, since the load's start.
    from_seconds: Number,
    /// Its end, since the load's start.
    until_seconds: Number,
    /// Open loop: requests whose intended start lay in it.
    offered: Option<u64>,
    /// Requests issued.
    issued: u64,
    /// Valid answers.
    succeeded: u64,
    /// Failed requests.
    failed: u64,
    /// Requests in flight at its end.
    in_flight: u64,
    /// Open loop: requests that waited for a connection at its end.
    waiting: Option<u64>,
    /// Connections open at its end.
    connections: u64,
    /// Valid answers per second.
    throughput_per_second: Number,
    /// Bytes of requests written.
    sent_bytes: u64,
    /// Bytes of answers received.
    received_bytes: u64,
    /// Body bytes of the valid answers.
    valid_body_bytes: u64,
    /// Mean of the valid answers' service times.
    service_time_mean_seconds: Option<Number>,
    /// Their median.
    service_time_p50_seconds: Option<Number>,
    /// 90 % took no longer.
    service_time_p90_seconds: Option<Number>,
    /// 95 % took no longer.
    service_time_p95_seconds: Option<Number>,
    /// 99 % took no longer.
    service_time_p99_seconds: Option<Number>,
    /// 99.9 % took no longer.
    service_time_p999_seconds: Option<Number>,
    /// The longest service time.
    service_time_max_seconds: Option<Number>,
    /// Open loop: mean of the valid answers' response times.
    response_time_mean_seconds: Option<Number>,
    /// Their median.
    response_time_p50_seconds: Option<Number>,
    /// 90 % took no longer.
    response_time_p90_seconds: Option<Number>,
    /// 95 % took no longer.
    response_time_p95_seconds: Option<Number>,
    /// 99 % took no longer.
    response_time_p99_seconds: Option<Number>,
    /// 99.9 % took no longer.
    response_time_p999_seconds: Option<Number>,
    /// The longest response time.
    response_time_max_seconds: Option<Number>,
    /// With `--stream`: events of the answers.
    events: Option<u64>,
}

/// One row per interval, after the head. Lines end with CR LF, as RFC 4180 has it.
pub fn csv(intervals: &[Interval]) -> String {
    let rows: String = intervals.iter().map(csv_row).collect();
    csv_head() + &rows
}

/// The names of the columns, as a line.
pub fn csv_head() -> String {
    head::<Row>(Failure::ALL.iter().copied().map(failed_column))
}

/// The column of a kind of failure.
pub fn failed_column(kind: Failure) -> String {
    format!("failed_{}", kind.name().replace('-', "_"))
}

/// An interval's line.
pub fn csv_row(interval: &Interval) -> String {
    let failed: Vec<u64> = Failure::ALL
        .iter()
        .map(|kind| interval.failed[*kind])
        .collect();
    line(&(row(interval), failed))
}

fn row(interval: &Interval) -> Row {
    let is_open = interval.response_time.is_some();
    let [
        service_time_mean_seconds,
        service_time_p50_seconds,
        service_time_p90_seconds,
        service_time_p95_seconds,
        service_time_p99_seconds,
        service_time_p999_seconds,
        service_time_max_seconds,
    ] = times(Some(&interval.service_time));
    let [
        response_time_mean_seconds,
        response_time_p50_seconds,
        response_time_p90_seconds,
        response_time_p95_seconds,
        response_time_p99_seconds,
        response_time_p999_seconds,
        response_time_max_seconds,
    ] = times(interval.response_time.as_ref());
    Row {
        index: interval.index,
        phase: interval.phase,
        from_seconds: Number::to_nanoseconds(interval.from.as_secs_f64()),
        until_seconds: Number::to_nanoseconds(interval.until.as_secs_f64()),
        offered: is_open.then_some(interval.offered),
        issued: interval.issued,
        succeeded: interval.succeeded,
        failed: interval.failed.total(),
        in_flight: interval.in_flight,
        waiting: is_open.then_some(interval.waiting),
        connections: interval.connections,
        throughput_per_second: Number::to_nanoseconds(interval.throughput()),
        sent_bytes: interval.sent_bytes,
        received_bytes: interval.received_bytes,
        valid_body_bytes: interval.valid_body_bytes,
        service_time_mean_seconds,
        service_time_p50_seconds,
        service_time_p90_seconds,
        service_time_p95_seconds,
        service_time_p99_seconds,
        service_time_p999_seconds,
        service_time_max_seconds,
        response_time_mean_seconds,
        response_time_p50_seconds,
        response_time_p90_seconds,
        response_time_p95_seconds,
        response_time_p99_seconds,
        response_time_p999_seconds,
        response_time_max_seconds,
        events: interval.events,
    }
}

/// Mean, percentiles and maximum; empty without samples.
fn times(histogram: Option<&LatencyHistogram>) -> [Option<Number>; 7] {
    let at = |quantile: f64| histogram.and_then(|histogram| histogram.quantile(quantile));
    [
        histogram.and_then(LatencyHistogram::mean),
        at(0.5),
        at(0.9),
        at(0.95),
        at(0.99),
        at(0.999),
        histogram.and_then(LatencyHistogram::max),
    ]
    .map(|time| Some(Number::to_nanoseconds(time?.as_secs_f64())))
}
