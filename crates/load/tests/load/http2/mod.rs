//! HTTP/2, against servers that keep to its rules and servers that do not.

mod bounded;
mod breaking;
mod grpc;

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
        mpsc,
    },
    time::Duration,
};

use deadheat_load::{Session, Slice};
use deadheat_model::{
    Exchange, Failure, LoadSpec, StopRule,
    load::{Body, Protocol, RequestSpec},
};
use deadheat_testkit::{
    Authority, Listen, OracleServer, Turn,
    answers::{hello, send},
    http2::{self, END_STREAM, RawHttp2, kind},
    http2_server::{Counts, ReceivedRequest, Reply, Server, Setup},
    wait_until,
};
use proptest::prelude::*;

use crate::{
    arrivals::open,
    support::{count, expecting, lasting, run},
    tls::{believing, localhost},
};

/// A load in HTTP/2 with so many streams on a connection.
fn over_http2(spec: LoadSpec, streams: u32) -> LoadSpec {
    LoadSpec {
        protocol: Protocol::Http2 { streams },
        ..spec
    }
}

fn post(path: &str, body: &[u8]) -> RequestSpec {
    RequestSpec {
        method: "POST".to_owned(),
        body: Body::Sized(body.to_vec().into()),
        ..RequestSpec::get(path)
    }
}

/// Answers with the request's body.
fn echo(asked: &ReceivedRequest) -> Reply {
    Reply {
        body: asked.body.clone(),
        with_length: asked.nth.is_multiple_of(2),
        ..Reply::default()
    }
}

/// A body of so many bytes that a cut or a shift changes.
fn body(length: usize) -> Vec<u8> {
    (0..length).map(|at| (at / 3 + at / 1_021) as u8).collect()
}

const SIZES: [usize; 6] = [0, 1, 16_384, 65_535, 65_536, 5_000_000];

#[test]
fn bodies_of_all_sizes_travel_both_ways() {
    for (length, window) in SIZES
        .iter()
        .flat_map(|length| [(*length, None), (*length, Some(100_000))])
    {
        let setup = Setup {
            window,
            ..Setup::default()
        };
        let server = Server::start(setup, echo).unwrap();
        let mut spec = over_http2(count(server.address, 2, 12), 3);
        let body = body(length);
        spec.exchanges = vec![expecting(post("/echo", &body), &body)];
        let seen = run(&spec);
        assert_eq!(seen.total.succeeded, 12, "{length}: {:?}", seen.examples);
        let bytes = 12 * length as u64;
        assert_eq!((seen.body_bytes, seen.content_checked), (bytes, 12));
        assert_eq!(Counts::get(&server.seen.body_bytes), bytes);
        assert_eq!(Counts::get(&server.seen.requests), 12);
    }
}

#[test]
fn connections_times_streams_are_in_flight() {
    let server = Server::start(Setup::default(), |_| Reply {
        body: b"x".to_vec(),
        after: Duration::from_millis(30),
        ..Reply::default()
    })
    .unwrap();
    let mut spec = over_http2(count(server.address, 3, 60), 5);
    spec.exchanges = vec![expecting(RequestSpec::get("/"), b"x")];
    let seen = run(&spec);
    assert_eq!(seen.total.succeeded, 60, "{:?}", seen.examples);
    assert_eq!(Counts::get(&server.seen.most_open), 15);
    assert_eq!((seen.connections_opened, seen.fewest_streams), (3, None));
}

#[test]
fn a_server_that_allows_fewer_streams_gets_fewer() {
    let setup = Setup {
        most_streams: Some(1),
        ..Setup::default()
    };
    let server = Server::start(setup, |_| Reply {
        after: Duration::from_millis(2),
        ..Reply::default()
    })
    .unwrap();
    let closed = over_http2(count(server.address, 2, 40), 8);
    let mut at_a_rate = over_http2(open(server.address, 400.0, 2), 8);
    at_a_rate.stop = StopRule::Count { requests: 40 };
    for mut spec in [closed, at_a_rate] {
        spec.exchanges = vec![expecting(RequestSpec::get("/"), b"")];
        let seen = run(&spec);
        assert_eq!(seen.total.succeeded, 40, "{:?}", seen.examples);
        assert_eq!(seen.fewest_streams, Some(1));
        assert!(Counts::get(&server.seen.most_open) <= 2);
    }
}

#[test]
fn a_server_that_goes_gets_no_new_requests_and_loses_none() {
    let setup = Setup {
        most_requests: 7,
        ..Setup::default()
    };
    let server = Server::start(setup, |asked| Reply {
        after: Duration::from_millis(asked.nth % 3),
        ..Reply::default()
    })
    .unwrap();
    let closed = over_http2(count(server.address, 2, 200), 4);
    let mut at_a_rate = over_http2(open(server.address, 1_000.0, 2), 4);
    at_a_rate.stop = StopRule::Count { requests: 200 };
    for mut spec in [closed, at_a_rate] {
        spec.exchanges = vec![expecting(post("/", b"abc"), b"")];
        let before = Counts::get(&server.seen.answers);
        let seen = run(&spec);
        assert_eq!(seen.total.succeeded, 200, "{:?}", seen.failures);
        assert_eq!(Counts::get(&server.seen.answers) - before, 200);
        assert!(seen.connections_opened > 20, "{}", seen.connections_opened);
    }
}

/// The first connection looks at one of four requests; the second one at all.
fn going(peer: &mut http2::Peer) {
    peer.send(&http2::frame(kind::SETTINGS, 0, 0, &[]));
    if peer.connection > 0 {
        while let Some(stream) = peer.request() {
            peer.send(&http2::head(stream, END_STREAM));
        }
        return;
    }
    let streams: Vec<u32> = (0..4).filter_map(|_| peer.request()).collect();
    peer.send(&http2::goaway(streams[0], 0));
    peer.send(&http2::head(streams[0], END_STREAM));
    peer.until_closed();
}

#[test]
fn what_a_server_has_not_looked_at_is_sent_again_and_is_one_request() {
    let server = RawHttp2::start(going).unwrap();
    let mut spec = over_http2(count(server.address(), 1, 10), 4);
    spec.exchanges = vec![expecting(RequestSpec::get("/"), b"")];
    let seen = run(&spec);
    assert_eq!((seen.total.issued, seen.total.succeeded), (10, 10));
    assert_eq!((seen.resent, server.requests()), (3, 13));
    assert_eq!(seen.connections_opened, 2);
}

#[test]
fn what_is_sent_again_is_sent_in_the_order_of_the_requests() {
    // Each connection answers the first request that it gets, and goes.
    let (sender, first) = mpsc::channel();
    let server = RawHttp2::start(move |peer| {
        peer.send(&http2::frame(kind::SETTINGS, 0, 0, &[]));
        while let Some(frame) = peer.frame() {
            if frame.kind == kind::HEADERS {
                let path = String::from_utf8_lossy(&frame.payload).into_owned();
                let _ = sender.send(
                    path.chars()
                        .filter(char::is_ascii_digit)
                        .collect::<String>(),
                );
                let answer = http2::head(frame.stream, END_STREAM);
                peer.send(&[http2::goaway(frame.stream, 0), answer].concat());
                peer.until_closed();
            }
        }
    })
    .unwrap();
    let in_turn: Vec<String> = (10..34).map(|path| path.to_string()).collect();
    let fixed = |path: &String| expecting(RequestSpec::get(format!("/{path}")), b"");
    let fixed: Vec<Exchange> = in_turn.iter().map(fixed).collect();
    // However often it is sent, a request from a template has its own line.
    let template = RequestSpec {
        template: true,
        ..RequestSpec::get("/{{line paths}}")
    };
    for exchanges in [fixed, vec![expecting(template, b"")]] {
        let mut spec = over_http2(count(server.address(), 1, 24), 8);
        spec.exchanges = exchanges;
        spec.lists.insert("paths".to_owned(), in_turn.clone());
        let seen = run(&spec);
        assert_eq!(seen.total.succeeded, 24, "{:?}", seen.failures);
        // Behind the address.
        let answered = first
            .try_iter()
            .map(|digits| digits[digits.len() - 2..].to_owned());
        let answered: Vec<String> = answered.collect();
        assert_eq!(answered, in_turn);
    }
}

#[test]
fn slow_answers_on_connections_that_go_hold_back_no_other_request() {
    // Each of the first three connections takes all requests that it can have, goes, and answers all but one. That one is
    // answered once the fourth connection has had twenty.
    let fourth = Arc::new(AtomicU64::new(0));
    let counted = Arc::clone(&fourth);
    let server = RawHttp2::start(move |peer| {
        peer.send(&http2::frame(kind::SETTINGS, 0, 0, &[]));
        if peer.connection == 3 {
            while let Some(stream) = peer.request() {
                counted.fetch_add(1, Ordering::SeqCst);
                peer.send(&http2::head(stream, END_STREAM));
            }
            return;
        }
        let streams: Vec<u32> = (peer.connection..8)
            .filter_map(|_| peer.request())
            .collect();
        let (slow, quick) = streams.split_first().unwrap();
        let heads = quick.iter().map(|stream| http2::head(*stream, END_STREAM));
        let heads: Vec<u8> = heads.flatten().collect();
        let last = streams[streams.len() - 1];
        peer.send(&[http2::goaway(last, 0), heads].concat());
        wait_until("the fourth connection has had twenty", || {
            counted.load(Ordering::SeqCst) >= 20
        });
        peer.send(&http2::head(*slow, END_STREAM));
        peer.until_closed();
    })
    .unwrap();
    let mut spec = over_http2(count(server.address(), 1, 60), 8);
    spec.exchanges = vec![expecting(RequestSpec::get("/"), b"")];
    let seen = run(&spec);
    assert_eq!(seen.total.succeeded, 60, "{:?}", seen.failures);
    assert_eq!((seen.resent, server.requests()), (0, 60));
    assert_eq!(seen.connections_opened, 4);
    assert_eq!(fourth.load(Ordering::SeqCst), 60 - 8 - 7 - 6);
}

#[test]
fn an_open_loop_waits_for_a_stream_and_that_is_response_time() {
    let server = Server::start(Setup::default(), |_| Reply {
        after: Duration::from_millis(50),
        ..Reply::default()
    })
    .unwrap();
    let mut spec = over_http2(open(server.address, 100.0, 1), 2);
    spec.stop = StopRule::Count { requests: 40 };
    spec.exchanges = vec![expecting(RequestSpec::get("/"), b"")];
    let seen = run(&spec);
    assert_eq!(seen.total.succeeded, 40, "{:?}", seen.examples);
    let open = seen.open.expect("an open loop");
    // 40 requests of 50 ms, two at once, take 1 s; the last was due after 0.4 s.
    let waited = open.connection_wait.max().unwrap();
    let response = open.response_time.max().unwrap();
    assert!(waited >= Duration::from_millis(400), "{waited:?}");
    assert!(
        response >= waited + Duration::from_millis(45),
        "{response:?}"
    );
    assert_eq!(Counts::get(&server.seen.most_open), 2);
}

#[test]
fn both_sides_agree_on_http2_in_tls() {
    let authority = Authority::new().unwrap();
    let tls = localhost(&authority).speaking(&["h2"]).unwrap();
    for tls in [tls.clone(), tls.only_1_2().unwrap()] {
        let setup = Setup {
            tls: Some(tls),
            ..Setup::default()
        };
        let server = Server::start(setup, echo).unwrap();
        let body = body(200_000);
        let mut spec = over_http2(count(server.address, 2, 50), 4);
        spec.exchanges = vec![expecting(post("/", &body), &body)];
        spec.target.tls = Some(believing(&authority));
        let seen = run(&spec);
        assert_eq!(seen.total.succeeded, 50, "{:?}", seen.examples);
    }
}

#[test]
fn a_server_that_does_not_agree_is_refused_with_what_it_offers() {
    let authority = Authority::new().unwrap();
    let cases: [(&[&str], &str); 3] = [
        (&["http/1.1"], "it offers HTTP/1.1"),
        (&[], "it offers no protocol"),
        (&["spdy/3"], "no_application_protocol"),
    ];
    for (protocols, why) in cases {
        let tls = localhost(&authority).speaking(protocols).unwrap();
        let listen = Listen::ipv4().unwrap().over_tls(tls);
        let server = listen.serve(|_: &Turn<'_>| send(hello())).unwrap();
        let mut spec = over_http2(count(server.address(), 1, 2), 4);
        spec.target.tls = Some(believing(&authority));
        let seen = run(&spec);
        assert_eq!(seen.total.failed[Failure::Tls], 2, "{:?}", seen.failures);
        let cause = &seen.failures[0].cause;
        assert!(cause.contains(why), "{cause} instead of {why}");
        assert_eq!(server.seen_at_rest().requests, 0);
    }
}

#[test]
fn a_server_of_http1_is_told_from_one_of_http2() {
    let server = OracleServer::start(|_: &Turn<'_>| send(hello())).unwrap();
    let spec = over_http2(count(server.address(), 1, 2), 2);
    let seen = run(&spec);
    assert_eq!(seen.total.failed.total(), 2);
    let cause = &seen.failures[0].cause;
    assert!(cause.contains("HTTP/2"), "{cause}");
}

#[test]
fn templates_fill_paths_headers_and_bodies() {
    let server = Server::start(Setup::default(), |asked| {
        let path = asked.head.uri().path();
        let header = &asked.head.headers()["x-n"];
        let length = &asked.head.headers()["content-length"];
        let right = header == path.trim_start_matches('/')
            && asked.body == format!("<{}>", &path[1..]).as_bytes()
            && length == asked.body.len().to_string().as_str();
        Reply {
            status: if right { 200 } else { 400 },
            ..Reply::default()
        }
    })
    .unwrap();
    let mut spec = over_http2(count(server.address, 2, 30), 3);
    let request = RequestSpec {
        template: true,
        headers: vec![("X-N".to_owned(), "{{counter}}".to_owned())],
        ..post("/{{counter}}", b"<{{counter}}>")
    };
    spec.exchanges = vec![expecting(request, b"")];
    let seen = run(&spec);
    assert_eq!(seen.total.succeeded, 30, "{:?}", seen.examples);
}

#[test]
fn connections_are_held_from_slice_to_slice() {
    let server = Server::start(Setup::default(), echo).unwrap();
    let mut spec = over_http2(lasting(server.address, 2, 0, 60_000), 4);
    spec.timeouts.drain = Duration::from_secs(10);
    spec.exchanges = vec![expecting(post("/", b"abc"), b"abc")];
    spec.stop = StopRule::Interrupt;
    let mut session = Session::open(spec, Arc::default()).unwrap();
    // On a busy machine, a server may not get a CPU in a slice.
    let mut slices_with_answers = 0;
    for _ in 0..100 {
        if slices_with_answers == 4 {
            break;
        }
        let wanted = Slice {
            guard: Duration::from_millis(5),
            length: Duration::from_millis(40),
        };
        let slice = session.slice(wanted, &mut |_| {}).unwrap();
        let tally = &slice.observation.total;
        assert!(
            tally.is_conserved() && tally.failed.total() == 0,
            "{tally:?}"
        );
        assert_eq!(tally.in_flight, 0, "{tally:?}");
        slices_with_answers += u32::from(tally.succeeded > 0);
    }
    assert_eq!(slices_with_answers, 4);
    assert_eq!(Counts::get(&server.seen.connections), 2);
}

#[test]
fn failures_are_those_of_their_streams() {
    let server = Server::start(Setup::default(), |asked| match asked.nth % 4 {
        0 => Reply {
            reset: Some(0xb),
            ..Reply::default()
        },
        1 => Reply {
            status: 503,
            ..Reply::default()
        },
        _ => Reply::default(),
    })
    .unwrap();
    let mut spec = over_http2(count(server.address, 1, 40), 4);
    spec.exchanges = vec![expecting(RequestSpec::get("/"), b"")];
    let seen = run(&spec);
    assert_eq!(seen.total.succeeded, 20);
    assert_eq!(seen.total.failed[Failure::WrongStatus], 10);
    assert_eq!(seen.total.failed[Failure::StreamReset], 10);
    assert_eq!(seen.connections_opened, 1, "the connection goes on");
    let causes = seen.failures.iter().map(|group| group.cause.as_str());
    assert!(
        causes
            .clone()
            .any(|cause| cause.ends_with("ENHANCE_YOUR_CALM"))
    );
    assert!(causes.clone().any(|cause| cause == "status 503"));
}

#[test]
fn late_answers_fail_alone_and_the_connection_is_made_again() {
    let server = Server::start(Setup::default(), |asked| Reply {
        after: match asked.head.uri().path() {
            "/slow" => Duration::from_secs(30),
            _ => Duration::ZERO,
        },
        ..Reply::default()
    })
    .unwrap();
    let mut spec = over_http2(count(server.address, 1, 30), 3);
    spec.timeouts.request = Duration::from_millis(300);
    let quick = Exchange {
        weight: 9,
        ..expecting(RequestSpec::get("/quick"), b"")
    };
    spec.exchanges = vec![expecting(RequestSpec::get("/slow"), b""), quick];
    let seen = run(&spec);
    assert_eq!(
        seen.total.failed[Failure::Timeout],
        3,
        "{:?}",
        seen.failures
    );
    assert_eq!(seen.total.succeeded, 27);
}

/// What a server does with the request of this number: all that is right.
fn by_number(asked: &ReceivedRequest, seed: u64) -> Reply {
    let mut dice = asked.nth.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ seed;
    let mut roll = |sides: u64| {
        dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (dice >> 33) % sides
    };
    Reply {
        after: Duration::from_millis(roll(4)),
        with_length: roll(2) == 0,
        trailers: if roll(3) == 0 { &[("x-sum", "7")] } else { &[] },
        ..echo(asked)
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn random_conversations_with_a_right_server_lose_and_invent_nothing(
        seed in any::<u64>(),
        connections in 1u32..4,
        streams in 1u32..9,
        most_streams in prop::option::of(1u32..12),
        window in prop::option::of(1_000u32..100_000),
        most_requests in prop_oneof![3 => Just(u64::MAX), 1 => 1u64..20],
        lengths in prop::collection::vec(prop_oneof![0usize..100, 0usize..70_000], 1..4),
        is_open in any::<bool>(),
    ) {
        let setup = Setup { most_streams, window, most_requests, tls: None };
        let server = Server::start(setup, move |asked| by_number(asked, seed)).unwrap();
        let mut spec = if is_open {
            open(server.address, 3_000.0, connections)
        } else {
            count(server.address, connections, 0)
        };
        spec.stop = StopRule::Count { requests: 60 };
        spec = over_http2(spec, streams);
        let bodies = lengths.iter().map(|length| body(*length));
        spec.exchanges = bodies.map(|body| expecting(post("/", &body), &body)).collect();
        let seen = run(&spec);
        prop_assert_eq!(seen.total.succeeded, 60, "{:?}", seen.failures);
        prop_assert_eq!(server.seen.answers.load(Ordering::SeqCst), 60);
    }
}
