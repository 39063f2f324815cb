//! What a server can make a load wait for, keep or blame on itself.

use std::{
    net::{Ipv4Addr, TcpListener},
    thread,
    time::Duration,
};

use deadheat_model::{Failure, LoadSpec, StopRule, failure::FailurePhase, load::RequestSpec};
use deadheat_testkit::{
    Authority,
    http2::{Peer, RawHttp2, answer, frame, head, kind, number, setting},
    judge::least,
};

use super::{
    breaking::{BODY, for_each, greet},
    over_http2,
};
use crate::{
    arrivals::open,
    support::{count, expecting, run},
    tls::believing,
};

/// What waits for a server that accepts no stream is no lag of the generator's.
#[test]
fn a_server_that_accepts_no_stream_is_the_limit_and_the_generator_is_not() {
    let silent: fn(&mut Peer) = |peer| peer.until_closed();
    let closed_to_all: fn(&mut Peer) = |peer| {
        peer.send(&setting(3, 0));
        peer.until_closed();
    };
    // It takes connections, and no handshake ends.
    let mute = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let lag_of = |spec: LoadSpec| {
        least(0.1, || {
            let seen = run(&spec);
            assert_eq!(seen.total.succeeded, 0);
            let open = seen.open.expect("an open loop");
            open.send_lag.max().map_or(0.0, |lag| lag.as_secs_f64())
        })
    };
    // What ends the waiting: a time for connecting, or a request's own.
    let milliseconds = Duration::from_millis;
    let waits = [
        (milliseconds(300), milliseconds(60_000)),
        (milliseconds(10_000), milliseconds(300)),
    ];
    let spec = |address, (connect, request)| {
        let mut spec = open(address, 300.0, 8);
        spec.stop = StopRule::Duration {
            length: Duration::from_millis(1_200),
        };
        (spec.timeouts.connect, spec.timeouts.request) = (connect, request);
        spec.timeouts.drain = Duration::from_millis(1);
        spec
    };
    for wait in waits {
        for script in [silent, closed_to_all] {
            let server = RawHttp2::start(script).unwrap();
            let lag = lag_of(over_http2(spec(server.address(), wait), 2));
            assert!(lag < 0.1, "{lag} s, {wait:?}");
        }
        let mut over_tls = spec(mute.local_addr().unwrap(), wait);
        over_tls.target.tls = Some(believing(&Authority::new().unwrap()));
        let lag = lag_of(over_tls);
        assert!(lag < 0.1, "{lag} s over TLS, {wait:?}");
    }
}

/// What follows an answer is not lost on the way to the next request.
#[test]
fn bytes_after_an_answer_fail_the_next_request() {
    let server = RawHttp2::start(|peer| {
        for_each(peer, |stream| {
            [answer(stream, BODY), frame(kind::DATA, 0, stream, b"more")].concat()
        });
    })
    .unwrap();
    let mut spec = over_http2(count(server.address(), 1, 10), 1);
    spec.exchanges = vec![expecting(RequestSpec::get("/"), BODY)];
    let seen = run(&spec);
    assert_eq!(seen.total.succeeded, 5, "{:?}", seen.failures);
    assert_eq!(seen.total.failed[Failure::Http2], 5);
    assert!(seen.failures[0].cause.contains("whose answer had ended"));
}

/// A server that takes one byte of a body at a time keeps a request until its time is up, and not longer.
#[test]
fn tiny_windows_end_with_the_requests_time() {
    let server = RawHttp2::start(|peer| {
        peer.send(&setting(4, 1));
        while let Some(next) = peer.frame() {
            if next.kind == kind::DATA {
                thread::sleep(Duration::from_millis(5));
                peer.send(&number(kind::WINDOW_UPDATE, next.stream, 1));
            }
        }
    })
    .unwrap();
    let mut spec = over_http2(count(server.address(), 1, 2), 2);
    spec.timeouts.request = Duration::from_millis(200);
    spec.exchanges = vec![expecting(super::post("/", &[0; 5_000]), BODY)];
    let seen = run(&spec);
    assert_eq!(
        seen.total.failed[Failure::Timeout],
        2,
        "{:?}",
        seen.failures
    );
    // The rest of the body could not be sent.
    assert_eq!(seen.failures[0].phase, FailurePhase::Write);
}

/// A server that asks for more than it reads.
#[test]
fn what_a_server_does_not_read_is_bounded() {
    let server = RawHttp2::start(|peer| {
        greet(peer);
        let Some(stream) = peer.request() else {
            return;
        };
        peer.send(&head(stream, 0));
        // Each piece is progress, so that only what waits to be written can end it.
        let pings = frame(kind::PING, 0, 0, &[0; 8]).repeat(2_000);
        let piece = [frame(kind::DATA, 0, stream, &[0; 1_024]), pings].concat();
        for _ in 0..20_000 {
            peer.send(&piece);
        }
    })
    .unwrap();
    let mut spec = over_http2(count(server.address(), 1, 1), 1);
    spec.exchanges = vec![expecting(RequestSpec::get("/"), BODY)];
    let seen = run(&spec);
    assert_eq!(seen.total.failed[Failure::Http2], 1, "{:?}", seen.failures);
    assert!(seen.failures[0].cause.contains("does not read"));
}
