//! What the generator waits for by rules of its own: the server's end of a connection, which it does not hold a request
//! up for, and 100 (Continue), which it reports.

use std::{
    io::{ErrorKind, Read as _, Write as _},
    net::{TcpListener, TcpStream},
    thread,
    time::Duration,
};

use deadheat_model::{
    Failure,
    load::{Body, RequestSpec},
};
use deadheat_testkit::{
    OracleServer, RefusingPort, Turn,
    answers::{BODY, hello, send, sized},
};

use crate::support::{count, expecting, run};

fn read_head(client: &mut TcpStream) {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        assert_eq!(client.read(&mut byte).unwrap(), 1);
        head.extend(byte);
    }
}

#[test]
fn the_next_connection_is_made_before_the_server_has_closed_the_last() {
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let spec = count(server.local_addr().unwrap(), 1, 2);
    let seen = thread::scope(|scope| {
        let load = scope.spawn(|| run(&spec));
        let answer = sized(200, "Connection: close\r\n", BODY);
        let (mut first, _) = server.accept().unwrap();
        read_head(&mut first);
        first.write_all(&answer).unwrap();
        let (mut second, _) = server.accept().unwrap();
        read_head(&mut second);
        first.set_nonblocking(true).unwrap();
        let end = first.read(&mut [0]).map_err(|error| error.kind());
        // The server is to close it first. (A machine may have stalled for longer than that is waited for.)
        assert!(matches!(end, Err(ErrorKind::WouldBlock) | Ok(0)), "{end:?}");
        second.write_all(&answer).unwrap();
        drop((first, second));
        (load.join().unwrap(), end)
    });
    assert_eq!(seen.0.total.succeeded, 2);
    assert_eq!((seen.0.connections_opened, seen.0.connections_peak), (2, 1));
}

#[test]
fn a_server_for_one_connection_at_a_time_that_closes_none_is_left_first() {
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let spec = {
        let mut spec = count(server.local_addr().unwrap(), 1, 8);
        let close = ("Connection".to_owned(), "close".to_owned());
        spec.exchanges[0].request.headers.push(close);
        spec
    };
    let seen = thread::scope(|scope| {
        let load = scope.spawn(|| run(&spec));
        for _ in 0..8 {
            let (mut client, _) = server.accept().unwrap();
            read_head(&mut client);
            client.write_all(&hello()).unwrap();
            // It would answer more, and closes nothing before the client does.
            assert_eq!(client.read(&mut [0]).unwrap(), 0);
        }
        load.join().unwrap()
    });
    assert_eq!(seen.total.succeeded, 8, "{:?}", seen.examples);
}

/// A server that answers each request as soon as its head is there, and closes with the body unread.
fn answering_early(answer: Vec<u8>, requests: usize) -> TcpListener {
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let listener = server.try_clone().unwrap();
    thread::spawn(move || {
        for _ in 0..requests {
            let (mut client, _) = listener.accept().unwrap();
            read_head(&mut client);
            client.write_all(&answer).unwrap();
        }
    });
    server
}

#[test]
fn an_answer_before_the_whole_request_counts_although_the_rest_cannot_be_written() {
    let mut request = RequestSpec::get("/");
    "POST".clone_into(&mut request.method);
    // More than sockets hold.
    request.body = Body::Sized(vec![b'x'; 32 << 20].into());
    for (status, expected) in [(200, Ok(())), (413, Err(Failure::WrongStatus))] {
        let answer = sized(status, "Connection: close\r\n", BODY);
        let server = answering_early(answer, 20);
        let mut spec = count(server.local_addr().unwrap(), 1, 20);
        spec.exchanges = vec![expecting(request.clone(), BODY)];
        let seen = run(&spec);
        let found = match expected {
            Ok(()) => seen.total.succeeded,
            Err(kind) => seen.total.failed[kind],
        };
        assert_eq!(found, 20, "{status}: {:?}", seen.examples);
        assert_eq!(seen.statuses.get(&status), Some(&20));
    }
}

#[test]
fn a_part_of_an_answer_before_a_reset_is_still_a_failed_write() {
    let mut request = RequestSpec::get("/");
    "POST".clone_into(&mut request.method);
    request.body = Body::Sized(vec![b'x'; 32 << 20].into());
    for answer in [Vec::new(), b"HTTP/1.1 200 OK\r\nContent-Le".to_vec()] {
        let server = answering_early(answer, 5);
        let mut spec = count(server.local_addr().unwrap(), 1, 5);
        spec.exchanges = vec![expecting(request.clone(), BODY)];
        let seen = run(&spec);
        let failed = &seen.total.failed;
        // A FIN that is seen before the reset is the end of a connection, too.
        let ended = [Failure::Reset, Failure::ClosedEarly, Failure::TruncatedHead];
        let ended: u64 = ended.iter().map(|kind| failed[*kind]).sum();
        assert_eq!((ended, failed.total()), (5, 5), "{:?}", seen.examples);
    }
}

#[test]
fn a_wait_for_100_continue_that_does_not_come_is_counted() {
    let server = OracleServer::start(|_: &Turn<'_>| send(hello())).unwrap();
    let mut request = RequestSpec::get("/");
    "POST".clone_into(&mut request.method);
    request.body = Body::Sized(b"hi".to_vec().into());
    request
        .headers
        .push(("Expect".to_owned(), "100-continue".to_owned()));
    let mut spec = count(server.address(), 3, 3);
    spec.exchanges = vec![expecting(request, BODY)];
    let seen = run(&spec);
    assert_eq!(seen.total.succeeded, 3, "{:?}", seen.examples);
    let waits = seen.own_waits.for_continue;
    assert_eq!(waits.count, 3);
    assert!(waits.total >= Duration::from_secs(3), "{waits:?}");
    assert!(
        waits.total <= seen.service_time.sum() + Duration::from_millis(9),
        "{waits:?}"
    );
}

#[test]
fn pauses_before_another_attempt_to_connect_are_counted() {
    let port = RefusingPort::new().unwrap();
    let seen = run(&count(port.address(), 1, 3));
    let waits = seen.own_waits.before_connecting;
    // 10 ms, 20 ms, and 40 ms that nobody waited for.
    assert_eq!((waits.count, waits.total), (3, Duration::from_millis(70)));
}
