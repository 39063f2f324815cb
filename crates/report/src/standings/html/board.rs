//! A table of a load as plots: ratios to a baseline, and small plots of what was measured, all in one order.

use deadheat_stats::standings::Measure;
use serde::Serialize;

use super::{
    bars::{self, Amount, Dots},
    colours::Colours,
    course::course,
    figures::{self, Column, FigureRow},
    forest::{Beside, Cell, Layout, Line},
};
use crate::{
    ReportError,
    figure::{Quantity, figure, seconds},
    html::in_script,
    standings::{
        view::{LoadView, PairView, RowView, TableView},
        words,
    },
};

/// The plots of a table, and the table.
#[derive(Debug, Serialize)]
pub(super) struct Board {
    /// The id that its parts' ids begin with.
    id: String,
    /// Its name beside other tables of the load.
    title: Option<String>,
    /// What it is of, in words.
    label: String,
    /// The stacks in their order.
    names: Vec<Name>,
    /// The drawing beside the default baseline.
    ratios: String,
    /// What is drawn beside each baseline, as JSON that cannot end its script element.
    layouts: String,
    panels: Vec<Panel>,
    /// What each stack answered in each heat; `None` with too few heats.
    course: Option<CourseSection>,
    caption: String,
    columns: Vec<Column>,
    rows: Vec<FigureRow>,
}

/// The course of the heats.
#[derive(Debug, Serialize)]
struct CourseSection {
    names: Vec<Name>,
    drawing: String,
}

/// A stack's name in its colour.
#[derive(Debug, Serialize)]
struct Name {
    name: String,
    colour: String,
}

/// A small plot.
#[derive(Debug, Serialize)]
struct Panel {
    title: &'static str,
    unit: &'static str,
    drawing: String,
}

/// The plots and figures of a table. `margin`: ratios within it of 1 are as good as equal.
pub(super) fn board(
    id: String,
    load: &LoadView,
    table: &TableView,
    margin: f64,
    colours: &Colours,
) -> Result<Board, ReportError> {
    let label = match &table.title {
        Some(title) => format!("{}, {title}", load.title),
        None => load.title.clone(),
    };
    let line = |row: &RowView| Line {
        colour: colours.class(&row.target),
        name: row.target.clone(),
    };
    let lines: Vec<Line> = table.rows.iter().map(line).collect();
    let beside = |baseline: usize| Layout::new(&cells(table, baseline), margin);
    let layouts: Vec<Layout> = (0..lines.len()).map(beside).collect();
    let ratios = match layouts.first() {
        Some(first) => {
            let label = format!(
                "{label}: how many times as fast each stack is as {}; the table has the figures",
                lines[0].name
            );
            first.draw(&lines, &label)
        }
        None => String::new(),
    };
    let name = |line: &Line| Name {
        name: line.name.clone(),
        colour: line.colour.clone(),
    };
    Ok(Board {
        id,
        title: table.title.clone(),
        names: lines.iter().map(name).collect(),
        ratios,
        layouts: in_script(&serde_json::to_string(&layouts)?),
        panels: panels(load, table, &lines, &label),
        course: course(load, table, &lines, &label).map(|course| CourseSection {
            names: course.lines.iter().map(name).collect(),
            drawing: course.drawing,
        }),
        caption: figures::caption(load, table),
        columns: figures::columns(load),
        rows: figures::rows(load, table, colours),
        label,
    })
}

/// How every row of a table stands to one of them.
fn cells(table: &TableView, baseline: usize) -> Vec<Cell> {
    let mut cells = vec![Cell::Nothing; table.rows.len()];
    cells[baseline] = Cell::Baseline;
    for pair in &table.pairs {
        let (other, beside) = if pair.worse == baseline {
            (pair.better, better(pair))
        } else if pair.better == baseline {
            (pair.worse, better(pair).map(inverse))
        } else {
            continue;
        };
        if let (Some(cell), Some(beside)) = (cells.get_mut(other), beside) {
            *cell = Cell::Beside(beside);
        }
    }
    cells
}

/// How the better one of a pair stands to the other, alone; `None` if they cannot be compared.
fn better(pair: &PairView) -> Option<Beside> {
    let alone = pair.alone?;
    Some(Beside {
        ratio: pair.ratio?,
        interval: Some((alone.interval.low, alone.interval.high)),
        verdict: alone.verdict,
    })
}

/// The same pair seen from the other one.
fn inverse(beside: Beside) -> Beside {
    Beside {
        ratio: 1.0 / beside.ratio,
        interval: beside.interval.map(|(low, high)| (1.0 / high, 1.0 / low)),
        verdict: beside.verdict.reversed(),
    }
}

fn panels(load: &LoadView, table: &TableView, lines: &[Line], label: &str) -> Vec<Panel> {
    let label = |title: &str| format!("{label}: {title}; the table has the figures");
    let dots = |title, unit, of: fn(&RowView) -> Dots, quantity: fn(f64) -> Quantity| {
        let all: Vec<Dots> = table.rows.iter().map(of).collect();
        Panel {
            title,
            unit,
            drawing: bars::dots(
                lines,
                &all,
                |value| quantity(value).round().to_string(),
                &label(title),
            ),
        }
    };
    let throughput: Vec<Amount> = table.rows.iter().map(throughput).collect();
    let mut panels = vec![
        Panel {
            title: "Throughput",
            unit: "requests/s",
            drawing: bars::amounts(lines, &throughput, &label("Throughput")),
        },
        dots("Cost", "CPU per request, log", cost, |us| {
            Quantity::seconds(us / 1e6)
        }),
        dots("Memory", "peak PSS, log", memory, |mib| {
            Quantity::bytes(mib * MIB)
        }),
    ];
    if load.measure == Measure::ResponseTime {
        let (title, unit) = ("Response time", "● p50 ○ p99, log");
        panels.push(dots(title, unit, latency, Quantity::seconds));
    }
    panels
}

fn throughput(row: &RowView) -> Amount {
    let placed = row.throughput_per_second;
    Amount {
        value: Some(placed.value),
        text: words::placed(Some(&placed), figure),
    }
}

fn cost(row: &RowView) -> Dots {
    let cost = row.cpu_us_per_request;
    Dots {
        first: cost.map(|cost| cost.value),
        second: None,
        text: words::placed(cost.as_ref(), words::cost),
    }
}

const MIB: f64 = 1_048_576.0;

fn memory(row: &RowView) -> Dots {
    Dots {
        // So that round values at the axis are round MiB.
        first: row.memory.peak_bytes.map(|bytes| bytes / MIB),
        second: None,
        text: words::memory(row.memory.peak_bytes),
    }
}

fn latency(row: &RowView) -> Dots {
    Dots {
        first: row.p50_seconds.map(|p50| p50.value),
        second: row.p99_seconds.map(|p99| p99.value),
        text: words::placed(row.p99_seconds.as_ref(), seconds),
    }
}
