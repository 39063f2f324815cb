//! The model and the view of whole loads.

use std::{thread, time::Instant};

use deadheat_model::{Failure, Interval, LoadPhase, SliceEvent};
use ratatui::{
    Terminal as Ratatui,
    backend::TestBackend,
    buffer::Buffer,
    layout::Rect,
    style::{Color, Modifier},
};

use super::{
    synthetic::{self, Scene},
    *,
};

const URL: &str = "http://127.0.0.1:8080/plaintext";

fn model(scene: Scene) -> Model {
    let (spec, events) = synthetic::play(scene);
    let mut model = Model::new(&spec, URL);
    for event in &events {
        model.on(event);
    }
    model
}

fn drawn(model: &Model, columns: u16, rows: u16, colour: bool) -> TestBackend {
    let mut terminal = Ratatui::new(TestBackend::new(columns, rows)).unwrap();
    let palette = Palette { colour };
    terminal
        .draw(|frame| {
            let area = frame.area();
            view::render(model, palette, area, frame.buffer_mut());
        })
        .unwrap();
    terminal.backend().clone()
}

#[test]
fn every_scene_at_every_size() {
    for scene in Scene::ALL {
        let model = model(scene);
        for (columns, rows) in [(80, 24), (60, 15), (120, 40)] {
            let seen = drawn(&model, columns, rows, true);
            insta::assert_snapshot!(format!("{scene:?}-{columns}x{rows}"), seen);
        }
    }
}

#[test]
fn small_terminals_show_what_matters_most() {
    let model = model(Scene::Behind);
    let sizes = [(30, 1), (40, 2), (40, 3), (50, 8), (40, 24)];
    let seen = sizes.map(|(columns, rows)| {
        let seen = drawn(&model, columns, rows, true);
        format!("{columns} × {rows}\n{seen}")
    });
    insta::assert_snapshot!(seen.join("\n"));
}

#[test]
fn no_size_is_too_small() {
    for scene in Scene::ALL {
        let model = model(scene);
        for columns in [0, 1, 2, 3, 9, 14, 15, 22, 47, 48, 49, 300] {
            for rows in 0..32 {
                let area = Rect::new(0, 0, columns, rows);
                let palette = Palette { colour: true };
                view::render(&model, palette, area, &mut Buffer::empty(area));
            }
        }
    }
}

#[test]
fn without_colours_nothing_has_one_and_what_is_bad_is_still_seen() {
    for scene in Scene::ALL {
        let model = model(scene);
        let plain = drawn(&model, 80, 24, false);
        let colourful = drawn(&model, 80, 24, true);
        let colours = |seen: &TestBackend| {
            let cells = seen.buffer().content.iter();
            cells.filter(|cell| cell.fg != Color::Reset).count()
        };
        assert_eq!(colours(&plain), 0, "{scene:?}");
        assert_eq!(colours(&colourful) > 0, scene != Scene::Start, "{scene:?}");
        assert_eq!(plain.to_string(), colourful.to_string(), "{scene:?}");
    }
    let seen = drawn(&model(Scene::Behind), 80, 24, false);
    let cells = seen.buffer().content.iter();
    let bold: String = cells
        .filter(|cell| cell.modifier.contains(Modifier::BOLD))
        .map(|cell| cell.symbol())
        .collect();
    assert!(bold.contains("BEHIND"), "{bold}");
}

#[test]
fn a_url_cannot_move_the_cursor() {
    let (spec, _) = synthetic::play(Scene::Start);
    let model = Model::new(&spec, "http://h/\x1b[2Jx\ny");
    let seen = drawn(&model, 80, 24, true);
    let text = seen.to_string();
    assert!(text.contains("http://h/?[2Jx?y"), "{text}");
}

fn interval(index: u64, phase: LoadPhase, succeeded: u64) -> LoadEvent {
    let mut interval = Interval {
        index,
        from: Duration::from_secs(index),
        until: Duration::from_secs(index + 1),
        phase,
        succeeded,
        ..Interval::default()
    };
    interval.failed[Failure::Reset] = 1;
    interval.service_time.record_ns(succeeded * 1_000_000);
    LoadEvent::Interval(Box::new(interval))
}

#[test]
fn the_warm_up_is_not_in_the_measurements_figures_even_if_it_is_told_late() {
    let (mut spec, _) = synthetic::play(Scene::Start);
    spec.warm_up = Duration::from_secs(2);
    let mut model = Model::new(&spec, URL);
    assert_eq!((model.phase, model.done()), (None, Some(0.0)));
    model.on(&LoadEvent::Started);
    model.on(&interval(0, LoadPhase::WarmUp, 10));
    assert_eq!(model.so_far.throughput(), 10.0);
    assert_eq!(model.so_far.ended(), 11);
    model.on(&LoadEvent::Slice(SliceEvent::CountingStarted));
    model.on(&interval(1, LoadPhase::WarmUp, 20));
    assert_eq!(model.phase, Some(LoadPhase::Measurement));
    assert_eq!(model.so_far.ended(), 0);
    model.on(&interval(2, LoadPhase::Measurement, 30));
    model.on(&interval(3, LoadPhase::Measurement, 50));
    assert_eq!(model.so_far.throughput(), 40.0);
    assert_eq!(model.so_far.failed[Failure::Reset], 2);
    assert_eq!(model.so_far.service_time.count(), 2);
    // Four of twelve seconds.
    assert!((model.done().unwrap() - 4.0 / 12.0).abs() < 1e-9);
    model.on(&LoadEvent::Slice(SliceEvent::CountingEnded));
    model.on(&interval(4, LoadPhase::Drain, 90));
    assert_eq!(model.so_far.throughput(), 40.0);
    assert_eq!(model.done(), Some(1.0));
    assert_eq!(model.series.points().len(), 5);
}

#[test]
fn a_count_is_done_by_what_has_ended() {
    let (mut spec, _) = synthetic::play(Scene::Start);
    spec.stop = deadheat_model::StopRule::Count { requests: 100 };
    spec.warm_up = Duration::ZERO;
    let mut model = Model::new(&spec, URL);
    model.on(&LoadEvent::Started);
    model.on(&LoadEvent::Slice(SliceEvent::CountingStarted));
    model.on(&interval(0, LoadPhase::Measurement, 24));
    assert_eq!(model.done(), Some(0.25));
    spec.stop = deadheat_model::StopRule::Interrupt;
    assert_eq!(Model::new(&spec, URL).done(), None);
}

#[test]
fn only_an_open_loop_with_requests_that_wait_is_behind() {
    assert!(model(Scene::Behind).is_behind());
    let mut kept_up = model(Scene::Behind);
    kept_up.latest.as_mut().unwrap().waiting = 0;
    assert!(!kept_up.is_behind());
    assert!(!model(Scene::Steady).is_behind());
}

/// `cargo test -p deadheat look_at_the_live_view -- --ignored --nocapture`, in a terminal.
#[test]
#[ignore = "takes some seconds for each scene, and is to be looked at"]
fn look_at_the_live_view() {
    for scene in Scene::ALL {
        let (spec, events) = synthetic::play(scene);
        let mut live = Live::start(Mode::Terminal, &spec, URL);
        let pause = Duration::from_millis((4_000 / events.len().max(1) as u64).min(300));
        let mut longest = Duration::ZERO;
        for event in &events {
            let began = Instant::now();
            live.on(event);
            longest = longest.max(began.elapsed());
            thread::sleep(pause);
        }
        thread::sleep(Duration::from_secs(1));
        live.finish();
        output::note(&format!("{scene:?}: {longest:?} for an event at most"));
    }
}

#[test]
fn lines_are_aligned_below_their_head() {
    for scene in [Scene::Errors, Scene::Behind] {
        let (spec, events) = synthetic::play(scene);
        let mut lines = Lines::new(spec.schedule.is_open());
        let text: Vec<String> = synthetic::intervals(&events)
            .map(|interval| lines.line(interval))
            .collect();
        insta::assert_snapshot!(format!("lines-{scene:?}"), text.join("\n"));
    }
}

#[test]
fn the_head_comes_again_after_a_page() {
    let mut lines = Lines::new(false);
    let interval = Interval::default();
    let heads: Vec<usize> = (0..45)
        .filter(|_| lines.line(&interval).contains("answers/s"))
        .collect();
    assert_eq!(heads, [0, 20, 40]);
}
