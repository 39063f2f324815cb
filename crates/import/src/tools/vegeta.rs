//! vegeta's text (`lib/reporters.go`).

use deadheat_model::{imported::Tool, load::HttpVersion};

use crate::{
    error::{Damage, damage},
    number::{count, fixed, go_duration, shifted},
    report::Report,
    text::{Cursor, Line},
};

pub(crate) fn begins(line: &Line) -> bool {
    line.text.starts_with("Requests") && line.text.contains("[total, rate")
}

pub(crate) fn read(cursor: &mut Cursor<'_>) -> Result<Report, Damage> {
    let mut report = Report::of(Tool::Vegeta);
    report.load.http = Some(HttpVersion::Http11);
    report.load.is_open = true;
    let (_, values) = row(cursor, "Requests")?;
    let line = cursor.number();
    let read = || match values.as_slice() {
        [total, rate, throughput] => Some((count(total)?, fixed(rate, 2)?, fixed(throughput, 2)?)),
        _ => None,
    };
    let Some((total, rate, throughput)) = read() else {
        return damage(
            line,
            "expected `Requests [total, rate, throughput]` and three numbers",
        );
    };
    cursor.skip();
    let (_, values) = row(cursor, "Duration")?;
    let Some(seconds) = values
        .first()
        .and_then(|total| shifted(go_duration(total)?, -3))
    else {
        return damage(
            cursor.number(),
            "expected `Duration [total, attack, wait]` and three times",
        );
    };
    cursor.skip();
    report.load.requests = Some(total);
    report.load.rate = Some(rate);
    report.figures.seconds = Some(seconds);
    report.figures.requests_per_second = Some(throughput);
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
    statuses(cursor, &mut report, total)?;
    Ok(report)
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

fn latencies(cursor: &mut Cursor<'_>, report: &mut Report) -> Result<(), Damage> {
    let (names, values) = row(cursor, "Latencies")?;
    if names.len() != values.len() {
        return damage(
            cursor.number(),
            format!("{} names and {} times", names.len(), values.len()),
        );
    }
    for (name, value) in names.iter().zip(&values) {
        let Some(time) = go_duration(value) else {
            return damage(cursor.number(), format!("`{value}` is no time"));
        };
        let figures = &mut report.figures;
        match name.as_str() {
            "mean" => figures.mean_ms = Some(time),
            "50" => figures.p50_ms = Some(time),
            "99" => figures.p99_ms = Some(time),
            "max" => figures.max_ms = Some(time),
            _ => {}
        }
    }
    cursor.skip();
    Ok(())
}

/// `Status Codes [code:count] 200:95  0:5`
fn statuses(cursor: &mut Cursor<'_>, report: &mut Report, total: u64) -> Result<(), Damage> {
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
    settle(report, &codes, total).or_else(|what| damage(line.number, what))?;
    cursor.skip();
    if !cursor.is_at("Error Set:") {
        return cursor.missing("Error Set:");
    }
    cursor.skip();
    Ok(())
}

/// Takes the counts of statuses into the report; 0 is no answer.
///
/// # Errors
/// How they disagree with the total.
pub(super) fn settle(report: &mut Report, codes: &[(u16, u64)], total: u64) -> Result<(), String> {
    let sum: u64 = codes.iter().map(|(_, count)| count).sum();
    if sum != total {
        return Err(format!(
            "the counts of statuses add up to {sum}, and there were {total} requests"
        ));
    }
    let of = |matches: fn(u16) -> bool| -> u64 {
        let these = codes.iter().filter(|(code, _)| matches(*code));
        these.map(|(_, count)| count).sum()
    };
    let failed = of(|code| code == 0);
    report.figures.complete = Some(total - failed);
    report.figures.failed = Some(failed);
    report.figures.non_2xx = Some(of(|code| code != 0 && !(200..300).contains(&code)));
    report.failed("no answer", failed);
    if total == failed {
        report.figures.requests_per_second = None;
    }
    Ok(())
}
