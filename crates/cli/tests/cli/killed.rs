//! SIGKILL of Deadheat itself, at any moment: no process is left behind, and no finished heat is lost.

use std::{thread, time::Duration};

use rustix::process::Signal;

use deadheat_model::heats::EndReason;
use deadheat_runner::session::heats::read_session;

use crate::support::{
    Fake, Root,
    processes::{Processes, living, tree, wait_until_none},
};

/// What the supervisors may take to end everything: a second's grace, what was left behind, and a busy machine.
const BOUND: Duration = Duration::from_secs(15);

/// A build with a grandchild, for as long as a link takes.
const BUILD: &str = r#"
[build]
steps = [["sh", "-c", """
echo "build $$" >> "$DEADHEAT_TEST_EVENTS"
setsid sh -c 'trap "" TERM; while :; do sleep 1; done' &
sleep 0.3
"""]]
"#;

/// Where in a session Deadheat is killed: as soon as `event` was told of for the `nth` time, and a little later.
struct Moment {
    event: &'static str,
    nth: usize,
    later: Duration,
}

/// Up to 60 ms after each of these events, the same in every run (xorshift; Marsaglia 2003).
fn moments(mut seed: u64, events: [(&'static str, usize); 8]) -> Vec<Moment> {
    let mut random = || {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        seed % 60
    };
    let moment = |(event, nth)| Moment {
        event,
        nth,
        later: Duration::from_millis(random()),
    };
    events.into_iter().map(moment).collect()
}

/// Asserts that nothing lives any more: neither what was seen below Deadheat (PostgreSQL overwrites its environment, so
/// that it is found there only), nor what came after that.
#[track_caller]
fn assert_all_gone(root: &Root, before: &Processes, after: &str) {
    root.assert_nothing_runs(BOUND, after);
    if let Err(left) = wait_until_none(BOUND, || living(before)) {
        panic!("{BOUND:?} after {after}, these processes live: {left:#?}");
    }
}

/// Moments of a session of three heats: two of the three servers of a heat are frozen while its rounds go on, which they
/// do from the second "loaded" or third "started" on.
const EVENTS: [(&str, usize); 8] = [
    ("build", 1),
    ("started", 1),
    ("started", 3),
    ("started", 4),
    ("loaded", 2),
    ("loaded", 2),
    ("sigterm", 3),
    ("started", 6),
];

/// Nothing is left, frozen or not, complete heats are kept, and the session can go on.
#[track_caller]
fn kill_at(moment: &Moment) {
    let Moment { event, nth, later } = moment;
    let when = format!("being killed {later:?} after `{event}` number {nth}");
    let root = Root::with(&[
        Fake::good("fake-family").with(BUILD),
        Fake::good("fake-other"),
    ]);
    let running = root.start(
        "run --seed 1 --heats 3 --whole-budget --heat-time 400ms --slice 40ms --guard 5ms --warm-up 50ms --rate none \
         --pinning off",
    );
    root.wait_for(event, *nth);
    thread::sleep(*later);
    let folder = root.session_folder();
    let before = tree(running.pid());
    running.signal(Signal::KILL);
    running.wait_alone().was_killed_by(9);
    assert_all_gone(&root, &before, &when);
    let report = root.deadheat(&format!("report {}", folder.display()));
    if !folder.join("session.json").exists() {
        let none = ["session.json", "is", "the folder of a session?"];
        report.exits(2).has_no_data().tells(&none);
        return;
    }
    report.exits(0).says(&["killed"]);
    let kept = read_session(&folder).expect("reading what is left").heats;
    let resume = root.deadheat(&format!("run --resume {}", folder.display()));
    resume.exits(0).tells(&["Resuming"]);
    let record = read_session(&folder).expect("reading the session back");
    assert_eq!(record.end, Some(EndReason::Finished), "{when}");
    assert_eq!(record.complete_heats(0).count(), 3, "{when}");
    assert_eq!(record.heats[..kept.len()], kept, "{when}");
    root.assert_nothing_runs(BOUND, &when);
}

#[test]
fn at_any_moment() {
    let moments = moments(0x00f0_2e27, EVENTS);
    for pair in moments.chunks(2) {
        thread::scope(|scope| {
            for moment in pair {
                scope.spawn(|| kill_at(moment));
            }
        });
    }
}

#[test]
fn with_a_database_and_an_upstream() {
    let root = Root::with(&[Fake::good("fake-one").claiming(&["plaintext", "users", "proxy"])]);
    root.copy_workload("users");
    root.copy_workload("proxy");
    let workloads = "--workload plaintext --workload users --workload proxy";
    let running = root.start_run(&format!("{workloads} --heat-time 10m"));
    root.wait_for("loaded", 1);
    let before = tree(running.pid());
    let has = |what: &str| before.values().any(|command| command.contains(what));
    assert!(
        has("postgres") && has("__upstream"),
        "both services should run: {before:#?}\n{}",
        running.told()
    );
    assert!(
        !root.temporary().is_empty(),
        "the cluster should have a folder"
    );
    running.signal(Signal::KILL);
    running.wait_alone().was_killed_by(9);
    assert_all_gone(&root, &before, "being killed beside a database");
    let left = root.temporary();
    assert!(left.is_empty(), "these are left of the cluster: {left:?}");
}

#[test]
fn a_check_leaves_no_folder() {
    let root = Root::with(&[Fake::good("fake-one")]);
    let running = root.start("stacks check fake-one");
    root.wait_for("started", 1);
    assert!(!root.temporary().is_empty());
    running.signal(Signal::KILL);
    running.wait_alone().was_killed_by(9);
    root.assert_nothing_runs(BOUND, "a check was killed");
    assert_eq!(root.temporary(), Vec::<std::path::PathBuf>::new());
}
