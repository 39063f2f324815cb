//! What every report keeps, whatever the session.

use deadheat_model::{SessionRecord, TrialOutcome, session::Resumption};
use deadheat_report::{View, csv::csv, figure, html, json, markdown, text};
use deadheat_stats::analyse;
use serde_json::Value;

use crate::cases::{self, Case};

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
    let packed = 1_000_000..3_000_000;
    assert!(
        packed.contains(&page.len()),
        "with plotly, packed: {}",
        page.len()
    );
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
    assert!(packed.contains(&(page.len() - apart.len())));
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
        live: false,
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

/// What reads as a figure in a text: digits with commas and points between them.
fn figures(text: &str) -> std::collections::BTreeSet<String> {
    let pieces = text.split(|c: char| !(c.is_ascii_digit() || c == ',' || c == '.'));
    let trimmed = pieces.map(|piece| piece.trim_matches([',', '.']).to_owned());
    trimmed.filter(|piece| !piece.is_empty()).collect()
}

#[test]
fn every_figure_in_markdown_is_the_view_s() {
    // Of the words that the format itself writes: "95 % interval", p50, p90, p99 and p99.9.
    let own = figures("95 50 90 99 99.9");
    for Case { name, view, .. } in cases::all() {
        let known = figures(&serde_json::to_string(view).unwrap());
        let counts: Vec<String> = view
            .groups()
            .iter()
            .map(|group| group.pairs.len().to_string())
            .collect();
        let is_known = |figure: &&String| {
            known.contains(*figure) || own.contains(*figure) || counts.contains(figure)
        };
        let written = figures(&markdown(view));
        let foreign: Vec<&String> = written.iter().filter(|one| !is_known(one)).collect();
        assert!(foreign.is_empty(), "{name}: {foreign:?}");
        assert!(written.len() > 10, "{name}");
    }
}

#[test]
fn markdown_is_fit_to_be_committed() {
    for case in cases::all() {
        let (name, mut record) = (case.name, case.record.clone());
        record.header.arguments = vec!["run".to_owned(), "--root=/home/jo/deadheat".to_owned()];
        let view = View::new(&record, &case.analysis);
        let page = markdown(&view);
        assert_eq!(page, markdown(&view), "{name}");
        assert!(page.ends_with('\n') && !page.ends_with("\n\n"), "{name}");
        assert!(
            page.contains("--root=~/deadheat") && !page.contains("/home/"),
            "{name}"
        );
        for line in page.lines() {
            assert_eq!(line, line.trim_end(), "{name}: a trailing blank");
        }
        let (opened, closed) = (page.matches("<details>"), page.matches("\n\n</details>\n"));
        let cells: usize = view.groups().iter().map(|group| group.cells.len()).sum();
        assert_eq!((opened.count(), closed.count()), (cells, cells), "{name}");
        // A row of a table has as many cells as its head, whatever stands in them.
        let rows: Vec<&str> = page.lines().filter(|line| line.starts_with("| ")).collect();
        let bars = |row: &str| row.replace("\\|", "").matches('|').count();
        for pair in rows
            .windows(2)
            .filter(|pair| page.contains(&pair.join("\n")))
        {
            assert_eq!(bars(pair[0]), bars(pair[1]), "{name}: {pair:?}");
        }
    }
}

#[test]
fn a_raw_block_is_of_the_trial_nearest_to_the_median() {
    let record = cases::plausible();
    let view = View::new(&record, &analyse(&record));
    let mut looked_at = 0;
    for group in view.groups() {
        for row in &group.rows {
            let cell = group
                .cells
                .iter()
                .find(|cell| cell.target == row.target)
                .unwrap();
            let raw = cell.raw.as_ref().unwrap();
            let trial = &cell.trials[raw.trial];
            // Of an odd number of trials it is the median itself.
            assert_eq!(raw.of, 7);
            assert_eq!(trial.throughput, row.throughput.trim_start_matches("≥ "));
            let line = raw
                .lines
                .iter()
                .find(|line| line.starts_with("Requests per second:"))
                .unwrap();
            let exact: f64 = line.split_whitespace().nth(3).unwrap().parse().unwrap();
            assert_eq!(deadheat_report::figure::figure(exact), trial.throughput);
            let shown = raw
                .lines
                .iter()
                .find(|line| line.starts_with("  50%"))
                .unwrap();
            let p50 = trial.p50.split(' ').next().unwrap();
            assert_eq!(shown.split_whitespace().nth(1), Some(p50));
            looked_at += 1;
        }
    }
    assert_eq!(looked_at, 13);
}

#[test]
fn memory_that_could_not_be_read_is_nowhere_a_figure() {
    let mut record = cases::plausible();
    let hidden = record.trials[0].cell.target.clone();
    for trial in &mut record.trials {
        if let TrialOutcome::Measured(measured) = &mut trial.outcome
            && trial.cell.target == hidden
        {
            let used = &mut measured.resources;
            used.pss_idle_bytes = None;
            used.pss_mean_bytes = None;
            used.pss_peak_bytes = None;
        }
    }
    let analysis = analyse(&record);
    let view = View::new(&record, &analysis);
    let name = hidden.to_string();
    assert!(markdown(&view).contains("RAM (PSS): – idle, – mean, – peak"));
    let row = |line: &&str| line.contains(&name) && line.contains("pss_");
    assert_eq!(csv(&record, &analysis).lines().find(row), None);
    let json: Value = serde_json::from_str(&json(&record, &analysis).unwrap()).unwrap();
    let cells = json.pointer("/analysis/groups/0/cells").unwrap();
    let mut cells = cells.as_array().unwrap().iter();
    let cell = cells.find(|cell| cell["target"] == name).unwrap();
    assert_eq!(cell["estimates"]["pss_peak_bytes"], Value::Null);
    html::html_with(&view, "").unwrap();
}

#[test]
fn threads_of_one_core_are_named_and_a_core_on_both_sides_is_a_caveat() {
    let caveat = "ran on threads of one core";
    let mut record = cases::plausible();
    let page = |record: &SessionRecord| markdown(&View::new(record, &analyse(record)));
    assert!(!page(&record).contains(caveat));
    record.header.machine.shared_cores = vec![vec![0, 1]];
    let page = page(&record);
    assert!(page.contains("threads of one core: 0 and 1"), "{page}");
    assert!(page.contains(caveat));
}
