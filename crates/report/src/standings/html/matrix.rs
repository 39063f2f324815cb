//! The first screen's table: every stack at every load. There is one for each group of stacks that are ranked together.

use std::{cmp::Reverse, collections::BTreeSet};

use deadheat_stats::{heats::Group, standings::Measure};
use serde::Serialize;

use super::{colours::Colours, load::anchor};
use crate::{
    figure::{NONE, counted},
    plot::svg::Percent,
    standings::{
        view::{LoadView, RowView, StandingsView, TableView},
        words,
    },
};

/// Columns with room for bars and shares beside each other.
const MOST_FULL: usize = 5;
/// Requests of which more than this share failed are marked.
const FAILED: f64 = 0.001;

/// A table of stacks by loads.
#[derive(Debug, Serialize)]
pub(super) struct Matrix {
    /// An id in the page.
    id: String,
    /// CPUs that each server was given; `None` for yardsticks, which every choice shows.
    budget: Option<u32>,
    /// Who is in it.
    title: String,
    columns: Vec<Column>,
    /// Whether there are too many columns for all that a cell can show.
    is_many: bool,
    rows: Vec<Row>,
    /// The columns again, each with its stacks, the best first: for narrow screens.
    lists: Vec<List>,
}

/// A load.
#[derive(Clone, Debug, Serialize)]
struct Column {
    name: String,
    unit: &'static str,
}

/// A stack.
#[derive(Debug, Serialize)]
struct Row {
    name: String,
    colour: String,
    /// Language and framework.
    what: String,
    cells: Vec<Cell>,
}

/// A stack at a load.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "is", rename_all = "kebab-case")]
enum Cell {
    Figure(Figure),
    /// No figure, though there should be one: why not, in a word.
    Lost {
        word: &'static str,
        anchor: String,
    },
    /// It was not to be measured here.
    Nothing,
}

/// What a stack reached.
#[derive(Clone, Debug, Serialize)]
struct Figure {
    /// More is better.
    key: f64,
    value: String,
    colour: String,
    /// The bar's length; `None`: it is not known how it stands to the best.
    bar: Option<String>,
    share: String,
    rank: String,
    marks: Vec<Mark>,
    is_best: bool,
}

/// A sign at a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Sign {
    Bound,
    Failed,
    Unsteady,
}

/// A sign with where it leads to.
#[derive(Clone, Debug, Serialize)]
struct Mark {
    sign: &'static str,
    means: &'static str,
    anchor: String,
}

impl Sign {
    /// The signs of a row.
    fn of(row: &RowView) -> Vec<Self> {
        let is_bound = row.main.is_some_and(|main| main.is_bound);
        let failed = !row.failures.is_empty() || row.failed_share() > FAILED;
        let unsteady = row.unsteady_heats * 2 > row.heats;
        let signs = [
            (is_bound, Sign::Bound),
            (failed, Sign::Failed),
            (unsteady, Sign::Unsteady),
        ];
        let signs = signs.into_iter().filter(|(is, _)| *is);
        signs.map(|(_, sign)| sign).collect()
    }

    /// The sign; a bound's stands before its figure already.
    const fn sign(self) -> Option<&'static str> {
        match self {
            Sign::Bound => None,
            Sign::Failed => Some("†"),
            Sign::Unsteady => Some("~"),
        }
    }

    const fn means(self) -> &'static str {
        match self {
            Sign::Bound => "at least: the load generator was the limit",
            Sign::Failed => "failed in some heats, or failed requests",
            Sign::Unsteady => "not steady after its warm-up",
        }
    }
}

/// A load's stacks, the best first.
#[derive(Debug, Serialize)]
struct List {
    name: String,
    unit: &'static str,
    entries: Vec<Entry>,
}

/// A stack in a list.
#[derive(Debug, Serialize)]
struct Entry {
    name: String,
    cell: Figure,
}

/// The tables of a session: the largest CPU budget first, yardsticks last.
pub(super) fn matrices(view: &StandingsView, colours: &Colours) -> Vec<Matrix> {
    let tables = view.loads.iter().flat_map(|load| &load.tables);
    let keys: BTreeSet<_> = tables
        .map(|table| (table.group.yardsticks, Reverse(table.group.cpus)))
        .collect();
    let group = |(yardsticks, Reverse(cpus))| Group { yardsticks, cpus };
    let groups = keys.into_iter().map(group);
    groups.map(|group| matrix(view, group, colours)).collect()
}

/// What the signs in the tables mean, those that there are.
pub(super) fn legend(view: &StandingsView) -> Vec<String> {
    let rows = || view.loads.iter().flat_map(LoadView::rows);
    let signs: BTreeSet<Sign> = rows().flat_map(Sign::of).collect();
    let entry = |sign: Sign| format!("{} {}", sign.sign().unwrap_or("≥"), sign.means());
    let hatched = rows().any(|row| row.main.is_some() && row.share_of_best.is_none());
    let hatched = hatched.then(|| format!("hatched bar: {NO_VERDICT}"));
    let steps = words::is_proven_in_steps(view);
    let steps = steps.then(|| "±: all rows at once; ranks are proven one by one".to_owned());
    let signs = signs.into_iter().map(entry);
    signs.chain(hatched).chain(steps).collect()
}

/// Why a bar has no length.
pub(super) const NO_VERDICT: &str = "no verdict, because it cannot be compared with the best";

fn matrix(view: &StandingsView, group: Group, colours: &Colours) -> Matrix {
    let loads: Vec<(usize, &LoadView, &TableView)> = view
        .loads
        .iter()
        .enumerate()
        .filter_map(|(place, load)| {
            let table = load.tables.iter().find(|table| table.group == group)?;
            Some((place, load, table))
        })
        .collect();
    // In the order of the first load; those that it lacks follow as the next loads have them.
    let mut stacks: Vec<&RowView> = Vec::new();
    for row in loads.iter().flat_map(|(_, _, table)| &table.rows) {
        if !stacks.iter().any(|known| known.target == row.target) {
            stacks.push(row);
        }
    }
    let columns: Vec<Column> = loads.iter().map(|(_, load, _)| column(load)).collect();
    let row = |stack: &&RowView| Row {
        name: stack.target.clone(),
        colour: colours.class(&stack.target),
        what: what(stack),
        cells: loads
            .iter()
            .map(|(place, load, table)| cell(*place, load, table, &stack.target, colours))
            .collect(),
    };
    let list = |(place, load, table): &(usize, &LoadView, &TableView)| {
        let Column { name, unit } = column(load);
        let entries = table.rows.iter().filter_map(|row| {
            Some(Entry {
                name: row.target.clone(),
                cell: figure(*place, load, table, row, colours)?,
            })
        });
        List {
            name,
            unit,
            entries: entries.collect(),
        }
    };
    Matrix {
        id: if group.yardsticks {
            "yardsticks".to_owned()
        } else {
            group.cpus.to_string()
        },
        budget: (!group.yardsticks).then_some(group.cpus),
        title: if group.yardsticks {
            words::YARDSTICKS.to_owned()
        } else {
            let cpus = counted(group.cpus as usize, "CPU");
            format!("Each stack at each load, with {cpus} for each server")
        },
        is_many: columns.len() > MOST_FULL,
        columns,
        rows: stacks.iter().map(row).collect(),
        lists: loads.iter().map(list).collect(),
    }
}

fn column(load: &LoadView) -> Column {
    Column {
        name: load.short.clone(),
        unit: words::measure_head(load.measure),
    }
}

/// Language and framework.
pub(super) fn what(row: &RowView) -> String {
    let parts = [&row.language, &row.framework];
    let parts = parts.into_iter().filter(|part| !part.is_empty());
    parts.map(String::as_str).collect::<Vec<_>>().join(", ")
}

fn cell(place: usize, load: &LoadView, table: &TableView, target: &str, colours: &Colours) -> Cell {
    let mut rows = table.rows.iter();
    let row = rows.find(|row| row.target == target);
    let found = row.and_then(|row| figure(place, load, table, row, colours));
    found.map_or_else(|| lost(place, load, target), Cell::Figure)
}

fn lost(place: usize, load: &LoadView, target: &str) -> Cell {
    let mut lacking = load.lacking.iter();
    let lack = lacking.find(|lack| lack.target == target);
    lack.map_or(Cell::Nothing, |lack| Cell::Lost {
        word: words::absent(lack.because),
        anchor: anchor(place),
    })
}

fn figure(
    place: usize,
    load: &LoadView,
    table: &TableView,
    row: &RowView,
    colours: &Colours,
) -> Option<Figure> {
    let main = row.main?;
    let measure = load.measure;
    let mark = |sign: Sign| {
        Some(Mark {
            sign: sign.sign()?,
            means: sign.means(),
            anchor: anchor(place),
        })
    };
    Some(Figure {
        key: match measure {
            Measure::Throughput => main.value,
            Measure::ResponseTime => -main.value,
        },
        value: words::placed(Some(&main), |value| words::main(measure, value)),
        colour: colours.class(&row.target),
        bar: row
            .share_of_best
            .map(|share| Percent(share.clamp(0.0, 1.0)).to_string()),
        share: row
            .share_of_best
            .map_or_else(|| NONE.to_owned(), words::percent),
        rank: words::rank(main.rank),
        marks: Sign::of(row).into_iter().filter_map(mark).collect(),
        is_best: load.look_heats.is_some() && is_among_best(table, row),
    })
}

/// Whether nothing is proven better.
fn is_among_best(table: &TableView, row: &RowView) -> bool {
    let rank = row.main.and_then(|main| main.rank);
    table.rows.len() > 1 && rank.is_some_and(|rank| rank.best == 1)
}
