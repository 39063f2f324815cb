//! The JSON of oha, vegeta and k6, also between other text: where a value begins, its length, and the likely tool if it
//! is damaged.

use deadheat_model::{imported::Tool, load::HttpVersion};
use serde::de::IgnoredAny;
use serde_json::{Deserializer, Value};

use super::{
    StatusCounts,
    k6::{self, FailedRequests},
    oha, vegeta,
};
use crate::{
    report::{FigureError, ToolReport},
    text::{Line, shifted},
};

/// Keys that identify the report of a tool, even if it is damaged.
pub(crate) const MARKS: [(&str, Tool); 3] = [
    ("\"successRate\"", Tool::Oha),
    ("\"latencies\"", Tool::Vegeta),
    ("\"http_req_duration\"", Tool::K6),
];

/// Why the JSON of a tool is no report.
#[derive(Debug, thiserror::Error)]
pub(crate) enum JsonError {
    #[error("`{path}` is missing, or no {expected}")]
    Missing {
        path: &'static str,
        expected: &'static str,
    },
    #[error("`{path}`: `{found}` is not a {expected}")]
    Wrong {
        path: &'static str,
        found: String,
        expected: &'static str,
    },
    #[error("the metric `{metric}` is missing")]
    NoMetric { metric: &'static str },
    #[error("`/summary/requestsPerSec` is null, though there were answers")]
    NoRate,
    #[error(transparent)]
    Figures(#[from] FigureError),
}

/// The tool of a report, and the report or its problem; `None`: the value is no report.
pub(crate) fn read(value: &Value) -> Option<(Tool, Result<ToolReport, JsonError>)> {
    if value.pointer("/summary/successRate").is_some() {
        Some((Tool::Oha, of_oha(value)))
    } else if value.get("latencies").is_some() && value.get("status_codes").is_some() {
        Some((Tool::Vegeta, of_vegeta(value)))
    } else if value.pointer("/metrics/http_reqs").is_some() {
        Some((Tool::K6, of_k6(value)))
    } else {
        None
    }
}

/// A required number.
fn number(value: &Value, path: &'static str) -> Result<f64, JsonError> {
    let found = value.pointer(path).and_then(Value::as_f64);
    let found = found.filter(|number| number.is_finite() && *number >= 0.0);
    found.ok_or(JsonError::Missing {
        path,
        expected: "positive number",
    })
}

/// A required number, which is null if nothing was measured.
fn nullable(value: &Value, path: &'static str) -> Result<Option<f64>, JsonError> {
    match value.pointer(path) {
        Some(Value::Null) => Ok(None),
        _ => number(value, path).map(Some),
    }
}

/// A required count.
fn whole(value: &Value, path: &'static str) -> Result<u64, JsonError> {
    let found = value.pointer(path).and_then(Value::as_u64);
    found.ok_or(JsonError::Missing {
        path,
        expected: "count",
    })
}

/// A number, if it is there and not null, times ten to the `exponent`.
fn optional(value: &Value, path: &'static str, exponent: i32) -> Result<Option<f64>, JsonError> {
    match value.pointer(path) {
        None | Some(Value::Null) => Ok(None),
        Some(_) => Ok(shifted(number(value, path)?, exponent)),
    }
}

/// An object whose values are counts.
fn counts(value: &Value, path: &'static str) -> Result<Vec<(String, u64)>, JsonError> {
    let object = value.pointer(path).and_then(Value::as_object);
    let object = object.ok_or(JsonError::Missing {
        path,
        expected: "object",
    })?;
    let one = |(key, number): (&String, &Value)| {
        let number = number.as_u64().ok_or_else(|| JsonError::Wrong {
            path,
            found: key.clone(),
            expected: "count",
        })?;
        Ok((key.clone(), number))
    };
    object.iter().map(one).collect()
}

fn statuses(value: &Value, path: &'static str) -> Result<Vec<(u16, u64)>, JsonError> {
    let one = |(code, count): (String, u64)| {
        let status = code.parse().map_err(|_| JsonError::Wrong {
            path,
            found: code,
            expected: "status",
        })?;
        Ok((status, count))
    };
    counts(value, path)?.into_iter().map(one).collect()
}

fn of_oha(value: &Value) -> Result<ToolReport, JsonError> {
    let mut report = ToolReport::new(Tool::Oha);
    report.load.http = Some(HttpVersion::Http11);
    let figures = &mut report.figures;
    figures.seconds = Some(number(value, "/summary/total")?);
    figures.requests_per_second = nullable(value, "/summary/requestsPerSec")?;
    figures.mean_ms = optional(value, "/summary/average", 3)?;
    figures.max_ms = optional(value, "/summary/slowest", 3)?;
    figures.p50_ms = optional(value, "/latencyPercentiles/p50", 3)?;
    figures.p99_ms = optional(value, "/latencyPercentiles/p99", 3)?;
    figures.body_bytes = Some(whole(value, "/summary/totalData")?);
    figures.kib_per_second = nullable(value, "/summary/sizePerSec")?.map(|size| size / 1024.0);
    let counted = StatusCounts {
        statuses: statuses(value, "/statusCodeDistribution")?,
        errors: counts(value, "/errorDistribution")?,
        is_closed: true,
    };
    if report.figures.requests_per_second.is_none() && counted.answers() > 0 {
        return Err(JsonError::NoRate);
    }
    oha::settle(&mut report, counted, 1e-6)?;
    Ok(report)
}

fn of_vegeta(value: &Value) -> Result<ToolReport, JsonError> {
    let mut report = ToolReport::new(Tool::Vegeta);
    report.load.http = Some(HttpVersion::Http11);
    report.load.is_open = true;
    let total = whole(value, "/requests")?;
    report.load.requests = Some(total);
    // The rate came with version 6, the throughput with 12.6.
    report.sent_rate = optional(value, "/rate", 0)?;
    report.load.rate = report
        .sent_rate
        .and_then(|rate| vegeta::asked_rate(rate, total));
    let figures = &mut report.figures;
    let attack = whole(value, "/duration")?;
    let wait = value.get("wait").and_then(Value::as_u64).unwrap_or(0);
    figures.seconds = shifted(attack.saturating_add(wait) as f64, -9);
    let has_throughput = value.get("throughput").is_some();
    figures.requests_per_second = optional(value, "/throughput", 0)?;
    figures.mean_ms = nullable(value, "/latencies/mean")?.and_then(|mean| shifted(mean, -6));
    figures.max_ms = nullable(value, "/latencies/max")?.and_then(|max| shifted(max, -6));
    figures.p50_ms = optional(value, "/latencies/50th", -6)?;
    figures.p99_ms = optional(value, "/latencies/99th", -6)?;
    figures.body_bytes = Some(whole(value, "/bytes_in/total")?);
    let codes = statuses(value, "/status_codes")?;
    vegeta::settle(&mut report, &codes, total, has_throughput)?;
    Ok(report)
}

/// Of `--summary-export`, or of `handleSummary`, which puts the figures of a metric into `values`.
fn of_k6(value: &Value) -> Result<ToolReport, JsonError> {
    let mut report = ToolReport::new(Tool::K6);
    let of = |metric: &str| {
        let values = value.pointer(&format!("/metrics/{metric}/values"));
        values.or_else(|| value.pointer(&format!("/metrics/{metric}")))
    };
    let required = |metric: &'static str| of(metric).ok_or(JsonError::NoMetric { metric });
    let duration = required("http_req_duration")?;
    let figures = &mut report.figures;
    figures.mean_ms = nullable(duration, "/avg")?;
    figures.p50_ms = optional(duration, "/med", 0)?;
    figures.p99_ms = optional(duration, "/p(99)", 0)?;
    figures.max_ms = optional(duration, "/max", 0)?;
    let milliseconds = value
        .pointer("/state/testRunDurationMs")
        .and_then(Value::as_f64);
    figures.seconds = milliseconds.and_then(|time| shifted(time, -3));
    let requests = required("http_reqs")?;
    let (count, rate) = (whole(requests, "/count")?, number(requests, "/rate")?);
    let failed = of("http_req_failed").map(|failed| {
        let counts = (whole(failed, "/passes")?, whole(failed, "/fails")?);
        let share = number(failed, "/rate").or_else(|_| number(failed, "/value"))?;
        let of_all = counts.0.saturating_add(counts.1);
        let failed = counts.0;
        Ok::<_, JsonError>(FailedRequests {
            share,
            failed,
            of_all,
        })
    });
    let failed = failed.transpose()?;
    report.load.is_open = of(k6::DROPPED).is_some();
    report.shows_statuses = failed.is_some();
    report.has_zero_times = optional(duration, "/min", 0)? == Some(0.0);
    if let Some(users) = of("vus_max") {
        let most = number(users, "/max").or_else(|_| number(users, "/value"))?;
        report.load.connections = Some(most as u32).filter(|users| *users > 0);
    }
    k6::settle(&mut report, count, rate, failed)?;
    Ok(report)
}

/// The longest value in bytes. Reports have some kilobytes. In memory a value takes many times its length.
const LONGEST: usize = 1 << 20;

/// The text in one piece, for JSON of many lines. Each byte is read a bounded number of times, whatever the text.
pub(crate) struct JsonText<'a> {
    lines: &'a [Line],
    /// Empty if no line begins a value.
    text: String,
    /// Where each line begins in it.
    begins: Vec<usize>,
    /// The positions of the keys that identify reports, and their tools.
    marks: Vec<(usize, Tool)>,
    /// The lines that are part of no value: empty ones and fences.
    ends: Vec<usize>,
    /// Lines before this one belong to a value that failed.
    next: usize,
}

/// Why there is no value.
pub(crate) struct BadJson {
    /// The index of the line.
    pub(crate) line: usize,
    pub(crate) why: String,
}

impl<'a> JsonText<'a> {
    pub(crate) fn new(lines: &'a [Line]) -> Self {
        let mut text = String::new();
        let (mut begins, mut ends) = (Vec::new(), Vec::new());
        if lines.iter().any(|line| line.text.starts_with('{')) {
            for (index, line) in lines.iter().enumerate() {
                if line.is_empty() || line.is_fence() {
                    ends.push(index);
                }
                begins.push(text.len());
                text += &line.text;
                text.push('\n');
            }
        }
        let of_mark = |(mark, tool): &(&str, Tool)| -> Vec<(usize, Tool)> {
            let found = text.match_indices(mark);
            found.map(|(at, _)| (at, *tool)).collect()
        };
        let mut marks: Vec<(usize, Tool)> = MARKS.iter().flat_map(of_mark).collect();
        marks.sort_by_key(|(at, _)| *at);
        Self {
            lines,
            text,
            begins,
            marks,
            ends,
            next: 0,
        }
    }

    /// The value that begins at a line, and its number of lines; `None`: the line belongs to a value that failed
    /// before.
    pub(crate) fn value(&mut self, at: usize) -> Result<Option<(Value, usize)>, BadJson> {
        if at < self.next {
            return Ok(None);
        }
        let rest = &self.text[self.begins[at]..];
        // First parse without keeping the value.
        let mut values = Deserializer::from_str(rest).into_iter::<IgnoredAny>();
        let failed = match values.next() {
            Some(Ok(_)) | None => None,
            Some(Err(error)) if error.is_eof() => Some((self.lines.len() - 1, error.to_string())),
            Some(Err(error)) => Some((at + error.line().saturating_sub(1), error.to_string())),
        };
        if let Some((line, why)) = failed {
            // What failed may end where another value begins.
            self.next = if line + 1 == self.lines.len() {
                line + 1
            } else {
                line.max(at + 1)
            };
            return Err(BadJson { line, why });
        }
        let end = values.byte_offset();
        let length = rest[..end].matches('\n').count() + 1;
        if end > LONGEST {
            self.next = at + length;
            let why = format!("the value has {end} bytes, and no report has more than {LONGEST}");
            return Err(BadJson { line: at, why });
        }
        let value = serde_json::from_str(&rest[..end]).unwrap_or(Value::Null);
        Ok(Some((value, length)))
    }

    /// The likely tool of the damaged value at a line. The value ends at the latest at an empty line or a fence.
    pub(crate) fn marked(&self, at: usize) -> Option<Tool> {
        let from = self.begins[at];
        let first = self.marks.partition_point(|(mark, _)| *mark < from);
        let (mark, tool) = *self.marks.get(first)?;
        let line = self.begins.partition_point(|begin| *begin <= mark) - 1;
        let end = self.ends.partition_point(|end| *end < at);
        let is_before_end = self.ends.get(end).is_none_or(|end| line < *end);
        is_before_end.then_some(tool)
    }
}
