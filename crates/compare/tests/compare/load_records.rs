//! Records of loads against each other: what they carry, and what they do not.

use deadheat_compare::{
    analysis::{biasing_differences, compare},
    document::headline,
};
use deadheat_model::{
    Failure, LoadRecord, Schedule, Wait, change::Change, failure::FailurePhase, load::Content,
};
use deadheat_stats::comparison::{Bounds, Check, ComparisonAnalysis, Metric, RatioVerdict};

use crate::load_fixture::{closed_fine, failed, nothing_answered};

/// A run in this minute, of a server that answers so many times as much as usual.
fn run(minute: u32, speed: f64) -> LoadRecord {
    let mut record = closed_fine();
    record.started = format!("2026-03-01T10:{minute:02}:00.000Z");
    let measured = &mut record.observation.measured;
    measured.succeeded = (measured.succeeded as f64 * speed) as u64;
    measured.issued = measured.succeeded;
    measured.in_flight = 0;
    record
}

/// Runs at these minutes, each a little faster or slower than the others.
fn runs(minutes: &[u32], speed: f64) -> Vec<LoadRecord> {
    let scatter = [0.0, 0.003, -0.002, 0.001];
    let all = minutes.iter().zip(scatter);
    all.map(|(minute, scatter)| run(*minute, speed * (1.0 + scatter)))
        .collect()
}

fn comparison(a: &[LoadRecord], b: &[LoadRecord]) -> ComparisonAnalysis {
    compare(("a", a), ("b", b), Bounds::default())
}

fn verdict(comparison: &ComparisonAnalysis) -> RatioVerdict {
    comparison.compared[0].verdict
}

const DECIDED: Check = Check {
    fail_if_slower: None,
    fail_if_costlier: None,
    require_decision: true,
};

#[test]
fn one_run_each_shows_the_ratio_and_has_no_verdict() {
    let comparison = comparison(&[run(0, 1.0)], &[run(1, 0.5)]);
    let ratio = &comparison.compared[0].ratios[0];
    assert_eq!(ratio.metric, Metric::Throughput);
    assert!((ratio.ratio - 0.5).abs() < 0.01, "{ratio:?}");
    assert!(ratio.interval.is_none() && ratio.p.is_none());
    assert_eq!(verdict(&comparison), RatioVerdict::NotEnoughData);
    let note = &comparison.compared[0].notes[0].sentence;
    assert!(note.contains("1 of A and 1 of B"), "{note}");
    assert!(comparison.gate(DECIDED).failed && !comparison.gate(Check::default()).failed);
}

#[test]
fn runs_in_turn_have_a_verdict() {
    let a = runs(&[0, 2, 4, 6], 1.0);
    let cases = [
        (1.0, RatioVerdict::DeadHeat),
        (0.9, RatioVerdict::Worse),
        (1.1, RatioVerdict::Better),
    ];
    for (speed, expected) in cases {
        let found = comparison(&a, &runs(&[1, 3, 5, 7], speed));
        assert_eq!(verdict(&found), expected, "{found:#?}");
    }
}

#[test]
fn runs_that_are_not_in_turn_have_none() {
    let a = runs(&[0, 1, 2, 3], 1.0);
    let comparison = comparison(&a, &runs(&[4, 5, 6, 7], 0.5));
    assert_eq!(verdict(&comparison), RatioVerdict::NotEnoughData);
    assert!(comparison.compared[0].ratios[0].interval.is_none());
    assert!(comparison.compared[0].notes[0].id == "not-in-turn");
    let headline = headline(&comparison);
    let why = "because the runs were not made in turn";
    assert!(headline.contains(why), "{headline}");
}

#[test]
fn other_circumstances_of_any_run_are_a_refusal() {
    let a = runs(&[0, 2, 4], 1.0);
    let mut b = runs(&[1, 3, 5], 1.0);
    assert_eq!(biasing_differences(&a, &b), []);
    b[2].spec.target.authority = "another:80".to_owned();
    assert_eq!(
        biasing_differences(&a, &b),
        [],
        "the server is what is compared"
    );
    b[2].spec.schedule = Schedule::Closed {
        connections: 7,
        ramp: std::time::Duration::ZERO,
    };
    b[1].machine.kernel = "another".to_owned();
    let changes = biasing_differences(&a, &b);
    let named = |changes: &[Change]| -> Vec<String> {
        changes.iter().map(|change| change.what.clone()).collect()
    };
    assert_eq!(named(&changes), ["kernel", "loop"]);
    // Whoever compares all the same is told.
    let comparison = comparison(&a, &b);
    let mut warnings = comparison.warnings.iter();
    assert!(warnings.any(|one| one.sentence.contains("kernel is ")));
    // What a valid answer is, and how the generator waits for it.
    let changed = |change: &dyn Fn(&mut LoadRecord)| {
        let mut b = runs(&[1, 3, 5], 1.0);
        b.iter_mut().for_each(change);
        named(&biasing_differences(&a, &b))
    };
    let content = |run: &mut LoadRecord, end: &str| {
        let bytes = ("x".repeat(100) + end).into_bytes();
        run.spec.exchanges[0].expect.content = Some(Content::Contains { bytes });
    };
    assert_eq!(changed(&|run| content(run, "")), ["valid answers"]);
    let length = |run: &mut LoadRecord| run.spec.exchanges[0].expect.length = Some(7);
    assert_eq!(changed(&length), ["valid answers"]);
    assert_eq!(
        changed(&|run| run.spec.wait = Wait::Poll),
        ["waiting for answers"]
    );
    let mut one = runs(&[0], 1.0);
    let mut other = runs(&[1], 1.0);
    content(&mut one[0], "a");
    content(&mut other[0], "a");
    assert_eq!(biasing_differences(&one, &other), []);
    other[0].spec.content_sample = 9;
    assert_eq!(named(&biasing_differences(&one, &other)), ["valid answers"]);
    content(&mut one[0], "b");
    other[0].spec.content_sample = 1;
    assert_eq!(named(&biasing_differences(&one, &other)), ["valid answers"]);
}

#[test]
fn a_run_without_a_valid_answer_is_a_failure_of_its_side() {
    let good = runs(&[0, 2, 4], 1.0);
    let bad = [nothing_answered()];
    assert!(comparison(&good, &bad).b_failed());
    let a_failed = comparison(&bad, &good);
    assert!(!a_failed.b_failed() && a_failed.compared.is_empty());
    assert!(a_failed.not_compared[0].reason.contains("of A"));
    let of_both = comparison(&bad, &bad);
    assert!(of_both.b_failed());
    let reason = &of_both.not_compared[0].reason;
    assert!(
        reason.contains("of A") && reason.contains("of B"),
        "{reason}"
    );
}

#[test]
fn a_side_that_fails_more_than_one_request_in_1000_has_failed() {
    let good = runs(&[0, 2, 4], 1.0);
    let with_failures = |many: u64| {
        let mut all = runs(&[1, 3, 5], 1.0);
        let phase = FailurePhase::Head;
        failed(&mut all[1], Failure::WrongStatus, phase, "500", many);
        all
    };
    let few = comparison(&good, &with_failures(20));
    assert!(!few.b_failed() && few.compared.len() == 1, "{few:#?}");
    let many = comparison(&good, &with_failures(2_000));
    assert!(many.b_failed() && many.compared.is_empty(), "{many:#?}");
    let reason = &many.not_compared[0].reason;
    assert!(reason.starts_with("a run of B failed 7."), "{reason}");
    assert!(!comparison(&with_failures(2_000), &good).b_failed());
}
