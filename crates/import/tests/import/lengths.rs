//! Long files: the work and the memory are in proportion to the bytes.

use deadheat_import::{ImportError, import};

use crate::support::report;

fn read(text: String) -> Result<usize, ImportError> {
    import(&[("long".to_owned(), text.into_bytes())], None).map(|imported| imported.runs.len())
}

/// With work for each pair of lines, this would take hours.
#[test]
fn many_lines_of_any_kind_are_read_once() {
    let count = 40_000;
    for line in [
        "{",
        "{}",
        "{\"a\":",
        "{\"a\":[",
        "[",
        "$ ",
        "$ ab -",
        "Running ",
        "Summary",
        "# a",
        "> > > >",
        "",
        "   ",
        "```",
        "{\"latencies\"",
        "a...: 1",
        "50%",
        "Requests/sec: 1.00",
    ] {
        let text = format!("{line}\n").repeat(count) + &report("ab-hello.txt");
        // What is around it is found, or an error says why not.
        let _ = read(text);
        let text = format!("{line}\n").repeat(count) + "\n\n```\n" + &report("vegeta-hello.json");
        let _ = read(text);
    }
}

#[test]
fn a_long_line_is_read_once() {
    for piece in [
        "{",
        "[",
        "ab -",
        "wrk -a ",
        "> ",
        " ",
        "\u{1b}[",
        "\r",
        "{\"a\":",
        "{},",
        "\"latencies\"",
    ] {
        let text = piece.repeat(1_000_000 / piece.len());
        let whole = format!("{text}\n{}", report("ab-hello.txt"));
        assert_eq!(read(whole).ok(), Some(1), "{piece:?}");
    }
}

#[test]
fn many_reports_are_read_once() {
    let one = report("wrk-hello.txt");
    let text: String = (0..2_000)
        .map(|index| {
            format!(
                "# server {index}\n{}\n",
                one.replace("52468", &format!("5246{}", index % 10))
            )
        })
        .collect();
    assert_eq!(read(text).ok(), Some(2_000));
}

#[test]
fn more_lines_than_are_kept_are_refused_and_empty_ones_are_not_kept() {
    let error = read("a\n".repeat(2_000_001)).expect_err("too many lines");
    assert!(matches!(error, ImportError::TooLong { .. }), "{error}");
    let text = "\n".repeat(2_100_000) + &report("ab-hello.txt");
    assert_eq!(read(text).ok(), Some(1));
}
