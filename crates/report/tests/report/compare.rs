//! A comparison in alternation, with names that want to break out.

use deadheat_report::compare::{CompareView, brief, json, markdown, text};
use deadheat_stats::{
    sequential::Design,
    versus::{
        Bounds, Check, Ended, Fact, How, Metric, NotCompared, Side, Subject, Versus,
        paired::{PairedCell, Series, at_look},
    },
};

use crate::standings::cases::HOSTILE;

/// `--fail-if-slower 3%`.
const SLOWER: Check = Check {
    fail_if_slower: Some(0.03),
    require_decision: false,
};

fn subject(workload: &str) -> Subject {
    Subject {
        target: None,
        workload: workload.to_owned(),
        point: "c50".to_owned(),
    }
}

/// B at `ratio` of A in two cells, at the third look of four.
fn versus(ratio: f64) -> Versus {
    let design = Design::declare(&[5, 7, 10, 14], 0.05).unwrap();
    let look = design.looks[2];
    let pairs = (0..10).map(|heat| {
        let noise = 1.0 + 0.002 * f64::from(heat % 3);
        (5_000.0, 5_000.0 * ratio * noise)
    });
    let cell = |workload: &str| PairedCell {
        deciding: 1,
        subject: subject(workload),
        series: vec![Series::of_pairs(
            Metric::Throughput,
            &pairs.clone().collect::<Vec<_>>(),
        )],
        notes: vec![HOSTILE[0].to_owned()],
    };
    let bounds = Bounds::default();
    let side = |name: &str| Side {
        name: name.to_owned(),
        facts: vec![Fact::new("command", HOSTILE[1]), Fact::new("commit", "")],
        failed: None,
    };
    let cells = [cell("GET /"), cell(&"GET /a/very/long/path".repeat(5))];
    Versus {
        compared: at_look(&cells, look, &bounds),
        how: How::Heats {
            design,
            look: Some(look),
            heats: 10,
            slice_seconds: 0.1,
            guard_seconds: 0.02,
            took_seconds: 143.0,
            ended: Ended::Decided,
            seed: 7,
        },
        a: side("cmd:./old --port $PORT"),
        b: side(HOSTILE[4]),
        bounds,
        not_compared: vec![NotCompared {
            subject: subject(HOSTILE[2]),
            reason: HOSTILE[1].to_owned(),
            b_failed: false,
        }],
        conditions: vec![Fact::new("processor", HOSTILE[2])],
        differences: Vec::new(),
        warnings: vec![HOSTILE[1].to_owned()],
    }
}

#[test]
fn text_keeps_its_width_and_its_words() {
    let versus = versus(0.95);
    let gate = versus.gate(SLOWER);
    let page = text(&CompareView::new(&versus, Some(&gate)), 80, false);
    for line in page.lines() {
        let columns = textwrap::core::display_width(line);
        // A word of the user's own that is longer than a line is not cut.
        assert!(
            columns <= 80 || line.contains("/very/long/"),
            "{columns} columns: {line}"
        );
        assert!(
            !line.contains('\u{1b}') && !line.contains('\u{202e}'),
            "{line}"
        );
    }
    let flat = page.split_whitespace().collect::<Vec<_>>().join(" ");
    let expected = [
        "Of 2 cells, B is slower in 2.",
        "--fail-if-slower 3 %: failed.",
        "GET / c50 5,000 4,760 0.952",
        "looked at after 5, 7, 10 and 14 heats, as declared beforehand",
        "The figures are of the look after 10 heats, which spends",
        "split over 2 cells",
        "It ended because every cell had its verdict, or could not get one.",
        "(seed 7)",
    ];
    for fragment in expected {
        assert!(flat.contains(fragment), "{fragment:?} is not in\n{page}");
    }
}

#[test]
fn a_first_screen_has_the_answer_and_not_the_method() {
    let versus = versus(0.95);
    let page = brief(&CompareView::new(&versus, None), 80, false);
    assert!(page.starts_with("Of 2 cells, B is slower in 2."), "{page}");
    assert!(page.contains("0.946") || page.contains("0.95"), "{page}");
    assert!(page.contains("--details"), "{page}");
    assert!(!page.contains("Lan") && !page.contains("Where"), "{page}");
}

#[test]
fn one_thing_at_one_load_has_one_table_with_a_row_for_each_metric() {
    let mut versus = versus(0.95);
    versus.compared.truncate(1);
    let page = brief(&CompareView::new(&versus, None), 80, false);
    let mut lines = page.lines().skip_while(|line| *line != "GET / c50").skip(2);
    let row = lines.next().unwrap_or_default();
    assert!(row.starts_with("requests/s  5,000  4,76"), "{page}");
    assert!(!page.contains("(closed loop)"), "{page}");
}

#[test]
fn a_whole_comparison() {
    let versus = versus(0.95);
    let view = CompareView::new(&versus, Some(&versus.gate(SLOWER)));
    insta::assert_snapshot!("compare-text", text(&view, 80, false));
    insta::assert_snapshot!("compare-markdown", markdown(&view));
}

#[test]
fn markdown_lets_nothing_break_out() {
    let page = markdown(&CompareView::new(&versus(1.05), None));
    assert!(
        page.starts_with("✅ **Of 2 cells, B is faster in 2.**"),
        "{page}"
    );
    let tags = page.matches('<').count();
    let own = page.matches("<details>").count() + page.matches("</details>").count();
    let summaries = page.matches("<summary>").count() + page.matches("</summary>").count();
    assert_eq!(tags, own + summaries, "{page}");
}

#[test]
fn json_is_unrounded_and_says_when_it_was_looked_at() {
    let page = json(&versus(1.0), None).unwrap();
    let json: serde_json::Value = serde_json::from_str(&page).unwrap();
    assert_eq!(json["how"]["look"]["heats"], 10);
    assert_eq!(
        json["how"]["design"]["looks"].as_array().map(Vec::len),
        Some(4)
    );
    assert_eq!(json["how"]["ended"], "decided");
    let level = json["compared"][0]["ratios"][0]["interval"]["level"].as_f64();
    let spends = json["how"]["look"]["spends"].as_f64();
    assert!((level.unwrap() + spends.unwrap() / 2.0 - 1.0).abs() < 1e-12);
    assert!(json["gate"].is_null());
}
