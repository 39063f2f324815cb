//! `deadheat import`, and reports of other tools where sessions could stand.

use std::fs;

use serde_json::Value;

use crate::support::{Fake, Root};

/// A report of wrk with this rate, of a run of one second.
fn wrk(requests: u32) -> String {
    format!(
        "Running 1s test @ http://127.0.0.1:8080/\n  2 threads and 10 connections\n  \
         Thread Stats   Avg      Stdev     Max   +/- Stdev\n    \
         Latency   216.13us  345.11us   5.11ms   96.93%\n    \
         Req/Sec    29.33k     2.93k   32.47k    90.00%\n  \
         {requests} requests in 1.00s, 9.02MB read\n\
         Requests/sec: {requests}.00\n\
         Transfer/sec:      8.99MB\n"
    )
}

fn three(rates: [u32; 3]) -> String {
    rates.map(wrk).concat()
}

/// vegeta's JSON about this many requests in one second, all of them answered.
fn vegeta(requests: u32) -> String {
    serde_json::json!({
        "latencies": {"mean": 500_000, "50th": 450_000, "99th": 900_000, "max": 1_000_000},
        "bytes_in": {"total": 2 * requests, "mean": 2},
        "duration": 1_000_000_000,
        "wait": 0,
        "requests": requests,
        "rate": requests,
        "throughput": requests,
        "status_codes": {"200": requests},
        "errors": [],
    })
    .to_string()
}

#[test]
fn reports_are_shown_with_what_speaks_against_them() {
    let root = Root::with(&[]);
    root.write(
        "page.md",
        &format!(
            "## Text\n\n**Go**\n\n```\n{}```\n\n**Node**\n\n```\n{}```\n",
            wrk(9000),
            wrk(4000)
        ),
    );
    let expected = [
        "None of these runs can rank the servers: fewer than three runs",
        "Text",
        "Node",
        "4,000",
        "One run of a server cannot tell a difference from chance",
        "coordinated omission",
    ];
    root.deadheat("import page.md").exits(0).says(&expected);
    root.deadheat("report page.md").exits(0).says(&expected);
    root.deadheat("report page.md --format html")
        .exits(2)
        .tells(&["text or json"]);
    root.write("cut.txt", &wrk(9000)[..200]);
    root.deadheat("import cut.txt").exits(2).tells(&[
        "cut.txt:",
        "report of wrk",
        "Nothing was imported",
    ]);
    root.deadheat("import nowhere.txt")
        .exits(2)
        .tells(&["nowhere.txt"]);
}

#[test]
fn the_json_is_read_back() {
    let root = Root::with(&[]);
    root.write("page.md", &wrk(9000));
    let ended = root
        .deadheat("import page.md --format json -o figures.json")
        .exits(0);
    let json: Value = serde_json::from_str(&ended.stdout).expect("JSON");
    assert_eq!(json["runs"][0]["figures"]["requests_per_second"], 9000.0);
    assert_eq!(json["runs"][0]["figures"]["mean_ms"], 0.21613);
    let again = root.deadheat("report figures.json --format json").exits(0);
    assert_eq!(again.stdout, ended.stdout);
}

#[test]
fn two_files_have_a_verdict_if_there_are_three_runs_of_each() {
    let root = Root::with(&[]);
    root.write("a.txt", &three([4000, 4010, 3990]));
    root.write("b.txt", &three([6000, 6010, 5990]));
    root.write("one.txt", &wrk(6000));
    root.deadheat("compare a.txt b.txt")
        .exits(0)
        .says(&["B is faster: 1.50 times A's throughput.", "B / A"]);
    root.deadheat("compare a.txt one.txt")
        .exits(0)
        .says(&["No verdict, with one run on a side", "1.50"]);
    let json = root.deadheat("compare a.txt b.txt --format json").exits(0);
    let json: Value = serde_json::from_str(&json.stdout).expect("JSON");
    assert_eq!(json["throughput"]["verdict"], "better");
    root.write(
        "both.md",
        &format!("# Go\n{}# Node\n{}", wrk(9000), wrk(4000)),
    );
    root.deadheat("compare a.txt both.md")
        .exits(2)
        .tells(&["2 servers (Go, Node)"]);
    root.write(
        "broken.txt",
        &wrk(9000).replace(
            "Requests/sec",
            "  Non-2xx or 3xx responses: 9000\nRequests/sec",
        ),
    );
    root.deadheat("compare a.txt broken.txt")
        .exits(2)
        .tells(&["every answer was an error"]);
    root.deadheat("compare a.txt a.txt")
        .exits(2)
        .tells(&["a run in common"]);
}

#[test]
fn reports_in_json_are_compared_as_those_in_text_are() {
    let root = Root::with(&[]);
    for (name, rates) in [("a", [4000, 4010, 3990]), ("b", [6000, 6010, 5990])] {
        root.write(&format!("{name}.txt"), &three(rates));
        let import = format!("import {name}.txt --format json -o {name}.json");
        root.deadheat(&import).exits(0);
    }
    root.deadheat("compare a.json b.json")
        .exits(0)
        .says(&["B is faster: 1.50 times A's throughput."]);
}

#[test]
fn rates_that_say_nothing_of_the_servers_have_no_verdict() {
    let root = Root::with(&[]);
    root.write("a.txt", &three([4000, 4010, 3990]));
    let errors = "  Non-2xx or 3xx responses: 90\nRequests/sec";
    let b = three([6000, 6010, 5990]).replace("Requests/sec", errors);
    root.write("b.txt", &b);
    root.deadheat("compare a.txt b.txt").exits(0).says(&[
        "No verdict: B has 1.50 times A's throughput, but runs of B had 1 % errors or more.",
    ]);
    // vegeta has an open loop.
    for (name, rate) in [("c", 100), ("d", 200)] {
        root.write(&format!("{name}.json"), &vegeta(rate));
    }
    root.deadheat("compare c.json d.json").exits(0).says(&[
        "No verdict: B has 2.00 times A's throughput, but at a fixed rate",
        "The rates asked for differ",
    ]);
}

#[test]
fn a_published_table_that_was_imported_is_one_that_sessions_repeat() {
    let root = Root::with(&[Fake::good("fake-one")]);
    root.write(
        "page.md",
        &format!("# Go\n{}# Node\n{}", wrk(9000), wrk(4000)),
    );
    fs::create_dir(root.path().join("published")).expect("making a folder");
    let import = "import page.md --workload plaintext -o published/page.toml --target";
    root.deadheat(&format!("{import} Rust=fake-one"))
        .exits(2)
        .tells(&["no report is of a server called `Rust`"]);
    root.deadheat(&format!("{import} Go=fake-one"))
        .exits(0)
        .tells(&["written"]);
    root.deadheat("run --published page --dry-run --heats 2")
        .exits(0)
        .says(&["fake-one"]);
}

#[test]
fn an_audit_reads_what_import_reads_and_refuses_what_is_damaged() {
    let root = Root::with(&[]);
    for (name, requests) in [("go", 9000), ("node", 8900), ("php", 2000)] {
        root.write(&format!("{name}.txt"), &wrk(requests));
    }
    let audit = "audit go.txt node.txt php.txt";
    root.deadheat(&format!("{audit} --details"))
        .exits(0)
        .says(&["wrk: 1 of 3 places are proven", "1–2", "node.txt"]);
    root.deadheat(&format!("{audit} --spread 1% --format html"))
        .exits(0)
        .says(&["3 of 3 places are proven"]);
    let row = r#"{"framework": "a", "rps": 10, "avg_latency": "1ms", "connections": 9}"#;
    root.write("json-9.json", &format!("[\n{row},\n{row}]"));
    root.deadheat("audit json-9.json --json").exits(0);
    root.write("json-9.json", &format!("[\n{row},\n{}", &row[..30]));
    root.deadheat("audit json-9.json").exits(2).tells(&[
        "json-9.json:3:",
        "HttpArena",
        "Nothing was imported",
    ]);
    root.deadheat("audit .").exits(2).tells(&["folder"]);
}

#[test]
fn no_command_replaces_what_it_reads() {
    let root = Root::with(&[]);
    root.write("a.json", &three([9000, 9100, 9200]));
    root.write("b.json", &three([8000, 8100, 8200]));
    for command in [
        "import a.json b.json -o ./a.json",
        "audit b.json a.json -o a.json",
        "report a.json -o a.json",
        "compare a.json b.json -o b.json",
    ] {
        root.deadheat(command)
            .exits(2)
            .has_no_data()
            .tells(&["this file is read, and would be replaced; name another one"]);
    }
    let kept = fs::read_to_string(root.path().join("a.json")).expect("reading a file");
    assert_eq!(kept, three([9000, 9100, 9200]));
}
