//! What all pages have in common: the data that they hold, the shell, plots, and the bar of a live page.

pub(crate) mod data;
pub mod live;
mod plotly;
pub(crate) mod plotting;
pub(crate) mod shell;
mod weight;

use minijinja::{Environment, syntax::SyntaxConfig};

pub use self::plotly::plotly_js;
use crate::ReportError;

/// What a page holds beside what it shows.
#[derive(Clone, Copy, Debug)]
pub struct Contents<'a> {
    /// The report as JSON.
    pub json: &'a str,
    /// The report as CSV.
    pub csv: &'a str,
}

/// Templates, by their names, whose endings switch escaping on. `ends_lines`: whether a template's last line keeps its end.
pub(crate) fn environment(
    templates: &[(&'static str, &'static str)],
    ends_lines: bool,
) -> Result<Environment<'static>, ReportError> {
    let mut environment = Environment::new();
    let syntax = SyntaxConfig::builder()
        .trim_blocks(true)
        .lstrip_blocks(true)
        .keep_trailing_newline(ends_lines)
        .build()?;
    environment.set_syntax(syntax);
    for (name, template) in templates {
        environment.add_template(name, template)?;
    }
    Ok(environment)
}
