//! `deadheat history`.

use std::fs;

use serde_json::Value;

use crate::support::{
    Root,
    sessions::{simulated, write},
};

/// A root with a session of this id and start.
fn add(root: &Root, id: &str, started: &str) {
    let mut record = simulated(id, 1.0, 0.01);
    record.header.started = started.to_owned();
    write(root, &record);
}

#[test]
fn sessions_are_listed_in_the_order_of_their_time_and_broken_ones_are_told_of() {
    let root = Root::with(&[]);
    add(&root, "first", "2026-03-01T10:00:00Z");
    add(&root, "second", "2026-03-02T10:00:00Z");
    let results = root.path().join("results");
    // A renamed folder keeps its place.
    fs::rename(results.join("first"), results.join("zzz-baseline")).expect("renaming a session");
    root.write("results/00-broken/session.json", "{");
    root.write(
        "results/other/session.json",
        r#"{"schema": 99, "started": ""}"#,
    );
    fs::create_dir(results.join("notes")).expect("making a folder that is no session");

    let ended = root.deadheat("history --json").exits(0);
    let ended = ended.tells(&["00-broken", "results/other/session.json has format 99"]);
    assert!(!ended.stderr.contains("notes"), "{ended}");
    let json: Value = serde_json::from_str(&ended.stdout).expect("JSON");
    let sessions = json["sessions"].as_array().expect("sessions");
    let ids: Vec<&str> = sessions
        .iter()
        .filter_map(|one| one["id"].as_str())
        .collect();
    assert_eq!(ids, ["first", "second"]);
    assert_eq!(
        sessions[1]["changes"],
        serde_json::json!([]),
        "nothing changed between the two"
    );
    root.deadheat("history --stack rust-* --workload plaintext:c50")
        .exits(0)
        .says(&["rust-axum at plaintext: 50 connections", "req/s", "2/2"]);
    for (format, has) in [("markdown", "| --- "), ("html", "<!doctype html>")] {
        root.deadheat(&format!("history --format {format}"))
            .exits(0)
            .says(&[has]);
    }
}

#[test]
fn a_wrong_folder_or_name_is_told_with_what_to_do() {
    let root = Root::with(&[]);
    root.deadheat("history nowhere")
        .exits(2)
        .tells(&["nowhere", "--results"]);
    root.deadheat("history stacks")
        .exits(2)
        .tells(&["none found", "deadheat run"]);
    add(&root, "first", "2026-03-01T10:00:00Z");
    root.deadheat("history --stack node-*")
        .exits(2)
        .tells(&["node-*", "none measured that"]);
    root.deadheat("history --stack [go")
        .exits(2)
        .tells(&["[go", "write it like"]);
}
