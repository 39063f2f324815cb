//! As oha prints it (its `src/printer.rs`, version 1).

use std::{collections::BTreeMap, fmt::Write as _, time::Duration};

use deadheat_document::json::ReportError;
use deadheat_model::{LatencyHistogram, LoadRecord};
use serde_json::{Map, Value, json};

use super::{ToolFigures, bar, seconds, steps};

/// The percentages that oha has, as it writes them.
const PERCENTS: [(&str, f64); 9] = [
    ("10", 10.0),
    ("25", 25.0),
    ("50", 50.0),
    ("75", 75.0),
    ("90", 90.0),
    ("95", 95.0),
    ("99", 99.0),
    ("99.9", 99.9),
    ("99.99", 99.99),
];
/// The squares of its longest bar.
const LONGEST: u64 = 32;

/// A unit of time: its name and its seconds.
type Scale = (&'static str, f64);

/// The largest unit in which the longest time is 1 or more.
fn scale(longest: f64) -> Scale {
    let scales = [("sec", 1.0), ("ms", 1e-3), ("us", 1e-6)];
    let fits = |scale: &&Scale| longest >= scale.1;
    scales.iter().find(fits).copied().unwrap_or(("ns", 1e-9))
}

/// The times that oha counts: with `corrected`, those from when a request was due.
fn times(record: &LoadRecord, corrected: bool) -> &LatencyHistogram {
    let open = record.observation.open.as_ref();
    match open {
        Some(open) if corrected => &open.response_time,
        _ => ToolFigures::new(record).times,
    }
}

fn success_rate(found: &ToolFigures<'_>) -> f64 {
    found.answers() as f64 / found.ended().max(1) as f64
}

/// The report as text.
pub fn oha(record: &LoadRecord, corrected: bool) -> String {
    let found = ToolFigures::new(record);
    let (answers, bytes) = (found.answers(), found.observation.body_bytes);
    let times = times(record, corrected);
    let (unit, scale) = scale(seconds(times.max()));
    let shown = |value: f64| format!("{:.4} {unit}", value / scale);
    let mut text = "Summary:\n".to_owned();
    let mut line = |label: &str, value: String| {
        // Writing to a string does not fail.
        let _ = writeln!(text, "  {label}:\t{value}");
    };
    line(
        "Success rate",
        format!("{:.2}%", 100.0 * success_rate(&found)),
    );
    line("Total", shown(found.seconds()));
    line("Slowest", shown(seconds(times.max())));
    line("Fastest", shown(seconds(times.least())));
    line("Average", shown(seconds(times.mean())));
    let per_second = found.per_second(found.ended() as f64);
    line("Requests/sec", format!("{per_second:.4}"));
    text += "\n";
    let mut line = |label: &str, value: String| {
        let _ = writeln!(text, "  {label}:\t{value}");
    };
    line("Total data", binary(bytes as f64));
    let each = bytes.checked_div(answers);
    line(
        "Size/request",
        each.map_or("NaN".to_owned(), |each| binary(each as f64)),
    );
    line("Size/sec", binary(found.per_second(bytes as f64)));
    text += "\nResponse time histogram:\n";
    let steps = steps(times, 11);
    let highest = steps.iter().map(|step| step.1).max().unwrap_or(0);
    let digits = highest.to_string().len();
    let whole = |bound: f64| ((bound / scale) as u64).to_string().len();
    let width = 4 + steps.iter().map(|step| whole(step.0)).max().unwrap_or(0);
    for (bound, count) in steps {
        let bound = bound / scale;
        let indent = " ".repeat(digits - count.to_string().len());
        let bar = bar(count, highest, LONGEST);
        let _ = writeln!(text, "  {bound:>width$.3} {unit} [{count}]{indent} |{bar}");
    }
    text += "\nResponse time distribution:\n";
    for (_, percent) in PERCENTS {
        let time = times.quantile(percent / 100.0);
        let _ = writeln!(text, "  {percent:.2}% in {}", shown(seconds(time)));
    }
    text += "\n\nDetails (average, fastest, slowest):\n";
    let connecting = &found.observation.connect_time;
    let connecting = [connecting.mean(), connecting.least(), connecting.max()];
    let [average, fastest, slowest] = connecting.map(|time| shown(seconds(time)));
    let none = shown(0.0);
    let _ = writeln!(text, "  DNS+dialup:\t{average}, {fastest}, {slowest}");
    let _ = writeln!(text, "  DNS-lookup:\t{none}, {none}, {none}");
    text += "\nStatus code distribution:\n";
    let mut statuses: Vec<_> = found.observation.statuses.iter().collect();
    statuses.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
    for (status, count) in statuses {
        let _ = writeln!(text, "  [{status}] {count} responses");
    }
    let errors = found.errors();
    if !errors.is_empty() {
        text += "\nError distribution:\n";
        for (what, count) in errors {
            let _ = writeln!(text, "  [{count}] {what}");
        }
    }
    text
}

/// "12.30 KiB", and "13 B".
fn binary(mut bytes: f64) -> String {
    if bytes < 1024.0 {
        return format!("{bytes:.0} B");
    }
    for unit in ["B", "KiB", "MiB", "GiB"] {
        if bytes < 1024.0 {
            return format!("{bytes:.2} {unit}");
        }
        bytes /= 1024.0;
    }
    format!("{bytes:.2} TiB")
}

/// The report as JSON, without what nobody here records: rates within 10 ms.
///
/// # Errors
/// When it cannot be written as JSON.
pub fn oha_json(record: &LoadRecord, corrected: bool) -> Result<String, ReportError> {
    let found = ToolFigures::new(record);
    let (answers, bytes) = (found.answers(), found.observation.body_bytes);
    let times = times(record, corrected);
    let three = |times: &LatencyHistogram| {
        let [average, fastest, slowest] = [times.mean(), times.least(), times.max()].map(seconds);
        json!({ "average": average, "fastest": fastest, "slowest": slowest })
    };
    let first = found.observation.first_byte.as_ref();
    let statuses = found.observation.statuses.iter();
    let statuses: BTreeMap<String, u64> = statuses
        .map(|(status, count)| (status.to_string(), *count))
        .collect();
    let errors: BTreeMap<&str, u64> = found.errors().into_iter().collect();
    let mut report = json!({
        "summary": {
            "successRate": success_rate(&found),
            "total": found.seconds(),
            "slowest": seconds(times.max()),
            "fastest": seconds(times.least()),
            "average": seconds(times.mean()),
            "requestsPerSec": found.per_second(found.ended() as f64),
            "totalData": bytes,
            "sizePerRequest": bytes.checked_div(answers),
            "sizePerSec": found.per_second(bytes as f64),
        },
        "metrics": {
            "success_rate": success_rate(&found),
            "requests_per_sec": found.per_second(found.ended() as f64),
            "latency_ms": {
                "min": milliseconds(times.least()),
                "mean": milliseconds(times.mean()),
                "p50": milliseconds(times.quantile(0.5)),
                "p95": milliseconds(times.quantile(0.95)),
                "p99": milliseconds(times.quantile(0.99)),
                "max": milliseconds(times.max()),
            },
        },
        "responseTimeHistogram": histogram(times),
        "latencyPercentiles": percentiles(times),
        "details": {
            "DNSDialup": three(&found.observation.connect_time),
            "DNSLookup": { "average": 0.0, "fastest": 0.0, "slowest": 0.0 },
        },
        "statusCodeDistribution": statuses,
        "errorDistribution": errors,
    });
    if let Some(first) = first {
        report["firstByteHistogram"] = histogram(first);
        report["firstBytePercentiles"] = percentiles(first);
        report["details"]["firstByte"] = three(first);
    }
    let mut text = serde_json::to_string_pretty(&report)?;
    text.push('\n');
    Ok(text)
}

/// In whole microseconds.
fn milliseconds(time: Option<Duration>) -> f64 {
    (seconds(time) * 1e6).round() / 1e3
}

fn histogram(times: &LatencyHistogram) -> Value {
    let steps = steps(times, 11).into_iter();
    let steps = steps.map(|(bound, count)| (bound.to_string(), json!(count)));
    Value::Object(steps.collect::<Map<_, _>>())
}

fn percentiles(times: &LatencyHistogram) -> Value {
    let all = PERCENTS.map(|(name, percent)| {
        let time = times.quantile(percent / 100.0);
        (
            format!("p{name}"),
            json!(time.map(|time| time.as_secs_f64())),
        )
    });
    Value::Object(all.into_iter().collect::<Map<_, _>>())
}
