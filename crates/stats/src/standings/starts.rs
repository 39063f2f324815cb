//! How stacks start. A session starts its servers again and again, so that it has a sample of starts of each stack.
//!
//! First answer and memory at rest do not depend on the load: a stack is started in the same way at each, and all its
//! starts count together. What follows depends on the load, so that each closed loop has figures of its own. A start is
//! in the record of the heat for which it was made, and of no later one; the records of equal work repeat it. No heat
//! is run because of a start, so that all complete heats count, at the whole error level.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use deadheat_model::{
    HeatRecord, TargetId,
    heat::{FIRST_ANSWERS, MemberRecord, Role, WarmUp},
    heats::{PlannedLoad, SessionRecord},
    session::Phase,
};

use super::{
    at,
    types::{Behind, StartAtLoad, StartFigure, StartRow, StartTable},
};
use crate::{
    heats::{Fit, Group, Quantity, Settings, of_fit, within::Estimate},
    interval::{log_mean, median},
};

/// The level of an interval for one figure alone.
const LEVEL: f64 = 0.95;

/// A start that came to a right answer.
#[derive(Clone, Copy)]
struct Start<'a> {
    /// The stack's place in [`Starts::groups`].
    stack: usize,
    /// From the process's start to its first right answer.
    ready: Duration,
    record: &'a MemberRecord,
}

/// A value of a start, and whether it is only an upper bound.
type Value = (f64, bool);

/// A table of each group, the largest CPU budget first, then yardsticks.
pub(super) fn tables(record: &SessionRecord, settings: &Settings) -> Vec<StartTable> {
    let loads = record.header.plan.loads.iter().enumerate();
    let loads = loads.filter(|(_, load)| load.leads());
    let loads: Vec<(&PlannedLoad, Vec<&HeatRecord>)> = loads
        .map(|(place, load)| (load, record.complete_heats(place).collect()))
        .collect();
    let mut targets: Vec<&TargetId> = Vec::new();
    for target in loads.iter().flat_map(|(load, _)| &load.targets) {
        if !targets.contains(&target) {
            targets.push(target);
        }
    }
    let group = |target: &&TargetId| Some(at::group(record, record.header.target(target)));
    let starts = Starts {
        groups: targets.iter().map(group).collect(),
        settings,
    };
    let by_load: Vec<Vec<Vec<Start<'_>>>> = loads
        .iter()
        .map(|(_, heats)| heats.iter().map(|heat| of_heat(heat, &targets)).collect())
        .collect();
    let all = by_load.concat();
    let first_answer = starts.figures(&all, |start| Some((start.ready.as_secs_f64(), false)));
    let memory = starts.figures(&all, |start| {
        Some((start.record.memory.idle? as f64, false))
    });
    let at_loads: Vec<Vec<Option<StartAtLoad>>> = loads
        .iter()
        .zip(&by_load)
        .map(|((load, _), heats)| starts.at_load(load, heats))
        .collect();
    let failed: BTreeSet<(u32, &TargetId)> = loads
        .iter()
        .flat_map(|(_, heats)| heats)
        .flat_map(|heat| failed(heat))
        .collect();
    let mut tables: BTreeMap<_, Vec<StartRow>> = BTreeMap::new();
    for (stack, (target, group)) in targets.iter().zip(&starts.groups).enumerate() {
        let (Some(group), Some(first_answer)) = (group, first_answer[stack]) else {
            continue;
        };
        let own = all.iter().flatten().filter(|start| start.stack == stack);
        let at_loads = at_loads.iter();
        let key = (group.yardsticks, Reverse(group.cpus));
        tables.entry(key).or_default().push(StartRow {
            target: (*target).clone(),
            starts: own.count() as u32,
            failed_starts: failed.iter().filter(|(_, one)| one == target).count() as u32,
            first_answer_seconds: first_answer,
            memory_at_rest_bytes: memory[stack],
            loads: at_loads.filter_map(|load| load[stack].clone()).collect(),
        });
    }
    let tables = tables
        .into_iter()
        .map(|((yardsticks, Reverse(cpus)), mut rows)| {
            let time = |row: &StartRow| row.first_answer_seconds.value;
            rows.sort_by(|a, b| time(a).total_cmp(&time(b)));
            StartTable {
                group: Group { yardsticks, cpus },
                rows,
            }
        });
    tables.collect()
}

/// The starts of a heat of these stacks. A stack that answered wrongly has none.
fn of_heat<'a>(heat: &'a HeatRecord, targets: &[&TargetId]) -> Vec<Start<'a>> {
    let start = |record: &'a MemberRecord| {
        let failure = record.failure.as_ref();
        let is_void = failure.is_some_and(|failure| failure.void_from == Some(0));
        let stack = targets
            .iter()
            .position(|target| **target == record.target)?;
        Some(Start {
            stack,
            ready: record
                .ready
                .filter(|_| record.role == Role::Member && !is_void)?,
            record,
        })
    };
    heat.members.iter().filter_map(start).collect()
}

/// The stacks that came to no right answer in a heat, each with the heat's number.
fn failed(heat: &HeatRecord) -> impl Iterator<Item = (u32, &TargetId)> {
    let members = heat.members.iter();
    let failed = members.filter(|one| {
        let failure = one.failure.as_ref();
        one.role == Role::Member && failure.is_some_and(|one| one.failure.phase == Phase::Start)
    });
    failed.map(|one| (heat.heat, &one.target))
}

/// How starts are compared.
struct Starts<'a> {
    /// The group in which each stack is ranked, by its place; `None`: it is not ranked.
    groups: Vec<Option<Group>>,
    settings: &'a Settings,
}

impl Starts<'_> {
    /// Each stack's figure of a quantity of which less is better and a start has one value.
    fn figures(
        &self,
        heats: &[Vec<Start<'_>>],
        value: impl Fn(&Start<'_>) -> Option<Value>,
    ) -> Vec<Option<StartFigure>> {
        let stacks = self.groups.len();
        let mut bounds = vec![(0.0, 0.0); stacks];
        let mut estimate = |start: &Start<'_>| {
            self.groups[start.stack]?;
            let (value, is_bound) = value(start).filter(|(value, _)| *value > 0.0)?;
            let (bounds, all) = &mut bounds[start.stack];
            (*bounds, *all) = (*bounds + f64::from(is_bound), *all + 1.0);
            Some(Estimate {
                member: start.stack,
                value: Quantity::Latency.advantage(value),
                scatter: None,
            })
        };
        let heats = heats.iter();
        let estimates: Vec<Vec<Estimate>> = heats
            .map(|heat| heat.iter().filter_map(&mut estimate).collect())
            .collect();
        let bounds = bounds.into_iter();
        let is_bound = bounds.map(|(bounds, all)| bounds > self.settings.bounded * all);
        let rankings = of_fit(
            &Fit::new(stacks, &estimates, self.settings),
            Quantity::Latency,
            &is_bound.collect::<Vec<_>>(),
            &self.groups,
            self.settings.alpha,
            self.settings,
        );
        let mut figures = vec![None; stacks];
        for ranking in &rankings {
            for place in &ranking.places {
                figures[place.member] = Some(StartFigure {
                    value: place.figure,
                    rank: (!ranking.group.yardsticks).then_some(place.rank),
                    is_upper_bound: place.is_bound,
                    behind: Behind::new(ranking, place.member),
                    half_width: ranking.half_width(place.member),
                });
            }
        }
        figures
    }

    /// What followed the starts of each stack at a load; `None`: nothing did.
    fn at_load(&self, load: &PlannedLoad, heats: &[Vec<Start<'_>>]) -> Vec<Option<StartAtLoad>> {
        let warm_ups = |stack: usize| -> Vec<(Duration, WarmUp)> {
            let own = heats.iter().flatten().filter(|start| start.stack == stack);
            own.filter_map(|start| Some((start.ready, start.record.warm_up?)))
                .collect()
        };
        let warm_ups: Vec<_> = (0..self.groups.len()).map(warm_ups).collect();
        let unsteady = |warm_ups: &[(Duration, WarmUp)]| -> Vec<f64> {
            let unsteady = warm_ups.iter().filter(|(_, warm_up)| !warm_up.steady);
            unsteady
                .map(|(ready, warm_up)| (*ready + warm_up.took).as_secs_f64())
                .collect()
        };
        let is_steady = |own: &[(Duration, WarmUp)]| 2 * unsteady(own).len() <= own.len();
        let steady = Starts {
            // Of one that is rarely steady, the starts that were say little.
            groups: self
                .groups
                .iter()
                .zip(&warm_ups)
                .map(|(group, own)| group.filter(|_| is_steady(own)))
                .collect(),
            settings: self.settings,
        };
        let time = steady.figures(heats, |start| {
            let warm_up = start.record.warm_up?;
            let time = start.ready + warm_up.settled?;
            Some((time.as_secs_f64(), warm_up.settled_is_bound))
        });
        let cpu = steady.figures(heats, |start| {
            let warm_up = start.record.warm_up?;
            let cpu = warm_up.settled_cpu?;
            Some((cpu.as_secs_f64(), warm_up.settled_is_bound))
        });
        let has_enough = |warm_up: &WarmUp| warm_up.first_answers >= FIRST_ANSWERS;
        let found = |(stack, warm_ups): (usize, &Vec<(Duration, WarmUp)>)| {
            let unsteady = unsteady(warm_ups);
            let enough = warm_ups
                .iter()
                .map(|(_, one)| one)
                .filter(|one| has_enough(one));
            let p99s = enough.clone().filter_map(|one| one.first_p99);
            let p99s = p99s.map(|time| time.as_secs_f64());
            let answers = || enough.clone().map(|one| one.first_answers);
            (!warm_ups.is_empty()).then(|| StartAtLoad {
                workload: load.workload.clone(),
                point: load.point.id.clone(),
                starts: warm_ups.len() as u32,
                unsteady_starts: unsteady.len() as u32,
                not_steady_after_seconds: median(unsteady.into_iter())
                    .filter(|_| !is_steady(warm_ups)),
                time_to_steady_seconds: time[stack],
                cpu_to_steady_seconds: cpu[stack],
                first_p99_seconds: log_mean(&p99s.collect::<Vec<_>>(), LEVEL),
                first_answers: answers().min().zip(answers().max()).map(Into::into),
            })
        };
        warm_ups.iter().enumerate().map(found).collect()
    }
}
