//! `deadheat compare` of records of `deadheat load`.

use std::fs;

use deadheat_testkit::{
    Listen, OracleServer, Turn,
    answers::{hello, send},
};
use serde_json::Value;

use crate::support::Root;

fn server() -> OracleServer {
    let listen = Listen::ipv4().expect("listening");
    let served = listen.serve(|_: &Turn<'_>| send(hello()));
    served.expect("starting a server")
}

/// Loads the server, and keeps the record in this file. A number of requests, because a busy machine may leave a short time
/// without an answer.
fn record(root: &Root, server: &OracleServer, file: &str, options: &str) {
    let url = format!("http://{}/", server.address());
    root.deadheat(&format!(
        "load {url} -c 2 -n 40 --warm-up 0s -o {file} {options}"
    ))
    .exits(0);
}

#[test]
fn one_run_each_has_a_ratio_and_no_verdict() {
    let (root, server) = (Root::with(&[]), server());
    record(&root, &server, "a.json", "");
    record(&root, &server, "b.json", "");
    let ended = root.deadheat("compare a.json b.json").exits(0).says(&[
        "Undecided",
        "No verdict",
        "1 of A and 1 of B",
        "requests/s",
    ]);
    assert!(!ended.stdout.contains("faster"), "{ended}");
    root.deadheat("compare a.json b.json --require-decision")
        .exits(1);
    root.deadheat("compare a.json a.json")
        .exits(2)
        .tells(&["a run in common"]);
}

#[test]
fn folders_of_runs_in_turn_are_judged_and_mixed_ones_are_refused() {
    let (root, server) = (Root::with(&[]), server());
    for folder in ["a", "b"] {
        fs::create_dir(root.path().join(folder)).expect("making a folder");
    }
    for number in 0..3 {
        for folder in ["a", "b"] {
            record(&root, &server, &format!("{folder}/{number}.json"), "");
        }
    }
    // What is no record is passed over.
    root.write("a/other.json", "{}");
    let ended = root.deadheat("compare a b --format json --fail-if-slower 99%");
    let ended = ended.exits(0);
    let json: Value = serde_json::from_str(&ended.stdout).expect("JSON");
    assert_eq!(
        json["how"],
        serde_json::json!({"is": "runs", "a": 3, "b": 3})
    );
    let ratio = &json["compared"][0]["ratios"][0];
    assert_eq!(ratio["metric"], "throughput");
    assert!(ratio["interval"]["low"].is_number(), "{ratio}");
    let copy = root.path().join("b/copy.json");
    fs::copy(root.path().join("b/0.json"), &copy).expect("copying a record");
    root.deadheat("compare a b")
        .exits(2)
        .tells(&["b/0.json", "b/copy.json", "the same run"]);
    fs::remove_file(copy).expect("removing the copy");
    record(&root, &server, "b/3.json", "--rate 100/s");
    root.deadheat("compare a b")
        .exits(2)
        .tells(&["loop", "--force"]);
}

#[test]
fn what_is_no_record_is_refused_with_what_would_work() {
    let root = Root::with(&[]);
    root.write("a.json", "{}");
    root.write("b.json", "{\"format\": \"deadheat-load\", \"schema\": 99}");
    let cases = [
        ("a.json a.json", "not a record of a load"),
        ("b.json b.json", "its schema is 99"),
        (
            "a.json http://127.0.0.1:1/",
            "two records of `deadheat load",
        ),
        (
            "a.json a.json --rate 5/s",
            "--rate has no meaning for records of loads",
        ),
    ];
    for (args, told) in cases {
        root.deadheat(&format!("compare {args}"))
            .exits(2)
            .tells(&[told]);
    }
}
