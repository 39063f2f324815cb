//! One workload at one load point: the results in order, what was lost, and the figures behind the plots.

use deadheat_model::{
    LoadPoint, SessionRecord, TargetId,
    load::Reuse,
    workload::{Framing, OfferedRate, Sending},
};
use deadheat_stats::{Analysis, Group};
use serde::Serialize;

use super::{
    CONNECTING_APART, RESPONSE_TIME, SERVICE_TIME, clean, controls,
    detail::{self, CellDetail},
    losses::{self, Loss},
    lost,
    pareto::{self, Frontier},
    plot_cell::{Dot, PlotCell, plot_cell},
    row::{Row, row},
    sentences, words,
};
use crate::figure::{count, counted, percent};

/// One workload at one load point.
#[derive(Clone, Debug, Serialize)]
pub struct GroupView {
    /// Its place among the groups of the analysis.
    #[serde(skip)]
    pub index: usize,
    /// The workload's id.
    #[serde(skip)]
    pub workload: String,
    /// The load point's id, unique in its workload.
    #[serde(skip)]
    pub point: String,
    /// A name for links, unique in the report.
    pub anchor: String,
    /// The workload and its load, for a heading ("json, 50 connections").
    pub title: String,
    /// What the workload exercises.
    pub description: String,
    /// The outcome, in a sentence or two.
    pub summary: String,
    /// Every dead heat, named in a sentence.
    pub dead_heats: Vec<String>,
    /// What the null server reached here, in a sentence.
    pub ceiling: Option<String>,
    /// What a stack and its twin differ by here, in a sentence.
    pub noise: Option<String>,
    /// Stacks that failed here.
    pub losses: Vec<Loss>,
    /// Their names, in a sentence.
    pub losses_in_short: Option<String>,
    /// Other stacks without a figure, in a sentence.
    pub not_measured: Option<String>,
    /// The results, in order.
    pub rows: Vec<Row>,
    /// What the intervals are.
    pub intervals: String,
    /// What the times are called.
    pub latency_name: &'static str,
    /// What the stacks are compared by.
    pub metric: String,
    /// The offered rate of an open loop, short ("70 %" of the stack's own capacity).
    pub rate: String,
    /// Whether that is one rate for all stacks.
    pub is_common_rate: bool,
    /// Percentiles that are not given for some stack, with the reason.
    pub missing: Vec<Missing>,
    /// Throughput against what it costs.
    pub frontiers: Vec<Frontier>,
    /// Every pair that was compared.
    pub pairs: Vec<PairRow>,
    /// Each stack's trials, and those of the controls.
    pub cells: Vec<CellDetail>,
    /// The null server's throughput, for a plot.
    #[serde(skip)]
    pub ceiling_dot: Option<Dot>,
    /// The stacks of each dead heat, as places among the figures behind the plots.
    #[serde(skip)]
    pub heats: Vec<Vec<usize>>,
    /// What a dead heat is called: with few blocks it is none.
    #[serde(skip)]
    pub heat_name: &'static str,
    /// The figures behind the plots, in the order of the rows.
    #[serde(skip)]
    pub plot: Vec<PlotCell>,
}

/// A percentile that is not given for some stacks.
#[derive(Clone, Debug, Serialize)]
pub struct Missing {
    /// Which (99: p99).
    pub percent: f64,
    /// For whom and why, in a sentence.
    pub sentence: String,
}

/// Two stacks compared.
#[derive(Clone, Debug, Serialize)]
pub struct PairRow {
    /// The faster one.
    pub faster: String,
    /// The slower one.
    pub slower: String,
    /// Their ratio.
    pub ratio: String,
    /// Its interval.
    pub interval: String,
    /// p after Holm.
    pub p_adjusted: String,
    /// "different" or "no difference".
    pub verdict: &'static str,
    /// Whether both stand next to each other in the results.
    pub neighbours: bool,
}

/// The workload and its load, for a heading.
pub fn title(workload: &str, point: &LoadPoint) -> String {
    clean(&format!("{workload}, {}", load(point)))
}

/// A load, in words.
pub fn load(point: &LoadPoint) -> String {
    let rounds = point
        .rounds
        .map(|rounds| format!(", {}", counted(rounds as usize, "round")))
        .unwrap_or_default();
    let how = sending(point.sending);
    let Some(by_count) = &point.counted else {
        let connections = counted(point.connections as usize, "connection");
        let open = point.open.as_ref().map(|open| match open.rate {
            OfferedRate::OfOwnCapacity(percent) => {
                format!(", open loop at {percent} % of each stack's own capacity")
            }
            OfferedRate::OfSlowestCapacity(percent) => {
                format!(", open loop at {percent} % of the slowest stack's capacity")
            }
        });
        return format!("{connections}{rounds}{how}{}", open.unwrap_or_default());
    };
    format!(
        "{}, {} at a time{rounds}{how}",
        counted(by_count.requests as usize, "request"),
        count(point.connections.into()),
    )
}

/// How requests are sent, after a comma; nothing if that is as usual.
fn sending(sending: Sending) -> String {
    if sending.is_usual() {
        return String::new();
    }
    let reuse = match sending.reuse {
        Reuse::KeepAlive => "keep-alive",
        Reuse::PerRequest => "a connection for each request",
    };
    let bodies = match sending.bodies {
        Framing::Sized => "",
        Framing::Chunked => ", chunked bodies",
    };
    format!(", HTTP/{}, {reuse}{bodies}", sending.http)
}

/// One of the analysis's groups, by its place there.
pub fn view(record: &SessionRecord, analysis: &Analysis, index: usize, group: &Group) -> GroupView {
    let mut workloads = record.header.plan.workloads.iter();
    let workload = workloads.find(|workload| workload.id == group.workload);
    let losses = losses::of_group(record, group);
    let plot_cells = group.cells.iter();
    let plot_cells = plot_cells.filter_map(|cell| plot_cell(record, &group.point, cell));
    let plot: Vec<PlotCell> = plot_cells.collect();
    GroupView {
        index,
        workload: clean(&group.workload),
        point: clean(&group.point.id),
        anchor: format!("group-{}", index + 1),
        title: title(&group.workload, &group.point),
        description: clean(workload.map_or("", |workload| &workload.description)),
        summary: sentences::summary(analysis, group),
        dead_heats: sentences::dead_heats(analysis, group),
        ceiling: controls::ceiling(group),
        noise: controls::noise(group),
        not_measured: sentences::not_measured(record, group),
        rows: group
            .cells
            .iter()
            .filter_map(|cell| Some(row(group, cell, cell.estimates.as_ref()?)))
            .collect(),
        intervals: intervals(group),
        latency_name: latency_name(&group.point),
        metric: words::metric(group.metric),
        rate: words::rate(&group.point),
        is_common_rate: words::is_common(&group.point),
        ceiling_dot: controls::ceiling_dot(group),
        missing: sentences::missing(group),
        pairs: pairs(group),
        cells: detail::of_group(record, group),
        frontiers: pareto::frontiers(group, &plot),
        heats: heats(group, &plot),
        heat_name: match analysis.blocks.indicative {
            true => "could not be told apart",
            false => "dead heat",
        },
        plot,
        losses_in_short: lost::in_short(&losses),
        losses,
    }
}

fn heats(group: &Group, cells: &[PlotCell]) -> Vec<Vec<usize>> {
    let place = |target: &TargetId| {
        let name = clean(&target.to_string());
        cells.iter().position(|cell| cell.target == name)
    };
    let heats = group.dead_heats.iter();
    heats
        .map(|heat| heat.targets.iter().filter_map(place).collect())
        .collect()
}

/// What the latencies at a load point are called.
fn latency_name(point: &LoadPoint) -> &'static str {
    match point.open {
        _ if point.sending.reuse == Reuse::PerRequest => CONNECTING_APART,
        Some(_) => RESPONSE_TIME,
        None => SERVICE_TIME,
    }
}

fn intervals(group: &Group) -> String {
    let estimates = || {
        group
            .cells
            .iter()
            .filter_map(|cell| cell.estimates.as_ref())
    };
    let Some(first) = estimates()
        .next()
        .map(|estimates| estimates.throughput_per_second)
    else {
        return String::new();
    };
    match first.interval {
        Some(interval) if estimates().all(|e| e.throughput_per_second.trials == first.trials) => {
            format!(
                "Figures are medians over {}; intervals come from order statistics, at a level of {}. Percentiles are \
             geometric means over trials with a 95 % t interval on the logarithm.",
                counted(first.trials, "trial"),
                percent(interval.level),
            )
        }
        Some(_) => "Figures are medians over the trials that there are.".to_owned(),
        None => "Each figure is that of a single trial: there is no interval.".to_owned(),
    }
}

fn pairs(group: &Group) -> Vec<PairRow> {
    let place = |target: &TargetId| group.cells.iter().position(|cell| cell.target == *target);
    let pairs = group.comparison.pairs().iter().map(|pair| PairRow {
        faster: clean(&pair.faster.to_string()),
        slower: clean(&pair.slower.to_string()),
        ratio: format!("{:.3}", pair.ratio),
        interval: format!("{:.3}–{:.3}", pair.interval.low, pair.interval.high),
        p_adjusted: p_value(pair.p_adjusted),
        verdict: if pair.different {
            "different"
        } else {
            "no difference"
        },
        neighbours: match (place(&pair.faster), place(&pair.slower)) {
            (Some(one), Some(other)) => one.abs_diff(other) == 1,
            _ => false,
        },
    });
    pairs.collect()
}

fn p_value(p: f64) -> String {
    if p < 0.0001 {
        "< 0.0001".to_owned()
    } else {
        format!("{p:.4}")
    }
}
