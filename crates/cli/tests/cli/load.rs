//! `deadheat load` against a server that tells what it saw: what is sent, what is counted, how it ends.

use std::{
    fs,
    io::Read as _,
    process::{Command, Stdio},
    time::Duration,
};

use deadheat_testkit::{
    Action, OracleServer, RefusingPort, Turn,
    answers::{hello, send, sized},
};
use rustix::process::Signal;
use serde_json::Value;

use crate::support::{Ended, Root, Running, eventually, flat, running::command};

/// A server that always answers rightly.
pub fn hello_server() -> OracleServer {
    OracleServer::start(|_: &Turn<'_>| send(hello())).expect("starting a server")
}

/// `deadheat load URL ARGUMENTS` in a folder of the test's own; nothing is shown meanwhile.
pub struct Loading {
    pub root: Root,
}

impl Loading {
    pub fn new() -> Self {
        Self {
            root: Root::with(&[]),
        }
    }

    /// The command; `args` may have blanks in them.
    pub fn command(&self, url: &str, args: &[&str]) -> Command {
        let mut command = command(self.root.path(), "load --progress off");
        command.arg(url).args(args);
        command
    }

    pub fn start(&self, url: &str, args: &[&str]) -> Running {
        let shown = format!("load {url} {}", args.join(" "));
        Running::start_command(self.root.path(), self.command(url, args), &shown)
    }

    #[track_caller]
    pub fn run(&self, url: &str, args: &[&str]) -> Ended {
        self.start(url, args).wait()
    }
}

pub fn url(server: &OracleServer, path: &str) -> String {
    format!("http://{}{path}", server.address())
}

/// What `--json` wrote.
#[track_caller]
pub fn json(ended: &Ended) -> Value {
    serde_json::from_str(&ended.stdout).unwrap_or_else(|error| panic!("{error}: {ended}"))
}

/// The tally of the whole load or of the measurement.
#[track_caller]
pub fn tally(json: &Value, which: &str, of: &str) -> u64 {
    let found = json.pointer(&format!("/observation/{which}/{of}"));
    found
        .and_then(Value::as_u64)
        .unwrap_or_else(|| panic!("no {which} {of} in {json:#}"))
}

#[test]
fn exactly_as_many_requests_are_sent_as_were_asked_for() {
    let loading = Loading::new();
    for (count, connections) in [("1", "1"), ("37", "4"), ("100", "7")] {
        let server = hello_server();
        let ended = loading
            .run(
                &url(&server, "/"),
                &["-n", count, "-c", connections, "--json"],
            )
            .exits(0);
        let wanted: u64 = count.parse().unwrap();
        let seen = server.seen_at_rest();
        assert_eq!(seen.requests, wanted, "{ended}");
        assert_eq!(seen.malformed, [""; 0]);
        let json = json(&ended);
        assert_eq!(tally(&json, "total", "issued"), wanted);
        assert_eq!(tally(&json, "measured", "succeeded"), wanted);
    }
}

#[test]
fn a_request_arrives_as_it_was_asked_for() {
    let loading = Loading::new();
    let server = hello_server();
    let args = [
        "-n",
        "1",
        "-c",
        "1",
        "-X",
        "PUT",
        "-H",
        "X-One: a b",
        "-H",
        "Host: other.example",
        "--user",
        "ann:pass word",
        "-b",
        "a body",
        "--json",
    ];
    let ended = loading
        .run(&url(&server, "/a b?c=%20d&token=hunter2#e"), &args)
        .exits(0);
    let seen = server.seen_at_rest();
    let request = &seen.first[0];
    assert_eq!(
        (request.method.as_str(), request.path.as_str()),
        ("PUT", "/a%20b?c=%20d&token=hunter2")
    );
    assert_eq!(request.header("x-one"), Some("a b"));
    assert_eq!(request.header("host"), Some("other.example"));
    let secret = "YW5uOnBhc3Mgd29yZA==";
    let basic = format!("Basic {secret}");
    assert_eq!(request.header("authorization"), Some(basic.as_str()));
    assert_eq!(request.header("content-length"), Some("6"));
    assert_eq!(request.body, b"a body");
    for text in [&ended.stdout, &ended.stderr] {
        assert!(
            ![secret, "pass word", "hunter2"]
                .iter()
                .any(|one| text.contains(one)),
            "a password is shown: {ended}"
        );
    }
}

#[test]
fn a_body_comes_from_a_file_or_from_standard_input_in_chunks_if_asked() {
    let loading = Loading::new();
    loading.root.write("body", "from a file");
    let server = hello_server();
    let args = ["-n", "1", "-c", "1", "--body-file", "body", "--chunked"];
    loading.run(&url(&server, "/"), &args).exits(0);
    let mut command = loading.command(
        &url(&server, "/"),
        &["-n", "1", "-c", "1", "--body-file", "-"],
    );
    let input = std::fs::File::open(loading.root.path().join("body")).unwrap();
    command.stdin(input);
    Running::start_command(loading.root.path(), command, "load --body-file -")
        .wait()
        .exits(0);
    let seen = server.seen_at_rest().first;
    assert_eq!(
        (seen[0].method.as_str(), seen[0].body.as_slice()),
        ("POST", &b"from a file"[..])
    );
    assert!(!seen[0].chunks.is_empty() && seen[0].header("content-length").is_none());
    assert_eq!(seen[1].body, b"from a file");
    assert_eq!(seen[1].header("content-length"), Some("11"));
}

#[test]
fn several_urls_are_asked_for_by_their_weights() {
    let loading = Loading::new();
    let server = hello_server();
    let lines = format!(
        "# users\n{0}/read\n3 POST {0}/write\n",
        url(&server, "").trim_end_matches('/')
    );
    loading.root.write("urls", &lines);
    let args = [
        "load",
        "--progress",
        "off",
        "--urls",
        "urls",
        "-n",
        "40",
        "-c",
        "1",
    ];
    let shown = args.join(" ");
    let ended = loading.root.deadheat(&format!("{shown} --first-byte"));
    ended
        .exits(0)
        .says(&["first byte", "Requests", "GET /read", "POST /write"]);
    let seen = server.seen_at_rest().first;
    let written = seen.iter().filter(|request| request.path == "/write");
    let written: Vec<_> = written.collect();
    assert_eq!((seen.len(), written.len()), (40, 30));
    assert!(written.iter().all(|request| request.method == "POST"));
}

#[test]
fn thresholds_decide_the_exit_status() {
    let loading = Loading::new();
    let good = hello_server();
    let passes = [
        "errors>0",
        "max>30s",
        "throughput<1/s",
        "p50>30s",
        "mean>30s",
    ];
    let mut args = vec!["-n", "200", "-c", "2"];
    args.extend(passes.iter().flat_map(|text| ["--fail-if", text]));
    let told = passes.map(|text| format!("fail-if ok {text}: it was"));
    let told: Vec<&str> = told.iter().map(String::as_str).collect();
    loading.run(&url(&good, "/"), &args).exits(0).tells(&told);

    // Of three answers one is wrong.
    let bad = OracleServer::start(|turn: &Turn<'_>| match turn.index % 3 {
        0 => send(sized(500, "", b"no")),
        _ => send(hello()),
    })
    .unwrap();
    let with = |condition| ["-n", "30", "-c", "1", "--fail-if", condition];
    loading
        .run(&url(&bad, "/"), &with("errors>5%"))
        .exits(1)
        .tells(&["fail-if FAILED errors>5%: it was 33.33 %"]);
    loading.run(&url(&bad, "/"), &with("errors>40%")).exits(0);
    loading
        .run(&url(&bad, "/"), &with("errors>=10"))
        .exits(1)
        .tells(&["it was 10"]);

    // What cannot be judged does not pass.
    loading
        .run(
            &url(&good, "/"),
            &with("p99<1h".replace("1h", "60m").as_str()),
        )
        .exits(1)
        .tells(&["30 samples are too few for p99, which needs 10,000"]);
}

#[test]
fn slow_answers_fail_a_threshold_on_time() {
    let loading = Loading::new();
    let slow = OracleServer::start(|_: &Turn<'_>| {
        vec![
            Action::Pause(Duration::from_millis(80)),
            Action::Send(hello()),
        ]
    })
    .unwrap();
    let args = ["-n", "4", "-c", "2", "--fail-if", "min<80ms"];
    loading.run(&url(&slow, "/"), &args).exits(0);
    let args = ["-n", "4", "-c", "2", "--fail-if", "max>50ms"];
    loading
        .run(&url(&slow, "/"), &args)
        .exits(1)
        .tells(&["fail-if FAILED max>50ms: it was"]);
}

#[test]
fn only_what_was_expected_is_valid() {
    let loading = Loading::new();
    let server =
        OracleServer::start(|_: &Turn<'_>| send(sized(201, "", br#"{"a":[1,"b"]}"#))).unwrap();
    let url = url(&server, "/");
    for (option, value, exit) in [
        ("--expect-status", "201", 0),
        ("--expect-status", "200", 3),
        ("--expect-length", "13", 0),
        ("--expect-length", "12", 3),
        ("--expect-body", r#"{"a":[1,"b"]}"#, 0),
        ("--expect-body", r#"{"a":[1,"c"]}"#, 3),
        ("--expect-contains", "b", 0),
        ("--expect-contains", "c", 3),
        ("--expect-json", r#"/a/1="b""#, 0),
        ("--expect-json", "/a/0=2", 3),
    ] {
        loading
            .run(&url, &["-n", "3", "-c", "1", option, value])
            .exits(exit);
    }
}

#[test]
fn not_one_valid_answer_is_nothing_measured() {
    let loading = Loading::new();
    let port = RefusingPort::new().unwrap();
    let refusing = format!("http://{}/", port.address());
    loading
        .run(&refusing, &["-n", "5", "-c", "1", "--fail-if", "errors>0"])
        .exits(3)
        .tells(&[
            "fail-if FAILED errors>0: it was 5",
            "nothing could be measured: not one valid answer in 5 requests",
            "is the server running",
        ]);
    let server = OracleServer::start(|_: &Turn<'_>| send(sized(404, "", b""))).unwrap();
    loading
        .run(&url(&server, "/"), &["-n", "5", "-c", "1"])
        .exits(3)
        .tells(&["--expect-status"]);
}

#[test]
fn a_server_that_refuses_every_connection_ends_the_load_at_its_first_interval_without_rows_of_zeros()
 {
    let loading = Loading::new();
    let port = RefusingPort::new().unwrap();
    let url = format!("http://{}/", port.address());
    let loaded = loading
        .run(&url, &["-d", "300s", "--json", "-o", "a.txt"])
        .exits(3)
        .tells(&[&format!(
            "nothing could be measured: {} refused every connection; is the server running, and on this port?",
            port.address()
        )]);
    assert!(!loaded.stderr.contains("warm-up  "), "{loaded}");
    // The outputs say so as well. The user has interrupted nothing.
    let json = json(&loaded);
    assert_eq!(json["interrupted"], false);
    let text = fs::read_to_string(loading.root.path().join("a.txt")).unwrap();
    for said in [json["verdict"]["headline"].as_str().unwrap(), &text] {
        let said = flat(said);
        assert!(said.starts_with("Nothing was measured: "), "{said}");
        assert!(said.contains("the connection was refused"), "{said}");
    }
}

#[test]
fn the_first_ctrl_c_ends_the_load_with_its_report() {
    let loading = Loading::new();
    for (end, cut_short) in [
        (vec!["-d", "60s", "--warm-up", "0s"], true),
        (vec!["-n", "100000000"], true),
        (vec!["--until-interrupted", "--warm-up", "0s"], false),
    ] {
        for signal in [Signal::INT, Signal::TERM] {
            let server = hello_server();
            let running = loading.start(
                &url(&server, "/"),
                &[&end[..], &["-c", "2", "--json"]].concat(),
            );
            wait_for_requests(&server);
            running.signal(signal);
            let ended = running.wait().exits(if cut_short { 130 } else { 0 });
            let json = json(&ended);
            assert_eq!(json["interrupted"], cut_short, "{end:?}");
            // What is in flight when a load is stopped is not waited for, and may not have arrived.
            let seen = server.seen_at_rest().requests;
            let issued = tally(&json, "total", "issued");
            let in_flight = tally(&json, "total", "in_flight");
            assert!(in_flight <= 2, "{ended}");
            assert!(
                (seen..=seen + in_flight).contains(&issued),
                "issued {issued}, seen {seen}, in flight {in_flight}: {end:?} {signal:?}"
            );
        }
    }
}

fn wait_for_requests(server: &OracleServer) {
    eventually("some requests", || {
        (server.seen().requests > 50).then_some(())
    });
}

#[test]
fn a_load_that_was_interrupted_says_so_first_everywhere_and_passes_no_threshold() {
    let loading = Loading::new();
    let server = hello_server();
    for (end, of) in [
        (["-d", "50s"], "s of 50 s: "),
        (["-n", "90000000"], " of 90,000,000 requests: "),
    ] {
        let files = ["-o", "a.json", "-o", "a.html"];
        let passes = ["--fail-if", "errors>0", "--fail-if", "max>60s"];
        let start = |args: &[&str]| {
            let warm_up = ["--warm-up", "0s", "-c", "2"];
            let running = loading.start(&url(&server, "/"), &[&end, &warm_up[..], args].concat());
            let before = server.seen().requests;
            eventually("some requests", || {
                (server.seen().requests > before + 50).then_some(())
            });
            running.signal(Signal::INT);
            running.wait()
        };
        let ended = start(&files).exits(130);
        let first = |text: &str| {
            let said = text.starts_with("Interrupted after ") && text.contains(of);
            assert!(said, "{text}: {ended}");
            assert!(!text.contains("No problems found"), "{text}: {ended}");
        };
        first(&ended.stdout);
        let read = |name: &str| fs::read_to_string(loading.root.path().join(name)).unwrap();
        let json: Value = serde_json::from_str(&read("a.json")).unwrap();
        first(json["verdict"]["headline"].as_str().unwrap());
        assert_ne!(json["verdict"]["validity"], "sound");
        let page = read("a.html");
        let headline = page.split_once("<h1>").unwrap().1;
        first(headline.split_once("</h1>").unwrap().0);

        start(&passes).exits(1).tells(&[
            "fail-if FAILED errors>0: cannot be judged: the load was interrupted (until then it was 0)",
            "fail-if FAILED max>60s: cannot be judged: the load was interrupted",
        ]);
    }
}

#[test]
fn a_signal_that_is_sent_twice_at_once_is_one() {
    let loading = Loading::new();
    let server = hello_server();
    let args = ["-d", "60s", "--warm-up", "0s", "-c", "2"];
    let running = loading.start(&url(&server, "/"), &args);
    wait_for_requests(&server);
    // As `timeout` does it. Both wait until it runs again, so that both come, one right after the other.
    for signal in [Signal::STOP, Signal::INT, Signal::TERM, Signal::CONT] {
        running.signal(signal);
    }
    running.wait().exits(130).says(&["Interrupted after"]);
}

#[test]
fn ctrl_c_in_the_warm_up_leaves_nothing_measured() {
    let loading = Loading::new();
    let server = hello_server();
    let args = ["-d", "1s", "--warm-up", "60s", "-c", "1"];
    let running = loading.start(&url(&server, "/"), &args);
    eventually("a request", || (server.seen().requests > 0).then_some(()));
    running.signal(Signal::INT);
    running
        .wait()
        .exits(130)
        .tells(&["interrupted before the measurement began"]);
}

#[test]
fn a_dry_run_shows_the_plan_and_sends_nothing() {
    let loading = Loading::new();
    let server = hello_server();
    loading
        .run(
            &url(&server, "/x"),
            &[
                "--dry-run",
                "-o",
                "out.json",
                "--rate",
                "5000/s",
                "-c",
                "10",
                "--max-connections",
                "100",
            ],
        )
        .exits(0)
        .says(&[
            "GET /x",
            "at most 5,000 requests/s on at most 100 connections",
            "file out.json",
        ]);
    assert_eq!(server.seen().connections, 0);
    assert!(!loading.root.path().join("out.json").exists());
}

#[test]
fn a_dry_run_refuses_what_a_load_would() {
    let loading = Loading::new();
    let server = hello_server();
    std::fs::write(loading.root.path().join("key.pem"), "no key").unwrap();
    let certificate = ["--dry-run", "--cert", "key.pem", "--key", "key.pem"];
    let secure = url(&server, "/").replace("http:", "https:");
    loading
        .run(&secure, &certificate)
        .exits(2)
        .has_no_data()
        .tells(&["key.pem"]);
    assert_eq!(server.seen().connections, 0);
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let loading = Loading::new();
    let server = hello_server();
    let mut command = loading.command(&url(&server, "/"), &["-n", "10", "-c", "1", "--json"]);
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let mut told = String::new();
    let mut stderr = child.stderr.take().unwrap();
    stderr.read_to_string(&mut told).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0), "{told}");
    assert!(!told.contains("panicked"), "{told}");
}
