//! What a stack takes before it serves: to be built, to be deployed, to be started.

use deadheat_model::{
    SessionRecord,
    session::{BuildRecord, TargetState},
};
use deadheat_stats::{
    Analysis,
    startup::{Starts, starts},
};
use serde::Serialize;

use super::{clean, plot_cell::Dot};
use crate::figure::{bytes, count, ends, percent, seconds};

/// Start-up, build and size of the stacks.
#[derive(Clone, Debug, Serialize)]
pub struct StartupView {
    /// What the figures are, in sentences.
    pub introduction: Vec<String>,
    /// Each stack that was built, in the order in which they were asked for.
    pub rows: Vec<StartupRow>,
    /// The figures behind the plots, in the order of the rows.
    #[serde(skip)]
    pub plot: Vec<StartupPlot>,
}

/// A stack's figures. Those that it has not are blank.
#[derive(Clone, Debug, Serialize)]
pub struct StartupRow {
    /// The stack, under its variant.
    pub target: String,
    /// The median time from the process's start to its first correct answer.
    pub ready: String,
    /// Its interval.
    pub interval: String,
    /// The shortest and the longest.
    pub range: String,
    /// Starts behind it.
    pub starts: String,
    /// The time that the build took.
    pub build: String,
    /// Why it is no whole build ("incremental"), if it is none.
    pub build_note: String,
    /// Bytes of what is deployed.
    pub size: String,
}

/// The same for plots.
#[derive(Clone, Debug)]
pub struct StartupPlot {
    /// The stack, under its variant.
    pub target: String,
    /// Seconds to the first correct answer: the median with its interval.
    pub ready: Option<Dot>,
    /// The shortest and the longest.
    pub range: Option<(f64, f64)>,
    /// Seconds that the build took; `None` where there was nothing to build.
    pub build: Option<f64>,
    /// Whether the build went on from an earlier one.
    pub incremental: bool,
    /// Bytes of what is deployed.
    pub size: f64,
}

/// Start-up, build and size; `None` when no stack was built.
pub fn startup(record: &SessionRecord, analysis: &Analysis) -> Option<StartupView> {
    let (mut rows, mut plot) = (Vec::new(), Vec::new());
    let mut level = None;
    for target in &record.header.targets {
        let TargetState::Ready { build } = &target.state else {
            continue;
        };
        let name = clean(&target.target.to_string());
        let found = starts(analysis, &target.target);
        let interval = found.and_then(|found| found.median.interval);
        // Of stacks with different numbers of starts, the level that all have.
        level = match (level, interval.map(|interval| interval.level)) {
            (Some(one), Some(other)) => Some(f64::min(one, other)),
            (one, other) => one.or(other),
        };
        rows.push(row(name.clone(), found, build));
        plot.push(StartupPlot {
            target: name,
            ready: found.map(|found| Dot::of_median(&found.median)),
            range: found.map(|found| (found.least, found.most)),
            build: (build.seconds > 0.0).then_some(build.seconds),
            incremental: build.incremental,
            size: build.artefact_bytes as f64,
        });
    }
    (!rows.is_empty()).then(|| StartupView {
        introduction: introduction(level),
        rows,
        plot,
    })
}

fn introduction(level: Option<f64>) -> Vec<String> {
    let interval = level.map(|level| {
        format!(
            ", with an interval from order statistics at a level of {} or more",
            percent(level)
        )
    });
    vec![
        format!(
            "Start-up: from the start of the process to its first correct answer, to the plaintext question where the stack \
             answers that. Every trial starts a process anew; the figure is the median over those that count, whatever \
             their load{}. Each stack had been started once before, to be checked, so that its files were likely in memory.",
            interval.unwrap_or_default()
        ),
        "Build: one build of the stack, which all of its variants share, so that there is no interval. What it depends on \
         had been fetched. A build that went on from an earlier one says nothing of a whole one."
            .to_owned(),
        "Size: one figure as well, of the files that the server runs from (artefacts, in its stack.toml): a compiled \
         program, or sources with the packages that they load. What the machine brings is not in it: an interpreter or \
         virtual machine, shared libraries, a web server from Debian's packages."
            .to_owned(),
    ]
}

fn row(target: String, found: Option<Starts>, build: &BuildRecord) -> StartupRow {
    let interval = found.and_then(|found| found.median.interval);
    let (built, build_note) = match (build.seconds > 0.0, build.incremental) {
        (false, _) => (String::new(), "nothing to build"),
        (true, true) => (seconds(build.seconds), "incremental"),
        (true, false) => (seconds(build.seconds), ""),
    };
    StartupRow {
        target,
        ready: found.map_or(String::new(), |found| seconds(found.median.median)),
        interval: interval.map_or(String::new(), |interval| ends(&interval, seconds)),
        range: found.map_or(String::new(), |found| {
            format!("{} to {}", seconds(found.least), seconds(found.most))
        }),
        starts: found.map_or(String::new(), |found| count(found.median.trials as u64)),
        build: built,
        build_note: build_note.to_owned(),
        size: bytes(build.artefact_bytes as f64),
    }
}
