//! What a card shows.

use std::collections::BTreeSet;

use deadheat_stats::{heats::Verdict, standings::Measure};

use crate::{
    ReportError,
    figure::counted,
    standings::view::{LackView, LoadView, Placed, RowView, StandingsView, TableView},
};

/// Everything on a card.
pub(super) struct Content<'a> {
    /// In the upper right corner: when, and which of how many loads.
    pub(super) place: String,
    /// What was measured.
    pub(super) title: &'a str,
    /// What came of it.
    pub(super) verdict: String,
    /// What stands below the verdict.
    pub(super) body: Body<'a>,
    /// The machine, in one line.
    pub(super) machine: String,
    /// The machines and the way between them, in two or three words.
    pub(super) way: &'static str,
}

/// The plot, or who failed.
pub(super) enum Body<'a> {
    /// Figures.
    Plot(Plot<'a>),
    /// There are none.
    Failures(Vec<&'a LackView>),
}

/// Rows of dots on one axis from zero.
pub(super) struct Plot<'a> {
    /// What the dots are.
    pub(super) measure: Measure,
    /// The stacks in their order.
    pub(super) rows: Vec<PlotRow<'a>>,
    /// Groups of rows that are as good as equal, by their places.
    pub(super) ties: Vec<Vec<usize>>,
    /// Stacks without a figure.
    pub(super) missing: Vec<String>,
}

/// A stack in a plot, with its figure.
#[derive(Clone, Copy)]
pub(super) struct PlotRow<'a> {
    pub(super) row: &'a RowView,
    pub(super) main: Placed,
}

impl PlotRow<'_> {
    /// The ends of its interval.
    pub(super) fn ends(&self) -> Option<(f64, f64)> {
        let width = self.row.half_width?.exp();
        Some((self.main.value / width, self.main.value * width))
    }
}

/// The card of a workload (`name` or `name:point`), or of the first load that has figures.
pub(super) fn content<'a>(
    view: &'a StandingsView,
    workload: Option<&str>,
) -> Result<Content<'a>, ReportError> {
    let load = chosen(view, workload)?;
    let table = load.and_then(|load| load.tables.first());
    let body = match (load, table) {
        (Some(load), Some(table)) if !table.rows.is_empty() => Body::Plot(plot(view, load, table)),
        _ => Body::Failures(failures(view, load)),
    };
    let date = &view.title.date;
    Ok(Content {
        place: match view.loads.len() {
            0 | 1 => date.clone(),
            many => format!("{date}, one of {}", counted(many, "load point")),
        },
        title: load.map_or(&view.title.compared, |load| &load.title),
        verdict: load.map_or_else(
            || "Nothing was planned.".to_owned(),
            |load| format!("{}.", load.outcome()),
        ),
        body,
        machine: format!("{} · {}", view.title.machine, view.trust.line),
        way: if view.title.alone {
            "One machine over loopback"
        } else {
            "Machines in a network"
        },
    })
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

fn plot<'a>(view: &'a StandingsView, load: &LoadView, table: &'a TableView) -> Plot<'a> {
    let is_here = |lack: &&LackView| lack.load.is_none() || lack.load.as_ref() == Some(&load.short);
    let missing = view.not_measured.entries.iter().filter(is_here);
    let names: BTreeSet<String> = missing.map(|lack| lack.target.clone()).collect();
    let with_figure = |row: &'a RowView| {
        let main = row.main?;
        Some(PlotRow { row, main })
    };
    Plot {
        measure: load.measure,
        rows: table.rows.iter().filter_map(with_figure).collect(),
        ties: dead_heats(table),
        missing: names.into_iter().collect(),
    }
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

fn failures<'a>(view: &'a StandingsView, load: Option<&'a LoadView>) -> Vec<&'a LackView> {
    let here = load.into_iter().flat_map(|load| &load.lacking);
    let everywhere = view.not_measured.entries.iter();
    here.chain(everywhere.filter(|lack| lack.load.is_none()))
        .collect()
}
