//! What the pages of sessions and of loads have in common: the policy, plotly's script, the data, and the page's weight.

use minijinja::{Value, context, value::Serde};

use super::{
    data::DataFile,
    plotly::{Assets, file_of},
    weight,
};
use crate::figure::bytes;

/// The template of the section with the data.
pub(crate) const DATA: (&str, &str) = ("data.html", include_str!("templates/data.html.j2"));
/// The template of plotly's script and the page's own.
pub(crate) const SCRIPTS: (&str, &str) =
    ("scripts.html", include_str!("templates/scripts.html.j2"));

/// What stands around a report.
pub(crate) struct Shell<'a> {
    plotly_js: String,
    assets: Assets,
    data: Vec<DataFile<'a>>,
}

impl<'a> Shell<'a> {
    /// A shell with these parts.
    pub(crate) fn new(plotly_js: String, assets: Assets, data: Vec<DataFile<'a>>) -> Self {
        Self {
            plotly_js,
            assets,
            data,
        }
    }

    /// What the templates call `shell`.
    pub(crate) fn context(&self) -> Value {
        let (inline, file) = match self.assets {
            Assets::Inline => (Some(self.plotly_js.clone()), None),
            Assets::Separate => (None, Some(file_of(&self.plotly_js))),
        };
        // A browser checks no file's hash where the page is a file, too; 'self' is the page's own folder or server.
        let beside = if file.is_some() { " 'self'" } else { "" };
        context! {
            policy => Value::from_safe_string(format!(
                "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'{beside}; img-src data: blob:"
            )),
            plotly => inline.map(Value::from_safe_string),
            plotly_file => file,
            data => Value::from(Serde(&self.data)),
            weight => Value::from_safe_string(weight::PLACE.to_owned()),
        }
    }

    /// The page with what it says about its own weight.
    pub(crate) fn weighed(&self, page: &str) -> String {
        let size = |length: usize| bytes(length as f64);
        let plotly = size(self.plotly_js.len());
        let data: usize = self.data.iter().map(DataFile::weight).sum();
        let data = match data {
            0 => String::new(),
            data => format!(" and {} are the data", size(data)),
        };
        weight::weighed(page, |length| match self.assets {
            Assets::Inline => format!(
                "This page weighs {}, of which {plotly} draw the plots{data}. It needs nothing else.",
                size(length)
            ),
            Assets::Separate => format!(
                "This page weighs {}{}. Its plots need the file {} ({plotly}) beside it.",
                size(length),
                data.replacen(" and", ", of which", 1),
                file_of(&self.plotly_js),
            ),
        })
    }
}
