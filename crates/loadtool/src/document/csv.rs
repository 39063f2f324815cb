//! The load over time for other programs: comma-separated values (RFC 4180) with a row for each interval and a column for each
//! variable; and latencies in HdrHistogram's own formats, which its tools of any language read: those of each interval as a log
//! (format 1.3), and a distribution as text for its plotters (`.hgrm`).

use std::{fmt::Write as _, time::Duration};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use deadheat_document::{
    csv::{Number, head, line},
    json::ReportError,
};
use deadheat_model::{
    Failure, Interval, LatencyHistogram, LoadPhase, LoadRecord,
    histogram::{HIGHEST_NS, LOWEST_NS},
};
use hdrhistogram::{
    Histogram,
    serialization::{
        Deserializer, V2DeflateSerializer,
        interval_log::{IntervalLogWriterBuilder, Tag},
    },
};
use schemars::JsonSchema;
use serde::Serialize;

/// An interval of a load. After these columns, each kind of failure has one.
///
/// A field without a value is empty: in a closed loop those of the open loop, and times without an answer. Percentiles are
/// never left out, even with few samples: `succeeded` says how many there are. In the measurement, it also counts answers to
/// requests of the warm-up, whose times are left out. No intervals are joined, however long the load; JSON has 1,200 at most.
#[derive(Default, Serialize, JsonSchema)]
pub struct CsvRow {
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
    head::<CsvRow>(Failure::ALL.iter().copied().map(failed_column))
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

fn row(interval: &Interval) -> CsvRow {
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
    CsvRow {
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

/// The tag of service times.
pub const SERVICE_TIME_TAG: &str = "service-time";
/// The tag of response times.
pub const RESPONSE_TIME_TAG: &str = "response-time";

/// Nanoseconds in the unit of the log's column of maxima, milliseconds, as HdrHistogram's own writer has it.
const MAX_UNIT_NS: f64 = 1e6;

/// The measurement's intervals, each with its service times and, in an open loop, its response times. Without
/// intervals the measurement is one. The warm-up is left out, so that the sum of the log is the load's distribution.
pub fn hdr_log(record: &LoadRecord) -> Result<String, ReportError> {
    let mut bytes = Vec::new();
    let mut serializer = V2DeflateSerializer::new();
    let mut builder = IntervalLogWriterBuilder::new();
    builder
        .add_comment("[Histogram log format version 1.3]")
        .add_comment("[Values are in nanoseconds, maxima in milliseconds]")
        .with_max_value_divisor(MAX_UNIT_NS);
    // A start that is not known is left out: intervals count from the load's start all the same.
    if let Ok(started) = humantime::parse_rfc3339(&record.started) {
        builder.with_start_time(started);
    }
    let failed = |reason: String| ReportError::HdrLog { reason };
    let mut log = builder
        .begin_log_with(&mut bytes, &mut serializer)
        .map_err(|error| failed(error.to_string()))?;
    for span in spans(record) {
        for (tag, found) in span.histograms {
            let histogram = opened(found)?;
            log.write_histogram(&histogram, span.from, span.length, Tag::new(tag))
                .map_err(|error| failed(error.to_string()))?;
        }
    }
    String::from_utf8(bytes).map_err(|error| failed(error.to_string()))
}

/// A part of the measurement with its distributions.
struct Span<'a> {
    from: Duration,
    length: Duration,
    histograms: Vec<(&'static str, &'a LatencyHistogram)>,
}

fn spans(record: &LoadRecord) -> Vec<Span<'_>> {
    let observation = &record.observation;
    let tagged = |service, response: Option<_>| {
        let service = std::iter::once((SERVICE_TIME_TAG, service));
        service
            .chain(response.map(|response| (RESPONSE_TIME_TAG, response)))
            .collect()
    };
    let intervals = record.intervals.iter();
    let measured = intervals.filter(|interval| interval.phase == LoadPhase::Measurement);
    let spans: Vec<_> = measured
        .map(|interval| Span {
            from: interval.from,
            length: interval.length(),
            histograms: tagged(&interval.service_time, interval.response_time.as_ref()),
        })
        .collect();
    if !spans.is_empty() {
        return spans;
    }
    let open = observation.open.as_ref();
    vec![Span {
        from: record.spec.warm_up,
        length: observation.window,
        histograms: tagged(
            &observation.service_time,
            open.map(|open| &open.response_time),
        ),
    }]
}

/// The library's histogram in one of the model's, which hands it out in its encoded form.
fn opened(histogram: &LatencyHistogram) -> Result<Histogram<u64>, ReportError> {
    let failed = |reason: String| ReportError::HdrLog { reason };
    let bytes = STANDARD
        .decode(histogram.encoded())
        .map_err(|error| failed(error.to_string()))?;
    Deserializer::new()
        .deserialize(&mut bytes.as_slice())
        .map_err(|error| failed(error.to_string()))
}

/// Steps each time the distance to 100 % halves: HdrHistogram's own default.
const TICKS: u32 = 5;

/// The load's response time if it is an open loop, else its service time; values in milliseconds.
pub fn hgrm(record: &LoadRecord) -> String {
    let observation = &record.observation;
    let open = observation.open.as_ref();
    hgrm_of(open.map_or(&observation.service_time, |open| &open.response_time))
}

/// Any distribution of latencies; values in milliseconds.
pub fn hgrm_of(histogram: &LatencyHistogram) -> String {
    let mut text = String::from("       Value     Percentile TotalCount 1/(1-Percentile)\n\n");
    let ms = |duration: std::time::Duration| duration.as_secs_f64() * 1e3;
    for (quantile, latency, up_to) in histogram.percentiles(TICKS) {
        let value = ms(latency);
        // Writing into a String does not fail.
        let _ = write!(text, "{value:12.3} {quantile:2.12} {up_to:10}");
        // At 100 % it is infinite, and the format has no number there.
        if quantile < 1.0 {
            let _ = write!(text, " {:14.2}", 1.0 / (1.0 - quantile));
        }
        text.push('\n');
    }
    let (sub_buckets, buckets) = buckets();
    let of = |found: Option<std::time::Duration>| found.map_or(0.0, ms);
    let _ = writeln!(
        text,
        "#[Mean    = {:12.3}, StdDeviation   = {:12.3}]\n#[Max     = {:12.3}, Total count    = {:12}]\n#[Buckets = {buckets:12}, SubBuckets     = {sub_buckets:12}]",
        of(histogram.mean()),
        of(histogram.deviation()),
        of(histogram.max()),
        histogram.count(),
    );
    text
}

/// HdrHistogram's sub-buckets for three significant digits, and how many buckets cover the range: each one covers
/// twice as much as the one before.
fn buckets() -> (u64, u32) {
    let sub_buckets = 2_000_u64.next_power_of_two();
    let unit = LOWEST_NS.ilog2();
    let mut covered = sub_buckets << unit;
    let mut buckets = 1;
    while covered <= HIGHEST_NS {
        covered *= 2;
        buckets += 1;
    }
    (sub_buckets, buckets)
}
