use std::{net::TcpListener, thread};

use super::*;
use crate::verify::client::NEVER;

const PATIENCE: Duration = Duration::from_secs(20);

/// What a wire makes of `said`, after which the server hangs up.
fn heard(
    said: &'static [u8],
    replies: usize,
) -> (ProbeConnection<'static>, Vec<Result<Reply, NoReply>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let patience = Patience::new(PATIENCE, &NEVER);
    let mut wire = ProbeConnection::open(listener.local_addr().unwrap(), patience).unwrap();
    let server = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        for byte in said {
            stream.write_all(&[*byte]).unwrap();
        }
    });
    let replies = (0..replies).map(|_| wire.reply()).collect();
    server.join().unwrap();
    (wire, replies)
}

#[test]
fn answers_of_each_framing_are_read_one_after_the_other() {
    let said = b"HTTP/1.1 100 Continue\r\n\r\n\
        HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\nhi\
        HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3;x=y\r\nabc\r\n1\r\nd\r\n0\r\nTrailer: x\r\n\r\n\
        HTTP/1.1 204 No Content\r\nContent-Length: 7\r\n\r\n\
        HTTP/1.1 404 Not Found\r\nConnection: close\r\n\r\nto the end";
    let (mut wire, replies) = heard(said, 4);
    let replies: Vec<Reply> = replies.into_iter().map(Result::unwrap).collect();
    let told: Vec<_> = replies
        .iter()
        .map(|reply| {
            let answer = &reply.answer;
            let body = String::from_utf8_lossy(&answer.body).into_owned();
            (answer.status, body, reply.keeps, reply.chunked)
        })
        .collect();
    assert_eq!(
        told,
        [
            (200, "hi".to_owned(), true, false),
            (200, "abcd".to_owned(), true, true),
            (204, String::new(), true, false),
            (404, "to the end".to_owned(), false, false),
        ]
    );
    assert_eq!(replies[0].answer.content_type(), "text/plain");
    assert!(wire.ends_within(PATIENCE));
}

#[test]
fn answers_that_break_off_are_told_apart_from_none() {
    let why = |said| {
        let (_, mut replies) = heard(said, 1);
        replies.remove(0).unwrap_err().to_string()
    };
    assert!(why(b"").contains("without an answer"));
    assert!(why(b"HTTP/1.1 200").contains("in a head"));
    assert!(why(b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nab").contains("2 of 3"));
    assert!(
        why(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab").contains("closed")
    );
    assert!(why(b"SSH-2.0-x\r\n").contains("no answer of HTTP but `S"));
    assert!(why(b"HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n").contains("`many`"));
}

/// A head with so many header lines, each of 12 bytes.
fn head_of(lines: usize) -> String {
    let lines: String = (0..lines).map(|line| format!("x: {line:07}\r\n")).collect();
    format!("HTTP/1.1 200 OK\r\n{lines}Content-Length: 2\r\n\r\n")
}

#[test]
fn a_head_of_many_lines_is_read() {
    for lines in [200, 5_000] {
        let text = head_of(lines);
        let (head, length) = Head::parse(text.as_bytes()).unwrap().unwrap();
        assert_eq!((head.framing, length), (Framing::Sized(2), text.len()));
    }
}

#[test]
fn a_head_that_is_too_large_is_refused_with_its_limit() {
    let text = head_of(6_000);
    assert!(text.len() > HEAD_LIMIT);
    let broken = Head::parse(text.as_bytes()).err().unwrap().to_string();
    assert_eq!(broken, "the head of an answer is larger than 64 KiB");
    // Refused as soon as it is known, and not before.
    assert!(Head::parse(&text.as_bytes()[..HEAD_LIMIT]).is_err());
    let begun = Head::parse(&text.as_bytes()[..HEAD_LIMIT - 1]);
    assert!(matches!(begun, Ok(None)));
}

#[test]
fn http_1_0_closes_unless_it_says_otherwise() {
    let (_, mut replies) = heard(b"HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n", 1);
    assert!(!replies.remove(0).unwrap().keeps);
    let said = b"HTTP/1.0 200 OK\r\nContent-Length: 0\r\nConnection: keep-alive\r\n\r\n";
    let (_, mut replies) = heard(said, 1);
    assert!(replies.remove(0).unwrap().keeps);
}

#[test]
fn a_request_has_its_framing() {
    let address = "127.0.0.1:8080".parse().unwrap();
    let request = RequestSpec {
        method: "POST".to_owned(),
        body: Body::Chunked(b"0123456789abcdefg".to_vec().into()),
        ..RequestSpec::get("/json")
    };
    let (bytes, begin) = encode(address, &request, HttpVersion::Http11);
    assert_eq!(
        String::from_utf8_lossy(&bytes),
        "POST /json HTTP/1.1\r\nHost: 127.0.0.1:8080\r\nUser-Agent: deadheat\r\n\
         Transfer-Encoding: chunked\r\n\r\n10\r\n0123456789abcdef\r\n1\r\ng\r\n0\r\n\r\n"
    );
    assert!(bytes[..begin].ends_with(b"\r\n\r\n") && bytes[begin..].starts_with(b"10\r\n"));
}

#[test]
fn a_wait_ends_when_the_user_asks_to_stop() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let stop = AtomicBool::new(false);
    let patience = Patience::new(PATIENCE, &stop);
    let mut wire = ProbeConnection::open(listener.local_addr().unwrap(), patience).unwrap();
    let begun = Instant::now();
    let reply = thread::scope(|scope| {
        scope.spawn(|| {
            thread::sleep(Duration::from_millis(30));
            stop.store(true, Ordering::Relaxed);
        });
        wire.reply()
    });
    assert!(matches!(reply, Err(NoReply::Interrupted)), "{reply:?}");
    assert!(begun.elapsed() < PATIENCE / 2);
}
