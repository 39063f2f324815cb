//! The section of a load: its tables, and the course of the session, which shows drift, outliers and processes that
//! differ.

use deadheat_document::{Cell, Column, Section, Table, plot::svg::Svg};
use deadheat_model::figure::{NONE, bytes, count, figure, seconds};
use deadheat_stats::{
    heats::{PairVerdict, pairs::RankedPair},
    interval::median,
    standings::{HeatFigure, Measure},
};

use super::baselines;
use crate::document::{
    view::{AtRate, LoadView, RankedFigure, RowView, StandingsView, TableView},
    words,
};

/// Undecided pairs that are shown.
const MAX_PAIRS: usize = 8;

/// A load with its tables and notes.
pub(super) fn section(load: &LoadView, view: &StandingsView) -> Section {
    // A single load's answer is the document's.
    let answer =
        (view.leading().count() > 1 || !load.leads()).then(|| format!("{}.", load.answer()));
    let mut section = Section::new(&load.title)
        .aside(Some(&load.description))
        .paragraphs(answer);
    for table in load.filled_tables() {
        if let Some(title) = &table.title {
            section = section.subtitle(title);
        }
        section = section
            .table(ranking(load, table, view))
            .table(details(load, table))
            .table(routes(table))
            .table(undecided(load, table))
            .fold_of_drawings(course_section(load, table));
    }
    let notes = load.rows().filter_map(|row| {
        let notes = words::notes(row);
        (!notes.is_empty()).then(|| format!("{}: {}.", row.target, notes.join("; ")))
    });
    section
        .bullets(load.lacking.iter().map(words::lack))
        .bullets(notes.chain(words::load_notes(load)))
}

/// The ranking: the load's measure, its uncertainty, what a request costs, memory, and the verdict.
fn ranking(load: &LoadView, table: &TableView, view: &StandingsView) -> Table {
    let measure = load.measure;
    let baselines = baselines::Baselines::new(load, table, view.margin);
    let less = measure == Measure::ResponseTime;
    let costs = match load.rates.as_slice() {
        [] => vec![Column::right("CPU/req").sorted(true)],
        rates => rates
            .iter()
            .flat_map(|rate| {
                let at = |what: &str| format!("{what} at {}/s", figure(*rate));
                let price = load.price_per_cpu_hour.map(|_| at("price of a million"));
                let heads = [at("CPU")].into_iter().chain(price).chain([at("p99")]);
                heads
                    .map(|head| Column::right(head).sorted(true))
                    .collect::<Vec<_>>()
            })
            .collect(),
    };
    let columns = [
        Column::left("stack").sorted(true),
        Column::right("rank").sorted(true),
        Column::right(words::measure_head(measure)).sorted(less),
        Column::right("±").sorted(true),
        Column::drawn(baselines.head()),
    ]
    .into_iter()
    .chain(costs)
    .chain([
        Column::right("peak mem").sorted(true),
        Column::left("against the best").whole(),
    ]);
    let most = |of: fn(&RowView) -> Option<f64>| {
        let all = table.rows.iter().filter_map(of);
        all.fold(0.0, f64::max)
    };
    let cost = |row: &RowView| row.cpu_us_per_request.map(|cost| cost.value);
    let memory = |row: &RowView| row.memory.peak_bytes;
    let (most_cost, most_memory) = (most(cost), most(memory));
    let mut ranking = Table::new(columns).caption(baselines::caption(view));
    for (place, row) in table.rows.iter().enumerate() {
        let main = row.main.map(|main| main.value);
        let rank = row.main.and_then(|main| main.rank);
        let costs = if load.rates.is_empty() {
            vec![placed(row.cpu_us_per_request, words::cost).bar(share(cost(row), most_cost))]
        } else {
            let found = row.at_rates.iter();
            found
                .flat_map(|found| at_rate(found, load.price_per_cpu_hour))
                .collect()
        };
        let before = [
            Cell::from(&row.target),
            Cell::figure(
                words::rank(rank),
                rank.map(|rank| (rank.best + rank.worst) as f64),
            ),
            Cell::figure(words::main_placed(measure, row), main).bar(share(main, table.most)),
            Cell::figure(words::half_width_in_column(row.half_width), row.half_width),
            Cell::drawn(baselines.cell(place)),
        ];
        let after = [
            Cell::figure(words::memory(memory(row)), memory(row))
                .bar(share(memory(row), most_memory)),
            Cell::from(words::row_verdict(measure, row)),
        ];
        ranking.row(before.into_iter().chain(costs).chain(after));
    }
    ranking
}

/// CPU time per request at a rate, the price of a million requests if that of an hour is known, and the time of a
/// request.
fn at_rate(found: &AtRate, per_cpu_hour: Option<f64>) -> Vec<Cell> {
    let cost = match found {
        AtRate::Lacks(because) => Cell::from(words::absent(*because)),
        AtRate::Took { .. } => placed(found.cost(), words::cost),
    };
    let price = per_cpu_hour.map(|price| {
        let million = found
            .cost()
            .map(|cost| words::price_of_a_million(cost.value, price));
        number(million, figure)
    });
    let p99 = placed(found.p99(), seconds);
    [cost].into_iter().chain(price).chain([p99]).collect()
}

fn share(value: Option<f64>, most: f64) -> Option<f64> {
    value.filter(|_| most > 0.0).map(|value| value / most)
}

/// A ranked figure with its rank.
fn placed(placed: Option<RankedFigure>, write: fn(f64) -> String) -> Cell {
    let text = words::placed(placed.as_ref(), write);
    let rank = placed.and_then(|one| one.rank);
    let rank = rank.map_or_else(String::new, |rank| words::rank(Some(rank)));
    Cell::figure(text, placed.map(|one| one.value)).note(rank)
}

/// A column with its figures.
type Figures = (Column, fn(&RowView) -> Cell);

fn column(head: &str, less_is_better: bool, cell: fn(&RowView) -> Cell) -> Figures {
    (Column::right(head).sorted(less_is_better), cell)
}

/// Everything else that is known of each stack.
fn details(load: &LoadView, table: &TableView) -> Table {
    let times = match load.measure {
        // If equal work was measured, the cost at full load is a detail, and service times there only show queueing.
        Measure::Throughput if !load.rates.is_empty() => vec![
            column("CPU, full load", true, |row| {
                placed(row.cpu_us_per_request, words::cost)
            }),
            column("mean time", true, |row| number(row.mean_seconds, seconds)),
        ],
        Measure::Throughput => vec![
            column("mean time", true, |row| number(row.mean_seconds, seconds)),
            column("p50", true, |row| placed(row.p50_seconds, seconds)),
            column("p99", true, |row| placed(row.p99_seconds, seconds)),
        ],
        Measure::ResponseTime => vec![
            column("p50", true, |row| placed(row.p50_seconds, seconds)),
            column("answered/s", false, |row| {
                number(Some(row.throughput_per_second.value), figure)
            }),
        ],
    };
    let rest = [
        column("mean mem", true, |row| number(row.memory.mean_bytes, bytes)),
        column("CPUs busy", false, |row| number(row.busy, words::percent)),
        column("heats", false, |row| counted(row.heats.into())),
        column("spread", false, |row| number(row.spread, words::percent)),
        column("slices", false, |row| counted(row.slices.into())),
        column("discarded", false, |row| {
            counted(row.discarded_slices.into())
        }),
        column("answers", false, |row| counted(row.answers)),
        column("failed", false, |row| counted(row.failed_requests)),
    ];
    let is_compressed = table.rows.iter().any(|row| row.compression.is_some());
    let compressed = is_compressed.then(|| {
        column("an answer, compressed", true, |row| {
            let found = row.compression;
            let text = found.map_or_else(|| NONE.to_owned(), words::compression);
            Cell::figure(text, found.map(|found| found.bytes as f64))
        })
    });
    let writes = table.rows.iter().any(|row| row.writes.is_some());
    let written = writes.then(|| {
        column("writes, all kept", false, |row| {
            row.writes.map_or_else(|| Cell::from(NONE), counted)
        })
    });
    let figures = times
        .into_iter()
        .chain(rest)
        .chain(compressed)
        .chain(written);
    let (columns, cells): (Vec<Column>, Vec<_>) = figures.unzip();
    let mut details = Table::new(
        [Column::left("stack").sorted(true)]
            .into_iter()
            .chain(columns),
    );
    for row in &table.rows {
        let figures = cells.iter().map(|cell| cell(row));
        details.row([Cell::from(&row.target)].into_iter().chain(figures));
    }
    details
}

/// The times of each route of a workload with several routes. A starved route does not show in the overall figures.
fn routes(table: &TableView) -> Table {
    let all: Vec<&str> = table.rows.iter().fold(Vec::new(), |mut all, row| {
        let new = row.routes.iter().map(|one| one.route.as_str());
        let new: Vec<&str> = new.filter(|route| !all.contains(route)).collect();
        all.extend(new);
        all
    });
    let columns = all.iter().map(|route| Column::right(*route).sorted(true));
    let stack =
        Column::left("time by route in all heats, from when it is sent: p50 / p99").sorted(true);
    let mut routes = Table::new([stack].into_iter().chain(columns));
    if all.is_empty() {
        return routes;
    }
    for row in &table.rows {
        let figures = all.iter().map(|route| {
            let found = row.routes.iter().find(|one| one.route == *route);
            let p50 = found.and_then(|one| one.p50_seconds);
            let p99 = found.and_then(|one| one.p99_seconds);
            Cell::figure(format!("{} / {}", words::time(p50), words::time(p99)), p50)
        });
        routes.row([Cell::from(&row.target)].into_iter().chain(figures));
    }
    routes
}

fn number(value: Option<f64>, write: fn(f64) -> String) -> Cell {
    Cell::figure(value.map_or_else(|| NONE.to_owned(), write), value)
}

fn counted(value: u64) -> Cell {
    Cell::figure(count(value), Some(value as f64))
}

/// Neighbours without a verdict, and what could decide them.
fn undecided(load: &LoadView, table: &TableView) -> Table {
    let is_open = |pair: &&RankedPair| {
        pair.verdict == PairVerdict::Undecided && pair.worse == pair.better + 1
    };
    let pairs: Vec<&RankedPair> = table.pairs.iter().filter(is_open).collect();
    let quantity = words::quantity(load.measure);
    let name = |place: usize| &table.rows[place].target;
    let mut undecided = Table::new([
        Column::left("neighbours"),
        Column::left("verdict").whole(),
        Column::left("what would decide it").whole(),
    ]);
    for pair in pairs.iter().take(MAX_PAIRS) {
        undecided.row([
            format!("{} against {}", name(pair.worse), name(pair.better)),
            words::pair_verdict(quantity, pair),
            pair.remedy.map_or_else(String::new, words::remedy),
        ]);
    }
    if pairs.len() > MAX_PAIRS {
        let more = pairs.len() - MAX_PAIRS;
        undecided.note("", format!("and {more} more undecided neighbours"));
    }
    undecided
}

/// A row's height is twice this share of the median (0.25: ±25 %); what is farther away lies at its edge.
const REACH: f64 = 0.25;
/// The height of a row in pixels, and how far a dot can be from its middle.
const HEIGHT: f64 = 22.0;
const ROOM: f64 = HEIGHT / 2.0 - 3.0;
/// The minimum number of heats for the section.
const MIN_HEATS: usize = 3;

/// The throughput of each stack in each heat, relative to its own median and in the order of the heats, with the null
/// server below; empty with too few heats.
fn course_section(load: &LoadView, table: &TableView) -> Section {
    let section = Section::new("Course of the session: each heat against the stack's own median");
    let stacks = table
        .rows
        .iter()
        .map(|row| (row.target.as_str(), &row.series));
    let null_server = Some((words::NULL_SERVER, &load.null_server_series));
    let null_server = null_server.filter(|(_, series)| !series.is_empty());
    let all_series: Vec<(&str, &Vec<HeatFigure>)> = stacks.chain(null_server).collect();
    let heats = all_series.iter().flat_map(|(_, series)| series.iter());
    let mut heats: Vec<u32> = heats.map(|one| one.heat).collect();
    heats.sort_unstable();
    heats.dedup();
    if heats.len() < MIN_HEATS {
        return section;
    }
    let reach = words::percent(REACH);
    let mut drawn = Table::new([
        Column::left("stack"),
        Column::drawn(format!(
            "each heat, from −{reach} to +{reach} of the median"
        )),
        Column::right("median, requests/s"),
    ]);
    for (name, series) in all_series {
        if let Some(usual) = median(series.iter().map(|one| one.per_second)) {
            let line = Cell::drawn(line(series, usual, &heats));
            drawn.row([Cell::from(name), line, Cell::from(figure(usual))]);
        }
    }
    section
        .aside(Some(
            "From the first heat on the left to the last. If all rows move together, the machine did; the null server is the \
             same program throughout.",
        ))
        .table(drawn)
}

/// A line from heat to heat, and a dot at each. A heat is one unit wide, so that the drawing fits any window.
fn line(series: &[HeatFigure], usual: f64, heats: &[u32]) -> String {
    let (mut lines, mut dots) = (String::new(), String::new());
    for one in series {
        let off = (one.per_second / usual - 1.0).clamp(-REACH, REACH);
        let x = heats.partition_point(|heat| *heat < one.heat) as f64 + 0.5;
        let y = HEIGHT / 2.0 - off / REACH * ROOM;
        let command = if lines.is_empty() { 'M' } else { 'L' };
        lines += &format!("{command}{x} {y:.1}");
        // A line without length is a dot, because its ends are round.
        dots += &format!("M{x} {y:.1}h0");
    }
    let mut svg = Svg::beside_text(
        HEIGHT,
        &[
            ("class", &"heats"),
            ("viewBox", &format!("0 0 {} {HEIGHT}", heats.len())),
            ("preserveAspectRatio", &"none"),
        ],
    );
    svg.element("path", &[("d", &lines)]);
    svg.element("path", &[("class", &"dots"), ("d", &dots)]);
    svg.finish()
}
