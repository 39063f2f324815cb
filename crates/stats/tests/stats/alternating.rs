//! Two stacks in blocks of one session, judged at looks.

use deadheat_model::{
    Failure, SessionRecord, TargetId, TrialOutcome,
    plan::{Controls, Twin},
};
use deadheat_stats::{
    sequential::Design,
    versus::{
        Bounds, Ended, Gated, How, Side, Versus,
        alternating::{Judged, final_look, stacks},
    },
};

use crate::fixture::{Found, Session, good, scatter, with_failures};

/// The trial of B that fails, beyond a look after five blocks.
const LATE: u32 = 6;

/// B as fast as A in seven blocks.
fn session(outcome: impl Fn(&str, u32, Found) -> TrialOutcome) -> SessionRecord {
    let session = Session::new(100)
        .workload("json", &[50])
        .stack("a")
        .stack("b");
    let session = session.measured(7, |cell, block| {
        let name = &cell.target.stack;
        let noise = 0.004 * scatter(name, block);
        outcome(name, block, Found::at(5_000.0 * (1.0 + noise)))
    });
    session.build()
}

fn wrong_in_the_end(failing: &'static str) -> SessionRecord {
    session(move |name, block, found| match (name, block) {
        (name, LATE) if name == failing => with_failures(found, Failure::WrongContent, 2, "x"),
        _ => good(found),
    })
}

fn judge(record: &SessionRecord, blocks: Option<u32>) -> Judged {
    let design = Design::declare(&[5, 10], 0.05).unwrap();
    let look = blocks.and_then(|blocks| final_look(&design, blocks, Ended::Interrupted));
    let [a, b] = ["a", "b"].map(|name| TargetId::new(name, None));
    stacks::judge(record, &a, &b, look, &Bounds::default())
}

fn versus(judged: Judged) -> Versus {
    let side = |name: &str| Side {
        name: name.to_owned(),
        facts: Vec::new(),
        failed: None,
    };
    Versus {
        how: How::Sessions,
        a: side("a"),
        b: side("b"),
        bounds: Bounds::default(),
        compared: judged.compared,
        not_compared: judged.not_compared,
        conditions: Vec::new(),
        differences: Vec::new(),
        warnings: Vec::new(),
    }
}

#[test]
fn figures_are_of_the_look_and_failures_of_everything() {
    let fine = judge(&session(|_, _, found| good(found)), Some(7));
    assert_eq!(fine.compared[0].ratios[0].trials_a, 5, "of the look alone");
    assert!(!fine.failed && fine.not_compared.is_empty());
    for (failing, b_failed) in [("b", true), ("a", false)] {
        let complete = wrong_in_the_end(failing);
        // The other side's trial may never have come to it.
        let mut cut = complete.clone();
        cut.trials
            .retain(|trial| trial.block != LATE || trial.cell.target.stack == failing);
        for record in [complete, cut] {
            let judged = judge(&record, Some(7));
            assert!(judged.failed && judged.compared.is_empty(), "{judged:?}");
            let told = &judged.not_compared[0];
            assert_eq!(told.b_failed, b_failed);
            assert!(told.reason.contains("wrong answers: 2"), "{told:?}");
            assert_eq!(versus(judged).b_failed(), b_failed);
        }
    }
}

#[test]
fn without_a_look_nothing_was_compared_and_the_gate_says_so() {
    let record = session(|_, _, found| good(found));
    let none = versus(judge(&record, None));
    assert!(none.compared.len() == 1 && !none.has_ratio());
    let gate = none.gate(0.03);
    assert!(gate.cells.is_empty() && !gate.failed);
    assert_eq!(gate.not_judged, 1, "{gate:?}");
    let some = versus(judge(&record, Some(5)));
    assert!(some.has_ratio());
    let gate = some.gate(0.03);
    assert_eq!((gate.cells[0].is, gate.not_judged), (Gated::Excluded, 0));
}

#[test]
fn an_a_a_pair_that_differs_is_told() {
    let with_twin = |share: f64| {
        let mut record = session(|_, _, found| good(found));
        let (name, of) = (Controls::twin_id(), TargetId::new("a", None));
        let own = record.trials.iter().filter(|trial| trial.cell.target == of);
        let mut twins: Vec<_> = own.cloned().collect();
        for trial in &mut twins {
            let noise = 0.004 * scatter("twin", trial.block);
            trial.outcome = good(Found::at(5_000.0 * share * (1.0 + noise)));
            trial.cell.target = name.clone();
        }
        record.header.plan.cells.push(twins[0].cell.clone());
        record.trials.extend(twins);
        record.header.plan.controls.twin = Some(Twin { name, of });
        record
    };
    assert_eq!(stacks::biased(&with_twin(1.0)), None);
    let told = stacks::biased(&with_twin(1.05)).expect("it differs by 5 %");
    assert!(
        told.starts_with("in this comparison one stack under two names (A/A) differed at json c50"),
        "{told}"
    );
}
