//! Everything that an answer can be, right and wrong, each with what a load generator must make of it.
//!
//! Right is: status 200 and the body [`BODY`](crate::answers::BODY), unless the case says otherwise.

use std::time::Duration;

use deadheat_model::{
    Failure,
    failure::FailurePhase::{self, Body, Connect, FirstByte, Head, Write},
};

use crate::{
    Action, Script, Turn,
    answers::{BODY, chunked, hello, send, send_cut, sized},
};

/// A server's behaviour and how each of its answers must be counted.
pub struct Case {
    /// What it is.
    pub name: &'static str,
    /// The request's method.
    pub method: &'static str,
    /// The status that is expected.
    pub status: u16,
    /// The body that is expected.
    pub body: &'static [u8],
    /// The failure of each request, or that each is a success.
    pub outcome: Result<(), Failure>,
    /// What was going on when each failed: one of these. More than one where it is a race between two segments.
    pub phases: &'static [FailurePhase],
    /// Whether requests share a connection.
    pub keeps: bool,
    /// What is done when a connection is accepted.
    pub greet: Vec<Action>,
    /// What is done for each request.
    pub answer: Vec<Action>,
}

impl Case {
    fn new(name: &'static str, outcome: Result<(), Failure>, answer: Vec<Action>) -> Self {
        Self {
            phases: &[],
            name,
            method: "GET",
            status: 200,
            body: BODY,
            outcome,
            keeps: outcome.is_ok(),
            greet: Vec::new(),
            answer,
        }
    }

    fn right(name: &'static str, answer: Vec<Action>) -> Self {
        Self::new(name, Ok(()), answer)
    }

    fn wrong(
        name: &'static str,
        kind: Failure,
        phases: &'static [FailurePhase],
        answer: Vec<Action>,
    ) -> Self {
        Self {
            phases,
            ..Self::new(name, Err(kind), answer)
        }
    }

    fn empty(self, method: &'static str, status: u16) -> Self {
        Self {
            method,
            status,
            body: b"",
            ..self
        }
    }

    /// The same, on a connection that goes on or does not.
    fn keeping(self, keeps: bool) -> Self {
        Self { keeps, ..self }
    }
}

impl Script for Case {
    fn greet(&self, _connection: u64) -> Vec<Action> {
        self.greet.clone()
    }

    fn answer(&self, _turn: &Turn<'_>) -> Vec<Action> {
        self.answer.clone()
    }
}

fn then(bytes: impl Into<Vec<u8>>, end: Action) -> Vec<Action> {
    vec![Action::Send(bytes.into()), end]
}

fn with_headers(count: usize) -> Vec<u8> {
    sized(200, &"X-Filler: 1\r\n".repeat(count - 1), BODY)
}

/// Answers that are right, however odd.
pub fn right() -> Vec<Case> {
    let whole = hello();
    let every: Vec<usize> = (1..whole.len()).collect();
    let chunks = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\
        7;name=\"va;lue\"\r\nHello, \r\n006 \r\nWorld!\r\n0\r\nTrailer: x\r\nOther: y\r\n\r\n";
    let interim = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n";
    let old = |headers: &str| format!("HTTP/1.0 200 OK\r\n{headers}\r\nHello, World!");
    vec![
        Case::right("sized", send(hello())),
        Case::right("chunked", send(chunked(200, BODY, 4))),
        Case::right("chunked with extensions and trailers", send(chunks)),
        Case::right(
            "one byte at a time",
            send_cut(&whole, &every, Duration::ZERO),
        ),
        Case::right("lines end in LF alone", {
            send("HTTP/1.1 200 OK\nContent-Length: 13\n\nHello, World!")
        }),
        Case::right("an empty body", send(sized(200, "", b""))).empty("GET", 200),
        Case::right("an empty body in chunks", send(chunked(200, b"", 1))).empty("GET", 200),
        Case::right(
            "in three pieces, slowly",
            send_cut(&whole, &[5, 30], Duration::from_millis(5)),
        ),
        Case::right(
            "100 and 103 first",
            send([interim.as_bytes(), &whole].concat()),
        ),
        Case::right(
            "100 and 103 first, slowly",
            send_cut(
                &[interim.as_bytes(), &whole].concat(),
                &[25, 40],
                Duration::from_millis(5),
            ),
        ),
        Case::right("a blank after the content-length", {
            send("HTTP/1.1 200 OK\r\nContent-Length: 13 \r\n\r\nHello, World!")
        }),
        Case::right("100 headers", send(with_headers(100))),
        Case::right("2,000 headers", send(with_headers(2_000))),
        Case::right("204 with a content-length", {
            send("HTTP/1.1 204 No Content\r\nContent-Length: 13\r\n\r\n")
        })
        .empty("GET", 204),
        Case::right("304 with a content-length", {
            send("HTTP/1.1 304 Not Modified\r\nContent-Length: 13\r\n\r\n")
        })
        .empty("GET", 304),
        Case::right(
            "HEAD",
            send("HTTP/1.1 200 OK\r\nContent-Length: 13\r\n\r\n"),
        )
        .empty("HEAD", 200),
        Case::right("HEAD, with chunks announced", {
            send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        })
        .empty("HEAD", 200),
        Case::right("304 without a length", {
            send("HTTP/1.1 304 Not Modified\r\nETag: \"x\"\r\n\r\n")
        })
        .empty("GET", 304),
        Case::right("HTTP/1.0 with keep-alive", {
            send(old("Connection: keep-alive\r\nContent-Length: 13\r\n"))
        }),
        Case::right("HTTP/1.0", then(old("Content-Length: 13\r\n"), Action::Fin)).keeping(false),
        Case::right("HTTP/1.0, without closing", {
            // It would answer more requests; nobody may send it any.
            send(old("Content-Length: 13\r\n"))
        })
        .keeping(false),
        Case::right("HTTP/1.0 up to the end", then(old(""), Action::Fin)).keeping(false),
        Case::right("up to the end", {
            then("HTTP/1.1 200 OK\r\n\r\nHello, World!", Action::Fin)
        })
        .keeping(false),
        Case::right("Connection: close", {
            then(sized(200, "Connection: close\r\n", BODY), Action::Fin)
        })
        .keeping(false),
        Case::right("closes in the answer's own segment", {
            // It was announced by nothing but the FIN, which is known when the answer is.
            vec![Action::SendFin(hello())]
        })
        .keeping(false),
        Case::right("HTTP/1.0 without a length and with keep-alive", {
            // Only the end of the connection can end it.
            then(old("Connection: keep-alive\r\n"), Action::Fin)
        })
        .keeping(false),
        Case::right("chunked and Connection: close", {
            let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n";
            then(
                format!("{head}d\r\nHello, World!\r\n0\r\n\r\n"),
                Action::Fin,
            )
        })
        .keeping(false),
        Case::right("Connection: close, without closing", {
            send(sized(200, "Connection: close\r\n", BODY))
        })
        .keeping(false),
    ]
}

/// Answers that are wrong.
pub fn wrong() -> Vec<Case> {
    let whole = hello();
    let cut = |length: usize, end: Action| then(&whole[..length], end);
    let in_body = whole.len() - 3;
    let every: Vec<usize> = (1..whole.len()).collect();
    let chunked_head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    // All of the body and its last chunk, without the trailers and the line that ends them.
    let all_chunks = format!("{chunked_head}d\r\nHello, World!\r\n0\r\n");
    let head = |headers: &str| format!("HTTP/1.1 200 OK\r\n{headers}\r\nHello, World!");
    let huge = format!("X: {}\r\n", "x".repeat(70_000));
    vec![
        Case {
            greet: vec![Action::Reset],
            ..Case::wrong(
                "reset when accepted",
                Failure::Reset,
                &[Connect, Write, FirstByte],
                Vec::new(),
            )
        },
        Case::wrong(
            "reset before the head",
            Failure::Reset,
            &[FirstByte],
            vec![Action::Reset],
        ),
        Case::wrong("reset after a 103", Failure::Reset, &[FirstByte, Head], {
            then("HTTP/1.1 103 Early Hints\r\n\r\n", Action::Reset)
        }),
        Case::wrong("reset after the head", Failure::Reset, &[Body], {
            cut(whole.len() - BODY.len(), Action::Reset)
        }),
        Case::wrong("reset in a chunk", Failure::Reset, &[Body], {
            then(format!("{chunked_head}d\r\nHello"), Action::Reset)
        }),
        Case::wrong("reset before the last chunk", Failure::Reset, &[Body], {
            then(
                format!("{chunked_head}d\r\nHello, World!\r\n"),
                Action::Reset,
            )
        }),
        Case::wrong("reset in the trailers", Failure::Reset, &[Body], {
            then(format!("{all_chunks}Trailer: x"), Action::Reset)
        }),
        Case::wrong("reset in a body up to the end", Failure::Reset, &[Body], {
            // What ends with its connection ends with a FIN (RFC 9112 § 8).
            then("HTTP/1.1 200 OK\r\n\r\nHello, World!", Action::Reset)
        }),
        Case::wrong("FIN after the head", Failure::TruncatedBody, &[Body], {
            cut(whole.len() - BODY.len(), Action::Fin)
        }),
        Case::wrong(
            "reset in the head",
            Failure::Reset,
            &[Head],
            cut(20, Action::Reset),
        ),
        Case::wrong(
            "reset in the body",
            Failure::Reset,
            &[Body],
            cut(in_body, Action::Reset),
        ),
        Case::wrong(
            "FIN before the head",
            Failure::ClosedEarly,
            &[FirstByte],
            vec![Action::Fin],
        ),
        Case::wrong("FIN after a 100", Failure::ClosedEarly, &[FirstByte], {
            then("HTTP/1.1 100 Continue\r\n\r\n", Action::Fin)
        }),
        Case::wrong(
            "FIN in the head",
            Failure::TruncatedHead,
            &[Head],
            cut(20, Action::Fin),
        ),
        Case::wrong(
            "FIN in the body",
            Failure::TruncatedBody,
            &[Body],
            cut(in_body, Action::Fin),
        ),
        Case::wrong("FIN in a chunk's size", Failure::TruncatedBody, &[Body], {
            then(format!("{chunked_head}5\r\nHello\r\n8"), Action::Fin)
        }),
        Case::wrong("FIN in the trailers", Failure::TruncatedBody, &[Body], {
            then(format!("{all_chunks}Trailer: x"), Action::Fin)
        }),
        Case::wrong("FIN after the trailers", Failure::TruncatedBody, &[Body], {
            then(format!("{all_chunks}Trailer: x\r\n"), Action::Fin)
        }),
        Case::wrong(
            "FIN after the last chunk",
            Failure::TruncatedBody,
            &[Body],
            then(all_chunks.clone(), Action::Fin),
        ),
        Case::wrong("FIN before the last LF", Failure::TruncatedBody, &[Body], {
            then(format!("{all_chunks}\r"), Action::Fin)
        }),
        Case::wrong("FIN in a chunk", Failure::TruncatedBody, &[Body], {
            then(format!("{chunked_head}d\r\nHello"), Action::Fin)
        }),
        Case::wrong(
            "FIN before the last chunk",
            Failure::TruncatedBody,
            &[Body],
            then(format!("{chunked_head}d\r\nHello, World!\r\n"), Action::Fin),
        ),
        Case::wrong(
            "never answers",
            Failure::Timeout,
            &[FirstByte],
            vec![Action::Silence],
        ),
        Case::wrong(
            "stops in the head",
            Failure::Timeout,
            &[Head],
            cut(20, Action::Silence),
        ),
        Case::wrong("100 and then nothing", Failure::Timeout, &[FirstByte], {
            then("HTTP/1.1 100 Continue\r\n\r\n", Action::Silence)
        }),
        Case::wrong(
            "a byte per second",
            Failure::Timeout,
            &[Head],
            send_cut(&whole, &every, Duration::from_secs(1)),
        ),
        Case::wrong(
            "stops in the body",
            Failure::Timeout,
            &[Body],
            cut(in_body, Action::Silence),
        ),
        Case::wrong(
            "garbage",
            Failure::BadHead,
            &[Head],
            send("220 mail.example ESMTP\r\n"),
        ),
        Case::wrong("an empty line first", Failure::BadHead, &[Head], {
            // A server may skip one before a request; nobody may before an answer (RFC 9112 § 2.2).
            send([b"\r\n", &whole[..]].concat())
        }),
        Case::wrong("garbage, then FIN", Failure::BadHead, &[Head], {
            then(BODY, Action::Fin)
        }),
        Case::wrong(
            "a huge header",
            Failure::BadHead,
            &[Head],
            send(sized(200, &huge, BODY)),
        ),
        Case::wrong("a header of 1 MiB", Failure::BadHead, &[Head], {
            send(sized(200, &format!("X: {}\r\n", "x".repeat(1 << 20)), BODY))
        }),
        Case::wrong(
            "HTTP/2.0",
            Failure::BadHead,
            &[Head],
            send("HTTP/2.0 200 OK\r\n\r\n"),
        ),
        Case::wrong("two lengths", Failure::BadFraming, &[Head], {
            send(head("Content-Length: 13\r\nContent-Length: 14\r\n"))
        }),
        Case::wrong("the same length twice", Failure::BadFraming, &[Head], {
            send(head("Content-Length: 13\r\nContent-Length: 13\r\n"))
        }),
        Case::wrong("a length and chunks", Failure::BadFraming, &[Head], {
            send(head("Content-Length: 13\r\nTransfer-Encoding: chunked\r\n"))
        }),
        Case::wrong("a list of lengths", Failure::BadFraming, &[Head], {
            send(head("Content-Length: 13, 13\r\n"))
        }),
        Case::wrong("a length below zero", Failure::BadFraming, &[Head], {
            send(head("Content-Length: -13\r\n"))
        }),
        Case::wrong(
            "another coding under the chunks",
            Failure::BadFraming,
            &[Head],
            send(head("Transfer-Encoding: gzip, chunked\r\n")),
        ),
        Case::wrong("HTTP/1.0 in chunks", Failure::BadFraming, &[Head], {
            let head = "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
            send(format!("{head}d\r\nHello, World!\r\n0\r\n\r\n"))
        }),
        Case::wrong("a length that is none", Failure::BadFraming, &[Head], {
            send(head("Content-Length: many\r\n"))
        }),
        Case::wrong("a chunk size that is none", Failure::BadFraming, &[Body], {
            send(format!("{chunked_head}Hello, World!"))
        }),
        Case::wrong(
            "a chunk size beyond 64 bits",
            Failure::BadFraming,
            &[Body],
            send(format!("{chunked_head}1000000000000000d\r\nHello, World!")),
        ),
        Case::wrong(
            "chunks' lines end in LF alone",
            Failure::BadFraming,
            &[Body],
            send(format!("{chunked_head}d\nHello, World!\n0\n\n")),
        ),
        Case::wrong(
            "a chunk longer than its size",
            Failure::BadFraming,
            &[Body],
            send(format!("{chunked_head}5\r\nHello, World!\r\n0\r\n\r\n")),
        ),
        Case::wrong("bytes after the body", Failure::ExtraBytes, &[Body], {
            send([&whole[..], b"!"].concat())
        }),
        Case::wrong(
            "two answers",
            Failure::ExtraBytes,
            &[Body],
            send(whole.repeat(2)),
        ),
        Case::wrong(
            "bytes after the last chunk",
            Failure::ExtraBytes,
            &[Body],
            send([&chunked(200, BODY, 5)[..], b"!"].concat()),
        ),
        Case::wrong("a body in answer to HEAD", Failure::ExtraBytes, &[Body], {
            send(hello())
        })
        .empty("HEAD", 200),
        Case::wrong("a body after a 204", Failure::ExtraBytes, &[Body], {
            send("HTTP/1.1 204 No Content\r\nContent-Length: 2\r\n\r\nhi")
        })
        .empty("GET", 204),
        Case::wrong(
            "503",
            Failure::WrongStatus,
            &[Head],
            send(sized(503, "", BODY)),
        )
        .keeping(true),
        Case::wrong(
            "101 that nobody asked for",
            Failure::WrongStatus,
            &[Head],
            send("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n"),
        ),
        Case::wrong(
            "404 without a body",
            Failure::WrongStatus,
            &[Head],
            send(sized(404, "", b"")),
        )
        .keeping(true),
        Case::wrong(
            "shorter",
            Failure::WrongLength,
            &[Body],
            send(sized(200, "", &BODY[1..])),
        )
        .keeping(true),
        Case::wrong("longer, in chunks", Failure::WrongLength, &[Body], {
            send(chunked(200, b"Hello, World!!", 5))
        })
        .keeping(true),
        Case::wrong(
            "another body",
            Failure::WrongContent,
            &[Body],
            send(sized(200, "", b"Hello, Wurld!")),
        )
        .keeping(true),
        Case::wrong("another body, in chunks", Failure::WrongContent, &[Body], {
            send(chunked(200, b"hello, World!", 5))
        })
        .keeping(true),
    ]
}
