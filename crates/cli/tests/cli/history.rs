//! `deadheat history`.

use std::fs;

use serde_json::Value;

use crate::support::{Fake, Root};

#[test]
fn sessions_are_listed_in_the_order_of_their_time_and_broken_ones_are_told_of() {
    let root = Root::with(&[Fake::good("fake-one")]);
    root.run("--seed 1").exits(0);
    let first = root.session_folder();
    // A renamed folder keeps its place.
    let renamed = first.with_file_name("zzz-baseline");
    fs::rename(&first, &renamed).expect("renaming the first session");
    root.run("--seed 2").exits(0);
    let broken = first.with_file_name("00-broken");
    fs::create_dir(&broken).expect("making a folder");
    fs::write(broken.join("session.json"), "{").expect("writing half a header");
    fs::create_dir(first.with_file_name("notes")).expect("making a folder that is no session");

    let results = first.parent().expect("the folder of sessions").display();
    let ended = root.deadheat(&format!("history {results} --json")).exits(0);
    assert!(ended.stderr.contains("00-broken"), "{ended}");
    assert!(!ended.stderr.contains("notes"), "{ended}");
    let json: Value = serde_json::from_str(&ended.stdout).expect("JSON");
    let sessions = json["sessions"].as_array().expect("sessions");
    let started: Vec<&str> = sessions
        .iter()
        .filter_map(|session| session["started"].as_str())
        .collect();
    assert_eq!(started.len(), 2, "{json}");
    assert!(started.is_sorted(), "{started:?}");
    assert!(
        sessions[0]["id"]
            .as_str()
            .is_some_and(|id| id.ends_with("-1")),
        "{json}"
    );
    assert_eq!(
        sessions[1]["changes"],
        serde_json::json!([]),
        "nothing changed between the two"
    );

    let figures = format!("history {results} --stack fake-* --workload plaintext");
    let id = sessions[0]["id"].as_str().expect("an id");
    let told = ["fake-one at plaintext", "requests/s", id];
    root.deadheat(&figures).exits(0).says(&told);
}

#[test]
fn a_wrong_folder_or_name_is_told_with_what_to_do() {
    let root = Root::with(&[Fake::good("fake-one")]);
    let nowhere = root.path().join("nowhere");
    root.deadheat(&format!("history {}", nowhere.display()))
        .exits(2)
        .tells(&["nowhere", "--results"]);
    root.deadheat(&format!("history {}", root.path().display()))
        .exits(2)
        .tells(&["there is none", "deadheat run"]);
    root.run("").exits(0);
    let results = root
        .session_folder()
        .parent()
        .expect("results")
        .display()
        .to_string();
    root.deadheat(&format!("history {results} --stack rust-*"))
        .exits(2)
        .tells(&["rust-*", "none measured that"]);
    root.deadheat(&format!("history {results} --stack [go"))
        .exits(2)
        .tells(&["[go", "write it like"]);
}
