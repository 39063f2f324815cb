//! Readings in the formats of monitoring systems:
//!
//! - OTLP as JSON (<https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding>): what a collector takes by HTTP, and,
//!   a line per interval, what OpenTelemetry's file exporters write.
//! - OpenMetrics 1.0 (<https://prometheus.io/docs/specs/om/open_metrics_spec/>), with the instant of each sample, so that
//!   the file can be read into Prometheus afterwards (`promtool tsdb create-blocks-from openmetrics`).

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    time::{Duration, SystemTime},
};

use serde_json::{Value as Json, json};

use super::{
    Source,
    readings::{BOUNDS, FAMILIES, Family, Kind, Label, Reading, Sample, Times, Value},
};

/// Counts continue from one reading to the next (`AggregationTemporality`).
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

/// A metric with its points; `None`: it has no points.
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
    // Values that begin anew have another start. A level continues from one phase to the next.
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

/// The values of a series by time, in milliseconds since the epoch, which is Prometheus's resolution.
type Points = BTreeMap<u128, Value>;

/// All readings of a load as one text. OpenMetrics requires samples of a metric to be adjacent, so it can only be
/// written at the end.
pub fn open_metrics(source: &Source, readings: &[Reading]) -> String {
    let own = [
        Label::new("run", &source.run),
        Label::new("url", &source.url),
    ];
    let mut text = Text {
        written: String::new(),
        common: labels(&[&own[..], &source.labels].concat()),
    };
    text.info(source, readings);
    for family in FAMILIES {
        text.family(family, &series(family, readings));
    }
    text.written += "# EOF\n";
    text.written
}

/// The series of a metric. Counters and distributions begin with a zero, because an increase is computed from the value
/// before.
fn series<'a>(family: &Family, readings: &'a [Reading]) -> BTreeMap<&'a [Label], Points> {
    let mut series: BTreeMap<&[Label], Points> = BTreeMap::new();
    for reading in readings {
        let own = reading.samples.iter();
        for sample in own.filter(|sample| sample.family == family) {
            let at = milliseconds(reading.at);
            let points = series.entry(&sample.labels).or_insert_with(|| {
                let beginning = sample.value.beginning().into_iter();
                // A phase can be shorter than a millisecond.
                let since = milliseconds(reading.since).min(at.saturating_sub(1));
                beginning.map(|zero| (since, zero)).collect()
            });
            points.insert(at, sample.value.clone());
        }
    }
    series
}

/// The text so far.
struct Text {
    written: String,
    /// The labels of all samples.
    common: String,
}

impl Text {
    /// Which Deadheat it was, at the instant of each reading.
    fn info(&mut self, source: &Source, readings: &[Reading]) {
        self.head("deadheat", "info", None, "The Deadheat that sent the load");
        let version = labels(&[Label::new("version", &source.version)]);
        let mut instants: Vec<u128> = readings.iter().map(|one| milliseconds(one.at)).collect();
        instants.dedup();
        for at in instants {
            self.sample("deadheat_info", &version, "1", at);
        }
    }

    fn family(&mut self, family: &Family, series: &BTreeMap<&[Label], Points>) {
        if series.is_empty() {
            return;
        }
        let kind = match family.kind {
            Kind::Count => "counter",
            Kind::Level => "gauge",
            Kind::Times => "histogram",
        };
        self.head(family.name, kind, family.unit.open_metrics(), family.help);
        for (own, points) in series {
            let own = labels(own);
            for (at, value) in points {
                self.point(family.name, &own, value, *at);
            }
        }
    }

    fn head(&mut self, name: &str, kind: &str, unit: Option<&str>, help: &str) {
        let unit = unit.map_or(String::new(), |unit| format!("# UNIT {name} {unit}\n"));
        self.written += &format!("# TYPE {name} {kind}\n{unit}# HELP {name} {help}.\n");
    }

    fn point(&mut self, name: &str, own: &str, value: &Value, at: u128) {
        match value {
            Value::Level(level) => self.sample(name, own, &level.to_string(), at),
            Value::Count(count) => {
                self.sample(&format!("{name}_total"), own, &count.to_string(), at);
            }
            Value::Times(times) => self.times(name, own, times, at),
        }
    }

    fn times(&mut self, name: &str, own: &str, times: &Times, at: u128) {
        let bucket = format!("{name}_bucket");
        let bounds = BOUNDS.iter().map(|bound| bound.le).chain(["+Inf"]);
        let mut up_to = 0;
        for (le, count) in bounds.zip(&times.buckets) {
            up_to += count;
            let bounded = format!("{own}le=\"{le}\",");
            self.sample(&bucket, &bounded, &up_to.to_string(), at);
        }
        self.sample(&format!("{name}_count"), own, &up_to.to_string(), at);
        let sum = times.sum.as_secs_f64().to_string();
        self.sample(&format!("{name}_sum"), own, &sum, at);
    }

    fn sample(&mut self, name: &str, own: &str, value: &str, at: u128) {
        let common = self.common.trim_end_matches(',');
        let (seconds, milliseconds) = (at / 1_000, at % 1_000);
        // Writing into a String does not fail.
        let _ = writeln!(
            self.written,
            "{name}{{{own}{common}}} {value} {seconds}.{milliseconds:03}"
        );
    }
}

/// Labels as they are written, each with a comma behind it.
fn labels(labels: &[Label]) -> String {
    let label = |label: &Label| {
        let key = label.key.replace('.', "_");
        let value = label.value.replace('\\', r"\\").replace('"', "\\\"");
        format!("{key}=\"{}\",", value.replace('\n', r"\n"))
    };
    labels.iter().map(label).collect()
}

fn milliseconds(at: SystemTime) -> u128 {
    let since = at.duration_since(SystemTime::UNIX_EPOCH);
    let rounded = since.unwrap_or_default() + Duration::from_micros(500);
    rounded.as_millis()
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

    #[test]
    fn a_label_cannot_end_before_its_end() {
        let nasty = Label::new("error.type", "a\\\"} 1\n# EOF");
        assert_eq!(labels(&[nasty]), "error_type=\"a\\\\\\\"} 1\\n# EOF\",");
    }
}
