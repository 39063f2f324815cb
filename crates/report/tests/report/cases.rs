//! Sessions as they come: good ones, and the ugly ones.

use std::sync::OnceLock;

use deadheat_model::{
    Cell, Failure, SessionRecord,
    session::{EndReason, TargetState, WorkloadFailure},
    trial::{Phase, TrialOutcome},
};
use deadheat_report::View;
use deadheat_stats::{Analysis, analyse};

use crate::fixture::{Found, Session, failed, failure, good, scatter, with_failures};
use crate::{large, method_cases};

/// Text that wants to break out of every format.
pub const HOSTILE: [&str; 5] = [
    "</script><script>alert('x')</script>",
    "\u{1b}[2J\u{1b}[31mred\u{1b}[0m \u{202e}desrever",
    "Größe: 大小 | `code` *bold* [link](javascript:alert(1)) <b>&amp;",
    "```",
    "    </pre><img src=x onerror=alert(1)>",
];

/// A stack's figures in the plausible session: rate, CPU cores and memory.
const PLAUSIBLE: [(&str, f64, f64, f64); 5] = [
    ("rust-axum", 5_230.0, 0.97, 9.4),
    ("go-nethttp:1cpu", 5_222.0, 0.99, 17.8),
    ("node-http", 3_110.0, 1.0, 71.0),
    ("node-express", 1_730.0, 1.0, 84.0),
    ("python-flask:gunicorn", 402.0, 0.98, 132.0),
];

fn connections(cell: &Cell) -> u32 {
    cell.point[1..].parse().unwrap()
}

fn found(table: &[(&str, f64, f64, f64)], cell: &Cell, block: u32, share: f64) -> Found {
    let name = cell.target.to_string();
    let row = table.iter().find(|row| row.0 == name).unwrap();
    let connections = connections(cell);
    Found {
        rate: row.1 * share * (1.0 + 0.012 * scatter(&format!("{cell}"), block)),
        connections,
        busy: 0.45,
        cores: row.2,
        memory_mib: row.3 * (1.0 + f64::from(connections) / 400.0),
    }
}

fn unavailable(session: Session) -> Session {
    let state = TargetState::Unavailable {
        reason: "`mix` is not on the PATH".to_owned(),
        remedy: "apt-get install elixir".to_owned(),
    };
    session.asked_for("elixir-bandit", state)
}

/// Seven blocks, a dead heat, one stack that fails, one that is unavailable, one at which the generator is the limit.
pub fn plausible() -> SessionRecord {
    let mut session = Session::new(7)
        .workload("json", &[50])
        .workload("users", &[100]);
    for (name, ..) in PLAUSIBLE {
        session = session.stack(name);
    }
    let session = unavailable(session)
        .stack("nim-jester")
        .stack("nginx-static");
    let session = session.measured(7, |cell, block| match &cell.target.stack[..] {
        "nim-jester" if cell.workload == "users" && block >= 5 => failed(
            Phase::Load,
            "the server exited with signal 11 after 3.2 s",
            &[
                "Traceback (most recent call last)",
                "SIGSEGV: Illegal storage access. (Attempt to read from nil?)",
            ],
        ),
        "nim-jester" => good(Found {
            connections: connections(cell),
            ..Found::at(2_400.0 + 20.0 * scatter("nim", block))
        }),
        "nginx-static" => good(Found {
            busy: 0.93,
            connections: connections(cell),
            ..Found::at(9_800.0 + 90.0 * scatter("nginx", block))
        }),
        _ => good(found(
            &PLAUSIBLE,
            cell,
            block,
            if cell.workload == "json" { 1.0 } else { 0.42 },
        )),
    });
    session.build()
}

/// One stack, one trial.
pub fn one_trial() -> SessionRecord {
    let session = Session::new(1).workload("json", &[50]).stack("go-nethttp");
    session.measured(1, |_, _| good(Found::at(1_234.5))).build()
}

/// Nothing works.
pub fn failures_only() -> SessionRecord {
    let session = Session::new(2)
        .workload("json", &[50])
        .stack("bad-answers")
        .stack("bad-start");
    let session = session.measured(2, |cell, block| match &cell.target.stack[..] {
        "bad-answers" => with_failures(
            Found::at(1_000.0),
            Failure::WrongStatus,
            40 + u64::from(block),
            "HTTP/1.1 500 Internal Server Error",
        ),
        _ => failed(Phase::Start, "no correct answer within 30 s", &HOSTILE),
    });
    let built = TargetState::Failed(failure(
        Phase::Build,
        "`cargo build` exited with status 101",
        &HOSTILE,
    ));
    let session = unavailable(session)
        .asked_for("bad-build", built)
        .stack("bad-json");
    let wrong = WorkloadFailure {
        workload: "json".to_owned(),
        failure: failure(Phase::VerifyBefore, "the answer is `[]`", &[]),
    };
    let session = session.with(|record| {
        record.header.targets.last_mut().unwrap().failed_workloads = vec![wrong];
        record
            .header
            .plan
            .cells
            .retain(|cell| cell.target.stack != "bad-json");
    });
    session.build()
}

/// All alike, in five blocks.
pub fn ties() -> SessionRecord {
    let mut session = Session::new(5).workload("json", &[50]);
    for name in ["a", "b", "c"] {
        session = session.stack(name);
    }
    let rate = |cell: &Cell, block| 1_500.0 * (1.0 + 0.02 * scatter(&cell.target.stack, block));
    session
        .measured(5, |cell, block| good(Found::at(rate(cell, block))))
        .build()
}

/// Thirty stacks with long names; two lose a trial each to a reset, one is not steady.
pub fn thirty() -> SessionRecord {
    let mut session = Session::new(3).workload("plaintext", &[50]);
    for number in 0..30 {
        let name = if number % 10 == 3 {
            format!(
                "verylonglanguagename-a-framework-with-a-very-long-name-{number}:and-a-long-variant"
            )
        } else {
            format!("language-framework{number}")
        };
        session = session.stack(&name);
    }
    let trial = |cell: &Cell, block: u32| -> TrialOutcome {
        let digits: String = cell
            .target
            .stack
            .chars()
            .filter(char::is_ascii_digit)
            .collect();
        let number: f64 = digits.parse().unwrap();
        let rate = 300.0 * 1.05_f64.powf((number / 2.0).floor());
        let found = Found::at(rate * (1.0 + 0.004 * scatter(&cell.target.stack, block)));
        match (number as u32, block) {
            (7 | 8, 1) => with_failures(
                found,
                Failure::Reset,
                30,
                "Connection reset by peer (os error 104)",
            ),
            (5, 2) => {
                let TrialOutcome::Measured(mut trial) = good(found) else {
                    unreachable!()
                };
                for (index, bin) in trial.load.bins.iter_mut().enumerate() {
                    bin.succeeded = 100 + 3 * index as u64;
                }
                TrialOutcome::Measured(trial)
            }
            _ => good(found),
        }
    };
    session.measured(3, trial).build()
}

/// Killed in the third block: one stack has a trial more than the other.
pub fn lost_block() -> SessionRecord {
    let session = Session::new(7)
        .workload("json", &[50])
        .stack("go-nethttp")
        .stack("rust-axum");
    let session = session.measured(3, |cell, block| {
        let rate = if cell.target.stack == "rust-axum" {
            1_150.0
        } else {
            1_000.0
        };
        good(Found::at(rate + f64::from(block)))
    });
    let session = session.with(|record| {
        record.trials.pop();
        record.end = None;
    });
    session.build()
}

/// Interrupted before the first trial.
pub fn nothing() -> SessionRecord {
    let session = Session::new(7).workload("json", &[50]).stack("go-nethttp");
    session
        .with(|record| record.end = Some(EndReason::Interrupted))
        .build()
}

/// A session, what is found in it, and what is shown of it.
pub struct Case {
    pub name: &'static str,
    pub record: SessionRecord,
    pub analysis: Analysis,
    pub view: View,
}

impl Case {
    pub fn new(name: &'static str, record: SessionRecord) -> Self {
        let analysis = analyse(&record);
        Self {
            view: View::new(&record, &analysis),
            name,
            record,
            analysis,
        }
    }
}

type Make = (&'static str, fn() -> SessionRecord);

const MAKE: [Make; 12] = [
    ("plausible", plausible),
    ("one-trial", one_trial),
    ("failures-only", failures_only),
    ("ties", ties),
    ("thirty", thirty),
    ("lost-block", lost_block),
    ("nothing", nothing),
    ("odd-names", large::odd_names),
    ("latency", method_cases::latency),
    ("noisy", method_cases::noisy),
    ("thirty-latency", method_cases::thirty_latency),
    ("lost-ceiling", method_cases::lost_ceiling),
];

/// Every case. Each is made once, when it is first asked for: histograms take their time.
pub fn all() -> impl Iterator<Item = &'static Case> {
    (0..MAKE.len()).map(made)
}

fn made(at: usize) -> &'static Case {
    static MADE: [OnceLock<Case>; MAKE.len()] = [const { OnceLock::new() }; MAKE.len()];
    let (name, make) = MAKE[at];
    MADE[at].get_or_init(|| Case::new(name, make()))
}

/// The case of this name.
pub fn named(name: &str) -> &'static Case {
    let at = MAKE.iter().position(|(known, _)| *known == name);
    made(at.expect("a case of this name"))
}
