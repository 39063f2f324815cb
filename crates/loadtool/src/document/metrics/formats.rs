//! OTLP as JSON (<https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding>): what a collector takes by HTTP, and,
//! a line per interval, what OpenTelemetry's file exporters write.

use std::time::SystemTime;

use serde_json::{Value as Json, json};

use super::{
    Source,
    readings::{BOUNDS, FAMILIES, Family, Kind, Label, Reading, Sample, Value},
};

/// Counts go on from one reading to the next (`AggregationTemporality`).
const CUMULATIVE: u8 = 2;

/// The readings of a load, each a line with an `ExportMetricsServiceRequest`.
pub fn otlp(source: &Source, readings: &[Reading]) -> String {
    let line = |reading| otlp_request(source, std::slice::from_ref(reading)) + "\n";
    readings.iter().map(line).collect()
}

/// An `ExportMetricsServiceRequest` with these readings, in one line.
pub fn otlp_request(source: &Source, readings: &[Reading]) -> String {
    let own = [
        Label::new("service.name", "deadheat"),
        Label::new("service.version", &source.version),
        Label::new("service.instance.id", &source.run),
        Label::new("deadheat.url", &source.url),
    ];
    let resource = [&own[..], &source.labels].concat();
    let metrics = FAMILIES.iter();
    let metrics = metrics.filter_map(|family| metric(family, source, readings));
    let scope = json!({ "name": "deadheat", "version": source.version });
    json!({
        "resourceMetrics": [{
            "resource": { "attributes": attributes(&resource) },
            "scopeMetrics": [{ "scope": scope, "metrics": metrics.collect::<Vec<_>>() }],
        }],
    })
    .to_string()
}

/// Why a collector did not keep all of what it took, by its answer (`ExportMetricsServiceResponse`).
pub fn otlp_rejected(answer: &[u8]) -> Option<String> {
    // One in another form says nothing of that.
    let answer: Json = serde_json::from_slice(answer).ok()?;
    let partial = answer.get("partialSuccess")?;
    let rejected = match partial.get("rejectedDataPoints")? {
        Json::String(count) => count.parse().unwrap_or_default(),
        other => other.as_u64().unwrap_or_default(),
    };
    let why = partial.get("errorMessage").and_then(Json::as_str);
    let why = why
        .filter(|why| !why.is_empty())
        .unwrap_or("no reason given");
    (rejected > 0).then(|| format!("the collector rejected {rejected} data points: {why}"))
}

/// A metric with its points; `None`: there are none.
fn metric(family: &Family, source: &Source, readings: &[Reading]) -> Option<Json> {
    let is_http = family.otlp.starts_with("http.");
    let of_all: &[Label] = if is_http { &source.http } else { &[] };
    let points = readings.iter().flat_map(|reading| {
        let own = reading.samples.iter();
        let own = own.filter(|sample| sample.family == family);
        own.map(|sample| point(sample, of_all, source, reading))
    });
    let points: Vec<Json> = points.collect();
    if points.is_empty() {
        return None;
    }
    let mut metric = json!({
        "name": family.otlp,
        "description": format!("{}.", family.help),
        "unit": family.unit.otlp(),
    });
    let (data, mut content) = match family.kind {
        Kind::Count => ("sum", json!({ "isMonotonic": true })),
        Kind::Level => ("sum", json!({ "isMonotonic": false })),
        Kind::Times => ("histogram", json!({})),
    };
    content["aggregationTemporality"] = CUMULATIVE.into();
    content["dataPoints"] = points.into();
    metric[data] = content;
    Some(metric)
}

fn point(sample: &Sample, of_all: &[Label], source: &Source, reading: &Reading) -> Json {
    let labels = [&sample.labels, of_all].concat();
    // What begins anew has another start. A level goes on from one phase to the next.
    let since = match sample.value {
        Value::Level(_) => source.started,
        Value::Count(_) | Value::Times(_) => reading.since,
    };
    let mut point = json!({
        "attributes": attributes(&labels),
        "startTimeUnixNano": nanoseconds(since),
        "timeUnixNano": nanoseconds(reading.at),
    });
    match &sample.value {
        Value::Count(number) | Value::Level(number) => point["asInt"] = integer(number),
        Value::Times(times) => {
            let bounds = BOUNDS.iter().map(|bound| bound.nanoseconds as f64 / 1e9);
            point["count"] = integer(&times.count());
            point["sum"] = times.sum.as_secs_f64().into();
            point["bucketCounts"] = times.buckets.iter().map(integer).collect();
            point["explicitBounds"] = bounds.map(Json::from).collect();
        }
    }
    point
}

fn attributes(labels: &[Label]) -> Json {
    let attribute = |label: &Label| {
        // The one number among them.
        let value = match label.key.as_ref() {
            "server.port" => json!({ "intValue": label.value }),
            _ => json!({ "stringValue": label.value }),
        };
        json!({ "key": label.key, "value": value })
    };
    labels.iter().map(attribute).collect()
}

/// A number of 64 bits, which is a text in JSON.
fn integer(number: &u64) -> Json {
    Json::String(number.to_string())
}

fn nanoseconds(at: SystemTime) -> String {
    let since = at.duration_since(SystemTime::UNIX_EPOCH);
    since.unwrap_or_default().as_nanos().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_collector_did_not_keep_is_found_in_its_answer() {
        for answer in [
            "",
            "{}",
            "<html>",
            r#"{"partialSuccess":{}}"#,
            r#"{"partialSuccess":{"rejectedDataPoints":"0","errorMessage":"a hint"}}"#,
        ] {
            assert_eq!(otlp_rejected(answer.as_bytes()), None, "{answer}");
        }
        for count in ["\"3\"", "3"] {
            let partial =
                format!("{{\"rejectedDataPoints\":{count},\"errorMessage\":\"too old\"}}");
            let answer = format!("{{\"partialSuccess\":{partial}}}");
            let why = otlp_rejected(answer.as_bytes()).unwrap();
            assert_eq!(why, "the collector rejected 3 data points: too old");
        }
    }
}
