use super::*;
use crate::{Failure, LatencyHistogram, Tally, session::Phase};

const PLAN: HeatPlan = HeatPlan {
    slice: Duration::from_millis(100),
    guard: Duration::from_millis(30),
    rounds: Rounds::Count { rounds: 20 },
    freeze: true,
    wait: Wait::Poll,
    memory_every: Duration::from_secs(1),
};

#[test]
fn the_gap_is_that_of_the_others_slices() {
    assert_eq!(PLAN.gap(1), Duration::ZERO);
    assert_eq!(PLAN.gap(7), Duration::from_millis(780));
    assert!(!PLAN.is_too_slow_for(16));
    assert!(PLAN.is_too_slow_for(17));
}

#[test]
fn what_others_used_lies_between_two_bounds() {
    let noise = SliceNoise {
        steal_seconds: 0.0,
        busy_seconds: 0.2,
        interrupt_seconds: 0.03,
        own_seconds: 0.07,
        cpus: 2,
    };
    let (least, most) = noise.others(0.09);
    assert!((least - 0.01).abs() < 1e-9 && (most - 0.04).abs() < 1e-9);
    let taken = noise.taken_share(Duration::from_millis(100), 0.09);
    assert!((taken - 0.05).abs() < 1e-9, "{taken}");
}

/// Some 6,000 answers in a slice, as those of a fast server scatter.
fn slice(member: u32, round: u32) -> SliceRecord {
    let mut service_time = LatencyHistogram::new();
    for answer in 0..6_000_u64 {
        // The tail of an exponential distribution, in an order of its own.
        let share = (answer * 2_654_435_761 + u64::from(member * 31 + round)) % 10_007;
        let spread = -(1.0 - share as f64 / 10_007.0).ln();
        service_time.record_ns(150_000 + (250_000.0 * spread) as u64);
    }
    let mut tally = Tally {
        issued: 6_002,
        succeeded: 6_000,
        in_flight: 1,
        ..Tally::default()
    };
    tally.failed[Failure::Reset] = 1;
    SliceRecord {
        member,
        at: Duration::from_millis(u64::from(round) * 900),
        gap: Some(Duration::from_micros(812_345)),
        guard: PLAN.guard,
        window: PLAN.slice,
        tally,
        service_time: service_time.compact(),
        per_connection: Some(PerConnection {
            least: 110,
            median: 120,
            most: 131,
        }),
        cut: Duration::from_micros(4_321),
        carried: Duration::from_micros(2_100),
        draining: Duration::from_micros(2_345),
        open: None,
        body_bytes: 78_000,
        cpu: Some(CpuUsed {
            seconds: 0.098_765,
            span_seconds: 0.100_087,
            drain_seconds: Some(0.000_321),
        }),
        drained: Duration::from_micros(1_234),
        reconnected: 0,
        generator: GeneratorUse {
            cpu_seconds: 0.1,
            polled_seconds: 0.012_345,
            busiest: 0.876_54,
            host: Some(1),
        },
        noise: Some(SliceNoise {
            steal_seconds: 0.01,
            busy_seconds: 0.2,
            interrupt_seconds: 0.02,
            own_seconds: 0.1,
            cpus: 2,
        }),
        frozen: FreezeTimes {
            thaw: Duration::from_micros(40),
            freeze: Duration::from_micros(90),
        },
        flags: vec![SliceFlag::Reconnected],
    }
}

#[test]
fn a_heat_is_read_back_and_small() {
    let member = MemberRecord {
        loads_before: 0,
        target: TargetId::new("go-nethttp", Some("1cpu")),
        role: Role::Twin { of: 0 },
        command: vec!["out/server".to_owned()],
        ready: Some(Duration::from_millis(12)),
        offered_per_second: None,
        freezing: Some(Freezing::Signals {
            reason: "no control group could be made that freezes".to_owned(),
        }),
        warm_up: Some(WarmUp {
            rule: WarmUpRule {
                least: Duration::from_secs(1),
                most: Duration::from_secs(4),
                slice: Duration::from_millis(200),
                pause: Duration::ZERO,
                rest: Duration::ZERO,
                look: 8,
                bound: 0.05,
            },
            took: Duration::from_millis(1_700),
            steady: true,
            trend: Some(-0.01),
            cost_trend: None,
            settled: Some(Duration::from_millis(600)),
            settled_is_bound: true,
            settled_cpu: Some(Duration::from_millis(550)),
            first_answers: 2_345,
            first_p99: Some(Duration::from_micros(8_900)),
        }),
        verified_before: Some(3),
        verified_after: None,
        cpu_source: Some(CpuSource::CgroupV2),
        memory: MemoryUsed {
            idle: Some(7_000_000),
            mean: None,
            peak: None,
            samples: 0,
        },
        routes: vec![RouteFigures::new("GET /items")],
        compression: Some(Compression {
            bytes: 1_500,
            decompressed_bytes: 8_300,
        }),
        writes: Some(6_085),
        failure: Some(MemberFailure {
            failure: StackFailure {
                phase: Phase::Load,
                reason: "was ended by SIGSEGV under load".to_owned(),
                log_tail: vec!["last words".to_owned()],
                load: None,
            },
            void_from: Some(3),
        }),
    };
    let round = |round| (0..7).map(|member| slice(member, round)).collect();
    let heat = HeatRecord {
        heat: 2,
        started: "2026-11-23T03:00:00Z".to_owned(),
        plan: PLAN,
        members: vec![member; 7],
        rounds: (0..20).map(round).collect(),
        end: HeatEnd::Interrupted,
        lost: Some("host h2: the connection was closed".to_owned()),
        wall: Duration::from_millis(24_500),
    };
    let json = serde_json::to_string(&heat).unwrap();
    assert_eq!(serde_json::from_str::<HeatRecord>(&json).unwrap(), heat);
    // Seven members and twenty rounds.
    assert!(json.len() < 500_000, "{} bytes", json.len());
}

/// Rounds of three members, in whose slices this many CPU seconds of other programs are added.
fn rounds(count: u32, taken: [f64; 3]) -> Vec<Vec<SliceRecord>> {
    let slice = |round: u32, member: u32| {
        let mut slice = slice(member, round);
        let (noise, cpu) = (slice.noise.as_mut().unwrap(), slice.cpu.unwrap());
        noise.busy_seconds = noise.own_seconds + cpu.seconds + taken[member as usize];
        // Counted as part of processes as well.
        noise.interrupt_seconds = 0.01;
        slice
    };
    let round = |round: u32| (0..3).map(|member| slice(round, member)).collect();
    (0..count).map(round).collect()
}

#[test]
fn a_heat_is_disturbed_by_what_takes_cpu_time_from_most_members_all_the_time() {
    // A slice has two CPUs for a tenth of a second.
    let share = |count, taken| slice::disturbance(&rounds(count, taken));
    let found = share(20, [0.05; 3]).unwrap();
    assert!((found - 0.2).abs() < 1e-9, "{found}");
    assert_eq!(share(20, [0.015; 3]), None);
    // What one server started outside its tree, and too short a time to say.
    assert_eq!(share(20, [0.0, 0.1, 0.0]), None);
    assert_eq!(share(16, [0.05; 3]), None);
    // A disturbance of single rounds leaves them out, and not the heat.
    let mut some = rounds(20, [0.0; 3]);
    some.splice(..6, rounds(6, [0.1; 3]));
    assert_eq!(slice::disturbance(&some), None);
    assert_eq!(
        quiet_rounds(&some).iter().filter(|quiet| !**quiet).count(),
        6
    );
}
