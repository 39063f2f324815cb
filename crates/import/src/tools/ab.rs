//! ab (`support/ab.c`, `output_results`).

use deadheat_model::{
    imported::Tool,
    load::{HttpVersion, Reuse},
};

use crate::{
    report::{Damage, ToolReport, damage},
    text::{Cursor, Line, count, fixed, once},
};

const FIRST: &str = "Server Software:";
/// As ab 1.3 and later ones spell it.
const TIMES: [&str; 2] = ["Connnection Times (ms)", "Connection Times (ms)"];
const PERCENTAGES: &str = "Percentage of the requests served within a certain time (ms)";
const MEAN: &str = "[ms] (mean)";
const MEAN_OF_ALL: &str = "[ms] (mean, across all concurrent requests)";
const SERVED: [u64; 9] = [50, 66, 75, 80, 90, 95, 98, 99, 100];
const ROWS: [&str; 4] = ["Connect:", "Processing:", "Waiting:", "Total:"];
/// Lines whose values are of no use here, of all versions.
const OTHERS: [&str; 15] = [
    "Total POSTed:",
    "Total PUT:",
    "Broken pipe errors:",
    "Keep-Alive aborts:",
    "Number of workers:",
    "Number of requests:",
    "Concurrency achieved:",
    "Rampup delay:",
    "SSL/TLS Protocol:",
    "Server Temp Key:",
    "TLS Server Name:",
    "Total body sent:",
    "Document Length:",
    "Server Port:",
    "Write errors:",
];

pub(crate) fn begins(line: &Line) -> bool {
    line.text.starts_with(FIRST)
}

/// Whether a line belongs to a report, so that it is nobody's name.
pub(crate) fn is_of_a_report(line: &Line) -> bool {
    let labels = [
        "Failed requests:",
        "HTML transferred:",
        "Total transferred:",
        "Time per request:",
        "Transfer rate:",
    ];
    let is_row = || {
        ROWS.iter()
            .filter_map(|name| line.after(name))
            .any(|rest| rest.starts_with(|one: char| one.is_ascii_digit()))
    };
    let mut begins = labels.iter().chain(&OTHERS).chain(&DOUBTS).chain(&TIMES);
    begins.any(|begin| line.text.starts_with(begin)) || is_row()
}

/// What has been read.
#[derive(Default)]
struct Fields {
    host: Option<String>,
    port: Option<String>,
    path: Option<String>,
    concurrency: Option<u64>,
    seconds: Option<f64>,
    complete: Option<u64>,
    failed: Option<u64>,
    reasons: Option<Vec<(String, u64)>>,
    non_2xx: Option<u64>,
    kept_alive: Option<u64>,
    received: Option<u64>,
    bodies: Option<u64>,
    rate: Option<f64>,
    mean: Option<f64>,
    mean_of_all: Option<f64>,
    /// Whether the rate is printed without a unit: the oldest versions also print no times per request.
    has_bare_rates: bool,
    /// Whether the times per request have two digits, as before version 2.0.
    has_two_digits: bool,
    transfer: Option<f64>,
}

pub(crate) fn read(cursor: &mut Cursor<'_>) -> Result<ToolReport, Damage> {
    cursor.skip();
    let mut fields = Fields::default();
    while let Some(line) = cursor.peek() {
        if !fields.take(line)? {
            break;
        }
        cursor.skip();
    }
    let mut report = fields.finish(cursor)?;
    if TIMES.iter().any(|title| cursor.is_at(title)) {
        cursor.skip();
        let total = connection_times(cursor)?;
        report.figures.max_ms = Some(total.max);
        report.figures.p50_ms = total.median;
        report.is_doubted = doubts(cursor);
    }
    if cursor.is_at(PERCENTAGES) {
        cursor.skip();
        percentages(cursor, &mut report)?;
    }
    Ok(report)
}

impl Fields {
    /// Whether the line belongs to the first part of the report.
    fn take(&mut self, line: &Line) -> Result<bool, Damage> {
        let text = |value: &str| Some(value.to_owned());
        let bytes = |value: &str| count(value.strip_suffix("bytes")?.trim());
        if let Some(value) = line.after("Server Hostname:") {
            set(&mut self.host, text(value), line, "a host")?;
        } else if let Some(value) = line.after("Document Path:") {
            set(&mut self.path, text(value), line, "a path")?;
        } else if let Some(value) = line.after("Concurrency Level:") {
            set(&mut self.concurrency, count(value), line, "a count")?;
        } else if let Some(value) = line.after("Time taken for tests:") {
            let seconds = value.strip_suffix("seconds").map(str::trim);
            let seconds = seconds.and_then(|value| fixed(value, 3));
            set(
                &mut self.seconds,
                seconds,
                line,
                "a time such as `1.330 seconds`",
            )?;
        } else if let Some(value) = line.after("Complete requests:") {
            set(&mut self.complete, count(value), line, "a count")?;
        } else if let Some(value) = line.after("Failed requests:") {
            set(&mut self.failed, count(value), line, "a count")?;
        } else if line.text.starts_with("(Connect: ") {
            set(
                &mut self.reasons,
                reasons(&line.text),
                line,
                "the reasons of failures",
            )?;
        } else if let Some(value) = line.after("Non-2xx responses:") {
            set(&mut self.non_2xx, count(value), line, "a count")?;
        } else if let Some(value) = line.after("Keep-Alive requests:") {
            set(&mut self.kept_alive, count(value), line, "a count")?;
        } else if let Some(value) = line.after("Total transferred:") {
            set(&mut self.received, bytes(value), line, "a number of bytes")?;
        } else if let Some(value) = line.after("HTML transferred:") {
            set(&mut self.bodies, bytes(value), line, "a number of bytes")?;
        } else if let Some(value) = line.after("Requests per second:") {
            let number = value.strip_suffix("[#/sec] (mean)");
            self.has_bare_rates |= number.is_none();
            let rate = fixed(number.unwrap_or(value).trim(), 2).filter(|_| line.ended);
            set(
                &mut self.rate,
                rate,
                line,
                "a rate such as `3760.26 [#/sec] (mean)`",
            )?;
        } else if let Some(value) = line.after("Time per request:") {
            self.time_per_request(value, line)?;
        } else if let Some(value) = line.after("Transfer rate:") {
            let units = ["[Kbytes/sec] received", "kb/s received"];
            let rate = units.iter().find_map(|unit| value.strip_suffix(unit));
            let rate = rate.and_then(|value| fixed(value.trim(), 2));
            set(
                &mut self.transfer,
                rate,
                line,
                "a rate such as `1931.54 [Kbytes/sec] received`",
            )?;
        } else if let Some(value) = line.after("Server Port:") {
            let port = count(value).filter(|port| *port <= 65535);
            set(
                &mut self.port,
                port.map(|port| port.to_string()),
                line,
                "a port",
            )?;
        } else {
            let is_sent = line.text.ends_with("kb/s sent") || line.text.ends_with("kb/s total");
            return Ok(is_sent || OTHERS.iter().any(|label| line.after(label).is_some()));
        }
        Ok(true)
    }

    fn time_per_request(&mut self, value: &str, line: &Line) -> Result<(), Damage> {
        // Before version 2.0 with two digits.
        let mean = |unit| {
            let value = value.strip_suffix(unit)?.trim();
            fixed(value, 3).or_else(|| fixed(value, 2))
        };
        let number = value.split_once(' ').map_or(value, |(number, _)| number);
        self.has_two_digits |= fixed(number, 2).is_some();
        if let Some(mean) = mean(MEAN) {
            return once(&mut self.mean, mean, line);
        }
        let of_all = "a time such as `26.594 [ms] (mean)`";
        set(&mut self.mean_of_all, mean(MEAN_OF_ALL), line, of_all)
    }

    /// Everything is there, and agrees.
    fn finish(self, cursor: &Cursor<'_>) -> Result<ToolReport, Damage> {
        let mut report = ToolReport::new(Tool::Ab);
        let host = cursor.require(self.host, "Server Hostname:")?;
        let port = cursor.require(self.port, "Server Port:")?;
        let path = cursor.require(self.path, "Document Path:")?;
        report.target = Some(format!("{host}:{port}{path}"));
        let concurrency = cursor.require(self.concurrency, "Concurrency Level:")?;
        report.load.connections = u32::try_from(concurrency).ok();
        report.load.threads = Some(1);
        report.load.http = Some(HttpVersion::Http10);
        report.load.reuse = Some(match self.kept_alive {
            Some(1..) => Reuse::KeepAlive,
            _ => Reuse::PerRequest,
        });
        let figures = &mut report.figures;
        figures.seconds = Some(cursor.require(self.seconds, "Time taken for tests:")?);
        figures.complete = Some(cursor.require(self.complete, "Complete requests:")?);
        let failed = cursor.require(self.failed, "Failed requests:")?;
        figures.failed = Some(failed);
        figures.non_2xx = self.non_2xx;
        figures.received_bytes = Some(cursor.require(self.received, "Total transferred:")?);
        figures.body_bytes = Some(cursor.require(self.bodies, "HTML transferred:")?);
        // ab divides by neither: without an answer it prints no rate.
        let has_rate = figures.complete != Some(0);
        let mut of_all = 0.0;
        if has_rate {
            figures.requests_per_second = Some(cursor.require(self.rate, "Requests per second:")?);
            let rate = cursor.require(self.transfer, "Transfer rate:")?;
            // Before version 2.0, a kilobyte had 1,000 bytes.
            let is_old = self.has_two_digits || self.has_bare_rates;
            let in_kib = if is_old { rate * 1000.0 / 1024.0 } else { rate };
            figures.kib_per_second = Some(in_kib);
        }
        if has_rate && !self.has_bare_rates {
            figures.mean_ms = Some(cursor.require(self.mean, "Time per request: … (mean)")?);
            let name = "Time per request: … (mean, across all concurrent requests)";
            of_all = cursor.require(self.mean_of_all, name)?;
        }
        let reasons = self.reasons.unwrap_or_default();
        if reasons.iter().map(|(_, count)| count).sum::<u64>() != failed {
            return cursor.missing("(Connect: …, Receive: …, Length: …, Exceptions: …)");
        }
        report.failures = reasons
            .into_iter()
            .filter(|(_, count)| *count > 0)
            .collect();
        let mean = report.figures.mean_ms.unwrap_or(of_all);
        // Both are printed with three digits, or with two.
        let rounded = if self.has_two_digits { 0.006 } else { 0.000_6 };
        if (of_all * concurrency as f64 - mean).abs() > rounded * (concurrency as f64 + 1.0) {
            let line = cursor.number();
            return damage(
                line,
                format!("the two times per request, {mean} and {of_all} ms, disagree"),
            );
        }
        Ok(report)
    }
}

/// Sets what a report has only once.
fn set<T>(
    slot: &mut Option<T>,
    value: Option<T>,
    line: &Line,
    expected: &str,
) -> Result<(), Damage> {
    let value = line.expect(value, expected)?;
    once(slot, value, line)
}

/// `(Connect: 0, Receive: 0, Length: 133, Exceptions: 0)`
fn reasons(text: &str) -> Option<Vec<(String, u64)>> {
    let inner = text.strip_prefix('(')?.strip_suffix(')')?;
    let one = |part: &str| {
        let (name, number) = part.split_once(':')?;
        Some((name.trim().to_lowercase(), count(number.trim())?))
    };
    inner.split(',').map(one).collect()
}

struct TotalTimes {
    /// `None`: with `-S`, ab prints none.
    median: Option<f64>,
    max: f64,
}

/// The table of times; the cursor is behind its title.
fn connection_times(cursor: &mut Cursor<'_>) -> Result<TotalTimes, Damage> {
    let header = cursor.peek();
    let header = cursor.require(header, "min  mean[+/-sd] median   max")?;
    let columns: Vec<&str> = header.text.split_whitespace().collect();
    let is_short = columns == ["min", "avg", "max"];
    if !is_short && columns != ["min", "mean[+/-sd]", "median", "max"] {
        return header.wrong("`min  mean[+/-sd] median   max`");
    }
    cursor.skip();
    let mut total = TotalTimes {
        median: None,
        max: 0.0,
    };
    for name in ROWS {
        let line = cursor.peek();
        let line = cursor.require(line, name)?;
        // Before version 2.4, the short table has no such row.
        if is_short && name == "Waiting:" && line.text.starts_with("Total:") {
            continue;
        }
        let read = if is_short { short_row } else { row };
        let row = line.after(name).and_then(read);
        let Some(row) = row.filter(|_| line.ended) else {
            return line.wrong(&format!("`{name}` and its times"));
        };
        total = row;
        cursor.skip();
    }
    Ok(total)
}

/// `    0     1   14`
fn short_row(text: &str) -> Option<TotalTimes> {
    let cells: Option<Vec<u64>> = text.split_whitespace().map(count).collect();
    match cells?.as_slice() {
        [min, mean, max] if min <= mean && mean <= max => Some(TotalTimes {
            median: None,
            max: *max as f64,
        }),
        _ => None,
    }
}

/// `    0     1   0.4      1       5`
fn row(text: &str) -> Option<TotalTimes> {
    let cells: Vec<&str> = text.split_whitespace().collect();
    let [min, mean, deviation, median, max] = cells.as_slice() else {
        return None;
    };
    fixed(deviation, 1)?;
    let (min, mean) = (count(min)?, count(mean)?);
    let (median, max) = (count(median)?, count(max)?);
    let in_order = min <= median && median <= max && min <= mean && mean <= max;
    in_order.then_some(TotalTimes {
        median: Some(median as f64),
        max: max as f64,
    })
}

/// How the lines of ab's own warnings about the table begin. Each warning has two; `WARING` is of version 1.3.
const DOUBTS: [&str; 5] = [
    "ERROR: The median and mean for",
    "WARNING: The median and mean for",
    "WARING: The median and mean for",
    "deviation apart. These results are NOT reliable.",
    "These results are probably not that reliable.",
];

/// Skips ab's own warnings about the table, and says whether there are any.
fn doubts(cursor: &mut Cursor<'_>) -> bool {
    let mut doubted = false;
    while let Some(line) = cursor.peek() {
        if !DOUBTS.iter().any(|begin| line.text.starts_with(begin)) {
            break;
        }
        doubted = true;
        cursor.skip();
    }
    doubted
}

/// The percentiles; the cursor is behind their title.
fn percentages(cursor: &mut Cursor<'_>, report: &mut ToolReport) -> Result<(), Damage> {
    let mut before = 0;
    for percent in SERVED {
        let line = cursor.peek();
        let line = cursor.require(line, &format!("{percent}%"))?;
        let rest = line.after(&format!("{percent}%"));
        let time = if percent == 100 {
            let ends = ["(longest request)", "(last request)"];
            rest.and_then(|rest| ends.iter().find_map(|end| rest.strip_suffix(end)))
        } else {
            rest.filter(|_| line.ended)
        };
        let time = time.and_then(|time| count(time.trim()));
        let time = line.expect(time, &format!("`{percent}%` and a time in ms"))?;
        if time < before {
            return line.wrong(&format!("a time of at least {before} ms"));
        }
        before = time;
        let figures = &mut report.figures;
        match percent {
            50 => figures.p50_ms = Some(time as f64),
            99 => figures.p99_ms = Some(time as f64),
            100 if figures.max_ms.is_some_and(|max| max != time as f64) => {
                return line.wrong("the maximum of `Total:` above");
            }
            100 => figures.max_ms = Some(time as f64),
            _ => {}
        }
        cursor.skip();
    }
    Ok(())
}
