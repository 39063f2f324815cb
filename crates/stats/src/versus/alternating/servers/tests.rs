//! The judge of two servers, given what was measured.

use std::time::Duration;

use deadheat_model::{
    LoadSpec, Observation, StopRule,
    comparison::{ComparedServer, ComparisonHeader, ComparisonPlan, SCHEMA},
    load::{Exchange, Expectation, RequestSpec, StatusSet, Target},
    machine::Machine,
    observation::WorkerHealth,
    plan::{NoiseBound, Pinning},
    trial::Noise,
};

use super::*;
use crate::{sequential::Design, versus::Verdict};

const SECOND: Duration = Duration::from_secs(1);

fn server(name: &str) -> ComparedServer {
    let expect = Expectation {
        status: StatusSet::success(),
        length: None,
        content: None,
    };
    let exchanges = vec![Exchange::new(RequestSpec::get("/"), expect)];
    let schedule = Schedule::Closed {
        connections: 1,
        ramp: Duration::ZERO,
    };
    let target = Target::plain("127.0.0.1:1".parse().unwrap());
    ComparedServer {
        name: name.to_owned(),
        command: None,
        load: LoadSpec::new(
            target,
            exchanges,
            schedule,
            StopRule::Duration { length: SECOND },
        ),
    }
}

fn trial(block: u32, side: Side, throughput: u64) -> ComparisonTrial {
    let mut load = Observation {
        window: SECOND,
        ..Observation::default()
    };
    for tally in [&mut load.measured, &mut load.total] {
        tally.issued = throughput;
        tally.succeeded = throughput;
    }
    ComparisonTrial {
        block,
        position: 0,
        attempt: 0,
        side,
        started: String::new(),
        command: Vec::new(),
        outcome: ComparisonOutcome::Measured(Box::new(MeasuredServer {
            ready: None,
            load,
            resources: None,
            noise: Noise::default(),
        })),
    }
}

fn measured(trial: &mut ComparisonTrial) -> &mut MeasuredServer {
    match &mut trial.outcome {
        ComparisonOutcome::Measured(measured) => measured,
        ComparisonOutcome::Failed(_) => panic!("it was measured"),
    }
}

/// Pairs of throughputs, one for each block.
fn record(pairs: &[(u64, u64)]) -> ComparisonRecord {
    let trials = pairs
        .iter()
        .zip(0..)
        .flat_map(|((a, b), block)| [trial(block, Side::A, *a), trial(block, Side::B, *b)]);
    ComparisonRecord {
        trials: trials.collect(),
        end: None,
        header: ComparisonHeader {
            schema: SCHEMA,
            id: String::new(),
            deadheat: String::new(),
            started: String::new(),
            arguments: Vec::new(),
            machine: Machine::default(),
            a: server("one"),
            b: server("other"),
            plan: ComparisonPlan {
                seed: 1,
                blocks: 100,
                looks: vec![5],
                alpha: 0.05,
                noise_bound: Some(NoiseBound::default()),
                pinning: Pinning::Off { cpus: vec![0] },
                budget_seconds: None,
                estimate: SECOND,
            },
        },
    }
}

fn look(record: &ComparisonRecord, blocks: u32) -> Judged {
    let look = Design::fixed(blocks, 0.05).unwrap().at(blocks);
    judge(record, look, &Bounds::default())
}

fn verdict(record: &ComparisonRecord) -> Verdict {
    let judged = look(record, 5);
    assert_eq!(judged.compared.len(), 1, "{judged:?}");
    judged.compared[0].verdict()
}

const SLOWER: [(u64, u64); 5] = [
    (10_000, 9_000),
    (10_400, 9_400),
    (9_600, 8_600),
    (10_000, 8_950),
    (9_900, 8_950),
];

#[test]
fn ratios_within_blocks_decide() {
    assert_eq!(verdict(&record(&SLOWER)), Verdict::Worse);
    let turned = SLOWER.map(|(a, b)| (b, a));
    assert_eq!(verdict(&record(&turned)), Verdict::Better);
    let alike = SLOWER.map(|(a, _)| (a, a + 10));
    assert_eq!(verdict(&record(&alike)), Verdict::DeadHeat);
    let wild = [(10, 20), (20, 10), (10, 30), (30, 10), (10, 10)];
    assert_eq!(verdict(&record(&wild)), Verdict::NotEnoughData);
}

#[test]
fn what_comes_after_the_look_or_is_void_counts_for_nothing() {
    let mut record = record(&SLOWER);
    let figures = |record: &ComparisonRecord| look(record, 5).compared[0].ratios[0].clone();
    let before = figures(&record);
    record.trials.push(trial(5, Side::A, 1));
    record.trials.push(trial(5, Side::B, 1_000_000));
    assert_eq!(figures(&record), before, "a block beyond the look");
    // A disturbed repetition of a trial that counts.
    let mut void = trial(0, Side::B, 1_000_000);
    measured(&mut void).noise.steal_share = 0.5;
    record.trials.push(void);
    assert_eq!(figures(&record), before, "a void trial");
    // One that replaces it counts.
    record.trials.push(trial(0, Side::B, 9_500));
    assert!(figures(&record).ratio > before.ratio);
    // Without a trial that counts on one side, its block has no pair.
    for trial in &mut record.trials {
        if trial.block == 1 && trial.side == Side::A {
            measured(trial).noise.steal_share = 0.5;
        }
    }
    assert_eq!(figures(&record).trials_a, 4);
}

#[test]
fn a_disturbed_machine_is_no_excuse_for_a_failure() {
    let mut record = record(&SLOWER);
    let mut wrong = trial(1, Side::B, 9_000);
    let found = measured(&mut wrong);
    found.noise.steal_share = 0.5;
    for tally in [&mut found.load.measured, &mut found.load.total] {
        tally.issued += 3;
        tally.failed[deadheat_model::Failure::WrongContent] = 3;
    }
    assert!(record.is_void(&wrong));
    // Before the trial that was measured in its place.
    record.trials.insert(3, wrong);
    let judged = look(&record, 5);
    assert!(judged.failed && judged.compared.is_empty(), "{judged:?}");
    let told = &judged.not_compared[0];
    assert!(
        told.b_failed && told.reason.contains("wrong answers: 3"),
        "{told:?}"
    );
}

#[test]
fn without_a_look_nothing_is_compared_yet() {
    let judged = judge(&record(&SLOWER), None, &Bounds::default());
    assert!(judged.compared[0].ratios.is_empty() && !judged.is_final());
}

#[test]
fn a_failed_side_is_named_and_a_limited_generator_is_no_failure() {
    let mut failed = record(&SLOWER);
    let load = &mut measured(&mut failed.trials[3]).load;
    (load.measured.succeeded, load.total.succeeded) = (0, 0);
    (load.measured.issued, load.total.issued) = (0, 0);
    let judged = look(&failed, 5);
    assert!(judged.failed && judged.compared.is_empty());
    let reason = &judged.not_compared[0].reason;
    assert!(
        judged.not_compared[0].b_failed && reason.starts_with("B failed in block 2"),
        "{reason}"
    );

    let mut limited = record(&SLOWER);
    measured(&mut limited.trials[0]).load.workers = vec![WorkerHealth {
        cpu: None,
        cpu_time: SECOND.mul_f64(0.99),
        polled: Duration::ZERO,
        run_delay: None,
        wall: SECOND,
    }];
    let judged = look(&limited, 5);
    assert!(!judged.failed && judged.is_final());
    let reason = &judged.not_compared[0].reason;
    assert!(reason.contains("A is a lower bound"), "{reason}");
}
