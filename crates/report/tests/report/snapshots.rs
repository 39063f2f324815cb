//! One session in each format, to look at. What a format does with other sessions is asserted in `shown`.

use deadheat_report::{html, json, markdown, text};

use crate::{cases, shortened};

#[test]
fn text_at_80_columns() {
    insta::assert_snapshot!("text", text(&cases::named("latency").view, 80, false));
}

#[test]
fn a_markdown_page() {
    let page = markdown(&cases::named("latency").view);
    insta::assert_snapshot!("markdown", shortened::markdown(&page));
}

#[test]
fn an_html_page() {
    let page = html::html_with(&cases::named("latency").view, "").unwrap();
    insta::assert_snapshot!("html", shortened::html(&page));
}

#[test]
fn a_json_document() {
    let case = cases::named("lost-ceiling");
    let document = json(&case.record, &case.analysis).unwrap();
    insta::assert_snapshot!("json", shortened::json(&document));
}
