//! What every output keeps, whatever the load.

use deadheat_report::{
    html::Contents,
    load::{brief, csv, html, html_with, json, text},
};
use deadheat_stats::load::{Standing, analyse};

use super::view;
use crate::load_fixture as cases;

#[test]
fn text_keeps_its_width() {
    for (name, record) in cases::all() {
        for width in [80, 100, 120] {
            for line in text(&view(&record), width, false).lines() {
                let columns = textwrap::core::display_width(line);
                assert!(
                    columns <= width,
                    "{name} at {width}: {columns} columns: {line}"
                );
            }
        }
    }
}

/// Of a load that went well; one that failed lists how.
#[test]
fn the_first_screen_is_one_screen_and_has_every_warning() {
    for (name, record) in cases::all() {
        let view = view(&record);
        let page = brief(&view, 80, false);
        let is_sound = view.standing == Standing::Sound;
        // Streams have events besides.
        let most = 24 + view.events.len();
        assert!(!is_sound || page.lines().count() <= most, "{name}: {page}");
        assert_eq!(page.lines().next(), text(&view, 80, false).lines().next());
        let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        for sign in view.doubts.iter().filter(|sign| !sign.in_headline) {
            assert!(
                words(&page).contains(&words(&sign.sentence)),
                "{name}: {page}"
            );
        }
        // What holds for most loads is in the long report.
        for note in &view.notes {
            let (said, long) = (words(&note.sentence), words(&text(&view, 80, false)));
            assert!(long.contains(&said), "{name}: {said}");
            assert_eq!(
                words(&page).contains(&said),
                !note.is_routine,
                "{name}: {said}"
            );
        }
    }
}

#[test]
fn the_first_line_says_that_the_generator_was_the_limit() {
    for (name, record) in cases::all() {
        let analysis = analyse(&record);
        let first = view(&record).headline;
        let limited = analysis.verdict.standing == Standing::GeneratorLimited;
        assert_eq!(
            first.contains("The generator was the limit"),
            limited,
            "{name}: {first}"
        );
        let failed = analysis.verdict.standing == Standing::Failed;
        assert_eq!(
            first.starts_with("Nothing was measured"),
            failed,
            "{name}: {first}"
        );
    }
    let page = html_with(&view(&cases::generator_limited()), "").unwrap();
    let limit = page.find("The generator was the limit").unwrap();
    assert!(limit < page.find("<h1").unwrap(), "before anything else");
}

#[test]
fn failures_come_first_whatever_else_is_wrong() {
    let mut with_failures = 0;
    for (name, mut record) in cases::all() {
        record.interrupted = false;
        let analysis = analyse(&record);
        let share = analysis.figures.failed_share.unwrap_or_default();
        if share == 0.0 || record.observation.measured.succeeded == 0 {
            continue;
        }
        with_failures += 1;
        let headline = view(&record).headline;
        let begins = headline.split_once(" of ").map(|(share, _)| share);
        assert!(
            begins.is_some_and(|share| share.ends_with(" %")) && headline.contains(" failed"),
            "{name}: {headline}"
        );
    }
    assert!(with_failures > 0);
}

#[test]
fn a_latency_is_never_without_its_kind() {
    let closed = view(&cases::closed_fine()).latency;
    assert_eq!(closed.columns, ["service time (closed loop)"]);
    let open = view(&cases::open_freeze()).latency;
    let expected = [
        "service time",
        "response time",
        "connection wait",
        "send lag",
    ];
    assert_eq!(open.columns, expected);
    assert!(view(&cases::nothing_answered()).latency.columns.is_empty());
}

#[test]
fn a_freeze_shows_in_response_time_and_hardly_in_service_time() {
    let table = view(&cases::open_freeze()).latency;
    let p99 = table.rows.iter().find(|row| row.name == "p99").unwrap();
    let shown = p99.shown();
    assert!(shown[0].ends_with(" ms"), "service time {}", shown[0]);
    assert!(shown[1].ends_with(" s"), "response time {}", shown[1]);
}

#[test]
fn a_percentile_needs_its_samples() {
    let names = |record| -> Vec<String> {
        let rows = view(&record).latency.rows.into_iter();
        rows.map(|row| row.name).collect()
    };
    let one = names(cases::one_request());
    assert_eq!(one, ["least", "mean", "p50", "p75", "longest", "samples"]);
    let many = names(cases::closed_fine());
    assert!(
        many.contains(&"p99".to_owned()) && !many.contains(&"p99.9".to_owned()),
        "{many:?}"
    );
}

#[test]
fn a_page_needs_no_network() {
    let view = view(&cases::open_freeze());
    let contents = Contents {
        json: "{}",
        csv: "",
    };
    let page = html(&view, &contents).unwrap();
    let weight = page.len();
    assert!(
        (1_000_000..3_000_000).contains(&weight),
        "with plotly, packed: {weight}"
    );
    let own = html_with(&view, "").unwrap();
    for outside in ["src=", "href=", "@import", "url("] {
        assert!(!own.contains(outside), "{outside}");
    }
    // Two files are in it.
    assert_eq!(
        page.matches("</script>").count(),
        own.matches("</script>").count() + 2
    );
}

#[test]
fn text_from_outside_is_text() {
    let record = cases::only_failures();
    let page = html_with(&view(&record), "").unwrap();
    assert!(!page.contains("<script>alert"), "escaped");
    assert!(page.contains("&lt;script&gt;alert"), "and kept");
    assert_eq!(page.matches("<script>").count(), 1);
    let lines = text(&view(&record), 80, false);
    for shown in [&page, &lines] {
        assert!(shown.chars().all(|c| c == '\n' || !c.is_control()));
        assert!(!shown.contains('\u{202e}') && shown.contains("\\u{1b}[2J"));
    }
}

#[test]
fn urls_of_any_language_are_kept() {
    let record = cases::non_ascii();
    let analysis = analyse(&record);
    let lines = text(&view(&record), 80, false);
    assert!(
        lines.contains("http://bücher.example/straße/大小?größe=groß&x=<b>"),
        "{lines}"
    );
    let document: serde_json::Value =
        serde_json::from_str(&json(&record, &analysis).unwrap()).unwrap();
    assert_eq!(document["url"], record.url.as_str());
}

#[test]
fn each_row_of_the_csv_is_as_wide_as_its_header() {
    for (name, record) in cases::all() {
        let rows = csv(&record.intervals);
        let widths: Vec<usize> = rows.lines().map(|row| row.split(',').count()).collect();
        assert_eq!(widths.len(), 1 + record.intervals.len(), "{name}");
        assert!(
            widths.iter().all(|width| *width == widths[0]),
            "{name}: {widths:?}"
        );
        assert!(rows.ends_with("\r\n"), "{name}");
    }
}
