//! `deadheat run --resume`: what goes on, what is refused, and with which words.

use std::{fs, path::Path};

use deadheat_model::{heats::EndReason, session::TargetState};
use deadheat_runner::session::{HEADER_FILE, heats::HEATS_FILE};
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::support::{Ended, Fake, Recorded, Root, Running, eventually, recorded::journal_lines};

fn start(root: &Root, options: &str) -> Running {
    let folder = root.session_folder();
    root.start(&format!("run --resume {} {options}", folder.display()))
}

fn resume(root: &Root, options: &str) -> Ended {
    start(root, options).wait()
}

/// Asserts that each heat of the plan is there once; those that an interrupt cut short count for nothing.
#[track_caller]
fn assert_whole(session: &Recorded) {
    let record = &session.record;
    assert_eq!(record.end, Some(EndReason::Finished));
    for (number, load) in record.header.plan.loads.iter().enumerate() {
        let complete = record.complete_heats(number).count();
        assert_eq!(complete, load.most_heats() as usize, "{}", load.name());
    }
    let numbers = record.heats.iter().map(|one| one.heat.heat as usize);
    assert!(numbers.eq(0..record.heats.len()), "each has its number");
}

fn change(folder: &Path, change: impl FnOnce(&mut Value)) {
    let path = folder.join(HEADER_FILE);
    let text = fs::read_to_string(&path).expect("reading the header");
    let mut header: Value = serde_json::from_str(&text).expect("the header is JSON");
    change(&mut header);
    fs::write(&path, header.to_string()).expect("writing the header");
}

#[test]
fn an_interrupted_session_goes_on_as_often_as_it_takes() {
    let root = Root::interrupted(
        &[Fake::good("fake-one"), Fake::good("fake-two")],
        "--heats 6",
    );
    let folder = root.session_folder();
    let before = root.session().record;
    let lines = journal_lines(&folder);
    let running = start(&root, "");
    // A line that says that it goes on, and a heat.
    root.wait_for_lines(lines + 2);
    running.signal(Signal::INT);
    let complete = before.heats.iter().filter(|one| one.is_complete());
    let recorded = match complete.count() {
        1 => "1 heat is recorded".to_owned(),
        many => format!("{many} heats are recorded"),
    };
    running
        .wait()
        .exits(0)
        .says(&["interrupted"])
        .tells(&["Resuming results/", &recorded]);
    root.session()
        .assert_shown(&root, &["The session was resumed once."]);
    resume(&root, "--json").exits(0).says(&["\"resumed\": ["]);
    let session = root.session();
    assert_whole(&session);
    let record = &session.record;
    assert_eq!(record.heats[..before.heats.len()], before.heats);
    assert_eq!(record.resumed.len(), 2);
    assert!(record.resumed.iter().all(|one| !one.rebooted));
    // As of the machine when a session begins.
    assert!(record.resumed.iter().all(|one| !one.findings.is_empty()));
    assert_eq!(record.resumed[0].heats_before, before.heats.len());
    session.assert_shown(&root, &["The session was resumed 2 times."]);
    // Nothing is left, and that is no failure.
    let report = folder.join("report.html");
    fs::remove_file(&report).expect("removing the report");
    resume(&root, "")
        .exits(0)
        .says(&["fake-one", "fake-two"])
        .tells(&["is complete: nothing is left to measure"]);
    assert!(report.exists(), "the report is written again");
    assert_eq!(root.session().record, session.record);
}

/// More heats would change nothing, or there is no time for them: that is an end like that of a session with all heats.
#[test]
fn a_session_that_was_decided_or_used_its_budget_up_is_complete() {
    let root = Root::interrupted(&[Fake::good("fake-one")], "--heats 50");
    let journal = root.session_folder().join(HEATS_FILE);
    let text = fs::read_to_string(&journal).expect("reading the journal");
    let started = root.told("started").len();
    for (word, reason) in [
        ("decided", EndReason::Decided),
        ("budget", EndReason::Budget),
    ] {
        let ended = text.replace("\"interrupted\",\"at\"", &format!("\"{word}\",\"at\""));
        fs::write(&journal, ended).expect("writing it");
        assert_eq!(root.session().record.end, Some(reason));
        resume(&root, "")
            .exits(0)
            .tells(&["is complete: nothing is left to measure"]);
    }
    assert_eq!(root.told("started").len(), started, "nothing was started");
}

#[test]
fn a_complete_session_ends_as_it_ended_and_without_what_a_kill_left() {
    let root = Root::with(&[
        Fake::good("fake-one"),
        Fake::faulty("fake-two", "wrong-answer"),
    ]);
    root.run("--start-timeout 2s").exits(1);
    let folder = root.session_folder();
    let remains = ["blob", "null-answer"].map(|name| folder.join(name));
    for path in &remains {
        fs::write(path, "x").expect("leaving something");
    }
    resume(&root, "")
        .exits(1)
        .tells(&["is complete: nothing is left to measure"]);
    assert!(remains.iter().all(|path| !path.exists()));
}

#[test]
fn an_interrupt_before_its_first_heat_leaves_it_as_it_was() {
    // A build that takes its time when a file says so.
    let build = r#"
[build]
steps = [["sh", "-c", 'test ! -e "$DEADHEAT_TEST_EVENTS-slow" || { echo "slowly $$" >> "$DEADHEAT_TEST_EVENTS"; sleep 600; }']]
"#;
    let root = Root::interrupted(&[Fake::good("fake-one").with(build)], "--heats 50");
    let journal = root.session_folder().join(HEATS_FILE);
    let before = fs::read(&journal).expect("the journal");
    root.write("events-slow", "");
    let running = start(&root, "");
    root.wait_for("slowly", 1);
    running.signal(Signal::INT);
    running.wait().exits(0).says(&["interrupted"]);
    assert!(fs::read(&journal).expect("the journal") == before);
}

#[test]
fn what_has_changed_is_refused_with_all_reasons() {
    let root = Root::interrupted(
        &[Fake::good("fake-one"), Fake::good("fake-two")],
        "--heats 9",
    );
    let folder = root.session_folder();
    let journal = fs::read(folder.join(HEATS_FILE)).expect("the journal");
    let started = root.told("started").len();
    let header = fs::read(folder.join(HEADER_FILE)).expect("the header");
    root.write("stacks/fake-one/new.py", "import this\n");
    let workload = root.path().join("workloads/plaintext.toml");
    let defined = fs::read_to_string(&workload).expect("the workload");
    root.write(
        "workloads/plaintext.toml",
        &defined.replace("A constant text", "Another one"),
    );
    change(&folder, |header| {
        header["machine"]["kernel"] = json!("6.0-other");
        header["deadheat"] = json!("0.0.1");
        header["build"] = json!("0123456789ab");
        header["targets"][1]["versions"] = json!([{"name": "python3", "version": "2.7"}]);
    });
    resume(&root, "").exits(2).has_no_data().tells(&[
        "these have changed since it began:",
        "kernel: it was 6.0-other, and is ",
        "Deadheat: it was 0.0.1, and is ",
        "Deadheat's program: it was built as 0123456789ab, and is ",
        "plaintext: definition: it was ",
        "fake-one: sources: it was ",
    ]);
    assert_eq!(root.told("started").len(), started, "nothing was started");
    // The same with everything restored goes on, and comments are no change; nor is a build that was not recorded.
    fs::write(folder.join(HEADER_FILE), header).expect("restoring the header");
    change(&folder, |header| {
        let build = header.as_object_mut().and_then(|all| all.remove("build"));
        assert!(build.is_some(), "{header}");
    });
    fs::remove_file(root.path().join("stacks/fake-one/new.py")).expect("restoring the sources");
    root.write(
        "workloads/plaintext.toml",
        &format!("# The same.\n{defined}"),
    );
    assert_eq!(
        fs::read(folder.join(HEATS_FILE)).expect("the journal"),
        journal,
        "what is refused changes nothing"
    );
    resume(&root, "").exits(0);
    assert_whole(&root.session());
}

#[test]
fn a_stack_that_is_gone_or_fails_now_is_a_change() {
    // A build that may fail for a reason outside of its sources.
    let build =
        "\n[build]\nsteps = [[\"sh\", \"-c\", 'test ! -e \"$DEADHEAT_TEST_EVENTS-broken\"']]\n";
    let root = Root::interrupted(
        &[Fake::good("fake-one").with(build), Fake::good("fake-two")],
        "--heats 9",
    );
    let folder = root.session_folder();
    root.write("events-broken", "");
    resume(&root, "")
        .exits(2)
        .tells(&["fake-one: it was ready, and failed building ("]);
    fs::remove_dir_all(root.path().join("stacks/fake-two")).expect("removing a stack");
    resume(&root, "")
        .exits(2)
        .tells(&["stack: it was fake-two, and is not there"]);
    assert_eq!(Recorded::read(&folder).record.resumed, []);
}

#[test]
fn a_stack_that_was_unavailable_stays_so() {
    let lacking = "\n[[toolchain]]\nprogram = \"no-such-program\"\nversion = [\"no-such-program\"]\nminimum = \"1\"\nhint = \"none\"\n";
    let root = Root::interrupted(
        &[
            Fake::good("fake-one"),
            Fake::good("fake-lacking").with(lacking),
        ],
        "--heats 6",
    );
    resume(&root, "").exits(0).says(&["fake-lacking"]);
    let session = root.session();
    assert_whole(&session);
    let state = &session.target("fake-lacking").state;
    assert!(
        matches!(state, TargetState::Unavailable { .. }),
        "{state:?}"
    );
}

#[test]
fn one_process_at_a_time() {
    let root = Root::with(&[Fake::good("fake-one")]);
    let running = root.start_run("--heats 500");
    let pid = format!("process {} writes this session", running.pid());
    // Before there is a header, too.
    eventually("a session's folder with a journal", || {
        let folder = root.sessions().pop()?;
        folder.join(HEATS_FILE).exists().then_some(())
    });
    start(&root, "").wait_alone().exits(2).tells(&[&pid]);
    root.wait_for_figures();
    start(&root, "")
        .wait_alone()
        .exits(2)
        .has_no_data()
        .tells(&[&pid]);
    running.signal(Signal::INT);
    running.wait().exits(0);
    let running = start(&root, "");
    let pid = format!("process {} writes this session", running.pid());
    root.wait_for_lines(journal_lines(&root.session_folder()) + 2);
    start(&root, "").wait_alone().exits(2).tells(&[&pid]);
    running.signal(Signal::INT);
    running.wait().exits(0);
}

#[test]
fn options_that_change_what_is_measured_are_refused() {
    let root = Root::interrupted(&[Fake::good("fake-one")], "--heats 6");
    resume(&root, "--heats 7 --seed 3")
        .exits(2)
        .has_no_data()
        .tells(&["--heats, --seed cannot be used with --resume"]);
    // Nor those that say what is so already.
    resume(&root, "--pinning apart")
        .exits(2)
        .tells(&["--pinning cannot be used with --resume"]);
    resume(&root, "--results elsewhere")
        .exits(2)
        .tells(&["--results cannot be used with --resume"]);
    resume(&root, "--root .").exits(0);
    assert_whole(&root.session());
}

#[test]
fn what_is_no_session_is_told_so() {
    let root = Root::interrupted(&[Fake::good("fake-one")], "--heats 6");
    for wrong in ["stacks", "nowhere"] {
        root.deadheat(&format!("run --resume {wrong}"))
            .exits(2)
            .has_no_data()
            .tells(&[&format!("going on with {wrong}: it has no session.json")]);
    }
    let folder = root.session_folder();
    let journal = folder.join(HEATS_FILE);
    let heats = fs::read(&journal).expect("the journal");
    fs::remove_file(&journal).expect("removing the journal");
    fs::create_dir(&journal).expect("a journal that cannot be written");
    resume(&root, "")
        .exits(2)
        .tells(&["opening its journal for writing", "make that writable"]);
    fs::remove_dir(&journal).expect("removing it again");
    fs::write(&journal, [b"{\"record\":\"nothing\"}\n", &*heats].concat()).expect("writing");
    resume(&root, "")
        .exits(2)
        .tells(&["heats.jsonl, line 1", "the file was changed"]);
    fs::write(&journal, heats).expect("writing");
    change(&folder, |header| header["schema"] = json!(99));
    resume(&root, "").exits(2).tells(&["has format 99"]);
}

#[test]
fn a_session_without_all_its_stacks_begins_anew() {
    let root = Root::with(&[
        Fake::good("fake-one"),
        Fake::faulty("fake-two", "never-listens"),
    ]);
    let running = root.start_run("--start-timeout 10m");
    // The first one is ready, and the second one never will be.
    root.wait_for("started", 2);
    running.signal(Signal::INT);
    running.wait().exits(130);
    resume(&root, "")
        .exits(2)
        .tells(&["it ended before fake-two could be prepared"]);
}
