//! The figures of each tool, in the units of published tables.

use deadheat_model::{
    imported::{RunFigures, Tool},
    load::{HttpVersion, Reuse},
};

use crate::support::{report, run, runs};

#[test]
fn ab() {
    let run = run("ab-hello.txt");
    assert_eq!((run.tool, run.place.line), (Tool::Ab, 11));
    assert_eq!(run.target.as_deref(), Some("127.0.0.1:18977/hello"));
    assert_eq!(
        (run.load.connections, run.load.reuse),
        (Some(10), Some(Reuse::PerRequest))
    );
    let expected = RunFigures {
        seconds: Some(0.164),
        complete: Some(500),
        failed: Some(0),
        non_2xx: None,
        requests_per_second: Some(3044.01),
        mean_ms: Some(3.285),
        p50_ms: Some(2.0),
        p99_ms: Some(13.0),
        max_ms: Some(17.0),
        received_bytes: Some(57000),
        body_bytes: Some(6500),
        kib_per_second: Some(338.88),
        server_cpus: None,
    };
    assert_eq!(run.figures, expected);
}

#[test]
fn several_reports_of_ab_in_one_file() {
    let rates: Vec<_> = runs(&report("ab-three.txt"))
        .iter()
        .map(|run| run.figures.requests_per_second)
        .collect();
    assert_eq!(rates.len(), 3);
    assert_eq!(rates[..2], [Some(6632.36), Some(6793.11)]);
}

#[test]
fn hey() {
    let whole = run("hey-half.txt");
    let expected = RunFigures {
        seconds: Some(0.0217),
        complete: Some(200),
        failed: Some(0),
        non_2xx: Some(100),
        requests_per_second: Some(9216.0879),
        mean_ms: Some(0.8),
        p50_ms: Some(0.2),
        p99_ms: Some(4.3),
        max_ms: Some(4.4),
        body_bytes: Some(1800),
        ..RunFigures::default()
    };
    assert_eq!(whole.figures, expected);
    let reset = run("hey-reset.txt").figures;
    assert_eq!((reset.complete, reset.failed), (Some(192), Some(8)));
    let refused = run("hey-refused.txt");
    assert_eq!(refused.figures.failed, Some(20));
    assert_eq!(refused.invalid(), Some("no request was answered"));
}

#[test]
fn wrk() {
    let latency = run("wrk-latency.txt");
    assert_eq!(
        (latency.tool, latency.load.threads, latency.load.connections),
        (Tool::Wrk, Some(2), Some(10))
    );
    let expected = RunFigures {
        seconds: Some(1.0),
        complete: Some(58394),
        requests_per_second: Some(58184.07),
        mean_ms: Some(0.21613),
        p50_ms: Some(0.146),
        p99_ms: Some(2.1),
        max_ms: Some(5.11),
        kib_per_second: Some(8.99 * 1024.0),
        ..RunFigures::default()
    };
    assert_eq!(latency.figures, expected);
    assert_eq!(run("wrk-half.txt").figures.non_2xx, Some(22697));
    assert_eq!(run("wrk-reset.txt").figures.failed, Some(6224));
}

#[test]
fn wrk2() {
    let run = run("wrk2-latency.txt");
    assert_eq!((run.tool, run.load.is_open), (Tool::Wrk2, true));
    let figures = run.figures;
    assert_eq!(
        (figures.p50_ms, figures.p99_ms, figures.max_ms),
        (Some(1.15), Some(2.75), Some(9.03))
    );
    assert_eq!(figures.requests_per_second, Some(2000.2));
}

#[test]
fn oha() {
    let text = run("oha-hello.txt").figures;
    assert_eq!(
        (text.seconds, text.requests_per_second),
        (Some(0.0275), Some(18181.8182))
    );
    assert_eq!(
        (text.mean_ms, text.p50_ms, text.p99_ms, text.max_ms),
        (Some(0.5312), Some(0.375), Some(2.75), Some(4.125))
    );
    assert_eq!(
        (text.complete, text.non_2xx, text.failed),
        (Some(496), Some(16), Some(4))
    );
    let json = run("oha-hello.json").figures;
    assert_eq!(
        (json.mean_ms, json.p50_ms, json.p99_ms, json.max_ms),
        (Some(0.5312), Some(0.375), Some(2.75), Some(4.125))
    );
    assert_eq!(
        (json.complete, json.non_2xx, json.failed),
        (text.complete, text.non_2xx, text.failed)
    );
}

#[test]
fn h2load() {
    let run_of = run("h2load-h1.txt");
    assert_eq!(
        (run_of.load.http, run_of.load.connections),
        (Some(HttpVersion::Http11), Some(10))
    );
    let expected = RunFigures {
        seconds: Some(0.03073),
        complete: Some(500),
        failed: Some(0),
        non_2xx: Some(0),
        requests_per_second: Some(16270.75),
        mean_ms: Some(0.497),
        max_ms: Some(8.63),
        received_bytes: Some(81000),
        body_bytes: Some(6500),
        kib_per_second: Some(2.51 * 1024.0),
        ..RunFigures::default()
    };
    assert_eq!(run_of.figures, expected);
    let timed = run("h2load-timed.txt");
    assert_eq!(
        (timed.load.connections, timed.figures.complete),
        (Some(10), Some(31518))
    );
    // Its `100 failed` are those with an error status.
    let half = run("h2load-half.txt").figures;
    assert_eq!((half.non_2xx, half.failed), (Some(100), Some(0)));
    assert_eq!(run("h2load-reset.txt").figures.failed, Some(172));
}

#[test]
fn h2load_from_1_69_on_has_other_columns() {
    let older = report("h2load-h1.txt");
    let newer = "min         max         median     p95        p99        mean         sd        +/- sd\n\
                 time for request:       20us      8.63ms       310us     900us    4.20ms       497us      1.36ms    93.60%\n\
                 time for connect:       61us       376us       180us     300us     376us       183us        93us    80.00%\n\
                 time to 1st byte:     2.36ms      3.55ms      2.80ms    3.50ms    3.55ms      2.82ms       427us    60.00%\n\
                 req/s           :    1651.89     2156.21     2000.00   2100.00   2156.21     2012.83      197.84    80.00%\n";
    let (head, _) = older
        .split_once("                     min ")
        .expect("a table");
    let figures = &runs(&format!("{head}{newer}"))[0].figures;
    assert_eq!(
        (figures.p50_ms, figures.p99_ms, figures.mean_ms),
        (Some(0.31), Some(4.2), Some(0.497))
    );
}

#[test]
fn k6() {
    let legacy = run("k6-legacy.txt");
    assert_eq!(legacy.load.connections, Some(10));
    let figures = legacy.figures;
    assert_eq!((figures.complete, figures.failed), (Some(1200), Some(15)));
    assert_eq!(
        (figures.mean_ms, figures.p50_ms, figures.max_ms),
        (Some(82.5), Some(80.25), Some(1140.0))
    );
    assert_eq!(figures.requests_per_second, Some(119.523438));
    let compact = run("k6-compact.txt");
    assert_eq!(compact.load.connections, Some(8));
    assert_eq!(
        (compact.figures.complete, compact.figures.failed),
        (Some(45), Some(0))
    );
    let json = run("k6-export.json");
    assert_eq!((json.load.connections, &json.figures), (Some(10), &figures));
    let dropped = "     dropped_iterations.............: 12     1.195234/s\n     http_reqs.";
    let open = report("k6-legacy.txt").replace("     http_reqs.", dropped);
    assert!(runs(&open)[0].load.is_open && !legacy.load.is_open);
}

#[test]
fn hey_keeps_a_million_answers() {
    let report = |answers: u64, rate: &str| {
        format!(
            "Summary:\n  Total:\t10.0000 secs\n  Slowest:\t0.0900 secs\n  Fastest:\t0.0001 secs\n  Average:\t0.0006 secs\n  \
             Requests/sec:\t{rate}\n\nResponse time histogram:\n  0.010 [1000000]\t|■\n\n\nLatency distribution:\n  \
             50% in 0.0003 secs\n\nDetails (average, fastest, slowest):\n  resp wait:\t0.0001 secs, 0.0001 secs, 0.0100 secs\n\n\
             Status code distribution:\n  [200]\t{answers} responses\n\n\n"
        )
    };
    let counted = |text: &str| {
        let run = &runs(text)[0];
        let figures = &run.figures;
        let is_blind = run.warnings.iter().any(|one| one.id == "no-statuses");
        (figures.complete, figures.mean_ms, figures.p50_ms, is_blind)
    };
    let exactly = counted(&report(1_000_000, "100000.0000"));
    assert_eq!(exactly, (Some(1_000_000), Some(0.6), Some(0.3), false));
    // Its average is the sum of all times, divided by the number of those that it keeps.
    let more = counted(&report(1_000_000, "150000.0000"));
    assert_eq!(more, (None, None, Some(0.3), true));
    let all_statuses = counted(&report(1_500_000, "150000.0000"));
    assert_eq!(all_statuses, (Some(1_500_000), None, Some(0.3), false));
}

#[test]
fn vegeta() {
    let text = run("vegeta-hello.txt");
    // It prints the rate that was sent, 200.83.
    assert_eq!((text.load.rate, text.load.is_open), (Some(200.0), true));
    let figures = &text.figures;
    assert_eq!(figures.seconds, Some(0.996272));
    assert_eq!(
        (figures.mean_ms, figures.p50_ms, figures.p99_ms),
        (Some(0.529813), Some(0.451193), Some(3.402))
    );
    assert_eq!(
        (figures.complete, figures.non_2xx, figures.failed),
        (Some(200), Some(0), Some(0))
    );
    let json = run("vegeta-hello.json").figures;
    assert_eq!(
        (json.mean_ms, json.p50_ms, json.p99_ms),
        (Some(0.529813), Some(0.451193), Some(3.401517))
    );
    assert_eq!(json.seconds, Some(0.996272485));
    assert_eq!(run("vegeta-half.txt").figures.non_2xx, Some(50));
    assert_eq!(
        run("vegeta-refused.txt").invalid(),
        Some("no request was answered")
    );
}

/// What the tools print today, and what it says at a glance.
#[test]
fn newer_versions() {
    let oha = run("oha-1.16.txt").figures;
    let read = (
        oha.complete,
        oha.requests_per_second,
        oha.p99_ms,
        oha.max_ms,
    );
    assert_eq!(
        read,
        (Some(2000), Some(50738.652), Some(3.673), Some(4.1823))
    );
    let oha = run("oha-1.16.json").figures;
    let rate = oha.requests_per_second.unwrap_or_default();
    assert!((rate - 16185.305956341497).abs() < 1e-6, "{rate}");
    assert_eq!((oha.complete, oha.body_bytes), (Some(2000), Some(26000)));
    // It writes two signs behind each percentage.
    let hey = run("hey-0.1.5.txt").figures;
    let read = (
        hey.complete,
        hey.requests_per_second,
        hey.p50_ms,
        hey.p99_ms,
    );
    assert_eq!(read, (Some(2000), Some(20053.3375), Some(0.2), Some(4.1)));
    for (name, rate, count) in [
        ("k6-1.8.txt", 15394.550972, 30792),
        ("k6-1.8-legacy.txt", 18247.353048, 36515),
        ("k6-1.8-export.json", 18247.353048, 36515),
    ] {
        let run = run(name);
        let read = (run.figures.requests_per_second, run.figures.complete);
        let rounded = read.0.map(|rate| (rate * 1e6).round() / 1e6);
        assert_eq!((rounded, read.1), (Some(rate), Some(count)), "{name}");
        let label = run.label.unwrap_or_default();
        assert!(!label.contains(['█', '✓']), "{name}: {label}");
    }
    let wrk2 = run("wrk2-hello.txt").figures;
    let read = (
        wrk2.complete,
        wrk2.requests_per_second,
        wrk2.p50_ms,
        wrk2.p99_ms,
        wrk2.max_ms,
    );
    assert_eq!(
        read,
        (
            Some(23956),
            Some(1996.0),
            Some(0.816),
            Some(11.06),
            Some(16.74)
        )
    );
}
