//! docs/load-json.md and the outputs say the same: no field without its description, no description without a field.

use std::collections::{BTreeMap, BTreeSet};

use deadheat_model::{
    Failure, LoadRecord, Schedule, StopRule,
    events::EventsSeen,
    load::{
        Body, Content, Endpoint, Identity, Login, Proxy, ProxyKind, RequestSpec, Stage, Stream,
        StreamEvent, Think, TlsVersion, Trust,
    },
    observation::{CountedTime, ExchangeSeen, OwnWaits, ReceiveQueues, RouteSeen, Waits},
};
use deadheat_report::load::{csv, json};
use deadheat_stats::load::analyse;
use serde_json::Value;

use crate::{documentation, load_fixture as cases};

/// A documented field: its path and its type.
#[derive(Clone, Debug)]
struct Field {
    path: Vec<String>,
    kinds: Vec<String>,
}

/// The rows of the tables under a heading, each as its cells.
fn rows(heading: &str) -> Vec<Vec<String>> {
    documentation::rows("load-json.md", heading)
}

fn fields() -> Vec<Field> {
    let field = |cells: Vec<String>| Field {
        path: cells[0]
            .trim_matches('`')
            .split('.')
            .map(str::to_owned)
            .collect(),
        kinds: cells[1].split(" or ").map(str::to_owned).collect(),
    };
    rows("## JSON").into_iter().map(field).collect()
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "list",
        Value::Object(_) => "object",
    }
}

/// The field that describes a path; `*` in a description stands for any key.
fn described<'a>(fields: &'a [Field], path: &[String]) -> Option<&'a Field> {
    fields.iter().find(|field| {
        field.path.len() == path.len()
            && field
                .path
                .iter()
                .zip(path)
                .all(|(own, other)| own == other || own == "*")
    })
}

/// Walks over a document and notes what is described, and what is not.
fn walk(
    value: &Value,
    path: &[String],
    fields: &[Field],
    used: &mut BTreeSet<Vec<String>>,
    wrong: &mut BTreeSet<String>,
) {
    if !path.is_empty() {
        match described(fields, path) {
            Some(field) => {
                used.insert(field.path.clone());
                if field.kinds == ["any"] {
                    return;
                }
                if !field.kinds.iter().any(|own| own == kind(value)) {
                    let (path, kind) = (path.join("."), kind(value));
                    wrong.insert(format!("{path} is {kind}, not {:?}", field.kinds));
                }
            }
            None => {
                wrong.insert(format!(
                    "{} ({}) is not described",
                    path.join("."),
                    kind(value)
                ));
            }
        }
    }
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                let path: Vec<String> = path.iter().cloned().chain([name.clone()]).collect();
                walk(member, &path, fields, used, wrong);
            }
        }
        // Elements stand under the list's own path: `signs.severity`.
        Value::Array(elements) => {
            for element in elements.iter().filter(|element| element.is_object()) {
                for (name, member) in element.as_object().unwrap() {
                    let path: Vec<String> = path.iter().cloned().chain([name.clone()]).collect();
                    walk(member, &path, fields, used, wrong);
                }
            }
        }
        _ => {}
    }
}

/// The loads of the snapshots, and some that have what those lack.
fn records() -> Vec<LoadRecord> {
    let mut records: Vec<LoadRecord> = cases::all().into_iter().map(|(_, record)| record).collect();

    records.push(cases::three_hosts());

    // Every kind of failure, in the whole load and in the measurement; a stage that is a ramp; a body.
    let mut late = cases::open_freeze();
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
    late.spec.first_byte = true;
    late.spec.threads = 2;
    late.spec.per_exchange = true;
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
    late.observation.exchanges = vec![ExchangeSeen {
        succeeded: 1,
        failed: 1,
        valid_body_bytes: 1,
        service_time: late.observation.service_time.clone(),
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
        Content::JsonAt {
            pointer: "/a".to_owned(),
            value: serde_json::json!([1]),
        },
    ];
    for body in [Body::Sized(vec![1]), Body::Chunked(vec![2])] {
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
    records
}

#[test]
fn every_field_of_the_json_is_described_and_every_description_has_its_field() {
    let fields = fields();
    let (mut used, mut wrong) = (BTreeSet::new(), BTreeSet::new());
    for record in records() {
        let text = json(&record, &analyse(&record)).unwrap();
        let document: Value = serde_json::from_str(&text).unwrap();
        walk(&document, &[], &fields, &mut used, &mut wrong);
    }
    for field in &fields {
        if !used.contains(&field.path) {
            wrong.insert(format!(
                "{} is described and never written",
                field.path.join(".")
            ));
        }
    }
    let wrong: Vec<String> = wrong.into_iter().collect();
    assert!(wrong.is_empty(), "docs/load-json.md:\n{}", wrong.join("\n"));
}

#[test]
fn every_sign_has_its_row_with_exactly_its_figures() {
    let described: BTreeMap<String, BTreeSet<String>> = rows("## Signs")
        .iter()
        .map(|cells| {
            let figures = documentation::quoted(&cells[2]).collect();
            (cells[0].trim_matches('`').to_owned(), figures)
        })
        .collect();
    let mut written: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for record in records() {
        for judged in analyse(&record).verdict.signs {
            let value = serde_json::to_value(judged.sign).unwrap();
            let members = value.as_object().unwrap();
            let name = members["sign"].as_str().unwrap().to_owned();
            let figures = members.keys().filter(|key| *key != "sign").cloned();
            written.entry(name).or_default().extend(figures);
        }
    }
    assert_eq!(described, written);
}

#[test]
fn every_failure_has_its_row() {
    let kinds: Vec<&str> = Failure::ALL.iter().map(|kind| kind.name()).collect();
    for (file, heading) in [
        ("load-json.md", "## Failures"),
        ("formats.md", "### Failures"),
    ] {
        let rows = documentation::rows(file, heading).into_iter();
        let described: Vec<String> = rows
            .map(|cells| cells[0].trim_matches('`').to_owned())
            .collect();
        assert_eq!(described, kinds, "{file}");
    }
}

#[test]
fn every_column_of_the_csv_is_described_in_order() {
    let table = csv(&cases::closed_fine().intervals);
    let header: Vec<&str> = table.lines().next().unwrap().split(',').collect();
    let described: Vec<String> = rows("## CSV")
        .into_iter()
        .map(|cells| cells[0].trim_matches('`').to_owned())
        .collect();
    let expected = header
        .iter()
        .take_while(|column| !column.starts_with("failed_"));
    assert_eq!(described, expected.copied().collect::<Vec<_>>());
    let kinds = &header[described.len()..];
    let expected: Vec<String> = Failure::ALL
        .iter()
        .map(|kind| format!("failed_{}", kind.name().replace('-', "_")))
        .collect();
    assert_eq!(kinds, expected, "and then each kind of failure");
}
