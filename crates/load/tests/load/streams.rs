//! Answers that are streams: the generator's events are those that the server sent, at the server's own times.

use std::{
    io::{BufRead, BufReader, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::{Arc, Mutex},
    thread,
    time::{Duration, Instant},
};

use deadheat_load::LoadError;
use deadheat_model::{
    Exchange, Failure, LatencyHistogram, LoadSpec, Observation, StopRule,
    load::{Content, HttpVersion, Protocol, RequestSpec, Reuse, Stream, StreamEvent},
    observation::EventsSeen,
};
use deadheat_testkit::{
    Action, OracleServer, Turn,
    answers::{chunked, send, sized},
    judge::least,
};

use crate::{
    arrivals::open,
    support::{count, lasting, run, run_longer},
};

const MS: Duration = Duration::from_millis(1);

/// The times between the events of each answer, and before the first.
const PAUSES_MS: [u64; 6] = [30, 20, 50, 200, 20, 100];

/// When a server read a request, and sent each event of its answer.
#[derive(Debug)]
struct Sent {
    arrived: Instant,
    events: Vec<Instant>,
}

/// A server of server-sent events that writes down when it sent each.
struct EventServer {
    address: SocketAddr,
    sent: Arc<Mutex<Vec<Sent>>>,
}

impl EventServer {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let sent = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&sent);
        // It ends with the test's process, and has no connection from when the load is over.
        thread::spawn(move || {
            for socket in listener.incoming().flatten() {
                let log = Arc::clone(&log);
                thread::spawn(move || serve(&socket, &log));
            }
        });
        Self { address, sent }
    }
}

fn serve(socket: &TcpStream, log: &Mutex<Vec<Sent>>) -> Option<()> {
    socket.set_nodelay(true).ok()?;
    let mut requests = BufReader::new(socket).lines();
    loop {
        while !requests.next()?.ok()?.is_empty() {}
        let arrived = Instant::now();
        let mut socket = socket;
        let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
        socket.write_all(head.as_bytes()).ok()?;
        let mut events = Vec::new();
        for (number, pause) in PAUSES_MS.into_iter().enumerate() {
            // Between two events something comes that is none.
            thread::sleep(Duration::from_millis(pause / 2));
            write_chunk(socket, ": still here\n\n")?;
            thread::sleep(Duration::from_millis(pause - pause / 2));
            events.push(Instant::now());
            write_chunk(socket, &format!("id: {number}\ndata: {number}\n\n"))?;
        }
        // Before the answer ends: when the client has it, the test reads the log.
        log.lock().unwrap().push(Sent { arrived, events });
        socket.write_all(b"0\r\n\r\n").ok()?;
    }
}

fn write_chunk(mut socket: &TcpStream, text: &str) -> Option<()> {
    let chunk = format!("{:x}\r\n{text}\r\n", text.len());
    socket.write_all(chunk.as_bytes()).ok()
}

fn streaming(mut spec: LoadSpec, event: StreamEvent, enough: Option<u64>) -> LoadSpec {
    for exchange in &mut spec.exchanges {
        exchange.expect.length = None;
        exchange.expect.content = None;
    }
    spec.stream = Some(Stream { event, enough });
    spec
}

/// By how much a quantile is off at most, in seconds.
fn farthest(reported: &LatencyHistogram, mut servers: Vec<Duration>) -> f64 {
    servers.sort_unstable();
    assert_eq!(reported.count(), servers.len() as u64);
    let quantiles = servers.iter().enumerate().map(|(rank, servers)| {
        let quantile = (rank as f64 + 0.5) / reported.count() as f64;
        let reported = reported.quantile(quantile).unwrap();
        reported.abs_diff(*servers).as_secs_f64()
    });
    quantiles.fold(0.0, f64::max)
}

#[test]
fn events_have_the_times_at_which_the_server_sent_them() {
    let measure = || {
        let server = EventServer::start();
        let spec = streaming(count(server.address, 4, 12), StreamEvent::Sse, None);
        let seen = run(&spec);
        assert_eq!(seen.measured.succeeded, 12, "{:?}", seen.examples);
        let events = seen.events.expect("they are asked for");
        let sent = server.sent.lock().unwrap();
        assert_eq!(events.events, 12 * PAUSES_MS.len() as u64);
        assert_eq!((events.without, events.open_gap), (0, Duration::ZERO));
        let first = sent.iter().map(|one| one.events[0] - one.arrived);
        let mut first: Vec<Duration> = first.collect();
        first.sort_unstable();
        for (rank, servers) in first.iter().enumerate() {
            let quantile = (rank + 1) as f64 / first.len() as f64;
            // On no machine does an event come before it was sent.
            let reported = events.first_event.quantile(quantile).unwrap();
            assert!(
                reported >= servers.mul_f64(0.999),
                "{reported:?} {servers:?}"
            );
        }
        let gaps = sent.iter().flat_map(|one| one.events.windows(2));
        let gaps: Vec<Duration> = gaps.map(|pair| pair[1] - pair[0]).collect();
        let far = farthest(&events.gap, gaps).max(farthest(&events.first_event, first));
        // The quantiles are far apart: this is no other pause.
        assert!(events.longest_gap() >= Some(150 * MS), "{events:?}");
        far
    };
    let near = 0.008;
    let far = least(near, measure);
    assert!(far <= near, "a quantile is {far} s off");
}

/// Server-sent events without an end: `pieces` at once, then the rest after a while.
fn endless(pieces: usize) -> OracleServer {
    OracleServer::start(move |_: &Turn<'_>| {
        let event = "9\r\ndata: x\n\n\r\n";
        let head = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
        vec![
            Action::Send((head.to_owned() + &event.repeat(pieces)).into_bytes()),
            Action::Pause(20 * MS),
            Action::Repeat(Arc::from(event.as_bytes()), 1 << 40),
        ]
    })
    .unwrap()
}

#[test]
fn a_stream_without_an_end_is_whole_after_enough_events() {
    for event in [StreamEvent::Sse, StreamEvent::Lines, StreamEvent::Chunks] {
        for (pieces, enough) in [(3, 2), (3, 5), (0, 1)] {
            let server = endless(pieces);
            let mut spec = streaming(count(server.address(), 2, 10), event, Some(enough));
            if event == StreamEvent::Sse {
                // What was cut off is no part of the answer. (A line ends before the empty one behind it.)
                spec.exchanges[0].expect.length = Some(9 * enough);
                spec.exchanges[0].expect.content = Some(Content::Exact {
                    bytes: b"data: x\n\n".repeat(enough as usize),
                });
            }
            let case = format!("{event:?} {pieces} {enough}");
            let seen = run(&spec);
            assert_eq!(seen.measured.succeeded, 10, "{case}: {:?}", seen.examples);
            assert_eq!(seen.total.failed.total(), 0, "{case}");
            let events = seen.events.as_ref().unwrap();
            assert_eq!(events.events, 10 * enough, "{case}");
            assert_eq!(events.first_event.count(), 10, "{case}");
            assert_eq!(events.gap.count(), 10 * (enough - 1), "{case}");
            // A connection each: that is no failure, and nothing is sent again.
            assert_eq!((seen.connections_opened, seen.resent), (10, 0), "{case}");
            assert_eq!(server.seen().requests, 10, "{case}");
        }
    }
}

#[test]
fn an_open_loop_has_streams_too() {
    let server = endless(2);
    let mut spec = streaming(open(server.address(), 100.0, 8), StreamEvent::Sse, Some(2));
    spec.stop = StopRule::Count { requests: 20 };
    let seen = run(&spec);
    assert_eq!(seen.measured.succeeded, 20, "{:?}", seen.examples);
    assert_eq!(seen.events.unwrap().events, 40);
}

#[test]
fn a_stream_that_does_not_end_in_time_says_what_to_do() {
    let server = OracleServer::start(|_: &Turn<'_>| {
        let head = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n9\r\ndata: x\n\n\r\n";
        vec![Action::Send(head.into()), Action::Silence]
    })
    .unwrap();
    for (enough, expected) in [(None, "see --stream-events"), (Some(2), "fewer events")] {
        let mut spec = streaming(count(server.address(), 1, 1), StreamEvent::Sse, enough);
        spec.timeouts.request = 200 * MS;
        let seen = run(&spec);
        assert_eq!(seen.measured.failed[Failure::Timeout], 1);
        let cause = &seen.failures[0].cause;
        assert!(cause.contains(expected), "{cause}");
        // What came of it has been counted all the same.
        assert_eq!(seen.events.unwrap().events, 1);
    }
    // Nor is a gap forgotten that had not ended with the measurement.
    let until = |length: Duration| {
        let milliseconds = length.as_millis() as u64;
        let spec = lasting(server.address(), 1, 0, milliseconds);
        run(&streaming(spec, StreamEvent::Sse, None))
    };
    let has_gap = |seen: &Observation| {
        let events = seen.events.as_ref();
        events.is_some_and(|events| events.open_gap > 50 * MS)
    };
    let events = run_longer(300 * MS, until, has_gap).events.unwrap();
    assert_eq!((events.events, events.gap.count()), (1, 0));
    assert!(events.open_gap > 50 * MS, "{events:?}");
    assert_eq!(events.longest_gap(), Some(events.open_gap));
}

#[test]
fn events_are_those_of_answers_with_a_right_status() {
    let server = OracleServer::start(|turn: &Turn<'_>| match turn.request.path.as_str() {
        "/lines" => send(sized(200, "", b"{}\n\n{}\r\n{}")),
        "/chunks" => send(chunked(200, b"abcdefg", 3)),
        "/wrong" => send(sized(500, "", b"a\nb\n")),
        "/close" => {
            vec![Action::SendFin(
                b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\na\nb".to_vec(),
            )]
        }
        // A long one that nobody would look at without its events.
        _ => send(sized(200, "", &b"a line of some length\n".repeat(40_000))),
    })
    .unwrap();
    let found = |path: &str, event| {
        let mut spec = count(server.address(), 2, 4);
        spec.exchanges = vec![Exchange {
            request: RequestSpec::get(path),
            ..spec.exchanges.remove(0)
        }];
        let seen = run(&streaming(spec, event, None));
        let EventsSeen {
            events, without, ..
        } = seen.events.unwrap();
        (events, without)
    };
    assert_eq!(found("/lines", StreamEvent::Lines), (12, 0));
    assert_eq!(found("/lines", StreamEvent::Chunks), (0, 4));
    assert_eq!(found("/chunks", StreamEvent::Chunks), (12, 0));
    assert_eq!(found("/chunks", StreamEvent::Sse), (0, 4));
    assert_eq!(found("/close", StreamEvent::Lines), (8, 0));
    assert_eq!(found("/wrong", StreamEvent::Lines), (0, 0));
    assert_eq!(found("/long", StreamEvent::Lines), (160_000, 0));
}

#[test]
fn what_cannot_be_a_stream_is_refused() {
    let address = "127.0.0.1:1".parse().unwrap();
    let refused = |change: &dyn Fn(&mut LoadSpec)| {
        let mut spec = streaming(count(address, 1, 1), StreamEvent::Sse, None);
        assert!(deadheat_load::check(&spec).is_ok());
        change(&mut spec);
        let error = deadheat_load::check(&spec).unwrap_err();
        assert!(matches!(error, LoadError::Stream { .. }), "{error}");
    };
    refused(&|spec| spec.exchanges[0].request.method = "HEAD".to_owned());
    refused(&|spec| {
        spec.protocol = Protocol::Http1 {
            version: HttpVersion::Http11,
            reuse: Reuse::KeepAlive,
            pipeline: 2,
        };
    });
    refused(&|spec| {
        spec.stream = Some(Stream {
            event: StreamEvent::Sse,
            enough: Some(0),
        });
    });
}
