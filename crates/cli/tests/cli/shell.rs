//! What shells and their users have from `deadheat`: completion, manual pages, and how much is told.

use std::fs;

use crate::support::{Fake, Root, running::command, sessions};

/// What is offered for the last of these words.
fn completed(root: &Root, words: &[&str]) -> Vec<String> {
    let mut command = command(root.path(), "");
    let output = command
        .env("_DEADHEAT_COMPLETE", "bash")
        .env("_CLAP_COMPLETE_INDEX", words.len().to_string())
        .env("_CLAP_IFS", "\n")
        .args(["--", "deadheat"])
        .args(words)
        .output()
        .expect("running deadheat");
    assert!(
        output.status.success() && output.stderr.is_empty(),
        "{output:?}"
    );
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    text.lines().map(str::to_owned).collect()
}

#[test]
fn stacks_workloads_and_sessions_are_completed() {
    let root = Root::with(&[Fake::good("fake-one"), Fake::good("fake-two")]);
    assert_eq!(
        completed(&root, &["run", "--stack", "fake"]),
        ["fake-one", "fake-two"]
    );
    assert_eq!(
        completed(&root, &["run", "--workload=plaintext:"]),
        ["c4", "c1", "c2"].map(|point| format!("--workload=plaintext:{point}"))
    );
    for id in ["20260101-1", "20260102-2"] {
        root.write(&format!("results/{id}/session.json"), "{}");
    }
    root.write("results/notes/text", "");
    let expected = ["results/20260102-2", "results/20260101-1"];
    assert_eq!(completed(&root, &["report", "results/"]), expected);
    assert_eq!(completed(&root, &["run", "--resume", "results/"]), expected);
    assert_eq!(completed(&root, &["compare", "a", "results/2"]), expected);
    // Nothing that is wrong is told in the middle of a line.
    root.write("stacks/fake-one/stack.toml", "id =");
    assert!(completed(&root, &["run", "--stack", "fake"]).is_empty());
}

#[test]
fn scripts_and_pages_are_printed_and_written() {
    let root = Root::with(&[]);
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        root.deadheat(&format!("completions {shell}"))
            .exits(0)
            .says(&["_DEADHEAT_COMPLETE"]);
    }
    root.deadheat("man").exits(0).says(&[".TH deadheat 1"]);
    root.deadheat("man pages/man1")
        .exits(0)
        .has_no_data()
        .tells(&["pages in pages/man1"]);
    let page = root.path().join("pages/man1/deadheat-stacks-list.1");
    let page = fs::read_to_string(page).expect("reading a page");
    assert!(page.contains(".SH SYNOPSIS"), "{page}");
}

#[test]
fn quiet_is_silent_and_verbose_tells_the_commands() {
    let root = Root::with(&[Fake::good("fake-one")]);
    let quiet = root.deadheat("stacks check -q").exits(0);
    assert!(quiet.stderr.is_empty(), "{quiet}");
    assert!(quiet.stdout.contains("fake-one"), "{quiet}");
    let quiet = root.run("-q").exits(0);
    // What is wrong with this machine is a problem.
    let mut lines = quiet.stderr.lines();
    let is_finding = |line: &str| line.starts_with("doctor: ") || line.starts_with("  ");
    assert!(lines.all(is_finding), "{quiet}");
    let verbose = root.deadheat("stacks check -v").exits(0);
    verbose.tells(&["read 1 stacks", "starts: ", "server.py", "fake-one: ready"]);
    let usual = root.deadheat("stacks check").exits(0);
    assert!(!usual.stderr.contains("server.py"), "{usual}");
}

#[test]
fn quiet_still_tells_of_problems() {
    let root = Root::with(&[Fake::faulty("fake-one", "deletes")]);
    root.write("results/00-broken/session.json", "{");
    sessions::write(&root, &sessions::simulated("first", 1.0, 0.01));
    root.deadheat("history -q")
        .exits(0)
        .tells(&["warning: ", "00-broken"]);
    root.deadheat("run -q --nonsense")
        .exits(2)
        .tells(&["--nonsense"]);
    root.deadheat("report -q nowhere")
        .exits(2)
        .tells(&["nowhere"]);
}

#[test]
fn a_variable_chooses_what_is_logged() {
    let root = Root::with(&[Fake::good("fake-one")]);
    let with = |value: &str| {
        let mut command = command(root.path(), "run --dry-run");
        let output = command.env("DEADHEAT_LOG", value).output();
        String::from_utf8_lossy(&output.expect("running deadheat").stderr).into_owned()
    };
    assert!(with("deadheat=info").contains("read 1 stacks"));
    assert!(!with("deadheat_runner=info").contains("read 1 stacks"));
    assert!(with("deadheat=loud").contains("write it like debug"));
}
