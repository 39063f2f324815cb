//! What each output looks like.

use deadheat_report::load::{csv, hgrm, html_with, json, text};
use deadheat_stats::load::analyse;

use super::view;
use crate::{load_fixture as cases, snapshots::without_style};

#[test]
fn text_at_80_columns() {
    for (name, record) in cases::all() {
        insta::assert_snapshot!(format!("load-text-{name}"), text(&view(&record), 80, false));
    }
}

#[test]
fn text_in_colour() {
    let page = text(&view(&cases::generator_limited()), 100, true);
    insta::assert_snapshot!("load-text-colour", page.replace('\u{1b}', "ESC"));
}

#[test]
fn json_documents() {
    for (name, record) in [
        ("open-freeze", cases::open_freeze()),
        ("tls-pipelining", cases::tls_pipelining()),
        ("one-request", cases::one_request()),
        ("nothing-answered", cases::nothing_answered()),
    ] {
        let document = json(&record, &analyse(&record)).unwrap();
        insta::assert_snapshot!(format!("load-json-{name}"), without_histograms(&document));
    }
}

/// The document with its histograms left out: they are long, and other tests read them back.
fn without_histograms(document: &str) -> String {
    let line = |line: &str| match line.split_once("\"HIST") {
        Some((before, _)) if line.ends_with(',') => format!("{before}(histogram),\n"),
        Some((before, _)) => format!("{before}(histogram)\n"),
        None => format!("{line}\n"),
    };
    document.lines().map(line).collect()
}

#[test]
fn rows_for_spreadsheets() {
    for name in [
        "closed-fine",
        "open-freeze",
        "non-ascii",
        "nothing-answered",
    ] {
        let (_, record) = cases::all()
            .into_iter()
            .find(|(case, _)| *case == name)
            .unwrap();
        insta::assert_snapshot!(
            format!("load-csv-{name}"),
            csv(&record.intervals).replace("\r\n", "\n")
        );
    }
}

#[test]
fn percentile_distributions() {
    for name in ["open-freeze", "one-request", "nothing-answered"] {
        let (_, record) = cases::all()
            .into_iter()
            .find(|(case, _)| *case == name)
            .unwrap();
        insta::assert_snapshot!(format!("load-hgrm-{name}"), hgrm(&record));
    }
}

#[test]
fn html_pages() {
    for (name, record) in cases::all() {
        let page = html_with(&view(&record), "/* plotly */").unwrap();
        insta::assert_snapshot!(format!("load-html-{name}"), without_style(&page));
    }
}
