//! What a comparison will do, and how long that takes: pure functions.

use std::time::Duration;

use deadheat_model::{
    LoadSpec, Schedule, Wait,
    comparison::{ComparedPoint, ComparisonPlan, Contender, ContenderKind},
    heat::{HeatPlan, Rounds, WarmUpRule},
    plan::Pinning,
};

use super::{ComparisonOptions, Contenders, HeatTimes};
use crate::{
    heat::{rule, rule_for_unknown},
    manifest::SelectedWorkload,
    secret::without_secret_values,
    session::{
        SelectedTarget, SessionOptions,
        members::{MEMORY_EVERY, starting_time, wait, warm_up_rule, warm_up_time},
        share_out,
    },
};

/// The plan of a comparison, and the loads at which both sides are compared as far as their manifests say.
pub fn plan(options: &ComparisonOptions) -> (ComparisonPlan, Vec<ComparedPoint>) {
    let heats = options.looks.last().copied().unwrap_or(0);
    let pinning = share_out(options.pinning);
    let points = points(&options.contenders, &options.heat, &pinning);
    let plan = ComparisonPlan {
        seed: options.seed,
        heats,
        looks: options.looks.clone(),
        alpha: options.alpha,
        pinning,
        budget_seconds: options.budget.map(|budget| budget.as_secs_f64()),
        estimate: heat_time(options) * heats * points.len() as u32,
    };
    (plan, points)
}

/// About the time of one heat, where answers are fast.
pub fn heat_time(options: &ComparisonOptions) -> Duration {
    let started = match &options.contenders {
        Contenders::Servers(sides) => matches!(sides[0].kind, ContenderKind::Command { .. }),
        Contenders::Stacks(_) => true,
    };
    let start = if started {
        starting_time(None)
    } else {
        Duration::ZERO
    };
    let member = |rule: WarmUpRule| start + warm_up_time(rule);
    let members: Duration = match &options.contenders {
        Contenders::Servers(_) => 2 * member(options.warm_up_of(None)),
        Contenders::Stacks(session) => {
            let targets = session.targets.iter();
            targets
                .map(|target| member(options.warm_up_of(Some(target))))
                .sum()
        }
    };
    options.heat.time + members
}

/// The loads at which both sides are compared.
fn points(contenders: &Contenders, times: &HeatTimes, pinning: &Pinning) -> Vec<ComparedPoint> {
    match contenders {
        Contenders::Servers(sides) => vec![of_servers(sides, times, pinning)],
        Contenders::Stacks(session) => {
            let workloads = session.workloads.iter();
            let common = workloads.filter(|workload| common(session, workload));
            common
                .flat_map(|workload| of_workload(workload, times, pinning))
                .collect()
        }
    }
}

/// Whether both stacks answer a workload, as far as their manifests say.
fn common(session: &SessionOptions, workload: &SelectedWorkload) -> bool {
    let mut targets = session.targets.iter();
    targets.all(|target| session.asks(target, workload))
}

fn of_workload<'a>(
    workload: &'a SelectedWorkload,
    times: &'a HeatTimes,
    pinning: &'a Pinning,
) -> impl Iterator<Item = ComparedPoint> + 'a {
    let wait = wait(&workload.manifest, pinning);
    workload.points.iter().map(move |point| ComparedPoint {
        workload: workload.manifest.id.clone(),
        point: point.id.clone(),
        load: Some(Box::new(point.clone())),
        heat: times.plan(true, wait),
    })
}

fn of_servers(sides: &[Contender; 2], times: &HeatTimes, pinning: &Pinning) -> ComparedPoint {
    let loads = sides.each_ref().map(|side| side.kind.load());
    let asked = loads.map(|load| load.map_or(String::new(), asked));
    let [a, b] = &asked;
    let connections = loads[0].map_or(0, |load| match load.schedule {
        Schedule::Closed { connections, .. } | Schedule::Open { connections, .. } => connections,
    });
    let (freeze, wait) = match (&sides[0].kind, pinning) {
        (ContenderKind::Url { load }, _) => (false, load.wait),
        (_, Pinning::Apart { .. }) => (true, Wait::Poll),
        _ => (true, Wait::Sleep),
    };
    ComparedPoint {
        workload: match a == b {
            true => a.clone(),
            false => format!("{a} | {b}"),
        },
        point: format!("c{connections}"),
        load: None,
        heat: times.plan(freeze, wait),
    }
}

/// What a load asks for: its method and path.
fn asked(load: &LoadSpec) -> String {
    let first = load.exchanges.first().map(|exchange| &exchange.request);
    first.map_or(String::new(), |request| {
        format!(
            "{} {}",
            request.method,
            without_secret_values(&request.path)
        )
    })
}

impl HeatTimes {
    /// The plan of heats with these times.
    pub(in crate::session) fn plan(&self, freeze: bool, wait: Wait) -> HeatPlan {
        HeatPlan {
            slice: self.slice,
            guard: self.guard,
            rounds: Rounds::Time { time: self.time },
            freeze,
            wait,
            memory_every: MEMORY_EVERY,
        }
    }
}

impl ComparisonOptions {
    /// How a stack is warmed up; `None`: a server that is no stack.
    pub(super) fn warm_up_of(&self, target: Option<&SelectedTarget>) -> WarmUpRule {
        match (self.warm_up, target) {
            (asked, Some(target)) => warm_up_rule(asked, target),
            (Some(asked), None) => rule(asked, asked),
            (None, None) => rule_for_unknown(),
        }
    }
}
