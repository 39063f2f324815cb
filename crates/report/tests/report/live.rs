//! The page of a session that runs: the report and nothing else, below a bar.

use deadheat_model::{SessionRecord, session::Resumption};
use deadheat_report::{
    View,
    html::{
        self,
        live::{Bar, POLICY, Stage, live_notice, live_page},
    },
    json, markdown, text,
};
use deadheat_stats::analyse;

use crate::cases;

fn bar() -> Bar {
    Bar {
        stage: Stage::Running,
        status: "running: block 1 of 7, trial 2 of 105 (<b> & co plaintext c50)".to_owned(),
        note: "a note".to_owned(),
        title: "1/105".to_owned(),
        trials: 1,
        of: 105,
        version: 4,
        plotly: "/the-script.js".to_owned(),
    }
}

/// What a reader reads below the bar.
fn main_of(page: &str) -> &str {
    let begin = page.find("<main").expect("a beginning");
    let end = page.rfind("</main>").expect("an end");
    &page[begin..end]
}

#[test]
fn a_live_page_has_what_the_file_has_and_the_file_has_nothing_of_a_live_page() {
    for case in cases::all() {
        let (name, record) = (case.name, &case.record);
        let view = View::running(record, &case.analysis);
        let live = live_page(&view, &bar()).unwrap();
        let file = html::html_with(&case.view, "").unwrap();
        if record.end.is_some() {
            // A page that is served says nothing of its weight.
            let (before, after) = main_of(&file).split_once("<p>This page weighs").unwrap();
            let after = after.split_once("</p>\n").unwrap().1;
            assert_eq!(main_of(&live), format!("{before}{after}"), "{name}");
        }
        for own in ["EventSource", "/events", "connect-src", "sessionStorage"] {
            assert!(live.contains(own), "{name}: {own}");
            assert!(!file.contains(own), "{name}: {own}");
        }
        assert!(!file.contains("<script async"), "{name}");
        assert!(!file.contains("id=\"live"), "{name}");
    }
}

#[test]
fn a_live_page_may_load_the_one_script_and_its_events_and_nothing_else() {
    let record = cases::one_trial();
    let live = live_page(&View::running(&record, &analyse(&record)), &bar()).unwrap();
    assert_eq!(live.matches(POLICY).count(), 1);
    assert_eq!(live.matches("Content-Security-Policy").count(), 1);
    let sources: Vec<&str> = POLICY.split("; ").collect();
    assert_eq!(sources[0], "default-src 'none'");
    assert!(sources.contains(&"connect-src 'self'") && !POLICY.contains('*'));
    assert_eq!(live.matches("src=").count(), 1);
    assert!(live.contains("<script async id=\"plotly\" src=\"&#x2f;the-script.js\"></script>"));
    assert!(live.len() < 400_000, "plotly is not in it");
    assert!(live.contains("data-is=\"running\" data-version=\"4\""));
    assert!(live.contains("<title>1&#x2f;105 · Deadheat"));
    assert!(live.contains("(&lt;b&gt; &amp; co plaintext c50)"));
}

#[test]
fn a_notice_is_small_says_why_and_needs_nothing() {
    let notice = live_notice(&bar(), "because <of> it").unwrap();
    assert!(notice.contains("because &lt;of&gt; it"));
    assert!(notice.contains("data-is=\"running\""));
    assert!(notice.contains("trial 2 of 105") && notice.contains("EventSource"));
    assert!(!notice.contains("src="));
    assert!(notice.len() < 16 << 10, "{} bytes", notice.len());
}

#[test]
fn a_session_that_runs_was_not_killed() {
    let mut record = cases::plausible();
    record.end = None;
    let analysis = analyse(&record);
    let [killed, running] = [
        View::new(&record, &analysis),
        View::running(&record, &analysis),
    ];
    let is_told = |view: &View| serde_json::to_string(view).unwrap().contains("killed:");
    assert!(is_told(&killed) && !is_told(&running));
    assert_eq!(killed.alerts[1..], running.alerts[..]);
    let differs = killed.provenance.iter().zip(&running.provenance);
    let differs: Vec<&str> = differs
        .filter(|(one, other)| one != other)
        .map(|(_, fact)| fact.value.as_str())
        .collect();
    let expected = format!(
        "not yet: this is what it had found after {} trials",
        record.trials.len()
    );
    assert_eq!(differs, [expected]);
}

#[test]
fn every_format_says_that_a_session_was_watched() {
    let told = |record: &SessionRecord| {
        let analysis = analyse(record);
        let view = View::new(record, &analysis);
        let pages = [
            text(&view, 200, false),
            markdown(&view),
            html::html_with(&view, "").unwrap(),
            json(record, &analysis).unwrap(),
        ];
        pages.map(|page| page.contains("served on 127.0.0.1"))
    };
    let mut record = cases::plausible();
    assert_eq!(told(&record), [false; 4]);
    record.header.live = true;
    assert_eq!(told(&record), [true; 4]);
    record.header.live = false;
    record.resumed.push(Resumption {
        at: "2026-03-01T12:00:00Z".to_owned(),
        rebooted: false,
        trials_before: 3,
        live: true,
    });
    assert_eq!(told(&record), [true; 4]);
    let view = View::new(&record, &analyse(&record));
    let fact = view.provenance.iter().find(|fact| fact.name == "Live page");
    let value = &fact.unwrap().value;
    assert!(
        value.contains("from its going on at 2026-03-01T12:00:00Z;"),
        "{value}"
    );
}
