//! Connections that carry a number of requests and are made again.

use std::{
    num::NonZeroU32,
    sync::{Arc, Mutex},
};

use deadheat_model::{
    LoadSpec, Schedule,
    load::{Arrivals, HttpVersion, Protocol, Reuse, Stage},
};
use deadheat_testkit::{
    Action, OracleServer, Turn,
    answers::{BODY, hello, send, sized},
};

use crate::support::{count, run};

fn server() -> OracleServer {
    OracleServer::start(|_: &Turn<'_>| send(hello())).unwrap()
}

/// So many requests on so many connections, each of which carries at most `most`.
fn limited(server: &OracleServer, connections: u32, requests: u64, most: u32) -> LoadSpec {
    LoadSpec {
        most_per_connection: NonZeroU32::new(most),
        ..count(server.address(), connections, requests)
    }
}

fn http1(version: HttpVersion, pipeline: u32) -> Protocol {
    Protocol::Http1 {
        version,
        reuse: Reuse::KeepAlive,
        pipeline,
    }
}

#[test]
fn a_connection_ends_with_the_last_of_its_requests_which_says_so() {
    let unlike = |spec: &mut LoadSpec| {
        let request = &mut spec.exchanges[0].request;
        request.template = true;
        let own = ("Connection", "keep-alive");
        request.headers.push((own.0.to_owned(), own.1.to_owned()));
    };
    for (protocol, is_template) in [
        (http1(HttpVersion::Http11, 1), false),
        (http1(HttpVersion::Http11, 1), true),
        (http1(HttpVersion::Http10, 1), false),
        (http1(HttpVersion::Http11, 2), false),
        (http1(HttpVersion::Http11, 4), false),
    ] {
        let server = server();
        let mut spec = limited(&server, 1, 20, 4);
        spec.protocol = protocol;
        if is_template {
            unlike(&mut spec);
        }
        let seen = run(&spec);
        assert_eq!(seen.total.succeeded, 20, "{protocol:?}");
        assert_eq!(seen.resent, 0, "{protocol:?}: nothing follows the last");
        let server = server.seen_at_rest();
        assert_eq!((server.requests, server.connections), (20, 5));
        assert_eq!(seen.connections_opened, 5);
        let answers = &seen.answers_per_connection;
        assert_eq!((answers.least(), answers.most()), (Some(4), Some(4)));
        for (nth, request) in server.first.iter().enumerate() {
            let said = request.header("connection").unwrap_or_default();
            let is_last = nth % 4 == 3;
            let says_close = match protocol {
                Protocol::Http1 {
                    version: HttpVersion::Http10,
                    ..
                } => said.is_empty(),
                _ => said == "close",
            };
            assert_eq!(says_close, is_last, "{protocol:?}, {nth}: {said}");
        }
    }
}

#[test]
fn an_open_loop_makes_connections_again_as_well() {
    let server = server();
    let mut spec = limited(&server, 2, 40, 5);
    spec.schedule = Schedule::Open {
        arrivals: Arrivals::Uniform,
        stages: vec![Stage::constant(400.0)],
        connections: 2,
        most_connections: 2,
    };
    let seen = run(&spec);
    assert_eq!(seen.total.succeeded, 40, "{:?}", seen.examples);
    let server = server.seen_at_rest();
    assert_eq!(server.requests, 40);
    assert!((8..=9).contains(&server.connections), "{server:?}");
    assert_eq!(seen.answers_per_connection.most(), Some(5));
}

#[test]
fn what_is_sent_again_on_another_connection_counts_there() {
    // The server ends the first connection with its first answer: three requests that were pipelined behind it go out
    // again on another one, and one of them was to be the last of the first.
    let server = OracleServer::start(|turn: &Turn<'_>| match (turn.connection, turn.nth) {
        (0, 0) => vec![
            Action::Send(sized(200, "Connection: close\r\n", BODY)),
            Action::Fin,
        ],
        _ => send(hello()),
    });
    let server = server.unwrap();
    let mut spec = limited(&server, 1, 20, 4);
    spec.protocol = http1(HttpVersion::Http11, 4);
    let seen = run(&spec);
    assert_eq!(seen.total.succeeded, 20, "{:?}", seen.examples);
    assert_eq!(seen.resent, 3);
    let server = server.seen_at_rest();
    assert_eq!(server.connections, 6, "1 + 4 × 4 + 3");
    assert_eq!(seen.answers_per_connection.most(), Some(4));
}

#[test]
fn what_is_sent_again_keeps_the_values_of_its_placeholders() {
    // What is answered. The first connection ends with its first answer, and three more requests were sent on it.
    let answered = Arc::new(Mutex::new(Vec::new()));
    let paths = Arc::clone(&answered);
    let server = OracleServer::start(move |turn: &Turn<'_>| {
        paths.lock().unwrap().push(turn.request.path.clone());
        match (turn.connection, turn.nth) {
            (0, 0) => vec![
                Action::Send(sized(200, "Connection: close\r\n", BODY)),
                Action::Fin,
            ],
            _ => send(hello()),
        }
    });
    let server = server.unwrap();
    let mut spec = count(server.address(), 1, 20);
    spec.protocol = http1(HttpVersion::Http11, 4);
    let request = &mut spec.exchanges[0].request;
    request.path = "/{{counter}}".to_owned();
    request.template = true;
    let seen = run(&spec);
    assert_eq!(seen.total.succeeded, 20, "{:?}", seen.examples);
    assert_eq!(seen.resent, 3);
    let in_turn: Vec<String> = (0..20).map(|count| format!("/{count}")).collect();
    assert_eq!(*answered.lock().unwrap(), in_turn);
}

#[test]
fn a_server_that_does_not_close_costs_no_request() {
    let server = OracleServer::start(|turn: &Turn<'_>| match turn.nth {
        1 => vec![Action::Send(hello()), Action::Silence],
        _ => send(hello()),
    });
    let server = server.unwrap();
    let seen = run(&limited(&server, 1, 10, 2));
    assert_eq!(seen.total.succeeded, 10, "{:?}", seen.examples);
    assert_eq!(seen.connections_opened, 5);
}
