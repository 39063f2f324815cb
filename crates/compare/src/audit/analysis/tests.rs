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
    assert_eq!(found.neighbours, Neighbours { all: 3, close: 2 });
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
    assert_eq!(found.neighbours, Neighbours::default());
    assert_eq!(found.tests[0].name, "/, 10 connections");
}

#[test]
fn servers_without_names_in_one_file_are_told_apart_by_what_was_loaded() {
    let report = |port: u16, rate: u32| {
        format!(
            "Running 10s test @ http://127.0.0.1:{port}/json\n  2 threads and 100 connections\n  Thread Stats   Avg      Stdev     \
             Max   +/- Stdev\n    Latency     1.00ms    0.10ms   5.00ms   90.00%\n    Req/Sec    50.00k     1.00k   60.00k    \
             70.00%\n  {} requests in 10.00s, 100.00MB read\nRequests/sec: {rate}.00\nTransfer/sec:     10.00MB\n",
            rate * 10
        )
    };
    let both = report(8080, 95_000) + &report(8081, 50_000);
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
