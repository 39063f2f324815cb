//! What a card shows, whichever kind of session it is of.

use crate::{
    figure::counted,
    view::{Dot, GroupView, Loss, PlotCell, Row, Section, View},
};

/// Everything on a card.
pub(crate) struct Content {
    /// In the upper right corner: when, and which of how many loads.
    pub(crate) place: String,
    /// What was measured.
    pub(crate) title: String,
    /// What came of it.
    pub(crate) verdict: String,
    /// The plot, or who failed.
    pub(crate) body: Body,
    /// The machine, in one line.
    pub(crate) machine: String,
    /// What the card does not show, in one line.
    pub(crate) caveat: String,
}

/// What stands below the verdict.
pub(crate) enum Body {
    /// Figures.
    Plot(Plot),
    /// There are none.
    Failures(Vec<Failure>),
}

/// Rows of dots on one axis from zero.
pub(crate) struct Plot {
    /// The stacks in their order.
    pub(crate) rows: Vec<PlotRow>,
    /// Groups of rows that are as good as equal, by their places.
    pub(crate) ties: Vec<Vec<usize>>,
    /// What such a group is called.
    pub(crate) tie_name: &'static str,
    /// What the axis and the intervals are, in a sentence or two.
    pub(crate) axis: String,
    /// What is not shown because it was not measured.
    pub(crate) not_measured: Option<String>,
}

/// A stack in a plot.
pub(crate) struct PlotRow {
    /// Its rank, as it is shown.
    pub(crate) rank: String,
    /// The stack.
    pub(crate) name: String,
    /// Its figure and the ends of its interval.
    pub(crate) dot: Dot,
    /// Whether the figure is only a lower bound.
    pub(crate) is_bound: bool,
    /// The figure as it is shown.
    pub(crate) value: String,
    /// Its half width as it is shown.
    pub(crate) spread: Option<String>,
}

/// A stack that failed.
pub(crate) struct Failure {
    /// Who, and what became of it.
    pub(crate) what: String,
    /// Why.
    pub(crate) why: String,
}

impl Content {
    /// Of a session of trials at a load point, or of one that has none.
    pub(super) fn of_trials(view: &View, group: Option<&GroupView>) -> Self {
        let title = group.map_or("No load point", |group| &group.title);
        let verdict = group.map_or(&view.headline, |group| &group.summary);
        let body = match group {
            Some(group) if !group.rows.is_empty() => Body::Plot(plot(group)),
            _ => {
                let here = group.iter().flat_map(|group| &group.losses);
                Body::Failures(here.chain(&view.losses).map(failure).collect())
            }
        };
        Self {
            place: place(view, group),
            title: title.to_owned(),
            verdict: verdict.clone(),
            body,
            machine: view.brief.machine.clone(),
            caveat: view.brief.caveat.clone(),
        }
    }
}

/// When, and which of how many load points this is.
fn place(view: &View, group: Option<&GroupView>) -> String {
    let closed = view.sections.iter();
    let closed = closed.filter(|section| matches!(section, Section::Capacity(_)));
    match (closed.count(), group) {
        (0 | 1, _) | (_, None) => view.brief.date.clone(),
        (many, Some(_)) => one_of(&view.brief.date, many),
    }
}

/// When, and that there is more.
pub(crate) fn one_of(date: &str, loads: usize) -> String {
    format!("{date}, one of {}", counted(loads, "load point"))
}

fn plot(group: &GroupView) -> Plot {
    let what = group.intervals.split_once(". ");
    let what = what.map_or(group.intervals.trim_end_matches('.'), |(first, _)| first);
    let rows = group.rows.iter().zip(&group.plot);
    Plot {
        rows: rows.map(|(row, cell)| plot_row(row, cell)).collect(),
        ties: group.heats.clone(),
        tie_name: group.heat_name,
        axis: format!("Requests per second. {what}."),
        not_measured: group.not_measured.clone(),
    }
}

fn plot_row(row: &Row, cell: &PlotCell) -> PlotRow {
    PlotRow {
        rank: row.rank.clone(),
        name: row.target.clone(),
        dot: cell.throughput,
        is_bound: cell.lower_bound,
        value: row.throughput.clone(),
        spread: row.spread.clone(),
    }
}

fn failure(loss: &Loss) -> Failure {
    Failure {
        what: format!("{} {}", loss.target, loss.what),
        why: loss.reasons.join("; "),
    }
}
