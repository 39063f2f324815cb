//! How the stacks start.

use deadheat_document::{Cell, Column, Section, Table};
use deadheat_model::{
    figure::{NONE, bytes, count, counted, list, seconds},
    heat::FIRST_ANSWERS,
};
use deadheat_stats::{
    heats::Quantity,
    standings::{StartAtLoad, StartFigure, StartRow, StartTable},
};

use crate::document::{
    view::{LoadView, StandingsView},
    words,
};

/// Stacks that are named as the first to answer.
const MAX_LEADERS: usize = 3;

const LEGEND: &str = "First answer: from the start of the process to its first right answer. Memory at rest: right after \
                      that. Behind a figure are its rank and the uncertainty of its ratio to the best.";

/// The meaning of the columns of the load that followed a start.
const LEGEND_OF_LOADS: &str = "Steady after: start, and load until throughput and CPU time per answer were within 10 % of \
                               those at the end of the warm-up. ≤: it was steady before this could be measured. The p99 \
                               ranks nobody; behind it is its 95 % interval.";

/// Figures of starts; empty if no server was started.
pub(super) fn section(view: &StandingsView) -> Section {
    let section = Section::new("Starts").paragraphs(fastest(view));
    let all = view.starts.iter().flat_map(|table| &table.rows);
    let followed = |load: &&LoadView| all.clone().any(|row| has_figures(row, load));
    let loads: Vec<&LoadView> = view.leading().filter(followed).collect();
    let section = view.starts.iter().fold(section, |section, table| {
        let section = if view.starts.len() > 1 {
            section.subtitle(words::group(table.group))
        } else {
            section
        };
        if view.leading().count() == 1 {
            return section.table(of_table(table, true, loads.first().copied()));
        }
        let section = section.table(of_table(table, true, None));
        loads.iter().fold(section, |section, load| {
            let title = format!("Load after the start: {}", load.title);
            let after = of_table(table, false, Some(load));
            section.subtitle(title).table(after)
        })
    });
    let is_empty = view.starts.is_empty();
    section
        .aside((!is_empty).then_some(LEGEND))
        .aside((!loads.is_empty()).then_some(LEGEND_OF_LOADS))
        .bullets(notes(view))
}

/// Which stack starts fastest, and how much slower the slowest one does.
fn fastest(view: &StandingsView) -> Option<String> {
    let rows = &view.starts.first()?.rows;
    let (first, last) = (rows.first()?, rows.last()?);
    let may_lead = |row: &&StartRow| {
        let rank = row.first_answer_seconds.rank;
        rank.is_some_and(|rank| rank.best == 1)
    };
    let leaders: Vec<&StartRow> = rows.iter().filter(may_lead).collect();
    let time = |row: &StartRow| row.first_answer_seconds.value;
    let names: Vec<String> = leaders.iter().map(|row| row.target.to_string()).collect();
    let lead = match leaders.as_slice() {
        [] => return None,
        [one] if rows.len() == 1 => format!(
            "{} sends its first right answer after {}",
            names[0],
            seconds(time(one))
        ),
        [one] => format!(
            "{} starts fastest, with its first right answer after {}",
            names[0],
            seconds(time(one))
        ),
        [.., slowest] if leaders.len() <= MAX_LEADERS => format!(
            "{} start fastest, with their first right answer after {} (order undecided)",
            list(&names),
            words::time_range(time(first), time(slowest))
        ),
        _ => format!(
            "{} has its first right answer after {}, but {} may start as fast: undecided",
            names[0],
            seconds(time(first)),
            counted(leaders.len() - 1, "other")
        ),
    };
    let slowest = last
        .first_answer_seconds
        .behind
        .filter(|_| !may_lead(&last));
    let slowest = slowest.map_or_else(String::new, |behind| {
        let how = words::beside(Quantity::Latency, behind.ratio);
        format!("; {}, the last one, is {how}", last.target)
    });
    Some(format!("{lead}{slowest}."))
}

/// A table of starts: with `is_first` the columns that are the same at each load, and those of what followed at `load`.
fn of_table(table: &StartTable, is_first: bool, load: Option<&LoadView>) -> Table {
    let right = |head: &str| Column::right(head).sorted(true);
    let mut columns = vec![Column::left("stack").sorted(true)];
    if is_first {
        columns.extend(["starts", "first answer", "memory at rest"].map(right));
    }
    if load.is_some() {
        columns.extend(["steady after", "CPU until steady", "p99 of first answers"].map(right));
    }
    let mut cells = Table::new(columns);
    for row in &table.rows {
        let mut own = vec![Cell::from(row.target.to_string())];
        if is_first {
            own.push(Cell::figure(
                count(row.starts.into()),
                Some(row.starts.into()),
            ));
            own.push(figure(Some(row.first_answer_seconds), seconds));
            own.push(figure(row.memory_at_rest_bytes, bytes));
        }
        if let Some(load) = load {
            own.extend(after(row.at(&load.workload, &load.point.id)));
        }
        cells.row(own);
    }
    cells
}

/// Whether anything is known of what followed.
fn has_figures(row: &StartRow, load: &LoadView) -> bool {
    let found = row.at(&load.workload, &load.point.id);
    found.is_some_and(|found| {
        found.time_to_steady_seconds.is_some() || found.first_p99_seconds.is_some()
    })
}

/// What followed the starts of a stack at a load.
fn after(found: Option<&StartAtLoad>) -> [Cell; 3] {
    let Some(found) = found else {
        return [NONE; 3].map(Cell::from);
    };
    let time = match found.not_steady_after_seconds {
        Some(after) => Cell::figure(format!("not after {}", seconds(after)), Some(after)),
        None => figure(found.time_to_steady_seconds, seconds),
    };
    let cpu = figure(found.cpu_to_steady_seconds, seconds);
    let p99 = found.first_p99_seconds.map_or_else(
        || Cell::from(NONE),
        |p99| {
            let ends = p99
                .interval
                .map(|ends| words::time_range(ends.low, ends.high));
            Cell::figure(seconds(p99.mean), Some(p99.mean)).note(ends.unwrap_or_default())
        },
    );
    [time, cpu, p99]
}

/// A figure with its rank and its uncertainty.
fn figure(figure: Option<StartFigure>, write: fn(f64) -> String) -> Cell {
    let Some(figure) = figure else {
        return Cell::from(NONE);
    };
    let bound = if figure.is_upper_bound { "≤ " } else { "" };
    let rank = figure.rank.map(|rank| words::rank(Some(rank)));
    let width = figure
        .half_width
        .map(|width| words::half_width(Some(width)));
    let notes: Vec<String> = rank.into_iter().chain(width).collect();
    Cell::figure(
        format!("{bound}{}", write(figure.value)),
        Some(figure.value),
    )
    .note(notes.join(", "))
}

/// How many first answers there were, and starts that failed.
fn notes(view: &StandingsView) -> Vec<String> {
    let rows = || view.starts.iter().flat_map(|table| &table.rows);
    let answers = view.leading().filter_map(|load| {
        let found = rows().filter_map(|row| row.at(&load.workload, &load.point.id)?.first_answers);
        let least = found.clone().map(|[least, _]| least).min()?;
        let most = found.map(|[_, most]| most).max()?;
        Some(format!(
            "{} to {} ({})",
            count(least),
            count(most),
            load.short
        ))
    });
    let answers: Vec<String> = answers.collect();
    let answers = (!answers.is_empty()).then(|| {
        format!(
            "First answers of a start: {}. They are whole slices of load, as many as have {} answers together.",
            list(&answers),
            count(FIRST_ANSWERS)
        )
    });
    let failed = rows().filter(|row| row.failed_starts > 0).map(|row| {
        let all = counted((row.starts + row.failed_starts) as usize, "start");
        format!("{}: {} of {all} failed.", row.target, row.failed_starts)
    });
    answers.into_iter().chain(failed).collect()
}
