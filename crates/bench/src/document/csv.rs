//! The standings as comma-separated values (RFC 4180), tidy: one row per load, stack and metric, one column per
//! variable.

use deadheat_document::{
    csv::{Number, Text, head, line},
    view::clean,
};
use deadheat_model::{TargetId, figure::list};
use deadheat_stats::{
    heats::{Group, LimitedBy, PairVerdict},
    interval::Interval,
    standings::{AbsentBecause, Bound, Measure, StartFigure},
};
use schemars::JsonSchema;
use serde::Serialize;

use super::{
    view::{LackView, LoadView, RankedFigure, RowView, StandingsView},
    words,
};

/// A metric of a stack at a load, or of a control, or of a row of a published table.
///
/// The best stack of a load comes first, then its controls: the null server (`~null-server`), which only answers, and
/// the A/A check (`~aa-twin`), a stack next to its own copy. A row of a stack without a figure has no metric. How
/// stacks start comes after all loads; what is the same at each load has no workload. A stack that is missing
/// everywhere has one row without a workload. An empty field has no value.
#[derive(Clone, Default, Serialize, JsonSchema)]
pub struct CsvRow {
    /// The session's id.
    session: Text,
    /// The workload's id.
    workload: Text,
    /// The load point's id.
    point: Text,
    /// Connections of the closed loop; of an open one the most that it holds.
    connections: Option<u32>,
    /// What is spoken: `http1`, `tls` (HTTP/1.1 over TLS), `h2` (HTTP/2 over TLS) or `h2c` (HTTP/2 without TLS).
    protocol: &'static str,
    /// Requests on a connection at once.
    streams: Option<u32>,
    /// Whether connections wait for their answers (`closed`), or requests follow a schedule (`open`).
    r#loop: Option<Loop>,
    /// The offered rate of an open loop in requests/s; empty for a closed one.
    offered_per_second: Option<Number>,
    /// CPUs that the stack was given. Only stacks with the same number share a ranking.
    cpus: Option<u32>,
    /// Whether it is a yardstick, and not ranked.
    yardstick: Option<bool>,
    /// The stack under its variant, `stack` or `stack:variant`.
    target: Text,
    /// The stack alone.
    stack: Text,
    /// The variant alone; empty if the stack has none.
    variant: Text,
    /// As `stack.toml` has it.
    language: Text,
    /// As `stack.toml` has it.
    framework: Text,
    /// `measured`, `control`, or why there is no figure: `unavailable`, `failed`, `not-offered`, `not-reached`,
    /// `overloaded`; `published`: a row of a published table.
    outcome: &'static str,
    /// Why there is no figure; of a measured stack, why it failed in some of its heats; of the A/A check, the stacks
    /// that had a copy; of a published row, its table and its name there.
    reason: Text,
    /// Complete heats in which the stack took part; of memory, those whose process had served no other load before; of
    /// figures of starts, these starts.
    heats: Option<u32>,
    /// What the limit was in most slices; empty if it is not known.
    limit: Option<LimitedBy>,
    /// The metric; empty if there is no figure.
    metric: Option<Metric>,
    /// The metric's unit.
    unit: &'static str,
    /// The estimate, in that unit.
    value: Option<Number>,
    /// The lower end of the interval of `value`; only of the A/A check, of `speedup`, of `measured_ratio` and of
    /// `first_p99`.
    value_low: Option<Number>,
    /// The upper end of it.
    value_high: Option<Number>,
    /// Whether the value is a lower bound, because the load generator was the limit; of `time_to_steady` and
    /// `cpu_to_steady`, whether it is an upper bound, because it was too soon to tell.
    is_bound: Option<bool>,
    /// The best rank that the stack can have, from 1; empty for metrics that are not ranked.
    rank_best: Option<usize>,
    /// The worst rank that it can have.
    rank_worst: Option<usize>,
    /// Half the width of the interval of the ratio to the best, on the logarithm (0.03: ±3 %); only of the metric that
    /// the load is ranked by, and of starts. The best has that of its ratio to the next one.
    half_width: Option<Number>,
    /// How many times better the best stack of the table is, 1 or more; empty for the best itself.
    best_ratio: Option<Number>,
    /// The lower end of the interval of `best_ratio`, which holds together with all rows of the table; empty if it is
    /// open because of a lower bound. Exactly 1: the difference was proven step by step.
    best_ratio_low: Option<Number>,
    /// The upper end of it; empty if it is open.
    best_ratio_high: Option<Number>,
    /// The level of the row's interval (0 to 1); that of `best_ratio` allows for all looks, and holds for all rows
    /// together.
    level: Option<Number>,
    /// The verdict on the best stack against this one: `better`, `worse`, `dead-heat` or `undecided`; empty for the
    /// best.
    best_verdict: &'static str,
}

/// When requests are sent.
#[derive(Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Loop {
    /// When the answer before has come.
    Closed,
    /// On a schedule.
    Open,
}

/// What a row has the figure of.
#[derive(Clone, Copy, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Metric {
    /// In requests/s: verified answers; ranked in closed loops.
    Throughput,
    /// In seconds: CPU time of the process tree per verified answer; ranked.
    CpuPerRequest,
    /// In seconds, of closed loops: mean service time, connections ÷ throughput (Little's law).
    Mean,
    /// In seconds: median of response time, ranked; in closed loops of service time, not ranked.
    P50,
    /// In seconds: 99th percentile of it.
    P99,
    /// In bytes: mean over the rounds.
    MemoryMean,
    /// In bytes: the largest that was read in the rounds.
    MemoryPeak,
    /// As a share: how far the stack's heats, each with a process of its own, are from each other compared with the
    /// other stacks': the standard deviation of what it is ranked by. The noise of a heat is a part of it.
    Spread,
    /// As a share: how busy the server's CPUs were.
    Busy,
    /// In requests: verified answers in counted slices.
    Answers,
    /// In requests: failures in counted slices.
    FailedRequests,
    /// Slices that count.
    Slices,
    /// Slices that do not.
    DiscardedSlices,
    /// Heats in which the stack was not steady after its warm-up.
    UnsteadyHeats,
    /// Connections that had to be made again.
    Reconnected,
    /// In seconds: from the process's start to its first right answer; ranked, over all loads.
    FirstAnswer,
    /// In bytes: memory (PSS) right after that; ranked, over all loads.
    MemoryAtRest,
    /// In seconds: start, and load until throughput and CPU time per answer were within 10 % of those at the end of the
    /// warm-up; ranked.
    TimeToSteady,
    /// In seconds: CPU time of the process tree until then; ranked.
    CpuToSteady,
    /// In seconds: start and warm-up, of a stack that was not steady after most of its starts.
    NotSteadyAfter,
    /// In seconds: 99th percentile of service time of the first answers, 1,000 or more.
    FirstP99,
    /// In answers: the fewest behind `first_p99` in a start.
    FirstAnswersLeast,
    /// In answers: the most.
    FirstAnswersMost,
    /// Starts that came to no right answer.
    FailedStarts,
    /// Starts after which the stack was not steady at the end of its warm-up.
    UnsteadyStarts,
    /// A ratio: throughput over that with the smallest number of CPUs; only if each stack was measured with several, as
    /// the next one.
    Speedup,
    /// As a share: that ratio over the ratio of the CPUs.
    ScalingEfficiency,
    /// A ratio: the copy's throughput (open loop: p99) over its original's; only of the A/A check.
    TwinRatio,
    /// In requests/s: as published; only of published rows, as the next two.
    PublishedThroughput,
    /// A ratio: over the published figure of the table's baseline.
    PublishedRatio,
    /// A ratio: the same two, measured here.
    MeasuredRatio,
}

impl Metric {
    const fn unit(self) -> &'static str {
        match self {
            Metric::Throughput | Metric::PublishedThroughput => "requests/s",
            Metric::CpuPerRequest
            | Metric::Mean
            | Metric::P50
            | Metric::P99
            | Metric::FirstAnswer
            | Metric::TimeToSteady
            | Metric::CpuToSteady
            | Metric::NotSteadyAfter
            | Metric::FirstP99 => "s",
            Metric::MemoryAtRest | Metric::MemoryMean | Metric::MemoryPeak => "B",
            Metric::FirstAnswersLeast | Metric::FirstAnswersMost => "answers",
            Metric::FailedStarts | Metric::UnsteadyStarts => "starts",
            Metric::Spread | Metric::Busy | Metric::ScalingEfficiency => "share",
            Metric::Answers | Metric::FailedRequests => "requests",
            Metric::Slices | Metric::DiscardedSlices => "slices",
            Metric::UnsteadyHeats => "heats",
            Metric::Reconnected => "connections",
            Metric::Speedup
            | Metric::TwinRatio
            | Metric::PublishedRatio
            | Metric::MeasuredRatio => "ratio",
        }
    }
}

/// Every load's stacks, the best first, with a row per metric; then its controls, and stacks without a figure.
pub fn csv(view: &StandingsView) -> String {
    let mut rows = Vec::new();
    for load in &view.loads {
        for table in &load.tables {
            for row in &table.rows {
                let about = CsvRow::new(view, load, row.id()).measured(row, table.group);
                rows.extend(metrics(row).into_iter().map(|(metric, figure)| {
                    CsvRow {
                        heats: Some(match metric {
                            Metric::MemoryMean | Metric::MemoryPeak => row.memory.heats,
                            _ => row.heats,
                        }),
                        half_width: row
                            .half_width
                            .filter(|_| metric == main(load.measure))
                            .and_then(Number::finite),
                        ..about.clone().with(metric, figure)
                    }
                }));
                rows.extend(scaling(load, row.member, &about));
            }
        }
        rows.extend(controls(view, load));
        let lacking = load.lacking.iter();
        rows.extend(lacking.map(|lack| CsvRow::new(view, load, &lack.id).lacking(lack)));
    }
    rows.extend(starts(view));
    let everywhere = view.not_measured.entries.iter();
    let everywhere = everywhere.filter(|lack| lack.load.is_none());
    rows.extend(everywhere.map(|lack| CsvRow::about(view, &lack.id).lacking(lack)));
    rows.extend(published(view));
    head::<CsvRow>([]) + &rows.iter().map(line).collect::<String>()
}

/// What a stack gains from more CPUs than the smallest number.
fn scaling(load: &LoadView, member: usize, about: &CsvRow) -> Vec<CsvRow> {
    let budgets = load.scaling.iter().flat_map(|stack| &stack.budgets);
    let mut gains = budgets.filter_map(|budget| Some((budget, budget.gain?)));
    let Some((budget, gain)) = gains.find(|(budget, _)| budget.member == member) else {
        return Vec::new();
    };
    let with = |metric, value| {
        let figure = RankedFigure {
            is_bound: gain.is_bound,
            ..RankedFigure::alone(value)
        };
        CsvRow {
            heats: Some(budget.heats),
            ..about.clone().with(metric, figure)
        }
    };
    vec![
        with(Metric::Speedup, gain.ratio).within(gain.interval),
        with(Metric::ScalingEfficiency, gain.efficiency),
    ]
}

/// The rows of the null server and of the A/A checks.
fn controls(view: &StandingsView, load: &LoadView) -> Vec<CsvRow> {
    let control = |id: TargetId| CsvRow {
        outcome: "control",
        ..CsvRow::new(view, load, &id)
    };
    let mut rows = Vec::new();
    if let Some(ceiling) = load.ceiling_per_second {
        let null_server = control(TargetId::null_server());
        rows.push(null_server.with(Metric::Throughput, RankedFigure::alone(ceiling)));
    }
    if let Some(twin) = &load.twin {
        let of: Vec<String> = twin.of.iter().map(|id| clean(&id.to_string())).collect();
        let row = CsvRow {
            heats: Some(twin.heats),
            reason: format!("the same as {}", list(&of)).into(),
            ..control(TargetId::twin())
        };
        let row = row.with(Metric::TwinRatio, RankedFigure::alone(twin.ratio));
        rows.push(row.within(twin.interval));
    }
    rows
}

/// How the stacks start: what is the same at each load, without a workload; then what followed at each.
fn starts(view: &StandingsView) -> Vec<CsvRow> {
    let mut rows = Vec::new();
    let tables = view.starts.iter();
    for (group, start) in tables.flat_map(|table| table.rows.iter().map(|row| (table.group, row))) {
        let mut known = view.loads.iter().flat_map(LoadView::rows);
        let known = known.find(|row| *row.id() == start.target);
        let about = |row: CsvRow, starts: u32| CsvRow {
            cpus: Some(group.cpus),
            yardstick: Some(group.yardsticks),
            language: known.map_or_else(Text::default, |row| (&row.language).into()),
            framework: known.map_or_else(Text::default, |row| (&row.framework).into()),
            outcome: "measured",
            heats: Some(starts),
            ..row
        };
        let row = about(CsvRow::about(view, &start.target), start.starts);
        rows.extend(row.ranked(Metric::FirstAnswer, Some(start.first_answer_seconds)));
        rows.extend(row.ranked(Metric::MemoryAtRest, start.memory_at_rest_bytes));
        let failed = RankedFigure::alone(start.failed_starts.into());
        rows.push(row.with(Metric::FailedStarts, failed));
        for load in view.leading() {
            let Some(found) = start.at(&load.workload, &load.point.id) else {
                continue;
            };
            let row = about(CsvRow::new(view, load, &start.target), found.starts);
            let plain = |metric, value: Option<f64>| {
                value.map(|value| row.clone().with(metric, RankedFigure::alone(value)))
            };
            let answers = |end: usize| found.first_answers.map(|ends| ends[end] as f64);
            let known = [
                row.ranked(Metric::TimeToSteady, found.time_to_steady_seconds),
                row.ranked(Metric::CpuToSteady, found.cpu_to_steady_seconds),
                plain(Metric::NotSteadyAfter, found.not_steady_after_seconds),
                plain(Metric::UnsteadyStarts, Some(found.unsteady_starts.into())),
                found.first_p99_seconds.map(|p99| {
                    let row = row
                        .clone()
                        .with(Metric::FirstP99, RankedFigure::alone(p99.mean));
                    row.within(p99.interval)
                }),
                plain(Metric::FirstAnswersLeast, answers(0)),
                plain(Metric::FirstAnswersMost, answers(1)),
            ];
            rows.extend(known.into_iter().flatten());
        }
    }
    rows
}

/// Published tables that the session repeats: the published figures, and both ratios to the table's baseline.
fn published(view: &StandingsView) -> Vec<CsvRow> {
    let mut rows = Vec::new();
    for table in &view.published {
        for row in &table.sides.rows {
            let about = CsvRow {
                session: (&view.id).into(),
                target: clean(&row.target.to_string()).into(),
                outcome: "published",
                reason: clean(&format!("{}, {}", table.title, row.name)).into(),
                ..CsvRow::default()
            };
            for (metric, value) in [
                (Metric::PublishedThroughput, row.published_per_second),
                (Metric::PublishedRatio, row.published_ratio),
            ] {
                rows.extend(
                    value.map(|value| about.clone().with(metric, RankedFigure::alone(value))),
                );
            }
            // What is only known to be at most something has no value.
            let measured = row.measured_ratio.filter(|one| one.bound != Bound::AtMost);
            if let Some(measured) = measured {
                let ratio = RankedFigure {
                    is_bound: measured.bound == Bound::AtLeast,
                    ..RankedFigure::alone(measured.ratio)
                };
                let row = about.with(Metric::MeasuredRatio, ratio);
                rows.push(row.within(measured.interval));
            }
        }
    }
    rows
}

/// The metric that a load's stacks are ranked by.
const fn main(measure: Measure) -> Metric {
    match measure {
        Measure::Throughput => Metric::Throughput,
        Measure::ResponseTime => Metric::P99,
    }
}

/// The figures that a row has.
fn metrics(row: &RowView) -> Vec<(Metric, RankedFigure)> {
    let cost = row.cpu_us_per_request.map(|cost| RankedFigure {
        value: cost.value / 1e6,
        ..cost
    });
    let plain = |value: Option<f64>| value.map(RankedFigure::alone);
    let count = |count: u64| Some(RankedFigure::alone(count as f64));
    let metrics = [
        (Metric::Throughput, Some(row.throughput_per_second)),
        (Metric::CpuPerRequest, cost),
        (Metric::Mean, plain(row.mean_seconds)),
        (Metric::P50, row.p50_seconds),
        (Metric::P99, row.p99_seconds),
        (Metric::MemoryMean, plain(row.memory.mean_bytes)),
        (Metric::MemoryPeak, plain(row.memory.peak_bytes)),
        (Metric::Spread, plain(row.spread)),
        (Metric::Busy, plain(row.busy)),
        (Metric::Answers, count(row.answers)),
        (Metric::FailedRequests, count(row.failed_requests)),
        (Metric::Slices, count(row.slices.into())),
        (Metric::DiscardedSlices, count(row.discarded_slices.into())),
        (Metric::UnsteadyHeats, count(row.unsteady_heats.into())),
        (Metric::Reconnected, count(row.reconnected)),
    ];
    let known = metrics.into_iter();
    known
        .filter_map(|(metric, figure)| Some((metric, figure?)))
        .collect()
}

impl CsvRow {
    fn about(view: &StandingsView, id: &TargetId) -> Self {
        Self {
            session: (&view.id).into(),
            target: clean(&id.to_string()).into(),
            stack: clean(&id.stack).into(),
            variant: clean(id.variant.as_deref().unwrap_or_default()).into(),
            ..Self::default()
        }
    }

    fn new(view: &StandingsView, load: &LoadView, id: &TargetId) -> Self {
        Self {
            workload: clean(&load.workload).into(),
            point: clean(&load.point.id).into(),
            connections: Some(load.point.connections),
            protocol: load.point.protocol.key(),
            streams: Some(load.point.streams),
            r#loop: Some(if load.point.open.is_some() {
                Loop::Open
            } else {
                Loop::Closed
            }),
            offered_per_second: load.offered_per_second.and_then(Number::finite),
            ..Self::about(view, id)
        }
    }

    fn measured(self, row: &RowView, group: Group) -> Self {
        Self {
            cpus: Some(group.cpus),
            yardstick: Some(group.yardsticks),
            language: (&row.language).into(),
            framework: (&row.framework).into(),
            outcome: "measured",
            reason: clean(&row.failures.join("; ")).into(),
            heats: Some(row.heats),
            limit: row.limited_by,
            ..self
        }
    }

    fn lacking(self, lack: &LackView) -> Self {
        Self {
            outcome: match lack.because {
                AbsentBecause::NotOffered => "not-offered",
                AbsentBecause::NotMeasured => "not-reached",
                AbsentBecause::Overloaded => "overloaded",
                other => words::absent(other),
            },
            reason: (&lack.reason).into(),
            ..self
        }
    }

    fn with(self, metric: Metric, figure: RankedFigure) -> Self {
        let behind = figure.behind;
        let interval = behind.and_then(|behind| behind.interval);
        Self {
            metric: Some(metric),
            unit: metric.unit(),
            value: Number::finite(figure.value),
            is_bound: Some(figure.is_bound),
            rank_best: figure.rank.map(|rank| rank.best),
            rank_worst: figure.rank.map(|rank| rank.worst),
            best_ratio: behind.and_then(|behind| Number::finite(behind.ratio)),
            // 0 and infinity are ends that a lower bound leaves open.
            best_ratio_low: interval
                .filter(|interval| interval.low > 0.0)
                .and_then(|interval| Number::finite(interval.low)),
            best_ratio_high: interval.and_then(|interval| Number::finite(interval.high)),
            level: interval.and_then(|interval| Number::finite(interval.level)),
            best_verdict: behind.map_or("", |behind| verdict(behind.verdict)),
            ..self
        }
    }

    /// The row with a figure of starts; `None` without one.
    fn ranked(&self, metric: Metric, figure: Option<StartFigure>) -> Option<Self> {
        let figure = figure?;
        let placed = RankedFigure {
            value: figure.value,
            is_bound: figure.is_upper_bound,
            rank: figure.rank,
            behind: figure.behind,
        };
        Some(Self {
            half_width: figure.half_width.and_then(Number::finite),
            ..self.clone().with(metric, placed)
        })
    }

    /// With the interval of its value.
    fn within(self, interval: Option<Interval>) -> Self {
        Self {
            value_low: interval.and_then(|interval| Number::finite(interval.low)),
            value_high: interval.and_then(|interval| Number::finite(interval.high)),
            level: interval.and_then(|interval| Number::finite(interval.level)),
            ..self
        }
    }
}

/// The word for the best compared with the stack.
const fn verdict(verdict: PairVerdict) -> &'static str {
    match verdict {
        PairVerdict::Faster => "better",
        PairVerdict::Slower => "worse",
        PairVerdict::DeadHeat => "dead-heat",
        PairVerdict::Undecided => "undecided",
    }
}
