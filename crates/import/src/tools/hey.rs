//! hey (`requester/print.go`), and its predecessor boom, whose reports differ in order and titles.

use deadheat_model::{imported::Tool, load::HttpVersion};

use super::StatusCounts;
use crate::{
    report::{Damage, ToolReport, damage},
    text::{Cursor, Line, count, decimal, fixed, measured, milliseconds, once},
};

/// hey records the times and statuses of at most this many answers; some versions record all statuses. Its average is
/// the sum of all times ÷ the number of recorded ones.
const MAX_TIMES: u64 = 1_000_000;

pub(crate) fn read(cursor: &mut Cursor<'_>) -> Result<ToolReport, Damage> {
    cursor.skip();
    let mut report = ToolReport::new(Tool::Hey);
    report.load.http = Some(HttpVersion::Http11);
    let summary = Summary::read(cursor)?;
    report.figures.seconds = Some(summary.total);
    report.figures.requests_per_second = Some(summary.rate);
    report.figures.mean_ms = summary.average;
    report.figures.max_ms = Some(summary.slowest).filter(|_| summary.average.is_some());
    report.figures.body_bytes = summary.bytes;
    let sections = Sections::read(cursor, &mut report)?;
    let Some(times) = sections.histogram else {
        // Summaries are often published alone.
        if sections.counted.is_some() {
            return cursor.missing("Response time histogram:");
        }
        report.shows_statuses = false;
        if summary.average.is_none() {
            report.figures.complete = Some(0);
        }
        return Ok(report);
    };
    if !sections.has_percentiles {
        return cursor.missing("Latency distribution:");
    }
    let counted = cursor.require(sections.counted, "Status code distribution:")?;
    if !sections.has_details && !sections.is_old {
        return cursor.missing("Details (average, fastest, slowest):");
    }
    let answers = counted.answers();
    if times != answers && answers <= MAX_TIMES {
        let what = format!("{times} answers in the histogram and {answers} with a status");
        return damage(cursor.number(), what);
    }
    // Everything that was sent, as exactly as the printed digits say it. boom's rate is of the answers alone.
    let sent = summary.rate * summary.total;
    let rounded = summary.rate * 0.000_051 + summary.total * 0.000_051;
    let counts = answers.saturating_add(counted.errors());
    let fits = |count: u64| (count as f64 - sent).abs() <= rounded + 0.01;
    let is_of_answers = sections.is_old && fits(answers);
    // How many answers there were, and how many of them were errors, is not in such a report.
    let is_cut_off = answers == MAX_TIMES && sent > counts as f64 + rounded + 0.01;
    if !fits(counts) && !is_of_answers && !is_cut_off {
        let what =
            format!("{counts} requests are counted, and {sent:.1} were sent by rate and time");
        return damage(cursor.number(), what);
    }
    let figures = &mut report.figures;
    figures.complete = Some(answers).filter(|_| !is_cut_off);
    figures.non_2xx = Some(counted.non_2xx()).filter(|_| !is_cut_off);
    report.shows_statuses = !is_cut_off;
    if is_cut_off || times < answers {
        figures.mean_ms = None;
    }
    // boom's rate does not say how many were sent.
    let is_counted = rounded < 0.4 && !sections.is_old && !is_cut_off;
    let is_known = counted.is_closed || is_counted;
    figures.failed = is_known.then(|| counted.failed());
    if answers > 0 && summary.average.is_none() {
        return damage(
            cursor.number(),
            "the average is NaN though there were answers",
        );
    }
    report.failures = counted.errors;
    Ok(report)
}

/// What is below the summary. In hey's predecessor boom, the statuses come first and there are no details.
#[derive(Default)]
struct Sections {
    histogram: Option<u64>,
    has_percentiles: bool,
    has_details: bool,
    counted: Option<StatusCounts>,
    /// Whether the order, or a title, is one of before hey 0.1.1.
    is_old: bool,
}

impl Sections {
    fn read(cursor: &mut Cursor<'_>, report: &mut ToolReport) -> Result<Self, Damage> {
        let mut sections = Self::default();
        while let Some(line) = cursor.peek() {
            match line.text.as_str() {
                "Response time histogram:" => {
                    let sum = histogram(cursor)?;
                    once(&mut sections.histogram, sum, line)?;
                }
                "Latency distribution:" if sections.histogram.is_some() => {
                    percentiles(cursor, report)?;
                    sections.has_percentiles = true;
                }
                "Detailed Report:" => {
                    cursor.skip();
                    sections.is_old = true;
                    detailed(cursor);
                }
                "Status code distribution:" => {
                    sections.is_old |= sections.histogram.is_none();
                    cursor.skip();
                    let counted = StatusCounts::read(cursor)?;
                    once(&mut sections.counted, counted, line)?;
                    // Today's reports end here.
                    if !sections.is_old {
                        break;
                    }
                }
                "Error distribution:" if sections.is_old => {
                    let Some(counted) = &mut sections.counted else {
                        break;
                    };
                    counted.read_errors(cursor)?;
                    return Ok(sections);
                }
                text if text.starts_with("Details (average") => {
                    details(cursor);
                    sections.has_details = true;
                }
                _ => break,
            }
        }
        // The errors of such a report would be here.
        if let Some(counted) = sections.counted.as_mut().filter(|_| sections.is_old) {
            counted.is_closed = cursor.is_followed_by(2);
        }
        Ok(sections)
    }
}

/// Skips the times of the parts of a request, as hey 0.1.0 prints them.
fn detailed(cursor: &mut Cursor<'_>) {
    let parts = [
        "Average:", "Fastest:", "Slowest:", "DNS", "Request", "Response", "TCP",
    ];
    while cursor.peek().is_some_and(|line| {
        let is_title =
            ["Response time histogram:", "Latency distribution:"].contains(&line.text.as_str());
        !is_title && parts.iter().any(|part| line.text.starts_with(part))
    }) {
        cursor.skip();
    }
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
            // boom ends such a line with a point.
            let without_point = |value: &str| value.strip_suffix('.').unwrap_or(value).to_owned();
            let seconds = |value: &str| fixed(without_point(value).strip_suffix("secs")?.trim(), 4);
            let in_ms = |value: &str| {
                seconds(value)?;
                milliseconds(&without_point(value))
            };
            let of_bytes = |value: &str| count(without_point(value).strip_suffix("bytes")?.trim());
            let after = |labels: &[&str]| labels.iter().find_map(|label| line.after(label));
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
                let value = line.expect(measured(value, in_ms), "a time such as `0.0037 secs`")?;
                once(&mut average, value, line)?;
            } else if let Some(value) = line.after("Requests/sec:") {
                let value = line.expect(fixed(value, 4), "a rate such as `13214.2607`")?;
                once(&mut rate, value, line)?;
            } else if let Some(value) = after(&[
                "Total data:",
                "Total Data Received:",
                "Total Data Recieved:",
            ]) {
                let value = line.expect(of_bytes(value), "a number of bytes")?;
                once(&mut bytes, value, line)?;
            } else if let Some(value) = after(&["Size/request:", "Response Size per Request:"]) {
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

/// The sum of the histogram; the cursor is at its title.
fn histogram(cursor: &mut Cursor<'_>) -> Result<u64, Damage> {
    cursor.skip();
    let mut sum = 0_u64;
    while let Some(line) = cursor.peek() {
        let Some((_, rest)) = line.text.split_once('[') else {
            break;
        };
        let row = rest
            .split_once(']')
            .filter(|(_, bar)| bar.contains(['|', '∎']));
        let row = row.and_then(|(number, _)| count(number.trim()));
        let row = row.and_then(|count| sum.checked_add(count));
        sum = line.expect(row, "a row such as `0.001 [401] |■`")?;
        cursor.skip();
    }
    Ok(sum)
}

fn percentiles(cursor: &mut Cursor<'_>, report: &mut ToolReport) -> Result<(), Damage> {
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
    let time = time.trim().trim_end_matches('.');
    let (number, _unit) = time.split_once(' ')?;
    fixed(number, decimals)?;
    Some((decimal(percent, 0)?, milliseconds(time)?))
}

fn details(cursor: &mut Cursor<'_>) {
    let parts = [
        "DNS+dialup:",
        "DNS-lookup:",
        "req write:",
        "resp wait:",
        "resp read:",
    ];
    cursor.skip();
    while cursor
        .peek()
        .is_some_and(|line| parts.iter().any(|part| line.text.starts_with(part)))
    {
        cursor.skip();
    }
}
