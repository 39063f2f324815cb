//! The report of a load as one HTML file that needs no network. Style and script are those of a session's report.

mod plots;

use minijinja::{Environment, Value, context, syntax::SyntaxConfig, value::Serde};

use super::LoadView;
use crate::{ReportError, html::plotly_js};

const TEMPLATE: &str = include_str!("load.html.j2");
const STYLE: &str = include_str!("../../html/style.css");
const OWN_STYLE: &str = include_str!("load.css");
const SCRIPT: &str = include_str!("../../html/script.js");

/// The whole report as a page.
pub fn html(view: &LoadView) -> Result<String, ReportError> {
    html_with(view, &plotly_js())
}

/// The page with another script in the place of plotly's (tests leave its megabytes out).
pub fn html_with(view: &LoadView, plotly_js: &str) -> Result<String, ReportError> {
    let plots = plots::of(view)?;
    let mut environment = Environment::new();
    let syntax = SyntaxConfig::builder()
        .trim_blocks(true)
        .lstrip_blocks(true)
        .build()?;
    environment.set_syntax(syntax);
    // The name's ending switches escaping on.
    environment.add_template("load.html", TEMPLATE)?;
    let page = environment.get_template("load.html")?.render(context! {
        view => Value::from(Serde(view)),
        plots => Value::from(Serde(plots)),
        style => Value::from_safe_string(format!("{STYLE}{OWN_STYLE}")),
        script => Value::from_safe_string(SCRIPT.to_owned()),
        plotly => Value::from_safe_string(plotly_js.to_owned()),
    })?;
    Ok(page)
}
