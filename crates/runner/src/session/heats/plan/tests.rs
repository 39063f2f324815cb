//! Plans: loads, their heats, and how long they take.

use deadheat_model::{
    Cell,
    heats::{SessionRecord, Step},
    stack::Runtime,
};

use super::*;
use crate::session::{
    SelectedTarget,
    fixtures::{options, participants, point, selected},
};

const APART: Pinning = Pinning::Apart {
    server: Vec::new(),
    generator: Vec::new(),
};

/// A look at the third heat and at the last.
fn looks(_: &PlannedLoad, most: u32) -> Vec<u32> {
    vec![3, most]
}

fn planned_with(options: &SessionOptions, stacks: usize, limits: Limits) -> Plan {
    let inputs = PlanInputs {
        participants: &participants(stacks, Runtime::Native),
        pinning: APART,
        limits,
        looks: &looks,
    };
    plan(options, &inputs)
}

fn planned(options: &SessionOptions, stacks: usize) -> Plan {
    planned_with(options, stacks, Limits::default())
}

fn names(plan: &Plan) -> Vec<String> {
    plan.loads.iter().map(PlannedLoad::name).collect()
}

fn time(load: &PlannedLoad) -> Duration {
    match load.heat.rounds {
        Rounds::Time { time } => time,
        Rounds::Count { .. } => Duration::ZERO,
    }
}

#[test]
fn every_closed_loop_is_a_load_with_the_stacks_that_answer_it() {
    let mut options = options(600);
    options.workloads[0].points.push(point("c400"));
    let mut participants = participants(3, Runtime::Native);
    participants[1].workloads.retain(|id| id != "users");
    let plan = plan(
        &options,
        &PlanInputs {
            participants: &participants,
            pinning: APART,
            limits: Limits::default(),
            looks: &looks,
        },
    );
    let expected = ["plaintext:c50", "plaintext:c400", "users:c50", "proxy:c50"];
    assert_eq!(names(&plan), expected);
    let stacks = plan.loads.iter().map(|load| load.targets.len());
    assert_eq!(stacks.collect::<Vec<_>>(), [3, 3, 2, 3]);
    let waits = plan.loads.iter().map(|load| load.heat.wait);
    let (poll, sleep) = (Wait::Poll, Wait::Sleep);
    assert_eq!(waits.collect::<Vec<_>>(), [poll, poll, sleep, sleep]);
    assert_eq!(plan.loads[2].delay_seconds, None);
    assert_eq!(plan.loads[3].delay_seconds, Some(0.5));
}

#[test]
fn a_start_that_serves_several_loads_is_paid_once() {
    let mut options = options(600);
    options.heats.heats = Some(4);
    options.heats.time = Some(Duration::from_secs(10));
    let estimate = |options: &SessionOptions| {
        let inputs = PlanInputs {
            participants: &participants(3, Runtime::Jit),
            pinning: APART,
            limits: Limits::default(),
            looks: &looks,
        };
        plan(options, &inputs).estimate.as_secs_f64()
    };
    let shared = estimate(&options);
    options.heats.separate_loads = true;
    let separate = estimate(&options);
    // Half of the warm-up and the start, of three stacks, in two of three heats at each of three loads.
    let saved = 3.0 * 4.0 * 2.0 * (10.0 + 0.3);
    assert!(
        (separate - shared - saved).abs() < 1.0,
        "{separate} {shared}"
    );
    let alone = |options: &mut SessionOptions| {
        options.workloads.truncate(1);
        estimate(options)
    };
    let separate = alone(&mut options);
    options.heats.separate_loads = false;
    assert_eq!(alone(&mut options), separate);
}

#[test]
fn equal_work_is_measured_in_the_heats_of_each_closed_loop_and_is_a_part_of_their_time() {
    let mut options = options(600);
    options.workloads.truncate(1);
    let without = planned(&options, 6);
    assert_eq!(names(&without), ["plaintext:c50"]);
    options.heats.rates = vec![OfferedRate::Common, OfferedRate::PerSecond(2_000)];
    let plan = planned(&options, 6);
    let expected = ["c50", "c50-rate", "c50-rate-2000"];
    assert_eq!(names(&plan), expected.map(|id| format!("plaintext:{id}")));
    let [closed, rates @ ..] = &plan.loads[..] else {
        panic!("no load");
    };
    for load in rates {
        assert!(load.is_measured_with(closed) && !closed.is_measured_with(load));
        assert_eq!(load.targets, closed.targets);
        assert_eq!(load.heat.rounds, Rounds::Count { rounds: 2 });
    }
    assert!(closed.most_heats() < without.loads[0].most_heats());
    assert!(plan.estimate <= Duration::from_secs(600), "{plan:?}");
}

/// What `with_room` needs of a steering.
struct Looks;

impl Steering for Looks {
    fn next(&mut self, _: &SessionRecord, _: Duration) -> Step {
        unreachable!("nothing is measured")
    }

    fn orders(&mut self, _: usize, _: u64) -> Vec<Vec<usize>> {
        unreachable!("nothing is measured")
    }

    fn looks(&self, _: &PlannedLoad, most: u32) -> Vec<u32> {
        vec![most]
    }
}

#[test]
fn a_budget_has_room_for_the_stacks_of_which_eight_heats_fit_those_that_warm_up_quickly_first() {
    let mut options = options(600);
    options.workloads.truncate(1);
    options.heats.rates = vec![OfferedRate::Common];
    let target = |name: &str, usual: u32, warm_up_seconds: u32| {
        let mut target = selected(name);
        target.stack.manifest.usual = Some(usual);
        target.stack.manifest.warm_up_seconds = Some(warm_up_seconds);
        target
    };
    options.targets = vec![
        target("slow", 1, 20),
        target("d", 5, 1),
        target("a", 2, 1),
        target("c", 4, 1),
        target("b", 3, 1),
    ];
    let room = |seconds: u64, options: &SessionOptions| {
        let budget = Some(Duration::from_secs(seconds));
        let (kept, rest) = with_room(
            &SessionOptions {
                budget,
                ..options.clone()
            },
            &Looks,
        );
        let names = |targets: Vec<TargetId>| {
            targets
                .iter()
                .map(|one| one.stack.clone())
                .collect::<Vec<_>>()
        };
        (names(kept), names(rest))
    };
    let all = eight_heats(&options, &Looks).as_secs();
    assert_eq!(room(all + 1, &options).1, Vec::<String>::new());
    let (kept, rest) = room(all - 1, &options);
    assert_eq!(
        (kept, rest),
        (
            ["a", "b", "c", "d"].map(str::to_owned).to_vec(),
            vec!["slow".to_owned()]
        )
    );
    // Two would be no choice, whatever fits.
    assert_eq!(room(1, &options).0, ["a", "b", "c"]);
    let mut twice = options.clone();
    let at = |cpus: u32| move |one: &SelectedTarget| one.target.on_cpus(Some(cpus));
    twice.targets = options
        .targets
        .iter()
        .flat_map(|one| {
            [at(1)(one), at(2)(one)].map(|target| SelectedTarget {
                target,
                ..one.clone()
            })
        })
        .collect();
    let both = ["a", "a", "b", "b"].map(str::to_owned);
    assert_eq!(room(1, &twice).0, both, "a stack has all of its budgets");
    options.heats.heats = Some(3);
    assert_eq!(room(1, &options).0.len(), 5, "as was asked");
    options.heats.heats = None;
    options.budget = Some(Duration::from_secs(all - 1));
    options.targets.retain(|one| one.target.stack != "slow");
    let looks = Looks;
    let planned = crate::session::heats::draft(&options, &looks);
    assert_eq!(planned.loads[0].most_heats(), 8);
}

#[test]
fn a_load_that_nobody_answers_or_is_asked_for_is_none() {
    let mut options = options(600);
    assert_eq!(planned(&options, 0).loads, []);
    options.cells = Some(
        [Cell {
            target: participants(1, Runtime::Native)[0].target.clone(),
            workload: "users".to_owned(),
            point: "c50".to_owned(),
        }]
        .into(),
    );
    let plan = planned(&options, 3);
    assert_eq!(names(&plan), ["users:c50"]);
    assert_eq!(plan.loads[0].targets.len(), 1);
}

#[test]
fn looks_are_counted_in_heats_of_each_stack() {
    let mut options = options(600);
    options.budget = None;
    for (stacks, heats) in [(1, 10), (11, 10), (12, 20), (21, 20), (22, 30)] {
        let load = &planned(&options, stacks).loads[0];
        assert_eq!(load.most_heats(), heats, "{stacks} stacks");
        assert_eq!(load.looks, [3 * heats / 10, heats]);
        assert_eq!((load.capacity, &load.capacity_reason), (12, &None));
    }
}

#[test]
fn a_precision_takes_what_its_heats_take_and_twice_as_long_at_most() {
    let mut options = options(600);
    options.budget = None;
    options.heats.precision = Some(0.05);
    let inputs = PlanInputs {
        participants: &participants(12, Runtime::Native),
        pinning: APART,
        limits: Limits::default(),
        looks: &|load, most| {
            assert_eq!((load.targets.len(), most), (12, 10));
            match load.heat.rounds {
                Rounds::Time { time } if time >= Duration::from_secs(15) => vec![8, 13, 26],
                _ => vec![8, 60, 120],
            }
        },
    };
    let plan = plan(&options, &inputs);
    let load = &plan.loads[0];
    // Not all twelve have a seat, so it takes two heats for a start of each.
    assert_eq!(
        (plan.planned_heats(load), &load.looks),
        (26, &vec![16, 26, 52])
    );
    assert_eq!(plan.precision, Some(0.05));
    // Shorter rounds would need more time in all, and longer ones no fewer heats.
    assert_eq!(time(load), Duration::from_secs(15));
    options.heats.precision = None;
    options.heats.time = Some(Duration::from_secs(15));
    options.heats.heats = Some(13);
    let same = planned(&options, 12).estimate;
    assert_eq!(plan.estimate, same);
    assert_eq!(plan.budget_seconds, Some(2.0 * same.as_secs_f64()));
}

#[test]
fn loads_share_a_budget_which_they_keep_to_if_it_has_room_for_two_heats_of_each_stack() {
    let mut options = options(600);
    options.workloads.truncate(2);
    let plan = planned(&options, 3);
    let [first, second] = &plan.loads[..] else {
        panic!("{:?}", names(&plan));
    };
    assert_eq!(first.looks, second.looks);
    assert!(first.most_heats() > 3);
    assert!(plan.estimate <= Duration::from_secs(600), "{plan:?}");
    assert!(plan.estimate > Duration::from_secs(500));
    options.budget = Some(Duration::from_secs(100));
    let plan = planned(&options, 3);
    assert_eq!(plan.loads[0].most_heats(), 2);
    assert!(plan.estimate <= Duration::from_secs(100), "{plan:?}");
    options.budget = Some(Duration::from_secs(10));
    let plan = planned(&options, 3);
    assert_eq!(time(&plan.loads[0]), Duration::from_secs(5));
    assert!(plan.estimate > Duration::from_secs(10));
}

#[test]
fn only_loads_of_the_database_are_limited_by_its_connections() {
    let limits = Limits {
        memory: Some((1024 + 7 * 700) << 20),
        connections: Some((64, 16)),
    };
    let plan = planned_with(&options(600), 9, limits);
    let capacities = plan.loads.iter().map(|load| load.capacity);
    assert_eq!(capacities.collect::<Vec<_>>(), [7, 4, 7]);
    let reason = |load: usize| plan.loads[load].capacity_reason.clone().unwrap();
    assert!(reason(0).starts_with("Memory is short"), "{}", reason(0));
    assert!(reason(1).starts_with("The database"), "{}", reason(1));
}
