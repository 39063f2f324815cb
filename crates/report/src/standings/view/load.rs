//! A load: its sentence and its tables.

use deadheat_model::{
    LoadPoint,
    heats::{PlannedLoad, SessionHeader},
};
use deadheat_stats::{
    heats::{Alone, Group, Ranking, Remedy, Verdict},
    order_statistic::Interval,
    standings::{AbsentBecause, HeatFigure, LoadStandings, Measure, Standings, Table},
};
use serde::Serialize;

use super::{
    absent::{self, LackView},
    answer,
    names::{name, shorts},
    row::{self, RowView},
};
use crate::{
    standings::words,
    view::{self, clean},
};

/// A workload at a load point.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LoadView {
    /// Workload and load point in one word ("plaintext:c50").
    pub name: String,
    /// As short as the session allows: the workload alone if it has one load point here.
    pub short: String,
    /// Both in words ("plaintext, 50 connections").
    pub title: String,
    /// The workload's id.
    pub workload: String,
    /// The load point's id.
    pub point: String,
    /// What the workload exercises.
    pub description: String,
    /// Connections of the closed loop; of an open one the most that it holds.
    pub connections: u32,
    /// Whether requests follow a schedule.
    pub is_open: bool,
    /// What its stacks are ranked by.
    pub measure: Measure,
    /// Whether they are ranked. Not where each has a rate of its own.
    pub is_ranked: bool,
    /// What came of it: the parts of a sentence of at most 25 words, the most important one first.
    pub clauses: Vec<String>,
    /// Complete heats.
    pub heats: u32,
    /// The heats behind the verdicts; `None`: there are too few for any verdict.
    pub look_heats: Option<u32>,
    /// Whether more heats would decide nothing more.
    pub settled: bool,
    /// A table for each CPU budget, the largest first, then one of yardsticks.
    pub tables: Vec<TableView>,
    /// Stacks that have no place in any of them.
    pub lacking: Vec<LackView>,
    /// What the null server answered per second: the most that this generator can load on this machine.
    pub ceiling_per_second: Option<f64>,
    /// What the null server answered in each of its heats.
    pub ceiling_course: Vec<HeatFigure>,
    /// A stack beside itself (A/A).
    pub twin: Option<TwinView>,
}

/// Stacks of one CPU budget, or yardsticks.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TableView {
    /// Who they are.
    pub group: Group,
    /// Its name beside other tables of the load ("2 CPUs"); `None` if there is no other with ranks.
    pub title: Option<String>,
    /// The stacks, the best estimate first.
    pub rows: Vec<RowView>,
    /// The largest [`main`](RowView::main), for bars that begin at 0.
    pub most: f64,
    /// The typical half width of the interval of a ratio (0.03: ±3 %).
    pub half_width: Option<f64>,
    /// All pairs by what the table is ranked by.
    pub pairs: Vec<PairView>,
    /// All pairs by CPU time per request.
    pub cost_pairs: Vec<PairView>,
}

/// Two stacks of a table.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PairView {
    /// The place of the better estimate in [`TableView::rows`].
    pub better: usize,
    /// The other's.
    pub worse: usize,
    /// How many times better it is, 1 or more; `None` if they cannot be compared.
    pub ratio: Option<f64>,
    /// The interval of the ratio, which holds together with those of all pairs. An end that a lower bound leaves open is 0
    /// or ∞.
    pub interval: Option<Interval>,
    /// How the better one stands to the other, together with all pairs.
    pub verdict: Verdict,
    /// What could decide it, if it is undecided.
    pub remedy: Option<Remedy>,
    /// The interval and the verdict for a reader who has picked this pair beforehand.
    pub alone: Option<Alone>,
}

/// A stack beside itself.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TwinView {
    /// The stacks that had a twin.
    pub of: Vec<String>,
    /// Heats with a twin.
    pub heats: u32,
    /// How many times the twin's figure was that of its original.
    pub ratio: f64,
    /// The 95 % interval of it; `None` with too few heats.
    pub interval: Option<Interval>,
    /// How the twin stands to its original.
    pub verdict: Verdict,
}

impl LoadView {
    /// All rows of all tables.
    pub fn rows(&self) -> impl Iterator<Item = &RowView> {
        self.tables.iter().flat_map(|table| &table.rows)
    }

    /// What came of it, without the load's name and a full stop.
    pub fn outcome(&self) -> String {
        self.clauses.join("; ")
    }

    /// The same after the load's name: with the CPU budget, if there are several.
    pub fn says(&self) -> String {
        let budget = self.tables.first().and_then(|table| table.title.as_ref());
        let budget = budget.map_or(String::new(), |title| format!(", {title}"));
        format!("{budget}: {}", self.outcome())
    }

    /// The whole sentence, without a full stop.
    pub fn answer(&self) -> String {
        format!("{}{}", self.short, self.says())
    }
}

/// The loads, in the order of the plan.
pub(super) fn loads(header: &SessionHeader, standings: &Standings) -> Vec<LoadView> {
    let shorts = shorts(standings);
    let loads = standings.loads.iter().zip(shorts);
    let failed = standings.absent.iter();
    let failed = failed.filter(|one| one.is == AbsentBecause::Failed).count();
    loads
        .map(|(load, short)| of_load(header, load, short, failed))
        .collect()
}

fn of_load(
    header: &SessionHeader,
    load: &LoadStandings,
    short: String,
    failed_everywhere: usize,
) -> LoadView {
    let ranked = load.tables.iter().filter(|table| !table.group.yardsticks);
    let many = ranked.count() > 1;
    let mut tables: Vec<TableView> = load
        .tables
        .iter()
        .map(|table| of_table(header, load, table, many))
        .collect();
    beside_the_best(&mut tables, load.measure);
    let mut view = LoadView {
        name: clean(&load.name()),
        short,
        title: view::title(&load.workload, &load.point),
        workload: clean(&load.workload),
        point: clean(&load.point.id),
        description: clean(&load.description),
        connections: load.point.connections,
        is_open: is_open(&load.point),
        measure: load.measure,
        is_ranked: load.is_ranked,
        clauses: Vec::new(),
        heats: load.heats,
        look_heats: load.look.map(|look| look.heats),
        settled: load.settled,
        tables,
        lacking: load.lacking.iter().map(absent::lack).collect(),
        ceiling_per_second: load.ceiling_per_second,
        ceiling_course: load.ceiling_course.clone(),
        twin: load.twin.as_ref().map(|twin| TwinView {
            of: twin.of.iter().map(name).collect(),
            heats: twin.heats,
            ratio: twin.ratio,
            interval: twin.interval,
            verdict: twin.verdict,
        }),
    };
    view.clauses = answer::clauses(&view, failed_everywhere);
    view
}

fn is_open(point: &LoadPoint) -> bool {
    point.open.is_some()
}

fn of_table(header: &SessionHeader, load: &LoadStandings, table: &Table, many: bool) -> TableView {
    let rows = row::rows(&header.targets, load, table);
    let figures = rows.iter().filter_map(|row| row.main);
    TableView {
        group: table.group,
        title: if table.group.yardsticks {
            Some(words::YARDSTICKS.to_owned())
        } else {
            many.then(|| crate::figure::counted(table.group.cpus as usize, "CPU"))
        },
        most: figures.map(|main| main.value).fold(0.0, f64::max),
        half_width: table.half_width,
        pairs: pairs(table, &table.ranking),
        cost_pairs: pairs(table, &table.cost),
        rows,
    }
}

/// Sets yardsticks in relation to the best stack, which they may exceed, with bars of one scale.
fn beside_the_best(tables: &mut [TableView], measure: Measure) {
    let best = tables.first().and_then(|table| table.rows.first()?.main);
    let has_yardsticks = tables.iter().any(|table| table.group.yardsticks);
    let Some(best) = best.filter(|_| has_yardsticks) else {
        return;
    };
    let most = tables.iter().map(|table| table.most).fold(0.0, f64::max);
    for table in tables {
        table.most = most;
        if !table.group.yardsticks {
            continue;
        }
        for row in &mut table.rows {
            row.share_of_best = row.main.map(|main| match measure {
                Measure::Throughput => main.value / best.value,
                Measure::ResponseTime => best.value / main.value,
            });
        }
    }
}

fn pairs(table: &Table, ranking: &Ranking) -> Vec<PairView> {
    let place = |member: usize| table.rows.iter().position(|row| row.member == member);
    let pairs = ranking.pairs.iter().filter_map(|pair| {
        Some(PairView {
            better: place(pair.better)?,
            worse: place(pair.worse)?,
            ratio: pair.ratio,
            interval: pair.interval,
            verdict: pair.verdict,
            remedy: pair.remedy,
            alone: pair.alone,
        })
    });
    pairs.collect()
}

/// The plan of a load, by its name.
pub(super) fn planned<'a>(
    header: &'a SessionHeader,
    load: &LoadStandings,
) -> Option<&'a PlannedLoad> {
    let mut planned = header.plan.loads.iter();
    planned.find(|one| one.workload == load.workload && one.point.id == load.point.id)
}
