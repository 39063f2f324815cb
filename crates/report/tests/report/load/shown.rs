//! What the view of a load holds is in the text and on the page, whatever the load.

use std::time::Duration;

use anstyle::{AnsiColor, Style};
use deadheat_model::observation::Waits;
use deadheat_report::{
    load::{LoadView, html_with, text},
    view::Fact,
};

use super::view;
use crate::{
    formats::{assert_closed, unstyled, without_tags, words},
    load_fixture as cases,
};

/// Both outputs for people, each as its words.
fn shown(view: &LoadView) -> [(&'static str, String); 2] {
    [
        ("text", words(&text(view, 4_000, false))),
        ("html", words(&without_tags(&html_with(view, "").unwrap()))),
    ]
}

/// Every phrase that both show.
fn phrases(view: &LoadView) -> Vec<String> {
    let mut all = vec![view.url.clone(), view.headline.clone(), view.plan.clone()];
    let doubts = view.doubts.iter().filter(|sign| !sign.in_headline);
    all.extend(doubts.chain(&view.notes).map(|sign| sign.sentence.clone()));
    let facts = [
        &view.answers,
        &view.connections,
        &view.events,
        &view.hosts,
        &view.generator,
        &view.provenance,
    ];
    let fact = |fact: &Fact| format!("{} {}", fact.name, fact.value);
    all.extend(facts.into_iter().flatten().map(fact));
    all.extend(view.statuses.iter().map(|row| row.shown().join(" ")));
    all.extend(
        view.latency
            .columns
            .iter()
            .chain(&view.latency.notes)
            .cloned(),
    );
    let times = view.latency.rows.iter();
    all.extend(times.map(|row| format!("{} {}", row.name, row.shown().join(" "))));
    all.extend(view.requests.iter().map(|row| row.shown().join(" ")));
    all.extend(
        view.failures
            .iter()
            .map(|row| format!("{} {} {}", row.kind, row.phase, row.cause)),
    );
    let examples = view.examples.iter();
    all.extend(examples.map(|fact| format!("{}: {}", fact.name, fact.value)));
    all
}

#[test]
fn everything_of_the_view_is_in_both_outputs() {
    let hosts = [
        ("three hosts", cases::three_hosts()),
        ("several requests", cases::several_requests()),
        ("streams", cases::streams(cases::closed_fine())),
    ];
    for (name, record) in cases::all().into_iter().chain(hosts) {
        let view = view(&record);
        for (format, page) in shown(&view) {
            for phrase in phrases(&view) {
                assert!(
                    page.contains(&words(&phrase)),
                    "{format} of {name}: {phrase}"
                );
            }
        }
    }
}

#[test]
fn every_element_of_a_page_is_closed() {
    for (name, record) in cases::all() {
        assert_closed(name, &html_with(&view(&record), "").unwrap());
    }
}

#[test]
fn a_page_has_plots_if_and_only_if_something_was_seen_over_time() {
    let plots = |record| {
        let page = html_with(&view(&record), "").unwrap();
        page.matches("class=\"plot\"").count()
    };
    assert_eq!(plots(cases::nothing_answered()), 0);
    assert!(plots(cases::closed_fine()) > 1);
}

#[test]
fn colours_change_no_word_and_mark_what_is_bad() {
    let view = view(&cases::generator_limited());
    let page = text(&view, 100, true);
    let [bold, red] =
        [Style::new().bold(), AnsiColor::Red.on_default()].map(|style| style.to_string());
    assert!(
        page.starts_with(&format!("{bold}{red}The generator was the limit")),
        "{page}"
    );
    assert_eq!(unstyled(&page), text(&view, 100, false));
}

// What each load is there for.

fn value<'a>(facts: &'a [Fact], name: &str) -> &'a str {
    let fact = facts.iter().find(|fact| fact.name == name);
    &fact
        .unwrap_or_else(|| panic!("no {name} in {facts:?}"))
        .value
}

#[test]
fn a_load_in_which_nothing_is_wrong_has_no_doubts() {
    let fine = view(&cases::closed_fine());
    assert!(
        fine.doubts.is_empty() && fine.failures.is_empty(),
        "{:?}",
        fine.doubts
    );
    assert_eq!(
        value(&fine.answers, "Throughput"),
        "2,500 valid answers/s (25,000 in 10.0 s)"
    );
    assert_eq!(fine.statuses.len(), 1);
}

#[test]
fn an_interrupted_load_says_that_it_was_and_what_was_in_flight() {
    let view = view(&cases::interrupted());
    let headline = &view.headline;
    assert!(
        headline.starts_with("Interrupted after 3.00 s of 60.0 s: "),
        "{headline}"
    );
    assert!(value(&view.answers, "Outcome").contains("10 in flight"));
}

#[test]
fn failures_are_told_apart_by_kind_phase_and_cause() {
    let failures = view(&cases::only_failures()).failures;
    let rows = failures
        .iter()
        .map(|row| (row.measured, &*row.kind, &*row.phase, &*row.cause));
    assert_eq!(
        rows.collect::<Vec<_>>(),
        [
            (2_660, "wrong-status", "head", "status 500"),
            (40, "wrong-status", "head", "status 302"),
            (31, "reset", "first-byte", "ECONNRESET (os error 104)"),
        ]
    );
    let view = view(&cases::only_failures());
    assert!(value(&view.answers, "Redirects").starts_with("40"));
    assert!(view.statuses.iter().all(|row| !row.is_expected));
    assert_eq!(view.examples.len(), 2);
}

#[test]
fn a_refused_port_is_named_and_nothing_is_told_of_answers() {
    let view = view(&cases::nothing_answered());
    assert!(
        view.headline.contains("the connection was refused"),
        "{}",
        view.headline
    );
    assert!(view.statuses.is_empty() && view.latency.rows.is_empty());
    assert_eq!(view.failures[0].kind, "connect-refused");
    assert!(
        view.doubts
            .iter()
            .any(|sign| sign.sentence.contains("No connection was ever open"))
    );
}

#[test]
fn tls_and_pipelining_are_told() {
    let view = view(&cases::tls_pipelining());
    for words in ["16 requests in flight on each", "TLS", "[2001:db8::7]:8443"] {
        assert!(view.plan.contains(words), "{}", view.plan);
    }
    let tls = value(&view.connections, "TLS");
    assert_eq!(
        tls,
        "TLS 1.3, TLS_AES_256_GCM_SHA384; 1 full handshake, 7 resumed"
    );
    assert!(value(&view.answers, "Sent again").starts_with("3 requests"));
    assert!(value(&view.connections, "TLS handshake").starts_with("median"));
}

#[test]
fn a_throughput_that_falls_is_a_doubt_and_a_few_failures_are_in_the_headline() {
    let view = view(&cases::non_ascii());
    assert!(
        view.headline
            .starts_with("0.2 % of 9,520 requests failed (mostly: "),
        "{}",
        view.headline
    );
    assert!(
        view.doubts
            .iter()
            .any(|sign| sign.sentence.contains("Throughput fell by 41.0 %"))
    );
    let expected: Vec<_> = view.statuses.iter().map(|row| row.is_expected).collect();
    assert_eq!(expected, [true, false]);
}

#[test]
fn the_first_line_says_what_the_generator_waited_for_and_counts_what_it_rates() {
    let mut record = cases::closed_fine();
    let seen = &mut record.observation;
    seen.window = Duration::from_secs(5);
    (seen.measured.succeeded, seen.measured.carried_succeeded) = (45, 10);
    seen.measured.in_flight = 10;
    let headline = view(&record).headline;
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
    let view = view(&record);
    let mut said = view.doubts.iter().map(|doubt| doubt.sentence.as_str());
    let expected = "The server sent no 100 (Continue): each request waited 1.00 s for it before its body, 3.00 s in total.";
    assert!(
        said.any(|said| said.starts_with(expected)),
        "{:?}",
        view.doubts
    );
}
