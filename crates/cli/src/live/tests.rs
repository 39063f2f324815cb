//! When the report is drawn, by the order of events alone.

use std::fs;

use deadheat_model::{
    Cell, JournalEntry, SessionHeader, TargetId, TrialOutcome, TrialRecord,
    session::EndReason,
    trial::{Disturbance, Phase, TrialFailure},
};
use serde_json::json;
use tempfile::TempDir;

use super::*;

fn header() -> SessionHeader {
    serde_json::from_value(json!({
        "schema": 1, "id": "s", "deadheat": "1", "commit": null, "started": "", "arguments": [],
        "machine": {
            "cpu_model": "", "cpus": [0], "memory_bytes": 1, "os": "", "kernel": "", "mitigations": [], "governor": null
        },
        "plan": {
            "seed": 1, "blocks": 2, "targets": ["a"],
            "cells": [{"target": "a", "workload": "plaintext", "point": "c1"}],
            "workloads": [{
                "id": "plaintext", "description": "", "delay_seconds": null, "measure_seconds": 1.0,
                "points": [{"id": "c1", "connections": 1}]
            }],
            "pinning": {"mode": "off", "cpus": [0]}, "budget_seconds": null, "estimate_seconds": 1.0
        },
        "targets": [], "postgres": null
    }))
    .unwrap()
}

fn cell() -> Cell {
    Cell {
        target: TargetId::new("a", None),
        workload: "plaintext".to_owned(),
        point: "c1".to_owned(),
    }
}

fn started(block: u32) -> Event {
    let cell = cell();
    Event::TrialStarted { block, cell }
}

fn trial(block: u32) -> TrialRecord {
    TrialRecord {
        block,
        position: 0,
        attempt: 0,
        cell: cell(),
        started: String::new(),
        command: Vec::new(),
        port: 1,
        warm_up: Duration::ZERO,
        offered_per_second: None,
        outcome: TrialOutcome::Failed(TrialFailure {
            phase: Phase::Start,
            reason: "it did not".to_owned(),
            log_tail: Vec::new(),
            load: None,
        }),
    }
}

fn ended(block: u32) -> Event {
    Event::TrialEnded {
        trial: Box::new(trial(block)),
        took: Duration::ZERO,
    }
}

fn void(repeats: bool) -> Event {
    Event::TrialVoid {
        block: 0,
        cell: cell(),
        attempt: 0,
        disturbance: Disturbance {
            other_cpu: 0.5,
            steal: 0.0,
        },
        repeats,
    }
}

/// A session's folder below another, with its header.
fn begun() -> TempDir {
    let results = tempfile::tempdir().unwrap();
    let folder = results.path().join("s");
    fs::create_dir(&folder).unwrap();
    let text = serde_json::to_string(&header()).unwrap();
    fs::write(folder.join("session.json"), text).unwrap();
    fs::write(folder.join("trials.jsonl"), "").unwrap();
    results
}

fn live(results: &TempDir) -> Live {
    Live::start(None, results.path(), &Arc::default()).unwrap()
}

fn session_started() -> Event {
    Event::SessionStarted {
        header: Box::new(header()),
    }
}

fn front(live: &Live) -> String {
    String::from_utf8(live.hub.front().to_vec()).unwrap()
}

#[test]
fn the_report_is_drawn_before_a_trial_and_after_the_last_one_and_at_no_other_time() {
    let results = begun();
    let mut live = live(&results);
    let _listener = live.hub.watch(None).unwrap();
    let step = Event::PrepareStarted {
        target: TargetId::new("a", None),
        step: "build".to_owned(),
    };
    let reason = EndReason::Finished;
    // Each event, with the drawing that there is after it, and whether only the notice is sent from then on.
    let course = [
        (step, 0, false),
        (session_started(), 0, false),
        (Event::BlockStarted { block: 0 }, 0, false),
        (started(0), 1, true),
        (ended(0), 1, true),
        (void(true), 1, true),
        (started(0), 2, true),
        (ended(0), 2, true),
        (Event::BlockStarted { block: 1 }, 2, true),
        (started(1), 3, true),
        (ended(1), 3, true),
        (Event::SessionEnded { reason }, 4, false),
    ];
    for (event, version, quiet) in course {
        live.on(&event);
        assert_eq!(
            (live.hub.version(), live.hub.is_quiet()),
            (version, quiet),
            "{event:?}"
        );
        let is_report = front(&live).contains("id=\"provenance\"");
        assert_eq!(is_report, version > 0 && !quiet, "{event:?}");
    }
}

#[test]
fn nothing_is_drawn_for_nobody() {
    let results = begun();
    let mut live = live(&results);
    live.on(&session_started());
    live.on(&started(0));
    live.on(&ended(0));
    assert_eq!(live.hub.version(), 0);
    let notice = front(&live);
    assert!(notice.contains("block 1 of 2, trial 1 of 2"), "{notice}");
    let _listener = live.hub.watch(None).unwrap();
    live.on(&started(1));
    assert_eq!(live.hub.version(), 1);
}

#[test]
fn a_void_trial_makes_one_more_if_it_is_repeated() {
    for (repeats, expected) in [(true, "trial 2 of 3"), (false, "trial 2 of 2")] {
        let results = begun();
        let mut live = live(&results);
        for event in [
            session_started(),
            started(0),
            ended(0),
            void(repeats),
            started(0),
        ] {
            live.on(&event);
        }
        let notice = front(&live);
        assert!(notice.contains(expected), "{notice}");
    }
}

#[test]
fn a_session_that_goes_on_shows_what_was_there() {
    let results = begun();
    let folder = results.path().join("s");
    let entry = JournalEntry::Trial(Box::new(trial(0)));
    let line = serde_json::to_string(&entry).unwrap();
    fs::write(folder.join("trials.jsonl"), format!("{line}\n")).unwrap();
    let mut live = Live::going_on(None, &folder, 1, &Arc::default()).unwrap();
    let _listener = live.hub.watch(None).unwrap();
    for event in [session_started(), started(1), ended(1)] {
        live.on(&event);
    }
    let notice = front(&live);
    assert!(notice.contains("block 2 of 2, trial 2 of 2"), "{notice}");
    live.on(&Event::SessionEnded {
        reason: EndReason::Budget,
    });
    let page = front(&live);
    assert!(page.contains("its budget was used up, after 2 of 2 trials"));
    assert!(page.contains("report.html") && page.contains("data-is=\"ended\""));
}

#[test]
fn after_an_interrupt_the_last_report_is_drawn_and_none_before_it() {
    let results = begun();
    let interrupted = Arc::new(AtomicBool::new(true));
    let mut live = Live::start(None, results.path(), &interrupted).unwrap();
    let _listener = live.hub.watch(None).unwrap();
    live.on(&session_started());
    live.on(&started(0));
    assert_eq!(live.hub.version(), 0);
    let reason = EndReason::Interrupted;
    live.on(&Event::SessionEnded { reason });
    assert_eq!(live.hub.version(), 1);
    let page = front(&live);
    assert!(page.contains("interrupted, after 0 of 2 trials"), "{page}");
}

#[test]
fn a_report_that_takes_long_is_drawn_less_often() {
    let now = Instant::now();
    let drawn = |took: f64| Drawn {
        ended: now,
        took: Duration::from_secs_f64(took),
    };
    let later = |seconds: u64| now + Duration::from_secs(seconds);
    assert!(drawn(0.9).is_old_enough(now));
    assert!(!drawn(2.0).is_old_enough(later(39)));
    assert!(drawn(2.0).is_old_enough(later(41)));
}
