//! Several sessions in the order of their time: what changed between them, and a stack's figures over them.

use std::collections::BTreeMap;

use deadheat_model::{
    Cell, LoadPoint, SessionHeader, SessionRecord, TargetId,
    change::{Aspect, Change, between},
    plan::PlannedWorkload,
    session::{EndReason, TargetRecord, TargetState},
};
use serde::Serialize;

use crate::{
    analyse,
    analysis::Analysis,
    cell::{CellAnalysis, PercentileEstimate},
    order_statistic::MedianInterval,
    verdict::CellVerdict,
};

/// Sessions and figures over them.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct History {
    /// The sessions, in the order in which they were added.
    pub sessions: Vec<PastSession>,
    /// A series for each cell that was asked for, by target, workload and load point.
    pub series: Vec<Series>,
    /// What was last known of each circumstance.
    #[serde(skip)]
    known: Option<SessionHeader>,
}

/// A session of the past.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PastSession {
    /// Its id.
    pub id: String,
    /// When it started (RFC 3339, UTC).
    pub started: String,
    /// The commit of the stacks' sources.
    pub commit: Option<String>,
    /// Why it ended; `None`: it was killed.
    pub end: Option<EndReason>,
    /// Complete blocks.
    pub blocks_complete: usize,
    /// Planned blocks.
    pub blocks_planned: u32,
    /// There are too few complete blocks for more than an indication.
    pub indicative: bool,
    /// Trials that were recorded, whether they count or not.
    pub trials: usize,
    /// Stacks that could be measured.
    pub stacks: usize,
    /// The workloads' ids.
    pub workloads: Vec<String>,
    /// What is not as it was known from the sessions before; versions and sources of a stack are compared with those
    /// of the last session that had it.
    pub changes: Vec<Change>,
}

/// A cell's figures over the sessions that planned it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Series {
    /// The cell.
    #[serde(flatten)]
    pub cell: Cell,
    /// The load point, as the last of the sessions had it.
    pub load: LoadPoint,
    /// In the order of the sessions.
    pub points: Vec<SeriesPoint>,
}

/// A cell in one session.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SeriesPoint {
    /// The session's place in [`History::sessions`].
    pub session: usize,
    /// What the cell was worth there.
    pub verdict: CellVerdict,
    /// Its rank there.
    pub rank: Option<u32>,
    /// Trials that counted.
    pub trials: usize,
    /// Verified answers per second.
    pub throughput_per_second: Option<MedianInterval>,
    /// CPU time of the process tree per verified answer, in microseconds.
    pub cpu_us_per_request: Option<MedianInterval>,
    /// Mean PSS of the tree in bytes.
    pub pss_mean_bytes: Option<MedianInterval>,
    /// Service times, in seconds.
    pub service_time: Vec<PercentileEstimate>,
    /// Those changes since the series' point before that can be a reason for a change of its figures: the machine's,
    /// the settings', Deadheat's, and those of its stack.
    pub changes: Vec<Change>,
}

impl History {
    /// Adds the next session; figures are kept of the cells that are `wanted`.
    pub fn add(&mut self, record: &SessionRecord, wanted: impl Fn(&Cell) -> bool) {
        let header = &record.header;
        // A stack that is unavailable has no versions worth comparing.
        let measured = SessionHeader {
            targets: ready(&header.targets).cloned().collect(),
            ..header.clone()
        };
        let changes = match &self.known {
            Some(known) => changes(known, &measured),
            None => Vec::new(),
        };
        let analysis = analyse(record);
        let session = self.sessions.len();
        self.sessions.push(PastSession {
            id: header.id.clone(),
            started: header.started.clone(),
            commit: header.commit.clone(),
            end: record.end,
            blocks_complete: analysis.blocks.complete.len(),
            blocks_planned: analysis.blocks.planned,
            indicative: analysis.blocks.indicative,
            trials: record.trials.len(),
            stacks: measured.targets.len(),
            workloads: ids(&header.plan.workloads),
            changes,
        });
        for cell in header.plan.cells.iter().filter(|cell| wanted(cell)) {
            self.add_point(session, &analysis, cell);
        }
        self.known = Some(known(self.known.take(), measured));
    }

    fn add_point(&mut self, session: usize, analysis: &Analysis, cell: &Cell) {
        let mut groups = analysis.groups.iter();
        let group =
            groups.find(|group| group.workload == cell.workload && group.point.id == cell.point);
        // The controls have no cell in a group.
        let found = group.and_then(|group| {
            let mut cells = group.cells.iter();
            Some((cells.find(|found| found.target == cell.target)?, group))
        });
        let Some((found, group)) = found else { return };
        let known = self.series.iter().position(|series| series.cell == *cell);
        let index = known.unwrap_or_else(|| {
            self.series.push(Series {
                cell: cell.clone(),
                load: group.point.clone(),
                points: Vec::new(),
            });
            self.series.len() - 1
        });
        let series = &mut self.series[index];
        let changes = series.points.last().map_or_else(Vec::new, |last| {
            // Also what changed in sessions without this cell.
            let since = &self.sessions[last.session + 1..];
            let changes = since.iter().flat_map(|session| &session.changes);
            changes
                .filter(|one| concerns(one, &cell.target))
                .cloned()
                .collect()
        });
        series.load = group.point.clone();
        series.points.push(point(session, found, changes));
        self.series.sort_by(|a, b| a.cell.cmp(&b.cell));
    }
}

fn point(session: usize, cell: &CellAnalysis, changes: Vec<Change>) -> SeriesPoint {
    let estimates = cell.estimates.as_ref();
    SeriesPoint {
        session,
        verdict: cell.verdict.clone(),
        rank: cell.rank,
        trials: cell.trials.len(),
        throughput_per_second: estimates.map(|found| found.throughput_per_second),
        cpu_us_per_request: estimates.and_then(|found| found.cpu_us_per_request),
        pss_mean_bytes: estimates.and_then(|found| found.pss_mean_bytes),
        service_time: estimates.map_or_else(Vec::new, |found| found.service_time.clone()),
        changes,
    }
}

/// What changed, without what this session merely did not ask for.
fn changes(known: &SessionHeader, header: &SessionHeader) -> Vec<Change> {
    let all = between(known, header).into_iter();
    all.filter(|change| change.aspect != Aspect::Selection)
        .collect()
}

/// Whether a change can be a reason for a change of `target`'s figures: that of another stack cannot.
fn concerns(change: &Change, target: &TargetId) -> bool {
    match change.aspect {
        Aspect::Version | Aspect::Sources => change.what.starts_with(&format!("{target}: ")),
        // A commit says that something changed somewhere; versions and sources say whether it is this stack.
        Aspect::Commit | Aspect::Selection => false,
        Aspect::Machine | Aspect::Deadheat | Aspect::Settings => true,
    }
}

/// What is known after `header`: its own circumstances, and of stacks and workloads that it lacks those of before.
fn known(before: Option<SessionHeader>, mut header: SessionHeader) -> SessionHeader {
    let Some(before) = before else { return header };
    let targets = before.targets.into_iter().chain(header.targets);
    let latest: BTreeMap<TargetId, TargetRecord> =
        targets.map(|one| (one.target.clone(), one)).collect();
    header.targets = latest.into_values().collect();
    let workloads = before.plan.workloads.into_iter();
    let workloads = workloads.chain(header.plan.workloads);
    let latest: BTreeMap<String, PlannedWorkload> =
        workloads.map(|one| (one.id.clone(), one)).collect();
    header.plan.workloads = latest.into_values().collect();
    header
}

fn ready(targets: &[TargetRecord]) -> impl Iterator<Item = &TargetRecord> {
    let targets = targets.iter();
    targets.filter(|target| matches!(target.state, TargetState::Ready { .. }))
}

fn ids(workloads: &[PlannedWorkload]) -> Vec<String> {
    workloads.iter().map(|one| one.id.clone()).collect()
}
