//! What a session measures to judge itself, open loops, and trials that were disturbed.

use std::{
    collections::BTreeMap,
    process::{Child, Command, Stdio},
};

use deadheat_model::{TrialRecord, plan::MOST_ATTEMPTS};

use crate::support::{Fake, Root, recorded::measured};

fn two_stacks() -> Root {
    Root::with(&[Fake::good("fake-one"), Fake::good("fake-two")])
}

#[test]
fn the_null_server_is_a_fresh_process_at_each_closed_load_point_and_is_measured_as_stacks_are() {
    let root = Root::with(&[Fake::good("fake-one")]);
    let ended = root.run("--blocks 2 --workload plaintext:c4 --workload plaintext:c1");
    ended.exits(0);
    let session = root.session();
    let trials = session.trials_of("~null-server");
    let mut places: Vec<(u32, &str)> = trials
        .iter()
        .map(|trial| (trial.block, trial.cell.point.as_str()))
        .collect();
    places.sort_unstable();
    assert_eq!(places, [(0, "c1"), (0, "c4"), (1, "c1"), (1, "c4")]);
    let pinned_cpus = session.record.header.plan.pinning.server_cpus() as u32;
    for trial in trials {
        assert_eq!(trial.command[1], "__null", "{:?}", trial.command);
        let measured = measured(trial);
        assert_eq!(measured.load.total.failed.total(), 0);
        assert!(measured.load.measured.succeeded > 0);
        assert!(measured.load.content_checked > 0);
        assert_eq!((measured.verified_before, measured.verified_after), (1, 1));
        assert!(measured.resources.pss_peak_bytes > Some(0));
        assert_eq!(measured.resources.processes, 1);
        // A loop for each of the server's CPUs, beside the thread that waits for them.
        assert_eq!(measured.resources.threads, pinned_cpus + 1);
        let noise = &measured.noise;
        assert!(noise.sampler_cpu_seconds > Some(0.0), "{noise:?}");
        assert!(noise.generator_involuntary_switches.is_some(), "{noise:?}");
    }
    let left = std::fs::read_dir(&session.folder).expect("the session's folder");
    let left = left.flatten().map(|entry| entry.file_name());
    let answers = left.filter(|name| name.to_string_lossy().starts_with("null-answer"));
    assert_eq!(answers.count(), 0, "its answer is no result");
}

#[test]
fn the_twin_is_the_original_under_another_name() {
    let root = Root::with(&[Fake::good("fake-one")]);
    root.run("").exits(0);
    let session = root.session();
    let twin = session.record.header.plan.controls.twin.clone();
    assert_eq!(twin.expect("a twin").of.to_string(), "fake-one");
    let [original] = session.trials_of("fake-one")[..] else {
        panic!("one trial of the original");
    };
    let [twin] = session.trials_of("~aa-twin")[..] else {
        panic!("one trial of the twin");
    };
    assert_eq!(twin.command, original.command);
    assert_eq!(twin.warm_up, original.warm_up);
    let counts = |trial: &TrialRecord| {
        (
            measured(trial).verified_before,
            measured(trial).verified_after,
        )
    };
    assert_eq!(counts(twin), counts(original));
    // For the check, for itself, and as its twin.
    assert_eq!(root.told("started").len(), 3);
}

/// Rounded down to so many significant digits, in another way than the runner's.
fn rounded(rate: f64, digits: usize) -> f64 {
    let whole = format!("{:.0}", rate.floor());
    let kept: String = whole.chars().take(digits).collect();
    let zeros = "0".repeat(whole.len().saturating_sub(digits));
    format!("{kept}{zeros}").parse().expect("a number")
}

#[test]
fn open_loops_follow_the_closed_ones_at_rates_that_stay() {
    let root = two_stacks();
    root.run("--blocks 2 --latency on").exits(0);
    let session = root.session();
    let first: Vec<&TrialRecord> = session
        .record
        .trials
        .iter()
        .filter(|one| one.block == 0)
        .collect();
    let is_open = |trial: &&TrialRecord| trial.cell.point != "c4";
    assert_eq!(
        first.len(),
        3 + 1 + 2 * 4 + 1,
        "closed ones with the null server, open ones, the twin's"
    );
    assert!(first.is_sorted_by_key(is_open), "closed ones first");
    let mut capacities: BTreeMap<String, f64> = BTreeMap::new();
    for trial in first.iter().filter(|trial| !is_open(trial)) {
        assert_eq!(trial.offered_per_second, None);
        capacities.insert(
            trial.cell.target.to_string(),
            measured(trial).load.throughput(),
        );
    }
    let slowest = capacities["fake-one"].min(capacities["fake-two"]);
    for trial in session.record.trials.iter().filter(is_open) {
        let name = trial.cell.target.to_string();
        let expected = match trial.cell.point.as_str() {
            "c4-open-50" => rounded(capacities[&name] * 0.5, 3),
            "c4-open-70" => rounded(capacities[&name] * 0.7, 3),
            "c4-open-90" => rounded(capacities[&name] * 0.9, 3),
            "c4-open-common" => rounded(slowest * 0.7, 2),
            other => panic!("{other} is no load point"),
        };
        let offered = trial.offered_per_second.expect("an open loop has a rate");
        assert_eq!(offered, expected, "{} of {capacities:?}", trial.cell);
        let load = &measured(trial).load;
        // The schedule's own, whatever was sent of it: what was due in the window varies around the rate as Poisson
        // arrivals do.
        let open = load.open.as_ref().expect("an open loop");
        let due = open.offered as f64;
        let mean = offered * load.window.as_secs_f64();
        let most = mean + 6.0 * mean.sqrt();
        assert!(due < most, "{}: {due} of {mean}", trial.cell);
    }
}

#[test]
fn a_rate_that_is_not_known_fails_its_cells_and_starts_no_server() {
    let root = Root::with(&[
        Fake::good("fake-good"),
        Fake::faulty("fake-bad", "dies-under-load"),
    ]);
    root.run("--latency on").exits(1).tells(&[
        "fake-bad plaintext c4-open-90, block 1: FAILED starting: its rate is a share of its capacity at c4, which is \
         not known: its trial of the first block failed",
    ]);
    let session = root.session();
    let bad = session.trials_of("fake-bad");
    let unknown = bad
        .iter()
        .filter(|trial| trial.cell.point.starts_with("c4-open-"));
    let ports: Vec<(&str, u16)> = unknown
        .map(|trial| (trial.cell.point.as_str(), trial.port))
        .collect();
    assert_eq!(ports.len(), 4);
    let started: Vec<&str> = ports
        .iter()
        .filter(|(_, port)| *port > 0)
        .map(|(point, _)| *point)
        .collect();
    assert_eq!(
        started,
        ["c4-open-common"],
        "the other stack's capacity is known"
    );
}

/// Another program that is busy all the time.
struct Busy(Child);

impl Busy {
    fn start() -> Self {
        let child = Command::new("sh")
            .args(["-c", "while :; do :; done"])
            .stdin(Stdio::null())
            .spawn();
        Self(child.expect("running sh"))
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn disturbed_trials_are_void_and_repeated_at_the_end_of_their_block() {
    let root = Root::with(&[Fake::good("fake-one")]);
    // So many that none of the trials is without one beside it.
    let _busy = [(); 4].map(|()| Busy::start());
    // So little that any trial beside a busy program passes it.
    let ended = root.run("--noise-bound 0.01% --blocks 2");
    ended.tells(&[
        "fake-one plaintext c4, block 1: void: ",
        "other programs used",
        "fake-one (A/A) plaintext c4, block 2: void: ",
        "null server plaintext c4, block 1: void: ",
        "; repeated at the end of the block",
        "not repeated again; this block has no trial of it that counts",
    ]);
    let session = root.session();
    let cells = session.record.header.plan.cells.len();
    assert_eq!(cells, 3, "the stack, its twin, the null server");
    let attempts: Vec<(u32, u32)> = session
        .record
        .trials
        .iter()
        .map(|trial| (trial.block, trial.attempt))
        .collect();
    let expected = (0..2).flat_map(|block| {
        (0..MOST_ATTEMPTS).flat_map(move |attempt| std::iter::repeat_n((block, attempt), cells))
    });
    assert_eq!(
        attempts,
        expected.collect::<Vec<_>>(),
        "the journal has all of them"
    );
    for trial in &session.record.trials {
        let disturbance = measured(trial).disturbance(session.record.header.machine.cpus.len());
        assert!(disturbance.other_cpu > 0.0001, "{disturbance:?}");
    }
    assert_eq!(session.record.complete_blocks(), [0, 1]);
}

#[test]
fn the_same_disturbance_is_let_pass_by_who_says_so() {
    let root = Root::with(&[Fake::good("fake-one")]);
    let _busy = Busy::start();
    let told = root.run("--noise-bound off").exits(0).stderr;
    assert!(!told.contains("void"), "{told}");
    let trials = root.session().record.trials;
    assert_eq!(trials.len(), 3);
    assert!(trials.iter().all(|trial| trial.attempt == 0));
}
