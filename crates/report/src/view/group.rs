//! One workload at one load point: the results in order, what was lost, and the figures behind the plots.

use deadheat_model::{
    LoadPoint, SessionRecord, TargetId,
    load::Reuse,
    trial::TrialOutcome,
    workload::{Framing, OfferedRate},
};
use deadheat_stats::{
    Analysis, CellAnalysis, Group,
    cell::{Estimates, PercentileEstimate, PercentileValue},
    interval::LogMean,
    order_statistic::MedianInterval,
    spectrum::SpectrumPoint,
    verdict::CellVerdict,
};
use serde::Serialize;

use super::{
    CONNECTING_APART, RESPONSE_TIME, SERVICE_TIME, clean, controls,
    detail::{self, CellDetail},
    doubts,
    losses::{self, Loss},
    lost,
    pareto::{self, Frontier},
    sentences, words,
};
use crate::figure::{self, NONE, bytes, count, counted, ends, figure, percent, seconds};

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

/// How a row stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum RowState {
    /// It has a rank.
    Ranked,
    /// Nothing was compared.
    Unranked,
    /// Its throughput is a lower bound.
    LowerBound,
}

/// One stack's results. Each figure has its unit but for throughput (verified answers per second).
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// The rank, with "=" when it is shared; a dash without one.
    pub rank: String,
    /// The stack, under its variant.
    pub target: String,
    /// How it stands.
    pub state: RowState,
    /// Median throughput; "≥" before a lower bound.
    pub throughput: String,
    /// The larger arm of its interval, in percent.
    pub spread: Option<String>,
    /// The interval's ends.
    pub interval: Option<String>,
    /// CPU time per request.
    pub cpu: String,
    /// Its interval.
    pub cpu_interval: Option<String>,
    /// CPUs used.
    pub cores: String,
    /// PSS when just ready.
    pub pss_idle: String,
    /// Mean PSS.
    pub pss_mean: String,
    /// Largest PSS.
    pub pss_peak: String,
    /// Service times.
    pub p50: Latency,
    /// Service times.
    pub p90: Latency,
    /// Service times.
    pub p99: Latency,
    /// Service times.
    pub p999: Latency,
    /// Context switches per request, voluntary and involuntary.
    pub switches: [String; 2],
    /// Page faults per request, without and with input or output.
    pub faults: [String; 2],
    /// From start to the first correct answer.
    pub ready: String,
    /// Doubts and limits.
    pub notes: Vec<String>,
}

/// A percentile.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Latency {
    /// The figure, or a dash.
    pub value: String,
    /// Its interval.
    pub interval: Option<String>,
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

/// A figure with its interval, for a plot.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dot {
    /// The figure.
    pub value: f64,
    /// Its interval's ends.
    pub ends: Option<(f64, f64)>,
}

impl Dot {
    /// A median with its interval.
    pub fn of_median(estimate: &MedianInterval) -> Self {
        Self {
            value: estimate.median,
            ends: estimate
                .interval
                .map(|interval| (interval.low, interval.high)),
        }
    }

    /// A mean with its interval.
    pub fn of_mean(mean: &LogMean) -> Self {
        Self {
            value: mean.mean,
            ends: mean.interval.map(|interval| (interval.low, interval.high)),
        }
    }

    /// The ends of its interval, or itself twice.
    pub fn reach(self) -> (f64, f64) {
        self.ends.unwrap_or((self.value, self.value))
    }

    /// The same in another unit.
    pub fn scaled(self, factor: f64) -> Self {
        Self {
            value: self.value * factor,
            ends: self.ends.map(|(low, high)| (low * factor, high * factor)),
        }
    }
}

/// One stack's figures for the plots.
#[derive(Clone, Debug)]
pub struct PlotCell {
    /// The stack, under its variant.
    pub target: String,
    /// Whether its throughput is a lower bound.
    pub lower_bound: bool,
    /// Whether it did not keep up with the offered rate in at least one trial.
    pub overloaded: bool,
    /// Requests per second that an open loop offered.
    pub offered: Option<f64>,
    /// Verified answers per second.
    pub throughput: Dot,
    /// The same, of each trial.
    pub trials: Vec<f64>,
    /// CPU µs per request.
    pub cpu: Option<Dot>,
    /// PSS in bytes: idle, mean and peak.
    pub pss: [Dot; 3],
    /// Service times (of an open loop: response times) in seconds: the percent and the figure.
    pub times: Vec<(f64, Dot)>,
    /// The same times over the trials, at all percentiles that each trial can tell: the percent, and the geometric mean
    /// with the least and the most of a trial.
    pub spectrum: Vec<(f64, Dot)>,
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
        return format!("{connections}{rounds}{}", open.unwrap_or_default());
    };
    let version = by_count.http;
    let reuse = match by_count.reuse {
        Reuse::KeepAlive => "keep-alive",
        Reuse::PerRequest => "a connection each",
    };
    let bodies = match by_count.bodies {
        Framing::Sized => "",
        Framing::Chunked => ", chunked bodies",
    };
    format!(
        "{}, {} at a time{rounds}, HTTP/{version}, {reuse}{bodies}",
        counted(by_count.requests as usize, "request"),
        count(point.connections.into()),
    )
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
    match &point.counted {
        Some(by_count) if by_count.reuse == Reuse::PerRequest => CONNECTING_APART,
        None if point.open.is_some() => RESPONSE_TIME,
        _ => SERVICE_TIME,
    }
}

fn row(group: &Group, cell: &CellAnalysis, estimates: &Estimates) -> Row {
    let throughput = &estimates.throughput_per_second;
    let lower_bound = matches!(cell.verdict, CellVerdict::LowerBound { .. });
    let state = match (lower_bound, cell.rank) {
        (true, _) => RowState::LowerBound,
        (false, Some(_)) => RowState::Ranked,
        (false, None) => RowState::Unranked,
    };
    let prefix = if lower_bound { "≥ " } else { "" };
    let of = |estimate: &Option<MedianInterval>, figure: fn(f64) -> String| {
        estimate
            .as_ref()
            .map_or(NONE.to_owned(), |estimate| figure(estimate.median))
    };
    let at = |percent: f64| {
        let mut all = percentiles(estimates).iter();
        all.find(|p| p.percent == percent)
            .map(latency)
            .unwrap_or_default()
    };
    Row {
        rank: rank(group, cell),
        target: clean(&cell.target.to_string()),
        state,
        throughput: format!("{prefix}{}", figure(throughput.median)),
        // Of a lower bound the scatter says nothing about the true value.
        spread: figure::spread(throughput).filter(|_| !lower_bound),
        interval: throughput
            .interval
            .filter(|_| !lower_bound)
            .map(|interval| ends(&interval, figure)),
        cpu: of(&estimates.cpu_us_per_request, cpu_time),
        cpu_interval: estimates
            .cpu_us_per_request
            .and_then(|estimate| estimate.interval)
            .map(|interval| ends(&interval, cpu_time)),
        cores: of(&estimates.cores_used, figure),
        pss_idle: bytes(estimates.pss_idle_bytes.median),
        pss_mean: bytes(estimates.pss_mean_bytes.median),
        pss_peak: bytes(estimates.pss_peak_bytes.median),
        p50: at(50.0),
        p90: at(90.0),
        p99: at(99.0),
        p999: at(99.9),
        switches: [
            of(&estimates.voluntary_switches_per_request, figure),
            of(&estimates.involuntary_switches_per_request, figure),
        ],
        faults: [
            of(&estimates.minor_faults_per_request, figure),
            of(&estimates.major_faults_per_request, figure),
        ],
        ready: seconds(estimates.ready_seconds.median),
        notes: doubts::notes(cell),
    }
}

/// The percentiles that a load point shows: of the response time in an open loop, else of the service time.
pub fn percentiles(estimates: &Estimates) -> &[PercentileEstimate] {
    let open = estimates.open.as_ref();
    open.map_or(&estimates.service_time, |open| &open.response_time)
}

/// The CPU time per request.
pub fn cpu(estimates: &Estimates) -> String {
    let cpu = estimates.cpu_us_per_request.as_ref();
    cpu.map_or(NONE.to_owned(), |cpu| cpu_time(cpu.median))
}

fn cpu_time(microseconds: f64) -> String {
    seconds(microseconds / 1e6)
}

/// A cell's rank, with "=" when it is shared; a dash without one.
pub fn rank(group: &Group, cell: &CellAnalysis) -> String {
    let Some(rank) = cell.rank else {
        return NONE.to_owned();
    };
    let shared = group
        .cells
        .iter()
        .filter(|other| other.rank == Some(rank))
        .count()
        > 1;
    format!("{rank}{}", if shared { "=" } else { "" })
}

/// A percentile with its interval, or a dash.
pub fn latency(estimate: &PercentileEstimate) -> Latency {
    match estimate.value {
        PercentileValue::Seconds(mean) => Latency {
            value: seconds(mean.mean),
            interval: mean.interval.map(|interval| ends(&interval, seconds)),
        },
        PercentileValue::TooFewRequests { .. } => Latency {
            value: NONE.to_owned(),
            interval: None,
        },
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

fn plot_cell(record: &SessionRecord, point: &LoadPoint, cell: &CellAnalysis) -> Option<PlotCell> {
    let estimates = cell.estimates.as_ref()?;
    let lower_bound = matches!(cell.verdict, CellVerdict::LowerBound { .. });
    let figures = cell
        .trials
        .iter()
        .filter_map(|trial| trial.figures.as_ref());
    let times = percentiles(estimates).iter().filter_map(|p| match p.value {
        PercentileValue::Seconds(mean) => Some((p.percent, Dot::of_mean(&mean))),
        PercentileValue::TooFewRequests { .. } => None,
    });
    let mut throughput = Dot::of_median(&estimates.throughput_per_second);
    if lower_bound {
        throughput.ends = None;
    }
    Some(PlotCell {
        target: clean(&cell.target.to_string()),
        lower_bound,
        overloaded: cell.is_overloaded(),
        offered: estimates
            .open
            .as_ref()
            .and_then(|open| open.offered_per_second),
        throughput,
        trials: figures
            .map(|figures| figures.throughput_per_second)
            .collect(),
        cpu: estimates.cpu_us_per_request.as_ref().map(Dot::of_median),
        pss: [
            Dot::of_median(&estimates.pss_idle_bytes),
            Dot::of_median(&estimates.pss_mean_bytes),
            Dot::of_median(&estimates.pss_peak_bytes),
        ],
        times: times.collect(),
        spectrum: spectrum(record, point, cell),
    })
}

fn spectrum(record: &SessionRecord, point: &LoadPoint, cell: &CellAnalysis) -> Vec<(f64, Dot)> {
    let histograms = cell.trials.iter().filter_map(|trial| {
        let TrialOutcome::Measured(measured) = &record.trials.get(trial.record)?.outcome else {
            return None;
        };
        let load = &measured.load;
        match point.open {
            Some(_) => load.open.as_ref().map(|open| &open.response_time),
            None => Some(&load.service_time),
        }
    });
    let points = deadheat_stats::spectrum::spectrum(&histograms.collect::<Vec<_>>());
    let dot = |point: SpectrumPoint| {
        let ends = Some((point.least, point.most));
        (
            point.percent,
            Dot {
                value: point.mean,
                ends,
            },
        )
    };
    points.into_iter().map(dot).collect()
}
