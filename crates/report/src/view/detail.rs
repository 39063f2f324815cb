//! The trials of a cell, one by one.

use deadheat_model::{
    LoadPoint, Observation, SessionRecord, TrialRecord,
    trial::{CpuSource, Measured, TrialOutcome},
};
use deadheat_stats::{
    CellAnalysis, Group, TrialAnalysis,
    trial::{Figures, Times},
};
use serde::Serialize;

use super::{
    clean, doubts,
    facts::Fact,
    losses,
    raw::{self, Raw},
};
use crate::figure::{NONE, bytes, count, figure, percent, seconds};

/// The percentiles that a trial shows: those of ab, so that a published table can stand beside it.
pub(super) const SHOWN: [f64; 9] = [50.0, 66.0, 75.0, 80.0, 90.0, 95.0, 98.0, 99.0, 100.0];

/// A cell's trials.
#[derive(Clone, Debug, Serialize)]
pub struct CellDetail {
    /// The stack, under its variant.
    pub target: String,
    /// Its trials that count and those that are void, in the order of their blocks.
    pub trials: Vec<TrialDetail>,
    /// The one that stands for the others, as ab prints it; `None` when no trial counts.
    pub raw: Option<Raw>,
    /// Trials that were left out, in a sentence.
    pub left_out: Option<String>,
}

/// One trial.
#[derive(Clone, Debug, Serialize)]
pub struct TrialDetail {
    /// The block, from 1, and which time it was in that block, if not the first.
    pub block: String,
    /// What it is worth.
    pub verdict: String,
    /// Doubts.
    pub flags: Vec<String>,
    /// Verified answers per second.
    pub throughput: String,
    /// Service time, of an open loop response time.
    pub p50: String,
    /// The same.
    pub p99: String,
    /// CPU time per request.
    pub cpu: String,
    /// Largest PSS.
    pub pss_peak: String,
    /// Failed requests, of the whole load.
    pub failed: String,
    /// Named figures, in the manner of ab.
    pub lines: Vec<Fact>,
    /// Percentiles of the service time, of an open loop of the response time: the percent and the time.
    pub percentiles: Vec<(String, String)>,
    /// What the process tree used, in the manner of GNU time: the figure and its name.
    pub used: Vec<(String, String)>,
    /// Examples of failed requests, verbatim.
    pub examples: Vec<String>,
    /// The end of the server's output.
    pub log: Vec<String>,
}

/// The cells of a load point, the null server's and the twin's last.
pub fn of_group(record: &SessionRecord, group: &Group) -> Vec<CellDetail> {
    let cells = named_cells(group).into_iter();
    cells
        .map(|(name, one)| cell(record, group, one, name))
        .collect()
}

/// The cells of a load point with what they are called, the null server's and the twin's last.
pub fn named_cells(group: &Group) -> Vec<(String, &CellAnalysis)> {
    let contenders = group.cells.iter();
    let mut cells: Vec<(String, &CellAnalysis)> = contenders
        .map(|cell| (clean(&cell.target.to_string()), cell))
        .collect();
    if let Some(twin) = &group.twin {
        cells.push((clean(&format!("{} (A/A)", twin.of)), &twin.cell));
    }
    if let Some(ceiling) = &group.ceiling {
        cells.push(("null server".to_owned(), &ceiling.cell));
    }
    cells
}

/// A trial's block, from 1, and which time it was in that block, if not the first.
pub fn block(trial: &TrialRecord) -> String {
    match trial.attempt {
        0 => count(u64::from(trial.block) + 1),
        again => format!("{}, repetition {again}", trial.block + 1),
    }
}

fn cell(record: &SessionRecord, group: &Group, cell: &CellAnalysis, target: String) -> CellDetail {
    let mut trials: Vec<&TrialAnalysis> = cell.trials.iter().chain(&cell.void).collect();
    // Records stand in the order in which they ended.
    trials.sort_by_key(|trial| (trial.block, trial.record));
    let places: Vec<usize> = trials.iter().map(|trial| trial.record).collect();
    let trials = trials.into_iter().filter_map(|analysis| {
        let trial = record.trials.get(analysis.record)?;
        Some(detail(trial, analysis, &group.point))
    });
    CellDetail {
        target,
        raw: raw::of_cell(record, group, cell, &places),
        trials: trials.collect(),
        left_out: match cell.trials_left_out {
            0 => None,
            1 => Some(
                "One trial was left out: its block is not complete, or it was repeated.".to_owned(),
            ),
            n => Some(format!(
                "{n} trials were left out: their blocks are not complete, or they were repeated."
            )),
        },
    }
}

fn detail(trial: &TrialRecord, analysis: &TrialAnalysis, point: &LoadPoint) -> TrialDetail {
    let (load, measured, log) = match &trial.outcome {
        TrialOutcome::Measured(measured) => (Some(&measured.load), Some(&**measured), &[][..]),
        TrialOutcome::Failed(failure) => (failure.load.as_deref(), None, &failure.log_tail[..]),
    };
    let figures = analysis.figures.as_ref();
    let time = figures.and_then(|figures| match &figures.open {
        Some(open) => open.response_time.as_ref(),
        None => figures.service_time.as_ref(),
    });
    let at = |percent| {
        time.and_then(|time| time.shown(percent))
            .map_or(NONE.to_owned(), seconds)
    };
    let cpu = figures.and_then(|figures| figures.cpu_us_per_request);
    TrialDetail {
        block: block(trial),
        verdict: doubts::verdict(&analysis.verdict),
        flags: analysis.flags.iter().map(doubts::flag).collect(),
        throughput: figures.map_or(NONE.to_owned(), |figures| {
            figure(figures.throughput_per_second)
        }),
        p50: at(50.0),
        p99: at(99.0),
        cpu: cpu.map_or(NONE.to_owned(), |us| seconds(us / 1e6)),
        pss_peak: figures
            .and_then(|figures| figures.pss_peak_bytes)
            .map_or(NONE.to_owned(), bytes),
        failed: load.map_or(NONE.to_owned(), |load| count(load.total.failed.total())),
        lines: lines(trial, point, load, measured, figures),
        percentiles: time.map(percentiles).unwrap_or_default(),
        used: measured.map(used).unwrap_or_default(),
        examples: load.map(losses::examples).unwrap_or_default(),
        log: log.iter().map(|line| clean(line)).collect(),
    }
}

fn lines(
    trial: &TrialRecord,
    point: &LoadPoint,
    load: Option<&Observation>,
    measured: Option<&Measured>,
    figures: Option<&Figures>,
) -> Vec<Fact> {
    let mut lines = Vec::new();
    let mut line = |name: &str, value: String| {
        lines.push(Fact {
            name: name.to_owned(),
            value: clean(&value),
        });
    };
    line("Started", trial.started.clone());
    line("Place in the block", count(u64::from(trial.position) + 1));
    line("Command", trial.command.join(" "));
    line("Port", trial.port.to_string());
    line(
        "Concurrency level",
        match trial.offered_per_second {
            None if point.open.is_none() => format!("{}, closed loop", point.connections),
            None => format!("{} at most, open loop", point.connections),
            Some(rate) => format!(
                "{} at most, open loop at {} requests/s",
                point.connections,
                figure(rate)
            ),
        },
    );
    line("Warm-up", seconds(trial.warm_up.as_secs_f64()));
    if let Some(measured) = measured {
        line(
            "Time to first answer",
            seconds(measured.ready.as_secs_f64()),
        );
        line(
            "Probes passed",
            format!(
                "{} before, {} after",
                measured.verified_before, measured.verified_after
            ),
        );
    }
    if let Some(load) = load {
        let tally = &load.measured;
        line("Measured for", seconds(load.window.as_secs_f64()));
        line(
            "Requests issued",
            format!(
                "{}, and {} in flight at the start",
                count(tally.issued),
                count(tally.carried_in)
            ),
        );
        line("Verified answers", count(tally.succeeded));
        line(
            "Failed requests",
            losses::kinds(&tally.failed).unwrap_or_else(|| "0".to_owned()),
        );
        line("In flight at the end", count(tally.in_flight));
        line(
            "With warm-up and end",
            format!(
                "{} issued, {} verified, {} failed",
                count(load.total.issued),
                count(load.total.succeeded),
                count(load.total.failed.total())
            ),
        );
        line("Body received", format!("{} bytes", count(load.body_bytes)));
        line(
            "Content compared",
            format!("{} answers", count(load.content_checked)),
        );
        line(
            "Connections",
            format!(
                "{} opened, {} at once",
                count(load.connections_opened),
                count(load.connections_peak)
            ),
        );
    }
    if let Some(figures) = figures {
        line("Requests per second", figure(figures.throughput_per_second));
        if let Some(time) = &figures.service_time {
            line("Mean service time", seconds(time.mean_seconds));
        }
        if let Some(open) = &figures.open {
            line(
                "Requests offered",
                format!(
                    "{}, of which {} were not sent by the end",
                    count(open.offered),
                    count(open.unsent)
                ),
            );
            let times = [
                ("Mean response time", &open.response_time),
                ("Mean send lag", &open.send_lag),
                ("Mean connection wait", &open.connection_wait),
            ];
            for (name, time) in times {
                if let Some(time) = time {
                    line(name, seconds(time.mean_seconds));
                }
            }
        }
        line(
            "Generator",
            format!(
                "its busiest worker used {} of its CPU",
                percent(figures.busiest_worker)
            ),
        );
    }
    if let Some(measured) = measured {
        let noise = &measured.noise;
        line(
            "Noise",
            format!(
                "steal {}, idle {}, other processes {}",
                percent(noise.steal_share),
                percent(noise.idle_share),
                seconds(noise.other_cpu_seconds)
            ),
        );
        if let Some(pressure) = noise.pressure {
            line(
                "Pressure",
                format!(
                    "something waited for a CPU {} of the time, for memory {}, for input or output {}",
                    percent(pressure.cpu),
                    percent(pressure.memory),
                    percent(pressure.io)
                ),
            );
        }
        if let Some(used) = noise.sampler_cpu_seconds {
            line("Sampling", format!("{} of CPU time", seconds(used)));
        }
    }
    lines
}

fn percentiles(time: &Times) -> Vec<(String, String)> {
    let at = |percent: &f64| {
        let shown = time.shown(*percent).map_or(NONE.to_owned(), seconds);
        (format!("{percent}%"), shown)
    };
    SHOWN.iter().map(at).collect()
}

fn used(measured: &Measured) -> Vec<(String, String)> {
    let used = &measured.resources;
    let source = match used.cpu_source {
        CpuSource::CgroupV2 => "cgroup v2",
        CpuSource::CgroupV1 => "cgroup v1",
        CpuSource::Proc => "/proc, in steps of 10 ms",
    };
    let line = |value: String, name: &str| (value, name.to_owned());
    let counted = |figure: Option<u64>| figure.map_or_else(|| NONE.to_owned(), count);
    vec![
        line(
            figure(used.span_seconds),
            "seconds in which these were counted",
        ),
        line(
            figure(used.cpu_seconds),
            &format!("seconds of CPU, user and system ({source})"),
        ),
        line(counted(used.pss_idle_bytes), "bytes of PSS when just ready"),
        line(counted(used.pss_mean_bytes), "bytes of PSS on average"),
        line(
            counted(used.pss_peak_bytes),
            &format!(
                "bytes of PSS at most ({} samples)",
                count(used.samples.into())
            ),
        ),
        line(count(used.processes.into()), "processes at most"),
        line(count(used.threads.into()), "threads at most"),
        line(count(used.minor_faults), "page reclaims"),
        line(count(used.major_faults), "page faults"),
        line(
            counted(used.voluntary_switches),
            "voluntary context switches",
        ),
        line(
            counted(used.involuntary_switches),
            "involuntary context switches",
        ),
    ]
}
