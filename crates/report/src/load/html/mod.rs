//! The report of a load as one HTML file that needs no network. Style and script are those of a session's report.

mod plots;

use minijinja::{Value, context, value::Serde};

use super::{LatencyRow, LoadView, REQUEST_HEADS, RequestRow, StatusRow};
use crate::{
    ReportError,
    html::{
        Contents,
        data::DataFile,
        environment, plotly_js,
        shell::{DATA, PLOTS, SCRIPTS, Shell},
    },
};

const TEMPLATE: &str = include_str!("load.html.j2");
const STYLE: &str = include_str!("../../html/style.css");
const OWN_STYLE: &str = include_str!("load.css");

/// The whole report as a page.
pub fn html(view: &LoadView, contents: &Contents<'_>) -> Result<String, ReportError> {
    let command = |name| format!("deadheat load -o {name} …");
    let data = vec![
        DataFile::new(
            "load.json",
            "all figures (docs/load-json.md)",
            command("load.json"),
            contents.json,
        ),
        DataFile::new(
            "load.csv",
            "the load over time, a row for each interval (docs/load-json.md)",
            command("load.csv"),
            contents.csv,
        ),
    ];
    page(view, &Shell::new(&plotly_js(), data))
}

/// The page without data, and with another script in the place of plotly's (tests leave its megabytes out).
pub fn html_with(view: &LoadView, plotly_js: &str) -> Result<String, ReportError> {
    let shell = Shell::new(plotly_js, Vec::new());
    page(view, &shell)
}

fn page(view: &LoadView, shell: &Shell<'_>) -> Result<String, ReportError> {
    let plots = plots::of(view)?;
    let mut environment = environment(&[("load.html", TEMPLATE), DATA, SCRIPTS], false)?;
    environment.add_filter("count", crate::figure::count);
    let statuses: Vec<_> = view.statuses.iter().map(StatusRow::shown).collect();
    let requests: Vec<_> = view.requests.iter().map(RequestRow::shown).collect();
    let latency: Vec<_> = view.latency.rows.iter().map(LatencyRow::shown).collect();
    let page = environment.get_template("load.html")?.render(context! {
        view => Value::from(Serde(view)),
        latency,
        statuses,
        requests,
        request_heads => REQUEST_HEADS,
        plots => Value::from(Serde(plots)),
        style => Value::from_safe_string(format!("{STYLE}{OWN_STYLE}")),
        script => Value::from_safe_string(PLOTS.to_owned()),
        shell => shell.context(),
    })?;
    Ok(shell.weighed(page))
}
