//! Servers that go wrong. Each is told of with its reason and its last words, and the other stacks go on.

use std::{
    io::{BufRead, BufReader, Write},
    net::TcpListener,
    os::unix::net::UnixListener,
    sync::{
        OnceLock,
        mpsc::{Receiver, channel},
    },
    thread,
};

use deadheat_model::session::{Phase, TargetState};
use deadheat_testkit::{Action, Listen, Turn};

use crate::support::{
    Fake, PATIENCE, Recorded, Root, recorded::Reports, root::MANY_ROUNDS, running::THIEF,
};

const BAD: &str = "fake-bad";

/// Faults for which a stack is in no heat.
const EARLY: [&str; 6] = [
    "never-listens",
    "exits-at-once",
    "wrong-answer",
    "wrong-type",
    "ignores-sigterm",
    "leaves-a-grandchild",
];

/// A session of two good stacks and some with a fault, in which the good ones are measured whatever the others do.
struct Session {
    recorded: Recorded,
    reports: Reports,
    /// What was written to standard error.
    told: String,
    /// Processes that the stacks said that they left.
    grandchildren: usize,
}

#[track_caller]
fn session_with(bad: Vec<Fake>, options: &str, shown: &[&str]) -> Session {
    let good = ["fake-good", "fake-other"].map(Fake::good);
    let stacks: Vec<Fake> = bad.into_iter().chain(good).collect();
    let root = Root::with(&stacks);
    let ended = root.run(options).exits(1).says(shown);
    let recorded = root.session();
    recorded.assert_measured("fake-good");
    Session {
        reports: recorded.reports(&root),
        recorded,
        told: ended.stderr,
        grandchildren: root.told("grandchild").len(),
    }
}

/// The session with those in [`EARLY`], each called by its fault. It is measured once for all tests.
fn early() -> &'static Session {
    static SESSION: OnceLock<Session> = OnceLock::new();
    SESSION.get_or_init(|| {
        let bad = EARLY.map(|fault| Fake::faulty(&format!("fake-{fault}"), fault));
        session_with(
            bad.into(),
            "--start-timeout 5s",
            &["fake-good", "fake-other"],
        )
    })
}

/// A session with one that has this fault in a heat.
#[track_caller]
fn session_with_fault(fault: &'static str) -> Session {
    session_with(vec![Fake::faulty(BAD, fault)], "", &[BAD, "fake-good"])
}

impl Session {
    /// Asserts that progress and every report say all of these.
    #[track_caller]
    fn assert_told(&self, fragments: &[&str]) {
        for fragment in fragments {
            assert!(
                self.told.contains(fragment),
                "progress lacks {fragment:?}:\n{}",
                self.told
            );
        }
        self.reports.assert_say(fragments);
    }
}

#[test]
fn one_that_never_listens() {
    let (session, name) = (early(), "fake-never-listens");
    assert_eq!(session.recorded.failure_of(name).phase, Phase::Start);
    session.assert_told(&[
        "fake-never-listens did not answer correctly on 127.0.0.1:",
        "within 5 s (connecting: Connection refused",
        "it must listen on $HOST:$PORT",
        "fake: waits for a train that never comes",
    ]);
    assert!(session.recorded.members_of(name).is_empty());
}

#[test]
fn one_that_exits_at_once() {
    let session = early();
    let failure = session.recorded.failure_of("fake-exits-at-once");
    assert_eq!(failure.phase, Phase::Start);
    assert_eq!(failure.log_tail, ["fake: the ink is dry"]);
    session.assert_told(&[
        "fake-exits-at-once exited with status 7 before its first correct answer",
        "fake: the ink is dry",
    ]);
}

#[test]
fn one_that_answers_wrongly() {
    let session = early();
    let failure = session.recorded.failure_of("fake-wrong-answer");
    assert_eq!(failure.phase, Phase::Start);
    session.assert_told(&[
        "fake-wrong-answer did not answer correctly on 127.0.0.1:",
        "GET /plaintext",
        "expected status 200 with `Hello, World!`, got status 200 with `Howdy, World?`",
    ]);
}

#[test]
fn one_whose_answer_breaks_a_rule_of_the_workload() {
    let session = early();
    let target = session.recorded.target("fake-wrong-type");
    assert!(
        matches!(target.state, TargetState::Ready { .. }),
        "{:?}",
        target.state
    );
    let [failed] = target.failed_workloads.as_slice() else {
        panic!(
            "one workload should have failed: {:?}",
            target.failed_workloads
        );
    };
    assert_eq!(
        (failed.workload.as_str(), failed.failure.phase),
        ("plaintext", Phase::VerifyBefore)
    );
    session.assert_told(&[
        "GET /plaintext: the content type is right: expected `text/plain`, got `text/html`",
    ]);
}

#[test]
fn one_that_answers_rightly_and_then_wrongly_under_load() {
    let session = session_with_fault("right-then-wrong");
    let failure = session.recorded.failed_heat_of(BAD);
    assert!(
        matches!(failure.phase, Phase::Load | Phase::VerifyAfter),
        "{failure:?}"
    );
    session.assert_told(&["Howdy, World?"]);
    let log = ["fake: answers wrongly from now on"];
    session.reports.assert_say(&log);
}

#[test]
fn one_that_dies_under_load() {
    let session = session_with_fault("dies-under-load");
    let failure = session.recorded.failed_heat_of(BAD);
    assert_eq!(failure.phase, Phase::Load);
    session.assert_told(&["fake-bad exited with status 9"]);
    session.reports.assert_say(&["fake: out of paper"]);
}

#[test]
fn one_that_ignores_sigterm() {
    let session = early();
    let failure = session.recorded.failure_of("fake-ignores-sigterm");
    assert_eq!(failure.phase, Phase::Stop);
    session.assert_told(&["did not end within 5 s of SIGTERM and was killed"]);
}

#[test]
fn one_that_leaves_a_grandchild() {
    let session = early();
    let failure = session.recorded.failure_of("fake-leaves-a-grandchild");
    assert_eq!(failure.phase, Phase::Stop);
    session.assert_told(&["left 1 of its processes behind"]);
    // That it is gone is asserted of every session; that there was one must be, too.
    assert_eq!(session.grandchildren, 1);
}

#[test]
fn one_with_a_grandchild_that_ends_when_it_is_asked_to() {
    let root = Root::with(&[
        Fake::faulty("fake-family", "has-a-grandchild"),
        Fake::good("fake-good"),
    ]);
    root.run(MANY_ROUNDS).exits(0);
    let session = root.session();
    session.assert_measured("fake-family");
    session.assert_measured("fake-good");
    let grandchildren = root.told("grandchild").len();
    assert!(grandchildren > 2, "one in the check and one in each heat");
}

#[test]
fn when_all_stacks_fail_nothing_was_measured() {
    let root = Root::with(&[
        Fake::faulty(BAD, "exits-at-once"),
        Fake::faulty("fake-worse", "dies-under-load"),
    ]);
    root.run("").exits(3).says(&[BAD, "fake-worse"]);
    let session = root.session();
    session.assert_reported(&root, &["exited with status 7", "exited with status 9"]);
}

/// Another program, which takes ports that a stack was given: as many as it wants, before the stack can.
struct Thief {
    ports: Receiver<u16>,
}

impl Thief {
    /// Takes ports with `take`, whose result is kept until the test ends; `None`: it has had enough.
    fn prowl<T: 'static>(
        root: &Root,
        mut take: impl FnMut(u16) -> Option<T> + Send + 'static,
    ) -> Self {
        let listener = UnixListener::bind(root.path().join(THIEF)).expect("listening for ports");
        let (sender, ports) = channel();
        thread::spawn(move || {
            let mut loot = Vec::new();
            for stack in listener.incoming().map_while(Result::ok) {
                let mut line = String::new();
                let _ = BufReader::new(&stack).read_line(&mut line);
                let port = line.trim().parse().expect("a port");
                if let Some(taken) = take(port) {
                    loot.push(taken);
                    let _ = sender.send(port);
                }
                let _ = (&stack).write_all(b"!");
            }
        });
        Self { ports }
    }

    fn next(&self) -> u16 {
        self.ports.recv_timeout(PATIENCE).expect("a port was taken")
    }
}

#[test]
fn one_whose_port_was_taken_gets_another() {
    let root = Root::with(&[Fake::faulty("fake-unlucky", "port-taken")]);
    let mut once = true;
    let thief = Thief::prowl(&root, move |port| {
        std::mem::take(&mut once)
            .then(|| TcpListener::bind(("127.0.0.1", port)).expect("the port is free"))
    });
    root.run(MANY_ROUNDS).exits(0);
    let taken = thief.next();
    let session = root.session();
    session.assert_measured("fake-unlucky");
    assert!(taken > 0);
    assert_eq!(
        root.told("started").len(),
        4,
        "twice for the check, once in each heat"
    );
}

#[test]
fn one_whose_ports_are_all_taken_fails_with_its_own_words() {
    let root = Root::with(&[Fake::faulty(BAD, "port-taken"), Fake::good("fake-good")]);
    let thief = Thief::prowl(&root, |port| TcpListener::bind(("127.0.0.1", port)).ok());
    root.run("--start-timeout 5s").exits(1);
    let first = thief.next();
    let session = root.session();
    session.assert_measured("fake-good");
    let failure = session.failure_of(BAD);
    assert!(
        failure
            .log_tail
            .join("\n")
            .contains(&format!("127.0.0.1:{first}: Address already in use"))
    );
    session.assert_reported(
        &root,
        &["Address already in use", "fake-bad exited with status 1"],
    );
}

#[test]
fn an_answer_of_another_process_is_not_the_stacks() {
    let root = Root::with(&[
        Fake::faulty(BAD, "another-answers"),
        Fake::good("fake-good"),
    ]);
    let _thief = Thief::prowl(&root, |port| {
        let answer = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 13\r\n\r\nHello, World!";
        let script = |_: &Turn<'_>| vec![Action::Send(answer.to_vec())];
        let listen = Listen::at(([127, 0, 0, 1], port).into()).ok()?;
        listen.serve(script).ok()
    });
    root.run("").exits(1);
    let session = root.session();
    session.assert_measured("fake-good");
    assert_eq!(session.failure_of(BAD).phase, Phase::Start);
    session.assert_reported(&root, &["is answered by another process than fake-bad"]);
}
