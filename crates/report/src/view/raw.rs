//! A trial in the form in which `ab`, the benchmark of the Apache HTTP Server, prints its results (`support/ab.c`,
//! `output_results`), so that it can stand beside the published comparisons, which are written in it.

use deadheat_model::{LoadPoint, Observation, SessionRecord, trial::TrialOutcome};
use deadheat_stats::{
    CellAnalysis, Group, TrialAnalysis,
    trial::{Figures, Times},
};
use serde::Serialize;

use super::{detail::SHOWN, losses};
use crate::figure::{NONE, figure};

/// The trial of a cell that stands for the others.
#[derive(Clone, Debug, Serialize)]
pub struct Raw {
    /// Its place among the cell's trials.
    pub trial: usize,
    /// Of how many that have a figure it is the nearest to the median.
    pub of: usize,
    /// As ab prints it. Complete requests are verified answers.
    pub lines: Vec<String>,
}

/// The trial that is the nearest to the median by the load point's metric: of an even number the lower of both in the
/// middle. `None` when no trial counts. `places` has the records of the cell's trials, in the order of its details.
pub fn of_cell(
    record: &SessionRecord,
    group: &Group,
    cell: &CellAnalysis,
    places: &[usize],
) -> Option<Raw> {
    let value = |trial: &TrialAnalysis| group.metric.of_trial(trial.figures.as_ref()?);
    let counted = cell.trials.iter().filter(|one| !one.verdict.is_failed());
    let mut counted: Vec<(f64, &TrialAnalysis)> = counted
        .filter_map(|trial| Some((value(trial)?, trial)))
        .collect();
    counted.sort_by(|(a, one), (b, other)| a.total_cmp(b).then(one.record.cmp(&other.record)));
    let (_, trial) = counted.get(counted.len().checked_sub(1)? / 2)?;
    let TrialOutcome::Measured(measured) = &record.trials.get(trial.record)?.outcome else {
        return None;
    };
    Some(Raw {
        trial: places.iter().position(|place| *place == trial.record)?,
        of: counted.len(),
        lines: lines(&group.point, &measured.load, trial.figures.as_ref()?),
    })
}

fn lines(point: &LoadPoint, load: &Observation, figures: &Figures) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = |label: &str, value: String| lines.push(format!("{label:<24}{value}"));
    let window = load.window.as_secs_f64();
    let tally = &load.measured;
    line("Concurrency Level:", point.connections.to_string());
    line("Time taken for tests:", format!("{window:.3} seconds"));
    line("Complete requests:", tally.succeeded.to_string());
    line("Failed requests:", tally.failed.total().to_string());
    if let Some(kinds) = losses::kinds(&tally.failed) {
        line("", kinds);
    }
    // Records of the first versions do not have it.
    if load.received_bytes > 0 {
        line(
            "Total transferred:",
            format!("{} bytes", load.received_bytes),
        );
    }
    line("HTML transferred:", format!("{} bytes", load.body_bytes));
    line(
        "Requests per second:",
        format!("{:.2} [#/sec] (mean)", figures.throughput_per_second),
    );
    let time = match &figures.open {
        Some(open) => open.response_time.as_ref(),
        None => figures.service_time.as_ref(),
    };
    if let Some(time) = time {
        let mean = 1e3 * time.mean_seconds;
        line("Time per request:", format!("{mean:.3} [ms] (mean)"));
    }
    if tally.succeeded > 0 {
        let each = 1e3 * window / tally.succeeded as f64;
        line(
            "Time per request:",
            format!("{each:.3} [ms] (mean, across all concurrent requests)"),
        );
    }
    if load.received_bytes > 0 && window > 0.0 {
        let rate = load.received_bytes as f64 / 1024.0 / window;
        line("Transfer rate:", format!("{rate:.2} [Kbytes/sec] received"));
    }
    lines.extend(time.map(percentiles).unwrap_or_default());
    lines
}

/// ab's times are whole milliseconds, of which a fast server has none: these have three digits.
fn percentiles(time: &Times) -> Vec<String> {
    let mut lines = vec![
        String::new(),
        "Percentage of the requests served within a certain time (ms)".to_owned(),
    ];
    lines.extend(SHOWN.iter().map(|percent| {
        let shown = time.shown(*percent);
        let shown = shown.map_or(NONE.to_owned(), |seconds| figure(1e3 * seconds));
        let longest = if *percent == 100.0 {
            " (longest request)"
        } else {
            ""
        };
        format!("{:>5} {shown:>8}{longest}", format!("{percent}%"))
    }));
    lines
}
