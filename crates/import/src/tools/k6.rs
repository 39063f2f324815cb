//! k6's summary at the end of a test, of before and after version 1.0.

use deadheat_model::imported::Tool;

use crate::{
    report::{Damage, FigureError, ToolReport, damage, foreign},
    text::{Cursor, Line, count, decimal, go_duration, measured, once, shifted},
};

/// The name and the value of a metric: `http_reqs......................: 180 4.36938/s`.
fn metric(line: &Line) -> Option<(&str, &str)> {
    let text = line.text.trim_start_matches(['✓', '✗', ' ']);
    let (name, value) = text.split_once(':')?;
    let bare = name.trim_end_matches('.');
    let is_name = |one: u8| one.is_ascii_alphanumeric() || one == b'_';
    (name.len() > bare.len() + 1 && !bare.is_empty() && bare.bytes().all(is_name))
        .then_some((bare, value.trim()))
}

pub(crate) fn begins(line: &Line) -> bool {
    metric(line).is_some()
}

/// The metric of iterations that were due and could not be started. Only open loops have it.
pub(super) const DROPPED: &str = "dropped_iterations";

pub(crate) fn read(cursor: &mut Cursor<'_>) -> Result<ToolReport, Damage> {
    let mut report = ToolReport::new(Tool::K6);
    let first = cursor.number();
    let (mut duration, mut requests, mut failed, mut users) = (None, None, None, None);
    while let Some(line) = cursor.peek() {
        let Some((name, value)) = metric(line) else {
            if is_between(line) {
                cursor.skip();
                continue;
            }
            break;
        };
        match name {
            "http_req_duration" => {
                let times = line.expect(times(value), "`avg=… min=… med=… max=…` with units")?;
                once(&mut duration, times, line)?;
            }
            "http_reqs" => {
                let read = line.expect(
                    count_and_rate(value),
                    "a count and a rate such as `180 4.36938/s`",
                )?;
                once(&mut requests, read, line)?;
            }
            "http_req_failed" => {
                let read = line.expect(share(value), "a share and two counts")?;
                once(&mut failed, read, line)?;
            }
            "vus_max" => {
                let most = value
                    .split_whitespace()
                    .find_map(|cell| cell.strip_prefix("max="));
                let most = most.filter(|_| line.ended).and_then(count);
                once(
                    &mut users,
                    line.expect(most, "`max=` and a count, and the end of the line")?,
                    line,
                )?;
            }
            DROPPED => report.load.is_open = true,
            _ => {}
        }
        cursor.skip();
    }
    if duration.is_none() && requests.is_none() {
        return foreign(first, "k6 without HTTP requests");
    }
    let times = cursor.require(duration, "http_req_duration")?;
    let (count, rate) = cursor.require(requests, "http_reqs")?;
    report.load.connections = users.and_then(|users| u32::try_from(users).ok());
    let figures = &mut report.figures;
    figures.mean_ms = times.mean;
    figures.p50_ms = times.median;
    figures.p99_ms = times.p99;
    figures.max_ms = times.max;
    report.has_zero_times = times.min == Some(0.0);
    report.shows_statuses = failed.is_some();
    settle(&mut report, count, rate, failed).or_else(|what| damage(cursor.number(), what))?;
    Ok(report)
}

/// Titles, thresholds and submetrics.
fn is_between(line: &Line) -> bool {
    let is_title = |text: &str| {
        !text.is_empty()
            && text
                .bytes()
                .all(|one| one.is_ascii_uppercase() || one == b' ')
    };
    line.text.starts_with(['{', '█', '✓', '✗']) || is_title(&line.text)
}

/// Takes the counts into the report.
///
/// # Errors
/// How they disagree.
pub(super) fn settle(
    report: &mut ToolReport,
    count: u64,
    rate: f64,
    failed: Option<FailedRequests>,
) -> Result<(), FigureError> {
    let figures = &mut report.figures;
    if let Some(failed) = failed {
        let total = failed.of_all as f64;
        if failed.of_all != count
            || (failed.failed as f64 - failed.share * total).abs() > 0.000_051 * total + 1e-6
        {
            return Err(FigureError::Requests {
                of_all: failed.of_all,
                count,
            });
        }
    }
    figures.complete = Some(count);
    figures.requests_per_second = Some(rate).filter(|_| count > 0);
    figures.failed = failed.map(|failed| failed.failed);
    Ok(())
}

/// Requests that failed, as k6 counts: status 400 and above, and those without an answer.
#[derive(Clone, Copy, Debug)]
pub(super) struct FailedRequests {
    pub(super) share: f64,
    pub(super) failed: u64,
    pub(super) of_all: u64,
}

struct Times {
    min: Option<f64>,
    mean: Option<f64>,
    median: Option<f64>,
    max: Option<f64>,
    p99: Option<f64>,
}

/// `avg=144.56ms min=104.11ms med=110.47ms max=1.14s p(90)=203.54ms p(95)=215.95ms`
fn times(text: &str) -> Option<Times> {
    let mut times = Times {
        min: None,
        mean: None,
        median: None,
        max: None,
        p99: None,
    };
    let mut has_mean = false;
    for cell in text.split_whitespace() {
        let (name, value) = cell.split_once('=')?;
        let slot = match name {
            "avg" => &mut times.mean,
            "med" | "p(50)" => &mut times.median,
            "max" => &mut times.max,
            "p(99)" => &mut times.p99,
            "count" => continue,
            "min" => &mut times.min,
            _ => &mut None,
        };
        *slot = measured(value, go_duration)?;
        has_mean |= name == "avg";
    }
    let in_order = times
        .mean
        .zip(times.max)
        .is_none_or(|(mean, max)| mean <= max);
    (has_mean && in_order).then_some(times)
}

/// `180 4.36938/s`
fn count_and_rate(text: &str) -> Option<(u64, f64)> {
    let (number, rate) = text.split_once(' ')?;
    Some((count(number)?, decimal(rate.trim().strip_suffix("/s")?, 0)?))
}

/// `0.00% ✓ 0 ✗ 180`, or `0.00% 0 out of 45`.
fn share(text: &str) -> Option<FailedRequests> {
    let (share, counts) = text.split_once('%')?;
    let share = shifted(decimal(share, 0)?, -2)?;
    let (failed, of_all) = if let Some((failed, of_all)) = counts.split_once(" out of ") {
        (count(failed.trim())?, count(of_all.trim())?)
    } else {
        let (failed, others) = counts.trim().strip_prefix('✓')?.split_once('✗')?;
        let failed = count(failed.trim())?;
        (failed, failed.checked_add(count(others.trim())?)?)
    };
    Some(FailedRequests {
        share,
        failed,
        of_all,
    })
}
