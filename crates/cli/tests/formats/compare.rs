//! A comparison in alternation, with names that want to break out.

use deadheat_compare::document::{document, headline, html, json};
use deadheat_document::text::Screen;
use deadheat_model::{
    comparison::{Decide, Side},
    warning::{doubt, note},
};
use deadheat_stats::{
    comparison::{
        Bounds, CellId, Check, ComparisonAnalysis, Ended, Fact, Method, Metric, NotCompared,
        Overloaded, RatioVerdict, SideFacts,
        paired::{PairedCell, PairedSeries, at_look, unjudged},
    },
    heats::recorded::SliceLengths,
    sequential::Design,
};

use crate::{
    schema::{closed, published, satisfies},
    standings::cases::HOSTILE,
};

/// `--fail-if-slower 3%`.
const SLOWER: Check = Check {
    fail_if_slower: Some(0.03),
    fail_if_costlier: None,
    require_decision: false,
};

fn screen() -> Screen {
    Screen::new(80, false)
}

fn subject(workload: &str) -> CellId {
    CellId {
        target: None,
        workload: workload.to_owned(),
        point: "c50".to_owned(),
    }
}

/// B at `ratio` of A in two cells, at the third look of four.
pub fn comparison(ratio: f64) -> ComparisonAnalysis {
    let design = Design::declare(&[5, 7, 10, 14], 0.05).unwrap();
    let look = design.looks[2];
    let pairs = (0..10).map(|heat| {
        let noise = 1.0 + 0.002 * f64::from(heat % 3);
        (5_000.0, 5_000.0 * ratio * noise)
    });
    let pairs: Vec<(f64, f64)> = pairs.collect();
    let cell = |workload: &str| {
        let series = PairedSeries::of_pairs(Metric::Throughput, &pairs);
        let mut cell = PairedCell::new(subject(workload), series);
        cell.unjudged.notes.push(note("hostile", HOSTILE[0]));
        cell
    };
    let bounds = Bounds::default();
    let side = |name: &str| SideFacts {
        name: name.to_owned(),
        facts: vec![Fact::new("command", HOSTILE[1]), Fact::new("commit", "")],
        failed: None,
    };
    let cells = [cell("GET /"), cell(&"GET /a/very/long/path".repeat(5))];
    ComparisonAnalysis {
        compared: at_look(&cells, look, &bounds),
        how: Method::Heats {
            design,
            look: Some(look),
            heats: 10,
            starts: 10,
            folder: "results/20260301-100000-7".to_owned(),
            slices: Some(SliceLengths {
                counted_seconds: [0.1, 0.25],
                guard_seconds: [0.02; 2],
                longest_gap_seconds: 0.3,
            }),
            equal_work: None,
            took_seconds: 143.0,
            ended: Ended::Decided,
            seed: 7,
        },
        a: side("cmd:./old --port $PORT"),
        b: side(HOSTILE[4]),
        is_change: false,
        bounds,
        not_compared: vec![NotCompared {
            subject: subject(HOSTILE[2]),
            reason: HOSTILE[1].to_owned(),
            b_failed: false,
        }],
        conditions: vec![Fact::new("processor", HOSTILE[2])],
        differences: Vec::new(),
        warnings: vec![doubt("hostile", HOSTILE[1])],
    }
}

#[test]
fn text_keeps_its_width_and_its_words() {
    let comparison = comparison(0.95);
    let gate = comparison.gate(SLOWER);
    let page = document(&comparison, Some(&gate)).text(screen());
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
        "is slower in 2, compared with cmd:./old --port $PORT.",
        "--fail-if-slower 3 %: failed.",
        "GET / c50 A B B against A interval requests/s 5,000 4,760 1.051× slower",
        "judged after 5, 7, 10 and 14 heats, as declared beforehand",
        "The figures are of the checkpoint after 10 heats, which spends",
        "split over 2 cells",
        "It ended because the question had its answer in every cell, or could not get one.",
        "(seed 7)",
    ];
    for fragment in expected {
        assert!(flat.contains(fragment), "{fragment:?} is not in\n{page}");
    }
}

#[test]
fn a_first_screen_has_the_answer_and_not_the_method() {
    let comparison = comparison(0.95);
    let page = document(&comparison, None).brief(screen());
    assert!(page.starts_with("Of 2 cells, "), "{page}");
    assert!(page.contains("1.051× slower"), "{page}");
    let last = page.lines().last().unwrap_or_default();
    assert_eq!(
        last, "Details: deadheat report results/20260301-100000-7 --details",
        "{page}"
    );
    assert!(!page.contains("Lan") && !page.contains("Where"), "{page}");
}

#[test]
fn one_thing_at_one_load_has_one_table_with_a_row_for_each_metric() {
    let mut comparison = comparison(0.95);
    comparison.compared.truncate(1);
    let page = document(&comparison, None).brief(screen());
    let mut lines = page.lines().skip_while(|line| *line != "GET / c50").skip(2);
    let row = lines.next().unwrap_or_default();
    assert!(row.starts_with("requests/s  5,000  4,76"), "{page}");
    assert!(!page.contains("(closed loop)"), "{page}");
}

#[test]
fn a_whole_comparison() {
    let comparison = comparison(0.95);
    let document = document(&comparison, Some(&comparison.gate(SLOWER)));
    insta::assert_snapshot!("compare-text", document.text(screen()));
    insta::assert_snapshot!("compare-markdown", document.markdown());
}

#[test]
fn markdown_lets_nothing_break_out() {
    let page = document(&comparison(1.05), None).markdown();
    assert!(
        page.starts_with("✅ **Of 2 cells, &lt;/pre&gt;&lt;img src=x onerror=alert(1)&gt; is faster in 2, compared with"),
        "{page}"
    );
    let tags = page.matches('<').count();
    let own = page.matches("<details>").count() + page.matches("</details>").count();
    let summaries = page.matches("<summary>").count() + page.matches("</summary>").count();
    assert_eq!(tags, own + summaries, "{page}");
}

#[test]
fn json_is_unrounded_and_says_when_it_was_looked_at() {
    let page = json(&comparison(1.0), None).unwrap();
    let json: serde_json::Value = serde_json::from_str(&page).unwrap();
    satisfies(&closed(published("compare")), "compare", &json);
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

/// One cell, with names as people type them. `pairs` are A's and B's figures in each heat.
fn one(
    metric: Metric,
    pairs: &[(f64, f64)],
    is_judged: bool,
    is_change: bool,
) -> ComparisonAnalysis {
    let design = Design::declare(&[5, 10], 0.05).unwrap();
    let look = design.looks[1];
    let series = PairedSeries::of_pairs(metric, pairs);
    let cells = [PairedCell::new(subject("GET /"), series)];
    let whole = comparison(1.0);
    let heats = pairs.len() as u32;
    let side = |name: &str| SideFacts {
        name: name.to_owned(),
        ..whole.a.clone()
    };
    let [a, b] = if is_change {
        ["main", "this pull request"]
    } else {
        ["node a.js --port $PORT", "python3 b.py --port $PORT"]
    };
    ComparisonAnalysis {
        compared: if is_judged {
            at_look(&cells, look, &whole.bounds)
        } else {
            unjudged(&cells, heats, &whole.bounds)
        },
        how: Method::Heats {
            design,
            look: is_judged.then_some(look),
            heats,
            starts: 10,
            folder: "results/1".to_owned(),
            slices: Some(SliceLengths {
                counted_seconds: [0.1, 0.25],
                guard_seconds: [0.02; 2],
                longest_gap_seconds: 0.3,
            }),
            equal_work: None,
            took_seconds: 60.0,
            ended: if is_judged {
                Ended::Decided
            } else {
                Ended::Interrupted
            },
            seed: 7,
        },
        a: side(a),
        b: side(b),
        is_change,
        not_compared: Vec::new(),
        warnings: Vec::new(),
        ..whole
    }
}

/// B at this ratio of A in so many heats, which scatter by 1 %.
fn pairs(heats: u32, ratio: f64) -> Vec<(f64, f64)> {
    let noise = |heat: u32| 1.0 + 0.01 * (f64::from(heat % 3) - 1.0);
    let pair = |heat| (5_000.0, 5_000.0 * ratio * noise(heat));
    (0..heats).map(pair).collect()
}

#[test]
fn the_verdict_names_the_sides_and_no_ratio_is_below_one() {
    let throughput = Metric::Throughput;
    let cases = [
        (
            throughput,
            0.148,
            false,
            "node a.js is 6.76× as fast as python3 b.py at GET / (6.",
        ),
        (
            throughput,
            1.63,
            false,
            "python3 b.py is 1.63× as fast as node a.js at GET / (1.",
        ),
        (
            throughput,
            0.148,
            true,
            "this pull request makes GET / 6.76× slower than main (6.",
        ),
        (
            throughput,
            1.63,
            true,
            "this pull request makes GET / 1.63× faster than main (1.",
        ),
        (
            throughput,
            1.001,
            false,
            "A dead heat at GET /: node a.js and python3 b.py differ by at most 0.",
        ),
        (
            Metric::ResponseTimeP99,
            1.8,
            false,
            "python3 b.py is slower than node a.js at GET /: its p99 response time is 1.80× as long (1.",
        ),
        (
            Metric::ResponseTimeP99,
            0.5,
            true,
            "this pull request makes GET / faster than main, whose p99 response time is 2.00× as long (1.",
        ),
    ];
    for (metric, ratio, is_change, expected) in cases {
        let comparison = one(metric, &pairs(10, ratio), true, is_change);
        let headline = headline(&comparison);
        assert!(headline.starts_with(expected), "{ratio}: {headline}");
    }
    let wide: Vec<(f64, f64)> = pairs(4, 1.0)
        .into_iter()
        .zip([0.9, 1.1, 0.95, 1.08])
        .map(|((a, b), noise)| (a, b * noise))
        .collect();
    let headline = headline(&one(throughput, &wide, true, false));
    assert!(
        headline.starts_with("Undecided at GET /: python3 b.py is between 1.")
            && headline.ends_with("× faster than node a.js."),
        "{headline}"
    );
}

/// One cell whose cost at 2,000 requests per second decides: B at this ratio of A.
fn costs(ratio: f64, is_change: bool) -> ComparisonAnalysis {
    let mut comparison = one(Metric::CpuPerRequest, &pairs(10, ratio), true, is_change);
    let cell = &mut comparison.compared[0];
    cell.ratios[0].per_second = Some(2_000.0);
    (cell.decide, cell.rates) = (Decide::Cpu, vec![2_000.0]);
    comparison
}

/// With the verdict on what a test has put into its only cell.
fn judged(comparison: &ComparisonAnalysis) -> ComparisonAnalysis {
    let cell = comparison.compared[0].clone();
    ComparisonAnalysis {
        compared: vec![cell.judged()],
        ..comparison.clone()
    }
}

#[test]
fn where_the_cost_decides_b_is_cheaper_or_more_expensive() {
    let cases = [
        (
            0.88,
            false,
            "python3 b.py is 12 % cheaper than node a.js at 2,000/s of GET /: 0.88 (0.87–0.89) of node a.js's CPU time per \
             request.",
        ),
        (
            1.05,
            false,
            "python3 b.py is 4.9 % more expensive than node a.js at 2,000/s of GET /: 1.0",
        ),
        (
            0.88,
            true,
            "this pull request makes 2,000/s of GET / 12 % cheaper than main: 0.88 (0.87–0.89) of main's CPU time per request.",
        ),
        (
            1.001,
            false,
            "A dead heat at 2,000/s of GET /: the CPU times per request of node a.js and python3 b.py differ by at most ",
        ),
    ];
    for (ratio, is_change, expected) in cases {
        let headline = headline(&costs(ratio, is_change));
        assert!(headline.starts_with(expected), "{ratio}: {headline}");
    }
    let mut undecided = costs(1.0, false);
    let ratio = &mut undecided.compared[0].ratios[0];
    ratio.verdict = RatioVerdict::NotEnoughData;
    let interval = ratio.interval.as_mut().unwrap();
    (interval.low, interval.high) = (0.95, 1.02);
    let undecided = judged(&undecided);
    assert_eq!(
        headline(&undecided),
        "Undecided at 2,000/s of GET /: python3 b.py's CPU time per request is between 5.0 % less and 2.0 % more than node \
         a.js's."
    );
    let page = document(&undecided, None).text(screen());
    assert!(page.contains("GET / c50 at 2,000/s"), "{page}");
}

#[test]
fn a_gate_of_cost_says_what_it_found_beside_that_of_speed() {
    let check = Check {
        fail_if_costlier: Some(0.05),
        ..SLOWER
    };
    let mut comparison = costs(1.2, false);
    let speed = one(Metric::Throughput, &pairs(10, 1.0), true, false);
    let [costs, speed] =
        [&mut comparison, &mut speed.clone()].map(|one| one.compared[0].ratios[0].clone());
    comparison.compared[0].ratios = vec![speed, costs];
    comparison.compared[0].decide = Decide::Throughput;
    let gate = comparison.gate(check);
    let page = document(&comparison, Some(&gate)).text(screen());
    let flat = page.split_whitespace().collect::<Vec<_>>().join(" ");
    for expected in [
        "--fail-if-slower 3 % --fail-if-costlier 5 %: failed. python3 b.py is proven more expensive by more than 5 %: GET / \
         c50 at 2,000/s (CPU time per request +20 %",
        "Excluded: a slowdown of more than 3 % of GET / c50 (throughput",
    ] {
        assert!(flat.contains(expected), "{expected}: {page}");
    }
}

#[test]
fn a_side_that_cannot_take_the_rate_is_the_headline() {
    let mut comparison = costs(1.0, false);
    let cell = &mut comparison.compared[0];
    (cell.deciding, cell.rates) = (0, vec![5_000.0]);
    let overloaded = |side| Overloaded {
        side,
        per_second: 5_000.0,
        reason: "its capacity was below the rate in 8 of 8 heats".to_owned(),
        decides: true,
        other_side_keeps_up: true,
    };
    cell.overloaded = vec![overloaded(Side::B)];
    assert_eq!(
        headline(&judged(&comparison)),
        "python3 b.py cannot take 5,000/s of GET /, and node a.js can."
    );
    let check = Check {
        fail_if_costlier: Some(0.05),
        ..Check::default()
    };
    let comparison_now = judged(&comparison);
    let gate = comparison_now.gate(check);
    let page = document(&comparison_now, Some(&gate)).text(screen());
    let flat = page.split_whitespace().collect::<Vec<_>>().join(" ");
    for expected in [
        "B cannot take 5,000/s (its capacity was below the rate in 8 of 8 heats).",
        "failed. python3 b.py cannot take 5,000/s, and A can: GET / c50.",
    ] {
        assert!(flat.contains(expected), "{expected}: {page}");
    }
    comparison.compared[0].overloaded = vec![overloaded(Side::A), overloaded(Side::B)];
    assert!(headline(&judged(&comparison)).starts_with("Undecided: neither "));
    comparison.compared[0].overloaded = vec![Overloaded {
        other_side_keeps_up: false,
        ..overloaded(Side::B)
    }];
    assert_eq!(
        headline(&judged(&comparison)),
        "Undecided: python3 b.py cannot take 5,000/s of GET /, and node a.js did not always. Choose a lower --rate."
    );
    // The tail that decides is not known.
    let mut unknown = one(Metric::Throughput, &pairs(10, 1.0), true, false);
    unknown.compared[0].decide = Decide::P99;
    let unknown = judged(&unknown);
    assert_eq!(
        headline(&unknown),
        "Undecided at GET /: the p99 response time is not known."
    );
    let page = json(&unknown, None).unwrap();
    let page: serde_json::Value = serde_json::from_str(&page).unwrap();
    assert_eq!(page["compared"][0]["verdict"], "not-enough-data");
    assert_eq!(page["compared"][0]["decide"], "p99");
    // What is worse at another rate is the verdict, whoever cannot take this one.
    let mut beside = costs(1.2, false);
    beside.compared[0].overloaded = vec![overloaded(Side::A), overloaded(Side::B)];
    let headline = headline(&judged(&beside));
    assert!(headline.contains("more expensive than"), "{headline}");
}

#[test]
fn what_was_measured_before_the_first_look_is_shown_without_a_verdict() {
    let figures = |heats: u32| one(Metric::Throughput, &pairs(heats, 1.47), false, false);
    let comparison = figures(3);
    let gate = comparison.gate(SLOWER);
    assert!(!gate.failed && gate.cells.is_empty() && gate.not_judged == 1);
    let report = document(&comparison, Some(&gate));
    let headline = report.headline();
    assert!(
        headline.starts_with(
            "Stopped before the first checkpoint (5 heats), so there is no verdict. In 3 heats, python3 b.py was 1.47× as \
             fast as node a.js at GET / (1."
        ) && headline.ends_with("×: 95 % interval for a fixed number of heats)."),
        "{headline}"
    );
    let flat = |page: String| page.split_whitespace().collect::<Vec<_>>().join(" ");
    let pages = [
        flat(report.text(screen())),
        flat(report.brief(screen())),
        flat(report.markdown()),
        flat(html(&comparison, Some(&gate)).unwrap()),
    ];
    for page in pages {
        for expected in ["no verdict", "1.47× faster, no verdict", "not judged"] {
            assert!(page.contains(expected), "{expected}: {page}");
        }
        assert!(!page.contains("passed"), "{page}");
    }
    let json: serde_json::Value = serde_json::from_str(&json(&comparison, None).unwrap()).unwrap();
    assert!(json["how"]["look"].is_null() && json["compared"][0]["ratios"][0]["ratio"].is_f64());
    assert_eq!(
        json["compared"][0]["ratios"][0]["verdict"],
        "not-enough-data"
    );

    let single = document(&figures(1), None);
    let said = "as fast as node a.js at GET /; one heat has no interval.";
    assert!(single.headline().ends_with(said), "{}", single.headline());
}

#[test]
fn the_page_says_what_the_text_says_and_lets_nothing_break_out() {
    let comparison = comparison(0.95);
    let gate = comparison.gate(SLOWER);
    let page = html(&comparison, Some(&gate)).unwrap();
    for expected in [
        "<h1>Of 2 cells, &lt;&#x2f;pre&gt;&lt;img src=x onerror=alert(1)&gt; is slower in 2",
        "1.051× slower",
        "--fail-if-slower 3 %: failed.",
        "deadheat report results&#x2f;20260301-100000-7",
        "It needs nothing else.",
    ] {
        assert!(page.contains(expected), "{expected} is not in\n{page}");
    }
    for hostile in ["<img", "<script>alert", "</pre><"] {
        assert!(!page.contains(hostile), "{hostile}");
    }
}
