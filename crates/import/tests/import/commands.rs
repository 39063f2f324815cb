//! Which command printed a report.

use deadheat_import::import;
use deadheat_model::{imported::Run, load::HttpVersion};

use crate::support::{joined, report, runs};

/// Connections, requests, rate, and whether the loop is open.
type Loaded = (Option<u32>, Option<u64>, Option<f64>, bool);

fn loads(text: &str) -> Vec<Loaded> {
    let of = |run: &Run| {
        let load = &run.load;
        (load.connections, load.requests, load.rate, load.is_open)
    };
    runs(text).iter().map(of).collect()
}

const NONE: Loaded = (None, None, None, false);

#[test]
fn a_command_is_not_that_of_the_next_report_with_a_name() {
    let half = report("hey-half.txt");
    let reset = report("hey-reset.txt");
    // Both are of 200 requests, so nothing in the second report rules the command out.
    let text = format!(
        "# A\n```\n$ hey -n 200 -c 50 http://a.example/\n{half}```\n# B, with 100 connections\n```\n{reset}```\n"
    );
    assert_eq!(loads(&text), [(Some(50), Some(200), None, false), NONE]);
    // Above the names, it holds for all.
    let text = format!(
        "hey -n 200 -c 50 http://a.example/\n\n# A\n```\n{half}```\n# B\n```\n{reset}```\n"
    );
    let both = (Some(50), Some(200), None, false);
    assert_eq!(loads(&text), [both, both]);
}

#[test]
fn a_command_that_the_figures_rule_out_is_not_used() {
    for (name, command) in [
        ("hey-half.txt", "hey -n 400 -c 50 http://a.example/"),
        ("hey-half.txt", "hey -c 50 -z 30s http://a.example/"),
        ("oha-0.3.txt", "oha -n 1000 -c 50 http://a.example/"),
        ("oha-0.3.txt", "oha -z 10s -c 50 http://a.example/"),
        ("oha-0.3.txt", "oha -n 200 -q 100 -c 50 http://a.example/"),
        ("h2load-0.6.txt", "h2load -n 500 -c 10 http://a.example/"),
    ] {
        let text = format!("# A\n$ {command}\n{}", report(name));
        let run = &runs(&text)[0];
        assert_eq!(run.command, None, "{command}");
        let warnings = joined(&run.warnings);
        assert!(
            warnings.contains("The command above is of another run"),
            "{command}: {warnings}"
        );
    }
    let hello = report("wrk-hello.txt");
    for command in [
        "wrk -t2 -c100 -d1s http://127.0.0.1:18977/hello",
        "wrk -t4 -c10 -d1s http://127.0.0.1:18977/hello",
        "wrk -t2 -c10 -d30s http://127.0.0.1:18977/hello",
        "wrk -t2 -c10 -d1s http://127.0.0.1:18977/other",
        "wrk -t2 -c10 -d1s http://127.0.0.1:8080/hello",
        "wrk2 -t2 -c10 -d1s -R100 http://127.0.0.1:18977/hello",
    ] {
        let run = &runs(&format!("$ {command}\n{hello}"))[0];
        assert_eq!((&run.command, run.load.rate), (&None, None), "{command}");
    }
    let command = "wrk -t2 -c10 -d1s http://localhost:18977/hello";
    let run = &runs(&format!("$ {command}\n{hello}"))[0];
    assert_eq!(run.command.as_deref(), Some(command));
    // wrk2 calibrates itself, and wrk has no rate.
    let wrk2 = report("wrk2-hello.txt");
    let run = &runs(&format!(
        "$ wrk -t1 -c10 -d12s http://127.0.0.1:18080/\n{wrk2}"
    ))[0];
    assert_eq!(run.command, None);
    let uncalibrated: String = wrk2
        .lines()
        .filter(|line| {
            !line.contains("calibration") && !line.contains('#') && !line.contains("HdrHistogram")
        })
        .take_while(|line| !line.contains("50.000%"))
        .chain(
            wrk2.lines()
                .skip_while(|line| !line.contains("requests in")),
        )
        .map(|line| format!("{line}\n"))
        .collect();
    let run = &runs(&format!(
        "$ wrk2 -t1 -c10 -d12s -R2000 http://127.0.0.1:18080/\n{uncalibrated}"
    ))[0];
    assert_eq!((run.load.rate, run.load.is_open), (None, false));
}

#[test]
fn a_command_has_the_requests_at_once_and_the_loop() {
    let of = |name: &str, command: &str| {
        let text = format!("$ {command}\n{}", report(name));
        let run = runs(&text).swap_remove(0);
        assert_eq!(run.command.as_deref(), Some(command));
        run.load
    };
    let url = "http://127.0.0.1:18977/hello";
    let pipelined = of(
        "h2load-h1.txt",
        &format!("h2load --h1 -n 500 -m 32 -c 10 {url}"),
    );
    assert_eq!(pipelined.pipeline, Some(32));
    let usual = of("h2load-h1.txt", &format!("h2load --h1 -n 500 -c 10 {url}"));
    assert_eq!(
        (usual.pipeline, usual.http),
        (Some(1), Some(HttpVersion::Http11))
    );
    let streams = of(
        "oha-hello.txt",
        &format!("oha --http2 -n 500 -c 10 -p 4 {url}"),
    );
    assert_eq!((streams.pipeline, streams.http), (Some(4), None));
    let corrected = format!("oha -n 500 -c 10 -q 20000 --latency-correction {url}");
    let corrected = of("oha-hello.txt", &corrected);
    assert_eq!((corrected.rate, corrected.is_open), (Some(20_000.0), true));
    let limited = of("oha-hello.txt", &format!("oha -n 500 -c 10 -q 20000 {url}"));
    assert_eq!((limited.rate, limited.is_open), (None, false));
    for (rate, expected) in [("200", 200.0), ("200/s", 200.0), ("12000/1m", 200.0)] {
        let command = format!("vegeta attack -rate={rate} -duration=1s");
        assert_eq!(
            of("vegeta-hello.txt", &command).rate,
            Some(expected),
            "{command}"
        );
    }
}

#[test]
fn a_url_in_a_header_is_not_the_target() {
    let url = "http://127.0.0.1:18977/hello";
    for command in [
        format!("ab -H \"Origin: http://example.com\" -n 500 -c 10 {url}"),
        format!("ab -n 500 -c 10 -H Referer:http://example.com/a {url}"),
    ] {
        let run = &runs(&format!("$ {command}\n{}", report("ab-hello.txt")))[0];
        assert_eq!(run.command.as_deref(), Some(command.as_str()));
    }
}

#[test]
fn a_given_command_that_does_not_fit_is_said() {
    let files = [("x".to_owned(), report("hey-half.txt").into_bytes())];
    let imported = import(&files, Some("hey -n 500 -c 10 http://a.example/")).expect("a report");
    let run = &imported.runs[0];
    assert_eq!(run.load.connections, None);
    assert!(joined(&run.warnings).contains("The given command is of another run"));
}
