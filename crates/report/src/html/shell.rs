//! What the pages of sessions and of loads have in common: the policy, plotly's script, the data, and the page's weight.

use minijinja::{Value, context, value::Serde};

use super::{
    data::{DataFile, packed},
    weight,
};
use crate::figure::bytes;

/// The template of the section with the data.
pub(crate) const DATA: (&str, &str) = ("data.html", include_str!("templates/data.html.j2"));
/// The template of plotly's script and the page's own.
pub(crate) const SCRIPTS: (&str, &str) =
    ("scripts.html", include_str!("templates/scripts.html.j2"));

/// The script of pages whose plots plotly draws.
pub(crate) const PLOTS: &str = concat!(
    include_str!("drawing.js"),
    include_str!("saving.js"),
    include_str!("picture.js")
);

/// The content security policy of a page: it loads nothing from outside.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data: blob:";

/// What stands around a report.
pub(crate) struct Shell<'a> {
    /// Plotly's JavaScript as gzip in base64, if the page needs it.
    plotly: Option<String>,
    data: Vec<DataFile<'a>>,
}

impl<'a> Shell<'a> {
    /// The shell of a page whose plots plotly draws.
    pub(crate) fn new(plotly_js: &str, data: Vec<DataFile<'a>>) -> Self {
        Self {
            plotly: Some(packed(plotly_js)),
            data,
        }
    }

    /// The shell of a page that draws its plots without a library.
    pub(crate) fn without_library(data: Vec<DataFile<'a>>) -> Self {
        Self { plotly: None, data }
    }

    /// What the templates call `shell`.
    pub(crate) fn context(&self) -> Value {
        let plotly = self.plotly.clone();
        context! {
            policy => Value::from_safe_string(POLICY.to_owned()),
            plotly => plotly.map(Value::from_safe_string),
            data => Value::from(Serde(&self.data)),
            weight => Value::from_safe_string(weight::PLACE.to_owned()),
        }
    }

    /// The page with what it says about its own weight.
    pub(crate) fn weighed(&self, page: String) -> String {
        let size = |length: usize| bytes(length as f64);
        let data: usize = self.data.iter().map(DataFile::weight).sum();
        let data = (data > 0).then(|| format!("{} are the data", size(data)));
        let plots = self.plotly.as_ref();
        let plots = plots.map(|script| format!("{} draw the plots", size(script.len())));
        let parts: Vec<String> = plots.into_iter().chain(data).collect();
        let parts = if parts.is_empty() {
            String::new()
        } else {
            format!(", of which {}", parts.join(" and "))
        };
        weight::weighed(&page, |length| {
            format!(
                "This page weighs {}{parts}. It needs nothing else.",
                size(length)
            )
        })
    }
}
