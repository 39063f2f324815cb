//! A search as one HTML file that needs no network.

use minijinja::{Value, context, value::Serde};

use super::view::{BisectView, HEAD};
use crate::{
    ReportError,
    compare::STYLE,
    html::{environment, shell::Shell},
};

const TEMPLATE: &str = include_str!("bisect.html.j2");

/// The search as a page.
///
/// # Errors
/// When the template does not fit the view.
pub fn html(view: &BisectView) -> Result<String, ReportError> {
    let shell = Shell::without_library(Vec::new());
    let page = environment(&[("bisect.html", TEMPLATE)], false)?
        .get_template("bisect.html")?
        .render(context! {
            view => Value::from(Serde(view)),
            heads => Value::from(Serde(HEAD)),
            style => Value::from_safe_string(STYLE.to_owned()),
            shell => shell.context(),
        })?;
    Ok(shell.weighed(page))
}
