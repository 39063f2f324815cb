//! `deadheat doctor` on this machine, whatever that is like: only what the test itself brings about is known.

use std::process::{Command, Output};

use deadheat_testkit::not_tested;
use serde_json::Value;

use crate::support::{Fake, Root};

/// Runs the doctor in a shell, after `before`, outside of any root folder.
fn doctor(before: &str, args: &str) -> Output {
    let script = format!(
        "{before}{} doctor --watch 50ms {args}",
        env!("CARGO_BIN_EXE_deadheat")
    );
    let folder = tempfile::tempdir().expect("making a folder");
    Command::new("sh")
        .args(["-c", &script])
        .current_dir(folder.path())
        .env_remove("DEADHEAT_ROOT")
        .output()
        .expect("starting sh")
}

fn as_json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).expect("the output is JSON")
}

fn finding<'a>(found: &'a Value, check: &str) -> &'a Value {
    let findings = found["findings"].as_array().expect("findings");
    let found = findings.iter().find(|one| one["check"] == check);
    found.unwrap_or_else(|| panic!("no finding of {check}"))
}

#[test]
fn the_exit_status_says_whether_there_is_a_warning() {
    let output = doctor("", "--json");
    let found = as_json(&output);
    let findings = found["findings"].as_array().expect("findings");
    let warnings = findings.iter().filter(|one| one["level"] == "warning");
    let warnings = warnings.count();
    assert_eq!(found["warnings"], warnings);
    assert_eq!(output.status.code(), Some(i32::from(warnings > 0)));
    assert!(found["watched_seconds"].as_f64() >= Some(0.05));
    assert!(
        !found["machine"]["cpus"]
            .as_array()
            .expect("CPUs")
            .is_empty()
    );
}

#[test]
fn a_low_limit_of_descriptors_is_a_warning_with_a_remedy_that_works() {
    // Outside a folder with workloads limits are judged for 1,000 connections.
    let few = doctor("ulimit -n 64; ", "--json");
    assert_eq!(few.status.code(), Some(1));
    let few = as_json(&few);
    let few = finding(&few, "file-descriptors");
    assert_eq!(few["level"], "warning", "{few}");
    assert!(few["found"].as_str().expect("text").starts_with("64 "));
    let remedy = few["remedy"].as_str().expect("a remedy");
    let command = remedy.lines().next().expect("a command");
    let can_raise = Command::new("sh")
        .args(["-c", &format!("ulimit -n 64; {command}")])
        .status();
    if !can_raise.is_ok_and(|status| status.success()) {
        return not_tested("raising the limit of open files", "this user may not");
    }
    let raised = as_json(&doctor(&format!("ulimit -n 64; {command}; "), "--json"));
    let raised = finding(&raised, "file-descriptors");
    assert_eq!(raised["level"], "fine", "after {command}: {raised}");
}

#[test]
fn a_nice_deadheat_is_told_of_in_words() {
    let output = doctor("nice -n 3 ", "");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("WARNING   priority: nice "), "{text}");
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn a_session_records_what_was_not_fine_and_tells_of_the_warnings() {
    let root = Root::with(&[Fake::good("fake-one")]);
    let ended = root.run("");
    let findings = root.session().record.header.findings;
    assert!(
        !findings.is_empty(),
        "of a virtual machine or of bare metal, something is said"
    );
    for finding in &findings {
        assert!(!finding.why.is_empty(), "{finding:?}");
    }
    if cfg!(debug_assertions) {
        assert!(findings.iter().any(|finding| finding.check == "build"));
        ended.tells(&["doctor: ", "build not optimised"]);
    }
}
