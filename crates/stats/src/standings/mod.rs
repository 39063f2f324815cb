//! From the record of a session of heats to what it says: [`standings`].
//!
//! | what | module |
//! | --- | --- |
//! | which heats count, and the numbers of members | [`at`] |
//! | rankings and the rest of a load | `load` |
//! | a stack's row | `row` |
//! | how stacks start | `starts` |
//! | what an earlier load of a process changes | `earlier_load` |
//! | a stack beside itself | `twin` |
//! | what stacks gain from more CPUs | `scaling` |
//! | published tables beside what was measured | `published` |
//! | what may change a decision | `warnings` |
//! | where the time went | `time` |

mod at;
mod earlier_load;
mod load;
mod published;
mod row;
pub(crate) mod scaling;
mod starts;
mod time;
pub(crate) mod twin;
mod types;
mod warnings;

use deadheat_model::{
    figure::figure,
    heats::{Plan, SessionRecord},
    session::{TargetRecord, TargetState},
};

pub use at::LoadAt;
pub use earlier_load::after_another_load;
pub use types::{
    Absent, AbsentBecause, Agreement, AtBudget, Behind, Bound, Figure, Gain, HeatFigure,
    LoadStandings, Measure, MeasuredRatio, MeasuredSide, Memory, Row, RowSides, Scaling, Standings,
    StartAtLoad, StartFigure, StartRow, StartTable, Table, TableSides, TimeSpent, Twin,
};

use crate::heats::Settings;

/// A stack that failed in so many heats of a load gets no more of them there, and no rank: what is left are the heats in
/// which it had luck. One failure may be the machine's doing.
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
        time: time::spent(record),
        published: published::tables(record, &loads, &absent),
        absent,
        end: record.end,
        settings,
        loads,
    }
}

/// What each load is called in a sentence: its workload, with the load point if the workload has several or speaks another
/// protocol than HTTP/1.1 without TLS, and the rate of equal work.
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

/// A stack that could not be measured at all, or a workload of one that is measured at no load because nobody answers it.
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
