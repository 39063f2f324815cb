//! The report for a terminal.

use deadheat_bench::{document as standings, document::view::StandingsView};
use deadheat_document::text::{Charset, Screen};
use deadheat_stats::heats::PairVerdict;
use textwrap::core::display_width;

use super::{budgets, cases};

fn screen(width: usize, charset: Charset) -> Screen {
    Screen {
        width,
        colour: false,
        charset,
    }
}

const TERMINAL: Screen = Screen {
    width: 80,
    colour: false,
    charset: Charset::Unicode,
};

#[test]
fn text_at_80_columns() {
    insta::assert_snapshot!(standings::text(&cases::named("usual").view(), TERMINAL));
}

#[test]
fn it_never_has_more_than_38_lines_and_keeps_to_the_width() {
    for case in cases::all() {
        let view = case.view();
        for (width, charset) in [
            (80, Charset::Unicode),
            (80, Charset::Ascii),
            (72, Charset::Unicode),
            (160, Charset::Unicode),
        ] {
            let text = standings::text(&view, screen(width, charset));
            let lines = text.lines().count();
            assert!(
                lines <= 38,
                "{} has {lines} lines at {width}:\n{text}",
                case.name
            );
            let full = standings::document(&view).text(screen(width, charset));
            for line in text.lines().chain(full.lines()) {
                // What a server wrote is there to be copied.
                let is_log = line.starts_with("    ");
                assert!(
                    is_log || display_width(line) <= width,
                    "{} at {width}: {line}",
                    case.name
                );
                assert!(charset == Charset::Unicode || line.is_ascii(), "{line}");
            }
        }
    }
}

#[test]
fn no_text_from_outside_moves_the_cursor() {
    for case in cases::all() {
        let view = case.view();
        for text in [
            standings::text(&view, TERMINAL),
            standings::document(&view).text(TERMINAL),
        ] {
            let is_bad = |c: char| c.is_control() && c != '\n' || c == '\u{202e}';
            assert!(!text.contains(is_bad), "{}: {text:?}", case.name);
        }
    }
}

#[test]
fn one_load_shows_every_row_that_has_room() {
    let text = standings::text(&cases::named("few").view(), TERMINAL);
    for name in [
        "nginx-static",
        "python-japronto",
        "rust-actix",
        "rust-axum",
        "c-h2o",
    ] {
        let row = text
            .lines()
            .find(|line| line.contains(name) && line.contains("MiB"));
        assert!(row.is_some(), "{name}: {text}");
    }
    assert!(!text.contains("more"), "{text}");
}

#[test]
fn stacks_with_other_cpus_have_a_table_of_their_own() {
    let (record, found) = budgets::budgets();
    let text = standings::text(&StandingsView::new(&record, &found), TERMINAL);
    let lines: Vec<&str> = text.lines().collect();
    let title = lines
        .iter()
        .position(|line| *line == "1 CPU")
        .expect("a title");
    assert!(lines[title + 1].contains("nginx-static"), "{text}");
    assert!(text.contains("plaintext, 2 CPUs: "), "{text}");
}

#[test]
fn what_stacks_gain_from_more_cpus_is_said_and_has_a_table() {
    let (mut record, mut found) = budgets::budgets();
    let full = |record: &_, found: &_| {
        let full = standings::document(&StandingsView::new(record, found)).text(TERMINAL);
        full.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let text = full(&record, &found);
    let sentence = "With 2 CPUs instead of 1, nginx-static answers 1.80 times as much (1.70–1.90)";
    assert!(text.contains(sentence), "{text}");
    for row in [
        "1.000 (0.980–1.020) 50 % 8.20 µs",
        "python-japronto@2 no gain",
        "rust-actix@2 undecided",
    ] {
        assert!(text.contains(row), "{row}: {text}");
    }
    let short = standings::text(&StandingsView::new(&record, &found), TERMINAL);
    assert!(short.contains("With 2 CPUs instead of 1, "), "{short}");
    let load = &mut found.loads[0];
    load.scaling.truncate(1);
    for (verdict, bound, says) in [
        (
            PairVerdict::Faster,
            true,
            "answers at least 1.80 times as much",
        ),
        (PairVerdict::DeadHeat, false, "gains nothing."),
        (PairVerdict::Undecided, false, "gains nothing provable."),
        (
            PairVerdict::Undecided,
            true,
            "may gain more than the load generator let it show.",
        ),
        (
            PairVerdict::Slower,
            false,
            "answers only 1.80 times as much",
        ),
    ] {
        let gain = &mut found.loads[0].scaling[0].budgets[1].gain;
        let gain = gain.as_mut().unwrap();
        (gain.is_bound, gain.verdict) = (bound, verdict);
        let text = full(&record, &found);
        assert!(text.contains(says), "{says}: {text}");
    }
    found.loads[0].look = None;
    assert!(!full(&record, &found).contains("instead of 1"));
    for target in &mut record.header.plan.loads[0].targets {
        target.cpus = Some(4);
    }
    let title = StandingsView::new(&record, &found).title.to_string();
    assert!(title.contains(" on 4 CPUs, plaintext"), "{title}");
}

#[test]
fn what_is_left_out_is_counted() {
    let text = standings::text(&cases::named("usual").view(), TERMINAL);
    let shown = text.lines().filter(|line| line.contains("MiB")).count();
    let all: usize = cases::named("usual")
        .view()
        .leading()
        .map(|load| load.rows().count())
        .sum();
    let expected = format!("… {} more rows, in the page", all - shown);
    assert!(text.contains(&expected), "{expected}: {text}");
}

#[test]
fn the_long_text_has_all_rows_warnings_and_reasons() {
    for case in cases::all().iter().filter(|case| case.name != "hostile") {
        let view = case.view();
        let full = standings::document(&view).text(screen(160, Charset::Unicode));
        let flat = full.split_whitespace().collect::<Vec<_>>().join(" ");
        let has = |text: &str| {
            let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(flat.contains(&text), "{} lacks {text}", case.name);
        };
        for row in view.loads.iter().flat_map(|load| load.rows()) {
            has(&row.target);
        }
        view.warnings
            .iter()
            .for_each(|warning| has(&warning.sentence));
        if case.name != "all-failed" {
            view.not_measured
                .entries
                .iter()
                .for_each(|lack| has(&lack.reason));
        }
    }
}

#[test]
fn colour_changes_nothing_but_colour() {
    let view = cases::named("usual").view();
    let coloured = standings::text(
        &view,
        Screen {
            colour: true,
            ..TERMINAL
        },
    );
    assert!(coloured.contains("\u{1b}["));
    let mut plain = String::new();
    let mut rest = coloured.as_str();
    while let Some((before, after)) = rest.split_once('\u{1b}') {
        plain.push_str(before);
        rest = after.split_once('m').unwrap().1;
    }
    assert_eq!(plain + rest, standings::text(&view, TERMINAL));
}
