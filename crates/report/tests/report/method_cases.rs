//! Sessions that judge themselves: null server, twin, void trials, open loops.

use std::time::Duration;

use deadheat_model::{
    Cell, LoadPhase, SessionRecord, TrialRecord,
    choice::{Choice, LatencyChoice, Offer, Origin, Purpose, ShortPhase},
    machine::{Finding, Level},
    observation::WorkerHealth,
    session::Resumption,
    trial::{Measured, Phase, Pressure, TrialOutcome},
    workload::OfferedRate,
};

use crate::fixture::{Found, Session, failed, good, histogram, measured, open, scatter};

const OWN: [OfferedRate; 3] = [
    OfferedRate::OfOwnCapacity(50),
    OfferedRate::OfOwnCapacity(70),
    OfferedRate::OfOwnCapacity(90),
];
const COMMON: OfferedRate = OfferedRate::OfSlowestCapacity(70);

/// A stack's capacity and mean response time in seconds at the common rate.
type Stacks<'a> = &'a [(&'a str, f64, f64)];

/// A trial as a session with a null server, a twin and open loops has it.
fn outcome(stacks: Stacks<'_>, cell: &Cell, block: u32) -> TrialOutcome {
    let name = cell.target.to_string();
    let known = stacks.iter().find(|(other, ..)| *other == name);
    let (_, capacity, mean) = match (known, name.as_str()) {
        (Some(stack), _) => *stack,
        (None, "~null-server") => ("", 4.0 * stacks[0].1, 0.0),
        (None, _) => stacks[0],
    };
    let slowest = stacks.iter().map(|(_, rate, _)| *rate);
    let common = 0.7 * slowest.fold(f64::MAX, f64::min);
    let noise = 1.0 + 0.008 * scatter(&format!("{cell}"), block);
    let point = cell.point.rsplit_once("-open-").map(|(_, rate)| rate);
    let mut trial = match point {
        None => measured(Found::at(capacity * noise)),
        Some("common") => open(Found::at(common), mean * noise),
        Some(share) => {
            let share: f64 = share.parse::<f64>().unwrap() / 100.0;
            // The nearer to its capacity, the longer it takes.
            let mean = mean * 0.5 / (1.0 - share) * noise;
            open(Found::at((capacity * share).round()), mean)
        }
    };
    trial.noise.sampler_cpu_seconds = Some(0.02 + 0.004 * f64::from(block));
    trial.noise.pressure = Some(Pressure {
        cpu: 0.31,
        memory: 0.0,
        io: 0.002,
    });
    TrialOutcome::Measured(Box::new(trial))
}

/// Response times of four stacks: two in a dead heat, one that begins with a backlog at 70 % and is overloaded at 90 %,
/// one whose capacity is not known.
pub fn latency() -> SessionRecord {
    let stacks: Stacks<'_> = &[
        ("rust-axum", 1_900.0, 0.0042),
        ("go-nethttp:1cpu", 1_700.0, 0.0042),
        ("node-express", 1_500.0, 0.0061),
        ("nim-jester", 1_600.0, 0.0055),
    ];
    let mut rates = OWN.to_vec();
    rates.push(COMMON);
    let mut session = Session::new(7).workload("json", &[50]).open(&rates);
    for (name, ..) in stacks {
        session = session.stack(name);
    }
    let session = session.null_server().twin("rust-axum").noise_bound();
    let session = session.measured(7, |cell, block| {
        let trial = outcome(stacks, cell, block);
        match (cell.target.stack.as_str(), cell.point.as_str()) {
            ("node-express", "c50-open-70") => cold(trial),
            ("node-express", "c50-open-90") => overloaded(trial),
            ("nim-jester", point) if point.contains("open") => failed(
                Phase::Load,
                "its capacity is not known: it has no trial at c50 in the first block",
                &[],
            ),
            _ => trial,
        }
    });
    session
        .with(|record| {
            void(record, "rust-axum", "c50-open-70", 2, 1, true);
            record.header.plan.choice = Some(choice());
            record.header.plan.budget_seconds = Some(3600.0);
        })
        .build()
}

fn choice() -> Choice {
    Choice {
        purpose: Purpose::Usual,
        blocks_from: Origin::Budget,
        measure: Duration::from_secs(10),
        measure_from: Origin::Asked,
        latency: LatencyChoice::Fits,
        too_short: Vec::new(),
        offers: Vec::new(),
    }
}

/// The server did not keep up: requests waited for connections.
fn overloaded(trial: TrialOutcome) -> TrialOutcome {
    let TrialOutcome::Measured(mut trial) = trial else {
        unreachable!()
    };
    let open = trial.load.open.as_mut().unwrap();
    open.unsent = open.offered / 20;
    open.offered += open.unsent;
    open.oldest_unsent = Duration::from_millis(500);
    open.connection_wait = histogram(open.offered, 0.3);
    open.response_time = histogram(open.offered, 0.31);
    TrialOutcome::Measured(trial)
}

/// The server was not warm: a third of what it answered had been due before the measurement.
fn cold(trial: TrialOutcome) -> TrialOutcome {
    let TrialOutcome::Measured(mut trial) = trial else {
        unreachable!()
    };
    let open = trial.load.open.as_mut().unwrap();
    open.offered -= open.offered / 3;
    open.connection_wait = histogram(open.offered, 0.2);
    open.response_time = histogram(trial.load.measured.succeeded, 0.21);
    TrialOutcome::Measured(trial)
}

/// Makes the trial of a cell in a block void, and so many times again; the last one is not, if `ends_well`.
fn void(
    record: &mut SessionRecord,
    target: &str,
    point: &str,
    block: u32,
    times: u32,
    ends_well: bool,
) {
    let is_it = |trial: &TrialRecord| {
        let cell = &trial.cell;
        trial.block == block && cell.target.to_string() == target && cell.point == point
    };
    let first = record.trials.iter().position(is_it).unwrap();
    let good = record.trials[first].clone();
    disturb(&mut record.trials[first], 0);
    let end = record.trials.iter().rposition(|trial| trial.block == block);
    let end = end.unwrap();
    for attempt in 1..=times {
        let mut again = TrialRecord {
            attempt,
            ..good.clone()
        };
        if attempt < times || !ends_well {
            disturb(&mut again, attempt);
        }
        record.trials.insert(end + attempt as usize, again);
    }
}

fn disturb(trial: &mut TrialRecord, attempt: u32) {
    let TrialOutcome::Measured(measured) = &mut trial.outcome else {
        unreachable!()
    };
    measured.noise.steal_share = 0.01;
    measured.noise.other_cpu_seconds = 2.4 + 0.2 * f64::from(attempt);
}

/// Four short blocks on a noisy machine: void trials, a void cell, a stack near the ceiling, a biased pair, a pause, and
/// a doctor who warned.
pub fn noisy() -> SessionRecord {
    let mut session = Session::new(4).workload("json", &[50]);
    for name in ["go-nethttp", "nginx-static", "python-flask:gunicorn"] {
        session = session.stack(name);
    }
    let session = session.null_server().twin("go-nethttp").noise_bound();
    let session = session.measured(4, |cell, block| {
        let name = cell.target.to_string();
        let rate = match name.as_str() {
            "~null-server" => 2_600.0,
            "~aa-twin" => 1_296.0,
            "nginx-static" => 2_400.0,
            "python-flask:gunicorn" => 310.0,
            _ => 1_240.0,
        };
        let rate = rate * (1.0 + 0.002 * scatter(&name, block));
        let mut trial = match name.as_str() {
            "nginx-static" if block == 1 => unsteady(measured(Found::at(rate))),
            _ => measured(Found::at(rate)),
        };
        trial.noise.sampler_cpu_seconds = Some(0.03);
        TrialOutcome::Measured(Box::new(trial))
    });
    session.with(noise).build()
}

fn noise(record: &mut SessionRecord) {
    for block in 0..4 {
        void(record, "python-flask:gunicorn", "c50", block, 2, false);
    }
    void(record, "go-nethttp", "c50", 1, 1, true);
    void(record, "go-nethttp", "c50", 3, 2, true);
    record.resumed = vec![Resumption {
        at: "2026-03-01T12:00:00Z".to_owned(),
        rebooted: false,
        trials_before: 9,
        live: false,
    }];
    record.header.findings = vec![
        finding(
            Level::Warning,
            "governor",
            "powersave on CPUs 0 and 1",
            "clocks follow the load",
            "sudo cpupower frequency-set -g performance",
        ),
        finding(
            Level::Warning,
            "other-load",
            "8.2 % of the CPUs (cc1 6.1 %, sshd 0.4 %)",
            "trials will be void",
            "end them",
        ),
        finding(
            Level::Note,
            "daemons",
            "irqbalance runs",
            "it moves interrupts",
            "",
        ),
        finding(Level::Unknown, "throttling", "not told here", "", ""),
    ];
    let plan = &mut record.header.plan;
    plan.budget_seconds = Some(120.0);
    plan.choice = Some(Choice {
        blocks_from: Origin::Budget,
        measure: Duration::from_secs(10),
        measure_from: Origin::Purpose,
        latency: LatencyChoice::TooLong,
        too_short: vec![ShortPhase {
            phase: LoadPhase::WarmUp,
            length: Duration::from_millis(200),
        }],
        offers: vec![
            Offer {
                budget: Duration::from_secs(240),
                blocks: 7,
                measure: Duration::from_secs(2),
                latency: false,
            },
            Offer {
                budget: Duration::from_secs(900),
                blocks: 7,
                measure: Duration::from_secs(3),
                latency: true,
            },
        ],
        ..choice()
    });
}

fn finding(level: Level, check: &str, found: &str, why: &str, remedy: &str) -> Finding {
    Finding {
        check: check.to_owned(),
        level,
        found: found.to_owned(),
        why: why.to_owned(),
        remedy: remedy.to_owned(),
    }
}

fn unsteady(mut trial: Measured) -> Measured {
    for (index, bin) in trial.load.bins.iter_mut().enumerate() {
        bin.succeeded = 600 + 40 * index as u64;
    }
    trial
}

/// Thirty stacks with long names at one rate and at one share, of which half are limited there.
pub fn thirty_latency() -> SessionRecord {
    let names: Vec<String> = (0..30)
        .map(|number| match number % 10 {
            3 => format!(
                "verylonglanguagename-a-framework-with-a-very-long-name-{number}:and-a-long-variant"
            ),
            _ => format!("language-framework{number}"),
        })
        .collect();
    let stacks: Vec<(&str, f64, f64)> = names
        .iter()
        .enumerate()
        .map(|(number, name)| {
            let number = number as f64;
            (name.as_str(), 95.0 - number, 0.005 + 0.0004 * number)
        })
        .collect();
    let mut session = Session::new(2)
        .workload("plaintext", &[50])
        .open(&[OWN[1], COMMON]);
    for name in &names {
        session = session.stack(name);
    }
    let session = session
        .null_server()
        .twin("language-framework0")
        .measured(2, |cell, block| {
            let trial = outcome(&stacks, cell, block);
            let number = names
                .iter()
                .position(|name| *name == cell.target.to_string());
            match (number, cell.point.as_str()) {
                (Some(number), "c50-open-70") if number % 2 == 1 => busy(trial),
                _ => trial,
            }
        });
    session.build()
}

/// The generator's worker was busy.
fn busy(trial: TrialOutcome) -> TrialOutcome {
    let TrialOutcome::Measured(mut trial) = trial else {
        unreachable!()
    };
    let worker: &mut WorkerHealth = &mut trial.load.workers[0];
    worker.cpu_time = worker.wall.mul_f64(0.95);
    TrialOutcome::Measured(trial)
}

/// A null server and a twin that failed in one block.
pub fn lost_ceiling() -> SessionRecord {
    let session = Session::new(3).workload("json", &[50]).stack("go-nethttp");
    let session = session.stack("rust-axum").null_server().twin("go-nethttp");
    let session = session.measured(3, |cell, block| match cell.target.stack.as_str() {
        "~null-server" | "~aa-twin" if block == 1 => {
            failed(Phase::Start, "it did not start within 30 s", &[])
        }
        "~null-server" => good(Found::at(4_000.0)),
        _ => good(Found::at(1_000.0 + f64::from(block))),
    });
    session.build()
}
