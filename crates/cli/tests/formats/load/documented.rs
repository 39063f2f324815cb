//! The schemas of a load's JSON and CSV say what is written: no field without its description, no description without a
//! field.

use deadheat_loadtool::{
    analysis::analyse,
    document::{csv, json},
};
use deadheat_model::{
    Failure, LatencyHistogram, LoadRecord, Schedule, StopRule,
    load::{
        Body, Content, Endpoint, Identity, Login, Protocol, Proxy, ProxyKind, RequestSpec, Stage,
        Stream, StreamEvent, Think, TlsVersion, Trust,
    },
    observation::{
        CountedTime, EventsSeen, GroupSeen, OwnWaits, ReceiveQueues, RouteSeen, UnmadeConnections,
        Waits,
    },
};
use serde_json::Value;

use crate::{
    load_fixture as cases,
    schema::{closed, published, rows, satisfies, unwritten},
};

/// The loads of the snapshots, and some that have what those lack.
fn records() -> Vec<LoadRecord> {
    let mut records: Vec<LoadRecord> = cases::all().into_iter().map(|(_, record)| record).collect();

    records.push(cases::three_hosts());

    let mut http2 = cases::open_freeze();
    http2.spec.protocol = Protocol::Http2 { streams: 8 };
    http2.observation.fewest_streams = Some(2);
    http2.observation.in_flight_ages = Some(LatencyHistogram::small());
    http2.observation.unmade = UnmadeConnections {
        settings: 1,
        ..UnmadeConnections::default()
    };
    records.push(http2);

    // Every kind of failure, in the whole load and in the measurement; a stage that is a ramp; a body.
    let mut late = cases::open_freeze();
    let label = ("commit".to_owned(), "1a2b".to_owned());
    late.spec.labels.extend([label]);
    for kind in Failure::ALL {
        late.observation.measured.failed[*kind] = 1;
        late.observation.total.failed[*kind] = 1;
        late.intervals[1].failed[*kind] = 1;
    }
    let open = late.observation.open.as_mut().unwrap();
    open.unsent = 4_000;
    for _ in 0..50_000 {
        open.send_lag.record_ns(9_000_000_000);
    }
    if let Schedule::Open { stages, .. } = &mut late.spec.schedule {
        stages.push(Stage::constant(5.0));
    }
    late.spec.stop = StopRule::Interrupt;
    late.machine.shared_cores = vec![vec![0, 1]];
    late.spec.first_byte = true;
    late.spec.threads = 2;
    late.spec.exchanges[0].group = Some(0);
    late.observation.all_statuses = [(200, 1)].into();
    late.spec.stream = Some(Stream {
        event: StreamEvent::Lines,
        enough: Some(1),
    });
    late.observation.events = Some(EventsSeen {
        events: 1,
        first_event: late.observation.service_time.clone(),
        gap: late.observation.service_time.clone(),
        ..EventsSeen::default()
    });
    late.intervals[0].events = Some(1);
    late.observation.first_byte = Some(late.observation.service_time.clone());
    late.observation.groups = vec![GroupSeen {
        total_succeeded: 1,
        succeeded: 1,
        failed: 1,
        valid_body_bytes: 1,
        service_time: late.observation.service_time.clone(),
        late: late.observation.service_time.clone(),
    }];
    late.spec.most_per_connection = std::num::NonZeroU32::new(9);
    late.spec.target.more = vec!["127.0.0.2:1".parse().unwrap()];
    late.spec.target.proxy = Some(Proxy {
        kind: ProxyKind::Http,
        to: "h:443".to_owned(),
        login: Some(Login {
            user: "ann".to_owned(),
            password: String::new(),
        }),
    });
    late.spec.others = vec![late.spec.target.clone()];
    late.observation.routes = vec![RouteSeen::default(); 4];
    late.spec
        .lists
        .insert("names".to_owned(), vec!["Ada".to_owned()]);
    let mut contents = vec![
        Content::Exact {
            bytes: b"x".to_vec(),
        },
        Content::Contains {
            bytes: b"x".to_vec(),
        },
        Content::Repeated {
            byte: b'x',
            count: 3,
        },
        Content::Json {
            value: serde_json::json!({"any": 1}),
        },
        Content::Gzip {
            content: Box::new(Content::Exact {
                bytes: b"x".to_vec(),
            }),
        },
        Content::Records {
            count: Some(2),
            members: vec!["id".to_owned()],
            most: 3,
        },
        Content::JsonAt {
            pointer: "/a".to_owned(),
            value: serde_json::json!([1]),
        },
    ];
    for body in [
        Body::Sized(vec![1].into()),
        Body::Chunked(vec![2].into()),
        Body::Call(vec![3].into()),
    ] {
        let mut exchange = cases::get("/other");
        exchange.request = RequestSpec {
            body,
            ..RequestSpec::get("/other")
        };
        exchange.expect.content = contents.pop();
        exchange.target = 1;
        late.spec.exchanges.push(exchange);
    }
    for content in contents {
        let mut exchange = cases::get("/more");
        exchange.expect.content = Some(content);
        exchange.expect.length = Some(1);
        late.spec.exchanges.push(exchange);
    }
    deadheat_model::redact::hide(&mut late.spec);
    records.push(late);

    // Behind for want of connections, and with much on the way.
    let mut behind = cases::open_freeze();
    behind.observation.measured.in_flight = 3_000;
    let open = behind.observation.open.as_mut().unwrap();
    open.unsent = 4_000;
    open.offered += 4_000;
    open.oldest_unsent = std::time::Duration::from_secs(9);
    records.push(behind);

    // Not warm when the measurement began.
    let mut cold = cases::open_freeze();
    cold.observation.open.as_mut().unwrap().offered -= 4_000;
    records.push(cold);

    // Uneven, unread, unsteady, not all connections, and against Little's law.
    let mut uneven = cases::closed_fine();
    uneven.observation.answers_per_connection.record(1);
    uneven.observation.receive_queues = ReceiveQueues {
        looks: 10,
        connections: 500,
        waiting: 400,
        bytes: 9_000,
        most_bytes: 90,
    };
    uneven.spec.schedule = Schedule::Closed {
        connections: 90,
        ramp: std::time::Duration::ZERO,
    };
    records.push(uneven);
    let mut in_a_row = cases::closed_fine();
    let times = &mut in_a_row.observation.service_time;
    for _ in 0..9 * times.count() {
        times.record_ns(1_000);
    }
    records.push(in_a_row);

    // Users who think.
    let length = std::time::Duration::from_secs(1);
    let thinking = |think| {
        let mut record = cases::closed_fine();
        record.spec.think = Some(think);
        record
    };
    records.push(thinking(Think::Exponential { mean: length }));
    records.push(thinking(Think::Uniform {
        from: length,
        to: length,
    }));

    // Ended by a count, and waited by the generator's own rules.
    let second = std::time::Duration::from_secs(1);
    let mut counted = cases::open_freeze();
    counted.observation.counted = Some(CountedTime::Open {
        first_due: second,
        next_due: Some(2 * second),
        first_end: second,
        last_end: 2 * second,
    });
    let waits = Waits {
        count: 2,
        total: second,
    };
    counted.observation.own_waits = OwnWaits {
        for_continue: waits,
        before_connecting: waits,
    };
    records.push(counted);
    let mut counted = cases::closed_fine();
    counted.observation.counted = Some(CountedTime::Closed {
        connections: 2,
        in_use: second,
    });
    records.push(counted);

    // Too short for Little's law.
    let mut short = cases::closed_fine();
    short.observation.window /= 20;
    records.push(short);
    let mut lagging = cases::open_freeze();
    let open = lagging.observation.open.as_mut().unwrap();
    for _ in 0..500 {
        open.send_lag.record_ns(300_000);
    }
    // Paced on this machine.
    lagging.spec.target.endpoint = Endpoint::Tcp {
        address: "127.0.0.1:80".parse().unwrap(),
    };
    lagging.machine.congestion_control = Some("bbr".to_owned());
    records.push(lagging);

    // A Unix socket, certificates of one's own.
    let mut unix = cases::tls_pipelining();
    unix.spec.target.endpoint = Endpoint::Unix {
        path: "/run/server.sock".into(),
    };
    unix.observation.workers[0].run_delay = Some(unix.observation.window / 2);
    unix.spec.target.sources = vec!["192.0.2.1".parse().unwrap()];
    let tls = unix.spec.target.tls.as_mut().unwrap();
    tls.version = Some(TlsVersion::Tls12);
    tls.cipher_suites = vec!["TLS_AES_128_GCM_SHA256".to_owned()];
    tls.trust = Trust::Authorities {
        pem: "PEM".to_owned(),
    };
    tls.identity = Some(Identity {
        certificates: "PEM".to_owned(),
        key: String::new(),
    });
    records.push(unix);
    let mut insecure = cases::tls_pipelining();
    insecure.spec.target.tls.as_mut().unwrap().trust = Trust::Anything;
    records.push(insecure);
    records
}

#[test]
fn every_field_of_the_json_is_in_its_schema_and_every_field_of_the_schema_is_written() {
    let schema = published("load");
    let closed = closed(schema.clone());
    let documents: Vec<Value> = records()
        .iter()
        .map(|record| serde_json::from_str(&json(record, &analyse(record)).unwrap()).unwrap())
        .collect();
    for (nth, document) in documents.iter().enumerate() {
        satisfies(&closed, &format!("record {nth}"), document);
    }
    let mut missing = unwritten(&schema, &documents);
    // `limit` is for searches.
    missing.retain(|path| !path.ends_with("LoadSpec/properties/limit"));
    let none: [String; 0] = [];
    assert_eq!(missing, none);
}

#[test]
fn every_column_of_the_csv_is_in_its_schema() {
    let schema = published("load-csv");
    let closed = closed(schema.clone());
    let mut all = Vec::new();
    for record in records() {
        for row in rows(&csv(&record.intervals), &schema) {
            satisfies(&closed, "a row", &row);
            all.push(row);
        }
    }
    let none: [String; 0] = [];
    assert_eq!(unwritten(&schema, &all), none);
}
