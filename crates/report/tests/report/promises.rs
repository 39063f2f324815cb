//! What every report keeps, whatever the session.

use deadheat_model::{SessionRecord, session::Resumption};
use deadheat_report::{View, figure, html, json, markdown, text};
use deadheat_stats::analyse;

use crate::cases;

#[test]
fn text_keeps_its_width() {
    for (name, record) in cases::all() {
        let view = View::new(&record, &analyse(&record));
        for width in [80, 100, 120] {
            for line in text(&view, width, false).lines() {
                let columns = textwrap::core::display_width(line);
                assert!(
                    columns <= width,
                    "{name} at {width}: {columns} columns: {line}"
                );
            }
        }
    }
}

#[test]
fn every_format_says_where_the_figures_come_from() {
    let record = cases::plausible();
    let analysis = analyse(&record);
    let view = View::new(&record, &analysis);
    let pages = [
        text(&view, 200, false),
        markdown(&view),
        html::html_with(&view, "").unwrap(),
        json(&record, &analysis).unwrap(),
    ];
    let facts = [
        "2026-03-01T10:00:00Z",
        "0123456789abcdef",
        "Example CPU",
        "6.12.0-test",
        "spectre",
        "42",
        "0.1.0",
        "1.2.3",
    ];
    let words = [
        "loopback",
        "closed loop",
        "one-core server",
        "dead heat",
        "apt-get install elixir",
        "signal 11",
    ];
    for page in pages {
        let plain = page.replace("\\_", "_").replace("&#x2f;", "/");
        for expected in facts.iter().chain(&words) {
            assert!(
                plain.contains(expected),
                "{expected} is not in {}",
                &plain[..200]
            );
        }
    }
}

#[test]
fn a_page_needs_no_network() {
    let record = cases::one_trial();
    let view = View::new(&record, &analyse(&record));
    let contents = html::Contents {
        json: "{}",
        csv: "session\r\n",
        assets: html::Assets::Inline,
    };
    let page = html(&view, &contents).unwrap();
    assert!(page.len() > 3_000_000, "plotly is in it");
    let own = html::html_with(&view, "").unwrap();
    for outside in ["src=", "href=\"http", "@import", "url("] {
        assert!(!own.contains(outside), "{outside}");
    }
    let script = html::plotly_js();
    assert!(script.trim_start().starts_with("/**") && !script.contains("</script"));
    // Two files are in it.
    assert_eq!(
        page.matches("</script>").count(),
        own.matches("</script>").count() + 2
    );
    assert!(!page.contains("'self'"));
    let weight = format!("This page weighs {},", figure::bytes(page.len() as f64));
    assert!(page.contains(&weight), "{weight}");
    let assets = html::Assets::Separate;
    let apart = html(&view, &html::Contents { assets, ..contents }).unwrap();
    let file = html::plotly_file();
    assert!(page.len() - apart.len() > script.len() - 1_000);
    assert_eq!(apart.matches(&format!("src=\"{file}\"")).count(), 1);
    assert_eq!(apart.matches("src=").count(), 1, "nothing else is loaded");
    let weight = format!("This page weighs {},", figure::bytes(apart.len() as f64));
    assert!(apart.contains(&weight), "{weight}");
}

#[test]
fn losses_come_before_results() {
    let record = cases::plausible();
    let view = View::new(&record, &analyse(&record));
    let page = html::html_with(&view, "").unwrap();
    let at = |text: &str| {
        page.find(text)
            .unwrap_or_else(|| panic!("{text} is missing"))
    };
    assert!(at("elixir-bandit is unavailable here") < at("id=\"group-1\""));
    let users = &page[at("id=\"group-2\"")..];
    assert!(users.find("nim-jester failed in 2 of 7").unwrap() < users.find("<table").unwrap());
    // The reasons stand together, and a link leads there from where the figures would be.
    let lost = &page[at("id=\"lost\"")..];
    for reason in ["signal 11", "SIGSEGV", "apt-get install elixir"] {
        assert!(lost.contains(reason), "{reason}");
    }
    assert_eq!(
        page.matches("href=\"#lost\"").count(),
        3,
        "contents, top, users"
    );
    assert!(view.alerts.iter().any(|alert| alert.contains("nim-jester")));
    assert!(
        view.alerts
            .iter()
            .any(|alert| alert.contains("nginx-static"))
    );
}

#[test]
fn a_resumed_session_names_its_pauses_and_the_blocks_that_they_tear_apart() {
    let mut record = cases::plausible();
    let resumption = |at: &str, rebooted, trials_before| Resumption {
        at: at.to_owned(),
        rebooted,
        trials_before,
    };
    let told = |record: &SessionRecord| {
        let view = View::new(record, &analyse(record));
        let mut alerts = view.alerts.into_iter();
        alerts.find(|alert| alert.contains("resumed"))
    };
    assert_eq!(told(&record), None);
    let first = record
        .trials
        .iter()
        .filter(|trial| trial.block == 0)
        .count();
    record.resumed = vec![resumption("2026-03-01T11:00:00Z", false, first)];
    let once = told(&record).unwrap();
    assert!(
        once.contains("resumed once (2026-03-01T11:00:00Z). No block lies on both sides"),
        "{once}"
    );
    record
        .resumed
        .push(resumption("2026-03-02T11:00:00Z", true, first + 1));
    let twice = told(&record).unwrap();
    assert!(
        twice.contains("resumed twice")
            && twice.contains("11:00:00Z, after a restart of the machine). Block 2 lies"),
        "{twice}"
    );
    record
        .resumed
        .push(resumption("2026-03-03T11:00:00Z", false, 2 * first + 1));
    let thrice = told(&record).unwrap();
    assert!(
        thrice.contains("resumed 3 times") && thrice.contains("Blocks 2 and 3 lie"),
        "{thrice}"
    );
    let json = json(&record, &analyse(&record)).unwrap();
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["resumed"][1]["rebooted"], true);
}
