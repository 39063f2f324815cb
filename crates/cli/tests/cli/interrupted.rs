//! Ctrl-C: once for an orderly end, twice for an end at once. Nothing is left behind in either case.

use std::time::{Duration, Instant};

use deadheat_model::heats::EndReason;
use deadheat_shell::invocation::ignores_hangups;
use rustix::process::Signal;

use crate::support::{Fake, PATIENCE, Root, eventually};

/// A build that never ends, with a grandchild in a session of its own that ignores SIGTERM.
const ENDLESS_BUILD: &str = r#"
[build]
steps = [["sh", "-c", """
setsid sh -c 'trap "" TERM; echo "grandchild $$" >> "$DEADHEAT_TEST_EVENTS"; while :; do sleep 1; done' &
sleep 600
"""]]
"#;

#[test]
fn once_after_a_heat_ends_in_a_valid_report() {
    // Run under nohup(1), the tests ignore SIGHUP, and so do their child processes.
    let hangup = (!ignores_hangups()).then_some(Signal::HUP);
    for signal in [Signal::INT, Signal::TERM].into_iter().chain(hangup) {
        let root = Root::with(&[Fake::good("fake-one"), Fake::good("fake-two")]);
        let running = root.start_run("--heats 500 --heat-time 300ms");
        root.wait_for_figures();
        running.signal(signal);
        running
            .wait()
            .exits(0)
            .says(&["interrupted", "fake-one", "fake-two"])
            .tells(&["report: results/"]);
        let session = root.session();
        assert_eq!(
            session.record.end,
            Some(EndReason::Interrupted),
            "{signal:?}"
        );
        let heats = session.record.heats.len();
        assert!((1..100).contains(&heats), "{heats} heats");
        session.assert_measured("fake-one");
        session.assert_measured("fake-two");
        session.assert_reported(&root, &["fake-one", "fake-two"]);
        for file in ["report.html", "report.md", "report.json", "report.csv"] {
            assert!(session.folder.join(file).exists(), "{file} is missing");
        }
    }
}

#[test]
fn before_the_first_heat_has_a_round_nothing_was_measured() {
    let root = Root::with(&[Fake::good("fake-one")]);
    let running = root.start_run("--warm-up 10m");
    root.wait_for("loaded", 1);
    running.signal(Signal::INT);
    running.wait().exits(130).says(&["interrupted"]);
    let session = root.session();
    assert_eq!(session.record.end, Some(EndReason::Interrupted));
    assert_eq!(session.record.complete_heats(0).count(), 0);
    session.report(&root, "html");
}

#[test]
fn while_a_server_starts() {
    let root = Root::with(&[
        Fake::faulty("fake-late", "never-listens"),
        Fake::good("fake-one"),
    ]);
    let running = root.start_run("--start-timeout 10m");
    root.wait_for("started", 1);
    running.signal(Signal::INT);
    running.wait().exits(130).says(&["interrupted"]);
    assert!(root.session().record.heats.is_empty());
}

#[test]
fn while_an_answer_is_awaited() {
    let root = Root::with(&[Fake::faulty("fake-mute", "hangs-on-delete")]);
    let running = root.start_run("");
    root.wait_for("hangs", 1);
    let asked = Instant::now();
    running.signal(Signal::INT);
    running.wait().exits(130).says(&["interrupted"]);
    // Without an interrupt, it is awaited for ten seconds.
    let took = asked.elapsed();
    assert!(took < Duration::from_secs(8), "{took:?}");
    assert!(root.session().record.heats.is_empty());
}

#[test]
fn while_something_is_built() {
    let root = Root::with(&[
        Fake::good("fake-built").with(ENDLESS_BUILD),
        Fake::good("fake-one"),
    ]);
    let running = root.start_run("");
    root.wait_for("grandchild", 1);
    running.signal(Signal::INT);
    running.wait().exits(130).says(&["interrupted"]);
    assert_eq!(
        root.told("started").len(),
        0,
        "nothing was started after the interrupt"
    );
}

#[test]
fn while_a_stack_is_checked_for_conformance() {
    let root = Root::with(&[
        Fake::good("fake-early"),
        Fake::faulty("fake-late", "never-listens"),
        Fake::good("fake-later"),
    ]);
    for (signal, format) in [(Signal::INT, ""), (Signal::TERM, "--json")] {
        let before = root.told("started").len();
        let running = root.start(&format!("stacks check --start-timeout 10m {format}"));
        root.wait_for("started", before + 2);
        running.signal(signal);
        let said = match format {
            "" => "1 passed, 0 failed, 0 unavailable; interrupted: 2 of 3 stacks not checked",
            _ => "\"unchecked\": 2",
        };
        running.wait().exits(1).says(&[said]);
    }
}

#[test]
fn while_postgresql_is_being_started() {
    let root = Root::with(&[Fake::good("fake-one").claiming(&["plaintext", "users"])]);
    root.copy_workload("users");
    let running = root.start_run("--workload plaintext --workload users");
    eventually("a session's folder", || root.sessions().pop());
    running.signal(Signal::INT);
    running.wait().exits(130).says(&["interrupted"]);
    assert!(root.session().record.heats.is_empty());
}

#[test]
fn twice_ends_at_once_and_still_leaves_nothing_behind() {
    let root = Root::with(&[Fake::faulty("fake-deaf", "ignores-sigterm")]);
    let mut running = root.start_run("");
    // From now on Deadheat waits for five seconds, because the server does not listen to SIGTERM.
    root.wait_for("sigterm", 1);
    running.signal(Signal::INT);
    assert!(
        !running.has_ended(),
        "the first one is an orderly end, which waits for the server"
    );
    // One that comes right after the first would only repeat it. An orderly end has another status.
    eventually("its end", || {
        running.signal(Signal::INT);
        running.has_ended().then_some(())
    });
    running.wait_alone().exits(130);
    root.assert_nothing_runs(PATIENCE, "a second SIGINT");
}
