//! From the record of a session of heats to what it says: [`standings`].
//!
//! | what | module |
//! | --- | --- |
//! | which heats count, and the numbers of members | [`at`] |
//! | rankings and the rest of a load | `load` |
//! | a stack's row | `row` |
//! | a stack beside itself | `twin` |
//! | published tables beside what was measured | [`published`] |
//! | pauses that slices leave out | `pauses` |
//! | what is in doubt | `doubts` |
//! | where the time went | `time` |

mod at;
mod doubts;
mod load;
mod pauses;
pub mod published;
mod row;
mod time;
mod twin;
mod types;

use deadheat_model::{
    heats::SessionRecord,
    session::{TargetRecord, TargetState},
};

pub use at::LoadAt;
pub use types::{
    Absent, AbsentBecause, Behind, Doubt, Figure, LoadStandings, Measure, Memory, Row, Standings,
    Table, TimeSpent, Twin,
};

use crate::heats::Settings;

/// A stack that failed in so many heats of a load gets no more of them there, and no rank: what is left are the heats in
/// which it had luck. One failure may be the machine's doing.
pub const FAILURES: usize = 2;

/// What a session of heats says. Every number of it can be computed again from the record alone.
pub fn standings(record: &SessionRecord) -> Standings {
    let plan = &record.header.plan;
    let settings = settings(record);
    let loads: Vec<LoadStandings> = (0..plan.loads.len())
        .map(|load| load::standings(&LoadAt::new(record, load, settings)))
        .collect();
    let targets = record.header.targets.iter();
    let absent: Vec<Absent> = targets.filter_map(absent).collect();
    Standings {
        doubts: doubts::of(record, &loads),
        time: time::spent(record),
        published: published::tables(record, &loads, &absent),
        absent,
        end: record.end,
        settings,
        loads,
    }
}

/// The thresholds of a session: the usual ones, but for what its plan says.
pub fn settings(record: &SessionRecord) -> Settings {
    let plan = &record.header.plan;
    Settings {
        alpha: plan.alpha,
        margin: plan.margin,
        ..Settings::default()
    }
}

/// A stack that could not be measured at all.
fn absent(record: &TargetRecord) -> Option<Absent> {
    let absent = |is, reason: String, remedy| {
        Some(Absent {
            target: record.target.clone(),
            is,
            reason,
            remedy,
        })
    };
    match &record.state {
        TargetState::Ready { .. } => None,
        TargetState::Unavailable { reason, remedy } => absent(
            AbsentBecause::Unavailable,
            reason.clone(),
            Some(remedy.clone()),
        ),
        TargetState::Failed(failure) => absent(AbsentBecause::Failed, failure.in_words(), None),
    }
}
