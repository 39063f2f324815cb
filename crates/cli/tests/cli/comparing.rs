//! `deadheat compare` of two session folders, and what it refuses.

use deadheat_model::{
    heat::MemberFailure,
    heats::SessionRecord,
    session::{Phase, StackFailure},
};
use serde_json::Value;

use crate::support::{
    Ended, Root,
    sessions::{with_unchanged, write},
};

fn session(id: &str, share: f64) -> SessionRecord {
    with_unchanged(id, share, 0.002)
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
        text.starts_with(
            "Of 6 cells, results/two is slower in 1 and in a dead heat in 5, compared with\nresults/one.\n"
        ),
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
        "rust-axum 8,000 7,600 1.053× slower 1.049–1.056×"
    );
    let equal = row("go-nethttp");
    assert!(
        equal.starts_with("go-nethttp 10,000 ") && equal.contains(" dead heat "),
        "{equal}"
    );
    for line in text.lines() {
        assert!(
            line.chars().count() <= 80 && !line.contains('\x1b'),
            "{line:?}"
        );
    }
    let ended = ended.says(&[
        "! The sessions were measured at two times",
        "share no heats",
        "Welch",
        "Holm",
        "Example CPU @ 2.60GHz",
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
        shown.starts_with("❌ **Of 6 cells, results/two is slower in 1"),
        "{shown}"
    );
    assert!(
        shown.contains("### plaintext c50: Throughput")
            && shown.contains("| rust-axum | 8,0")
            && shown.contains("| **1.053× slower** |"),
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
        (&7.into(), &"deadheat-compare".into())
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
    let unchanged = &ratio["unchanged"];
    assert_eq!(unchanged["stacks"], 5);
    let moved = unchanged["ratio"].as_f64().unwrap();
    assert!((value("ratio") - value("b") / value("a") / moved).abs() < 1e-12);
    let least = ratio["interval"]["low"].as_f64().unwrap();
    assert!(least < value("ratio") && least > 0.9);
    let gate = &json["gate"];
    assert_eq!(
        (&gate["failed"], &gate["cells"][1]["is"]),
        (&true.into(), &"worse".into())
    );
}

#[test]
fn slower_is_status_1_only_if_a_gate_was_asked_for_and_it_is_beyond_its_bound() {
    let root = with(&session("one", 1.0), &session("two", 0.95));
    compare(&root, "").exits(0);
    compare(&root, "--require-decision").exits(1);
    compare(&root, "--fail-if-slower 3%").exits(1).says(&[
        "--fail-if-slower 3 %: failed. results/two is proven slower by more than 3 %: rust-axum plaintext c50 (throughput −5.0 %, ",
    ]);
    compare(&root, "--fail-if-slower 6%").exits(0).says(&[
        "--fail-if-slower 6 %: passed.",
        "Excluded: a slowdown of more than 6 % of go-nethttp plaintext c50 (throughput ",
        "rust-axum plaintext c50 (throughput −5.0 %, ",
    ]);
    compare(&root, "--fail-if-slower 4%").exits(1);
    // The other way round it is faster.
    root.deadheat("compare results/two results/one --require-decision")
        .exits(0)
        .says(&["faster", "--require-decision: passed"]);
}

#[test]
fn undecided_is_status_1_only_if_a_decision_is_required() {
    let noisy = with_unchanged("two", 0.99, 0.2);
    let root = with(&session("one", 1.0), &noisy);
    compare(&root, "").exits(0).says(&["undecided"]);
    compare(&root, "--fail-if-slower 3%").exits(0).says(&[
        "passed",
        "Not excluded: a slowdown of more than 3 %",
        "undecided",
    ]);
    for options in ["", "--fail-if-slower 3%"] {
        compare(&root, &format!("{options} --require-decision"))
            .exits(1)
            .says(&[
                "--require-decision: failed, because a slowdown",
                "is not excluded",
            ]);
    }
}

#[test]
fn a_failure_of_b_is_status_1_and_one_of_a_is_not() {
    let good = session("one", 1.0);
    let mut bad = session("two", 1.0);
    for heat in &mut bad.heats[..2] {
        let mut members = heat.heat.members.iter_mut();
        let one = members.find(|one| one.target.stack == "rust-axum");
        one.expect("it is in each heat").failure = Some(MemberFailure {
            failure: StackFailure {
                phase: Phase::Load,
                reason: "the server \x1b[31mdied".to_owned(),
                log_tail: Vec::new(),
                load: None,
            },
            void_from: Some(0),
        });
    }
    let root = with(&good, &bad);
    compare(&root, "").exits(1).says(&[
        "results/two failed in 1 cell.",
        "rust-axum at plaintext c50: B failed in 2 of 8 heats, under load: the server \\u{1b}[31mdied",
    ]);
    root.deadheat("compare results/two results/one")
        .exits(0)
        .says(&["A failed in 2 of 8 heats"]);
}

#[test]
fn what_cannot_be_compared_is_status_3() {
    let mut other = session("two", 1.0);
    other.header.targets.clear();
    other.header.plan.loads[0].targets.clear();
    other.heats.clear();
    let root = with(&session("one", 1.0), &other);
    compare(&root, "")
        .exits(3)
        .says(&["Nothing could be compared.", "only in A: stack go-nethttp"]);
}

#[test]
fn other_circumstances_are_refused_with_all_the_reasons_unless_forced() {
    let mut other = session("two", 1.0);
    other.header.machine.cpu_model = "Other CPU".to_owned();
    other.header.plan.loads[0].point.connections = 51;
    let root = with(&session("one", 1.0), &other);
    compare(&root, "").exits(2).has_no_data().tells(&[
        "results/one and results/two are not compared",
        "processor: Example CPU @ 2.60GHz in A, Other CPU in B",
        "plaintext:c50: load point: {\"id\":\"c50\",\"connections\":50} in A",
        "--force",
    ]);
    compare(&root, "--force").exits(0).says(&[
        "! Conditions differ: processor is Example CPU @ 2.60GHz in A, Other CPU in B.",
        "! Conditions differ: plaintext:c50: load point is",
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
        &["there is no file or folder results/none. Did you mean results/one?"],
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
