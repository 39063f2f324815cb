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
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct LatencyTable {
    /// What each column is the time of.
    pub columns: Vec<String>,
    /// Least, mean, percentiles, longest.
    pub rows: Vec<LatencyRow>,
    /// What the columns mean, and which percentiles are not shown.
    pub notes: Vec<String>,
}

/// One row.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LatencyRow {
    /// Its name ("p99").
    pub name: String,
    /// What its cells are.
    pub unit: LatencyUnit,
    /// A cell for each column; `None` where too few answers came for it.
    pub cells: Vec<Option<f64>>,
}

/// What the cells of a row are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum LatencyUnit {
    /// Times in seconds.
    Seconds,
    /// Numbers of answers.
    Answers,
}

impl LatencyRow {
    /// Its cells in words.
    pub fn shown(&self) -> Vec<String> {
        let cell = |value: &Option<f64>| match (value, self.unit) {
            (None, _) => NONE.to_owned(),
            (Some(value), LatencyUnit::Seconds) => seconds(*value),
            (Some(value), LatencyUnit::Answers) => count(*value as u64),
        };
        self.cells.iter().map(cell).collect()
    }
}

/// What a kind of latency is called in every format that a person reads.
pub(crate) fn name(kind: LatencyKind, open: bool) -> &'static str {
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

/// The table; without columns when nothing was answered.
pub(super) fn table(record: &LoadRecord, figures: &LoadFigures) -> LatencyTable {
    let open = record.spec.schedule.is_open();
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
    let columns: Vec<&Latency> = kinds
        .iter()
        .filter_map(|kind| figures.latency(*kind))
        .collect();
    if columns.is_empty() {
        return LatencyTable::default();
    }
    let row = |name: &str, cell: &dyn Fn(&Latency) -> Option<f64>| LatencyRow {
        name: name.to_owned(),
        unit: LatencyUnit::Seconds,
        cells: columns.iter().map(|latency| cell(latency)).collect(),
    };
    let mut rows = vec![
        row("least", &|latency| Some(latency.least_seconds)),
        row("mean", &|latency| Some(latency.mean_seconds)),
    ];
    for percent in SHOWN_PERCENTS {
        let row = row(&format!("p{percent}"), &|latency| latency.shown(percent));
        if row.cells.iter().any(Option::is_some) {
            rows.push(row);
        }
    }
    rows.push(row("longest", &|latency| Some(latency.most_seconds)));
    rows.push(LatencyRow {
        unit: LatencyUnit::Answers,
        ..row("samples", &|latency| Some(latency.samples as f64))
    });
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
