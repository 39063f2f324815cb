//! One load in each output, to look at. What an output does with other loads is asserted in `shown`.

use std::time::Duration;

use deadheat_loadtool::{
    analysis::analyse,
    document::{csv, hgrm, json},
};
use deadheat_model::load::Think;

use super::{first_screen, page, text};
use crate::{
    load_fixture::{closed_fine, open_freeze, streams},
    shortened,
};

#[test]
fn text_at_80_columns() {
    insta::assert_snapshot!("load-text", text(&open_freeze(), 80));
}

#[test]
fn a_first_screen() {
    insta::assert_snapshot!("load-brief", first_screen(&open_freeze()));
}

#[test]
fn a_json_document() {
    let record = open_freeze();
    let document = without_histograms(&json(&record, &analyse(&record)).unwrap());
    insta::assert_snapshot!("load-json", shortened::json(&document));
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
    let rows = csv(&open_freeze().intervals).replace("\r\n", "\n");
    insta::assert_snapshot!("load-csv", rows);
}

#[test]
fn a_percentile_distribution() {
    insta::assert_snapshot!("load-hgrm", hgrm(&open_freeze()));
}

#[test]
fn an_html_page() {
    insta::assert_snapshot!("load-html", shortened::html(&page(&open_freeze())));
}

#[test]
fn streams_on_a_first_screen() {
    let record = streams(closed_fine());
    insta::assert_snapshot!("load-streams", first_screen(&record));
}

#[test]
fn streams_of_an_open_loop_at_80_columns() {
    let record = streams(open_freeze());
    insta::assert_snapshot!("load-streams-open", text(&record, 80));
}

#[test]
fn users_who_think() {
    let mut record = closed_fine();
    record.spec.think = Some(Think::Uniform {
        from: Duration::from_millis(500),
        to: Duration::from_secs(2),
    });
    insta::assert_snapshot!("load-think", text(&record, 80));
}
