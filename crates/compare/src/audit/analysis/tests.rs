use deadheat_import::import;

use super::*;

/// A row of HttpArena's table at 100 connections: the mean time in µs is that of `in_use` connections.
fn row(name: &str, rate: u32, in_use: f64, cpu: u32, errors: u32) -> String {
    let mean = in_use * 1e6 / f64::from(rate);
    let all = rate * 5;
    format!(
        r#"{{"framework": "{name}", "rps": {rate}, "avg_latency": "{mean:.3}us", "cpu": "{cpu}.0%",
            "connections": 100, "duration": "5s", "pipeline": 1, "bandwidth": "{rate}.00KB/s",
            "status_2xx": {}, "status_3xx": 0, "status_4xx": 0, "status_5xx": {errors}}}"#,
        all - errors
    )
}

fn audit_of(files: &[(&str, Vec<String>)], assumptions: Assumptions) -> Audit {
    let bytes = |rows: &Vec<String>| format!("[{}]", rows.join(",\n")).into_bytes();
    let files: Vec<(String, Vec<u8>)> = files
        .iter()
        .map(|(name, rows)| ((*name).to_owned(), bytes(rows)))
        .collect();
    audit(&import(&files, None).expect("whole files"), assumptions)
}

fn finding<'a>(audit: &'a Audit, id: &str) -> Option<&'a Warning> {
    audit.findings.iter().find(|finding| finding.id == id)
}

/// Of how many places a finding is; 0 without it.
fn places_of(audit: &Audit, id: &str) -> u64 {
    finding(audit, id).map_or(0, |finding| finding.evidence["places"].as_u64().unwrap())
}

#[test]
fn ranks_are_as_wide_as_the_spread_leaves_open() {
    // 1000 and 980 are close, so are 980 and 960, and 1000 and 960 are not; 500 is alone.
    let rows = [("a", 1000), ("b", 980), ("c", 960), ("d", 500)];
    let rows = rows.map(|(name, rate)| row(name, rate, 99.0, 6400, 0));
    let found = audit_of(&[("json-100.json", rows.into())], Assumptions::default());
    let places = &found.tests[0].places;
    let ranks = places.iter().map(|place| place.ranks.unwrap());
    let ranks: Vec<(usize, usize)> = ranks.map(|ranks| (ranks.best, ranks.worst)).collect();
    assert_eq!(ranks, [(1, 2), (1, 3), (2, 3), (4, 4)]);
    assert_eq!((found.places, found.proven), (4, 1));
    assert_eq!((found.ranked, places_of(&found, "close")), (4, 3));
    assert_eq!(found.spread.source, SpreadSource::Assumed);
    let narrow = Assumptions {
        spread: Some(0.01),
        cpus: None,
    };
    let rows = [("a", 1000), ("b", 980), ("c", 960), ("d", 500)];
    let rows = rows.map(|(name, rate)| row(name, rate, 99.0, 6400, 0));
    assert_eq!(
        audit_of(&[("json-100.json", rows.into())], narrow).proven,
        4
    );
    // A difference of the spread itself is not more than the spread.
    let rows = [("a", 103_000), ("b", 100_000)];
    let rows = rows.map(|(name, rate)| row(name, rate, 99.0, 6400, 0));
    let found = audit_of(&[("json-100.json", rows.into())], Assumptions::default());
    assert_eq!((found.proven, places_of(&found, "close")), (0, 2));
}

#[test]
fn repeated_figures_are_the_spread_and_copies_are_no_repeats() {
    let name = |place: u32| format!("s{place}");
    let rows = |change: f64| -> Vec<String> {
        let rate = |place: u32| (f64::from(place * 10_000) * change) as u32;
        let of_place = |place| row(&name(place), rate(place), 99.0, 6400, 0);
        (1..=12).map(of_place).collect()
    };
    let files = [
        ("a/json-100.json", rows(1.0)),
        ("b/json-100.x.json", rows(1.01)),
    ];
    let found = audit_of(&files, Assumptions::default());
    assert_eq!(found.spread.source, SpreadSource::Repeats);
    assert_eq!(found.spread.repeats, 12);
    assert!(
        (found.spread.share - 0.02906).abs() < 1e-4,
        "{:?}",
        found.spread
    );
    assert_eq!(places_of(&found, "one-run"), 0);
    assert_eq!(found.tests.len(), 1);
    let mut fewer = rows(1.01);
    fewer.truncate(11);
    let later = [files[0].clone(), ("b/json-100.json", fewer)];
    assert_eq!(audit_of(&later, Assumptions::default()).places, 11);
    let twice = [
        ("a/json-100.json", rows(1.0)),
        ("b/json-100.json", rows(1.0)),
    ];
    let found = audit_of(&twice, Assumptions::default());
    assert_eq!((found.spread.repeats, found.places), (0, 12));
    assert_eq!(places_of(&found, "one-run"), 12);
}

#[test]
fn littles_law_has_a_bound_on_both_sides() {
    let at = |in_use: f64| {
        let rows = vec![row("a", 10_000, in_use, 6400, 0)];
        audit_of(&[("json-100.json", rows)], Assumptions::default())
    };
    let checks = |in_use: f64| {
        let found = at(in_use);
        (
            places_of(&found, "impossible"),
            places_of(&found, "idle-connections"),
        )
    };
    assert_eq!(checks(104.0), (0, 0));
    assert_eq!(checks(106.0), (1, 0));
    assert_eq!(checks(81.0), (0, 0));
    assert_eq!(checks(79.0), (0, 1));
    let rows = vec![row("a", 10_000, 5000.0, 6400, 0)];
    let h2 = audit_of(&[("json-h2c-100.json", rows)], Assumptions::default());
    assert_eq!(places_of(&h2, "impossible"), 0, "streams are not recorded");
    assert_eq!(places_of(&h2, "no-law"), 1);
    // wrk's mean is too high, if anything.
    let at = |in_use: f64| {
        let rows = vec![row("a", 10_000, in_use, 6400, 0)];
        audit_of(&[("json-tls-100.json", rows)], Assumptions::default())
    };
    let found = at(106.0);
    let checks = (places_of(&found, "impossible"), places_of(&found, "no-law"));
    assert_eq!(checks, (0, 1));
    assert_eq!(places_of(&at(79.0), "idle-connections"), 1);
}

#[test]
fn a_faulty_place_has_no_rank_and_the_others_are_ranked_without_it() {
    let rows = vec![
        row("a", 10_000, 99.0, 6400, 0),
        row("wrong", 9_900, 99.0, 6400, 47_520),
        row("failed", 6_000, 99.0, 6400, 30_000),
        row("b", 5_000, 99.0, 6400, 0),
    ];
    let found = audit_of(&[("json-100.json", rows)], Assumptions::default());
    assert_eq!((found.places, found.sound, found.proven), (4, 2, 2));
    let errors = &finding(&found, "errors").unwrap().sentence;
    assert!(
        errors.contains("96.0 %") && errors.contains("as throughput"),
        "{errors}"
    );
    assert_eq!(places_of(&found, "no-rate"), 1);
    let places = found.tests[0].places.iter();
    let ranks: Vec<_> = places
        .map(|place| (place.name.as_str(), place.ranks.map(|ranks| ranks.best)))
        .collect();
    let expected = [
        ("a", Some(1)),
        ("b", Some(2)),
        ("wrong", None),
        ("failed", None),
    ];
    assert_eq!(ranks, expected);
}

/// The audit of three servers in two files, of which `a` has these rates and errors.
fn audit_of_two(before: (u32, u32), after: (u32, u32)) -> Audit {
    let rows = |(rate, errors): (u32, u32), change: u32| {
        vec![
            row("a", rate, 99.0, 6400, errors),
            row("b", 50_000 + change, 99.0, 6400, 0),
            row("c", 20_000 + change, 99.0, 6400, 0),
        ]
    };
    let files = [
        ("x/json-100.json", rows(before, 0)),
        ("y/json-100.json", rows(after, 100)),
    ];
    audit_of(
        &files,
        Assumptions {
            spread: Some(0.03),
            cpus: None,
        },
    )
}

#[test]
fn a_suites_places_are_those_of_its_last_file() {
    let place = |found: &Audit| {
        let mut places = found.tests[0].places.iter();
        places.find(|place| place.name == "a").unwrap().clone()
    };
    let fell = audit_of_two((100_000, 0), (10_000, 0));
    assert_eq!(place(&fell).requests_per_second, Some(10_000.0));
    assert_eq!(place(&fell).caveats, ["changed"]);
    assert_eq!((fell.proven, places_of(&fell, "changed")), (2, 1));
    let failed = audit_of_two((100_000, 0), (100_000, 500_000));
    assert_eq!(place(&failed).caveats, ["no-rate"]);
    let mended = audit_of_two((100_000, 250_000), (101_000, 0));
    assert_eq!((place(&mended).errors, mended.proven), (Some(0.0), 3));
}

#[test]
fn few_repeats_widen_the_spread_and_a_name_is_in_a_file_once() {
    let file = |rates: [u32; 3]| {
        let names = ["a", "b", "c"].into_iter().zip(rates);
        names
            .map(|(name, rate)| row(name, rate, 99.0, 6400, 0))
            .collect()
    };
    let files = [
        ("x/json-100.json", file([60_000, 90_000, 20_000])),
        ("y/json-100.json", file([70_000, 80_000, 20_200])),
    ];
    let found = audit_of(&files, Assumptions::default());
    assert_eq!(found.spread.source, SpreadSource::Largest);
    assert!(
        (found.spread.share - 1.0 / 6.0).abs() < 1e-9,
        "{:?}",
        found.spread
    );
    assert_eq!(found.proven, 1);
    let near = [
        ("x/json-100.json", file([60_000, 90_000, 20_000])),
        ("y/json-100.json", file([60_000, 90_000, 20_080])),
    ];
    let spread = audit_of(&near, Assumptions::default()).spread;
    assert_eq!((spread.is_least(), spread.shown().as_str()), (true, "3 %"));
    let twice = vec![
        row("a", 90_000, 99.0, 6400, 0),
        row("a", 50_000, 99.0, 6400, 0),
        row("b", 20_000, 99.0, 6400, 0),
    ];
    let found = audit_of(&[("json-100.json", twice)], Assumptions::default());
    assert_eq!((places_of(&found, "twice"), found.proven), (1, 0));
    let huge = row("a", 90_000, 99.0, 6400, 0)
        .replace("\"status_4xx\": 0", "\"status_4xx\": 18446744073709551615");
    let huge = huge.replace("\"status_5xx\": 0", "\"status_5xx\": 18446744073709551615");
    let found = audit_of(&[("json-100.json", vec![huge])], Assumptions::default());
    assert_eq!(found.places, 1);
}

#[test]
fn saturation_is_judged_by_the_busiest_servers_or_the_given_cpus() {
    let rows = |busy: usize| -> Vec<String> {
        let cpu = |place| if place < busy { 6400 } else { 5000 };
        let of_place = |place| {
            row(
                &format!("s{place}"),
                1000 + place as u32,
                99.0,
                cpu(place),
                0,
            )
        };
        (0..12).map(of_place).collect()
    };
    let found = |busy: usize, cpus: Option<u32>| {
        let assumptions = Assumptions { spread: None, cpus };
        let found = audit_of(&[("json-100.json", rows(busy))], assumptions);
        places_of(&found, "idle-server")
    };
    assert_eq!(found(4, None), 8);
    assert_eq!(found(0, None), 0, "nobody used more");
    assert_eq!(found(0, Some(64)), 12);
    assert_eq!(found(0, Some(60)), 0);
}

#[test]
fn counts_that_do_not_fit_and_answers_without_content_are_faults() {
    let mut rows: Vec<String> = (0..12)
        .map(|place| row(&format!("s{place}"), 1000 + place * 100, 99.0, 6400, 0))
        .collect();
    rows[3] = rows[3].replace("\"duration\": \"5s\"", "\"duration\": \"15s\"");
    rows[5] = rows[5].replace("1500.00KB/s", "140.00KB/s");
    let found = audit_of(&[("json-100.json", rows)], Assumptions::default());
    assert_eq!(places_of(&found, "miscounted"), 1);
    assert_eq!(places_of(&found, "short-answers"), 1);
    let doubted = |name: &str| {
        let mut places = found.tests[0].places.iter();
        places
            .find(|place| place.name == name)
            .unwrap()
            .caveats
            .clone()
    };
    assert_eq!(doubted("s3"), ["miscounted"]);
    assert_eq!(doubted("s5"), ["short-answers"]);
}

#[test]
fn a_tool_that_prints_errors_only_if_there_are_some_is_not_blind() {
    let report = "Running 1s test @ http://127.0.0.1/\n  2 threads and 10 connections\n  \
        Thread Stats   Avg      Stdev     Max   +/- Stdev\n    \
        Latency     1.10ms  345.11us   5.11ms   96.93%\n    \
        Req/Sec    29.33k     2.93k   32.47k    90.00%\n  \
        9000 requests in 1.00s, 9.02MB read\n\
        Requests/sec: 9000.00\nTransfer/sec:      8.99MB\n";
    let files = [("go.txt".to_owned(), report.as_bytes().to_vec())];
    let found = audit(&import(&files, None).unwrap(), Assumptions::default());
    assert_eq!(places_of(&found, "no-statuses"), 0);
    assert_eq!(
        (found.ranked, found.tests[0].places[0].errors),
        (0, Some(0.0))
    );
    assert_eq!(found.tests[0].name, "/, 10 connections");
}

/// A report of wrk of ten seconds and 100 connections with this rate and mean time, and `errors`, a line or nothing.
fn wrk(port: u16, rate: u32, mean: &str, errors: &str) -> String {
    format!(
        "Running 10s test @ http://127.0.0.1:{port}/json\n  2 threads and 100 connections\n  Thread Stats   Avg      Stdev     \
         Max   +/- Stdev\n    Latency     {mean}    0.10ms   5.00s   90.00%\n    Req/Sec    50.00k     1.00k   60.00k    \
         70.00%\n  {} requests in 10.00s, 100.00MB read\n{errors}Requests/sec: {rate}.00\nTransfer/sec:     10.00MB\n",
        rate * 10
    )
}

/// A report of hey of ten seconds with these answers and failed requests.
fn hey(average: &str, answers: u32, failed: u32) -> String {
    let rate = (answers + failed) / 10;
    let errors = match failed {
        0 => String::new(),
        failed => format!("Error distribution:\n  [{failed}]\tconnection refused\n\n"),
    };
    format!(
        "\nSummary:\n  Total:\t10.0000 secs\n  Slowest:\t0.0900 secs\n  Fastest:\t0.0001 secs\n  Average:\t{average} secs\n  \
         Requests/sec:\t{rate}.0000\n\nResponse time histogram:\n  0.010 [{answers}]\t|■\n\n\nLatency distribution:\n  \
         50% in 0.0002 secs\n  99% in 0.0800 secs\n\nDetails (average, fastest, slowest):\n  \
         resp wait:\t0.0001 secs, 0.0001 secs, 0.0100 secs\n\nStatus code distribution:\n  [200]\t{answers} responses\n\n\
         {errors}\n\n"
    )
}

/// The audit of reports, each in a file that is named after its place.
fn audit_of_reports(reports: &[String], command: Option<&str>, spread: Option<f64>) -> Audit {
    let files: Vec<(String, Vec<u8>)> = reports
        .iter()
        .zip(1..)
        .map(|(report, place)| (format!("{place}.txt"), report.clone().into_bytes()))
        .collect();
    let assumptions = Assumptions { spread, cpus: None };
    audit(
        &import(&files, command).expect("whole reports"),
        assumptions,
    )
}

/// The audit of one report.
fn audit_of_report(report: &str) -> Audit {
    audit_of_reports(&[report.to_owned()], None, None)
}

/// A report that a tool printed.
macro_rules! printed {
    ($name:literal) => {
        include_str!(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../import/tests/import/reports/",
            $name
        ))
    };
}

#[test]
fn requests_that_failed_are_errors_in_the_words_of_each_tool() {
    let errors = |report: &str| audit_of_report(report).tests[0].places[0].errors;
    let reset = errors(printed!("wrk-reset.txt")).expect("socket errors");
    assert!((reset - 6224.0 / 24_897.0).abs() < 1e-9, "{reset}");
    assert_eq!(errors(printed!("k6-legacy.txt")), Some(0.0125));
    assert_eq!(errors(printed!("h2load-half.txt")), Some(0.5), "once");
    let lengths = audit_of_report(printed!("ab-length.txt"));
    assert_eq!(lengths.tests[0].places[0].errors, Some(0.0));
    assert_eq!(places_of(&lengths, "lengths"), 1);
    let refused = audit_of_report(&hey("0.0050", 1000, 1000));
    let place = &refused.tests[0].places[0];
    assert_eq!(
        (place.errors, &place.caveats[..]),
        (Some(0.5), &["errors"][..])
    );
    let sentence = &finding(&refused, "errors").unwrap().sentence;
    assert!(sentence.contains("as throughput"), "{sentence}");
}

#[test]
fn times_contradict_the_rate_only_by_more_than_their_last_digit() {
    let law = |found: &Audit| {
        (
            places_of(found, "impossible"),
            places_of(found, "idle-connections"),
        )
    };
    let of_hey = |average: &str| {
        let command = Some("hey -z 10s -c 4 http://127.0.0.1/");
        audit_of_reports(&[hey(average, 250_000, 0)], command, None)
    };
    // 4 connections take 0.16 ms for each request.
    assert_eq!(law(&of_hey("0.0002")), (0, 0));
    assert_eq!(law(&of_hey("0.0001")), (0, 0));
    assert_eq!(law(&of_hey("0.0004")), (1, 0));
    assert_eq!(
        law(&audit_of_report(&wrk(80, 90_000, "46.00ms", ""))),
        (0, 0)
    );
    assert_eq!(
        law(&audit_of_report(&wrk(80, 90_000, "0.50ms", ""))),
        (0, 1)
    );
    // The time of an answer after the timeout is not in the mean.
    let late = "  Socket errors: connect 0, read 0, write 0, timeout 40\n";
    let late = audit_of_report(&wrk(80, 90_000, "0.50ms", late));
    assert_eq!((law(&late), places_of(&late, "late-answers")), ((0, 0), 1));
}

#[test]
fn loads_that_differ_are_tests_of_their_own() {
    let closing = "$ wrk -t2 -c100 -d10s -H 'Connection: close' http://127.0.0.1:80/json\n";
    let kept = |rate: u32| wrk(80, rate, "1.00ms", "");
    let new = |rate: u32| format!("{closing}{}", wrk(80, rate, "1.00ms", ""));
    let reports = [kept(95_000), kept(90_000), new(20_000), new(10_000)];
    let found = audit_of_reports(&reports, None, None);
    let tests: Vec<(&str, usize)> = found
        .tests
        .iter()
        .map(|test| (test.name.as_str(), test.places.len()))
        .collect();
    let expected = [
        ("/json, 100 connections, kept connections", 2),
        ("/json, 100 connections, new connections", 2),
    ];
    assert_eq!(tests, expected);
    // The rate that vegeta sent differs a little from run to run.
    let other = printed!("vegeta-hello.txt").replace("200.83, 200.75", "200.84, 200.70");
    let reports = [printed!("vegeta-hello.txt").to_owned(), other];
    let found = audit_of_reports(&reports, None, None);
    assert_eq!((found.tests.len(), found.places), (1, 2));
    assert_eq!(places_of(&found, "no-load"), 2);
}

#[test]
fn ranks_are_as_wide_as_the_runs_of_a_place() {
    let runs = |rates: &[u32]| -> String {
        let reports = rates.iter().map(|rate| wrk(80, *rate, "1.00ms", ""));
        reports.collect()
    };
    let reports = [runs(&[100_000, 50_000, 50_400]), runs(&[60_000])];
    let found = audit_of_reports(&reports, None, Some(0.03));
    let place = &found.tests[0].places[0];
    assert_eq!(place.requests_per_second.map(f64::round), Some(66_800.0));
    assert_eq!((found.sound, found.proven), (2, 0));
    assert_eq!(places_of(&found, "runs-differ"), 1);
    assert_eq!(places_of(&found, "changed"), 0);
    let reports = [runs(&[50_000, 51_000, 52_000]), runs(&[60_000])];
    assert_eq!(audit_of_reports(&reports, None, Some(0.03)).proven, 2);
}

#[test]
fn doubts_of_the_import_are_findings() {
    let reports = [printed!("hey-hello.txt"), printed!("hey-half.txt")];
    let found = audit_of_reports(&reports.map(str::to_owned), None, None);
    assert_eq!((places_of(&found, "short"), found.ranked), (2, 0));
    assert_eq!(found.tests[0].places[0].caveats, ["short"]);
}

#[test]
fn servers_with_equal_figures_are_each_in_the_last_file() {
    let rows = ["a", "b"].map(|name| row(name, 90_000, 99.0, 6400, 0));
    let files = ["x/json-100.json", "y/json-100.json"].map(|file| (file, rows.to_vec()));
    assert_eq!(audit_of(&files, Assumptions::default()).places, 2);
}

#[test]
fn servers_without_names_in_one_file_are_told_apart_by_what_was_loaded() {
    let both = wrk(8080, 95_000, "1.00ms", "") + &wrk(8081, 50_000, "1.00ms", "");
    let files = [("wrk.txt".to_owned(), both.into_bytes())];
    let found = audit(&import(&files, None).unwrap(), Assumptions::default());
    let names: Vec<&str> = found.tests[0]
        .places
        .iter()
        .map(|place| place.name.as_str())
        .collect();
    assert_eq!(
        names,
        [
            "wrk.txt: http://127.0.0.1:8080",
            "wrk.txt: http://127.0.0.1:8081"
        ]
    );
}
