//! From the record of a session to its report, with the statistics in between.

use deadheat_bench::{document as standings, document::view::StandingsView};
use deadheat_document::text::{Charset, Screen};
use deadheat_model::heats::{JournalEntry, SessionRecord};
use deadheat_simulation::Recorded;
use deadheat_stats::{
    standings::{self as found, Standings},
    steering,
};
use serde_json::Value;

use crate::schema::{closed, published, satisfies};

/// Seven stacks at two loads, with the noise that was measured, steered as a real session is.
pub fn session() -> (SessionRecord, Standings) {
    let speeds = [1.0, 0.99, 0.9, 0.62, 0.6, 0.3, 0.05];
    let plan = Recorded {
        workloads: vec!["plaintext".to_owned(), "users".to_owned()],
        times: 40,
        ..Recorded::measured(&speeds)
    };
    let record = plan.run(7, &mut steering::next);
    let standings = found::standings(&record);
    (record, standings)
}

#[test]
fn a_steered_session_is_reported_in_every_format() {
    let (record, found) = session();
    let view = StandingsView::new(&record, &found);
    assert_eq!(view.title.compared, "7 HTTP stacks, 2 workloads");
    for load in &view.loads {
        let rows: Vec<&str> = load.rows().map(|row| row.target.as_str()).collect();
        assert_eq!(rows.len(), 7);
        assert_eq!(rows[6], "stack-6", "the slowest by far is the last");
        assert!(
            load.answer().split_whitespace().count() <= 25,
            "{}",
            load.answer()
        );
        let row = load.rows().last().expect("seven rows");
        assert_eq!(
            row.main.and_then(|main| main.rank).map(|rank| rank.best),
            Some(7)
        );
        assert!((0.03..0.08).contains(&row.share_of_best.expect("compared")));
    }
    let screen = Screen {
        width: 80,
        colour: false,
        charset: Charset::Unicode,
    };
    let text = standings::text(&view, screen);
    assert!(text.lines().count() <= 38, "{text}");
    assert!(standings::document(&view).text(screen).contains("stack-6"));
    assert!(standings::document(&view).markdown().contains("stack-6"));
    assert!(standings::csv(&view).contains("stack-6"));
    assert!(standings::card(&view, Some("users")).is_ok());
    let report = standings::json(&record, &found).expect("a report");
    let report: Value = serde_json::from_str(&report).expect("JSON");
    satisfies(&closed(published("report")), "recorded", &report);
    let header = serde_json::to_value(&record.header).expect("JSON");
    satisfies(&closed(published("session")), "session.json", &header);
    let heats = closed(published("heats"));
    for heat in record.heats {
        let line = JournalEntry::Heat(Box::new(heat));
        let line = serde_json::to_value(&line).expect("JSON");
        satisfies(&heats, "heats.jsonl", &line);
    }
}
