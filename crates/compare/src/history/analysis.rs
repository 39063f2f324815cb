//! Several sessions in the order of their time: what changed between them, and a stack's figures over them.

use std::collections::BTreeMap;

use deadheat_model::{
    LoadPoint, TargetId,
    change::{Aspect, Change, between},
    heats::{EndReason, PlannedLoad, SessionHeader, SessionRecord},
    session::{TargetRecord, TargetState},
};
use deadheat_stats::standings::{Absent, Row, Standings, standings};
use schemars::JsonSchema;
use serde::Serialize;

/// Sessions and figures over them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct History {
    /// The sessions, in the order in which they were added.
    pub sessions: Vec<PastSession>,
    /// A series for each stack and load that was asked for, by target, workload and load point.
    pub series: Vec<StackHistory>,
    /// The latest known machine, settings, stacks and loads, for the next session to be compared with.
    #[serde(skip)]
    known: Option<SessionHeader>,
}

/// A session of the past.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct PastSession {
    /// Its id.
    pub id: String,
    /// When it started (RFC 3339, UTC).
    pub started: String,
    /// The commit of the stacks' sources.
    pub commit: Option<String>,
    /// Why the session ended; `None` while it is running, or if it was killed.
    pub end: Option<EndReason>,
    /// Complete heats, of all loads.
    pub heats: usize,
    /// Stacks that could be measured.
    pub stacks: usize,
    /// The loads' names ("plaintext:c50").
    pub loads: Vec<String>,
    /// What is not as it was known from the sessions before; versions and sources of a stack are compared with those
    /// of the last session that had it.
    pub changes: Vec<Change>,
}

/// A stack's figures at a load, over the sessions that were to measure it there.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct StackHistory {
    /// The stack.
    pub target: TargetId,
    /// The workload's id.
    pub workload: String,
    /// The load point, as the last of the sessions had it.
    pub point: LoadPoint,
    /// In the order of the sessions.
    pub points: Vec<SeriesPoint>,
}

/// A stack at a load in one session.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct SeriesPoint {
    /// The session's place in [`History::sessions`].
    pub session: usize,
    /// Its figures there, with their ranks.
    pub row: Option<Row>,
    /// How many stacks it was ranked among, itself included; 0 without figures.
    pub ranked: usize,
    /// Why it has no figures.
    pub absent: Option<Absent>,
    /// Those changes since the series' point before that can be a reason for a change of its figures: the machine's,
    /// the settings', Deadheat's, and those of its stack.
    pub changes: Vec<Change>,
}

impl History {
    /// Adds the next session; figures are kept of each stack and load that is `wanted`.
    pub fn add(
        &mut self,
        record: &SessionRecord,
        wanted: impl Fn(&TargetId, &PlannedLoad) -> bool,
    ) {
        self.add_with(record, &standings(record), wanted);
    }

    /// The same of a session whose standings are known.
    pub fn add_with(
        &mut self,
        record: &SessionRecord,
        found: &Standings,
        wanted: impl Fn(&TargetId, &PlannedLoad) -> bool,
    ) {
        let header = &record.header;
        // A stack that was unavailable or failed has no versions worth comparing.
        let measured = SessionHeader {
            targets: ready(&header.targets).cloned().collect(),
            ..header.clone()
        };
        let changes = match &self.known {
            Some(known) => changes(known, &measured),
            None => Vec::new(),
        };
        let loads = &header.plan.loads;
        self.sessions.push(PastSession {
            id: header.id.clone(),
            started: header.started.clone(),
            commit: header.commit.clone(),
            end: record.end,
            heats: record.complete(),
            stacks: measured.targets.len(),
            loads: loads.iter().map(PlannedLoad::name).collect(),
            changes,
        });
        for (index, load) in loads.iter().enumerate() {
            let targets = header.targets.iter();
            for record in targets.filter(|record| wanted(&record.target, load)) {
                self.add_point(found, index, record);
            }
        }
        self.series.sort_by(|a, b| {
            let key = |one: &StackHistory| {
                (
                    one.target.clone(),
                    one.workload.clone(),
                    one.point.id.clone(),
                )
            };
            key(a).cmp(&key(b))
        });
        self.known = Some(known(self.known.take(), measured));
    }

    /// Adds what the last session says of a stack at a load, if it was to measure that.
    fn add_point(&mut self, found: &Standings, load: usize, record: &TargetRecord) {
        let load = &found.loads[load];
        let target = &record.target;
        let mut tables = load.tables.iter();
        let row = tables.find_map(|table| {
            let row = table.rows.iter().find(|row| row.target == *target)?;
            Some((row.clone(), table.ranking.places.len()))
        });
        // Of a stack that is ready, the session has workloads that no stack answers, which say nothing of this load.
        let of_session = found.absent.iter().filter(|_| !is_ready(record));
        let mut absent = load.lacking.iter().chain(of_session);
        let absent = absent.find(|absent| absent.target == *target).cloned();
        if row.is_none() && absent.is_none() {
            return;
        }
        let known = self.series.iter().position(|series| {
            let is_load = series.workload == load.workload && series.point.id == load.point.id;
            is_load && series.target == *target
        });
        let index = known.unwrap_or_else(|| {
            self.series.push(StackHistory {
                target: target.clone(),
                workload: load.workload.clone(),
                point: load.point.clone(),
                points: Vec::new(),
            });
            self.series.len() - 1
        });
        let series = &mut self.series[index];
        let changes = series.points.last().map_or_else(Vec::new, |last| {
            // Also what changed in sessions without this stack or load.
            let since = &self.sessions[last.session + 1..];
            let changes = since.iter().flat_map(|session| &session.changes);
            changes
                .filter(|one| concerns(one, target))
                .cloned()
                .collect()
        });
        series.point = load.point.clone();
        series.points.push(SeriesPoint {
            session: self.sessions.len() - 1,
            ranked: row.as_ref().map_or(0, |(_, ranked)| *ranked),
            row: row.map(|(row, _)| row),
            absent,
            changes,
        });
    }
}

/// What changed, without the stacks and loads that only one of them asked for.
fn changes(known: &SessionHeader, header: &SessionHeader) -> Vec<Change> {
    let all = between(known, header).into_iter();
    all.filter(|change| change.aspect != Aspect::Selection)
        .collect()
}

/// Whether a change can be a reason for a change of `target`'s figures: that of another stack cannot.
pub(crate) fn concerns(change: &Change, target: &TargetId) -> bool {
    match change.aspect {
        Aspect::Version | Aspect::Sources => change.target.as_ref() == Some(target),
        // A commit says that something changed somewhere; versions and sources say whether it is this stack.
        Aspect::Commit | Aspect::Selection => false,
        Aspect::Machine | Aspect::System | Aspect::Deadheat | Aspect::Settings => {
            change.target.as_ref().is_none_or(|one| one == target)
        }
    }
}

/// Updates `before` with `header`; stacks and loads that `header` lacks are kept from `before`.
fn known(before: Option<SessionHeader>, mut header: SessionHeader) -> SessionHeader {
    let Some(before) = before else { return header };
    let targets = before.targets.into_iter().chain(header.targets);
    let latest: BTreeMap<TargetId, TargetRecord> =
        targets.map(|one| (one.target.clone(), one)).collect();
    header.targets = latest.into_values().collect();
    let loads = before.plan.loads.into_iter().chain(header.plan.loads);
    let latest: BTreeMap<String, PlannedLoad> = loads.map(|one| (one.name(), one)).collect();
    header.plan.loads = latest.into_values().collect();
    header
}

fn ready(targets: &[TargetRecord]) -> impl Iterator<Item = &TargetRecord> {
    targets.iter().filter(|record| is_ready(record))
}

fn is_ready(record: &TargetRecord) -> bool {
    matches!(record.state, TargetState::Ready { .. })
}
