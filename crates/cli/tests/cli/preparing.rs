//! Stacks that cannot be prepared here: said with what would change that, while the others go on.

use deadheat_model::session::{Phase, TargetState};
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::support::{Fake, Root, flat, root::PLAINTEXT};

const ABSENT: &str = r#"
[[toolchain]]
program = "deadheat-no-such-compiler"
version = ["deadheat-no-such-compiler", "--version"]
minimum = "1.2"
hint = "https://example.org/compiler"
"#;

#[test]
fn without_its_toolchain_a_stack_is_unavailable_with_a_remedy() {
    let root = Root::with(&[
        Fake::good("fake-absent").with(ABSENT),
        Fake::good("fake-good"),
    ]);
    let reason = "deadheat-no-such-compiler 1.2 or later is not on the PATH";
    let remedy = "install deadheat-no-such-compiler 1.2 or later: https://example.org/compiler";
    root.deadheat("stacks list").exits(0).says(&[
        "fake-absent",
        &format!("unavailable: {reason}"),
        &format!("to change that: {remedy}"),
        "0 built, 1 ready to be built, 1 unavailable",
    ]);
    let list = root.deadheat("stacks list --json").exits(0);
    let list: Value = serde_json::from_str(&list.stdout).expect("the list is JSON");
    let list = &list["stacks"];
    let state = json!({ "is": "unavailable", "reason": reason, "remedy": remedy });
    assert_eq!(list[0]["state"], state, "{list}");
    assert_eq!(list[1]["state"], json!({ "is": "ready" }), "{list}");
    // Of the others nothing is said.
    let one = root.deadheat("stacks list fake-g* --json").exits(0);
    let one: Value = serde_json::from_str(&one.stdout).expect("the list is JSON");
    let one = &one["stacks"];
    assert_eq!((one.as_array().map(Vec::len), &one[0]), (Some(1), &list[1]));
    root.deadheat("stacks list nobody")
        .exits(2)
        .has_no_data()
        .tells(&["no stack matches `nobody`"]);
    // It is told of, but nothing has failed.
    root.run("")
        .exits(0)
        .tells(&["fake-absent: UNAVAILABLE", reason, remedy]);
    let session = root.session();
    session.assert_measured("fake-good");
    let state = &session.target("fake-absent").state;
    assert!(
        matches!(state, TargetState::Unavailable { .. }),
        "{state:?}"
    );
    session.assert_reported(&root, &["fake-absent", reason, remedy]);
}

#[test]
fn a_toolchain_that_is_too_old_is_named_with_its_version() {
    let old = ABSENT.replace("deadheat-no-such-compiler", "sh").replace(
        r#"["sh", "--version"]"#,
        r#"["sh", "-c", "echo compiler 1.1.9"]"#,
    );
    let root = Root::with(&[Fake::good("fake-old").with(&old)]);
    root.deadheat("stacks list")
        .exits(0)
        .says(&["sh 1.1.9", "is too old; 1.2 or later is needed"]);
    root.run("").exits(3).tells(&[
        "fake-old: UNAVAILABLE",
        "is too old",
        "to change that: install sh 1.2 or later: https://example.org/compiler",
        "Nothing was built",
    ]);
    assert_eq!(root.sessions().len(), 0);
}

#[test]
fn a_stack_that_was_named_and_is_unavailable_ends_the_run_before_anything_is_built() {
    let build = "[build]\nsteps = [[\"touch\", \"built\"]]\n";
    let root = Root::with(&[
        Fake::good("fake-absent").with(ABSENT),
        Fake::good("fake-good").with(build),
    ]);
    let refused = root
        .run("--stack fake-good --stack fake-absent")
        .exits(3)
        .has_no_data()
        .tells(&[
            "fake-absent: UNAVAILABLE: deadheat-no-such-compiler 1.2 or later is not on the PATH",
            "to change that: install deadheat-no-such-compiler",
            "Nothing was built: a named stack is unavailable; omit it to measure the others.",
        ]);
    assert!(!refused.stderr.contains("Plan:"), "{refused}");
    assert!(!root.path().join("stacks/fake-good/built").exists());
    assert_eq!(root.sessions().len(), 0);
    // A comparison needs both.
    root.deadheat("compare fake-good fake-absent")
        .exits(3)
        .has_no_data()
        .tells(&[
            "fake-absent: UNAVAILABLE",
            "Nothing was built: a comparison needs both",
        ]);
    assert!(!root.path().join("stacks/fake-good/built").exists());
}

#[test]
fn a_stack_without_any_of_the_loads_is_left_out_and_naming_it_is_an_error() {
    let root = Root::with(&[
        Fake::good("fake-good"),
        Fake::good("fake-other").claiming(&["other"]).with(ABSENT),
    ]);
    root.write(
        "workloads/other.toml",
        &PLAINTEXT.replace("id = \"plaintext\"", "id = \"other\""),
    );
    let left_out = "skipped (not made for these loads): fake-other";
    for options in ["", "--stack fake-*", "--stack fake-* --json"] {
        let dry = root
            .deadheat(&format!("run --dry-run --workload plaintext {options}"))
            .exits(0)
            .tells(&[left_out]);
        let said = format!("{}{}", dry.stdout, dry.stderr);
        assert!(!said.contains("UNAVAILABLE"), "{dry}");
    }
    let refused = [
        "fake-other answers none of the workloads asked for",
        "to change that: --workload other",
    ];
    for stacks in ["--stack fake-other", "--stack fake-good --stack fake-other"] {
        root.run(&format!("--workload plaintext {stacks}"))
            .exits(2)
            .has_no_data()
            .tells(&refused);
    }
    assert_eq!(root.sessions().len(), 0);
    let run = root.run("--workload plaintext --setup").exits(0);
    let run = run.tells(&[left_out, "setup: nothing to do"]);
    assert!(!run.stderr.contains("deadheat-no-such-compiler"), "{run}");
    let header = root.session().record.header;
    assert_eq!(header.targets.len(), 1, "{:?}", header.targets);
    assert_eq!(header.asked.targets.len(), 1, "{:?}", header.asked);
}

#[test]
fn a_plan_has_only_what_can_be_measured_and_says_what_cannot() {
    let root = Root::with(&[
        Fake::good("fake-absent").with(ABSENT),
        Fake::good("fake-good"),
    ]);
    // Its status is that of the run itself.
    for (options, status) in [
        ("", 0),
        ("--stack fake-*", 0),
        ("--stack fake-good --stack fake-absent", 3),
        ("--stack fake-good --stack fake-absent --setup", 0),
    ] {
        let dry = root
            .deadheat(&format!("run --dry-run {options}"))
            .exits(status)
            .says(&[
                "fake-absent: UNAVAILABLE",
                "to change that: install deadheat-no-such-compiler",
                "Plan: 1 stack ×",
            ]);
        let (_, plan) = dry.stdout.split_once("Plan:").expect("a plan");
        assert!(!plan.contains("fake-absent"), "{dry}");
        // A command is there to be copied.
        let lines = dry.stdout.lines();
        let mut lines = lines.filter(|line| !line.contains("to change that:"));
        assert!(lines.all(|line| line.chars().count() <= 80), "{dry}");
        let told = flat(&dry.stderr);
        assert_eq!(told.contains("would measure nothing"), status != 0, "{dry}");
    }
    let json = root.deadheat("run --dry-run --json").exits(0);
    let json: Value = serde_json::from_str(&json.stdout).expect("the plan is JSON");
    assert_eq!(json["unavailable"][0]["target"], "fake-absent", "{json}");
    let planned = &json["plan"]["loads"][0]["targets"];
    assert_eq!(*planned, json!(["fake-good"]));
    root.deadheat("run --dry-run --stack fake-absent")
        .exits(3)
        .says(&["fake-absent: UNAVAILABLE"])
        .tells(&["this run would measure nothing: none of the stacks can be measured here"]);
    let json = root
        .deadheat("run --dry-run --json --stack fake-absent")
        .exits(3);
    let json: Value = serde_json::from_str(&json.stdout).expect("the plan is JSON");
    assert_eq!(json["unavailable"][0]["target"], "fake-absent", "{json}");
    // A comparison needs both.
    root.deadheat("compare fake-good fake-absent --dry-run")
        .exits(3)
        .says(&["Plan: B against A", "checkpoints"])
        .tells(&[
            "fake-absent: UNAVAILABLE",
            "Nothing was built: a comparison needs both",
        ]);
    root.deadheat("compare fake-good fake-good --dry-run")
        .exits(0);
    assert_eq!(root.sessions().len(), 0);
}

#[test]
fn who_looks_for_toolchains_says_so_at_once_and_names_who_is_slow() {
    let slow = ABSENT.replace("deadheat-no-such-compiler", "sh").replace(
        r#"["sh", "--version"]"#,
        r#"["sh", "-c", "sleep 5; echo 1.2"]"#,
    );
    let root = Root::with(&[Fake::good("fake-slow").with(&slow)]);
    root.deadheat("stacks list")
        .exits(0)
        .tells(&["Looking for the toolchains of 1 stack", "waiting for sh"]);
}

#[test]
fn an_interrupt_while_toolchains_are_searched_shows_no_list() {
    let asks = ABSENT.replace("deadheat-no-such-compiler", "sh").replace(
        r#"["sh", "--version"]"#,
        r#"["sh", "-c", 'echo "asked $$" >> "$DEADHEAT_TEST_EVENTS"; sleep 600']"#,
    );
    let root = Root::with(&[Fake::good("fake-asks").with(&asks)]);
    for (nth, format) in ["", "--json"].into_iter().enumerate() {
        let running = root.start(&format!("stacks list {format}"));
        root.wait_for("asked", nth + 1);
        running.signal(Signal::INT);
        running
            .wait()
            .exits(130)
            .has_no_data()
            .tells(&["interrupted before all toolchains were found"]);
    }
}

#[test]
fn a_conformance_check_counts_unavailable_stacks_only_when_asked() {
    let root = Root::with(&[
        Fake::good("fake-absent").with(ABSENT),
        Fake::good("fake-good"),
    ]);
    let says = [
        "fake-absent: unavailable",
        "fake-good plaintext: passed",
        "1 passed, 0 failed, 1 unavailable",
    ];
    root.deadheat("stacks check").exits(0).says(&says);
    root.deadheat("stacks check --strict").exits(1).says(&says);
}

#[test]
fn a_build_that_fails_shows_the_end_of_its_log() {
    let script = "i=0; while [ $i -lt 60 ]; do echo compiling $i; i=$((i+1)); done; echo error: no such type >&2; exit 3";
    let build = format!("[build]\nsteps = [[\"sh\", \"-c\", \"{script}\"]]\n");
    let root = Root::with(&[
        Fake::good("fake-broken").with(&build),
        Fake::good("fake-good"),
    ]);
    root.run("").exits(1).tells(&[
        "fake-broken: FAILED",
        "| compiling 59",
        "| error: no such type",
    ]);
    let session = root.session();
    session.assert_measured("fake-good");
    let failure = session.failure_of("fake-broken");
    assert_eq!(failure.phase, Phase::Build);
    assert!(
        failure.log_tail.len() <= 20,
        "the end of the log, not all of it: {:?}",
        failure.log_tail
    );
    // In a report, its path may be broken, because it can be longer than a line.
    let names_the_log = failure.reason.contains("logs/fake-broken.build.log");
    assert!(names_the_log, "{}", failure.reason);
    session.assert_reported(
        &root,
        &["exited with status 3; the log is", "error: no such type"],
    );
    // What happened can be looked up in whole.
    let log = std::fs::read_to_string(session.folder.join("logs/fake-broken.build.log"))
        .expect("the log is kept");
    assert!(
        log.contains("compiling 0\n") && log.contains("$ sh -c"),
        "{log}"
    );
}

#[test]
fn a_fetch_that_fails_and_a_program_that_is_not_there() {
    let fetch =
        "[build]\nfetch = [[\"sh\", \"-c\", \"echo 'no route to the registry'; exit 6\"]]\n";
    let missing = "[build]\nsteps = [[\"deadheat-no-such-compiler\", \"build\"]]\n";
    let root = Root::with(&[
        Fake::good("fake-fetch").with(fetch),
        Fake::good("fake-missing").with(missing),
        Fake::good("fake-good"),
    ]);
    root.run("").exits(1);
    let session = root.session();
    session.assert_measured("fake-good");
    assert_eq!(session.failure_of("fake-fetch").phase, Phase::Fetch);
    session.assert_reported(&root, &["exited with status 6", "no route to the registry"]);
    session.assert_reported(&root, &["deadheat-no-such-compiler is not on the PATH"]);
}

#[test]
fn artefacts_that_a_build_did_not_make() {
    let build = "[build]\nsteps = [[\"true\"]]\nartefacts = [\"out/server\"]\n";
    let root = Root::with(&[
        Fake::good("fake-empty").with(build),
        Fake::good("fake-good"),
    ]);
    root.run("")
        .exits(1)
        .tells(&["out/server", "check `artefacts` in stack.toml"]);
    root.session().assert_measured("fake-good");
}

#[test]
fn a_server_program_that_is_not_there() {
    let fake = Fake::good("fake-unbuilt");
    let root = Root::with(&[Fake::good("fake-good"), fake]);
    let command = "command = [\"out/server\"]";
    let manifest = Fake::good("fake-unbuilt").manifest();
    let line = manifest
        .lines()
        .find(|line| line.starts_with("command"))
        .expect("a command");
    root.write(
        "stacks/fake-unbuilt/stack.toml",
        &manifest.replace(line, command),
    );
    root.run("").exits(1);
    let session = root.session();
    session.assert_measured("fake-good");
    session.assert_reported(
        &root,
        &[
            "out/server",
            "No such file or directory",
            "`deadheat setup`",
        ],
    );
}
