//! Sessions that few tests ask for: one as large as they get, one whose names no ASCII font has, and one of stacks to
//! choose from.

use std::{cell::RefCell, collections::HashMap};

use deadheat_model::{
    Cell, SessionRecord,
    stack::{DatabaseAccess, Runtime},
    trial::{Measured, Phase, TrialOutcome},
};

use crate::{
    fixture::{Found, Session, failed, good, measured, scatter},
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

/// A stack with what it can be chosen by, its language and framework as written, and its rate.
type Chosen = (
    &'static str,
    &'static str,
    &'static str,
    Runtime,
    Option<DatabaseAccess>,
    f64,
);

/// Two languages differ in case alone, and one holds more than one space.
const CHOSEN: [Chosen; 10] = {
    use DatabaseAccess::{Async, Blocking, Orm};
    use Runtime::{Interpreted, Jit, Native};
    [
        ("rust-axum", "Rust", "axum", Native, Some(Async), 5_200.0),
        ("rust-hyper", "Rust", "hyper", Native, None, 5_600.0),
        (
            "go-nethttp",
            "Go",
            "net/http",
            Native,
            Some(Blocking),
            4_700.0,
        ),
        ("go-gin", "Go", "gin", Native, Some(Orm), 3_900.0),
        ("node-express10", "Node", "Express", Jit, Some(Orm), 1_500.0),
        (
            "node-express9",
            "Node",
            "Express",
            Jit,
            Some(Async),
            1_720.0,
        ),
        (
            "python-flask",
            "Python",
            "Flask",
            Interpreted,
            Some(Blocking),
            410.0,
        ),
        (
            "python-django",
            "python",
            "Django",
            Interpreted,
            Some(Orm),
            190.0,
        ),
        (
            "basic-web",
            "Visual  Basic",
            "Web & <more>",
            Jit,
            None,
            2_900.0,
        ),
        ("nginx-static", "C", "nginx", Native, None, 9_600.0),
    ]
};

/// Stacks of which each filter of the table of ratios chooses some. One is never compared, one fails at a workload, one
/// is not planned for another, the last trial is lost, and which is better differs from workload to workload.
pub fn to_choose_from() -> SessionRecord {
    let mut session = Session::new(5)
        .workload("json", &[50])
        .workload("users", &[50])
        .workload("hash", &[50]);
    for (name, ..) in CHOSEN {
        session = session.stack(name);
    }
    let session = session.with(|record| {
        let header = &mut record.header;
        for (target, chosen) in header.targets.iter_mut().zip(CHOSEN) {
            (target.language, target.framework) = (chosen.1.to_owned(), chosen.2.to_owned());
            target.runtime = chosen.3;
            target.database = target
                .database
                .take()
                .zip(chosen.4)
                .map(|(mut database, access)| {
                    database.access = access;
                    database
                });
        }
        let is_planned = |cell: &Cell| cell.target.stack != "go-gin" || cell.workload != "hash";
        header.plan.cells.retain(is_planned);
    });
    let trial = |cell: &Cell, block: u32| {
        let name = cell.target.to_string();
        let chosen = CHOSEN.iter().find(|chosen| chosen.0 == name).unwrap();
        let own = scatter(&cell.to_string(), 100);
        let rate = chosen.5 * 1.4_f64.powf(own) * (1.0 + 0.01 * scatter(&name, block));
        match (name.as_str(), cell.workload.as_str()) {
            ("python-flask", "users") => failed(Phase::Load, "the server exited", &[]),
            ("nginx-static", _) => good(Found {
                busy: 0.93,
                ..Found::at(rate)
            }),
            _ => good(Found::at(rate)),
        }
    };
    let session = session.measured(5, trial).with(|record| {
        record.trials.pop();
    });
    session.build()
}
