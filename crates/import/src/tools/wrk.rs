//! wrk (`src/wrk.c`, `src/stats.c`, `src/units.c`), and wrk2, which adds HdrHistogram's block.

use deadheat_model::{imported::Tool, load::HttpVersion};

use crate::{
    report::{Damage, ToolReport, damage, foreign},
    text::{
        Cursor, Line, count, decimal, fixed, is_unmeasured, kib, measured, milliseconds, once,
        shifted,
    },
};

pub(crate) fn begins(line: &Line) -> bool {
    url(&line.text).is_some()
}

/// Whether a line belongs to a report, so that it is nobody's name.
pub(crate) fn is_of_a_report(line: &Line) -> bool {
    let begins = [
        "Socket errors:",
        "Non-2xx or 3xx responses:",
        "Thread Stats",
        "#[",
    ];
    begins.iter().any(|begin| line.text.starts_with(begin))
        || (line.text.contains(" requests in ") && line.text.ends_with(" read"))
}

/// The URL in the first line. Before version 2.0, wrk sent a number of requests.
fn url(text: &str) -> Option<&str> {
    let (before, url) = if text.starts_with("Running ") {
        text.split_once(" test @ ")?
    } else {
        text.strip_prefix("Making ")?.split_once(" requests to ")?
    };
    (!before.is_empty()).then_some(url)
}

pub(crate) fn read(cursor: &mut Cursor<'_>) -> Result<ToolReport, Damage> {
    let mut report = ToolReport::new(Tool::Wrk);
    report.load.http = Some(HttpVersion::Http11);
    if let Some(line) = cursor.peek() {
        report.target = url(&line.text).map(str::to_owned);
        let requests = line.text.strip_prefix("Making ");
        let requests = requests.and_then(|rest| rest.split_once(' '));
        report.load.requests = requests.and_then(|(requests, _)| count(requests));
    }
    cursor.skip();
    let line = cursor.peek();
    let line = cursor.require(line, "N threads and N connections")?;
    if let Some(tool) = borrower(line) {
        return foreign(line.number, tool);
    }
    let (threads, connections) =
        line.expect(counts(&line.text), "`N threads and N connections`")?;
    report.load.threads = Some(threads);
    report.load.connections = Some(connections);
    cursor.skip();
    times(cursor, &mut report)?;
    distribution(cursor, &mut report)?;
    totals(cursor, &mut report)?;
    Ok(report)
}

/// Whose report has wrk's first line, and then this one.
fn borrower(line: &Line) -> Option<&'static str> {
    let text = line.text.as_str();
    let begins_with = |word: &str| {
        let rest = text.trim_start_matches(|one: char| one.is_ascii_digit());
        rest.len() < text.len() && rest.trim_start().starts_with(word)
    };
    if begins_with("thread") || begins(line) {
        None
    } else if text.contains("goroutine") {
        Some("go-wrk")
    } else if begins_with("connection") {
        Some("autocannon")
    } else {
        Some("another tool that prints wrk's first line")
    }
}

/// `2 threads and 10 connections`
fn counts(text: &str) -> Option<(u32, u32)> {
    let (threads, rest) = text.split_once(" threads and ")?;
    let connections = rest.strip_suffix(" connections")?;
    let number = |text: &str| u32::try_from(count(text)?).ok();
    Some((number(threads)?, number(connections)?))
}

/// Average and maximum; the times are dropped if their share, or their average, says that none was recorded.
fn times(cursor: &mut Cursor<'_>, report: &mut ToolReport) -> Result<(), Damage> {
    while cursor
        .peek()
        .is_some_and(|line| line.text.starts_with("Thread calibration:"))
    {
        report.tool = Tool::Wrk2;
        cursor.skip();
    }
    if !cursor.is_before("Thread Stats") {
        return cursor.missing("Thread Stats   Avg      Stdev     Max   +/- Stdev");
    }
    cursor.skip();
    let line = cursor.peek();
    let line = cursor.require(line, "Latency")?;
    let cells: Vec<&str> = line
        .after("Latency")
        .unwrap_or("")
        .split_whitespace()
        .collect();
    let read = || {
        let [average, deviation, max, within] = cells.as_slice() else {
            return None;
        };
        let share = within.strip_suffix('%')?;
        let average = measured(average, milliseconds)?;
        let max = measured(max, milliseconds)?;
        // wrk2 prints some as negative.
        measured(deviation.trim_start_matches('-'), milliseconds)?;
        let times = average.zip(max).filter(|_| !is_unmeasured(share));
        times
            .is_none_or(|(average, max)| average <= max)
            .then_some(times)
    };
    let times = line.expect(
        read(),
        "`Latency`, three times that fit each other, and a share",
    )?;
    // Otherwise, zeros represent times that were not recorded.
    let times = times.filter(|(_, max)| *max > 0.0);
    report.figures.mean_ms = times.map(|(average, _)| average);
    report.figures.max_ms = times.map(|(_, max)| max);
    report.lacks_times = times.is_none();
    cursor.skip();
    let line = cursor.peek();
    let line = cursor.require(line, "Req/Sec")?;
    if let Some(cells) = line.after("Req/Sec") {
        let cells: Vec<&str> = cells.split_whitespace().collect();
        if line.ended && cells.len() == 4 && cells.iter().all(|cell| fixed(cell, 2).is_some()) {
            return foreign(line.number, "Hyperfoil's wrk");
        }
    }
    if !line.text.starts_with("Req/Sec") || !line.text.ends_with('%') {
        return line.wrong("`Req/Sec`, three rates and a share");
    }
    cursor.skip();
    Ok(())
}

/// wrk's percentiles, or HdrHistogram's; of wrk2 also those that it did not correct, which are skipped.
fn distribution(cursor: &mut Cursor<'_>, report: &mut ToolReport) -> Result<(), Damage> {
    let mut is_corrected = true;
    let (mut median, mut p99) = (None, None);
    while let Some(line) = cursor.peek() {
        let text = line.text.as_str();
        if text.starts_with("Latency Distribution") {
            if text.contains("HdrHistogram") {
                report.tool = Tool::Wrk2;
            }
            is_corrected = !text.contains("Uncorrected");
        } else if let Some((percent, time)) = text.split_once('%') {
            let read = || Some((decimal(percent.trim(), 0)?, measured(time, milliseconds)?));
            let (percent, time) = line.expect(read(), "a row such as `50%  146.00us`")?;
            if is_corrected && percent == 50.0 {
                once(&mut median, time, line)?;
            } else if is_corrected && percent == 99.0 {
                once(&mut p99, time, line)?;
            }
        } else if !is_spectrum(text) {
            break;
        }
        cursor.skip();
    }
    if !report.lacks_times {
        report.figures.p50_ms = median.flatten();
        report.figures.p99_ms = p99.flatten();
    }
    Ok(())
}

/// A line of HdrHistogram's detailed table.
fn is_spectrum(text: &str) -> bool {
    let begins = ["Detailed Percentile", "Value ", "#[", "--------"];
    let is_row = || {
        let mut cells = text.split_whitespace();
        let is_number = |cell: &str| decimal(cell, 0).is_some() || is_unmeasured(cell);
        text.split_whitespace().take(3).count() == 3 && cells.all(is_number)
    };
    begins.iter().any(|begin| text.starts_with(begin)) || is_row()
}

fn totals(cursor: &mut Cursor<'_>, report: &mut ToolReport) -> Result<(), Damage> {
    let line = cursor.peek();
    let line = cursor.require(line, "N requests in TIME, SIZE read")?;
    let read = || {
        let (requests, rest) = line.text.split_once(" requests in ")?;
        let (time, size) = rest.split_once(", ")?;
        kib(size.strip_suffix(" read")?)?;
        let (seconds, rounded) = (shifted(milliseconds(time)?, -3)?, rounding(time)?);
        Some((count(requests)?, seconds, rounded))
    };
    let (requests, seconds, rounded) = line.expect(read(), "`N requests in TIME, SIZE read`")?;
    cursor.skip();
    report.figures.complete = Some(requests);
    report.figures.seconds = Some(seconds);
    if let Some(line) = cursor
        .peek()
        .filter(|line| line.text.starts_with("Socket errors:"))
    {
        let errors = line.after("Socket errors:").and_then(socket_errors);
        let errors = line.expect(errors, "`connect N, read N, write N, timeout N`")?;
        // The answer of a timeout came, late: it is among the complete requests.
        let (late, failed): (Vec<_>, Vec<_>) =
            errors.into_iter().partition(|(kind, _)| *kind == "timeout");
        report.late = late.iter().map(|(_, count)| count).sum();
        let all = failed
            .iter()
            .try_fold(0_u64, |all, (_, count)| all.checked_add(*count));
        report.figures.failed = Some(line.expect(all, "counts")?);
        for (kind, count) in failed {
            report.failed(kind, count);
        }
        cursor.skip();
    }
    if let Some(line) = cursor.peek()
        && let Some(value) = line.after("Non-2xx or 3xx responses:")
    {
        report.figures.non_2xx = Some(line.expect(count(value), "a count")?);
        cursor.skip();
    }
    let line = cursor.peek();
    let line = cursor.require(line, "Requests/sec:")?;
    let rate = line
        .after("Requests/sec:")
        .and_then(|value| fixed(value, 2));
    let rate = line.expect(rate, "`Requests/sec:` and a rate")?;
    // The line's digits would not show that some are missing.
    if (rate * seconds - requests as f64).abs() > rate * rounded + 0.01 * seconds + 0.01 {
        return damage(
            line.number,
            format!("{requests} requests in {seconds} s are not {rate} requests/s"),
        );
    }
    report.figures.requests_per_second = Some(rate);
    cursor.skip();
    let line = cursor.peek();
    let line = cursor.require(line, "Transfer/sec:")?;
    let transfer = line.after("Transfer/sec:").and_then(kib);
    report.figures.kib_per_second = Some(line.expect(transfer, "`Transfer/sec:` and a size")?);
    cursor.skip();
    Ok(())
}

/// Half of the last of two decimals of a time, in seconds, and a hair more.
fn rounding(time: &str) -> Option<f64> {
    let unit = time.trim_start_matches(|one: char| one.is_ascii_digit() || one == '.');
    Some(milliseconds(&format!("0.0051{unit}"))? / 1e3)
}

/// `connect 0, read 6224, write 0, timeout 0`
fn socket_errors(text: &str) -> Option<Vec<(&'static str, u64)>> {
    let kinds = ["connect", "read", "write", "timeout"];
    let parts: Vec<&str> = text.split(", ").collect();
    let one = |(kind, part): (&'static str, &&str)| {
        let number = part.strip_prefix(kind)?;
        Some((kind, count(number.trim())?))
    };
    let has_all = parts.len() == kinds.len();
    let errors: Option<Vec<_>> = kinds.into_iter().zip(&parts).map(one).collect();
    errors.filter(|_| has_all)
}
