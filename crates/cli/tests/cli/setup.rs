//! `deadheat setup` as a new user has it: what it prints, what it runs, and that a dry run does neither.

use std::{fs, os::unix::fs::PermissionsExt};

use rustix::process::Signal;

use crate::support::{Ended, Fake, Root, Running, root::PLAINTEXT, running::command};

const NEEDS_TOOL: &str = r#"
[[toolchain]]
program = "deadheat-no-such-compiler"
version = ["deadheat-no-such-compiler", "--version"]
apt = ["no-such-compiler"]
hint = "https://example.org/compiler"

[build]
fetch = [["touch", "fetched"]]

[[variant]]
id = "plain"
description = "D"

[[variant]]
id = "other"
description = "D"
[[variant.toolchain]]
program = "deadheat-no-such-tool"
version = ["deadheat-no-such-tool"]
hint = "https://example.org/tool"
"#;

const FETCHES: &str = "[build]\nfetch = [[\"touch\", \"fetched\"]]\n";

/// Programs of the test's own on the PATH: apt that only notes how it was called, a dpkg that has nothing installed, and a
/// sudo that asks for a password.
fn fake_debian(root: &Root) -> String {
    let calls = root.path().join("calls");
    let note = format!("echo \"${{0##*/}} $*\" >> {}", calls.display());
    for (name, script) in [
        ("apt-get", note.as_str()),
        ("apt-cache", "echo \"$2\""),
        ("dpkg-query", "exit 1"),
        ("sudo", "echo 'sudo: a password is required' >&2; exit 1"),
    ] {
        let path = root.path().join("bin").join(name);
        root.write(&format!("bin/{name}"), &format!("#!/bin/sh\n{script}\n"));
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("making a program");
    }
    let path = std::env::var("PATH").expect("a PATH");
    format!("{}:{path}", root.path().join("bin").display())
}

fn start(root: &Root, args: &str) -> Running {
    let mut command = command(root.path(), &format!("setup {args}"));
    command.env("PATH", fake_debian(root));
    Running::start_command(root.path(), command, args)
}

fn setup(root: &Root, args: &str) -> Ended {
    start(root, args).wait()
}

#[test]
fn a_dry_run_prints_the_commands_and_does_nothing() {
    let root = Root::with(&[
        Fake::good("fake-fetches").with(FETCHES),
        Fake::good("fake-needs").with(NEEDS_TOOL),
    ]);
    let dry = setup(&root, "--dry-run").exits(0).says(&[
        "apt-get update",
        "apt-get install -y --no-install-recommends --no-remove -oAPT::Cmd::Pattern-Only=true -- no-such-compiler",
        "stacks/fake-fetches && touch fetched)",
    ]);
    let calls = fs::read_to_string(root.path().join("calls")).unwrap_or_default();
    assert_eq!(calls, "", "{dry}");
    assert!(!root.path().join("stacks/fake-fetches/fetched").exists());
    assert!(!root.path().join("stacks/fake-fetches/.deadheat").exists());
    // Every line is a command or a comment, so that the whole can go into a shell.
    let path = root.path().join("plan.sh");
    fs::write(&path, &dry.stdout).expect("writing the plan");
    let parsed = std::process::Command::new("sh")
        .arg("-n")
        .arg(&path)
        .status();
    assert!(parsed.expect("a shell").success(), "{dry}");
}

#[test]
fn only_the_named_stack_and_variant_are_set_up() {
    let root = Root::with(&[
        Fake::good("fake-fetches").with(FETCHES),
        Fake::good("fake-needs").with(NEEDS_TOOL),
    ]);
    let one = setup(&root, "--stack fake-fetches --dry-run").exits(0);
    assert!(!one.stdout.contains("compiler"), "{one}");
    let plain = setup(&root, "--stack fake-needs:plain --dry-run").exits(0);
    assert!(!plain.stdout.contains("no-such-tool"), "{plain}");
    setup(&root, "--stack fake-needs:other --dry-run")
        .exits(0)
        .says(&[
            "# not done here: fake-needs:other: deadheat-no-such-tool is not on the PATH; install deadheat-no-such-tool: https://example.org/tool",
        ]);
}

#[test]
fn packages_are_not_installed_if_nobody_can_be_asked() {
    let root = Root::with(&[
        Fake::good("fake-fetches").with(FETCHES),
        Fake::good("fake-needs").with(NEEDS_TOOL),
    ]);
    setup(&root, "").exits(0).tells(&[
        "1 Debian package, as root: no-such-compiler",
        "to be done by you, as root",
        "apt-get install -y --no-install-recommends --no-remove -oAPT::Cmd::Pattern-Only=true -- no-such-compiler",
        "then again: deadheat setup, for the dependencies of fake-needs",
    ]);
    let calls = fs::read_to_string(root.path().join("calls")).unwrap_or_default();
    assert_eq!(calls, "");
    assert!(root.path().join("stacks/fake-fetches/fetched").exists());
}

#[test]
fn dependencies_wait_for_packages_that_the_user_has_to_install() {
    let native = "[build]\napt = [\"fake-dev\"]\nfetch = [[\"sh\", \"-c\", \"exit 1\"]]\n";
    let root = Root::with(&[
        Fake::good("fake-fetches").with(FETCHES),
        Fake::good("fake-native").with(native),
    ]);
    let ended = setup(&root, "").exits(0).tells(&[
        "1 Debian package, as root: fake-dev",
        "setup: 0 failed",
        "then again: deadheat setup, for the dependencies of fake-native",
    ]);
    assert!(!ended.stderr.contains("FAILED"), "{ended}");
    assert!(root.path().join("stacks/fake-fetches/fetched").exists());
    // A setup that fetches nothing has nothing to fetch later.
    let ended = setup(&root, "--no-fetch").exits(0);
    assert!(!ended.stderr.contains("then again"), "{ended}");
}

#[test]
fn without_named_stacks_those_that_answer_the_named_workloads_are_set_up() {
    let root = Root::with(&[
        Fake::good("fake-answers")
            .claiming(&["plaintext", "packed"])
            .with(FETCHES),
        Fake::good("fake-other").with(FETCHES),
    ]);
    let packed = PLAINTEXT.replace("id = \"plaintext\"", "id = \"packed\"\npack = \"suite\"");
    root.write("workloads/packed.toml", &packed);
    for args in ["--pack suite", "--pack suite --all", "--workload packed"] {
        let dry = setup(&root, &format!("{args} --dry-run"))
            .exits(0)
            .says(&["stacks/fake-answers && touch fetched)"]);
        assert!(!dry.stdout.contains("fake-other"), "{dry}");
    }
    let both = "--stack fake-other --pack suite --dry-run";
    let named = setup(&root, both).exits(0);
    assert!(named.stdout.contains("stacks/fake-other && "), "{named}");
    setup(&root, "--dry-run")
        .exits(0)
        .says(&["stacks/fake-answers && ", "stacks/fake-other && "]);
    let nobody = Root::with(&[Fake::good("fake-other").with(FETCHES)]);
    nobody.write("workloads/packed.toml", &packed);
    setup(&nobody, "--pack suite --dry-run")
        .exits(2)
        .has_no_data()
        .tells(&["no stack answers packed", "--stack"]);
}

#[test]
fn an_interrupt_ends_a_setup_with_its_own_status() {
    let asks = r#"
[[toolchain]]
program = "sh"
version = ["sh", "-c", 'echo "asked $$" >> "$DEADHEAT_TEST_EVENTS"; sleep 600']
hint = "https://example.org/compiler"
"#;
    for args in ["", "--dry-run"] {
        let root = Root::with(&[Fake::good("fake-asks").with(asks)]);
        let running = start(&root, args);
        root.wait_for("asked", 1);
        running.signal(Signal::INT);
        running
            .wait()
            .exits(130)
            .has_no_data()
            .tells(&["interrupted before anything was installed"]);
    }
    let fetches = r#"
[build]
fetch = [["sh", "-c", 'echo "fetching $$" >> "$DEADHEAT_TEST_EVENTS"; sleep 600']]
"#;
    let root = Root::with(&[Fake::good("fake-fetches").with(fetches)]);
    let running = start(&root, "");
    root.wait_for("fetching", 1);
    running.signal(Signal::INT);
    running
        .wait()
        .exits(130)
        .tells(&["interrupted during the setup"]);
}

#[test]
fn a_setup_fetches_once() {
    let root = Root::with(&[Fake::good("fake-fetches").with(FETCHES)]);
    setup(&root, "--stack fake-fetches --no-fetch").exits(0);
    assert!(!root.path().join("stacks/fake-fetches/fetched").exists());
    setup(&root, "--stack fake-fetches")
        .exits(0)
        .tells(&["fake-fetches: touch fetched", "0 failed, 0 left to you"]);
    assert!(root.path().join("stacks/fake-fetches/fetched").exists());
    setup(&root, "--stack fake-fetches")
        .exits(0)
        .tells(&["nothing to do"]);
}

#[test]
fn what_cannot_be_had_is_told_with_its_hint() {
    let absent = NEEDS_TOOL.replace("apt = [\"no-such-compiler\"]\n", "");
    let root = Root::with(&[Fake::good("fake-needs").with(&absent)]);
    let compiler = "fake-needs: deadheat-no-such-compiler is not on the PATH; install \
                    deadheat-no-such-compiler: https://example.org/compiler";
    let nothing = "setup: nothing that it can do here; install the following yourself";
    setup(&root, "").exits(0).tells(&[nothing, compiler]);
    // Its fetch could not run, so that a dry run does not say that it would.
    let dry = setup(&root, "--dry-run")
        .exits(0)
        .tells(&[nothing])
        .says(&[compiler]);
    assert!(!dry.stdout.contains("touch fetched"), "{dry}");
}
