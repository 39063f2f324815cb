//! The plan as its reader sees it.

use std::{path::Path, time::Duration};

use deadheat_model::load::{
    Expectation, RequestSpec, Stage, StatusSet, Stream, StreamEvent, Target, Think, Tls, TlsVersion,
};
use deadheat_shell::data::page;

use super::*;
use crate::push::collector;

fn closed() -> LoadSpec {
    let expect = Expectation {
        status: StatusSet::success(),
        length: None,
        content: None,
    };
    let schedule = Schedule::Closed {
        connections: 50,
        ramp: Duration::ZERO,
    };
    let exchanges = vec![Exchange::new(RequestSpec::get("/hello"), expect)];
    let target = Target::plain("127.0.0.1:8080".parse().unwrap());
    let stop = StopRule::Duration {
        length: Duration::from_secs(10),
    };
    LoadSpec::new(target, exchanges, schedule, stop)
}

fn told(spec: &LoadSpec) -> String {
    let context = PlanContext {
        typed: "http://localhost:8080/hello",
        hows: &[Some("localhost resolves to it".to_owned())],
        hosts: None,
        why_wait: Some("no CPU is reserved"),
        why_threads: Some("there is no more work"),
        files: &[Path::new("out.json").to_owned()],
        collector: Some(&collector("http://127.0.0.1:4318").unwrap()),
        thresholds: &["p99>50ms".parse().unwrap()],
    };
    let text = describe(spec, &context).text(page());
    for line in text.lines() {
        assert!(line.chars().count() <= 80, "{line}");
    }
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[track_caller]
fn has(text: &str, fragments: &[&str]) {
    for fragment in fragments {
        assert!(text.contains(fragment), "{fragment:?} is not in: {text}");
    }
}

#[test]
fn a_closed_loop_has_connections_for_a_ceiling() {
    let text = told(&closed());
    has(
        &text,
        &[
            "Plan: load http://localhost:8080/hello to 127.0.0.1:8080 (localhost resolves to it); HTTP/1.1",
            "request GET /hello loop",
            "closed loop: 50 connections",
            "ceiling at most 50 connections; as many requests/s as the server answers",
            "no warm-up, 10 s of measurement, up to 5 s",
            "an answer with status 2xx, within 30 s",
            "one worker thread, not pinned: there is no more work waiting asleep: no CPU is reserved file out.json metrics sent to http://127.0.0.1:4318/v1/metrics every",
        ],
    );
    assert!(!text.contains("TLS") && !text.contains("seed"), "{text}");
}

#[test]
fn an_open_loop_has_a_rate_for_a_ceiling() {
    let mut spec = closed();
    let stage = |length, from, to| Stage {
        length: Duration::from_secs(length),
        from,
        to,
    };
    spec.schedule = Schedule::Open {
        arrivals: Arrivals::Poisson,
        stages: vec![stage(10, 1000.0, 1000.0), stage(90, 1000.0, 5000.0)],
        connections: 20,
        most_connections: 100,
    };
    spec.cpus = vec![2, 3];
    spec.stop = StopRule::Count { requests: 5 };
    has(
        &told(&spec),
        &[
            "open loop: 1,000/s for 10 s, then 1,000/s to 5,000/s for 90 s at random (Poisson)",
            "on 20 to 100 connections, whatever comes back",
            "at most 5,000 requests/s on average on at most 100 connections",
            "exactly 5 requests",
            "2 worker threads, pinned to CPUs 2, 3; seed 0",
            "note fewer requests than connections: 5 connections are enough",
        ],
    );
}

#[test]
fn secrets_are_not_shown_and_what_is_long_is_cut() {
    let mut spec = closed();
    let request = &mut spec.exchanges[0].request;
    let header = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    request.headers = vec![
        header("authorization", "Basic c2VjcmV0"),
        header("Accept", &"é".repeat(100)),
    ];
    request.body = Body::Chunked(b"{{counter}}".to_vec().into());
    let text = told(&spec);
    assert!(!text.contains("c2VjcmV0"), "{text}");
    let cut = format!("Accept: {}…", "é".repeat(60));
    has(
        &text,
        &[
            "authorization: …",
            &cut,
            "11 bytes of body in chunks",
            "--template would replace it",
        ],
    );
    spec.exchanges[0].request.template = true;
    assert!(!told(&spec).contains("--template"));
    let mut in_path = closed();
    in_path.exchanges[0].request.path = "/%7B%7Bcounter%7D%7D".to_owned();
    has(&told(&in_path), &["--template would replace it"]);
}

#[test]
fn tls_says_who_is_believed() {
    let mut spec = closed();
    let mut tls = Tls {
        server_name: "a.example".to_owned(),
        trust: Trust::Anything,
        identity: None,
        resumption: false,
        version: None,
        cipher_suites: Vec::new(),
    };
    spec.target.tls = Some(tls.clone());
    has(
        &told(&spec),
        &["for a.example, signed by anybody: it is not checked; a full handshake"],
    );
    tls.trust = Trust::System;
    tls.resumption = true;
    spec.target.tls = Some(tls.clone());
    has(
        &told(&spec),
        &["by an authority that the system knows; later connections resume"],
    );
    tls.version = Some(TlsVersion::Tls12);
    tls.cipher_suites = vec!["TLS_X".to_owned(), "TLS_Y".to_owned()];
    spec.target.tls = Some(tls);
    has(
        &told(&spec),
        &["knows; only TLS 1.2, only TLS_X, TLS_Y; later"],
    );
}

#[test]
fn every_address_and_every_server_is_named() {
    let mut spec = closed();
    spec.target.more = vec!["127.0.0.2:8080".parse().unwrap()];
    has(
        &told(&spec),
        &["to 127.0.0.1:8080, 127.0.0.2:8080 in turn (localhost resolves to it); HTTP/1.1"],
    );
    spec.others = vec![Target::plain("127.0.0.3:80".parse().unwrap())];
    let mut other = spec.exchanges[0].clone();
    other.target = 1;
    spec.exchanges.push(other);
    has(
        &told(&spec),
        &[
            "to http://127.0.0.3:80: 127.0.0.3:80 to all of them: connections are divided",
            "1 of 2: GET http://127.0.0.1:8080/hello",
            "GET http://127.0.0.3:80/hello",
        ],
    );
}

#[test]
fn connections_that_end_after_a_number_of_requests_say_so() {
    let mut spec = closed();
    spec.most_per_connection = std::num::NonZeroU32::new(100);
    has(
        &told(&spec),
        &["HTTP/1.1 with keep-alive for 100 requests each"],
    );
}

#[test]
fn several_requests_have_their_weights() {
    let mut spec = closed();
    let mut other = spec.exchanges[0].clone();
    other.weight = 3;
    spec.exchanges.extend(std::iter::repeat_n(other, 6));
    has(
        &told(&spec),
        &["1 of 19: GET /hello", "3 of 19: GET /hello", "… and 2 more"],
    );
}

#[test]
fn streams_thought_and_threads_are_told() {
    let mut spec = closed();
    spec.stream = Some(Stream {
        event: StreamEvent::Sse,
        enough: Some(20),
    });
    spec.think = Some(Think::Uniform {
        from: Duration::from_millis(500),
        to: Duration::from_secs(2),
    });
    spec.threads = 3;
    has(
        &told(&spec),
        &[
            "when it has its answer and has thought for 500 ms to 2 s at random",
            "at most 40 requests/s on average on at most 50 connections",
            "an answer is whole after 20 server-sent events",
            "3 worker threads, not pinned: there is no more work; seed 0",
        ],
    );
}
