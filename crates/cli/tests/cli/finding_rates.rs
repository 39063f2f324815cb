//! `deadheat load --find-rate` against servers whose capacity is known.

use std::{
    io::{self, BufRead as _, BufReader},
    process::{Command, Output, Stdio},
    time::Duration,
};

use deadheat_model::capacity::{CapacityRecord, ProbeOutcome};
use deadheat_testkit::{OracleServer, Turn, answers, judge::least, single_queue};
use rustix::process::Signal;
use serde_json::Value;

use crate::support::processes;

/// How long a request takes beside its turn.
const LATER: Duration = Duration::from_millis(2);
/// The bound of response times.
const BOUND: f64 = 0.050;

fn deadheat(words: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_deadheat"))
        .args(words)
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

fn find(server: &OracleServer, words: &[&str]) -> Output {
    let url = format!("http://{}/", server.address());
    deadheat(&[&["load", url.as_str()], words].concat())
}

fn told(output: &Output) -> String {
    format!(
        "{:?}\n--- stdout\n{}\n--- stderr\n{}",
        output.status,
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    )
}

fn json(output: &Output) -> (Value, CapacityRecord) {
    let value: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", told(output)));
    let record = serde_json::from_value(value.clone()).unwrap();
    (value, record)
}

/// The rate at which such a queue is just too slow for evenly spaced requests: the backlog of warm-up and measurement
/// delays the last requests by the bound.
fn truth(per_second: f64, loaded: Duration) -> f64 {
    per_second * (1.0 + (BOUND - LATER.as_secs_f64()) / loaded.as_secs_f64())
}

#[test]
fn the_rate_of_a_queue_is_found_and_its_probes_are_recorded() {
    const CAPACITY: f64 = 400.0;
    let server = OracleServer::start(single_queue(CAPACITY, LATER)).unwrap();
    let words = [
        "--find-rate",
        "p90<50ms",
        "--find-rate",
        "errors<1%",
        "-d",
        "500ms",
        "--warm-up",
        "100ms",
        "--trials",
        "12",
        "--precision",
        "10%",
        "--arrivals",
        "uniform",
        "--json",
    ];
    // A stall of the machine can only make the rate lower.
    let far = least(0.2, || {
        let output = find(&server, &words);
        let (value, record) = json(&output);
        if value["answer"]["outcome"] == "generator-limited" {
            // The machine was busy with other things, and it says so.
            return f64::INFINITY;
        }
        assert_eq!(output.status.code(), Some(0), "{}", told(&output));
        assert!(record.probes.len() <= 12);
        for probe in &record.probes {
            assert!(probe.observation.total.is_conserved());
            assert_eq!(probe.values.len(), 2);
            let held = probe.values[0].is_some_and(|p90| p90 < BOUND);
            assert!(
                held || probe.outcome != ProbeOutcome::Held,
                "{}",
                told(&output)
            );
        }
        let answer = &value["answer"];
        assert_eq!(answer["outcome"], "found");
        let [low, found, high] =
            ["low", "per_second", "high"].map(|name| answer[name].as_f64().unwrap());
        assert!(low <= found && found <= high);
        (truth(CAPACITY, Duration::from_millis(600)) / found)
            .ln()
            .abs()
    });
    assert!(far < 0.2, "{far} from the truth");
}

#[test]
fn a_search_is_shown_again_from_its_file_and_has_every_format() {
    let server = OracleServer::start(single_queue(400.0, LATER)).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (file, page, table) = (path("a.json"), path("a.html"), path("a.csv"));
    let text = path("a.txt");
    let output = find(
        &server,
        &[
            "--find-rate",
            "p50<50ms",
            "-d",
            "200ms",
            "--warm-up",
            "50ms",
            "--trials",
            "6",
            "-o",
            &file,
            "-o",
            &page,
            "-o",
            &table,
            "-o",
            &text,
        ],
    );
    let shown = String::from_utf8(output.stdout.clone()).unwrap();
    assert!(
        shown.contains("ighest rate with p50 < 50 ms") || shown.contains("No rate found"),
        "{}",
        told(&output)
    );
    let narrow = std::fs::read_to_string(&text).unwrap();
    let too_wide = |line: &&str| line.chars().count() > 80;
    assert_eq!(narrow.lines().find(too_wide), None, "{narrow}");
    let plan = String::from_utf8(output.stderr.clone()).unwrap();
    assert!(plan.contains("at most 6, about 2 s in all"), "{plan}");
    assert_eq!(
        plan.matches("\ntrial ").count(),
        std::fs::read_to_string(&table).unwrap().lines().count() - 1
    );
    assert!(
        std::fs::read_to_string(&page)
            .unwrap()
            .contains("p50 at each rate")
    );
    let again = deadheat(&["report", &file]);
    assert_eq!(again.status.code(), Some(0), "{}", told(&again));
    assert_eq!(String::from_utf8(again.stdout).unwrap(), shown);
    let again = deadheat(&["report", &file, "--json"]);
    let written: Value = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
    for part in ["headline", "answer", "declared", "elapsed_seconds"] {
        assert_eq!(json(&again).0[part], written[part], "{part}");
    }
}

#[test]
fn a_condition_that_never_holds_is_no_rate() {
    let slow = |_: &Turn<'_>| {
        vec![
            deadheat_testkit::Action::Pause(Duration::from_millis(20)),
            deadheat_testkit::Action::Send(answers::hello()),
        ]
    };
    let server = OracleServer::start(slow).unwrap();
    let output = find(
        &server,
        &[
            "--find-rate",
            "p50<10ms",
            "-d",
            "200ms",
            "--warm-up",
            "0s",
            "--trials",
            "10",
        ],
    );
    assert_eq!(output.status.code(), Some(3), "{}", told(&output));
    let shown = String::from_utf8_lossy(&output.stdout);
    assert!(
        shown.starts_with("No rate found: p50 < 10 ms does not hold"),
        "{}",
        told(&output)
    );
}

#[test]
fn nobody_who_answers_is_no_rate() {
    let output = deadheat(&[
        "load",
        "http://127.0.0.1:1/",
        "--find-rate",
        "p50<10ms",
        "-d",
        "100ms",
    ]);
    assert_eq!(output.status.code(), Some(3), "{}", told(&output));
    assert!(told(&output).contains("nothing could be measured"));
}

#[test]
fn what_makes_no_sense_beside_a_search_is_refused() {
    for (words, says) in [
        (&["--find-rate", "p99>50ms"][..], "write it with <"),
        (&["--find-rate", "throughput<5/s"], "sets the rate itself"),
        (&["--find-rate", "first-byte.p99<5ms"], "--first-byte"),
        (
            &["--find-rate", "p99<5ms", "--rate", "5"],
            "sets the rate itself",
        ),
        (&["--find-rate", "p99<5ms", "-n", "5"], "--duration"),
        (
            &["--find-rate", "p99<5ms", "--fail-if", "p99>5ms"],
            "exits with 3 if it finds no rate",
        ),
        (
            &["--find-rate", "p99<5ms", "--format", "hgrm"],
            "text, markdown, html, json or csv",
        ),
        (&["--find-rate", "p99<5ms", "--precision", "5"], "like 5%"),
        (
            &["--find-rate", "p99<5ms", "--progress", "terminal"],
            "a line for each trial",
        ),
        (&["--trials", "5"], "--find-rate"),
    ] {
        let output = deadheat(&[&["load", "http://127.0.0.1:1/"], words].concat());
        assert_eq!(output.status.code(), Some(2), "{}", told(&output));
        assert!(told(&output).contains(says), "{}", told(&output));
    }
}

#[test]
fn ctrl_c_ends_a_search_with_what_is_known() {
    let server = OracleServer::start(single_queue(400.0, LATER)).unwrap();
    let url = format!("http://{}/", server.address());
    let words = [
        "load",
        url.as_str(),
        "--find-rate",
        "p50<50ms",
        "-d",
        "200ms",
        "--warm-up",
        "0s",
        "--trials",
        "100",
        "--precision",
        "0.5%",
    ];
    let mut child = Command::new(env!("CARGO_BIN_EXE_deadheat"))
        .args(words)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut told = BufReader::new(child.stderr.take().unwrap()).lines();
    let has_looked = |line: io::Result<String>| line.unwrap().starts_with("trial  2 of 100");
    assert!(told.any(has_looked));
    processes::signal(child.id(), Signal::INT);
    // It must not wait for a reader.
    let rest: Vec<String> = told.map(Result::unwrap).collect();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{rest:?}");
    let shown = String::from_utf8(output.stdout).unwrap();
    assert!(shown.contains("! The search was interrupted"), "{shown}");
}

#[test]
fn other_hosts_search_as_one() {
    let server = OracleServer::start(single_queue(400.0, LATER)).unwrap();
    let output = find(
        &server,
        &[
            "--on",
            "local",
            "--find-rate",
            "p50<50ms",
            "-d",
            "200ms",
            "--warm-up",
            "50ms",
            "--trials",
            "3",
            "--json",
        ],
    );
    let (_, record) = json(&output);
    assert_eq!(record.hosts, ["local"]);
    assert_eq!(record.probes.len(), 3, "{}", told(&output));
    for probe in &record.probes {
        assert!(probe.observation.total.is_conserved());
    }
}

/// The same for Poisson arrivals, by simulation: the rate at which as many looks hold as do not.
fn truth_at_random(per_second: f64, warm_up: f64, length: f64) -> f64 {
    const LOOKS: u32 = 500;
    let mut random = 0x9e37_79b9_7f4a_7c15_u64;
    let mut gap = move |rate: f64| {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        -(1.0 - (random >> 11) as f64 / (1_u64 << 53) as f64).ln() / rate
    };
    let mut holds = |rate: f64| {
        let (mut due, mut free, mut times) = (0.0, 0.0_f64, Vec::new());
        loop {
            due += gap(rate);
            if due > warm_up + length {
                break;
            }
            free = free.max(due) + 1.0 / per_second;
            if due > warm_up {
                times.push(free + LATER.as_secs_f64() - due);
            }
        }
        times.sort_by(f64::total_cmp);
        times[(0.99 * times.len() as f64) as usize] < BOUND
    };
    let (mut low, mut high) = (0.5 * per_second, 1.5 * per_second);
    for _ in 0..12 {
        let middle = f64::midpoint(low, high);
        let held = (0..LOOKS).filter(|_| holds(middle)).count();
        if 2 * held > LOOKS as usize {
            low = middle;
        } else {
            high = middle;
        }
    }
    f64::midpoint(low, high)
}

/// Twenty searches against a known queue.
#[expect(clippy::print_stderr, reason = "the figures are for a person")]
fn twenty(arrivals: &str, truth: impl Fn(f64) -> f64) {
    let mut contain = 0;
    for nth in 0..20 {
        let capacity = 1_000.0 + 100.0 * f64::from(nth);
        let server = OracleServer::start(single_queue(capacity, LATER)).unwrap();
        let words = [
            "--find-rate",
            "p99<50ms",
            "-d",
            "1500ms",
            "--warm-up",
            "500ms",
            "--arrivals",
            arrivals,
            "--json",
            "--progress",
            "off",
        ];
        let (value, record) = json(&find(&server, &words));
        let answer = &value["answer"];
        let truth = truth(capacity);
        let figure = |name| answer[name].as_f64().unwrap_or_default();
        let [low, found, high] = ["low", "per_second", "high"].map(figure);
        let hit = (low..=high).contains(&truth);
        contain += u32::from(hit);
        eprintln!(
            "{capacity}/s, truth {truth:.0}: {found:.0} ({low:.0} to {high:.0}) {hit}, ± {:.1} %, {} looks ({} \
             discarded), {:.0} s",
            50.0 * (high - low) / found,
            record.probes.len(),
            answer["discarded"],
            record.elapsed.as_secs_f64()
        );
    }
    eprintln!("{arrivals}: {contain} of 20 intervals contain the truth");
}

#[test]
#[ignore = "the figures of docs/statistics.md; takes a quarter of an hour"]
fn twenty_searches_with_even_arrivals() {
    twenty("uniform", |capacity| {
        truth(capacity, Duration::from_secs(2))
    });
}

#[test]
#[ignore = "the figures of docs/statistics.md; takes a quarter of an hour"]
fn twenty_searches_with_poisson_arrivals() {
    twenty("poisson", |capacity| truth_at_random(capacity, 0.5, 1.5));
}
