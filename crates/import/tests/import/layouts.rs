//! What was never measured, and the layouts of other versions and tools.

use deadheat_model::imported::{Run, Tool};

use crate::support::{joined, read, report, run, runs};

fn times(run: &Run) -> [Option<f64>; 4] {
    let figures = &run.figures;
    [
        figures.mean_ms,
        figures.p50_ms,
        figures.p99_ms,
        figures.max_ms,
    ]
}

#[test]
fn times_that_were_never_recorded_are_unknown_and_not_zero() {
    for name in ["wrk-late.txt", "wrk2-short.txt"] {
        let run = run(name);
        assert_eq!(times(&run), [None; 4], "{name}");
        assert!(run.valid_rate().is_some(), "{name}");
        let warnings = joined(&run.warnings);
        assert!(
            warnings.contains("No time of an answer was recorded"),
            "{warnings}"
        );
    }
    let wrk2 = report("wrk2-short.txt");
    for (nothing, max) in [
        ("nan", "0.00us"),
        ("-nan", "-nan"),
        ("-", "-"),
        ("inf", "inf"),
    ] {
        let text = wrk2.replace(
            "-nanus     -nanus   0.00us",
            &format!("{nothing}  {nothing}  {max}"),
        );
        assert_eq!(times(&runs(&text)[0]), [None; 4], "{text}");
    }
    for name in [
        "h2load-refused.txt",
        "k6-refused.txt",
        "vegeta-refused.txt",
        "hey-refused.txt",
        "ab-no-answer.txt",
    ] {
        let run = run(name);
        assert_eq!(times(&run), [None; 4], "{name}");
        assert_eq!(run.valid_rate(), None, "{name}");
    }
    // A summary of no answer.
    let (summary, _) = report("hey-refused.txt")
        .split_once("Response")
        .map(|(a, b)| (a.to_owned(), b.to_owned()))
        .expect("two parts");
    assert_eq!(runs(&summary)[0].invalid(), Some("no request was answered"));
}

#[test]
fn empty_metrics_in_json_are_unknown() {
    let oha = report("oha-1.16.json");
    let value: serde_json::Value = serde_json::from_str(&oha).expect("JSON");
    for key in ["average", "slowest"] {
        let mut value = value.clone();
        value["summary"][key] = serde_json::Value::Null;
        let run = &runs(&value.to_string())[0];
        let [mean, _, _, max] = times(run);
        assert!(mean.is_none() || max.is_none());
    }
    let mut nothing = value.clone();
    for key in [
        "average",
        "slowest",
        "fastest",
        "requestsPerSec",
        "sizePerSec",
        "sizePerRequest",
    ] {
        nothing["summary"][key] = serde_json::Value::Null;
    }
    nothing["summary"]["totalData"] = 0.into();
    nothing["statusCodeDistribution"] = serde_json::json!({});
    nothing["errorDistribution"] = serde_json::json!({ "connection refused": 20 });
    let run = &runs(&nothing.to_string())[0];
    assert_eq!(
        (times(run), run.invalid()),
        ([None; 4], Some("no request was answered"))
    );
}

#[test]
fn answers_after_the_timeout_of_wrk_are_no_failed_requests() {
    let late = run("wrk-late.txt");
    assert_eq!(
        (late.figures.failed, late.valid_rate()),
        (Some(0), Some(1.33))
    );
    let warnings = joined(&late.warnings);
    assert!(
        warnings.contains("4 of 4 answers took longer than wrk's timeout"),
        "{warnings}"
    );
    assert!(!warnings.contains("Requests failed"), "{warnings}");
    // The others are connections that failed, and count apart from the answers.
    let broken =
        report("wrk-late.txt").replace("read 0, write 0, timeout 4", "read 3, write 2, timeout 0");
    let run = &runs(&broken)[0];
    assert_eq!((run.figures.failed, run.invalid()), (Some(5), None));
    let wrk2 = report("wrk2-hello.txt").replace(
        "Requests/sec:",
        "Socket errors: connect 0, read 0, write 0, timeout 12\nRequests/sec:",
    );
    let warnings = joined(&runs(&wrk2)[0].warnings);
    assert!(
        warnings.contains("12 times a connection had waited"),
        "{warnings}"
    );
}

#[test]
fn errors_alone_are_a_report() {
    let errors = run("vegeta-errors.txt");
    assert_eq!(errors.invalid(), Some("every answer was an error"));
    assert_eq!(errors.figures.requests_per_second, None);
}

#[test]
fn abs_doubts_about_the_median_end_no_report() {
    let doubts = [
        "ERROR: The median and mean for the total time are more than twice the standard\n       deviation apart. These results are NOT reliable.\n",
        "WARNING: The median and mean for the waiting time are not within a normal deviation\n        These results are probably not that reliable.\n",
        "WARING: The median and mean for the processing time are not within a normal deviation\n        These results are probably not that reliable.\n",
        "ERROR: The median and mean for the initial connection time are more than twice the standard\n       deviation apart. These results are NOT reliable.\nWARNING: The median and mean for the total time are not within a normal deviation\n        These results are probably not that reliable.\n",
    ];
    let text = report("ab-doubted.txt");
    for doubt in doubts {
        let text = text.replace(doubts[0], doubt);
        let imported = read(&text).expect("two reports");
        assert_eq!(imported.left_out, []);
        let found: Vec<_> = imported
            .runs
            .iter()
            .map(|run| (run.figures.p99_ms, run.label.clone()))
            .collect();
        assert_eq!(found, [(Some(1.0), None), (Some(1.0), None)]);
        assert!(joined(&imported.runs[0].warnings).contains("doubted by ab itself"));
    }
}

#[test]
fn layouts_of_older_versions() {
    let rate = |name: &str| run(name).figures.requests_per_second;
    assert_eq!(rate("ab-1.3.txt"), Some(172.77));
    assert_eq!(rate("ab-posted.txt"), Some(30962.08));
    let put =
        report("ab-posted.txt").replace("Total POSTed:           ", "Total PUT:              ");
    assert_eq!(runs(&put).len(), 1);
    let short = run("ab-short-table.txt");
    assert_eq!(times(&short), [Some(3.025), None, None, Some(14.0)]);
    let boom = run("boom.txt");
    let figures = &boom.figures;
    assert_eq!(
        (
            figures.complete,
            figures.failed,
            figures.non_2xx,
            figures.p99_ms
        ),
        (Some(192), Some(8), Some(16), Some(8.0))
    );
    let wrk = run("wrk-1.txt");
    assert_eq!(
        (wrk.load.requests, wrk.figures.failed),
        (Some(52468), Some(3))
    );
    let oha = run("oha-0.3.txt").figures;
    assert_eq!((oha.complete, oha.p99_ms), (Some(200), Some(9.0)));
    // The throughput is what later versions print.
    assert_eq!(rate("vegeta-1.0.txt"), Some(100.25));
    assert_eq!(rate("vegeta-12.0.txt"), Some(50.24));
    for name in ["h2load-1.0.txt", "h2load-0.6.txt"] {
        let run = run(name);
        let found = (
            run.figures.requests_per_second,
            run.load.connections,
            run.figures.body_bytes,
        );
        assert_eq!(found, (Some(12307.0), Some(10), Some(45000)), "{name}");
    }
    assert_eq!(times(&run("h2load-1.70.txt")), times_of_1_69());
}

fn times_of_1_69() -> [Option<f64>; 4] {
    [Some(0.497), Some(0.31), Some(4.2), Some(8.63)]
}

#[test]
fn a_warm_up_of_h2load_is_not_in_its_rate() {
    let whole = run("h2load-warm-up.txt").figures;
    assert_eq!(
        (whole.requests_per_second, whole.seconds),
        (Some(43.5), Some(2.0))
    );
    // Often only the results are published.
    let text = report("h2load-warm-up.txt");
    let (_, results) = text.split_once("\n\n").expect("two parts");
    assert_eq!(runs(results)[0].figures.seconds, Some(2.0));
}

#[test]
fn a_report_of_another_tool_is_named_and_the_others_are_read() {
    let wrk = report("wrk-hello.txt");
    for (name, text) in [
        (
            "autocannon",
            "Running 10s test @ http://localhost:3000\n10 connections\n\n┌─────────┬──────┐\n│ Stat    │ 2.5% │\n└─────────┴──────┘\n\n# of samples: 10\n\n30k requests in 10.02s, 4 MB read\n",
        ),
        (
            "autocannon",
            "Running 10s test @ http://localhost:3000\n10 connections with 2 pipelining factor\n",
        ),
        (
            "go-wrk",
            "Running 10s test @ http://localhost:3000\n  10 goroutine(s) running concurrently\n1000 requests in 9.9s, 1.2MB read\nRequests/sec:\t\t101.01\nTransfer/sec:\t\t1.2KB\nFastest Request:\t1ms\n",
        ),
        (
            "Hyperfoil's wrk",
            "Running 10s test @ http://localhost:3000\n  2 threads and 10 connections\n  Thread Stats   Avg      Stdev     Max   +/- Stdev\n    Latency     1.20ms  300.00us    9.00ms   90.00%\n    Req/Sec   900.10     20.10   950.00     70.00\n  9000 requests in 10.0s,  1.20MB read\nRequests/sec: 900.00\nTransfer/sec:  120.00kB\n",
        ),
        (
            "another tool",
            "Running 10s test @ http://localhost:3000\n  Script: x.js\n",
        ),
        (
            "bombardier",
            "Bombarding http://localhost:3000 for 10s using 10 connection(s)\n[====] 10s\nDone!\nStatistics        Avg      Stdev        Max\n  Reqs/sec     9000.10    1000.00   12000.00\n",
        ),
        (
            "weighttp",
            "finished in 0 sec, 81 millisec and 250 microsec, 12307 req/s, 1147 kbyte/s\nrequests: 1000 total, 1000 started, 1000 done, 1000 succeeded, 0 failed, 0 errored\n",
        ),
        (
            "oha with --output-format csv",
            "request-start,DNS,DNS+dialup,Response-delay,request-duration,bytes,status\n0.1,0.1,0.1,0.1,0.1,5,200\n",
        ),
    ] {
        let alone = read(text).expect_err(name).to_string();
        assert!(
            alone.contains(name) && alone.contains("which is not read"),
            "{alone}"
        );
        for whole in [format!("{text}\n```\n{wrk}```\n"), format!("{wrk}\n{text}")] {
            let imported = read(&whole).unwrap_or_else(|error| panic!("{name}: {error}"));
            let rates: Vec<_> = imported.runs.iter().map(Run::valid_rate).collect();
            assert_eq!(rates, [Some(47583.94)], "{name}");
            assert!(
                imported.left_out[0].reason.contains(name),
                "{:?}",
                imported.left_out
            );
            let strays = imported
                .left_out
                .iter()
                .filter(|left| left.reason.contains("resembles"));
            assert_eq!(strays.count(), 0, "{name}: {:?}", imported.left_out);
        }
    }
}

#[test]
fn a_summary_of_k6_without_requests_leaves_the_rest() {
    let text = format!(
        "data_received........: 1 kB 2 kB/s\n\n{}",
        report("ab-hello.txt")
    );
    let imported = read(&text).expect("one report");
    assert_eq!(imported.runs.len(), 1);
    assert_eq!(imported.runs[0].tool, Tool::Ab);
}
