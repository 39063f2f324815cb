//! `deadheat load` of streams, by users who think, and with several threads.

use std::{fs, sync::Arc, time::Duration};

use deadheat_testkit::{Action, OracleServer, Turn};
use serde_json::Value;

use crate::load::{Loading, hello_server, json, url};

const EVENT: &str = "9\r\ndata: x\n\n\r\n";

/// A server of server-sent events without an end.
fn endless() -> OracleServer {
    OracleServer::start(|_: &Turn<'_>| {
        let head = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
        vec![
            Action::Send((head.to_owned() + EVENT).into_bytes()),
            Action::Pause(Duration::from_millis(20)),
            Action::Repeat(Arc::from(EVENT.as_bytes()), 1 << 40),
        ]
    })
    .unwrap()
}

#[test]
fn a_stream_has_the_times_of_its_events_in_every_output() {
    let loading = Loading::new();
    let server = endless();
    let fixed = [
        "--stream",
        "sse",
        "--stream-events",
        "3",
        "-n",
        "40",
        "-c",
        "4",
        "--expect-contains",
        "data: x",
    ];
    loading.run(&url(&server, "/"), &fixed).exits(0).says(&[
        "first event",
        "event gap",
        "Events",
        "120 (",
        "Longest gap",
    ]);
    let page = loading.root.path().join("load.html");
    let rows = loading.root.path().join("load.csv");
    let files = [page.to_str().unwrap(), rows.to_str().unwrap()];
    let more = ["--json", "-o", files[0], "-o", files[1]];
    let conditions = [
        "--fail-if",
        "gap.max>30s",
        "--fail-if",
        "first-event.max>1us",
    ];
    let args = [&fixed[..], &more, &conditions].concat();
    let found = json(&loading.run(&url(&server, "/"), &args).exits(1));
    let at = |path: &str| found.pointer(path).and_then(Value::as_u64);
    assert_eq!(at("/observation/events/events"), Some(120));
    assert_eq!(at("/figures/events/without"), Some(0));
    assert_eq!(at("/spec/stream/enough"), Some(3));
    assert!(fs::read_to_string(&page).unwrap().contains("event gap"));
    let rows = fs::read_to_string(&rows).unwrap();
    let place = rows.split(',').position(|name| name == "events").unwrap();
    let counts = rows
        .lines()
        .skip(1)
        .map(|row| row.split(',').nth(place).unwrap());
    let counts: u64 = counts.map(|count| count.parse::<u64>().unwrap()).sum();
    assert_eq!(counts, 120);
}

#[test]
fn a_stream_that_does_not_end_says_what_to_do() {
    let loading = Loading::new();
    let server = OracleServer::start(|_: &Turn<'_>| {
        let head = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
        vec![
            Action::Send((head.to_owned() + EVENT).into_bytes()),
            Action::Silence,
        ]
    })
    .unwrap();
    let args = [
        "--stream",
        "sse",
        "--timeout",
        "200ms",
        "-n",
        "2",
        "-c",
        "2",
    ];
    let ended = loading.run(&url(&server, "/"), &args).exits(3);
    ended.tells(&["needs --stream-events N"]);
    loading
        .run(&url(&server, "/"), &["--fail-if", "gap.p99>1s"])
        .exits(2)
        .tells(&["with --stream"]);
}

#[test]
fn users_who_think_are_in_the_plan_and_in_the_report() {
    let loading = Loading::new();
    let server = hello_server();
    let args = [
        "--think",
        "10ms..30ms",
        "-n",
        "60",
        "-c",
        "6",
        "--seed",
        "7",
        "--details",
    ];
    let ended = loading.run(&url(&server, "/"), &args).exits(0);
    let ended = ended.says(&["think for 10 ms to 30 ms", "the others thought"]);
    ended.tells(&["thought for 10 ms to 30 ms at random", "seed 7"]);
    assert_eq!(server.seen_at_rest().requests, 60);
    let refused = ["--think", "2s..1s"];
    loading
        .run(&url(&server, "/"), &refused)
        .exits(2)
        .tells(&["exp:1s"]);
}

#[test]
fn threads_are_as_many_as_are_asked_for_and_else_the_plan_says_why() {
    let loading = Loading::new();
    let server = hello_server();
    let args = ["--threads", "3", "-n", "90", "-c", "6", "--json"];
    let found = json(&loading.run(&url(&server, "/"), &args).exits(0));
    let workers = found
        .pointer("/observation/workers")
        .and_then(Value::as_array);
    assert_eq!(workers.map(Vec::len), Some(3));
    assert_eq!(server.seen_at_rest().requests, 90);
    for (args, why) in [
        (&["-c", "4"][..], "one worker thread, not pinned: "),
        (
            &["-c", "4", "--threads", "2"],
            "2 worker threads, not pinned",
        ),
        (&["-c", "4", "--on", "local"], "one on each host"),
    ] {
        let args = [args, &["--dry-run"]].concat();
        let ended = loading.run(
            "http://192.0.2.1/",
            &[&args[..], &["--i-may-load-this-host"]].concat(),
        );
        ended.exits(0).says(&[why]);
    }
}
