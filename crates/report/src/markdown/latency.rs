//! Open loops.

use super::{Page, escape};
use crate::view::{Latency, LatencyRow, LatencyTable, LatencyView, RowState};

impl Page {
    pub(super) fn latency(&mut self, view: &LatencyView) {
        self.heading(2, &view.title);
        for sentence in &view.introduction {
            self.paragraph(&escape(sentence));
        }
        self.losses_in_short(view.losses_in_short.as_ref());
        for sentence in &view.not_measured {
            self.paragraph(&escape(sentence));
        }
        for table in &view.tables {
            self.latency_table(table, &view.title);
        }
        for sentence in view.missing.iter().chain([&view.intervals]) {
            self.paragraph(&escape(sentence));
        }
        for point in &view.points {
            self.comparison(point);
        }
    }

    fn latency_table(&mut self, table: &LatencyTable, title: &str) {
        self.heading(3, &format!("{} ({title})", table.title));
        self.paragraph(&format!("**{}**", escape(&table.summary)));
        if table.rows.is_empty() {
            return;
        }
        let lead = if table.is_ranked { "rank" } else { "load" };
        let head = [
            lead,
            "stack",
            "offered/s",
            "achieved/s",
            "CPU per request",
            "response time p50",
            "p90",
            "p99",
            "p99.9",
            "service time p50",
            "p90",
            "p99",
            "p99.9",
        ];
        let rows: Vec<Vec<String>> = table.rows.iter().map(row).collect();
        self.table(&head, &rows);
        self.bullets(&table.dead_heats, "", "");
        if let Some(sentence) = &table.noise {
            self.paragraph(&escape(sentence));
        }
        self.bullets(&table.notes, "", "");
    }
}

fn row(row: &LatencyRow) -> Vec<String> {
    let mut name = row.target.clone();
    if row.state == RowState::LowerBound {
        name += " (generator-limited)";
    }
    if let Some(overloaded) = &row.overloaded {
        name += &format!(" ({overloaded})");
    }
    let with_interval = |time: &Latency| match &time.interval {
        Some(interval) => format!("{} ({interval})", time.value),
        None => time.value.clone(),
    };
    let mut cells = vec![
        row.lead.clone(),
        name,
        row.offered.clone(),
        row.achieved.clone(),
        row.cpu.clone(),
    ];
    cells.extend(row.response.iter().map(with_interval));
    cells.extend(row.service.iter().map(with_interval));
    cells
}
