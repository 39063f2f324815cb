//! Sessions that no snapshot is kept of: one as large as they get, and one whose names no ASCII font has.

use std::{cell::RefCell, collections::HashMap};

use deadheat_model::{Cell, SessionRecord, trial::Measured, trial::TrialOutcome};

use crate::{
    fixture::{Found, Session, good, measured, scatter},
    over_time::sampled,
};

const WORKLOADS: [&str; 8] = [
    "plaintext",
    "json",
    "json-decode",
    "ping-pong",
    "payload",
    "hash",
    "users",
    "proxy",
];
const STACKS: u32 = 30;
const BLOCKS: u32 = 10;

/// Thirty stacks × eight workloads × ten blocks, with a null server and a twin. What a stack can do differs from
/// workload to workload, and so does its rank.
pub fn large() -> SessionRecord {
    let mut session = Session::new(BLOCKS);
    for workload in WORKLOADS {
        session = session.workload(workload, &[50]);
    }
    for number in 0..STACKS {
        session = session.stack(&format!("language{}-framework{number}", number % 9));
    }
    let session = session
        .null_server()
        .twin("language0-framework0")
        .noise_bound();
    // A cell's histograms are made once: a full one for each of the trials would take hundreds of megabytes.
    let of_cell: RefCell<HashMap<String, Measured>> = RefCell::default();
    let session = session.measured(BLOCKS, |cell, block| {
        let mut made = of_cell.borrow_mut();
        let typical = made
            .entry(cell.to_string())
            .or_insert_with(|| typical(cell));
        let share = 1.0 + 0.006 * scatter(&cell.to_string(), block);
        TrialOutcome::Measured(Box::new(faster(typical, share)))
    });
    session.build()
}

/// A trial of a cell, in little memory.
fn typical(cell: &Cell) -> Measured {
    let name = match cell.target.to_string() {
        twin if twin == "~aa-twin" => "language0-framework0".to_owned(),
        name => name,
    };
    let own = scatter(&name, 0) + 0.4 * scatter(&format!("{name} {}", cell.workload), 1);
    let rate = match name.as_str() {
        "~null-server" => 9_000.0,
        _ => 900.0 * 2.2_f64.powf(own),
    };
    let found = Found {
        cores: 0.9 + 0.1 * own.abs().min(1.0),
        memory_mib: 40.0 * 3.0_f64.powf(scatter(&name, 2)),
        ..Found::at(rate)
    };
    let mut trial = sampled(&cell.to_string(), measured(found), 4.0);
    trial.load.service_time = trial.load.service_time.compact();
    trial
}

/// The same trial with so many times the answers.
fn faster(trial: &Measured, share: f64) -> Measured {
    let scaled = |count: u64| (count as f64 * share).round() as u64;
    let mut trial = trial.clone();
    let load = &mut trial.load;
    for bin in &mut load.bins {
        bin.succeeded = scaled(bin.succeeded);
    }
    let measured = load.bins.iter().map(|bin| bin.succeeded).sum();
    let total = scaled(load.total.succeeded);
    for (tally, succeeded) in [(&mut load.total, total), (&mut load.measured, measured)] {
        tally.issued = tally.issued - tally.succeeded + succeeded;
        tally.succeeded = succeeded;
    }
    trial
}

/// Names in other scripts, wide, from right to left, combining, without a place to break, and with HTML's own
/// characters.
pub fn odd_names() -> SessionRecord {
    let names = [
        "größe-šťovík:naïve",
        "言語-フレームワーク:変種",
        "لغة-إطار",
        "🦀-e\u{301}quipe",
        "a<b>-&amp;\"quoted'",
        "verylonglanguagename-withaframeworkwhosenamehasnoplacetobreakatallanywhere",
    ];
    let mut session = Session::new(3)
        .workload("größe", &[50])
        .workload("<users> & \"others\"", &[50]);
    for name in names {
        session = session.stack(name);
    }
    let trial = |cell: &Cell, block| {
        let name = cell.target.to_string();
        good(Found::at(700.0 + 40.0 * scatter(&name, block)))
    };
    session.measured(3, trial).build()
}
