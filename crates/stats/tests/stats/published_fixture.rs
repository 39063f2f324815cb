//! A session that repeats published tables, built by hand: what goes well, and what does not.

use std::time::Duration;

use deadheat_model::{
    Cell, Failure, PublishedDocument, RepeatedTable, SessionRecord, TargetId, TrialOutcome,
    plan::PlannedWorkload,
    published::{PublishedRow, PublishedTable, RepeatedRow},
    session::{TargetState, WorkloadFailure},
    trial::{Measured, Phase},
};
use serde_json::json;

use crate::fixture::{Found, Session, failed, failure, measured, scatter};

/// The longest that a trial's load takes.
const LIMIT: Duration = Duration::from_secs(60);

/// A document with one good table, one whose baseline fails here, and one whose baseline the generator holds back.
pub fn document() -> PublishedDocument {
    let load = json!({
        "command": "ab -n 5000 -c 100 http://localhost/users",
        "requests": 5000,
        "connections": 100,
        "http": "1.0",
        "reuse": "per-request",
    });
    let row = |name: &str, target: &str, rate: f64| json!({"name": name, "target": target, "requests-per-second": rate});
    let with = |mut row: serde_json::Value, more: serde_json::Value| {
        for (key, value) in more.as_object().unwrap() {
            row[key] = value.clone();
        }
        row
    };
    let hung = json!({"name": "E (hangs)", "target": "ruby-e", "no-figures": "it did not finish"});
    let document = json!({
        "id": "blog-users",
        "title": "Some servers and a database",
        "source": "a page of results (blog-users.md)",
        "machine": "A laptop of 2014",
        "tool": "ab",
        "remarks": ["one run of each server"],
        "table": [
            {
                "id": "users",
                "title": "Ten users",
                "workload": "users",
                "baseline": "A (async)",
                "baseline-reason": "C, the fastest, answered nothing but errors",
                "remarks": ["403 bytes an answer"],
                "load": load,
                "row": [
                    row("A (async)", "clojure-a", 3569.53),
                    with(row("B", "go-b:2cpu", 5366.29), json!({
                        "target-reason": "all cores",
                        "target-on-one-cpu": "go-b:1cpu",
                        "connections": 200,
                        "remarks": ["200 requests at once, where the others had 100"],
                    })),
                    with(row("C", "rust-c", 10421.03), json!({"complete": 5000, "non-2xx": 5000})),
                    with(row("D with a name that is far too long to stand in a column beside figures", "csharp-d:unpooled", 301.42), json!({
                        "measures": "a connection to the database for each request",
                        "complete": 5000, "failed": 3, "non-2xx": 2,
                    })),
                    hung,
                    row("F (slow here)", "ruby-f", 343.73),
                    row("G (gone)", "nim-g", 1000.0),
                    row("H (limited)", "zig-h", 4000.0),
                    row("I (fails)", "php-i", 2000.0),
                    row("J (wrong)", "perl-j", 200.0),
                    row("K (lost)", "elixir-k", 3305.47),
                ],
            },
            {
                "id": "baseline-fails",
                "title": "The same, against a server that fails",
                "workload": "users",
                "baseline": "I",
                "load": load,
                "row": [row("I", "php-i", 2000.0), row("A", "clojure-a", 3569.53)],
            },
            {
                "id": "baseline-limited",
                "title": "The same, against a lower bound",
                "workload": "users",
                "baseline": "H",
                "load": load,
                "row": [row("H", "zig-h", 4000.0), row("A", "clojure-a", 3569.53)],
            },
        ],
    });
    serde_json::from_value(document).unwrap()
}

/// The server has one CPU.
fn stands(row: &PublishedRow) -> &TargetId {
    row.target_on_one_cpu.as_ref().unwrap_or(&row.target)
}

fn repeated(document: &PublishedDocument, table: &PublishedTable) -> RepeatedTable {
    let rows = table.row.iter().map(|row| match row.target.stack.as_str() {
        "nim-g" => RepeatedRow::LeftOut {
            reason: "there is no stack nim-g here".to_owned(),
        },
        _ => RepeatedRow::Asked {
            cell: Cell {
                target: stands(row).clone(),
                workload: table.workload.clone(),
                point: table.point(row, LIMIT).id,
            },
        },
    });
    RepeatedTable {
        document: document.id.clone(),
        title: document.title.clone(),
        source: document.source.clone(),
        machine: document.machine.clone(),
        tool: document.tool.clone(),
        remarks: document.remarks.clone(),
        table: table.clone(),
        rows: rows.collect(),
    }
}

/// A trial of all requests at `rate`, or of those before the limit.
fn counted(rate: f64, requests: u64) -> Measured {
    let found = Found {
        connections: 100,
        ..Found::at(rate)
    };
    let mut trial = measured(found);
    let seconds = (requests as f64 / rate).min(LIMIT.as_secs_f64());
    let done = ((rate * seconds).round() as u64).min(requests);
    for tally in [&mut trial.load.total, &mut trial.load.measured] {
        tally.carried_in = 0;
        tally.in_flight = if done < requests { 100 } else { 0 };
        tally.succeeded = done;
        tally.issued = tally.succeeded + tally.in_flight;
    }
    trial.load.window = Duration::from_secs_f64(seconds);
    // Throughput that changes from start to end, as that of a cold server does.
    let bins = (seconds / 0.5).ceil() as usize;
    trial.load.bins = vec![Default::default(); bins];
    for (index, bin) in trial.load.bins.iter_mut().enumerate() {
        bin.succeeded = done * (index as u64 + 1) * 2 / (bins * (bins + 1)) as u64;
    }
    trial
}

fn outcome(cell: &Cell, block: u32) -> TrialOutcome {
    let rate = match cell.target.stack.as_str() {
        "clojure-a" => 5000.0,
        // Behind A here, before it where it was published.
        "go-b" => 4000.0,
        "rust-c" => 20_000.0,
        "csharp-d" => 422.2,
        "ruby-e" => 900.0,
        "ruby-f" => 50.0,
        "zig-h" => 9000.0,
        _ => 1000.0,
    };
    let noise = 1.0 + 0.01 * scatter(&cell.to_string(), block);
    let mut trial = counted(rate * noise, 5000);
    match (cell.target.stack.as_str(), block) {
        ("zig-h", _) => trial.load.workers[0].cpu_time = trial.load.workers[0].wall.mul_f64(0.97),
        ("php-i", 1) => return failed(Phase::Load, "php-i ended under load", &["out of memory"]),
        ("ruby-e", 2) => {
            for tally in [&mut trial.load.total, &mut trial.load.measured] {
                tally.failed[Failure::Reset] += 2;
                tally.succeeded -= 2;
            }
        }
        _ => {}
    }
    TrialOutcome::Measured(Box::new(trial))
}

/// A session of three blocks that repeats [`document`].
pub fn session() -> SessionRecord {
    let document = document();
    let tables = document.table.iter();
    let tables: Vec<RepeatedTable> = tables.map(|table| repeated(&document, table)).collect();
    let mut points = Vec::new();
    for table in &document.table {
        for row in &table.row {
            let point = table.point(row, LIMIT);
            if !points.contains(&point) {
                points.push(point);
            }
        }
    }
    let mut session = Session::new(3);
    for row in &document.table[0].row {
        let name = stands(row).to_string();
        session = match row.target.stack.as_str() {
            "nim-g" => session,
            "elixir-k" => session.asked_for(
                &name,
                TargetState::Unavailable {
                    reason: "`mix` is not on the PATH".to_owned(),
                    remedy: "apt-get install elixir".to_owned(),
                },
            ),
            _ => session.stack(&name),
        };
    }
    let session = session.with(|record| {
        let plan = &mut record.header.plan;
        plan.workloads.push(PlannedWorkload {
            id: "users".to_owned(),
            description: "Ten users.".to_owned(),
            points,
            delay_seconds: None,
            measure: Duration::from_secs(1),
        });
        for row in tables.iter().flat_map(|table| &table.rows) {
            let cells = row.cell().into_iter();
            let ready =
                cells.filter(|cell| !["elixir-k", "perl-j"].contains(&cell.target.stack.as_str()));
            for cell in ready {
                if !plan.cells.contains(cell) {
                    plan.cells.push(cell.clone());
                }
            }
        }
        let wrong = record
            .header
            .targets
            .iter_mut()
            .find(|one| one.target.stack == "perl-j");
        wrong.unwrap().failed_workloads.push(WorkloadFailure {
            workload: "users".to_owned(),
            failure: failure(
                Phase::VerifyBefore,
                "GET /users: expected 10 users, got 9",
                &[],
            ),
        });
        record.header.published = tables;
    });
    session.measured(3, outcome).build()
}
