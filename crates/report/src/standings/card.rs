//! A picture of one load, for where a link is shown.

use std::collections::BTreeSet;

use deadheat_stats::{heats::Verdict, standings::Measure};

use super::{
    view::{LoadView, RowView, StandingsView, TableView},
    words,
};
use crate::{
    ReportError,
    card::{
        self,
        content::{Body, Content, Dot, Failure, Plot, PlotRow, one_of},
    },
};

/// The card's width and height in pixels.
pub use crate::card::SIZE as CARD_SIZE;

/// The card as a PNG file of 1200 × 630 pixels: of a workload (`name` or `name:point`), or of the first load that has
/// figures.
pub fn card(view: &StandingsView, workload: Option<&str>) -> Result<Vec<u8>, ReportError> {
    card::png(&card_svg(view, workload)?)
}

/// The same as an SVG document.
pub fn card_svg(view: &StandingsView, workload: Option<&str>) -> Result<String, ReportError> {
    card::draw(&content(view, chosen(view, workload)?))
}

/// The load that is shown: one with figures if there is any.
fn chosen<'a>(
    view: &'a StandingsView,
    workload: Option<&str>,
) -> Result<Option<&'a LoadView>, ReportError> {
    let is_asked = |load: &&LoadView| {
        workload.is_none_or(|asked| load.workload == asked || load.name == asked)
    };
    let asked: Vec<&LoadView> = view.loads.iter().filter(is_asked).collect();
    if let (Some(name), true) = (workload, asked.is_empty()) {
        return Err(ReportError::NoSuchWorkload {
            asked: name.to_owned(),
            known: view.loads.iter().map(|load| load.name.clone()).collect(),
        });
    }
    let with_figures = asked.iter().find(|load| load.rows().next().is_some());
    Ok(with_figures.or_else(|| asked.first()).copied())
}

fn content(view: &StandingsView, load: Option<&LoadView>) -> Content {
    let table = load.and_then(|load| load.tables.first());
    let body = match (load, table) {
        (Some(load), Some(table)) if !table.rows.is_empty() => Body::Plot(plot(view, load, table)),
        _ => Body::Failures(failures(view, load)),
    };
    let date = &view.title.date;
    Content {
        place: match view.loads.len() {
            0 | 1 => date.clone(),
            many => one_of(date, many),
        },
        title: load.map_or_else(|| view.title.compared.clone(), |load| load.title.clone()),
        verdict: load.map_or_else(
            || "Nothing was planned.".to_owned(),
            |load| format!("{}.", load.outcome()),
        ),
        body,
        machine: format!("{} · {}", view.title.machine, view.trust.line),
        caveat: "One machine over loopback: the report says what this does not show.".to_owned(),
    }
}

fn plot(view: &StandingsView, load: &LoadView, table: &TableView) -> Plot {
    let what = match load.measure {
        Measure::Throughput => "Requests per second",
        Measure::ResponseTime => "99th percentile of response time in ms, less is better",
    };
    let is_here = |lack: &&super::view::LackView| {
        lack.load.is_none() || lack.load.as_ref() == Some(&load.short)
    };
    let missing = view.not_measured.entries.iter().filter(is_here);
    let names: BTreeSet<&str> = missing.map(|lack| lack.target.as_str()).collect();
    let names: Vec<String> = names.into_iter().map(str::to_owned).collect();
    Plot {
        rows: table
            .rows
            .iter()
            .filter_map(|row| plot_row(load.measure, row))
            .collect(),
        ties: dead_heats(table),
        tie_name: "dead heat",
        axis: format!("{what}. Lines: how well the ratio to the best is known."),
        not_measured: (!names.is_empty())
            .then(|| format!("Not measured: {}.", words::some(&names, 4))),
    }
}

fn plot_row(measure: Measure, row: &RowView) -> Option<PlotRow> {
    let main = row.main?;
    // The axis has no units, so that milliseconds are easier to read than parts of a second.
    let unit = match measure {
        Measure::Throughput => 1.0,
        Measure::ResponseTime => 1e3,
    };
    let value = main.value * unit;
    let ends = row
        .half_width
        .map(|width| (value / width.exp(), value * width.exp()));
    Some(PlotRow {
        rank: words::rank(main.rank),
        name: row.target.clone(),
        dot: Dot { value, ends },
        is_bound: main.is_bound,
        value: words::placed(Some(&main), |value| words::main(measure, value)),
        spread: row.half_width.map(|width| words::half_width(Some(width))),
    })
}

/// Rows that follow each other and are all dead heats with each other.
fn dead_heats(table: &TableView) -> Vec<Vec<usize>> {
    let tied: BTreeSet<(usize, usize)> = table
        .pairs
        .iter()
        .filter(|pair| pair.verdict == Verdict::DeadHeat)
        .map(|pair| (pair.better, pair.worse))
        .collect();
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for row in 0..table.rows.len() {
        let mut group = vec![row];
        for other in row + 1..table.rows.len() {
            let all = group.iter().all(|one| tied.contains(&(*one, other)));
            if !all {
                break;
            }
            group.push(other);
        }
        let is_new = groups
            .last()
            .is_none_or(|last| !group.iter().all(|one| last.contains(one)));
        if group.len() > 1 && is_new {
            groups.push(group);
        }
    }
    groups
}

fn failures(view: &StandingsView, load: Option<&LoadView>) -> Vec<Failure> {
    let here = load.iter().flat_map(|load| &load.lacking);
    let everywhere = view
        .not_measured
        .entries
        .iter()
        .filter(|lack| lack.load.is_none());
    let all = here.chain(everywhere);
    all.map(|lack| Failure {
        what: format!("{} {}", lack.target, words::absent(lack.because)),
        why: lack.reason.clone(),
    })
    .collect()
}
