//! What the method finds is in every format.

use deadheat_model::SessionRecord;
use deadheat_report::{View, json};
use deadheat_stats::{Analysis, analyse, limit::Limit, verdict::TrialVerdict};

use crate::{cases, formats::shown, method_cases};

/// All formats as their words, JSON as it is.
fn pages(record: &SessionRecord, analysis: &Analysis) -> [(&'static str, String); 4] {
    let [text, markdown, html] = shown(&View::new(record, analysis));
    [
        text,
        markdown,
        html,
        ("json", json(record, analysis).unwrap()),
    ]
}

fn all_say(record: &SessionRecord, words: &[&str]) {
    let analysis = analyse(record);
    for (format, page) in pages(record, &analysis) {
        for word in words {
            assert!(page.contains(word), "{format} does not say: {word}");
        }
    }
}

#[test]
fn every_format_says_what_a_noisy_session_found() {
    all_say(
        &method_cases::noisy(),
        &[
            // Void trials and the cell that has no others.
            "Disturbed each time, and without a result: json, 50 connections (python-flask:gunicorn)",
            "all of its 12 trials were void",
            "void if other programs used more than 5.0 % of the machine's CPU time",
            // The ceiling.
            "near the null server's rate",
            "the null server, which only answers, reached 2,600 requests/s",
            // The pair that differs.
            "differs from itself: go-nethttp at json, 50 connections",
            "go-nethttp against itself is 1.04",
            // The pause, the doctor, the plan, the sampling.
            "Block 2 lies on both sides of a pause",
            "governor powersave on CPUs 0 and 1 and other load 8.2 %",
            "sudo cpupower frequency-set -g performance",
            "--budget 4m has room for 7 blocks of 2 s",
            "warm-ups of 200 ms",
            "sampling the servers took 0.3 % of a CPU (at most 0.3 % in a trial)",
        ],
    );
    let record = method_cases::noisy();
    let view = View::new(&record, &analyse(&record));
    for (format, page) in pages(&record, &analyse(&record)).iter().take(3) {
        for words in [
            "3 of 7 trials were void and repeated",
            "void: other programs used 12.0 % of the machine's CPU time",
            "not steady",
            "repetition 1",
            "null server",
            "go-nethttp (A/A)",
        ] {
            let is_raw = *format == "text" && !words.contains("of 7") && words != "not steady";
            assert!(is_raw || page.contains(words), "{format}: {words}");
        }
    }
    let cells = &view.groups()[0].cells;
    assert_eq!(cells.last().unwrap().target, "null server");
}

#[test]
fn every_format_says_what_open_loops_found() {
    all_say(
        &method_cases::latency(),
        &[
            "its capacity is not known",
            "are in a dead heat for the first place, the shortest being a response time of",
            "the server did not keep up with the offered rate",
            "go-nethttp:1cpu",
            "70 % of the slowest stack's capacity",
        ],
    );
    let record = method_cases::latency();
    let analysis = analyse(&record);
    for (format, page) in pages(&record, &analysis).iter().take(3) {
        for words in [
            "1,350",
            "Poisson arrivals",
            "p99.9 is not given anywhere",
            "at 90 % of its capacity: did not keep up",
            "1 of 8 trials was void and repeated",
            "by p99 of the response time",
        ] {
            assert!(page.contains(words), "{format}: {words}");
        }
    }
    let view = View::new(&record, &analysis);
    assert_eq!(view.sections.len(), 2, "one for all open loops");
    assert_eq!(view.groups().len(), analysis.groups.len());
    let outcomes: serde_json::Value =
        serde_json::from_str(&json(&record, &analysis).unwrap()).unwrap();
    for (index, group) in analysis.groups.iter().enumerate() {
        assert_eq!(outcomes["outcomes"][index]["point"], group.point.id);
    }
}

#[test]
fn no_time_is_called_latency_alone() {
    for name in ["latency", "plausible"] {
        for (format, page) in shown(&cases::named(name).view) {
            let page = page.to_lowercase().replace("#latency-", "");
            assert!(!page.contains("latency"), "{name} {format}: {page}");
        }
    }
}

#[test]
fn every_reason_for_a_limited_generator_is_told_with_its_figures() {
    let table = [
        (
            Limit::Worker { busy: 0.93 },
            "a busy worker",
            "a worker was busy for 93.0 % of its CPU",
        ),
        (
            Limit::Cpus {
                busy: 0.97,
                server: 0.5,
            },
            "busy CPUs beside a server with time left",
            "kept their CPUs busy for 97.0 % of the time, while the server had time left",
        ),
        (
            Limit::Ceiling {
                share: 0.9,
                ceiling_per_second: 61_234.0,
                same_block: false,
            },
            "near the null server's rate",
            "90.0 % of the null server's 61,200 requests/s (median of the other blocks)",
        ),
        (
            Limit::Little {
                connections: 50,
                in_flight: 31.0,
            },
            "connections that waited for the generator",
            "Little's law: 50 connections, but throughput × mean service time is 31.0",
        ),
        (
            Limit::Late {
                offered: 20_000,
                sent_share: 0.97,
                percent: 99.0,
                send_lag_seconds: 0.002,
            },
            "requests not sent in time",
            "97.0 % of 20,000 requests were sent, though connections were free",
        ),
        (
            Limit::SendLag {
                percent: 99.0,
                send_lag_seconds: 0.002,
                response_share: 0.6,
            },
            "late requests",
            "p99 of the send lag was 2.00 ms, 60.0 % of the response time",
        ),
    ];
    for (limit, short, long) in table {
        let record = method_cases::lost_ceiling();
        let mut analysis = analyse(&record);
        let cell = &mut analysis.groups[0].cells[0];
        cell.verdict = deadheat_stats::verdict::CellVerdict::LowerBound {
            limited: 1,
            of: 3,
            limits: vec![limit],
        };
        cell.trials[0].verdict = TrialVerdict::GeneratorLimited {
            limits: vec![limit],
        };
        for (format, page) in pages(&record, &analysis) {
            assert!(page.contains(short), "{format}: {short}");
            // A terminal shows no single trials.
            let has_trials = matches!(format, "markdown" | "html");
            assert!(!has_trials || page.contains(long), "{format}: {long}");
        }
    }
}
