//! What failed or does not count.

use deadheat_model::{Cell, trial::Phase};
use deadheat_report::{View, html, markdown, view::LostView};
use deadheat_stats::analyse;

use crate::{
    cases::{self, Case},
    fixture::{Found, Session, disturbed, failed, good, measured},
    method_cases,
};

fn lost(record: &deadheat_model::SessionRecord) -> LostView {
    View::new(record, &analyse(record)).lost
}

#[test]
fn one_cause_of_thirty_stacks_at_eight_workloads_is_one_entry() {
    let mut session = Session::new(2);
    for workload in 0..8 {
        session = session.workload(&format!("w{workload}"), &[50]);
    }
    for stack in 0..30 {
        session = session.stack(&format!("language-stack{stack}"));
    }
    let session = session.measured(2, |cell, block| {
        let seconds = 3 + block + cell.target.stack.len() as u32;
        let reason = format!("the server was killed after {seconds}.5 s");
        failed(Phase::Load, &reason, &["out of memory"])
    });
    let record = session.build();
    let lost = lost(&record);
    let [cause] = &lost.causes[..] else {
        panic!("{} causes", lost.causes.len())
    };
    assert_eq!(cause.stacks.len(), 30);
    for met in &cause.stacks {
        assert_eq!(met.places.len(), 8, "{met:?}");
        assert!(
            met.places[0].contains("2 of 2 trials, in blocks 1 and 2"),
            "{met:?}"
        );
    }
    assert_eq!(cause.log, ["out of memory"]);
    let of = cause.of.as_deref().unwrap_or_default();
    assert!(
        of.starts_with("language-stack0, w0, 50 connections"),
        "{of}"
    );
    let view = View::new(&record, &analyse(&record));
    let page = html::html_with(&view, "").unwrap();
    assert_eq!(page.matches("class=\"loss\"").count(), 1);
    let lost = &page[page.find("id=\"lost\"").unwrap()..];
    assert!(lost.contains("<summary>30 stacks</summary>"));
}

#[test]
fn every_failure_and_every_loss_is_named_with_its_cause() {
    for Case {
        name,
        record,
        analysis,
        view,
    } in cases::all()
    {
        let named = |target: &str| {
            let causes = view.lost.causes.iter();
            causes
                .flat_map(|cause| &cause.stacks)
                .any(|met| met.target == target)
        };
        let void = view.lost.void.iter().flat_map(|void| &void.rows);
        let void: Vec<&str> = void.map(|row| &*row.target).collect();
        let groups = view.groups().into_iter().flat_map(|group| &group.losses);
        for loss in view.losses.iter().chain(groups) {
            let is_there = named(&loss.target) || void.contains(&&*loss.target);
            assert!(is_there, "{name}: {}", loss.target);
        }
        for group in &analysis.groups {
            for cell in group.all_cells() {
                let mut trials = cell.trials.iter().chain(&cell.left_out);
                let target = record.header.plan.controls.shown(&cell.target);
                if trials.any(|trial| trial.verdict.is_failed()) {
                    assert!(named(&target), "{name}: {target}");
                }
            }
        }
    }
}

#[test]
fn a_cause_that_met_one_stack_alone_does_not_say_whose_log_it_is() {
    let lost = lost(&cases::failures_only());
    let with_log = lost.causes.iter().filter(|cause| !cause.log.is_empty());
    assert_eq!(with_log.count(), 2);
    assert!(lost.causes.iter().all(|cause| cause.of.is_none()));
}

#[test]
fn void_trials_say_by_what_they_were_disturbed_and_what_came_then() {
    let record = method_cases::noisy();
    let analysis = analyse(&record);
    let view = View::new(&record, &analysis);
    let void = view.lost.void.as_ref().unwrap();
    let row = |target: &str| {
        let mut rows = void.rows.iter();
        rows.find(|row| row.target == target).unwrap()
    };
    let go = row("go-nethttp");
    assert_eq!((&*go.trials, &*go.blocks), ("3 of 7", "2 and 4"));
    assert_eq!(go.then, "repeated until one counted");
    assert_eq!(go.steal, "1.0 %");
    let flask = row("python-flask:gunicorn");
    assert_eq!(flask.trials, "12 of 12");
    assert_eq!(flask.then, "repeated 8 times, and none counts");
    assert!(
        void.sentences[0].contains("more than 5.0 %"),
        "{:?}",
        void.sentences
    );
    assert!(
        view.lost.summary.contains("15 void trials"),
        "{}",
        view.lost.summary
    );
    let page = markdown(&view);
    assert!(page.contains("| go-nethttp | json, 50 connections | 3 of 7 | 2 and 4 |"));
}

#[test]
fn blocks_in_which_a_repetition_counted_are_told_from_those_in_which_none_did() {
    let session = Session::new(3).workload("json", &[50]).stack("one");
    let session = session.noise_bound().measured(3, |_, block| match block {
        0 | 1 => disturbed(measured(Found::at(500.0))),
        _ => good(Found::at(500.0)),
    });
    let cell = "one".parse().map(|target| Cell {
        target,
        workload: "json".to_owned(),
        point: "c50".to_owned(),
    });
    let session = session.trial(0, 0, cell.unwrap(), good(Found::at(500.0)));
    let lost = lost(&session.build());
    let [row] = &lost.void.as_ref().unwrap().rows[..] else {
        panic!("{:?}", lost.void)
    };
    assert_eq!((&*row.trials, &*row.blocks), ("2 of 4", "1 and 2"));
    assert_eq!(
        row.then,
        "repeated until one counted in block 1; none counts in block 2"
    );
}

#[test]
fn where_nothing_is_lost_that_is_said() {
    let lost = lost(&cases::one_trial());
    assert_eq!(
        lost.summary,
        "Nothing: no stack is missing, and every trial counts."
    );
    assert!(lost.causes.is_empty() && lost.void.is_none() && lost.left_out.is_none());
}
