//! `deadheat load --otlp`: what a collector gets while a load goes on, and that no collector disturbs one.

use std::{
    collections::BTreeSet,
    fs,
    sync::{Arc, Mutex},
};

use deadheat_testkit::{
    OracleServer, RefusingPort, Turn,
    answers::{send, sized},
};
use serde_json::Value;

use crate::load::{Loading, hello_server, json, tally, url};

/// What a collector was sent: path, type and body.
type Sent = Arc<Mutex<Vec<(String, String, String)>>>;

/// A collector that keeps everything, with what it got.
fn collector() -> (OracleServer, Sent) {
    let sent = Sent::default();
    let kept = Arc::clone(&sent);
    let server = OracleServer::start(move |turn: &Turn<'_>| {
        let request = turn.request;
        let kind = request.header("content-type").unwrap_or_default();
        let body = String::from_utf8(request.body.clone()).unwrap();
        let one = (request.path.clone(), kind.to_owned(), body);
        kept.lock().unwrap().push(one);
        send(sized(200, "Content-Type: application/json\r\n", b"{}"))
    });
    (server.expect("starting a collector"), sent)
}

/// The points of requests, each a line: metric, and the whole point.
fn points<'a>(lines: impl Iterator<Item = &'a str>) -> BTreeSet<(String, String)> {
    let mut points = BTreeSet::new();
    for line in lines {
        let request: Value = serde_json::from_str(line).unwrap();
        let resource = &request["resourceMetrics"][0];
        let load = resource["resource"].to_string();
        let metrics = &resource["scopeMetrics"][0]["metrics"];
        for metric in metrics.as_array().unwrap() {
            let data = metric.get("sum").unwrap_or(&metric["histogram"]);
            for point in data["dataPoints"].as_array().unwrap() {
                let new = points.insert((metric["name"].to_string(), format!("{load}{point}")));
                assert!(new, "{point} came twice");
            }
        }
    }
    points
}

#[test]
fn a_collector_gets_every_interval_as_the_file_has_it() {
    let loading = Loading::new();
    let server = hello_server();
    let (collector, sent) = collector();
    // Each takes 300 ms or, on a busy machine, longer.
    for pace in [&["-c", "2", "--think", "10ms"][..], &["--rate", "200/s"]] {
        sent.lock().unwrap().clear();
        let args = [
            "-n",
            "60",
            "--warm-up",
            "100ms",
            "--interval",
            "50ms",
            "-o",
            "a.otlp.json",
            "--otlp",
            &url(&collector, ""),
        ];
        let ended = loading
            .run(&url(&server, "/?token=private"), &[&args, pace].concat())
            .exits(0);
        assert!(!ended.stderr.contains("not delivered"), "{ended}");
        let sent = sent.lock().unwrap();
        for (path, kind, body) in sent.iter() {
            assert_eq!(
                (path.as_str(), kind.as_str()),
                ("/v1/metrics", "application/json")
            );
            assert!(!body.contains("private"), "{body}");
        }
        let delivered = points(sent.iter().map(|(.., body)| body.as_str()));
        let file = fs::read_to_string(loading.root.path().join("a.otlp.json")).unwrap();
        // The warm-up, and the measurement at least.
        assert!(file.lines().count() > 1, "{file}");
        assert_eq!(delivered, points(file.lines()), "{ended}");
    }
}

#[test]
fn a_collector_that_takes_nothing_changes_nothing_and_is_told_of_once() {
    let loading = Loading::new();
    let refusing = RefusingPort::new().expect("a port that nobody listens on");
    let gone = format!("http://{}", refusing.address());
    let overloaded = OracleServer::start(|_: &Turn<'_>| send(sized(503, "", b"later"))).unwrap();
    let picky = OracleServer::start(|_: &Turn<'_>| {
        let answer = br#"{"partialSuccess":{"rejectedDataPoints":"1","errorMessage":"too old"}}"#;
        send(sized(200, "", answer))
    });
    let picky = picky.unwrap();
    let elsewhere = OracleServer::start(|_: &Turn<'_>| send(sized(307, "location: /b\r\n", b"")));
    let elsewhere = elsewhere.unwrap();
    let silent = OracleServer::start(|_: &Turn<'_>| Vec::new()).unwrap();
    for (collector, why) in [
        (gone, "refused"),
        (url(&overloaded, ""), "503"),
        (url(&picky, ""), "rejected 1 data points: too old"),
        (url(&elsewhere, ""), "307"),
        (url(&silent, ""), ""),
    ] {
        let server = hello_server();
        let args = ["-n", "50", "-c", "2", "--json", "--otlp", &collector];
        let ended = loading.run(&url(&server, "/"), &args).exits(0);
        assert_eq!(tally(&json(&ended), "measured", "succeeded"), 50);
        assert_eq!(server.seen_at_rest().requests, 50);
        let mut lines = ended.stderr.lines();
        let mut warnings = lines.by_ref().filter(|line| line.contains("--otlp"));
        let warning = warnings
            .next()
            .unwrap_or_else(|| panic!("{collector}: {ended}"));
        assert!(warning.contains("were not delivered ("), "{ended}");
        assert!(warning.contains(why), "{why}: {ended}");
        assert_eq!(warnings.next(), None, "{ended}");
    }
}

#[test]
fn the_plan_names_the_collector_and_what_is_none_is_refused() {
    let loading = Loading::new();
    let server = hello_server();
    let (collector, sent) = collector();
    let shown = format!("sent to {} every 1 s", url(&collector, "/v1/metrics"));
    let ended = loading
        .run(
            &url(&server, "/"),
            &["--dry-run", "--otlp", &url(&collector, "")],
        )
        .exits(0);
    let plan: Vec<&str> = ended.stdout.split_whitespace().collect();
    assert!(plan.join(" ").contains(&shown), "{ended}");
    assert!(sent.lock().unwrap().is_empty());
    for wrong in ["localhost:4318", "http://ann:secret@h/", "http://h/?x=y"] {
        let args = ["-n", "5", "--otlp", wrong];
        loading
            .run(&url(&server, "/"), &args)
            .exits(2)
            .has_no_data();
    }
    assert_eq!(server.seen().connections, 0);
}
