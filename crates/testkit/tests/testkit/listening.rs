//! Where servers listen, and where they do not.

use std::{
    io::{self, Read as _, Write as _},
    net::{Shutdown, TcpStream},
    os::unix::net::UnixStream,
    thread,
    time::Duration,
};

use deadheat_testkit::{
    FullBacklog, Listen, OracleServer, RefusingPort, Turn,
    answers::{endless, endless_chunks, hello, send},
};

const GET: &[u8] = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n";

fn answering(listen: io::Result<Listen>) -> OracleServer {
    listen.unwrap().serve(|_: &Turn<'_>| send(hello())).unwrap()
}

/// Sends one request, and reads until the end, which this side's FIN brings.
fn ask(mut to: TcpStream) -> Vec<u8> {
    to.write_all(GET).unwrap();
    to.shutdown(Shutdown::Write).unwrap();
    let mut answer = Vec::new();
    to.read_to_end(&mut answer).unwrap();
    answer
}

#[test]
fn ipv6_and_ipv4_are_answered_and_peers_are_known() {
    for listen in [Listen::ipv4(), Listen::ipv6()] {
        let server = answering(listen);
        let client = TcpStream::connect(server.address()).unwrap();
        let own = client.local_addr().unwrap();
        assert_eq!(ask(client), hello());
        let seen = server.seen_at_rest();
        assert_eq!((seen.connections, seen.requests), (1, 1));
        let one = &seen.each[0];
        assert_eq!((one.peer, one.requests), (Some(own), 1));
        assert_eq!(
            (one.request_bytes, one.sent_bytes),
            (GET.len() as u64, hello().len() as u64)
        );
    }
}

#[test]
fn a_unix_socket_is_answered_and_goes_with_its_server() {
    let server = answering(Listen::unix());
    let path = server.path().to_owned();
    let mut client = UnixStream::connect(&path).unwrap();
    client.write_all(GET).unwrap();
    client.shutdown(Shutdown::Write).unwrap();
    let mut answer = Vec::new();
    client.read_to_end(&mut answer).unwrap();
    assert_eq!(answer, hello());
    let seen = server.seen_at_rest();
    assert_eq!((seen.requests, seen.each[0].peer), (1, None));
    drop(server);
    assert!(!path.exists());
}

#[test]
fn a_server_that_stops_leaves_its_port_refusing_until_one_comes_back() {
    let first = answering(Listen::ipv4());
    let address = first.address();
    assert_eq!(ask(TcpStream::connect(address).unwrap()), hello());
    let mut idle = TcpStream::connect(address).unwrap();
    // One that it has not taken in would be reset.
    while first.seen().connections < 2 {
        thread::sleep(Duration::from_millis(1));
    }
    let (seen, port) = first.stop().unwrap();
    assert_eq!(seen.requests, 1);
    assert_eq!(port.address(), address);
    assert_eq!(
        idle.read(&mut [0]).unwrap(),
        0,
        "its connections end with it"
    );
    let refused = TcpStream::connect(address).unwrap_err();
    assert_eq!(refused.kind(), io::ErrorKind::ConnectionRefused);
    let second = answering(Listen::on(port));
    assert_eq!(second.address(), address);
    assert_eq!(ask(TcpStream::connect(address).unwrap()), hello());
    assert_eq!(second.seen_at_rest().requests, 1);
}

#[test]
fn a_port_that_another_listens_on_cannot_be_kept() {
    let server = answering(Listen::ipv4());
    assert!(RefusingPort::at(server.address()).is_err());
    assert!(RefusingPort::at(([127, 0, 0, 2], 1).into()).is_err());
}

#[test]
fn a_full_backlog_takes_nobody_in_and_refuses_nobody() {
    let full = FullBacklog::new().unwrap();
    for _ in 0..3 {
        let wait = Duration::from_millis(100);
        let error = TcpStream::connect_timeout(&full.address(), wait).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    }
    let (own, others) = full.queued().unwrap();
    assert!(own > 0);
    assert_eq!(others, 0);
}

#[test]
fn endless_bodies_are_as_long_as_they_say() {
    const PIECES: u64 = 300;
    let body = 1_000 * PIECES;
    let of = |steps: fn(usize, u64) -> Vec<_>| {
        let server = OracleServer::start(move |_: &Turn<'_>| steps(1_000, PIECES)).unwrap();
        let answer = ask(TcpStream::connect(server.address()).unwrap());
        let sent = server.seen_at_rest().each[0].sent_bytes;
        assert_eq!(sent, answer.len() as u64);
        answer
    };
    let sized = of(endless);
    let head = b"HTTP/1.1 200 OK\r\nContent-Length: 300000\r\n\r\n";
    assert!(sized.starts_with(head));
    assert_eq!((sized.len() - head.len()) as u64, body);
    let chunked = of(endless_chunks);
    assert!(chunked.ends_with(b"d\r\n0\r\n\r\n"));
    let bodies = chunked.iter().filter(|byte| **byte == b'd').count() as u64;
    let of_head = b"Transfer-Encoding: chunked"
        .iter()
        .filter(|byte| **byte == b'd')
        .count();
    assert_eq!(bodies, body + of_head as u64);
}
