//! The notice that stands in for the page of a session that runs.

use deadheat_report::html::live::{Bar, Stage, live_notice};

fn bar() -> Bar {
    Bar {
        stage: Stage::Running,
        status: "running: heat 2 of at most 8, 5 stacks at <b> & co:c50".to_owned(),
        note: "a note".to_owned(),
        title: "heat 2".to_owned(),
        heats: 1,
        of: 8,
        version: 4,
    }
}

#[test]
fn a_notice_is_small_says_why_and_needs_nothing() {
    let notice = live_notice(&bar(), "because <of> it").unwrap();
    assert!(notice.contains("because &lt;of&gt; it"));
    assert!(notice.contains("data-is=\"running\""));
    assert!(notice.contains("heat 2 of at most 8") && notice.contains("EventSource"));
    assert!(notice.contains("&lt;b&gt; &amp; co:c50"));
    assert!(!notice.contains("src="));
    assert!(notice.len() < 16 << 10, "{} bytes", notice.len());
}
