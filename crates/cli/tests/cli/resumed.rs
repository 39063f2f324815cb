//! `deadheat run --resume`: what goes on, what is refused, and with which words.

use std::{fs, path::Path};

use deadheat_model::session::{EndReason, TargetState};
use deadheat_runner::session::{HEADER_FILE, TRIALS_FILE};
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::support::{
    Ended, Fake, PATIENCE, Recorded, Root, Running, eventually, recorded::journal_lines,
};

/// Quick trials, none of which is void or of an open loop. On a busy machine a server may need a third of a second for its
/// first answer, and a trial without one makes a session that measured nothing.
const QUIET: &str = "--measure 800ms --noise-bound off --latency off";

/// Waits until so many lines are in the journal of the only session.
#[track_caller]
fn wait_for_lines(root: &Root, count: usize) {
    eventually(&format!("{count} lines in the journal"), PATIENCE, || {
        let folder = root.sessions().pop()?;
        (journal_lines(&folder) >= count).then_some(())
    });
}

/// A session that was interrupted after some trials.
fn interrupted(stacks: &[Fake], options: &str) -> Root {
    let root = Root::with(stacks);
    let running = root.start_run(&format!("{QUIET} {options}"));
    wait_for_lines(&root, 2);
    running.signal(Signal::INT);
    running.wait().exits(0);
    assert_eq!(root.session().record.end, Some(EndReason::Interrupted));
    root
}

fn start(root: &Root, options: &str) -> Running {
    let folder = root.session_folder();
    root.start(&format!("run --resume {} {options}", folder.display()))
}

fn resume(root: &Root, options: &str) -> Ended {
    start(root, options).wait()
}

/// Asserts that each trial of the plan is there once.
#[track_caller]
fn assert_whole(session: &Recorded) {
    let plan = &session.record.header.plan;
    assert_eq!(session.record.end, Some(EndReason::Finished));
    assert_eq!(session.record.trials.len(), plan.trials());
    assert_eq!(
        session.record.complete_blocks(),
        (0..plan.blocks).collect::<Vec<_>>()
    );
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
    let root = interrupted(
        &[Fake::good("fake-one"), Fake::good("fake-two")],
        "--blocks 4",
    );
    let trials = root.session().record.trials.len();
    let running = start(&root, "");
    wait_for_lines(&root, trials + 4);
    running.signal(Signal::INT);
    running
        .wait()
        .exits(0)
        .says(&["interrupted", "The session was resumed once ("])
        .tells(&["Going on with results/", "trials are recorded"]);
    // An end like that of a budget that was used up.
    let journal = root.session_folder().join(TRIALS_FILE);
    let text = fs::read_to_string(&journal).expect("reading the journal");
    fs::write(&journal, text.replace("\"interrupted\"", "\"budget\"")).expect("writing it");
    assert_eq!(root.session().record.end, Some(EndReason::Budget));
    resume(&root, "--json").exits(0).says(&["\"resumed\": ["]);
    let session = root.session();
    assert_whole(&session);
    assert_eq!(session.record.resumed.len(), 2);
    assert!(session.record.resumed.iter().all(|one| !one.rebooted));
    session.assert_reported(&root, &["The session was resumed twice ("]);
    // Nothing is left, and that is no failure.
    let report = root.session_folder().join("report.html");
    fs::remove_file(&report).expect("removing the report");
    resume(&root, "")
        .exits(0)
        .says(&["fake-one", "fake-two"])
        .tells(&["is complete: nothing is left to measure"]);
    assert!(report.exists(), "the report is written again");
    assert_eq!(root.session().record, session.record);
}

#[test]
fn a_complete_session_ends_as_it_ended_and_without_what_a_kill_left() {
    let root = Root::with(&[
        Fake::good("fake-one"),
        Fake::faulty("fake-two", "wrong-answer"),
    ]);
    root.run(&format!("{QUIET} --blocks 2 --start-timeout 2s"))
        .exits(1);
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
fn an_interrupt_before_its_first_trial_leaves_it_as_it_was() {
    // A build that takes its time when a file says so.
    let build = r#"
[build]
steps = [["sh", "-c", 'test ! -e "$DEADHEAT_TEST_EVENTS-slow" || { echo "slowly $$" >> "$DEADHEAT_TEST_EVENTS"; sleep 600; }']]
"#;
    let root = interrupted(&[Fake::good("fake-one").with(build)], "--blocks 50");
    let journal = root.session_folder().join(TRIALS_FILE);
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
    let root = interrupted(
        &[Fake::good("fake-one"), Fake::good("fake-two")],
        "--blocks 9",
    );
    let folder = root.session_folder();
    let journal = fs::read(folder.join(TRIALS_FILE)).expect("the journal");
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
        header["targets"][1]["versions"] = json!([{"name": "python3", "version": "2.7"}]);
    });
    resume(&root, "").exits(2).has_no_data().tells(&[
        "these are not as they were when it began:",
        "kernel: it was 6.0-other, and is ",
        "Deadheat: it was 0.0.1, and is ",
        "plaintext: definition: it was ",
        "fake-one: sources: it was ",
    ]);
    assert_eq!(root.told("started").len(), started, "nothing was started");
    // The same with everything restored goes on, and comments are no change.
    fs::write(folder.join(HEADER_FILE), header).expect("restoring the header");
    fs::remove_file(root.path().join("stacks/fake-one/new.py")).expect("restoring the sources");
    root.write(
        "workloads/plaintext.toml",
        &format!("# The same.\n{defined}"),
    );
    assert_eq!(
        fs::read(folder.join(TRIALS_FILE)).expect("the journal"),
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
    let root = interrupted(
        &[Fake::good("fake-one").with(build), Fake::good("fake-two")],
        "--blocks 9",
    );
    let folder = root.session_folder();
    root.write("events-broken", "");
    resume(&root, "")
        .exits(2)
        .tells(&["fake-one: it was ready, and failed building:"]);
    fs::remove_dir_all(root.path().join("stacks/fake-two")).expect("removing a stack");
    resume(&root, "")
        .exits(2)
        .tells(&["stack: it was fake-two, and is not there"]);
    assert_eq!(Recorded::read(&folder).record.resumed, []);
}

#[test]
fn a_stack_that_was_unavailable_stays_so() {
    let lacking = "\n[[toolchain]]\nprogram = \"no-such-program\"\nversion = [\"no-such-program\"]\nminimum = \"1\"\nhint = \"none\"\n";
    let root = interrupted(
        &[
            Fake::good("fake-one"),
            Fake::good("fake-lacking").with(lacking),
        ],
        "--blocks 4",
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
    let running = root.start_run(&format!("{QUIET} --blocks 500"));
    let pid = format!("process {} writes this session", running.pid());
    // Before there is a header, too.
    eventually("a session's folder with a journal", PATIENCE, || {
        let folder = root.sessions().pop()?;
        folder.join(TRIALS_FILE).exists().then_some(())
    });
    start(&root, "").wait_alone().exits(2).tells(&[&pid]);
    // The first trial is that of the twin, with which alone nothing was measured.
    wait_for_lines(&root, 2);
    start(&root, "")
        .wait_alone()
        .exits(2)
        .has_no_data()
        .tells(&[&pid]);
    running.signal(Signal::INT);
    running.wait().exits(0);
    let running = start(&root, "");
    let pid = format!("process {} writes this session", running.pid());
    wait_for_lines(&root, journal_lines(&root.session_folder()) + 2);
    start(&root, "").wait_alone().exits(2).tells(&[&pid]);
    running.signal(Signal::INT);
    running.wait().exits(0);
}

#[test]
fn options_that_change_what_is_measured_are_refused() {
    let root = interrupted(&[Fake::good("fake-one")], "--blocks 3");
    resume(&root, "--blocks 7 --seed 3")
        .exits(2)
        .has_no_data()
        .tells(&["--blocks, --seed cannot be given with --resume"]);
    // Nor those that say what is so already.
    resume(&root, "--pinning apart")
        .exits(2)
        .tells(&["--pinning cannot be given with --resume"]);
    resume(&root, "--results elsewhere")
        .exits(2)
        .tells(&["--results cannot be given with --resume"]);
    resume(&root, "--root .").exits(0);
    assert_whole(&root.session());
}

#[test]
fn what_is_no_session_is_told_so() {
    let root = interrupted(&[Fake::good("fake-one")], "--blocks 3");
    for wrong in ["stacks", "nowhere"] {
        root.deadheat(&format!("run --resume {wrong}"))
            .exits(2)
            .has_no_data()
            .tells(&[&format!("going on with {wrong}: it has no session.json")]);
    }
    let folder = root.session_folder();
    let journal = folder.join(TRIALS_FILE);
    let trials = fs::read(&journal).expect("the journal");
    fs::remove_file(&journal).expect("removing the journal");
    fs::create_dir(&journal).expect("a journal that cannot be written");
    resume(&root, "")
        .exits(2)
        .tells(&["opening its journal for writing", "make that writable"]);
    fs::remove_dir(&journal).expect("removing it again");
    fs::write(&journal, [b"{\"record\":\"nothing\"}\n", &*trials].concat()).expect("writing");
    resume(&root, "")
        .exits(2)
        .tells(&["trials.jsonl, line 1", "the file was changed"]);
    fs::write(&journal, trials).expect("writing");
    change(&folder, |header| {
        header["arguments"] = json!(["run", "--no-such-option"]);
    });
    resume(&root, "")
        .exits(2)
        .tells(&["does not understand its arguments, `run --no-such-option`"]);
    change(&folder, |header| {
        header["arguments"] = json!(["stacks", "list"])
    });
    resume(&root, "")
        .exits(2)
        .tells(&["only a session of `deadheat run` goes on"]);
    change(&folder, |header| header["schema"] = json!(99));
    resume(&root, "").exits(2).tells(&["has format 99"]);
}

#[test]
fn a_session_without_all_its_stacks_begins_anew() {
    let root = Root::with(&[
        Fake::good("fake-one"),
        Fake::faulty("fake-two", "never-listens"),
    ]);
    let running = root.start_run(&format!("{QUIET} --start-timeout 10m"));
    // The first one is ready, and the second one never will be.
    root.wait_for("started", 2);
    running.signal(Signal::INT);
    running.wait().exits(3);
    resume(&root, "")
        .exits(2)
        .tells(&["it ended before fake-two could be prepared"]);
}
