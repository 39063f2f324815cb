//! The history of sessions, from the ugly cases too.

use deadheat_compare::history::{
    analysis::History,
    document::{document, json},
};
use deadheat_document::text::Screen;
use deadheat_model::{
    heats::{EndReason, SessionRecord},
    session::{FoundVersion, TargetState},
};
use deadheat_simulation::Recorded;
use deadheat_stats::steering;

use crate::{
    schema::{closed, published, satisfies},
    standings::cases::HOSTILE,
};

/// Three stacks, each of version 1 of a toolchain.
fn session() -> SessionRecord {
    let plan = Recorded {
        times: 400,
        ..Recorded::quiet(&[1.0, 2.0, 0.5])
    };
    let mut record = plan.run(1, &mut steering::next);
    record.header.id = "20260301-100000-31cc89a0".to_owned();
    record.header.started = "2026-03-01T10:00:00Z".to_owned();
    for target in &mut record.header.targets {
        target.versions = vec![FoundVersion {
            name: "go".to_owned(),
            version: "1".to_owned(),
        }];
    }
    record
}

/// One session after the other, of stacks that come and go, on a machine that changes.
fn history() -> History {
    let mut later = session();
    later.header.id = "20260302-100000-13fcea6a".to_owned();
    later.header.started = "2026-03-02T10:00:00Z".to_owned();
    later.header.machine.kernel = "6.18.0-newer".to_owned();
    later.header.commit = Some("fedcba9876543210".to_owned());
    later.header.machine.mitigations = vec!["a_long_list: of many mitigations; ".repeat(9)];
    for target in &mut later.header.targets {
        target.versions[0].version = "2".to_owned();
    }
    for slice in later
        .heats
        .iter_mut()
        .flat_map(|heat| heat.heat.rounds.iter_mut().flatten())
    {
        slice.generator.busiest = 0.99;
        slice.cpu.as_mut().unwrap().seconds /= 2.0;
    }
    later.end = Some(EndReason::Interrupted);
    let mut last = session();
    last.header.id = "20260303-100000-08a24a42".to_owned();
    last.header.started = "2026-03-03T10:00:00Z".to_owned();
    last.header.targets[0].state = TargetState::Unavailable {
        reason: HOSTILE[1].to_owned(),
        remedy: String::new(),
    };
    last.header.plan.loads[0].targets.remove(0);
    last.heats.truncate(1);
    last.end = None;
    let mut history = History::default();
    for record in [session(), later, last] {
        history.add(&record, |target, _| target.stack != "stack-2");
    }
    history
}

#[test]
fn text_at_80_columns() {
    let text = document(&history()).text(Screen::new(80, false));
    for line in text.lines() {
        assert!(line.chars().count() <= 80, "{line}");
    }
    insta::assert_snapshot!(text);
}

#[test]
fn json_has_a_version_and_every_session() {
    let text = json(&history()).unwrap();
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    satisfies(&closed(published("history")), "history", &value);
    assert_eq!(value["schema"], 3);
    assert_eq!(value["format"], "deadheat-history");
    assert_eq!(value["sessions"].as_array().unwrap().len(), 3);
    let series = value["series"].as_array().unwrap();
    let stacks: Vec<&str> = series
        .iter()
        .filter_map(|one| one["target"].as_str())
        .collect();
    assert_eq!(stacks, ["stack-0", "stack-1"]);
    let point = &series[1]["points"][0];
    let rate = point["row"]["throughput_per_second"]["value"].as_f64();
    assert!(rate > Some(19_000.0), "{point}");
    assert_eq!(point["ranked"], 3);
    assert_eq!(series[0]["points"][2]["absent"]["is"], "unavailable");
}
