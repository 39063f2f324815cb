//! The long report for a terminal: every table with all of its columns, and where the figures come from.

use anstyle::Style;

use crate::{
    figure::{count, figure, seconds},
    standings::{
        view::{LoadView, PublishedView, RowView, SidesView, StandingsView, TableView},
        words,
    },
    text::{BAD, BOLD, DIM, Page, WARN},
};

pub(super) fn write(page: &mut Page, view: &StandingsView) {
    for load in &view.loads {
        of_load(page, load);
    }
    if !view.published.is_empty() {
        page.section("Published and measured");
        page.wrapped(DIM, "", words::SIDES_LEGEND);
    }
    for table in &view.published {
        published(page, table);
    }
    page.section("How sure this is");
    page.wrapped(Style::new(), "", &format!("{}.", view.trust.line));
    for warning in &view.warnings {
        page.wrapped(WARN, "! ", &warning.in_full());
    }
    not_measured(page, view);
    let details = &view.details;
    page.bullets("Limits of this session", "- ", &details.caveats);
    page.bullets("How it was measured", "- ", &details.method);
    if let Some(line) = &details.time_line {
        page.wrapped(Style::new(), "- ", &format!("Time: {line}"));
    }
    page.bullets("Machine", "- ", &details.machine);
    for finding in &details.findings {
        page.wrapped(Style::new(), "- ", &words::finding(finding));
    }
    page.bullets("Session", "- ", &details.provenance);
    stacks(page, view);
}

fn of_load(page: &mut Page, load: &LoadView) {
    page.section(&load.title);
    page.wrapped(BOLD, "", &format!("{}.", load.answer()));
    for table in load.tables.iter().filter(|table| !table.rows.is_empty()) {
        if let Some(title) = &table.title {
            page.section(&format!("{}, {title}", load.short));
        }
        of_table(page, load, table);
    }
    for lack in &load.lacking {
        page.wrapped(BAD, "x ", &words::lack(lack));
    }
    for sentence in words::load_notes(load) {
        page.wrapped(DIM, "", &sentence);
    }
}

fn of_table(page: &mut Page, load: &LoadView, table: &TableView) {
    let measure = load.measure;
    let speed = |row: &RowView| {
        let rank = |placed: Option<crate::standings::view::Placed>| {
            words::rank(placed.and_then(|placed| placed.rank))
        };
        vec![
            row.target.clone(),
            rank(row.main),
            words::placed(row.main.as_ref(), |value| words::main(measure, value)),
            words::half_width_in_column(row.half_width),
            words::placed(row.cpu_us_per_request.as_ref(), words::cost),
            rank(row.cpu_us_per_request),
        ]
    };
    let heads = [
        "stack",
        "rank",
        words::measure_head(measure),
        "±",
        "CPU/req",
        "CPU rank",
    ];
    table_of(page, &heads, &table.rows, speed);
    let memory = |row: &RowView| {
        vec![
            row.target.clone(),
            words::memory(row.memory.idle_bytes),
            words::memory(row.memory.mean_bytes),
            words::memory(row.memory.peak_bytes),
            words::time(row.ready_seconds),
            words::time(row.warm_up_seconds),
            count(row.heats.into()),
            words::spread(row.spread),
        ]
    };
    let heads = [
        "stack", "idle mem", "mean mem", "peak mem", "ready", "warm-up", "heats", "spread",
    ];
    table_of(page, &heads, &table.rows, memory);
    let times = |row: &RowView| {
        vec![
            row.target.clone(),
            words::time(row.mean_seconds),
            words::placed(row.p50_seconds.as_ref(), seconds),
            words::placed(row.p99_seconds.as_ref(), seconds),
        ]
    };
    let heads = ["stack", "mean time", "p50", "p99"];
    table_of(page, &heads, &table.rows, times);
    page.line(Style::new(), "");
    for row in &table.rows {
        let verdict = words::row_verdict(load.measure, row);
        let notes = words::notes(row);
        let sentence = if notes.is_empty() {
            format!("{}: {verdict}", row.target)
        } else {
            format!("{}: {verdict}; {}", row.target, notes.join("; "))
        };
        page.wrapped(Style::new(), "- ", &sentence);
    }
    if let Some(open) = table.rows.iter().find_map(|row| row.offered_per_second) {
        let open = figure(open);
        page.wrapped(
            DIM,
            "",
            &format!("Offered rate of the first stack: {open} requests/s."),
        );
    }
}

fn table_of(
    page: &mut Page,
    heads: &[&str],
    rows: &[RowView],
    cells: impl Fn(&RowView) -> Vec<String>,
) {
    page.line(Style::new(), "");
    let rows: Vec<Vec<String>> = rows.iter().map(cells).collect();
    page.table("", heads, &rows);
}

fn published(page: &mut Page, table: &PublishedView) {
    page.line(Style::new(), "");
    page.wrapped(BOLD, "", &table.title);
    for fact in &table.facts {
        page.wrapped(Style::new(), "- ", &fact.to_string());
    }
    page.line(Style::new(), "");
    let row = |row: &SidesView| {
        let name = format!("{} → {}", row.name, row.target);
        [name].into_iter().chain(words::sides(row)).collect()
    };
    let rows: Vec<Vec<String>> = table.rows.iter().map(row).collect();
    let heads: Vec<&str> = ["row"].into_iter().chain(words::SIDES).collect();
    page.table("", &heads, &rows);
    for note in &table.notes {
        page.wrapped(Style::new(), "- ", note);
    }
}

fn not_measured(page: &mut Page, view: &StandingsView) {
    let missing = &view.not_measured;
    if missing.entries.is_empty() && missing.left_out.is_empty() {
        return;
    }
    page.section("Not measured");
    for lack in &missing.entries {
        page.wrapped(BAD, "x ", &words::lack(lack));
        for line in &lack.log {
            page.wrapped(DIM, "  | ", line);
        }
    }
    if let Some(sentence) = missing.left_out_sentence() {
        let names = missing.left_out.join(", ");
        page.wrapped(Style::new(), "", &format!("{sentence} They are {names}."));
    }
}

fn stacks(page: &mut Page, view: &StandingsView) {
    page.section("Stacks");
    for stack in &view.details.stacks {
        let limits = stack.variant.iter().chain(&stack.limits);
        let limits: String = limits.map(|limit| format!("; {limit}")).collect();
        let line = format!(
            "{}: {}, {}; {}; database: {}; build: {}{limits}",
            stack.target, stack.what, stack.runtime, stack.versions, stack.database, stack.build,
        );
        page.wrapped(Style::new(), "- ", &line);
    }
}
