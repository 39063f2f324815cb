//! Published comparisons, repeated: as many requests as there were, sent in the same way, and both sides in the report.

use std::{fs, time::Duration};

use deadheat_model::{SessionRecord, published::RepeatedRow, session::EndReason};
use rustix::process::Signal;

use crate::support::{Fake, Root, recorded};

/// Two tables: one that ends by its count, one that no server ends within the test's limit.
const BLOG: &str = r#"
id = "blog"
title = "Two servers"
source = "a page (blog.md)"
tool = "ab"

[[table]]
id = "text"
title = "A text"
workload = "plaintext"
baseline = "One"

[table.load]
command = "ab -n 200 -c 4 http://localhost/"
requests = 200
connections = 4
http = "1.0"
reuse = "per-request"

[[table.row]]
name = "One"
target = "fake-one"
requests-per-second = 1000.0

[[table.row]]
name = "Two (of errors)"
target = "fake-two"
connections = 3
complete = 200
non-2xx = 200
requests-per-second = 4000.0

[[table.row]]
name = "Three"
target = "fake-three"
no-figures = "it hung"

[[table]]
id = "endless"
title = "Without an end"
workload = "plaintext"
baseline = "One"

[table.load]
command = "hey -n 1000000000 -c 2 http://localhost/"
requests = 1_000_000_000
connections = 2
http = "1.1"
reuse = "keep-alive"

[[table.row]]
name = "One"
target = "fake-one"
requests-per-second = 5000
"#;

fn root() -> Root {
    let root = Root::with(&[Fake::good("fake-one"), Fake::good("fake-two")]);
    root.write("published/blog.toml", BLOG);
    root
}

const QUICK: &str = "run --profile seeds --blocks 2 --seed 1 --start-timeout 20s --noise-bound off";

fn windows(record: &SessionRecord, point: &str) -> Vec<(u64, u64, Duration)> {
    let trials = record
        .trials
        .iter()
        .filter(|trial| trial.cell.point == point);
    trials
        .map(|trial| {
            assert_eq!(trial.warm_up, Duration::ZERO);
            let load = &recorded::measured(trial).load;
            (
                load.measured.succeeded,
                load.connections_opened,
                load.window,
            )
        })
        .collect()
}

#[test]
fn a_published_table_is_repeated_as_it_was_and_reported_beside_it() {
    let root = root();
    let ended = root.deadheat(&format!("{QUICK} --published blog:text"));
    let ended = ended.exits(0);
    ended
        .tells(&[
            "Plan: 2 stacks × 2 load points, 2 blocks → 4 trials",
            "200 requests, 4 at a time, HTTP/1.0, a connection each",
            "published blog text: 2 of 3 rows",
            "without Three: there is no stack fake-three here",
        ])
        .says(&[
            "Published and measured",
            "blog: A text",
            "One → fake-one",
            "not valid: all 200 answers had another status than 2xx",
            "Three, published: no figure: it hung",
            "Three, here: there is no stack fake-three here",
        ]);
    let session = root.session();
    let exact: Vec<(u64, u64)> = windows(&session.record, "n200-c4-http1.0-close")
        .into_iter()
        .map(|(succeeded, connections, _)| (succeeded, connections))
        .collect();
    assert_eq!(exact, [(200, 200), (200, 200)], "in each of two blocks");
    assert_eq!(windows(&session.record, "n200-c3-http1.0-close").len(), 2);
    let told = root.told("HTTP/1.0").len();
    assert_eq!(
        told,
        2 + 4,
        "by each check, and each trial: as ab speaks it"
    );
    let table = &session.record.header.published[0];
    assert_eq!(
        (table.document.as_str(), table.table.id.as_str()),
        ("blog", "text")
    );
    assert!(matches!(table.rows[2], RepeatedRow::LeftOut { .. }));
    // The report is made from the session alone.
    fs::remove_dir_all(root.path().join("published")).unwrap();
    session.assert_reported(&root, &["blog: A text", "One", "fake-one", "it hung"]);
    session.assert_shown(&root, &["Published and measured"]);
}

#[test]
fn a_load_without_an_end_ends_by_its_limit_and_says_so() {
    let root = root();
    root.deadheat(&format!("{QUICK} --published blog:endless --measure 700ms"))
        .exits(0)
        .says(&["the time limit ended 2 trials before all requests were made"]);
    let record = root.session().record;
    let ended = windows(&record, "n1000000000-c2-http1.1");
    assert_eq!(ended.len(), 2);
    for (succeeded, connections, window) in ended {
        assert!(
            succeeded > 0 && connections == 2,
            "{succeeded}, {connections}"
        );
        assert_eq!(window, Duration::from_millis(700));
    }
}

#[test]
fn an_interrupt_ends_a_load_by_count_and_its_trial_is_none() {
    let root = root();
    // Its limit is a minute, and this test's patience is less.
    let running = root.start(&format!("{QUICK} --published blog:endless"));
    root.wait_for("loaded", 1);
    running.signal(Signal::INT);
    // Nothing was measured.
    running.wait().exits(3);
    let record = root.session().record;
    assert_eq!(record.end, Some(EndReason::Interrupted));
    assert!(record.trials.is_empty(), "{:?}", record.trials);
}

#[test]
fn a_dry_run_shows_what_would_be_repeated() {
    let root = root();
    root.deadheat(&format!("{QUICK} --dry-run --stack fake-two"))
        .exits(0)
        .says(&[
            "Plan: 1 stack × 1 load point, 2 blocks → 2 trials",
            "published blog text: 1 of 3 rows",
            "without One: not asked for in this session",
        ]);
    assert!(root.sessions().is_empty());
}

#[test]
fn what_does_not_go_together_is_refused() {
    let root = root();
    let cases = [
        ("run --published blog --dry-run", "--profile seeds"),
        ("run --profile seeds --warm-up 1s --dry-run", "--warm-up"),
        ("run --profile seeds --all --dry-run", "--all"),
        (
            "run --profile seeds --published block --dry-run",
            "there are `blog`",
        ),
    ];
    for (args, why) in cases {
        root.deadheat(args).exits(2).has_no_data().tells(&[why]);
    }
    let without = Root::with(&[Fake::good("fake-one")]);
    let ended = without.deadheat("run --profile seeds --dry-run");
    ended.exits(2).tells(&["no published table"]);
}
