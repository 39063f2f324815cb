//! The table of latencies: a column for each kind, each under its own name.

use deadheat_model::LoadRecord;
use deadheat_stats::{
    figures::requests_for,
    load::{Latency, LatencyKind, LoadFigures, SHOWN_PERCENTS},
};
use serde::Serialize;

use super::time as seconds;
use crate::figure::{NONE, count};

/// The distributions of a load.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct LatencyTable {
    /// What each column is the time of.
    pub columns: Vec<String>,
    /// Least, mean, percentiles, longest.
    pub rows: Vec<LatencyRow>,
    /// What the columns mean, and which percentiles are not shown.
    pub notes: Vec<String>,
}

/// One row.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LatencyRow {
    /// Its name ("p99").
    pub name: String,
    /// A cell for each column.
    pub cells: Vec<String>,
}

/// What a kind of latency is called in every format that a person reads.
pub(crate) fn name(kind: LatencyKind, open: bool) -> &'static str {
    match kind {
        LatencyKind::ServiceTime if open => "service time",
        LatencyKind::ServiceTime => "service time (closed loop)",
        LatencyKind::ServiceTimeWithConnect => "with connect",
        LatencyKind::ResponseTime => "response time",
        LatencyKind::ConnectionWait => "connection wait",
        LatencyKind::SendLag => "send lag",
        LatencyKind::Connect => "connect time",
        LatencyKind::Handshake => "TLS handshake",
    }
}

/// The table; without columns when nothing was answered.
pub(super) fn table(record: &LoadRecord, figures: &LoadFigures) -> LatencyTable {
    let open = record.spec.schedule.is_open();
    let kinds = [
        LatencyKind::ServiceTime,
        LatencyKind::ServiceTimeWithConnect,
        LatencyKind::ResponseTime,
        LatencyKind::ConnectionWait,
        LatencyKind::SendLag,
    ];
    let columns: Vec<&Latency> = kinds
        .iter()
        .filter_map(|kind| figures.latency(*kind))
        .collect();
    if columns.is_empty() {
        return LatencyTable::default();
    }
    let row = |name: &str, cell: &dyn Fn(&Latency) -> Option<String>| LatencyRow {
        name: name.to_owned(),
        cells: columns
            .iter()
            .map(|latency| cell(latency).unwrap_or_else(|| NONE.to_owned()))
            .collect(),
    };
    let mut rows = vec![
        row("least", &|latency| Some(seconds(latency.least_seconds))),
        row("mean", &|latency| Some(seconds(latency.mean_seconds))),
    ];
    for percent in SHOWN_PERCENTS {
        let row = row(&format!("p{percent}"), &|latency| {
            latency.shown(percent).map(seconds)
        });
        if row.cells.iter().any(|cell| cell != NONE) {
            rows.push(row);
        }
    }
    rows.push(row("longest", &|latency| {
        Some(seconds(latency.most_seconds))
    }));
    rows.push(row("samples", &|latency| Some(count(latency.samples))));
    let mut notes = Vec::new();
    if open {
        notes.push(
            "Service time runs from the actual start, response time from the intended one: response time = send lag + connection wait + service time."
                .to_owned(),
        );
    }
    notes.extend(not_shown(columns[0].samples));
    let columns = columns
        .iter()
        .map(|latency| name(latency.of, open).to_owned());
    LatencyTable {
        columns: columns.collect(),
        rows,
        notes,
    }
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
    // Up to p99 there is a sign that says so.
    (percent > 99.0).then(|| {
        format!(
            "Not shown: p{percent}{more}; p{percent} needs {} answers.",
            count(requests_for(percent))
        )
    })
}
