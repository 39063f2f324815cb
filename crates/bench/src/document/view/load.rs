//! A load: its tables, and what came of it in one sentence of at most 25 words.

use std::ops::Deref;

use deadheat_document::view;
use deadheat_model::{
    figure::{counted, figure, list, some},
    heats::{PlannedLoad, SessionHeader},
};
use deadheat_stats::{
    heats::{Group, PairVerdict, Ranking, pairs::RankedPair},
    standings::{AbsentBecause, LoadStandings, Measure, Standings, Table},
};

use super::{
    row::{self, AtRate, LackView, RankedFigure, RowView},
    shorts,
};
use crate::document::words;

/// A workload at a load point: what was found, and how it is said.
#[derive(Clone, Debug, PartialEq)]
pub struct LoadView {
    found: LoadStandings,
    /// Workload and load point in one word ("plaintext:c50").
    pub name: String,
    /// The shortest unique name: the workload alone if it has one load point in the session.
    pub short: String,
    /// Workload and load point in words ("plaintext, 50 connections").
    pub title: String,
    /// The answer: clauses of a sentence of at most 25 words, the most important one first.
    pub clauses: Vec<String>,
    /// A table for each CPU budget, the largest first, then one of yardsticks.
    pub tables: Vec<TableView>,
    /// Stacks that have no place in any of them.
    pub lacking: Vec<LackView>,
    /// Closed loop: the rates of equal work in its heats, in requests per second.
    pub rates: Vec<f64>,
    /// The price of a CPU hour; `None` if the user did not give it.
    pub price_per_cpu_hour: Option<f64>,
    /// Closed loop: the result of equal work, a sentence with a full stop for each rate that has verdicts.
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
    /// Its title among the tables of the load ("2 CPUs"); `None` if there is no other with ranks.
    pub title: Option<String>,
    /// The stacks, the best estimate first.
    pub rows: Vec<RowView>,
    /// The largest [`main`](RowView::main), for bars that begin at 0.
    pub most: f64,
    /// The verdicts on all pairs. Their numbers are places in [`TableView::rows`].
    pub pairs: Vec<RankedPair>,
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

    /// The answer without the load's name and without a full stop.
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
            sentences.extend(at_rate(work));
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
        lacking: load.lacking.iter().map(row::lack).collect(),
        rates: Vec::new(),
        price_per_cpu_hour: header.plan.price_per_cpu_hour,
        equal_work: Vec::new(),
        found: load.clone(),
    };
    view.clauses = clauses(&view, failed_everywhere);
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

fn pairs(table: &Table, ranking: &Ranking) -> Vec<RankedPair> {
    let place = |member: usize| table.rows.iter().position(|row| row.member == member);
    let pairs = ranking.pairs.iter().filter_map(|pair| {
        Some(RankedPair {
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

/// Leaders that are named.
const MAX_LEADERS: usize = 3;
/// Followers that are named.
const MAX_FOLLOWERS: usize = 2;
/// The words of a sentence, of which some are left for the name of a CPU budget.
const MAX_WORDS: usize = 23;
/// A name's letters in a sentence; rows have all of them.
const MAX_LETTERS: usize = 40;

/// The parts of the sentence after the load's name. It is about the table of the largest CPU budget.
fn clauses(load: &LoadView, failed_everywhere: usize) -> Vec<String> {
    match load.tables.first() {
        Some(table) if !table.rows.is_empty() => of_ranking(load, table),
        _ => nothing(load, failed_everywhere),
    }
}

pub fn nothing(load: &LoadView, failed_everywhere: usize) -> Vec<String> {
    let failed = load.lacking.iter();
    let failed = failed
        .filter(|one| one.because == AbsentBecause::Failed)
        .count();
    match failed + failed_everywhere {
        0 => vec!["no stack has been measured".to_owned()],
        failed => vec![
            "no stack has a result".to_owned(),
            format!("{failed} failed"),
        ],
    }
}

/// A row with the figure that it is ranked by.
type RankedRow<'a> = (&'a RowView, RankedFigure);

fn of_ranking(load: &LoadView, table: &TableView) -> Vec<String> {
    let rows = table.rows.iter();
    let ranked: Vec<RankedRow> = rows.filter_map(|row| Some((row, row.main?))).collect();
    let Some((first, best)) = ranked.first() else {
        let stacks = counted(table.rows.len(), "stack");
        return vec![match load.measure {
            Measure::Throughput => format!("{stacks} answered too little to be ranked"),
            Measure::ResponseTime => format!("{stacks} had too few answers for a p99"),
        }];
    };
    if table.rows.len() == 1 {
        let value = words::main_in_full(load.measure, best.value);
        let verb = match load.measure {
            Measure::Throughput => "answers",
            Measure::ResponseTime => "has a p99 of",
        };
        let alone = load.scaling.is_empty();
        let alone = alone.then(|| "there is nothing to compare it with".to_owned());
        let answer = format!("{} {verb} {value}", name(first));
        return [answer].into_iter().chain(alone).collect();
    }
    if load.look.is_none() {
        return vec![format!(
            "{} is ahead {} so far, after {}: too few for a verdict",
            name(first),
            value(load.measure, &[*best]),
            counted(load.heats as usize, "heat"),
        )];
    }
    let (leaders, vague) = leaders(&ranked);
    let vague = too_uncertain(&vague);
    let rest = ranked.iter().filter(|(_, main)| !may_lead(main));
    let rest: Vec<RankedRow> = rest.copied().collect();
    match leaders.len() {
        0 => vec![
            format!(
                "{} is highest {}",
                name(first),
                value(load.measure, &[*best])
            ),
            "undecided".to_owned(),
        ],
        many if many > MAX_LEADERS => {
            let sentence = many_leaders_sentence(load, &leaders, many == ranked.len());
            [sentence].into_iter().chain(vague).collect()
        }
        _ => {
            let lead = lead(load, table, &leaders, vague.is_none());
            let before = [&load.short, &lead].into_iter().chain(&vague);
            let room = MAX_WORDS.saturating_sub(before.map(|text| words_of(text)).sum::<usize>());
            let mut texts = followers(load.measure, &leaders, &rest).into_iter();
            let fitting = texts.find(|text| words_of(text) <= room);
            [lead].into_iter().chain(fitting).chain(vague).collect()
        }
    }
}

/// The sentence about equal work: which stack has the lowest cost, and which ones cannot take the rate or failed.
/// `None` before the first verdict.
fn at_rate(load: &LoadView) -> Option<String> {
    load.look?;
    let rate = figure(load.offered_per_second?);
    let lacking = |because: AbsentBecause, verb: &str| {
        let names = load.lacking.iter().filter(|one| one.because == because);
        let names: Vec<String> = names.map(|one| one.target.clone()).collect();
        few_or(&names, "stacks").map(|who| format!("{who} {verb}"))
    };
    let cannot = lacking(AbsentBecause::Overloaded, "cannot take it");
    let failed = lacking(AbsentBecause::Failed, "failed");
    let mut parts = cheapest(load).unwrap_or_default();
    parts.extend(cannot.into_iter().chain(failed));
    (!parts.is_empty()).then(|| format!("At {rate}/s, {}.", parts.join("; ")))
}

/// The clauses about the stacks with the lowest CPU time per request.
fn cheapest(load: &LoadView) -> Option<Vec<String>> {
    let rows = &load.tables.first()?.rows;
    let costs = rows
        .iter()
        .filter_map(|row| Some((row, row.cpu_us_per_request?)));
    let mut costs: Vec<RankedRow> = costs.collect();
    costs.sort_by(|(_, one), (_, other)| one.value.total_cmp(&other.value));
    let (leaders, vague) = leaders(&costs);
    let least = leaders.first()?.1.value;
    let most = leaders.last()?.1.value;
    let cost = words::cost_range(least, most);
    let price = load.price_per_cpu_hour.map_or_else(String::new, |price| {
        let million = words::price_of_a_million(least, price);
        format!(" ({} for a million)", figure(million))
    });
    let lowest = match leaders.as_slice() {
        [(row, _)] => format!(
            "{} has the lowest CPU time, {cost} a request{price}",
            name(row)
        ),
        many => format!(
            "{} have the lowest CPU time, {cost} a request (order undecided)",
            names(many, MAX_LEADERS)
        ),
    };
    Some([lowest].into_iter().chain(too_uncertain(&vague)).collect())
}

/// The names of stacks; of more than `most`, the first ones and the number of the others.
fn names(rows: &[RankedRow], most: usize) -> String {
    let names: Vec<String> = rows.iter().map(|(row, _)| name(row)).collect();
    some(&names, most)
}

fn words_of(text: &str) -> usize {
    text.split_whitespace().count()
}

/// Whether nothing is proven better.
fn may_lead(main: &RankedFigure) -> bool {
    main.rank.is_some_and(|rank| rank.best == 1)
}

/// Figures that differ by this factor are far apart.
const FAR: f64 = 1.5;

fn is_near(figure: f64, best: f64) -> bool {
    (1.0 / FAR..=FAR).contains(&(figure / best))
}

/// The rows that may lead, of rows with the best figure first, and those that may lead only because their intervals are
/// wide: their figures are far from the best one, or worse than one that is proven not to lead.
fn leaders<'a>(ranked: &[RankedRow<'a>]) -> (Vec<RankedRow<'a>>, Vec<RankedRow<'a>>) {
    let best = ranked.first().map_or(0.0, |(_, figure)| figure.value);
    let led = ranked.iter().position(|(_, figure)| !may_lead(figure));
    let led = led.unwrap_or(ranked.len());
    let (first, rest) = ranked.split_at(led);
    let (leaders, mut vague): (Vec<_>, Vec<_>) = first
        .iter()
        .copied()
        .partition(|(_, figure)| is_near(figure.value, best));
    vague.extend(rest.iter().filter(|(_, figure)| may_lead(figure)));
    (leaders, vague)
}

/// The clause about stacks that may be the best only because their intervals are too wide.
fn too_uncertain(vague: &[RankedRow]) -> Option<String> {
    let names: Vec<String> = vague.iter().map(|(row, _)| name(row)).collect();
    let verb = if names.len() == 1 { "is" } else { "are" };
    few_or(&names, "others").map(|who| format!("{who} {verb} too uncertain to rank"))
}

/// One or two names, or a count of more ("5 stacks"); `None` without any.
fn few_or(names: &[String], what: &str) -> Option<String> {
    match names.len() {
        0 => None,
        1 | 2 => Some(list(names)),
        many => Some(format!("{many} {what}")),
    }
}

/// The clause about the leaders; `alone`: nobody else may be the best.
fn lead(load: &LoadView, table: &TableView, leaders: &[RankedRow], alone: bool) -> String {
    let names: Vec<String> = leaders.iter().map(|(row, _)| name(row)).collect();
    let figures: Vec<RankedFigure> = leaders.iter().map(|(_, main)| *main).collect();
    let value = value(load.measure, &figures);
    if let [one] = names.as_slice() {
        let verb = if alone { "leads" } else { "is ahead" };
        return format!("{one} {verb} {value}");
    }
    let verb = if alone { "lead" } else { "are ahead" };
    let order = if is_dead_heat(table, leaders) {
        "dead heat"
    } else {
        "order undecided"
    };
    format!("{} {verb} {value} ({order})", list(&names))
}

/// Whether each pair of the leaders is a dead heat.
fn is_dead_heat(table: &TableView, leaders: &[RankedRow]) -> bool {
    let is_leader = |place: usize| leaders.iter().any(|(row, _)| table.rows[place] == **row);
    let mut pairs = table.pairs.iter();
    pairs.all(|pair| {
        let is_inside = is_leader(pair.better) && is_leader(pair.worse);
        !is_inside || pair.verdict == PairVerdict::DeadHeat
    })
}

/// The sentence if more stacks may lead than can be named.
fn many_leaders_sentence(load: &LoadView, leaders: &[RankedRow], all: bool) -> String {
    let (first, best) = leaders[0];
    let value = value(load.measure, &[best]);
    let others = leaders.len() - 1;
    let who = if all {
        format!("all {others} others")
    } else {
        format!("{others} others")
    };
    format!(
        "{} is ahead {value}, but {who} may be as fast: undecided",
        name(first)
    )
}

/// "at 116,000 requests/s", "at 112,000 to 116,000 requests/s", "with a p99 of 1.20 ms".
fn value(measure: Measure, figures: &[RankedFigure]) -> String {
    let values = || figures.iter().map(|figure| figure.value);
    let least = values().fold(f64::INFINITY, f64::min);
    let most = values().fold(0.0, f64::max);
    let range = words::main_range(measure, least, most);
    let range = if figures.iter().any(|figure| figure.is_bound) {
        format!("{range} or more")
    } else {
        range
    };
    match measure {
        Measure::Throughput => format!("at {range}"),
        Measure::ResponseTime => format!("with a p99 of {range}"),
    }
}

/// "actix and axum follow, 5.0 to 13 % slower": those with a place of their own that come next, the longest clause first, or
/// all that may have the next place. If the best is a lower bound, they are at least that far behind. They follow only if
/// they are proven behind all leaders; else they are compared with the first.
fn followers(measure: Measure, leaders: &[RankedRow], rest: &[RankedRow]) -> Vec<String> {
    let Some((first, best)) = leaders.first() else {
        return Vec::new();
    };
    let least = if best.is_bound { "at least " } else { "" };
    let is_among_the_first =
        |(_, main): &RankedRow| main.rank.is_some_and(|rank| rank.worst <= leaders.len());
    let all_are_ahead = leaders.iter().all(is_among_the_first);
    let clause = |rows: &[RankedRow], order: &str| {
        let mut ratios = rows.iter().filter_map(|(_, main)| Some(main.behind?.ratio));
        let nearest = ratios.next()?;
        let furthest = ratios.next_back().unwrap_or(nearest);
        let how = words::beside_range(words::quantity(measure), nearest, furthest);
        let is_one = rows.len() == 1;
        let who = names(rows, MAX_FOLLOWERS);
        Some(if all_are_ahead {
            let verb = if is_one { "follows" } else { "follow" };
            format!("{who} {verb}, {least}{how}{order}")
        } else {
            let verb = if is_one { "is" } else { "are" };
            format!("{who} {verb} {least}{how} than {}{order}", name(first))
        })
    };
    let has_own_place =
        |(_, main): &&RankedRow| main.rank.is_some_and(|rank| rank.best == rank.worst);
    let own = rest
        .iter()
        .take_while(has_own_place)
        .take(MAX_FOLLOWERS)
        .count();
    if own > 0 {
        return (1..=own)
            .rev()
            .filter_map(|most| clause(&rest[..most], ""))
            .collect();
    }
    let Some((_, next)) = rest.first() else {
        return Vec::new();
    };
    let may_be_next = |(_, main): &&RankedRow| {
        let places = [main, next].map(|one| one.rank.map(|rank| rank.best));
        places[0] == places[1] && is_near(main.value, next.value)
    };
    let next: Vec<RankedRow> = rest.iter().filter(may_be_next).copied().collect();
    let orders: &[&str] = match next.len() {
        1 => &[""],
        _ => &[" (order undecided)", ""],
    };
    orders
        .iter()
        .filter_map(|order| clause(&next, order))
        .collect()
}

fn name(row: &RowView) -> String {
    let name = &row.target;
    if name.chars().count() <= MAX_LETTERS {
        return name.clone();
    }
    let head: String = name.chars().take(MAX_LETTERS - 1).collect();
    format!("{head}…")
}
