//! Loads that could have been, one of each kind.

use std::time::Duration;

use deadheat_model::{
    Failure, LatencyHistogram, LoadRecord, StopRule,
    failure::FailurePhase,
    load::{Endpoint, HttpVersion, Protocol, Reuse, Target, Tls, Trust},
    observation::{CookiesSeen, FailureGroup, GroupSeen, ReceiveQueues, TlsSeen},
    record::GeneratorHost,
};

use super::{Second, Simulation, closed, example, failed, get, machine, ns, open, service};

/// Fifty connections, ten seconds, nothing wrong.
pub fn closed_fine() -> LoadRecord {
    let second = Second::new(2_500, Duration::from_millis(20));
    let mut load =
        Simulation::new("http://192.0.2.7:8080/plaintext", closed(50, 10)).warm_up(second);
    for index in 0..10 {
        let requests = 2_480 + 10 * (index * 7 % 5);
        load = load.second(Second { requests, ..second });
    }
    load.ended(0.21)
}

/// A load with two requests, the second of which sometimes failed.
pub fn several_requests() -> LoadRecord {
    let mut record = closed_fine();
    let of_both = record.observation.service_time.clone();
    record.spec.exchanges.push(get("/slower"));
    for (index, exchange) in (0..).zip(&mut record.spec.exchanges) {
        exchange.group = Some(index);
    }
    record.spec.first_byte = true;
    record.observation.first_byte = Some(of_both.clone());
    record.observation.groups = [(0, of_both), (12, LatencyHistogram::new())]
        .map(|(failed, service_time)| GroupSeen {
            total_succeeded: service_time.count(),
            succeeded: service_time.count(),
            failed,
            valid_body_bytes: 13 * service_time.count(),
            service_time,
            late: LatencyHistogram::new(),
        })
        .to_vec();
    record
}

/// An open loop against a server that answers nothing for two seconds, and then all at once.
pub fn open_freeze() -> LoadRecord {
    let second = Second::new(2_000, Duration::from_millis(3));
    let mut load =
        Simulation::new("http://192.0.2.7:8080/cart", open(2_000.0, 64, 10)).warm_up(second);
    for index in 0..10 {
        load = load.second(match index {
            4 | 5 => Second::new(0, second.service),
            6 => Second {
                requests: 6_000,
                wait: Duration::from_secs(2),
                ..second
            },
            _ => second,
        });
    }
    let load = load.with(|record| {
        for interval in &mut record.intervals {
            interval.offered = 2_000;
        }
        record.intervals[5].waiting = 1_872;
        record.intervals[6].waiting = 3_872;
        record.observation.connections_opened = 128;
        record.observation.connections_peak = 128;
        for index in 5..10 {
            record.intervals[index].connections = 128;
        }
    });
    load.ended(0.12)
}

/// From three hosts, of which the second had no moment's rest.
pub fn three_hosts() -> LoadRecord {
    let fine = closed_fine();
    let host = |name: &str, busy: f64| {
        let mut observation = fine.observation.clone();
        for worker in &mut observation.workers {
            worker.cpu_time = observation.window.mul_f64(busy);
        }
        GeneratorHost {
            host: name.to_owned(),
            name: format!("{name}.example"),
            machine: machine(),
            clock_error: Duration::from_micros(90),
            observation,
        }
    };
    let hosts = vec![host("load1", 0.4), host("load2", 0.99), host("load3", 0.5)];
    let mut observation = hosts[0].observation.clone();
    observation.merge(&hosts[1].observation);
    observation.merge(&hosts[2].observation);
    LoadRecord {
        observation,
        hosts,
        intervals: Vec::new(),
        ..fine
    }
}

/// A worker without a moment's rest.
pub fn generator_limited() -> LoadRecord {
    let second = Second::new(12_000, Duration::from_micros(5_300));
    let mut load =
        Simulation::new("http://192.0.2.7:8080/plaintext", closed(64, 4)).warm_up(second);
    for _ in 0..4 {
        load = load.second(second);
    }
    let load = load.with(|record| {
        record.observation.receive_queues = ReceiveQueues {
            looks: 20,
            connections: 1_280,
            waiting: 1_101,
            bytes: 143_130,
            most_bytes: 260,
        };
    });
    load.ended(0.974)
}

/// Every answer has the wrong status, or none comes.
pub fn only_failures() -> LoadRecord {
    let second = Second {
        wrong: 1,
        ..Second::new(900, Duration::from_millis(4))
    };
    let mut load = Simulation::new("http://192.0.2.7:8080/broken", closed(8, 3));
    for _ in 0..3 {
        load = load.second(second);
    }
    let load = load.with(|record| {
        record.spec.warm_up = Duration::ZERO;
        record.observation.statuses = [(302, 40), (500, 2_660)].into();
        record.observation.failures.push(FailureGroup {
            kind: Failure::WrongStatus,
            phase: FailurePhase::Head,
            cause: "status 500".to_owned(),
            measured: 2_660,
            total: 2_660,
        });
        record.observation.failures.push(FailureGroup {
            kind: Failure::WrongStatus,
            phase: FailurePhase::Head,
            cause: "status 302".to_owned(),
            measured: 40,
            total: 40,
        });
        failed(
            record,
            Failure::Reset,
            FailurePhase::FirstByte,
            "ECONNRESET (os error 104)",
            31,
        );
        example(
            record,
            Failure::Reset,
            "Connection reset by peer (os error 104)",
        );
        example(
            record,
            Failure::WrongStatus,
            "HTTP/1.1 500 Größe \u{1b}[2J\u{202e}</script><script>alert('x')</script>",
        );
    });
    load.ended(0.05)
}

/// Nobody listens.
pub fn nothing_answered() -> LoadRecord {
    let mut spec = closed(4, 2);
    spec.interval = None;
    let load = Simulation::new("http://192.0.2.7:1/", spec).with(|record| {
        record.observation.window = Duration::from_secs(2);
        record.observation.connections_opened = 0;
        record.observation.connections_peak = 0;
        record.observation.connect_time = LatencyHistogram::new();
        failed(
            record,
            Failure::ConnectRefused,
            FailurePhase::Connect,
            "ECONNREFUSED (os error 111)",
            152,
        );
        example(
            record,
            Failure::ConnectRefused,
            "Connection refused (os error 111)",
        );
    });
    load.ended(0.01)
}

/// One request, one answer.
pub fn one_request() -> LoadRecord {
    let mut spec = closed(1, 1);
    spec.stop = StopRule::Count { requests: 1 };
    spec.warm_up = Duration::ZERO;
    spec.interval = None;
    spec.target = Target::plain("127.0.0.1:8080".parse().expect("an address"));
    let load = Simulation::new("http://127.0.0.1:8080/", spec);
    let load = load.second(Second::new(1, Duration::from_millis(2)));
    let load = load.with(|record| {
        record.intervals.clear();
        record.observation.window = Duration::from_micros(2_100);
    });
    load.ended(0.07)
}

/// Stopped by hand in the third second, with requests in flight.
pub fn interrupted() -> LoadRecord {
    let second = Second::new(1_000, Duration::from_millis(10));
    let mut load =
        Simulation::new("http://192.0.2.7:8080/plaintext", closed(10, 60)).warm_up(second);
    for _ in 0..3 {
        load = load.second(second);
    }
    let load = load.with(|record| {
        record.interrupted = true;
        for tally in [
            &mut record.observation.total,
            &mut record.observation.measured,
        ] {
            tally.issued += 10;
            tally.in_flight += 10;
        }
    });
    load.ended(0.1)
}

/// TLS on eight connections, sixteen requests deep.
pub fn tls_pipelining() -> LoadRecord {
    let mut spec = closed(8, 5);
    spec.protocol = Protocol::Http1 {
        version: HttpVersion::Http11,
        reuse: Reuse::KeepAlive,
        pipeline: 16,
    };
    spec.target.endpoint = Endpoint::Tcp {
        address: "[2001:db8::7]:8443".parse().expect("an address"),
    };
    spec.target.authority = "shop.example:8443".to_owned();
    spec.target.tls = Some(Tls {
        server_name: "shop.example".to_owned(),
        trust: Trust::System,
        identity: None,
        resumption: true,
        version: None,
        cipher_suites: Vec::new(),
    });
    let header = ("Authorization".to_owned(), "…".to_owned());
    spec.exchanges[0].request.headers.push(header);
    // 128 in flight at 8,000 per second.
    let second = Second::new(8_000, Duration::from_millis(16));
    let mut load = Simulation::new("https://shop.example:8443/plaintext", spec).warm_up(second);
    for _ in 0..5 {
        load = load.second(second);
    }
    let load = load.with(|record| {
        record.observation.tls = Some(TlsSeen {
            agreed: "TLS 1.3, TLS_AES_256_GCM_SHA384".to_owned(),
            full: 1,
            resumed: 7,
        });
        record.observation.resent = 3;
        record.spec.redirects = 10;
        record.spec.cookies = true;
        record.observation.cookies = Some(CookiesSeen {
            set: 1_032,
            removed: 8,
            refused: 1,
            sent: 40_968,
        });
        record.observation.followed = [(302, 1_024), (307, 8)].into();
        for index in 0..8 {
            let took = service(Duration::from_micros(1_400), 9_000 + index);
            record.observation.handshake_time.record_ns(ns(took));
        }
    });
    load.ended(0.44)
}

/// A name that is not ASCII, some answers that are wrong, and a throughput that falls.
pub fn non_ascii() -> LoadRecord {
    let mut load = Simulation::new(
        "http://bücher.example/straße/大小?größe=groß&x=<b>",
        closed(20, 8),
    );
    load = load.warm_up(Second::new(1_400, Duration::from_millis(14)));
    for index in 0..8 {
        let requests = 1_400 - 60 * index;
        let mut second = Second::new(requests, Duration::from_secs_f64(20.0 / requests as f64));
        second.wrong = if index == 5 { 50 } else { 0 };
        load = load.second(second);
    }
    let load = load.with(|record| {
        let measured = record.observation.measured.failed.total();
        record.observation.failures.push(FailureGroup {
            kind: Failure::WrongStatus,
            phase: FailurePhase::Head,
            cause: "status 500".to_owned(),
            measured,
            total: measured,
        });
    });
    load.ended(0.08)
}

/// All of them, by name.
pub fn all() -> Vec<(&'static str, LoadRecord)> {
    vec![
        ("closed-fine", closed_fine()),
        ("open-freeze", open_freeze()),
        ("generator-limited", generator_limited()),
        ("only-failures", only_failures()),
        ("nothing-answered", nothing_answered()),
        ("one-request", one_request()),
        ("interrupted", interrupted()),
        ("tls-pipelining", tls_pipelining()),
        ("non-ascii", non_ascii()),
    ]
}
