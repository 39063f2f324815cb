//! The report as one HTML file that needs no network: template, style, script and plotly's JavaScript are all in it.

mod course;
pub(crate) mod data;
mod dots;
mod latency_plots;
pub mod live;
mod naming;
mod nines;
mod plotly;
mod plots;
pub(crate) mod plotting;
mod rates;
mod scatter;
mod series;
pub(crate) mod shell;
mod startup;
mod weight;

use minijinja::{Environment, Value, context, syntax::SyntaxConfig, value::Serde};

pub use self::plotly::{Assets, plotly_file, plotly_js};
use self::{data::DataFile, live::Bar, shell::Shell};
use crate::{ReportError, View};

/// The page's template, by the name that the others call it by. The names' ending switches escaping on.
const PAGE: &str = "page.html";
const TEMPLATES: &[(&str, &str)] = &[
    (PAGE, include_str!("templates/page.html.j2")),
    ("parts.html", include_str!("templates/parts.html.j2")),
    ("header.html", include_str!("templates/header.html.j2")),
    ("capacity.html", include_str!("templates/capacity.html.j2")),
    ("latency.html", include_str!("templates/latency.html.j2")),
    ("ratios.html", include_str!("templates/ratios.html.j2")),
    (
        "provenance.html",
        include_str!("templates/provenance.html.j2"),
    ),
    live::TEMPLATE,
    ("course.html", include_str!("templates/course.html.j2")),
    ("startup.html", include_str!("templates/startup.html.j2")),
    ("series.html", include_str!("templates/series.html.j2")),
    ("lost.html", include_str!("templates/lost.html.j2")),
    ("stacks.html", include_str!("templates/stacks.html.j2")),
    shell::DATA,
    shell::SCRIPTS,
];
const STYLE: &str = include_str!("style.css");
/// What makes the figures comes before what draws them.
const SCRIPT: &str = concat!(
    include_str!("course.js"),
    include_str!("series.js"),
    include_str!("drawing.js"),
    include_str!("saving.js"),
    include_str!("picture.js"),
    include_str!("ratios.js")
);

/// What a page holds beside what it shows.
#[derive(Clone, Copy, Debug)]
pub struct Contents<'a> {
    /// The report as [`json`](fn@crate::json) writes it.
    pub json: &'a str,
    /// The report as [`csv`](fn@crate::csv) writes it.
    pub csv: &'a str,
    /// Where plotly's JavaScript is.
    pub assets: Assets,
}

/// The whole report as a page.
pub fn html(view: &View, contents: &Contents<'_>) -> Result<String, ReportError> {
    let command = |format| format!("deadheat report {} --format {format}", view.id);
    let data = vec![
        DataFile::new(
            "report.json",
            "the analysis, unrounded (docs/report-json.md)",
            command("json"),
            contents.json,
        ),
        DataFile::new(
            "report.csv",
            "every trial's figures, a row each (docs/report-csv.md)",
            command("csv"),
            contents.csv,
        ),
    ];
    page(view, &Shell::new(plotly_js(), contents.assets, data), None)
}

/// The page without data, and with another script in the place of plotly's (tests leave its megabytes out).
pub fn html_with(view: &View, plotly_js: &str) -> Result<String, ReportError> {
    let shell = Shell::new(plotly_js.to_owned(), Assets::Inline, Vec::new());
    page(view, &shell, None)
}

/// The page in its shell; with a bar its live variant.
fn page(view: &View, shell: &Shell<'_>, live: Option<&Bar>) -> Result<String, ReportError> {
    let plots = view
        .sections
        .iter()
        .map(plots::of_section)
        .collect::<Result<Vec<_>, _>>()?;
    let course = view.course.iter().flat_map(|course| &course.points);
    let course = course
        .map(|point| course::of_point(point).finished(&point.title))
        .collect::<Result<Vec<_>, _>>()?;
    let startup = view.startup.iter().flat_map(startup::of_view);
    let startup = startup
        .map(|drawing| drawing.finished("all stacks"))
        .collect::<Result<Vec<_>, _>>()?;
    let ratios = view
        .ratios
        .as_ref()
        .map(serde_json::to_string)
        .transpose()?;
    let ratios = ratios.map(|json| plotting::in_script(&json));
    let series = view.series.as_ref().map(series::page).transpose()?;
    let page = environment(TEMPLATES)?
        .get_template(PAGE)?
        .render(context! {
        live => live.map(|bar| bar.context(live::TRIALS)),
        view => Value::from(Serde(view)),
        ratios => ratios,
        series => Value::from(Serde(series.flatten())),
        plots => Value::from(Serde(plots)),
        course_plots => Value::from(Serde(course)),
        startup_plots => Value::from(Serde(startup)),
        style => Value::from_safe_string(STYLE.to_owned()),
        script => Value::from_safe_string(SCRIPT.to_owned()),
        shell => shell.context(),
        })?;
    Ok(shell.weighed(page))
}

pub(crate) fn environment(
    templates: &[(&'static str, &'static str)],
) -> Result<Environment<'static>, ReportError> {
    let mut environment = Environment::new();
    let syntax = SyntaxConfig::builder()
        .trim_blocks(true)
        .lstrip_blocks(true)
        .keep_trailing_newline(true)
        .build()?;
    environment.set_syntax(syntax);
    for (name, template) in templates {
        environment.add_template(name, template)?;
    }
    Ok(environment)
}
