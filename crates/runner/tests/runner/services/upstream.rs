//! The slow upstream over real connections.

use std::{
    io::{Read, Write},
    net::{Shutdown, TcpStream},
    path::Path,
    time::{Duration, Instant},
};

use deadheat_runner::services::{Upstream, upstream::ANSWER};
use deadheat_testkit::eventually;

use super::supervision;
use crate::process::signal;

const DELAY: Duration = Duration::from_millis(120);
/// Far above any delay here: only a hang exceeds it.
const PATIENCE: Duration = Duration::from_secs(20);

struct Fixture {
    upstream: Upstream,
    _logs: tempfile::TempDir,
}

fn start(delay: Duration) -> Fixture {
    let logs = tempfile::tempdir().unwrap();
    let upstream = Upstream::start_with_delay(&supervision(), None, logs.path(), delay).unwrap();
    Fixture {
        upstream,
        _logs: logs,
    }
}

impl Fixture {
    fn connect(&self) -> TcpStream {
        let url = self.upstream.url();
        let address = url.trim_start_matches("http://").trim_end_matches('/');
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_nodelay(true).unwrap();
        stream
    }
}

/// Reads one answer to its end: head and body.
fn read_answer(stream: &mut TcpStream) -> (String, String) {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte).unwrap();
        head.push(byte[0]);
    }
    let head = String::from_utf8(head).unwrap();
    let length = head
        .lines()
        .find_map(|line| line.strip_prefix("content-length: "))
        .unwrap();
    let mut body = vec![0; length.parse().unwrap()];
    stream.read_exact(&mut body).unwrap();
    (head, String::from_utf8(body).unwrap())
}

fn read_to_end(stream: &mut TcpStream) -> String {
    let mut all = String::new();
    stream.read_to_string(&mut all).unwrap();
    all
}

#[test]
fn answers_the_20_bytes_after_the_delay_and_counts() {
    let mut fixture = start(DELAY);
    let mut stream = fixture.connect();
    for asked in 1..=3 {
        // The clock of the delay starts with the whole head, so the half of it that comes early does not count.
        stream.write_all(b"GET /any?x HTTP/1.1\r\nho").unwrap();
        std::thread::sleep(Duration::from_millis(30));
        let start = Instant::now();
        stream.write_all(b"st: x\r\n\r\n").unwrap();
        let (head, body) = read_answer(&mut stream);
        assert!(start.elapsed() >= DELAY, "{:?}", start.elapsed());
        assert!(head.starts_with("HTTP/1.1 200 OK\r\n"), "{head}");
        assert!(head.contains("content-type: text/plain\r\n"), "{head}");
        assert_eq!(body, ANSWER);
        assert_eq!(fixture.upstream.requests().unwrap(), asked);
    }
    fixture.upstream.stop().unwrap();
    assert!(fixture.upstream.requests().is_err());
}

#[test]
fn pipelined_requests_are_answered_in_order_each_after_its_own_delay() {
    let fixture = start(DELAY);
    let mut stream = fixture.connect();
    let start = Instant::now();
    let body = "GET / HTTP/1.1\r\ncontent-length: 5\r\n\r\nabcde";
    let pipeline = format!(
        "{body}GET / HTTP/1.1\r\n\r\nGET /__count HTTP/1.1\r\n\r\nPUT / HTTP/1.1\r\n\r\n{body}"
    );
    stream.write_all(pipeline.as_bytes()).unwrap();
    let answers: Vec<_> = (0..5).map(|_| read_answer(&mut stream)).collect();
    let bodies: Vec<_> = answers.iter().map(|(_, body)| body.as_str()).collect();
    assert_eq!(bodies, [ANSWER, ANSWER, "2", "", ANSWER]);
    assert!(answers[3].0.starts_with("HTTP/1.1 405 "), "{answers:?}");
    assert!(start.elapsed() >= DELAY * 3);
}

#[test]
fn a_long_pipeline_is_answered_whole() {
    let fixture = start(Duration::ZERO);
    let mut stream = fixture.connect();
    let count = 5_000;
    stream
        .write_all("GET / HTTP/1.1\r\n\r\n".repeat(count).as_bytes())
        .unwrap();
    for _ in 0..count {
        assert_eq!(read_answer(&mut stream).1, ANSWER);
    }
    assert_eq!(fixture.upstream.requests().unwrap(), count as u64);
}

#[test]
fn connections_close_when_http_says_so() {
    let fixture = start(DELAY);
    let cases = [
        ("GET / HTTP/1.0\r\n\r\n", "HTTP/1.0 200 ", ""),
        (
            "GET / HTTP/1.1\r\nConnection: close\r\n\r\n",
            "HTTP/1.1 200 ",
            "connection: close",
        ),
        ("\u{0}\u{0}\r\n\r\n", "HTTP/1.1 400 ", "connection: close"),
    ];
    for (request, status, field) in cases {
        let mut stream = fixture.connect();
        stream.write_all(request.as_bytes()).unwrap();
        let all = read_to_end(&mut stream);
        assert!(all.starts_with(status), "{all}");
        assert!(all.contains(field), "{all}");
    }
    let mut stream = fixture.connect();
    for _ in 0..2 {
        stream
            .write_all(b"GET / HTTP/1.0\r\nconnection: keep-alive\r\n\r\n")
            .unwrap();
        assert!(
            read_answer(&mut stream)
                .0
                .contains("connection: keep-alive")
        );
    }
}

#[test]
fn an_oversized_head_gets_its_431_although_more_is_on_the_way() {
    let fixture = start(DELAY);
    let mut stream = fixture.connect();
    let head = format!("GET / HTTP/1.1\r\nx: {}", "y".repeat(60_000));
    stream.write_all(head.as_bytes()).unwrap();
    let all = read_to_end(&mut stream);
    assert!(all.starts_with("HTTP/1.1 431 "), "{all}");
    assert_eq!(fixture.upstream.requests().unwrap(), 0);
}

#[test]
fn peers_that_leave_disturb_nobody_and_half_closed_ones_get_their_answer() {
    let fixture = start(DELAY);
    for _ in 0..50 {
        fixture
            .connect()
            .write_all(b"GET / HTTP/1.1\r\n\r\n")
            .unwrap();
    }
    let mut stream = fixture.connect();
    stream.write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
    stream.shutdown(Shutdown::Write).unwrap();
    assert!(read_to_end(&mut stream).ends_with(ANSWER));
    // The connections that left have freed their places, which these take.
    let mut streams: Vec<_> = (0..50).map(|_| fixture.connect()).collect();
    for stream in &mut streams {
        stream.write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
    }
    for stream in &mut streams {
        assert_eq!(read_answer(stream).1, ANSWER);
    }
    assert_eq!(fixture.upstream.requests().unwrap(), 101);
}

#[test]
fn a_thousand_connections_at_once_are_all_answered() {
    let fixture = start(DELAY);
    let mut streams: Vec<_> = (0..1_000).map(|_| fixture.connect()).collect();
    for stream in &mut streams {
        stream
            .write_all(b"GET / HTTP/1.1\r\nhost: x\r\n\r\n")
            .unwrap();
    }
    for stream in &mut streams {
        assert_eq!(read_answer(stream).1, ANSWER);
    }
    assert_eq!(fixture.upstream.requests().unwrap(), 1_000);
}

#[test]
fn one_that_was_killed_is_lost() {
    let mut fixture = start(DELAY);
    assert_eq!(fixture.upstream.lost(), None);
    signal(libc::SIGKILL, fixture.upstream.pid());
    let how = eventually("its loss", || fixture.upstream.lost());
    assert_eq!(how, "the slow upstream was ended by SIGKILL");
}

#[test]
fn a_supervisor_that_is_not_there_is_named() {
    let nowhere = deadheat_runner::process::Supervision::by("/nonexistent/deadheat");
    let error = Upstream::start(&nowhere, None, Path::new("/tmp")).unwrap_err();
    let text = error.to_string();
    assert!(text.contains("starting the slow upstream"), "{text}");
    assert!(text.contains("/nonexistent/deadheat"), "{text}");
}
