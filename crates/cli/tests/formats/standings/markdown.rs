//! The report as Markdown.

use deadheat_bench::document as standings;
use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag};

use super::cases;

#[test]
fn it_is_small_and_begins_with_the_answer() {
    for case in cases::all() {
        let view = case.view();
        let page = standings::document(&view).markdown();
        if case.name != "thirty" {
            assert!(page.len() < 40_000, "{}: {} bytes", case.name, page.len());
        }
        let table = page.find("\n## ").unwrap_or(page.len());
        if let ("usual", Some(load)) = (case.name, view.loads.first()) {
            assert!(page[..table].contains(&load.outcome()), "{page}");
        }
    }
}

/// As a reader of Markdown sees the page: what was logged may stand there as it was, as code.
#[test]
fn nothing_from_outside_is_markup() {
    for name in ["hostile", "all-failed"] {
        let page = standings::document(&cases::named(name).view()).markdown();
        assert!(!page.contains('\u{1b}') && !page.contains('\u{202e}'));
        for event in Parser::new_ext(&page, Options::ENABLE_TABLES) {
            match event {
                Event::Html(html) | Event::InlineHtml(html) => panic!("{name}: {html}"),
                Event::Start(Tag::Image { dest_url, .. }) => panic!("{name}: {dest_url}"),
                Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(words))) => {
                    panic!("{name}: a block of code {words}")
                }
                Event::Start(Tag::Link { dest_url, .. }) => {
                    assert!(!dest_url.starts_with("javascript"), "{name}: {dest_url}");
                }
                _ => (),
            }
        }
    }
}

#[test]
fn every_table_has_as_many_cells_in_each_row() {
    for case in cases::all() {
        let page = standings::document(&case.view()).markdown();
        let mut expected = None;
        for line in page.lines() {
            let cells = line.replace("\\|", "").matches('|').count();
            if cells == 0 {
                expected = None;
                continue;
            }
            assert_eq!(
                *expected.get_or_insert(cells),
                cells,
                "{}: {line}",
                case.name
            );
        }
    }
}

#[test]
fn a_page() {
    insta::assert_snapshot!(standings::document(&cases::named("few").view()).markdown());
}
