//! hey (`requester/print.go`).

use deadheat_model::{imported::Tool, load::HttpVersion};

use super::statuses::Counted;
use crate::{
    error::{Damage, damage},
    number::{count, decimal, fixed, milliseconds},
    report::Report,
    text::{Cursor, Line, once},
};

/// hey keeps the times of this many answers, and counts all.
const MOST_TIMES: u64 = 1_000_000;

pub(crate) fn read(cursor: &mut Cursor<'_>) -> Result<Report, Damage> {
    cursor.skip();
    let mut report = Report::of(Tool::Hey);
    report.load.http = Some(HttpVersion::Http11);
    let summary = Summary::read(cursor)?;
    report.figures.seconds = Some(summary.total);
    report.figures.requests_per_second = Some(summary.rate);
    report.figures.mean_ms = summary.average;
    report.figures.max_ms = Some(summary.slowest).filter(|_| summary.average.is_some());
    report.figures.body_bytes = summary.bytes;
    let Some(times) = histogram(cursor)? else {
        // Summaries are often published alone.
        report.shows_statuses = false;
        return if summary.average.is_some() {
            Ok(report)
        } else {
            cursor.missing("Status code distribution:")
        };
    };
    percentiles(cursor, &mut report)?;
    details(cursor)?;
    if !cursor.is_at("Status code distribution:") {
        return cursor.missing("Status code distribution:");
    }
    cursor.skip();
    let counted = Counted::read(cursor)?;
    let answers = counted.answers();
    if times != answers && answers <= MOST_TIMES {
        let what = format!("{times} answers in the histogram and {answers} with a status");
        return damage(cursor.number(), what);
    }
    // Everything that was sent, as exactly as the printed digits say it.
    let sent = summary.rate * summary.total;
    let rounded = summary.rate * 0.000_051 + summary.total * 0.000_051;
    let counts = answers + counted.errors();
    if (counts as f64 - sent).abs() > rounded + 0.01 {
        let what =
            format!("{counts} requests are counted, and {sent:.1} were sent by rate and time");
        return damage(cursor.number(), what);
    }
    let figures = &mut report.figures;
    figures.complete = Some(answers);
    figures.non_2xx = Some(counted.non_2xx());
    figures.failed = (counted.is_closed || rounded < 0.4).then(|| counted.failed());
    if answers == 0 {
        figures.requests_per_second = None;
        figures.mean_ms = None;
        figures.max_ms = None;
    } else if summary.average.is_none() {
        return damage(
            cursor.number(),
            "the average is NaN though there were answers",
        );
    }
    report.failures = counted.errors;
    Ok(report)
}

struct Summary {
    total: f64,
    slowest: f64,
    /// `None`: NaN, because there was no answer.
    average: Option<f64>,
    rate: f64,
    bytes: Option<u64>,
}

impl Summary {
    fn read(cursor: &mut Cursor<'_>) -> Result<Self, Damage> {
        let (mut total, mut slowest, mut fastest) = (None, None, None);
        let (mut average, mut rate, mut bytes, mut size) = (None, None, None, None);
        while let Some(line) = cursor.peek() {
            let seconds = |value: &str| fixed(value.strip_suffix("secs")?.trim(), 4);
            let in_ms = |value: &str| {
                seconds(value)?;
                milliseconds(value)
            };
            let of_bytes = |value: &str| count(value.strip_suffix("bytes")?.trim());
            if let Some(value) = line.after("Total:") {
                let value = line.expect(seconds(value), "a time such as `2.2703 secs`")?;
                once(&mut total, value, line)?;
            } else if let Some(value) = line.after("Slowest:") {
                let value = line.expect(in_ms(value), "a time such as `0.0291 secs`")?;
                once(&mut slowest, value, line)?;
            } else if let Some(value) = line.after("Fastest:") {
                let value = line.expect(in_ms(value), "a time such as `0.0002 secs`")?;
                once(&mut fastest, value, line)?;
            } else if let Some(value) = line.after("Average:") {
                let is_none = value == "NaN secs";
                let value = in_ms(value).map(Some).or(is_none.then_some(None));
                let value = line.expect(value, "a time such as `0.0037 secs`")?;
                once(&mut average, value, line)?;
            } else if let Some(value) = line.after("Requests/sec:") {
                let value = line.expect(fixed(value, 4), "a rate such as `13214.2607`")?;
                once(&mut rate, value, line)?;
            } else if let Some(value) = line.after("Total data:") {
                let value = line.expect(of_bytes(value), "a number of bytes")?;
                once(&mut bytes, value, line)?;
            } else if let Some(value) = line.after("Size/request:") {
                let value = line.expect(of_bytes(value), "a number of bytes")?;
                once(&mut size, value, line)?;
            } else {
                break;
            }
            cursor.skip();
        }
        if bytes.is_some() != size.is_some() {
            return cursor.missing("Size/request:");
        }
        let fastest = cursor.require(fastest, "Fastest:")?;
        let summary = Self {
            total: cursor.require(total, "Total:")?,
            slowest: cursor.require(slowest, "Slowest:")?,
            average: cursor.require(average, "Average:")?,
            rate: cursor.require(rate, "Requests/sec:")?,
            bytes,
        };
        if summary.average.is_some_and(|average| average < fastest) {
            return damage(cursor.number(), "the average is less than the fastest");
        }
        Ok(summary)
    }
}

/// The sum of the histogram; `None`: there is none.
fn histogram(cursor: &mut Cursor<'_>) -> Result<Option<u64>, Damage> {
    if !cursor.is_at("Response time histogram:") {
        return Ok(None);
    }
    cursor.skip();
    let mut sum = 0;
    while let Some(line) = cursor.peek() {
        let Some((_, rest)) = line.text.split_once('[') else {
            break;
        };
        let row = rest
            .split_once(']')
            .filter(|(_, bar)| bar.contains(['|', '∎']));
        let row = row.and_then(|(number, _)| count(number.trim()));
        sum += line.expect(row, "a row such as `0.001 [401] |■`")?;
        cursor.skip();
    }
    Ok(Some(sum))
}

fn percentiles(cursor: &mut Cursor<'_>, report: &mut Report) -> Result<(), Damage> {
    if !cursor.is_at("Latency distribution:") {
        return cursor.missing("Latency distribution:");
    }
    cursor.skip();
    while let Some(line) = cursor.peek().filter(|line| line.text.contains(" in ")) {
        let (percent, time) =
            line.expect(percentile(line, 4), "a row such as `50% in 0.0005 secs`")?;
        if percent == 50.0 {
            once(&mut report.figures.p50_ms, time, line)?;
        } else if percent == 99.0 {
            once(&mut report.figures.p99_ms, time, line)?;
        }
        cursor.skip();
    }
    Ok(())
}

/// `50% in 0.0005 secs`, as percent and milliseconds.
pub(super) fn percentile(line: &Line, decimals: usize) -> Option<(f64, f64)> {
    let (percent, time) = line.text.split_once("% in ")?;
    // hey 0.1.5 writes two.
    let percent = percent.strip_suffix('%').unwrap_or(percent);
    let (number, _unit) = time.trim().split_once(' ')?;
    fixed(number, decimals)?;
    Some((decimal(percent, 0)?, milliseconds(time)?))
}

fn details(cursor: &mut Cursor<'_>) -> Result<(), Damage> {
    let parts = [
        "DNS+dialup:",
        "DNS-lookup:",
        "req write:",
        "resp wait:",
        "resp read:",
    ];
    if !cursor.is_before("Details (average") {
        return cursor.missing("Details (average, fastest, slowest):");
    }
    cursor.skip();
    while cursor
        .peek()
        .is_some_and(|line| parts.iter().any(|part| line.text.starts_with(part)))
    {
        cursor.skip();
    }
    Ok(())
}
