//! The social card: pictures that are decoded, and documents that are read.

use std::{fs, path::Path};

use deadheat_report::{ReportError, card};
use resvg::tiny_skia::Pixmap;

use crate::{
    cases::{self, Case},
    fixture::{Found, Session, good},
    large,
};

fn svg(name: &str) -> String {
    card::svg(&cases::named(name).view, None).unwrap()
}

/// Every text on the card, one a line.
fn words(svg: &str) -> Vec<String> {
    let texts = svg.lines().filter(|line| line.starts_with("<text"));
    let text = |line: &str| {
        let (_, rest) = line.split_once('>').unwrap();
        let text = rest.trim_end_matches("</text>");
        text.replace("&lt;", "<")
            .replace("&gt;", ">")
            .replace("&amp;", "&")
    };
    texts.map(text).collect()
}

#[test]
fn a_document() {
    insta::assert_snapshot!("card", words(&svg("plausible")).join("\n"));
}

#[test]
fn a_card_shows_the_first_rows_of_a_load_point_in_order() {
    for Case { name, view, .. } in cases::all() {
        let words = words(&card::svg(view, None).unwrap());
        let groups = view.groups();
        let group = groups.iter().find(|group| !group.rows.is_empty());
        let Some(group) = group else {
            assert!(
                words
                    .iter()
                    .any(|text| text.starts_with("No stack has a result")),
                "{name}"
            );
            continue;
        };
        assert!(
            words.contains(&group.title) || *name == "odd-names",
            "{name}: {words:?}"
        );
        let mut texts = words.iter();
        for row in group.rows.iter().take(8) {
            let is_there = |wanted: &String| texts.any(|text| text == wanted);
            let spread = row.spread.as_ref().map(|spread| spread.replace("± ", "±"));
            let shown = [&row.rank, &row.throughput].into_iter().chain(&spread);
            assert!({ shown }.all(is_there), "{name}: {row:?}");
        }
        let is_bound = group
            .rows
            .iter()
            .take(8)
            .any(|row| row.throughput.starts_with('≥'));
        let text = words.join(" ");
        assert_eq!(text.contains("Dashed: a lower bound."), is_bound, "{name}");
        let is_tied = |word: &str| words.iter().any(|text| text == word);
        let heat = group
            .heats
            .iter()
            .any(|heat| heat.iter().any(|row| *row < 8));
        assert_eq!(
            is_tied("dead heat") || is_tied("could not be told apart"),
            heat,
            "{name}"
        );
    }
}

#[test]
fn a_card_is_a_picture_of_its_size_and_the_same_every_time() {
    let view = &cases::named("plausible").view;
    let png = card(view, None).unwrap();
    assert_eq!(png, card(view, None).unwrap());
    let picture = Pixmap::decode_png(&png).unwrap();
    assert_eq!((picture.width(), picture.height()), card::SIZE);
    let ground = picture.pixel(20, 300).unwrap();
    let inked = picture
        .pixels()
        .iter()
        .filter(|pixel| **pixel != ground)
        .count();
    let share = inked as f64 / picture.pixels().len() as f64;
    assert!(
        (0.02..0.5).contains(&share),
        "{share} of the card is drawn on"
    );
    assert!(png.len() < 200_000, "{} bytes", png.len());
}

/// The rows of pixels in which two pictures differ.
fn differing(one: &Pixmap, other: &Pixmap) -> Vec<u32> {
    let differs = |y: &u32| (0..one.width()).any(|x| one.pixel(x, *y) != other.pixel(x, *y));
    (0..one.height()).filter(differs).collect()
}

#[test]
fn a_figure_that_changes_changes_its_row_of_the_picture() {
    let session = |rate: f64| {
        let session = Session::new(7)
            .workload("json", &[50])
            .stack("one")
            .stack("other");
        let session = session.measured(7, |cell, _| match cell.target.stack.as_str() {
            "one" => good(Found::at(2_000.0)),
            _ => good(Found::at(rate)),
        });
        Pixmap::decode_png(&card(&Case::new("rates", session.build()).view, None).unwrap()).unwrap()
    };
    let (one, same, other) = (session(1_000.0), session(1_000.0), session(1_300.0));
    assert!(differing(&one, &same).is_empty());
    assert!(differing(&one, &other).len() > 10);
}

#[test]
fn no_text_leaves_the_card_or_meets_another() {
    for Case { name, view, .. } in cases::all() {
        let boxes = card::text_boxes(view, None).unwrap();
        assert!(boxes.len() > 5, "{name}");
        for [left, top, right, bottom] in &boxes {
            let inside = *left >= 0.0 && *right <= 1200.0 && *top >= 0.0 && *bottom <= 630.0;
            assert!(inside, "{name}: {left} {top} {right} {bottom}");
        }
        for (at, one) in boxes.iter().enumerate() {
            for other in &boxes[at + 1..] {
                let apart = one[2] <= other[0]
                    || other[2] <= one[0]
                    || one[3] <= other[1]
                    || other[3] <= one[1];
                assert!(apart, "{name}: {one:?} and {other:?}");
            }
        }
    }
}

#[test]
fn every_dot_has_an_interval_an_open_end_or_is_hollow() {
    let count = |svg: &str, what: &str| svg.matches(what).count();
    // The mark has two dots.
    let plausible = svg("plausible");
    assert_eq!(count(&plausible, "<circle"), 2 + 7);
    assert_eq!(count(&plausible, "stroke-dasharray"), 1, "nginx-static");
    assert_eq!(
        words(&plausible)
            .iter()
            .filter(|text| text.starts_with('±'))
            .count(),
        6
    );
    let single = svg("one-trial");
    assert_eq!(count(&single, "<circle"), 2 + 1);
    assert_eq!(count(&single, "fill=\"#fcfbf8\" stroke="), 1);
    assert!(
        words(&single)
            .iter()
            .any(|text| text.contains("there is no interval"))
    );
}

#[test]
fn a_session_of_failures_says_so() {
    let words = words(&svg("failures-only"));
    assert!(
        words
            .iter()
            .any(|text| text.starts_with("No stack has a result"))
    );
    assert!(
        words
            .iter()
            .any(|text| text.starts_with("bad-answers failed in 2 of 2 trials"))
    );
    assert!(!words.iter().any(|text| text.contains("requests/s")));
}

#[test]
fn what_is_not_shown_is_counted() {
    let words = words(&svg("thirty"));
    let dots = svg("thirty").matches("<circle").count();
    assert_eq!(dots, 2 + 8);
    assert!(
        words
            .iter()
            .any(|text| text.contains("of 28, and 20 more in the report")),
        "{words:?}"
    );
}

#[test]
fn characters_that_the_font_lacks_are_boxes_and_the_card_says_so() {
    let words = words(&svg("odd-names"));
    assert!(
        words.iter().any(|text| text == "□□-□□□□□□□:□□"),
        "{words:?}"
    );
    assert!(
        words
            .iter()
            .any(|text| text.ends_with("□: not in the card's font."))
    );
    assert!(words.iter().any(|text| text == "größe-šťovík:naïve"));
    assert!(words.iter().any(|text| text == "لغة-إطار"));
    let plain = svg("plausible");
    assert!(!plain.contains('□'));
}

#[test]
fn the_load_point_can_be_chosen() {
    let view = &cases::named("plausible").view;
    let title = |workload| {
        let words = words(&card::svg(view, workload).unwrap());
        words
            .into_iter()
            .find(|text| text.contains("connections"))
            .unwrap()
    };
    assert_eq!(title(None), "json, 50 connections");
    assert_eq!(title(Some("users")), "users, 100 connections");
    assert_eq!(title(Some("users:c100")), "users, 100 connections");
    match card::svg(view, Some("users:c50")) {
        Err(ReportError::NoSuchWorkload { known, .. }) => {
            assert_eq!(known, ["json:c50", "users:c100"]);
        }
        other => panic!("{other:?}"),
    }
}

#[test]
#[ignore = "writes pictures to look at"]
fn look_at_cards() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("look-cards");
    fs::create_dir_all(&folder).unwrap();
    let large = Box::leak(Box::new(Case::new("large", large::large())));
    for Case { name, view, .. } in cases::all().chain([&*large]) {
        let png = card(view, None).unwrap();
        fs::write(folder.join(format!("{name}.png")), png).unwrap();
    }
}
