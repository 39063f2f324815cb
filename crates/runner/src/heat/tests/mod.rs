//! A heat's rules, with members and clocks that are values: nothing here waits.

mod equal_work;
mod failures;
mod warm_up;

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, atomic::AtomicBool},
    time::Duration,
};

use deadheat_model::{
    Failure, TargetId, Wait,
    heat::{
        CpuUsed, Freezing, HeatEnd, HeatPlan, HeatRecord, MemberRecord, Role, Rounds, SLICE_SPREAD,
        SliceFlag, WarmUpRule,
    },
    observation::WorkerHealth,
};

use super::{
    Entry, EqualWork, Heat, HeatError, MeasuredSlice, Offer, WarmUps,
    fakes::{Fake, MS, Shared, answers},
    run,
};

const PLAN: HeatPlan = HeatPlan {
    slice: Duration::from_millis(100),
    guard: Duration::from_millis(20),
    rounds: Rounds::Count { rounds: 4 },
    freeze: true,
    wait: Wait::Sleep,
    memory_every: Duration::ZERO,
};

/// Steady after four slices at the earliest and eight at the latest.
const RULE: WarmUpRule = WarmUpRule {
    least: Duration::from_millis(400),
    most: Duration::from_millis(808),
    slice: Duration::from_millis(100),
    pause: Duration::ZERO,
    rest: Duration::ZERO,
    look: 4,
    bound: 0.05,
};

const WORK: HeatPlan = HeatPlan {
    slice: Duration::from_secs(2),
    guard: Duration::from_secs(1),
    rounds: Rounds::Count { rounds: 1 },
    ..PLAN
};

fn entry(fake: Fake) -> Entry<'static> {
    Entry {
        is_kept: false,
        target: TargetId::new(format!("stack{}", fake.place), None),
        role: Role::Member,
        warm_ups: WarmUps {
            started: RULE,
            at_a_rate: None,
        },
        member: Box::new(fake),
    }
}

/// Whether a slice is as long as it was planned, give or take what is random.
fn is_about(window: Duration, planned: Duration) -> bool {
    let ratio = window.as_secs_f64() / planned.as_secs_f64();
    (1.0 - SLICE_SPREAD..1.0 + SLICE_SPREAD).contains(&ratio)
}

/// A heat of these members, one after another in every round.
fn heat(fakes: Vec<Fake>) -> Heat<'static> {
    Heat {
        number: 3,
        plan: PLAN,
        orders: vec![(0..fakes.len()).collect()],
        seed: 1,
        entries: fakes.into_iter().map(entry).collect(),
        equal_work: Vec::new(),
        least: 1,
    }
}

fn run_heat(heat: Heat<'_>, shared: &Shared) -> HeatRecord {
    run_parts(heat, shared).remove(0)
}

/// The records of the rounds and of each rate.
fn run_parts(heat: Heat<'_>, shared: &Shared) -> Vec<HeatRecord> {
    let parts = run(heat, "now".to_owned(), shared, &AtomicBool::new(false)).unwrap();
    assert_eq!(shared.stage().there, BTreeSet::new(), "all were stopped");
    parts
}

/// Of so many members, of which the second is made by `change`.
fn with_second(count: usize, change: impl FnOnce(Fake) -> Fake) -> (HeatRecord, Shared) {
    let shared = Shared::default();
    let mut fakes: Vec<Fake> = (0..count).map(|place| Fake::new(place, &shared)).collect();
    let second = fakes.remove(1);
    fakes.insert(1, change(second));
    let record = run_heat(heat(fakes), &shared);
    (record, shared)
}

/// The members of each round's slices.
fn order(record: &HeatRecord) -> Vec<Vec<u32>> {
    let rounds = record.rounds.iter();
    rounds
        .map(|round| round.iter().map(|slice| slice.member).collect())
        .collect()
}

/// The second member's failure: its reason, and from where on its slices mean nothing.
fn second_failure(record: &HeatRecord) -> (&str, Option<u32>) {
    let failure = record.members[1].failure.as_ref().unwrap();
    assert!(record.members[0].failure.is_none());
    (&failure.failure.reason, failure.void_from)
}

/// A member's slices before its rounds: four of its warm-up, and one that leads in.
const WARM: u32 = 5;

/// The heat with these rates for all after its rounds.
fn at_rates(mut heat: Heat<'static>, rates: &[f64]) -> Heat<'static> {
    heat.equal_work = rates
        .iter()
        .map(|rate| {
            let per_second = *rate;
            EqualWork {
                plan: WORK,
                offer: Box::new(move |rounds| {
                    let loaded = |one: &MemberRecord| (one.failure.is_none()).then_some(true);
                    Some(Offer {
                        per_second,
                        is_loaded: rounds.members.iter().map(loaded).collect(),
                    })
                }),
            }
        })
        .collect();
    heat
}

#[test]
fn members_are_started_one_after_another_in_the_first_order_and_loaded_in_turn() {
    let shared = Shared::default();
    let fakes = (0..2).map(|place| Fake::new(place, &shared)).collect();
    let mut heat = heat(fakes);
    heat.orders = vec![vec![1, 0], vec![0, 1]];
    heat.plan.rounds = Rounds::Count { rounds: 3 };
    let record = run_heat(heat, &shared);
    assert_eq!(order(&record), [[1, 0], [0, 1], [1, 0]]);
    assert_eq!(record.end, HeatEnd::Finished);
    let up = |place| {
        let before = ["start", "memory", "verify", "open"];
        let all = before
            .into_iter()
            .chain(["slice"; 4])
            .chain(["settle", "freeze"]);
        all.map(move |what| format!("{what} {place}"))
            .collect::<Vec<_>>()
    };
    let turn = |place| ["thaw", "slice", "freeze", "memory"].map(|what| format!("{what} {place}"));
    let again = |place| ["thaw", "verify", "freeze"].map(|what| format!("{what} {place}"));
    let expected: Vec<String> = [up(1), up(0)]
        .into_iter()
        .flatten()
        .chain([1, 0, 1, 0, 0, 1, 1, 0].into_iter().flat_map(turn))
        .chain([0, 1].into_iter().flat_map(again))
        .collect();
    assert_eq!(shared.stage().asked, expected);
    for member in &record.members {
        assert_eq!(
            (member.verified_before, member.verified_after),
            (Some(7), Some(7))
        );
        assert_eq!(member.freezing, Some(Freezing::CgroupV2));
        assert_eq!(member.memory.idle, Some(1_000));
        // After its sixth, seventh and eighth slice.
        assert_eq!(member.memory.mean, Some(1_007));
        assert_eq!(
            (member.memory.peak, member.memory.samples),
            (Some(1_008), 3)
        );
    }
    let slice = &record.rounds[0][1];
    assert!(is_about(slice.window, PLAN.slice));
    let busy = slice.cpu.unwrap().seconds / slice.window.as_secs_f64();
    assert!((busy - 0.5).abs() < 1e-6, "{busy}");
    let busy = slice.noise.unwrap().busy_seconds / slice.window.as_secs_f64();
    assert!((busy - 1.0).abs() < 1e-6, "{busy}");
    // The slice that led in ended a slice of the other's ago.
    assert_eq!(slice.gap, Some(slice.window + 21 * MS));
    assert_eq!(record.rounds[1][0].gap, Some(Duration::ZERO));
}

#[test]
fn nobody_is_frozen_where_the_plan_says_so() {
    let shared = Shared::default();
    let mut heat = heat(vec![Fake::new(0, &shared)]);
    heat.plan.freeze = false;
    let record = run_heat(heat, &shared);
    assert_eq!(record.members[0].freezing, Some(Freezing::Off));
    let asked = &shared.stage().asked;
    assert!(
        !asked
            .iter()
            .any(|what| what.starts_with("freeze") || what.starts_with("thaw"))
    );
}

#[test]
fn what_happened_before_the_rounds_flags_none_of_their_slices() {
    let (record, _) = with_second(2, |fake| {
        fake.doing(|slice, shared, seen| {
            if slice == WARM - 1 {
                seen.result.reconnected = 16;
                shared.stage().now.all += Duration::from_secs(60);
            }
        })
    });
    assert_eq!(flagged(&record), 0);
    assert_eq!(order(&record), [[0, 1]; 4]);
}

/// How many slices have a flag.
fn flagged(record: &HeatRecord) -> usize {
    let slices = record.rounds.iter().flatten();
    slices.filter(|slice| !slice.flags.is_empty()).count()
}

#[test]
fn how_a_member_is_frozen_is_recorded_with_the_reason() {
    let freezing = Freezing::Signals {
        reason: "no control group could be made that freezes".to_owned(),
    };
    let (record, _) = with_second(2, |fake| Fake {
        freezing: freezing.clone(),
        ..fake
    });
    assert_eq!(record.members[1].freezing, Some(freezing));
}

#[test]
fn a_machine_that_slept_flags_the_slice_and_nothing_waits_for_it() {
    let (record, _) = with_second(2, |fake| {
        fake.doing(|slice, shared, _| {
            if slice == WARM {
                shared.stage().now.all += Duration::from_secs(3_600);
            }
        })
    });
    assert_eq!(record.rounds[0][1].flags, [SliceFlag::Suspended]);
    assert_eq!(flagged(&record), 1);
    assert!(record.wall < Duration::from_secs(10));
}

#[test]
fn a_hypervisor_that_takes_half_of_the_cpu_is_recorded_slice_by_slice() {
    let (record, _) = with_second(2, |fake| {
        fake.doing(|slice, shared, seen| {
            if slice >= WARM {
                shared.stage().work.steal += 50 * MS;
                shared.pass(100 * MS);
                seen.result.drained = 200 * MS;
            }
        })
    });
    for round in &record.rounds {
        let steal = round.iter().map(|slice| slice.noise.unwrap().steal_seconds);
        assert_eq!(steal.collect::<Vec<_>>(), [0.0, 0.05]);
    }
    assert_eq!(record.end, HeatEnd::Finished);
}

#[test]
fn a_gap_in_which_servers_may_close_connections_is_flagged() {
    let (record, _) = with_second(2, |fake| {
        fake.doing(|slice, shared, _| {
            if slice == WARM {
                shared.pass(Duration::from_secs(2));
            }
        })
    });
    assert_eq!(record.rounds[1][0].flags, [SliceFlag::LongGap]);
    assert_eq!(flagged(&record), 1);
}

#[test]
fn slices_through_which_the_generator_slept_are_no_failure_of_a_member() {
    // A worker that woke in the slice, and sent nothing because it had no connection, makes it one.
    for (awake, is_failed) in [(Duration::ZERO, false), (MS, true)] {
        let shared = Shared::default();
        let second = Fake::new(1, &shared).doing(move |slice, _, seen| {
            if slice > WARM {
                seen.result.observation = answers(0, seen.result.observation.window);
                seen.result.observation.workers = vec![WorkerHealth {
                    cpu: None,
                    cpu_time: Duration::ZERO,
                    polled: Duration::ZERO,
                    run_delay: None,
                    wall: awake,
                }];
            }
        });
        let record = run_heat(heat(vec![Fake::new(0, &shared), second]), &shared);
        assert_eq!(record.members[1].failure.is_some(), is_failed, "{awake:?}");
    }
}

#[test]
fn slices_and_guards_of_a_slow_member_are_as_long_as_its_answers_ask() {
    // The second one's answers all come in the drain of such slices, which takes 300 ms.
    let with_slow = |is_slow: fn(u32) -> bool| {
        let shared = Shared::default();
        let slow = Fake::new(1, &shared).doing(move |slice, _, seen| {
            if is_slow(slice) {
                let window = seen.result.observation.window;
                let total = answers(16, window).total;
                seen.result.observation = answers(0, window);
                seen.result.observation.total = total;
                seen.result.drained = 300 * MS;
            }
        });
        let heat = heat(vec![Fake::new(0, &shared), slow]);
        let (plan, warm) = (heat.plan, heat.entries[1].warm_ups.started.slice);
        let record = run_heat(heat, &shared);
        let times = |member: usize| {
            let mut slices = record.rounds.iter().flatten();
            let slice = slices
                .find(|slice| slice.member as usize == member)
                .unwrap();
            (slice.guard, slice.window)
        };
        (plan, [times(0), times(1)], warm + 300 * MS)
    };
    let (plan, times, answer) = with_slow(|_| true);
    let [short, long] = times;
    assert!(
        short.0 == plan.guard && is_about(short.1, plan.slice),
        "{short:?}"
    );
    assert!(
        long.0 == answer && is_about(long.1, 20 * answer),
        "{long:?}"
    );
    // All members of a round have the same share more or less.
    let share = |window: Duration, planned: Duration| window.as_secs_f64() / planned.as_secs_f64();
    let apart = share(short.1, plan.slice) - share(long.1, 20 * answer);
    assert!(apart.abs() < 1e-6, "{times:?}");
    // A single slice that the machine spoiled makes no slow server.
    let (_, times, _) = with_slow(|slice| slice == WARM - 1);
    assert_eq!(times, [short, short]);
}

#[test]
fn the_round_that_leads_in_is_no_longer_than_planned_where_answers_are_slow() {
    let shared = Shared::default();
    let lengths = Arc::<Mutex<Vec<Duration>>>::default();
    let noted = Arc::clone(&lengths);
    let slow = Fake::new(0, &shared).doing(move |_, _, seen| {
        noted.lock().unwrap().push(seen.result.observation.window);
        let total = answers(16, seen.result.observation.window).total;
        seen.result.observation = answers(0, seen.result.observation.window);
        seen.result.observation.total = total;
        seen.result.drained = 300 * MS;
    });
    let record = run_heat(heat(vec![slow]), &shared);
    let lengths = lengths.lock().unwrap();
    let (before, rounds) = lengths.split_at(lengths.len() - 4);
    assert_eq!(before.last(), Some(&PLAN.slice));
    let counted: Vec<Duration> = record.rounds.iter().map(|round| round[0].window).collect();
    assert_eq!(rounds, counted);
    assert!(counted.iter().all(|window| *window > 10 * PLAN.slice));
    assert!(
        counted.iter().any(|window| *window != counted[0]),
        "{counted:?}"
    );
}

#[test]
fn a_heat_by_time_finishes_the_round_that_it_began() {
    let shared = Shared::default();
    let mut heat = heat((0..2).map(|place| Fake::new(place, &shared)).collect());
    // A round takes 242 ms.
    let time = 500 * MS;
    heat.plan.rounds = Rounds::Time { time };
    let record = run_heat(heat, &shared);
    assert_eq!(order(&record), [[0, 1]; 3]);
}

#[test]
fn memory_is_read_as_often_as_the_plan_says() {
    let shared = Shared::default();
    let mut heat = heat((0..2).map(|place| Fake::new(place, &shared)).collect());
    // Every other round.
    heat.plan.memory_every = 300 * MS;
    let record = run_heat(heat, &shared);
    let samples = record.members.iter().map(|member| member.memory.samples);
    assert_eq!(samples.collect::<Vec<_>>(), [2, 2]);
}

#[test]
fn orders_that_leave_somebody_out_are_refused_before_anything_starts() {
    let shared = Shared::default();
    let refused = |orders: Vec<Vec<usize>>| {
        let mut heat = heat((0..2).map(|place| Fake::new(place, &shared)).collect());
        heat.orders = orders;
        run(heat, String::new(), &shared, &AtomicBool::new(false)).unwrap_err()
    };
    let order = |round| HeatError::Order { round, members: 2 };
    assert_eq!(refused(Vec::new()), HeatError::NoOrder);
    assert_eq!(refused(vec![vec![0]]), order(0));
    assert_eq!(refused(vec![vec![0, 1], vec![1, 1]]), order(1));
    assert_eq!(refused(vec![vec![0, 1, 2]]), order(0));
    assert!(shared.stage().asked.is_empty());
}

/// Whatever a member is just asked for when the user wants to stop: it ends, nobody is loaded again, all are stopped,
/// and nobody is checked, which takes time.
#[test]
fn the_wish_to_stop_ends_a_heat_at_any_moment() {
    let questions = {
        let shared = Shared::default();
        let heat = heat(vec![Fake::new(0, &shared), Fake::new(1, &shared)]);
        run_heat(at_rates(heat, &[500.0]), &shared);
        shared.stage().asked.len()
    };
    for at in 0..questions {
        let shared = Shared::default();
        let stop = Arc::new(AtomicBool::new(false));
        let fakes = (0..2).map(|place| Fake {
            stop: Some((Arc::clone(&stop), at)),
            ..Fake::new(place, &shared)
        });
        let heat = at_rates(heat(fakes.collect()), &[500.0]);
        let parts = run(heat, String::new(), &shared, &stop).unwrap();
        let record = &parts[0];
        let stage = shared.stage();
        assert_eq!(stage.there, BTreeSet::new(), "stopped at {at}");
        let later = &stage.asked[at + 1..];
        let loads = later.iter().filter(|what| what.starts_with("slice"));
        // The one that has just been thawed has its slice, which the load generator ends at once.
        let was_thawed = stage.asked[at].starts_with("thaw") || stage.asked[at].starts_with("open");
        assert!(loads.count() <= usize::from(was_thawed), "{at}: {later:?}");
        let is_late = stage.asked[..at]
            .iter()
            .filter(|what| what.starts_with("verify"))
            .count()
            > 2;
        if record.rounds.len() < 4 {
            assert_eq!(record.end, HeatEnd::Interrupted, "stopped at {at}");
            assert!(!is_late);
        }
        // A heat counts with its equal work, or not at all.
        let is_interrupted = |part: &HeatRecord| part.end == HeatEnd::Interrupted;
        assert!(
            parts.iter().all(is_interrupted) || !parts.iter().any(is_interrupted),
            "stopped at {at}"
        );
    }
}
