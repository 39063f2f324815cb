//! What each format looks like. The JSON and the pages of large sessions are left out for their size;
//! their text says the same.

use deadheat_report::{View, html, json, markdown, text};
use deadheat_stats::analyse;

use crate::cases;

#[test]
fn text_at_80_columns() {
    for (name, record) in cases::all() {
        let view = View::new(&record, &analyse(&record));
        insta::assert_snapshot!(format!("text-{name}"), text(&view, 80, false));
    }
}

#[test]
fn text_in_colour() {
    let record = cases::failures_only();
    let view = View::new(&record, &analyse(&record));
    insta::assert_snapshot!(
        "text-colour",
        text(&view, 100, true).replace('\u{1b}', "ESC")
    );
}

#[test]
fn markdown_pages() {
    for (name, record) in cases::all()
        .into_iter()
        .filter(|(name, _)| !name.starts_with("thirty"))
    {
        let view = View::new(&record, &analyse(&record));
        insta::assert_snapshot!(format!("markdown-{name}"), markdown(&view));
    }
}

#[test]
fn json_documents() {
    for name in ["one-trial", "failures-only", "lost-block", "lost-ceiling"] {
        let (_, record) = cases::all()
            .into_iter()
            .find(|(case, _)| *case == name)
            .unwrap();
        insta::assert_snapshot!(
            format!("json-{name}"),
            json(&record, &analyse(&record)).unwrap()
        );
    }
}

#[test]
fn html_pages() {
    for name in [
        "plausible",
        "failures-only",
        "lost-block",
        "nothing",
        "published",
        "latency",
        "noisy",
    ] {
        let (_, record) = cases::all()
            .into_iter()
            .find(|(case, _)| *case == name)
            .unwrap();
        let view = View::new(&record, &analyse(&record));
        let page = html::html_with(&view, "/* plotly */").unwrap();
        insta::assert_snapshot!(format!("html-{name}"), without_style(&page));
    }
}

/// The page without its style sheet, which is the same in all of them and no result.
pub fn without_style(page: &str) -> String {
    let (before, rest) = page.split_once("<style>").unwrap();
    let (_, after) = rest.split_once("</style>").unwrap();
    format!("{before}<style></style>{after}")
}
