//! The report of a session of heats as one HTML file that needs nothing else: the answer on the first screen, then each
//! load, then the details. Plots are SVG that is drawn here; a small script lets the reader choose an order and a baseline.

mod bars;
mod board;
mod colours;
mod course;
mod end;
mod figures;
mod forest;
mod load;
mod matrix;
mod notes;
mod published;

use deadheat_model::heats::EndReason;
use minijinja::{Value, context, value::Serde};
use serde::Serialize;

use self::{colours::Colours, load::LoadSection, matrix::Matrix};
use super::{StandingsView, view::State, words};
use crate::{
    ReportError,
    html::{
        Contents,
        data::DataFile,
        environment,
        live::{Bar, TEMPLATE as LIVE},
        shell::{self, Shell},
    },
    standings::view::WarningView,
};

/// The page's template, by the name that the others call it by. The names' ending switches escaping on.
const PAGE: &str = "page.html";
const TEMPLATES: &[(&str, &str)] = &[
    (PAGE, include_str!("templates/page.html.j2")),
    ("first.html", include_str!("templates/first.html.j2")),
    ("load.html", include_str!("templates/load.html.j2")),
    (
        "published.html",
        include_str!("templates/published.html.j2"),
    ),
    ("details.html", include_str!("templates/details.html.j2")),
    LIVE,
    shell::DATA,
];
const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = concat!(
    include_str!("script.js"),
    include_str!("../../html/saving.js")
);

/// Warnings on the first screen; the others are among the details.
const MOST_WARNINGS: usize = 3;

/// The report as a page. Without `contents` the page has no data to save.
pub fn html(view: &StandingsView, contents: Option<&Contents<'_>>) -> Result<String, ReportError> {
    let command = |format| format!("deadheat report {} --format {format}", view.id);
    let data = contents.map(|contents| {
        vec![
            DataFile::new(
                "report.json",
                "everything that is shown, unrounded (docs/formats.md)",
                command("json"),
                contents.json,
            ),
            DataFile::new(
                "report.csv",
                "a row for each load, stack and metric (docs/formats.md)",
                command("csv"),
                contents.csv,
            ),
        ]
    });
    page(view, &Shell::new(data.unwrap_or_default()), None)
}

/// The page of a session that is being measured: the report so far, below a bar, with a script that reloads it.
pub fn live_page(view: &StandingsView, bar: &Bar) -> Result<String, ReportError> {
    page(view, &Shell::new(Vec::new()), Some(bar))
}

/// What the templates call `page`.
#[derive(Debug, Serialize)]
struct Page<'a> {
    id: &'a str,
    title: String,
    /// What became of the session, if it is not what a reader expects.
    state: Option<&'static str>,
    loads: Vec<LoadSection>,
    matrices: Vec<Matrix>,
    legend: Vec<String>,
    trust: &'a str,
    warnings: &'a [WarningView],
    not_measured: Option<&'a str>,
}

fn page(view: &StandingsView, shell: &Shell<'_>, bar: Option<&Bar>) -> Result<String, ReportError> {
    let rows = view.loads.iter().flat_map(|load| load.rows());
    let colours = Colours::new(rows.map(|row| row.target.as_str()));
    let page = Page {
        id: &view.id,
        title: view.title.to_string(),
        state: state(view.state),
        loads: load::sections(view, &colours)?,
        matrices: matrix::matrices(view, &colours),
        legend: matrix::legend(view),
        trust: &view.trust.line,
        warnings: &view.warnings,
        not_measured: view.not_measured.line.as_deref(),
    };
    let text = environment(TEMPLATES, true)?
        .get_template(PAGE)?
        .render(context! {
            live => bar.map(|bar| bar.context()),
            page => Value::from(Serde(page)),
            published => Value::from(Serde(published::tables(view))),
            most_warnings => MOST_WARNINGS,
            no_verdict => matrix::NO_VERDICT,
            sides_heads => words::SIDES,
            sides_legend => words::SIDES_LEGEND,
            details => Value::from(Serde(&view.details)),
            lost => Value::from(Serde(end::lost(&view.not_measured))),
            discarded => Value::from(Serde(end::discarded(view))),
            time => Value::from(Serde(end::time(&view.details.time))),
            style => Value::from_safe_string(format!("{STYLE}{}\n", colours.style())),
            script => Value::from_safe_string(SCRIPT.to_owned()),
            shell => shell.context(),
        })?;
    Ok(shell.weighed(text))
}

/// How a session ended, if that is not as a reader expects.
fn state(state: State) -> Option<&'static str> {
    match state {
        State::Ended(EndReason::Decided | EndReason::Finished | EndReason::Budget) => None,
        State::Running
        | State::Killed
        | State::Ended(EndReason::Interrupted | EndReason::Lost | EndReason::Nothing) => {
            Some(words::state(state))
        }
    }
}
