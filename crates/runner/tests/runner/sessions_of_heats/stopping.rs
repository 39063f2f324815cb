//! Sessions that are stopped or killed, and go on.

use std::{fs, path::Path, sync::Arc, time::Duration};

use deadheat_model::{
    Event, TargetId,
    event::HeatStep,
    heat::HeatEnd,
    heats::{EndReason, SessionRecord},
};
use deadheat_runner::session::{
    ResumeError, SessionOptions,
    heats::{self, HEATS_FILE, Resumable},
};

use super::{Bench, interrupted, script};

#[test]
fn the_wish_to_stop_ends_a_session_whose_last_heat_does_not_count() {
    let second = TargetId::new("b", None);
    // While the first one is frozen, between two rounds when both are, and before the last check.
    let is_second =
        |step: &HeatStep| matches!(step, HeatStep::BringingUp { target } if *target == second);
    let is_round = |step: &HeatStep| matches!(step, HeatStep::Round { done: 1, .. });
    let is_ending = |step: &HeatStep| *step == HeatStep::Ending;
    let moments: [&dyn Fn(&HeatStep) -> bool; 3] = [&is_second, &is_round, &is_ending];
    // More than one round, however slow the machine is.
    let times = [500, 600_000, 500].map(Duration::from_millis);
    for (moment, time) in moments.into_iter().zip(times) {
        let bench = Bench::new();
        let mut options = bench.options(&[("a", "none"), ("b", "none")]);
        options.heats.time = Some(time);
        let is_now = |event: &Event| match event {
            Event::HeatStep { step } => moment(step),
            _ => false,
        };
        let outcome = interrupted(&options, 3, is_now);
        assert_eq!(outcome.reason, EndReason::Interrupted);
        let record = heats::read_session(&outcome.folder).unwrap();
        assert_eq!(record.end, Some(EndReason::Interrupted));
        assert_eq!(record.heats.len(), 1);
        assert_eq!(record.heats[0].heat.end, HeatEnd::Interrupted);
        assert_eq!(record.complete_heats(0).count(), 0);
        for member in &record.heats[0].heat.members {
            assert!(member.failure.is_none(), "{:?}", member.failure);
        }
        bench.nobody_is_left();
    }
}

#[test]
fn a_line_without_its_end_is_no_heat() {
    let bench = Bench::new();
    let options = bench.options(&[("a", "none"), ("b", "none")]);
    let outcome = interrupted(&options, 1, |_| false);
    let path = outcome.folder.join(HEATS_FILE);
    let whole = fs::read(&path).unwrap();
    let first = whole.iter().position(|byte| *byte == b'\n').unwrap();
    for cut in (0..whole.len()).step_by(997).chain([first, first + 1]) {
        fs::write(&path, &whole[..cut]).unwrap();
        let record = heats::read_session(&outcome.folder).unwrap();
        assert_eq!(record.heats.len(), usize::from(cut > first), "cut at {cut}");
        assert_eq!(record.end, None);
    }
}

/// Goes on with the session in `folder` until it has so many heats.
fn resumed(
    folder: &Path,
    options: &SessionOptions,
    heats: usize,
) -> Result<SessionRecord, ResumeError> {
    let session = Resumable::open(folder)?;
    assert!(!session.is_complete());
    let interrupt = Arc::default();
    heats::resume(
        session,
        options,
        &mut script(heats),
        &mut |_| (),
        &interrupt,
    )?;
    Ok(heats::read_session(folder).unwrap())
}

#[test]
fn a_session_goes_on_with_the_heat_that_was_interrupted() {
    let bench = Bench::new();
    let options = bench.options(&[("a", "none"), ("b", "none")]);
    let is_second = |event: &Event| matches!(event, Event::HeatStarted { heat: 1, .. });
    let outcome = interrupted(&options, 2, is_second);
    let folder = outcome.folder.clone();
    let held = Resumable::open(&folder).unwrap_err().to_string();
    assert!(held.contains("writes this session"), "{held}");
    drop(outcome);
    // As a kill leaves it: without its end, and with a line that was not finished.
    let path = folder.join(HEATS_FILE);
    let text = fs::read_to_string(&path).unwrap();
    let whole: String = text.split_inclusive('\n').take(2).collect();
    fs::write(&path, whole + "{\"record\": \"he").unwrap();
    assert_eq!(heats::read_session(&folder).unwrap().end, None);
    let record = resumed(&folder, &options, 2).unwrap();
    assert_eq!(record.end, Some(EndReason::Finished));
    let numbers = record.complete_heats(0).map(|heat| heat.heat);
    assert_eq!(numbers.collect::<Vec<_>>(), [0, 2]);
    assert_eq!(record.heats.len(), 3);
    let [resumption] = &record.resumed[..] else {
        panic!("{:?}", record.resumed);
    };
    assert_eq!((resumption.heats_before, resumption.rebooted), (2, false));
    let complete = Resumable::open(&folder).unwrap();
    assert!(complete.is_complete());
    assert_eq!(complete.end().reason, EndReason::Finished);
    bench.nobody_is_left();
}

#[test]
fn a_session_does_not_go_on_after_its_sources_or_questions_changed() {
    let bench = Bench::new();
    let mut options = bench.options(&[("a", "none"), ("b", "none")]);
    let is_first = |event: &Event| matches!(event, Event::HeatStarted { .. });
    let folder = interrupted(&options, 1, is_first).folder;
    let refused = |options: &SessionOptions| {
        let error = resumed(&folder, options, 1).unwrap_err();
        assert!(matches!(error, ResumeError::Changed { .. }), "{error}");
        error.to_string()
    };
    options.workloads[0].manifest.content_sample = 7;
    assert!(refused(&options).contains("plaintext"));
    options.workloads[0].manifest.content_sample = 1;
    fs::write(options.targets[1].stack.dir.join("more.py"), "").unwrap();
    let told = refused(&options);
    assert!(told.contains("b: sources"), "{told}");
    let record = heats::read_session(&folder).unwrap();
    assert_eq!(record.resumed, [], "nothing has happened to it");
}

#[test]
fn what_is_no_session_of_heats_does_not_go_on() {
    let folder = tempfile::tempdir().unwrap();
    let error = Resumable::open(folder.path()).unwrap_err();
    assert!(matches!(error, ResumeError::NoSession { .. }), "{error}");
    let bench = Bench::new();
    let options = bench.options(&[("a", "exits-at-once")]);
    let folder = interrupted(&options, 1, |_| false).folder;
    let error = Resumable::open(&folder).unwrap_err();
    assert!(
        matches!(error, ResumeError::NothingPlanned { .. }),
        "{error}"
    );
}
