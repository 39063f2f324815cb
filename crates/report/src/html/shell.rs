//! What the pages of sessions and of loads have in common: the policy, plotly's script, the data, and the page's weight.

use minijinja::{Value, context, value::Serde};

use super::{
    data::{DataFile, packed},
    live, weight,
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

/// What a page that is a file may load: nothing but what stands in it.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data: blob:";

/// What stands around a report.
pub(crate) struct Shell<'a> {
    plotly: Plotly,
    data: Vec<DataFile<'a>>,
}

/// Where a page has plotly's JavaScript.
enum Plotly {
    /// In itself, as gzip in base64.
    Here(String),
    /// Nowhere: the page needs no library. It is a file, or its server tells it of events.
    Nowhere { is_file: bool },
}

impl<'a> Shell<'a> {
    /// The shell of a page that is a file.
    pub(crate) fn new(plotly_js: &str, data: Vec<DataFile<'a>>) -> Self {
        let plotly = Plotly::Here(packed(plotly_js));
        Self { plotly, data }
    }

    /// The shell of a page that is a file and draws its plots without a library.
    pub(crate) fn without_library(data: Vec<DataFile<'a>>) -> Self {
        Self {
            plotly: Plotly::Nowhere { is_file: true },
            data,
        }
    }

    /// The same of a page that is served, without data.
    pub(crate) fn served_without_library() -> Self {
        Self {
            plotly: Plotly::Nowhere { is_file: false },
            data: Vec::new(),
        }
    }

    /// What the templates call `shell`.
    pub(crate) fn context(&self) -> Value {
        let plotly = match &self.plotly {
            Plotly::Here(script) => Some(script.clone()),
            Plotly::Nowhere { .. } => None,
        };
        let policy = if self.is_file() { POLICY } else { live::POLICY };
        context! {
            policy => Value::from_safe_string(policy.to_owned()),
            plotly => plotly.map(Value::from_safe_string),
            data => Value::from(Serde(&self.data)),
            weight => self.is_file().then(|| Value::from_safe_string(weight::PLACE.to_owned())),
        }
    }

    fn is_file(&self) -> bool {
        !matches!(self.plotly, Plotly::Nowhere { is_file: false })
    }

    /// The page with what it says about its own weight, if it is a file.
    pub(crate) fn weighed(&self, page: String) -> String {
        let size = |length: usize| bytes(length as f64);
        let data: usize = self.data.iter().map(DataFile::weight).sum();
        let data = (data > 0).then(|| format!("{} are the data", size(data)));
        match &self.plotly {
            Plotly::Here(script) => {
                let plotly = size(script.len());
                let data = data.map(|data| format!(" and {data}")).unwrap_or_default();
                weight::weighed(&page, |length| {
                    format!(
                        "This page weighs {}, of which {plotly} draw the plots{data}. It needs nothing else.",
                        size(length)
                    )
                })
            }
            Plotly::Nowhere { is_file: true } => {
                let data = data
                    .map(|data| format!(", of which {data}"))
                    .unwrap_or_default();
                weight::weighed(&page, |length| {
                    format!(
                        "This page weighs {}{data}. It needs nothing else.",
                        size(length)
                    )
                })
            }
            Plotly::Nowhere { is_file: false } => page,
        }
    }
}
