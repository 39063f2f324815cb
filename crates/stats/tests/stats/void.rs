//! Void trials: what disturbs one, what of several attempts counts, and what a failure is then.

use deadheat_model::{Cell, Failure, SessionRecord, trial::Phase, trial::TrialOutcome};
use deadheat_stats::{
    Analysis, analyse,
    analysis::GroupComparison,
    trial::Flag,
    verdict::{CellVerdict, FailReason, TrialVerdict},
};

use crate::fixture::{Found, Session, disturbed, failed, good, measured, scatter, with_failures};

/// Two stacks, `a` twice as fast as `b`, under a bound for noise.
fn session(blocks: u32) -> Session {
    Session::new(blocks)
        .workload("json", &[50])
        .stack("a")
        .stack("b")
        .noise_bound()
}

fn found(cell: &Cell, block: u32) -> Found {
    let name = cell.target.to_string();
    let rate = if name == "a" { 2_000.0 } else { 1_000.0 };
    Found::at(rate * (1.0 + 0.003 * scatter(&name, block)))
}

/// All trials are good but those that `is_void` says.
fn with_void(blocks: u32, is_void: impl Fn(&str, u32) -> bool) -> Session {
    session(blocks).measured(blocks, |cell, block| {
        match is_void(&cell.target.to_string(), block) {
            true => disturbed(measured(found(cell, block))),
            false => good(found(cell, block)),
        }
    })
}

/// Another attempt of `a` in block 1.
fn again(session: Session, outcome: TrialOutcome) -> SessionRecord {
    let cell = Cell {
        target: "a".parse().unwrap(),
        workload: "json".to_owned(),
        point: "c50".to_owned(),
    };
    session.trial(1, 9, cell, outcome).build()
}

/// The records of the trials of `a` that count, and its void ones.
fn places(analysis: &Analysis) -> (Vec<usize>, Vec<usize>) {
    let mut cells = analysis.groups[0].cells.iter();
    let cell = cells.find(|cell| cell.target.to_string() == "a").unwrap();
    let records = |trials: &[deadheat_stats::TrialAnalysis]| {
        let trials = trials.iter();
        trials.map(|trial| trial.record).collect::<Vec<_>>()
    };
    (records(&cell.trials), records(&cell.void))
}

#[test]
fn the_bound_alone_makes_a_trial_void() {
    let verdict = |other: f64, steal: f64, bound: bool| {
        let outcome = |cell: &Cell, block| {
            let mut trial = measured(found(cell, block));
            // The machine has two CPUs.
            trial.noise.other_cpu_seconds = other * 2.0 * trial.resources.span_seconds;
            trial.noise.steal_share = steal;
            TrialOutcome::Measured(Box::new(trial))
        };
        let record = session(1).measured(1, outcome);
        let record = record.with(|record| {
            if !bound {
                record.header.plan.noise_bound = None;
            }
        });
        let analysis = analyse(&record.build());
        let cell = analysis.groups[0].cells[0].clone();
        let flagged = cell.trials.iter().chain(&cell.void).any(|trial| {
            let mut flags = trial.flags.iter();
            flags.any(|flag| matches!(flag, Flag::Disturbed { .. }))
        });
        let void = cell.void.first().map(|trial| trial.verdict.clone());
        (void, flagged)
    };
    assert_eq!(verdict(0.04, 0.04, true), (None, false));
    let (void, flagged) = verdict(0.06, 0.01, true);
    let Some(TrialVerdict::Void { other_cpu, steal }) = void else {
        panic!("{void:?}")
    };
    assert!((other_cpu - 0.06).abs() < 1e-9 && steal == 0.01 && !flagged);
    assert!(matches!(
        verdict(0.0, 0.06, true).0,
        Some(TrialVerdict::Void { .. })
    ));
    // Older plans have no bound: a flag, as ever.
    assert_eq!(verdict(0.0, 0.06, false), (None, true));
}

#[test]
fn of_several_attempts_the_last_one_that_is_not_void_counts() {
    let first_void = || with_void(3, |name, block| name == "a" && block == 1);
    // The trials are a0 b0 a1 b1 a2 b2, and then the repetition.
    let analysis = analyse(&again(first_void(), good(Found::at(2_000.0))));
    assert_eq!(places(&analysis), (vec![0, 6, 4], vec![2]));
    assert_eq!(analysis.groups[0].cells[0].trials[1].attempt, 1);
    // An attempt that was good stays when a later one is void.
    let last_void = disturbed(measured(Found::at(2_000.0)));
    let analysis = analyse(&again(with_void(3, |_, _| false), last_void));
    assert_eq!(places(&analysis), (vec![0, 2, 4], vec![6]));
    let blocks = &analysis.blocks;
    assert_eq!(
        (
            blocks.trials_counted,
            blocks.trials_void,
            blocks.trials_left_out
        ),
        (6, 1, 0)
    );
}

#[test]
fn a_void_trial_leaves_the_block_to_the_others() {
    let record = with_void(7, |name, block| name == "a" && block < 2).build();
    let analysis = analyse(&record);
    assert_eq!(analysis.blocks.complete.len(), 7, "it is there, if void");
    let group = &analysis.groups[0];
    let (a, b) = (&group.cells[0], &group.cells[1]);
    assert_eq!((a.trials.len(), a.void.len(), b.trials.len()), (5, 2, 7));
    assert_eq!(a.verdict, CellVerdict::Counts);
    let pair = &group.comparison.pairs()[0];
    assert_eq!(pair.blocks, 5, "pairs are of blocks that have both");
    assert_eq!((a.rank, b.rank), (Some(1), Some(2)));
}

#[test]
fn what_void_trials_found_changes_nothing() {
    let with = |rate: f64| {
        let outcome = |cell: &Cell, block| {
            if block == 2 {
                return disturbed(measured(Found::at(rate)));
            }
            good(found(cell, block))
        };
        let mut analysis = analyse(&session(5).measured(5, outcome).build());
        let cells = &mut analysis.groups[0].cells;
        cells.iter_mut().for_each(|cell| cell.void.clear());
        analysis
    };
    assert_eq!(with(10.0), with(90_000.0));
}

#[test]
fn a_cell_without_any_other_trial_is_void_and_has_no_rank() {
    let analysis = analyse(&with_void(5, |name, _| name == "a").build());
    let group = &analysis.groups[0];
    let void = group.cells.last().unwrap();
    assert_eq!(void.verdict, CellVerdict::Void { void: 5 });
    assert_eq!((void.rank, &void.estimates), (None, &None));
    assert_eq!(
        group.comparison,
        GroupComparison::TooFewCells { comparable: 1 }
    );
}

#[test]
fn one_trial_is_too_few_for_a_rank() {
    let analysis = analyse(&with_void(5, |name, block| name == "a" && block > 0).build());
    let group = &analysis.groups[0];
    let ranks: Vec<_> = group
        .cells
        .iter()
        .map(|cell| (cell.target.to_string(), cell.trials.len(), cell.rank))
        .collect();
    assert_eq!(
        ranks,
        [("b".to_owned(), 5, Some(1)), ("a".to_owned(), 1, None)]
    );
}

#[test]
fn a_failure_is_never_void_and_no_repetition_hides_it() {
    let wrong = |_: &Cell, _| {
        let outcome = with_failures(Found::at(2_000.0), Failure::WrongContent, 1, "");
        let TrialOutcome::Measured(mut trial) = outcome else {
            unreachable!()
        };
        trial.noise.steal_share = 0.5;
        TrialOutcome::Measured(trial)
    };
    let first_wrong = || {
        session(3).measured(3, |cell, block| {
            match (cell.target.to_string().as_str(), block) {
                ("a", 1) => wrong(cell, block),
                _ => good(found(cell, block)),
            }
        })
    };
    let reasons = vec![FailReason::WrongAnswers { count: 1 }];
    let verdict = CellVerdict::Failed {
        failed: 1,
        of: 3,
        reasons,
    };
    let analysis = analyse(&first_wrong().build());
    let cell = analysis.groups[0].cells.last().unwrap();
    assert_eq!(cell.verdict, verdict);
    let flags = &cell.trials[1].flags;
    assert!(
        matches!(flags[..], [Flag::Disturbed { .. }]),
        "it is told that it was disturbed: {flags:?}"
    );
    let analysis = analyse(&again(first_wrong(), good(Found::at(2_000.0))));
    assert_eq!(analysis.groups[0].cells.last().unwrap().verdict, verdict);
    // Nor does one hide that requests failed on the way, or that the server died.
    for bad in [
        with_failures(Found::at(2_000.0), Failure::Reset, 900, ""),
        failed(Phase::Load, "died", &[]),
    ] {
        let first_bad = session(3).measured(3, |cell, block| {
            match (cell.target.to_string().as_str(), block) {
                ("a", 1) => bad.clone(),
                _ => good(found(cell, block)),
            }
        });
        let analysis = analyse(&again(first_bad, good(Found::at(2_000.0))));
        let verdict = &analysis.groups[0].cells.last().unwrap().verdict;
        let is_failed = matches!(
            verdict,
            CellVerdict::Failed {
                failed: 1,
                of: 3,
                ..
            }
        );
        assert!(is_failed, "{bad:?}: {verdict:?}");
    }
    // What ended before it was measured fails, too.
    let crashed = failed(Phase::Load, "died", &[]);
    let analysis = analyse(&again(with_void(3, |_, _| false), crashed));
    let verdict = &analysis.groups[0].cells.last().unwrap().verdict;
    assert!(matches!(
        verdict,
        CellVerdict::Failed {
            failed: 1,
            of: 3,
            ..
        }
    ));
}
