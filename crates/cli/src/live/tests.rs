//! When the report is drawn, by the order of events alone.

use std::fs;

use deadheat_model::{
    TargetId,
    event::HeatStep,
    heat::HeatEnd,
    heats::{EndReason, JournalEntry, MeasuredHeat, Step},
    words::counted,
};
use deadheat_simulation::Recorded;
use deadheat_stats::steering;
use tempfile::TempDir;

use super::*;

/// How many heats the session has, in all.
const HEATS: usize = 3;

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

/// Results with the folder of a session that has so many heats.
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

fn live(results: &TempDir) -> Live {
    Live::start(None, results.path(), &Arc::default()).unwrap()
}

fn session_started() -> Event {
    Event::HeatsStarted {
        header: Box::new(session().header),
    }
}

fn front(live: &Live) -> String {
    String::from_utf8(live.hub.front().to_vec()).unwrap()
}

#[test]
fn the_report_is_drawn_before_a_heat_and_after_the_end_and_at_no_other_time() {
    let results = begun(0);
    let mut live = live(&results);
    let _listener = live.hub.watch(None).unwrap();
    let target = || TargetId::new("stack-0", None);
    let build = Event::PrepareStarted {
        target: target(),
        step: "build".to_owned(),
    };
    let step = |step| Event::HeatStep { step };
    let round = || {
        step(HeatStep::Round {
            done: 1,
            elapsed: Duration::from_secs(1),
        })
    };
    let up = step(HeatStep::BringingUp { target: target() });
    let reason = EndReason::Finished;
    // Each event, with the drawing that there is after it, and whether only the notice is sent from then on.
    let course = [
        (build, 0, false),
        (session_started(), 0, false),
        (started(0), 1, true),
        (up, 1, true),
        (round(), 1, true),
        (step(HeatStep::Ending), 1, true),
        (ended(0), 1, true),
        (started(1), 2, true),
        (round(), 2, true),
        (ended(1), 2, true),
        (started(2), 3, true),
        (ended(2), 3, true),
        (Event::HeatsEnded { reason }, 4, false),
    ];
    for (event, version, quiet) in course {
        live.on(&event);
        assert_eq!(
            (live.hub.version(), live.hub.is_quiet()),
            (version, quiet),
            "{event:?}"
        );
        let is_report = front(&live).contains("<main class=\"page\"");
        assert_eq!(is_report, version > 0 && !quiet, "{event:?}");
    }
    let page = front(&live);
    assert!(
        page.contains("finished: all heats were measured, after 3 heats"),
        "{page}"
    );
}

#[test]
fn nothing_is_drawn_for_nobody() {
    let results = begun(0);
    let mut live = live(&results);
    live.on(&session_started());
    live.on(&started(0));
    live.on(&ended(0));
    assert_eq!(live.hub.version(), 0);
    let notice = front(&live);
    assert!(
        notice.contains("running: heat 1 of at most 3, 2 stacks at plaintext:c50"),
        "{notice}"
    );
    assert!(notice.contains("A measurement is running"), "{notice}");
    let _listener = live.hub.watch(None).unwrap();
    live.on(&started(1));
    assert_eq!(live.hub.version(), 1);
}

#[test]
fn what_is_drawn_has_every_heat_so_far() {
    let results = begun(0);
    let reason = EndReason::Interrupted;
    for heats in 0..=HEATS {
        let mut live = live(&results);
        let _listener = live.hub.watch(None).unwrap();
        live.on(&session_started());
        for number in 0..heats {
            live.on(&started(number));
            live.on(&ended(number));
        }
        live.on(&Event::HeatsEnded { reason });
        let mut so_far = session();
        so_far.heats.truncate(heats);
        so_far.end = Some(reason);
        let view = StandingsView::running(&so_far, &standings(&so_far));
        let bar = live.status.bar(live.hub.version());
        let expected = live_page(&view, &bar).unwrap();
        // Not with assert_eq: a page has hundreds of lines.
        assert!(front(&live) == expected, "after {heats} heats");
        let words = format!("interrupted, after {}", counted(heats, "heat"));
        assert!(expected.contains(&words), "{words}");
        let progress = format!("<progress value=\"{heats}\" max=\"{HEATS}\"");
        assert!(heats == 0 || expected.contains(&progress), "{progress}");
    }
}

#[test]
fn a_session_that_goes_on_shows_what_was_there() {
    let results = begun(1);
    let folder = results.path().join(session().header.id);
    let mut live = Live::going_on(None, &folder, &Arc::default()).unwrap();
    let _listener = live.hub.watch(None).unwrap();
    for event in [session_started(), started(1)] {
        live.on(&event);
    }
    let notice = front(&live);
    assert!(notice.contains("heat 2 of at most 3"), "{notice}");
    assert!(
        notice.contains("<progress value=\"1\" max=\"3\""),
        "{notice}"
    );
    live.on(&ended(1));
    live.on(&Event::HeatsEnded {
        reason: EndReason::Budget,
    });
    let page = front(&live);
    assert!(page.contains("its budget was used up, after 2 heats"));
    assert!(page.contains("report.html") && page.contains("data-is=\"ended\""));
}

#[test]
fn after_an_interrupt_the_last_report_is_drawn_and_none_before_it() {
    let results = begun(0);
    let interrupted = Arc::new(AtomicBool::new(true));
    let mut live = Live::start(None, results.path(), &interrupted).unwrap();
    let _listener = live.hub.watch(None).unwrap();
    live.on(&session_started());
    live.on(&started(0));
    assert_eq!(live.hub.version(), 0);
    let reason = EndReason::Interrupted;
    live.on(&Event::HeatsEnded { reason });
    assert_eq!(live.hub.version(), 1);
    let page = front(&live);
    assert!(page.contains("interrupted, after 0 heats"), "{page}");
}

#[test]
fn an_interrupted_heat_is_not_counted_as_done() {
    let results = begun(0);
    let mut live = live(&results);
    let _listener = live.hub.watch(None).unwrap();
    let mut cut = heat(1);
    cut.heat.end = HeatEnd::Interrupted;
    let course = [
        session_started(),
        started(0),
        ended(0),
        started(1),
        Event::HeatEnded { heat: cut },
        Event::HeatsEnded {
            reason: EndReason::Interrupted,
        },
    ];
    for event in course {
        live.on(&event);
    }
    let page = front(&live);
    assert!(page.contains("interrupted, after 1 heat<"), "{page}");
    assert!(page.contains("<progress value=\"1\" max=\"3\""), "{page}");
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
