//! Records of loads built by hand: what a load generator could have seen, the same on every machine.

use std::time::Duration;

use deadheat_model::{
    Exchange, Failure, Interval, LatencyHistogram, LoadPhase, LoadRecord, LoadSpec, Observation,
    Schedule, StopRule,
    failure::FailurePhase,
    load::{
        Arrivals, Endpoint, Expectation, HttpVersion, Protocol, RequestSpec, Reuse, Stage,
        StatusSet, Stream, StreamEvent, Target, Tls, Trust,
    },
    machine::Machine,
    observation::{
        Bin, CookiesSeen, EventsSeen, FailureExample, FailureGroup, GroupSeen, OpenLoop,
        ReceiveQueues, TlsSeen, WorkerHealth,
    },
    record::{GeneratorHost, SCHEMA},
};

/// A number from 0 to 1 that looks random and is the same every time.
fn uniform(index: u64) -> f64 {
    let mut state = index.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    state = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    state = (state ^ (state >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (state ^ (state >> 31)) as f64 / u64::MAX as f64
}

/// A service time around `mean`, of which it is the mean: seven tenths of it are fixed, the rest is exponential.
fn service(mean: Duration, index: u64) -> Duration {
    mean.mul_f64(0.7 - 0.3 * (1.0 - uniform(index)).max(1e-12).ln())
}

fn ns(duration: Duration) -> u64 {
    duration.as_nanos() as u64
}

fn machine() -> Machine {
    Machine {
        cpu_model: "Example CPU".to_owned(),
        cpus: vec![0, 1],
        shared_cores: Vec::new(),
        memory_bytes: 8 << 30,
        os: "Example OS 1".to_owned(),
        kernel: "6.12.0-test".to_owned(),
        mitigations: vec!["spectre_v2: Mitigation".to_owned()],
        governor: Some("performance".to_owned()),
        congestion_control: Some("cubic".to_owned()),
    }
}

/// A GET that any 2xx answers.
pub fn get(path: &str) -> Exchange {
    let expect = Expectation {
        status: StatusSet::success(),
        length: None,
        content: None,
    };
    Exchange::new(RequestSpec::get(path), expect)
}

/// A closed loop over plain TCP with a warm-up of a second and intervals of a second.
pub fn closed(connections: u32, seconds: u64) -> LoadSpec {
    let schedule = Schedule::Closed {
        connections,
        ramp: Duration::ZERO,
    };
    spec(schedule, seconds)
}

/// An open loop of one rate.
pub fn open(rate: f64, connections: u32, seconds: u64) -> LoadSpec {
    let schedule = Schedule::Open {
        arrivals: Arrivals::Poisson,
        stages: vec![Stage::constant(rate)],
        connections,
        most_connections: 2 * connections,
    };
    spec(schedule, seconds)
}

fn spec(schedule: Schedule, seconds: u64) -> LoadSpec {
    let length = Duration::from_secs(seconds);
    // A range of addresses that is for documentation: not this machine.
    let target = Target::plain("192.0.2.7:8080".parse().expect("an address"));
    let stop = StopRule::Duration { length };
    let mut spec = LoadSpec::new(target, vec![get("/plaintext")], schedule, stop);
    spec.warm_up = Duration::from_secs(1);
    spec.interval = Some(Duration::from_secs(1));
    spec.cpus = vec![1];
    spec
}

/// A load under construction, an interval at a time.
pub struct Simulation {
    record: LoadRecord,
    answers: u64,
}

/// One second of a load.
#[derive(Clone, Copy)]
pub struct Second {
    /// Requests whose time comes in it (open loop), or that are sent (closed loop).
    pub requests: u64,
    /// Their mean service time.
    pub service: Duration,
    /// How long they waited for a connection at most; the first waits longest.
    pub wait: Duration,
    /// The largest send lag.
    pub lag: Duration,
    /// One in so many fails with a wrong status (0: none).
    pub wrong: u64,
}

impl Second {
    /// A second in which so many requests are answered, each after a service time around `service`.
    pub fn new(requests: u64, service: Duration) -> Self {
        Self {
            requests,
            service,
            wait: Duration::ZERO,
            lag: Duration::from_micros(20),
            wrong: 0,
        }
    }
}

const BODY: u64 = 12;
const ANSWER: u64 = 130;
const REQUEST: u64 = 60;

impl Simulation {
    /// A load of which nothing has happened yet.
    pub fn new(url: &str, spec: LoadSpec) -> Self {
        let open = spec.schedule.is_open().then(OpenLoop::default);
        let connections = match spec.schedule {
            Schedule::Closed { connections, .. } | Schedule::Open { connections, .. } => {
                u64::from(connections)
            }
        };
        let mut observation = Observation {
            open,
            bin: spec.bin,
            connections_opened: connections,
            connections_peak: connections,
            ..Observation::default()
        };
        for index in 0..connections {
            let took = service(Duration::from_micros(180), 7_000 + index);
            observation.connect_time.record_ns(ns(took));
        }
        let record = LoadRecord {
            schema: SCHEMA,
            deadheat: "0.1.0".to_owned(),
            started: "2026-03-01T10:00:00Z".to_owned(),
            url: url.to_owned(),
            machine: machine(),
            spec,
            interrupted: false,
            observation,
            intervals: Vec::new(),
            hosts: Vec::new(),
        };
        Self { record, answers: 0 }
    }

    /// A second of the warm-up.
    pub fn warm_up(mut self, second: Second) -> Self {
        let interval = self.interval(second, LoadPhase::WarmUp);
        self.record.observation.total.issued += interval.issued;
        self.record.observation.total.succeeded += interval.succeeded;
        self.record.intervals.push(interval);
        self
    }

    /// A second of the measurement.
    pub fn second(mut self, second: Second) -> Self {
        let interval = self.interval(second, LoadPhase::Measurement);
        let observation = &mut self.record.observation;
        for tally in [&mut observation.total, &mut observation.measured] {
            tally.issued += interval.issued;
            tally.succeeded += interval.succeeded;
            tally.failed.merge(&interval.failed);
        }
        observation.window += interval.length();
        observation.service_time.merge(&interval.service_time);
        observation.sent_bytes += interval.sent_bytes;
        observation.received_bytes += interval.received_bytes;
        observation.body_bytes += BODY * (interval.succeeded + interval.failed.total());
        observation.valid_body_bytes += interval.valid_body_bytes;
        let halves = interval.succeeded / 2;
        for succeeded in [halves, interval.succeeded - halves] {
            let failed = interval.failed.total() / 2;
            observation.bins.push(Bin { succeeded, failed });
        }
        *observation.statuses.entry(200).or_default() += interval.succeeded;
        if interval.failed.total() > 0 {
            *observation.statuses.entry(500).or_default() += interval.failed.total();
        }
        if let (Some(open), Some(response)) = (&mut observation.open, &interval.response_time) {
            open.offered += interval.offered;
            open.response_time.merge(response);
        }
        self.record.intervals.push(interval);
        self
    }

    fn interval(&mut self, second: Second, phase: LoadPhase) -> Interval {
        let index = self.record.intervals.len() as u64;
        let open = self.record.spec.schedule.is_open();
        let connections = self.record.observation.connections_peak;
        let mut interval = Interval {
            index,
            from: Duration::from_secs(index),
            until: Duration::from_secs(index + 1),
            phase,
            issued: second.requests,
            connections,
            in_flight: if open { 0 } else { connections },
            offered: if open { second.requests } else { 0 },
            sent_bytes: REQUEST * second.requests,
            received_bytes: ANSWER * second.requests,
            response_time: open.then(LatencyHistogram::new),
            ..Interval::default()
        };
        if second.requests == 0 {
            interval.in_flight = connections;
        }
        for number in 0..second.requests {
            self.answers += 1;
            if second.wrong > 0 && number % second.wrong == 0 {
                interval.failed[Failure::WrongStatus] += 1;
                continue;
            }
            interval.succeeded += 1;
            interval.valid_body_bytes += BODY;
            let service = service(second.service, self.answers);
            interval.service_time.record_ns(ns(service));
            let Some(response) = &mut interval.response_time else {
                continue;
            };
            let left = 1.0 - number as f64 / second.requests as f64;
            let wait = second.wait.mul_f64(left);
            let lag = second.lag.mul_f64(uniform(!self.answers));
            response.record_ns(ns(service + wait + lag));
            if let (LoadPhase::Measurement, Some(open)) = (phase, &mut self.record.observation.open)
            {
                open.send_lag.record_ns(ns(lag));
                open.connection_wait.record_ns(ns(wait));
            }
        }
        interval
    }

    /// Changes anything.
    pub fn with(mut self, change: impl FnOnce(&mut LoadRecord)) -> Self {
        change(&mut self.record);
        self
    }

    /// The record, with one worker that was busy for a share of the time, and answers spread evenly over connections.
    pub fn ended(mut self, busy: f64) -> LoadRecord {
        let observation = &mut self.record.observation;
        let window = observation.window;
        observation.workers = vec![WorkerHealth {
            cpu: self.record.spec.cpus.first().copied(),
            cpu_time: window.mul_f64(busy),
            polled: Duration::ZERO,
            run_delay: Some(window.mul_f64(0.004)),
            wall: window,
        }];
        let connections = observation.connections_opened;
        for index in 0..connections {
            let even = observation.total.succeeded / connections;
            let share = 0.96 + 0.08 * uniform(index);
            let answers = (even as f64 * share).round() as u64;
            observation.answers_per_connection.record(answers);
        }
        if observation.receive_queues == ReceiveQueues::default() {
            observation.receive_queues = ReceiveQueues {
                looks: 40,
                connections: 40 * connections,
                waiting: connections,
                bytes: ANSWER * connections,
                most_bytes: ANSWER,
            };
        }
        self.record
    }
}

/// Requests that failed alike, in the measurement and over the whole load.
pub fn failed(record: &mut LoadRecord, kind: Failure, phase: FailurePhase, cause: &str, many: u64) {
    let observation = &mut record.observation;
    for tally in [&mut observation.total, &mut observation.measured] {
        tally.issued += many;
        tally.failed[kind] += many;
    }
    observation.failures.push(FailureGroup {
        kind,
        phase,
        cause: cause.to_owned(),
        measured: many,
        total: many,
    });
}

/// Streams of a load, of which each valid answer had three events: after half of its time, then and at its end.
pub fn streams(mut record: LoadRecord) -> LoadRecord {
    let answers = record.observation.measured.succeeded;
    let mut events = EventsSeen {
        events: 3 * answers,
        open_gap: Duration::from_millis(350),
        ..EventsSeen::default()
    };
    for _ in 0..answers {
        events.first_event.record_ns(10_000_000);
        events.gap.record_none(1);
        events.gap.record_ns(10_000_000);
    }
    record.spec.stream = Some(Stream {
        event: StreamEvent::Sse,
        enough: Some(3),
    });
    record.observation.events = Some(events);
    for interval in &mut record.intervals {
        interval.events = Some(3 * interval.succeeded);
    }
    record
}

/// An example of a failure.
pub fn example(record: &mut LoadRecord, kind: Failure, detail: &str) {
    record.observation.examples.push(FailureExample {
        kind,
        detail: detail.to_owned(),
    });
}

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

/// The same of two requests, of which the second failed at times.
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
