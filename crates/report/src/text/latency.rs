//! Open loops: response times, then service times.

use anstyle::Style;

use super::{
    DIM, LOST, Page, WARN,
    table::{self, Line},
};
use crate::view::{Latency, LatencyRow, LatencyTable, LatencyView};

/// Offered and achieved requests per second, then response times.
const OFFERED: &str = "Response time, at requests/s offered and achieved";
const RESPONSE: [&str; 6] = ["offered", "achieved", "p50", "p90", "p99", "p99.9"];
/// Service times at the same rates, and what a request cost.
const COST: &str = "Service time, and CPU time per request";
const SERVICE: [&str; 5] = ["CPU/req", "p50", "p90", "p99", "p99.9"];

pub(super) fn section(page: &mut Page, view: &LatencyView) {
    page.section(&view.title);
    for sentence in &view.introduction {
        page.wrapped(Style::new(), "", sentence);
    }
    for table in &view.tables {
        self::table(page, table);
    }
    view.losses.iter().for_each(|loss| page.loss(loss));
    for sentence in &view.not_measured {
        page.wrapped(LOST, "x ", sentence);
    }
    page.wrapped(DIM, "", &view.intervals);
    for sentence in &view.missing {
        page.wrapped(DIM, "", sentence);
    }
}

fn table(page: &mut Page, table: &LatencyTable) {
    page.section(&table.title);
    page.wrapped(Style::new(), "", &table.summary);
    if !table.rows.is_empty() {
        let lead = if table.is_ranked { "#" } else { "load" };
        let lines: Vec<Line<6>> = table.rows.iter().map(response).collect();
        page.table(OFFERED, lead, &RESPONSE, &lines);
        let lines: Vec<Line<5>> = table.rows.iter().map(service).collect();
        page.table(COST, lead, &SERVICE, &lines);
    }
    for sentence in &table.dead_heats {
        page.wrapped(Style::new(), "= ", sentence);
    }
    if let Some(sentence) = &table.noise {
        page.wrapped(Style::new(), "", sentence);
    }
    for note in &table.notes {
        page.wrapped(WARN, "! ", note);
    }
}

fn response(row: &LatencyRow) -> Line<'_, 6> {
    let [p50, p90, p99, p999] = values(&row.response);
    line(
        row,
        [
            row.offered.clone(),
            row.achieved.clone(),
            p50,
            p90,
            p99,
            p999,
        ],
    )
}

fn service(row: &LatencyRow) -> Line<'_, 5> {
    let [p50, p90, p99, p999] = values(&row.service);
    line(row, [row.cpu.clone(), p50, p90, p99, p999])
}

fn line<const N: usize>(row: &LatencyRow, cells: [String; N]) -> Line<'_, N> {
    Line {
        lead: &row.lead,
        name: &row.target,
        style: table::style(row.state, &row.lead),
        cells,
    }
}

fn values(times: &[Latency]) -> [String; 4] {
    std::array::from_fn(|at| {
        let time = times.get(at);
        time.map_or(String::new(), |time| time.value.clone())
    })
}
