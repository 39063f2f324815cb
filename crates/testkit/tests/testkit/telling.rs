//! What a server tells about requests: which, when, and how long they took.

use std::{
    io::{BufReader, Read as _, Write as _},
    net::TcpStream,
    thread,
    time::{Duration, Instant},
};

use deadheat_testkit::{
    Action, Listen, OracleServer, Request, Turn,
    answers::{BODY, hello, send, sized},
    for_the_last_of, latency,
};

const GET: &str = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";

/// Sends so many requests one after the other, and tells how long each took.
fn one_by_one(to: &OracleServer, requests: u64) -> Vec<Duration> {
    let mut client = TcpStream::connect(to.address()).unwrap();
    client.set_nodelay(true).unwrap();
    let mut answer = vec![0; hello().len()];
    (0..requests)
        .map(|_| {
            let sent = Instant::now();
            client.write_all(GET.as_bytes()).unwrap();
            client.read_exact(&mut answer).unwrap();
            sent.elapsed()
        })
        .collect()
}

#[test]
fn what_a_server_took_is_never_more_than_what_its_client_saw() {
    let server = OracleServer::start(latency::two_humped(
        Duration::from_millis(2),
        Duration::from_millis(10),
        5,
    ));
    let server = server.unwrap();
    let own = one_by_one(&server, 50);
    let seen = server.seen_at_rest();
    assert_eq!(seen.served.len(), 50);
    for (index, (served, own)) in seen.served.iter().zip(own).enumerate() {
        assert_eq!((served.connection, served.nth), (0, index as u64));
        let took = served.took().unwrap();
        let least = if index % 5 == 4 { 10 } else { 2 };
        assert!(took >= Duration::from_millis(least), "{index}: {took:?}");
        assert!(took <= own, "{index}: {took:?}, its client {own:?}");
    }
}

#[test]
fn arrivals_are_stamped_when_they_come_and_not_when_they_are_read() {
    // The first request keeps the only thread that reads busy; what comes meanwhile is stamped all the same.
    let busy = Duration::from_millis(300);
    let server =
        OracleServer::start(move |_: &Turn<'_>| vec![Action::Pause(busy), Action::Send(hello())]);
    let server = server.unwrap();
    let mut client = TcpStream::connect(server.address()).unwrap();
    client.set_nodelay(true).unwrap();
    client.write_all(GET.as_bytes()).unwrap();
    thread::sleep(Duration::from_millis(100));
    let before = server.age();
    client.write_all(GET.as_bytes()).unwrap();
    let after = server.age();
    client.read_exact(&mut vec![0; 2 * hello().len()]).unwrap();
    drop(client);
    let seen = server.seen_at_rest();
    assert_eq!(seen.stamped_by_kernel, 2, "this needs Linux");
    let second = seen.served[1].arrived;
    // The stamp is a wall clock's, made an age on the monotonic one: allow their reading to be interrupted.
    let slack = Duration::from_millis(20);
    assert!(
        second + slack >= before && second <= after + slack,
        "{before:?} {second:?} {after:?}"
    );
    assert!(seen.served[0].answered.unwrap() > second);
}

#[test]
fn pipelined_requests_are_answered_in_one_write_or_one_each() {
    for together in [false, true] {
        let listen = Listen::ipv4().unwrap();
        let listen = if together {
            listen.answering_together()
        } else {
            listen
        };
        let server =
            listen.serve(|turn: &Turn<'_>| send(sized(200, "", turn.nth.to_string().as_bytes())));
        let server = server.unwrap();
        let mut client = TcpStream::connect(server.address()).unwrap();
        client.write_all(GET.repeat(8).as_bytes()).unwrap();
        let one = sized(200, "", b"0").len();
        let mut answers = vec![0; 8 * one];
        client.read_exact(&mut answers).unwrap();
        for (nth, answer) in answers.chunks(one).enumerate() {
            assert!(answer.ends_with(nth.to_string().as_bytes()));
        }
        drop(client);
        let served = server.seen_at_rest().served;
        let mut sends: Vec<_> = served.iter().map(|one| one.answered.unwrap()).collect();
        sends.dedup();
        assert_eq!(sends.len(), if together { 1 } else { 8 });
        let arrived: Vec<_> = served.iter().map(|one| one.arrived).collect();
        assert!(
            arrived.iter().all(|at| *at == arrived[0]),
            "one read brought them"
        );
    }
}

#[test]
fn answers_held_back_are_sent_before_anything_else() {
    let server = Listen::ipv4().unwrap().answering_together();
    let server = server.serve(|turn: &Turn<'_>| match turn.nth {
        0 => send(hello()),
        _ => vec![Action::Fin],
    });
    let server = server.unwrap();
    let mut client = TcpStream::connect(server.address()).unwrap();
    client.write_all(GET.repeat(2).as_bytes()).unwrap();
    let mut answer = Vec::new();
    client.read_to_end(&mut answer).unwrap();
    assert_eq!(answer, hello());
}

#[test]
fn a_server_closes_after_as_many_requests_as_it_said() {
    let last = vec![
        Action::Send(sized(200, "Connection: close\r\n", BODY)),
        Action::Fin,
    ];
    let server = OracleServer::start(for_the_last_of(3, send(hello()), last)).unwrap();
    let mut client = TcpStream::connect(server.address()).unwrap();
    client.write_all(GET.repeat(3).as_bytes()).unwrap();
    let mut answers = String::new();
    client.read_to_string(&mut answers).unwrap();
    assert_eq!(answers.matches("HTTP/1.1 200").count(), 3);
    assert_eq!(answers.matches("Connection: close").count(), 1);
    drop(client);
    assert_eq!(server.seen_at_rest().each[0].requests, 3);
}

#[test]
fn old_requests_are_read() {
    let bytes: &[u8] = b"GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n";
    let request = Request::read(&mut BufReader::new(bytes)).unwrap().unwrap();
    assert_eq!(request.version, "HTTP/1.0");
    assert_eq!(request.header("connection"), Some("keep-alive"));
}
