//! Records of loads built by hand: what a load generator could have seen, the same on every machine.

use std::time::Duration;

use deadheat_model::{
    Exchange, Failure, Interval, LatencyHistogram, LoadPhase, LoadRecord, LoadSpec, Observation,
    Schedule, StopRule,
    failure::FailurePhase,
    load::{Arrivals, Expectation, RequestSpec, Stage, StatusSet, Stream, StreamEvent, Target},
    machine::Machine,
    observation::{
        Bin, EventsSeen, FailureExample, FailureGroup, OpenLoop, ReceiveQueues, WorkerHealth,
    },
    record::SCHEMA,
};

#[path = "load_examples.rs"]
mod examples;

pub use self::examples::*;

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
