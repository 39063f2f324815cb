//! `deadheat doctor` on this machine, whatever that is like: only what the test itself brings about is known.

use std::{
    process::{Command, Output},
    time::Duration,
};

use deadheat_testkit::not_tested;
use serde_json::Value;

use crate::support::{Ended, Fake, Root, root::project};

const AGENT: &str = env!("CARGO_BIN_EXE_deadheat");
/// As in `load_hosts`.
const BOUND: Duration = Duration::from_secs(20);

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

fn fact<'a>(found: &'a Value, check: &str) -> &'a Value {
    let facts = found["facts"].as_array().expect("facts");
    let found = facts.iter().find(|one| one["id"] == check);
    found.unwrap_or_else(|| panic!("no fact of {check}"))
}

#[test]
fn the_exit_status_says_whether_there_is_a_warning() {
    let output = doctor("", "--json");
    let found = as_json(&output);
    assert_eq!(found["format"], "deadheat-doctor");
    let warnings = warnings(&found["facts"]);
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
    let few = fact(&few, "file-descriptors");
    assert_eq!(few["warning"]["level"], "doubt", "{few}");
    assert!(few["found"].as_str().expect("text").starts_with("64 "));
    let remedy = few["warning"]["advice"].as_str().expect("advice");
    let command = remedy.lines().next().expect("a command");
    let can_raise = Command::new("sh")
        .args(["-c", &format!("ulimit -n 64; {command}")])
        .status();
    if !can_raise.is_ok_and(|status| status.success()) {
        return not_tested("raising the limit of open files", "this user may not");
    }
    let raised = as_json(&doctor(&format!("ulimit -n 64; {command}; "), "--json"));
    let raised = fact(&raised, "file-descriptors");
    assert!(raised["warning"].is_null(), "after {command}: {raised}");
}

#[test]
fn a_nice_deadheat_is_told_of_in_words() {
    let output = doctor("nice -n 3 ", "");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("Priority: nice "), "{text}");
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
    if cfg!(debug_assertions) {
        assert!(findings.iter().any(|warning| warning.id == "build"));
        ended.tells(&["doctor: ", "build not optimised"]);
    }
}

/// Facts of the way to a host and on its clock.
const NETWORK: [&str; 3] = ["clock-drift", "round-trip", "start"];

/// Looks at hosts a and b, which are processes of this machine, each reached by a script.
fn two_hosts(reach_b: &str, more: &str) -> Ended {
    let root = Root::with(&[]);
    root.write_program("reach-a", "exec \"$@\"");
    root.write_program("reach-b", reach_b);
    let ended = root.deadheat(&format!(
        "doctor --watch 50ms --on a --on b --launcher {}/reach-{{host}} --agent {AGENT} {more}",
        root.path().display()
    ));
    root.assert_nothing_runs(BOUND, "a doctor");
    ended
}

fn checks(facts: &Value) -> Vec<&str> {
    let facts = facts.as_array().expect("facts").iter();
    let mut checks: Vec<&str> = facts
        .map(|one| one["id"].as_str().expect("an id"))
        .collect();
    checks.sort_unstable();
    checks
}

fn warnings(facts: &Value) -> usize {
    let facts = facts.as_array().map_or(&[][..], Vec::as_slice).iter();
    facts
        .filter(|one| one["warning"]["level"] == "doubt")
        .count()
}

#[test]
fn hosts_and_the_way_to_them_are_examined() {
    let ended = two_hosts("exec \"$@\"", "--json");
    let found: Value = serde_json::from_str(&ended.stdout).expect("JSON");
    let documented = std::fs::read_to_string(project().join("docs/doctor.md"));
    let documented = documented.expect("reading docs/doctor.md");
    let mut all = warnings(&found["facts"]);
    for (host, name) in found["hosts"]
        .as_array()
        .expect("hosts")
        .iter()
        .zip(["a", "b"])
    {
        assert_eq!(host["host"], name);
        assert_eq!(checks(&host["network"]), NETWORK, "{host:#}");
        // The same checks are made there.
        assert_eq!(checks(&host["facts"]), checks(&found["facts"]));
        assert_eq!(host["machine"]["cpus"], found["machine"]["cpus"]);
        assert!(host["watched_seconds"].as_f64() >= Some(0.05), "{host:#}");
        for measured in ["round_trip_seconds", "start_error_seconds"] {
            assert!(host[measured].as_f64() > Some(0.0), "{measured}: {host:#}");
        }
        let fields = host.as_object().expect("an object").keys();
        for name in fields.map(String::as_str).chain(NETWORK) {
            let documented = documented.contains(&format!("`{name}`"));
            assert!(documented, "docs/doctor.md does not have {name}");
        }
        let own = warnings(&host["facts"]) + warnings(&host["network"]);
        assert_eq!(host["warnings"], own);
        all += own;
    }
    assert_eq!(found["warnings"], all);
    ended.exits(i32::from(all > 0));
}

#[test]
fn a_host_that_cannot_be_reached_is_named_and_the_others_are_shown() {
    let cases = [
        ("echo no route to it >&2; exit 255", "no route to it"),
        ("\"$@\" | head -c 2000", "the connection was"),
    ];
    for (reach, why) in cases {
        let ended = two_hosts(reach, "");
        ended
            .exits(1)
            .says(&["Host b\n", "Host: no answer: ", why])
            .says(&["This machine\n", "Host a (", "Between this machine and a\n"]);
    }
}

#[test]
fn lines_of_several_hosts_have_80_columns() {
    let ended = two_hosts("echo no route to it >&2; exit 255", "");
    for line in ended
        .stdout
        .lines()
        .filter(|line| line.chars().count() > 80)
    {
        let words = line.trim_start();
        // Commands are there to be copied.
        let copied = words.starts_with(|first: char| first.is_lowercase());
        assert!(copied && line.starts_with("    "), "{line}");
    }
}

#[test]
fn without_any_host_nothing_could_be_examined() {
    let root = Root::with(&[]);
    root.write_program("reach-a", "echo no route to it >&2; exit 255");
    root.deadheat(&format!(
        "doctor --watch 50ms --on a --launcher {}/reach-{{host}}",
        root.path().display()
    ))
    .exits(3)
    .says(&["This machine", "no route to it"]);
}
