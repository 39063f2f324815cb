//! Reports that were damaged: an error with the line, or the right figures; never a wrong figure.

use deadheat_import::{ImportError, import};

use crate::support::{damage, read, report, reports, runs};

/// A report with one text in the place of another.
fn with(name: &str, old: &str, new: &str) -> String {
    let text = report(name);
    assert!(text.contains(old), "{name} has no {old:?}");
    text.replacen(old, new, 1)
}

#[test]
fn a_line_is_missing() {
    let (line, what) = damage(&with("ab-hello.txt", "Failed requests:        0\n", ""));
    assert_eq!(line, 28);
    assert!(what.contains("`Failed requests:` is missing"), "{what}");
    for (name, lost) in [
        ("hey-hello.txt", "  Requests/sec:\t12252.0843\n"),
        ("wrk-hello.txt", "Requests/sec:  47583.94\n"),
        (
            "h2load-h1.txt",
            "status codes: 500 2xx, 0 3xx, 0 4xx, 0 5xx\n",
        ),
        ("oha-hello.txt", "  [503] 16 responses\n"),
        ("hey-half.txt", "  [503]\t100 responses\n"),
        (
            "k6-legacy.txt",
            "     http_reqs......................: 1200   119.523438/s\n",
        ),
        (
            "vegeta-hello.txt",
            "Bytes In      [total, mean]                     2600, 13.00\n",
        ),
        ("ab-hello.txt", "  95%     10\n"),
        (
            "ab-length.txt",
            "   (Connect: 0, Receive: 0, Length: 133, Exceptions: 0)\n",
        ),
    ] {
        damage(&with(name, lost, ""));
    }
}

#[test]
fn a_unit_is_another_one() {
    let (line, _) = damage(&with(
        "ab-hello.txt",
        "3.285 [ms] (mean)",
        "3.285 [s] (mean)",
    ));
    assert_eq!(line, 25);
    let (line, _) = damage(&with("hey-hello.txt", "0.0408 secs", "0.0408 ms"));
    assert_eq!(line, 3);
    for (old, new) in [
        ("466.72us", "466.72ms"),
        ("1.10s", "1.10ms"),
        ("7.35MB", "7.35"),
    ] {
        damage(&with("wrk-hello.txt", old, new));
    }
    damage(&with("h2load-h1.txt", "30.73ms", "30.73s"));
    damage(&with(
        "oha-hello.txt",
        "Total:\t27.5000 ms",
        "Total:\t27.5000 us",
    ));
}

#[test]
fn totals_do_not_agree() {
    for (name, old, new) in [
        ("ab-hello.txt", "3044.01 [#/sec]", "30440.01 [#/sec]"),
        ("ab-hello.txt", "57000 bytes", "5700 bytes"),
        (
            "ab-hello.txt",
            "Complete requests:      500",
            "Complete requests:      50",
        ),
        ("wrk-hello.txt", "47583.94", "4758.94"),
        ("wrk-hello.txt", "52468 requests", "5246 requests"),
        (
            "hey-hello.txt",
            "[200]\t500 responses",
            "[200]\t50 responses",
        ),
        ("vegeta-hello.txt", "200:200", "200:20"),
        ("h2load-h1.txt", "500 2xx", "400 2xx"),
        ("k6-legacy.txt", "1200   119", "120   119"),
    ] {
        damage(&with(name, old, new));
    }
}

#[test]
fn a_line_or_a_table_is_there_twice() {
    let (line, what) = damage(&with(
        "ab-hello.txt",
        "Complete requests:      500\n",
        "Complete requests:      500\nComplete requests:      900\n",
    ));
    assert_eq!(line, 21);
    assert!(what.contains("twice"), "{what}");
    damage(&with(
        "hey-hello.txt",
        "  Slowest:\t0.0077 secs\n",
        "  Slowest:\t0.0077 secs\n  Slowest:\t0.0078 secs\n",
    ));
    damage(&with(
        "k6-legacy.txt",
        "     http_reqs",
        "     http_reqs......................: 9   1.5/s\n     http_reqs",
    ));
}

#[test]
fn a_report_that_was_pasted_twice_is_one_run() {
    let text = report("wrk-latency.txt");
    let imported = read(&format!("{text}\n{text}")).expect("whole reports");
    assert_eq!(imported.runs.len(), 1);
    assert!(
        imported.left_out[0].reason.contains("counted once"),
        "{:?}",
        imported.left_out
    );
    let files = ["a", "b"].map(|name| (name.to_owned(), text.clone().into_bytes()));
    assert_eq!(import(&files, None).expect("whole reports").runs.len(), 1);
}

#[test]
fn numbers_that_are_none() {
    for (name, old, new) in [
        ("ab-hello.txt", "3044.01", "-3044.01"),
        ("ab-hello.txt", "3044.01", "NaN"),
        ("ab-hello.txt", "3044.01", "3,044.01"),
        ("hey-hello.txt", "0.0408 secs", "-0.0408 secs"),
        (
            "hey-hello.txt",
            "Average:\t0.0008 secs",
            "Average:\t NaN secs",
        ),
        ("wrk-hello.txt", "47583.94", "inf"),
        ("wrk-hello.txt", "52468 requests", "-52468 requests"),
        ("h2load-h1.txt", "500 total", "-500 total"),
        ("oha-hello.txt", "18181.8182", "1.8e4"),
        ("oha-hello.json", "18181.81818181818", "-1"),
        ("oha-hello.json", "18181.81818181818", "null"),
        ("vegeta-hello.json", "\"mean\":529813", "\"mean\":-529813"),
        ("k6-export.json", "\"count\": 1200", "\"count\": -1200"),
    ] {
        damage(&with(name, old, new));
    }
}

#[test]
fn a_new_report_begins_in_the_middle_of_one() {
    let text = report("ab-hello.txt");
    let (half, _) = text.split_once("Total transferred").expect("the line");
    let (line, what) = damage(&format!("{half}{text}"));
    assert!(what.contains("`Total transferred:` is missing"), "{what}");
    assert_eq!(line, 23, "where the other one begins");
    let wrk = report("wrk-hello.txt");
    let (half, _) = wrk.split_once("  52468").expect("the line");
    damage(&format!("{half}{wrk}"));
}

#[test]
fn prose_in_the_middle_of_a_report() {
    let (line, _) = damage(&with(
        "ab-hello.txt",
        "Failed requests:        0\n",
        "That was fast!\nFailed requests:        0\n",
    ));
    assert_eq!(line, 21);
}

#[test]
fn prose_with_figures_is_no_report() {
    let text = "Go did 9999.99 requests/sec.\nRequests per second:    9999.99 [#/sec] (mean)\nRequests/sec: 1234.5678\n";
    let Err(ImportError::Nothing { hint, .. }) = read(text) else {
        panic!("there is no report");
    };
    assert!(hint.contains("line 2"), "{hint}");
    let whole = format!("{text}{}", report("ab-hello.txt"));
    let imported = read(&whole).expect("one report");
    assert_eq!(imported.runs.len(), 1);
    assert_eq!(imported.runs[0].figures.requests_per_second, Some(3044.01));
    let lines: Vec<usize> = imported
        .left_out
        .iter()
        .map(|left| left.place.line)
        .collect();
    assert_eq!(lines, [2, 3]);
}

#[test]
fn windows_colours_quotations_and_a_mark_of_utf_8_change_nothing() {
    for name in reports() {
        let text = report(&name);
        let expected = runs(&text);
        let all = |change: &dyn Fn(&str) -> String| text.lines().map(change).collect::<String>();
        let variants = [
            all(&|line| format!("{line}\r\n")),
            all(&|line| format!("\u{1b}[1;32m{line}\u{1b}[0m\n")),
            all(&|line| format!("> {line}\n")),
            format!("\u{feff}{text}"),
            format!(
                "# Results\n\nIt was run once, as follows.\n\n```\n{text}\n```\n\nThat was fast.\n"
            ),
            format!(
                "A note of 12 lines:\n\n{}",
                all(&|line| format!("    {line}\n"))
            ),
        ];
        for variant in variants {
            let read = runs(&variant);
            assert_eq!(read.len(), expected.len(), "{name}");
            for (read, expected) in read.iter().zip(&expected) {
                assert_eq!(
                    (&read.figures, &read.load),
                    (&expected.figures, &expected.load),
                    "{name}: {variant}"
                );
            }
        }
    }
}

#[test]
fn utf_16_is_named() {
    let text: Vec<u8> = report("ab-hello.txt")
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    let error = import(&[("x".to_owned(), text)], None).expect_err("not UTF-8");
    assert!(error.to_string().contains("UTF-8"), "{error}");
}
