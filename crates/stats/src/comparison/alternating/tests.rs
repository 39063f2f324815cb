//! Records as they could have been measured, and what is said of them.

use deadheat_model::{
    Exchange, Failure, LatencyHistogram, LoadPoint, LoadSpec, Schedule, StopRule, TargetId, Wait,
    comparison::ContenderKind,
    heat::{
        CpuUsed, GeneratorUse, HeatPlan, MemberFailure, MemberRecord, MemoryUsed, PerConnection,
        Role, Rounds, SliceNoise, SliceRecord,
    },
    heats::{MeasuredHeat, Plan, SCHEMA, SessionHeader},
    load::Target,
    machine::Machine,
    session::{Phase, StackFailure},
    warning::Warning,
};

use super::*;
use crate::comparison::Metric;

mod equal_work;
mod open_loop;

const SLICE: Duration = Duration::from_millis(100);
const PLAN: HeatPlan = HeatPlan {
    slice: SLICE,
    guard: Duration::from_millis(20),
    rounds: Rounds::Count { rounds: 20 },
    freeze: true,
    wait: Wait::Poll,
    memory_every: Duration::from_secs(1),
};

fn contender(name: &str) -> Contender {
    let schedule = Schedule::Closed {
        connections: 8,
        ramp: Duration::ZERO,
    };
    let target = Target::plain("127.0.0.1:80".parse().unwrap());
    let load = LoadSpec::new(
        target,
        Vec::<Exchange>::new(),
        schedule,
        StopRule::Interrupt,
    );
    Contender {
        target: TargetId::new(name, None),
        name: name.to_owned(),
        kind: ContenderKind::Url {
            load: Box::new(load),
        },
    }
}

fn member(name: &str) -> MemberRecord {
    MemberRecord {
        verified_before: Some(1),
        verified_after: Some(1),
        memory: MemoryUsed {
            peak: Some(20 << 20),
            ..MemoryUsed::default()
        },
        ..MemberRecord::new(TargetId::new(name, None), Role::Member)
    }
}

/// Always the same for the same place, and without a pattern: −1 to 1.
fn scatter(place: u64) -> f64 {
    let mixed = place.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    ((mixed ^ (mixed >> 29)) >> 40) as f64 / f64::from(1_u32 << 23) - 1.0
}

/// A slice with this many answers, half of whose time the server used its CPU up.
fn slice(member: u32, answers: u64) -> SliceRecord {
    let mut service_time = LatencyHistogram::new();
    for answer in 0..answers {
        service_time.record_ns(1_000_000_000 / answers + answer * 100);
    }
    SliceRecord {
        member,
        window: SLICE,
        tally: deadheat_model::Tally {
            issued: answers,
            succeeded: answers,
            ..Default::default()
        },
        service_time,
        per_connection: Some(PerConnection {
            least: 190,
            median: 200,
            most: 210,
        }),
        body_bytes: 2 * answers,
        cpu: Some(CpuUsed {
            seconds: 0.099,
            span_seconds: 0.1,
            drain_seconds: None,
        }),
        generator: GeneratorUse {
            busiest: 0.99,
            ..GeneratorUse::default()
        },
        ..SliceRecord::default()
    }
}

/// This many heats in which B is `ratio` times as fast as A. Slices scatter by some 5 %, processes by 1 %.
fn record(heats: u32, ratio: f64) -> SessionRecord {
    let heat = |number: u32| {
        let process = |side: u64| 0.01 * scatter(u64::from(number) * 2 + side);
        let round = |round: u64| {
            // What both have in common in a round.
            let drift = 0.2 * scatter(u64::from(number) * 100 + round);
            let own = |side: u64| {
                let place = 7_000 + (u64::from(number) * 100 + round) * 2 + side;
                let times = if side == 1 { ratio } else { 1.0 };
                let scatter = drift + process(side) + 0.05 * scatter(place);
                slice(side as u32, (2_000.0 * times * scatter.exp()) as u64)
            };
            vec![own(round % 2), own(1 - round % 2)]
        };
        MeasuredHeat {
            load: 0,
            heat: HeatRecord {
                lost: None,
                heat: number,
                started: String::new(),
                plan: PLAN,
                members: vec![member("A"), member("B")],
                rounds: (0..20).map(round).collect(),
                end: HeatEnd::Finished,
                wall: Duration::from_secs(10),
            },
        }
    };
    SessionRecord {
        header: header(heats),
        heats: (0..heats).map(heat).collect(),
        resumed: Vec::new(),
        end: None,
    }
}

/// The header of a session of two servers that is looked at after this many heats.
fn header(heats: u32) -> SessionHeader {
    let load = PlannedLoad {
        shared_starts: None,
        workload: "GET /".to_owned(),
        description: String::new(),
        point: LoadPoint::new("c8", 8),
        delay_seconds: None,
        targets: ["A", "B"].map(|side| TargetId::new(side, None)).into(),
        heat: PLAN,
        capacity: 2,
        capacity_reason: None,
        looks: vec![heats],
    };
    SessionHeader {
        hosts: Vec::new(),
        schema: SCHEMA,
        id: String::new(),
        deadheat: String::new(),
        build: None,
        commit: None,
        embedded: None,
        started: String::new(),
        arguments: Vec::new(),
        machine: Machine::default(),
        findings: Vec::new(),
        comparison: Some(Box::new(Comparison {
            a: contender("A"),
            b: contender("B"),
            slow_end: None,
            alike: None,
            is_change: false,
            decide: Default::default(),
            check: Default::default(),
        })),
        asked: Default::default(),
        plan: Plan {
            hosts: None,
            seed: 1,
            loads: vec![load],
            pinning: Pinning::Off { cpus: vec![0] },
            alpha: 0.05,
            margin: 0.03,
            least_heats: deadheat_model::heats::MIN_HEATS,
            until_decided: true,
            precision: None,
            budget_seconds: None,
            estimate: Duration::ZERO,
            price_per_cpu_hour: None,
            left_out: Vec::new(),
        },
        targets: Vec::new(),
        postgres: None,
        published: Vec::new(),
        definitions: Default::default(),
        boot: None,
        live: false,
        environment: Vec::new(),
    }
}

fn duel(record: &SessionRecord) -> Duel<'_> {
    Duel::new(record).unwrap()
}

/// What to know of a cell.
fn sentences(cell: &Compared) -> String {
    let notes = cell.notes.iter();
    let notes: Vec<String> = notes.map(Warning::in_full).collect();
    notes.join(" ")
}

fn judged(record: &SessionRecord) -> LookResult {
    let duel = duel(record);
    let look = duel.design().unwrap().looks[0];
    duel.judge(Some(look))
}

/// The verdict on throughput, and the ratio's interval holding `ratio` or not.
fn found(record: &SessionRecord, ratio: f64) -> (RatioVerdict, bool) {
    let judged = judged(record);
    let throughput = &judged.compared[0].ratios[0];
    assert_eq!(throughput.metric, Metric::Throughput);
    let interval = throughput.interval.unwrap();
    (
        throughput.verdict,
        interval.low <= ratio && ratio <= interval.high,
    )
}

#[test]
fn what_others_took_from_both_sides_is_a_disturbance_and_from_one_side_perhaps_its_own_work() {
    // In slices of each side, of two CPUs, the hypervisor and other programs take these seconds.
    let notes = |steal: [f64; 2], others: [f64; 2]| {
        let mut record = record(3, 1.0);
        let rounds = record.heats.iter_mut().flat_map(|one| &mut one.heat.rounds);
        for slice in rounds.flatten() {
            let side = slice.member as usize;
            slice.noise = Some(SliceNoise {
                steal_seconds: steal[side],
                busy_seconds: 0.099 + others[side],
                cpus: 2,
                ..SliceNoise::default()
            });
        }
        sentences(&judged(&record).compared[0])
    };
    let both = notes([0.0; 2], [0.04, 0.02]);
    assert!(
        both.contains("Other programs used at least 15 % of the CPU time."),
        "{both}"
    );
    assert!(!both.contains("Only while"), "{both}");
    let one = notes([0.0; 2], [0.04, 0.0]);
    assert!(
        one.contains("Only while A was loaded, other programs"),
        "{one}"
    );
    assert!(!one.contains("Other programs used"), "{one}");
    // The hypervisor works for neither.
    let stolen = notes([0.04, 0.0], [0.0; 2]);
    assert!(
        stolen.contains("The hypervisor took 10 % of the CPU time."),
        "{stolen}"
    );
    let quiet = notes([0.0; 2], [0.0; 2]);
    assert!(!quiet.contains("CPU time."), "{quiet}");
}

#[test]
fn a_server_against_itself_is_a_dead_heat_and_a_faster_one_is_faster() {
    let cases = [
        (1.0, RatioVerdict::DeadHeat),
        (1.1, RatioVerdict::Better),
        (0.9, RatioVerdict::Worse),
    ];
    for (ratio, verdict) in cases {
        assert_eq!(found(&record(8, ratio), ratio), (verdict, true), "{ratio}");
    }
}

#[test]
fn every_metric_is_compared_and_the_cost_has_its_sign() {
    let judged = judged(&record(8, 1.25));
    let ratios = &judged.compared[0].ratios;
    let metrics: Vec<Metric> = ratios.iter().map(|ratio| ratio.metric).collect();
    let expected = [
        Metric::Throughput,
        Metric::CpuPerRequest,
        Metric::MemoryPeak,
    ];
    assert_eq!(metrics, expected);
    let cost = &ratios[1];
    // 0.99 s of CPU time per second, for 20,000 requests.
    assert!((cost.a / 49.5 - 1.0).abs() < 0.05, "{}", cost.a);
    assert!((cost.ratio * 1.25 - 1.0).abs() < 0.02 && cost.verdict == RatioVerdict::Better);
    let memory = &ratios[2];
    assert_eq!((memory.a, memory.b), (memory.b, memory.a));
    assert!((memory.a / f64::from(20 << 20) - 1.0).abs() < 1e-9);
}

#[test]
fn a_side_that_serves_its_connections_unevenly_is_named() {
    let mut record = record(8, 1.25);
    let notes = |record: &SessionRecord| sentences(&judged(record).compared[0]);
    assert!(!notes(&record).contains("unevenly"), "{}", notes(&record));
    let rounds = record.heats.iter_mut().flat_map(|one| &mut one.heat.rounds);
    let of_b = rounds.flatten().filter(|slice| slice.member == 1);
    for slice in of_b {
        for _ in 0..9 * slice.service_time.count() {
            slice.service_time.record_ns(2_000);
        }
    }
    let told = notes(&record);
    assert!(told.contains("B's connections waited unevenly"), "{told}");
    assert!(!told.contains("A's connections"), "{told}");
    // Making connections is a part of the mean alone.
    let rounds = record.heats.iter_mut().flat_map(|one| &mut one.heat.rounds);
    rounds
        .flatten()
        .for_each(|slice| slice.per_connection = None);
    assert!(!notes(&record).contains("unevenly"));
}

#[test]
fn what_is_undecided_says_how_wide_the_interval_is_and_how_much_more_time_it_takes() {
    let judged = judged(&record(2, 1.02));
    let cell = &judged.compared[0];
    assert_eq!(cell.verdict, RatioVerdict::NotEnoughData);
    let told = sentences(cell);
    assert!(
        told.contains("after 2 heats") && told.contains("heats may decide it (--"),
        "{told}"
    );
    assert!(!judged.is_final(Check::default()));
}

#[test]
fn a_failure_counts_whenever_it_was_and_a_server_that_left_processes_behind_was_measured() {
    let failure = |void_from| {
        Some(MemberFailure {
            failure: StackFailure {
                phase: Phase::VerifyAfter,
                reason: "an old answer".to_owned(),
                log_tail: Vec::new(),
                load: None,
            },
            void_from,
        })
    };
    for (side, b_failed) in [(Side::A, false), (Side::B, true)] {
        let mut record = record(5, 1.0);
        record.header.plan.loads[0].looks = vec![4];
        record.heats[4].heat.members[side.member()].failure = failure(Some(0));
        let judged = judged(&record);
        assert!(judged.compared.is_empty() && judged.is_final(Check::default()));
        assert_eq!(judged.not_compared[0].b_failed, b_failed);
        let told = duel(&record).failure_of(side).unwrap();
        assert!(told.contains("an old answer"), "{told}");
    }
    let mut record = record(5, 1.0);
    record.heats[4].heat.members[0].failure = failure(None);
    assert_eq!(judged(&record).compared.len(), 1);
    assert_eq!(duel(&record).failure_of(Side::A), None);
}

#[test]
fn requests_that_fail_on_the_way_fail_a_side_when_they_are_too_many() {
    let mut record = record(5, 1.0);
    for slice in record.heats[2].heat.rounds.iter_mut().flatten() {
        if slice.member == 1 {
            slice.tally.failed[Failure::ConnectRefused] = slice.tally.issued / 4;
        }
    }
    let told = duel(&record).failure_of(Side::B).unwrap();
    assert!(told.contains("in heat 3"), "{told}");
    assert_eq!(
        duel(&record).next(Duration::ZERO),
        Step::End(EndReason::Nothing)
    );
}

#[test]
fn a_bound_proves_that_its_side_is_faster_and_nothing_else() {
    // The server has CPU time left, so that the generator was the limit.
    let bounded = |ratio: f64, sides: &[u32]| {
        let mut record = record(8, ratio);
        for slice in record
            .heats
            .iter_mut()
            .flat_map(|one| &mut one.heat.rounds)
            .flatten()
        {
            if sides.contains(&slice.member) {
                slice.cpu = Some(CpuUsed {
                    seconds: 0.05,
                    span_seconds: 0.1,
                    drain_seconds: None,
                });
            }
        }
        judged(&record)
    };
    let faster = bounded(1.2, &[1]);
    let ratio = &faster.compared[0].ratios[0];
    assert_eq!(ratio.verdict, RatioVerdict::Better);
    assert!(ratio.interval.unwrap().high.is_infinite());
    for (ratio, sides) in [(0.8, &[1][..]), (1.2, &[0]), (1.2, &[0, 1])] {
        let judged = bounded(ratio, sides);
        assert!(judged.compared.is_empty(), "{ratio} {sides:?}");
        let reason = &judged.not_compared[0].reason;
        assert!(reason.contains("lower bound"), "{reason}");
    }
}

#[test]
fn only_a_budget_leaves_a_look_between_the_declared_ones() {
    let design = Design::declare(&[5, 10, 20], 0.05).unwrap();
    let heats = |heats, end| final_look(&design, heats, end).map(|look| look.heats);
    for end in [
        Some(EndReason::Decided),
        Some(EndReason::Finished),
        Some(EndReason::Interrupted),
        Some(EndReason::Nothing),
        None,
    ] {
        assert_eq!(heats(4, end), None, "{end:?}");
        assert_eq!(heats(5, end), Some(5), "{end:?}");
        assert_eq!(heats(13, end), Some(10), "{end:?}");
    }
    let budget = Some(EndReason::Budget);
    assert_eq!(heats(13, budget), Some(13));
    assert_eq!(heats(10, budget), Some(10));
    assert_eq!(heats(1, budget), None);
}

/// The record with a second load, which has this many of the same heats.
fn with_second_load(mut record: SessionRecord, heats: usize) -> SessionRecord {
    let mut second = record.header.plan.loads[0].clone();
    second.workload = "GET /other".to_owned();
    record.header.plan.loads.push(second);
    let mut own: Vec<MeasuredHeat> = record.heats[..heats].to_vec();
    own.iter_mut().for_each(|heat| heat.load = 1);
    record.heats.extend(own);
    record
}

#[test]
fn an_interrupt_in_a_turn_leaves_its_look_out() {
    let look = |record: &SessionRecord| duel(record).final_look().map(|look| look.heats);
    let mut record = with_second_load(record(4, 1.0), 3);
    record.end = Some(EndReason::Interrupted);
    assert_eq!(look(&record), None, "the second load has three heats");
    // A load at which a side failed gets no more heats.
    let slices = record.heats[6].heat.rounds.iter_mut().flatten();
    slices.for_each(|slice| slice.tally.failed[Failure::ConnectRefused] = 9);
    assert_eq!(look(&record), Some(4));
    let whole = with_second_load(self::record(4, 1.0), 4);
    assert_eq!(look(&whole), Some(4));
}

#[test]
fn heats_that_a_side_left_do_not_keep_a_comparison_going() {
    let left = |heat: &mut MeasuredHeat| {
        heat.heat.end = HeatEnd::Deserted;
        heat.heat.members[1].failure = Some(MemberFailure {
            failure: StackFailure {
                phase: Phase::Load,
                reason: "freezing it".to_owned(),
                log_tail: Vec::new(),
                load: None,
            },
            void_from: None,
        });
    };
    let mut record = record(4, 1.0);
    record.header.plan.loads[0].looks = vec![8, 16];
    record.header.plan.budget_seconds = Some(100.0);
    left(&mut record.heats[1]);
    let next = |record: &SessionRecord, spent| duel(record).next(Duration::from_secs(spent));
    assert!(matches!(next(&record, 80), Step::Heat(_)));
    assert_eq!(next(&record, 81), Step::End(EndReason::Budget));
    // Without a budget, there are at most twice as many heats as were planned.
    record.header.plan.budget_seconds = None;
    record.header.plan.loads[0].looks = vec![2];
    record.heats.iter_mut().for_each(left);
    assert_eq!(next(&record, 81), Step::End(EndReason::Finished));
    let unjudged = duel(&record).judge(None);
    assert_eq!(
        unjudged.not_compared[0].reason,
        "a side left each heat before its end"
    );
    record.heats.pop();
    assert!(matches!(next(&record, 81), Step::Heat(_)));
}

#[test]
fn loads_take_turns_until_a_declared_look_decides() {
    // Two loads, and a difference that four heats do not miss.
    let mut record = with_second_load(record(4, 1.3), 0);
    for load in &mut record.header.plan.loads {
        load.looks = vec![4, 8];
    }
    let heats = std::mem::take(&mut record.heats);
    let mut order = Vec::new();
    let end = loop {
        match duel(&record).next(Duration::ZERO) {
            Step::End(reason) => break reason,
            Step::Heat(next) => {
                assert_eq!((&next.members[..], next.control), (&[0, 1][..], None));
                let mut heat = heats[record.heats.len() / 2].clone();
                heat.load = next.load as u32;
                order.push(next.load);
                record.heats.push(heat);
            }
        }
    };
    assert_eq!(order, [0, 1, 0, 1, 0, 1, 0, 1]);
    assert_eq!(end, EndReason::Decided, "at the first look, and not before");
    // Before its next look, the budget ends it when it has no room for another turn.
    record.header.plan.budget_seconds = Some(100.0);
    record
        .header
        .plan
        .loads
        .iter_mut()
        .for_each(|load| load.looks = vec![6, 8]);
    let next = |spent| duel(&record).next(Duration::from_secs(spent));
    assert!(matches!(next(80), Step::Heat(_)), "a fifth turn takes 20 s");
    assert_eq!(next(81), Step::End(EndReason::Budget));
    record
        .header
        .plan
        .loads
        .iter_mut()
        .for_each(|load| load.looks = vec![2, 4]);
    record.header.plan.margin = 1e-9;
    let mut even = self::record(4, 1.0);
    even.header.plan = record.header.plan.clone();
    even.header.plan.loads.truncate(1);
    let ended = duel(&even).next(Duration::ZERO);
    assert_eq!(ended, Step::End(EndReason::Finished));
}
