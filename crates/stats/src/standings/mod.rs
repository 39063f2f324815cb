//! From the record of a session of heats to what it says: [`standings`].
//!
//! | what | module |
//! | --- | --- |
//! | which heats count, and the numbers of members | [`at`] |
//! | a load: rankings, a row for each stack, a stack next to itself | `load` |
//! | how stacks start | `starts` |
//! | what stacks gain from more CPUs | `scaling` |
//! | published tables compared with what was measured | `published` |
//! | what may change a decision | `warnings` |
//! | where the time went, and what an earlier load of a process changes | here |

mod at;
mod load;
mod published;
pub(crate) mod scaling;
mod starts;
mod types;
mod warnings;

use std::collections::BTreeMap;

use deadheat_model::{
    HeatRecord, TargetId,
    figure::figure,
    heat::{Role, SliceRecord},
    heats::{Plan, SessionRecord},
    session::{TargetRecord, TargetState},
};
use schemars::JsonSchema;
use serde::Serialize;

pub(crate) use self::load::twin;
pub use self::{
    at::LoadAt,
    types::{
        Absent, AbsentBecause, Agreement, AtBudget, Behind, Bound, Figure, Gain, HeatFigure,
        LoadStandings, Measure, MeasuredRatio, MeasuredSide, Memory, Row, RowSides, Scaling,
        Standings, StartAtLoad, StartFigure, StartRow, StartTable, Table, TableSides, Twin,
    },
};
use crate::{
    heats::{Quantity, Settings, recorded},
    interval::{self, Difference, median},
};

/// A stack that failed in this many heats of a load gets no more of them there, and no rank: what is left are the heats
/// in which it had luck. One failure may be the machine's doing.
pub const FAILURES: usize = 2;

/// What a session of heats says. Every number of it can be computed again from the record alone.
pub fn standings(record: &SessionRecord) -> Standings {
    let plan = &record.header.plan;
    let settings = settings(&record.header.plan);
    let loads: Vec<LoadStandings> = (0..plan.loads.len())
        .map(|load| load::standings(&LoadAt::new(record, load, settings)))
        .collect();
    let targets = record.header.targets.iter();
    let absent: Vec<Absent> = targets.flat_map(|one| absent(plan, one)).collect();
    Standings {
        warnings: warnings::find(record, &loads),
        starts: starts::tables(record, &settings),
        time: spent(record),
        published: published::tables(record, &loads, &absent),
        absent,
        end: record.end,
        settings,
        loads,
    }
}

/// What each load is called in a sentence: its workload, with the load point if the workload has several or speaks
/// another protocol than HTTP/1.1 without TLS, and the rate of equal work.
pub fn short_names(loads: &[LoadStandings]) -> Vec<String> {
    let short = |load: &LoadStandings| {
        let closed = load.point.open.as_ref().map(|open| &open.capacity_of);
        let mut same = loads
            .iter()
            .filter(|one| one.workload == load.workload && one.leads());
        let name = match (same.by_ref().count(), closed) {
            (0 | 1, _) if load.point.protocol.is_usual() => load.workload.clone(),
            (_, None) => load.name(),
            (_, Some(closed)) => format!("{}:{closed}", load.workload),
        };
        match (closed, load.offered_per_second) {
            (None, _) => name,
            (Some(_), None) => format!("{name} at the same rate for all"),
            (Some(_), Some(rate)) => format!("{name} at {}/s", figure(rate)),
        }
    };
    loads.iter().map(short).collect()
}

/// The thresholds of a session: the usual ones, but for what its plan says.
pub fn settings(plan: &Plan) -> Settings {
    Settings {
        alpha: plan.alpha,
        margin: plan.margin,
        least_heats: plan.least_heats,
        ..Settings::default()
    }
}

/// A stack that could not be measured at all, or a workload of one that is measured at no load because nobody answers
/// it.
fn absent(plan: &Plan, record: &TargetRecord) -> Vec<Absent> {
    match &record.state {
        TargetState::Ready { .. } => {
            let planned = |id: &str| plan.loads.iter().any(|load| load.workload == id);
            let failed = record.failed_workloads.iter();
            let failed = failed.filter(|one| !planned(&one.workload));
            let absent = failed.map(|one| Absent {
                reason: format!("{}: {}", one.workload, one.failure.in_words()),
                ..Absent::failed(&record.target, &one.failure)
            });
            absent.collect()
        }
        TargetState::Unavailable { reason, remedy } => vec![Absent {
            target: record.target.clone(),
            is: AbsentBecause::Unavailable,
            reason: reason.clone(),
            remedy: Some(remedy.clone()),
            log: Vec::new(),
        }],
        TargetState::Failed(failure) => vec![Absent::failed(&record.target, failure)],
    }
}

/// Where the time of the session went, in seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct TimeSpent {
    /// All heats, from the first start to the last stop.
    pub heats_seconds: f64,
    /// The parts of slices after their guards, also of controls and of slices that were discarded.
    pub counted_seconds: f64,
    /// Guards, drains, freezing and thawing between them.
    pub between_seconds: f64,
    /// Warm-ups.
    pub warm_up_seconds: f64,
    /// The rest: starting, checking and stopping servers, and rounds that lead in.
    pub starting_seconds: f64,
}

impl TimeSpent {
    /// The share of the time in heats that was counted measurement (0 to 1); `None` before the first heat.
    pub fn counted_share(&self) -> Option<f64> {
        (self.heats_seconds > 0.0).then(|| self.counted_seconds / self.heats_seconds)
    }
}

/// The time of all heats of a session, interrupted ones among them.
fn spent(record: &SessionRecord) -> TimeSpent {
    let mut all = TimeSpent::default();
    for heat in record.heats.iter().map(|one| &one.heat) {
        let own = of_heat(heat);
        all.heats_seconds += own.heats_seconds;
        all.counted_seconds += own.counted_seconds;
        all.between_seconds += own.between_seconds;
        all.warm_up_seconds += own.warm_up_seconds;
        all.starting_seconds += own.starting_seconds;
    }
    all
}

fn of_heat(heat: &HeatRecord) -> TimeSpent {
    let wall = heat.wall.as_secs_f64();
    let slices = || heat.rounds.iter().flatten();
    let counted: f64 = slices().map(|slice| slice.window.as_secs_f64()).sum();
    let between = |slice: &SliceRecord| {
        let around = slice.guard + slice.drained + slice.frozen.thaw + slice.frozen.freeze;
        around.as_secs_f64()
    };
    let between: f64 = slices().map(between).sum();
    let warm_ups = heat.members.iter().filter_map(|member| member.warm_up);
    let warm_up: f64 = warm_ups.map(|one| one.took.as_secs_f64()).sum();
    TimeSpent {
        heats_seconds: wall,
        counted_seconds: counted,
        between_seconds: between,
        warm_up_seconds: warm_up,
        starting_seconds: (wall - counted - between - warm_up).max(0.0),
    }
}

/// The throughput of each stack of a closed loop as a multiple of the null server's, with the interval of the ratio
/// alone, at 1 − α. The null server is the same program in all sessions, so these ratios can be drawn over time: a
/// slower machine slows both. That the generator was its limit takes nothing from that.
pub fn relative_to_null_server(
    record: &SessionRecord,
    load: usize,
) -> BTreeMap<TargetId, NullServerRatio> {
    let at = LoadAt::new(record, load, settings(&record.header.plan));
    if at.measure() != Measure::Throughput {
        return BTreeMap::new();
    }
    let fit = at.fit(&at.heat_series(), Quantity::Throughput);
    let stacks = at.load.targets.iter().enumerate();
    let ratio = |(number, target): (usize, &TargetId)| {
        let contrast = fit.contrast(number, at.load.ceiling())?;
        let half = contrast.half_width(at.settings.alpha);
        let ratio = NullServerRatio {
            ratio: contrast.difference.exp(),
            low: (contrast.difference - half).exp(),
            high: (contrast.difference + half).exp(),
        };
        Some((target.clone(), ratio))
    };
    stacks.filter_map(ratio).collect()
}

/// A stack's throughput as a multiple of the null server's, with the ends of its interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NullServerRatio {
    /// The ratio.
    pub ratio: f64,
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

/// How the figures of a stack's processes that had served another load differ from those of its fresh ones: differences
/// of logarithms, by the stack. From each figure its stack's mean over all heats is taken, and then the heat's median,
/// so that one stack that changes does not look like a change of the others. Without two heats of both kinds a stack is
/// not there, nor one that was alone.
pub fn after_another_load(
    record: &SessionRecord,
    load: usize,
    quantity: Quantity,
) -> BTreeMap<TargetId, Difference> {
    let heats = record.complete_heats(load);
    let heats: Vec<Vec<Process<'_>>> = heats.map(|heat| processes(heat, quantity)).collect();
    let mut stacks: BTreeMap<&TargetId, Vec<f64>> = BTreeMap::new();
    for one in heats.iter().flatten() {
        stacks.entry(one.target).or_default().push(one.figure);
    }
    let mean = |target: &TargetId| {
        let own = &stacks[target];
        own.iter().sum::<f64>() / own.len() as f64
    };
    // Fresh, then used.
    let mut kinds: BTreeMap<&TargetId, [Vec<f64>; 2]> = BTreeMap::new();
    for heat in heats.iter().filter(|heat| heat.len() > 1) {
        let rest = |one: &Process<'_>| one.figure - mean(one.target);
        let of_heat = median(heat.iter().map(rest)).unwrap_or_default();
        for one in heat {
            let kinds = kinds.entry(one.target).or_default();
            kinds[usize::from(!one.is_fresh)].push(rest(one) - of_heat);
        }
    }
    let differences = kinds.into_iter();
    differences
        .filter_map(|(target, [fresh, used])| {
            Some((target.clone(), interval::difference(&fresh, &used)?))
        })
        .collect()
}

/// A stack's process in a heat.
struct Process<'a> {
    target: &'a TargetId,
    is_fresh: bool,
    /// The logarithm of its figure.
    figure: f64,
}

fn processes(heat: &HeatRecord, quantity: Quantity) -> Vec<Process<'_>> {
    let figures = recorded::figures(heat, quantity);
    let stacks = heat.members.iter().zip(figures);
    let stacks = stacks.filter(|(member, _)| member.role == Role::Member);
    stacks
        .filter_map(|(member, figure)| {
            Some(Process {
                target: &member.target,
                is_fresh: member.loads_before == 0,
                figure: figure.filter(|one| *one > 0.0)?.ln(),
            })
        })
        .collect()
}
