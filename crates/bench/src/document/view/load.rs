//! A load: its sentence and its tables.

use std::ops::Deref;

use deadheat_document::view;
use deadheat_model::heats::{PlannedLoad, SessionHeader};
use deadheat_stats::{
    heats::{Group, Ranking, pairs::Pair},
    standings::{AbsentBecause, LoadStandings, Measure, Standings, Table},
};

use super::{
    absent::{self, LackView},
    answer,
    names::shorts,
    row::{self, AtRate, RowView},
};
use crate::document::words;

/// A workload at a load point: what was found, and how it is said.
#[derive(Clone, Debug, PartialEq)]
pub struct LoadView {
    found: LoadStandings,
    /// Workload and load point in one word ("plaintext:c50").
    pub name: String,
    /// As short as the session allows: the workload alone if it has one load point here.
    pub short: String,
    /// Both in words ("plaintext, 50 connections").
    pub title: String,
    /// What came of it: the parts of a sentence of at most 25 words, the most important one first.
    pub clauses: Vec<String>,
    /// A table for each CPU budget, the largest first, then one of yardsticks.
    pub tables: Vec<TableView>,
    /// Stacks that have no place in any of them.
    pub lacking: Vec<LackView>,
    /// Closed loop: the rates of equal work in its heats, in requests per second.
    pub rates: Vec<f64>,
    /// What an hour of a CPU costs, if that was said.
    pub price_per_cpu_hour: Option<f64>,
    /// Closed loop: what came of equal work, a sentence for each rate at which there are verdicts, with its full stop.
    pub equal_work: Vec<String>,
}

impl Deref for LoadView {
    type Target = LoadStandings;

    fn deref(&self) -> &LoadStandings {
        &self.found
    }
}

/// Stacks of one CPU budget, or yardsticks.
#[derive(Clone, Debug, PartialEq)]
pub struct TableView {
    /// The group that it ranks.
    pub group: Group,
    /// Its name beside other tables of the load ("2 CPUs"); `None` if there is no other with ranks.
    pub title: Option<String>,
    /// The stacks, the best estimate first.
    pub rows: Vec<RowView>,
    /// The largest [`main`](RowView::main), for bars that begin at 0.
    pub most: f64,
    /// All pairs by what the table is ranked by. Their numbers are places in [`TableView::rows`].
    pub pairs: Vec<Pair>,
}

impl LoadView {
    /// All rows of all tables.
    pub fn rows(&self) -> impl Iterator<Item = &RowView> {
        self.tables.iter().flat_map(|table| &table.rows)
    }

    /// The tables that have rows.
    pub(crate) fn filled_tables(&self) -> impl Iterator<Item = &TableView> {
        self.tables.iter().filter(|table| !table.rows.is_empty())
    }

    /// What came of it, without the load's name and a full stop.
    pub fn outcome(&self) -> String {
        self.clauses.join("; ")
    }

    /// The whole sentence, with the CPU budget if there are several, without a full stop.
    pub fn answer(&self) -> String {
        self.named(&self.outcome())
    }

    /// The sentence with its most important part alone.
    pub(crate) fn short_answer(&self) -> String {
        self.named(self.clauses.first().map_or("", String::as_str))
    }

    fn named(&self, outcome: &str) -> String {
        let budget = self.tables.first().and_then(|table| table.title.as_ref());
        let budget = budget.map_or(String::new(), |title| format!(", {title}"));
        format!("{}{budget}: {outcome}", self.short)
    }
}

/// The loads, in the order of the plan.
pub(super) fn loads(header: &SessionHeader, standings: &Standings) -> Vec<LoadView> {
    let shorts = shorts(standings);
    let loads = standings.loads.iter().zip(shorts);
    let failed = standings.absent.iter();
    let failed = failed.filter(|one| one.is == AbsentBecause::Failed).count();
    let loads = loads.map(|(load, short)| of_load(header, load, short, failed));
    let mut loads: Vec<LoadView> = loads.collect();
    let equal_work: Vec<LoadView> = loads.iter().filter(|load| !load.leads()).cloned().collect();
    for load in loads.iter_mut().filter(|load| load.leads()) {
        let LoadView {
            found,
            rates,
            equal_work: sentences,
            tables,
            ..
        } = load;
        let with_it = equal_work
            .iter()
            .filter(|work| work.is_measured_with(found));
        for (work, rate) in with_it.filter_map(|work| Some((work, work.offered_per_second?))) {
            rates.push(rate);
            sentences.extend(answer::at_rate(work));
            for row in tables.iter_mut().flat_map(|table| &mut table.rows) {
                row.at_rates.push(AtRate::new(work, &row.target));
            }
        }
    }
    loads
}

pub fn of_load(
    header: &SessionHeader,
    load: &LoadStandings,
    short: String,
    failed_everywhere: usize,
) -> LoadView {
    let ranked = load.tables.iter().filter(|table| !table.group.yardsticks);
    let many = ranked.count() > 1;
    let tables = load.tables.iter();
    let mut tables: Vec<TableView> = tables
        .map(|table| of_table(header, load, table, many))
        .collect();
    beside_the_best(&mut tables, load.measure);
    let mut view = LoadView {
        name: view::clean(&load.name()),
        short,
        title: view::title(&load.workload, &load.point),
        clauses: Vec::new(),
        tables,
        lacking: load.lacking.iter().map(absent::lack).collect(),
        rates: Vec::new(),
        price_per_cpu_hour: header.plan.price_per_cpu_hour,
        equal_work: Vec::new(),
        found: load.clone(),
    };
    view.clauses = answer::clauses(&view, failed_everywhere);
    view
}

fn of_table(header: &SessionHeader, load: &LoadStandings, table: &Table, many: bool) -> TableView {
    let rows = row::rows(&header.targets, load, table);
    let figures = rows.iter().filter_map(|row| row.main);
    TableView {
        group: table.group,
        title: (many || table.group.yardsticks).then(|| words::group(table.group)),
        most: figures.map(|main| main.value).fold(0.0, f64::max),
        pairs: pairs(table, &table.ranking),
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

fn pairs(table: &Table, ranking: &Ranking) -> Vec<Pair> {
    let place = |member: usize| table.rows.iter().position(|row| row.member == member);
    let pairs = ranking.pairs.iter().filter_map(|pair| {
        Some(Pair {
            better: place(pair.better)?,
            worse: place(pair.worse)?,
            ..*pair
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
