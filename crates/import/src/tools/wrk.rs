//! wrk (`src/wrk.c`, `src/units.c`), and wrk2, which adds HdrHistogram's block.

use deadheat_model::{imported::Tool, load::HttpVersion};

use crate::{
    error::{Damage, damage},
    number::{count, decimal, fixed, kib, milliseconds, shifted},
    report::Report,
    text::{Cursor, Line, once},
};

pub(crate) fn begins(line: &Line) -> bool {
    line.text.starts_with("Running ") && line.text.contains(" test @ ")
}

pub(crate) fn read(cursor: &mut Cursor<'_>) -> Result<Report, Damage> {
    let mut report = Report::of(Tool::Wrk);
    report.load.http = Some(HttpVersion::Http11);
    let url = cursor
        .peek()
        .and_then(|line| line.text.split_once(" test @ "));
    report.target = url.map(|(_, url)| url.to_owned());
    cursor.skip();
    let line = cursor.peek();
    let line = cursor.require(line, "N threads and N connections")?;
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

/// `2 threads and 10 connections`
fn counts(text: &str) -> Option<(u32, u32)> {
    let (threads, rest) = text.split_once(" threads and ")?;
    let connections = rest.strip_suffix(" connections")?;
    let number = |text: &str| u32::try_from(count(text)?).ok();
    Some((number(threads)?, number(connections)?))
}

/// Average and maximum.
fn times(cursor: &mut Cursor<'_>, report: &mut Report) -> Result<(), Damage> {
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
        let deviation = deviation.strip_prefix('-').unwrap_or(deviation);
        (milliseconds(deviation).is_some() || deviation.contains("nan")).then_some(())?;
        within.strip_suffix('%')?;
        let none = average.contains("nan");
        let average = milliseconds(average).or(none.then_some(0.0))?;
        let max = milliseconds(max)?;
        (average <= max).then_some((average, max))
    };
    let (average, max) = line.expect(
        read(),
        "`Latency`, three times that fit each other, and a share",
    )?;
    report.figures.mean_ms = Some(average);
    report.figures.max_ms = Some(max);
    cursor.skip();
    let line = cursor.peek();
    let line = cursor.require(line, "Req/Sec")?;
    if !line.text.starts_with("Req/Sec") || !line.text.ends_with('%') {
        return line.wrong("`Req/Sec`, three rates and a share");
    }
    cursor.skip();
    Ok(())
}

/// wrk's percentiles, or HdrHistogram's; of wrk2 also those that it did not correct, which are skipped.
fn distribution(cursor: &mut Cursor<'_>, report: &mut Report) -> Result<(), Damage> {
    let mut is_corrected = true;
    while let Some(line) = cursor.peek() {
        let text = line.text.as_str();
        if text.starts_with("Latency Distribution") {
            if text.contains("HdrHistogram") {
                report.tool = Tool::Wrk2;
            }
            is_corrected = !text.contains("Uncorrected");
        } else if let Some((percent, time)) = text.split_once('%') {
            let read = || Some((decimal(percent.trim(), 0)?, milliseconds(time)?));
            let (percent, time) = line.expect(read(), "a row such as `50%  146.00us`")?;
            if is_corrected && percent == 50.0 {
                once(&mut report.figures.p50_ms, time, line)?;
            } else if is_corrected && percent == 99.0 {
                once(&mut report.figures.p99_ms, time, line)?;
            }
        } else if !is_spectrum(text) {
            break;
        }
        cursor.skip();
    }
    Ok(())
}

/// A line of HdrHistogram's detailed table.
fn is_spectrum(text: &str) -> bool {
    let begins = ["Detailed Percentile", "Value ", "#[", "--------"];
    let is_row = || {
        let mut cells = text.split_whitespace();
        let is_number = |cell: &str| decimal(cell, 0).is_some() || cell == "inf";
        text.split_whitespace().count() >= 3 && cells.all(is_number)
    };
    begins.iter().any(|begin| text.starts_with(begin)) || is_row()
}

fn totals(cursor: &mut Cursor<'_>, report: &mut Report) -> Result<(), Damage> {
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
        report.figures.failed = Some(errors.iter().map(|(_, count)| count).sum());
        for (kind, count) in errors {
            report.failed(&kind, count);
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
    if requests == 0 {
        let figures = &mut report.figures;
        figures.requests_per_second = None;
        figures.mean_ms = None;
        figures.p50_ms = None;
        figures.p99_ms = None;
        figures.max_ms = None;
    }
    Ok(())
}

/// Half of the last of two decimals of a time, in seconds, and a hair more.
fn rounding(time: &str) -> Option<f64> {
    let unit = time.trim_start_matches(|one: char| one.is_ascii_digit() || one == '.');
    Some(milliseconds(&format!("0.0051{unit}"))? / 1e3)
}

/// `connect 0, read 6224, write 0, timeout 0`
fn socket_errors(text: &str) -> Option<Vec<(String, u64)>> {
    let kinds = ["connect", "read", "write", "timeout"];
    let parts: Vec<&str> = text.split(", ").collect();
    let one = |(kind, part): (&str, &&str)| {
        let number = part.strip_prefix(kind)?;
        Some((kind.to_owned(), count(number.trim())?))
    };
    let has_all = parts.len() == kinds.len();
    let errors: Option<Vec<_>> = kinds.into_iter().zip(&parts).map(one).collect();
    errors.filter(|_| has_all)
}
