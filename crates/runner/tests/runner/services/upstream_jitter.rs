//! How exactly the slow upstream keeps its delay. A measurement, run by hand:
//! `cargo test --release -p deadheat-runner --test runner jitter -- --ignored --nocapture`

use std::{
    io::{Read, Write},
    net::TcpStream,
    time::{Duration, Instant},
};

use deadheat_runner::services::{Upstream, upstream};
use mio::{Events, Interest, Poll, Token};

use super::supervision;

const ROUNDS: usize = 12;
const REQUEST: &[u8] = b"GET / HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n";

struct Client {
    stream: mio::net::TcpStream,
    sent: Instant,
    got: usize,
    left: usize,
}

/// Each connection asks again as soon as it has its answer. How much later than the delay the answers came.
fn lateness(connections: usize, spread: Duration) -> Vec<Duration> {
    let logs = tempfile::tempdir().unwrap();
    let upstream = Upstream::start(&supervision(), None, logs.path()).unwrap();
    let url = upstream.url();
    let address = url.trim_start_matches("http://").trim_end_matches('/');
    let mut poll = Poll::new().unwrap();
    let mut clients: Vec<Client> = (0..connections)
        .map(|index| {
            let stream = TcpStream::connect(address).unwrap();
            stream.set_nonblocking(true).unwrap();
            stream.set_nodelay(true).unwrap();
            let mut stream = mio::net::TcpStream::from_std(stream);
            let registry = poll.registry();
            registry
                .register(&mut stream, Token(index), Interest::READABLE)
                .unwrap();
            Client {
                stream,
                sent: Instant::now(),
                got: 0,
                left: ROUNDS,
            }
        })
        .collect();
    let answer =
        20 + "HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 20\r\n\r\n".len();
    let mut late = Vec::with_capacity(connections * ROUNDS);
    let mut events = Events::with_capacity(1024);
    let (mut started, mut done) = (0, 0);
    let begin = Instant::now();
    let mut chunk = [0; 4096];
    while done < connections {
        while started < connections
            && begin.elapsed() >= spread * started as u32 / connections as u32
        {
            let client = &mut clients[started];
            client.sent = Instant::now();
            client.stream.write_all(REQUEST).unwrap();
            started += 1;
        }
        let patience = (started < connections).then_some(Duration::ZERO);
        poll.poll(&mut events, patience).unwrap();
        for event in &events {
            let client = &mut clients[event.token().0];
            client.got += client.stream.read(&mut chunk).unwrap();
            if client.got < answer {
                continue;
            }
            assert_eq!(client.got, answer);
            // The first rounds are a burst that the start makes.
            if client.left <= ROUNDS - 2 {
                late.push(client.sent.elapsed().saturating_sub(upstream::DELAY));
            }
            assert!(client.sent.elapsed() >= upstream::DELAY);
            client.got = 0;
            client.left -= 1;
            if client.left == 0 {
                done += 1;
            } else {
                client.sent = Instant::now();
                client.stream.write_all(REQUEST).unwrap();
            }
        }
    }
    late.sort_unstable();
    late
}

#[test]
#[ignore = "a measurement, not a check"]
fn jitter() {
    let mut report = String::new();
    for connections in [100, 400, 1_000, 4_000] {
        for spread in [Duration::ZERO, upstream::DELAY] {
            let late = lateness(connections, spread);
            let at = |share: f64| late[(late.len() as f64 * share) as usize];
            report += &format!(
                "{connections} connections started over {spread:?}, {} answers: p50 {:?}, p99 {:?}, p99.9 {:?}, max {:?}\n",
                late.len(),
                at(0.5),
                at(0.99),
                at(0.999),
                late[late.len() - 1],
            );
        }
    }
    std::io::stdout().write_all(report.as_bytes()).unwrap();
}
