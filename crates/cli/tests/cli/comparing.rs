//! `deadheat compare` of two session folders, and what it refuses.

use deadheat_model::{JournalEntry, SessionRecord, session::EndReason, trial::Phase};
use serde_json::Value;

use crate::{
    fixture::{Found, Session, failed, good, scatter},
    support::{Ended, Root},
};

/// A session of two stacks in a folder below `results/`; rust-axum at `share` of its rate.
fn session(id: &str, share: f64) -> SessionRecord {
    let session = Session::new(7)
        .workload("json", &[50])
        .stack("go-nethttp")
        .stack("rust-axum");
    let session = session.measured(7, |cell, block| {
        let noise = 1.0 + 0.004 * scatter(&format!("{id}{cell}"), block);
        let share = if cell.target.stack == "rust-axum" {
            share
        } else {
            1.0
        };
        good(Found::at(5_000.0 * share * noise))
    });
    let id = id.to_owned();
    session.with(|record| record.header.id = id).build()
}

/// Writes a session's files, as docs/formats.md describes them.
fn write(root: &Root, record: &SessionRecord) {
    let mut lines: Vec<String> = Vec::new();
    let mut line = |entry| lines.push(serde_json::to_string(&entry).expect("an entry is JSON"));
    for trial in &record.trials {
        line(JournalEntry::Trial(Box::new(trial.clone())));
    }
    line(JournalEntry::End {
        reason: EndReason::Finished,
        at: "2026-03-01T10:30:00Z".to_owned(),
    });
    let folder = format!("results/{}", record.header.id);
    let header = serde_json::to_string(&record.header).expect("a header is JSON");
    root.write(&format!("{folder}/session.json"), &header);
    root.write(
        &format!("{folder}/trials.jsonl"),
        &(lines.join("\n") + "\n"),
    );
}

/// A root with the sessions `one` and `two`.
fn with(one: &SessionRecord, two: &SessionRecord) -> Root {
    let root = Root::with(&[]);
    write(&root, one);
    write(&root, two);
    root
}

fn compare(root: &Root, options: &str) -> Ended {
    root.deadheat(&format!("compare results/one results/two {options}"))
}

#[test]
fn the_verdict_comes_first_in_80_columns_and_without_colour() {
    let root = with(&session("one", 1.0), &session("two", 0.95));
    let ended = compare(&root, "--details").exits(0);
    let text = &ended.stdout;
    assert!(
        text.starts_with("Of 2 cells, B is slower in 1 and in a dead heat in 1.\n"),
        "{ended}"
    );
    let row = |name: &str| {
        let mut lines = text
            .lines()
            .map(|line| line.split_whitespace().collect::<Vec<_>>());
        lines
            .find(|words| words.first() == Some(&name))
            .unwrap_or_default()
            .join(" ")
    };
    assert_eq!(
        row("rust-axum"),
        "rust-axum 5,010 4,750 0.949 0.946–0.951 slower"
    );
    assert_eq!(
        row("go-nethttp"),
        "go-nethttp 5,000 5,000 0.999 0.996–1.002 dead heat"
    );
    for line in text.lines() {
        assert!(
            line.chars().count() <= 80 && !line.contains('\x1b'),
            "{line:?}"
        );
    }
    let ended = ended.says(&[
        "share no blocks",
        "Welch",
        "Holm",
        "Example CPU @ 2.60GHz",
        "Service time",
    ]);
    assert!(ended.stderr.is_empty(), "{ended}");
}

#[test]
fn markdown_folds_away_everything_but_the_verdict_and_its_table() {
    let root = with(&session("one", 1.0), &session("two", 0.95));
    let ended = compare(&root, "--format markdown").exits(0);
    let (shown, folded) = ended
        .stdout
        .split_once("<details>")
        .expect("something is folded away");
    assert!(
        shown.starts_with("❌ **Of 2 cells, B is slower in 1"),
        "{shown}"
    );
    assert!(
        shown.contains("| rust-axum json c50 | 5,010 | 4,750 | 0.949 | 0.946–0.951 | **slower** |"),
        "{shown}"
    );
    assert!(!shown.contains("PSS") && folded.contains("PSS"), "{ended}");
    assert!(folded.contains("Example CPU"), "{ended}");
    let opened = ended.stdout.matches("<details>").count();
    assert_eq!(opened, ended.stdout.matches("</details>").count());
}

#[test]
fn json_has_what_the_text_rounds() {
    let root = with(&session("one", 1.0), &session("two", 0.95));
    let ended = compare(&root, "--format json --margin 4% --fail-if-slower 3%").exits(1);
    let json: Value = serde_json::from_str(&ended.stdout).expect("JSON");
    assert_eq!(
        (&json["schema"], &json["format"]),
        (&2.into(), &"deadheat-compare".into())
    );
    assert_eq!(json["how"]["is"], "sessions");
    assert_eq!(json["bounds"]["margin"], 0.04);
    let cell = &json["compared"][1];
    assert_eq!(cell["target"], "rust-axum");
    let ratio = &cell["ratios"][0];
    assert_eq!(
        (&ratio["metric"], &ratio["verdict"]),
        (&"throughput".into(), &"worse".into())
    );
    let value = |key: &str| ratio[key].as_f64().unwrap();
    assert!((value("ratio") - value("b") / value("a")).abs() < 1e-12);
    let least = ratio["interval"]["low"].as_f64().unwrap();
    assert!(least < value("ratio") && least > 0.9);
    let gate = &json["fail_if_slower"];
    assert_eq!(
        (&gate["failed"], &gate["cells"][1]["is"]),
        (&true.into(), &"slower".into())
    );
}

#[test]
fn fail_if_slower_fails_for_what_is_shown_and_says_what_is_not_excluded() {
    let root = with(&session("one", 1.0), &session("two", 0.95));
    compare(&root, "--fail-if-slower 3%").exits(1).says(&[
        "--fail-if-slower 3 %: failed",
        "below 0.970 of A's: rust-axum json c50 (0.949)",
    ]);
    compare(&root, "--fail-if-slower 6%").exits(0).says(&[
        "--fail-if-slower 6 %: passed",
        "It was excluded: go-nethttp json c50 (0.999) and rust-axum json c50 (0.949).",
    ]);
    compare(&root, "--fail-if-slower 5%").exits(1);
    // The other way round it is faster.
    root.deadheat("compare results/two results/one --fail-if-slower 3%")
        .exits(0)
        .says(&["faster"]);
    let mut noisy = session("two", 0.99);
    for trial in &mut noisy.trials {
        let noise = 1.0 + 0.2 * scatter("noisy", trial.block * 10 + trial.position);
        trial.outcome = good(Found::at(4_950.0 * noise));
    }
    let root = with(&session("one", 1.0), &noisy);
    compare(&root, "--fail-if-slower 3%").exits(0).says(&[
        "passed",
        "A slowdown of more than 3 % was not excluded",
        "undecided",
    ]);
}

#[test]
fn a_failure_of_b_is_status_1_and_one_of_a_is_not() {
    let good = session("one", 1.0);
    let mut bad = session("two", 1.0);
    bad.trials[3].outcome = failed(Phase::Load, "the server \x1b[31mdied", &[]);
    let root = with(&good, &bad);
    compare(&root, "").exits(1).says(&[
        "B failed in 1 cell.",
        "rust-axum json c50: B failed in 1 of 7 trials, under load: the server \\u{1b}[31mdied",
    ]);
    root.deadheat("compare results/two results/one")
        .exits(0)
        .says(&["A failed in 1 of 7 trials"]);
}

#[test]
fn what_cannot_be_compared_is_status_3() {
    let mut other = session("two", 1.0);
    other.header.targets.clear();
    other.header.plan.cells.clear();
    other.trials.clear();
    let root = with(&session("one", 1.0), &other);
    compare(&root, "")
        .exits(3)
        .says(&["Nothing could be compared.", "only in A: stack go-nethttp"]);
}

#[test]
fn other_circumstances_are_refused_with_all_the_reasons_unless_forced() {
    let mut other = session("two", 1.0);
    other.header.machine.kernel = "7.0.1-other".to_owned();
    other.header.plan.workloads[0].points[0].connections = 51;
    let root = with(&session("one", 1.0), &other);
    compare(&root, "").exits(2).has_no_data().tells(&[
        "results/one and results/two are not compared",
        "kernel: 6.12.0-test in A, 7.0.1-other in B",
        "json c50: {\"id\":\"c50\",\"connections\":50} in A",
        "--force",
    ]);
    compare(&root, "--force").exits(0).says(&[
        "! kernel differs: 6.12.0-test in A, 7.0.1-other in B",
        "! json c50 differs:",
        "dead heat",
    ]);
}

#[test]
fn what_is_mixed_missing_or_without_meaning_is_refused_with_what_would_work() {
    let root = with(&session("one", 1.0), &session("two", 1.0));
    let refused = |args: &str, told: &[&str]| {
        root.deadheat(&format!("compare {args}"))
            .exits(2)
            .has_no_data()
            .tells(told);
    };
    refused("results/one results/one", &["are the same session"]);
    refused(
        "results/one results/none",
        &["results/none is no session (results/none/session.json is not there)"],
    );
    refused(
        "results/one go-nethttp",
        &[
            "results/one is a session, go-nethttp is a stack",
            "two sessions",
        ],
    );
    refused(
        "http://127.0.0.1:1/ cmd:./server",
        &["is a URL, cmd:./server is a command", "cmd:COMMAND"],
    );
    refused("http://127.0.0.1:1/ go-nethttp", &["compare two URLs"]);
    refused("@HEAD @HEAD~1", &["STACK@HEAD"]);
    refused(
        "results/one results/two --budget 1m --workload json",
        &["--budget, --workload have no meaning"],
    );
    refused("results/one results/two --margin 0.5%", &["from 1%"]);
    refused(
        "results/one results/two --fail-if-slower 3",
        &["in percent, like 3%"],
    );
    refused(
        "http://127.0.0.1:1/ http://127.0.0.1:2/ --force",
        &["--force has no meaning for URLs"],
    );
    refused("results/one", &["<B>"]);
}
