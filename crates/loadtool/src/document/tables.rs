//! The tables of a load: answers by status, latencies, requests, and failures.

use std::collections::BTreeMap;

use deadheat_document::{Column, Table};
use deadheat_model::{
    Failure, LoadRecord,
    figure::{NONE, count, figure, latency, share},
};

use crate::analysis::{
    ExchangeFigures, Latency, LatencyKind, LoadFigures, SHOWN_PERCENTS, requests_for,
};

/// How many whole answers had each status.
pub(super) fn statuses(record: &LoadRecord) -> Table {
    let statuses = &record.observation.statuses;
    let all: u64 = statuses.values().sum();
    let mut table = Table::new([
        Column::left("status"),
        Column::right("answers"),
        Column::right("share"),
        Column::left(""),
    ]);
    for (status, number) in statuses {
        let expectation = if is_expected(record, *status) {
            "expected"
        } else {
            "not expected"
        };
        table.row([
            status.to_string(),
            count(*number),
            share(*number as f64 / all.max(1) as f64),
            expectation.to_owned(),
        ]);
    }
    table
}

/// Whether a request expects this status.
pub(super) fn is_expected(record: &LoadRecord, status: u16) -> bool {
    let mut exchanges = record.spec.exchanges.iter();
    exchanges.any(|exchange| exchange.expect.status.contains(status))
}

/// What a kind of latency is called in every format that a person reads.
pub(crate) fn latency_name(kind: LatencyKind, open: bool) -> &'static str {
    match kind {
        LatencyKind::ServiceTime if open => "service time",
        LatencyKind::ServiceTime => "service time (closed loop)",
        LatencyKind::ServiceTimeWithConnect => "with connect",
        LatencyKind::FirstByte => "first byte",
        LatencyKind::FirstEvent => "first event",
        LatencyKind::EventGap => "event gap",
        LatencyKind::ResponseTime => "response time",
        LatencyKind::ConnectionWait => "connection wait",
        LatencyKind::SendLag => "send lag",
        LatencyKind::Connect => "connect time",
        LatencyKind::Handshake => "TLS handshake",
    }
}

/// The distributions of the valid answers that ended in the measurement, a column for each kind under its own name.
pub(super) fn latencies(record: &LoadRecord, figures: &LoadFigures) -> Table {
    let open = record.spec.schedule.is_open();
    let columns = columns(figures);
    let heads = columns.iter();
    let heads = heads.map(|found| Column::right(latency_name(found.of, open)));
    let mut table = Table::new([Column::left("")].into_iter().chain(heads));
    if columns.is_empty() {
        return table;
    }
    let mut row = |name: &str, cell: &dyn Fn(&Latency) -> Option<String>| {
        let cells: Vec<Option<String>> = columns.iter().map(|found| cell(found)).collect();
        if cells.iter().any(Option::is_some) {
            let cells = cells
                .into_iter()
                .map(|cell| cell.unwrap_or(NONE.to_owned()));
            table.row([name.to_owned()].into_iter().chain(cells));
        }
    };
    row("min", &|found| Some(latency(found.least_seconds)));
    row("mean", &|found| Some(latency(found.mean_seconds)));
    for percent in SHOWN_PERCENTS {
        row(&format!("p{percent}"), &|found| {
            found.shown(percent).map(latency)
        });
    }
    row("max", &|found| Some(latency(found.most_seconds)));
    row("samples", &|found| Some(count(found.samples)));
    table
}

fn columns(figures: &LoadFigures) -> Vec<&Latency> {
    let kinds = [
        LatencyKind::ServiceTime,
        LatencyKind::ServiceTimeWithConnect,
        LatencyKind::FirstByte,
        LatencyKind::FirstEvent,
        LatencyKind::EventGap,
        LatencyKind::ResponseTime,
        LatencyKind::ConnectionWait,
        LatencyKind::SendLag,
    ];
    kinds
        .iter()
        .filter_map(|kind| figures.latency(*kind))
        .collect()
}

/// What the columns mean, and which percentiles are not shown.
pub(super) fn latency_notes(record: &LoadRecord, figures: &LoadFigures) -> Vec<String> {
    let columns = columns(figures);
    let Some(first) = columns.first() else {
        return Vec::new();
    };
    let open = record.spec.schedule.is_open().then(|| {
        "Service time runs from the actual start, response time from the intended one: response time = send lag + \
         connection wait + service time."
            .to_owned()
    });
    open.into_iter().chain(not_shown(first.samples)).collect()
}

/// "Not shown: p99.9 and above; p99.9 needs 100,000 answers."
fn not_shown(samples: u64) -> Option<String> {
    let mut percents = SHOWN_PERCENTS.iter().copied();
    let percent = percents.find(|percent| samples < requests_for(*percent))?;
    let more = if percents.next().is_some() {
        " and above"
    } else {
        ""
    };
    // Up to p99 a warning says so.
    (percent > 99.0).then(|| {
        format!(
            "Not shown: p{percent}{more}; p{percent} needs {} answers.",
            count(requests_for(percent))
        )
    })
}

/// A label for each request: its method and path, and its number if others have the same. Values in queries, which may
/// be secret, are not in a record, so that requests that differ only there have the same path.
fn labels(requests: &[ExchangeFigures]) -> Vec<String> {
    let names = requests.iter();
    let names: Vec<String> = names
        .map(|one| format!("{} {}", one.method, one.path))
        .collect();
    let mut uses: BTreeMap<&str, usize> = BTreeMap::new();
    for name in &names {
        *uses.entry(name).or_default() += 1;
    }
    let label = |(number, name): (usize, &String)| match uses[name.as_str()] {
        1 => name.clone(),
        _ => format!("{name} (request {number})"),
    };
    (1..).zip(&names).map(label).collect()
}

/// What became of each of several requests, of at most this many; empty if none ended.
pub(super) fn requests(figures: &LoadFigures, most: usize) -> Table {
    let heads = ["answers/s", "failed", "p50", "p99", "max"].map(Column::right);
    let mut table = Table::new([Column::left("request")].into_iter().chain(heads));
    let has_ended = |one: &ExchangeFigures| one.throughput_per_second > 0.0 || one.failed > 0;
    let requests = &figures.exchanges;
    if !requests.iter().any(has_ended) {
        return table;
    }
    let labels = labels(requests);
    for (one, label) in requests.iter().zip(&labels).take(most) {
        let times = one.service_time.as_ref();
        let time = |of: &dyn Fn(&Latency) -> Option<f64>| {
            times.and_then(of).map_or(NONE.to_owned(), latency)
        };
        table.row([
            label.clone(),
            figure(one.throughput_per_second),
            count(one.failed),
            time(&|times| times.shown(50.0)),
            time(&|times| times.shown(99.0)),
            time(&|times| Some(times.most_seconds)),
        ]);
    }
    let more = requests.len().saturating_sub(most);
    if more > 0 {
        table.note("", format!("and {} more", count(more as u64)));
    }
    table
}

/// A kind of failure with its phase and cause, and how many there were in the measurement and in the whole load.
struct FailureRow<'a> {
    kind: Failure,
    phase: &'a str,
    cause: &'a str,
    measured: u64,
    total: u64,
}

/// Failures by kind, phase and cause, the most frequent first; with `details` in words, too.
pub(super) fn failures(record: &LoadRecord, details: bool) -> Table {
    let observation = &record.observation;
    let mut groups: Vec<_> = observation.failures.iter().collect();
    groups.sort_by_key(|group| std::cmp::Reverse((group.measured, group.total)));
    let rows = groups.into_iter().map(|group| FailureRow {
        kind: group.kind,
        phase: group.phase.name(),
        cause: &group.cause,
        measured: group.measured,
        total: group.total,
    });
    let mut rows: Vec<_> = rows.collect();
    // Kinds that no group tells of: what was counted is shown, whatever else is known.
    for (kind, total) in observation.total.failed.iter() {
        if rows.iter().all(|row| row.kind != kind) {
            rows.push(FailureRow {
                kind,
                phase: NONE,
                cause: NONE,
                measured: observation.measured.failed[kind],
                total,
            });
        }
    }
    let mut table = Table::new([
        Column::left("cause"),
        Column::left("kind"),
        Column::left("phase"),
        Column::right("measured"),
        Column::right("whole load"),
    ]);
    for row in rows {
        table.row([
            row.cause,
            row.kind.name(),
            row.phase,
            &count(row.measured),
            &count(row.total),
        ]);
        if details {
            table.note("", row.kind.describe());
        }
    }
    table
}
