//! What people read of a load.

use std::time::Duration;

use anstyle::{AnsiColor, Style};
use deadheat_document::text::Screen;
use deadheat_model::{LoadRecord, observation::Waits};

use super::{headline, page, text, whole};
use crate::{
    formats::{assert_closed, unstyled},
    load_fixture as cases,
};

#[test]
fn every_element_of_a_page_is_closed() {
    for (name, record) in cases::all() {
        assert_closed(name, &page(&record));
    }
}

#[test]
fn a_page_has_plots_if_and_only_if_something_was_seen_over_time() {
    let plots = |record| page(&record).matches("class=\"plot\"").count();
    assert_eq!(plots(cases::nothing_answered()), 0);
    assert!(plots(cases::closed_fine()) > 1);
}

#[test]
fn colours_change_no_word_and_mark_what_is_bad() {
    let record = cases::generator_limited();
    let page = whole(&record).text(Screen::new(100, true));
    let [bold, red] =
        [Style::new().bold(), AnsiColor::Red.on_default()].map(|style| style.to_string());
    assert!(
        page.starts_with(&format!("{bold}{red}The generator was the limit")),
        "{page}"
    );
    assert_eq!(unstyled(&page), text(&record, 100));
}

// What each load is there for.

/// The lines of a section, without their indentation.
fn section(text: &str, title: &str) -> Vec<String> {
    let lines = text.lines().skip_while(|line| *line != title).skip(1);
    let lines = lines.take_while(|line| !line.is_empty());
    lines.map(|line| line.trim_start().to_owned()).collect()
}

/// A fact, wherever it is.
fn value(record: &LoadRecord, name: &str) -> String {
    let text = text(record, 4_000);
    let mut lines = text.lines().map(str::trim_start);
    let value = lines.find_map(|line| line.strip_prefix(&format!("{name}  ")));
    let value = value.unwrap_or_else(|| panic!("no {name} in {text}"));
    value.trim_start().to_owned()
}

#[test]
fn a_load_in_which_nothing_is_wrong_has_no_doubts() {
    let fine = cases::closed_fine();
    let text = text(&fine, 4_000);
    assert!(
        !text.contains("\n! ") && !text.contains("Failures"),
        "{text}"
    );
    assert_eq!(
        value(&fine, "Throughput"),
        "2,500 valid answers/s (25,000 in 10.0 s)"
    );
    assert_eq!(section(&text, "Status codes").len(), 2);
}

#[test]
fn an_interrupted_load_says_that_it_was_and_what_was_in_flight() {
    let record = cases::interrupted();
    let headline = headline(&record);
    assert!(
        headline.starts_with("Interrupted after 3.00 s of 60 s: "),
        "{headline}"
    );
    assert!(value(&record, "Outcome").contains("10 in flight"));
}

#[test]
fn failures_are_told_apart_by_kind_phase_and_cause() {
    let record = cases::only_failures();
    let text = text(&record, 4_000);
    let rows = section(&text, "Failures");
    let rows = rows
        .iter()
        .map(|row| row.split_whitespace().collect::<Vec<_>>());
    let rows: Vec<String> = rows.map(|row| row.join(" ")).collect();
    assert_eq!(
        rows[..7],
        [
            "cause kind phase measured whole load",
            "status 500 wrong-status head 2,660 2,660",
            "the answer's status is not the expected one",
            "status 302 wrong-status head 40 40",
            "the answer's status is not the expected one",
            "ECONNRESET (os error 104) reset first-byte 31 31",
            "the connection was reset",
        ],
        "{text}"
    );
    // Below them, two examples.
    assert_eq!(rows.len(), 10, "{text}");
    assert!(value(&record, "Redirects").starts_with("40"));
    assert!(!text.contains("  expected"), "{text}");
}

#[test]
fn a_refused_port_is_named_and_nothing_is_told_of_answers() {
    let record = cases::nothing_answered();
    let headline = headline(&record);
    assert!(
        headline.contains("the connection was refused"),
        "{headline}"
    );
    let text = text(&record, 4_000);
    for absent in ["Status codes", "Latency"] {
        assert!(section(&text, absent).is_empty(), "{text}");
    }
    assert!(section(&text, "Failures")[1].contains("connect-refused"));
    assert!(text.contains("! No connection was ever open"), "{text}");
}

#[test]
fn each_of_several_requests_is_shown() {
    let text = text(&cases::several_requests(), 80);
    let rows = section(&text, "Requests");
    assert_eq!(rows.len(), 3, "{text}");
    assert!(rows[1].starts_with("GET /plaintext") && rows[2].starts_with("GET /slower"));
}

#[test]
fn requests_with_the_same_name_are_numbered() {
    let mut record = cases::several_requests();
    for exchange in &mut record.spec.exchanges {
        exchange.request.path = "/search?q=…".to_owned();
    }
    record.spec.exchanges.push(cases::get("/other"));
    let group = record.observation.groups[0].clone();
    record.observation.groups.push(group);
    let text = text(&record, 80);
    let rows = section(&text, "Requests");
    let names = [
        "GET /search?q=… (request 1) ",
        "GET /search?q=… (request 2) ",
        "GET /other ",
    ];
    for (row, name) in rows[1..].iter().zip(names) {
        assert!(row.starts_with(name), "{text}");
    }
    assert_eq!(rows.len(), 4, "{text}");
}

#[test]
fn tls_and_pipelining_are_told() {
    let record = cases::tls_pipelining();
    let text = text(&record, 4_000);
    for words in [
        "up to 16 requests pipelined on each",
        "TLS",
        "[2001:db8::7]:8443",
    ] {
        assert!(text.lines().nth(2).unwrap().contains(words), "{text}");
    }
    assert_eq!(
        value(&record, "TLS"),
        "TLS 1.3, TLS_AES_256_GCM_SHA384; 1 full handshake, 7 resumed"
    );
    assert!(value(&record, "Sent again").starts_with("3 requests"));
    assert!(value(&record, "TLS handshake").starts_with("median"));
}

#[test]
fn a_throughput_that_falls_is_a_doubt_and_a_few_failures_are_in_the_headline() {
    let record = cases::non_ascii();
    let headline = headline(&record);
    assert!(
        headline.starts_with("0.2 % of 9,520 requests failed (mostly: "),
        "{headline}"
    );
    let text = text(&record, 4_000);
    assert!(headline.contains("Throughput fell by 34.0 %"), "{headline}");
    let statuses = section(&text, "Status codes");
    let is_expected = statuses[1..]
        .iter()
        .map(|row| !row.ends_with("not expected"));
    assert_eq!(is_expected.collect::<Vec<_>>(), [true, false]);
}

#[test]
fn the_first_line_says_what_the_generator_waited_for_and_counts_what_it_rates() {
    let mut record = cases::closed_fine();
    let seen = &mut record.observation;
    seen.window = Duration::from_secs(5);
    (seen.measured.succeeded, seen.measured.carried_succeeded) = (45, 10);
    seen.measured.in_flight = 10;
    let headline = headline(&record);
    assert!(
        headline.starts_with("55 valid answers in 5.00 s (11.0/s)"),
        "{headline}"
    );
    let seen = &mut record.observation;
    (seen.measured.succeeded, seen.measured.carried_succeeded) = (3, 0);
    seen.own_waits.for_continue = Waits {
        count: 3,
        total: Duration::from_secs(3),
    };
    let text = text(&record, 4_000);
    let expected = "The server sent no 100 (Continue): each request waited 1.00 s for it before its body, 3.00 s in total.";
    assert!(text.contains(&format!("! {expected}")), "{text}");
}
