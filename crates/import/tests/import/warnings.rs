//! What is said against reports.

use deadheat_model::Warning;

use crate::support::{file, joined, read, report, run};

/// The only run's warnings, as one text.
fn of(name: &str) -> String {
    joined(&run(name).warnings)
}

#[test]
fn errors_are_named_first() {
    for (name, expected) in [
        ("ab-broken.txt", "Every answer was an error"),
        (
            "ab-length.txt",
            "133 of 200 answers were not as long as the first",
        ),
        (
            "hey-half.txt",
            "100 of 200 answers were errors by their status, and the rate counts them",
        ),
        ("hey-refused.txt", "No request was answered"),
        ("hey-reset.txt", "Requests failed (Get"),
        ("wrk-half.txt", "22,697 of 45,393 answers were errors"),
        ("wrk-reset.txt", "Requests failed (read: 6,224)"),
        ("h2load-half.txt", "100 of 200 answers were errors"),
        ("oha-hello.txt", "16 of 496 answers were errors"),
        (
            "k6-legacy.txt",
            "15 of 1,200 requests failed, and the rate counts them",
        ),
        (
            "vegeta-half.txt",
            "50 of 100 answers were errors by their status, and the rate excludes them",
        ),
        ("vegeta-refused.txt", "No request was answered"),
    ] {
        assert!(of(name).starts_with(expected), "{name}: {}", of(name));
    }
    assert!(of("h2load-reset.txt").contains("stopped after 28 of 200 requests"));
}

#[test]
fn a_run_in_order_has_few_warnings() {
    assert_eq!(of("wrk-latency.txt"), "");
    assert_eq!(of("h2load-timed.txt"), "");
    assert!(of("ab-hello.txt").starts_with("The run took 0.164 s"));
}

#[test]
fn a_rate_that_was_not_reached_is_named() {
    let command = "wrk2 -t2 -c100 -d30s -R4000 http://127.0.0.1:8080/hello";
    let text = format!("$ {command}\n{}", report("wrk2-latency.txt"));
    let warnings = joined(&read(&text).expect("a report").runs[0].warnings);
    assert!(
        warnings.contains("Only 2,000 of the 4,000 requests/s"),
        "{warnings}"
    );
}

#[test]
fn a_rate_is_reached_if_only_the_last_answer_is_late() {
    let text = "Requests      [total, rate, throughput]  500, 100.20, 96.34\n\
                Duration      [total, attack, wait]      5.19s, 4.99s, 200ms\n\
                Latencies     [mean, 50, 95, 99, max]    200ms, 200ms, 201ms, 202ms, 203ms\n\
                Bytes In      [total, mean]              2600, 13.00\n\
                Bytes Out     [total, mean]              0, 0.00\n\
                Success       [ratio]                    100.00%\n\
                Status Codes  [code:count]               200:500\n\
                Error Set:\n";
    let warnings = |text: &str| joined(&read(text).expect("a report").runs[0].warnings);
    assert_eq!(warnings(text), "");
    let slow = text.replace("5.19s, 4.99s", "9.99s, 4.99s");
    assert!(warnings(&slow).contains("Only 51 of the 100 requests/s"));
}

#[test]
fn only_wrk_estimates_the_waits_that_a_closed_loop_lacks_and_k6_may_be_an_open_one() {
    let of = |name: &str| joined(&read(&report(name)).expect("a report").warnings);
    assert!(of("wrk-hello.txt").contains("wrk's only estimate it"));
    assert!(!of("k6-legacy.txt").contains("coordinated omission"));
}

#[test]
fn what_holds_for_the_published_comparisons_is_found() {
    let of = |id: &str| {
        let imported = read(&file(&format!("published/{id}.md"))).expect("reports");
        let of_runs = imported.runs.iter().flat_map(|run| &run.warnings);
        of_runs
            .chain(&imported.warnings)
            .map(Warning::in_full)
            .collect::<Vec<_>>()
            .join("\n")
    };
    let has = |id: &str, expected: &[&str]| {
        for expected in expected {
            assert!(of(id).contains(expected), "{id}: {expected}: {}", of(id));
        }
    };
    has(
        "go-nim-python",
        &[
            "The report does not have the statuses of all answers",
            "35 bytes at Nim, 12 bytes at the others",
        ],
    );
    has(
        "webstacks-postgres-early",
        &[
            "Every answer was an error",
            "doubted by ab itself",
            "One run of a server",
            "coordinated omission",
        ],
    );
    has(
        "webstacks-postgres-and-slow-api",
        &[
            "200 connections at Go, 100 connections at the others",
            "Within 3 % of the fastest",
            "shared a machine",
        ],
    );
    has(
        "payload-go-vs-node",
        &["The one CPU that ab uses", "it may be the limit"],
    );
}

#[test]
fn a_time_that_a_tool_rounds_to_zero_is_none() {
    let (run, exact) = (run("ab-posted.txt"), run("ab-hello.txt"));
    let figures = &run.figures;
    assert_eq!(
        (figures.p50_ms, figures.p99_ms, figures.max_ms),
        (None, Some(1.0), Some(5.0))
    );
    let says = |warning: &Warning| warning.id == "rounded-to-zero";
    assert!(run.warnings.iter().any(says), "{:?}", run.warnings);
    assert!(!exact.warnings.iter().any(says), "{:?}", exact.warnings);
}

#[test]
fn three_runs_of_each_are_enough() {
    let imported = read(&report("ab-three.txt")).expect("three reports");
    assert!(
        !joined(&imported.warnings).contains("chance"),
        "{:?}",
        imported.warnings
    );
}
