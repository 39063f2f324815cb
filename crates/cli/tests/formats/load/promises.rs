//! What every output keeps, whatever the load.

use deadheat_loadtool::{
    analysis::{Validity, analyse},
    document::{csv, json},
};
use deadheat_model::{LoadRecord, warning::Level};

use super::{first_screen, headline, page, text};
use crate::load_fixture as cases;

#[test]
fn text_keeps_its_width() {
    for (name, record) in cases::all() {
        for width in [80, 100, 120] {
            for line in text(&record, width).lines() {
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
        let analysis = analyse(&record);
        let (brief, long) = (first_screen(&record), text(&record, 80));
        let is_sound = analysis.verdict.validity == Validity::Sound;
        // Streams have events besides.
        let most = 24
            + if record.observation.events.is_some() {
                3
            } else {
                0
            };
        assert!(
            !is_sound || brief.lines().count() <= most,
            "{name}: {brief}"
        );
        assert_eq!(brief.lines().next(), long.lines().next());
        let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        for warning in &analysis.verdict.warnings {
            let said = words(&warning.in_full());
            let in_headline = analysis.verdict.is_in_headline(warning);
            assert!(
                in_headline || words(&long).contains(&said),
                "{name}: {said}"
            );
            // What holds for most loads is in the long report alone.
            let is_brief = warning.level < Level::Routine;
            assert!(
                in_headline || words(&brief).contains(&said) == is_brief,
                "{name}: {brief}"
            );
        }
    }
}

#[test]
fn the_first_line_says_that_the_generator_was_the_limit() {
    for (name, record) in cases::all() {
        let analysis = analyse(&record);
        let first = headline(&record);
        let limited = analysis.verdict.validity == Validity::GeneratorLimited;
        assert_eq!(
            first.contains("The generator was the limit"),
            limited,
            "{name}: {first}"
        );
        let failed = analysis.verdict.validity == Validity::Failed;
        assert_eq!(
            first.starts_with("Nothing was measured"),
            failed,
            "{name}: {first}"
        );
    }
    let page = page(&cases::generator_limited());
    assert!(page.contains("<h1>The generator was the limit"), "{page}");
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
        let headline = headline(&record);
        let begins = headline.split_once(" of ").map(|(share, _)| share);
        assert!(
            begins.is_some_and(|share| share.ends_with(" %")) && headline.contains(" failed"),
            "{name}: {headline}"
        );
    }
    assert!(with_failures > 0);
}

/// The cells of the table of latencies, the heads first.
fn latencies(record: &LoadRecord) -> Vec<Vec<String>> {
    let text = text(record, 120);
    let lines = text.lines().skip_while(|line| *line != "Latency").skip(1);
    let lines = lines.take_while(|line| !line.is_empty() && !line.starts_with("Service"));
    let cells = |line: &str| {
        let cells = line
            .split("  ")
            .map(str::trim)
            .filter(|cell| !cell.is_empty());
        cells.map(str::to_owned).collect()
    };
    lines.map(cells).collect()
}

#[test]
fn a_latency_is_never_without_its_kind() {
    let heads = |record: &LoadRecord| latencies(record).into_iter().next().unwrap_or_default();
    assert_eq!(heads(&cases::closed_fine()), ["service time (closed loop)"]);
    let expected = [
        "service time",
        "response time",
        "connection wait",
        "send lag",
    ];
    assert_eq!(heads(&cases::open_freeze()), expected);
    assert!(latencies(&cases::nothing_answered()).is_empty());
}

#[test]
fn a_freeze_shows_in_response_time_and_hardly_in_service_time() {
    let table = latencies(&cases::open_freeze());
    let p99 = table.iter().find(|row| row[0] == "p99").unwrap();
    assert!(p99[1].ends_with(" ms"), "service time {}", p99[1]);
    assert!(p99[2].ends_with(" s"), "response time {}", p99[2]);
}

#[test]
fn a_percentile_needs_its_samples() {
    let names = |record: &LoadRecord| -> Vec<String> {
        let rows = latencies(record).into_iter().skip(1);
        rows.map(|row| row[0].clone()).collect()
    };
    let one = names(&cases::one_request());
    assert_eq!(one, ["min", "mean", "p50", "p75", "max", "samples"]);
    let many = names(&cases::closed_fine());
    assert!(
        many.contains(&"p99".to_owned()) && !many.contains(&"p99.9".to_owned()),
        "{many:?}"
    );
}

#[test]
fn a_page_is_light_and_needs_no_network() {
    let page = page(&cases::open_freeze());
    for outside in ["src=", "href=", "@import", "url("] {
        assert!(!page.contains(outside), "{outside}");
    }
    let ours = |from, to| {
        let pieces = page.split(from).skip(1);
        let pieces = pieces.map(|piece| piece.split_once(to).expect("an end").0.len());
        pieces.sum::<usize>()
    };
    let weight = ours("<style>", "</style>") + ours("<script>", "</script>");
    assert!(weight < 30_000, "styles and scripts: {weight} bytes");
}

#[test]
fn text_from_outside_is_text() {
    let record = cases::only_failures();
    let page = page(&record);
    assert!(!page.contains("<script>alert"), "escaped");
    assert!(page.contains("&lt;script&gt;alert"), "and kept");
    assert_eq!(page.matches("<script>").count(), 1);
    let lines = text(&record, 80);
    for shown in [&page, &lines] {
        assert!(shown.chars().all(|c| c == '\n' || !c.is_control()));
        assert!(!shown.contains('\u{202e}') && shown.contains("\\u{1b}[2J"));
    }
}

#[test]
fn urls_of_any_language_are_kept() {
    let record = cases::non_ascii();
    let analysis = analyse(&record);
    let lines = text(&record, 80);
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
