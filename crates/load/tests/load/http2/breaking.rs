//! Servers that break rules of HTTP/2 or stop at a bad moment: each of their failures is named, and none is counted twice
//! or not at all.

use std::{thread, time::Duration};

use deadheat_model::{Failure, Observation, StopRule, load::RequestSpec};
use deadheat_testkit::http2::{
    END_HEADERS, END_STREAM, Peer, RawHttp2, answer, frame, goaway, head, kind, number, setting,
};

use super::over_http2;
use crate::{
    arrivals::open,
    support::{count, expecting, run},
};

const REQUESTS: u64 = 9;
pub const BODY: &[u8] = b"hello";

/// What a server does when its connection has been made, what it is, and what comes of each request.
type Case = (
    &'static str,
    fn(&mut Peer),
    Failure,
    // A part of the cause.
    &'static str,
);

pub fn greet(peer: &mut Peer) {
    peer.send(&frame(kind::SETTINGS, 0, 0, &[]));
}

/// Greets, does this when the first request has come, and then reads until the client closes.
fn when_asked(peer: &mut Peer, say: impl Fn(u32) -> Vec<u8>) {
    greet(peer);
    if let Some(stream) = peer.request() {
        peer.send(&say(stream));
    }
    peer.until_closed();
}

/// Greets, and does this for each request.
pub fn for_each(peer: &mut Peer, say: impl Fn(u32) -> Vec<u8>) {
    greet(peer);
    while let Some(stream) = peer.request() {
        peer.send(&say(stream));
    }
}

/// Does this and then says bytes without an end, until nobody takes them.
fn endless(peer: &mut Peer, first: &[u8], then: &[u8]) {
    peer.send(first);
    let many = then.repeat(1 + 16_384 / then.len());
    for _ in 0..10_000 {
        peer.send(&many);
    }
}

fn flood(peer: &mut Peer, then: &[u8]) {
    greet(peer);
    if peer.request().is_some() {
        endless(peer, &[], then);
    }
    peer.until_closed();
}

const HTTP2: Failure = Failure::Http2;
const RESET: Failure = Failure::StreamReset;

const CASES: &[Case] = &[
    (
        "silence after the preface",
        |peer| peer.until_closed(),
        Failure::ConnectOther,
        "came within the connect timeout",
    ),
    (
        "the end after the preface",
        |_| {},
        Failure::ClosedEarly,
        "before its SETTINGS",
    ),
    (
        "a reset after the preface",
        |peer| peer.reset(),
        Failure::Reset,
        "before its SETTINGS",
    ),
    (
        "no streams",
        |peer| {
            peer.send(&setting(3, 0));
            peer.until_closed()
        },
        Failure::ConnectOther,
        "allows no streams",
    ),
    (
        "a PING before SETTINGS",
        |peer| {
            peer.send(&frame(kind::PING, 0, 0, &[0; 8]));
            peer.until_closed()
        },
        HTTP2,
        "first frame is not SETTINGS",
    ),
    (
        "GOAWAY with the greeting",
        |peer| {
            greet(peer);
            peer.send(&goaway(0, 0xb));
            peer.until_closed()
        },
        Failure::ClosedEarly,
        "GOAWAY: ENHANCE_YOUR_CALM",
    ),
    (
        "silence after a request",
        |peer| {
            greet(peer);
            peer.until_closed()
        },
        Failure::Timeout,
        "no whole answer within",
    ),
    (
        "silence after a head",
        |peer| for_each(peer, |stream| head(stream, 0)),
        Failure::Timeout,
        "no whole answer within",
    ),
    (
        "silence in a body",
        |peer| {
            for_each(peer, |stream| {
                [head(stream, 0), frame(kind::DATA, 0, stream, b"he")].concat()
            })
        },
        Failure::Timeout,
        "no whole answer within",
    ),
    (
        "the end after a request",
        |peer| {
            greet(peer);
            peer.request();
        },
        Failure::ClosedEarly,
        "the server closed the connection",
    ),
    (
        "a reset after a request",
        |peer| {
            greet(peer);
            peer.request();
            peer.reset()
        },
        Failure::Reset,
        "reset",
    ),
    (
        "GOAWAY and the end",
        |peer| {
            greet(peer);
            peer.request();
            peer.send(&goaway(0x7fff_ffff, 2))
        },
        Failure::ClosedEarly,
        "GOAWAY: INTERNAL_ERROR",
    ),
    (
        "GOAWAY for every request",
        |peer| when_asked(peer, |_| goaway(0, 0)),
        Failure::ClosedEarly,
        "GOAWAY: NO_ERROR",
    ),
    (
        "streams refused",
        |peer| for_each(peer, |stream| number(kind::RST_STREAM, stream, 7)),
        RESET,
        "REFUSED_STREAM",
    ),
    (
        "streams reset after their heads",
        |peer| {
            for_each(peer, |stream| {
                [head(stream, 0), number(kind::RST_STREAM, stream, 2)].concat()
            })
        },
        RESET,
        "INTERNAL_ERROR",
    ),
    (
        "HTTP/1.1 required",
        |peer| for_each(peer, |stream| number(kind::RST_STREAM, stream, 0xd)),
        RESET,
        "HTTP_1_1_REQUIRED",
    ),
    (
        "another body",
        |peer| for_each(peer, |stream| answer(stream, b"HELLO")),
        Failure::WrongContent,
        "another content",
    ),
    (
        "a longer body",
        |peer| for_each(peer, |stream| answer(stream, b"hello, world")),
        Failure::WrongLength,
        "another length",
    ),
    (
        "status 500",
        |peer| {
            for_each(peer, |stream| {
                frame(kind::HEADERS, END_STREAM | END_HEADERS, stream, &[0x8e])
            })
        },
        Failure::WrongStatus,
        "status 500",
    ),
    (
        "no status",
        |peer| {
            for_each(peer, |stream| {
                frame(kind::HEADERS, END_STREAM | END_HEADERS, stream, &[])
            })
        },
        Failure::BadHead,
        "no :status",
    ),
    (
        "a body without a head",
        |peer| for_each(peer, |stream| frame(kind::DATA, END_STREAM, stream, BODY)),
        HTTP2,
        "a body came before its head",
    ),
    (
        "a body shorter than its length",
        |peer| {
            for_each(peer, |stream| {
                [
                    frame(
                        kind::HEADERS,
                        END_HEADERS,
                        stream,
                        &[0x88, 0x0f, 0x0d, 1, b'9'],
                    ),
                    frame(kind::DATA, END_STREAM, stream, BODY),
                ]
                .concat()
            })
        },
        Failure::TruncatedBody,
        "shorter than its content-length",
    ),
    (
        "a body longer than its length",
        |peer| {
            for_each(peer, |stream| {
                [
                    frame(
                        kind::HEADERS,
                        END_HEADERS,
                        stream,
                        &[0x88, 0x0f, 0x0d, 1, b'2'],
                    ),
                    frame(kind::DATA, END_STREAM, stream, BODY),
                ]
                .concat()
            })
        },
        Failure::BadFraming,
        "longer than its content-length",
    ),
    (
        "a push",
        |peer| {
            when_asked(peer, |stream| {
                frame(kind::PUSH_PROMISE, END_HEADERS, stream, &[0, 0, 0, 2, 0x82])
            })
        },
        HTTP2,
        "PUSH_PROMISE",
    ),
    (
        "an entry of the table",
        |peer| {
            when_asked(peer, |stream| {
                frame(
                    kind::HEADERS,
                    END_STREAM | END_HEADERS,
                    stream,
                    &[0x88, 0xbe],
                )
            })
        },
        HTTP2,
        "the table does not have",
    ),
    (
        "a larger table",
        |peer| {
            when_asked(peer, |stream| {
                frame(
                    kind::HEADERS,
                    END_STREAM | END_HEADERS,
                    stream,
                    &[0x3f, 0xe1, 0x1f, 0x88],
                )
            })
        },
        HTTP2,
        "announced size of 0",
    ),
    (
        "a cut header block",
        |peer| {
            when_asked(peer, |stream| {
                frame(
                    kind::HEADERS,
                    END_STREAM | END_HEADERS,
                    stream,
                    &[0x88, 0x40, 0x7f],
                )
            })
        },
        HTTP2,
        "middle of a field",
    ),
    (
        "a long frame",
        |peer| when_asked(peer, |stream| frame(kind::DATA, 0, stream, &[0; 16_385])),
        HTTP2,
        "longer than the 16,384",
    ),
    (
        "a stream that nobody opened",
        |peer| when_asked(peer, |_| head(4_001, END_STREAM)),
        HTTP2,
        "nobody has opened",
    ),
    (
        "more than the window allows",
        |peer| when_asked(peer, |_| number(kind::WINDOW_UPDATE, 0, 0x7fff_ffff)),
        HTTP2,
        "above 2^31-1",
    ),
    (
        "a window beyond all bounds",
        |peer| when_asked(peer, |_| setting(4, 0xffff_ffff)),
        HTTP2,
        "INITIAL_WINDOW_SIZE",
    ),
    (
        "a frame between the parts of a head",
        |peer| {
            when_asked(peer, |stream| {
                [
                    frame(kind::HEADERS, 0, stream, &[0x88]),
                    frame(kind::PING, 0, 0, &[0; 8]),
                ]
                .concat()
            })
        },
        HTTP2,
        "between the parts",
    ),
    (
        "noise",
        |peer| {
            when_asked(peer, |_| {
                b"\x15\xff\x00 nothing that anybody would call a frame".to_vec()
            })
        },
        HTTP2,
        "longer than the 16,384",
    ),
    (
        "endless CONTINUATION",
        |peer| {
            greet(peer);
            if let Some(stream) = peer.request() {
                endless(
                    peer,
                    &frame(kind::HEADERS, 0, stream, &[0x88]),
                    &frame(kind::CONTINUATION, 0, stream, &[0; 1_000]),
                )
            }
        },
        HTTP2,
        "longer than 64 KiB",
    ),
    (
        "endless empty CONTINUATION",
        |peer| {
            greet(peer);
            if let Some(stream) = peer.request() {
                endless(
                    peer,
                    &frame(kind::HEADERS, 0, stream, &[0x88]),
                    &frame(kind::CONTINUATION, 0, stream, &[]),
                )
            }
        },
        HTTP2,
        "10,000 frames",
    ),
    (
        "a flood of PING",
        |peer| flood(peer, &frame(kind::PING, 0, 0, &[0; 8])),
        HTTP2,
        "10,000 frames",
    ),
    (
        "a flood of SETTINGS",
        |peer| flood(peer, &frame(kind::SETTINGS, 0, 0, &[])),
        HTTP2,
        "10,000 frames",
    ),
    (
        "a flood of settings that change windows",
        |peer| flood(peer, &[setting(4, 0), setting(4, 1 << 30)].concat()),
        HTTP2,
        "10,000 frames",
    ),
    (
        "a flood of WINDOW_UPDATE",
        |peer| flood(peer, &number(kind::WINDOW_UPDATE, 0, 1)),
        HTTP2,
        "10,000 frames",
    ),
    (
        "a flood of PRIORITY",
        |peer| flood(peer, &frame(kind::PRIORITY, 0, 1, &[0, 0, 0, 0, 1])),
        HTTP2,
        "10,000 frames",
    ),
    (
        "a flood of frames without a meaning",
        |peer| flood(peer, &frame(0x99, 0, 0, &[])),
        HTTP2,
        "10,000 frames",
    ),
    (
        "a flood of interim answers",
        |peer| {
            greet(peer);
            if let Some(stream) = peer.request() {
                endless(
                    peer,
                    &[],
                    &frame(
                        kind::HEADERS,
                        END_HEADERS,
                        stream,
                        &[0x48, 3, b'1', b'0', b'3'],
                    ),
                )
            }
        },
        HTTP2,
        "10,000 frames",
    ),
    (
        "a flood of empty DATA",
        |peer| {
            greet(peer);
            if let Some(stream) = peer.request() {
                endless(peer, &head(stream, 0), &frame(kind::DATA, 0, stream, &[]))
            }
        },
        HTTP2,
        "10,000 frames",
    ),
];

/// Runs both loops against such a server: what each saw.
fn both_loops(script: fn(&mut Peer), bounds: u64) -> [Observation; 2] {
    [false, true].map(|is_open| {
        let server = RawHttp2::start(script).unwrap();
        let mut spec = if is_open {
            open(server.address(), 100.0, 2)
        } else {
            count(server.address(), 2, 0)
        };
        spec.stop = StopRule::Count { requests: REQUESTS };
        spec.timeouts.request = Duration::from_millis(bounds);
        spec.timeouts.connect = Duration::from_millis(bounds);
        spec.exchanges = vec![expecting(RequestSpec::get("/"), BODY)];
        run(&over_http2(spec, 2))
    })
}

fn check((name, script, kind, why): &Case) {
    // A case that must not time out has plenty of time, also on a busy machine.
    let bounds = match *why {
        _ if *kind == Failure::Timeout || why.contains("timeout") => 200,
        // The generator waits for other settings than those that came, which must come in time.
        "allows no streams" => 1_500,
        _ => 20_000,
    };
    for seen in both_loops(*script, bounds) {
        assert_eq!(seen.total.issued, REQUESTS, "{name}");
        let of_kind = seen.total.failed[*kind];
        // What waits while a connection cannot be made, or none is free, is named so.
        let unsent = seen.total.failed[Failure::NoConnection];
        assert_eq!(of_kind + unsent, REQUESTS, "{name}: {:?}", seen.failures);
        assert!(of_kind > 0, "{name}: {:?}", seen.failures);
        let groups = seen.failures.iter().filter(|group| group.kind == *kind);
        for group in groups {
            assert!(
                group.cause.contains(why),
                "{name}: {} instead of {why}",
                group.cause
            );
        }
        assert_eq!(seen.service_time.count(), 0, "{name}");
    }
}

#[test]
fn each_kind_of_wrong_server_is_a_failure_by_its_name() {
    assert!(CASES.len() >= 40);
    // They wait more than they work.
    thread::scope(|scope| {
        for part in CASES.chunks(CASES.len().div_ceil(4)) {
            scope.spawn(move || part.iter().for_each(check));
        }
    });
}
