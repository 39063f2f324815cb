//! Unary calls of gRPC, against servers that keep to its rules and servers that do not.

use deadheat_model::{
    Failure, LoadSpec, StopRule,
    load::{Body, Content, Exchange, Expectation, RequestSpec, StatusSet},
};
use deadheat_testkit::{
    http2::{END_HEADERS, END_STREAM, RawHttp2, frame, head, kind},
    http2_server::{ReceivedRequest, Reply, Server, Setup},
};

use super::over_http2;
use crate::{
    arrivals::open,
    support::{count, run},
};

/// A message in its frame.
fn framed(message: &[u8]) -> Vec<u8> {
    let length = (message.len() as u32).to_be_bytes();
    [&[0], &length[..], message].concat()
}

/// A call whose answer has this message.
fn call(message: &[u8], expected: &[u8]) -> Exchange {
    let request = RequestSpec {
        method: "POST".to_owned(),
        body: Body::Call(message.to_vec().into()),
        ..RequestSpec::get("/test.Echo/Say")
    };
    let expect = Expectation {
        status: StatusSet::just(200),
        length: Some(expected.len() as u64),
        content: Some(Content::Exact {
            bytes: expected.to_vec(),
        }),
    };
    Exchange::new(request, expect)
}

/// Echoes the message of a call; anything else gets an error status.
fn echo(asked: &ReceivedRequest) -> Reply {
    let headers = asked.head.headers();
    let is_call = asked.head.method() == "POST"
        && asked.head.uri().path() == "/test.Echo/Say"
        && headers["te"] == "trailers"
        && headers["content-type"] == "application/grpc"
        && !headers.contains_key("content-length")
        && asked.body.len() >= 5
        && asked.body == framed(&asked.body[5..]);
    Reply {
        body: asked.body.clone(),
        trailers: if is_call {
            &[("grpc-status", "0")]
        } else {
            &[("grpc-status", "13")]
        },
        ..Reply::default()
    }
}

#[test]
fn messages_of_all_sizes_travel_both_ways_in_both_loops() {
    let server = Server::start(Setup::default(), echo).unwrap();
    for length in [0, 1, 16_379, 16_380, 1_000_000] {
        let message = super::body(length);
        let closed = count(server.address, 2, 12);
        let mut at_a_rate = open(server.address, 1_000.0, 2);
        at_a_rate.stop = StopRule::Count { requests: 12 };
        for spec in [closed, at_a_rate] {
            let mut spec = over_http2(spec, 3);
            spec.exchanges = vec![call(&message, &message)];
            let seen = run(&spec);
            assert_eq!(seen.total.succeeded, 12, "{length}: {:?}", seen.examples);
            assert_eq!(seen.content_checked, 12);
        }
    }
}

#[test]
fn messages_from_templates_have_their_own_lengths() {
    let server = Server::start(Setup::default(), echo).unwrap();
    let mut spec = over_http2(count(server.address, 1, 120), 4);
    let mut exchange = call(b"<{{counter}}>", b"");
    exchange.request.template = true;
    exchange.expect.length = None;
    exchange.expect.content = Some(Content::Contains {
        bytes: b">".to_vec(),
    });
    spec.exchanges = vec![exchange];
    let seen = run(&spec);
    assert_eq!(seen.total.succeeded, 120, "{:?}", seen.examples);
}

/// A header field, without indexing.
fn field(name: &str, value: &str) -> Vec<u8> {
    let text = |text: &str| [&[text.len() as u8], text.as_bytes()].concat();
    [vec![0], text(name), text(value)].concat()
}

/// A header block that ends an answer.
fn last(stream: u32, block: &[u8]) -> Vec<u8> {
    frame(kind::HEADERS, END_STREAM | END_HEADERS, stream, block)
}

/// A head and this body, and trailers with this status.
fn answered(stream: u32, body: &[u8], status: &str) -> Vec<u8> {
    let data = frame(kind::DATA, 0, stream, body);
    let trailers = last(stream, &field("grpc-status", status));
    [head(stream, 0), data, trailers].concat()
}

/// What a server answers, what that is, and what comes of each call.
type Case = (&'static str, fn(u32) -> Vec<u8>, Failure, &'static str);

const CASES: &[Case] = &[
    (
        "no trailers",
        |stream| {
            let data = frame(kind::DATA, END_STREAM, stream, &framed(b"hello"));
            [head(stream, 0), data].concat()
        },
        Failure::Grpc,
        "no grpc-status",
    ),
    (
        "a status other than 0",
        |stream| answered(stream, b"", "14"),
        Failure::Grpc,
        "UNAVAILABLE",
    ),
    (
        "a status other than 0 behind a message",
        |stream| answered(stream, &framed(b"hello"), "8"),
        Failure::Grpc,
        "RESOURCE_EXHAUSTED",
    ),
    (
        "trailers alone",
        |stream| {
            let status = field("grpc-status", "16");
            last(stream, &[&[0x88], &status[..]].concat())
        },
        Failure::Grpc,
        "UNAUTHENTICATED",
    ),
    (
        "a status that is no number",
        |stream| answered(stream, &framed(b"hello"), "OK"),
        Failure::Grpc,
        "a grpc-status that is not a number",
    ),
    (
        "a status in front of the message, and none behind it",
        |stream| {
            let status = [&[0x88], &field("grpc-status", "0")[..]].concat();
            let head = frame(kind::HEADERS, END_HEADERS, stream, &status);
            let data = frame(kind::DATA, END_STREAM, stream, &framed(b"hello"));
            [head, data].concat()
        },
        Failure::Grpc,
        "no grpc-status",
    ),
    (
        "success without a message",
        |stream| answered(stream, b"", "0"),
        Failure::Grpc,
        "no message",
    ),
    (
        "a message that is shorter than its prefix announces",
        |stream| answered(stream, b"\0\0\0\0\x06hello", "0"),
        Failure::Grpc,
        "shorter than the length in its prefix",
    ),
    (
        "a prefix that is cut",
        |stream| answered(stream, b"\0\0\0", "0"),
        Failure::Grpc,
        "shorter than the length in its prefix",
    ),
    (
        "two messages",
        |stream| answered(stream, &framed(b"hello").repeat(2), "0"),
        Failure::Grpc,
        "more than one message",
    ),
    (
        "a compressed message",
        |stream| answered(stream, b"\x01\0\0\0\x05hello", "0"),
        Failure::Grpc,
        "compressed",
    ),
    (
        "another HTTP status",
        |stream| last(stream, &[0x8d]),
        Failure::WrongStatus,
        "status 404",
    ),
    (
        "another message",
        |stream| answered(stream, &framed(b"hullo"), "0"),
        Failure::WrongContent,
        "another content",
    ),
];

fn against(
    say: impl Fn(u32) -> Vec<u8> + Send + Sync + 'static,
    set: impl Fn(&mut LoadSpec),
) -> deadheat_model::Observation {
    let server = RawHttp2::start(move |peer| {
        peer.send(&frame(kind::SETTINGS, 0, 0, &[]));
        while let Some(stream) = peer.request() {
            peer.send(&say(stream));
        }
    })
    .unwrap();
    let mut spec = over_http2(count(server.address(), 1, 6), 2);
    spec.exchanges = vec![call(b"hi", b"hello")];
    set(&mut spec);
    run(&spec)
}

#[test]
fn each_kind_of_wrong_answer_to_a_call_is_a_failure_by_its_name() {
    for (name, say, kind, why) in CASES {
        let seen = against(*say, |_| {});
        assert_eq!(seen.total.issued, 6, "{name}");
        let failed = seen.total.failed[*kind];
        assert_eq!(failed, 6, "{name}: {:?}", seen.failures);
        let cause = &seen.failures[0].cause;
        assert!(cause.contains(why), "{name}: {cause} instead of {why}");
        assert_eq!(seen.connections_opened, 1, "{name}");
    }
}

#[test]
fn what_a_server_says_of_a_failed_call_is_shown() {
    let say = |stream| {
        let message = field("grpc-message", "no r%C3%B6om");
        let status = field("grpc-status", "14");
        let block = [&[0x88], &status[..], &message].concat();
        last(stream, &block)
    };
    let seen = against(say, |_| {});
    let shown = &seen.examples[0].detail;
    assert_eq!(shown, "grpc-status 14, grpc-message \"no röom\"");
    assert_eq!(seen.failures[0].cause, "UNAVAILABLE");
}

#[test]
fn an_example_of_a_body_that_is_no_message_has_its_whole_length() {
    for body in ["no", "page not found"] {
        let say = |body: &'static str| {
            move |stream| {
                let head = frame(kind::HEADERS, END_HEADERS, stream, &[0x8d]);
                let data = frame(kind::DATA, END_STREAM, stream, body.as_bytes());
                [head, data].concat()
            }
        };
        let seen = against(say(body), |_| {});
        let expected = format!("status 404, a body of {} bytes", body.len());
        assert_eq!(seen.examples[0].detail, expected);
    }
}

#[test]
fn a_call_over_http1_is_refused() {
    let mut spec = count(([127, 0, 0, 1], 1).into(), 1, 1);
    spec.exchanges = vec![call(b"", b"")];
    let error = deadheat_load::check(&spec).unwrap_err().to_string();
    assert!(error.contains("needs HTTP/2"), "{error}");
}
