//! Published comparisons, repeated: requests sent in the same way, and both sides in the report.

use std::fs;

use deadheat_model::{
    load::{HttpVersion, Reuse},
    published::RepeatedRow,
};
use deadheat_runner::session::heats::read_session;

use crate::support::{Fake, Root};

/// Two tables: one with a connection for each request, one with connections that are kept.
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
id = "kept"
title = "With connections that are kept"
workload = "plaintext"
baseline = "One"

[table.load]
command = "hey -n 500 -c 2 http://localhost/"
requests = 500
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

const QUICK: &str =
    "run --heats 2 --heat-time 300ms --slice 40ms --guard 5ms --warm-up 50ms --seed 1";

#[test]
fn a_published_table_is_repeated_in_heats_and_reported_beside_them() {
    let root = root();
    let ended = root.deadheat(&format!("{QUICK} --published blog:text"));
    let ended = ended.exits(0);
    ended.tells(&[
        "Plan: 2 stacks × 2 loads",
        "published blog text: 2 of 3 rows",
        "without Three: the stack fake-three does not exist here",
    ]);
    let folder = root.session_folder();
    let header = read_session(&folder)
        .expect("reading the session back")
        .header;
    let loads = &header.plan.loads;
    let names: Vec<String> = loads.iter().map(|load| load.name()).collect();
    let expected = ["plaintext:c4-http1.0-close", "plaintext:c3-http1.0-close"];
    assert_eq!(names, expected);
    for (load, stack) in loads.iter().zip(["fake-one", "fake-two"]) {
        let sending = load.point.sending;
        assert_eq!(sending.http, HttpVersion::Http10);
        assert_eq!(sending.reuse, Reuse::PerRequest);
        let targets: Vec<String> = load.targets.iter().map(ToString::to_string).collect();
        assert_eq!(targets, [stack], "only those that its rows ask for");
    }
    assert!(root.told("HTTP/1.0").len() > 4, "as ab speaks it");
    let table = &header.published[0];
    assert_eq!(
        (table.document.as_str(), table.table.id.as_str()),
        ("blog", "text")
    );
    assert!(matches!(table.rows[2], RepeatedRow::LeftOut { .. }));
    // The report is made from the session alone.
    fs::remove_dir_all(root.path().join("published")).unwrap();
    root.deadheat(&format!("report {} --details", folder.display()))
        .exits(0)
        .says(&[
            "blog: A text",
            "One → fake-one",
            "4 connections, HTTP/1.0, a new connection for each request",
            "Two (of errors), published: not valid: all 200 answers had a status other than 2xx",
            "Three, published: no figure: it hung",
            "Three, here: the stack fake-three does not exist here",
        ]);
}

#[test]
fn a_dry_run_shows_what_would_be_repeated() {
    let root = root();
    root.deadheat(&format!("{QUICK} --published --dry-run --stack fake-two"))
        .exits(0)
        .says(&[
            "Plan: 1 stack × 1 load",
            "published blog text: 1 of 3 rows",
            "without One: not asked for in this session",
        ]);
    assert!(root.sessions().is_empty());
}

#[test]
fn what_does_not_go_together_is_refused() {
    let root = root();
    let cases = [
        ("run --published --all --dry-run", "--all"),
        ("run --published block --dry-run", "there are `blog`"),
    ];
    for (args, why) in cases {
        root.deadheat(args).exits(2).has_no_data().tells(&[why]);
    }
    let without = Root::with(&[Fake::good("fake-one")]);
    let ended = without.deadheat("run --published --dry-run");
    ended.exits(2).tells(&["no published table"]);
}
