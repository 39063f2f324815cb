//! The fault matrix: `deadheat load` against servers that do everything wrong that a server can do, in a closed and
//! in an open loop. Each request is counted once and as what it is; what was counted is what the server saw; the run
//! ends in time, with the exit status that it should have.

use std::{thread, time::Duration};

use deadheat_model::{
    Failure,
    failure::FailurePhase::{self, Connect},
};
use deadheat_testkit::{
    Action, FullBacklog, Listen, OracleServer, RefusingPort, Turn,
    answers::{BODY, endless, endless_chunks, hello, send, sized},
    faults::{self, Case},
    for_the_last_of,
    judge::assert_not_below,
};

use rustix::process::Signal;

use crate::support::{
    eventually,
    loaded::{Loaded, in_parallel, load, load_meanwhile},
};

const REQUESTS: u64 = 7;
/// A run of a few requests ends long before this: the 30 s of a request's usual timeout are the least that a forgotten
/// one would take.
const IN_TIME: Duration = Duration::from_secs(25);
/// A timeout that a test waits for: longer than machines stall, for what should come in time is told from what does not.
const SOON: &str = "2500ms";
const BODY_TEXT: &str = "Hello, World!";

/// A loop's arguments, so that each request has a connection of its own where it needs one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Loop {
    Closed,
    Open,
}

use Loop::{Closed, Open};

impl Loop {
    fn args(self) -> &'static [&'static str] {
        match self {
            Closed => &["-c", "2"],
            Open => &["-c", "2", "--max-connections", "10", "--rate", "200/s"],
        }
    }

    /// The most connections at once.
    fn most(self) -> u64 {
        match self {
            Closed => 2,
            Open => 10,
        }
    }
}

fn both<T: Clone>(cases: impl IntoIterator<Item = T>) -> Vec<(T, Loop)> {
    let pair = |case: T| [(case.clone(), Closed), (case, Open)];
    cases.into_iter().flat_map(pair).collect()
}

/// Sends so many requests there.
#[track_caller]
fn send_there(which: Loop, url: &str, requests: u64, more: &[&str]) -> Loaded {
    send_with(which.args(), url, requests, more)
}

/// Sends so many requests there in a closed loop on so many connections.
#[track_caller]
fn send_on(connections: &str, url: &str, requests: u64, more: &[&str]) -> Loaded {
    send_with(&["-c", connections], url, requests, more)
}

#[track_caller]
fn send_with(which: &[&str], url: &str, requests: u64, more: &[&str]) -> Loaded {
    let requests = requests.to_string();
    let args = [&["-n", requests.as_str()], which, more, &[url]].concat();
    let loaded = load(&args);
    assert!(loaded.took < IN_TIME, "{loaded}");
    loaded
}

fn url(server: &OracleServer) -> String {
    format!("http://{}/", server.address())
}

fn check(case: Case, which: Loop) {
    let name = format!("{}, {which:?}", case.name);
    let Case {
        method,
        status,
        body,
        outcome,
        phases,
        keeps,
        ..
    } = case;
    let accepted_only = !case.greet.is_empty();
    let server = OracleServer::start(case).unwrap();
    let status = status.to_string();
    let mut more = vec!["-X", method, "--expect-status", &status];
    match body {
        // An answer to HEAD has no body to expect anything of.
        b"" if method == "HEAD" => {}
        b"" => more.extend(["--expect-length", "0"]),
        _ => more.extend(["--expect-body", BODY_TEXT]),
    }
    let times_out = outcome == Err(Failure::Timeout);
    if times_out {
        more.extend(["--timeout", SOON]);
    }
    let loaded = match (which, times_out) {
        // All at once, so that their timeouts pass together.
        (Closed, true) => send_on("7", &url(&server), REQUESTS, &more),
        _ => send_there(which, &url(&server), REQUESTS, &more),
    };
    let server = server.seen_at_rest();
    let loaded = loaded.of(&name).agrees_with(&server);
    let loaded = match outcome {
        Ok(()) => loaded.all_succeed(REQUESTS),
        Err(kind) => loaded.all_fail(REQUESTS, kind, phases),
    };
    let seen = &loaded.seen;
    if outcome.is_ok() {
        let bodies = REQUESTS * body.len() as u64;
        assert_eq!(seen.body_bytes, bodies, "{loaded}");
    }
    if accepted_only {
        return;
    }
    assert_eq!(
        server.requests, REQUESTS,
        "every request was seen, and none twice: {loaded}"
    );
    if keeps {
        assert!(server.connections <= which.most(), "{loaded}")
    } else {
        assert!(server.connections >= REQUESTS, "{loaded}")
    }
    if outcome.is_err() {
        assert_eq!(seen.service_time.count(), 0, "{loaded}");
    }
}

#[test]
fn answers_that_are_right_however_odd() {
    let cases =
        [Closed, Open].map(|which| faults::right().into_iter().map(move |case| (case, which)));
    in_parallel(cases.into_iter().flatten(), |(case, which)| {
        check(case, which)
    });
}

#[test]
fn answers_that_are_wrong() {
    let cases =
        [Closed, Open].map(|which| faults::wrong().into_iter().map(move |case| (case, which)));
    in_parallel(cases.into_iter().flatten(), |(case, which)| {
        check(case, which)
    });
}

#[test]
fn servers_that_take_nobody_in() {
    in_parallel([Closed, Open], |which| {
        let port = RefusingPort::new().unwrap();
        let url = format!("http://{}/", port.address());
        let loaded = send_there(which, &url, REQUESTS, &[]);
        let loaded = loaded.all_fail(REQUESTS, Failure::ConnectRefused, &[Connect]);
        assert_eq!(
            (loaded.seen.connections_opened, loaded.seen.connections_peak),
            (0, 0)
        );

        let full = FullBacklog::new().unwrap();
        let url = format!("http://{}/", full.address());
        let soon = ["--connect-timeout", "100ms"];
        let loaded = send_there(which, &url, REQUESTS, &soon);
        let loaded = loaded.all_fail(REQUESTS, Failure::ConnectTimeout, &[Connect]);
        assert_eq!(loaded.seen.connections_opened, 0);
        assert_eq!(full.queued().unwrap().1, 0, "none got in");
    });
}

#[test]
fn a_reset_after_the_answer_costs_at_most_the_next_request() {
    in_parallel(both([true, false]), |(keep_alive, which)| {
        let server = OracleServer::start(|_: &Turn<'_>| vec![Action::Send(hello()), Action::Reset]);
        let server = server.unwrap();
        let more: &[&str] = if keep_alive { &[] } else { &["--no-keepalive"] };
        let loaded = send_there(which, &url(&server), REQUESTS, more);
        let server = server.seen_at_rest();
        let loaded = loaded.agrees_with(&server);
        let total = &loaded.seen.total;
        if keep_alive {
            // Whether the reset or the next request is first is a race; that each is counted is not.
            let ended = total.succeeded + total.failed[Failure::Reset];
            assert_eq!((total.issued, ended), (REQUESTS, REQUESTS), "{loaded}");
            assert!(total.succeeded >= 1, "{loaded}");
            // What met the reset had no server any more.
            assert_eq!(server.requests, total.succeeded, "{loaded}");
        } else {
            // The answer was whole when the reset came.
            loaded.all_succeed(REQUESTS);
            assert_eq!(server.requests, REQUESTS);
        }
    });
}

#[test]
fn a_storm_of_5xx_is_counted_by_status_and_is_no_throughput() {
    in_parallel([Closed, Open], |which| {
        let server = OracleServer::start(|turn: &Turn<'_>| match turn.index {
            0..20 => send(hello()),
            20..50 => send(sized(503, "Retry-After: 1\r\n", b"busy")),
            _ => send(sized(500, "", b"")),
        });
        let server = server.unwrap();
        let loaded = send_there(which, &url(&server), 60, &[]).exits(1);
        let server = server.seen_at_rest();
        let loaded = loaded.agrees_with(&server);
        assert_eq!((server.requests, server.answered()), (60, 60), "{loaded}");
        let seen = &loaded.seen;
        // A 5xx is no reason for another connection.
        assert!(server.connections <= which.most(), "{loaded}");
        assert_eq!(seen.service_time.count(), 20, "{loaded}");
        assert_eq!(seen.measured.succeeded, 20, "{loaded}");
        assert_eq!(seen.measured.failed[Failure::WrongStatus], 40, "{loaded}");
        assert_eq!(
            seen.statuses,
            [(200, 20), (500, 10), (503, 30)].into(),
            "{loaded}"
        );
        let mut causes: Vec<_> = seen
            .failures
            .iter()
            .map(|group| (group.cause.as_str(), group.total))
            .collect();
        causes.sort_unstable();
        assert_eq!(causes, [("status 500", 10), ("status 503", 30)], "{loaded}");
    });
}

#[test]
fn a_server_that_stops_and_comes_back() {
    in_parallel([Closed, Open], |which| {
        let right = |_: &Turn<'_>| {
            vec![
                Action::Pause(Duration::from_millis(2)),
                Action::Send(hello()),
            ]
        };
        let first = OracleServer::start(right).unwrap();
        let url = url(&first);
        // How long there is no server, and so how many are refused, is up to the machine.
        let any = ["--fail-if", "errors>99%"];
        let more = ["--until-interrupted", "--warm-up", "0s", &url];
        let args = [which.args(), &any, &more].concat();
        let mut servers = None;
        let loaded = load_meanwhile(&args, |load| {
            eventually("requests", || (first.seen().requests >= 50).then_some(()));
            let (before, port) = first.stop().unwrap();
            // As long as there is no server, there is nobody to tell what comes: only time can pass.
            thread::sleep(Duration::from_millis(300));
            let second = OracleServer::start_on(port, right).unwrap();
            eventually("requests after the restart", || {
                (second.seen().answered() >= 20).then_some(())
            });
            load.signal(Signal::INT);
            servers = Some((before, second));
        });
        let (before, second) = servers.expect("both servers were there");
        let after = second.seen_at_rest();
        let total = &loaded.seen.total;
        let on_the_way = [
            Failure::Reset,
            Failure::ClosedEarly,
            Failure::TruncatedHead,
            Failure::TruncatedBody,
        ];
        let lost: u64 = on_the_way.iter().map(|kind| total.failed[*kind]).sum();
        let refused = total.failed[Failure::ConnectRefused];
        assert!(refused > 0, "{loaded}");
        assert_eq!(lost + refused, total.failed.total(), "{loaded}");
        // What was on its way when a server went, or when the load was stopped, may have arrived and been answered.
        let unsure = lost + total.in_flight;
        let possible = total.succeeded..=total.succeeded + unsure;
        for (what, count) in [
            ("answered", before.answered() + after.answered()),
            ("arrived", before.requests + after.requests),
        ] {
            assert!(possible.contains(&count), "{count} {what}: {loaded}");
        }
        // Each connection may have lost one with the first server and one at its door, and have had one in flight at the
        // end.
        assert!(unsure <= 3 * which.most(), "{unsure}: {loaded}");
        loaded.exits(0);
    });
}

#[test]
fn bodies_of_more_than_4_gib() {
    const PIECE: usize = 4 << 20;
    // One piece more than 32 bits count.
    const PIECES: u64 = 1_025;
    let length = (PIECE as u64 * PIECES).to_string();
    // A body is read in the same way in both loops, and each case takes seconds of CPU time.
    in_parallel([(false, Closed), (true, Open)], |(chunks, which)| {
        let script = move |_: &Turn<'_>| {
            if chunks {
                endless_chunks(PIECE, PIECES)
            } else {
                endless(PIECE, PIECES)
            }
        };
        let server = OracleServer::start(script).unwrap();
        // All at once on a small machine: this is the one run that may take its time.
        let args = [
            which.args(),
            &[
                "-n",
                "1",
                "--timeout",
                "200s",
                "--expect-length",
                &length,
                &url(&server),
            ],
        ];
        let loaded = load(&args.concat()).all_succeed(1);
        let loaded = loaded.agrees_with(&server.seen_at_rest());
        assert_eq!(loaded.seen.body_bytes.to_string(), length, "{loaded}");
    });
}

#[test]
fn http_1_0_with_and_without_keep_alive() {
    let script = |turn: &Turn<'_>| {
        let asked = turn
            .request
            .header("connection")
            .is_some_and(|value| value.eq_ignore_ascii_case("keep-alive"));
        if asked {
            send(
                "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 13\r\n\r\nHello, World!",
            )
        } else {
            vec![
                Action::Send(b"HTTP/1.0 200 OK\r\n\r\nHello, World!".to_vec()),
                Action::Fin,
            ]
        }
    };
    in_parallel(both([true, false]), |(keep_alive, which)| {
        let server = OracleServer::start(script).unwrap();
        let mut more = vec!["--http1.0", "--expect-body", BODY_TEXT];
        if !keep_alive {
            more.push("--no-keepalive");
        }
        let loaded = send_there(which, &url(&server), 20, &more).all_succeed(20);
        let server = server.seen_at_rest();
        let loaded = loaded.agrees_with(&server);
        assert_eq!(server.requests, 20, "{loaded}");
        assert!(
            server
                .first
                .iter()
                .all(|request| request.version == "HTTP/1.0")
        );
        // Without it, one may be made for a request that another connection has taken meanwhile.
        let usual = if keep_alive {
            0..=which.most()
        } else {
            20..=20 + which.most()
        };
        assert!(usual.contains(&server.connections), "{loaded}");
    });
}

#[test]
fn pipelined_requests_each_have_a_time_of_their_own() {
    const CONNECTIONS: f64 = 2.0;
    const PIPELINE: f64 = 8.0;
    in_parallel([true, false], |together| {
        let listen = Listen::ipv4().unwrap();
        let listen = if together {
            listen.answering_together()
        } else {
            listen
        };
        let slow = move |_: &Turn<'_>| {
            if together {
                send(hello())
            } else {
                vec![
                    Action::Pause(Duration::from_millis(10)),
                    Action::Send(hello()),
                ]
            }
        };
        let server = listen.serve(slow).unwrap();
        let loaded = send_there(Closed, &url(&server), 128, &["--pipeline", "8"]);
        let server = server.seen_at_rest();
        let loaded = loaded.all_succeed(128).agrees_with(&server);
        assert_eq!((server.requests, server.connections), (128, 2), "{loaded}");
        // A start that is too late makes a time shorter than the server's.
        assert_not_below("pipelined", &loaded.seen.service_time, &server);
        // One that is too early makes more requests than can have been on their way (Little's law).
        let mean = loaded.seen.service_time.mean().unwrap().as_secs_f64();
        let on_their_way = loaded.seen.throughput() * mean;
        assert!(
            on_their_way <= 1.01 * CONNECTIONS * PIPELINE,
            "{on_their_way}: {loaded}"
        );
        if !together {
            // One after the other: the pipeline is full for most of the time, and the eighth waits for seven others.
            assert!(
                on_their_way >= 0.5 * CONNECTIONS * PIPELINE,
                "{on_their_way}: {loaded}"
            );
        }
    });
}

#[test]
fn pipelined_requests_that_an_announced_end_cut_off_are_sent_again() {
    let last = vec![
        Action::Send(sized(200, "Connection: close\r\n", BODY)),
        Action::Fin,
    ];
    let server = OracleServer::start(for_the_last_of(3, send(hello()), last)).unwrap();
    let more = ["--pipeline", "8"];
    let loaded = send_there(Closed, &url(&server), 60, &more).all_succeed(60);
    let server = server.seen_at_rest();
    let loaded = loaded.agrees_with(&server);
    assert_eq!(server.answered(), 60, "{loaded}");
    // Those that were behind the announcement may have arrived, unanswered.
    assert!(loaded.seen.resent > 0, "{loaded}");
    assert!(
        (60..=60 + loaded.seen.resent).contains(&server.requests),
        "{loaded}"
    );
    assert!(server.connections >= 20, "{loaded}");
}

#[test]
fn a_load_of_silence_ends_when_its_time_and_its_grace_are_over() {
    in_parallel([Closed, Open], |which| {
        let server = OracleServer::start(|_: &Turn<'_>| vec![Action::Silence]).unwrap();
        let more = ["-d", "1s", "--warm-up", "0s", "--grace", "200ms"];
        let url = url(&server);
        let args = [which.args(), &more, &[&url]].concat();
        let loaded = load(&args).exits(3);
        assert!(loaded.took < IN_TIME, "{loaded}");
        let total = &loaded.seen.total;
        assert!(
            total.in_flight >= 2 && total.in_flight == total.issued,
            "{loaded}"
        );
        let server = server.seen_at_rest();
        assert_eq!(server.requests, total.issued, "{loaded}");
        let loaded = loaded.agrees_with(&server);
        let phases: Vec<FailurePhase> = loaded
            .seen
            .failures
            .iter()
            .map(|group| group.phase)
            .collect();
        assert_eq!(phases, []);
    });
}
