//! The count rule is exact, and what is counted is what the server saw.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};

use deadheat_load::LoadEvent;
use deadheat_model::{SliceEvent, StopRule};
use deadheat_testkit::{
    Action, OracleServer, Served, Turn,
    answers::{hello, send},
    wait_until,
};

use crate::support::{UNTIL_STOPPED, count, lasting, run, run_until};

/// A right answer after so many milliseconds.
fn after(milliseconds: u64) -> Vec<Action> {
    let pause = Action::Pause(Duration::from_millis(milliseconds));
    [vec![pause], send(hello())].concat()
}

fn answering() -> OracleServer {
    OracleServer::start(|_: &Turn<'_>| send(hello())).unwrap()
}

#[test]
fn a_count_is_exact_whether_or_not_the_connections_divide_it() {
    for (connections, requests) in [
        (1, 1),
        (3, 100),
        (7, 5),
        (7, 50),
        (16, 16),
        (50, 333),
        (5, 0),
    ] {
        let server = answering();
        let seen = run(&count(server.address(), connections, requests));
        let server = server.seen_at_rest();
        let case = format!("{requests} on {connections}");
        assert_eq!(seen.measured.issued, requests, "{case}");
        assert_eq!(seen.measured.succeeded, requests, "{case}");
        assert_eq!(seen.measured.in_flight, 0, "{case}");
        assert_eq!(server.requests, requests, "{case}");
    }
}

#[test]
fn a_count_is_exact_over_workers() {
    let server = answering();
    let mut spec = count(server.address(), 5, 101);
    spec.cpus = vec![0, 0, 0];
    let seen = run(&spec);
    assert_eq!((seen.measured.issued, seen.measured.succeeded), (101, 101));
    assert_eq!(server.seen_at_rest().requests, 101);
    let cpus: Vec<_> = seen.workers.iter().map(|worker| worker.cpu).collect();
    assert_eq!(cpus, [Some(0); 3]);
}

#[test]
fn a_count_begins_after_the_warm_up() {
    // The first answers come long after the warm-up.
    let server = OracleServer::start(|turn: &Turn<'_>| match turn.nth {
        0 => after(600),
        _ => send(hello()),
    });
    let server = server.unwrap();
    let mut spec = count(server.address(), 3, 40);
    spec.warm_up = Duration::from_millis(200);
    let seen = run(&spec);
    let measured = &seen.measured;
    assert_eq!((measured.issued, measured.succeeded), (40, 40));
    assert_eq!((measured.carried_in, measured.carried_succeeded), (3, 3));
    assert_eq!(measured.answers(), 40, "nothing was cut at the end");
    assert_eq!(seen.valid_body_bytes, 40 * 13);
    assert_eq!((seen.content_checked, seen.statuses[&200]), (40, 40));
    assert_eq!(seen.total.succeeded, 43);
    assert_eq!(server.seen_at_rest().requests, 43);
}

#[test]
fn a_load_over_time_loses_and_invents_nothing() {
    let server = answering();
    let seen = run(&lasting(server.address(), 8, 500, 1_000));
    let server = server.seen_at_rest();
    assert_eq!(server.requests, seen.total.issued);
    assert_eq!(
        server.request_bytes,
        seen.total.issued * server.first[0].wire_bytes
    );
    assert_eq!(seen.total.failed.total(), 0);
    assert_eq!(seen.window, Duration::from_secs(1));
    assert_eq!(seen.bins.len(), 100);
    // Each answer comes in one piece, so that the bytes of the warm-up can be told from the measurement's.
    let measured = &seen.measured;
    let came = measured.succeeded + measured.carried_succeeded;
    assert_eq!(seen.body_bytes, came * 13);
    assert_eq!(seen.valid_body_bytes, seen.measured.succeeded * 13);
    assert!(seen.measured.succeeded > 0 && seen.measured.succeeded < seen.total.succeeded);
    assert_eq!(
        (
            server.connections,
            seen.connections_opened,
            seen.connections_peak
        ),
        (8, 8, 8)
    );
}

#[test]
fn what_is_in_flight_at_the_edges_is_known() {
    // The first requests are answered in the measurement, however late that begins, and the second ones never.
    let counting = Arc::new(AtomicBool::new(false));
    let is_counting = Arc::clone(&counting);
    let server = OracleServer::start(move |turn: &Turn<'_>| {
        wait_until("the measurement", || is_counting.load(Ordering::Relaxed));
        match turn.nth {
            0 => after(600),
            _ => vec![Action::Silence],
        }
    });
    let server = server.unwrap();
    let spec = lasting(server.address(), 5, 500, UNTIL_STOPPED);
    let stop = AtomicBool::new(false);
    let seen = thread::scope(|scope| {
        scope.spawn(|| {
            wait_until("the second ones", || server.seen().requests >= 10);
            thread::sleep(Duration::from_millis(600));
            stop.store(true, Ordering::Relaxed);
        });
        let mut note = |event| {
            if event == LoadEvent::Slice(SliceEvent::CountingStarted) {
                counting.store(true, Ordering::Relaxed);
            }
        };
        run_until(&spec, &mut note, &stop).unwrap()
    });
    assert_eq!(seen.measured.carried_in, 5);
    assert_eq!(seen.measured.in_flight, 5);
    assert_eq!(seen.total.in_flight, 5);
    assert_eq!((seen.measured.issued, seen.measured.succeeded), (5, 0));
    assert_eq!(seen.measured.carried_succeeded, 5);
    assert_eq!(seen.measured.answers(), 5, "one for each two that were cut");
    // All connections had a request in flight all the time, but for moments.
    let cut = seen.cut;
    assert!(cut <= 5 * seen.window && cut > 4 * seen.window, "{cut:?}");
}

#[test]
fn what_fails_of_the_warm_up_is_no_failure_of_the_measurement() {
    let server = OracleServer::start(|turn: &Turn<'_>| match turn.nth {
        0 => [vec![Action::Pause(Duration::from_millis(600))], send("?")].concat(),
        _ => send(hello()),
    });
    let server = server.unwrap();
    let mut spec = lasting(server.address(), 2, 200, 60_000);
    spec.stop = StopRule::Count { requests: 0 };
    spec.limit = Some(Duration::from_secs(1));
    let seen = run(&spec);
    assert_eq!(seen.total.failed.total(), 2, "{:?}", seen.examples);
    assert_eq!((seen.measured.carried_failed, seen.measured.issued), (2, 0));
    assert_eq!(seen.failures[0].measured, 0);
}

#[test]
fn a_load_that_is_never_answered_ends_in_time() {
    let server = OracleServer::start(|_: &Turn<'_>| vec![Action::Silence]).unwrap();
    let seen = run(&lasting(server.address(), 4, 0, 1_000));
    assert_eq!((seen.total.issued, seen.total.in_flight), (4, 4));
}

#[test]
fn exchanges_are_sent_in_turn_and_not_in_step() {
    let server = OracleServer::start(|turn: &Turn<'_>| {
        let body = turn.request.path.as_bytes();
        // So slowly that the second connection finds something left to ask for.
        vec![
            Action::Pause(Duration::from_millis(50)),
            Action::Send(deadheat_testkit::answers::sized(200, "", body)),
        ]
    });
    let server = server.unwrap();
    let mut spec = count(server.address(), 2, 12);
    let paths = ["/a", "/bb", "/ccc"];
    spec.exchanges = paths
        .iter()
        .map(|path| {
            crate::support::expecting(
                deadheat_model::load::RequestSpec::get(*path),
                path.as_bytes(),
            )
        })
        .collect();
    let seen = run(&spec);
    assert_eq!(seen.total.succeeded, 12, "{:?}", seen.examples);
    let server = server.seen_at_rest();
    let first_of = |connection| {
        let is_it = |one: &Served| (one.connection, one.nth) == (connection, 0);
        let index = server.served.iter().position(is_it).unwrap();
        server.first[index].path.as_str()
    };
    // Whichever of them the server takes in first.
    let mut firsts = [first_of(0), first_of(1)];
    firsts.sort_unstable();
    assert_eq!(
        firsts,
        ["/a", "/bb"],
        "each starts where the one before did not"
    );
}
