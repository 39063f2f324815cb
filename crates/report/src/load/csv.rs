//! The load over time as comma-separated values (RFC 4180): one row per interval, one column per variable.

use deadheat_model::{Failure, Interval, LatencyHistogram};

use crate::figure::short;

/// The columns before those of the failures, which follow as `failed_` and the kind's name.
pub const COLUMNS: [&str; 30] = [
    "index",
    "phase",
    "from_seconds",
    "until_seconds",
    "offered",
    "issued",
    "succeeded",
    "failed",
    "in_flight",
    "waiting",
    "connections",
    "throughput_per_second",
    "sent_bytes",
    "received_bytes",
    "valid_body_bytes",
    "service_time_mean_seconds",
    "service_time_p50_seconds",
    "service_time_p90_seconds",
    "service_time_p95_seconds",
    "service_time_p99_seconds",
    "service_time_p999_seconds",
    "service_time_max_seconds",
    "response_time_mean_seconds",
    "response_time_p50_seconds",
    "response_time_p90_seconds",
    "response_time_p95_seconds",
    "response_time_p99_seconds",
    "response_time_p999_seconds",
    "response_time_max_seconds",
    "events",
];
const QUANTILES: [f64; 5] = [0.5, 0.9, 0.95, 0.99, 0.999];

/// One row per interval, after the head. A field without a value is empty. Lines end with CR LF, as RFC 4180 has it.
pub fn csv(intervals: &[Interval]) -> String {
    let rows: String = intervals.iter().map(csv_row).collect();
    csv_head() + &rows
}

/// The names of the columns, as a line.
pub fn csv_head() -> String {
    let kinds = Failure::ALL.iter();
    let kinds = kinds.map(|kind| format!("failed_{}", kind.name().replace('-', "_")));
    let names = COLUMNS.map(str::to_owned).into_iter().chain(kinds);
    line(&names.collect::<Vec<_>>())
}

/// An interval's line.
pub fn csv_row(interval: &Interval) -> String {
    line(&row(interval))
}

fn line(fields: &[String]) -> String {
    fields.join(",") + "\r\n"
}

fn row(interval: &Interval) -> Vec<String> {
    let phase = serde_json::to_value(interval.phase);
    let phase = phase
        .ok()
        .and_then(|value| value.as_str().map(str::to_owned));
    let open = interval.response_time.is_some();
    let of_open = |count: u64| {
        if open {
            count.to_string()
        } else {
            String::new()
        }
    };
    let mut fields = vec![
        interval.index.to_string(),
        phase.unwrap_or_default(),
        number(interval.from.as_secs_f64()),
        number(interval.until.as_secs_f64()),
        of_open(interval.offered),
        interval.issued.to_string(),
        interval.succeeded.to_string(),
        interval.failed.total().to_string(),
        interval.in_flight.to_string(),
        of_open(interval.waiting),
        interval.connections.to_string(),
        number(interval.throughput()),
        interval.sent_bytes.to_string(),
        interval.received_bytes.to_string(),
        interval.valid_body_bytes.to_string(),
    ];
    fields.extend(times(Some(&interval.service_time)));
    fields.extend(times(interval.response_time.as_ref()));
    let events = interval.events.map(|events| events.to_string());
    fields.push(events.unwrap_or_default());
    let kinds = Failure::ALL.iter();
    fields.extend(kinds.map(|kind| interval.failed[*kind].to_string()));
    fields
}

/// Mean, percentiles and maximum in seconds; empty without samples.
fn times(histogram: Option<&LatencyHistogram>) -> Vec<String> {
    let field = |found: Option<std::time::Duration>| {
        found.map_or(String::new(), |found| number(found.as_secs_f64()))
    };
    let mut fields = vec![field(histogram.and_then(LatencyHistogram::mean))];
    let quantile = |quantile: f64| histogram.and_then(|histogram| histogram.quantile(quantile));
    fields.extend(QUANTILES.map(|at| field(quantile(at))));
    fields.push(field(histogram.and_then(LatencyHistogram::max)));
    fields
}

/// A number to the nanosecond, without an exponent and without zeros at its end.
fn number(value: f64) -> String {
    short(&format!("{value:.9}")).to_owned()
}
