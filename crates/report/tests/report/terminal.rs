//! The text report on screens of several widths and kinds.

use anstyle::AnsiColor;
use deadheat_report::{
    View,
    text::{Charset, Screen, text, text_on},
    view::Section,
};
use textwrap::core::display_width;

use crate::{
    cases::{self, Case},
    formats::unstyled,
    shown::sentences,
};

/// The results only: what stands above does not depend on the kind of screen.
fn results(text: &str) -> String {
    let at = text.find("\nResults\n").expect("a report has results");
    text[at + 1..].to_owned()
}

fn shown(view: &View, width: usize, charset: Charset) -> String {
    let screen = Screen {
        width,
        colour: false,
        charset,
    };
    text_on(view, screen)
}

#[test]
fn a_screen_without_utf_8() {
    let page = shown(&cases::named("odd-names").view, 80, Charset::Ascii);
    insta::assert_snapshot!("terminal-ascii", results(&page));
}

#[test]
fn every_screen_s_width_and_characters_are_kept() {
    for Case { name, view, .. } in cases::all() {
        for width in [72, 80, 97, 120, 200] {
            for charset in [Charset::Unicode, Charset::Ascii] {
                let page = shown(view, width, charset);
                for line in page.lines() {
                    let columns = display_width(line);
                    assert!(columns <= width, "{name}: {columns} of {width}: {line}");
                    assert_eq!(line, line.trim_end(), "{name}: a trailing blank");
                }
                assert!(charset == Charset::Unicode || page.is_ascii(), "{name}");
            }
        }
    }
}

/// Text without what a narrow screen changes: blanks and ends of lines.
fn squeezed(text: &str) -> String {
    text.split_whitespace().collect()
}

#[test]
fn a_narrow_screen_leaves_out_nothing() {
    for Case { name, view, .. } in cases::all() {
        for width in [72, 80, 120] {
            let page = squeezed(&shown(view, width, Charset::Unicode));
            for sentence in sentences(view) {
                let is_there = page.contains(&squeezed(sentence));
                assert!(is_there, "{name} at {width}: {sentence}");
            }
            let sections = view.sections.iter().filter_map(|section| match section {
                Section::Capacity(group) => Some(&group.rows),
                Section::Latency(_) => None,
            });
            for row in sections.flatten() {
                let spread = row.spread.as_deref().unwrap_or_default();
                let spread = spread.trim_matches(['±', '%', ' ']);
                let who = format!("{}{}", row.rank, row.target);
                let rate = format!("{}{spread}", row.throughput);
                let cost = [&row.cpu, &row.pss_peak, &row.p50.value, &row.p99.value];
                let cost = cost.map(String::as_str).concat();
                let is_one = page.contains(&squeezed(&format!("{who}{rate}{cost}")));
                let are_two =
                    [rate, cost].map(|cells| page.contains(&squeezed(&format!("{who}{cells}"))));
                assert!(is_one || are_two == [true; 2], "{name} at {width}: {row:?}");
            }
        }
    }
}

#[test]
fn colours_change_no_word_and_mark_what_is_bad() {
    let view = &cases::named("failures-only").view;
    let [page, plain] = [true, false].map(|colour| text(view, 100, colour));
    assert_eq!(unstyled(&page), plain);
    let [red, yellow] = [AnsiColor::Red, AnsiColor::Yellow].map(|colour| colour.on_default());
    assert!(
        page.contains(&format!("{yellow}! Failed, and not ranked")),
        "{page}"
    );
    assert!(
        page.contains(&format!("{red}x bad-answers failed in 2 of 2 trials")),
        "{page}"
    );
}

#[test]
fn every_throughput_has_its_plot() {
    for Case { name, view, .. } in cases::all() {
        let groups = view.sections.iter().filter_map(|section| match section {
            Section::Capacity(group) => Some(group.rows.len()),
            Section::Latency(_) => None,
        });
        let rows: usize = groups.sum();
        for width in [72, 80, 120] {
            let page = results(&text(view, width, false));
            let is_plot = |line: &&str| {
                let strip = line.rsplit("  ").next().unwrap_or_default();
                let drawn = strip.chars().all(|c| "·├─┤●○╌→".contains(c));
                drawn && strip.contains(['●', '○'])
            };
            let plots = page.lines().filter(is_plot).count();
            assert_eq!(plots, rows, "{name} at {width}:\n{page}");
        }
    }
}

#[test]
fn the_plot_of_a_wider_screen_is_wider() {
    let view = &cases::named("ties").view;
    let widest = |width| {
        let page = shown(view, width, Charset::Unicode);
        let strips = page.lines().filter(|line| line.contains('●'));
        strips.map(display_width).max().unwrap()
    };
    assert!(widest(72) < widest(80) && widest(120) < widest(150));
}
