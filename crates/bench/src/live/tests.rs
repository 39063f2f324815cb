//! When the page is written, by the order of events alone.

use std::fs;

use deadheat_model::{
    event::HeatStep,
    heat::HeatEnd,
    heats::{EndReason, JournalEntry, MeasuredHeat, Step},
};
use deadheat_simulation::Recorded;
use deadheat_stats::steering;
use tempfile::TempDir;

use super::*;

/// The number of heats of the session.
const HEATS: usize = 3;
/// What only a page that reloads itself has.
const RELOADS: &str = "location.reload";

/// A whole session of two stacks and three heats.
fn session() -> SessionRecord {
    let plan = Recorded {
        looks: vec![HEATS as u32],
        until_decided: false,
        ..Recorded::measured(&[1.0, 2.0])
    };
    let record = plan.run(1, &mut steering::next);
    assert_eq!(record.heats.len(), HEATS);
    record
}

fn session_started() -> Event {
    Event::HeatsStarted {
        header: Box::new(session().header),
    }
}

fn started(heat: usize) -> Event {
    let mut record = session();
    record.heats.truncate(heat);
    match steering::next(&record, Duration::ZERO) {
        Step::Heat(next) => Event::HeatStarted {
            heat: heat as u32,
            next,
        },
        Step::End(reason) => panic!("there is no heat {heat}: {reason:?}"),
    }
}

fn heat(heat: usize) -> Box<MeasuredHeat> {
    Box::new(session().heats[heat].clone())
}

fn ended(number: usize) -> Event {
    Event::HeatEnded { heat: heat(number) }
}

/// A folder of results with a session of this many heats.
fn begun(heats: usize) -> TempDir {
    let results = tempfile::tempdir().unwrap();
    let record = session();
    let folder = results.path().join(&record.header.id);
    fs::create_dir(&folder).unwrap();
    let text = serde_json::to_string(&record.header).unwrap();
    fs::write(folder.join("session.json"), text).unwrap();
    let entry = |number| serde_json::to_string(&JournalEntry::Heat(heat(number))).unwrap() + "\n";
    let lines: String = (0..heats).map(entry).collect();
    fs::write(folder.join("heats.jsonl"), lines).unwrap();
    results
}

fn folder(results: &TempDir) -> PathBuf {
    results.path().join(session().header.id)
}

fn page(results: &TempDir) -> Option<String> {
    fs::read_to_string(folder(results).join(HTML_FILE)).ok()
}

#[test]
fn the_page_is_written_before_a_heat_and_at_no_other_time() {
    let results = begun(0);
    let mut live = Live::new(results.path());
    let step = |step| Event::HeatStep { step };
    let round = || {
        step(HeatStep::Round {
            done: 1,
            elapsed: Duration::from_secs(1),
        })
    };
    let reason = EndReason::Finished;
    // Each event, and whether the page is written on it.
    let events = [
        (session_started(), true),
        (started(0), true),
        (round(), false),
        (step(HeatStep::Ending), false),
        (ended(0), false),
        (started(1), true),
        (round(), false),
        (ended(1), false),
        (started(2), true),
        (ended(2), false),
        (Event::HeatsEnded { reason }, false),
    ];
    let place = folder(&results).join(HTML_FILE);
    for (event, is_written) in events {
        let _ = fs::remove_file(&place);
        let line = live.on(&event);
        assert_eq!(page(&results).is_some(), is_written, "{event:?}");
        assert_eq!(
            line.is_some(),
            matches!(event, Event::HeatsStarted { .. }),
            "{event:?}"
        );
    }
}

#[test]
fn the_page_has_every_heat_so_far() {
    let results = begun(0);
    let mut live = Live::new(results.path());
    live.on(&session_started());
    for heats in 0..HEATS {
        live.on(&started(heats));
        let mut so_far = session();
        so_far.heats.truncate(heats);
        so_far.end = None;
        let view = StandingsView::running(&so_far, &standings(&so_far));
        let bar = Bar {
            status: String::new(),
            title: String::new(),
            heats,
            of: HEATS,
            written: SystemTime::now(),
            next: SHORTEST_WAIT,
        };
        let main = |page: &str| {
            let (_, rest) = page.split_once("<main").unwrap();
            rest.split_once("<footer>").unwrap().0.to_owned()
        };
        let page = page(&results).unwrap();
        // Not with assert_eq: a page has hundreds of lines.
        assert!(
            main(&page) == main(&live_page(&view, &bar).unwrap()),
            "after {heats} heats"
        );
        let number = heats + 1;
        let status = format!("running: heat {number} of at most 3, 2 stacks at plaintext:c50");
        assert!(page.contains(&status), "{status}");
        let progress = format!("<progress value=\"{heats}\" max=\"{HEATS}\"");
        assert!(page.contains(&progress), "{progress}");
        live.on(&ended(heats));
    }
}

#[test]
fn a_session_that_continues_shows_what_was_measured_before() {
    let results = begun(1);
    let mut live = Live::resuming(&folder(&results));
    live.on(&session_started());
    live.on(&started(1));
    let page = page(&results).unwrap();
    assert!(page.contains("heat 2 of at most 3"), "{page}");
    assert!(page.contains("<progress value=\"1\" max=\"3\""), "{page}");
}

#[test]
fn an_interrupted_heat_is_not_counted() {
    let results = begun(0);
    let mut live = Live::new(results.path());
    let mut cut = heat(1);
    cut.heat.end = HeatEnd::Interrupted;
    for event in [
        session_started(),
        started(0),
        ended(0),
        started(1),
        Event::HeatEnded { heat: cut },
        started(1),
    ] {
        live.on(&event);
    }
    let page = page(&results).unwrap();
    assert!(page.contains("heat 2 of at most 3"), "{page}");
    assert!(page.contains("<progress value=\"1\" max=\"3\""), "{page}");
}

#[test]
fn a_session_without_a_final_report_leaves_a_page_that_does_not_reload() {
    let results = begun(0);
    let mut live = Live::new(results.path());
    live.give_up();
    assert_eq!(page(&results), None);
    live.on(&session_started());
    assert!(page(&results).unwrap().contains(RELOADS));
    live.give_up();
    assert!(!page(&results).unwrap().contains(RELOADS));
}

#[test]
fn a_page_that_cannot_be_written_does_not_end_the_session() {
    let results = begun(0);
    fs::create_dir(folder(&results).join(HTML_FILE)).unwrap();
    let mut live = Live::new(results.path());
    assert_eq!(live.on(&session_started()), None);
    assert_eq!(live.on(&started(0)), None);
}

#[test]
fn a_page_that_takes_long_is_written_less_often() {
    let now = Instant::now();
    let written = |took: f64| Written {
        at: now,
        took: Duration::from_secs_f64(took),
    };
    let later = |seconds: u64| now + Duration::from_secs(seconds);
    assert!(written(0.9).is_old_enough(now));
    assert!(!written(2.0).is_old_enough(later(39)));
    assert!(written(2.0).is_old_enough(later(41)));
}
