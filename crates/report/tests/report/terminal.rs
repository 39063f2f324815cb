//! The text report on screens of several widths and kinds.

use deadheat_model::SessionRecord;
use deadheat_report::{
    View,
    text::{Charset, Screen, text, text_on},
};
use deadheat_stats::analyse;
use textwrap::core::display_width;

use crate::{cases, large};

/// The cases of every format, and names that no ASCII font has.
fn all() -> Vec<(&'static str, SessionRecord)> {
    let mut all = cases::all();
    all.push(("odd-names", large::odd_names()));
    all
}

/// The results only: what stands above does not depend on the kind of screen.
fn results(text: &str) -> String {
    let at = text.find("\nResults\n").expect("a report has results");
    text[at + 1..].to_owned()
}

fn shown(record: &SessionRecord, width: usize, charset: Charset) -> String {
    let view = View::new(record, &analyse(record));
    let screen = Screen {
        width,
        colour: false,
        charset,
    };
    text_on(&view, screen)
}

#[test]
fn ugly_sessions_at_72_80_and_120_columns() {
    for (name, record) in all() {
        for width in [72, 80, 120] {
            let page = shown(&record, width, Charset::Unicode);
            insta::assert_snapshot!(format!("terminal-{name}-{width}"), results(&page));
        }
    }
}

#[test]
fn a_screen_without_utf_8() {
    for name in ["plausible", "odd-names", "published"] {
        let (_, record) = all().into_iter().find(|(case, _)| *case == name).unwrap();
        let page = shown(&record, 80, Charset::Ascii);
        insta::assert_snapshot!(format!("terminal-{name}-ascii"), results(&page));
    }
}

#[test]
fn every_screen_s_width_and_characters_are_kept() {
    for (name, record) in all() {
        for width in [72, 80, 97, 120, 200] {
            for charset in [Charset::Unicode, Charset::Ascii] {
                let page = shown(&record, width, charset);
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

#[test]
fn every_throughput_has_its_plot() {
    for (name, record) in all() {
        let view = View::new(&record, &analyse(&record));
        let groups = view.sections.iter().filter_map(|section| match section {
            deadheat_report::view::Section::Capacity(group) => Some(group.rows.len()),
            deadheat_report::view::Section::Latency(_) => None,
        });
        let rows: usize = groups.sum();
        for width in [72, 80, 120] {
            let page = results(&text(&view, width, false));
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
    let record = cases::ties();
    let widest = |width| {
        let page = shown(&record, width, Charset::Unicode);
        let strips = page.lines().filter(|line| line.contains('●'));
        strips.map(display_width).max().unwrap()
    };
    assert!(widest(72) < widest(80) && widest(120) < widest(150));
}
