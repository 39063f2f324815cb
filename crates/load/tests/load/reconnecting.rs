//! Connections that end, and servers that go away and come back.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::Duration,
};

use deadheat_model::{
    Failure, LoadSpec,
    load::{HttpVersion, Protocol, Reuse, Think},
};
use deadheat_testkit::{
    Action, OracleServer, RefusingPort, Turn,
    answers::{BODY, hello, send, sized},
    wait_until,
};

use crate::support::{count, lasting, run, run_until};

#[test]
fn an_announced_end_of_a_connection_costs_no_request() {
    let server = OracleServer::start(|turn: &Turn<'_>| match turn.nth {
        9 => vec![
            Action::Send(sized(200, "Connection: close\r\n", BODY)),
            Action::Fin,
        ],
        _ => send(hello()),
    });
    let server = server.unwrap();
    let seen = run(&count(server.address(), 4, 400));
    assert_eq!(seen.total.succeeded, 400, "{:?}", seen.examples);
    let server = server.seen_at_rest();
    assert_eq!(server.requests, 400);
    assert!(server.connections >= 40, "{}", server.connections);
    assert_eq!(seen.connections_opened, server.connections);
    assert!(seen.connections_peak <= 4);
}

#[test]
fn an_unannounced_end_costs_at_most_the_request_that_met_it() {
    let server = OracleServer::start(|turn: &Turn<'_>| match turn.nth {
        4 => vec![Action::Send(hello()), Action::Fin],
        _ => send(hello()),
    });
    let server = server.unwrap();
    let seen = run(&count(server.address(), 3, 300));
    assert_eq!(seen.total.issued, 300);
    assert_eq!(
        seen.total.failed.total(),
        seen.total.failed[Failure::ClosedEarly]
    );
    // Whether the FIN or the next request is first is a race; that each is counted is not. No request is sent again.
    let server = server.seen_at_rest();
    assert_eq!(server.requests, 300);
    assert!(seen.total.succeeded >= 250, "{:?}", seen.total);
    assert_eq!(
        server.requests - seen.total.failed.total(),
        seen.total.succeeded
    );
}

#[test]
fn a_request_that_announces_the_end_gets_a_connection_of_its_own() {
    let server = OracleServer::start(|_: &Turn<'_>| send(hello())).unwrap();
    let mut spec = count(server.address(), 4, 10);
    let close = ("Connection".to_owned(), "close".to_owned());
    spec.exchanges[0].request.headers.push(close);
    let seen = run(&spec);
    assert_eq!(seen.total.succeeded, 10);
    let server = server.seen_at_rest();
    assert_eq!(server.requests, 10);
    // Those that are closed at the same time are not all made again for the one request that is left.
    assert_eq!(server.connections, 10);
}

#[test]
fn a_connection_per_request_is_in_a_time_of_its_own() {
    let server = OracleServer::start(|_: &Turn<'_>| send(hello())).unwrap();
    let mut spec = count(server.address(), 2, 20);
    let keeping = run(&spec);
    assert_eq!(keeping.service_time_with_connect, None);
    spec.protocol = Protocol::Http1 {
        version: HttpVersion::Http11,
        reuse: Reuse::PerRequest,
        pipeline: 1,
    };
    let seen = run(&spec);
    let whole = seen.service_time_with_connect.unwrap();
    assert_eq!(whole.count(), seen.measured.succeeded);
    assert!(whole.mean() > seen.service_time.mean());
}

#[test]
fn a_server_that_comes_late_is_found() {
    // On a busy machine the load may begin later than a server that comes soon.
    let waits = [100, 1000, 10_000].into_iter();
    let refused = waits.map(refused_before).find(|refused| *refused > 0);
    // 10 + 20 + 40 + 80 ms: a handful for each connection until it came, not thousands.
    assert!(refused.is_some_and(|refused| refused <= 100), "{refused:?}");
}

/// How many connections were refused by a server that came after so many milliseconds.
fn refused_before(milliseconds: u64) -> u64 {
    let port = RefusingPort::new().unwrap();
    let spec = count(port.address(), 2, 200);
    let seen = thread::scope(|scope| {
        let load = scope.spawn(|| run(&spec));
        thread::sleep(Duration::from_millis(milliseconds));
        let server = OracleServer::start_on(port, |_: &Turn<'_>| send(hello())).unwrap();
        let seen = load.join().unwrap();
        assert_eq!(server.seen().requests, seen.total.succeeded);
        seen
    });
    let refused = seen.total.failed[Failure::ConnectRefused];
    assert_eq!(refused + seen.total.succeeded, 200);
    refused
}

#[test]
fn a_server_that_restarts_is_found_again() {
    let right = |_: &Turn<'_>| send(hello());
    let first = OracleServer::start(right).unwrap();
    let address = first.address();
    let spec = lasting(address, 3, 0, 60_000);
    let stop = AtomicBool::new(false);
    let (seen, before, after) = thread::scope(|scope| {
        let load = scope.spawn(|| run_until(&spec, &mut |_| {}, &stop).unwrap());
        wait_until("requests", || first.seen().requests >= 20);
        let before = first.seen().requests;
        drop(first);
        thread::sleep(Duration::from_millis(50));
        let second = OracleServer::start_at(address, right).unwrap();
        wait_until("requests", || second.seen().requests >= 10);
        stop.store(true, Ordering::Relaxed);
        (load.join().unwrap(), before, second.seen().requests)
    });
    assert!(before >= 20 && after >= 10);
    // Three each may have been on their way when the first went and when the load was stopped.
    assert!(seen.total.succeeded >= before + 10 - 6, "{:?}", seen.total);
    assert!(seen.total.failed.total() > 0, "the restart was not free");
    let wrong = seen.total.failed.wrong_answers() + seen.total.failed[Failure::Timeout];
    assert_eq!(wrong, 0, "{:?}", seen.total.failed);
}

#[test]
fn a_request_that_meets_a_connection_closed_while_idle_is_told_apart() {
    let causes = |spec: &LoadSpec| {
        let seen = run(spec);
        assert!(seen.total.failed.total() > 0, "{:?}", seen.total);
        let causes = seen.failures.into_iter().map(|group| group.cause);
        causes.collect::<Vec<String>>()
    };
    let server = || {
        OracleServer::start(|turn: &Turn<'_>| match turn.nth {
            0 => send(hello()),
            _ => vec![Action::Reset],
        })
        .unwrap()
    };
    let idle = "the connection had been idle, and the server closed it";
    let (rare, often) = (server(), server());
    let mut spec = count(rare.address(), 1, 10);
    let pause = Duration::from_millis(25);
    spec.think = Some(Think::Uniform {
        from: pause,
        to: pause,
    });
    assert_eq!(causes(&spec), [idle]);
    let busy = causes(&count(often.address(), 1, 50));
    // Only a machine that stood still in between makes a busy connection look idle.
    assert!(busy.iter().any(|cause| cause != idle), "{busy:?}");
}
