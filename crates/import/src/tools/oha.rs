//! oha's text (`src/printer.rs`).

use deadheat_model::{imported::Tool, load::HttpVersion};

use super::{StatusCounts, hey::percentile};
use crate::{
    report::{Damage, FigureError, ToolReport, damage},
    text::{Cursor, fixed, is_unmeasured, kib, measured, milliseconds, once, shifted},
};

pub(crate) fn read(cursor: &mut Cursor<'_>) -> Result<ToolReport, Damage> {
    cursor.skip();
    let mut report = ToolReport::new(Tool::Oha);
    report.load.http = Some(HttpVersion::Http11);
    let summary = Summary::read(cursor)?;
    percentiles(cursor, &mut report)?;
    while cursor.peek().is_some_and(|line| {
        ["Details (average", "DNS+dialup:", "DNS-lookup:"]
            .iter()
            .any(|begin| line.text.starts_with(begin))
    }) {
        cursor.skip();
    }
    if !cursor.is_at("Status code distribution:") {
        return cursor.missing("Status code distribution:");
    }
    cursor.skip();
    let counted = StatusCounts::read(cursor)?;
    let figures = &mut report.figures;
    figures.seconds = shifted(summary.total_ms, -3);
    figures.requests_per_second = Some(summary.rate);
    figures.mean_ms = summary.average;
    figures.max_ms = summary.slowest;
    figures.kib_per_second = summary.transfer;
    settle(&mut report, counted, summary.rounded).or_else(|what| damage(cursor.number(), what))?;
    Ok(report)
}

/// Takes what was counted into the report, if it agrees with rate and time. Requests that the end cut off count in
/// some versions' rates.
///
/// # Errors
/// How it disagrees.
pub(super) fn settle(
    report: &mut ToolReport,
    counted: StatusCounts,
    rounded: f64,
) -> Result<(), FigureError> {
    let figures = &mut report.figures;
    let seconds = figures.seconds.unwrap_or(0.0);
    // No rate is printed when nothing was answered.
    let rate = figures.requests_per_second;
    let sent = rate.unwrap_or(0.0) * seconds;
    let has_rate = rate.is_some();
    let rate = rate.unwrap_or(0.0);
    let rounded = rate * rounded + seconds * 0.000_051 + 0.01;
    let counts = [
        counted.answers().saturating_add(counted.errors()),
        counted.answers().saturating_add(counted.failed()),
    ];
    if has_rate
        && counts
            .iter()
            .all(|count| (*count as f64 - sent).abs() > rounded)
    {
        return Err(FigureError::Counts {
            counted: counts[0],
            sent,
        });
    }
    figures.complete = Some(counted.answers());
    figures.non_2xx = Some(counted.non_2xx());
    figures.failed = (counted.is_closed || rounded < 0.4).then(|| counted.failed());
    report.failures = counted.errors;
    report
        .failures
        .retain(|(reason, _)| !super::is_deadline(reason));
    Ok(())
}

struct Summary {
    total_ms: f64,
    /// Seconds by which the total is rounded.
    rounded: f64,
    slowest: Option<f64>,
    average: Option<f64>,
    rate: f64,
    transfer: Option<f64>,
}

impl Summary {
    fn read(cursor: &mut Cursor<'_>) -> Result<Self, Damage> {
        let (mut total, mut slowest, mut average) = (None, None, None);
        let (mut rate, mut success, mut transfer) = (None, None, None);
        while let Some(line) = cursor.peek() {
            let time = |value: &str| {
                let (number, _unit) = value.split_once(' ')?;
                fixed(number, 4)?;
                milliseconds(value)
            };
            // Without any answer there is no average.
            let time_or_none = |value: &str| measured(value, time);
            if let Some(value) = line.after("Success rate:") {
                // Before version 0.5.5 as a number up to 1.
                let is_share = |value: &&str| match value.strip_suffix('%') {
                    Some(percent) => fixed(percent, 2).is_some() || is_unmeasured(percent),
                    None => fixed(value, 4).is_some() || is_unmeasured(value),
                };
                let value = Some(value).filter(is_share);
                let value = line.expect(value, "a share such as `100.00%`")?;
                once(&mut success, value.to_owned(), line)?;
            } else if let Some(value) = line.after("Total:") {
                let ms = line.expect(time(value), "a time such as `1.0026 secs`")?;
                let unit = value.split_once(' ').map_or("", |(_, unit)| unit);
                let rounded = milliseconds(&format!("0.000051 {unit}")).unwrap_or(0.0) / 1e3;
                once(&mut total, (ms, rounded), line)?;
            } else if let Some(value) = line.after("Slowest:") {
                let value = line.expect(time_or_none(value), "a time such as `0.0091 secs`")?;
                once(&mut slowest, value, line)?;
            } else if let Some(value) = line.after("Average:") {
                let value = line.expect(time_or_none(value), "a time such as `0.0037 secs`")?;
                once(&mut average, value, line)?;
            } else if let Some(value) = line.after("Requests/sec:") {
                let value = line.expect(fixed(value, 4), "a rate such as `13214.2607`")?;
                once(&mut rate, value, line)?;
            } else if let Some(value) = line.after("Size/sec:") {
                let value = line.expect(measured(value, kib), "a size such as `6.35 KiB`")?;
                once(&mut transfer, value, line)?;
            } else if !["Fastest:", "Total data:", "Size/request:"]
                .iter()
                .any(|label| line.after(label).is_some())
            {
                break;
            }
            cursor.skip();
        }
        cursor.require(success, "Success rate:")?;
        let (total_ms, rounded) = cursor.require(total, "Total:")?;
        Ok(Self {
            total_ms,
            rounded,
            slowest: cursor.require(slowest, "Slowest:")?,
            average: cursor.require(average, "Average:")?,
            rate: cursor.require(rate, "Requests/sec:")?,
            transfer: transfer.flatten(),
        })
    }
}

/// Skips histograms and takes the percentiles of all answers; later versions also print those of 2xx alone.
fn percentiles(cursor: &mut Cursor<'_>, report: &mut ToolReport) -> Result<(), Damage> {
    let mut of_all = false;
    let mut seen = false;
    while let Some(line) = cursor.peek() {
        let text = line.text.as_str();
        let is_title = ["Response time ", "Latency "]
            .iter()
            .any(|begin| text.starts_with(begin));
        if is_title && text.ends_with(':') {
            of_all = ["Response time distribution:", "Latency distribution:"].contains(&text);
            seen |= of_all;
        } else if text.contains("% in ") {
            let (_, time) = text.split_once("% in ").unwrap_or_default();
            let is_none = is_unmeasured(time);
            if of_all && !is_none {
                let row = percentile(line, 4);
                let (percent, time) = line.expect(row, "a row such as `50.00% in 0.0005 secs`")?;
                if percent == 50.0 {
                    once(&mut report.figures.p50_ms, time, line)?;
                } else if percent == 99.0 {
                    once(&mut report.figures.p99_ms, time, line)?;
                }
            }
        } else if !(text.contains('[') && text.contains('|')) {
            break;
        }
        cursor.skip();
    }
    if seen {
        Ok(())
    } else {
        cursor.missing("Response time distribution:")
    }
}
