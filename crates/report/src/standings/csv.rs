//! The standings as comma-separated values (RFC 4180), tidy: one row per load, stack and metric, one column per
//! variable. docs/report-csv.md describes every column and metric.

use deadheat_model::TargetId;
use deadheat_stats::{
    heats::{Group, LimitedBy, Verdict},
    standings::{AbsentBecause, Bound, Measure},
};

use super::{
    view::{LackView, LoadView, Placed, RowView, StandingsView},
    words,
};
use crate::{
    csv::{Table, number},
    figure::list,
    view::clean,
};

/// The columns, in their order.
pub const COLUMNS: [&str; 31] = [
    "session",
    "workload",
    "point",
    "connections",
    "loop",
    "offered_per_second",
    "cpus",
    "yardstick",
    "target",
    "stack",
    "variant",
    "language",
    "framework",
    "outcome",
    "reason",
    "heats",
    "limit",
    "metric",
    "unit",
    "value",
    "value_low",
    "value_high",
    "is_bound",
    "rank_best",
    "rank_worst",
    "half_width",
    "best_ratio",
    "best_ratio_low",
    "best_ratio_high",
    "level",
    "best_verdict",
];

/// Every load's stacks, the best first, with a row per metric; then its controls, and stacks without a figure.
pub fn csv(view: &StandingsView) -> String {
    let mut table = Table::new(&COLUMNS);
    for load in &view.loads {
        for one in &load.tables {
            for row in &one.rows {
                let about = Line::of(view, load, &row.id).measured(row, one.group);
                for metric in metrics(row) {
                    let about = about.clone();
                    let is_main = metric.0 == main(load.measure);
                    let width = row.half_width.filter(|_| is_main);
                    about
                        .with(metric)
                        .set_number("half_width", width)
                        .write(&mut table);
                }
            }
        }
        controls(view, load, &mut table);
        for lack in &load.lacking {
            Line::of(view, load, &lack.id)
                .lacking(lack)
                .write(&mut table);
        }
    }
    let everywhere = view.not_measured.entries.iter();
    for lack in everywhere.filter(|lack| lack.load.is_none()) {
        Line::about(view, &lack.id).lacking(lack).write(&mut table);
    }
    published(view, &mut table);
    table.end()
}

/// The null server, and stacks beside themselves.
fn controls(view: &StandingsView, load: &LoadView, table: &mut Table) {
    let control = |id: TargetId| Line::of(view, load, &id).set("outcome", "control");
    if let Some(ceiling) = load.ceiling_per_second {
        let metric = ("throughput", "requests/s", Placed::alone(ceiling));
        control(TargetId::null_server()).with(metric).write(table);
    }
    if let Some(twin) = &load.twin {
        let interval = twin.interval;
        control(TargetId::twin())
            .set("heats", twin.heats)
            .set("reason", format!("the same as {}", list(&twin.of)))
            .with(("twin_ratio", "ratio", Placed::alone(twin.ratio)))
            .set_number("value_low", interval.map(|one| one.low))
            .set_number("value_high", interval.map(|one| one.high))
            .set_number("level", interval.map(|one| one.level))
            .write(table);
    }
}

/// Published tables that the session repeats: the published figures, and both ratios to the table's baseline.
fn published(view: &StandingsView, table: &mut Table) {
    for one in &view.published {
        for row in &one.rows {
            let about = Line::default()
                .set("session", &view.id)
                .set("target", &row.target)
                .set("outcome", "published")
                .set("reason", format!("{}, {}", one.title, row.name));
            let plain = |name, unit, value: Option<f64>| {
                value.map(|value| (name, unit, Placed::alone(value)))
            };
            let figures = [
                plain(
                    "published_throughput",
                    "requests/s",
                    row.published_per_second,
                ),
                plain("published_ratio", "ratio", row.published_ratio),
            ];
            for figure in figures.into_iter().flatten() {
                about.clone().with(figure).write(table);
            }
            // What is only known to be at most something has no value.
            let measured = row.measured_ratio.filter(|one| one.bound != Bound::AtMost);
            if let Some(measured) = measured {
                let interval = measured.interval;
                let ratio = Placed {
                    is_bound: measured.bound == Bound::AtLeast,
                    ..Placed::alone(measured.ratio)
                };
                about
                    .with(("measured_ratio", "ratio", ratio))
                    .set_number("value_low", interval.map(|one| one.low))
                    .set_number("value_high", interval.map(|one| one.high))
                    .set_number("level", interval.map(|one| one.level))
                    .write(table);
            }
        }
    }
}

/// The metric that a load's stacks are ranked by.
const fn main(measure: Measure) -> &'static str {
    match measure {
        Measure::Throughput => "throughput",
        Measure::ResponseTime => "p99",
    }
}

/// A figure of a stack: metric, unit, value.
type Metric = (&'static str, &'static str, Placed);

/// The figures that a row has.
fn metrics(row: &RowView) -> Vec<Metric> {
    let cost = row.cpu_us_per_request.map(|cost| Placed {
        value: cost.value / 1e6,
        ..cost
    });
    let plain = |value: Option<f64>| value.map(Placed::alone);
    let count = |count: u64| Some(Placed::alone(count as f64));
    let metrics = [
        ("throughput", "requests/s", Some(row.throughput_per_second)),
        ("cpu_per_request", "s", cost),
        ("mean", "s", plain(row.mean_seconds)),
        ("p50", "s", row.p50_seconds),
        ("p99", "s", row.p99_seconds),
        ("memory_idle", "B", plain(row.memory.idle_bytes)),
        ("memory_mean", "B", plain(row.memory.mean_bytes)),
        ("memory_peak", "B", plain(row.memory.peak_bytes)),
        ("ready", "s", plain(row.ready_seconds)),
        ("warm_up", "s", plain(row.warm_up_seconds)),
        ("spread", "share", plain(row.spread)),
        ("busy", "share", plain(row.busy)),
        ("answers", "requests", count(row.answers)),
        ("failed_requests", "requests", count(row.failed_requests)),
        ("slices", "slices", count(row.slices.into())),
        (
            "discarded_slices",
            "slices",
            count(row.discarded_slices.into()),
        ),
        ("unsteady_heats", "heats", count(row.unsteady_heats.into())),
        ("reconnected", "connections", count(row.reconnected)),
    ];
    let metrics = metrics.into_iter();
    metrics
        .filter_map(|(name, unit, figure)| Some((name, unit, figure?)))
        .collect()
}

/// One line of the table. A field without a value is empty.
#[derive(Clone, Default)]
struct Line([String; COLUMNS.len()]);

impl Line {
    fn set(mut self, column: &str, value: impl ToString) -> Self {
        let place = COLUMNS.iter().position(|name| *name == column);
        self.0[place.expect("columns are named as they are")] = value.to_string();
        self
    }

    fn set_number(self, column: &str, value: Option<f64>) -> Self {
        match value.filter(|value| value.is_finite()) {
            Some(value) => self.set(column, number(value)),
            None => self,
        }
    }

    fn about(view: &StandingsView, id: &TargetId) -> Self {
        Self::default()
            .set("session", &view.id)
            .set("target", clean(&id.to_string()))
            .set("stack", clean(&id.stack))
            .set("variant", clean(id.variant.as_deref().unwrap_or_default()))
    }

    fn of(view: &StandingsView, load: &LoadView, id: &TargetId) -> Self {
        Self::about(view, id)
            .set("workload", &load.workload)
            .set("point", &load.point)
            .set("connections", load.connections)
            .set("loop", if load.is_open { "open" } else { "closed" })
    }

    fn measured(self, row: &RowView, group: Group) -> Self {
        self.set("cpus", group.cpus)
            .set("yardstick", group.yardsticks)
            .set("language", &row.language)
            .set("framework", &row.framework)
            .set("outcome", "measured")
            .set("reason", row.failures.join("; "))
            .set("heats", row.heats)
            .set("limit", row.limited_by.map_or("", limit))
            .set_number("offered_per_second", row.offered_per_second)
    }

    fn lacking(self, lack: &LackView) -> Self {
        let outcome = match lack.because {
            AbsentBecause::NotMeasured => "not-reached",
            other => words::absent(other),
        };
        self.set("outcome", outcome).set("reason", &lack.reason)
    }

    fn with(self, (metric, unit, figure): Metric) -> Self {
        let mut line = self
            .set("metric", metric)
            .set("unit", unit)
            .set_number("value", Some(figure.value))
            .set("is_bound", figure.is_bound);
        if let Some(rank) = figure.rank {
            line = line
                .set("rank_best", rank.best)
                .set("rank_worst", rank.worst);
        }
        let Some(behind) = figure.behind else {
            return line;
        };
        let interval = behind.interval;
        line.set_number("best_ratio", Some(behind.ratio))
            // 0 and infinity are ends that a lower bound leaves open.
            .set_number(
                "best_ratio_low",
                interval.map(|one| one.low).filter(|low| *low > 0.0),
            )
            .set_number("best_ratio_high", interval.map(|one| one.high))
            .set_number("level", interval.map(|one| one.level))
            .set("best_verdict", verdict(behind.verdict))
    }

    fn write(&self, table: &mut Table) {
        table.write(&self.0.each_ref().map(String::as_str));
    }
}

/// What the limit was.
const fn limit(limit: LimitedBy) -> &'static str {
    match limit {
        LimitedBy::Server => "server",
        LimitedBy::Generator => "generator",
        LimitedBy::Neither => "neither",
    }
}

/// How the best stands to the stack.
const fn verdict(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Faster => "better",
        Verdict::Slower => "worse",
        Verdict::DeadHeat => "dead-heat",
        Verdict::Undecided => "undecided",
    }
}
