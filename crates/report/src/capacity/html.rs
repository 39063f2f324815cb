//! The report of a search as one HTML file that needs no network, in the style of that of a load.

use minijinja::{Value, context, value::Serde};

use deadheat_model::capacity::CapacityRecord;
use deadheat_stats::capacity::CapacityAnalysis;

use super::{CapacityView, csv, json, plot};
use crate::{
    ReportError,
    html::{
        data::DataFile,
        environment, plotly_js,
        shell::{DATA, PLOTS, SCRIPTS, Shell},
    },
};

const TEMPLATE: &str = include_str!("capacity.html.j2");
const STYLE: &str = concat!(
    include_str!("../html/style.css"),
    include_str!("../load/html/load.css"),
    // Points have their sign in the legend's text.
    ".stroke.none { display: none; }\n"
);

/// The whole report as a page.
///
/// # Errors
/// When the template does not fit the view.
pub fn html(record: &CapacityRecord, analysis: &CapacityAnalysis) -> Result<String, ReportError> {
    let (json, csv) = (json(record, analysis)?, csv(record));
    let command = |name| format!("deadheat load --find-rate … -o {name} …");
    let data = vec![
        DataFile::new(
            "capacity.json",
            "everything that is known (docs/load-json.md)",
            command("capacity.json"),
            &json,
        ),
        DataFile::new(
            "capacity.csv",
            "a row for each trial (docs/load-json.md)",
            command("capacity.csv"),
            &csv,
        ),
    ];
    page(record, analysis, &Shell::new(&plotly_js(), data))
}

/// The page without data, and with another script in the place of plotly's (tests leave its megabytes out).
///
/// # Errors
/// Those of [`html`].
pub fn html_with(
    record: &CapacityRecord,
    analysis: &CapacityAnalysis,
    plotly_js: &str,
) -> Result<String, ReportError> {
    page(record, analysis, &Shell::new(plotly_js, Vec::new()))
}

fn page(
    record: &CapacityRecord,
    analysis: &CapacityAnalysis,
    shell: &Shell<'_>,
) -> Result<String, ReportError> {
    let view = CapacityView::new(record, analysis);
    let plots = plot::of(record, analysis)?;
    let environment = environment(&[("capacity.html", TEMPLATE), DATA, SCRIPTS], false)?;
    let page = environment
        .get_template("capacity.html")?
        .render(context! {
            view => Value::from(Serde(&view)),
            plots => Value::from(Serde(plots)),
            style => Value::from_safe_string(STYLE.to_owned()),
            script => Value::from_safe_string(PLOTS.to_owned()),
            shell => shell.context(),
        })?;
    Ok(shell.weighed(page))
}
