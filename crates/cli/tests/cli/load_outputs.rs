//! What `deadheat load` leaves behind, and when: files, also after a second Ctrl-C.

use std::{fs, io, io::Write as _, process::Stdio};

use deadheat_testkit::{
    OracleServer, Turn,
    answers::{send, sized},
};
use rustix::process::Signal;

use crate::{
    load::{Loading, hello_server, json, tally, url},
    support::eventually,
};

/// What a pipe holds, at most: one in which so much stands takes no more.
const PIPE: usize = 64 * 1024;

/// Files of all formats.
const FILES: [&str; 9] = [
    "a.txt",
    "a.md",
    "a.json",
    "a.csv",
    "a.hlog",
    "a.hgrm",
    "a.html",
    "a.om",
    "a.otlp.json",
];

fn outputs() -> Vec<&'static str> {
    FILES.iter().flat_map(|file| ["-o", *file]).collect()
}

#[test]
fn every_format_is_written_and_says_so() {
    let loading = Loading::new();
    let server = hello_server();
    let args = [&["-n", "50", "-c", "2"][..], &outputs()].concat();
    let ended = loading.run(&url(&server, "/"), &args).exits(0);
    for file in FILES {
        let length = fs::metadata(loading.root.path().join(file)).map(|about| about.len());
        assert!(length.is_ok_and(|length| length > 0), "{file}: {ended}");
        assert!(
            ended.stderr.contains(&format!("written: {file}")),
            "{ended}"
        );
    }
}

#[test]
fn standard_output_has_any_format_as_well() {
    let loading = Loading::new();
    let server = hello_server();
    for (format, file) in [
        ("json", "a.json"),
        ("csv", "a.csv"),
        ("hlog", "a.hlog"),
        ("hgrm", "a.hgrm"),
        ("html", "a.html"),
        ("markdown", "a.md"),
        ("openmetrics", "a.om"),
        ("otlp", "a.otlp.json"),
    ] {
        let args = ["-n", "20", "-c", "2", "--format", format, "-o", file];
        let ended = loading.run(&url(&server, "/"), &args).exits(0);
        let written = fs::read_to_string(loading.root.path().join(file)).unwrap();
        assert_eq!(ended.stdout, written, "{format}");
    }
    let short = ["-n", "20", "-c", "2", "--json"];
    json(&loading.run(&url(&server, "/"), &short).exits(0));
    let clash = ["--details", "--format", "csv"];
    loading.run(&url(&server, "/"), &clash).exits(2);
}

#[test]
fn what_cannot_be_written_is_found_before_anything_is_sent() {
    let loading = Loading::new();
    let server = hello_server();
    fs::create_dir(loading.root.path().join("taken.json")).unwrap();
    for file in [
        "no/such/folder/a.json",
        "taken.json",
        "/proc/a.csv",
        "a.xml",
        "noending",
    ] {
        let args = ["-n", "5", "-c", "1", "-o", "good.txt", "-o", file];
        let ended = loading
            .run(&url(&server, "/"), &args)
            .exits(2)
            .has_no_data();
        assert!(
            ended.stderr.contains(&format!("--output {file}: ")),
            "{ended}"
        );
        assert!(!loading.root.path().join("good.txt").exists(), "{ended}");
    }
    assert_eq!(server.seen().connections, 0);
}

#[test]
fn a_second_ctrl_c_ends_at_once_and_leaves_no_empty_file() {
    let loading = Loading::new();
    let server = hello_server();
    // Nobody reads what it writes, so that it is still there for a second one.
    let (_reader, mut writer) = io::pipe().unwrap();
    writer.write_all(&[b'.'; PIPE]).unwrap();
    let files = ["-o", "new.json", "-o", "old.html", "-o", "rows.csv"];
    fs::write(loading.root.path().join("old.html"), "from before").unwrap();
    let args = [
        &[
            "-d",
            "60s",
            "--warm-up",
            "0s",
            "-c",
            "2",
            "--interval",
            "10ms",
        ][..],
        &files,
    ]
    .concat();
    let mut command = loading.command(&url(&server, "/"), &args);
    command.stdout(writer).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    let pid = rustix::process::Pid::from_child(&child);
    let rows = loading.root.path().join("rows.csv");
    // A table is there while the load goes on.
    let lines = || {
        fs::read_to_string(&rows)
            .unwrap_or_default()
            .lines()
            .count()
    };
    eventually("some rows", || (lines() > 3).then_some(()));
    rustix::process::kill_process(pid, Signal::INT).unwrap();
    // The load is over when its connections are closed.
    server.seen_at_rest();
    assert!(
        child.try_wait().unwrap().is_none(),
        "it waits for its reader"
    );
    // One that comes right after the first would only repeat it.
    let status = eventually("its end", || {
        rustix::process::kill_process(pid, Signal::INT).unwrap();
        child.try_wait().unwrap()
    });
    assert_eq!(status.code(), Some(130));
    let there: Vec<String> = ["new.json", "old.html"]
        .map(|file| fs::read_to_string(loading.root.path().join(file)).unwrap_or_default())
        .to_vec();
    assert_eq!(there, ["", "from before"]);
    assert!(!loading.root.path().join("new.json").exists());
    let rows = fs::read_to_string(&rows).unwrap();
    assert!(
        rows.ends_with("\r\n") && rows.starts_with("index,phase,"),
        "{rows}"
    );
}

#[test]
fn goodput_is_of_valid_answers_alone_in_every_output() {
    let loading = Loading::new();
    // Half of the answers are wrong, and much longer than the right ones.
    let server = OracleServer::start(|turn: &Turn<'_>| match turn.index % 2 {
        0 => send(sized(200, "", b"four")),
        _ => send(sized(500, "", &[b'x'; 5_000])),
    })
    .unwrap();
    let args = [
        "-n", "40", "-c", "1", "--json", "-o", "a.csv", "-o", "a.txt",
    ];
    let ended = loading.run(&url(&server, "/"), &args).exits(1);
    let json = json(&ended);
    assert_eq!(tally(&json, "measured", "succeeded"), 20);
    assert_eq!(json["observation"]["valid_body_bytes"], 20 * 4);
    assert_eq!(json["observation"]["body_bytes"], 20 * 4 + 20 * 5_000);
    let rows = fs::read_to_string(loading.root.path().join("a.csv")).unwrap();
    let mut rows = rows.lines().map(|row| row.split(',').collect::<Vec<_>>());
    let head = rows.next().unwrap();
    let column = head
        .iter()
        .position(|name| *name == "valid_body_bytes")
        .unwrap();
    let bytes: u64 = rows.map(|row| row[column].parse::<u64>().unwrap()).sum();
    assert_eq!(bytes, 20 * 4);
    let text = fs::read_to_string(loading.root.path().join("a.txt")).unwrap();
    assert!(
        text.contains("\n  Goodput     ") && !text.contains("not known:"),
        "{text}"
    );
}

#[test]
fn labels_are_in_the_plan_and_in_every_report() {
    let loading = Loading::new();
    let server = hello_server();
    let labels = ["--label", "commit=1a2b", "--label", "env.name=a=b"];
    let files = [
        "--details",
        "-n",
        "20",
        "-o",
        "a.json",
        "-o",
        "a.html",
        "-o",
        "a.om",
        "-o",
        "a.otlp.json",
    ];
    let ended = loading
        .run(&url(&server, "/"), &[&labels[..], &files].concat())
        .exits(0);
    let plan = ended.stderr.matches("commit = 1a2b").count();
    assert!(plan > 0, "{ended}");
    let has = |text: &str, expected: &str| assert!(text.contains(expected), "{expected}: {text}");
    has(&ended.stdout, "commit = 1a2b");
    for (file, expected) in [
        ("a.json", "\"env.name\": \"a=b\""),
        ("a.html", "env.name = a=b"),
        ("a.om", "label_env_name=\"a=b\""),
        ("a.otlp.json", "label.commit"),
    ] {
        let path = loading.root.path().join(file);
        has(&fs::read_to_string(path).unwrap(), expected);
    }
    for (label, told) in [("commit", "KEY=VALUE"), ("1=x", "begins with a letter")] {
        loading
            .run(&url(&server, "/"), &["--label", label])
            .exits(2)
            .tells(&[told]);
    }
    loading
        .run(&url(&server, "/"), &["--label", "a=1", "--label", "a=2"])
        .exits(2)
        .tells(&["a key has one value"]);
}
