//! The table of ratios.

use deadheat_report::{
    View,
    view::{Ratio, RatiosView, Verdict},
};
use deadheat_stats::{Analysis, analyse};

use crate::{cases, large};

fn ratios(case: &str) -> (&'static Analysis, Option<&'static RatiosView>) {
    let case = cases::named(case);
    (&case.analysis, case.view.ratios.as_ref())
}

fn place(view: &RatiosView, target: &str) -> usize {
    let mut stacks = view.stacks.iter();
    stacks.position(|stack| stack.target == target).unwrap()
}

#[test]
fn with_any_baseline_a_pair_says_what_was_compared() {
    let (analysis, view) = ratios("plausible");
    let view = view.unwrap();
    let mut seen = 0;
    let groups = analysis.groups.iter();
    for (group, column) in groups.zip(&view.columns) {
        for pair in group.comparison.pairs() {
            let faster = place(view, &pair.faster.to_string());
            let slower = place(view, &pair.slower.to_string());
            let (better, worse) = (
                &column.beside[slower][faster],
                &column.beside[faster][slower],
            );
            let (
                Ratio::Compared { value, verdict, .. },
                Ratio::Compared {
                    value: inverse,
                    verdict: other,
                    ..
                },
            ) = (better, worse)
            else {
                panic!("{better:?} {worse:?}");
            };
            assert_eq!(*value, pair.ratio);
            assert!((value * inverse - 1.0).abs() < 1e-12);
            let expected = match pair.different {
                true => (Verdict::Faster, Verdict::Slower),
                false => (Verdict::NoDifference, Verdict::NoDifference),
            };
            assert_eq!((*verdict, *other), expected);
            seen += 1;
        }
    }
    assert!(seen > 10, "{seen}");
}

#[test]
fn each_stack_is_the_baseline_of_itself_and_who_has_no_figure_says_why() {
    let (_, view) = ratios("plausible");
    let view = view.unwrap();
    let limited = place(view, "nginx-static");
    let ranked = place(view, "rust-axum");
    let without = |why| Ratio::NotCompared { why };
    for column in &view.columns {
        let beside = |baseline: usize, stack: usize| column.beside[baseline][stack].clone();
        assert_eq!(beside(ranked, limited), without("generator-limited"));
        let told = beside(limited, ranked);
        assert_eq!(told, without("baseline generator-limited"));
        assert_eq!(beside(ranked, ranked), Ratio::Baseline);
        assert_eq!(beside(limited, limited), Ratio::Baseline);
    }
    assert_ne!(view.baseline, limited, "it is compared with nobody");
    // It failed at one of both.
    let failing = place(view, "nim-jester");
    let why = |column: usize| view.columns[column].beside[ranked][failing].clone();
    assert!(matches!(why(0), Ratio::Compared { .. }));
    assert_eq!(why(1), without("failed"));
    let told = view.columns[1].beside[failing][ranked].clone();
    assert_eq!(told, without("baseline failed"), "not the row's own");
}

#[test]
fn a_stack_that_is_not_planned_for_a_workload_says_so_also_as_the_baseline() {
    let record = large::to_choose_from();
    let view = View::new(&record, &analyse(&record)).ratios.unwrap();
    let (absent, ranked) = (place(&view, "go-gin"), place(&view, "rust-axum"));
    let why = |baseline: usize, stack: usize| view.columns[2].beside[baseline][stack].clone();
    let without = |why| Ratio::NotCompared { why };
    assert_eq!(why(ranked, absent), without("not measured"));
    assert_eq!(why(absent, absent), without("not measured"));
    assert_eq!(why(absent, ranked), without("baseline not measured"));
}

#[test]
fn an_interval_is_turned_round_with_its_ratio() {
    let (_, view) = ratios("ties");
    let view = view.unwrap();
    let ends = |baseline: usize, stack: usize| match &view.columns[0].beside[baseline][stack] {
        Ratio::Compared {
            value, interval, ..
        } => {
            let (low, high) = interval.split_once('–').unwrap();
            let ends: (f64, f64) = (low.parse().unwrap(), high.parse().unwrap());
            assert!(ends.0 <= *value && *value <= ends.1, "{value} {interval}");
            ends
        }
        other => panic!("{other:?}"),
    };
    let (one, other) = (ends(0, 1), ends(1, 0));
    assert!((one.0 * other.1 - 1.0).abs() < 2e-3 && (one.1 * other.0 - 1.0).abs() < 2e-3);
}

#[test]
fn without_a_comparison_there_is_no_table() {
    for case in ["one-trial", "failures-only", "nothing"] {
        assert!(ratios(case).1.is_none(), "{case}");
    }
}
