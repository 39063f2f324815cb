//! What a session of heats will do: a pure function of what is asked, of who can take part, and of what the machine has
//! room for.

use std::time::Duration;

use deadheat_model::{
    LoadPoint, LoadSpec, Schedule, TargetId, Wait,
    comparison::ContenderKind,
    heat::{HeatPlan, Rounds},
    heats::{MOST_OF_EXPECTED, Plan, PlannedLoad},
    plan::Pinning,
    workload::{OfferedRate, Oracle},
};

use super::{
    HeatOptions, Steering,
    capacity::{Capacity, Limits, heats_for_all},
    draft_of,
    times::{DELAY, HeatCost, bring_up, null_server, with_time},
};
use crate::{
    manifest::SelectedWorkload,
    secret::without_secret_values,
    session::{
        Participant, SessionOptions,
        launch::is_started_alike,
        members::{MEMORY_EVERY, kept_warm_up, wait, warm_up_time},
        open::at_rate,
        servers::{freezing_and_wait, warm_up},
    },
};

/// What the plan depends on beside what is asked.
pub(super) struct Circumstances<'a> {
    /// Who can be measured.
    pub(super) participants: &'a [Participant],
    pub(super) pinning: Pinning,
    /// What limits how many servers are alive together.
    pub(super) limits: Limits,
    /// [`Steering::looks`].
    pub(super) looks: &'a dyn Fn(&PlannedLoad, u32) -> Vec<u32>,
}

/// Plans a session.
pub(super) fn plan(options: &SessionOptions, circumstances: &Circumstances<'_>) -> Plan {
    let asked = asked(options, circumstances.participants);
    let share = options
        .budget
        .map(|budget| budget / u32::try_from(asked.len()).unwrap_or(u32::MAX).max(1));
    let of_stacks = asked.iter().map(|load| {
        let starts = Starts::of(load, &asked, options, circumstances);
        load.planned(options, circumstances, share, &starts)
    });
    let (loads, times): (Vec<Vec<PlannedLoad>>, Vec<Duration>) = of_servers(options, circumstances)
        .into_iter()
        .chain(of_stacks)
        .unzip();
    let estimate: Duration = times.into_iter().sum();
    let precision = options.heats.precision;
    // If the noise is greater than usual, a precision takes longer, but not without end.
    let budget = precision.map_or(options.budget, |_| Some(MOST_OF_EXPECTED * estimate));
    Plan {
        seed: options.seed,
        loads: loads.into_iter().flatten().collect(),
        pinning: circumstances.pinning.clone(),
        alpha: options.heats.alpha,
        margin: options.heats.margin,
        least_heats: options.heats.least_heats,
        until_decided: options.heats.until_decided,
        precision,
        budget_seconds: budget.map(|budget| budget.as_secs_f64()),
        estimate,
        price_per_cpu_hour: options.heats.price_per_cpu_hour,
        hosts: options.hosts.clone(),
        left_out: options.heats.left_out.clone(),
    }
}

/// Fewer stacks than these are no choice.
const LEAST_CHOICE: usize = 3;
/// How much longer heats may take than is thought before anything was started.
const RESERVE: f64 = 1.1;
/// A warm-up that is longer than this is a slow one.
const SLOW: Duration = Duration::from_secs(5);

/// The stacks of a session of which its budget has room for eight heats at each load, the first ones in this order: those that
/// warm up quickly before the others, then by their places among the usual ones. Then those without room, in the same order.
/// Everybody has room where there is no budget, or a number of heats was asked for.
pub fn with_room(
    options: &SessionOptions,
    steering: &dyn Steering,
) -> (Vec<TargetId>, Vec<TargetId>) {
    let mut participants = crate::session::participants(options);
    participants.sort_by_key(|one| {
        let mut targets = options.targets.iter();
        let own = targets.find(|target| target.target == one.target);
        let place = own.and_then(|own| own.stack.manifest.usual);
        (warm_up_time(one.warm_up) > SLOW, place.unwrap_or(u32::MAX))
    });
    let fits = |count: &usize| {
        options.budget.is_none_or(|budget| {
            time_of_eight(options, &participants[..*count], steering) <= budget
        })
    };
    let all = participants.len();
    let count = match options.heats.heats {
        Some(_) => all,
        None => (LEAST_CHOICE..=all)
            .rev()
            .find(fits)
            .unwrap_or(LEAST_CHOICE.min(all)),
    };
    let names = participants.into_iter().map(|one| one.target);
    let mut names: Vec<TargetId> = names.collect();
    let rest = names.split_off(count);
    (names, rest)
}

/// How long eight heats of all stacks of a session take at each load, at least.
pub fn eight_heats(options: &SessionOptions, steering: &dyn Steering) -> Duration {
    time_of_eight(options, &crate::session::participants(options), steering)
}

fn time_of_eight(
    options: &SessionOptions,
    participants: &[Participant],
    steering: &dyn Steering,
) -> Duration {
    let options = SessionOptions {
        heats: HeatOptions {
            heats: Some(deadheat_model::heats::LEAST_HEATS),
            ..options.heats.clone()
        },
        // As if there were no more time than they need.
        budget: Some(Duration::ZERO),
        ..options.clone()
    };
    let draft = draft_of(&options, participants, steering);
    draft.estimate.mul_f64(RESERVE)
}

/// A load that somebody is to be measured at.
struct Asked<'a> {
    workload: &'a SelectedWorkload,
    point: LoadPoint,
    stacks: Vec<&'a Participant>,
}

/// The closed loops of a session.
fn asked<'a>(options: &'a SessionOptions, participants: &'a [Participant]) -> Vec<Asked<'a>> {
    let mut loads = Vec::new();
    for workload in &options.workloads {
        let id = &workload.manifest.id;
        for point in workload.points.iter().filter(|point| point.is_closed()) {
            let takes_part = |one: &&Participant| {
                one.workloads.contains(id) && options.wants(&one.target, id, &point.id)
            };
            let stacks: Vec<_> = participants.iter().filter(takes_part).collect();
            // What one side does not answer is not compared.
            let comparison = options.comparison.as_ref();
            let least = comparison.map_or(1, |all| all.contenders().len());
            if stacks.len() < least {
                continue;
            }
            loads.push(Asked {
                workload,
                point: point.clone(),
                stacks,
            });
        }
    }
    loads
}

/// How the stacks of a load come to its heats.
struct Starts {
    /// The number of the loads that share its starts; `None`: each heat has its own.
    shared: Option<u32>,
    /// How many loads these are, with this one.
    loads: u32,
}

impl Starts {
    /// Loads share their starts if they have the same stacks and seats, and each stack is started alike for all of them: in
    /// one heat nobody is fresh where another one has served a load before.
    fn of(
        load: &Asked<'_>,
        all: &[Asked<'_>],
        options: &SessionOptions,
        circumstances: &Circumstances<'_>,
    ) -> Self {
        let pinning = &circumstances.pinning;
        let stacks = |load: &Asked<'_>| -> Vec<TargetId> {
            let stacks = load.stacks.iter();
            stacks.map(|one| one.target.clone()).collect()
        };
        let seats = |load: &Asked<'_>| {
            let heat = least(&options.heats, true, Wait::Sleep);
            load.capacity(&heat, circumstances).members
        };
        let own = stacks(load);
        let targets = options.targets.iter();
        let targets: Vec<_> = targets.filter(|one| own.contains(&one.target)).collect();
        let is_alike = |other: &Asked<'_>| {
            let [one, another] = [load, other].map(|load| load.workload.manifest.id.as_str());
            let mut targets = targets.iter();
            own == stacks(other)
                && seats(load) == seats(other)
                && targets.all(|target| is_started_alike(target, pinning, one, another))
        };
        let may = !options.heats.separate_loads && options.comparison.is_none();
        let places = 0..all.len() as u32;
        let with_it: Vec<u32> = places
            .filter(|place| may && is_alike(&all[*place as usize]))
            .collect();
        let loads = with_it.len().max(1) as u32;
        Self {
            shared: with_it.first().copied().filter(|_| loads > 1),
            loads,
        }
    }

    /// The number, if so many heats are enough for each load to be the first of a turn with each kind of control.
    fn shared(&self, heats: u32) -> Option<u32> {
        self.shared.filter(|_| heats >= 2 * self.loads)
    }

    /// About how long it takes to bring a stack up for a heat, on average.
    fn bring_up(&self, options: &SessionOptions, one: &Participant) -> Duration {
        let fresh = bring_up(one.warm_up, one.ready);
        let kept = bring_up(
            kept_warm_up(options.warm_up, one.warm_up),
            Some(Duration::ZERO),
        );
        let kept = kept.saturating_mul(self.loads - 1);
        (fresh + kept) / self.loads
    }
}

impl Asked<'_> {
    fn capacity(&self, heat: &HeatPlan, circumstances: &Circumstances<'_>) -> Capacity {
        let limits = match self.workload.manifest.oracle {
            Oracle::Users => circumstances.limits,
            _ => Limits {
                connections: None,
                ..circumstances.limits
            },
        };
        Capacity::of(heat, limits)
    }

    /// The load as it is planned, with what is measured in its heats, and about how long these take together.
    fn planned(
        &self,
        options: &SessionOptions,
        circumstances: &Circumstances<'_>,
        share: Option<Duration>,
        starts: &Starts,
    ) -> (Vec<PlannedLoad>, Duration) {
        let manifest = &self.workload.manifest;
        let wait = wait(options, manifest, &circumstances.pinning);
        let heat = least(&options.heats, true, wait);
        let capacity = self.capacity(&heat, circumstances);
        let turns = heats_for_all(self.stacks.len(), capacity.members);
        let delay = (manifest.oracle == Oracle::Relayed).then_some(DELAY);
        let seats = capacity.seats() as usize;
        // One probe before and one after the load, each as slow as the upstream.
        let probes = 2 * delay.unwrap_or_default();
        let stacks = self.stacks.iter();
        let stacks: Vec<Duration> = stacks
            .map(|one| starts.bring_up(options, one) + probes)
            .collect();
        let control = options.heats.controls.then(|| null_server(options.warm_up));
        let rates = &options.heats.rates;
        let cost = HeatCost::of(heat, &stacks, seats, control, delay);
        let work = cost.equal_work(heat, &options.heats, share, turns);
        let cost = cost.with_equal_work(&work, rates.len());
        let count = cost.count(&options.heats, share, turns);
        let load = PlannedLoad {
            workload: manifest.id.clone(),
            description: manifest.description.clone(),
            point: self.point.clone(),
            delay_seconds: delay.map(|delay| delay.as_secs_f64()),
            targets: self.stacks.iter().map(|one| one.target.clone()).collect(),
            heat: with_time(heat, count.time),
            capacity: capacity.members,
            shared_starts: None,
            capacity_reason: capacity.reason,
            looks: Vec::new(),
        };
        let looks = (circumstances.looks)(&load, count.heats).into_iter();
        let load = PlannedLoad {
            // Of each stack; not everybody is in every heat.
            looks: looks.map(|look| look.saturating_mul(turns)).collect(),
            ..load
        };
        let heats = load.planned_heats(options.heats.precision);
        let load = PlannedLoad {
            shared_starts: starts.shared(heats / turns.max(1)),
            ..load
        };
        let time = cost.heat(count.time).saturating_mul(heats);
        (with_rates(load, rates, work), time)
    }
}

/// A closed loop, and equal work at these rates in its heats.
fn with_rates(closed: PlannedLoad, rates: &[OfferedRate], work: HeatPlan) -> Vec<PlannedLoad> {
    let equal_work = rates.iter().map(|rate| PlannedLoad {
        point: at_rate(&closed.point, *rate),
        heat: work,
        ..closed.clone()
    });
    let equal_work: Vec<PlannedLoad> = equal_work.collect();
    [closed].into_iter().chain(equal_work).collect()
}

/// The load of servers that are no stacks, if these are compared, with what is measured in its heats.
fn of_servers(
    options: &SessionOptions,
    circumstances: &Circumstances<'_>,
) -> Option<(Vec<PlannedLoad>, Duration)> {
    let sides = options.comparison.as_ref()?.contenders();
    let first = sides.first()?.load()?;
    let (a, b) = (asked_for(first), asked_for(sides.get(1)?.load()?));
    let (freeze, wait) = freezing_and_wait(sides[0], &circumstances.pinning);
    let wait = options.wait_elsewhere().unwrap_or(wait);
    let heat = least(&options.heats, freeze, wait);
    let rule = warm_up(options.warm_up);
    let bring_up = match sides[0].kind {
        ContenderKind::Url { .. } => warm_up_time(rule),
        _ => bring_up(rule, None),
    };
    let rates = &options.heats.rates;
    let cost = HeatCost::of(heat, &vec![bring_up; sides.len()], sides.len(), None, None);
    let work = cost.equal_work(heat, &options.heats, options.budget, 1);
    let cost = cost.with_equal_work(&work, rates.len());
    let count = cost.count(&options.heats, options.budget, 1);
    let (connections, point) = point_of(&first.schedule);
    let load = PlannedLoad {
        shared_starts: None,
        workload: if a == b { a } else { format!("{a} | {b}") },
        description: String::new(),
        point: LoadPoint {
            id: point,
            connections,
            rounds: None,
            sending: Default::default(),
            open: None,
        },
        delay_seconds: None,
        targets: sides.iter().map(|one| one.target.clone()).collect(),
        heat: with_time(heat, count.time),
        capacity: sides.len() as u32,
        capacity_reason: None,
        looks: Vec::new(),
    };
    let load = PlannedLoad {
        looks: (circumstances.looks)(&load, count.heats),
        ..load
    };
    let time = cost.heat(count.time).saturating_mul(load.most_heats());
    Some((with_rates(load, rates, work), time))
}

/// The connections of a schedule, and its name: "c50", or "5000/s c50".
fn point_of(schedule: &Schedule) -> (u32, String) {
    match schedule {
        Schedule::Closed { connections, .. } => (*connections, format!("c{connections}")),
        Schedule::Open {
            connections,
            stages,
            ..
        } => {
            let rate = stages.first().map_or(0.0, |stage| stage.from);
            (*connections, format!("{rate}/s c{connections}"))
        }
    }
}

/// What a load asks for: the method and path of its first request, and how many others there are.
fn asked_for(load: &LoadSpec) -> String {
    let first = load.exchanges.first().map(|exchange| &exchange.request);
    first.map_or(String::new(), |request| {
        let path = without_secret_values(&request.path);
        let others = match load.exchanges.len() - 1 {
            0 => String::new(),
            others => format!(" and {others} more"),
        };
        format!("{} {path}{others}", request.method)
    })
}

/// The least of each heat. How long its rounds go on is decided later.
fn least(options: &HeatOptions, freeze: bool, wait: Wait) -> HeatPlan {
    HeatPlan {
        slice: options.slice,
        guard: options.guard,
        rounds: Rounds::Time {
            time: Duration::ZERO,
        },
        freeze,
        wait,
        memory_every: MEMORY_EVERY,
    }
}

#[cfg(test)]
mod tests {
    use deadheat_model::{
        Cell,
        heats::{SessionRecord, Step},
        stack::Runtime,
    };

    use super::*;
    use crate::session::wishes::{options, participants, point, selected};

    const APART: Pinning = Pinning::Apart {
        server: Vec::new(),
        generator: Vec::new(),
    };

    /// A look at the third heat and at the last.
    fn looks(_: &PlannedLoad, most: u32) -> Vec<u32> {
        vec![3, most]
    }

    fn planned_with(options: &SessionOptions, stacks: usize, limits: Limits) -> Plan {
        let circumstances = Circumstances {
            participants: &participants(stacks, Runtime::Native),
            pinning: APART,
            limits,
            looks: &looks,
        };
        plan(options, &circumstances)
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
            &Circumstances {
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
            let circumstances = Circumstances {
                participants: &participants(3, Runtime::Jit),
                pinning: APART,
                limits: Limits::default(),
                looks: &looks,
            };
            plan(options, &circumstances).estimate.as_secs_f64()
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
            assert_eq!(load.heat.rounds, Rounds::Count { rounds: 1 });
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
    fn a_budget_has_room_for_the_stacks_of_which_eight_heats_fit_those_that_warm_up_quickly_first()
    {
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
        let circumstances = Circumstances {
            participants: &participants(12, Runtime::Native),
            pinning: APART,
            limits: Limits::default(),
            looks: &|load, most| {
                assert_eq!((load.targets.len(), most), (12, 10));
                vec![8, 13, 26]
            },
        };
        let plan = plan(&options, &circumstances);
        let load = &plan.loads[0];
        // Not all twelve have a seat, so it takes two heats for a start of each.
        assert_eq!(
            (plan.planned_heats(load), &load.looks),
            (26, &vec![16, 26, 52])
        );
        assert_eq!(plan.precision, Some(0.05));
        options.heats.precision = None;
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
}
