//! Every kind of answer is counted as what it is, and each request once.

use std::time::Duration;

use deadheat_model::{Failure, load::RequestSpec};
use deadheat_testkit::{
    OracleServer, RefusingPort, Turn,
    answers::{BODY, hello, send, sized},
    faults::{self, Case},
    right_then,
};

use crate::support::{count, exchange_of, expecting, run};

const REQUESTS: u64 = 7;

fn check(case: Case) {
    let Case {
        name,
        outcome,
        keeps,
        body,
        ..
    } = case;
    let accepted_only = !case.greet.is_empty();
    let exchange = exchange_of(&case);
    let server = OracleServer::start(case).unwrap();
    let mut spec = count(server.address(), 2, REQUESTS);
    spec.exchanges = vec![exchange];
    if outcome == Err(Failure::Timeout) {
        spec.timeouts.request = Duration::from_millis(250);
    }
    let seen = run(&spec);
    let server = server.seen_at_rest();
    assert_eq!(seen.total.issued, REQUESTS, "{name}");
    assert_eq!(server.malformed, [""; 0], "{name}");
    match outcome {
        Ok(()) => {
            assert_eq!(
                seen.total.succeeded, REQUESTS,
                "{name}: {:?}",
                seen.examples
            );
            let bytes = REQUESTS * body.len() as u64;
            assert_eq!(
                (seen.body_bytes, seen.valid_body_bytes),
                (bytes, bytes),
                "{name}"
            );
            assert_eq!(seen.content_checked, REQUESTS, "{name}");
        }
        Err(kind) => {
            assert_eq!(
                (seen.total.succeeded, seen.valid_body_bytes),
                (0, 0),
                "{name}"
            );
            assert_eq!(
                seen.total.failed[kind], REQUESTS,
                "{name}: {:?}",
                seen.examples
            );
            assert_eq!(
                seen.service_time.count(),
                0,
                "{name}: a failure has no latency"
            );
        }
    }
    if accepted_only {
        return;
    }
    assert_eq!(
        server.requests, REQUESTS,
        "{name}: every request was seen, and none twice"
    );
    if keeps {
        assert!(
            server.connections <= 2,
            "{name}: {} connections",
            server.connections
        )
    } else {
        assert!(
            server.connections >= REQUESTS,
            "{name}: {} connections",
            server.connections
        )
    }
}

#[test]
fn right_answers_are_right_however_odd() {
    faults::right().into_iter().for_each(check);
}

#[test]
fn wrong_answers_are_failures_of_their_kind() {
    faults::wrong().into_iter().for_each(check);
}

#[test]
fn a_refused_connection_is_a_failed_request() {
    let port = RefusingPort::new().unwrap();
    let seen = run(&count(port.address(), 3, 10));
    assert_eq!(seen.total.issued, 10);
    assert_eq!(seen.total.failed[Failure::ConnectRefused], 10);
    assert_eq!((seen.connections_opened, seen.connections_peak), (0, 0));
}

#[test]
fn answers_that_turn_wrong_are_told_apart() {
    let right = 20;
    let script = right_then(right, send(hello()), send(sized(500, "", b"sorry")));
    let server = OracleServer::start(script).unwrap();
    let seen = run(&count(server.address(), 3, 50));
    assert_eq!(seen.total.succeeded, right);
    assert_eq!(seen.total.failed[Failure::WrongStatus], 50 - right);
    assert_eq!(seen.examples.len(), 3, "three of a kind and worker");
    assert!(
        seen.examples[0].detail.starts_with("HTTP/1.1 500"),
        "{:?}",
        seen.examples
    );
}

#[test]
fn each_exchange_has_its_own_sample() {
    // As many exchanges as the sample is wide: one counter for all of them would look at the first one alone.
    let server = OracleServer::start(|turn: &Turn<'_>| match turn.request.path.as_str() {
        "/right" => send(hello()),
        _ => send(sized(200, "", b"Hello, Wurld!")),
    });
    let server = server.unwrap();
    let mut spec = count(server.address(), 1, 40);
    spec.exchanges = ["/right", "/wrong"]
        .map(|path| expecting(RequestSpec::get(path), BODY))
        .into();
    spec.content_sample = 2;
    let seen = run(&spec);
    assert_eq!(seen.content_checked, 20);
    assert_eq!(seen.total.failed[Failure::WrongContent], 10);
}

#[test]
fn unsampled_answers_are_judged_by_status_and_length_alone() {
    let server = OracleServer::start(right_then(
        1,
        send(hello()),
        send(sized(200, "", b"Hello, Wurld!")),
    ))
    .unwrap();
    let mut spec = count(server.address(), 1, 30);
    spec.content_sample = 10;
    let seen = run(&spec);
    assert_eq!(seen.content_checked, 3);
    assert_eq!(seen.total.failed[Failure::WrongContent], 2);
    spec.content_sample = 0;
    let seen = run(&spec);
    assert_eq!((seen.content_checked, seen.total.succeeded), (0, 30));
}
