//! Equal work in the heats of a closed loop: its cost and p99 next to throughput, and the deciding metric.

use deadheat_model::{
    comparison::Decide,
    observation::OpenLoop,
    workload::{OfferedRate, OpenLoad},
};

use super::*;
use crate::comparison::{Check, Compared, Gated};

/// Requests per second.
const RATE: f64 = 2_000.0;
/// Answers of a side in the part of a heat at the rate, which lasts five seconds.
const ANSWERS: u64 = 10_000;
/// A's CPU time per request.
const COST: f64 = 50e-6;

/// The behaviour of B, compared with A.
#[derive(Clone, Copy)]
struct B {
    throughput: f64,
    cost: f64,
    tail: f64,
    /// How far processes differ in cost.
    scatter: f64,
}

const SAME: B = B {
    throughput: 1.0,
    cost: 1.0,
    tail: 1.0,
    scatter: 0.005,
};

/// Heats with equal work.
fn with_work(heats: u32, b: B, decide: Decide, check: Check) -> SessionRecord {
    let mut record = record(heats, b.throughput);
    let mut at_rate = record.header.plan.loads[0].clone();
    at_rate.point.open = Some(OpenLoad {
        capacity_of: at_rate.point.id.clone(),
        rate: OfferedRate::Common,
    });
    record.header.plan.loads.push(at_rate);
    let comparison = record.header.comparison.as_mut().unwrap();
    (comparison.decide, comparison.check) = (decide, check);
    let parts = record.heats.iter().map(|one| {
        let of_side = |member: u32| {
            let is_b = member == 1;
            let place = 40_000 + 2 * u64::from(one.heat.heat) + u64::from(member);
            let process = (b.scatter * scatter(place)).exp();
            let cost = COST * process * if is_b { b.cost } else { 1.0 };
            let tail = process * if is_b { b.tail } else { 1.0 };
            let mut response_time = LatencyHistogram::new();
            for answer in 0..ANSWERS {
                let milliseconds = if answer % 50 == 0 { 3.0 * tail } else { 1.0 };
                response_time.record_ns((1e6 * milliseconds) as u64);
            }
            let mut slice = slice(member, 1);
            slice.tally.issued = ANSWERS;
            slice.tally.succeeded = ANSWERS;
            slice.window = Duration::from_secs(5);
            slice.generator.busiest = 0.2;
            slice.cpu = Some(CpuUsed {
                seconds: cost * ANSWERS as f64,
                span_seconds: 5.0,
                drain_seconds: None,
            });
            slice.open = Some(OpenLoop {
                offered: ANSWERS,
                response_time,
                ..OpenLoop::default()
            });
            slice
        };
        let mut part = one.clone();
        part.load = 1;
        part.heat.rounds = vec![vec![of_side(0), of_side(1)]];
        let members = part.heat.members.iter_mut();
        members.for_each(|member| member.offered_per_second = Some(RATE));
        [one.clone(), part]
    });
    record.heats = parts.flatten().collect();
    record
}

fn cell(b: B, decide: Decide, check: Check) -> Compared {
    let judged = judged(&with_work(8, b, decide, check));
    assert!(judged.not_compared.is_empty(), "{judged:?}");
    judged.compared.into_iter().next().unwrap()
}

fn rows(cell: &Compared) -> Vec<(Metric, Option<f64>)> {
    let ratios = cell.ratios.iter();
    ratios
        .map(|ratio| (ratio.metric, ratio.per_second))
        .collect()
}

/// A side cannot take the rate: it was not loaded in this number of heats.
fn not_loaded(record: &mut SessionRecord, side: Side, heats: usize) {
    let parts = record.heats.iter_mut().filter(|one| one.load == 1);
    for part in parts.take(heats) {
        let slices = part.heat.rounds.iter_mut();
        slices.for_each(|round| round.retain(|slice| slice.member as usize != side.member()));
    }
}

#[test]
fn what_decides_comes_first_and_equal_work_is_shown_in_any_case() {
    use Metric::{CpuPerRequest, MemoryPeak, ResponseTimeP99, Throughput};
    let b = B {
        throughput: 1.2,
        cost: 0.9,
        tail: 1.3,
        ..SAME
    };
    let at = |metric| (metric, Some(RATE));
    let closed = [Throughput, CpuPerRequest, MemoryPeak].map(|metric| (metric, None));
    let [throughput, cost, memory] = closed;
    let cases = [
        (
            Decide::Throughput,
            1.2,
            RatioVerdict::Better,
            [
                throughput,
                cost,
                memory,
                at(CpuPerRequest),
                at(ResponseTimeP99),
            ],
        ),
        (
            Decide::Cpu,
            0.9,
            RatioVerdict::Better,
            [
                at(CpuPerRequest),
                throughput,
                cost,
                memory,
                at(ResponseTimeP99),
            ],
        ),
        (
            Decide::P99,
            1.3,
            RatioVerdict::Worse,
            [
                at(ResponseTimeP99),
                throughput,
                cost,
                memory,
                at(CpuPerRequest),
            ],
        ),
    ];
    for (decide, ratio, verdict, expected) in cases {
        let cell = cell(b, decide, Check::default());
        assert_eq!(rows(&cell), expected, "{decide:?}");
        assert_eq!((cell.deciding, cell.verdict), (1, verdict), "{decide:?}");
        let interval = cell.ratios[0].interval.unwrap();
        assert!(
            interval.low <= ratio && ratio <= interval.high,
            "{decide:?}: {interval:?}"
        );
        assert!(
            cell.ratios
                .iter()
                .filter_map(|one| one.interval)
                .all(|one| one.level == 0.95)
        );
        // With equal work, the throughput is still a closed loop's: any proven difference counts.
        let rules = cell.ratios.iter().filter(|one| one.metric == Throughput);
        assert!(
            rules
                .map(|one| one.rule.threshold)
                .all(|threshold| threshold == 0.0)
        );
    }
    let at_rate = cell(b, Decide::Cpu, Check::default());
    assert!(
        (at_rate.ratios[0].a / (1e6 * COST) - 1.0).abs() < 0.01,
        "microseconds"
    );
}

#[test]
fn a_look_ends_it_by_what_decides_alone() {
    let b = B {
        throughput: 1.3,
        scatter: 0.1,
        ..SAME
    };
    let end = |decide| {
        let mut record = with_work(8, b, decide, Check::default());
        let loads = record.header.plan.loads.iter_mut();
        loads.for_each(|load| load.looks = vec![8, 16]);
        duel(&record).next(Duration::ZERO)
    };
    assert_eq!(end(Decide::Throughput), Step::End(EndReason::Decided));
    let next = end(Decide::Cpu);
    assert!(
        matches!(&next, Step::Heat(heat) if heat.load == 0),
        "{next:?}: its cost is undecided, and the closed loop has the heats"
    );
}

#[test]
fn near_its_capacity_a_side_has_a_cost_and_no_p99() {
    let has_p99 = |throughput| {
        let b = B { throughput, ..SAME };
        let cell = cell(b, Decide::Throughput, Check::default());
        let is_told = cell.notes.iter().any(|note| note.id == "near-capacity");
        let rows = rows(&cell);
        assert!(rows.contains(&(Metric::CpuPerRequest, Some(RATE))));
        let has_p99 = rows.contains(&(Metric::ResponseTimeP99, Some(RATE)));
        assert_ne!(has_p99, is_told, "{:?}", cell.notes);
        has_p99
    };
    // The rate is a tenth of A's capacity.
    assert!(has_p99(1.0));
    assert!(has_p99(0.14));
    assert!(!has_p99(0.115));
}

#[test]
fn a_gate_of_cost_tests_its_bound_and_shares_the_error_with_what_decides() {
    let check = |slower, costlier| Check {
        fail_if_slower: slower,
        fail_if_costlier: costlier,
        ..Check::default()
    };
    let b = B { cost: 1.1, ..SAME };
    let gate = |check: Check| {
        let cell = cell(b, Decide::Throughput, check);
        (Gate::new(std::slice::from_ref(&cell), 0, check), cell)
    };
    let (failed, cell) = gate(check(None, Some(0.05)));
    assert!(failed.failed && failed.is_decided(), "{failed:?}");
    assert_eq!(
        rows(&cell)[..2],
        [
            (Metric::Throughput, None),
            (Metric::CpuPerRequest, Some(RATE))
        ]
    );
    assert_eq!((cell.deciding, cell.tested), (1, 2));
    let levels = cell.ratios.iter().map(|one| one.interval.unwrap().level);
    let levels: Vec<f64> = levels.collect();
    assert!(
        levels[..2]
            .iter()
            .all(|level| (level - 0.975).abs() < 1e-12),
        "{levels:?}"
    );
    assert_eq!(levels[2], 0.95);
    let (passed, _) = gate(check(Some(0.05), Some(0.2)));
    assert!(!passed.failed && passed.is_decided());
    let found = passed
        .cells
        .iter()
        .map(|one| (one.metric, one.bound, one.is));
    let expected = [
        (Metric::Throughput, Some(0.05), Gated::Excluded),
        (Metric::CpuPerRequest, Some(0.2), Gated::Excluded),
    ];
    assert_eq!(found.collect::<Vec<_>>(), expected);
    // Measuring continues for the bound, whatever the verdict is.
    let open = check(None, Some(0.1));
    let judged = judged(&with_work(8, b, Decide::Cpu, open));
    assert_eq!(judged.compared[0].verdict, RatioVerdict::Worse);
    assert!(!judged.is_final(open) && judged.is_final(Check::default()));
    // Where the cost decides, throughput is what may be slower.
    let slower = check(Some(0.05), None);
    let b = B {
        throughput: 0.8,
        ..SAME
    };
    let cell = self::cell(b, Decide::Cpu, slower);
    let gate = Gate::new(&[cell], 0, slower);
    assert!(
        gate.failed && gate.cells[0].metric == Metric::Throughput,
        "{gate:?}"
    );
}

#[test]
fn a_cost_that_is_not_known_excludes_nothing() {
    let check = Check {
        fail_if_costlier: Some(0.05),
        require_decision: true,
        ..Check::default()
    };
    let mut record = with_work(8, SAME, Decide::Throughput, check);
    let parts = record.heats.iter_mut().filter(|one| one.load == 1);
    let slices = parts.flat_map(|one| one.heat.rounds.iter_mut().flatten());
    slices.for_each(|slice| slice.cpu = None);
    let judged = judged(&record);
    let gate = Gate::new(&judged.compared, 0, check);
    assert!(gate.failed && gate.not_judged == 1, "{gate:?}");
}

#[test]
fn a_rate_that_a_side_cannot_take_is_a_result() {
    let check = Check {
        fail_if_costlier: Some(0.05),
        ..Check::default()
    };
    let found = |sides: &[Side], heats, decide| {
        let mut record = with_work(8, SAME, decide, check);
        sides
            .iter()
            .for_each(|side| not_loaded(&mut record, *side, heats));
        judged(&record)
    };
    let one = found(&[Side::B], 5, Decide::Cpu);
    let cell = &one.compared[0];
    assert_eq!((cell.verdict, cell.deciding), (RatioVerdict::Worse, 0));
    let [overloaded] = &cell.overloaded[..] else {
        panic!("{cell:?}");
    };
    assert_eq!((overloaded.side, overloaded.per_second), (Side::B, RATE));
    assert!(
        overloaded.reason.contains("in 5 of 8 heats"),
        "{overloaded:?}"
    );
    let gate = Gate::new(&one.compared, 0, check);
    assert!(
        gate.failed && gate.is_decided() && one.is_final(check),
        "{gate:?}"
    );
    assert_eq!(
        found(&[Side::A], 5, Decide::P99).compared[0].verdict,
        RatioVerdict::Better
    );
    let both = found(&Side::BOTH, 8, Decide::Cpu);
    assert_eq!(both.compared[0].verdict, RatioVerdict::NotEnoughData);
    assert!(both.is_final(Check::default()), "no more heats change it");
    // Of two servers near their capacity it is chance who does not take it more often.
    let mut near = with_work(8, SAME, Decide::Cpu, check);
    not_loaded(&mut near, Side::B, 5);
    not_loaded(&mut near, Side::A, 1);
    let near = judged(&near);
    assert_eq!(near.compared[0].verdict, RatioVerdict::NotEnoughData);
    let gate = Gate::new(&near.compared, 0, check);
    assert!(!gate.failed && gate.overloaded.is_empty(), "{gate:?}");
    assert!(!near.is_final(check) && !near.is_final(Check::default()));
    // In a few heats it may be the machine's doing.
    let few = found(&[Side::B], 2, Decide::Cpu);
    assert!(few.compared[0].overloaded.is_empty());
    assert_eq!(few.compared[0].ratios[0].heats_b, 6);
    assert!(sentences(&few.compared[0]).contains("B did not always take 2,000/s"));
    // Throughput has its verdict all the same.
    let beside = found(&[Side::B], 8, Decide::Throughput);
    assert_eq!(beside.compared[0].verdict, RatioVerdict::DeadHeat);
    assert_eq!(beside.compared[0].overloads().count(), 0);
}

/// A gate by the heats of a record.
fn gate(record: &SessionRecord, check: Check) -> (Gate, bool) {
    let judged = judged(record);
    let is_final = judged.is_final(check);
    (Gate::new(&judged.compared, 0, check), is_final)
}

const COSTLIER: Check = Check {
    fail_if_slower: None,
    fail_if_costlier: Some(0.05),
    require_decision: true,
};

#[test]
fn a_rate_that_a_alone_cannot_take_is_no_fault_of_b() {
    for check in [
        COSTLIER,
        Check {
            fail_if_costlier: None,
            ..COSTLIER
        },
    ] {
        let mut record = with_work(8, SAME, Decide::Cpu, check);
        not_loaded(&mut record, Side::A, 8);
        let (found, is_final) = gate(&record, check);
        assert!(
            !found.failed && found.not_judged == 0 && is_final,
            "{found:?}"
        );
        // If neither can, nothing is known, and more heats do not change that.
        not_loaded(&mut record, Side::B, 8);
        let (found, is_final) = gate(&record, check);
        assert!(
            found.failed && found.not_judged == 1 && is_final,
            "{found:?}"
        );
    }
}

#[test]
fn throughput_is_judged_where_the_cost_was_to_decide_and_is_not_known() {
    let slower = Check {
        fail_if_slower: Some(0.05),
        ..Check::default()
    };
    let b = B {
        throughput: 0.8,
        ..SAME
    };
    let mut record = with_work(8, b, Decide::Cpu, slower);
    not_loaded(&mut record, Side::A, 8);
    let (found, _) = gate(&record, slower);
    let metrics: Vec<Metric> = found.cells.iter().map(|cell| cell.metric).collect();
    assert!(found.failed && metrics == [Metric::Throughput], "{found:?}");
    // A rate that B cannot take is a matter of cost, about which nothing was asked.
    let mut record = with_work(8, SAME, Decide::Cpu, slower);
    not_loaded(&mut record, Side::B, 8);
    let (found, is_final) = gate(&record, slower);
    assert!(
        !found.failed && found.overloaded.is_empty() && is_final,
        "{found:?}"
    );
    // Of a response time it is a matter of speed.
    let mut record = with_work(8, SAME, Decide::P99, slower);
    not_loaded(&mut record, Side::B, 8);
    let (found, _) = gate(&record, slower);
    assert!(found.failed && found.overloaded.len() == 1, "{found:?}");
}

#[test]
fn each_rate_is_a_question() {
    let two_rates = |decide, change: &dyn Fn(&mut HeatRecord)| {
        let mut record = with_work(8, SAME, decide, COSTLIER);
        let second = record.header.plan.loads[1].clone();
        record.header.plan.loads.push(second);
        let parts = record.heats.iter().filter(|one| one.load == 1);
        let more = parts.cloned().map(|mut one| {
            one.load = 2;
            let members = one.heat.members.iter_mut();
            members.for_each(|member| member.offered_per_second = Some(2.0 * RATE));
            change(&mut one.heat);
            one
        });
        let more: Vec<MeasuredHeat> = more.collect();
        record.heats.extend(more);
        record
    };
    let (both, _) = gate(&two_rates(Decide::Throughput, &|_| {}), COSTLIER);
    assert!(!both.failed && both.cells.len() == 2, "{both:?}");
    let unknown = |heat: &mut HeatRecord| {
        let slices = heat.rounds.iter_mut().flatten();
        slices.for_each(|slice| slice.cpu = None);
    };
    let (found, is_final) = gate(&two_rates(Decide::Throughput, &unknown), COSTLIER);
    assert!(
        found.failed && found.not_judged == 1 && !is_final,
        "{found:?}"
    );
    let unable = |heat: &mut HeatRecord| heat.rounds.iter_mut().for_each(Vec::clear);
    let (found, is_final) = gate(&two_rates(Decide::Throughput, &unable), COSTLIER);
    assert!(
        found.failed && found.not_judged == 1 && is_final,
        "{found:?}"
    );
    // Nor is there a verdict.
    let judged = judged(&two_rates(Decide::Cpu, &unknown));
    assert_eq!(judged.compared[0].verdict, RatioVerdict::NotEnoughData);
}

#[test]
fn a_generator_at_its_limit_hides_throughput_and_not_the_cost() {
    let b = B {
        throughput: 1.2,
        cost: 0.9,
        ..SAME
    };
    let mut record = with_work(8, b, Decide::Cpu, Check::default());
    let rounds = record.heats.iter_mut().filter(|one| one.load == 0);
    for slice in rounds.flat_map(|one| one.heat.rounds.iter_mut().flatten()) {
        slice.cpu = Some(CpuUsed {
            seconds: 0.05,
            span_seconds: 0.1,
            drain_seconds: None,
        });
    }
    let judged = judged(&record);
    let cell = &judged.compared[0];
    assert_eq!(cell.verdict, RatioVerdict::Better);
    assert!(
        rows(cell)
            .iter()
            .all(|(metric, _)| *metric != Metric::Throughput)
    );
    assert!(sentences(cell).contains("Throughput is not compared: A is a lower bound"));
}

#[test]
fn a_failure_at_the_rate_fails_its_side() {
    let mut record = with_work(8, SAME, Decide::Throughput, Check::default());
    let slice = &mut record.heats[5].heat.rounds[0][1];
    slice.tally.failed[deadheat_model::Failure::ConnectRefused] = ANSWERS / 4;
    let judged = judged(&record);
    assert!(judged.compared.is_empty() && judged.not_compared[0].b_failed);
    assert!(
        duel(&record)
            .failure_of(Side::B)
            .unwrap()
            .contains("in heat 3")
    );
}

#[test]
fn too_few_answers_over_all_heats_carry_no_tail() {
    for (answers, needed) in [
        (1_200, "10,000 answers of each side over all heats"),
        (900, "1,000 answers of each side in each heat"),
    ] {
        let mut record = with_work(8, SAME, Decide::Throughput, Check::default());
        let parts = record.heats.iter_mut().filter(|one| one.load == 1);
        for slice in parts.flat_map(|one| one.heat.rounds.iter_mut().flatten()) {
            let mut few = LatencyHistogram::new();
            (0..answers).for_each(|_| few.record_ns(1_000_000));
            slice.open.as_mut().unwrap().response_time = few;
        }
        let cell = judged(&record).compared.remove(0);
        assert!(
            rows(&cell)
                .iter()
                .all(|(metric, _)| *metric != Metric::ResponseTimeP99)
        );
        assert!(sentences(&cell).contains(needed));
    }
}
