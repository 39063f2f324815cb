//! What a session measures and keeps when all is well.

use std::{collections::BTreeSet, fs, time::Duration};

use deadheat_model::session::EndReason;
use serde_json::Value;

use crate::support::{Fake, Recorded, Root, recorded};

fn two_stacks() -> Root {
    Root::with(&[Fake::good("fake-one"), Fake::good("fake-two")])
}

#[test]
fn two_stacks_are_measured_and_reported_in_every_format() {
    let root = two_stacks();
    root.run("--blocks 2")
        .exits(0)
        .tells(&[
            "Plan: 2 stacks × 1 load point, 2 blocks → 8 trials",
            "report: results/",
        ])
        .says(&[
            "fake-one",
            "fake-two",
            "2 of 2 blocks complete",
            "plaintext, 4 connections",
        ]);
    let session = root.session();
    session.assert_measured("fake-one", 2);
    session.assert_measured("fake-two", 2);
    assert_eq!(session.record.end, Some(EndReason::Finished));
    assert_eq!(session.record.complete_blocks(), [0, 1]);
    assert_eq!(session.record.header.plan.seed, 1);
    assert_eq!(session.record.header.postgres, None, "no workload needs it");
    for file in ["report.html", "report.md", "report.json", "report.csv"] {
        let length = fs::metadata(session.folder.join(file)).map_or(0, |metadata| metadata.len());
        assert!(length > 0, "{file} is missing or empty");
    }
    session.assert_reported(&root, &["fake-one", "fake-two"]);
    let names = fs::read_dir(&session.folder).expect("reading the session's folder");
    let names = names.map(|entry| entry.expect("a file of the session").file_name());
    let left = names.filter(|name| name.as_encoded_bytes().starts_with(b".deadheat"));
    assert_eq!(left.count(), 0, "an unfinished file was left");
}

#[test]
fn a_trial_is_a_fresh_process_with_the_warm_up_and_the_measurement_that_were_asked_for() {
    let root = Root::with(&[Fake::good("fake-one")]);
    root.run("--blocks 3").exits(0);
    let session = root.session();
    session.assert_measured("fake-one", 3);
    // One process for the check, then one per trial, its own and its twin's.
    let started: BTreeSet<u32> = root.told("started").into_iter().collect();
    assert_eq!(started.len(), 7, "{started:?}");
    assert_eq!(root.told("sigterm").len(), 7, "each is asked to end");
    for trial in session.trials_of("fake-one") {
        assert_eq!(trial.warm_up, Duration::from_millis(100));
        let window = recorded::measured(trial).load.window;
        assert_eq!(
            window,
            Duration::from_millis(500),
            "however late its end was seen"
        );
    }
}

/// What was measured in which place of which block.
fn order(session: &Recorded) -> Vec<(u32, u32, String)> {
    let trials = session.record.trials.iter();
    trials
        .map(|trial| (trial.block, trial.position, trial.cell.to_string()))
        .collect()
}

fn session_with_seed(seed: &str, blocks: &str) -> Vec<(u32, u32, String)> {
    let root = two_stacks();
    // So short a trial may come to nothing on a busy machine; its place is recorded all the same.
    root.run(&format!(
        "--seed {seed} --blocks {blocks} --workload plaintext:* --measure 30ms --warm-up 10ms"
    ));
    order(&root.session())
}

#[test]
fn the_order_follows_from_the_seed_and_is_another_in_every_block() {
    let first = session_with_seed("7", "2");
    assert_eq!(
        first.len(),
        24,
        "2 stacks, a twin and the null server × 3 load points × 2 blocks: {first:?}"
    );
    let of_block = |block: u32| -> Vec<&str> {
        let trials = first.iter().filter(|trial| trial.0 == block);
        trials.map(|trial| trial.2.as_str()).collect()
    };
    let places: Vec<u32> = first.iter().map(|trial| trial.1).collect();
    assert_eq!(
        places,
        [(0..12), (0..12)]
            .into_iter()
            .flatten()
            .collect::<Vec<u32>>(),
        "recorded in the order of their places"
    );
    let cells: BTreeSet<&str> = of_block(0).into_iter().collect();
    assert_eq!(cells.len(), 12, "a block has every cell once");
    assert_eq!(
        cells,
        of_block(1).into_iter().collect(),
        "and so has the next"
    );
    assert_ne!(of_block(0), of_block(1), "in another order");
    assert_eq!(
        session_with_seed("7", "1"),
        first[..12],
        "the same seed, the same order"
    );
    assert_ne!(
        session_with_seed("8", "1"),
        first[..12],
        "another seed, another order"
    );
}

#[test]
fn a_seed_that_nobody_chose_is_recorded() {
    let root = Root::with(&[Fake::good("fake-one")]);
    let ended = root
        .start("run --blocks 1 --measure 30ms --warm-up 10ms --latency off --noise-bound off")
        .wait()
        .exits(0);
    let seed = root.session().record.header.plan.seed;
    ended
        .tells(&[&format!("seed {seed}")])
        .says(&[&format!("Seed: {seed}")]);
}

#[test]
fn a_slow_start_shows_in_the_time_to_the_first_answer() {
    let root = Root::with(&[
        Fake::good("fake-one"),
        Fake::faulty("fake-slow", "slow-start"),
    ]);
    root.run("").exits(0);
    let session = root.session();
    session.assert_measured("fake-one", 1);
    session.assert_measured("fake-slow", 1);
    let ready = |stack: &str| recorded::measured(session.trials_of(stack)[0]).ready;
    assert!(
        ready("fake-slow") >= Duration::from_secs(1),
        "{:?}",
        ready("fake-slow")
    );
    assert!(
        ready("fake-one") < ready("fake-slow"),
        "{:?}",
        ready("fake-one")
    );
}

#[test]
fn with_json_standard_output_is_the_report_for_programs_and_nothing_else() {
    let root = Root::with(&[Fake::good("fake-one")]);
    let ended = root.run("--json").exits(0);
    let value: Value = serde_json::from_str(&ended.stdout)
        .unwrap_or_else(|error| panic!("standard output is not one JSON value: {error}: {ended}"));
    assert!(value.is_object(), "{value}");
    let folder = root.session_folder();
    let kept = fs::read_to_string(folder.join("report.json")).expect("reading report.json");
    assert_eq!(
        ended.stdout.trim_end(),
        kept.trim_end(),
        "report.json says the same"
    );
}

#[test]
fn a_dry_run_prints_the_plan_and_touches_nothing() {
    let root = two_stacks();
    let ended = root.run("--dry-run").exits(0).says(&[
        "Plan: 2 stacks",
        "fake-one",
        "fake-two",
        "4 connections",
        "seed 1",
    ]);
    assert_eq!(ended.stderr, "", "{ended}");
    let ended = root.run("--dry-run --json").exits(0);
    let plan: serde_json::Value = serde_json::from_str(&ended.stdout).expect("JSON");
    assert_eq!(plan["plan"]["seed"], 1, "{ended}");
    assert_eq!(plan["plan"]["targets"][1], "fake-two", "{ended}");
    assert_eq!(plan["unfit"], serde_json::json!([]), "{ended}");
    assert!(
        root.sessions().is_empty(),
        "a session was made: {:?}",
        root.sessions()
    );
    assert!(root.told("started").is_empty(), "a stack was started");
}
