//! vegeta's text (`lib/reporters.go`).

use deadheat_model::{imported::Tool, load::HttpVersion};

use super::sum;
use crate::{
    report::{Damage, FigureError, ToolReport, damage},
    text::{Cursor, Line, count, fixed, go_duration, measured, shifted},
};

pub(crate) fn begins(line: &Line) -> bool {
    line.text.starts_with("Requests")
        && (line.text.contains("[total]") || line.text.contains("[total, rate"))
}

pub(crate) fn read(cursor: &mut Cursor<'_>) -> Result<ToolReport, Damage> {
    let mut report = ToolReport::new(Tool::Vegeta);
    report.load.http = Some(HttpVersion::Http11);
    report.load.is_open = true;
    let (_, values) = row(cursor, "Requests")?;
    let line = cursor.number();
    let measured_rate = |text: &str| measured(text, |text| fixed(text, 2));
    // The rate came with version 6, the throughput with 12.6.
    let read = || match values.as_slice() {
        [total] => Some((count(total)?, None, None)),
        [total, rate] => Some((count(total)?, measured_rate(rate)?, None)),
        [total, rate, throughput] => Some((
            count(total)?,
            measured_rate(rate)?,
            Some(measured_rate(throughput)?),
        )),
        _ => None,
    };
    let Some((total, rate, throughput)) = read() else {
        return damage(
            line,
            "expected `Requests [total, rate, throughput]` and as many numbers",
        );
    };
    cursor.skip();
    let (_, values) = row(cursor, "Duration")?;
    let times: Option<Vec<f64>> = values.iter().map(|time| go_duration(time)).collect();
    let times = times.filter(|times| [1, 3].contains(&times.len()));
    let Some(seconds) = times.and_then(|times| shifted(*times.first()?, -3)) else {
        return damage(
            cursor.number(),
            "expected `Duration [total, attack, wait]` and as many times",
        );
    };
    cursor.skip();
    report.load.requests = Some(total);
    report.sent_rate = rate;
    report.load.rate = rate.and_then(|rate| asked_rate(rate, total));
    report.figures.seconds = Some(seconds);
    report.figures.requests_per_second = throughput.flatten();
    latencies(cursor, &mut report)?;
    let (_, values) = row(cursor, "Bytes In")?;
    report.figures.body_bytes = values.first().and_then(|total| count(total));
    if report.figures.body_bytes.is_none() || values.len() != 2 {
        return damage(
            cursor.number(),
            "expected `Bytes In [total, mean]` and two numbers",
        );
    }
    cursor.skip();
    row(cursor, "Bytes Out")?;
    cursor.skip();
    let (_, values) = row(cursor, "Success")?;
    if !values.last().is_some_and(|ratio| ratio.ends_with('%')) {
        return damage(cursor.number(), "expected `Success [ratio]` and a share");
    }
    cursor.skip();
    statuses(cursor, &mut report, total, throughput.is_some())?;
    Ok(report)
}

/// The rate that vegeta was asked for, by the one that it prints: requests ÷ the time from the first start to the last,
/// which is one interval too short. Starts are a little late, so three digits of it are known.
pub(crate) fn asked_rate(printed: f64, requests: u64) -> Option<f64> {
    let asked = printed * requests.saturating_sub(1) as f64 / requests as f64;
    format!("{asked:.2e}")
        .parse()
        .ok()
        .filter(|rate| *rate > 0.0)
}

/// The names in brackets and the values of a row; the cursor stays on it.
fn row(cursor: &mut Cursor<'_>, name: &str) -> Result<(Vec<String>, Vec<String>), Damage> {
    let line = cursor.peek();
    let line = cursor.require(line, name)?;
    let read = || {
        let rest = line.after(name)?.strip_prefix('[')?;
        let (names, values) = rest.split_once(']')?;
        let split = |text: &str| text.split(", ").map(|one| one.trim().to_owned()).collect();
        Some((split(names), split(values)))
    };
    line.expect(read(), &format!("`{name} […]` and its values"))
}

fn latencies(cursor: &mut Cursor<'_>, report: &mut ToolReport) -> Result<(), Damage> {
    let (names, values) = row(cursor, "Latencies")?;
    if names.len() != values.len() {
        return damage(
            cursor.number(),
            format!("{} names and {} times", names.len(), values.len()),
        );
    }
    for (name, value) in names.iter().zip(&values) {
        let Some(time) = measured(value, go_duration) else {
            return damage(cursor.number(), format!("`{value}` is no time"));
        };
        let figures = &mut report.figures;
        match name.as_str() {
            "mean" => figures.mean_ms = time,
            "50" => figures.p50_ms = time,
            "99" => figures.p99_ms = time,
            "max" => figures.max_ms = time,
            _ => {}
        }
    }
    cursor.skip();
    Ok(())
}

/// `Status Codes [code:count] 200:95  0:5`
fn statuses(
    cursor: &mut Cursor<'_>,
    report: &mut ToolReport,
    total: u64,
    has_throughput: bool,
) -> Result<(), Damage> {
    let line = cursor.peek();
    let line = cursor.require(line, "Status Codes")?;
    let read = || {
        let (_, codes) = line.after("Status Codes")?.split_once(']')?;
        let one = |pair: &str| {
            let (code, number) = pair.split_once(':')?;
            Some((u16::try_from(count(code)?).ok()?, count(number)?))
        };
        codes
            .split_whitespace()
            .map(one)
            .collect::<Option<Vec<_>>>()
    };
    let codes = line.expect(
        read(),
        "`Status Codes [code:count]` and pairs such as `200:95`",
    )?;
    settle(report, &codes, total, has_throughput).or_else(|what| damage(line.number, what))?;
    cursor.skip();
    if !cursor.is_at("Error Set:") {
        return cursor.missing("Error Set:");
    }
    cursor.skip();
    Ok(())
}

/// Takes the counts of statuses into the report; 0 is no answer. Without a throughput, it is what later versions print:
/// answers of 200 to 399 in the whole time.
///
/// # Errors
/// How they disagree with the total.
pub(super) fn settle(
    report: &mut ToolReport,
    codes: &[(u16, u64)],
    total: u64,
    has_throughput: bool,
) -> Result<(), FigureError> {
    let of = |matches: fn(u16) -> bool| -> u64 {
        let these = codes.iter().filter(|(code, _)| matches(*code));
        sum(these.map(|(_, count)| *count))
    };
    let all = of(|_| true);
    if all != total {
        return Err(FigureError::Statuses { all, total });
    }
    let failed = of(|code| code == 0);
    report.figures.complete = Some(total - failed);
    report.figures.failed = Some(failed);
    report.figures.non_2xx = Some(of(|code| code != 0 && !(200..300).contains(&code)));
    report.failed("no answer", failed);
    let seconds = report.figures.seconds.filter(|seconds| *seconds > 0.0);
    if let Some(seconds) = seconds.filter(|_| !has_throughput) {
        let succeeded = of(|code| (200..400).contains(&code));
        let rate = succeeded as f64 / seconds;
        report.figures.requests_per_second = Some((rate * 100.0).round() / 100.0);
    }
    Ok(())
}
