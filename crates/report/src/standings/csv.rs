//! The standings as comma-separated values (RFC 4180), tidy: one row per load, stack and metric, one column per
//! variable. docs/report-csv.md describes every column and metric.

use deadheat_stats::heats::Verdict;

use super::{
    view::{LackView, LoadView, Placed, RowView, StandingsView},
    words,
};
use crate::csv::{Table, number};

/// The columns, in their order.
pub const COLUMNS: [&str; 26] = [
    "session",
    "workload",
    "point",
    "connections",
    "loop",
    "offered_per_second",
    "cpus",
    "target",
    "stack",
    "variant",
    "language",
    "framework",
    "outcome",
    "reason",
    "heats",
    "metric",
    "unit",
    "value",
    "is_bound",
    "rank_best",
    "rank_worst",
    "best_ratio",
    "best_ratio_low",
    "best_ratio_high",
    "level",
    "best_verdict",
];

/// Every load's stacks, the best first, with a row per metric; then stacks without a figure.
pub fn csv(view: &StandingsView) -> String {
    let mut table = Table::new(&COLUMNS);
    for load in &view.loads {
        for one in &load.tables {
            for row in &one.rows {
                let about = Line::of(view, load, &row.target).measured(row, one.cpus);
                metrics(row)
                    .iter()
                    .for_each(|metric| about.clone().with(metric).write(&mut table));
            }
        }
        for lack in &load.lacking {
            Line::of(view, load, &lack.target)
                .lacking(lack)
                .write(&mut table);
        }
    }
    let everywhere = view.not_measured.entries.iter();
    for lack in everywhere.filter(|lack| lack.load.is_none()) {
        Line::about(view, &lack.target)
            .lacking(lack)
            .write(&mut table);
    }
    table.end()
}

/// A stack's figure.
struct Metric {
    name: &'static str,
    unit: &'static str,
    figure: Placed,
}

/// The figures that a row has.
fn metrics(row: &RowView) -> Vec<Metric> {
    let mut metrics = Vec::new();
    let mut add = |name, unit, figure: Option<Placed>| {
        metrics.extend(figure.map(|figure| Metric { name, unit, figure }));
    };
    add("throughput", "requests/s", Some(row.throughput_per_second));
    add(
        "cpu_per_request",
        "s",
        row.cpu_us_per_request.map(|cost| Placed {
            value: cost.value / 1e6,
            ..cost
        }),
    );
    add("p50", "s", row.p50_seconds);
    add("p99", "s", row.p99_seconds);
    let plain = |value: Option<f64>| value.map(Placed::alone);
    add("memory_idle", "B", plain(row.memory.idle_bytes));
    add("memory_mean", "B", plain(row.memory.mean_bytes));
    add("memory_peak", "B", plain(row.memory.peak_bytes));
    add("ready", "s", plain(row.ready_seconds));
    add("warm_up", "s", plain(row.warm_up_seconds));
    add("busy", "share", plain(row.busy));
    add(
        "answers",
        "requests",
        Some(Placed::alone(row.answers as f64)),
    );
    add(
        "failed_requests",
        "requests",
        Some(Placed::alone(row.failed_requests as f64)),
    );
    metrics
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

    fn about(view: &StandingsView, target: &str) -> Self {
        let (stack, variant) = target.split_once(':').unwrap_or((target, ""));
        Self::default()
            .set("session", &view.id)
            .set("target", target)
            .set("stack", stack)
            .set("variant", variant)
    }

    fn of(view: &StandingsView, load: &LoadView, target: &str) -> Self {
        Self::about(view, target)
            .set("workload", &load.workload)
            .set("point", &load.point)
            .set("connections", load.connections)
            .set("loop", if load.is_open { "open" } else { "closed" })
    }

    fn measured(self, row: &RowView, cpus: u32) -> Self {
        self.set("cpus", cpus)
            .set("language", &row.language)
            .set("framework", &row.framework)
            .set("outcome", "measured")
            .set("reason", row.failures.join("; "))
            .set("heats", row.heats)
            .set_number("offered_per_second", row.offered_per_second)
    }

    fn lacking(self, lack: &LackView) -> Self {
        let outcome = words::absent(lack.because).replace(' ', "-");
        self.set("outcome", outcome).set("reason", &lack.reason)
    }

    fn with(self, metric: &Metric) -> Self {
        let figure = &metric.figure;
        let mut line = self
            .set("metric", metric.name)
            .set("unit", metric.unit)
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

/// How the best stands to the stack.
const fn verdict(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Faster => "better",
        Verdict::Slower => "worse",
        Verdict::DeadHeat => "dead-heat",
        Verdict::Undecided => "undecided",
    }
}
