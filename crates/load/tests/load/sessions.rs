//! Loads in slices: connections stay open in between, and what happens to them meanwhile fails nothing.

use std::{
    any::Any,
    io::{Read as _, Write as _},
    net::{Shutdown, SocketAddr, TcpListener, TcpStream},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread,
    time::Duration,
};

use deadheat_load::{LoadError, Session, Slice};
use deadheat_model::{
    Failure, LoadSpec, SliceEvent, SliceResult, StopRule, Tally, Wait,
    load::{HttpVersion, Protocol, Reuse},
    observation::UnmadeConnections,
};
use deadheat_testkit::{
    Action, Authority, OracleServer, Turn,
    answers::{BODY, hello, send},
    eventually,
    http2_server::{Reply, Server, Setup},
    wait_until,
};

use crate::{
    arrivals::open,
    support::{count, lasting},
    tls::{A_CONNECTION_EACH, believing, localhost, serving},
};

/// A load of so many connections without an end of its own.
fn endless(address: SocketAddr, connections: u32) -> LoadSpec {
    let mut spec = count(address, connections, 0);
    spec.stop = StopRule::Interrupt;
    spec.timeouts.drain = Duration::from_secs(20);
    spec
}

const PATIENCE: u64 = 4;

fn session(spec: &LoadSpec) -> Session {
    Session::open(spec.clone(), Arc::default()).unwrap()
}

/// A slice of so many milliseconds, as long as nothing else runs. A busy machine leaves a server without its CPU for
/// that long, so all slices are longer by a factor.
fn milliseconds(guard: u64, length: u64) -> Slice {
    Slice {
        guard: Duration::from_millis(PATIENCE * guard),
        length: Duration::from_millis(PATIENCE * length),
    }
}

/// A slice, and what holds for each.
fn slice(session: &mut Session, slice: Slice) -> SliceResult {
    let seen = session.slice(slice, &mut |_| {}).unwrap();
    let observation = &seen.observation;
    assert!(observation.total.is_conserved(), "{:?}", observation.total);
    assert!(observation.measured.is_conserved());
    // Times are of all that began in the counted part, also of what ended in the drain.
    let Tally {
        succeeded,
        in_flight,
        ..
    } = observation.measured;
    let times = observation.service_time.count();
    assert!((succeeded..=succeeded + in_flight).contains(&times));
    assert_eq!(seen.undrained(), observation.total.in_flight);
    if !seen.interrupted {
        assert_eq!(observation.window, slice.length);
    }
    seen
}

#[test]
fn connections_outlive_slices() {
    let server = OracleServer::start(|_: &Turn<'_>| send(hello())).unwrap();
    let mut spec = endless(server.address(), 5);
    spec.cpus = vec![0, 0];
    let mut session = session(&spec);
    assert_eq!(server.seen().connections, 0, "opening sends nothing");
    let (mut requests, mut measured) = (0, 0);
    for nth in 0..3 {
        let seen = slice(&mut session, milliseconds(20, 60));
        let total = &seen.observation.total;
        requests += total.issued;
        // A busy machine may leave one slice without an answer before its drain.
        measured += seen.observation.measured.succeeded;
        assert!(total.succeeded > 0);
        assert_eq!(total.succeeded, total.issued, "{:?}", total.failed);
        assert_eq!((seen.undrained(), seen.reconnected), (0, 0));
        assert!(!seen.interrupted);
        let opened = if nth == 0 { 5 } else { 0 };
        assert_eq!(seen.observation.connections_opened, opened);
        assert_eq!(seen.observation.connections_peak, 5);
        assert_eq!(seen.observation.workers.len(), 2);
        assert_eq!(
            server.seen().requests,
            requests,
            "nothing is sent in between"
        );
    }
    assert!(measured > 0);
    session.close();
    let server = server.seen_at_rest();
    assert_eq!((server.connections, server.requests), (5, requests));
}

#[test]
fn slices_follow_each_other_however_requests_travel() {
    let authority = Authority::new().unwrap();
    let over_tls = serving(localhost(&authority));
    let plain = OracleServer::start(|_: &Turn<'_>| send(hello())).unwrap();
    let closing = OracleServer::start(|_: &Turn<'_>| [send(hello()), vec![Action::Fin]].concat());
    let closing = closing.unwrap();
    let changed = |server: &OracleServer, change: &dyn Fn(&mut LoadSpec)| {
        let mut spec = endless(server.address(), 4);
        change(&mut spec);
        spec
    };
    let pipelined = Protocol::Http1 {
        version: HttpVersion::Http11,
        reuse: Reuse::KeepAlive,
        pipeline: 8,
    };
    let specs = [
        (
            "TLS",
            changed(&over_tls, &|spec| {
                spec.target.tls = Some(believing(&authority))
            }),
        ),
        (
            "pipelined",
            changed(&plain, &|spec| spec.protocol = pipelined),
        ),
        (
            "a connection each",
            changed(&closing, &|spec| spec.protocol = A_CONNECTION_EACH),
        ),
        ("polling", changed(&plain, &|spec| spec.wait = Wait::Poll)),
        (
            "templates",
            changed(&plain, &|spec| {
                spec.exchanges[0].request.path = "/{{counter}}".to_owned();
                spec.exchanges[0].request.template = true;
            }),
        ),
    ];
    for (how, spec) in specs {
        let mut session = session(&spec);
        for _ in 0..3 {
            let seen = slice(&mut session, milliseconds(10, 40));
            let total = &seen.observation.total;
            let told = format!("{how}: {total:?} {:?}", seen.observation.examples);
            assert!(total.succeeded > 0, "{told}");
            assert_eq!(total.succeeded, total.issued, "{told}");
            assert_eq!(seen.undrained(), 0, "{told}");
            if spec.protocol == A_CONNECTION_EACH {
                // The first requests of a session travel on connections that were made for the first time.
                assert!(seen.reconnected + 4 >= total.issued, "{told}");
            } else {
                assert_eq!(seen.reconnected, 0, "{told}");
            }
        }
        session.close();
    }
}

#[test]
fn a_server_that_never_closes_is_known_in_the_next_slice() {
    // Each request announces the connection's end, and the server leaves that to the client.
    let server = OracleServer::start(|_: &Turn<'_>| send(hello())).unwrap();
    let mut spec = endless(server.address(), 4);
    spec.protocol = A_CONNECTION_EACH;
    let mut session = session(&spec);
    slice(&mut session, milliseconds(0, 60));
    let seen = slice(&mut session, milliseconds(0, 60));
    assert!(
        seen.observation.total.issued > 8,
        "{:?}",
        seen.observation.total
    );
}

#[test]
fn instants_are_told_in_order_on_the_calling_thread() {
    let server = OracleServer::start(|_: &Turn<'_>| send(hello())).unwrap();
    let mut session = session(&endless(server.address(), 2));
    let caller = thread::current().id();
    for guard in [0, 10] {
        let mut told = Vec::new();
        let mut note = |event| {
            assert_eq!(thread::current().id(), caller);
            told.push(event);
        };
        session.slice(milliseconds(guard, 20), &mut note).unwrap();
        let all = [
            SliceEvent::CountingStarted,
            SliceEvent::CountingEnded,
            SliceEvent::Drained,
        ];
        assert_eq!(told, all);
    }
}

#[test]
fn what_is_in_flight_is_waited_for_before_connections_are_held() {
    let slow = |_: &Turn<'_>| {
        let mut steps = vec![Action::Pause(Duration::from_millis(30))];
        steps.extend(send(hello()));
        steps
    };
    let server = OracleServer::start(slow).unwrap();
    let mut session = session(&endless(server.address(), 4));
    let mut before = 0;
    for _ in 0..2 {
        let seen = slice(&mut session, milliseconds(0, 70));
        assert!(seen.observation.measured.in_flight > 0);
        assert!(seen.drained > Duration::ZERO);
        assert_eq!((seen.undrained(), seen.reconnected), (0, 0));
        assert_eq!(seen.observation.total.failed.total(), 0);
        // The server takes note of an answer after it has sent it.
        wait_until("every answer", || {
            server.seen().answered() == seen.observation.total.issued + before
        });
        before += seen.observation.total.issued;
    }
}

#[test]
fn what_is_never_answered_is_given_up_with_its_connection() {
    let server = OracleServer::start(|turn: &Turn<'_>| match turn.connection {
        0 => vec![Action::Silence],
        _ => send(hello()),
    });
    let server = server.unwrap();
    let mut spec = endless(server.address(), 3);
    // Long enough for a busy machine to answer on the other connections.
    spec.timeouts.drain = Duration::from_secs(1);
    let mut session = session(&spec);
    let seen = slice(&mut session, milliseconds(10, 40));
    assert_eq!((seen.undrained(), seen.reconnected), (1, 0));
    assert!(seen.drained >= Duration::from_secs(1));
    // The answer that never came is nobody's in the next slice.
    let seen = slice(&mut session, milliseconds(10, 40));
    assert_eq!((seen.undrained(), seen.reconnected), (0, 1));
    assert_eq!(seen.observation.total.failed.total(), 0);
    assert_eq!(server.seen().connections, 4);
}

/// A server that somebody else can hang up on all its clients.
struct Hanging {
    address: SocketAddr,
    open: Arc<Mutex<Vec<TcpStream>>>,
}

impl Hanging {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let open = Arc::new(Mutex::new(Vec::new()));
        let all: Arc<Mutex<Vec<TcpStream>>> = Arc::clone(&open);
        // Ends with the test's process: nobody waits for it.
        thread::spawn(move || {
            for socket in listener.incoming().flatten() {
                all.lock().unwrap().push(socket.try_clone().unwrap());
                thread::spawn(move || answer(socket));
            }
        });
        Self { address, open }
    }

    /// Says to all clients, before it returns, that nothing follows.
    fn hang_up(&self) -> usize {
        let mut open = self.open.lock().unwrap();
        for socket in open.iter() {
            socket.shutdown(Shutdown::Both).unwrap();
        }
        open.drain(..).count()
    }
}

fn answer(mut socket: TcpStream) {
    let mut request = [0; 4096];
    // Each request comes in one segment, and the next one after its answer.
    while socket.read(&mut request).is_ok_and(|length| length > 0) {
        if socket.write_all(&hello()).is_err() {
            return;
        }
    }
}

#[test]
fn connections_closed_while_held_are_made_again_and_fail_nothing() {
    let server = Hanging::start();
    let mut closed = session(&endless(server.address, 6));
    let mut open_loop = {
        let mut spec = open(server.address, 400.0, 6);
        spec.stop = StopRule::Interrupt;
        spec.timeouts.drain = Duration::from_secs(20);
        session(&spec)
    };
    for session in [&mut closed, &mut open_loop] {
        slice(session, milliseconds(10, 40));
        assert_eq!(server.hang_up(), 6);
        let seen = slice(session, milliseconds(10, 40));
        let total = &seen.observation.total;
        assert_eq!(total.failed.total(), 0, "{:?}", seen.observation.examples);
        assert!(total.succeeded > 0);
        assert_eq!(seen.reconnected, 6);
        assert_eq!(seen.observation.connections_opened, 6);
        let seen = slice(session, milliseconds(0, 20));
        assert_eq!(seen.reconnected, 0);
        server.hang_up();
    }
}

#[test]
fn no_timeout_runs_while_connections_are_held() {
    let server = OracleServer::start(|_: &Turn<'_>| send(hello())).unwrap();
    let mut spec = endless(server.address(), 3);
    spec.timeouts.request = Duration::from_millis(400);
    spec.timeouts.connect = Duration::from_millis(400);
    let mut session = session(&spec);
    for _ in 0..2 {
        let seen = slice(&mut session, milliseconds(0, 20));
        assert_eq!(seen.observation.total.failed.total(), 0);
        assert_eq!(seen.reconnected, 0);
        thread::sleep(Duration::from_millis(450));
    }
}

/// A way to a server that takes connections at once, and passes on what is said on them when it is opened.
struct Gate {
    address: SocketAddr,
    is_open: Arc<AtomicBool>,
    taken: Arc<AtomicU64>,
}

impl Gate {
    fn to(server: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let gate = Self {
            address: listener.local_addr().unwrap(),
            is_open: Arc::default(),
            taken: Arc::default(),
        };
        let (is_open, taken) = (Arc::clone(&gate.is_open), Arc::clone(&gate.taken));
        // Ends with the test's process: nobody waits for it.
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                taken.fetch_add(1, Ordering::Relaxed);
                let is_open = Arc::clone(&is_open);
                thread::spawn(move || {
                    while !is_open.load(Ordering::Relaxed) {
                        thread::sleep(Duration::from_millis(1));
                    }
                    let server = TcpStream::connect(server).unwrap();
                    for (from, to) in [(&client, &server), (&server, &client)] {
                        let (mut from, mut to) =
                            (from.try_clone().unwrap(), to.try_clone().unwrap());
                        thread::spawn(move || {
                            let _ = std::io::copy(&mut from, &mut to);
                            let _ = to.shutdown(Shutdown::Write);
                        });
                    }
                });
            }
        });
        gate
    }
}

/// Loads of four connections through a gate whose connections take long to be made, and what they wait for.
fn slowly_made() -> [(LoadSpec, Gate, UnmadeConnections, Box<dyn Any>); 3] {
    let authority = Authority::new().unwrap();
    let tls = || serving(localhost(&authority));
    let http2 = || {
        let hello = |_: &_| Reply {
            body: BODY.to_vec(),
            ..Reply::default()
        };
        Server::start(Setup::default(), hello).unwrap()
    };
    let (closed, at_a_rate, streams) = (tls(), tls(), http2());
    let gates = [closed.address(), at_a_rate.address(), streams.address].map(Gate::to);
    let [first, second, third] = gates;
    let over_tls = |mut spec: LoadSpec| {
        spec.target.tls = Some(believing(&authority));
        spec
    };
    let mut rate = open(second.address, 400.0, 4);
    rate.stop = StopRule::Interrupt;
    rate.timeouts.drain = Duration::from_secs(20);
    let mut multiplexed = endless(third.address, 4);
    multiplexed.protocol = Protocol::Http2 { streams: 2 };
    let in_tls = UnmadeConnections {
        tls: 4,
        ..UnmadeConnections::default()
    };
    let in_http2 = UnmadeConnections {
        settings: 4,
        ..UnmadeConnections::default()
    };
    [
        (
            over_tls(endless(first.address, 4)),
            first,
            in_tls,
            Box::new(closed),
        ),
        (over_tls(rate), second, in_tls, Box::new(at_a_rate)),
        (multiplexed, third, in_http2, Box::new(streams)),
    ]
}

#[test]
fn connections_that_are_being_made_when_a_slice_ends_are_made_in_a_later_one() {
    for (spec, gate, unmade, _server) in slowly_made() {
        let mut session = session(&spec);
        for opened in [4, 0] {
            let seen = slice(&mut session, milliseconds(0, 30)).observation;
            assert_eq!((seen.total.issued, seen.connections_opened), (0, opened));
            assert_eq!(seen.unmade, unmade);
        }
        gate.is_open.store(true, Ordering::Relaxed);
        eventually("all connections", || {
            let seen = slice(&mut session, milliseconds(0, 30));
            let observation = &seen.observation;
            assert_eq!(
                observation.total.failed.total(),
                0,
                "{:?}",
                observation.examples
            );
            assert_eq!((seen.reconnected, observation.connections_opened), (0, 0));
            (observation.unmade.is_none() && observation.total.succeeded > 0).then_some(())
        });
        assert_eq!(gate.taken.load(Ordering::Relaxed), 4);
    }
}

#[test]
fn the_time_in_which_a_connection_is_to_be_made_does_not_run_between_slices() {
    for (mut spec, _gate, _, _server) in slowly_made() {
        spec.timeouts.connect = Duration::from_secs(2);
        let mut session = session(&spec);
        slice(&mut session, milliseconds(0, 20));
        thread::sleep(spec.timeouts.connect);
        let seen = slice(&mut session, milliseconds(0, 20)).observation;
        assert_eq!(seen.total.failed.total(), 0, "{:?}", seen.examples);
        eventually("the connect timeout", || {
            let seen = slice(&mut session, milliseconds(0, 100)).observation;
            let failed = seen.total.failed.total() > 0;
            failed.then(|| {
                assert!(
                    seen.failures[0]
                        .cause
                        .contains("within the connect timeout")
                )
            })
        });
    }
}

#[test]
fn an_open_loops_schedule_begins_with_each_slice() {
    let server = OracleServer::start(|_: &Turn<'_>| send(hello())).unwrap();
    let mut spec = open(server.address(), 100.0 / PATIENCE as f64, 8);
    spec.stop = StopRule::Interrupt;
    spec.timeouts.drain = Duration::from_secs(20);
    let mut session = session(&spec);
    for _ in 0..3 {
        let seen = slice(&mut session, milliseconds(50, 200));
        let total = &seen.observation.total;
        // Those of the time between two slices are nobody's: 5 are due in the guard, 20 in what counts.
        let found = seen.observation.open.as_ref().unwrap();
        assert_eq!(found.offered, 20);
        assert_eq!(total.issued + found.unsent, 25);
        assert_eq!((total.failed.total(), seen.undrained()), (0, 0));
        thread::sleep(Duration::from_millis(60));
    }
}

#[test]
fn the_waits_of_requests_that_a_slice_never_sent_are_in_its_response_times() {
    // It takes connections and answers nothing.
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut spec = open(server.local_addr().unwrap(), 100.0 / PATIENCE as f64, 1);
    spec.stop = StopRule::Interrupt;
    spec.timeouts.drain = Duration::from_millis(1);
    let mut session = session(&spec);
    for _ in 0..2 {
        let seen = slice(&mut session, milliseconds(50, 200));
        let found = seen.observation.open.as_ref().unwrap();
        // The first one of the guard is in flight. All that were due in the counted part wait for it.
        assert_eq!((found.unsent, found.response_time.count()), (24, 20));
        let times = &found.response_time;
        assert!(times.max() >= Some(Duration::from_millis(PATIENCE * 200)));
        assert!(times.least() <= Some(Duration::from_millis(PATIENCE * 11)));
    }
}

#[test]
fn an_interrupted_slice_says_so_and_another_can_follow() {
    let server = OracleServer::start(|_: &Turn<'_>| send(hello())).unwrap();
    let stop = Arc::new(AtomicBool::new(false));
    let mut session = Session::open(endless(server.address(), 2), Arc::clone(&stop)).unwrap();
    for (slice, counted) in [
        (milliseconds(0, 600_000), true),
        (milliseconds(600_000, 600_000), false),
    ] {
        let mut told = Vec::new();
        let before = server.seen().requests;
        let seen = thread::scope(|scope| {
            scope.spawn(|| {
                wait_until("requests", || server.seen().requests >= before + 20);
                stop.store(true, Ordering::Relaxed);
            });
            session.slice(slice, &mut |event| told.push(event)).unwrap()
        });
        assert!(seen.interrupted);
        let observation = &seen.observation;
        assert!(observation.total.is_conserved() && observation.measured.is_conserved());
        assert!(observation.window < Duration::from_secs(300));
        assert_eq!(observation.window > Duration::ZERO, counted);
        assert_eq!(told.contains(&SliceEvent::CountingEnded), counted);
        assert_eq!(told.last(), Some(&SliceEvent::Drained));
        stop.store(false, Ordering::Relaxed);
    }
    let seen = slice(&mut session, milliseconds(0, 30));
    assert!(!seen.interrupted && seen.observation.measured.succeeded > 0);
}

#[test]
fn a_slice_reports_failures_as_a_load_does() {
    let server = OracleServer::start(|turn: &Turn<'_>| match turn.nth {
        3 => vec![Action::Reset],
        _ => send(hello()),
    });
    let server = server.unwrap();
    let stop = Arc::new(AtomicBool::new(false));
    let mut session = Session::open(endless(server.address(), 2), Arc::clone(&stop)).unwrap();
    for _ in 0..2 {
        let before = server.seen().connections;
        let seen = thread::scope(|scope| {
            scope.spawn(|| {
                // Both connections have been reset, and made again.
                wait_until("connections", || server.seen().connections >= before + 4);
                stop.store(true, Ordering::Relaxed);
            });
            slice(&mut session, milliseconds(0, 600_000))
        });
        stop.store(false, Ordering::Relaxed);
        let failed = &seen.observation.total.failed;
        assert!(failed[Failure::Reset] > 0, "{failed:?}");
        assert_eq!(failed.total(), failed[Failure::Reset]);
        assert!(seen.reconnected > 0);
        // Each slice has examples and causes of its own.
        assert!(!seen.observation.examples.is_empty());
        let causes = seen.observation.failures.iter();
        assert_eq!(causes.map(|group| group.total).sum::<u64>(), failed.total());
    }
}

#[test]
fn a_number_of_requests_is_no_end_of_slices() {
    let spec = count("127.0.0.1:9".parse().unwrap(), 1, 10);
    let error = Session::open(spec, Arc::default()).unwrap_err();
    assert!(matches!(error, LoadError::Session { .. }), "{error}");
    let mut spec = lasting("127.0.0.1:9".parse().unwrap(), 1, 0, 10);
    spec.cpus = vec![1_000];
    let error = Session::open(spec, Arc::default()).unwrap_err();
    assert!(
        matches!(error, LoadError::Pin { cpu: 1_000, .. }),
        "{error}"
    );
}
