//! The table with all figures of a load.

use deadheat_stats::{heats::LimitedBy, standings::Measure};
use serde::Serialize;

use super::{colours::Colours, matrix::what};
use crate::{
    figure::{NONE, count, figure, seconds},
    standings::{
        view::{LoadView, Placed, RowView, TableView},
        words,
    },
};

/// A column.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Column {
    head: &'static str,
    /// The order that a reader wants first.
    first: &'static str,
    is_text: bool,
    /// Whether the rows are sorted by it.
    is_main: bool,
    /// Its figure of a row.
    #[serde(skip)]
    figure: fn(&RowView) -> Figure,
}

/// A stack's row.
#[derive(Debug, Serialize)]
pub(super) struct FigureRow {
    name: String,
    colour: String,
    what: String,
    figures: Vec<Figure>,
}

/// A figure with what stands beside it.
#[derive(Debug, Default, Serialize)]
struct Figure {
    text: String,
    beside: String,
    /// What it is sorted by.
    key: Option<f64>,
    is_text: bool,
}

/// A column in which less is better.
const fn less(head: &'static str, figure: fn(&RowView) -> Figure) -> Column {
    Column {
        head,
        first: "ascending",
        is_text: false,
        is_main: false,
        figure,
    }
}

/// A column in which more is better, or is what a reader looks for.
const fn more(head: &'static str, figure: fn(&RowView) -> Figure) -> Column {
    Column {
        first: "descending",
        ..less(head, figure)
    }
}

/// What a closed loop is ranked by, and what only it has.
const CLOSED: [Column; 3] = [
    Column {
        is_main: true,
        ..more("Requests/s", |row| {
            with_half_width(row, row.throughput_per_second, figure)
        })
    },
    Column {
        is_text: true,
        ..less("Beside the best", |row| {
            beside_best(row, Measure::Throughput)
        })
    },
    less("Queueing", queueing),
];

/// The same of an open loop.
const OPEN: [Column; 4] = [
    Column {
        is_main: true,
        ..less("p99 response", |row| match row.p99_seconds {
            Some(p99) => with_half_width(row, p99, seconds),
            None => nothing(),
        })
    },
    Column {
        is_text: true,
        ..less("Beside the best", |row| {
            beside_best(row, Measure::ResponseTime)
        })
    },
    less("p50", |row| placed(row.p50_seconds, seconds)),
    more("Answered/s", answered),
];

/// The columns of a load's table.
pub(super) fn columns(load: &LoadView) -> Vec<Column> {
    let (main, others): (Column, &[Column]) = match load.measure {
        Measure::Throughput => (CLOSED[0], &CLOSED[1..]),
        Measure::ResponseTime => (OPEN[0], &OPEN[1..]),
    };
    let first = [main, less("Rank", rank)];
    let last = [
        less("CPU per request", |row| {
            placed(row.cpu_us_per_request, words::cost)
        }),
        less("Peak memory", memory),
        less("Start", |row| time(row.ready_seconds)),
        less("Warm-up", warm_up),
        more("CPUs busy", busy),
        more("Heats", heats),
        more("Spread of starts", spread),
        more("Failed requests", failed),
    ];
    first
        .into_iter()
        .chain(others.iter().copied())
        .chain(last)
        .collect()
}

/// The rows, the best first.
pub(super) fn rows(load: &LoadView, table: &TableView, colours: &Colours) -> Vec<FigureRow> {
    let columns = columns(load);
    let row = |row: &RowView| FigureRow {
        name: row.target.clone(),
        colour: colours.class(&row.target),
        what: what(row),
        figures: columns.iter().map(|column| (column.figure)(row)).collect(),
    };
    table.rows.iter().map(row).collect()
}

/// What the figures are.
pub(super) fn caption(load: &LoadView, table: &TableView) -> String {
    let half_width = match table.half_width {
        Some(_) => format!(
            " The typical ratio is known to {}.",
            words::half_width(table.half_width)
        ),
        None => String::new(),
    };
    let times = match load.measure {
        Measure::Throughput => "Queueing is service time, which ranks nobody",
        Measure::ResponseTime => "p50 and p99 are response times, from the intended start",
    };
    format!("All figures. {times}; # is the rank.{half_width}")
}

fn nothing() -> Figure {
    Figure {
        text: NONE.to_owned(),
        ..Figure::default()
    }
}

fn placed(placed: Option<Placed>, write: fn(f64) -> String) -> Figure {
    match placed {
        None => nothing(),
        Some(one) => Figure {
            text: words::placed(Some(&one), write),
            beside: one
                .rank
                .map_or_else(String::new, |rank| format!("#{}", words::rank(Some(rank)))),
            key: Some(one.value),
            is_text: false,
        },
    }
}

fn with_half_width(row: &RowView, placed: Placed, write: fn(f64) -> String) -> Figure {
    Figure {
        text: words::placed(Some(&placed), write),
        beside: row
            .half_width
            .map_or_else(String::new, |width| words::half_width(Some(width))),
        key: Some(placed.value),
        is_text: false,
    }
}

fn rank(row: &RowView) -> Figure {
    let rank = row.main.and_then(|main| main.rank);
    Figure {
        text: words::rank(rank),
        key: rank.map(|rank| (rank.best + rank.worst) as f64),
        ..Figure::default()
    }
}

fn beside_best(row: &RowView, measure: Measure) -> Figure {
    let behind = row.main.and_then(|main| main.behind);
    let text = match behind {
        Some(behind) => words::verdict(words::quantity(measure), &behind),
        None if row.share_of_best == Some(1.0) => "best measured".to_owned(),
        None => NONE.to_owned(),
    };
    Figure {
        text,
        key: row.share_of_best.map(|share| 1.0 / share),
        is_text: true,
        ..Figure::default()
    }
}

/// The mean of service time, with its percentiles, which rank nobody.
fn queueing(row: &RowView) -> Figure {
    let percentile = |time: Option<Placed>| words::placed(time.as_ref(), seconds);
    let (p50, p99) = (percentile(row.p50_seconds), percentile(row.p99_seconds));
    Figure {
        beside: format!("mean; p50 {p50}, p99 {p99}"),
        ..time(row.mean_seconds)
    }
}

fn answered(row: &RowView) -> Figure {
    let offered = row.offered_per_second;
    Figure {
        text: figure(row.throughput_per_second.value),
        beside: offered.map_or_else(String::new, |rate| format!("of {}", figure(rate))),
        key: Some(row.throughput_per_second.value),
        is_text: false,
    }
}

fn memory(row: &RowView) -> Figure {
    let idle = row.memory.idle_bytes;
    Figure {
        text: words::memory(row.memory.peak_bytes),
        beside: idle.map_or_else(String::new, |idle| {
            format!("idle {}", words::memory(Some(idle)))
        }),
        key: row.memory.peak_bytes,
        is_text: false,
    }
}

fn time(value: Option<f64>) -> Figure {
    Figure {
        text: words::time(value),
        key: value,
        ..Figure::default()
    }
}

fn warm_up(row: &RowView) -> Figure {
    let unsteady = row.unsteady_heats;
    let beside = match unsteady {
        0 => String::new(),
        heats => format!("not steady in {}", of_heats(heats, row)),
    };
    Figure {
        beside,
        ..time(row.warm_up_seconds)
    }
}

fn spread(row: &RowView) -> Figure {
    Figure {
        text: words::spread(row.spread),
        key: row.spread,
        ..Figure::default()
    }
}

fn busy(row: &RowView) -> Figure {
    let limit = match row.limited_by {
        Some(LimitedBy::Server) => "server was the limit",
        Some(LimitedBy::Generator) => "generator was the limit",
        Some(LimitedBy::Neither) => "waited for something else",
        None => "",
    };
    Figure {
        text: row.busy.map_or_else(|| NONE.to_owned(), words::percent),
        beside: limit.to_owned(),
        key: row.busy,
        is_text: false,
    }
}

fn heats(row: &RowView) -> Figure {
    let mut beside = format!("{} slices", count(u64::from(row.slices)));
    if row.discarded_slices > 0 {
        beside = format!(
            "{beside}, {} discarded",
            count(u64::from(row.discarded_slices))
        );
    }
    Figure {
        text: count(u64::from(row.heats)),
        beside,
        key: Some(f64::from(row.heats)),
        is_text: false,
    }
}

fn failed(row: &RowView) -> Figure {
    let share = row.failed_share();
    Figure {
        text: count(row.failed_requests),
        beside: if row.failed_requests > 0 {
            format!("({})", words::percent(share))
        } else {
            String::new()
        },
        key: Some(share),
        is_text: false,
    }
}

/// "2 of 9 heats".
pub(super) fn of_heats(some: u32, row: &RowView) -> String {
    format!("{some} of {} heats", row.heats)
}
