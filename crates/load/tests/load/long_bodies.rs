//! Long bodies, read or dropped unseen: what has come is counted to the byte, and nothing is left behind.

use std::{
    io::{Read as _, Write as _},
    net::{TcpListener, TcpStream},
    sync::atomic::{AtomicU64, Ordering},
    thread,
    time::Duration,
};

use deadheat_model::{Failure, StopRule, load::RequestSpec};
use deadheat_testkit::{
    Action, OracleServer, Turn,
    answers::{hello, sized},
};

use crate::{
    arrivals::open,
    support::{count, expecting, run},
};

/// Around the sizes of buffers, on this side and in the kernel.
const LENGTHS: [usize; 8] = [
    12, 65_535, 65_536, 100_000, 1_048_575, 1_048_577, 3_500_000, 0,
];

fn body(length: usize) -> Vec<u8> {
    (0..length).map(|at| (at % 251) as u8).collect()
}

/// Answers `/LENGTH` with so many bytes, in pieces of `piece`, with a pause after each of the first ten.
fn in_pieces(piece: usize) -> OracleServer {
    OracleServer::start(move |turn: &Turn<'_>| {
        let length = turn.request.path[1..].parse().unwrap_or_default();
        let answer = sized(200, "", &body(length));
        let mut steps = Vec::new();
        for (nth, piece) in answer.chunks(piece).enumerate() {
            steps.push(Action::Send(piece.to_vec()));
            if nth < 10 {
                steps.push(Action::Pause(Duration::from_micros(300)));
            }
        }
        steps
    })
    .unwrap()
}

#[test]
fn long_and_short_bodies_follow_each_other_on_one_connection() {
    for piece in [7_000, 70_000, 400_000] {
        // Content looked at in every answer, in some and in none.
        for content_sample in [1, 3, 0] {
            let server = in_pieces(piece);
            let mut spec = count(server.address(), 1, 32);
            spec.content_sample = content_sample;
            spec.exchanges = LENGTHS
                .iter()
                .map(|length| expecting(RequestSpec::get(format!("/{length}")), &body(*length)))
                .collect();
            let seen = run(&spec);
            let what = format!("pieces of {piece}, content of one in {content_sample}");
            assert_eq!(seen.total.succeeded, 32, "{what}: {:?}", seen.examples);
            assert_eq!(seen.connections_opened, 1, "{what}");
            let all = 4 * LENGTHS.iter().sum::<usize>() as u64;
            assert_eq!(seen.body_bytes, all, "{what}");
            assert_eq!(server.seen_at_rest().requests, 32, "{what}");
        }
    }
}

#[test]
fn the_end_is_noticed_in_the_middle_of_a_long_body() {
    for (last, kind) in [
        (Action::Fin, Failure::TruncatedBody),
        (Action::Reset, Failure::Reset),
        (Action::Silence, Failure::Timeout),
    ] {
        let server = OracleServer::start(move |_: &Turn<'_>| {
            let whole = sized(200, "", &body(900_000));
            vec![
                Action::Send(whole[..300_000].to_vec()),
                Action::Pause(Duration::from_millis(20)),
                last.clone(),
            ]
        })
        .unwrap();
        let mut spec = count(server.address(), 1, 3);
        spec.content_sample = 0;
        // The others are over before, however late that is on a busy machine.
        if kind == Failure::Timeout {
            spec.timeouts.request = Duration::from_millis(500);
        }
        spec.exchanges = vec![expecting(RequestSpec::get("/"), &body(900_000))];
        let seen = run(&spec);
        assert_eq!(
            seen.total.failed.iter().find(|one| one.0 == kind),
            Some((kind, 3)),
            "{:?}",
            seen.total
        );
    }
}

#[test]
fn extra_bytes_are_extra_bytes_whenever_they_come() {
    // In the same segment, in one of their own, and while nothing is asked for.
    let cuts = [
        vec![Action::Send([hello(), b"+++".to_vec()].concat())],
        vec![Action::Send(hello()), Action::Send(b"+++".to_vec())],
        vec![
            Action::Send(hello()),
            Action::Pause(Duration::from_millis(10)),
            Action::Send(b"+++".to_vec()),
        ],
    ];
    for steps in cuts {
        let script = steps.clone();
        let server = OracleServer::start(move |_: &Turn<'_>| script.clone()).unwrap();
        let mut open = open(server.address(), 20.0, 1);
        open.stop = StopRule::Count { requests: 6 };
        for spec in [count(server.address(), 1, 6), open] {
            let seen = run(&spec);
            let failed = &seen.total.failed;
            assert_eq!(failed[Failure::ExtraBytes], failed.total(), "{failed:?}");
            // What comes late is the next request's failure.
            assert!(failed.total() >= 3, "{steps:?}: {failed:?}");
        }
    }
}

#[test]
fn bytes_after_a_long_body_that_nobody_looks_at_are_noticed() {
    for extra in [1, 100] {
        let server = OracleServer::start(move |_: &Turn<'_>| {
            let mut bytes = sized(200, "", &body(900_000));
            bytes.resize(bytes.len() + extra, b'+');
            vec![Action::Send(bytes)]
        })
        .unwrap();
        let mut spec = count(server.address(), 1, 3);
        spec.content_sample = 0;
        spec.exchanges = vec![expecting(RequestSpec::get("/"), &body(900_000))];
        let failed = run(&spec).total.failed;
        let wrong = failed.iter().find(|one| one.0 == Failure::ExtraBytes);
        assert_eq!(wrong, Some((Failure::ExtraBytes, 3)), "{extra}: {failed:?}");
    }
}

/// The least time that its reader takes for its bytes: chunks of one byte.
const SLOW_TO_READ: &[u8] = b"1\r\nx\r\n";
/// Small answers that are to be given while the long one lasts.
const MEANWHILE: u64 = 5;
/// The long answer ends at the latest after so many bytes, so that a broken test ends.
const MAX_BYTES: usize = 256 << 20;

#[test]
fn a_body_that_never_pauses_does_not_hold_up_other_connections() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let small = AtomicU64::new(0);
    thread::scope(|scope| {
        let small = &small;
        let first = scope.spawn(move || {
            let first = listener.accept().unwrap().0;
            let second = listener.accept().unwrap().0;
            scope.spawn(move || answer_all(second, small));
            answer_until(first, || small.load(Ordering::Relaxed) >= MEANWHILE)
        });
        let mut spec = count(address, 2, MEANWHILE + 10);
        spec.exchanges[0].expect.length = None;
        spec.exchanges[0].expect.content = None;
        let seen = run(&spec);
        assert_eq!(seen.total.failed.total(), 0, "{:?}", seen.examples);
        assert!(first.join().unwrap(), "others had to wait for its end");
    });
}

/// Answers each request with little.
fn answer_all(mut socket: TcpStream, answered: &AtomicU64) {
    let mut request = [0; 4096];
    while socket.read(&mut request).is_ok_and(|length| length > 0) {
        if socket.write_all(&hello()).is_err() {
            return;
        }
        answered.fetch_add(1, Ordering::Relaxed);
    }
}

/// Answers a request with a body that goes on until `is_enough`, or for too long; further ones with little. Whether it
/// was enough.
fn answer_until(mut socket: TcpStream, is_enough: impl Fn() -> bool) -> bool {
    let mut request = [0; 4096];
    assert!(socket.read(&mut request).unwrap() > 0);
    let head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    socket.write_all(head).unwrap();
    let piece = SLOW_TO_READ.repeat(10_000);
    let mut sent = 0;
    while !is_enough() && sent < MAX_BYTES {
        socket.write_all(&piece).unwrap();
        sent += piece.len();
    }
    let enough = is_enough();
    socket.write_all(b"0\r\n\r\n").unwrap();
    answer_all(socket, &AtomicU64::new(0));
    enough
}
