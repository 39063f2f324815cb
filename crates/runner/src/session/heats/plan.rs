//! Plans a session of heats: a pure function of the options, of the participants, and of the machine's capacity.

use std::time::Duration;

use deadheat_model::{
    LoadPoint, LoadSpec, Schedule, TargetId, Wait,
    comparison::ContenderKind,
    heat::{HeatPlan, Rounds},
    heats::{MAX_OF_EXPECTED, Plan, PlannedLoad},
    load::words,
    plan::Pinning,
    workload::OfferedRate,
};

use super::{
    HeatOptions, Steering,
    capacity::{Capacity, Limits, at_rate, heats_for_all},
    draft_of,
    times::{DELAY, HeatCost, ROUND_TIMES, bring_up, more_to_lead_in, warm_up_at_rates, with_time},
};
use crate::{
    heat::{WarmUps, suited},
    manifest::SelectedWorkload,
    secret::without_secret_values,
    session::{
        Participant, SessionOptions,
        launch::is_started_alike,
        members::{MEMORY_EVERY, wait, warm_up_time},
        servers::freezing_and_wait,
    },
};

/// The inputs of the plan, in addition to the session's options.
pub(super) struct PlanInputs<'a> {
    /// The stacks that can be measured.
    pub(super) participants: &'a [Participant],
    pub(super) pinning: Pinning,
    /// The limits of the number of servers that run together.
    pub(super) limits: Limits,
    /// [`Steering::looks`].
    pub(super) looks: &'a dyn Fn(&PlannedLoad, u32) -> Vec<u32>,
}

/// Plans a session.
pub(super) fn plan(options: &SessionOptions, inputs: &PlanInputs<'_>) -> Plan {
    let asked = asked(options, inputs.participants);
    let share = options
        .budget
        .map(|budget| budget / u32::try_from(asked.len()).unwrap_or(u32::MAX).max(1));
    let of_stacks = asked.iter().map(|load| {
        let starts = SharedStarts::new(load, &asked, options, inputs);
        load.planned(options, inputs, share, &starts)
    });
    let (loads, times): (Vec<Vec<PlannedLoad>>, Vec<Duration>) = of_servers(options, inputs)
        .into_iter()
        .chain(of_stacks)
        .unzip();
    let estimate: Duration = times.into_iter().sum();
    let precision = options.heats.precision;
    // With more noise than usual, a required precision takes longer, but not without limit.
    let budget = precision.map_or(options.budget, |_| Some(MAX_OF_EXPECTED * estimate));
    Plan {
        seed: options.seed,
        loads: loads.into_iter().flatten().collect(),
        pinning: inputs.pinning.clone(),
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

/// The minimum number of stacks to choose from.
const MIN_CHOICE: usize = 3;
/// The factor by which heats may exceed their estimate from before the start.
const RESERVE: f64 = 1.1;
/// Warm-ups longer than this are slow.
const SLOW: Duration = Duration::from_secs(5);

/// Divides the stacks into those for which the budget suffices for eight heats at each load, and the others. The stacks
/// are taken in this order: those with short warm-ups first, then by their order among the usual stacks. Without a
/// budget, or with a requested number of heats, it suffices for all.
pub fn with_room(
    options: &SessionOptions,
    steering: &dyn Steering,
) -> (Vec<TargetId>, Vec<TargetId>) {
    let mut participants = crate::session::participants(options);
    participants.sort_by_key(|one| {
        let mut targets = options.targets.iter();
        let own = targets.find(|target| target.target == one.target);
        let place = own.and_then(|own| own.stack.manifest.usual);
        (
            warm_up_time(one.warm_ups.started) > SLOW,
            place.unwrap_or(u32::MAX),
        )
    });
    let fits = |count: &usize| {
        options.budget.is_none_or(|budget| {
            time_of_eight(options, &participants[..*count], steering) <= budget
        })
    };
    let all = participants.len();
    // A stack is included with all of its CPU budgets or not at all.
    let stack = |place: usize| participants[place].target.on_cpus(None);
    let is_whole = |count: &usize| *count == all || stack(count - 1) != stack(*count);
    let mut counts = (MIN_CHOICE.min(all)..=all).filter(is_whole);
    let least = counts.next().unwrap_or(all);
    let count = match options.heats.heats {
        Some(_) => all,
        None => counts.rfind(fits).unwrap_or(least),
    };
    let names = participants.into_iter().map(|one| one.target);
    let mut names: Vec<TargetId> = names.collect();
    let rest = names.split_off(count);
    (names, rest)
}

/// The minimum time of eight heats of all stacks of a session at each load.
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
            heats: Some(deadheat_model::heats::MIN_HEATS),
            ..options.heats.clone()
        },
        // A budget of zero, so that no time is added to the minimum.
        budget: Some(Duration::ZERO),
        ..options.clone()
    };
    let draft = draft_of(&options, participants, steering);
    draft.estimate.mul_f64(RESERVE)
}

/// A load with the participants that are measured at it.
struct RequestedLoad<'a> {
    workload: &'a SelectedWorkload,
    point: LoadPoint,
    stacks: Vec<&'a Participant>,
}

/// The closed loops of a session.
fn asked<'a>(
    options: &'a SessionOptions,
    participants: &'a [Participant],
) -> Vec<RequestedLoad<'a>> {
    let mut loads = Vec::new();
    for workload in &options.workloads {
        let id = &workload.manifest.id;
        for point in workload.points.iter().filter(|point| point.is_closed()) {
            let takes_part = |one: &&Participant| {
                one.workloads.contains(id)
                    && one.protocols.include(point.protocol)
                    && options.wants(&one.target, id, &point.id)
            };
            let stacks: Vec<_> = participants.iter().filter(takes_part).collect();
            // Workloads that one side does not support are not compared.
            let comparison = options.comparison.as_ref();
            let least = comparison.map_or(1, |all| all.contenders().len());
            if stacks.len() < least {
                continue;
            }
            loads.push(RequestedLoad {
                workload,
                point: point.clone(),
                stacks,
            });
        }
    }
    loads
}

/// How the servers of a load are started for its heats: for each heat, or shared with other loads.
struct SharedStarts {
    /// The number of the group of loads that share starts; `None` if each heat has its own starts.
    shared: Option<u32>,
    /// The number of loads in the group, including this one.
    loads: u32,
}

impl SharedStarts {
    /// Loads share starts if they have the same stacks and seats, and each stack is started in the same way for all of
    /// them. Otherwise, fresh servers would be compared with servers that have served a load before.
    fn new(
        load: &RequestedLoad<'_>,
        all: &[RequestedLoad<'_>],
        options: &SessionOptions,
        inputs: &PlanInputs<'_>,
    ) -> Self {
        let pinning = &inputs.pinning;
        let stacks = |load: &RequestedLoad<'_>| -> Vec<TargetId> {
            let stacks = load.stacks.iter();
            stacks.map(|one| one.target.clone()).collect()
        };
        let seats = |load: &RequestedLoad<'_>| {
            let heat = least(&options.heats, true, Wait::Sleep);
            load.capacity(&heat, inputs).members
        };
        let own = stacks(load);
        let targets = options.targets.iter();
        let targets: Vec<_> = targets.filter(|one| own.contains(&one.target)).collect();
        let is_alike = |other: &RequestedLoad<'_>| {
            let [one, another] = [load, other].map(|load| &load.workload.manifest);
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

    /// The number of the group, if `heats` suffice for each load to be the first of a turn with each kind of control.
    fn shared(&self, heats: u32) -> Option<u32> {
        self.shared.filter(|_| heats >= 2 * self.loads)
    }

    /// The approximate average time of starting a stack for a heat.
    fn bring_up(&self, one: &Participant) -> Duration {
        let fresh = bring_up(one.warm_ups, one.ready);
        let kept = bring_up(one.warm_ups.when_kept(), Some(Duration::ZERO));
        let kept = kept.saturating_mul(self.loads - 1);
        (fresh + kept) / self.loads
    }
}

impl RequestedLoad<'_> {
    fn capacity(&self, heat: &HeatPlan, inputs: &PlanInputs<'_>) -> Capacity {
        Capacity::at(&self.workload.manifest, heat, inputs.limits)
    }

    /// The planned loads: this one and those that are measured in its heats. Also their approximate total time.
    fn planned(
        &self,
        options: &SessionOptions,
        inputs: &PlanInputs<'_>,
        share: Option<Duration>,
        starts: &SharedStarts,
    ) -> (Vec<PlannedLoad>, Duration) {
        let manifest = &self.workload.manifest;
        let wait = wait(options, manifest, &inputs.pinning);
        let heat = least(&options.heats, true, wait);
        let capacity = self.capacity(&heat, inputs);
        let turns = heats_for_all(self.stacks.len(), capacity.members);
        let delay = manifest.oracle.needs_upstream().then_some(DELAY);
        let seats = capacity.seats() as usize;
        // One probe before the load and one after it, each as slow as the upstream.
        let probes = 2 * delay.unwrap_or_default();
        let stacks = self.stacks.iter();
        let rates = &options.heats.rates;
        let stacks: Vec<Duration> = stacks
            .map(|one| starts.bring_up(one) + probes + warm_up_at_rates(one.warm_ups, rates.len()))
            .collect();
        let usual = suited(heat, delay.unwrap_or_default());
        let to_lead_in = self.stacks.iter();
        let to_lead_in: Vec<Duration> = to_lead_in
            .map(|one| more_to_lead_in(usual, one.warm_ups))
            .collect();
        let control = options
            .heats
            .controls
            .then(|| bring_up(WarmUps::of_null_server(options.warm_up), None));
        let cost = HeatCost::new(heat, &stacks, &to_lead_in, seats, control, delay);
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
        let with = |time: Duration| {
            let mut load = PlannedLoad {
                heat: with_time(heat, time),
                ..load.clone()
            };
            let looks = (inputs.looks)(&load, count.heats).into_iter();
            // Interim analyses count heats of each stack, and a stack is not in every heat.
            load.looks = looks.map(|look| look.saturating_mul(turns)).collect();
            let heats = load.planned_heats(options.heats.precision);
            load.shared_starts = starts.shared(heats / turns.max(1));
            (load, cost.heat(time).saturating_mul(heats))
        };
        let times = match (options.heats.precision, options.heats.time) {
            // With longer rounds, fewer heats suffice.
            (Some(_), None) => &ROUND_TIMES[..],
            _ => &[count.time],
        };
        let plans = times.iter().map(|time| with(*time));
        let quickest = plans.min_by_key(|(_, time)| *time);
        let (load, time) = quickest.unwrap_or_else(|| with(count.time));
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

/// The load of servers that are not stacks, if these are compared, with the loads that are measured in its heats.
fn of_servers(
    options: &SessionOptions,
    inputs: &PlanInputs<'_>,
) -> Option<(Vec<PlannedLoad>, Duration)> {
    let sides = options.comparison.as_ref()?.contenders();
    let first = sides.first()?.load()?;
    let (a, b) = (asked_for(first), asked_for(sides.get(1)?.load()?));
    let (freeze, wait) = freezing_and_wait(sides[0], &inputs.pinning);
    let wait = options.wait_elsewhere().unwrap_or(wait);
    let heat = least(&options.heats, freeze, wait);
    let warm_ups = WarmUps::of_unknown().lasting(options.warm_up);
    let bring_up = match sides[0].kind {
        ContenderKind::Url { .. } => warm_up_time(warm_ups.started),
        _ => bring_up(warm_ups, None),
    };
    let rates = &options.heats.rates;
    let bring_up = bring_up + warm_up_at_rates(warm_ups, rates.len());
    let members = sides.len();
    let bring_up = vec![bring_up; members];
    let to_lead_in = vec![more_to_lead_in(heat, warm_ups); members];
    let cost = HeatCost::new(heat, &bring_up, &to_lead_in, members, None, None);
    let work = cost.equal_work(heat, &options.heats, options.budget, 1);
    let cost = cost.with_equal_work(&work, rates.len());
    let count = cost.count(&options.heats, options.budget, 1);
    let (connections, point) = point_of(first);
    let load = PlannedLoad {
        shared_starts: None,
        workload: if a == b { a } else { format!("{a} | {b}") },
        description: String::new(),
        point: LoadPoint::new(point, connections),
        delay_seconds: None,
        targets: sides.iter().map(|one| one.target.clone()).collect(),
        heat: with_time(heat, count.time),
        capacity: sides.len() as u32,
        capacity_reason: None,
        looks: Vec::new(),
    };
    let load = PlannedLoad {
        looks: (inputs.looks)(&load, count.heats),
        ..load
    };
    let time = cost.heat(count.time).saturating_mul(load.most_heats());
    Some((with_rates(load, rates, work), time))
}

/// The connections of a load, and its name: "c50", "5000/s c50", or "c2 × 4 streams of HTTP/2".
fn point_of(load: &LoadSpec) -> (u32, String) {
    let streams = words::streams(load);
    match &load.schedule {
        Schedule::Closed { connections, .. } => (*connections, format!("c{connections}{streams}")),
        Schedule::Open {
            connections,
            stages,
            ..
        } => {
            let rate = stages.first().map_or(0.0, |stage| stage.from);
            (*connections, format!("{rate}/s c{connections}{streams}"))
        }
    }
}

/// The requests of a load in words: the method and path of the first one, and the number of others.
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

/// The plan of a heat with the minimum number of rounds. The final number is chosen later.
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
mod tests;
