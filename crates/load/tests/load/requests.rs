//! Requests arrive as they were specified.

use deadheat_model::load::{Body, RequestSpec};
use deadheat_testkit::{
    Action, OracleServer, Script, Turn,
    answers::{BODY, chunked, hello, send, sized},
};

use crate::support::{UNTIL_STOPPED, count, expecting, lasting, run, run_until_enough};

fn echoing() -> OracleServer {
    OracleServer::start(|turn: &Turn<'_>| send(sized(200, "", &turn.request.body))).unwrap()
}

fn post(body: Body) -> RequestSpec {
    RequestSpec {
        method: "POST".to_owned(),
        headers: vec![("Content-Type".to_owned(), "text/plain".to_owned())],
        body,
        ..RequestSpec::get("/echo?x=1")
    }
}

#[test]
fn bodies_arrive_sized_and_chunked() {
    // The last is larger than what a socket's buffer takes at once: it is written in several turns.
    for body in [
        b"x".to_vec(),
        b"Hello".to_vec(),
        vec![b'y'; 50_000],
        vec![b'z'; 9_000_000],
    ] {
        let server = echoing();
        let mut spec = count(server.address(), 2, 4);
        let chunks = post(Body::Chunked(body.clone().into()));
        spec.exchanges = vec![
            expecting(post(Body::Sized(body.clone().into())), &body),
            expecting(chunks, &body),
        ];
        let seen = run(&spec);
        assert_eq!(seen.total.succeeded, 4, "{:?}", seen.examples);
        let server = server.seen_at_rest();
        assert_eq!((server.requests, server.malformed), (4, Vec::new()));
        for request in &server.first {
            assert_eq!(
                (request.method.as_str(), request.path.as_str()),
                ("POST", "/echo?x=1")
            );
            assert_eq!(request.header("content-type"), Some("text/plain"));
            assert!(request.body == body);
        }
        let in_chunks = server
            .first
            .iter()
            .filter(|request| !request.chunks.is_empty());
        let in_chunks: Vec<_> = in_chunks.collect();
        assert_eq!(in_chunks.len(), 2);
        for request in in_chunks {
            assert!(
                request.chunks.len() > 1 || body.len() < 2,
                "{:?}",
                request.chunks
            );
        }
    }
}

#[test]
fn an_answer_may_come_before_its_request_is_whole() {
    /// Answers each connection as soon as it is made.
    struct Early;
    impl Script for Early {
        fn greet(&self, _: u64) -> Vec<Action> {
            send(hello())
        }
        fn answer(&self, _: &Turn<'_>) -> Vec<Action> {
            vec![Action::Silence]
        }
    }
    let server = OracleServer::start(Early).unwrap();
    let mut spec = count(server.address(), 1, 3);
    let upload = post(Body::Sized(vec![b'z'; 9_000_000].into()));
    spec.exchanges = vec![expecting(upload, BODY)];
    let seen = run(&spec);
    assert_eq!(seen.total.succeeded, 3, "{:?}", seen.examples);
    // The rest of the request would be taken for the next one.
    assert_eq!(seen.connections_opened, 3);
    assert!(seen.sent_bytes < 3 * 9_000_000);
}

#[test]
fn host_names_the_address() {
    let server = echoing();
    let mut spec = count(server.address(), 1, 1);
    spec.exchanges = vec![expecting(RequestSpec::get("/"), b"")];
    run(&spec);
    let host = server.seen_at_rest().first[0]
        .header("host")
        .map(str::to_owned);
    assert_eq!(host, Some(server.address().to_string()));
}

#[test]
fn a_large_body_is_counted_and_compared() {
    let large = vec![b'd'; 1 << 20];
    let answer = large.clone();
    let server = OracleServer::start(move |turn: &Turn<'_>| match turn.nth % 2 {
        0 => send(sized(200, "", &answer)),
        _ => send(chunked(200, &answer, 70_000)),
    });
    let server = server.unwrap();
    let mut spec = lasting(server.address(), 4, 0, UNTIL_STOPPED);
    spec.exchanges = vec![expecting(RequestSpec::get("/"), &large)];
    spec.exchanges[0].expect.content = Some(deadheat_model::load::Content::Repeated {
        byte: b'd',
        count: 1 << 20,
    });
    // At most four of these have no answer yet.
    let seen = run_until_enough(&spec, || server.seen().requests >= 12);
    assert_eq!(seen.total.failed.total(), 0, "{:?}", seen.examples);
    assert!(seen.measured.succeeded >= 8, "{:?}", seen.measured);
    assert_eq!(seen.content_checked, seen.measured.succeeded);
    // What is in flight at the end has brought bytes, too.
    assert!(seen.body_bytes >= seen.measured.succeeded << 20);
    assert!(seen.body_bytes <= (seen.measured.succeeded + 4) << 20);
}
