//! What speaks against the figures of reports, in words; the most important first.

use std::collections::HashMap;

use deadheat_model::{
    figure::{byte_rate, capital, count, counted, separated, some},
    imported::{ENOUGH_RUNS, Run, Tool},
    load::Reuse,
    warning::{Warning, doubt},
};

use crate::report::ToolReport;

/// A shorter run is much of start and end, in seconds.
const SHORT: f64 = 1.0;
/// Fewer requests on each connection are much of start and end.
const FEW_REQUESTS: u64 = 10;
/// ab has one thread: beyond this rate, or these KiB per second, it may be the limit.
const RATE_OF_AB: f64 = 20_000.0;
const KIB_OF_AB: f64 = 1024.0 * 1024.0;
/// The same of one thread of wrk.
const RATE_OF_WRK: f64 = 50_000.0;
/// The most servers that a warning names.
const MAX_ODD: usize = 8;
/// Servers this close to the fastest may share a limit.
const CLOSE: f64 = 0.03;

/// What speaks against one run.
pub(crate) fn of_run(run: &Run, report: &ToolReport) -> Vec<Warning> {
    let mut warnings = Vec::new();
    errors(run, report, &mut warnings);
    let figures = &run.figures;
    let (complete, asked) = (figures.complete, run.load.requests);
    if let (Some(complete), Some(asked)) = (complete, asked)
        && run.tool == Tool::H2load
        && complete < asked
    {
        warnings.push(doubt("stopped", format!(
            "The run stopped after {} of {} requests: the rate covers the requests before that.",
            count(complete),
            count(asked)
        )));
    }
    // Answers of any kind: whether they were right is another warning. The last of them ends after the last is sent.
    let wait = figures.p50_ms.or(figures.mean_ms).unwrap_or(0.0) / 1e3;
    let seconds = figures.seconds.map(|seconds| seconds - wait);
    let done = complete
        .zip(seconds.filter(|seconds| *seconds > 0.0))
        .map(|(complete, seconds)| complete as f64 / seconds);
    let asked_rate = run.load.rate.or(report.sent_rate);
    if let (Some(rate), Some(done)) = (asked_rate, done.or(figures.requests_per_second))
        && done < 0.97 * rate
    {
        warnings.push(doubt("rate-not-reached", format!(
            "Only {} of the {} requests/s that were asked for were answered: times grow with the length of such a run.",
            whole(done),
            whole(rate)
        )));
    }
    if let Some(limit) = limit(run) {
        warnings.push(limit);
    }
    if figures.seconds.is_some_and(|seconds| seconds < SHORT) {
        let seconds = figures.seconds.unwrap_or(0.0);
        warnings.push(doubt(
            "short",
            format!("The run took {seconds} s: a longer one could have another rate."),
        ));
    } else if let (Some(complete), Some(connections)) = (complete, run.load.connections)
        && complete / u64::from(connections.max(1)) < FEW_REQUESTS
    {
        warnings.push(doubt(
            "few-requests",
            format!(
                "{} over {} are few: starting and ending are much of the run.",
                counted(complete, "request"),
                counted(connections, "connection")
            ),
        ));
    }
    if report.lacks_times {
        let why = match run.tool {
            Tool::Wrk2 => ": wrk2 records times only after its calibration of ten seconds",
            _ => "",
        };
        warnings.push(doubt("no-times", format!(
            "No time of an answer was recorded, so mean, percentiles and maximum are unknown{why}."
        )));
    }
    if run.figures != report.figures {
        warnings.push(doubt("rounded-to-zero", format!(
            "A time that is too short for the digits of {} is printed as 0: such times are excluded.",
            run.tool.name()
        )));
    }
    if report.has_zero_times
        && !report.lacks_times
        && figures.failed.is_some_and(|failed| failed > 0)
    {
        warnings.push(doubt(
            "zero-times",
            "Requests without an answer count as 0 s, so the times are too low.",
        ));
    }
    if report.is_doubted {
        warnings.push(doubt(
            "doubted-times",
            "The times are doubted by ab itself: their mean and median differ too much.",
        ));
    }
    warnings
}

/// Answers that were errors, and requests without an answer.
fn errors(run: &Run, report: &ToolReport, warnings: &mut Vec<Warning>) {
    let figures = &run.figures;
    let complete = figures.complete.unwrap_or(0);
    let counts_errors = if run.tool == Tool::Vegeta {
        "the rate excludes them"
    } else {
        "the rate counts them"
    };
    if let Some(invalid) = run.invalid() {
        warnings.push(doubt(
            "invalid",
            format!(
                "{}: the rate is not one of the server's work.",
                capital(invalid)
            ),
        ));
    } else if let Some(errors) = figures.non_2xx.filter(|errors| *errors > 0) {
        warnings.push(doubt(
            "errors",
            format!(
                "{} of {} answers were errors by their status, and {counts_errors}.",
                count(errors),
                count(complete)
            ),
        ));
    }
    let by_length = report.failures_of("length");
    if run.tool == Tool::Ab && by_length > 0 {
        let text = format!(
            "{} of {} answers were not as long as the first, or never came: harmless only if the content varies.",
            count(by_length),
            count(complete)
        );
        warnings.push(doubt("lengths", text).with("answers", by_length));
    }
    let others: Vec<String> = report
        .failures
        .iter()
        .filter(|(kind, _)| run.tool != Tool::Ab || kind != "length")
        .map(|(kind, number)| format!("{kind}: {}", count(*number)))
        .collect();
    if !others.is_empty() {
        warnings.push(doubt(
            "failures",
            format!("Requests failed ({}).", others.join(", ")),
        ));
    } else if run.tool == Tool::K6
        && run.invalid().is_none()
        && figures.failed.is_some_and(|failed| failed > 0)
    {
        let failed = figures.failed.unwrap_or(0);
        warnings.push(doubt(
            "failures",
            format!(
                "{} of {} requests failed, and the rate counts them.",
                count(failed),
                count(complete)
            ),
        ));
    }
    if report.late > 0 && complete > 0 {
        let late = report.late;
        // Before version 4, and in wrk2, a timer counts the connections that wait, every few seconds.
        let text = if run.tool == Tool::Wrk && late <= complete {
            format!(
                "{} of {} answers took longer than wrk's timeout: the rate counts them, and no percentile does.",
                count(late),
                count(complete)
            )
        } else {
            format!(
                "{} times a connection had waited for longer than {}'s timeout; whether an answer came is not known.",
                count(late),
                run.tool.name()
            )
        };
        warnings.push(doubt("late-answers", text));
    }
    if !report.shows_statuses {
        warnings.push(doubt(
            "no-statuses",
            "The report does not have the statuses of all answers: errors would count as throughput.",
        ));
    }
}

/// Whether the generator may have been the limit.
fn limit(run: &Run) -> Option<Warning> {
    let rate = run.valid_rate()?;
    let kib = run.figures.kib_per_second.unwrap_or(0.0);
    let is_near = match run.tool {
        Tool::Ab => rate > RATE_OF_AB || kib > KIB_OF_AB,
        Tool::Wrk => run.load.threads == Some(1) && rate > RATE_OF_WRK,
        _ => false,
    };
    is_near.then(|| {
        let text = format!(
            "The one CPU that {} uses made {} requests/s and {}: it may be the limit, and faster servers would seem equal.",
            run.tool.name(),
            whole(rate),
            byte_rate(kib * 1024.0)
        );
        doubt("one-cpu", text)
    })
}

/// What holds for several runs.
pub(crate) fn of_all(runs: &[Run]) -> Vec<Warning> {
    let mut warnings = Vec::new();
    for section in sections(runs) {
        unequal(&section, &mut warnings);
    }
    let fewest = groups(runs).into_iter().map(|group| group.len()).min();
    if let Some(fewest) = fewest.filter(|fewest| *fewest < ENOUGH_RUNS) {
        warnings.push(doubt("few-runs", format!(
            "{} of a server cannot tell a difference from chance: measure each at least {ENOUGH_RUNS} times.",
            if fewest == 1 { "One run" } else { "Two runs" }
        )));
    }
    // A report of k6 does not say whether its loop was closed.
    let is_closed = |run: &Run| !run.load.is_open && run.tool != Tool::K6;
    if runs
        .iter()
        .any(|run| is_closed(run) && run.figures.p99_ms.or(run.figures.max_ms).is_some())
    {
        warnings.push(doubt(
            "closed-loop",
            "In a closed loop a stalled server also delays the next request. The percentiles lack that wait, and \
             wrk's only estimate it (coordinated omission): do not read them as the waits of users.",
        ));
    }
    let is_local = |target: &String| {
        ["127.0.0.1", "localhost", "[::1]"]
            .iter()
            .any(|host| target.contains(host))
    };
    if runs
        .iter()
        .any(|run| run.target.as_ref().is_some_and(is_local))
    {
        warnings.push(doubt(
            "same-machine",
            "Generator and server shared a machine, so they competed for its CPUs.",
        ));
    }
    let connects = |run: &Run| run.tool == Tool::Ab && run.load.reuse == Some(Reuse::PerRequest);
    if runs.iter().any(connects) {
        warnings.push(doubt(
            "new-connections",
            "Each request of ab had a new connection: every figure includes connecting.",
        ));
    }
    warnings
}

/// Runs of the same server under the same load.
pub(crate) fn groups(runs: &[Run]) -> Vec<Vec<&Run>> {
    by_key(runs, |run| {
        let name = run
            .label
            .clone()
            .or_else(|| run.target.clone())
            .unwrap_or_default();
        let load = (run.load.connections, run.load.requests);
        format!("{:?} {:?} {name} {load:?}", run.tool, run.section)
    })
}

/// Runs below the same heading.
fn sections(runs: &[Run]) -> Vec<Vec<&Run>> {
    by_key(runs, |run| {
        format!("{:?} {:?} {}", run.tool, run.section, run.place.file)
    })
}

fn by_key(runs: &[Run], key: impl Fn(&Run) -> String) -> Vec<Vec<&Run>> {
    let mut places: HashMap<String, usize> = HashMap::new();
    let mut groups: Vec<Vec<&Run>> = Vec::new();
    for run in runs {
        let place = *places.entry(key(run)).or_insert(groups.len());
        if place == groups.len() {
            groups.push(Vec::new());
        }
        groups[place].push(run);
    }
    groups
}

/// What differs between runs that are side by side.
fn unequal(runs: &[&Run], warnings: &mut Vec<Warning>) {
    let connections = |run: &Run| run.load.connections.map(u64::from);
    if let Some(which) = odd_ones(runs, connections, "connection") {
        warnings.push(doubt("other-load", format!("Not the same load: {which}.")));
    }
    let valid: Vec<&Run> = runs
        .iter()
        .copied()
        .filter(|run| run.valid_rate().is_some())
        .collect();
    let length = |run: &Run| {
        let figures = &run.figures;
        let answers = figures.complete.or_else(|| {
            let sent = figures.requests_per_second? * figures.seconds?;
            Some(sent.round() as u64)
        })?;
        (answers > 0).then_some(figures.body_bytes? / answers)
    };
    if let Some(which) = odd_ones(&valid, length, "byte") {
        warnings.push(doubt(
            "other-answers",
            format!("Answers differ in length, so the servers may not do the same work: {which}."),
        ));
    }
    let mut rates: Vec<(f64, String)> = valid
        .iter()
        .filter_map(|run| Some((run.valid_rate()?, run.name())))
        .collect();
    rates.sort_by(|one, other| other.0.total_cmp(&one.0));
    let Some(best) = rates.first().map(|(rate, _)| *rate) else {
        return;
    };
    let close: Vec<&str> = rates
        .iter()
        .filter(|(rate, _)| *rate > best * (1.0 - CLOSE))
        .map(|(_, name)| name.as_str())
        .collect();
    let is_one = close.windows(2).all(|two| two[0] == two[1]);
    if close.len() > 2 && !is_one {
        warnings.push(doubt(
            "shared-limit",
            format!(
                "Within 3 % of the fastest are {}: something that they share may be the limit.",
                some(&close, MAX_ODD)
            ),
        ));
    }
}

/// The values of a fact that is not the same for all: `200 connections at Go, 100 at the others`.
fn odd_ones(runs: &[&Run], value: impl Fn(&Run) -> Option<u64>, noun: &str) -> Option<String> {
    let known: Vec<(u64, String)> = runs
        .iter()
        .filter_map(|run| Some((value(run)?, run.name())))
        .collect();
    let mut counts: HashMap<u64, usize> = HashMap::new();
    for (one, _) in &known {
        *counts.entry(*one).or_default() += 1;
    }
    let values = known.iter().map(|(one, _)| *one);
    let usual = values.max_by_key(|one| counts.get(one))?;
    let odd: Vec<String> = known
        .iter()
        .filter(|(value, _)| *value != usual)
        .map(|(value, name)| format!("{} at {name}", counted(*value, noun)))
        .collect();
    (!odd.is_empty()).then(|| {
        format!(
            "{}, {} at the others",
            some(&odd, MAX_ODD),
            counted(usual, noun)
        )
    })
}

/// A rate without decimals.
fn whole(rate: f64) -> String {
    separated(&format!("{rate:.0}"))
}
