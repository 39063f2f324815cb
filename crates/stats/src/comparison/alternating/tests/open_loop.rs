//! Open loops: response times decide, and whether both sides keep up.

use deadheat_model::{comparison::Decide, observation::OpenLoop};

use super::*;
use crate::comparison::{Check, Compared, Gated};

/// Requests of each slice that fall due.
const DUE: u64 = 700;

/// The behaviour of B in an open loop, compared with A.
#[derive(Clone, Copy)]
struct B {
    /// B's usual response times over A's.
    usual: f64,
    /// Those of its slowest 2 % over A's.
    tail: f64,
    /// The share of the requests that it answers in time.
    answered: f64,
}

const SAME: B = B {
    usual: 1.0,
    tail: 1.0,
    answered: 1.0,
};

/// Heats of an open loop. Processes scatter by 1 %, A's as much as B's.
fn open(heats: u32, b: B) -> SessionRecord {
    let mut record = record(heats, 1.0);
    for (number, one) in record.heats.iter_mut().enumerate() {
        for slice in one.heat.rounds.iter_mut().flatten() {
            let is_b = slice.member == 1;
            let B {
                usual,
                tail,
                answered,
            } = if is_b { b } else { SAME };
            let process = 1.0 + 0.01 * scatter(90 + 2 * number as u64 + u64::from(slice.member));
            let answers = (DUE as f64 * answered) as u64;
            let mut response_time = LatencyHistogram::new();
            for answer in 0..answers {
                let times = if answer % 50 == 0 { 3.0 * tail } else { usual };
                response_time.record_ns((1e6 * times * process) as u64);
            }
            slice.tally.issued = answers;
            slice.tally.succeeded = answers;
            slice.generator.busiest = 0.2;
            slice.open = Some(OpenLoop {
                offered: DUE,
                unsent: DUE - answers,
                response_time,
                ..OpenLoop::default()
            });
        }
    }
    record
}

fn cell(heats: u32, b: B) -> Compared {
    let mut judged = judged(&open(heats, b));
    assert!(judged.not_compared.is_empty(), "{judged:?}");
    judged.compared.remove(0)
}

fn verdict_on(cell: &Compared, metric: Metric) -> RatioVerdict {
    let mut deciding = cell.deciding().iter();
    let ratio = deciding.find(|ratio| ratio.metric == metric);
    ratio.expect("it decides").verdict
}

#[test]
fn a_server_against_itself_is_a_dead_heat_in_all_that_decides() {
    let cell = cell(8, SAME);
    let metrics: Vec<Metric> = cell.deciding().iter().map(|ratio| ratio.metric).collect();
    use Metric::{ResponseTimeP50, ResponseTimeP99, Throughput};
    assert_eq!(metrics, [ResponseTimeP50, ResponseTimeP99, Throughput]);
    assert_eq!(cell.verdict, RatioVerdict::DeadHeat, "{cell:?}");
    assert!(cell.notes.is_empty(), "{:?}", cell.notes);
}

#[test]
fn a_slowdown_of_the_median_or_of_the_tail_alone_is_one() {
    for (usual, tail, metric) in [
        (1.3, 1.0, Metric::ResponseTimeP50),
        (1.0, 1.3, Metric::ResponseTimeP99),
    ] {
        let b = B {
            usual,
            tail,
            ..SAME
        };
        let cell = cell(8, b);
        assert_eq!(cell.verdict, RatioVerdict::Worse, "{cell:?}");
        let decisive = cell.decisive().unwrap();
        assert_eq!(decisive.metric, metric);
        let interval = decisive.interval.unwrap();
        assert!(interval.low <= 1.3 && 1.3 <= interval.high, "{interval:?}");
    }
}

#[test]
fn what_is_faster_in_the_median_and_slower_in_the_tail_is_slower() {
    let b = B {
        usual: 0.7,
        tail: 1.3,
        ..SAME
    };
    let cell = cell(8, b);
    assert_eq!(
        verdict_on(&cell, Metric::ResponseTimeP50),
        RatioVerdict::Better
    );
    assert_eq!(cell.verdict, RatioVerdict::Worse);
}

#[test]
fn who_does_not_keep_up_with_the_rate_is_slower_however_quick_the_answers_are() {
    let b = B {
        answered: 0.8,
        ..SAME
    };
    let slow = cell(8, b);
    assert_eq!(verdict_on(&slow, Metric::Throughput), RatioVerdict::Worse);
    assert_eq!(slow.verdict, RatioVerdict::Worse);
    let told = &slow.notes[0].sentence;
    assert!(
        told.starts_with("B did not keep up") && told.contains("80.0 %"),
        "{told}"
    );
    // The last requests of a slice are in flight at its end: no difference.
    let b = B {
        answered: 0.99,
        ..SAME
    };
    assert_eq!(cell(8, b).verdict, RatioVerdict::DeadHeat);
}

#[test]
fn the_ratios_that_decide_share_the_error() {
    let cell = cell(8, SAME);
    let levels: Vec<f64> = cell
        .ratios
        .iter()
        .filter_map(|ratio| Some(ratio.interval?.level))
        .collect();
    assert_eq!(cell.deciding, 3);
    for (place, level) in levels.into_iter().enumerate() {
        let spends = if place < 3 { 0.05 / 3.0 } else { 0.05 };
        assert!((level - (1.0 - spends)).abs() < 1e-12, "{place}: {level}");
    }
}

#[test]
fn a_tail_of_too_few_requests_does_not_decide_and_is_told() {
    let mut record = open(8, SAME);
    for one in &mut record.heats {
        one.heat.rounds.truncate(1);
    }
    let cell = judged(&record).compared.remove(0);
    assert_eq!(cell.deciding, 2, "{cell:?}");
    assert!(
        sentences(&cell).contains("1,000 answers of each side in a heat"),
        "{:?}",
        cell.notes
    );
}

#[test]
fn a_tail_that_was_asked_for_and_is_not_known_leaves_no_verdict() {
    let judged = |answers: u64, decide| {
        let mut record = open(8, SAME);
        record.header.comparison.as_mut().unwrap().decide = decide;
        for one in &mut record.heats {
            one.heat.rounds.truncate(2);
            for slice in one.heat.rounds.iter_mut().flatten() {
                let mut few = LatencyHistogram::new();
                (0..answers).for_each(|_| few.record_ns(1_000_000));
                slice.open.as_mut().unwrap().response_time = few;
            }
        }
        judged(&record)
    };
    // 9,600 of each side: more heats have enough.
    let few = judged(600, Decide::P99);
    let cell = &few.compared[0];
    assert_eq!(verdict_on(cell, Metric::Throughput), RatioVerdict::DeadHeat);
    assert_eq!(cell.verdict, RatioVerdict::NotEnoughData);
    assert_eq!(cell.lacks(), Some(Metric::ResponseTimeP99));
    assert!(sentences(cell).contains("10,000 answers"));
    let check = Check {
        require_decision: true,
        ..Check::default()
    };
    assert!(!few.is_final(check) && Gate::new(&few.compared, 0, check).failed);
    // 960 in each heat: no number of heats has.
    let none = judged(480, Decide::P99);
    let reason = &none.not_compared[0].reason;
    assert!(
        none.compared.is_empty() && reason.contains("p99"),
        "{reason}"
    );
    // Where the median decides as well, it does without the tail: at once if no tail is to come, else at the last look.
    let bound = Check {
        fail_if_slower: Some(0.1),
        ..Check::default()
    };
    for (answers, is_final) in [(480, true), (600, false)] {
        let result = judged(answers, Decide::Throughput);
        let cell = &result.compared[0];
        assert_eq!(cell.deciding, 2);
        assert_eq!(cell.verdict, RatioVerdict::DeadHeat, "{cell:?}");
        for check in [Check::default(), bound] {
            assert_eq!(result.is_final(check), is_final, "{answers}: {check:?}");
        }
    }
}

#[test]
fn without_response_times_keeping_up_is_no_dead_heat() {
    let mut record = open(8, SAME);
    for slice in record
        .heats
        .iter_mut()
        .flat_map(|one| &mut one.heat.rounds)
        .flatten()
    {
        let open = slice.open.as_mut().unwrap();
        let mut few = LatencyHistogram::new();
        (0..1).for_each(|_| few.record_ns(1_000_000));
        open.response_time = few;
    }
    let judged = judged(&record);
    assert!(judged.compared.is_empty());
    assert!(
        judged.not_compared[0].reason.contains("200 answers"),
        "{judged:?}"
    );
}

#[test]
fn a_generator_at_its_limit_judges_no_response_times() {
    let mut record = open(8, SAME);
    for slice in record
        .heats
        .iter_mut()
        .flat_map(|one| &mut one.heat.rounds)
        .flatten()
    {
        slice.generator.busiest = 0.99;
        slice.cpu = None;
    }
    let judged = judged(&record);
    assert!(judged.compared.is_empty());
    let reason = &judged.not_compared[0].reason;
    assert!(reason.contains("generator was the limit"), "{reason}");
}

#[test]
fn the_check_looks_at_response_times() {
    let record = open(8, B { tail: 1.3, ..SAME });
    let judged = judged(&record);
    let comparison = crate::comparison::ComparisonAnalysis {
        how: crate::comparison::Method::Sessions,
        a: side("A"),
        b: side("B"),
        is_change: false,
        bounds: Bounds::default(),
        compared: judged.compared,
        not_compared: judged.not_compared,
        conditions: Vec::new(),
        differences: Vec::new(),
        warnings: Vec::new(),
    };
    let failed = |bound| {
        let check = Check {
            fail_if_slower: bound,
            ..Check::default()
        };
        comparison.gate(check)
    };
    assert!(!failed(None).failed, "without a bound there is no gate");
    assert!(failed(Some(0.2)).failed);
    let passed = failed(Some(0.5));
    assert!(!passed.failed);
    assert!(passed.cells.iter().all(|cell| cell.is == Gated::Excluded));
}

fn side(name: &str) -> crate::comparison::SideFacts {
    crate::comparison::SideFacts {
        name: name.to_owned(),
        facts: Vec::new(),
        failed: None,
    }
}
