//! The README's commands do what a reader expects of them first: they run. Those that measure stacks print their plan
//! and exit; other tests measure.

use std::{fs, os::unix::fs::PermissionsExt};

use deadheat_testkit::documents::{commands, commands_of, inline_commands_of, words};

use crate::{
    load::{hello_server, url},
    support::{
        Fake, Root, Running,
        root::{project, two_reports},
        running,
    },
};

/// Where the README says that servers of the reader's listen.
const SERVERS: [&str; 2] = ["http://127.0.0.1:8080/", "http://127.0.0.1:9090/"];

/// The README's commands that no test runs as they are, and why.
const NOT_RUN: [(&str, &str); 5] = [
    (
        "cargo run --release -- run --setup",
        "it compiles for minutes, installs packages and measures for ten minutes; \
         what follows `--` is run with --dry-run",
    ),
    ("cargo xtask test", "it runs this test"),
    (
        "cargo install --locked --path crates/cli",
        "it compiles for minutes and writes to the user's ~/.cargo/bin",
    ),
    (
        "cargo install --locked --git https://github.com/deadheat/deadheat deadheat",
        "nothing is published there yet",
    ),
    (
        "deadheat bisect v1.4 HEAD --build 'make server' -- ./server --port '$PORT'",
        "the revisions and the server are the reader's",
    ),
];

/// Whose stacks a command is about.
#[derive(Clone, Copy)]
enum Stacks {
    /// The project's; the command is not to start any.
    Own,
    /// Fake ones of the same names, with a session.
    Fake,
}

/// Where a command is run, and what is added to it.
fn place(words: &[String]) -> (Stacks, &'static [&'static str]) {
    let has = |option: &str| words.iter().any(|word| word == option);
    match words[1].as_str() {
        "run" if has("--resume") => (Stacks::Fake, &[]),
        // Two files with reports are only read.
        "compare" if words.iter().any(|word| word.ends_with(".txt")) => (Stacks::Own, &[]),
        "run" | "compare" | "setup" if !has("--dry-run") => (Stacks::Own, &["--dry-run"]),
        "stacks" if ["check", "eject", "new"].iter().any(|it| has(it)) => (Stacks::Fake, &[]),
        "report" => (Stacks::Fake, &[]),
        "load" if has("--find-rate") || has("-d") => (Stacks::Own, &["--dry-run"]),
        "load" if !has("-n") => (Stacks::Own, &["--duration", "200ms"]),
        _ => (Stacks::Own, &[]),
    }
}

#[test]
fn every_command_runs() {
    let text = fs::read_to_string(project().join("README.md")).expect("reading the README");
    let fakes = Root::interrupted(&[Fake::good("rust-axum")], "--heats 6");
    let session = fakes.session_folder();
    let session = session.file_name().and_then(|name| name.to_str());
    // Reports of other tools.
    let [before, after] = two_reports();
    for (file, report) in [
        ("results.md", &before),
        ("before.txt", &before),
        ("after.txt", &after),
    ] {
        fakes.write(file, report);
    }
    for program in ["old", "new"] {
        fakes.write(program, "#!/bin/sh\n");
        let file = fakes.path().join(program);
        fs::set_permissions(file, fs::Permissions::from_mode(0o755)).expect("making a program");
    }
    let server = hello_server();
    let mut found = commands(&text);
    found.extend(inline_commands_of(&text, "deadheat"));
    assert!(found.len() > 15, "{found:?}");
    let cargo = [
        commands_of(&text, "cargo"),
        inline_commands_of(&text, "cargo"),
    ]
    .concat();
    let without_comment = |command: &String| shlex::split(command).expect("closed quotes");
    let listed = NOT_RUN.map(|(command, _)| shlex::split(command).expect("closed quotes"));
    for command in &cargo {
        let typed = without_comment(command);
        assert!(listed.contains(&typed), "neither run nor listed: {command}");
        if let Some(after) = command.split_once(" -- ").map(|(_, after)| after) {
            found.push(format!("deadheat {after}"));
        }
    }
    let all: Vec<_> = found.iter().chain(&cargo).map(without_comment).collect();
    for command in &listed {
        assert!(all.contains(command), "the README lacks {command:?}");
    }
    for command in found {
        if listed.contains(&without_comment(&command)) {
            continue;
        }
        let typed = words(&command).expect("closed quotes");
        let (stacks, more) = place(&typed);
        let own = |word: &String| {
            let word = word.replace("<session>", session.expect("its name"));
            // A clone need not have this branch.
            let word = word.replace("@main", "@HEAD");
            SERVERS
                .iter()
                .fold(word, |word, one| word.replace(one, &url(&server, "/")))
        };
        let mut run = running::command(fakes.path(), "");
        run.args(typed[1..].iter().map(own)).args(more);
        if let Stacks::Own = stacks {
            run.env("DEADHEAT_ROOT", project());
        }
        let ended = Running::start_command(fakes.path(), run, &command).wait();
        // A slow machine may miss a threshold, and one with a fault gets a finding.
        match typed[1].as_str() {
            "load" | "doctor" => ended.exits_one_of(&[0, 1]),
            // A machine may lack the toolchain of a stack that the command names.
            "run" | "compare"
                if more.contains(&"--dry-run") && ended.to_string().contains("UNAVAILABLE") =>
            {
                ended.exits_one_of(&[0, 3])
            }
            _ => ended.exits(0),
        };
    }
}
