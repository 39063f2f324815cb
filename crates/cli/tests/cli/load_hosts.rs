//! `deadheat load --on`: several agents that load together. Here "hosts" are processes of this machine, which a launcher
//! of the test's own starts.

use std::{thread, time::Duration};

use deadheat_model::{LatencyHistogram, Observation};
use deadheat_testkit::{
    OracleServer, Turn, answers,
    judge::{distance, gaps, least},
};
use rustix::process::Signal;
use serde_json::Value;

use crate::{
    load::{Loading, hello_server, json, tally, url},
    support::{
        Running, eventually,
        loaded::{Loaded, load},
    },
};

const AGENT: &str = env!("CARGO_BIN_EXE_deadheat");
/// Starts a program as it is.
const HERE: &str = "env HOST_OF_TEST={host}";
/// How long anything may go on after its coordinator is gone: the silence after which an agent gives up, what a load may
/// take to end, and a busy machine.
const BOUND: Duration = Duration::from_secs(20);

/// A launcher that does `special` with the program on host b, and nothing with the others.
fn on_b(special: &str) -> String {
    format!("sh -c 'if [ $0 = b ]; then {special}; else exec \"$@\"; fi' {{host}}")
}

fn three<'a>(launcher: &'a str, agent: &'a str) -> Vec<&'a str> {
    let hosts = ["--on", "a", "--on", "b", "--on", "c"];
    let how = ["--launcher", launcher, "--agent", agent];
    hosts.into_iter().chain(how).collect()
}

fn load_on_three(args: &[&str]) -> Loaded {
    load(&[&three(HERE, AGENT), args].concat())
}

fn parts(json: &Value) -> Vec<Observation> {
    let hosts = json["hosts"].as_array().expect("hosts");
    let observation = |host: &Value| serde_json::from_value(host["observation"].clone());
    let parts = hosts.iter().map(observation);
    parts.collect::<Result<_, _>>().expect("observations")
}

#[test]
fn three_generators_send_what_one_would() {
    let server = hello_server();
    let url = url(&server, "/n/{{counter}}");
    let loaded = load_on_three(&["-c", "10", "-n", "100", "--template", &url]).all_succeed(100);
    let seen = server.seen_at_rest();
    let loaded = loaded.agrees_with(&seen);
    let mut paths: Vec<String> = seen
        .first
        .iter()
        .map(|request| request.path.clone())
        .collect();
    paths.sort_by_key(|path| (path.len(), path.clone()));
    let expected: Vec<String> = (0..100).map(|n| format!("/n/{n}")).collect();
    assert_eq!(paths, expected, "{loaded}");
    let json: Value = serde_json::from_str(&loaded.stdout).unwrap();
    let parts = parts(&json);
    let issued: Vec<u64> = parts.iter().map(|part| part.total.issued).collect();
    assert_eq!(issued, [34, 33, 33]);
    let opened: Vec<u64> = parts.iter().map(|part| part.connections_opened).collect();
    assert_eq!(opened, [4, 3, 3]);
    // Merging loses nothing: the histograms have one layout.
    let mut together = LatencyHistogram::new();
    parts
        .iter()
        .for_each(|part| together.merge(&part.service_time));
    for thousandth in 0..=1_000 {
        let at = |times: &LatencyHistogram| times.quantile(f64::from(thousandth) / 1_000.0);
        assert_eq!(
            at(&together),
            at(&loaded.seen.service_time),
            "at {thousandth} ‰"
        );
    }
    for host in json["hosts"].as_array().unwrap() {
        let error = host["clock_error_seconds"].as_f64().unwrap();
        assert!(error > 0.0 && error < 1.0, "{host:#}");
        assert!(!host["machine"]["kernel"].as_str().unwrap().is_empty());
    }
}

#[test]
fn the_arrivals_of_three_generators_have_the_schedules_law() {
    const NEAR: f64 = 0.1;
    let measure = |kind: &str, law: fn(f64) -> f64, of: fn(&[f64]) -> Vec<f64>| {
        least(NEAR, || {
            let server =
                OracleServer::start(|_: &Turn<'_>| answers::send(answers::hello())).unwrap();
            let url = url(&server, "/");
            let args = [
                "-c",
                "12",
                "-n",
                "900",
                "--rate",
                "300/s",
                "--seed",
                "1",
                "--arrivals",
                kind,
            ];
            load_on_three(&[&args[..], &[&url]].concat()).all_succeed(900);
            let seen = server.seen_at_rest();
            let first = seen.arrivals[0];
            let arrivals: Vec<f64> = seen
                .arrivals
                .iter()
                .map(|at| (*at - first).as_secs_f64())
                .collect();
            distance(of(&arrivals), law)
        })
    };
    let all = <[f64]>::to_vec;
    let even = measure("uniform", |at| at / 3.0, all);
    assert!(even <= NEAR, "{even} from even");
    let exponential = measure("poisson", |gap| 1.0 - (-gap * 300.0).exp(), gaps);
    assert!(exponential <= NEAR, "{exponential} from exponential gaps");
}

#[test]
fn the_program_is_copied_once_and_then_found() {
    let server = hello_server();
    let loading = Loading::new();
    let home = loading.root.path().join("home");
    let launcher = format!("env XDG_CACHE_HOME={} HOST={{host}}", home.display());
    let args = [
        "-n",
        "10",
        "-c",
        "2",
        "--on",
        "a",
        "--launcher",
        &launcher,
        "--json",
    ];
    for _ in 0..2 {
        let ended = loading.run(&url(&server, "/"), &args);
        assert_eq!(ended.status_code(), Some(0), "{ended}");
        assert_eq!(tally(&json(&ended), "measured", "succeeded"), 10);
        let copies: Vec<_> = std::fs::read_dir(home.join("deadheat/agents"))
            .unwrap()
            .flatten()
            .collect();
        assert_eq!(copies.len(), 1, "{copies:?}");
        assert_eq!(
            copies[0].metadata().unwrap().len(),
            std::fs::metadata(AGENT).unwrap().len()
        );
    }
}

/// Makes an agent say that it is of another version, in a frame that is whole.
const OTHER_VERSION: &str = r#"
import re, sys, zlib
agent, out = sys.stdin.buffer, sys.stdout.buffer
out.write(agent.readline())
seen = 0
while not seen and (head := agent.read(9)):
    # That it is alive may come before who it is.
    length, kind = int.from_bytes(head[:4], "little"), head[8:]
    said, seen = re.subn(rb'"version":"[^"]*"', b'"version":"0.0.1"', agent.read(length), count=1)
    length = len(said).to_bytes(4, "little")
    out.write(length + zlib.crc32(length + kind + said).to_bytes(4, "little") + kind + said)
    out.flush()
while piece := agent.read1():
    out.write(piece)
    out.flush()
"#;

#[test]
fn a_host_that_cannot_load_is_named_with_the_reason() {
    let server = hello_server();
    let loading = Loading::new();
    loading.root.write("other-version.py", OTHER_VERSION);
    let cases = [
        ("echo no route to it >&2; exit 255", "no route to it"),
        ("echo deadheat-agent 1", "not that of a deadheat agent"),
        ("exec timeout -s KILL 0.7 \"$@\"", "the connection was"),
        // Bytes that are lost, and one that changes.
        ("\"$@\" | head -c 900", "the connection was"),
        ("\"$@\" | head -c 3000", "the connection was"),
        ("\"$@\" | stdbuf -o0 tr { [", "arrived damaged"),
        (
            "\"$@\" | python3 other-version.py",
            "deadheat 0.0.1 (messages ",
        ),
    ];
    for (special, why) in cases {
        let launcher = on_b(special);
        let args = [&three(&launcher, AGENT)[..], &["-d", "3s", "-c", "6"]].concat();
        let ended = loading.run(&url(&server, "/"), &args);
        assert_eq!(ended.status_code(), Some(3), "{special}: {ended}");
        assert!(ended.stdout.is_empty(), "{special}: {ended}");
        assert!(
            ended.stderr.contains("host b: ") && ended.stderr.contains(why),
            "{special}: {ended}"
        );
        loading.root.assert_nothing_runs(BOUND, special);
    }
}

#[test]
fn pods_are_reached_by_kubectl_and_one_that_cuts_its_output_is_named() {
    let server = hello_server();
    let loading = Loading::new();
    let root = &loading.root;
    let path = format!(
        "{}:{}",
        root.path().display(),
        std::env::var("PATH").unwrap_or_default()
    );
    let home = root.path().join("home");
    // As kubectl does, it ends with status 0 even where a stream was cut.
    let kubectls = [
        ("shift 4; exec \"$@\"", None),
        (
            "pod=$3; shift 4; [ $pod = a ] || exec \"$@\"; \"$@\" | head -c 3000; exit 0",
            Some("host a: "),
        ),
    ];
    for (kubectl, told) in kubectls {
        root.write_program("kubectl", kubectl);
        let args = [
            "--on",
            "a",
            "--on",
            "b",
            "--launcher",
            "kubectl",
            "-n",
            "10",
            "-c",
            "2",
        ];
        let mut command = loading.command(&url(&server, "/"), &args);
        command.env("PATH", &path).env("XDG_CACHE_HOME", &home);
        let ended = Running::start_command(root.path(), command, kubectl).wait();
        match told {
            None => assert_eq!(ended.status_code(), Some(0), "{ended}"),
            Some(told) => {
                assert_eq!(ended.status_code(), Some(3), "{ended}");
                assert!(
                    ended.stderr.contains(told) && ended.stdout.is_empty(),
                    "{ended}"
                );
            }
        }
    }
}

#[test]
fn nothing_goes_on_when_the_coordinator_is_killed_or_falls_silent() {
    let server = hello_server();
    for signal in [Signal::KILL, Signal::STOP] {
        let loading = Loading::new();
        let args = [&three(HERE, AGENT)[..], &["--until-interrupted", "-c", "6"]].concat();
        let running = loading.start(&url(&server, "/"), &args);
        let before = server.seen().answered();
        eventually("the load", || {
            (server.seen().answered() > before + 100).then_some(())
        });
        running.signal(signal);
        if signal == Signal::STOP {
            // Silence, with all pipes open.
            let quiet = || {
                let answered = server.seen().answered();
                thread::sleep(Duration::from_millis(300));
                (server.seen().answered() == answered).then_some(())
            };
            eventually("the end of the load", quiet);
            running.signal(Signal::KILL);
        }
        drop(running.wait());
        loading
            .root
            .assert_nothing_runs(BOUND, "the coordinator's end");
    }
}

#[test]
fn an_interrupt_ends_all_hosts_with_a_report() {
    let server = hello_server();
    let loading = Loading::new();
    let args = [
        &three(HERE, AGENT)[..],
        &[
            "--until-interrupted",
            "-c",
            "6",
            "--warm-up",
            "0s",
            "--json",
        ],
    ]
    .concat();
    let running = loading.start(&url(&server, "/"), &args);
    eventually("the load", || {
        (server.seen().answered() > 100).then_some(())
    });
    running.signal(Signal::INT);
    let ended = running.wait();
    assert_eq!(ended.status_code(), Some(0), "{ended}");
    assert_eq!(parts(&json(&ended)).len(), 3, "{ended}");
    loading.root.assert_nothing_runs(BOUND, "an interrupt");
}
