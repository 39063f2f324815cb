//! `deadheat as TOOL`: the options of other tools, and reports that scripts for them can read.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    os::unix::fs::symlink,
    process::Command,
    sync::OnceLock,
    time::Duration,
};

use deadheat_testkit::{
    Action, OracleServer, Turn,
    answers::{hello, send, sized},
};

use crate::support::{Ended, Root, Running, running};

const PROGRAM: &str = env!("CARGO_BIN_EXE_deadheat");

/// An answer that takes its time, so that the runs of wrk, which last a second, do not keep the CPUs busy.
fn unhurried(answer: impl Into<Vec<u8>>) -> Vec<Action> {
    vec![
        Action::Pause(Duration::from_millis(1)),
        Action::Send(answer.into()),
    ]
}

/// A server of which one answer in four has the status 503.
fn unsteady() -> OracleServer {
    OracleServer::start(|turn: &Turn<'_>| {
        let status = if turn.index % 4 == 3 { 503 } else { 200 };
        let body = &hello()[hello().len() - 13..];
        unhurried(sized(status, "Server: odd/1.0\r\n", body))
    })
    .unwrap()
}

fn run(root: &Root, words: &[&str]) -> Ended {
    let mut command = running::command(root.path(), "as");
    command.args(words);
    Running::start_command(root.path(), command, &format!("as {}", words.join(" "))).wait()
}

/// What stands behind each label: "Complete requests:" and the like.
fn labelled(text: &str) -> BTreeMap<&str, &str> {
    let lines = text.lines().filter_map(|line| line.split_once(':'));
    lines
        .map(|(label, value)| (label.trim(), value.trim()))
        .collect()
}

fn number(text: &str) -> f64 {
    let digits = text.split_whitespace().next().unwrap_or_default();
    let digits = digits.trim_end_matches(|c: char| !c.is_ascii_digit());
    digits
        .parse()
        .unwrap_or_else(|_| panic!("no number: {text}"))
}

#[test]
fn ab_counts_what_ab_counts_and_deadheat_says_what_that_means() {
    let root = Root::with(&[]);
    let server = unsteady();
    let url = format!("http://{}/a?b", server.address());
    // One request before tells who serves.
    let ended = run(
        &root,
        &["ab", "-n", "39", "-c", "3", "-k", "-e", "p.csv", &url],
    );
    let ended = ended.exits(0);
    let found = labelled(&ended.stdout);
    assert_eq!(found["Server Software"], "odd/1.0");
    assert_eq!(found["Document Path"], "/a?b");
    assert_eq!(found["Document Length"], "13 bytes");
    assert_eq!(found["Concurrency Level"], "3");
    assert_eq!(found["Complete requests"], "39");
    assert_eq!(found["Failed requests"], "0");
    assert_eq!(found["Non-2xx responses"], "10");
    assert_eq!(found["HTML transferred"], format!("{} bytes", 39 * 13));
    assert_eq!(found["Keep-Alive requests"], "39");
    let rate = number(found["Requests per second"]);
    let took = number(found["Time taken for tests"]);
    // Of a time in whole milliseconds.
    assert!((39.0 / rate - took).abs() < 0.000_6, "{ended}");
    for row in ["Connect", "Processing", "Waiting", "Total"] {
        assert_eq!(found[row].split_whitespace().count(), 5, "{row}: {ended}");
    }
    assert!(ended.stdout.contains(" 100% "), "{ended}");
    let last = ended.stdout.lines().last().unwrap_or_default();
    assert!(
        last.starts_with(
            "deadheat: 10 of 39 answers had no 2xx status (503: 10), and ab counts them"
        ),
        "{ended}"
    );
    let percentages = fs::read_to_string(root.path().join("p.csv")).unwrap();
    assert_eq!(percentages.lines().count(), 101);
    let seen = server.seen_at_rest().first;
    assert_eq!(seen.len(), 40);
    for one in &seen {
        assert_eq!(one.header("accept"), Some("*/*"));
        assert_eq!(one.header("user-agent"), Some("ApacheBench/2.3"));
    }
}

#[test]
fn ab_calls_bodies_of_another_length_failed() {
    let root = Root::with(&[]);
    let server = OracleServer::start(|turn: &Turn<'_>| match turn.index {
        0 | 1 => send(hello()),
        _ => send(sized(200, "", b"longer than it was at first")),
    })
    .unwrap();
    let url = format!("http://{}/", server.address());
    let ended = run(&root, &["ab", "-n", "5", &url]).exits(0);
    let found = labelled(&ended.stdout);
    assert_eq!(
        (found["Complete requests"], found["Failed requests"]),
        ("5", "4")
    );
    assert!(
        ended
            .stdout
            .contains("(Connect: 0, Receive: 0, Length: 4, Exceptions: 0)"),
        "{ended}"
    );
    let ended = run(&root, &["ab", "-n", "5", "-l", &url]).exits(0);
    let found = labelled(&ended.stdout);
    assert_eq!(
        (found["Document Length"], found["Failed requests"]),
        ("Variable", "0")
    );
}

#[test]
fn ab_without_a_first_answer_expects_no_length() {
    let root = Root::with(&[]);
    let server = OracleServer::start(|turn: &Turn<'_>| match turn.index {
        0 => vec![Action::Reset],
        _ => send(hello()),
    })
    .unwrap();
    let url = format!("http://{}/", server.address());
    let ended = run(&root, &["ab", "-r", "-n", "5", &url]).exits(0);
    let found = labelled(&ended.stdout);
    let [length, complete, failed] =
        ["Document Length", "Complete requests", "Failed requests"].map(|label| found[label]);
    assert_eq!((length, complete, failed), ("0 bytes", "5", "0"), "{ended}");
}

#[test]
fn wrk_hey_and_oha_have_their_own_reports() {
    let root = Root::with(&[]);
    let server = unsteady();
    let url = format!("http://{}/", server.address());
    let ended = run(&root, &["wrk", "-t1", "-c2", "-d1s", "--latency", &url]).exits(0);
    let found = labelled(&ended.stdout);
    assert!(number(found["Requests/sec"]) > 0.0 && found["Transfer/sec"].ends_with('B'));
    assert!(number(found["Non-2xx or 3xx responses"]) > 0.0, "{ended}");
    assert!(
        ended.stdout.contains("  1 threads and 2 connections\n"),
        "{ended}"
    );
    for row in ["    Latency  ", "    Req/Sec  ", "     99% "] {
        assert!(ended.stdout.contains(row), "{row:?}: {ended}");
    }
    let ended = run(&root, &["hey", "-n", "40", "-c", "4", &url]).exits(0);
    let found = labelled(&ended.stdout);
    assert!(number(found["Requests/sec"]) > 0.0);
    assert_eq!(found["Size/request"], "13 bytes");
    assert!(
        ended
            .stdout
            .contains("  [200]\t30 responses\n  [503]\t10 responses\n"),
        "{ended}"
    );
    assert!(ended.stdout.contains("  50% in 0."), "{ended}");
    let ended = run(
        &root,
        &["oha", "-n", "40", "-c", "4", "-j", "--no-tui", &url],
    )
    .exits(0);
    let json: serde_json::Value = serde_json::from_str(&ended.stdout).expect("JSON alone");
    assert_eq!(json["summary"]["successRate"], 1.0);
    assert_eq!(json["statusCodeDistribution"]["200"], 30);
    let p50 = json["latencyPercentiles"]["p50"].as_f64();
    assert!(p50.is_some_and(|p50| p50 > 0.0), "{ended}");
    ended.tells(&["deadheat: 10 of 40 answers had no 2xx status"]);
    let ended = run(&root, &["oha", "-n", "4", "-c", "1", &url]).exits(0);
    assert_eq!(labelled(&ended.stdout)["Success rate"], "100.00%");
}

#[test]
fn it_is_the_tool_that_it_is_called_as() {
    let root = Root::with(&[]);
    let link = root.path().join("hey");
    symlink(PROGRAM, &link).unwrap();
    let server = unsteady();
    let url = format!("http://{}/", server.address());
    let output = Command::new(&link)
        .args(["-n", "4", "-c", "2", &url])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && said.contains("Status code distribution:"),
        "{output:?}"
    );
}

#[test]
fn what_the_tool_can_and_deadheat_cannot_is_refused_and_help_lists_the_rest() {
    let root = Root::with(&[]);
    run(&root, &["wrk", "-s", "x.lua", "http://127.0.0.1:1/"])
        .exits(1)
        .tells(&["wrk: -s: deadheat cannot do this"]);
    run(&root, &["ab", "-h"])
        .exits(22)
        .says(&["Requests at a time"]);
}

#[test]
fn exit_statuses_and_versions_are_those_of_the_tools() {
    let root = Root::with(&[]);
    let nobody = "http://127.0.0.1:1/";
    let cases: [(&[&str], i32, &str); 15] = [
        (&["ab"], 22, ""),
        (&["ab", "--what", nobody], 22, ""),
        (&["ab", "-c", "5", "-n", "2", nobody], 22, ""),
        (&["ab", "-n", "3", nobody], 111, ""),
        (&["ab", "-V"], 0, "This is ApacheBench, Version 2.3 <"),
        (
            &["ab", "-r", "-n", "3", nobody],
            0,
            "Complete requests:      0\n",
        ),
        (&["wrk"], 1, ""),
        (&["wrk", "-t2", "-c1", nobody], 1, ""),
        (&["wrk", "-t1", "-c1", "-d1s", nobody], 1, ""),
        (&["wrk", "-v"], 1, "wrk 4"),
        (&["hey"], 1, ""),
        (
            &["hey", "-n", "4", "-c", "2", nobody],
            0,
            "[4]\tthe connection was refused",
        ),
        // It loads for as long as it was asked to, with intervals of a second.
        (
            &["hey", "-z", "1100ms", "-c", "1", nobody],
            0,
            "the connection was refused",
        ),
        (&["oha"], 2, ""),
        (
            &["oha", "-n", "4", "-c", "2", nobody],
            0,
            "[4] the connection was refused",
        ),
    ];
    for (words, status, said) in cases {
        run(&root, words).exits(status).says(&[said]);
    }
}

#[test]
fn without_a_valid_answer_there_is_the_report_of_the_tool() {
    let root = Root::with(&[]);
    let answering = |answer: Vec<u8>| OracleServer::start(move |_: &Turn<'_>| send(answer.clone()));
    let loaded = |server: &OracleServer, words: &[&str]| {
        let url = format!("http://{}/", server.address());
        run(&root, &[words, &[&url]].concat()).exits(0)
    };
    let hey = ["hey", "-n", "4", "-c", "2"];
    let nowhere = answering(sized(302, "", b"")).unwrap();
    let ended = loaded(&nowhere, &hey).says(&["  [302]\t4 responses\n", "  50% in "]);
    assert!(!ended.stdout.contains("Error distribution"), "{ended}");
    loaded(&nowhere, &["oha", "-n", "4", "-c", "2", "-r", "3"]).says(&["  [302] 4 responses\n"]);
    let elsewhere = answering(sized(302, "Location: http://other.example/\r\n", b"")).unwrap();
    let ended = loaded(&elsewhere, &hey).says(&["  [4]\ta redirect could not be followed\n"]);
    assert!(!ended.stdout.contains("[302]"), "{ended}");
    let too_much = answering([hello(), b"x".to_vec()].concat()).unwrap();
    let ended = loaded(&too_much, &hey).says(&["  [200]\t4 responses\n"]);
    assert!(!ended.stdout.contains("Error distribution"), "{ended}");
    let late = OracleServer::start(|_: &Turn<'_>| {
        vec![
            Action::Pause(Duration::from_millis(1_600)),
            Action::Send(hello()),
        ]
    })
    .unwrap();
    loaded(&late, &["wrk", "-t1", "-c2", "-d3s", "--timeout", "1s"]).says(&[
        "  2 requests in ",
        "  Socket errors: connect 0, read 0, write 0, timeout 2\n",
    ]);
    let silent = OracleServer::start(|_: &Turn<'_>| vec![Action::Silence]).unwrap();
    let words = ["wrk", "-t1", "-c2", "-d2s", "--timeout", "1s"];
    let ended = loaded(&silent, &words).says(&[
        "  0 requests in ",
        "    -nan%\n",
        "deadheat: 2 requests had waited longer than any answer took",
    ]);
    assert!(!ended.stdout.contains("Socket errors"), "{ended}");
    loaded(&silent, &["hey", "-n", "2", "-c", "2", "-t", "1"])
        .says(&["Error distribution:\n  [2]\t"]);
}

/// A run at a server that always answers rightly.
struct ToolRun {
    tool: &'static str,
    options: &'static [&'static str],
    /// The tool's own report of such a run, and how those of its lines begin that Deadheat's report lacks.
    original: Option<(&'static str, &'static [&'static str])>,
}

static RUNS: [ToolRun; 6] = [
    ToolRun {
        tool: "ab",
        options: &["-n", "400", "-c", "4"],
        original: None,
    },
    ToolRun {
        tool: "ab",
        options: &["-n", "400", "-c", "4", "-k"],
        // It goes to standard error, so that a file has the report alone.
        original: Some(("ab-keepalive.txt", &["Benchmarking "])),
    },
    ToolRun {
        tool: "wrk",
        options: &["-t1", "-c2", "-d1s", "--latency"],
        original: Some(("wrk-latency.txt", &[])),
    },
    ToolRun {
        tool: "hey",
        options: &["-n", "400", "-c", "4"],
        // How long writing and reading take is not recorded.
        original: Some(("hey-hello.txt", &["req write:", "resp read:"])),
    },
    ToolRun {
        tool: "oha",
        options: &["-n", "400", "-c", "4"],
        original: Some(("oha-1.16.txt", &[])),
    },
    ToolRun {
        tool: "oha",
        options: &["-n", "400", "-c", "4", "-j"],
        original: None,
    },
];

/// The [`RUNS`], each with what it wrote. They run once for all tests.
fn runs() -> impl Iterator<Item = (&'static ToolRun, &'static Ended)> {
    static ENDED: OnceLock<Vec<Ended>> = OnceLock::new();
    let ended = ENDED.get_or_init(|| {
        let root = Root::with(&[]);
        let server = OracleServer::start(|_: &Turn<'_>| unhurried(hello())).unwrap();
        let url = format!("http://{}/hello", server.address());
        let ended_of = |one: &ToolRun| {
            let words = [&[one.tool], one.options, &[url.as_str()]].concat();
            run(&root, &words).exits(0)
        };
        RUNS.iter().map(ended_of).collect()
    });
    RUNS.iter().zip(ended)
}

#[test]
fn what_reads_the_reports_of_the_tools_reads_these() {
    let root = Root::with(&[]);
    for (ToolRun { tool, .. }, ended) in runs() {
        root.write("report.txt", &ended.stdout);
        let read = root.deadheat("import report.txt --json").exits(0);
        let json: serde_json::Value = serde_json::from_str(&read.stdout).expect("JSON");
        let found = &json["runs"][0];
        assert_eq!(found["tool"], *tool, "{ended}\n{read}");
        let rate = found["figures"]["requests_per_second"].as_f64();
        assert!(rate.is_some_and(|rate| rate > 0.0), "{ended}\n{read}");
    }
}

#[test]
fn rates_of_hey_and_oha_count_requests_without_an_answer() {
    let root = Root::with(&[]);
    let server = OracleServer::start(|turn: &Turn<'_>| match turn.index % 4 {
        3 => vec![Action::Reset],
        _ => unhurried(hello()),
    })
    .unwrap();
    let url = format!("http://{}/hello", server.address());
    for words in [&["hey"][..], &["oha"], &["oha", "-j"]] {
        let ended = run(&root, &[words, &["-n", "40", "-c", "4", &url]].concat()).exits(0);
        root.write("report.txt", &ended.stdout);
        let read = root.deadheat("import report.txt --json").exits(0);
        let json: serde_json::Value = serde_json::from_str(&read.stdout).expect("JSON");
        let figures = &json["runs"][0]["figures"];
        let count = |name: &str| figures[name].as_u64().unwrap_or(0);
        assert!(count("failed") > 0, "{ended}\n{read}");
        assert_eq!(count("complete") + count("failed"), 40, "{ended}\n{read}");
    }
}

/// A report's lines without what differs from run to run: numbers, their units, and bars.
fn shapes(text: &str) -> BTreeSet<String> {
    const UNITS: [&str; 10] = ["us", "ms", "s", "sec", "k", "B", "KB", "KiB", "MB", "MiB"];
    let shape = |line: &str| {
        let mut shape = String::new();
        for word in line.replace(['■', '|', '%'], " ").split_whitespace() {
            let word = word.trim_end_matches(',');
            let bare = word.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
            let word = match bare {
                _ if UNITS.contains(&bare) => continue,
                "" => "#",
                _ if bare.len() < word.len() => bare,
                _ => word,
            };
            let word: String = word.chars().filter(|c| !c.is_ascii_digit()).collect();
            // A row of several numbers may have some of them glued to their units.
            if word != "#" || !shape.ends_with("# ") {
                shape += &format!("{word} ");
            }
        }
        shape
    };
    let lines = text.lines().map(shape);
    lines.filter(|shape| !shape.is_empty()).collect()
}

/// Reports of the tools themselves, which tests of the import read.
fn original(name: &str) -> String {
    let folder = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../import/tests/import/reports"
    );
    fs::read_to_string(format!("{folder}/{name}")).expect("a report of the tool")
}

#[test]
fn each_line_of_a_tool_has_its_place_and_no_line_is_new() {
    for (run, ended) in runs() {
        let Some((report, lacks)) = run.original else {
            continue;
        };
        let said = ended
            .stdout
            .lines()
            .filter(|line| !line.starts_with("deadheat: "));
        let ours = shapes(&said.collect::<Vec<_>>().join("\n"));
        let theirs = shapes(&original(report));
        let missing: Vec<&String> = theirs
            .difference(&ours)
            .filter(|shape| !lacks.iter().any(|lack| shape.starts_with(lack)))
            .collect();
        let new: Vec<&String> = ours.difference(&theirs).collect();
        assert!(
            missing.is_empty() && new.is_empty(),
            "{}: missing {missing:?}, new {new:?}\n{ended}",
            run.tool
        );
    }
}

#[test]
fn redirects_forms_and_proxies_are_those_of_the_tools() {
    let root = Root::with(&[]);
    let server = OracleServer::start(|turn: &Turn<'_>| match turn.request.path.as_str() {
        "/old" => send(sized(302, "Location: /new\r\n", b"")),
        _ => send(hello()),
    })
    .unwrap();
    let url = format!("http://{}/old", server.address());
    let statuses = |words: &[&str], redirects: usize, answers: usize| {
        let ended = run(&root, &[words, &["-n", "6", "-c", "2", &url]].concat()).exits(0);
        let has = |status: u16| ended.stdout.contains(&format!("[{status}]"));
        assert_eq!(
            (has(302), has(200)),
            (redirects > 0, answers > 0),
            "{ended}"
        );
    };
    statuses(&["hey"], 0, 6);
    statuses(&["hey", "-disable-redirects"], 6, 0);
    statuses(&["oha"], 0, 6);
    statuses(&["oha", "-r", "0"], 6, 0);
    statuses(&["oha", "-r", "2"], 0, 6);
    let words = ["oha", "-n", "1", "-c", "1", "-r", "0", "-F", "a=b", &url];
    run(&root, &words).exits(0);
    let seen = server.seen_at_rest().first;
    let form = seen.last().expect("a request");
    assert_eq!(form.method, "POST");
    let kind = form.header("content-type").unwrap_or_default();
    assert!(kind.starts_with("multipart/form-data"), "{kind}");

    // A server that is sent whole URLs acts as a proxy.
    let address = server.address().to_string();
    let behind = "http://127.0.0.1:9/behind";
    let cases: [&[&str]; 3] = [
        &["ab", "-X"],
        &["hey", "-disable-redirects", "-x"],
        &["oha", "-r", "0", "-x"],
    ];
    for words in cases {
        run(
            &root,
            &[words, &[&address, "-n", "2", "-c", "1", behind]].concat(),
        )
        .exits(0);
        let seen = server.seen_at_rest().first;
        assert_eq!(seen.last().expect("a request").path, behind, "{words:?}");
    }
}
