//! The course of a session, and what stacks take before they serve.

use std::{collections::BTreeSet, time::Duration};

use deadheat_model::{SessionRecord, session::TargetState, trial::TrialOutcome};
use deadheat_report::{
    View, html,
    view::{CoursePoint, MarkKind},
};
use deadheat_stats::analyse;

use crate::{
    cases::{self, Case},
    fixture::{Found, Session, measured},
    method_cases,
};

fn points(record: &SessionRecord) -> Vec<CoursePoint> {
    let view = View::new(record, &analyse(record));
    view.course.map_or_else(Vec::new, |course| course.points)
}

fn count(point: &CoursePoint, kind: MarkKind) -> usize {
    let marks = point.plot.marks.iter();
    marks.filter(|mark| mark.kind == kind).count()
}

#[test]
fn every_trial_has_its_place_whatever_became_of_it() {
    for Case {
        name, record, view, ..
    } in cases::all()
    {
        let mut places = BTreeSet::new();
        for point in view.course.iter().flat_map(|course| &course.points) {
            for mark in &point.plot.marks {
                let trial = &record.trials[mark.place - 1];
                assert!(places.insert(mark.place), "{name}: {} twice", mark.hover);
                let block = format!("block {}", trial.block + 1);
                assert!(mark.hover.contains(&block), "{name}: {}", mark.hover);
            }
            let span = &point.plot.blocks;
            assert_eq!(span.last().unwrap().last, record.trials.len(), "{name}");
        }
        assert_eq!(places.len(), record.trials.len(), "{name}");
    }
}

#[test]
fn verdicts_and_the_pair_that_was_measured_twice_are_told_apart() {
    let record = method_cases::noisy();
    let analysis = analyse(&record);
    let points = points(&record);
    let [point] = &points[..] else {
        panic!("{}", points.len())
    };
    assert_eq!(count(point, MarkKind::Void), analysis.blocks.trials_void);
    assert_eq!(count(point, MarkKind::Repeated), 2, "of go-nethttp");
    assert_eq!(count(point, MarkKind::NullServer), 4);
    assert_eq!(count(point, MarkKind::Twin), 4);
    assert_eq!(
        count(point, MarkKind::Twice),
        2,
        "two of four were repeated"
    );
    assert_eq!(point.plot.pauses, [9.5]);
    let [_, second, ..] = &point.blocks[..] else {
        panic!("{}", point.blocks.len())
    };
    let void = record.trials.iter().filter(|trial| trial.block == 1);
    let void = void.filter(|trial| {
        trial
            .void(record.header.plan.noise_bound, 2, 0.01)
            .is_some()
    });
    assert_eq!(second.void, void.count().to_string());
}

#[test]
fn a_drift_of_the_machine_is_in_the_blocks_table_and_in_a_sentence() {
    let session = Session::new(3).workload("json", &[50]);
    let session = session.stack("fast").stack("slow").null_server();
    let record = session.measured(3, |cell, block| {
        let rate = match &*cell.target.stack {
            "~null-server" => 8_000.0,
            "fast" => 2_000.0,
            _ => 100.0,
        };
        let drift = [0.8, 1.0, 1.1][block as usize];
        TrialOutcome::Measured(Box::new(measured(Found::at(rate * drift))))
    });
    let points = points(&record.build());
    let rows = &points[0].blocks;
    let shares: Vec<[&str; 2]> = rows
        .iter()
        .map(|row| [&*row.null_ratio, &*row.stacks])
        .collect();
    assert_eq!(shares, [["80.0 %"; 2], ["100.0 %"; 2], ["110.0 %"; 2]]);
    assert_eq!(
        points[0].summary.as_deref(),
        Some(
            "From block to block the null server was at 80.0 % to 110.0 % of its median; the stacks' median was \
             at 80.0 % to 110.0 % of their own."
        )
    );
}

#[test]
fn start_up_is_of_all_trials_that_count_and_a_build_of_nothing_is_blank() {
    let session = Session::new(3)
        .workload("json", &[50])
        .workload("users", &[50]);
    let session = session.stack("one").stack("two");
    let session = session.measured(3, |cell, block| {
        let mut trial = measured(Found::at(500.0));
        let more = if cell.workload == "users" { 10 } else { 0 };
        trial.ready = Duration::from_millis(20 + more + u64::from(block));
        TrialOutcome::Measured(Box::new(trial))
    });
    let record = session.with(|record| {
        let TargetState::Ready { build } = &mut record.header.targets[1].state else {
            unreachable!()
        };
        build.seconds = 0.0;
        build.artefact_bytes = 2_048;
    });
    let record = record.build();
    let view = View::new(&record, &analyse(&record));
    let rows = &view.startup.as_ref().unwrap().rows;
    assert_eq!(rows[0].ready, "26.0 ms");
    assert_eq!(rows[0].range, "20.0 ms to 32.0 ms");
    assert_eq!((&*rows[0].starts, &*rows[0].build), ("6", "12.3 s"));
    assert_eq!(
        (&*rows[1].build, &*rows[1].build_note),
        ("", "nothing to build")
    );
    assert_eq!(rows[1].size, "2.00 KiB");
    let page = html::html_with(&view, "").unwrap();
    assert!(page.contains("nothing to build"));
}

#[test]
fn a_session_without_trials_has_no_course() {
    assert!(points(&cases::nothing()).is_empty());
}
